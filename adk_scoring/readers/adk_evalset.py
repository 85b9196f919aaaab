"""ADK EvalSet files (``*.evalset.json``, ``*.test.json``) and bare eval cases -> cases that hold expectations.

Also read: camelCase, explicit nulls, trpc-agent-go's ``tools`` and ``content``, and spellings of expectations that
authors invent and that can mean only one thing (each with a `ReadWarning`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import ReadError
from ..model import Case, Invocation, Session, ToolCall, Turn
from . import _extra
from ._calls import CallLog
from ._genai import UsageSum, log_content, rubrics_of, text_of, tools_of
from ._reading import Reading, at, get, kind_of, known_keys, number, show, the_list, the_object, the_text

__all__ = ["cases", "invocation", "recognises", "session_of"]

_SET_KEYS = known_keys("eval_set_id", "name", "eval_cases")
_ID_KEYS = ("eval_id", "eval_case_id", "case_id", "id")
_CASE_KEYS = known_keys(*_ID_KEYS, "conversation", "session_input", "rubrics") | {_extra.KEY}
_SESSION_KEYS = known_keys("app_name", "user_id", "state")
_CONVERSATION = known_keys("conversation", "conversation_scenario")
_AGENTS_CLI = known_keys("eval_case_id", "prompt", "agent_data", "responses")
_REFERENCES = ("reference_final_response", "reference", "agent_content")
_TURN_KEYS = known_keys(
    "invocation_id",
    "user_content",
    "user",
    "query",
    "final_response",
    "intermediate_data",
    "duration",
    "rubrics",
    "app_details",
    "tools",
    "expected_tool_use",
    *_REFERENCES,
)
_DATA_KEYS = known_keys("tool_uses", "tool_responses", "intermediate_responses", "invocation_events", "parts", "role")


def recognises(document: Any) -> bool:
    """An eval set, or one eval case; agents-cli datasets use the same envelope and differ inside the case."""
    if not isinstance(document, dict):
        return False
    found = get(document, "eval_cases")
    if found is None:
        return bool(_CONVERSATION & document.keys()) and (get(document, "eval_id") is not None or _is_case(document))
    if not isinstance(found, list | tuple):
        return True
    inside = [case.keys() for case in found if isinstance(case, dict)]
    if any(_CONVERSATION & keys for keys in inside):
        return True
    return not inside or (get(document, "eval_set_id") is not None and not any(_AGENTS_CLI & keys for keys in inside))


def _is_case(document: dict[str, Any]) -> bool:
    turns = document.get("conversation")
    if not isinstance(turns, list) or not turns or not isinstance(turns[0], dict):
        return get(document, "conversation_scenario") is not None
    return bool(_TURN_KEYS & turns[0].keys())


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """The cases of an eval set, or the one case that the document is."""
    record = the_object(document, where)
    if get(record, "eval_cases") is None:
        case_id = _case_id(record)
        yield reading.case(lambda: _case(record, reading, where, "", "", {}), case_id=case_id, where=where)
        return
    set_id, set_name = the_text(get(record, "eval_set_id")), the_text(record.get("name"))
    rest = reading.rest(record, _SET_KEYS, where)
    # Every case carries these, so only what is small; all cases without metadata of their own share one object.
    about = {key: value for key, value in rest.items() if not isinstance(value, dict | list)}
    about = {"eval_set": about} if about else {}
    for i, item in enumerate(the_list(get(record, "eval_cases"), at(where, "eval_cases"))):
        place = at(where, f"eval_cases[{i}]")
        yield reading.case(
            lambda item=item, place=place: _case(item, reading, place, set_id, set_name, about),  # type: ignore[misc]
            case_id=_case_id(item),
            set_id=set_id,
            where=place,
        )


def _case_id(item: Any) -> str:
    if not isinstance(item, dict):
        return ""
    return next((the_text(found) for key in (*_ID_KEYS, "name") if (found := get(item, key))), "")


def _case(item: Any, reading: Reading, where: str, set_id: str, set_name: str, about: dict[str, Any]) -> Case:
    record = the_object(item, where)
    case_id = _case_id(record)
    if not case_id:
        case_id = where or "case"
        reading.note("a case without 'eval_id', named by its place", where)
    conversation = record.get("conversation")
    if conversation is None and get(record, "conversation_scenario") is None:
        keys = ", ".join(map(str, record))
        raise ReadError(f"no 'conversation' and no 'conversation_scenario': found keys [{keys}]", location=where)
    place = at(where, "conversation")
    turns = the_list(conversation, place)
    if conversation is not None and not turns:
        reading.note("a conversation with no turns, nothing of it can be scored", where)
    invocations = [invocation(turn, reading, f"{place}[{i}]", recorded=False) for i, turn in enumerate(turns)]
    tools, instructions = tools_of((get(turn, "app_details") for turn in turns), where)
    session, metadata = session_of(get(record, "session_input"), at(where, "session_input"))
    metadata |= reading.rest(record, _CASE_KEYS, where)
    case = Case(
        case_id,
        tuple([Turn(None, (each,)) for each in invocations]),
        set_id=set_id,
        set_name=set_name,
        session=session,
        rubrics=rubrics_of(record.get("rubrics"), reading, at(where, "rubrics")),
        tools=tools,
        instructions=instructions,
        metadata=metadata | about if metadata else about,
        source=(reading.path, where),
    )
    return _extra.extended(case, record.get(_extra.KEY), at(where, _extra.KEY))


def session_of(found: Any, where: str) -> tuple[Session | None, dict[str, Any]]:
    """A session input, and what else it says under its own key for the metadata."""
    if not found:
        return None, {}
    record = the_object(found, where)
    state = record.get("state")
    session = Session(
        the_text(get(record, "app_name")),
        the_text(get(record, "user_id")),
        the_object(state, at(where, "state")) if state is not None else {},
    )
    rest = {key: value for key, value in record.items() if key not in _SESSION_KEYS and value is not None}
    return session, {"session_input": rest} if rest else {}


def invocation(item: Any, reading: Reading, where: str, *, recorded: bool) -> Invocation:
    """One turn of ADK's ``conversation``.

    Args:
        item: the JSON object.
        reading: takes the notes.
        where: its location.
        recorded: it is what an agent did, where absent calls are no calls; else an expectation, where they are
            no expectation.

    Raises:
        ReadError: something in it has the wrong shape.
    """
    record = the_object(item, where)
    user = get(record, "user_content")
    if user is None:
        user = record.get("user") if record.get("user") is not None else record.get("query")
        if user is None:
            reading.note("a turn without 'user_content'", where)
    response = text_of(get(record, "final_response"), reading, where)
    if response is None:
        response = _other_reference(record, reading, where)
    if response is None and recorded and get(record, "final_response") is not None:
        response = ""  # The agent ended without a text, which is an answer, and a bad one.
    calls, said, usage = _intermediate(record, response, reading, where, recorded)
    rubrics = record.get("rubrics")
    return Invocation(
        text_of(user, reading, where) or "",
        calls,
        response,
        invocation_id=the_text(get(record, "invocation_id")),
        intermediate_responses=said,
        usage=usage.total(),
        duration=number(record.get("duration")),
        rubrics=rubrics_of(rubrics, reading, at(where, "rubrics")) if rubrics else (),
        metadata=reading.rest(record, _TURN_KEYS, where),
    )


def _other_reference(record: dict[str, Any], reading: Reading, where: str) -> str | None:
    for key in _REFERENCES:
        found = get(record, key)
        if found is not None:
            reading.note(f"{key!r} read as the final response", where)
            return text_of(found, reading, where)
    return None


_Said = tuple[tuple[str, str], ...]


def _intermediate(
    record: dict[str, Any], response: str | None, reading: Reading, where: str, recorded: bool
) -> tuple[tuple[ToolCall, ...] | None, _Said, UsageSum]:
    """The calls, what was said before the answer, and the usage, from wherever the turn keeps them."""
    log, usage = CallLog(reading), UsageSum()
    data = get(record, "intermediate_data")
    tools = record.get("tools")
    place = at(where, "intermediate_data")
    if data is None:
        if isinstance(tools, list):  # trpc-agent-go: a call and its result in one object
            for i, tool in enumerate(tools):
                log.call(tool, where=f"{where}.tools[{i}]")
                log.answer(tool)
            return log.calls(), (), usage
        wanted = get(record, "expected_tool_use")
        if wanted is not None:
            reading.note("'expected_tool_use' read as the expected calls", where)
            _log_list(wanted, log, at(where, "expected_tool_use"))
            return log.calls(), (), usage
        return (() if recorded else reading.no_expectation), (), usage
    if isinstance(data, list | tuple):
        _log_list(data, log, place)
        return log.calls(), (), usage
    data = the_object(data, place)
    reading.rest(data, _DATA_KEYS, place)
    events = get(data, "invocation_events")
    if events is not None:
        return _from_events(events, response, log, usage, reading, at(place, "invocation_events"))
    if data.get("parts") is not None:
        reading.note("'intermediate_data' is a content, its function calls read as the calls", where)
        for answer in log_content(data, log, reading, place, author=None, step=0).answers:
            log.answer(answer)
        return log.calls(), (), usage
    said = _said(get(data, "intermediate_responses"), reading, at(place, "intermediate_responses"))
    uses = get(data, "tool_uses")
    if uses is None and ("tool_uses" in data or "toolUses" in data) and not recorded:
        return reading.no_expectation, said, usage
    _log_list(uses, log, at(place, "tool_uses"))
    for answer in the_list(get(data, "tool_responses"), at(place, "tool_responses")):
        if not log.answer(answer):
            reading.note("a tool response without a call, left out", place)
    return log.calls(), said, usage


def _log_list(items: Any, log: CallLog, where: str) -> None:
    for i, item in enumerate(the_list(items, where)):
        log.call(item, where=f"{where}[{i}]")


def _said(items: Any, reading: Reading, where: str) -> _Said:
    """``[[author, [part, ...]], ...]`` or ``[{"author", "text"}]``."""
    said = []
    for i, item in enumerate(the_list(items, where)):
        place = f"{where}[{i}]"
        if isinstance(item, list | tuple) and len(item) == 2:
            author, content = item
        elif isinstance(item, dict):
            author, content = item.get("author"), item
        else:
            raise ReadError(f"found {kind_of(item)}, wanted [author, parts]: {show(item)}", location=place)
        text = text_of(content, reading, place)
        if text:
            said.append((the_text(author), text))
    return tuple(said)


def _from_events(
    events: Any, response: str | None, log: CallLog, usage: UsageSum, reading: Reading, where: str
) -> tuple[tuple[ToolCall, ...], _Said, UsageSum]:
    said: list[tuple[str, str]] = []
    step = 0
    for i, item in enumerate(the_list(events, where)):
        place = f"{where}[{i}]"
        event = the_object(item, place)
        usage.add(get(event, "usage_metadata"))
        author = the_text(event.get("author"))
        content = log_content(event.get("content"), log, reading, place, author=author or None, step=step)
        step += content.calls > 0
        for answer in content.answers:
            if not log.answer(answer):
                reading.note("a tool response without a call, left out", place)
        if content.text:
            said.append((author, content.text))
    # An event that both answered and called is kept whole, so its text stands twice.
    if said and said[-1][1] == response:
        said.pop()
    return log.calls(), tuple(said), usage
