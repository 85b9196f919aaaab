"""An ``eval_config.yaml`` or ``.json`` of agents-cli -> criteria specs, and in words what of it is not done.

Its managed metrics are scored by a cloud service. The judged metrics of this library that ask the same question stand
in for them; the rest is named, as is every custom metric: program text in a configuration is text and is never run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from ..errors import ConfigError
from ..readers._reading import kind_of, show

__all__ = ["EQUIVALENTS", "criteria_of_agents_cli", "is_agents_cli"]

EQUIVALENTS: Final[Mapping[str, str]] = {
    "final_response_match": "response_semantic_match",
    "hallucination": "hallucination",
    "multi_turn_task_success": "multi_turn_task_success_v1",
    "multi_turn_tool_use_quality": "multi_turn_tool_use_quality_v1",
    "multi_turn_trajectory_quality": "multi_turn_trajectory_quality_v1",
    "safety": "safety",
}
"""Managed metric -> the metric of this library that asks the same."""

_CODE: Final = ("custom_function", "custom_function_file")


def is_agents_cli(content: Mapping[Any, Any]) -> bool:
    """Whether a parsed configuration is one of agents-cli."""
    return "metrics_to_run" in content or isinstance(content.get("custom_metrics"), list)


def criteria_of_agents_cli(
    content: Mapping[Any, Any], known: Collection[str], where: str
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """What to score, and what is asked for and not done.

    A name of this library counts as its metric, with ``threshold`` and other parameters from the entry's
    ``metric_spec_parameters``. Without a threshold, as everywhere in agents-cli, a criterion is informational.

    Args:
        content: the configuration.
        known: the names of this library's metrics.
        where: the file, for errors.

    Returns:
        Label -> spec, as `Criteria.of` takes it; and the rest in words.

    Raises:
        ConfigError: ``metrics_to_run`` or ``custom_metrics`` is not a list of names and objects with a name.

    >>> config = {"metrics_to_run": ["trajectory_f1", "grounding"], "custom_metrics": []}
    >>> criteria_of_agents_cli(config, ["trajectory_f1"], "eval_config.yaml")
    ({'trajectory_f1': {'metric': 'trajectory_f1', 'threshold': None}}, ['grounding has no equivalent here'])
    """
    custom = _entries(content, "custom_metrics", where)
    asked = _entries(content, "metrics_to_run", where) if content.get("metrics_to_run") is not None else dict(custom)
    kept: dict[str, dict[str, Any]] = {}
    ignored = []
    for name, entry in asked.items():
        settings = entry or custom.get(name) or {}
        metric = name if name in known else EQUIVALENTS.get(name)
        parameters = settings.get("metric_spec_parameters") or {}
        if metric in known:
            used = parameters if metric == name and isinstance(parameters, Mapping) else {}
            kept[name] = {"metric": metric, "threshold": settings.get("threshold"), **used}
            if parameters and not used:
                ignored.append(f"{name}: 'metric_spec_parameters' are those of the managed metric, not used")
        elif name not in custom:
            ignored.append(f"{name} has no equivalent here")
    for name, entry in custom.items():
        if any(key in entry for key in _CODE):
            stands_in = "; the metric that has this name here is used" if name in kept else ""
            ignored.append(f"{name} is a custom metric in code; its code is not run{stands_in}")
        elif "prompt_template" in entry:
            ignored.append(f"{name} is a custom prompt for a judge, not asked; write it as a rubric of rubric_quality")
        elif name not in kept:
            ignored.append(f"{name} has no equivalent here")
    return kept, ignored


def _entries(content: Mapping[Any, Any], key: str, where: str) -> dict[str, dict[str, Any]]:
    """The entries of a list by name; a bare name has none of its own."""
    items = content.get(key)
    if items is None:
        return {}
    if not isinstance(items, list):
        raise ConfigError(f"{where}: {key}: found {kind_of(items)}, wanted a list of names: {show(items)}")
    entries: dict[str, dict[str, Any]] = {}
    for i, item in enumerate(items):
        name = item.get("name") if isinstance(item, Mapping) else item
        if not isinstance(name, str) or not name:
            raise ConfigError(f"{where}: {key}[{i}]: wanted a name or an object with 'name', found {show(item)}")
        entries[name] = dict(item) if isinstance(item, Mapping) else {}
    return entries
