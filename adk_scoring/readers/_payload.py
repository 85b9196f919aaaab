"""The recorded input or output of a span, in whatever shape its tracer writes it -> the messages in it.

Plain text, chat messages, LangChain state and generations, OpenAI completions and responses, Gemini requests and
events, keyword arguments of a traced function. What has no text or message in it gives nothing.
"""

from __future__ import annotations

from typing import Any

from ._literal import literal
from ._said import BLOCKS, Said, decoded, said, said_all

__all__ = ["asked_in", "named_arguments", "said_in"]

# Keys under which a traced function or chain takes the question and gives the answer, the most telling first.
_QUESTIONS = ("user_input", "input", "query", "question", "task", "prompt", "user_message", "new_message", "text")
_ANSWERS = ("output", "answer", "response", "result", "final_output", "generated_text", "text", "message", "content")
_DEPTH = 6


def asked_in(value: Any) -> list[Said]:
    """The messages of an input.

    >>> [(each.role, each.text) for each in asked_in('{"args": ["What is the time?"], "kwargs": {}}')]
    [('user', 'What is the time?')]
    """
    return _messages(value, "user", _QUESTIONS, _DEPTH)


def said_in(value: Any) -> list[Said]:
    """The messages of an output.

    >>> [(each.role, each.text) for each in said_in({"choices": [{"message": {"content": "Noon."}}]})]
    [('assistant', 'Noon.')]
    """
    return _messages(value, "assistant", _ANSWERS, _DEPTH)


def _messages(value: Any, role: str, keys: tuple[str, ...], depth: int) -> list[Said]:
    value = decoded(value)
    if depth == 0 or value is None:
        return []
    if isinstance(value, str):
        return [Said(role, value)] if value.strip() and value != "__end__" else []  # LangGraph's last node
    if isinstance(value, list):
        if value and all(isinstance(item, list) for item in value):  # LangChain's batches
            return _messages(value[0], role, keys, depth - 1)
        if value and all(isinstance(item, str) for item in value):
            return [Said(role, item) for item in value]
        if value and all(isinstance(item, dict) and BLOCKS & item.keys() for item in value):
            return said_all({"role": role, "content": value})
        return [m for item in value if isinstance(item, dict) for m in _one(item, role, keys, depth)]
    return _one(value, role, keys, depth) if isinstance(value, dict) else [Said(role, str(value))]


def _one(value: dict[str, Any], role: str, keys: tuple[str, ...], depth: int) -> list[Said]:
    for key, inner_key in (("choices", "message"), ("generations", "message"), ("candidates", "content")):
        if isinstance(value.get(key), list):
            return _choices(value[key], inner_key, role, keys, depth)
    for key in ("messages", "contents", "input_messages", "output_messages"):
        if isinstance(value.get(key), list | dict):
            return _messages(value[key], role, keys, depth - 1)
    if isinstance(value.get("args"), list) and isinstance(value.get("kwargs"), dict):
        return _one(value["kwargs"], role, keys, depth - 1) or _messages(
            [item for item in value["args"] if isinstance(item, str)][:1], role, keys, depth - 1
        )
    if _is_message(value):
        message = said(value, role)
        return [message] if message else []
    for wrapper in ("inputs", "outputs"):
        if isinstance(value.get(wrapper), dict | list):
            return _messages(value[wrapper], role, keys, depth - 1)
    for key in keys:
        if isinstance(value.get(key), str | dict | list):
            return _messages(value[key], role, keys, depth - 1)
    return []


def _is_message(value: dict[str, Any]) -> bool:
    if value.keys() & {"role", "parts", "tool_calls", "kwargs"}:
        return True
    if isinstance(value.get("content"), dict | list) or isinstance(value.get("message"), dict):
        return True
    return isinstance(value.get("type"), str) and bool(value.keys() & {"content", "data", "call_id", "name"})


def _choices(items: list[Any], inner_key: str, role: str, keys: tuple[str, ...], depth: int) -> list[Said]:
    """The first alternative of an answer; the others were not given to anybody."""
    first = items[0] if items else None
    if isinstance(first, list):
        first = first[0] if first else None
    if not isinstance(first, dict):
        return []
    inner = first.get(inner_key)
    message = said(inner, role) if isinstance(inner, dict) else None
    if message is None:
        return _messages(first.get("text"), role, keys, depth - 1)
    if not message.text and isinstance(first.get("text"), str) and first["text"]:
        message.text = first["text"]
    return [message]


def named_arguments(value: Any, names: Any) -> Any:
    """The arguments of a call, out of what a tracer records of a traced function.

    Args:
        value: the input of its span.
        names: the schema of its parameters, if recorded: names positional arguments.

    >>> named_arguments('{"args": ["x"], "kwargs": {"k": 2}}', {"q": {"type": "string"}, "k": {}})
    {'q': 'x', 'k': 2}
    """
    value = literal(decoded(value))
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("args"), list) and isinstance(value.get("kwargs"), dict):
        args, schema = value["args"], decoded(names)
        if not args:
            return value["kwargs"]
        if isinstance(schema, dict):
            known = schema.get("properties") if isinstance(schema.get("properties"), dict) else schema
            if len(known or {}) >= len(args):
                return dict(zip(known or {}, args, strict=False)) | value["kwargs"]
        return [*args, value["kwargs"]] if value["kwargs"] else args
    if value.keys() & {"inputs", "input_str"} and value.keys() <= {"inputs", "input_str", "tags", "metadata", "kwargs"}:
        inner = value.get("inputs") or value.get("input_str")
        return literal(decoded(inner))
    return value
