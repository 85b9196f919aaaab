"""Rows of ADK's BigQuery Agent Analytics table (``agent_events``; JSON Lines, CSV or JSON) -> one case a session.

Rows stand in no order in an export: they are put in that of their timestamp, then of their event id, and rows that
were written twice are dropped. One turn is an invocation. A call is a row TOOL_STARTING, answered by the row of the
same span; a tool that has only its end was called too, with unknown arguments. Text comes wrapped
(``text: '...' | text: '...'``) and is unwrapped.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

from ..errors import ReadError
from ..model import Case, Invocation, Session, ToolCall, Turn, Usage, parse_args
from ._calls import failure
from ._declared import total
from ._reading import Reading, at, json_text, kind_of, number, the_text
from ._said import decoded
from .otel_spans import nanoseconds

__all__ = ["cases", "recognises", "unwrapped"]

_JSON_COLUMNS = ("content", "content_parts", "attributes", "latency_ms")
_FAILED = frozenset({"INVOCATION_ERROR", "AGENT_ERROR", "LLM_ERROR", "NODE_ERROR"})
_PART = re.compile(r" \| (?=(?:text|call|resp|thought|other|file|data|code)\b[^:|]{0,20}: )")
_Row = dict[str, Any]


def recognises(document: Any) -> bool:
    """A list of rows with an event type, a session or invocation and a time."""
    return isinstance(document, list) and any(map(_is_row, document[:20]))


def _is_row(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and isinstance(item.get("event_type"), str)
        and "timestamp" in item
        and bool(item.keys() & {"session_id", "invocation_id"})
    )


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """The sessions in the rows; an error case for each row that cannot be read."""
    sessions: dict[str, list[tuple[tuple[int, str], _Row, str]]] = defaultdict(list)
    seen: set[str] = set()
    repeated = 0
    for i, item in enumerate(document if isinstance(document, list) else [document]):
        place = at(where, f"[{i}]")
        problem = _problem(item, place)
        if problem:
            yield reading.error_case(problem, case_id=place, where=problem.location)
            continue
        event_id = the_text(item.get("event_id"))
        if event_id and event_id in seen:
            repeated += 1
            continue
        seen.add(event_id)
        row = item | {key: decoded(item[key]) for key in _JSON_COLUMNS if key in item}
        key = (nanoseconds(row.get("timestamp")) or 0, event_id)
        sessions[the_text(row.get("session_id"))].append((key, row, place))
    if repeated:
        reading.note(f"{repeated} rows whose event_id comes again, dropped", where)
    for session_id, rows in sessions.items():
        place = rows[0][2]
        rows.sort(key=lambda each: each[0])
        case_id = session_id or reading.stem

        def build(case_id: str = case_id, rows: list[Any] = rows) -> Case:
            return _case(case_id, [(row, where) for _, row, where in rows], reading)

        yield reading.case(build, case_id=case_id, where=place)


def _problem(item: Any, where: str) -> ReadError | None:
    if isinstance(item, ReadError):  # a line that is not JSON
        return item
    if not isinstance(item, dict):
        return ReadError(f"found {kind_of(item)}, wanted a row", location=where)
    if not isinstance(item.get("event_type"), str):
        found = kind_of(item.get("event_type"))
        return ReadError(f"found {found}, wanted the type of an event", location=at(where, "event_type"))
    return None


def _case(case_id: str, rows: list[tuple[_Row, str]], reading: Reading) -> Case:
    turns: dict[str, list[tuple[_Row, str]]] = defaultdict(list)
    for row, where in rows:
        turns[the_text(row.get("invocation_id"))].append((row, where))
    user = next((the_text(row["user_id"]) for row, _ in rows if row.get("user_id")), "")
    return Case(
        case_id,
        tuple([Turn(_turn(key, members, reading)) for key, members in turns.items()]),
        session=Session("", user) if user else None,
    )


def _turn(invocation_id: str, rows: list[tuple[_Row, str]], reading: Reading) -> Invocation:
    said = [
        (the_text(row.get("agent")), text)
        for row, _ in _of(rows, "AGENT_RESPONSE")
        if (text := _text(_content(row).get("response"))) is not None
    ]
    if not said:
        said = [
            (the_text(row.get("agent")), text) for row, _ in _of(rows, "LLM_RESPONSE") if (text := _model_text(row))
        ]
    failed = [
        the_text(row.get("error_message")) or row["event_type"] for row, _ in rows if row["event_type"] in _FAILED
    ]
    return Invocation(
        next((text for row, _ in _of(rows, "USER_MESSAGE_RECEIVED") if (text := _user_text(row)) is not None), ""),
        _calls(rows, reading),
        said[-1][1] if said else None,
        invocation_id=invocation_id,
        intermediate_responses=tuple(said[:-1]),
        usage=_usage(rows),
        duration=_duration(rows),
        error=failed[-1] if failed and not said else None,
    )


def _of(rows: list[tuple[_Row, str]], *types: str) -> list[tuple[_Row, str]]:
    return [(row, where) for row, where in rows if row["event_type"] in types]


def _content(row: _Row) -> dict[str, Any]:
    content = row.get("content")
    return content if isinstance(content, dict) else {}


def _user_text(row: _Row) -> str | None:
    parts = row.get("content_parts")
    texts = [
        part["text"]
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]
    if texts:
        return "".join(texts)
    summary = _content(row).get("text_summary")
    return the_text(summary) if summary is not None else None


def unwrapped(text: str) -> list[str]:
    """The texts in ``text: '...' | text: '...'``; a text that is not wrapped is itself.

    Quotes inside are not escaped there, so the parts are told apart by what begins each.

    >>> unwrapped("text: 'It's 20C.' | call: get_weather")
    ["It's 20C."]
    """
    parts = _PART.split(text)
    if not re.match(r"(text|call|resp): ", parts[0]):
        return [text]
    return [part[7:-1] if part.endswith("'") else part[7:] for part in parts if part.startswith("text: '")]


def _text(response: Any) -> str | None:
    if response is None:
        return None
    return "".join(unwrapped(response)) if isinstance(response, str) else json_text(response)


def _model_text(row: _Row) -> str | None:
    """What a model answered, its last part: those before it may be thoughts, which the table does not mark."""
    response = _content(row).get("response")
    if not isinstance(response, str) or re.search(r"(^| \| )call: ", response):
        return None
    texts = unwrapped(response)
    return texts[-1] if texts else None


def _calls(rows: list[tuple[_Row, str]], reading: Reading) -> tuple[ToolCall, ...]:
    calls: list[tuple[_Row, dict[str, Any] | None]] = []
    open_calls: dict[tuple[str, str], deque[int]] = defaultdict(deque)
    for row, where in rows:
        kind, content = row["event_type"], _content(row)
        key = the_text(row.get("span_id")), the_text(content.get("tool"))
        if kind == "TOOL_STARTING":
            open_calls[key].append(len(calls))
            calls.append((row, None))
        elif kind in ("TOOL_COMPLETED", "TOOL_ERROR"):
            started = open_calls[key] or open_calls[key[0], ""]  # the start may have lost its content
            if started:
                index = started.popleft()
                calls[index] = (calls[index][0], row)
            else:
                reading.note("the end of a tool call whose start is missing, read as a call", where)
                calls.append((row, row))
    return tuple([_call(start, end, reading) for start, end in calls])


def _call(start: _Row, end: _Row | None, reading: Reading) -> ToolCall:
    content, after = _content(start), _content(end or {})
    args = content.get("args") if "args" in content else after.get("args")
    known, problem = (None, None) if args is None and "args" not in content else parse_args(args)
    if problem:
        reading.note(f"{problem}; the arguments count as unknown", the_text(start.get("event_id")))
    error = failure(after.get("result"))
    if end is not None and (end["event_type"] == "TOOL_ERROR" or end.get("status") == "ERROR"):
        error = the_text(end.get("error_message")) or error or "error"
    return ToolCall(
        the_text(content.get("tool") or after.get("tool")),
        known,
        author=the_text(start.get("agent")) or None,
        response=after.get("result"),
        error=error,
        args_error=problem,
    )


def _usage(rows: list[tuple[_Row, str]]) -> Usage | None:
    answers = _of(rows, "LLM_RESPONSE")
    counted = [usage for row, _ in answers if isinstance(usage := _content(row).get("usage"), dict)]
    asked = len(_of(rows, "LLM_REQUEST")) or len(answers)
    if not asked:
        return None
    return Usage(input_tokens=total(counted, "prompt"), output_tokens=total(counted, "completion"), model_calls=asked)


def _duration(rows: list[tuple[_Row, str]]) -> float | None:
    for row, _ in _of(rows, "INVOCATION_COMPLETED"):
        latency = row.get("latency_ms")
        total = number(latency.get("total_ms")) if isinstance(latency, dict) else None
        if total is not None:
            return total / 1000
    stamps = [stamp for row, _ in rows if (stamp := nanoseconds(row.get("timestamp"))) is not None]
    return (max(stamps) - min(stamps)) / 1e9 if len(stamps) > 1 and max(stamps) > min(stamps) else None
