"""Trajectory metrics over cases: ADK's recorded scores to the last bit, the table's rows as metrics, reasons, bulk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring import (
    METRICS,
    Case,
    ConfigError,
    Invocation,
    Match,
    MatchError,
    ToolCall,
    Turn,
    evaluate,
    trajectory_single_tool_use,
)
from adk_scoring.evidence import Evidence
from adk_scoring.metrics.formulas import FORMULAS
from adk_scoring.metrics.trajectory import AdkTrajectory, SingleToolUse, TrajectoryMetric
from tests.build import BAD, GOOD, calls, case, scored, turn

RECORDED = [
    record
    for line in (Path(__file__).parent / "data/vectors/adk_recorded_scores.jsonl").read_text("utf-8").splitlines()
    if (record := json.loads(line))["metric"] == "tool_trajectory_avg_score"
]


def call(recorded: Mapping[str, Any]) -> ToolCall:
    return ToolCall(recorded["name"] or "", recorded["args"] or {})


@pytest.mark.parametrize("record", RECORDED, ids=lambda record: record["id"])
def test_scores_that_adk_wrote_are_reproduced_to_the_last_bit(record: dict[str, Any]) -> None:
    actual, expected = (Invocation("q", tuple(map(call, record[side]))) for side in ("actual", "expected"))
    report = evaluate(
        [case(Turn(actual, (expected,)))],
        {
            "tool_trajectory_avg_score": {
                "threshold": record["threshold"],
                "match_type": record["match_type"] or "EXACT",
            }
        },
    )
    assert report.rows[0].score.value == record["recorded_score"]
    assert report.rows[0].verdict == {1: "passed", 2: "failed"}[record["recorded_status"]]


def test_there_are_scores_of_adk_of_both_kinds() -> None:
    assert len(RECORDED) == 12
    assert {record["recorded_score"] for record in RECORDED} == {0.0, 1.0}


@pytest.mark.parametrize(
    ("match_type", "values"),
    [("EXACT", (0.0, 0.0, 1.0)), ("IN_ORDER", (1.0, 0.0, 1.0)), ("ANY_ORDER", (1.0, 1.0, 1.0))],
)
def test_adk_s_three_match_types(match_type: str, values: tuple[float, ...]) -> None:
    expected = ["a", ("b", {"n": 1})]
    more, swapped, same = ["a", "x", ("b", {"n": True})], [("b", {"n": 1.0}), "a"], ["a", ("b", {"n": True})]
    found = [
        scored(case(turn(made, expected)), "tool_trajectory_avg_score", match_type=match_type)
        for made in (more, swapped, same)
    ]
    assert tuple(score.value for score in found) == values  # True is 1, as in Python


def test_adk_s_mean_is_over_the_turns_and_names_alone_may_count() -> None:
    sides = [turn([("a", {"n": 1})], [("a", {"n": 2})]), GOOD, GOOD]
    assert scored(case(*sides), "tool_trajectory_avg_score").value == 2 / 3
    assert scored(case(*sides), "tool_trajectory_avg_score", ignore_args=True).value == 1.0


def test_adk_s_own_calls_may_be_left_out() -> None:
    sides = turn(["transfer_to_agent", "a"], ["a"])
    assert scored(case(sides), "tool_trajectory_avg_score").value == 0.0
    assert scored(case(sides), "tool_trajectory_avg_score", ignore_tools=["transfer_to_*"]).value == 1.0


def test_null_and_missing_arguments_are_no_arguments() -> None:
    made = Turn(
        Invocation("q", (ToolCall.of({"name": "a", "args": None}),)), (Invocation("q", (ToolCall.of({"name": "a"}),)),)
    )
    for metric in ("tool_trajectory_avg_score", "trajectory_exact_match"):
        assert scored(case(made), metric).value == 1.0


def test_true_is_not_one_unless_adk_s_rule_is_asked_for() -> None:
    sides = turn([("a", {"n": True})], [("a", {"n": 1})])
    assert scored(case(sides), "trajectory_f1").value == 0.0
    assert scored(case(sides), "trajectory_f1", match="adk").value == 1.0


def test_a_metric_s_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="match_type 'SUPERSET'; wanted one of EXACT, IN_ORDER, ANY_ORDER"):
        AdkTrajectory("SUPERSET")
    with pytest.raises(ConfigError, match="unknown trajectory formula 'f1'; wanted one of trajectory_exact_match"):
        TrajectoryMetric("f1")
    with pytest.raises(ConfigError, match="tool ''; wanted the name of the tool"):
        SingleToolUse("")


# --- single tool use ---------------------------------------------------------------------------------------------


def test_single_tool_use_needs_no_reference() -> None:
    assert trajectory_single_tool_use(["a", "b"], "b") == 1.0
    assert trajectory_single_tool_use([], "b") == 0.0
    score = scored(case(turn(["a", "b", "b"], None)), "trajectory_single_tool_use", tool="b")
    assert (score.value, score.reason) == (1.0, "2 of 3 calls made are of b")
    assert score.counts == {"calls_of_tool": 2, "made": 3}
    assert scored(case(Turn(Invocation("q"))), "trajectory_single_tool_use", tool="b").value == 0.0
    with pytest.raises(MatchError):
        trajectory_single_tool_use("ab", "b")


def test_where_no_calls_are_expected_and_some_made_the_reason_says_so() -> None:
    for formula in ("trajectory_f1", "trajectory_exact_match", "trajectory_recall", "trajectory_precision"):
        score = scored(case(turn(["a"], [])), formula)
        assert score.value == 0.0
    assert scored(case(turn(["a"], [])), "trajectory_recall").reason == "no calls are expected, but some were made"


# --- reasons and counts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formula", [name for name in FORMULAS if "order" in name and "unordered" not in name])
def test_where_nothing_is_expected_nothing_was_checked(formula: str) -> None:
    score = scored(case(turn(["a"], [])), formula)
    assert (score.value, score.reason) == (1.0, "no calls are expected: nothing was checked")


def test_where_no_calls_are_expected_and_none_made_the_reason_says_so() -> None:
    for formula in ("trajectory_f1", "trajectory_exact_match", "trajectory_recall"):
        assert scored(case(turn([], [])), formula).reason == "no calls are expected and none were made"


@pytest.mark.parametrize("formula", sorted(FORMULAS))
@given(
    st.lists(st.sampled_from("abc"), max_size=5),
    st.lists(st.sampled_from("abc"), max_size=5),
    st.sampled_from(["exact", "ignore"]),
)
def test_a_metric_is_its_formula_and_its_counts_are_those_of_the_reason(
    formula: str, made: list[str], wanted: list[str], args: Any
) -> None:
    import adk_scoring

    score = scored(case(turn(made, wanted)), formula, match={"args": args})
    assert score.value == getattr(adk_scoring, formula)(made, wanted, match=Match(args=args))
    assert set(score.counts) == set(METRICS[formula]().count_names)
    for name, total in (("made", len(made)), ("expected", len(wanted))):
        assert score.counts.get(name, total) == total
    if wanted:
        assert all(str(int(count)) in score.reason for count in score.counts.values())


def test_micro_averages_come_from_the_counts() -> None:
    report = evaluate(
        [case(turn(["a"], ["a"])), case(turn(["b"], ["a", "b", "c"]), case_id="d")], {"trajectory_recall": 1}
    )
    counts = [row.score.counts for row in report.rows]
    assert sum(c["matched"] for c in counts) / sum(c["expected"] for c in counts) == 0.5
    assert report.summary.criteria[0].mean == pytest.approx(2 / 3)


# --- many at once ------------------------------------------------------------------------------------------------

UNKNOWN = Turn(Invocation("q", (ToolCall("a", None),)), (Invocation("q", calls("a")),))


@given(st.lists(st.sampled_from([GOOD, BAD, UNKNOWN, turn(["a"], None), turn(None, ["a"]), turn([], [])]), max_size=3))
def test_the_short_way_gives_the_scores_of_the_long_one(turns: list[Turn]) -> None:
    one = Case("c", tuple(turns))
    for name in ("trajectory_f1", "trajectory_in_order_match", "tool_trajectory_avg_score"):
        metric = METRICS[name]()
        assert list(metric.score_many([Evidence(one)])) == [metric.score(one)]


@pytest.mark.parametrize("tool", ["", 3, None])
def test_a_single_tool_wants_a_name(tool: Any) -> None:
    with pytest.raises(ConfigError, match="wanted the name of the tool"):
        trajectory_single_tool_use(["search"], tool)
