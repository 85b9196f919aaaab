"""OpenTelemetry traces: every container gives the same cases, every convention its calls, nothing is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adk_scoring.errors import ReadError, ReadWarning
from adk_scoring.model import Case, Invocation, Session, Tool, ToolCall, Usage
from adk_scoring.readers import READERS, iter_cases, read
from adk_scoring.readers.otel_spans import nanoseconds
from tests.corpus import corpus

DATA = Path(__file__).parent / "data/otel"
SECOND = 10**9


def actual(case: Case, turn: int = 0) -> Invocation:
    side = case.turns[turn].actual
    assert side is not None
    return side


def calls(case: Case, turn: int = 0) -> tuple[ToolCall, ...]:
    made = actual(case, turn).tool_calls
    assert made is not None
    return made


def span(name: str = "", parent: str = "", *, at: Any = 0, span_id: str = "", **more: Any) -> dict[str, Any]:
    """A span of a flat list; `at` is the second it starts in."""
    attributes = more.pop("attributes", {})
    start = at * SECOND if isinstance(at, int) else at
    return {
        "trace_id": "t",
        "span_id": span_id or name or "s",
        "parent_span_id": parent or None,
        "name": name,
        "start_time": start,
        "attributes": attributes,
        **more,
    }


def tool(name: str, parent: str = "", *, at: Any = 0, **attributes: Any) -> dict[str, Any]:
    keys = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    return span(name, parent, at=at, attributes=keys | attributes)


def chat(parent: str = "", *, at: Any = 0, span_id: str = "", **attributes: Any) -> dict[str, Any]:
    return span("chat", parent, at=at, span_id=span_id, attributes={"gen_ai.operation.name": "chat"} | attributes)


def event(name: str, **attributes: Any) -> dict[str, Any]:
    return {"name": name, "attributes": attributes}


def said(text: str = "", *asked: dict[str, Any]) -> str:
    parts = ([{"type": "text", "content": text}] if text else []) + [{"type": "tool_call", **call} for call in asked]
    return json.dumps([{"role": "assistant", "parts": parts}])


class TestAdk:
    def test_first_schema(self) -> None:
        (case,) = read(DATA / "adk_v1.otlp.json")
        assert (case.case_id, case.session) == ("house-1", Session("house", ""))
        assert case.tools == (Tool("find_device", "Finds.", {"type": "object"}),)
        assert case.instructions == "You run a house."
        first, second = (turn.actual for turn in case.turns)
        assert first == Invocation(
            "Turn the hall lamp off.",
            (
                ToolCall(
                    "find_device", {"room": "hall"}, call_id="c1", author="home", step=0, response={"device": "lamp-7"}
                ),
                ToolCall(
                    "set_power",
                    {"device": "lamp-7", "on": False},
                    call_id="c2",
                    author="home",
                    step=0,
                    response={"error": "no answer"},
                    error="no answer",
                ),
            ),
            "The lamp is broken.",
            invocation_id="i-1",
            intermediate_responses=(("home", "On it."),),
            usage=Usage(input_tokens=30, output_tokens=10, reasoning_tokens=2, model_calls=2),
            duration=9e-8,
        )
        assert second is not None
        assert (second.user_text, second.tool_calls, second.response) == ("Thanks.", (), "You are welcome.")

    def test_second_schema_joins_what_was_asked_and_what_ran(self) -> None:
        (case,) = read(DATA / "adk_v2.otlp.json")
        assert case.case_id == "trip-1"
        assert actual(case) == Invocation(
            "Paris tomorrow?",
            (
                # Its own arguments were not captured; those that the model asked for are.
                ToolCall("forecast", {"city": "Paris"}, call_id="adk-1", author="planner", step=0),
                # What ran had an argument more than what the model is said to have asked for.
                ToolCall(
                    "trains", {"to": "Paris"}, call_id="adk-2", author="planner", step=0, error="trains timed out"
                ),
            ),
            "Sunny, but no trains.",
            invocation_id="i-7",
            usage=Usage(input_tokens=14, output_tokens=5, cached_tokens=1, model_calls=2),
            duration=9.9e-8,
        )

    def test_content_that_was_not_captured_is_unknown_not_empty(self) -> None:
        (case,) = read(DATA / "adk_v1_uncaptured.jsonl")
        assert (case.case_id, calls(case)) == ("quiet", (ToolCall("now", None),))
        assert actual(case).response is None

    def test_empty_arguments_are_empty_where_content_was_captured(self) -> None:
        keys = {"gcp.vertex.agent.tool_call_args": "{}", "gcp.vertex.agent.tool_response": '{"now": 5}'}
        (case,) = read([tool("now", **keys)])
        assert calls(case) == (ToolCall("now", {}, response={"now": 5}),)

    def test_two_invocations_in_one_trace_are_two_turns(self) -> None:
        spans = [
            span("script", span_id="root"),
            span("invocation", "root", span_id="i1", at=1),
            tool("a", "i1", at=2),
            span("invocation", "root", span_id="i2", at=3),
            tool("b", "i2", at=4),
        ]
        (case,) = read(spans)
        assert [[call.name for call in calls(case, i)] for i in range(len(case.turns))] == [["a"], ["b"]]


def containers() -> dict[str, Any]:
    """The golden trace in every container that spans come in."""
    otlp = json.loads((DATA / "adk_v1.otlp.json").read_text())
    flat = [span for group in otlp["resourceSpans"] for scope in group["scopeSpans"] for span in scope["spans"]]
    service = {"service.name": "house"}

    def value(item: dict[str, Any]) -> Any:
        ((kind, inner),) = item["value"].items()
        return int(inner) if kind == "intValue" else inner

    def attributes(one: dict[str, Any]) -> dict[str, Any]:
        return {item["key"]: value(item) for item in one["attributes"]}

    def console(one: dict[str, Any]) -> dict[str, Any]:
        return {
            "name": one["name"],
            "context": {"trace_id": one["traceId"], "span_id": one["spanId"]},
            "parent_id": one.get("parentSpanId"),
            "start_time": int(one["startTimeUnixNano"]),
            "end_time": int(one["endTimeUnixNano"]),
            "attributes": attributes(one),
            "resource": {"attributes": service},
        }

    def jaeger(one: dict[str, Any]) -> dict[str, Any]:
        parent = one.get("parentSpanId")
        return {
            "traceID": one["traceId"],
            "spanID": one["spanId"],
            "operationName": one["name"],
            "references": [{"refType": "CHILD_OF", "spanID": parent}] if parent else [],
            "startTime": int(one["startTimeUnixNano"]),
            "duration": 0,
            "tags": [{"key": key, "value": value} for key, value in attributes(one).items()],
            "processID": "p1",
        }

    process = {"p1": {"serviceName": "house", "tags": []}}
    return {
        "otlp": otlp,
        "snake": {"resource_spans": [{**g, "scope_spans": g["scopeSpans"]} for g in otlp["resourceSpans"]]},
        "old library": {
            "resourceSpans": [
                {"resource": g["resource"], "instrumentationLibrarySpans": g["scopeSpans"]}
                for g in otlp["resourceSpans"]
            ]
        },
        "tempo": {"batches": otlp["resourceSpans"]},
        "tempo trace": {"trace": {"resourceSpans": otlp["resourceSpans"]}},
        "list of exports": [{"resourceSpans": [group]} for group in otlp["resourceSpans"]],
        "console": [console(one) for one in flat],
        "object of spans": {"spans": [console(one) for one in flat]},
        "jaeger": {"data": [{"spans": [jaeger(one) for one in flat], "processes": process}]},
        "sqlite": [
            {
                "span_id": one["spanId"],
                "trace_id": one["traceId"],
                "parent_span_id": one.get("parentSpanId"),
                "name": one["name"],
                "start_time_unix_nano": int(one["startTimeUnixNano"]),
                "end_time_unix_nano": int(one["endTimeUnixNano"]),
                "attributes_json": json.dumps(attributes(one)),
                "resource": {"attributes": service},
            }
            for one in flat
        ],
    }


@pytest.mark.parametrize("name", containers())
def test_every_container_gives_the_same_case(name: str) -> None:
    (wanted,) = read(DATA / "adk_v1.otlp.json")
    document = containers()[name]
    assert READERS["otel"].recognises(document)
    (case,) = read(document)
    if name == "jaeger":  # has durations instead of ends
        assert [t.actual and t.actual.tool_calls for t in case.turns] == [
            t.actual and t.actual.tool_calls for t in wanted.turns
        ]
    else:
        assert case.turns == wanted.turns
    assert (case.case_id, case.session, case.tools) == (wanted.case_id, wanted.session, wanted.tools)


def test_exports_line_by_line_belong_together(tmp_path: Path) -> None:
    otlp = json.loads((DATA / "adk_v1.otlp.json").read_text())
    path = tmp_path / "traces.jsonl"
    lines = [
        {"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}
        for group in otlp["resourceSpans"]
        for one in group["scopeSpans"][0]["spans"]
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n{oops\n")
    broken, case = read(path)
    assert case.turns == read(otlp)[0].turns
    assert broken.error is not None
    assert broken.error.startswith(f"line {len(lines) + 1} column")


class TestConventions:
    def test_genai_events_and_errors(self) -> None:
        asked = {"tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}
        choice = event("gen_ai.choice", message=json.dumps(asked))
        (case,) = read(
            [
                span("agent", attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "c"}),
                chat("agent", at=1) | {"events": [event("gen_ai.user.message", content="hi"), choice]},
                tool("f", "agent", at=2) | {"status": {"code": "ERROR", "description": "down"}},
                chat("agent", at=3, span_id="last") | {"events": [event("gen_ai.choice", message="bye")]},
            ]
        )
        assert case.case_id == "c"
        assert (actual(case).user_text, actual(case).response) == ("hi", "bye")
        assert calls(case) == (ToolCall("f", {}, call_id="1", step=0, error="down"),)

    def test_an_exception_event_tells_the_error(self) -> None:
        event = {"name": "exception", "attributes": {"exception.type": "KeyError", "exception.message": "'x'"}}
        (case,) = read([tool("f", **{"gen_ai.tool.call.arguments": "{}"}) | {"status": {"code": 2}, "events": [event]}])
        assert calls(case) == (ToolCall("f", {}, error="'x'"),)

    def test_openinference(self) -> None:
        model = {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "system",
            "llm.input_messages.0.message.content": "Be kind.",
            "llm.input_messages.1.message.role": "user",
            "llm.input_messages.1.message.contents.0.message_content.type": "text",
            "llm.input_messages.1.message.contents.0.message_content.text": "hi",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": "1",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"a": 1}',
            "llm.output_messages.0.message.tool_calls.1.tool_call.function.name": "g",
            "llm.token_count.prompt": 3,
            "llm.tools.0.tool.json_schema": '{"type": "function", "function": {"name": "f"}}',
        }
        ran = {"openinference.span.kind": "TOOL", "tool.name": "f", "input.value": "{'a': 1}", "output.value": "[1]"}
        outer = {"openinference.span.kind": "CHAIN", "output.value": '{"messages": [{"type": "ai", "content": "ok"}]}'}
        (case,) = read(
            [
                span("chain", attributes=outer),
                span("llm", "chain", at=1, attributes=model),
                span("f", "chain", at=3, attributes=ran),
            ]
        )
        assert (actual(case).user_text, actual(case).response, case.instructions) == ("hi", "ok", "Be kind.")
        # `g` was asked for when the model ended, which is not known here, so when it began.
        assert calls(case) == (ToolCall("g", {}, step=0), ToolCall("f", {"a": 1}, call_id="1", step=0, response=[1]))
        assert case.tools == (Tool("f"),)

    def test_traceloop(self) -> None:
        asked = {
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "hi",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "done",
            "gen_ai.usage.prompt_tokens": 4,
            "gen_ai.usage.completion_tokens": 2,
        }
        ran = {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "f",
            "traceloop.entity.input": '{"inputs": {"a": 1}, "tags": [], "metadata": {}, "kwargs": {}}',
            "traceloop.entity.output": '{"b": 2}',
            "traceloop.association.properties.session_id": "s",
        }
        (case,) = read([span("f.tool", attributes=ran), span("openai.chat", at=1, attributes=asked)])
        assert (case.case_id, actual(case).user_text, actual(case).response) == ("s", "hi", "done")
        assert calls(case) == (ToolCall("f", {"a": 1}, response={"b": 2}),)
        assert actual(case).usage == Usage(input_tokens=4, output_tokens=2, model_calls=1)

    def test_pydantic_ai_output_functions_and_deferred_calls_are_no_calls(self) -> None:
        output = said(
            "", {"id": "1", "name": "f", "arguments": {}}, {"id": "2", "name": "final_result", "arguments": {}}
        )
        (case,) = read(
            [
                span("agent run", attributes={"gen_ai.operation.name": "invoke_agent", "final_result": "42"}),
                chat("agent run", at=1, **{"gen_ai.output.messages": output}),
                span(
                    "running tool",
                    "agent run",
                    at=2,
                    attributes={"gen_ai.tool.name": "f", "tool_arguments": '{"x": 1}', "tool_response": "9"},
                ),
                tool("final_result", "agent run", at=3, **{"logfire.msg": "running output function: final_result"}),
                tool("later", "agent run", at=4, **{"pydantic_ai.tool.deferral.name": "CallDeferred"}),
            ]
        )
        assert calls(case) == (ToolCall("f", {"x": 1}, call_id="1", step=0, response="9"),)
        assert actual(case).response == "42"

    def test_older_pydantic_ai_tells_its_messages_as_events_in_an_attribute(self) -> None:
        events = [
            {"event.name": "gen_ai.user.message", "role": "user", "content": "hi"},
            {"event.name": "gen_ai.choice", "message": {"role": "assistant", "content": "ok"}},
        ]
        (case,) = read([chat(events=json.dumps(events))])
        assert (actual(case).user_text, actual(case).response) == ("hi", "ok")

    def test_vercel_ai_sdk(self) -> None:
        step = {
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.prompt.messages": '[{"role": "user", "content": [{"type": "text", "text": "hi"}]}]',
            "ai.response.toolCalls": '[{"toolCallId": "1", "toolName": "f", "args": "{\\"a\\": 1}"}]',
            "ai.usage.promptTokens": 2,
        }
        ran = {
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.id": "1",
            "ai.toolCall.name": "f",
            "ai.toolCall.args": '{"a": 1}',
            "ai.toolCall.result": '{"b": 2}',
        }
        (case,) = read([span("doGenerate", attributes=step), span("ai.toolCall", at=1, attributes=ran)])
        assert calls(case) == (ToolCall("f", {"a": 1}, call_id="1", step=0, response={"b": 2}),)
        assert actual(case).user_text == "hi"

    def test_mlflow(self) -> None:
        ran = {"mlflow.spanType": "TOOL", "mlflow.spanInputs": '[{"a": 1}]', "mlflow.spanOutputs": "3"}
        with pytest.warns(ReadWarning, match="arguments are a list, not an object; the arguments count as unknown"):
            (case,) = read([span("add", attributes=ran)])
        assert calls(case) == (ToolCall("add", None, response="3", args_error="arguments are a list, not an object"),)

    def test_smolagents_positional_arguments_get_their_names(self) -> None:
        keys = {"openinference.span.kind": "TOOL", "tool.name": "f", "tool.parameters": '{"q": {"type": "string"}}'}
        (case,) = read([span("F", attributes=keys | {"input.value": '{"args": ["tea"], "kwargs": {}}'})])
        assert calls(case) == (ToolCall("f", {"q": "tea"}),)
        with pytest.warns(ReadWarning, match="arguments are a list"):
            (case,) = read([span("F", attributes=keys | {"input.value": '{"args": ["a", "b"], "kwargs": {"c": 1}}'})])
        assert calls(case)[0].args is None

    def test_strands_tells_a_tool_by_events_and_text_blocks(self) -> None:
        told = [event("gen_ai.tool.message", content='{"a": 1}'), event("gen_ai.choice", message='[{"text": "ok"}]')]
        (case,) = read([tool("f") | {"events": told}])
        assert calls(case) == (ToolCall("f", {"a": 1}, response="ok"),)

    def test_a_failed_tool_message_of_langchain(self) -> None:
        message = {"content": "no such city", "tool_call_id": "c", "status": "error", "type": "tool"}
        keys = {"openinference.span.kind": "TOOL", "input.value": "{}", "output.value": json.dumps(message)}
        (case,) = read([span("f", attributes=keys)])
        assert calls(case) == (ToolCall("f", {}, call_id="c", response="no such city", error="no such city"),)

    def test_arguments_asked_for_that_are_no_object(self) -> None:
        output = said("", {"name": "f", "arguments": "{oops"})
        with pytest.warns(ReadWarning, match="arguments are not JSON"):
            (case,) = read([chat(**{"gen_ai.output.messages": output})])
        assert calls(case)[0].args is None

    def test_numbered_attributes_that_contradict_each_other(self) -> None:
        keys = {"gen_ai.completion.0": "x", "gen_ai.completion.0.content": "y", "gen_ai.completion.z.content": "z"}
        (case,) = read([span("chat", attributes=keys)])
        assert actual(case).response in (None, "x")

    def test_a_handoff_span_is_no_call_but_the_transfer_asked_for_is(self) -> None:
        output = said("", {"id": "1", "name": "transfer_to_math", "arguments": "{}"})
        handoff = {"openinference.span.kind": "TOOL", "input.value": "root", "output.value": "math"}
        (case,) = read([chat(**{"gen_ai.output.messages": output}), span("handoff to math", at=1, attributes=handoff)])
        assert calls(case) == (ToolCall("transfer_to_math", {}, call_id="1", step=0),)


class TestOrderAndPairing:
    def test_by_start_and_stable_on_ties(self) -> None:
        spans = [tool("c", at=3), tool("b", at=2), tool("a", at=2)]
        spans = [one | {"span_id": str(i)} for i, one in enumerate(spans)]
        (case,) = read(spans)
        assert [call.name for call in calls(case)] == ["b", "a", "c"]

    def test_a_span_without_a_start_keeps_the_order_of_the_file(self) -> None:
        spans = [tool("b", at=2) | {"span_id": "1"}, tool("a", at=1) | {"span_id": "2", "start_time": None}]
        (case,) = read(spans)
        assert [call.name for call in calls(case)] == ["b", "a"]

    def test_equal_calls_without_ids_are_not_merged(self) -> None:
        output = said("", *[{"name": "f", "arguments": {"a": n}} for n in (1, 2, 1)])
        spans = [
            tool("f", at=n + 1, **{"gen_ai.tool.call.arguments": json.dumps({"a": a})}) for n, a in enumerate((2, 1))
        ]
        spans = [one | {"span_id": str(i)} for i, one in enumerate(spans)]
        (case,) = read([chat(**{"gen_ai.output.messages": output}), *spans])
        # Two ran, the third was only asked for, when the model spoke.
        assert [(call.name, call.args) for call in calls(case)] == [("f", {"a": 1}), ("f", {"a": 2}), ("f", {"a": 1})]

    def test_a_model_call_traced_twice_counts_once(self) -> None:
        output = said("", {"name": "f", "arguments": {}})
        outer, inner = chat(span_id="outer", **{"gen_ai.output.messages": output}), chat("outer", span_id="inner")
        inner["attributes"]["gen_ai.output.messages"] = output
        (case,) = read([outer, inner])
        assert (len(calls(case)), actual(case).usage) == (1, Usage(model_calls=1))

    def test_a_model_call_traced_twice_without_content_counts_once(self) -> None:
        outer, inner = chat(span_id="outer"), chat("outer", span_id="inner")
        for one in (outer, inner):
            one["attributes"]["gen_ai.usage.input_tokens"] = 5
        assert actual(read([outer, inner])[0]).usage == Usage(input_tokens=5, model_calls=1)
        del outer["attributes"]["gen_ai.usage.input_tokens"]
        assert actual(read([outer, inner])[0]).usage == Usage(input_tokens=5, model_calls=1)

    def test_an_id_told_again_is_the_same_call(self) -> None:
        output = said("", {"id": "1", "name": "f", "arguments": {}})
        (case,) = read([chat(at=i, span_id=str(i), **{"gen_ai.output.messages": output}) for i in range(2)])
        assert len(calls(case)) == 1

    def test_spans_that_are_their_own_ancestors(self) -> None:
        (case,) = read([tool("a", "b"), tool("b", "a", at=1)])
        assert [call.name for call in calls(case)] == ["a", "b"]

    def test_sessions_gather_traces_and_a_nested_session_does_not(self) -> None:
        outer = span(
            "invoke_agent a", attributes={"gen_ai.conversation.id": "one", "gen_ai.operation.name": "invoke_agent"}
        )
        inner = tool("f", "invoke_agent a", at=1, **{"gen_ai.conversation.id": "inner"})
        later = outer | {"trace_id": "t2", "start_time": 9 * SECOND}
        other = outer | {"trace_id": "t3", "attributes": {"gen_ai.operation.name": "invoke_agent", "session.id": "two"}}
        cases = read([later, outer, inner, other])
        assert [(case.case_id, len(case.turns)) for case in cases] == [("one", 2), ("two", 1)]
        assert len(calls(cases[0], 0)) == 1

    def test_lone_model_calls_without_content_say_nothing_about_calls(self) -> None:
        (case,) = read([chat()])
        assert actual(case).tool_calls is None
        (case,) = read([chat(**{"gen_ai.output.messages": said("hi")})])
        assert actual(case).tool_calls == ()

    def test_a_failed_agent_is_an_error_and_an_answered_one_is_not(self) -> None:
        failed = span("a", attributes={"gen_ai.operation.name": "invoke_agent"}, status={"code": 2, "message": "quota"})
        (case,) = read([failed])
        assert (actual(case).error, actual(case).response) == ("quota", None)
        (case,) = read([failed | {"attributes": {"gen_ai.operation.name": "invoke_agent", "final_result": "ok"}}])
        assert (actual(case).error, actual(case).response) == (None, "ok")
        (case,) = read([chat() | {"status": {"code": "STATUS_CODE_ERROR"}}])
        assert actual(case).error == "error"


class TestBadInput:
    def test_one_broken_span_among_good_ones(self) -> None:
        cases = read([tool("a"), 5, tool("b", at=1)])
        assert [case.error for case in cases] == ["[1]: found a number, wanted a span", None]
        document = {"resourceSpans": [{"scopeSpans": [{"spans": [None, tool("a")]}, 7]}, "x"]}
        *broken, case = read(document)
        assert [each.source[1] for each in broken] == [
            "resourceSpans[0].scopeSpans[0].spans[0]",
            "resourceSpans[0].scopeSpans[1]",
            "resourceSpans[1]",
        ]
        assert calls(case)[0].name == "a"

    def test_a_group_of_spans_that_is_none(self) -> None:
        broken, case = read(
            {
                "data": [
                    {"spans": 5},
                    {"spans": [tool("a")]},
                ]
            }
        )
        assert broken.error == "data[0].spans: found a number, wanted a list: 5"
        assert calls(case)[0].name == "a"
        broken, _ = read([tool("a"), {"resourceSpans": 5}])
        assert broken.error == "[1]: found an object, wanted a span"
        broken, _ = read({"data": [None, {"spans": [tool("a")]}]})
        assert broken.error == "data[0]: found null, wanted an object with spans"

    def test_traces_without_an_agent_are_left_out(self) -> None:
        http = span("GET /", span_id="x") | {"trace_id": "other"}
        with pytest.warns(ReadWarning, match="1 trace without a span of an agent"):
            assert len(read([http, tool("a")])) == 1
        with pytest.raises(ReadError, match="holds no cases"):
            read([http])

    @pytest.mark.parametrize(
        "attributes",
        [
            None,
            5,
            [5],
            [{"key": None}],
            [{"key": "a", "value": {"kvlistValue": 5}}],
            "text",
            {"llm.output_messages.0": 1},
        ],
    )
    def test_odd_attributes(self, attributes: Any) -> None:
        (case,) = read([tool("a"), span("x", attributes=attributes)])
        assert [call.name for call in calls(case)] == ["a"]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (1715175600, 1715175600 * SECOND),
        (1715175600.5, 1715175600 * SECOND + SECOND // 2),
        (1715175600000, 1715175600 * SECOND),
        (1715175600000000, 1715175600 * SECOND),
        ("1715175600000000001", 1715175600 * SECOND + 1),
        ([1715175600, 7], 1715175600 * SECOND + 7),
        ("2024-05-08T13:40:00.123456789Z", 1715175600 * SECOND + 123456789),
        ("2024-05-08 13:40:00 UTC", 1715175600 * SECOND),
        ("2024-05-08T15:40:00.5+02:00", 1715175600 * SECOND + SECOND // 2),
        ("2024-13-08T15:40:00", None),
        ("soon", None),
        (True, None),
        (float("nan"), None),
        (None, None),
        (10**30, None),
    ],
)
def test_points_in_time(value: Any, wanted: int | None) -> None:
    assert nanoseconds(value) == wanted


# Tool spans by their kind, and calls that a model asked for without one: counted off the files by other means.
COUNTS = {
    "strands-agents+evals+1.json": (1, 1, 4, 0),
    "strands-agents+evals+2.json": (1, 1, 1, 0),
    "strands-agents+evals+3.json": (1, 1, 1, 0),
    "strands-agents+evals+4.json": (1, 1, 1, 0),
    "strands-agents+evals+5.json": (1, 1, 6, 0),
    "strands-agents+evals+6.json": (1, 1, 5, 0),
    "strands-agents+evals+7.json": (1, 1, 1, 2),
    "strands-agents+evals+8.json": (1, 1, 4, 0),
    "strands-agents+evals+9.json": (2, 2, 1, 0),
    "strands-agents+evals+10.json": (1, 1, 1, 1),
    "strands-agents+evals+11.json": (1, 1, 2, 0),
    "strands-agents+evals+12.json": (1, 1, 1, 0),
    "strands-agents+evals+13.json": (1, 1, 2, 0),
}


def tool_spans(document: Any) -> int:
    """How many spans are a tool's, by the text of the file alone."""
    count = 0
    for one in document if isinstance(document, list) else document["spans"]:
        attributes = one["attributes"]
        is_tool = (
            attributes.get("openinference.span.kind") == "TOOL"
            or attributes.get("gen_ai.operation.name") == "execute_tool"
            or '\\"type\\": \\"tool\\"' in json.dumps(one["span_events"])
        )
        count += is_tool and not one["name"].startswith("handoff")
    return count


@pytest.mark.filterwarnings("ignore::adk_scoring.errors.ReadWarning")
def test_public_files() -> None:
    files = sorted(corpus("otel").glob("*.json"))
    assert {path.name for path in files} == set(COUNTS)
    for path in files:
        document = json.loads(path.read_text())
        assert [name for name, reader in READERS.items() if reader.recognises(document)] == ["otel"]
        cases = list(iter_cases(path))
        turns = [turn.actual for case in cases for turn in case.turns]
        made = [call for turn in turns if turn for call in turn.tool_calls or ()]
        number, turns_number, ran, asked = COUNTS[path.name]
        assert tool_spans(document) == ran, path.name
        assert (len(cases), len(turns), len(made)) == (number, turns_number, ran + asked), path.name
        assert not [case.error for case in cases if case.error]
        if not path.name.endswith("+4.json"):  # captured no content
            assert all(turn and turn.user_text and turn.response for turn in turns), path.name
            assert all(call.args is not None for call in made), path.name


def test_public_exports_of_single_spans() -> None:
    for path in sorted(corpus("otlp").glob("*.json")):
        document = json.loads(path.read_text())
        assert READERS["otel"].recognises(document)
        if path.name.endswith("+4.json"):  # attributes of a vendor, no agent
            with pytest.raises(ReadError, match="holds no cases"):
                read(path)
            continue
        (case,) = read(path)
        turn = actual(case)
        assert (turn.tool_calls, turn.response) == (None, None)
        assert turn.usage is not None
        assert f'"intValue": "{turn.usage.input_tokens}"' in path.read_text()
