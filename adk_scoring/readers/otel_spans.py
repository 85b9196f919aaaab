"""The containers that spans are exported in -> one flat list of spans.

OTLP JSON (``resourceSpans``), Tempo (``batches``, or ``trace.resourceSpans``), Jaeger (``data[].spans``), an object
with a list of ``spans``, and bare lists, as SDK exporters and web APIs write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..errors import ReadError
from ._reading import at, kind_of, the_list, the_object, the_text
from ._said import decoded

__all__ = ["Span", "is_span", "looks_like_spans", "nanoseconds", "spans_of"]

_IDS = ("spanId", "span_id", "spanID")
_RESOURCES = ("resourceSpans", "resource_spans", "batches")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")


@dataclass(slots=True)
class Span:
    """One span, its attributes as a plain object.

    Attributes:
        resource: attributes of what emitted it.
        failed: what its status says went wrong, ``None`` if it does not.
        events: ``(name, attributes, body)`` of each event on it.
        start: nanoseconds; `end` likewise.
    """

    span_id: str
    parent_id: str
    trace_id: str
    name: str
    start: int | None
    end: int | None
    attributes: dict[str, Any]
    resource: dict[str, Any] = field(default_factory=dict)
    failed: str | None = None
    events: list[tuple[str, dict[str, Any], Any]] = field(default_factory=list)
    where: str = ""


def is_span(item: Any) -> bool:
    """Whether an object is one span, bare or as an SDK's console exporter writes it."""
    if not isinstance(item, dict):
        return False
    if any(key in item for key in _IDS) and bool(item.keys() & {"traceId", "trace_id", "traceID", "name"}):
        return True
    context = item.get("context")
    return isinstance(context, dict) and any(key in context for key in _IDS)


def looks_like_spans(document: Any) -> bool:
    """Whether a document, or the first of a list of them, is a container of spans."""
    if isinstance(document, list):
        first = next((item for item in document if isinstance(item, dict)), None)
        return first is not None and (is_span(first) or looks_like_spans(first))
    if not isinstance(document, dict):
        return False
    if any(isinstance(document.get(key), list) for key in _RESOURCES):
        return True
    trace = document.get("trace")
    if isinstance(trace, dict) and any(isinstance(trace.get(key), list) for key in _RESOURCES):
        return True
    data = document.get("data")
    if isinstance(data, list) and any(isinstance(item, dict) and isinstance(item.get("spans"), list) for item in data):
        return True
    spans = document.get("spans")
    return isinstance(spans, list) and any(map(is_span, spans))


def spans_of(document: Any, where: str) -> Iterator[Span | ReadError]:
    """The spans of a container; what cannot be read is given as the error that it is.

    Raises:
        ReadError: the container itself has the wrong shape.
    """
    if isinstance(document, list | tuple):
        for i, item in enumerate(document):
            place = at(where, f"[{i}]")
            if isinstance(item, ReadError):  # a line that is not JSON
                yield item
            elif is_span(item):
                yield _span(item, {}, {}, place)
            elif looks_like_spans(item):
                yield from spans_of(item, place)
            else:
                yield ReadError(f"found {kind_of(item)}, wanted a span", location=place)
        return
    record = the_object(document, where)
    if isinstance(record.get("trace"), dict):
        record, where = record["trace"], at(where, "trace")
    for key in _RESOURCES:
        if isinstance(record.get(key), list):
            yield from _otlp(record[key], at(where, key))
            return
    if isinstance(record.get("data"), list):
        yield from _jaeger(record["data"], at(where, "data"))
        return
    shared = {"session.id": record["session_id"]} if isinstance(record.get("session_id"), str) else {}
    place = at(where, "spans")
    yield from _each(record.get("spans"), shared, {}, place)


def _otlp(items: list[Any], where: str) -> Iterator[Span | ReadError]:
    for i, item in enumerate(items):
        place = f"{where}[{i}]"
        if not isinstance(item, dict):
            yield ReadError(f"found {kind_of(item)}, wanted an object with scopeSpans", location=place)
            continue
        resource = item.get("resource")
        shared = _attributes(resource.get("attributes")) if isinstance(resource, dict) else {}
        key = next((key for key in _SCOPES if isinstance(item.get(key), list)), "")
        for j, scope in enumerate(item[key] if key else ()):
            inner = f"{place}.{key}[{j}]"
            if isinstance(scope, dict):
                yield from _each(scope.get("spans"), shared, {}, f"{inner}.spans")
            else:
                yield ReadError(f"found {kind_of(scope)}, wanted an object with spans", location=inner)
        if isinstance(item.get("spans"), list):
            yield from _each(item["spans"], shared, {}, f"{place}.spans")


def _jaeger(items: list[Any], where: str) -> Iterator[Span | ReadError]:
    for i, item in enumerate(items):
        place = f"{where}[{i}]"
        if not isinstance(item, dict):
            yield ReadError(f"found {kind_of(item)}, wanted an object with spans", location=place)
            continue
        found = item.get("processes")
        processes = {
            key: _attributes(process.get("tags")) | {"service.name": process.get("serviceName")}
            for key, process in (found.items() if isinstance(found, dict) else ())
            if isinstance(process, dict)
        }
        yield from _each(item.get("spans"), {}, processes, f"{place}.spans")


def _each(
    items: Any, shared: dict[str, Any], processes: dict[str, dict[str, Any]], where: str
) -> Iterator[Span | ReadError]:
    try:
        spans = the_list(items, where)
    except ReadError as error:
        yield error
        return
    for i, item in enumerate(spans):
        place = f"{where}[{i}]"
        if isinstance(item, dict):
            yield _span(item, shared, processes, place)
        else:
            yield ReadError(f"found {kind_of(item)}, wanted a span", location=place)


def _span(item: dict[str, Any], shared: dict[str, Any], processes: dict[str, Any], where: str) -> Span:
    context = item.get("context")
    context = context if isinstance(context, dict) else {}
    ids = context | item
    parent = _first(item, ("parentSpanId", "parent_span_id", "parent_id", "parentSpanID"))
    for reference in item.get("references") or () if isinstance(item.get("references"), list) else ():
        if parent is None and isinstance(reference, dict) and reference.get("refType", "CHILD_OF") == "CHILD_OF":
            parent = reference.get("spanID")
    start = nanoseconds(
        _first(item, ("startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time", "start_time_ns"))
    )
    end = nanoseconds(_first(item, ("endTimeUnixNano", "end_time_unix_nano", "endTime", "end_time", "end_time_ns")))
    if end is None and start is not None and isinstance(item.get("duration"), int):  # Jaeger: microseconds
        end = start + item["duration"] * 1000
    tags = item.get("attributes") if item.get("attributes") is not None else item.get("tags")
    attributes = _attributes(tags if tags is not None else item.get("attributes_json"))
    events: list[Any] = next(
        (item[key] for key in ("events", "span_events", "logs") if isinstance(item.get(key), list)), []
    )
    resource = item.get("resource")
    own = _attributes(resource.get("attributes")) if isinstance(resource, dict) else {}
    process = processes.get(the_text(item.get("processID")), {})
    made = [_event(event) for event in events if isinstance(event, dict)]
    return Span(
        the_text(_first(ids, _IDS)),
        the_text(parent),
        _trace_id(_first(ids, ("traceId", "trace_id", "traceID"))),
        the_text(_first(item, ("name", "operationName"))),
        start,
        end,
        shared | attributes if "session.id" in shared else attributes,
        {**shared, **process, **own},
        _failed(item, attributes, made),
        made,
        where,
    )


def _trace_id(value: Any) -> str:
    """The id of a trace; all zeros is OpenTelemetry's way to say that there is none."""
    trace_id = the_text(value)
    return trace_id if trace_id.strip("0") else ""


def _event(event: dict[str, Any]) -> tuple[str, dict[str, Any], Any]:
    attributes = _attributes(event.get("attributes") if event.get("attributes") is not None else event.get("fields"))
    name = _first(event, ("name", "event_name")) or attributes.get("event") or attributes.get("event.name")
    return the_text(name), attributes, event.get("body")


def _failed(item: dict[str, Any], attributes: dict[str, Any], events: list[Any]) -> str | None:
    status = item.get("status")
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else status
    if code is None:
        code = attributes.get("otel.status_code")
    failed = code == 2 or (isinstance(code, str) and code.upper().rsplit("_", 1)[-1] == "ERROR")
    if not failed and attributes.get("error") is not True and not attributes.get("error.type"):
        return None
    message = status.get("message") or status.get("description") if isinstance(status, dict) else None
    for name, more, _ in events:
        if not message and name == "exception":
            message = more.get("exception.message") or more.get("exception.type")
    return the_text(message or attributes.get("error.type") or attributes.get("otel.status_description")) or "error"


def _attributes(value: Any) -> dict[str, Any]:
    """Attributes as an object, from one or from a list of ``{"key", "value": {"stringValue": ...}}``."""
    value = decoded(value)
    if isinstance(value, dict):
        return {key: _value(each) if _is_wrapped(each) else each for key, each in value.items()}
    if not isinstance(value, list):
        return {}
    return {
        the_text(item.get("key")): _value(item.get("value"))
        for item in value
        if isinstance(item, dict) and item.get("key") is not None
    }


_VALUE = re.compile(r"(string|int|double|bool|array|kvlist|bytes)_?[vV]alue")


def _is_wrapped(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and bool(_VALUE.fullmatch(next(iter(value))))


def _value(value: Any) -> Any:
    """A value of OTLP's union; 64-bit numbers are text there."""
    if not _is_wrapped(value):
        return value
    ((kind, inner),) = value.items()
    kind = kind.replace("_", "").lower()
    if kind == "intvalue":
        try:
            return int(inner)
        except (TypeError, ValueError):
            return inner
    if kind == "arrayvalue":
        values = inner.get("values") if isinstance(inner, dict) else inner
        return [_value(each) for each in values] if isinstance(values, list) else []
    if kind == "kvlistvalue":
        return _attributes(inner.get("values") if isinstance(inner, dict) else inner)
    return inner


_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d+))?\s*(Z|UTC|[+-]\d\d:?\d\d)?", re.IGNORECASE)


def nanoseconds(value: Any) -> int | None:
    """A point in time as whole nanoseconds; ``None`` if it is none.

    Numbers are seconds, milliseconds, microseconds or nanoseconds by their size; text is such a number or ISO 8601.

    >>> nanoseconds("1970-01-01T00:00:01.000000002Z"), nanoseconds("1715175600000000000")
    (1000000002, 1715175600000000000)
    """
    if isinstance(value, list) and len(value) == 2 and all(isinstance(each, int) for each in value):
        return int(value[0]) * 10**9 + int(value[1])
    if isinstance(value, str):
        found = _STAMP.fullmatch(value.strip()[:64])
        if found:
            day, time, fraction, zone = found.groups()
            zone = "+00:00" if zone is None or zone.upper() in ("Z", "UTC") else zone
            try:
                seconds = datetime.fromisoformat(f"{day}T{time}{zone}").timestamp()
            except (ValueError, OverflowError):
                return None
            return int(seconds) * 10**9 + int((fraction or "0")[:9].ljust(9, "0"))
        try:
            value = int(value) if value.strip().isdigit() and len(value) < 25 else float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e22:
        return None
    size = abs(value)
    scale = 1 if size > 1e17 else 10**3 if size > 1e14 else 10**6 if size > 1e11 else 10**9
    return int(value * scale)


def _first(item: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((item[key] for key in keys if item.get(key) is not None), None)
