"""LangSmith runs: nested, flat and paged, LangChain's serialised messages, feedback, what is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from adk_scoring.model import Invocation, RecordedScore, ToolCall, Usage
from adk_scoring.readers import READERS, read

RUN = Path(__file__).parent / "data/langsmith/run.json"


def flat(run: dict[str, Any], parent: str | None = None) -> list[dict[str, Any]]:
    own = {key: value for key, value in run.items() if key != "child_runs"}
    own |= {"parent_run_id": parent, "trace_id": "r0"}
    return [own, *[each for child in run.get("child_runs", ()) for each in flat(child, run["id"])]]


def test_golden_run() -> None:
    (case,) = read(RUN)
    assert (case.case_id, case.tags) == ("th-1", ("nightly",))
    assert case.recorded == (RecordedScore("correct", 1.0), RecordedScore("tone", None, reason="polite"))
    (turn,) = case.turns
    assert turn.actual == Invocation(
        "Convert 3 km.",
        (
            ToolCall("convert", {"km": 3}, call_id="c1", step=0, response="1.86"),
            ToolCall("round", {"x": 1.864}, error="ValueError: digits missing"),
        ),
        "1.86 miles.",
        usage=Usage(input_tokens=20, output_tokens=6, model_calls=2),
        duration=5.5,
    )


def test_flat_and_paged_runs_give_the_same_case(tmp_path: Path) -> None:
    run = json.loads(RUN.read_text())
    wanted = read(run)[0].turns
    assert read(flat(run))[0].turns == wanted
    assert read({"runs": flat(run)[::-1]})[0].turns == wanted
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(map(json.dumps, flat(run))))
    assert read(path)[0].turns == wanted
    assert [name for name, reader in READERS.items() if reader.recognises(run)] == ["langsmith"]


def test_a_failed_tool_message_is_an_error() -> None:
    message = {"kwargs": {"content": "no such unit", "tool_call_id": "c9", "status": "error"}}
    run = {"id": "r", "run_type": "tool", "name": "f", "inputs": {"input": "plain"}, "outputs": {"output": message}}
    (case,) = read([run])
    (turn,) = case.turns
    assert turn.actual is not None
    assert turn.actual.tool_calls == (
        ToolCall("f", {"input": "plain"}, call_id="c9", response="no such unit", error="no such unit"),
    )


def test_one_broken_line_among_good_ones(tmp_path: Path) -> None:
    run = json.loads(RUN.read_text())
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(run | {"feedback": [5], "feedback_stats": {"x": 5, "y": {}}}) + "\n{oops\n")
    broken, case = read(path)
    assert broken.error is not None
    assert broken.error.startswith("line 2 column")
    assert (case.turns, case.recorded) == (read(run)[0].turns, (RecordedScore("y", None),))


def test_one_broken_run_among_good_ones() -> None:
    run = json.loads(RUN.read_text())
    broken, case = read(run | {"child_runs": [*run["child_runs"], "x"]})
    assert broken.error == "child_runs[4]: found text, wanted a run"
    assert case.turns == read(run)[0].turns
    deep: dict[str, Any] = {"id": "d", "run_type": "chain", "inputs": {}}
    for i in range(250):
        deep = {"id": f"d{i}", "run_type": "chain", "inputs": {}, "child_runs": [deep]}
    broken, _ = read(deep)
    assert broken.error is not None
    assert broken.error.endswith("the runs are nested too deeply")
