"""Runs and expectations: which pair, in which order their turns pair, and that nothing is forgotten."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring import (
    Case,
    Invocation,
    Pairing,
    ReadWarning,
    RecordedScore,
    Rubric,
    Session,
    Tool,
    Turn,
    evaluate,
    pair,
    promote,
)
from tests.build import calls, runs, said, wants


def made(pairing: Pairing, index: int = 0) -> list[str | None]:
    """What was called in each turn of a paired case; ``None``: the turn has no actual side."""
    turns = pairing.cases[index].turns
    return [turn.actual.tool_calls[0].name if turn.actual and turn.actual.tool_calls else None for turn in turns]


# --- cases -------------------------------------------------------------------------------------------------------


def test_cases_pair_by_set_and_id_in_the_order_of_the_expectations() -> None:
    pairing = pair(
        actual=[runs("x", "r2", set_id="two"), runs("x", "r1", set_id="one")],
        expected=[wants("x", "r1", set_id="one"), wants("x", "r2", set_id="two")],
    )
    assert [(case.set_id, case.case_id) for case in pairing.cases] == [("one", "x"), ("two", "x")]
    assert made(pairing, 0) == ["r1"]
    assert made(pairing, 1) == ["r2"]
    assert not pairing.without_run + pairing.without_expectation


def test_cases_pair_by_id_alone_where_the_sets_are_named_differently() -> None:
    pairing = pair(actual=[runs("x", "hi", set_id="run-of-today")], expected=[wants("x", "hi", set_id="weather")])
    assert [(case.set_id, case.case_id) for case in pairing.cases] == [("weather", "x")]


def test_a_run_of_another_set_is_no_more_trial_of_a_case_that_has_its_run() -> None:
    pairing = pair(
        actual=[runs("x", "hi", set_id="one"), runs("x", "hi", set_id="two")], expected=[wants("x", "hi", set_id="one")]
    )
    assert len(pairing.cases) == 1
    assert [run.set_id for run in pairing.without_expectation] == ["two"]


def test_an_id_that_two_sets_have_is_not_guessed() -> None:
    pairing = pair(actual=[runs("x", "hi")], expected=[wants("x", "a", set_id="one"), wants("x", "b", set_id="two")])
    assert not pairing.cases
    assert len(pairing.without_run) == 2
    assert len(pairing.without_expectation) == 1


def test_cases_pair_by_what_the_user_said_white_space_aside() -> None:
    pairing = pair(
        actual=[runs("session-1", " book\na  table ")], expected=[wants("a", "hello"), wants("b", "book a table")]
    )
    assert [case.case_id for case in pairing.cases] == ["b"]
    assert [case.case_id for case in pairing.without_run] == ["a"]


def test_equal_texts_of_two_expectations_are_not_guessed() -> None:
    pairing = pair(actual=[runs("session-1", "hi")], expected=[wants("a", "hi"), wants("b", "hi")])
    assert not pairing.cases
    assert [case.case_id for case in pairing.without_expectation] == ["session-1"]


def test_cases_without_any_text_do_not_pair_by_it() -> None:
    pairing = pair(actual=[runs("s", "")], expected=[wants("a", "")])
    assert not pairing.cases


def test_several_runs_of_a_case_are_its_trials() -> None:
    pairing = pair(actual=[runs("x", "hi"), runs("x", "hi"), runs("s", "hi")], expected=[wants("x", "hi")])
    assert [(case.case_id, case.trial) for case in pairing.cases] == [("x", 0), ("x", 1), ("x", 2)]


def test_trials_that_are_numbered_keep_their_numbers() -> None:
    pairing = pair(actual=[runs("x", "hi", trial=3), runs("x", "hi", trial=7)], expected=[wants("x", "hi")])
    assert [case.trial for case in pairing.cases] == [3, 7]


def test_a_run_that_was_saved_as_an_eval_set_is_a_run() -> None:
    recorded = Case("x", (Turn(None, (Invocation("hi", None, "Hello"),)),))
    pairing = pair(actual=[recorded], expected=[wants("x", "hi")])
    (only,) = pairing.cases
    assert only.turns[0].actual == Invocation("hi", (), "Hello")  # nothing said about calls: none were made


def test_the_expectation_says_what_the_case_is_and_the_run_where_it_stands() -> None:
    run = runs("x", "hi", tags=("nightly",), metadata={"a": 1, "b": 1}, source=("run.json", "line 3"))
    expected = wants("x", "hi", tags=("smoke",), metadata={"b": 2}, source=("set.json", ""), set_name="Weather")
    (only,) = pair(actual=[run], expected=[expected]).cases
    assert only.tags == ("smoke", "nightly")
    assert only.metadata == {"a": 1, "b": 2}
    assert only.source == ("run.json", "line 3")
    assert only.set_name == "Weather"


def test_an_error_of_either_side_stays() -> None:
    broken = pair(actual=[Case("x", (), error="cut off")], expected=[wants("x", "hi")]).cases[0]
    assert broken.error == "cut off"
    unreadable = pair(actual=[runs("x", "hi")], expected=[Case("x", (), error="no JSON")]).cases[0]
    assert unreadable.error == "no JSON"


def test_an_expected_case_without_any_run_is_an_error_row() -> None:
    report = evaluate(
        pair(actual=[runs("x", "hi")], expected=[wants("x", "hi"), wants("y", "ho")]), {"call_count_match": 1}
    )
    assert [(row.case_id, row.score.status) for row in report.rows] == [("x", "scored"), ("y", "error")]
    assert report.rows[1].score.reason == "there is no run of this case"
    assert report.case_verdicts == ("passed", "error")
    assert not report.passed


def test_a_run_that_the_expectations_hold_is_not_scored() -> None:
    both_sides = Case("y", (Turn(said("ho", "ho"), (said("ho", "ho"),)),))
    report = evaluate(pair(actual=[runs("x", "hi")], expected=[wants("x", "hi"), both_sides]), {"call_count_match": 1})
    assert report.rows[1].score.status == "error"


def test_an_expected_case_without_turns_and_run_is_an_error_row() -> None:
    report = evaluate(
        pair(actual=[runs("x", "hi")], expected=[wants("x", "hi"), Case("y", ())]), {"call_count_match": 1}
    )
    assert report.rows[1].score.status == "error"


def test_a_run_without_an_expected_case_is_listed() -> None:
    pairing = pair(actual=[runs("x", "hi"), runs("z", "ha", source=("z.json", ""))], expected=[wants("x", "hi")])
    report = evaluate(pairing, {"call_count_match": 1})
    assert report.notes == ("run without an expected case: z (z.json)",)
    assert "run without an expected case: z (z.json)" in str(report)
    assert len(report.rows) == 1


def test_the_pairing_says_what_it_did() -> None:
    pairing = pair(
        actual=[runs("x", "hi", "ho"), *(runs(f"z{i}", f"z{i}") for i in range(12))],
        expected=[wants("x", "hi"), wants("y", "why")],
    )
    first, second, third, fourth = str(pairing).splitlines()
    assert first == "1 case paired"
    assert second == "1 expected case without a run: y"
    assert third.startswith("12 runs without an expected case: z0, z1,")
    assert third.endswith("z9, … (2 more)")
    assert str(pair(actual=[runs("x", "hi")], expected=[wants("x", "hi")])) == "1 case paired"
    assert fourth == "x, run from x: turn 2 of the run paired with no expected turn"


# --- turns -------------------------------------------------------------------------------------------------------


def test_turns_pair_by_their_ids_whatever_their_order_and_texts() -> None:
    pairing = pair(
        actual=[runs("x", "b", "a", ids=["2", "1"])], expected=[wants("x", "first", "second", ids=["1", "2"])]
    )
    assert made(pairing) == ["a", "b"]


@pytest.mark.parametrize(
    ("actual_ids", "expected_ids"),
    [(["1", "2"], ["1", "3"]), (["1", ""], ["1", ""]), (["1", "1"], ["1", "1"]), (["", ""], ["1", "2"])],
    ids=["another id", "an empty id", "an id twice", "ids on one side"],
)
def test_without_the_same_ids_turns_pair_by_texts(actual_ids: list[str], expected_ids: list[str]) -> None:
    pairing = pair(actual=[runs("x", "a", "b", ids=actual_ids)], expected=[wants("x", "a", "b", ids=expected_ids)])
    assert made(pairing) == ["a", "b"]


def test_ids_of_fewer_turns_are_not_the_same_set() -> None:
    pairing = pair(actual=[runs("x", "b", ids=["2"])], expected=[wants("x", "a", "b", ids=["1", "2"])])
    assert made(pairing) == [None, "b"]


def test_a_run_that_ended_early_lacks_its_last_turns() -> None:
    assert made(pair(actual=[runs("x", "a")], expected=[wants("x", "a", "b")])) == ["a", None]


def test_a_run_that_lacks_the_first_turn_pairs_by_texts() -> None:
    assert made(pair(actual=[runs("x", "b", "a")], expected=[wants("x", "a", "b", "a")])) == [None, "b", "a"]


def test_surplus_turns_are_reported_and_not_scored() -> None:
    pairing = pair(actual=[runs("x", "a", "new", "b", source=("r.json", ""))], expected=[wants("x", "a", "b")])
    assert made(pairing) == ["a", "b"]
    assert pairing.surplus_turns == ("x, run from r.json: turn 2 of the run paired with no expected turn",)
    report = evaluate(pairing, {"trajectory_exact_match": 1})
    assert report.passed
    assert report.notes == pairing.surplus_turns


def test_turns_whose_texts_differ_pair_by_position_with_a_warning() -> None:
    with pytest.warns(ReadWarning, match="x, run from x: neither ids nor user texts .* paired by position"):
        pairing = pair(actual=[runs("x", "hello", "more", "rest")], expected=[wants("x", "hi", "b")])
    assert made(pairing) == ["hello", "more"]
    assert "turn 3" in pairing.surplus_turns[0]


def test_turns_without_any_text_pair_by_position_silently() -> None:
    assert made(pair(actual=[runs("x", "", "")], expected=[wants("x", "", "")])) == ["none", "none"]


def test_a_run_without_turns_lacks_all_of_them() -> None:
    report = evaluate(pair(actual=[Case("x", ())], expected=[wants("x", "hi")]), {"call_count_match": 1})
    assert report.rows[0].score.status == "error"


@given(st.lists(st.sampled_from("abc"), max_size=5), st.data())
def test_a_run_with_turns_left_out_pairs_every_turn_with_one_of_its_text(asked: list[str], data: st.DataObject) -> None:
    kept = [text for text in asked if data.draw(st.booleans())]
    for said_texts, asked_texts in ((kept, asked), (asked, kept)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            pairing = pair(actual=[runs("x", *said_texts)], expected=[wants("x", *asked_texts)])
        (only,) = pairing.cases
        paired = [(turn.expected[0].user_text, turn.actual.user_text) for turn in only.turns if turn.actual]
        assert all(a == b for a, b in paired)
        assert len(paired) == len(kept)
        assert len(pairing.surplus_turns) == len(said_texts) - len(kept)


@given(st.lists(st.sampled_from("abcd"), max_size=4), st.lists(st.sampled_from("abcd"), max_size=4))
def test_every_recorded_turn_is_paired_once_or_reported(said_texts: list[str], asked: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadWarning)
        pairing = pair(actual=[runs("x", *said_texts)], expected=[wants("x", *asked)])
    (only,) = pairing.cases
    assert [turn.expected[0].user_text for turn in only.turns] == asked
    paired = [turn.actual.user_text for turn in only.turns if turn.actual]
    assert len(paired) + len(pairing.surplus_turns) == len(said_texts)
    assert not set(paired) - set(said_texts)


@given(st.lists(st.sampled_from("vwxyz"), max_size=6), st.lists(st.sampled_from("vwxyz"), max_size=4, unique=True))
def test_no_case_is_ever_lost(run_ids: list[str], expected_ids: list[str]) -> None:
    pairing = pair(
        actual=[runs(name, f"text of {name}") for name in run_ids],
        expected=[wants(name, f"text of {name}") for name in expected_ids],
    )
    assert len(pairing.cases) + len(pairing.without_expectation) == len(run_ids)
    assert {case.case_id for case in (*pairing.cases, *pairing.without_run)} == set(expected_ids)


def test_alternatives_stay_and_both_sides_of_a_run_file_are_not_mixed() -> None:
    expected = Case("x", (Turn(None, (said("hi", "a"), said("hi", "b"))),))
    run = Case("x", (Turn(said("hi", "b"), (said("hi", "other"),)),))
    (only,) = pair(actual=[run], expected=[expected]).cases
    assert [side.tool_calls for side in only.turns[0].expected] == [calls("a"), calls("b")]
    assert made(pair(actual=[run], expected=[expected])) == ["b"]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("run.json", "got str: 'run.json'; a file is read with read"),
        (Path("run.json"), "got PosixPath|got WindowsPath"),
        (Case("a", ()), "got one Case; put it in a list"),
        (7, "got one int"),
        ([Case("a", ()), {"case_id": "b"}], r"got at \[1\] dict"),
    ],
)
def test_what_is_no_list_of_cases_is_refused_in_words(wrong: Any, why: str) -> None:
    with pytest.raises(TypeError, match=f"wanted cases, ({why})"):
        pair(actual=wrong, expected=[])
    with pytest.raises(TypeError, match=why):
        pair(actual=[], expected=wrong)
    with pytest.raises(TypeError, match=why):
        evaluate(wrong)


def test_only_a_case_is_promoted() -> None:
    with pytest.raises(TypeError, match=r"wanted cases, got at \[0\] str: 'run.json'"):
        promote("run.json")  # type: ignore[arg-type]


def test_recorded_scores_follow_their_turns() -> None:
    recorded = (*(RecordedScore(f"m{turn}", 1.0, turn=turn) for turn in (0, 1, 2)), RecordedScore("whole", 0.5))
    run = runs("c", "hello", "buy", "bye", recorded=recorded)
    (by_text,) = pair(actual=[run], expected=[wants("c", "buy", "bye")]).cases
    assert [(score.metric, score.turn) for score in by_text.recorded] == [("m1", 0), ("m2", 1), ("whole", None)]
    reordered = runs("c", "a", "b", ids=["1", "2"], recorded=recorded[:2])
    (by_id,) = pair(actual=[reordered], expected=[wants("c", "b", "a", ids=["2", "1"])]).cases
    assert [(score.metric, score.turn) for score in by_id.recorded] == [("m0", 1), ("m1", 0)]


def test_the_expectation_says_what_a_case_is_and_the_run_fills_in_what_it_leaves_open() -> None:
    score = RecordedScore("their_metric", 0.5)
    run = runs(
        "a",
        "hi",
        session=Session("run"),
        rubrics=(Rubric("r", "of the run"),),
        tags=("nightly", "both"),
        recorded=(score,),
        tools=(Tool("run"),),
        instructions="of the run",
        context="of the run",
        metadata={"x": "run", "y": "run"},
    )
    asked = wants(
        "a",
        "hi",
        session=Session("expected"),
        rubrics=(Rubric("r", "expected"),),
        tags=("both", "smoke"),
        recorded=(RecordedScore("old", 1.0),),
        tools=(),
        instructions="expected",
        context="expected",
        metadata={"x": "expected"},
    )
    (found,) = pair(actual=[run], expected=[asked]).cases
    for name in ("session", "rubrics", "tools", "instructions", "context"):
        assert getattr(found, name) == getattr(asked, name), name
    assert found.tags == ("both", "smoke", "nightly")
    assert found.metadata == {"x": "expected", "y": "run"}
    assert found.recorded == (score,)
    (filled,) = pair(actual=[run], expected=[wants("a", "hi")]).cases
    for name in ("session", "rubrics", "tools", "instructions", "context", "tags", "metadata", "recorded"):
        assert getattr(filled, name) == getattr(run, name), name


def test_a_case_without_a_run_keeps_what_was_expected() -> None:
    (left,) = pair(actual=[], expected=[wants("a", "hi")]).without_run
    assert left.turns == wants("a", "hi").turns
