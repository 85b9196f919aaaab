"""Sessions, ``/run`` arrays and ``/run_sse`` streams: which events make which turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adk_scoring.errors import ReadWarning
from adk_scoring.model import Case, Invocation, Session, ToolCall, Usage
from adk_scoring.readers import read

DATA = Path(__file__).parent / "data"


def event(author: str, *parts: dict[str, Any], inv: str = "e-1", **keys: Any) -> dict[str, Any]:
    return {"invocationId": inv, "author": author, "content": {"parts": list(parts)}, **keys}


def text(text: str, **keys: Any) -> dict[str, Any]:
    return {"text": text, **keys}


def call(name: str, call_id: str | None = None, **args: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args, "id": call_id}}


def answer(name: str, response: Any, call_id: str | None = None) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response, "id": call_id}}


USER = event("user", text("hi"))


def turns(*events: Any) -> list[Invocation]:
    (case,) = read({"id": "s", "appName": "a", "events": list(events)})
    assert case.error is None, case.error
    assert all(turn.expected == () for turn in case.turns)
    return [turn.actual for turn in case.turns if turn.actual]


def only(*events: Any) -> Invocation:
    (turn,) = turns(*events)
    return turn


def names(turn: Invocation) -> list[str]:
    return [each.name for each in turn.tool_calls or ()]


def test_a_session() -> None:
    path = DATA / "adk_events/session.json"
    (case,) = read(path)
    assert (case.case_id, case.session) == ("s-1", Session("home_agent", "u1"))
    assert case.metadata == {"state": {"lamp": "on"}, "lastUpdateTime": 21.0}
    assert case.source == (str(path), "")
    first, last = (turn.actual for turn in case.turns)
    assert first == Invocation(
        "Is the lamp on?",
        (ToolCall("get_power", {"device": "lamp"}, call_id="c1", author="home", step=0, response={"on": True}),),
        "Yes, it is.",
        invocation_id="e-1",
        usage=Usage(input_tokens=16, output_tokens=8, model_calls=2),
        duration=2.0,
    )
    assert last == Invocation(
        "Turn it off.", (), None, invocation_id="e-2", duration=1.0, error="RESOURCE_EXHAUSTED: try later"
    )


def test_server_sent_events_count_the_whole_and_not_the_pieces() -> None:
    (case,) = read(DATA / "adk_events/run.sse")
    (turn,) = case.turns
    assert case.case_id == "run"
    look = ToolCall("look", {"x": 1}, call_id="c", author="root", step=0, response={"y": 2})
    assert turn.actual == Invocation("", (look,), "It is here.", invocation_id="e-1")


def test_the_same_events_as_an_array_and_in_snake_case() -> None:
    raw = (DATA / "adk_events/run.sse").read_text()
    events = [json.loads(line[6:]) for line in raw.splitlines() if line]
    (stream,) = read(raw)
    (array,) = read(events)
    assert array.turns == stream.turns
    snake = json.dumps(events).replace("invocationId", "invocation_id").replace("functionCall", "function_call")
    (other,) = read(snake.replace("functionResponse", "function_response"))
    assert other.turns == stream.turns


@pytest.mark.parametrize(
    ("events", "response", "calls"),
    [
        # Each row is a row of ADK's behaviour, or (marked) a departure from it.
        ([event("a", call("f"), call("g")), event("a", text("done"))], "done", ["f", "g"]),
        ([event("a", text("wait"), call("f")), event("a", text("done"))], "done", ["f"]),
        ([event("a", text("wait"), call("f")), event("a", answer("f", {}))], None, ["f"]),
        ([event("a", text("early")), event("a", call("f")), event("a", answer("f", {}))], "early", ["f"]),
        ([event("a1", text("one")), event("a2", text("two"))], "two", []),
        (
            [event("r", call("transfer_to_agent")), event("s", call("f")), event("s", text("done"))],
            "done",
            ["transfer_to_agent", "f"],
        ),
        ([event("a", call("ask"), longRunningToolIds=["1"]), event("a", text("asked"))], "asked", ["ask"]),
        ([event("a", call("ask"), longRunningToolIds=["1"])], "", ["ask"]),
        (
            [event("a", call("f")), event("a", answer("f", {}), actions={"skipSummarization": True})],
            "",
            ["f"],
        ),
        ([event("a", call("f"))], None, ["f"]),
        ([event("a")], "", []),
        ([event("a", text("cut"), errorCode="MAX_TOKENS")], "cut", []),
        ([event("a", text("x"), {"codeExecutionResult": {"output": "1"}}), event("a", text("1"))], "1", []),
        ([event("a", text("x"), {"codeExecutionResult": {"output": "1"}})], None, []),
        # departures
        ([event("a", text("hm", thought=True), text("answer"))], "answer", []),
        ([event("a", text("answer")), event("a", text("hm", thought=True))], "answer", []),
        ([event("a", text("hm", thought=True))], "", []),
        (
            [event("a", text("do"), partial=True), event("a", text("ne"), partial=True), event("a", text("done"))],
            "done",
            [],
        ),
        ([event("a", call("f"), partial=True), event("a", call("f", x=1)), event("a", text("done"))], "done", ["f"]),
        ([event("a", text("do"), partial=True), event("a", text("ne"), partial=True)], "done", []),
        ([{"invocationId": "e-1", "author": "node", "output": {"n": 1}}], '{"n": 1}', []),
        ([{"invocationId": "e-1", "author": "node", "output": "plain"}], "plain", []),
        ([event("a", text("said"), output={"n": 1})], "said", []),
    ],
)
def test_the_final_response_and_the_calls(events: list[Any], response: str | None, calls: list[str]) -> None:
    turn = only(USER, *events)
    assert (turn.user_text, turn.response, names(turn)) == ("hi", response, calls)


def test_what_was_said_before_the_answer_is_kept() -> None:
    turn = only(USER, event("a", text("wait"), call("f")), event("b", text("one")), event("b", text("two")))
    assert turn.intermediate_responses == (("a", "wait"), ("b", "one"))


def test_calls_of_one_event_share_a_step() -> None:
    turn = only(USER, event("a", call("f"), call("g")), event("a", text("hm")), event("b", call("h")))
    assert [(each.step, each.author) for each in turn.tool_calls or ()] == [(0, "a"), (0, "a"), (1, "b")]


def test_the_question_is_not_lost_to_an_answered_confirmation() -> None:
    turn = only(
        USER,
        event("a", call("adk_request_confirmation", "c1"), longRunningToolIds=["c1"]),
        event("user", answer("adk_request_confirmation", {"confirmed": True}, "c1")),
        event("a", text("done")),
    )
    assert (turn.user_text, turn.response) == ("hi", "done")
    assert turn.tool_calls is not None
    assert turn.tool_calls[0].response == {"confirmed": True}


def test_an_answer_in_a_later_turn_finds_its_call_by_id() -> None:
    first, last = turns(
        USER, event("a", call("ask", "c1")), event("user", answer("ask", "yes", "c1"), inv="e-2"),
        event("a", text("ok"), inv="e-2"),
    )  # fmt: skip
    assert first.tool_calls is not None
    assert first.tool_calls[0].response == "yes"
    assert (last.user_text, last.response) == ("", "ok")


def test_the_last_answer_of_a_long_running_call_counts() -> None:
    turn = only(
        USER,
        event("a", call("ask", "c1")),
        event("a", answer("ask", {"status": "pending"}, "c1")),
        event("a", answer("ask", {"error": "refused"}, "c1")),
    )
    assert turn.tool_calls is not None
    assert (turn.tool_calls[0].response, turn.tool_calls[0].error) == ({"error": "refused"}, "refused")


def test_an_answer_without_a_call_is_named() -> None:
    with pytest.warns(ReadWarning, match=r"function response without a call.*events\[1\]"):
        assert names(only(USER, event("a", answer("f", {}, "c9")), event("a", text("x")))) == []


def test_rewound_turns_are_gone() -> None:
    events = [
        USER,
        event("a", text("one")),
        event("user", text("again"), inv="e-2"),
        event("a", call("f"), inv="e-2"),
        event("user", text("more"), inv="e-3"),
        {"invocationId": "e-4", "author": "user", "actions": {"rewindBeforeInvocationId": "e-2"}},
        event("user", text("instead"), inv="e-5"),
    ]
    assert [turn.user_text for turn in turns(*events)] == ["hi", "instead"]
    with pytest.warns(ReadWarning, match="unknown invocation"):
        only(USER, {"invocationId": "e-4", "author": "user", "actions": {"rewind_before_invocation_id": "nowhere"}})


def test_compactions_and_bookkeeping_make_no_turn() -> None:
    compaction = {"compactedContent": {"parts": [text("summary")]}}
    assert len(turns(
        {"invocationId": "e-0", "author": "model", "actions": {"stateDelta": {"t": 1}}},
        USER,
        {"invocationId": "e-8", "author": "user", "actions": {"compaction": compaction}},
        event("a", text("x")),
    )) == 1  # fmt: skip


def test_an_event_sent_twice_under_one_id_counts_once() -> None:
    first = event("a", call("f"), id="7")
    turn = only(USER, first, {**first, "content": None}, first, event("a", call("g"), id="7"))
    assert names(turn) == ["f", "g"]


def test_events_without_an_invocation_id_start_a_turn_at_the_user() -> None:
    events = [event("user", text(t), inv="") if t else event("a", text("ok"), inv="") for t in ("one", "", "two", "")]
    assert [(turn.user_text, turn.response, turn.invocation_id) for turn in turns(*events)] == [
        ("one", "ok", ""),
        ("two", "ok", ""),
    ]


def test_an_error_is_an_error_until_the_agent_recovers() -> None:
    failed = {"invocationId": "e-1", "author": "a", "errorCode": "X", "errorMessage": "down"}
    turn = only(USER, event("a", call("f")), failed)
    assert (turn.error, names(turn)) == ("X: down", ["f"])
    turn = only(USER, failed, event("a", text("back")))
    assert (turn.error, turn.response, turn.metadata) == (None, "back", {"error_code": "X: down"})
    assert only(USER, event("a", text("early")), failed).error == "X: down"


def test_a_stream_that_ends_in_a_server_error() -> None:
    stream = 'data: {"invocationId": "e", "author": "a", "content": {"parts": [{"text": "x"}]}}\n\n'
    (case,) = read(stream + 'data: {"error": "boom", "error_details": "why"}\n\n')
    assert case.turns[0].actual == Invocation("", (), "x", invocation_id="e", error="boom")


def test_a_broken_event_in_a_stream_is_an_error_of_its_turn() -> None:
    good = 'data: {"invocationId": "e", "author": "a", "content": {"parts": [{"text": "x"}]}}\n\n'
    (case,) = read(good + "data: {nonsense\n\n" + ": a comment\n\ndata: [DONE]\n\n")
    (turn,) = case.turns
    assert turn.actual is not None
    assert turn.actual.error is not None
    assert turn.actual.error.startswith("an event could not be read: line 3 column 2: not JSON")
    (case,) = read("data: {nonsense\n\n" + good)
    assert [turn.actual.error is None for turn in case.turns if turn.actual] == [False, True]


def test_the_flags_of_2024_stood_in_options() -> None:
    old = [event("a", text("do"), options={"partial": True}), event("a", text("done"), options={"partial": False})]
    assert only(USER, *old).response == "done"


def test_an_event_without_an_author_is_by_the_role_of_its_content() -> None:
    events = [
        {"invocationId": "e", "content": {"role": "user", "parts": [text("q")]}},
        event("a", text("r"), inv="e"),
    ]
    turn = only(*events)
    assert (turn.user_text, turn.response) == ("q", "r")
    assert only({"invocationId": "e", "author": "USER", "content": {"parts": [{"inlineData": {}}]}}, events[1]) == (
        Invocation("", (), "r", invocation_id="e")
    )


def test_several_sessions_in_a_list() -> None:
    session = {"id": "s", "appName": "a", "events": [USER]}
    first, second = read([session, {**session, "id": "t"}])
    assert [case.case_id for case in (first, second)] == ["s", "t"]
    assert second.source == ("<data>", "[1]")


def test_an_empty_session_is_named() -> None:
    with pytest.warns(ReadWarning, match="nobody said or did anything"):
        (case,) = read({"id": "s", "appName": "a", "events": []})
    assert case == Case("s", (), session=Session("a", ""), source=("<data>", ""))


def test_a_broken_event_in_a_session_is_an_error_case() -> None:
    (case,) = read({"id": "s", "appName": "a", "events": [USER, 5]})
    assert (case.turns, case.error) == ((), "events[1]: found a number, wanted an object: 5")
