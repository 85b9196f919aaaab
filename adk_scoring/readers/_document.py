"""Bytes -> documents: one JSON value, or records one by one (JSON Lines, server-sent events, rows of a CSV table).

Read with a documented tolerance: a byte order mark, UTF-16 with one, NaN and Infinity, lone surrogates in escapes,
JSON inside a JSON string (old ADK result files), repeated keys (the last one counts, as in every JSON parser at hand).
Refused, with line and column: anything else that is not JSON, invalid UTF-8, nesting deeper than about 200 levels.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from ..errors import ReadError
from ._table import columns_of, rows_of
from ._zip import ZIP, zipped_records

__all__ = ["Document", "parse_json", "parse_stream"]

_SSE = re.compile(rb"(data|event|id|retry):|:")
_PLACE = re.compile(r" at line (\d+) column (\d+)$")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class Document:
    """One source, parsed.

    Attributes:
        path: the file, or a name for what was given instead.
        value: the parsed JSON; ``None`` where the source came as records.
        records: ``(location, value or the error)`` one by one, ``None`` where the source is one value.
    """

    path: str
    value: Any = None
    records: Iterator[tuple[str, Any]] | None = None


def parse_json(raw: bytes, *, path: str = "", line: int = 1) -> Any:
    """Parse one JSON value.

    Args:
        raw: UTF-8, with or without a byte order mark.
        path: for the error.
        line: the number of its first line in the file.

    Raises:
        ReadError: it is not JSON; says where and what to do.

    >>> parse_json(b'{"a": [1, NaN]}')
    {'a': [1, nan]}
    """
    from pydantic_core import from_json

    raw = raw.removeprefix(codecs.BOM_UTF8)
    if not raw.strip():
        raise ReadError("the file is empty; wanted JSON", path=path)
    try:
        # Objects that are kept share their strings; "keys" alone would nearly double the memory.
        return from_json(raw, cache_strings="all")
    except ValueError as error:
        message = str(error)
    if "hex escape" in message or "surrogate" in message:
        # Only the standard library accepts lone surrogates, which JavaScript writes when it cuts a text.
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            pass
    raise _refused(raw, message, path, line)


def _refused(raw: bytes, message: str, path: str, line: int) -> ReadError:
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        row, column = raw.count(b"\n", 0, error.start), error.start - raw.rfind(b"\n", 0, error.start)
        found = f"byte 0x{raw[error.start]:02x} is not valid UTF-8; save the file as UTF-8"
        return ReadError(found, path=path, location=f"line {row + line} column {column}")
    place = _PLACE.search(message)
    location = f"line {int(place[1]) + line - 1} column {place[2]}" if place else ""
    found = _PLACE.sub("", message)
    if message.startswith("EOF"):
        found += "; the file ends too early, it is truncated or a bracket is not closed"
    elif "trailing comma" in message:
        found += "; JSON allows no comma before a closing bracket, delete it"
    elif "recursion" in message:
        found += "; the values are nested too deeply"
    return ReadError(f"not JSON: {found}", path=path, location=location)


def parse_stream(stream: BinaryIO, path: str) -> Document:
    """Find out what a stream of bytes is and parse it; JSON Lines are read while the records are taken.

    Raises:
        ReadError: it is empty or not JSON.
    """
    first = _first_line(stream, path)
    if first.startswith(ZIP):
        return Document(path, records=zipped_records(first, stream))
    if _SSE.match(first.lstrip()):
        return Document(path, records=_server_sent_events(first + stream.read(), path))
    opens, closes = first.lstrip()[:1], first.rstrip()[-1:]
    if opens not in (b"{", b"[") and (columns := columns_of(first)):
        return Document(path, records=rows_of(stream, columns, first.count(b"\n") or 1))
    if (opens, closes) in ((b"{", b"}"), (b"[", b"]")):
        second, skipped = _next_line(stream)
        if second:
            records = _json_lines(first, second, skipped, stream)
            if not isinstance(_parsed(first, 1), ReadError) or not isinstance(_parsed(second, 2), ReadError):
                return Document(path, records=records)
            first += b"\n" * skipped + second
    raw = first + stream.read()
    return Document(path, _decoded_twice(parse_json(raw, path=path), path))


def _first_line(stream: BinaryIO, path: str) -> bytes:
    """The first line that is not blank, with the blank ones before it, as UTF-8 without a byte order mark."""
    head = stream.readline()
    if head.startswith(_UTF16):
        try:
            text = (head + stream.read()).decode("utf-16")
        except UnicodeDecodeError as error:
            raise ReadError(
                f"starts like UTF-16 but is not ({error.reason}); save the file as UTF-8", path=path
            ) from None
        return text.encode("utf-8", "surrogatepass")
    head = head.removeprefix(codecs.BOM_UTF8)
    while head and not head.strip():
        line = stream.readline()
        if not line:
            break
        head += line
    return head


def _next_line(stream: BinaryIO) -> tuple[bytes, int]:
    skipped = 0
    while line := stream.readline():
        if line.strip():
            return line, skipped
        skipped += 1
    return b"", skipped


def _parsed(line: bytes, number: int) -> Any:
    """The value of one line, or the error that it is."""
    try:
        return parse_json(line.rstrip(b"\r\n"), line=number)  # else what is cut off is cut off at the next line
    except ReadError as error:
        return error


def _json_lines(first: bytes, second: bytes, skipped: int, stream: BinaryIO) -> Iterator[tuple[str, Any]]:
    number = first.count(b"\n") or 1
    yield f"line {number}", _parsed(first, 1)
    number += skipped + 1
    yield f"line {number}", _parsed(second, number)
    for line in stream:
        number += 1
        if line.strip():
            yield f"line {number}", _parsed(line, number)


def _server_sent_events(raw: bytes, path: str) -> Iterator[tuple[str, Any]]:
    """The ``data:`` fields of a stream of server-sent events; an event's lines are joined, comments dropped."""
    data: list[bytes] = []
    start = 0
    for number, line in enumerate(io.BytesIO(raw + b"\n\n"), 1):
        line = line.rstrip(b"\r\n")
        if line.startswith(b"data:"):
            start = start or number
            data.append(line[5:].removeprefix(b" "))
        elif not line.strip() and data:
            joined = b"\n".join(data)
            if joined.strip() not in (b"", b"[DONE]"):
                yield f"line {start}", _parsed(joined, start)
            data, start = [], 0


def _decoded_twice(value: Any, path: str) -> Any:
    """ADK up to 1.21 wrote its results as a JSON string that contains the JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        return parse_json(value.encode("utf-8", "surrogatepass"), path=path)
    return value
