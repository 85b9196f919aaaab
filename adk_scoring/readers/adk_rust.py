"""adk-rust evaluation files -> cases that hold expectations.

Four shapes: ``.test.json`` and eval sets (nearly ADK's; told apart by what only adk-eval writes: flat parts
``{"name", "args"}``, ``tags``, ``expected_response``, ``test_files``), the prompt optimizer's
``{"input", "expected"}``, and scripted runs of a managed agent, whose script is what the agent is to do.

``test_files`` are read from beside the set; a path that leads out of its folder is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import ReadError
from ..model import Case, Invocation, Tool, Turn
from . import _extra
from ._calls import CallLog
from ._document import parse_json
from ._genai import text_of
from ._reading import Reading, at, get, known_keys, the_list, the_object, the_text
from .adk_evalset import invocation, session_of

__all__ = ["cases", "recognises"]

_SET_KEYS = known_keys("eval_set_id", "name", "eval_cases", "test_files")
_CASE_KEYS = known_keys("eval_id", "conversation", "session_input", "tags", "metadata")
_PROMPT_KEYS = frozenset({"id", "name", "input", "expected", "tags", "metadata", "description"})
_SCRIPT_KEYS = frozenset({"name", "agent_def", "scripted_model", "scenario"})


def recognises(document: Any) -> bool:
    """A set or test file with something that only adk-eval writes, an optimizer's case, or a scripted run."""
    if not isinstance(document, dict):
        return False
    if isinstance(document.get("scripted_model"), dict):
        return isinstance(document.get("scenario"), list)
    found = document.get("eval_cases")
    if found is None and "test_files" not in document:
        return _is_prompt(document)
    if isinstance(document.get("test_files"), list):
        return True
    items = [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
    # What this library writes for ADK is ADK's, whatever keys it carries along.
    return any(map(_is_rust, items)) and not any(_extra.KEY in item for item in items)


def _is_prompt(document: dict[str, Any]) -> bool:
    return all(isinstance(document.get(key), str) for key in ("input", "expected")) and document.keys() <= _PROMPT_KEYS


def _is_rust(case: dict[str, Any]) -> bool:
    turns = case.get("conversation")
    if not isinstance(turns, list):
        return False
    return "tags" in case or any(isinstance(turn, dict) and _is_rust_turn(turn) for turn in turns)


def _is_rust_turn(turn: dict[str, Any]) -> bool:
    data = turn.get("intermediate_data")
    data = data if isinstance(data, dict) else {}
    if any(isinstance(use, dict) and "expected_response" in use for use in _items(data.get("tool_uses"))):
        return True
    if any(isinstance(said, dict) and "parts" in said for said in _items(data.get("intermediate_responses"))):
        return True
    contents = (turn.get("user_content"), turn.get("final_response"))
    return any(_flat(part) for each in contents if isinstance(each, dict) for part in _items(each.get("parts")))


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _flat(part: Any) -> bool:
    """A part that is a call or an answer by its own keys."""
    return isinstance(part, dict) and "name" in part and ("args" in part or "response" in part)


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """One case for every eval case, those of the test files after the set's own."""
    record = the_object(document, where)
    if isinstance(record.get("scripted_model"), dict):
        case_id = the_text(record.get("name")) or reading.stem
        yield reading.case(lambda: _scripted(record, case_id, reading, where), case_id=case_id, where=where)
    elif record.get("eval_cases") is None and "test_files" not in record:
        case_id = the_text(record.get("id") or record.get("name")) or where or reading.stem
        yield reading.case(lambda: _prompt(record, case_id, reading, where), case_id=case_id, where=where)
    else:
        yield from _set_cases(record, reading, where)
        for i, name in enumerate(the_list(record.get("test_files"), at(where, "test_files"))):
            yield from _file_cases(name, reading, at(where, f"test_files[{i}]"))


def _set_cases(record: dict[str, Any], reading: Reading, where: str) -> Iterator[Case]:
    set_id, set_name = the_text(get(record, "eval_set_id")), the_text(record.get("name"))
    reading.rest(record, _SET_KEYS, where)
    place = at(where, "eval_cases")
    for i, item in enumerate(the_list(record.get("eval_cases"), place)):
        here = f"{place}[{i}]"
        case_id = the_text(item.get("eval_id")) if isinstance(item, dict) else ""
        yield reading.case(
            lambda item=item, case_id=case_id, here=here: _case(  # type: ignore[misc]
                item, case_id or here, set_id, set_name, reading, here
            ),
            case_id=case_id,
            set_id=set_id,
            where=here,
        )


def _file_cases(name: Any, reading: Reading, where: str) -> Iterator[Case]:
    """The cases of a file that a set names; what is wrong with the file is an error case."""
    try:
        path = PurePosixPath(name) if isinstance(name, str) and name else None
        if path is None or path.is_absolute() or ".." in path.parts or "\\" in str(path) or ":" in str(path):
            raise ReadError(f"found {name!r:.80}, wanted a path below the folder of this file", location=where)
        full = Path(reading.path).parent / path
        try:
            raw = full.read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ReadError(f"{str(path)!r} cannot be read: {reason}", location=where) from None
        record = the_object(parse_json(raw), where)
    except ReadError as error:
        inside = error if error.location == where else ReadError(f"{name!r:.80}: {error}", location=where)
        yield reading.error_case(inside, case_id=the_text(name), where=where)
        return
    yield from _set_cases(record, reading, f"{where} ({path})")


def _case(item: Any, case_id: str, set_id: str, set_name: str, reading: Reading, where: str) -> Case:
    record = the_object(item, where)
    place = at(where, "conversation")
    turns = [
        Turn(None, (_turn(the_object(turn, f"{place}[{i}]"), reading, f"{place}[{i}]"),))
        for i, turn in enumerate(the_list(record.get("conversation"), place))
    ]
    if not turns:
        reading.note("a conversation with no turns, nothing of it can be scored", where)
    session, metadata = session_of(get(record, "session_input"), at(where, "session_input"))
    inner = record.get("metadata")
    return Case(
        case_id,
        tuple(turns),
        set_id=set_id,
        set_name=set_name,
        session=session,
        tags=_tags(record, where),
        metadata=metadata | (inner if isinstance(inner, dict) else {}) | reading.rest(record, _CASE_KEYS, where),
    )


def _tags(record: dict[str, Any], where: str) -> tuple[str, ...]:
    return tuple([the_text(tag) for tag in the_list(record.get("tags"), at(where, "tags"))])


def _turn(record: dict[str, Any], reading: Reading, where: str) -> Invocation:
    """A turn of ADK's kind, made of one of adk-eval's."""
    data = get(record, "intermediate_data")
    changed = {key: _content(record[key], where) for key in ("user_content", "final_response") if record.get(key)}
    if isinstance(data, dict):
        place = at(where, "intermediate_data")
        changed["intermediate_data"] = data = dict(data)
        if uses := the_list(get(data, "tool_uses"), at(place, "tool_uses")):
            data["tool_responses"] = [
                {"name": use.get("name"), "response": use["expected_response"]}
                for use in uses
                if isinstance(use, dict) and use.get("expected_response") is not None
            ]
        if said := the_list(get(data, "intermediate_responses"), at(place, "intermediate_responses")):
            data["intermediate_responses"] = [
                [the_text(content.get("role")), content.get("parts")] if isinstance(content, dict) else content
                for content in said
            ]
    return invocation(record | changed, reading, where, recorded=False)


def _content(content: Any, where: str) -> Any:
    """A content with its flat calls and answers as ADK's parts."""
    if not isinstance(content, dict):
        return content
    parts = [
        {"function_call" if "args" in part else "function_response": part} if _flat(part) else part
        for part in the_list(content.get("parts"), at(where, "parts"))
    ]
    return content | {"parts": parts}


def _prompt(record: dict[str, Any], case_id: str, reading: Reading, where: str) -> Case:
    wanted = Invocation(the_text(record.get("input")), reading.no_expectation, the_text(record.get("expected")))
    metadata = record.get("metadata")
    rest = reading.rest(record, _PROMPT_KEYS - {"description"}, where)
    return Case(
        case_id,
        (Turn(None, (wanted,)),),
        tags=_tags(record, where),
        metadata=(metadata if isinstance(metadata, dict) else {}) | rest,
    )


# --- scripted runs ----------------------------------------------------------------------------------------------


def _scripted(record: dict[str, Any], case_id: str, reading: Reading, where: str) -> Case:
    """A case of the user messages of a scenario; the model's script goes on until it answers without a call."""
    place = at(where, "scenario")
    texts: list[str] = []
    results: list[dict[str, Any]] = []
    for i, item in enumerate(the_list(record.get("scenario"), place)):
        here = f"{place}[{i}]"
        event = the_object(item, here)
        if event.get("type") == "user.message":
            texts.append(text_of(event, reading, here) or "")
        elif event.get("type") == "user.custom_tool_result":
            results.append({"id": event.get("custom_tool_use_id"), "response": text_of(event, reading, here)})
    place = at(where, "scripted_model.turns")
    script = iter(list(enumerate(the_list(record["scripted_model"].get("turns"), place))))
    turns = []
    for text in texts:
        log, response = CallLog(reading), None
        for i, item in script:
            step = the_object(item, f"{place}[{i}]")
            calls = the_list(step.get("tool_calls"), f"{place}[{i}].tool_calls")
            for call in calls:
                log.call(call, step=i, where=f"{place}[{i}].tool_calls")
            if not calls:
                response = None if step.get("text") is None else the_text(step["text"])
                break
        for result in results:
            log.answer(result, by_name=False)
        turns.append(Turn(None, (Invocation(text, log.calls(), response),)))
    agent = record.get("agent_def")
    agent = the_object({} if agent is None else agent, at(where, "agent_def"))
    return Case(
        case_id,
        tuple(turns),
        tools=_tools(agent, at(where, "agent_def")),
        instructions=the_text(agent.get("system")),
        metadata=reading.rest(record, _SCRIPT_KEYS, where),
    )


def _tools(agent: dict[str, Any], where: str) -> tuple[Tool, ...] | None:
    if agent.get("tools") is None:
        return None
    records = [the_object(tool, at(where, "tools")) for tool in the_list(agent["tools"], at(where, "tools"))]
    return tuple(
        [
            Tool(
                the_text(tool.get("name")),
                the_text(tool.get("description")),
                schema if isinstance(schema := tool.get("input_schema"), dict) else None,
                agent=the_text(agent.get("name")) or None,
            )
            for tool in records
        ]
    )
