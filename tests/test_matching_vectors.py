"""Recorded verdicts of tau2 and the tool-call cases that users reported elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adk_scoring import Case, Invocation, Turn, align
from adk_scoring.alignment import as_calls
from adk_scoring.matching import Match
from adk_scoring.metrics import METRICS, formulas
from adk_scoring.metrics.arguments import tool_args_score
from adk_scoring.model import ToolCall

from .corpus import corpus

VECTORS = Path(__file__).parent / "data/vectors"


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / name).read_text(encoding="utf-8").splitlines()]


def tau2_match(action: dict[str, Any], calls: list[ToolCall]) -> bool:
    """tau2 asks whether some call has the action's name and its values for ``compare_args``.

    ``null`` compares the keys that the call has, which is our "superset" for flat arguments; ``[]`` compares names.
    """
    keys = action["compare_args"]
    wanted = ToolCall(action["name"], action["arguments"])
    if keys == []:
        match = Match(args="ignore")
    elif keys is None:
        match = Match(args="superset")
    else:
        match = Match(args="subset")
        wanted = ToolCall(action["name"], {key: action["arguments"][key] for key in keys})
    return any(match.masks(calls, [wanted]))


@pytest.mark.parametrize("run", lines("tau2_action_checks.jsonl"), ids=lambda run: Path(run["file"]).stem)
def test_tau2_action_checks(run: dict[str, Any]) -> None:
    by = {
        side: [ToolCall(c["name"], c["arguments"]) for c in run["actual"] if c["requestor"] == side]
        for side in ("assistant", "user")
    }
    found = [tau2_match(action, by[action["requestor"]]) for action in run["expected"]]
    assert found == [action["recorded_match"] for action in run["expected"]]


def test_tau2_files_of_the_corpus() -> None:
    """Every action check that the public tau2 runs recorded, over the calls in their messages."""
    checked = 0
    for path in sorted(corpus("tau2").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        for simulation in content.get("simulations", []) if isinstance(content, dict) else []:
            calls: dict[str, list[ToolCall]] = {}
            for message in simulation["messages"]:
                for call in message.get("tool_calls") or []:
                    by = calls.setdefault(call.get("requestor", "assistant"), [])
                    by.append(ToolCall(call["name"], call["arguments"]))
            for check in (simulation.get("reward_info") or {}).get("action_checks") or []:
                action = {"compare_args": None, "requestor": "assistant", **check["action"]}
                assert tau2_match(action, calls.get(action["requestor"], [])) == check["action_match"], path.name
                checked += 1
    assert checked


REPORTED = {case["id"]: case for case in lines("reported_cases.jsonl") if case["kind"] == "tool_calls"}
MODES = {
    "exact": "trajectory_exact_match",
    "in_order": "trajectory_in_order_match",
    "any_order": "trajectory_any_order_match",
    "recall": "trajectory_recall",
    "precision": "trajectory_precision",
    "f1": "trajectory_f1",
}


def value(mode: str, given: dict[str, Any]) -> float:
    if mode in ("any_order_partial_args", "argument_correctness"):
        return tool_args_score(given["actual"], given["expected"])
    rule = Match(args="subset" if given.get("args") == "expected_args_subset" else "exact")
    score: float = getattr(formulas, MODES[mode])(given["actual"], given["expected"], match=rule)
    return score


@pytest.mark.parametrize("name", [name for name, case in REPORTED.items() if "expected" in case["input"]])
def test_reported_cases(name: str) -> None:
    case = REPORTED[name]
    given, right = case["input"], case["right"]
    if isinstance(right, int | float):
        assert value(given["mode"], given) == right
        return
    if "score" in right:
        assert value(given["mode"], given) == right["score"]
    checked = {mode: value(mode, given) for mode in MODES if mode in right}
    assert checked == {mode: right[mode] for mode in checked}
    assert checked or "score" in right


def test_the_reported_cases_are_all_looked_at() -> None:
    named = {name for name, case in REPORTED.items() if "expected" not in case["input"]}
    assert named == {"tc-events-vs-uses", "tc-missing-turns"}  # the first is a matter of reading, the second is below
    assert len(REPORTED) == 15


def test_turns_that_never_happened_are_not_done() -> None:
    given, right = REPORTED["tc-missing-turns"]["input"], REPORTED["tc-missing-turns"]["right"]
    actual = [Invocation(tool_calls=as_calls(calls, "actual")) for calls in given["actual_turns"]]
    turns = tuple(
        Turn(actual[i] if i < len(actual) else None, (Invocation(tool_calls=as_calls(calls, "expected")),))
        for i, calls in enumerate(given["expected_turns"])
    )
    found = METRICS["trajectory_exact_match"]().score(Case("c", turns))
    assert [part.value for part in found.parts] == right["per_turn"]
    assert found.value == pytest.approx(right["score"], abs=1e-6)


def test_a_missing_inner_call_is_named() -> None:
    given = REPORTED["tc-agent-as-tool"]["input"]
    found = align(given["actual"], given["expected"])
    assert [found.expected[j].name for j in found.missing] == ["count_words"]


def test_an_unordered_score_does_not_depend_on_the_listing() -> None:
    given = REPORTED["tc-greedy-partial"]["input"]
    assert tool_args_score(given["actual"], given["expected"][::-1]) == tool_args_score(
        given["actual"], given["expected"]
    )
    given = REPORTED["tc-greedy-repeat"]["input"]
    for actual in (given["actual"], given["actual"][::-1]):
        assert formulas.trajectory_any_order_match(actual, given["expected"][::-1], match=Match(args="subset")) == 1
