"""Rows and columns of Vertex evaluation datasets and results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adk_scoring.model import Case, Invocation, RecordedScore, ToolCall, Turn
from adk_scoring.readers import READERS, read

from .corpus import corpus

DATA = Path(__file__).parent / "data/vertex_rows"
TEA = ToolCall("price", {"item": "tea"})


def test_rows() -> None:
    path = DATA / "rows.jsonl"
    tea, milk, rice = read(path)
    assert tea == Case(
        "line 1",
        (
            Turn(
                Invocation("Price of tea?", (TEA,), "42", duration=1.5),
                (Invocation("Price of tea?", (TEA, ToolCall("log")), "42"),),
            ),
        ),
        recorded=(
            RecordedScore("trajectory_exact_match", 0.0),
            RecordedScore("coherence", 4, reason="Clear."),
            RecordedScore("safety", None, verdict="not_evaluated"),
        ),
        source=(str(path), "line 1"),
    )
    assert milk == Case(
        "milk",
        (Turn(None, (Invocation("Price of milk?", (), None),)),),
        context="A shop.",
        instructions="Be short.",
        metadata={"shelf": 3},
        source=(str(path), "line 2"),
    )
    # An empty answer is one, an empty trajectory cell says nothing.
    failed = Invocation("Price of rice?", None, "", error="the agent failed (failure = 1)")
    assert rice.turns == (Turn(failed, (Invocation("Price of rice?", None, "3"),)),)


def test_columns() -> None:
    path = DATA / "columns.json"
    first, second = read(path)
    assert first.turns[0].actual == Invocation("a?", (ToolCall("f", {"x": 1}),), "A")
    assert second.turns == (Turn(Invocation("b?", (), "B"), (Invocation("b?", (ToolCall("g"),)),)),)
    assert (second.case_id, second.source[1], second.metadata) == ("[1]", "[1]", {"dataset": "shop"})


@pytest.mark.parametrize(
    "document",
    [
        {"prompt": {"0": "a", "1": "b"}, "response": {"0": "A", "1": "B"}, "reference": {"0": "A", "1": "B"}},
        {"response": ["A", "B"], "reference": ["A", "B"], "prompt": ["a", "b"]},
        [{"prompt": "a", "response": "A", "reference": "A"}, {"prompt": "b", "response": "B", "reference": "B"}],
        "prompt,response,reference\na,A,A\nb,B,B\n",
    ],
)
def test_the_same_table_in_every_shape(document: Any) -> None:
    assert [case.turns for case in read(document)] == [
        (Turn(Invocation(low, None, low.upper()), (Invocation(low, None, low.upper()),)),) for low in "ab"
    ]


def test_trajectories_alone_as_columns() -> None:
    columns = {"predicted_trajectory": [[{"tool_name": "f"}], []], "reference_trajectory": ["[]", None]}
    first, second = read(columns)
    assert first.turns == (Turn(Invocation("", (ToolCall("f"),)), (Invocation("", ()),)),)
    assert second.turns == (Turn(Invocation("", ()), ()),)


def test_a_pandas_table() -> None:
    class Table:
        columns = ("prompt", "response", "predicted_trajectory")

        def to_dict(self, orient: str) -> list[dict[str, Any]]:
            assert orient == "records"
            return [
                {
                    "prompt": "a",
                    "response": 1,
                    "predicted_trajectory": [{"tool_name": "f"}],
                    "safety/score": float("nan"),
                }
            ]

    (case,) = read(Table())
    assert case.turns == (Turn(Invocation("a", (ToolCall("f"),), "1"), ()),)
    assert case.recorded == (RecordedScore("safety", None, verdict="not_evaluated"),)


def test_rows_without_anything() -> None:
    (case,) = read([{"prompt": "Hi", "reference_trajectory": None}])
    assert case.turns == (Turn(None, (Invocation("Hi"),)),)


@pytest.mark.parametrize(
    "document",
    [
        {"response": {"a": 1}, "reference": "x"},
        {"reference": "x"},
        {"prompt": "x"},
        {"messages": [], "response": "", "reference": ""},
        [],
    ],
)
def test_what_is_none_of_these(document: Any) -> None:
    assert not READERS["vertex_rows"].recognises(document)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ("x", "[1]: found text, wanted an object"),
        ({"predicted_trajectory": 5}, "[1].predicted_trajectory: found a number, wanted a list of"),
        ({"predicted_trajectory": [5]}, "[1].predicted_trajectory[0]: found a number, wanted a call"),
        ({"reference_trajectory": "[{"}, "[1].reference_trajectory: text that is no JSON list of calls: line 1"),
        ({"reference_trajectory": '{"a": 1}'}, "[1].reference_trajectory: found an object, wanted a list of"),
    ],
)
def test_one_broken_row_leaves_the_others(broken: Any, says: str) -> None:
    good = {"prompt": "a", "predicted_trajectory": []}
    first, error, last = read([good, broken, good])
    assert (first.error, last.error) == (None, None)
    assert str(error.error).startswith(says)


def test_a_short_column() -> None:
    first, second = read({"prompt": ["a", "b"], "reference_trajectory": [[]]})
    assert first.error is None
    assert second.error == "[1]: the column 'reference_trajectory' has no row 1, others have 2"


def test_public_files_agree_with_a_direct_count() -> None:
    seen = []
    for path in sorted(corpus("vertex_eval_dataset").glob("Google*.json")):
        columns = json.loads(path.read_text())
        cases = read(path)
        if not isinstance(columns.get("prompt"), list):
            columns = {key: [value] for key, value in columns.items()}
        assert [case.error for case in cases] == [None] * len(next(iter(columns.values())))
        for i, case in enumerate(cases):
            (turn,) = case.turns
            for key, side in (("predicted", turn.actual), ("reference", next(iter(turn.expected), None))):
                listed = columns.get(f"{key}_trajectory")
                calls = None if side is None or side.tool_calls is None else len(side.tool_calls)
                assert calls == (None if listed is None else len(listed[i])), (path.name, i)
            response = columns.get("response")
            assert (turn.actual and turn.actual.response) == (response and str(response[i]))
            seen.append(sum(len(side.tool_calls or ()) for side in (turn.actual, *turn.expected) if side))
    assert (len(seen), sum(seen)) == (19, 38)


def test_a_dataset_in_the_envelope_of_agents_cli_is_read_as_one() -> None:
    folder = corpus("vertex_eval_dataset")
    with pytest.warns(match="expected_response_contains"):
        assert len(read(folder / "minkhant1996+vertexai-agent-evaluation+1.json")) == 10
