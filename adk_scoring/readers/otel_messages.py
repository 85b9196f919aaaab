"""What the attributes and events of a span say of a model call -> messages, tools, instructions, tokens."""

from __future__ import annotations

from typing import Any

from ..model import Tool, Usage
from ._declared import declared_tools, whole
from ._reading import the_text
from ._said import Said, decoded, said, said_all
from .otel_spans import Span

__all__ = ["adk_messages", "event_messages", "instructions_in", "numbered", "tools_in", "usage_of"]

_Attributes = dict[str, Any]


def adk_messages(attributes: _Attributes) -> tuple[list[Said], list[Said]]:
    """ADK's first schema has the whole request and response, thoughts marked as such."""
    request = decoded(attributes.get("gcp.vertex.agent.llm_request"))
    response = decoded(attributes.get("gcp.vertex.agent.llm_response"))
    asked = said_all(request["contents"], "user") if isinstance(request, dict) and request.get("contents") else []
    content = response.get("content") if isinstance(response, dict) else None
    answer = said(content, "assistant") if isinstance(content, dict) else None
    return asked, [answer] if answer else []


_MOST = 10_000


def numbered(attributes: _Attributes, prefix: str) -> list[Any]:
    """Messages spread over attributes: ``llm.input_messages.0.message.role`` and so on."""
    tree: dict[str, Any] = {}
    for key, value in attributes.items():
        if not key.startswith(prefix + "."):
            continue
        path = key[len(prefix) + 1 :].split(".")
        if not path[0].isdecimal() or len(path) > 12:
            continue
        node = tree
        for part in path[:-1]:
            inner = node.setdefault(part, {})
            if not isinstance(inner, dict):
                break
            node = inner
        else:
            node.setdefault(path[-1], value)
    listed = _listed(tree)
    return listed if isinstance(listed, list) else []


def _listed(node: Any) -> Any:
    """Objects whose keys are all numbers as lists."""
    if not isinstance(node, dict):
        return node
    items = {key: _listed(value) for key, value in node.items()}
    if items and all(key.isdecimal() and len(key) < 7 for key in items):
        return [items[key] for key in sorted(items, key=int)[:_MOST]]
    # OpenInference's wrappers around a part of a message or a call.
    for wrapper in ("message", "message_content", "tool_call"):
        if len(items) == 1 and isinstance(items.get(wrapper), dict):
            inner: Any = items[wrapper]
            return inner
    return items


_EVENT_ROLES = {
    "gen_ai.user.message": "user",
    "gen_ai.system.message": "system",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


def event_messages(span: Span) -> tuple[list[Said], list[Said]]:
    """What went in and came out, told as events on the span or (older pydantic-ai) in an attribute."""
    events = [(name, more if body is None else {**more, **_object(body)}) for name, more, body in span.events]
    told = decoded(span.attributes.get("events"))
    for item in told if isinstance(told, list) else ():
        if isinstance(item, dict):
            events.append((the_text(item.get("event.name")), item))
    asked, answers = list[Said](), list[Said]()
    for name, more in events:
        for key, target, role in (
            ("gen_ai.input.messages", asked, "user"),
            ("gen_ai.output.messages", answers, "assistant"),
        ):
            if more.get(key):
                target += said_all(decoded(more[key]), role)
        if name in _EVENT_ROLES:
            message = said({"role": _EVENT_ROLES[name], **more, "content": more.get("content")})
            asked += [message] if message else []
        elif name == "gen_ai.choice":
            inner = decoded(more.get("message"))
            message = said(inner if isinstance(inner, dict) else {"content": inner or more.get("content")}, "assistant")
            if message:
                message.role = "assistant"
                answers.append(message)
    return asked, answers


def tools_in(attributes: _Attributes) -> tuple[Tool, ...] | None:
    """The tools that were declared to a model; ``None`` if nothing is said about them."""
    found = decoded(attributes.get("gen_ai.tool.definitions"))
    if not isinstance(found, list):
        found = [
            _object(item.get("tool", item)).get("json_schema")
            for item in map(_object, numbered(attributes, "llm.tools"))
        ]
    if not found:
        groups = _adk_config(attributes).get("tools")
        declared = [
            _object(group).get("function_declarations") for group in (groups if isinstance(groups, list) else ())
        ]
        found = [tool for tools in declared if isinstance(tools, list) for tool in tools]
    return declared_tools([decoded(tool) for tool in found]) or None


def instructions_in(attributes: _Attributes, asked: list[Said]) -> str:
    """What a model was told to be."""
    for value in (attributes.get("gen_ai.system_instructions"), _adk_config(attributes).get("system_instruction")):
        parts = decoded(value)
        message = said({"role": "system", "content": parts}) if parts else None
        if message and message.text:
            return message.text
    return next((message.text for message in asked if message.role == "system" and message.text), "")


def _adk_config(attributes: _Attributes) -> dict[str, Any]:
    return _object(_object(decoded(attributes.get("gcp.vertex.agent.llm_request"))).get("config"))


_IN = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "ai.usage.promptTokens")
_OUT = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "ai.usage.completionTokens",
)
_CACHED = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "llm.token_count.prompt_details.cache_read",
)
_REASONING = (
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.details.reasoning_tokens",
    "llm.token_count.completion_details.reasoning",
)


def usage_of(attributes: _Attributes) -> Usage | None:
    """The tokens that attributes count; ``None`` if they count none."""
    counts = [_count(attributes, keys) for keys in (_IN, _OUT, _CACHED, _REASONING)]
    if all(count is None for count in counts):
        return None
    return Usage(input_tokens=counts[0], output_tokens=counts[1], cached_tokens=counts[2], reasoning_tokens=counts[3])


def _count(attributes: _Attributes, keys: tuple[str, ...]) -> int | None:
    return next((count for key in keys if (count := whole(attributes.get(key))) is not None), None)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
