"""ADEval's axes: its worked numbers, its negatives and failures, and what a missing axis is."""

from __future__ import annotations

import pytest

import adk_scoring as ads
from adk_scoring import METRICS, Case, Criteria, Invocation, Match, ToolCall, Turn
from adk_scoring.metrics.adeval import AxisMetric
from adk_scoring.report import Report

A1, A2, B2 = ToolCall("a", {"x": 1}), ToolCall("a", {"x": 2}), ToolCall("b", {"y": 2})
B = ToolCall("b")
# ADEval's worked example (its stats, read-only list {a}); the last case is the one whose count it has as 1, not 0.
POSITIVE = [((A1,), (A1,)), ((B, A2), (A1,)), ((A1,), (A1, B2)), ((), (A1,))]


def case(made: tuple[ToolCall, ...] | None, wanted: tuple[ToolCall, ...] | None, error: str | None = None) -> Case:
    return Case("c", (Turn(Invocation("q", made, "an answer", error=error), (Invocation("q", wanted, "it"),)),))


def scored(cases: list[Case], **settings: object) -> Report:
    return ads.evaluate(cases, Criteria.adeval(**settings))  # type: ignore[arg-type]


def means(report: Report) -> dict[str, float | None]:
    return {entry.label: entry.mean for entry in report.summary.criteria}


def test_the_worked_example_but_for_the_count_of_no_call() -> None:
    report = scored([case(made, wanted) for made, wanted in POSITIVE], tools={"a": True})
    assert means(report) == {
        "pass": 0.25,
        "tool_call_rate": 0.75,
        "name_accuracy": 0.5,
        "name_args_accuracy": 0.25,
        "call_count": 0.5,  # ADEval: 0.75, because no call counts as one there
        "read_only_compliance": 0.75,
        "abstention": None,
        "extra_argument_rate": 0.0,
    }


def test_what_looks_before_it_acts_pays_in_the_count_alone() -> None:
    look, write = ToolCall("get_leave", {"id": 1}), ToolCall("update_leave", {"id": 1})
    values = means(scored([case((look, write), (write,))]))
    assert (values["pass"], values["name_accuracy"], values["name_args_accuracy"]) == (1, 1, 1)
    assert values["call_count"] == 0.5
    assert means(scored([case((look, write), (write,))], gate="set"))["pass"] == 0


@pytest.mark.parametrize(("made", "wanted", "count"), [(4, 2, 0.5), (3, 1, 1 / 3), (0, 1, 0.0), (2, 2, 1.0)])
def test_call_count(made: int, wanted: int, count: float) -> None:
    score = METRICS["adeval_call_count"]().score(case((B,) * made, (A1,) * wanted))
    assert score.value == pytest.approx(count)
    assert score.reason == f"{made} calls made, {wanted} expected"


def test_negatives_count_in_pass_and_abstention_alone() -> None:
    report = scored([case((), ()), case((B,), ())], tools={"a": True})
    assert means(report) == {
        "pass": 0.5,
        "tool_call_rate": None,
        "name_accuracy": None,
        "name_args_accuracy": None,
        "call_count": None,
        "read_only_compliance": 0.5,
        "abstention": 0.5,
        "extra_argument_rate": None,
    }
    reasons = {row.label: row.score.reason for row in report.rows if row.score.status == "skipped"}
    assert set(reasons.values()) == {"no call is required"}
    assert [str(verdict) for verdict in report.case_verdicts] == ["passed", "failed"]


@pytest.mark.parametrize("wanted", [(), (A1,)])
def test_a_failed_request_is_an_error_in_every_axis(wanted: tuple[ToolCall, ...]) -> None:
    report = scored([case(None, wanted, error="HTTP 503")], judged=True)
    assert {(row.score.status, row.score.value) for row in report.rows} == {("error", None)}
    assert all("HTTP 503" in row.score.reason for row in report.rows)


def test_an_axis_without_what_it_needs_is_absent_and_does_not_fail_the_report() -> None:
    report = scored([case((A1,), (A1,))])
    (row,) = [row for row in report.rows if row.label == "read_only_compliance"]
    assert (row.score.status, row.score.value) == ("skipped", None)
    assert "no tool annotations" in row.score.reason
    assert means(report)["abstention"] is None
    assert report.passed
    for shown in (str(report), report.to_markdown(), report._repr_html_()):
        assert "has no value in any case; c: no tool annotations" in shown
        assert shown.count("has no value") == 2


def test_verify_args_is_about_passing_alone() -> None:
    cases = [case((A2,), (A1,))]
    with_args, names = means(scored(cases)), means(scored(cases, verify_args=False))
    assert (with_args["pass"], names["pass"]) == (0, 1)
    assert {**with_args, "pass": None} == {**names, "pass": None}


def test_extra_arguments_are_told_where_the_call_is_right() -> None:
    more = ToolCall("a", {"x": 1, "limit": 5})
    score = METRICS["adeval_extra_argument_rate"]().score(case((more, B), (A1,)))
    assert (score.value, score.counts["extra"]) == (1.0, 1)
    assert score.reason == "1 arguments that are not expected; a: limit"
    assert METRICS["adeval_extra_argument_rate"]().score(case((A1, more), (A1,))).value == 0
    missed = METRICS["adeval_extra_argument_rate"]().score(case((B,), (A1,)))
    assert missed.status == "skipped"
    assert "not all expected calls were made" in missed.reason


def test_ignored_tools_count_nowhere() -> None:
    transfer = ToolCall("transfer_to_agent")
    ignored = means(scored([case((transfer,), ()), case((transfer, A1), (A1,))], ignore_tools=("transfer_*",)))
    assert (ignored["pass"], ignored["abstention"], ignored["call_count"], ignored["tool_call_rate"]) == (1, 1, 1, 1)
    counted = means(scored([case((transfer,), ()), case((transfer, A1), (A1,))]))
    assert (counted["pass"], counted["abstention"], counted["call_count"]) == (0.5, 0, 0.5)


def test_the_best_of_several_expectations_counts() -> None:
    turn = Turn(Invocation("q", (A1,)), (Invocation("q", (B2,)), Invocation("q", (A1,))))
    score = METRICS["adeval_name_accuracy"]().score(Case("c", (turn,)))
    assert score.value == 1
    assert score.reason == "1 of 1 expected calls were made; against alternative 2 of 2"


def test_a_turn_that_was_not_reached_counts_where_calls_are_expected() -> None:
    first = Turn(Invocation("q", (A1,)), (Invocation("q", (A1,)),))
    for wanted, value in (((A1,), 0.5), ((), 1.0)):
        score = METRICS["adeval_name_accuracy"]().score(Case("c", (first, Turn(None, (Invocation("q", wanted),)))))
        assert score.value == value


def test_names_are_compared_whatever_the_rule_for_arguments_says() -> None:
    strict = Match(args="exact", tools={"a": {"x": lambda actual, expected: False}})
    assert AxisMetric("adeval_name_accuracy", strict).score(case((A2,), (A1,))).value == 1
    assert AxisMetric("adeval_name_args_accuracy", strict).score(case((A1,), (A1,))).value == 0


def test_the_judged_axes_join_when_they_are_wanted() -> None:
    assert Criteria.adeval(judged=True).labels[-2:] == ("presentation_quality", "answer_accuracy")
    assert not {"presentation_quality", "answer_accuracy"} & set(Criteria.adeval().labels)
    report = scored([case((A1,), (A1,))], judged=True)
    assert means(report)["answer_accuracy"] is None
    assert [row.score.status for row in report.rows][-2:] == ["error", "error"]  # no judge was given


def test_a_report_of_it_comes_back_from_json() -> None:
    report = scored([case(made, wanted) for made, wanted in POSITIVE], tools={"a": True}, ignore_tools=("t",))
    again = Report.from_json(report.to_json())
    assert means(again) == means(report)
    assert again.criteria["name_accuracy"].metric == report.criteria["name_accuracy"].metric


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(ads.ConfigError, match="gate 'all'; wanted 'subset'"):
        Criteria.adeval(gate="all")  # type: ignore[arg-type]
    with pytest.raises(ads.ConfigError, match="unknown axis 'speed'; wanted one of adeval_name_accuracy"):
        AxisMetric("speed")


@pytest.mark.parametrize(
    ("axis", "value", "reason"),
    [
        ("adeval_name_accuracy", 0.0, "the run ended before this turn"),
        ("adeval_call_count", 0.0, "the run ended before this turn"),
        ("adeval_extra_argument_rate", None, "the run ended before this turn"),  # 0 would be the best there is
    ],
)
def test_a_turn_that_was_not_reached_never_helps(axis: str, value: float | None, reason: str) -> None:
    expected = Invocation("q", (A1,))
    ended = Case(
        "c", (Turn(Invocation("q", (A1,)), (expected,)), Turn(None, (expected,)), Turn(None, (Invocation("q", ()),)))
    )
    _, missing, without_calls = METRICS[axis]().score(ended).parts
    assert (missing.value, missing.reason) == (value, reason)
    assert (without_calls.value, without_calls.reason) == (None, "no call is required")
