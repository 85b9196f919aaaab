"""Rows of deepeval, ragas, mlflow and Azure AI Evaluation: golden rows, tables, what is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adk_scoring.errors import ReadWarning
from adk_scoring.model import Case, Invocation, RecordedScore, Tool, ToolCall, Turn
from adk_scoring.readers import READERS, read

DATA = Path(__file__).parent / "data/rows"


def only(row: Any) -> Turn:
    (case,) = read(row)
    assert case.error is None
    (turn,) = case.turns
    return turn


def test_deepeval_test_run() -> None:
    (case,) = read(DATA / "deepeval.json")
    call = ToolCall("get_weather", {"city": "Paris"}, response="20")
    wanted = Invocation("Weather?", (ToolCall("get_weather"),), "20 degrees")
    assert case.turns == (Turn(Invocation("Weather?", (call,), "20C"), (wanted,)),)
    assert (case.case_id, case.context) == ("t1", "a\n\nb")
    score = RecordedScore("Tool Correctness", 1.0, verdict="passed", threshold=0.5, reason="all")
    assert case.recorded == (score,)


def test_deepeval_row() -> None:
    turn = only({"input": "hi", "actual_output": "ho", "expected_tools": []})
    assert turn == Turn(Invocation("hi", (), "ho"), (Invocation("hi", ()),))
    assert only({"input": "hi", "expected_tools": [{"name": "f", "input_parameters": {"a": 1}}]}) == Turn(
        None, (Invocation("hi", (ToolCall("f", {"a": 1}),)),)
    )


def test_ragas() -> None:
    single, several = read(DATA / "ragas.jsonl")
    assert single.turns == (Turn(Invocation("Weather?", (), "20C"), (Invocation("Weather?", None, "20 degrees"),)),)
    assert single.context == "ctx"
    (turn,) = several.turns
    assert turn.actual == Invocation(
        "Book Paris.\n\nAnd Rome.",
        (ToolCall("book", {"city": "Paris"}, step=0, response="ok"), ToolCall("book", {"city": "Rome"}, step=1)),
        "Booked too.",
        intermediate_responses=(("", "Booked."),),
    )
    wanted = (ToolCall("book", {"city": "Paris"}), ToolCall("book", {"city": "Rome"}))
    assert turn.expected == (Invocation("Book Paris.\n\nAnd Rome.", wanted, "both"),)


def test_ragas_without_expected_calls_keeps_its_turns() -> None:
    talk = [{"type": kind, "content": text} for kind, text in zip(("human", "ai") * 2, "abcd", strict=True)]
    (case,) = read({"user_input": talk, "reference": "goal"})
    assert [turn.actual and turn.actual.user_text for turn in case.turns] == ["a", "c"]
    assert [turn.expected for turn in case.turns] == [(), (Invocation("c", None, "goal"),)]


def test_mlflow() -> None:
    (case,) = read(DATA / "mlflow.jsonl")
    wanted = Invocation("Weather?", (ToolCall("get_weather", {"city": "Paris"}),), "20 degrees")
    assert case.turns == (Turn(Invocation("Weather?", (), "20C"), (wanted,)),)
    assert (case.case_id, case.metadata) == ("m1", {"expectations": {"expected_facts": ["20"]}})
    message = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}
    turn = only({"inputs": {"question": "hi"}, "outputs": message, "expectations": {}})
    assert turn == Turn(Invocation("hi", (ToolCall("f", call_id="1"),)))
    assert only({"inputs": "hi", "outputs": 42, "expectations": None}) == Turn(Invocation("hi", (), "42"))
    assert only({"inputs": {"query": "hi"}, "expectations": {"expected_response": 42}}) == Turn(
        None, (Invocation("hi", None, "42"),)
    )


def test_azure() -> None:
    with pytest.warns(ReadWarning, match=r"tools by their names alone, arguments unknown; use Match\(args='ignore'\)"):
        first, second = read(DATA / "azure.jsonl")
    call = ToolCall("get_weather", {"city": "Paris"}, call_id="c1", step=0, response={"temp": 20})
    wanted = Invocation("Weather?", (ToolCall("get_weather", None),))
    assert first.turns == (Turn(Invocation("Weather?", (call,), "20C"), (wanted,)),)
    assert first.tools == (Tool("get_weather", parameters={"type": "object"}),)
    (turn,) = second.turns
    assert turn.actual is not None
    assert turn.actual.tool_calls == (ToolCall("a", None), ToolCall("b", None))
    assert turn.expected == (Invocation("", (ToolCall("a", {"x": 1}), ToolCall("b", {}))),)
    assert only({"query": "hi", "response": "ho", "ground_truth": "he"}) == Turn(
        Invocation("hi", (), "ho"), (Invocation("hi", None, "he"),)
    )
    calls = [{"type": "tool_call", "tool_call_id": "1", "name": "f", "arguments": '{"a": 1}'}]
    turn = only({"query": [{"role": "user", "content": "hi"}], "tool_calls": calls, "response": None})
    assert turn == Turn(Invocation("hi", (ToolCall("f", {"a": 1}, call_id="1"),)))
    assert only({"query": "hi", "response": [], "expected_actions": [{"name": "f"}]}) == Turn(
        Invocation("hi", ()), (Invocation("hi", (ToolCall("f"),)),)
    )


def test_cells_of_a_table_hold_json(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(
        "input,actual_output,tools_called,expected_tools,tags\n"
        'hi,42,"[{""name"": ""f"", ""input_parameters"": {""a"": 1}}]",[],"[""x"", 1]"\n'
        "ho,,,,\n"
    )
    first, second = read(path)
    assert first.turns == (Turn(Invocation("hi", (ToolCall("f", {"a": 1}),), "42"), (Invocation("hi", ()),)),)
    assert (first.tags, second.turns) == (("x",), (Turn(None),))


class Table:
    """What a pandas table looks like to the reader."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows, self.columns = rows, list(rows[0])

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        assert orient == "records"
        return self.rows


def test_a_pandas_table() -> None:
    missing = float("nan")
    rows = [
        {"input": "hi", "actual_output": 42, "expected_output": "42", "tools_called": missing},
        {"input": "ho", "actual_output": missing, "expected_output": "x", "tools_called": missing},
    ]
    first, second = read(Table(rows))
    # Digits that the table's loader made a number are text again.
    assert first.turns == (Turn(Invocation("hi", (), "42"), (Invocation("hi", None, "42"),)),)
    assert second.turns == (Turn(None, (Invocation("ho", None, "x"),)),)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"input": "a", "tools_called": 5}, "tools_called: found a number, wanted a list: 5"),
        ({"input": "a", "tools_called": [5]}, "tools_called[0]: found a number, wanted an object: 5"),
        (
            {"user_input": "a", "reference_tool_calls": [[]]},
            "reference_tool_calls[0]: found a list, wanted an object: []",
        ),
        (
            {"query": "a", "response": "b", "ground_truth": [5, "x"]},
            "ground_truth[0]: found a number, wanted an object: 5",
        ),
    ],
)
def test_one_broken_row_among_good_ones(row: dict[str, Any], says: str) -> None:
    good = {"input": "a", "actual_output": "b"}
    first, broken, last = read([good, row, good | {"id": "z"}])
    assert (first.error, broken.error, last.case_id) == (None, f"[1].{says}", "z")


def test_told_apart_from_other_formats() -> None:
    for path in DATA.iterdir():
        text = path.read_text()
        first: Any = json.loads(text if path.suffix == ".json" else text.splitlines()[0])
        cases: list[Case] = read(first, format="rows") if path.name != "azure.jsonl" else []
        assert all(case.error is None for case in cases)
        assert next(name for name, reader in READERS.items() if reader.recognises(first)) == "rows"
