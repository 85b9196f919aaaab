"""Berkeley Function-Calling Leaderboard: acceptable answers, results, scores, public files, what is broken."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from adk_scoring.errors import ReadWarning
from adk_scoring.model import Case, Invocation, RecordedScore, ToolCall, Usage
from adk_scoring.readers import READERS, read
from tests.corpus import corpus

DATA = Path(__file__).parent / "data/bfcl"


def answer(truth: Any, case_id: str = "simple_0", **keys: Any) -> dict[str, Any]:
    return {"id": case_id, "ground_truth": truth} | keys


def alternatives(case: Case) -> list[tuple[ToolCall, ...] | None]:
    (turn,) = case.turns
    return [side.tool_calls for side in turn.expected]


def test_golden_answers() -> None:
    with pytest.warns(ReadWarning, match=r"arguments without names, counted as unknown: line 3"):
        parallel, nested, turns = read(DATA / "answers.jsonl")
    assert alternatives(parallel) == [
        (
            ToolCall("play", {"artist": "Taylor Swift", "minutes": minutes}, group="parallel"),
            ToolCall("stop", now, group="parallel"),
        )
        for minutes in (20, 20.5)
        for now in ({"now": True}, {})
    ]
    assert alternatives(nested) == [
        (ToolCall("query", {"filter": {"limit": 50, "tag": tag}, "ids": [1, 2]}),) for tag in "ab"
    ]
    first, second = turns.turns
    assert first.actual is None
    assert first.expected[0].tool_calls == (
        ToolCall("cd", {"folder": "docs"}),
        ToolCall("sort", None, args_error="arguments without names: sort('a.txt')"),
    )
    assert second.expected == (Invocation("", ()),)


def test_golden_results() -> None:
    with pytest.warns(ReadWarning, match="arguments that are no JSON object"):
        called, as_text, said, turns, malformed = (
            [turn.actual for turn in case.turns] for case in read(DATA / "results.jsonl")
        )
    usage = Usage(input_tokens=10, output_tokens=4)
    assert called == [Invocation("", (ToolCall("query", {"ids": [1, 2]}, step=0),), usage=usage, duration=0.5)]
    assert as_text[0] is not None
    assert as_text[0].tool_calls == (ToolCall("files.open", {"path": "x", "n": -1}, step=0),)
    assert said == [Invocation("", (), "I cannot (sorry).", usage=usage, duration=0.5)]
    assert turns == [
        Invocation("", (ToolCall("cd", {"folder": "docs"}, step=0),), "Now sorting."),
        Invocation("", (), "done"),
    ]
    assert malformed[0] is not None
    (call,) = malformed[0].tool_calls or ()
    assert (call.name, call.args) == ("f", None)


def test_a_score_file_has_both_sides_and_a_head() -> None:
    (case,) = read(DATA / "score.json")
    (turn,) = case.turns
    assert turn.actual is not None
    assert (turn.actual.tool_calls, turn.expected[0].tool_calls) == (
        (ToolCall("f", {"a": 2}, step=0),),
        (ToolCall("f", {"a": 1}),),
    )
    assert case.recorded == (RecordedScore("valid", 0.0, verdict="failed", reason="wrong value"),)


def test_questions_bring_what_the_user_says_and_the_tools() -> None:
    question = [
        [{"role": "system", "content": "s"}, {"role": "user", "content": "hi"}],
        [{"role": "user", "content": "ho"}],
    ]
    (case,) = read({"id": "multi_turn_0", "question": question, "function": [{"name": "f", "parameters": {}}, 5]})
    assert [turn.expected for turn in case.turns] == [(Invocation("hi"),), (Invocation("ho"),)]
    assert case.tools is not None
    assert [each.name for each in case.tools] == ["f"]


def test_many_combinations_are_bounded() -> None:
    with pytest.warns(ReadWarning, match="more than 64 acceptable combinations"):
        (case,) = read(answer([{"f": {f"a{i}": [1, 2, 3] for i in range(30)}}]))
    assert len(alternatives(case)) == 64
    nested = {"f": {"a": [{f"k{i}": [1, 2] for i in range(40)}]}}
    assert len(alternatives(read(answer([nested]))[0])) == 64


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "f(a=open('x'))",
        "f(a=lambda: 1)",
        "f(**{'a': 1})",
        "f(a={1, 2})",
        "f(a=1 if b else 2)",
    ],
)
def test_text_is_parsed_and_never_run(text: str) -> None:
    cases = read({"id": "simple_0", "result": text, "latency": 1})
    (turn,) = cases[0].turns
    assert turn.actual is not None
    assert all(call.args is None for call in turn.actual.tool_calls or ())


def test_deep_or_long_text_is_text() -> None:
    for text in (
        "f(" + "(" * 3000 + ")" * 3000 + ")",
        "f(a=" + "-" * 3000 + "1)",
        "f(a='" + "x" * 200_000 + "')",
        "a." * 30_000 + "f(a=1)",
    ):
        (case,) = read({"id": "simple_0", "result": text, "latency": 1})
        assert case.turns[0].actual is not None
        assert (case.turns[0].actual.tool_calls, case.turns[0].actual.response) == ((), text)


def test_one_broken_line_among_good_ones(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    lines = [
        answer([{"f": {}}], "simple_0"),
        answer([{"f": {}, "g": {}}], "simple_1"),
        answer([5], "simple_2"),
        answer([["what is this"]], "multi_turn_3"),
        {"id": "simple_4", "result": 5, "latency": 1},
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n{oops")
    good, *broken = read(path)
    assert good.error is None
    assert alternatives(good) == [(ToolCall("f"),)]
    assert all(case.error for case in broken)
    assert len(broken) == 5


# Counted off the files: lines, turns, calls of the first alternative.
def direct_count(path: Path) -> tuple[int, int, int]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    truths = [row["ground_truth"] for row in rows]
    turns = [turn for truth in truths for turn in (truth if isinstance(truth[0], list) else [truth])]
    return len(rows), len(turns), sum(len(turn) for turn in turns)


@pytest.mark.filterwarnings("ignore::adk_scoring.errors.ReadWarning")
def test_public_files() -> None:
    files = sorted(corpus("bfcl").glob("*.json"))
    assert len(files) == 6
    for path in files:
        first = json.loads(path.read_text().splitlines()[0])
        assert [name for name, reader in READERS.items() if reader.recognises(first)] == ["bfcl"]
        cases = read(path)
        assert not [case.error for case in cases if case.error]
        turns = [turn for case in cases for turn in case.turns]
        made = sum(len(turn.expected[0].tool_calls or ()) for turn in turns)
        assert (len(cases), len(turns), made) == direct_count(path), path.name
        unnamed = [call for turn in turns for call in turn.expected[0].tool_calls or () if call.args is None]
        # Only calls with positional arguments have none that are known.
        assert all(re.search(r"\((?!\w+=)", call.args_error or "") for call in unnamed)
