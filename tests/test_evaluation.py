"""Cases x criteria -> report: verdicts by the rules, coverage, trials, and that one bad case never stops the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from adk_scoring import (
    METRICS,
    Alignment,
    Case,
    Criteria,
    Criterion,
    Invocation,
    Match,
    Metric,
    Pairing,
    Report,
    Score,
    ScoringError,
    ToolCall,
    Turn,
    evaluate,
    rescore,
)
from adk_scoring.evidence import Evidence
from adk_scoring.metrics.base import Reply, Scores
from tests.build import BAD, GOOD, Given, case, given, report_of, said, turn

GOOD_TURNS = (Turn(said("q", "f", response="x"), (said("q", "f", response="x"),)),)


def by_given(cases: Iterable[Case], threshold: float | None = 0.5, **more: Any) -> Report:
    return evaluate(cases, [Criterion("given", Given(), threshold, **more)])


# --- verdicts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((1.0, 1.0), "passed"),
        ((1.0, 0.0), "failed"),
        ((1.0, None), "passed"),
        ((None, None), "not_evaluated"),
        ((1.0, "broke"), "error"),
        ((0.0, "broke"), "failed"),
        ((None, "broke"), "error"),
        (("broke", "broke"), "error"),
    ],
)
def test_a_case_passes_when_one_is_scored_all_scored_pass_and_none_is_an_error(
    values: tuple[float | str | None, ...], verdict: str
) -> None:
    report = report_of(*[[value] for value in values])
    assert report.case_verdicts == (verdict,)
    assert report.passed == (verdict == "passed" and None not in values)


def test_skipped_ones_do_not_block_the_report_where_the_criterion_was_scored_in_another_case() -> None:
    report = report_of([1.0, 1.0], [None, 1.0])
    assert report.case_verdicts == ("passed", "passed")
    assert report.passed


def test_a_criterion_that_was_scored_in_no_case_makes_the_report_not_passed() -> None:
    report = report_of([1.0, 1.0], [None, None])
    assert report.case_verdicts == ("passed", "passed")
    assert report.summary.never_scored == ("b",)
    assert not report.passed
    assert "b was scored in no case, so the report is not passed; case0: nothing given" in str(report)


def test_nothing_scored_is_not_passed() -> None:
    report = report_of([None, None])
    assert report.summary.not_evaluated == 2
    assert not report.passed
    assert str(report).startswith("NOT PASSED: 2 cases: 2 not evaluated")


def test_informational_criteria_are_shown_and_outside_the_verdict() -> None:
    cases = [given(0.0), given("broke", "d")]
    report = evaluate(cases, [Criterion("info", Given()), Criterion("calls", made("trajectory_recall"), 1.0)])
    assert report.case_verdicts == ("passed", "passed")
    assert report.passed
    assert [row.verdict for row in report.rows] == ["informational", "passed"] * 2
    assert report.failures() == []
    assert by_given([given(1.0)], None).case_verdicts == ("not_evaluated",)
    assert not by_given([given(1.0)], None).passed


def made(name: str, **parameters: Any) -> Metric:
    from adk_scoring import METRICS

    return METRICS[name](**parameters)


@pytest.mark.parametrize(
    ("value", "threshold", "lower", "verdict"),
    [
        (0.5, 0.5, False, "passed"),
        (0.5 - 9e-10, 0.5, False, "passed"),
        (0.5 - 2e-9, 0.5, False, "failed"),
        (0.1 + 0.2, 0.3, True, "passed"),
        (0.5 + 9e-10, 0.5, True, "passed"),
        (0.5 + 2e-9, 0.5, True, "failed"),
        (0.4, 0.5, True, "passed"),
    ],
)
def test_passing_has_a_tolerance_of_1e_9_in_the_metric_s_direction(
    value: float, threshold: float, lower: bool, verdict: str
) -> None:
    report = evaluate([given(value)], [Criterion("x", Given(lower), threshold)])
    assert report.rows[0].verdict == verdict
    assert report.summary.criteria[0].passed == (verdict == "passed")
    assert bool(report.failures()) == (verdict == "failed")


def test_per_case_compares_the_mean_and_per_turn_each_scored_turn() -> None:
    two = case(GOOD, BAD, turn(["x"], None))
    report = evaluate(
        [two, case(GOOD, case_id="d"), case(GOOD, GOOD, case_id="e")],
        {
            "mean": {"metric": "trajectory_recall", "threshold": 0.5},
            "each": {"metric": "trajectory_recall", "threshold": 0.5, "per": "turn"},
        },
    )
    assert [row.verdict for row in report.rows] == ["passed", "failed", *["passed"] * 4]
    assert [(entry.passed, entry.failed) for entry in report.summary.criteria] == [(3, 0), (2, 1)]
    (failure,) = report.failures()
    assert (failure.row.label, failure.turn) == ("each", 1)
    assert "each   " in str(report)
    assert ">= 0.5 in each turn" in str(report)


def test_per_turn_an_error_is_an_error() -> None:
    broken = case(GOOD, Turn(said("q", error="timeout"), (said("q", "search"),)))
    report = evaluate([broken], {"each": {"metric": "trajectory_recall", "threshold": 0.5, "per": "turn"}})
    assert report.case_verdicts == ("error",)


def test_per_turn_rubrics_of_a_case_of_one_turn_are_no_turns() -> None:
    rubrics = (Score("given", 1.0, label="polite"), Score("given", 0.0, label="short"))
    criterion = Criterion("x", Given(), 0.5, "turn")
    assert criterion.verdict(Score("given", 0.5, parts=rubrics)) == "passed"


# --- trials ------------------------------------------------------------------------------------------------------


def test_each_trial_has_a_verdict_and_a_case_that_passes_in_some_is_flaky() -> None:
    cases = [given(1.0, "a"), given(0.0, "a", trial=1), given(1.0, "b"), given(1.0, "b", trial=1)]
    report = by_given(cases)
    assert report.case_verdicts == ("passed", "failed", "passed", "passed")
    assert report.summary.flaky == ("a",)
    assert (report.summary.total, report.summary.cases) == (4, 2)
    assert not report.passed
    assert str(report).startswith("NOT PASSED: 4 trials of 2 cases: 3 passed, 1 failed\n")
    assert "flaky (passed in some trials only): a" in str(report)
    assert "flaky (passed in some trials only): a" in report.to_markdown()


def test_a_trial_that_errored_did_not_pass() -> None:
    assert by_given([given(1.0), given("broke", trial=1)]).summary.flaky == ("c",)


def test_equal_ids_of_two_sets_are_two_cases() -> None:
    summary = by_given([given(1.0, set_id="one"), given(0.0, set_id="two")]).summary
    assert (summary.cases, summary.flaky) == (2, ())


# --- coverage ----------------------------------------------------------------------------------------------------


def test_every_mean_shows_how_many_cases_it_covers() -> None:
    report = report_of([1.0, 0.5, None, None, None, "broke"])
    (entry,) = report.summary.criteria
    assert entry.mean == 0.75
    assert (entry.scored, entry.skipped, entry.errors, entry.total) == (2, 3, 1, 6)
    assert entry.coverage == "2/6 (3 skipped, 1 error)"
    assert "2/6 (3 skipped, 1 error)" in str(report)
    assert report_of([1.0]).summary.criteria[0].coverage == "1/1"
    assert report_of(["x", "y"]).summary.criteria[0].coverage == "0/2 (2 errors)"


def test_zero_scored_cases_have_no_mean() -> None:
    report = report_of([None, "broke"])
    assert report.summary.criteria[0].mean is None
    row = next(line for line in str(report).splitlines() if line.startswith("  a "))
    assert row.split() == ["a", "-", "0/2", "(1", "skipped,", "1", "error)", ">=", "0.5", "0/0"]


# --- one bad case never stops the others -------------------------------------------------------------------------


def test_a_metric_that_raises_is_an_error_of_that_case_alone() -> None:
    report = by_given([given(1.0), given("not today", "d"), given([], "e"), given(1.0, "f")])
    assert [row.score.status for row in report.rows] == ["scored", "error", "error", "scored"]
    assert report.rows[1].score.reason == "ValueError: not today"
    assert "ERROR   given: ValueError: not today" in str(report)


def test_a_comparator_that_raises_is_an_error_of_that_case_alone() -> None:
    def compare(actual: Any, expected: Any) -> bool:
        if actual == "bad":
            raise ZeroDivisionError("by design")
        return True

    match = Match(tools={"search": {"q": compare}})
    cases = [case(turn([("search", {"q": q})], [("search", {"q": "x"})]), case_id=q) for q in ("ok", "bad", "fine")]
    report = evaluate(
        cases,
        {"trajectory_f1": {"threshold": 1, "match": match}, "trajectory_recall": {"threshold": 1, "match": match}},
    )
    assert report.case_verdicts == ("passed", "error", "passed")
    assert "by design" in report.rows[2].score.reason
    assert "by design" in str(report)
    assert report.case("bad").verdict == "error"
    assert "cannot be compared" in str(report.case("bad"))
    assert "cannot be compared" in report.case("bad")._repr_html_()


def test_arguments_nested_too_deeply_are_an_error_of_that_case_alone() -> None:
    def nested() -> dict[str, Any]:
        value: dict[str, Any] = {}
        for _ in range(100_000):
            value = {"a": value}
        return value

    deep = Case(
        "deep", (Turn(Invocation("q", (ToolCall("f", nested()),)), (Invocation("q", (ToolCall("f", nested()),)),)),)
    )
    report = evaluate([case(GOOD), deep, case(GOOD, case_id="e")], {"trajectory_f1": 1})
    assert report.case_verdicts == ("passed", "error", "passed")
    assert "nested too deeply" in report.rows[1].score.reason
    for shown in (str(report), report._repr_html_(), report.to_markdown(), str(report.case("deep"))):
        assert "nested too deeply" in shown
    with pytest.raises(ScoringError, match="nested too deeply"):
        report.to_json()


@dataclass(frozen=True)
class Bulk(Given):
    """Its bulk way is as wrong as `wrong` says."""

    wrong: str = ""

    name = "given"

    def score_many(self, evidences: Iterable[Evidence]) -> Scores:
        if self.wrong == "raises":
            raise RuntimeError("no bulk today")
        if self.wrong == "a list":
            return [Score(self.name, 0.0) for _ in evidences]  # type: ignore[return-value]
        return Scores(self)  # too short


@pytest.mark.parametrize("wrong", ["raises", "a list", "too short"])
def test_a_bulk_way_that_goes_wrong_is_left_for_the_slow_one(wrong: str) -> None:
    report = evaluate([given(1.0), given("broke", "d")], [Criterion("x", Bulk(wrong=wrong), 0.5)])
    assert [row.score.status for row in report.rows] == ["scored", "error"]
    assert report.rows[0].score.value == 1.0


class Stop(BaseException):
    """Not an Exception, as KeyboardInterrupt is not."""


def test_what_is_no_exception_of_a_case_goes_through() -> None:
    @dataclass(frozen=True)
    class Stopping(Given):
        name = "given"

        def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
            raise Stop

    with pytest.raises(Stop):
        evaluate([given(1.0)], [Criterion("x", Stopping(), 0.5)])


# --- what evaluate takes -----------------------------------------------------------------------------------------


def test_scoring_nothing_is_not_success() -> None:
    with pytest.raises(ScoringError, match="no cases were given"):
        evaluate([], {"trajectory_f1": 1})
    with pytest.raises(ScoringError, match="no cases were given"):
        evaluate(Pairing(()), {"trajectory_f1": 1})
    with pytest.raises(ScoringError, match=r"no criteria, so there is nothing to score by \(given in code\)"):
        evaluate([case(GOOD)], {})


@pytest.mark.parametrize("wrong", ["runs.json", ["runs.json"], [{"case_id": "x"}]])
def test_something_that_is_no_case_says_so(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"wanted cases, got .*(str|dict): .*; a file is read with read\(path\)"):
        evaluate(wrong, {"trajectory_f1": 1})


def test_the_default_criteria_are_adk_s() -> None:
    report = evaluate([case(GOOD)])
    assert [(c.label, c.threshold) for c in report.criteria] == [
        ("tool_trajectory_avg_score", 1.0),
        ("response_match_score", 0.8),
    ]
    assert report.criteria.source == "ADK's default"


def test_many_cases_are_scored_in_chunks_in_their_order() -> None:
    cases = [given(index / 1000, f"c{index}") for index in range(700)]
    report = by_given(iter(cases))
    assert [row.score.value for row in report.rows] == [index / 1000 for index in range(700)]


def test_rescore_keeps_scores_and_applies_new_thresholds() -> None:
    report = evaluate(Pairing((case(GOOD, BAD),), (), (case(GOOD, case_id="z"),)), {"trajectory_recall": 1.0})
    assert not report.passed
    again = rescore(report, {"x": {"metric": "trajectory_recall", "threshold": 0.5}, "trajectory_f1": None})
    assert again.passed
    assert again.columns[0] is report.columns[0]
    assert again.notes == report.notes
    assert again.criteria.labels == ("x", "trajectory_f1")
    assert rescore(again, {"trajectory_f1": 0.4}).passed


def test_one_alignment_serves_equal_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    class Counted(Alignment):
        def __init__(self, *args: Any) -> None:
            made.append(self)
            super().__init__(*args)

    monkeypatch.setattr("adk_scoring.evidence.Alignment", Counted)
    criteria = {
        name: {"metric": name, "threshold": 1, "match": {"args": "subset"}}
        for name in ("trajectory_f1", "trajectory_recall")
    }
    evaluate([case(GOOD)], Criteria.of(criteria))
    assert len(made) == 1


@pytest.mark.parametrize(
    "broken",
    [
        Case("c", GOOD_TURNS, error="not read"),
        Case("c", (Turn(said("q", "f", response="x", error="timeout"), (said("q", "f", response="x"),)),)),
        Case("c", (Turn(said("q", "f", response="x"), (said("q", "f", response="x", error="not readable"),)),)),
    ],
    ids=["case", "run", "expectation"],
)
def test_what_is_broken_is_an_error_under_every_metric_though_both_sides_agree(broken: Case) -> None:
    names = ["trajectory_exact_match", "trajectory_f1", "trajectory_edit_similarity", "response_match_score"]
    names += ["rouge_1", "exact_match", "levenshtein_similarity"]
    wanted: dict[str, float | None] = {name: None for name in names if name in METRICS}
    report = evaluate([broken, Case("whole", GOOD_TURNS)], wanted)
    assert {row.score.status for row in report.rows if row.case_id == "c"} == {"error"}
    assert {row.score.value for row in report.rows if row.case_id == "whole"} == {1.0}
