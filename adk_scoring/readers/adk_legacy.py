"""ADK's two oldest shapes, lists of ``{"query", "expected_tool_use", "reference"}`` -> cases.

One list of turns is one case; a list of ``{"name", "data": [turn, ...], "initial_session"}`` is one case each.
Rows that were recorded (``actual_tool_use``, ``response``) bring the actual side too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..model import Case, Invocation, ToolCall, Turn
from ._calls import CallLog
from ._reading import Reading, at, get, known_keys, the_list, the_object, the_text
from .adk_evalset import session_of

__all__ = ["cases", "recognises"]

# The misspelling stands in published files.
_ACTUAL = ("actual_tool_use", "acutal_tool_use")
_TURN_KEYS = known_keys(
    "query", "expected_tool_use", "expected_intermediate_agent_responses", "reference", "response", *_ACTUAL
)
_CASE_KEYS = known_keys("name", "data", "initial_session")


def recognises(document: Any) -> bool:
    """A list of turns with a query, or of cases whose data is one."""
    items = document if isinstance(document, list) else [document]
    first = next((item for item in items if isinstance(item, dict)), {})
    if _is_turn(first):
        return isinstance(document, list)
    data = first.get("data")
    return isinstance(data, list) and (not data or any(_is_turn(item) for item in data))


def _is_turn(item: Any) -> bool:
    return isinstance(item, dict) and "query" in item and bool(_TURN_KEYS - {"query", "response"} & item.keys())


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """One case for a list of turns, else one for each named entry."""
    items = document if isinstance(document, list) else [document]
    if any(isinstance(item, dict) and "data" in item for item in items):
        for i, item in enumerate(items):
            place = at(where, f"[{i}]")
            case_id = the_text(item.get("name")) if isinstance(item, dict) else ""
            yield reading.case(
                lambda item=item, place=place: _case(item, reading, place),  # type: ignore[misc]
                case_id=case_id,
                where=place,
            )
        return
    case_id = reading.stem
    yield reading.case(lambda: Case(case_id, _turns(items, reading, where)), case_id=case_id, where=where)


def _case(item: Any, reading: Reading, where: str) -> Case:
    record = the_object(item, where)
    session, metadata = session_of(get(record, "initial_session"), at(where, "initial_session"))
    return Case(
        the_text(record.get("name")) or where,
        _turns(record.get("data"), reading, at(where, "data")),
        session=session,
        metadata=metadata | reading.rest(record, _CASE_KEYS, where),
    )


def _turns(items: Any, reading: Reading, where: str) -> tuple[Turn, ...]:
    turns = [
        _turn(the_object(item, f"{where}[{i}]"), reading, f"{where}[{i}]")
        for i, item in enumerate(the_list(items, where))
    ]
    if not turns:
        reading.note("a conversation with no turns, nothing of it can be scored", where)
    return tuple(turns)


def _turn(record: dict[str, Any], reading: Reading, where: str) -> Turn:
    query = the_text(record.get("query"))
    if not query:
        reading.note("a turn without 'query'", where)
    wanted, reference = get(record, "expected_tool_use"), record.get("reference")
    said = [
        (the_text(item.get("author")), the_text(item.get("text")))
        for item in the_list(get(record, "expected_intermediate_agent_responses"), where)
        if isinstance(item, dict)
    ]
    expected = Invocation(
        query,
        reading.no_expectation if wanted is None else _calls(wanted, reading, at(where, "expected_tool_use")),
        None if reference is None else the_text(reference),
        intermediate_responses=tuple(said),
        metadata=reading.rest(record, _TURN_KEYS, where),
    )
    made = next((record[key] for key in _ACTUAL if record.get(key) is not None), None)
    response = record.get("response")
    if made is None and response is None:
        return Turn(None, (expected,))
    calls = _calls(made, reading, at(where, _ACTUAL[0]))
    return Turn(Invocation(query, calls, None if response is None else the_text(response)), (expected,))


def _calls(items: Any, reading: Reading, where: str) -> tuple[ToolCall, ...]:
    log = CallLog(reading)
    for i, item in enumerate(the_list(items, where)):
        log.call(item, where=f"{where}[{i}]")
        if isinstance(item, dict) and (mock := item.get("mock_tool_output")) is not None:
            log.answer({"name": item.get("tool_name"), "response": mock})
    return log.calls()
