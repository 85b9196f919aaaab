"""Rows of a Vertex evaluation dataset or result -> cases of one turn.

Columns: ``prompt``, ``response``, ``reference``, ``predicted_trajectory``, ``reference_trajectory`` (lists of
``{"tool_name", "tool_input"}``, or their JSON text), ``context``, ``instruction``; of a result also
``latency_in_seconds``, ``failure`` and ``METRIC/score`` with ``METRIC/explanation``, which arrive in `Case.recorded`.
A dataset may come as rows or as one object of columns. A trajectory column that is absent says nothing about calls.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..errors import ReadError
from ..model import Case, Invocation, RecordedScore, ToolCall, Turn
from ._calls import CallLog
from ._document import parse_json
from ._genai import text_of
from ._reading import Reading, at, kind_of, number, the_object, the_text

__all__ = ["cases", "recognises"]

_TRAJECTORIES = ("predicted_trajectory", "reference_trajectory")
_TEXTS = ("response", "reference")
_SCORES = ("/score", "/explanation")
_IDS = ("case_id", "eval_case_id", "eval_id", "id")
_KEYS = frozenset({"prompt", "context", "instruction", "latency_in_seconds", "failure", *_TRAJECTORIES, *_TEXTS, *_IDS})
# Of what only looks like a row of texts, because other formats use these words too.
_FOREIGN = frozenset({"messages", "eval_cases", "agent_data", "rubric_groups", "responses", "turns"})


def recognises(document: Any) -> bool:
    """A row, rows, or columns: with a trajectory, or with a prompt, a response and a reference."""
    if isinstance(document, list):
        return bool(document) and isinstance(document[0], dict) and recognises(document[0])
    if not isinstance(document, dict) or _FOREIGN & document.keys():
        return False
    keys = document.keys()
    if any(key in keys for key in _TRAJECTORIES):
        return True
    response = document.get("response")
    return "response" in keys and bool({"prompt", "reference"} & keys) and (_is_column(response) or _is_cell(response))


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """One case for every row."""
    for row, place in _rows(document, where):
        name = _text_id(row)
        yield reading.case(
            lambda row=row, place=place, name=name: _case(row, name or place or reading.stem, reading, place),  # type: ignore[misc]
            case_id=name,
            where=place,
        )


def _text_id(row: Any) -> str:
    if not isinstance(row, dict):
        return ""
    return next((the_text(row[key]) for key in _IDS if not _absent(row.get(key))), "")


def _rows(document: Any, where: str) -> Iterator[tuple[Any, str]]:
    if isinstance(document, list):
        yield from ((row, at(where, f"[{i}]")) for i, row in enumerate(document))
        return
    columns = the_object(document, where)
    if not _is_columns(columns):
        yield columns, where
        return
    # A dump of a table may have row numbers as keys: {"prompt": {"0": ..., "1": ...}}.
    lists = {
        key: list(column.values()) if isinstance(column, dict) else column
        for key, column in columns.items()
        if isinstance(column, dict | list)
    }
    longest = max(map(len, lists.values()))
    for i in range(longest):
        row = {key: column[i] for key, column in lists.items() if i < len(column)}
        rest = {key: value for key, value in columns.items() if key not in lists}
        short = sorted(key for key, column in lists.items() if i >= len(column))
        if short:
            yield ReadError(f"the column {short[0]!r} has no row {i}, others have {longest}"), at(where, f"[{i}]")
        else:
            yield row | rest, at(where, f"[{i}]")


def _is_columns(document: dict[str, Any]) -> bool:
    """Whether the values are columns: the texts are lists, or a trajectory is a list of trajectories."""
    for key in ("prompt", *_TEXTS):
        column = document.get(key)
        if column is not None:
            return _is_column(column)
    for key in _TRAJECTORIES:
        column = document.get(key)
        if column is not None and column != []:
            column = list(column.values()) if isinstance(column, dict) else column
            return isinstance(column, list) and all(each is None or isinstance(each, list | str) for each in column)
    return False


def _is_column(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, dict) and "0" in value)


def _is_cell(value: Any) -> bool:
    return not isinstance(value, dict | list)


def _absent(value: Any) -> bool:
    """Nothing, an empty cell, or a missing number of a table."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _case(found: Any, case_id: str, reading: Reading, where: str) -> Case:
    if isinstance(found, ReadError):
        raise found
    whole = the_object(found, where)
    # An empty answer is an answer, and a bad one; any other empty cell says nothing.
    row = {key: value for key, value in whole.items() if not _absent(value) or (key, value) == ("response", "")}
    user = _text(row, "prompt", reading, where) or ""
    wanted = Invocation(
        user, _calls(row, "reference_trajectory", reading, where), _text(row, "reference", reading, where)
    )
    run = Invocation(
        user,
        _calls(row, "predicted_trajectory", reading, where),
        _text(row, "response", reading, where),
        duration=number(row.get("latency_in_seconds")),
        error="the agent failed (failure = 1)" if row.get("failure") in (1, True, "1") else None,
    )
    wants = wanted.tool_calls is not None or wanted.response is not None
    ran = run.tool_calls is not None or run.response is not None or run.error is not None
    scores = {key: value for key, value in whole.items() if str(key).endswith(_SCORES)}
    rest = {key: value for key, value in row.items() if key not in scores}
    return Case(
        case_id,
        (Turn(run if ran else None, (wanted,) if wants or not ran else ()),),
        recorded=tuple(_scores(scores)),
        context=_text(row, "context", reading, where) or "",
        instructions=_text(row, "instruction", reading, where) or "",
        metadata=reading.rest(rest, _KEYS, where),
    )


def _text(row: dict[str, Any], key: str, reading: Reading, where: str) -> str | None:
    """A cell as text: a scalar is its text, because a column of digits is loaded as numbers."""
    value = row.get(key)
    if isinstance(value, dict):
        return text_of(value, reading, at(where, key))
    return None if value is None else the_text(value)


def _calls(row: dict[str, Any], key: str, reading: Reading, where: str) -> tuple[ToolCall, ...] | None:
    value, place = row.get(key), at(where, key)
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = parse_json(value.encode("utf-8", "surrogatepass"))
        except ReadError as error:
            raise ReadError(f"text that is no JSON list of calls: {error}", location=place) from None
    if not isinstance(value, list | tuple):
        raise ReadError(f"found {kind_of(value)}, wanted a list of {{'tool_name', 'tool_input'}}", location=place)
    log = CallLog(reading)
    for i, item in enumerate(value):
        log.call(item, where=f"{place}[{i}]")
    return log.calls()


def _scores(cells: dict[str, Any]) -> Iterator[RecordedScore]:
    """``METRIC/score`` and ``METRIC/explanation``; a metric without a number is not evaluated."""
    for metric in dict.fromkeys(key.rpartition("/")[0] for key in cells):
        value = number(cells.get(f"{metric}/score"))
        value = None if _absent(value) else value
        yield RecordedScore(
            metric,
            value,
            verdict="not_evaluated" if value is None else None,
            reason="" if _absent(reason := cells.get(f"{metric}/explanation")) else the_text(reason),
        )
