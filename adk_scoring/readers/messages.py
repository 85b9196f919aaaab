"""Chat messages in the dialects of OpenAI, LangChain, Anthropic, Bedrock/Strands and Gemini -> recorded cases.

A list of messages or Responses items is one case, as is a record ``{"messages": [...]}`` with its ``tools`` or
``functions``, ``system`` or ``instructions``. ``{"outputs": [...], "reference_outputs": [...]}`` holds the run and
what was expected of it. Also read: recorded Gemini streams (``{"method", "response"}``, one model step a line) and
promptflow's chat history. A user message begins a turn; results and errors are attached to their calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from ..errors import ReadError
from ..model import Case, Invocation, Tool, Turn
from ._genai import text_of
from ._reading import Reading, at, show, the_list, the_object, the_text
from ._said import Said, decoded, said, turns_of

__all__ = ["cases", "recognises"]

_Located = tuple[str, Said]

_ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function", "model", "human", "ai"})
_TYPES = frozenset(
    {"human", "ai", "system", "tool", "function", "constructor", "message", "function_call", "function_call_output"}
    | {"reasoning", "mcp_call", "custom_tool_call", "custom_tool_call_output", "AIMessageChunk", "item_reference"}
)
_BODIES = frozenset({"content", "parts", "tool_calls", "function_call", "kwargs", "data", "refusal"})
_IDS = ("case_id", "id", "thread_id", "session_id", "conversation_id")
_CONVERSATIONS = ("messages", "contents", "outputs")
_REFERENCE = "reference_outputs"
_RESPONSE_KEYS = ("input", "output", "choices")
_KEYS = frozenset(
    {"tools", "functions", "toolConfig", "system", "instructions", _REFERENCE, *_IDS, *_CONVERSATIONS, *_RESPONSE_KEYS}
)


def recognises(document: Any) -> bool:
    """Messages, a record that holds some, a Responses or completion object, a recorded stream or chat history."""
    if isinstance(document, list):
        first = document[0] if document else None
        return _is_message(first) or _is_stream_step(first) or _is_history(first)
    if not isinstance(document, dict):
        return False
    if any(_are_messages(document.get(key)) for key in _CONVERSATIONS):
        return True
    if isinstance(document.get("choices"), list):
        return any(isinstance(choice, dict) and _is_message(choice.get("message")) for choice in document["choices"])
    return _are_messages(document.get("output"))


def _are_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and _is_message(value[0])


def _is_message(item: Any) -> bool:
    if not isinstance(item, dict) or "author" in item:
        return False
    role, kind = item.get("role"), item.get("type")
    if isinstance(role, str) and role in _ROLES:
        return bool(_BODIES & item.keys()) or kind == "message"
    return (
        isinstance(kind, str)
        and kind in _TYPES
        and (kind.endswith(("call", "output", "reasoning")) or bool(_BODIES & item.keys()))
    )


def _is_stream_step(item: Any) -> bool:
    method = item.get("method") if isinstance(item, dict) else None
    return isinstance(method, str) and method.startswith("generateContent") and "response" in item


def _is_history(item: Any) -> bool:
    outputs = item.get("outputs") if isinstance(item, dict) and isinstance(item.get("inputs"), dict) else None
    return isinstance(outputs, dict) and "llm_output" in outputs


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """The one case that a conversation is."""
    record = document if isinstance(document, dict) else {}
    case_id = next((the_text(record[key]) for key in _IDS if record.get(key)), "") or where or reading.stem
    yield reading.case(lambda: _case(document, case_id, reading, where), case_id=case_id, where=where)


def _case(document: Any, case_id: str, reading: Reading, where: str) -> Case:
    if isinstance(document, list):
        record: dict[str, Any] = {}
        actual, expected = _of_list(document, reading, where), None
    else:
        record = the_object(document, where)
        actual, expected = _of_record(record, reading, where), record.get(_REFERENCE)
    wanted = [] if expected is None else _messages(expected, reading, at(where, _REFERENCE))
    runs, references = turns_of(actual, reading), turns_of(wanted, reading)
    if expected is not None and len(references) != len(runs):
        reading.note("a reference with another number of turns than the run", at(where, _REFERENCE))
    turns = [_turn(run, reference) for run, reference in zip_longest(runs, references)]
    if not turns:
        reading.note("a conversation without messages, nothing of it can be scored", where)
    return Case(
        case_id,
        tuple(turns),
        tools=_tools(record, where),
        instructions="\n\n".join(_instructions(record, actual, reading, where)),
        metadata=reading.rest(record, _KEYS, where),
    )


def _turn(run: Invocation | None, reference: Invocation | None) -> Turn:
    """Both sides of a turn. A question that nobody replied to is no run, but an expectation that says nothing."""
    if run is not None and not run.tool_calls and run.response is None:
        asked = replace(run, tool_calls=None)
        return Turn(None, (asked if reference is None else _as_expected(reference),))
    return Turn(run, () if reference is None else (_as_expected(reference),))


def _as_expected(reference: Invocation) -> Invocation:
    """A reference says which calls in which order, not in which model steps."""
    calls = reference.tool_calls and tuple([replace(call, step=None) for call in reference.tool_calls])
    return replace(reference, tool_calls=calls)


def _of_record(record: dict[str, Any], reading: Reading, where: str) -> list[_Located]:
    for key in _CONVERSATIONS:
        if record.get(key) is not None:
            return _messages(record[key], reading, at(where, key))
    asked = record.get("input")
    found = [("", Said("user", asked))] if isinstance(asked, str) else []
    if isinstance(asked, list):
        found = _messages(asked, reading, at(where, "input"))
    if record.get("output") is not None:
        return found + _messages(record["output"], reading, at(where, "output"))
    place = at(where, "choices")
    choices = the_list(record.get("choices"), place)
    if len(choices) > 1:
        reading.note("a completion with several choices, the first is read", place)
    first = [the_object(choice, place).get("message") for choice in choices[:1]]
    return found + _messages(first, reading, at(where, "choices[0].message"))


def _of_list(items: list[Any], reading: Reading, where: str) -> list[_Located]:
    if _is_stream_step(items[0] if items else None):
        return _alone(items, _step_message, where)
    if _is_history(items[0] if items else None):
        return [each for i, item in enumerate(items) for each in _exchange(item, reading, at(where, f"[{i}]"))]
    return _messages(items, reading, where)


def _messages(items: Any, reading: Reading, where: str) -> list[_Located]:
    """The messages of a list, each with its place; neighbouring calls of a Responses list are one model step."""
    found: list[_Located] = []
    joins = False
    for i, item in enumerate(the_list(items, where)):
        place = f"{where}[{i}]"
        message = _message(the_object(item, place), reading, place)
        is_call = item.get("type") in ("function_call", "custom_tool_call")
        if joins and is_call:
            found[-1][1].calls.extend(message.calls)
        elif message.role == "user" and message.answers and message.text is not None:
            # Anthropic's user message may hold results of tools and, after them, what the user says.
            found += [(place, Said("tool", answers=message.answers)), (place, Said("user", message.text))]
        else:
            found.append((place, message))
        joins = is_call
    return found


def _message(item: dict[str, Any], reading: Reading, where: str) -> Said:
    kind = item.get("type")
    if isinstance(kind, str) and not isinstance(item.get("role"), str):
        if kind == "custom_tool_call":
            item = item | {"type": "function_call", "arguments": {"input": item.get("input")}}
        elif kind == "custom_tool_call_output":
            item = item | {"type": "function_call_output"}
        elif kind.endswith("_call") and kind != "function_call":
            return _hosted(item, kind, reading, where)
    message = said(item)
    known = message is not None and (message.role or (isinstance(kind, str) and kind in _TYPES))
    if message is None or not known:
        raise ReadError(
            f"not a message: found keys [{', '.join(map(str, item))}], wanted 'role' or 'type': {show(item)}",
            location=where,
        )
    if message.text is None and isinstance(item.get("refusal"), str):
        message.text = item["refusal"]
    for answer in message.answers:
        if isinstance(answer["response"], str):
            value = decoded(answer["response"])
            answer["response"] = value if isinstance(value, dict | list) else answer["response"]
    return message


def _hosted(item: dict[str, Any], kind: str, reading: Reading, where: str) -> Said:
    """A call that the provider made and answered itself: of an MCP server's tool, or of a built-in one."""
    args = next((item[key] for key in ("arguments", "action", "input", "code") if item.get(key) is not None), None)
    name = item.get("name")
    if not isinstance(name, str):
        name = kind.removesuffix("_call")
        reading.note("a call of a built-in tool, named by its kind", where)
    answer = {"id": item.get("id"), "name": name, "response": item.get("output"), "error": item.get("error")}
    answered = item.get("output") is not None or item.get("error") is not None
    call = {
        "id": item.get("id"),
        "name": name,
        "args": {"input": args} if kind != "mcp_call" and isinstance(args, str) else args,
    }
    return Said("assistant", calls=[call], answers=[answer] if answered else [])


def _alone(items: list[Any], as_message: Callable[[Any, str], Said], where: str) -> list[_Located]:
    """Model steps without what the user said: a step without a call ends its turn."""
    found: list[_Located] = []
    ended = True
    for i, item in enumerate(items):
        place = at(where, f"[{i}]")
        message = as_message(item, place)
        if ended:
            found.append((place, Said("user", "")))
        found.append((place, message))
        ended = not message.calls
    return found


def _step_message(item: Any, where: str) -> Said:
    response = the_object(item, where).get("response")
    parts: list[Any] = []
    for chunk in response if isinstance(response, list) else [response]:
        for candidate in the_list(the_object(chunk, at(where, "response")).get("candidates"), at(where, "response"))[
            :1
        ]:
            content = the_object(candidate, at(where, "response")).get("content")
            parts += the_list(content.get("parts"), at(where, "response")) if isinstance(content, dict) else []
    return said({"role": "model", "parts": parts}) or Said("assistant")


def _exchange(item: Any, reading: Reading, where: str) -> list[_Located]:
    """One exchange of promptflow's chat history: the question, what the model said, and the answer if it called."""
    record = the_object(item, where)
    inputs = the_object(record.get("inputs"), at(where, "inputs"))
    outputs = the_object(record.get("outputs"), at(where, "outputs"))
    question = inputs.get("question", next((value for value in inputs.values() if isinstance(value, str)), ""))
    place = at(where, "outputs.llm_output")
    found = [(where, Said("user", the_text(question)))]
    reply = outputs.get("llm_output")
    if isinstance(reply, dict):
        found.append((place, _message({"role": "assistant", **reply}, reading, place)))
    elif reply is not None:
        found.append((place, Said("assistant", the_text(reply))))
    if found[-1][1].text is None and outputs.get("answer") is not None:
        found.append((at(where, "outputs.answer"), Said("assistant", the_text(outputs["answer"]))))
    return found


def _instructions(record: dict[str, Any], messages: list[_Located], reading: Reading, where: str) -> Iterator[str]:
    for key in ("system", "instructions"):
        if record.get(key) is not None:
            yield text_of(record[key], reading, at(where, key)) or ""
    yield from (message.text for _, message in messages if message.role == "system" and message.text)


def _tools(record: dict[str, Any], where: str) -> tuple[Tool, ...] | None:
    """The declared tools: OpenAI's ``function``, Anthropic's ``input_schema``, Bedrock's ``toolSpec``."""
    key = next((key for key in ("tools", "functions") if record.get(key) is not None), None)
    declared = record[key] if key else None
    if declared is None and isinstance(record.get("toolConfig"), dict):
        declared = record["toolConfig"].get("tools")
    if declared is None:
        return None
    place = at(where, key or "toolConfig")
    tools = []
    for i, item in enumerate(the_list(declared, place)):
        tool = the_object(item, f"{place}[{i}]")
        body = next((tool[name] for name in ("function", "toolSpec") if isinstance(tool.get(name), dict)), tool)
        schema = next((body[k] for k in ("parameters", "input_schema", "inputSchema") if body.get(k) is not None), None)
        if isinstance(schema, dict) and isinstance(schema.get("json"), dict):
            schema = schema["json"]
        tools.append(
            Tool(
                the_text(body.get("name") or tool.get("type")),
                the_text(body.get("description")),
                schema if isinstance(schema, dict) else None,
            )
        )
    return tuple(tools)
