"""ATIF trajectories: copied context, parallel groups, subagents, public files, what is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adk_scoring.model import Invocation, ToolCall, Usage
from adk_scoring.readers import READERS, read
from tests.corpus import corpus

TRAJECTORY = Path(__file__).parent / "data/atif/trajectory.json"


def document(*steps: Any, **keys: Any) -> dict[str, Any]:
    return {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "a"}, "steps": list(steps)} | keys


def test_golden_trajectory() -> None:
    case, inner = read(TRAJECTORY)
    assert (case.case_id, case.instructions, case.tags) == ("at-1", "You code.", ())
    assert case.metadata["continued_trajectory_ref"] == "next.json"
    assert case.tools is not None
    assert case.tools[0].name == "run"
    first, last = (turn.actual for turn in case.turns)
    assert first == Invocation(
        "List the files.",
        (
            ToolCall("run", {"cmd": "ls"}, call_id="c1", step=0, response="a.py"),
            ToolCall("run", {"cmd": "pwd"}, call_id="c2", step=0, response="/app"),
            ToolCall("run", {"cmd": "wc"}, call_id="c3", step=1, response="12"),
        ),
        "a.py, 12 lines.",
        intermediate_responses=(("", "One more."),),
        usage=Usage(input_tokens=30, output_tokens=10, cached_tokens=2, model_calls=2),
        duration=4.0,
    )
    assert last == Invocation("Thanks.", (), "Welcome.")
    assert (inner.case_id, inner.tags, len(inner.turns)) == ("at-1/sub-1", ("subagent",), 1)


@pytest.mark.parametrize("version", [f"ATIF-v1.{minor}" for minor in range(9)])
def test_every_version(version: str) -> None:
    steps = [{"source": "user", "message": "hi"}, {"source": "agent", "message": "ho"}]
    (case,) = read(document(*steps, schema_version=version))
    assert case.turns[0].actual == Invocation("hi", (), "ho")


def test_what_is_broken_is_one_error_case() -> None:
    (case,) = read(document(5))
    assert case.error == "steps[0]: found a number, wanted an object: 5"
    (case,) = read(document({"source": "agent", "tool_calls": ["x"]}))
    assert case.error == "steps[0].tool_calls[0]: found text, wanted an object: 'x'"
    (case,) = read(document(steps="x"))
    assert case.error == "steps: found text, wanted a list: 'x'"
    case, inner = read(document(subagent_trajectories=[7]))
    assert (case.error, inner.error) == (None, "subagent_trajectories[0]: found a number, wanted an object: 7")
    odd = {"source": "agent", "message": None, "observation": {"results": [5, {"content": "lone"}]}, "metrics": 5}
    (case,) = read(document(odd))
    assert case.turns[0].actual == Invocation("", ())


def test_public_files() -> None:
    files = sorted(corpus("atif").glob("*.json"))
    assert len(files) == 2
    for path in files:
        whole = json.loads(path.read_text())
        assert [name for name, reader in READERS.items() if reader.recognises(whole)] == ["atif"]
        (case,) = read(path)
        (turn,) = case.turns
        assert turn.actual is not None
        own = [step for step in whole["steps"] if not step.get("is_copied_context")]
        agent = [step for step in own if step["source"] == "agent"]
        assert len(turn.actual.tool_calls or ()) == sum(len(step.get("tool_calls", ())) for step in own) == 0
        assert turn.actual.response == agent[-1]["message"]
        assert len(turn.actual.intermediate_responses) == len(agent) - 1
        assert turn.actual.usage is not None
        assert turn.actual.usage.input_tokens == sum(step["metrics"]["prompt_tokens"] for step in agent)
