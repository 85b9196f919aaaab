"""What a report offers: rows, one case, failures, parts by a field, records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from adk_scoring import Case, Criterion, Invocation, Match, Report, ToolCall, Turn, evaluate, pair
from adk_scoring.criteria import Criteria
from adk_scoring.matching import DEFAULT_MATCH
from adk_scoring.metrics.base import Score, Scores
from adk_scoring.report.summary import CriterionSummary, mean_interval
from adk_scoring.stats import Interval, clustered, t_interval
from tests.build import BAD, GOOD, Given, calls, case, given, report_of, said, turn, wants
from tests.build import runs as run_of

BOTH = {"trajectory_f1": 1.0, "trajectory_recall": None}


def test_rows_stand_case_by_case_and_behave_as_a_list() -> None:
    report = evaluate([case(GOOD, case_id="a", set_id="s", trial=2), case(BAD, case_id="b")], BOTH)
    rows = report.rows
    assert [(row.case_id, row.label) for row in rows] == [
        ("a", "trajectory_f1"),
        ("a", "trajectory_recall"),
        ("b", "trajectory_f1"),
        ("b", "trajectory_recall"),
    ]
    first = rows[0]
    assert (first.set_id, first.trial, first.threshold, first.verdict, first.score.value) == (
        "s",
        2,
        1.0,
        "passed",
        1.0,
    )
    assert len(rows) == 4
    assert rows[-1] == rows[3]
    assert rows[1:3] == [rows[1], rows[2]]
    for outside in (4, -5):
        with pytest.raises(IndexError):
            rows[outside]


def test_a_report_wants_one_score_for_each_case_and_criterion() -> None:
    with pytest.raises(ValueError, match="one column for each criterion and one score for each case"):
        Report([case(GOOD)], Criteria((Criterion("x", Given(), 0.5),)), [Scores(Given())])


def test_a_case_is_found_by_id_trial_and_set() -> None:
    report = evaluate(
        [
            case(GOOD, case_id="a", set_id="s"),
            case(BAD, case_id="a", set_id="s", trial=1),
            case(BAD, case_id="a", set_id="t"),
        ],
        BOTH,
    )
    assert report.case("a").verdict == "passed"
    assert report.case("a", trial=1).verdict == "failed"
    assert report.case("a", set_id="t").case.set_id == "t"
    assert [row.label for row in report.case("a").rows] == ["trajectory_f1", "trajectory_recall"]
    with pytest.raises(KeyError, match="no case 'paris'"):
        report.case("paris")
    with pytest.raises(KeyError, match="case 'a' is there, but not with trial=7"):
        report.case("a", trial=7)
    with pytest.raises(KeyError, match="no case 'case1x'; did you mean 'case1'"):
        report_of([1.0, 1.0]).case("case1x")


def test_show_prints_the_case(capsys: pytest.CaptureFixture[str]) -> None:
    evaluate([case(BAD)], BOTH).case("c").show()
    shown = capsys.readouterr().out
    assert shown.startswith("c: FAILED\n")
    assert "search()" in shown


# --- failures ----------------------------------------------------------------------------------------------------


def test_a_failure_holds_the_turn_both_sides_and_what_differs() -> None:
    wanted = [("book", {"seat": "3A", "to": {"zip": 1}}), "pay"]
    done = [("book", {"seat": "3A", "to": {"zip": 2}}), "chat"]
    bad = case(GOOD, turn(done, wanted), source=("runs.json", "line 2"))
    (failure,) = evaluate([case(GOOD, GOOD, case_id="ok"), bad], {"trajectory_f1": 1}).failures()
    assert failure.row.label == "trajectory_f1"
    assert failure.turn == 1
    assert failure.expected == 'book(seat="3A", to={"zip": 1}), pay()'
    assert failure.actual == 'book(seat="3A", to={"zip": 2}), chat()'
    assert failure.differences == ("book: to.zip: expected 1, got 2", "pay(): missing", "chat(): extra")
    assert failure.source == ("runs.json", "line 2")


@pytest.mark.parametrize(
    ("sides", "expected", "actual"),
    [
        (turn([], ["search"]), "search()", "no calls"),
        (turn(["look"], []), "no calls", "look()"),
        (Turn(Invocation("q"), (said("q", "search"),)), "search()", "no calls"),
    ],
)
def test_a_failure_says_what_is_not_there(sides: Turn, expected: str, actual: str) -> None:
    (failure,) = evaluate([case(sides)], {"trajectory_exact_match": 1}).failures()
    assert (failure.expected, failure.actual) == (expected, actual)


def test_a_turn_that_the_run_did_not_reach_says_so() -> None:
    (failure,) = evaluate([case(GOOD, turn(None, ["pay"]))], {"trajectory_exact_match": 1}).failures()
    assert (failure.turn, failure.expected, failure.actual) == (1, "pay()", "nothing recorded")


def test_a_failure_shows_the_turn_that_did_worst_in_the_metric_s_direction() -> None:
    half = turn(["a"], ["a", "b"])
    (failure,) = evaluate([case(half, turn(["x"], ["y"]), half)], {"trajectory_recall": 1}).failures()
    assert failure.turn == 1
    assert "turn 2: 0 of 1" in failure.row.score.reason
    rows = [Score("given", value, label=f"turn {i}") for i, value in enumerate((0.2, 0.9, 0.7), 1)]
    column = Scores(Given(True))
    column.append(Score("given", 0.6, parts=tuple(rows)))
    report = Report([case(GOOD, GOOD, GOOD)], Criteria((Criterion("x", Given(True), 0.5),)), [column])
    assert report.failures()[0].turn == 1


def test_a_metric_that_needs_expected_calls_and_does_not_compare_them_has_no_differences() -> None:
    @dataclass(frozen=True)
    class Wordy(Given):
        match: Match = DEFAULT_MATCH

        name = "given"
        needs: ClassVar[frozenset[str]] = frozenset({"expected_calls"})

    unknown = Turn(Invocation("q", (ToolCall("a", None),)), (said("q", "a"),))
    for sides in (unknown, Turn(said("q", "a"), (Invocation("q"),))):
        report = evaluate([Case("c", (sides,), metadata={"given": 0.0})], [Criterion("x", Wordy(), 0.5)])
        assert report.failures()[0].differences == ()
        assert "FAILED  x" in str(report)


def test_a_failure_about_answers_shows_answers() -> None:
    sides = Turn(Invocation("q", (), "No."), (Invocation("q", None, "Yes."),))
    (failure,) = evaluate([case(sides)], {"response_exact_match": 1}).failures()
    assert (failure.expected, failure.actual) == ("Yes.", "No.")
    silent = Turn(Invocation("q", ()), (Invocation("q", None, "Yes."),))
    (failure,) = evaluate([case(silent)], {"response_exact_match": 1}).failures()
    assert failure.actual == "no response"


def test_a_failure_about_calls_without_a_reference_shows_the_calls() -> None:
    criteria = {"trajectory_single_tool_use": {"tool": "pay", "threshold": 1}}
    (failure,) = evaluate([case(turn(["look"], None))], criteria).failures()
    assert (failure.expected, failure.actual) == ("no reference", "look()")
    (failure,) = evaluate([case(Turn(said("q", "look"), (Invocation("q"),)))], criteria).failures()
    assert failure.expected == "nothing is said about it"


def test_an_alternative_that_was_chosen_is_the_one_shown() -> None:
    sides = Turn(said("q", "b", "x"), (said("q", "a"), said("q", "b")))
    (failure,) = evaluate([case(sides)], {"trajectory_exact_match": 1}).failures()
    assert failure.expected == "b()"
    assert failure.differences == ("x(): extra",)


def test_errors_are_failures_and_skipped_and_informational_rows_are_not() -> None:
    report = report_of([0.0, None, "broke", 1.0])
    assert [(failure.row.case_id, failure.row.score.status) for failure in report.failures()] == [
        ("case0", "scored"),
        ("case2", "error"),
    ]
    assert report_of([0.0, "broke"], threshold=None).failures() == []


def test_a_case_that_could_not_be_read_is_a_failure() -> None:
    (failure,) = evaluate([Case("x", (), error="damaged")], {"trajectory_f1": 1}).failures()
    assert failure.row.score.reason == "damaged"
    assert (failure.expected, failure.actual) == ("no reference", "nothing recorded")


# --- one case ----------------------------------------------------------------------------------------------------


def test_a_case_is_shown_under_the_rule_of_its_first_criterion_about_calls() -> None:
    sides = turn([("f", {"a": 1, "b": 2})], [("f", {"a": 1})])
    loose = evaluate([case(sides)], {"trajectory_f1": {"match": "subset", "threshold": 1}}).case("c")
    _, alignment = loose.expectation(0)
    assert alignment is not None
    assert (alignment.match, alignment.k) == (Match(args="subset"), 1)
    assert "    =  f(a=1)    f(a=1, b=2)\n" in str(loose)


def test_what_cannot_be_aligned_has_no_alignment() -> None:
    report = evaluate(
        [case(turn(["a"], None), turn(None, ["a"]), Turn(said("q", "a"), (Invocation("q", None, "x"),)))], BOTH
    )
    shown = report.case("c")
    assert shown.expectation(0) == (None, None)
    assert shown.expectation(1) == (said("q", "a"), None)
    assert shown.expectation(2) == (Invocation("q", None, "x"), None)
    assert "no run of this turn" in str(shown)
    assert "calls made, none compared: a()" in str(shown)


# --- parts -------------------------------------------------------------------------------------------------------


def parts(report: Report, field: str) -> dict[str, list[str]]:
    return {name: [case.case_id for case in part.cases] for name, part in report.by(field).items()}


def test_a_report_splits_by_a_field_a_tag_or_metadata() -> None:
    cases = [
        given(1.0, "a", set_id="s2", tags=("x", "y"), metadata={"level": 1}),
        given(0.0, "b", set_id="s1", tags=("y",), metadata={"level": 2}),
        given(0.0, "b", set_id="s1", trial=1, set_name="One"),
    ]
    report = evaluate(cases, [Criterion("given", Given(), 0.5)])
    assert parts(report, "set_id") == {"s2": ["a"], "s1": ["b", "b"]}
    assert parts(report, "tags") == {"x": ["a"], "y": ["a", "b"], "": ["b"]}
    assert parts(report, "level") == {"1": ["a"], "2": ["b"], "": ["b"]}
    assert parts(report, "trial") == {"0": ["a", "b"], "1": ["b"]}
    assert parts(report, "set_name") == {"": ["a", "b"], "One": ["b"]}
    assert parts(report, "case_id") == {"a": ["a"], "b": ["b", "b"]}
    split = report.by("set_id")
    assert [split["s2"].passed, split["s1"].passed, report.passed] == [True, False, False]
    assert split["s1"].summary.criteria[0].mean == 0.0
    assert list(split["s1"].rows) == list(report.rows)[1:]
    with pytest.raises(KeyError, match="no case has 'levle'; wanted set_id, set_name, case_id, trial, tags"):
        report.by("levle")


def test_a_part_has_the_scores_of_the_whole_and_not_its_notes() -> None:
    pairing = pair(actual=[run_of("x", "hi"), run_of("z", "ha")], expected=[wants("x", "hi"), wants("y", "ho")])
    report = evaluate(pairing, {"trajectory_f1": 1, "trajectory_exact_match": 1})
    part = report.select([1, 0])
    assert [list(column) for column in part.columns] == [[column[1], column[0]] for column in report.columns]
    assert report.notes
    assert part.notes == ()


def test_records_are_flat_and_complete() -> None:
    report = evaluate(
        [case(BAD, set_id="s", trial=1), Case("e", (), error="damaged")],
        {"x": {"metric": "trajectory_f1", "threshold": 0.5}},
    )
    assert report.to_records() == [
        {
            "set_id": "s",
            "case_id": "c",
            "trial": 1,
            "criterion": "x",
            "metric": "trajectory_f1",
            "value": 0.0,
            "status": "scored",
            "threshold": 0.5,
            "verdict": "failed",
            "reason": "0 matched; precision 0/1, recall 0/1",
        },
        {
            "set_id": "",
            "case_id": "e",
            "trial": 0,
            "criterion": "x",
            "metric": "trajectory_f1",
            "value": None,
            "status": "error",
            "threshold": 0.5,
            "verdict": "not_evaluated",
            "reason": "damaged",
        },
    ]


def test_a_report_is_short_in_a_debugger() -> None:
    assert repr(report_of([1.0, 0.0])) == "<Report 1/2 cases passed, 1 criteria>"
    assert repr(report_of([1.0]).columns[0]) == "<1 scores of given>"


def test_calls_of_alternatives_that_say_nothing_are_passed_over() -> None:
    sides: Any = Turn(said("q", "a"), (Invocation("q", None, "x"), said("q", "a")))
    report = evaluate([case(sides)], {"trajectory_f1": 1})
    assert report.passed
    assert report.case("c").expectation(0)[0] == Invocation("q", calls("a"))


def test_the_mean_of_passes_over_trials_has_wilson_s_interval_over_cases() -> None:
    values, names = [1.0, 0.0, 1.0, 1.0], [("", "a"), ("", "a"), ("", "b"), ("", "c")]
    found = mean_interval(values, names, (0.0, 1.0), level=0.9)
    wanted = clustered(values, names, level=0.9, bounds=(0.0, 1.0), method="wilson")
    assert found == wanted
    assert found != clustered(values, names, level=0.9, bounds=(0.0, 1.0), method="t")


def test_a_graded_mean_has_student_s_interval_at_the_level_asked_for() -> None:
    names = [("", "a"), ("", "b"), ("", "c")]
    found = mean_interval([0.2, 0.4, 0.9], names, (0.0, 1.0), level=0.8)
    assert found == t_interval([0.2, 0.4, 0.9], level=0.8, bounds=(0.0, 1.0))


@pytest.mark.parametrize(
    ("mean", "ends", "words"),
    [
        (None, (None, None), "-"),
        (0.5, (None, None), "0.500"),
        (0.5, (0.25, 0.75), "0.500 [0.250, 0.750]"),
        (999.5, (None, None), "999.500"),
        (1000.0, (None, None), "1000"),
        (-12345.678, (None, None), "-12346"),
    ],
)
def test_a_mean_in_words(mean: float | None, ends: tuple[float | None, float | None], words: str) -> None:
    interval = Interval(mean, *ends, 0.95, "t", 3)
    assert CriterionSummary("m", "m", None, mean, interval, 3, 0, 0, 0, 0).mean_words == words


def test_a_report_of_no_cases_is_shown_and_not_passed() -> None:
    nothing = evaluate([case(GOOD)], {"trajectory_f1": 1.0, "trajectory_recall": None}).select([])
    assert not nothing.passed
    assert "trajectory_f1 was scored in no case" in str(nothing)
    assert nothing._repr_html_()


def test_a_metric_that_leaves_its_range_can_still_be_read() -> None:
    report = evaluate([case(GOOD), case(GOOD)], {"trajectory_f1": 1.0})
    report.columns[0].values[0] = 5.0
    assert "3.000" in str(report)
