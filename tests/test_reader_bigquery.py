"""Rows of agent_events: JSON Lines and CSV give the same, pairing, unwrapping, duplicates, what is broken."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from adk_scoring.errors import ReadWarning
from adk_scoring.model import Case, Invocation, Session, ToolCall, Usage
from adk_scoring.readers import READERS, read
from adk_scoring.readers.bigquery import unwrapped

DATA = Path(__file__).parent / "data/bigquery"
ROWS = [json.loads(line) for line in (DATA / "agent_events.jsonl").read_text().splitlines()]

pytestmark = pytest.mark.filterwarnings("ignore::adk_scoring.errors.ReadWarning")


def row(kind: str, second: int = 0, **keys: Any) -> dict[str, Any]:
    stamp = f"2026-01-05T10:00:{second:02}Z"
    return {"event_type": kind, "timestamp": stamp, "session_id": "s", "invocation_id": "i"} | keys


def turn(*rows: dict[str, Any]) -> Invocation:
    (case,) = read(list(rows))
    (only,) = case.turns
    assert only.actual is not None
    return only.actual


@pytest.mark.parametrize("name", ["agent_events.jsonl", "agent_events.csv"])
def test_golden_rows(name: str) -> None:
    with pytest.warns(ReadWarning) as caught:
        first, second = read(DATA / name)
    said = " ".join(str(each.message) for each in caught)
    assert "1 rows whose event_id comes again, dropped" in said
    assert "the end of a tool call whose start is missing, read as a call" in said
    assert (first.case_id, first.session) == ("s-1", Session("", "u1"))
    assert first.turns[0].actual == Invocation(
        "weather?",
        (
            ToolCall("get_weather", {"city": "Paris"}, author="root", response={"temp": 20}),
            ToolCall("transfer_to_agent", {"agent_name": "sub"}, author="root"),
            ToolCall("book", {"day": 1}, author="sub", error="sold out"),
            ToolCall("", None, author="sub"),  # its content was projected out
        ),
        "It's 20C in Paris.",
        invocation_id="i-1",
        usage=Usage(input_tokens=30, output_tokens=12, model_calls=2),
        duration=9.5,
    )
    assert first.turns[1].actual == Invocation("thanks", (), '{"answer": "welcome"}', invocation_id="i-2", duration=1.0)
    (failed,) = second.turns
    assert failed.actual is not None
    assert (failed.actual.error, failed.actual.response) == ("quota exceeded", None)


def test_the_order_of_the_rows_does_not_matter() -> None:
    wanted = {case.case_id: case.turns for case in read(ROWS)}
    shuffled = list(ROWS)
    random.Random(7).shuffle(shuffled)
    assert {case.case_id: case.turns for case in read(shuffled)} == wanted


def test_a_direct_count() -> None:
    cases: list[Case] = read(ROWS)
    unique = {each["event_id"]: each for each in ROWS}.values()
    assert len(cases) == len({each["session_id"] for each in unique})
    assert sum(len(case.turns) for case in cases) == len({each["invocation_id"] for each in unique})
    made = sum(len(each.actual.tool_calls or ()) for case in cases for each in case.turns if each.actual)
    # One of the starts was lost, its end counts.
    assert made == sum(each["event_type"] in ("TOOL_STARTING", "TOOL_ERROR") for each in unique)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("text: 'a'", ["a"]),
        ("text: 'a' | text: 'b'", ["a", "b"]),
        ("text: 'it's' | call: f", ["it's"]),
        ("text: 'a | b' | call: f", ["a | b"]),
        ("call: f", []),
        ("plain", ["plain"]),
        ("", [""]),
        ("text: 'cut off", ["cut off"]),
    ],
)
def test_wrapped_text(text: str, parts: list[str]) -> None:
    assert unwrapped(text) == parts


def test_without_a_final_response_the_model_has_the_last_word() -> None:
    wrapped = "text: 'internal thought' | text: 'It is 20C.'"
    assert turn(row("LLM_RESPONSE", content={"response": wrapped})).response == "It is 20C."
    assert turn(row("LLM_RESPONSE", content={"response": "text: 'On it.' | call: f"})).response is None


def test_calls_of_one_span_pair_first_to_first() -> None:
    starts = [row("TOOL_STARTING", n, span_id="x", content={"tool": "f", "args": {"n": n}}) for n in (0, 1)]
    ends = [row("TOOL_COMPLETED", n + 5, span_id="x", content={"tool": "f", "result": n}) for n in (0, 1)]
    assert turn(*starts, *ends).tool_calls == (ToolCall("f", {"n": 0}, response=0), ToolCall("f", {"n": 1}, response=1))


def test_an_end_alone_has_unknown_arguments_and_a_truncated_text_too() -> None:
    assert turn(row("TOOL_COMPLETED", content={"tool": "f", "result": 1})).tool_calls == (
        ToolCall("f", None, response=1),
    )
    (call,) = turn(row("TOOL_STARTING", content={"tool": "f", "args": '{"a": "trunc'})).tool_calls or ()
    assert call.args is None
    assert call.args_error is not None
    assert turn(row("TOOL_STARTING", content={"tool": "f", "args": None})).tool_calls == (ToolCall("f", {}),)


def test_one_broken_row_among_good_ones(tmp_path: Path) -> None:
    good = row("USER_MESSAGE_RECEIVED", content={"text_summary": "hi"})
    first, second, case = read([good, 5, {"event_type": None, "timestamp": 1, "session_id": "s"}])
    assert first.error == "[1]: found a number, wanted a row"
    assert second.error == "[2].event_type: found null, wanted the type of an event"
    assert case.turns[0].actual is not None
    assert case.turns[0].actual.user_text == "hi"
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps(good)}\n{{oops\n{json.dumps(row('AGENT_RESPONSE', content=5))}\n")
    broken, case = read(path)
    assert broken.error is not None
    assert broken.error.startswith("line 2 column")
    assert len(case.turns) == 1
    assert [name for name, reader in READERS.items() if reader.recognises([good])] == ["bigquery"]
