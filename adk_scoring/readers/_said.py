"""One chat message, in whatever dialect a trace or a log writes it -> who says what, calls what, answers what.

OpenTelemetry's parts, OpenAI chat and Responses items, LangChain, Anthropic, Bedrock, Gemini. Thoughts are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from ..model import Invocation, ToolCall
from ._calls import CallLog
from ._reading import Reading, json_text, the_text

__all__ = ["BLOCKS", "Said", "as_one", "decoded", "said", "said_all", "turns_of", "turns_with_members"]

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "model": "assistant",
    "agent": "assistant",
    "bot": "assistant",
    "developer": "system",
    "function": "tool",
    "ipython": "tool",
    "humanmessage": "user",
    "aimessage": "assistant",
    "systemmessage": "system",
    "toolmessage": "tool",
}
_KNOWN_ROLES = frozenset({"user", "assistant", "system", "tool"})
# Kinds of blocks that are reasoning, whose text is no part of the answer.
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning", "thought"})
_CALLS = frozenset({"tool_call", "tool_use", "function_call", "tool-call", "server_tool_use"})
_ANSWERS = frozenset({"tool_call_response", "tool_result", "function_call_output", "tool-result"})


@dataclass(slots=True)
class Said:
    """One message.

    Attributes:
        role: ``user``, ``assistant``, ``system``, ``tool``, or what the file says.
        text: its text, ``None`` if it has none.
        calls: calls in it, each ``{"id", "name", "args"}``.
        answers: answers to calls in it, each ``{"id", "name", "response", "error"}``.
    """

    role: str
    text: str | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)


def decoded(value: Any) -> Any:
    """`value`, or the JSON object or list in it if it is text that holds one.

    >>> decoded('{"a": 1}'), decoded("plain")
    ({'a': 1}, 'plain')
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def said_all(messages: Any, role: str = "") -> list[Said]:
    """The messages of a list; what is none is left out."""
    if not isinstance(messages, list | tuple):
        messages = [messages]
    return [each for item in messages if (each := said(item, role)) is not None]


def said(item: Any, role: str = "") -> Said | None:
    """Read one message; ``None`` if it is none.

    Args:
        item: the message, or its bare text.
        role: who speaks, where the message does not say.

    >>> said({"role": "assistant", "parts": [{"type": "tool_call", "name": "find", "arguments": {"q": 1}}]}).calls
    [{'id': None, 'name': 'find', 'args': {'q': 1}}]
    """
    if isinstance(item, str):
        return Said(role, item)
    if not isinstance(item, dict):
        return None
    for wrapper in ("message", "kwargs", "data"):
        inner = item.get(wrapper)
        if isinstance(inner, dict) and "content" not in item and "parts" not in item:
            # LangChain's serialised form names its class beside the wrapped body.
            name = item.get("id")
            kind = name[-1] if wrapper == "kwargs" and isinstance(name, list) and name else item.get("type")
            inner = {"type": kind, **inner} if wrapper != "message" and isinstance(kind, str) else inner
            return said(inner, role) if wrapper not in inner else None
    out = Said(_role(item, role))
    _Body(out).read(item)
    return out


def _role(item: dict[str, Any], default: str) -> str:
    for key in ("role", "type"):
        name = item.get(key)
        if isinstance(name, str):
            name = _ROLES.get(name.lower(), name.lower())
            if name in _KNOWN_ROLES or (key == "role" and name):
                return name
    if the_text(item.get("type")) in _CALLS:
        return "assistant"
    return "tool" if the_text(item.get("type")) in _ANSWERS else default


class _Body:
    """Reads the body of one message into `out`."""

    __slots__ = ("out", "texts")

    def __init__(self, out: Said) -> None:
        self.out, self.texts = out, list[str]()

    def read(self, item: dict[str, Any]) -> None:
        if the_text(item.get("type")) in _CALLS | _ANSWERS | _THOUGHTS:
            self.block(item)
        else:
            content = next((item[key] for key in ("parts", "content", "contents", "text") if item.get(key)), None)
            if content is None and isinstance(item.get("content"), str):
                content = item["content"]
            if self.out.role == "tool" and not isinstance(item.get("parts"), list):
                self.tool_message(item, content)
            else:
                self.content(content)
        more = item.get("additional_kwargs")
        calls = item.get("tool_calls") or (more.get("tool_calls") if isinstance(more, dict) else None)
        for call in [*_items(calls), *_items(item.get("invalid_tool_calls"))]:
            self.call(call)
        if not calls and item.get("function_call"):
            self.call(item["function_call"])
        self.out.text = "".join(self.texts) if self.texts else None

    def tool_message(self, item: dict[str, Any], content: Any) -> None:
        blocks = _items(decoded(content)) if isinstance(content, str) else _items(content)
        if any(
            isinstance(block, dict) and ("toolResult" in block or the_text(block.get("type")) in _ANSWERS)
            for block in blocks
        ):
            self.content(blocks)
            return
        call_id = item.get("tool_call_id") or item.get("id")
        name = item.get("name") or item.get("function")
        self.answer(call_id, name, _plain(content), item.get("error") or item.get("status") == "error")

    def content(self, content: Any) -> None:
        if isinstance(content, str):
            # Strands writes its blocks as JSON text.
            blocks = decoded(content) if content.startswith('[{"') else content
            if isinstance(blocks, list) and all(isinstance(b, dict) and BLOCKS & b.keys() for b in blocks):
                content = blocks
        if isinstance(content, dict):
            content = content.get("parts", [content])
        for block in content if isinstance(content, list | tuple) else [content]:
            if isinstance(block, str):
                self.texts.append(block)
            elif isinstance(block, dict):
                self.block(block)

    def block(self, block: dict[str, Any]) -> None:
        for wrapper in ("message_content", "functionCall", "function_call", "toolUse", "tool_call"):
            inner = block.get(wrapper)
            if isinstance(inner, dict):
                self.block(inner) if wrapper == "message_content" else self.call(inner)
                return
        for wrapper in ("functionResponse", "function_response", "toolResult"):
            inner = block.get(wrapper)
            if isinstance(inner, dict):
                content = inner.get("response") if "response" in inner else inner.get("content")
                call_id = inner.get("id") or inner.get("toolUseId")
                self.answer(call_id, inner.get("name"), _plain(content), inner.get("status") == "error")
                return
        kind = the_text(block.get("type"))
        if kind in _THOUGHTS or block.get("thought") or "reasoningContent" in block:
            return
        if kind in _CALLS:
            self.call(block)
        elif kind in _ANSWERS:
            keys = ("response", "result", "output", "tool_result", "content")
            content = next((block[key] for key in keys if block.get(key) is not None), None)
            call_id = block.get("id") or block.get("tool_use_id") or block.get("call_id") or block.get("tool_call_id")
            self.answer(call_id, block.get("name"), _plain(content), block.get("is_error") is True)
        else:
            text = block.get("text") if block.get("text") is not None else block.get("content")
            if isinstance(text, str):
                self.texts.append(text)

    def call(self, call: Any) -> None:
        if not isinstance(call, dict):
            return
        body, inner = call, call.get("tool_call")
        if isinstance(inner, dict):
            call = body = inner
        if isinstance(call.get("function"), dict):
            body = call["function"]
        elif isinstance(call.get("function"), str):  # inspect
            body = {"name": call["function"], **call}
        args = next((body[key] for key in _ARGS if body.get(key) is not None), None)
        if call.get("parse_error") and not isinstance(args, str):
            args = json_text(args)  # what was salvaged of them is not what the model wrote
            args = f"{the_text(call['parse_error'])}: {args}"
        name = next((body[key] for key in ("name", "tool_name", "toolName") if body.get(key) is not None), None)
        self.out.calls.append({"id": _call_id(call), "name": name, "args": args})

    def answer(self, call_id: Any, name: Any, response: Any, error: Any) -> None:
        problem = None
        if error:
            message = error.get("message") if isinstance(error, dict) else error
            problem = message if isinstance(message, str) and message else the_text(response) or "error"
        self.out.answers.append(
            {"id": _one_id(call_id), "name": the_text(name), "response": response, "error": problem}
        )


_ARGS = ("arguments", "args", "input", "toolInput", "parameters")
# The keys of Bedrock's blocks, of which each has one.
BLOCKS = frozenset({"text", "toolUse", "toolResult", "reasoningContent"})


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _call_id(call: dict[str, Any]) -> str | None:
    found = next((call[key] for key in ("call_id", "id", "toolUseId", "tool_call_id") if call.get(key)), None)
    return _one_id(found)


def _one_id(value: Any) -> str | None:
    """An id as text; some frameworks write a list of run and call."""
    if isinstance(value, list) and value:
        value = value[-1]
    return the_text(value) or None


def _plain(content: Any) -> Any:
    """What a tool answered: text blocks become their text, a lone JSON block its value."""
    blocks = decoded(content) if isinstance(content, str) and content.startswith('[{"') else content
    if isinstance(blocks, list) and blocks and all(isinstance(b, dict) for b in blocks):
        texts = [b["text"] for b in blocks if isinstance(b.get("text"), str)]
        if len(texts) == len(blocks):
            return "".join(texts)
        if len(blocks) == 1 and "json" in blocks[0]:
            return blocks[0]["json"]
    return content


def turns_of(messages: Iterable[tuple[str, Said]], reading: Reading) -> list[Invocation]:
    """The turns of a conversation, split at what the user says.

    Messages of the user with nothing between them are one turn. What the agent says before the user does belongs to
    the first turn. The answer is the last text that is not said beside a call.

    Args:
        messages: ``(location, message)`` in order; system messages are passed over.
        reading: for notes.
    """
    return [turn for turn, _ in turns_with_members(messages, reading)]


def turns_with_members(messages: Iterable[tuple[str, Said]], reading: Reading) -> list[tuple[Invocation, list[int]]]:
    """The turns as `turns_of` splits them, each with the indexes of the messages that make it."""
    turns: list[_Turn] = []
    for i, (where, message) in enumerate(messages):
        if message.role == "system":
            continue
        starts = message.role == "user" and not message.answers
        if not turns or (starts and turns[-1].replied):
            turns.append(_Turn(reading))
        turns[-1].add(message, where, i, starts=starts)
    return [(turn.invocation(), turn.members) for turn in turns]


def as_one(turns: list[Invocation]) -> Invocation:
    """All turns of a conversation as one, where what is expected is about the whole of it; there is at least one."""
    step, calls, said = 0, list[ToolCall](), list[tuple[str, str]]()
    for turn in turns:
        made = turn.tool_calls or ()
        calls += [replace(call, step=step + (call.step or 0)) for call in made]
        step += max((call.step or 0 for call in made), default=-1) + 1
        said += turn.intermediate_responses
        said += [("", turn.response)] if turn.response else []
    answered = bool(said and turns[-1].response) or not turns[-1].intermediate_responses
    return Invocation(
        "\n\n".join(turn.user_text for turn in turns if turn.user_text),
        tuple(calls),
        said[-1][1] if said and answered else None,
        intermediate_responses=tuple(said[:-1] if answered else said),
    )


class _Turn:
    __slots__ = ("asked", "log", "members", "open", "reading", "replied", "said", "step")

    def __init__(self, reading: Reading) -> None:
        self.reading, self.log, self.step, self.replied = reading, CallLog(reading), 0, False
        self.members: list[int] = []
        self.open: list[dict[str, Any]] = []  # calls of the last step, for answers that name none
        self.asked: list[str] = []
        # Each text with whether it may be the answer of last resort, and whether it stands beside no call.
        self.said: list[tuple[str, bool, bool]] = []

    def add(self, message: Said, where: str, index: int, *, starts: bool) -> None:
        self.members.append(index)
        if starts:
            self.asked.append(message.text or "")
        else:
            told = message.role != "tool" and message.text is not None
            if told:
                self.said.append((message.text or "", bool(self.asked), not message.calls))
            self.replied = self.replied or bool(self.asked and (told or message.calls))
        for call in message.calls:
            self.log.call(call, step=self.step, where=where)
        if message.calls:
            self.step, self.open = self.step + 1, list(message.calls)
        for answer in message.answers:
            if not answer["id"] and not answer["name"] and self.open:
                call = self.open.pop(0)
                answer = {**answer, "id": call["id"], "name": call["name"]}
            if not self.log.answer(answer):
                self.reading.note("an answer without a call, left out", where)

    def invocation(self) -> Invocation:
        # What was said before the user asked is no answer, unless the user never does.
        candidates = [i for i, (_, after, _) in enumerate(self.said) if after or not self.asked]
        alone = [i for i in candidates if self.said[i][2]]
        last = (alone or candidates or [-1])[-1]
        return Invocation(
            "\n\n".join(self.asked),
            self.log.calls(),
            self.said[last][0] if last >= 0 else None,
            intermediate_responses=tuple(
                [("", text) for i, (text, _, _) in enumerate(self.said) if i != last and text]
            ),
        )
