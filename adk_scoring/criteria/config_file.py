"""A configuration file, JSON or YAML -> its content. Nothing in it is executed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import ConfigError

__all__ = ["read_config"]


def read_config(path: Path) -> Any:
    """Parse a configuration file.

    Args:
        path: a file; YAML if its name ends in ``.yaml`` or ``.yml``, which needs the extra ``adk_scoring[yaml]``.

    Raises:
        ConfigError: it cannot be read, is neither, or holds a key twice in one JSON object or a YAML alias.
    """
    is_yaml = path.suffix.lower() in (".yaml", ".yml")
    try:
        # utf-8-sig: an editor's byte order mark is not part of the configuration.
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ConfigError(f"{path}: not {'YAML' if is_yaml else 'JSON'}: {error}") from None
    if is_yaml:
        return _of_yaml(text, path)
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not JSON: {error}") from None


def _of_yaml(text: str, path: Path) -> Any:
    """Parse YAML. Aliases are refused: a few lines of them can stand for more data than memory holds."""
    try:
        import yaml
    except ImportError:
        raise ConfigError(f"{path}: reading YAML needs PyYAML: pip install 'adk_scoring[yaml]'") from None
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            raise ConfigError(f"{path}: holds a YAML alias (*name); write its value out")
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{path}: not YAML: {error}") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object; a key that stands twice is an error, because one of the two would be lost."""
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} stands twice")
    return made
