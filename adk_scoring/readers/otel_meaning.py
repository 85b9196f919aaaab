"""What a span means, by the conventions its tracer follows -> a `Step`.

Read are the GenAI semantic conventions (messages in attributes, in events, or numbered), ADK's two schemas,
OpenInference, Traceloop, pydantic-ai, the Vercel AI SDK and MLflow.
"""

from __future__ import annotations

import re
from typing import Any

from ._payload import asked_in, named_arguments, said_in
from ._reading import the_text
from ._said import Said, decoded, said_all
from ._trace import Step
from .otel_messages import adk_messages, event_messages, instructions_in, numbered, tools_in, usage_of
from .otel_spans import Span

__all__ = ["app_of", "meaning"]

_Attributes = dict[str, Any]

_OPERATIONS = {
    "execute_tool": "tool",
    "chat": "model",
    "generate_content": "model",
    "text_completion": "model",
    "completion": "model",
    "invoke_agent": "agent",
    "invoke_workflow": "agent",
    "agent_handoff": "skipped",
    "ai.toolcall": "tool",
    "ai.generatetext": "agent",
    "ai.streamtext": "agent",
    "ai.generatetext.dogenerate": "model",
    "ai.streamtext.dostream": "model",
}
_KINDS = {
    "tool": "tool",
    "llm": "model",
    "generation": "model",
    "chat_model": "model",
    "agent": "agent",
    "chain": "chain",
    "workflow": "chain",
    "task": "chain",
    "span": "",
}
_KIND_KEYS = (
    "openinference.span.kind",
    "traceloop.span.kind",
    "langfuse.observation.type",
    "mlflow.spanType",
    "langsmith.span.kind",
)
_MERGED = "(merged tools)"
_TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name", "tool_name")
_TOOL_IDS = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id")
_TOOL_ARGS = (
    "gen_ai.tool.call.arguments",
    "gcp.vertex.agent.tool_call_args",
    "tool_arguments",
    "ai.toolCall.args",
    "traceloop.entity.input",
    "input.value",
    "mlflow.spanInputs",
    "langfuse.observation.input",
)
_TOOL_RESULTS = (
    "gen_ai.tool.call.result",
    "gcp.vertex.agent.tool_response",
    "tool_response",
    "ai.toolCall.result",
    "traceloop.entity.output",
    "output.value",
    "mlflow.spanOutputs",
    "langfuse.observation.output",
)
_INPUTS = (
    "gen_ai.input.messages",
    "ai.prompt.messages",
    "ai.prompt",
    "traceloop.entity.input",
    "input.value",
    "mlflow.spanInputs",
    "langfuse.observation.input",
)
_OUTPUTS = (
    "gen_ai.output.messages",
    "final_result",
    "traceloop.entity.output",
    "output.value",
    "mlflow.spanOutputs",
    "langfuse.observation.output",
    "ai.response.text",
)
_SESSIONS = (
    "gen_ai.conversation.id",
    "session.id",
    "gcp.vertex.agent.session_id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
    "langsmith.trace.session_id",
    "mlflow.trace.session",
)
_ANY_SESSION = re.compile(r"(?:^|[._])(?:session|conversation|thread)[._]id$", re.IGNORECASE)
_ROOT_NAMES = frozenset({"invocation"})


def meaning(span: Span) -> Step:
    """Understand one span."""
    attributes = span.attributes
    step = Step(
        span.span_id,
        span.parent_id,
        span.trace_id,
        span.name,
        _kind(span),
        span.start,
        span.end,
        session=_session(attributes) or _session(span.resource),
        invocation=the_text(attributes.get("gcp.vertex.agent.invocation_id")),
        agent=the_text(_first(attributes, ("gen_ai.agent.name", "agent.name", "agent_name", "graph.node.id"))),
        user=the_text(_first(attributes, ("user.id", "enduser.id", "gcp.vertex.agent.user_id"))),
        error=span.failed,
        where=span.where,
    )
    step.root = span.name in _ROOT_NAMES or attributes.get("gen_ai.operation.name") == "invoke_workflow"
    if step.kind in ("tool", "skipped"):
        _tool(step, span)
    elif step.kind:
        _messages(step, span)
    else:
        _by_body(step, span)
    return step


def _session(attributes: _Attributes) -> str:
    """The conversation that attributes name, under any usual key."""
    for key in _SESSIONS:
        if attributes.get(key):
            return the_text(attributes[key])
    return next((the_text(v) for k, v in attributes.items() if v and _ANY_SESSION.search(k)), "")


def app_of(resource: _Attributes) -> str:
    """The service that emitted a span."""
    name = the_text(resource.get("service.name"))
    return "" if name.startswith("unknown_service") else name


def _kind(span: Span) -> str:
    """Whether a span is a tool's, a model's, an agent's, something around them, or none of these."""
    attributes, name = span.attributes, span.name
    kind = _plain_kind(attributes, name)
    if kind in ("tool", "") and _is_no_call(attributes, name):
        return "skipped"
    return kind


def _plain_kind(attributes: _Attributes, name: str) -> str:
    for key in ("gen_ai.operation.name", "ai.operationId"):
        kind = _OPERATIONS.get(the_text(attributes.get(key)).lower())
        if kind:
            return kind
    for key in _KIND_KEYS:
        kind = _KINDS.get(the_text(attributes.get(key)).lower())
        if kind:
            return kind
    if attributes.get("gen_ai.tool.name") or name.startswith("execute_tool "):
        return "tool"
    if "gcp.vertex.agent.llm_response" in attributes or attributes.get("llm.request.type"):
        return "model"
    if any(key.startswith(("gen_ai.completion.", "gen_ai.prompt.")) for key in attributes):
        return "model"
    if attributes.get("gen_ai.output.messages") or attributes.get("gen_ai.response.model"):
        return "model"
    return "agent" if name in _ROOT_NAMES or name.startswith(("invoke_agent ", "agent_run ")) else ""


def _is_no_call(attributes: _Attributes, name: str) -> bool:
    """Spans that look like a tool's: ADK's merged ones, pydantic-ai's output functions and deferred calls, handoffs."""
    return (
        attributes.get("gen_ai.tool.name") == _MERGED
        or name in (f"execute_tool {_MERGED}", "execute_tool (merged)")
        or the_text(attributes.get("logfire.msg")).startswith("running output function")
        or bool(attributes.get("pydantic_ai.tool.deferral.name"))
        or (name.startswith("handoff to ") and "tool.name" not in attributes)
    )


def _tool(step: Step, span: Span) -> None:
    attributes = span.attributes
    name = _first(attributes, _TOOL_NAMES)
    step.name = the_text(name or span.name.removeprefix("execute_tool ").removesuffix(".tool"))
    call_id = _first(attributes, _TOOL_IDS)
    step.call_id = the_text(call_id[-1] if isinstance(call_id, list) and call_id else call_id) or None
    args, result = _first(attributes, _TOOL_ARGS), _first(attributes, _TOOL_RESULTS)
    for event, more, _ in span.events:  # Strands tells a tool's input and output by events
        if event == "gen_ai.tool.message" and args is None:
            args = more.get("content")
        elif event == "gen_ai.choice" and result is None:
            result = more.get("message") or more.get("content")
    step.unknown = args is None
    step.args = named_arguments(args, attributes.get("tool.parameters"))
    result = decoded(result)
    if isinstance(result, list) and result and all(isinstance(b, dict) and "text" in b for b in result):
        result = "".join(the_text(block["text"]) for block in result)
    elif isinstance(result, dict) and "tool_call_id" in result and "content" in result:  # LangChain's ToolMessage
        step.call_id = step.call_id or the_text(result["tool_call_id"]) or None
        failed = result.get("status") == "error"
        result = result["content"]
        step.error = step.error or (the_text(result) if failed else None)
    step.result = result


def _messages(step: Step, span: Span) -> None:
    attributes = span.attributes
    request = attributes.get("gcp.vertex.agent.llm_request")
    if isinstance(request, str):  # long, and asked for more than once
        attributes = attributes | {"gcp.vertex.agent.llm_request": decoded(request)}
    step.asked, step.said = adk_messages(attributes)
    for prefix, target in (("llm.input_messages", step.asked), ("gen_ai.prompt", step.asked)):
        if not target:
            target += said_all(numbered(attributes, prefix))
    for prefix in ("llm.output_messages", "gen_ai.completion"):
        if not step.said:
            step.said += said_all(numbered(attributes, prefix), "assistant")
    asked, given = event_messages(span)
    step.asked, step.said = step.asked or asked, step.said or given
    if not step.asked:
        step.asked = next((found for key in _INPUTS if (found := asked_in(attributes.get(key)))), [])
    if not step.said:
        step.said = next((found for key in _OUTPUTS if (found := said_in(attributes.get(key)))), [])
    if not step.said and attributes.get("ai.response.toolCalls"):
        calls = decoded(attributes["ai.response.toolCalls"])
        step.said = said_all({"role": "assistant", "tool_calls": _vercel(calls)})
    if step.kind == "agent" and not step.asked:
        step.asked = [m for m in asked_in(attributes.get("pydantic_ai.all_messages")) if m.role in ("user", "system")]
    _outer_answer(step, attributes)
    step.usage = usage_of(attributes)
    step.tools = tools_in(attributes)
    step.instructions = instructions_in(attributes, step.asked)


def _outer_answer(step: Step, attributes: _Attributes) -> None:
    """What an agent gave as a whole, where it is told apart from the messages on the way."""
    if step.kind not in ("agent", "chain"):
        return
    answer = attributes.get("output.value")
    if isinstance(answer, str) and answer.strip() and not answer.lstrip().startswith(("{", "[")):
        step.said = [*step.said, Said("assistant", answer)]


def _vercel(calls: Any) -> list[Any]:
    items = calls if isinstance(calls, list) else []
    return [
        {"id": c.get("toolCallId"), "name": c.get("toolName"), "args": c.get("args", c.get("input"))}
        for c in items
        if isinstance(c, dict)
    ]


def _by_body(step: Step, span: Span) -> None:
    """Spans of which only an event's body tells what they are: ``{"input": {"messages"}, "output": {"messages"}}``."""
    body = next((body for _, _, body in span.events if isinstance(body, dict)), {})
    asked, given = (_first_content(body.get(key)) for key in ("input", "output"))
    if asked is None and given is None:
        return
    answer = decoded(given)
    if isinstance(answer, dict) and answer.get("type") == "tool":
        step.kind, step.name = "tool", the_text(answer.get("name"))
        step.call_id = the_text(answer.get("tool_call_id")) or None
        step.args, step.unknown = named_arguments(asked, None), asked is None
        step.result = answer.get("content")
        step.error = step.error or (the_text(step.result) if answer.get("status") == "error" else None)
        return
    step.kind = "model" if isinstance(answer, dict) and "generations" in answer else "chain"
    step.asked = (
        asked_in(asked) if isinstance(decoded(asked), dict) else said_all(_object(body.get("input")).get("messages"))
    )
    step.said = said_in(answer)


def _first_content(side: Any) -> Any:
    messages = _object(side).get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    return first.get("content") if isinstance(first, dict) else None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _first(attributes: _Attributes, keys: tuple[str, ...]) -> Any:
    return next((attributes[key] for key in keys if attributes.get(key) is not None), None)
