"""What tracers record as the input or output of a span: every shape that they use, and what is none."""

from __future__ import annotations

from typing import Any

import pytest

from adk_scoring.readers._literal import literal
from adk_scoring.readers._payload import asked_in, named_arguments, said_in
from adk_scoring.readers._said import said

HI = [("user", "hi")]
OK = [("assistant", "ok")]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("hi", HI),
        ('"hi"', HI),
        (["hi"], HI),
        ('{"messages": [["hi"]]}', HI),
        ({"messages": [[{"type": "human", "content": "hi"}]]}, HI),
        ({"messages": {"role": "user", "content": "hi"}}, HI),
        ({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, HI),
        ({"new_message": {"role": "user", "parts": [{"text": "hi"}]}, "user_id": "u"}, HI),
        ({"inputs": {"question": "hi"}}, HI),
        ({"input": {"query": "hi"}}, HI),
        ({"args": [], "kwargs": {"task": "hi"}}, HI),
        ({"args": [5, "hi"], "kwargs": {}}, HI),
        ([{"text": "hi"}], HI),
        (7, [("user", "7")]),
        ("  ", []),
        (None, []),
        ({"other": 1}, []),
        ([], []),
        ({"input": {"input": {"input": {"input": {"input": {"input": {"input": "hi"}}}}}}}, []),
    ],
)
def test_inputs(value: Any, wanted: list[tuple[str, str]]) -> None:
    assert [(each.role, each.text) for each in asked_in(value)] == wanted


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("ok", OK),
        ({"choices": [{"message": {"content": "ok"}}, {"message": {"content": "no"}}]}, OK),
        ({"choices": [{"text": "ok"}]}, OK),
        ({"choices": []}, []),
        ({"choices": ["x"]}, []),
        ({"generations": [[{"text": "ok"}]]}, OK),
        ({"generations": [[{"text": "ok", "message": {"kwargs": {"content": "", "type": "ai"}}}]]}, OK),
        ({"generations": [[]]}, []),
        (
            {
                "candidates": [
                    {"content": {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "ok"}]}}
                ]
            },
            OK,
        ),
        ({"content": {"role": "model", "parts": [{"text": "ok"}]}}, OK),
        (
            {"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}]},
            OK,
        ),
        ({"message": '[{"text": "ok"}]', "finish_reason": "end"}, OK),
        ({"answer": "ok"}, OK),
        ("__end__", []),
    ],
)
def test_outputs(value: Any, wanted: list[tuple[str, str]]) -> None:
    assert [(each.role, each.text) for each in said_in(value)] == wanted


@pytest.mark.parametrize(
    ("value", "names", "wanted"),
    [
        ({"a": 1}, None, {"a": 1}),
        ("{'a': 1}", None, {"a": 1}),
        ("{'a': (1, 2)}", None, {"a": [1, 2]}),
        ({"args": [], "kwargs": {"a": 1}}, None, {"a": 1}),
        ({"args": [1], "kwargs": {"b": 2}}, '{"properties": {"a": {}, "b": {}}}', {"a": 1, "b": 2}),
        ({"args": [1], "kwargs": {}}, None, [1]),
        ({"input_str": '{"a": 1}', "tags": []}, None, {"a": 1}),
        ({"inputs": 1, "other": 2}, None, {"inputs": 1, "other": 2}),
        ([1], None, [1]),
        ("free text", None, "free text"),
    ],
)
def test_arguments(value: Any, names: Any, wanted: Any) -> None:
    assert named_arguments(value, names) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "{'a': open('x')}",
        "{'a': 1",
        "{1: 2}",
        "{1, 2}",
        "{'a': " + "-" * 5_000 + "1}",
        "{'a': " + "~" * 50_000 + "1}",
        "{'a': " + "[" * 5_000 + "]" * 5_000 + "}",
        "{'a': " + "a." * 30_000 + "a}",
        "{'a': 1" + "+1" * 20_000 + "}",
        "{" * 200,
        "{'a': '" + "x" * 200_000 + "'}",
        "{'a': 9" + "9" * 5_000 + "}",
        "{'a': '\\ud800', b'x': 1}",
        "{'a': {1: 2}}",
        "{'a': {1, 2}}",
        "{'a': 2j}",
        "{'a': [b'x']}",
    ],
)
def test_text_that_is_no_plain_object_stays_text(text: str) -> None:
    assert literal(text) == text


def test_an_escape_that_python_would_warn_about() -> None:
    assert literal("{'path': 'C:\\data'}") == {"path": "C:\\data"}


@pytest.mark.parametrize(
    ("message", "calls"),
    [
        (
            {"tool_calls": [{"tool_call": {"id": "1", "function": {"name": "f", "arguments": "{}"}}}]},
            [("1", "f", "{}")],
        ),
        ({"tool_calls": [5, {"id": ["run", "c"], "name": "f", "args": {}}]}, [("c", "f", {})]),
        ({"function_call": {"name": "f", "arguments": "{}"}}, [(None, "f", "{}")]),
        ({"additional_kwargs": {"tool_calls": [{"function": {"name": "f"}}]}}, [(None, "f", None)]),
        ({"content": [{"functionCall": {"name": "f", "args": {"a": 1}}}]}, [(None, "f", {"a": 1})]),
        ({"content": '[{"toolUse": {"toolUseId": "1", "name": "f", "input": {}}}]'}, [("1", "f", {})]),
    ],
)
def test_calls_in_messages(message: dict[str, Any], calls: list[Any]) -> None:
    found = said({"role": "assistant"} | message)
    assert found is not None
    assert [(call["id"], call["name"], call["args"]) for call in found.calls] == calls


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        (
            {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "a"}, {"text": "b"}]},
            ("1", "ab", None),
        ),
        ({"role": "tool", "tool_call_id": "1", "content": [{"json": {"a": 1}}]}, ("1", {"a": 1}, None)),
        ({"role": "tool", "tool_call_id": "1", "content": "x", "status": "error"}, ("1", "x", "x")),
        ({"role": "tool", "content": "", "error": True}, (None, "", "error")),
        ({"role": "tool", "content": "", "error": {"message": "down"}}, (None, "", "down")),
        (
            {"role": "user", "content": [{"toolResult": {"toolUseId": "1", "status": "error", "content": []}}]},
            ("1", [], "[]"),
        ),
        ({"parts": [{"function_response": {"name": "f", "response": {"a": 1}}}]}, (None, {"a": 1}, None)),
        ({"type": "function_call_output", "call_id": "1", "output": "x"}, ("1", "x", None)),
    ],
)
def test_answers_in_messages(message: dict[str, Any], answer: tuple[Any, ...]) -> None:
    found = said(message)
    assert found is not None
    (only,) = found.answers
    assert (only["id"], only["response"], only["error"]) == answer


def test_what_is_no_message() -> None:
    assert said(5) is None
    assert said({"message": {"message": {}}}) is None
    assert said("hi", "user") == said({"role": "user", "content": "hi"})
