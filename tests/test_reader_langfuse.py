"""Langfuse exports: the golden trace, pages and bare lists, public files, what is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from adk_scoring.model import Case, Invocation, RecordedScore, Session, ToolCall, Usage
from adk_scoring.readers import READERS, read
from tests.corpus import corpus

TRACE = Path(__file__).parent / "data/langfuse/trace.json"


def calls(case: Case) -> tuple[ToolCall, ...]:
    (turn,) = case.turns
    assert turn.actual is not None
    assert turn.actual.tool_calls is not None
    return turn.actual.tool_calls


def observation(**keys: Any) -> dict[str, Any]:
    start = {"id": "o", "traceId": "t", "type": "TOOL", "name": "f", "startTime": "2026-01-05T10:00:00Z"}
    return start | keys


def test_golden_trace() -> None:
    (case,) = read(TRACE)
    assert (case.case_id, case.session, case.tags) == ("sess-1", Session("", "u1"), ("prod",))
    assert case.metadata == {"name": "shop"}
    assert case.recorded == (RecordedScore("helpful", 0.5, reason="short"), RecordedScore("tone", None, reason="kind"))
    assert case.instructions == "You sell mugs."
    (turn,) = case.turns
    assert turn.actual == Invocation(
        "Is the blue mug in stock?",
        (
            ToolCall("stock", {"sku": "mug-blue"}, call_id="c1", step=0, response={"count": 3}),
            ToolCall("notify", {"to": "u1"}, error="smtp is down"),
        ),
        # What the trace says of itself; what the model said last was worded otherwise.
        "Yes, three.",
        intermediate_responses=(("", "Yes, there are three."),),
        usage=Usage(input_tokens=31, output_tokens=8, model_calls=2),
        duration=3.0,
    )


def test_every_wrapper_gives_the_same_turns() -> None:
    trace = json.loads(TRACE.read_text())
    wanted = read(trace)[0].turns
    apart = {"trace": {key: value for key, value in trace.items() if key != "observations"}}
    assert read(apart | {"observations": trace["observations"]})[0].turns == wanted
    assert read([trace])[0].turns == wanted
    assert read({"data": [trace], "meta": {"page": 1}})[0].turns == wanted
    (bare,) = read(trace["observations"])  # the trace's own words are missing
    assert bare.turns[0].actual is not None
    assert (bare.case_id, bare.turns[0].actual.response) == ("lf-1", "Yes, there are three.")
    assert calls(bare) == calls(read(trace)[0])


def test_traces_of_a_session_are_its_turns_line_by_line(tmp_path: Path) -> None:
    trace = json.loads(TRACE.read_text())
    later = trace | {
        "id": "lf-2",
        "timestamp": "2026-01-05T11:00:00Z",
        "input": "And red?",
        "output": "No.",
        "observations": [],
    }
    path = tmp_path / "traces.jsonl"
    path.write_text(f"{json.dumps(later)}\n{json.dumps(trace)}\n")
    (case,) = read(path)
    assert [turn.actual and turn.actual.user_text for turn in case.turns] == ["Is the blue mug in stock?", "And red?"]
    # A score of a trace is about its turn where the case has several.
    assert [(score.metric, score.turn) for score in case.recorded][:2] == [("helpful", 0), ("tone", 0)]
    assert {score.turn for score in case.recorded} == {0, 1}


def test_strands_wraps_arguments_and_answers_in_messages() -> None:
    keys = {"metadata": {"attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}}}
    one = observation(
        type="SPAN",
        input=[{"role": "tool", "content": '{"a": 1}', "id": "x"}],
        output={"message": '[{"text": "done"}]', "id": "x"},
        **keys,
    )
    assert calls(read([one])[0]) == (ToolCall("f", {"a": 1}, response="done"),)


def test_one_broken_observation_among_good_ones(tmp_path: Path) -> None:
    broken, case = read({"id": "t", "observations": [observation(), "x"]})
    assert broken.error == "observations[1]: found text, wanted an observation"
    assert calls(case)[0].name == "f"
    broken, _ = read([observation(), 7])
    assert broken.error == "[1]: found a number, wanted a trace or an observation"
    broken, _ = read([{"id": "t", "observations": [observation()]}, {"id": "v", "observations": 5}])
    assert broken.error == "[1].observations: found a number, wanted a list: 5"
    path = tmp_path / "observations.jsonl"
    path.write_text(json.dumps(observation()) + "\n{oops\n")
    broken, case = read(path)
    assert broken.error is not None
    assert broken.error.startswith("line 2 column")
    assert calls(case)[0].name == "f"
    (case,) = read([observation(), observation(id="p", metadata=5, usage="x", input=None, startTime="?")])
    assert [call.args for call in calls(case)] == [None, None]


COUNTS = {"langfuse+langfuse+1.json": 1, "langfuse+langfuse+10.json": 1, "langfuse+langfuse+11.json": 1}


def tool_observations(document: dict[str, Any]) -> list[str]:
    """The names of observations that are tools, by the words in them."""
    return [
        one["name"].removeprefix("execute_tool ")
        for one in sorted(document["observations"], key=lambda each: str(each["startTime"]))
        if one["type"] == "TOOL" or '"TOOL"' in json.dumps(one["metadata"]) or one["name"].startswith("execute_tool")
    ]


def test_public_files() -> None:
    # The one file filed under langsmith is an export of Langfuse too.
    files = [*corpus("langfuse_trace").glob("*.json"), *corpus("langsmith").glob("*.json")]
    assert len(files) == 4
    for path in files:
        document = json.loads(path.read_text())
        assert [name for name, reader in READERS.items() if reader.recognises(document)] == ["langfuse"]
        (case,) = read(path)
        assert [call.name for call in calls(case)] == tool_observations(document), path.name
        assert all(call.args is not None and call.response is not None for call in calls(case))
        (turn,) = case.turns
        assert turn.actual is not None
        assert turn.actual.user_text
        assert turn.actual.response
        assert turn.actual.usage is not None
        assert turn.actual.usage.input_tokens is not None
        scores = document.get("scores") or document.get("trace", {}).get("scores") or []
        assert [score.value for score in case.recorded] == [score["value"] for score in scores]
