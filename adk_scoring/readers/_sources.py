"""What a user hands over (path, folder, bytes, text, JSON, file, records, table) -> items that open as documents."""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ReadError
from ._document import Document, parse_stream
from ._reading import kind_of

__all__ = ["Item", "items_of", "opened"]

# Which files of a folder are looked at. What they are is found from their content.
_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".sse", ".csv", ".eval"})
_SKIPPED_FOLDERS = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__", "site-packages"})
_GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to read.

    Attributes:
        path: the file, or a name for what was given instead.
        content: a `Path`, bytes, a binary file, or parsed JSON if `parsed`.
        parsed: `content` is a parsed value.
    """

    path: str
    content: Any
    parsed: bool = False


def items_of(source: Any) -> tuple[list[Item], bool]:
    """Find what there is to read.

    Returns:
        The items, and whether they were searched for: then one that holds nothing does not make the rest unreadable.

    Raises:
        ReadError: there is nothing.
    """
    if hasattr(source, "model_dump"):  # google-adk's own objects
        source = source.model_dump(mode="json")
    if hasattr(source, "to_dict") and hasattr(source, "columns"):  # a pandas table
        source = source.to_dict("records")
    if isinstance(source, bytes | bytearray | memoryview):
        return [Item("<bytes>", bytes(source))], False
    if isinstance(source, str):
        return _of_text(source)
    if isinstance(source, os.PathLike):
        return _of_path(Path(source))
    if hasattr(source, "read"):
        return [Item(_name_of(source), source)], False
    if isinstance(source, list | tuple) and source and all(isinstance(item, str | os.PathLike) for item in source):
        return [item for each in source for item in items_of(each)[0]], False
    if isinstance(source, dict | list | tuple):
        return [Item("<data>", list(source) if isinstance(source, tuple) else source, parsed=True)], False
    if isinstance(source, Iterable):
        return [Item("<records>", source, parsed=True)], False
    raise ReadError(f"found {kind_of(source)}, wanted a path, bytes, JSON text, parsed JSON, a file or an iterable")


def _name_of(file: Any) -> str:
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else "<file>"


def _of_text(source: str) -> tuple[list[Item], bool]:
    start = source.lstrip("\ufeff \t\r\n")
    if not start:
        raise ReadError("the text is empty; wanted a path or JSON text", path="<text>")
    if (start[0] in '{["' or start.startswith(("data:", "event:")) or "\n" in source) and not _exists(source):
        return [Item("<text>", source.encode("utf-8", "surrogatepass"))], False
    if _GLOB & set(source) and not _exists(source):
        found = sorted(path for path in glob.glob(source, recursive=True) if os.path.isfile(path))
        if not found:
            raise ReadError("no file matches this pattern", path=source)
        return [Item(path, Path(path)) for path in found], True
    return _of_path(Path(source))


def _exists(source: str) -> bool:
    try:
        return os.path.exists(source)
    except ValueError:
        return False


def _of_path(path: Path) -> tuple[list[Item], bool]:
    if not os.path.isdir(path):  # unlike Path.is_dir this never raises
        return [Item(str(path), path)], False
    found = sorted(
        file
        for file in path.rglob("*")
        if file.suffix.lower() in _SUFFIXES
        and not _SKIPPED_FOLDERS & set(file.relative_to(path).parts[:-1])
        and os.path.isfile(file)
    )
    if not found:
        raise ReadError(f"the folder holds no data file ({', '.join(sorted(_SUFFIXES))})", path=str(path))
    return [Item(str(file), file) for file in found], True


@contextmanager
def opened(item: Item) -> Iterator[Document]:
    """Open an item as a document; its file is closed afterwards.

    Raises:
        ReadError: it cannot be opened, or is not JSON.
    """
    content = item.content
    if item.parsed:
        if isinstance(content, dict | list):
            yield Document(item.path, content)
        else:
            yield Document(item.path, records=((f"record {i}", each) for i, each in enumerate(content, 1)))
    elif isinstance(content, Path):
        try:
            with content.open("rb") as file:
                yield parse_stream(file, item.path)
        except (OSError, ValueError) as error:
            if isinstance(error, ReadError):
                raise
            raise ReadError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path=item.path) from error
    elif isinstance(content, bytes):
        yield parse_stream(io.BytesIO(content), item.path)
    else:
        text = content.read(0)
        if isinstance(text, str):
            content = io.BytesIO(content.read().encode("utf-8", "surrogatepass"))
        yield parse_stream(content, item.path)
