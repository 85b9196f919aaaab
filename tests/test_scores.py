"""`Score`, columns of scores, and what missing, failed and zero turns give: "Scores, turns, cases" of the semantics."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring import METRICS, Case, Invocation, Metric, Score, ToolCall, Turn
from adk_scoring.evidence import Evidence
from adk_scoring.metrics.base import Reply, Scores, combine_turns, score_safely, turn_scores
from tests.build import BAD, GOOD, Given, calls, case, said, scored, turn
from tests.build import given as given_case

CALL_METRICS = sorted(name for name in METRICS if METRICS[name].__class__.__name__ == "partial")
CALL_METRICS = [name for name in CALL_METRICS if "expected_calls" in METRICS[name]().needs]
# The axes of ADEval but its PASS are about turns that require a call, and about no others: see test_adeval_axes.
CALL_METRICS = [name for name in CALL_METRICS if not name.startswith("adeval_") or name == "adeval_pass"]
call_metrics = pytest.mark.parametrize("metric", [*CALL_METRICS, "tool_trajectory_avg_score"])
BROKEN = Turn(said("q", error="timeout"), (said("q", "search"),))
NOT_REACHED = turn(None, ["search"])


# --- one score ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "status"),
    [(None, "scored"), (0.5, "skipped"), (0.0, "error"), (1.0, "done"), (math.nan, "scored"), (math.inf, "scored")],
)
def test_a_score_that_contradicts_itself_cannot_be_made(value: float | None, status: str) -> None:
    with pytest.raises(ValueError, match="m: "):
        Score("m", value, status)  # type: ignore[arg-type]


def test_a_score_is_a_number_only_where_it_was_scored() -> None:
    assert float(Score("m", 0.5)) == 0.5
    with pytest.raises(ValueError, match=r"m was not scored \(skipped\): no reference"):
        float(Score.skipped("m", "no reference"))


def test_a_score_can_be_pickled() -> None:
    score = Score("m", 0.5, counts={"a": 1}, parts=(Score("m", 0.5, label="turn 1"),))
    assert pickle.loads(pickle.dumps(score)) == score  # noqa: S301


# --- turns -------------------------------------------------------------------------------------------------------


@call_metrics
def test_a_turn_without_its_actual_side_is_zero_whatever_the_empty_columns_say(metric: str) -> None:
    score = scored(case(turn([], []), turn(None, [])), metric)
    assert score.value == 0.5
    assert [part.value for part in score.parts] == [1.0, 0.0]
    assert score.parts[1].reason == "the run ended before this turn"
    assert score.parts[1].label == "turn 2"


@call_metrics
def test_after_a_turn_that_errored_a_missing_turn_is_an_error(metric: str) -> None:
    score = scored(case(GOOD, BROKEN, NOT_REACHED), metric)
    assert (score.value, score.status, score.reason) == (None, "error", "turn 2: timeout")
    assert [part.status for part in score.parts] == ["scored", "error", "error"]
    assert score.parts[2].reason == "not reached: turn 2 failed"


def test_a_turn_that_errored_without_a_reference_makes_the_next_missing_one_an_error() -> None:
    score = scored(case(GOOD, Turn(said("q", error="timeout")), NOT_REACHED))
    assert [part.status for part in score.parts] == ["scored", "skipped", "error"]


@call_metrics
def test_a_turn_without_a_reference_is_skipped_and_leaves_the_mean_alone(metric: str) -> None:
    score = scored(case(GOOD, turn(["x"], None), Turn(said("q"), (Invocation("q"),))), metric)
    assert score.value == 1.0
    assert [part.status for part in score.parts] == ["scored", "skipped", "skipped"]
    assert score.parts[1].reason == "no reference: no expected calls"
    assert score.parts[2].reason == "no expected calls"
    assert score.reason.startswith("mean of the 1 scored of 3 turns: 1")


def test_no_turn_scored_is_skipped() -> None:
    score = scored(case(turn(["x"], None), turn(["x"], None)))
    assert (score.value, score.status) == (None, "skipped")
    assert score.reason == "no turn was scored; turn 1: no reference: no expected calls"


def test_an_expectation_that_could_not_be_read_is_an_error_and_not_skipped() -> None:
    unreadable = Turn(said("q", "a"), (Invocation("q", error="expected calls are a text"),))
    assert scored(case(unreadable)).status == "error"
    score = scored(case(GOOD, unreadable))
    assert (score.status, score.reason) == ("error", "turn 2: expected calls are a text")
    assert scored(case(unreadable), "trajectory_single_tool_use", tool="a").value == 1.0  # it needs no expectation


def test_no_run_at_all_is_an_error_and_never_zero() -> None:
    assert scored(case(NOT_REACHED)).status == "error"
    assert scored(case(NOT_REACHED, NOT_REACHED)).reason == "there is no run of this case"


def test_a_case_without_turns_is_skipped() -> None:
    assert (scored(case()).status, scored(case()).reason) == ("skipped", "the case has no turns")


def test_a_metric_without_a_reference_skips_what_the_run_did_not_reach() -> None:
    score = scored(case(turn(["a"], None), turn(None, ["a"])), "trajectory_single_tool_use", tool="a")
    assert [part.status for part in score.parts] == ["scored", "skipped"]
    assert score.value == 1.0


def test_a_case_is_the_mean_of_its_turns_and_says_which_was_worst() -> None:
    score = scored(case(GOOD, BAD), "trajectory_recall")
    assert score.value == 0.5
    assert score.reason == "mean of 2 turns: 1, 0; turn 2: 0 of 1 expected calls were made"
    assert score.counts == {"matched": 1, "expected": 2}
    assert scored(case(*[GOOD] * 10)).reason == "mean of 10 turns: 1, 1, 1, 1, 1, 1, 1, 1, …"


def test_a_case_of_one_turn_has_no_parts() -> None:
    score = scored(case(GOOD))
    assert (score.parts, score.label) == ((), "")
    assert turn_scores(score) == (score,)


def test_the_parts_of_a_case_of_one_turn_are_not_turns() -> None:
    rubrics = (Score("m", 1.0, label="polite"), Score("m", 0.0, label="short"))
    only = combine_turns("m", [Score("m", 0.5, parts=rubrics)])
    assert turn_scores(only) == (only,)
    several = combine_turns("m", [only, only])
    assert [part.label for part in turn_scores(several)] == ["turn 1", "turn 2"]


@dataclass(frozen=True)
class Spoiled(Metric):
    """Raises in the turns that call "bad"."""

    name = "spoiled"

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        from adk_scoring.metrics.base import score_turns

        def measure(index: int) -> Score:
            actual = Evidence.of(evidence).case.turns[index].actual
            assert actual
            if calls("bad") == actual.tool_calls:
                raise KeyError("bad")
            return Score(self.name, 1.0)

        return score_turns(self.name, Evidence.of(evidence), measure, reference=None)


def test_a_turn_whose_measure_raises_leaves_the_other_turns_in_the_parts() -> None:
    score = Spoiled().score(case(turn(["ok"], None), turn(["bad"], None)))
    assert (score.status, score.reason) == ("error", "turn 2: KeyError: 'bad'")
    assert [part.value for part in score.parts] == [1.0, None]


@pytest.mark.parametrize("wrong", [[], {"value": 1}, 3])
def test_a_metric_that_gives_no_score_is_an_error(wrong: object) -> None:
    score = score_safely(Given(), Evidence(given_case(wrong)))
    assert score.status == "error"
    assert "Given.score gave" in score.reason


# --- unknown arguments, alternatives -----------------------------------------------------------------------------


def test_unknown_arguments_are_an_error_unless_names_alone_count() -> None:
    unknown = Turn(
        Invocation("q", (ToolCall("search", None, args_error="arguments are a list, not an object"),)),
        (said("q", "search"),),
    )
    score = scored(case(unknown))
    assert score.status == "error"
    assert "search: arguments are a list, not an object" in score.reason
    assert scored(case(unknown), match="ignore").value == 1.0
    assert scored(case(GOOD, unknown)).parts[0].value == 1.0


def test_of_several_alternatives_one_is_chosen_for_all_metrics_and_named() -> None:
    two = Turn(said("q", "a", "b"), (said("q", "x"), Invocation("q"), said("q", "b", "a"), said("q", "a", "b")))
    # Highest F1 (the third and fourth), then order kept (the fourth).
    for metric in ("trajectory_exact_match", "trajectory_recall", "trajectory_ordered_subset"):
        score = scored(case(two), metric)
        assert score.value == 1.0
        assert score.reason.endswith("; against alternative 4 of 4")
    listed_first = Turn(said("q", "a"), (said("q", "b"), said("q", "c")))
    assert scored(case(listed_first)).reason.endswith("; against alternative 1 of 2")


# --- columns -----------------------------------------------------------------------------------------------------

_scores = st.one_of(
    st.floats(0, 1).map(lambda value: Score("trajectory_recall", value, reason="so")),
    st.floats(0, 1).map(lambda value: Score("trajectory_recall", value, counts={"matched": 1, "expected": 2})),
    st.just(Score("trajectory_recall", 0.0)),
    st.just(Score.skipped("trajectory_recall", "nothing")),
    st.just(Score.failed("trajectory_recall", "one rubric was not answered", bounds=(0.25, 0.75))),
    st.just(Score.failed("trajectory_recall", "broke", parts=(Score("trajectory_recall", 1.0, label="turn 1"),))),
)


@given(st.lists(_scores, max_size=6), st.lists(_scores, max_size=3))
def test_a_column_gives_back_what_was_put_in(first: list[Score], second: list[Score]) -> None:
    metric = METRICS["trajectory_recall"]()
    column, more = Scores(metric), Scores(metric)
    for score in first:
        column.append(score)
    for score in second:
        more.append(score)
    column.extend(more)
    assert list(column) == first + second
    assert column[1:] == (first + second)[1:]
    backwards = range(len(column) - 1, -1, -1)
    assert list(column.select(backwards)) == [*reversed(first + second)]
    assert len(column) == len(first) + len(second)
    if first:
        assert column[-len(column)] == first[0]


def test_a_column_makes_the_reason_of_a_plain_score_when_it_is_looked_at() -> None:
    column = Scores(METRICS["trajectory_recall"]())
    column.append_plain(0.5, (1, 2))
    assert column[0] == Score(
        "trajectory_recall", 0.5, reason="1 of 2 expected calls were made", counts={"matched": 1, "expected": 2}
    )
    assert repr(column) == "<1 scores of trajectory_recall>"
    with pytest.raises(IndexError):
        column[1]


def test_counts_that_a_score_has_not_are_not_invented() -> None:
    column = Scores(METRICS["trajectory_recall"]())
    column.append(Score("trajectory_recall", 0.0, reason="the run ended before this turn"))
    assert column[0].counts == {}


def test_plain_columns_are_joined_behind_what_stands_there() -> None:
    column = Scores(METRICS["trajectory_precision"]())
    column.extend_plain([0.5], [[1], [2]])
    column.extend_plain([1.0, 0.0], [[3, 0], [3, 4]])
    assert len(column.statuses) == len(column) == 3
    assert [score.value for score in column] == [0.5, 1.0, 0.0]
    assert column[2].counts == {"matched": 0, "made": 4}


@pytest.mark.parametrize("metric", ["tool_call_count_v1", "redundant_calls", "loops"])
def test_where_less_is_better_the_reason_tells_of_the_turn_with_most(metric: str) -> None:
    score = scored(case(turn(["a"], None), turn(["b"] * 4, None)), metric)
    assert "; turn 2: " in score.reason
