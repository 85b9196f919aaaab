"""Properties that every metric has, run over `METRICS`; a metric that is in no table here fails.

A new metric gets its example parameters in `PARAMETERS` and, if swapping its two sides may change nothing, a place
in `SYMMETRIC`; the rest follows.
"""

from __future__ import annotations

import ast
import inspect
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import adk_scoring
from adk_scoring import METRICS, Case, Invocation, Match, Metric, Rubric, ToolCall, Turn
from adk_scoring.evidence import Evidence
from adk_scoring.metrics.adeval import AXES


def letter_counts(text: str) -> list[float]:
    """A small stand-in for an embedding model: how often each of 64 groups of characters occurs."""
    counts = [0.0] * 64
    for char in text.casefold() or " ":
        counts[ord(char) % 64] += 1
    return counts


PARAMETERS: Mapping[str, dict[str, Any]] = {
    "trajectory_single_tool_use": {"tool": "search"},
    "forbidden_tools": {"tools": ("pay",)},
    "token_cost": {"input": 1.25, "output": 10.0},
    "response_embedding_similarity": {"embed": letter_counts},
}
SYMMETRIC = {
    "trajectory_exact_match",
    "trajectory_unordered_match",
    "trajectory_f1",
    "trajectory_edit_similarity",
    "trajectory_set_match",
    "call_count_match",
    "tool_trajectory_avg_score",  # EXACT by default
    "response_exact_match",
    "response_match_score",
    "response_rouge1",
    "response_rouge2",
    "response_rougeL",
    "response_rougeLsum",
    "response_levenshtein",
    "response_jaccard",
    "response_token_f1",
    "response_embedding_similarity",
    "response_json",  # exact by default
}
JUDGED = sorted(name for name in METRICS if "judge" in METRICS[name](**PARAMETERS.get(name, {})).needs)
TEXT_METRICS = sorted(
    name
    for name in METRICS
    if "expected_response" in METRICS[name](**PARAMETERS.get(name, {})).needs and name not in JUDGED
)

SEARCH, BOOK, PAY = ToolCall("search", {"q": "x"}), ToolCall("book", {"seat": "3A"}), ToolCall("pay")

# value with (nothing made, nothing expected), (only made), (only expected): the table of the semantics.
EMPTY = {
    "trajectory_exact_match": (1, 0, 0),
    "trajectory_in_order_match": (1, 1, 0),
    "trajectory_any_order_match": (1, 1, 0),
    "trajectory_unordered_match": (1, 0, 0),
    "trajectory_ordered_subset": (1, 1, 0),
    "trajectory_precision": (1, 0, 0),
    "trajectory_recall": (1, 0, 0),
    "trajectory_f1": (1, 0, 0),
    "trajectory_edit_similarity": (1, 0, 0),
    "trajectory_set_match": (1, 0, 0),
    "call_count_match": (1, 0, 0),
    "tool_trajectory_avg_score": (1, 0, 0),
    "tool_args_score": (1, 1, 0),
    "trajectory_precedence": (1, 1, 1),
    "adeval_pass": (1, 0, 0),
}
CALL_METRICS = sorted(EMPTY)
# They need to know whether calls are expected, and are skipped where the answer is not the one they are about.
CONDITIONAL = {"tool_call_rate", "abstention", *(axis for axis in AXES if axis != "adeval_pass")}


def made(name: str) -> Metric:
    return METRICS[name](**PARAMETERS.get(name, {}))


def case(actual: Invocation | None, expected: Invocation | None) -> Case:
    return Case("c", (Turn(actual, () if expected is None else (expected,)),))


def value(name: str, actual: tuple[ToolCall, ...], expected: tuple[ToolCall, ...]) -> float:
    score = made(name).score(case(Invocation("q", actual), Invocation("q", expected)))
    assert score.status == "scored", score
    assert score.value is not None
    return score.value


everyone = pytest.mark.parametrize("name", sorted(METRICS))
call_metrics = pytest.mark.parametrize("name", CALL_METRICS)
text_metrics = pytest.mark.parametrize("name", TEXT_METRICS)


def test_every_metric_about_expected_calls_is_in_a_table_here() -> None:
    about_calls = {name for name in METRICS if "expected_calls" in made(name).needs}
    assert about_calls - CONDITIONAL == set(EMPTY)


@everyone
def test_the_id_is_the_name(name: str) -> None:
    assert made(name).name == name


@everyone
def test_it_is_picklable_and_its_repr_makes_it_again(name: str) -> None:
    metric = made(name)
    assert pickle.loads(pickle.dumps(metric)) == metric  # noqa: S301  # our own bytes
    names = {**vars(adk_scoring.metrics), type(metric).__name__: type(metric), "Match": Match}
    if name != "response_embedding_similarity":  # a function has no repr that makes it again
        assert eval(repr(metric), names) == metric  # noqa: S307  # our own repr


@everyone
def test_its_class_says_what_it_is(name: str) -> None:
    doc = inspect.getdoc(type(made(name)))
    assert doc
    assert len(doc) > 40


@everyone
def test_it_declares_a_range_and_needs(name: str) -> None:
    metric = made(name)
    low, high = metric.range
    assert low < high
    assert metric.needs <= {"expected_calls", "expected_response", "judge", "tools", "responses"}
    assert metric.per in ("case", "turn")


@everyone
def test_a_case_that_could_not_be_read_is_an_error(name: str) -> None:
    score = made(name).score(Case("c", (), error="damaged at line 3"))
    assert (score.status, score.value, score.reason) == ("error", None, "damaged at line 3")


@everyone
def test_a_case_without_any_run_is_an_error(name: str) -> None:
    score = made(name).score(case(None, Invocation("q", (SEARCH,), "yes")))
    assert (score.status, score.value) == ("error", None)
    assert "no run" in score.reason


@everyone
def test_a_run_that_failed_is_an_error_where_it_would_have_been_scored(name: str) -> None:
    full = Invocation("q", (SEARCH,), "yes")
    score = made(name).score(case(Invocation("q", (SEARCH,), error="timeout"), full))
    if score.status != "skipped":
        assert (score.status, score.value) == ("error", None)
        assert "timeout" in score.reason


@pytest.mark.parametrize("name", sorted({*CALL_METRICS, *TEXT_METRICS, *CONDITIONAL}))
def test_without_a_reference_it_is_skipped_with_a_reason(name: str) -> None:
    score = made(name).score(case(Invocation("q", (SEARCH,), "yes"), None))
    assert (score.status, score.value) == ("skipped", None)
    assert "no" in score.reason


@call_metrics
def test_the_four_empty_cases(name: str) -> None:
    both, only_made, only_expected = EMPTY[name]
    assert value(name, (), ()) == both
    assert value(name, (SEARCH,), ()) == only_made
    assert value(name, (), (SEARCH,)) == only_expected
    assert value(name, (SEARCH,), (SEARCH,)) == 1


@call_metrics
def test_values_stay_in_the_range(name: str) -> None:
    low, high = made(name).range
    lists = [(), (SEARCH,), (BOOK, SEARCH), (SEARCH, SEARCH, PAY), (PAY, BOOK, SEARCH, SEARCH)]
    for actual in lists:
        for expected in lists:
            assert low <= value(name, actual, expected) <= high


@call_metrics
def test_arguments_are_interchangeable_exactly_where_declared(name: str) -> None:
    pairs = [((SEARCH, BOOK), (SEARCH,)), ((SEARCH,), ()), ((BOOK, SEARCH, PAY), (SEARCH, BOOK))]
    same = all(value(name, a, b) == value(name, b, a) for a, b in pairs)
    assert same == (name in SYMMETRIC)


@pytest.mark.parametrize("name", ["trajectory_precision", "trajectory_f1", "trajectory_edit_similarity"])
def test_an_unmatched_extra_call_never_raises_it(name: str) -> None:
    expected = (SEARCH, BOOK, BOOK)
    for calls in [(), (SEARCH,), (BOOK, SEARCH), (SEARCH, BOOK, BOOK)]:
        for place in range(len(calls) + 1):
            more = (*calls[:place], PAY, *calls[place:])
            assert value(name, more, expected) <= value(name, calls, expected)


@pytest.mark.parametrize("name", ["trajectory_recall", "trajectory_ordered_subset"])
def test_a_missing_call_never_raises_it(name: str) -> None:
    expected = (SEARCH, BOOK, PAY)
    for calls in [(SEARCH, BOOK, PAY), (BOOK, SEARCH, PAY), (SEARCH, PAY)]:
        for place in range(len(calls)):
            fewer = (*calls[:place], *calls[place + 1 :])
            assert value(name, fewer, expected) <= value(name, calls, expected)


@everyone
def test_many_at_once_are_the_same_as_one_by_one(name: str) -> None:
    metric = made(name)
    sides = [
        Invocation("q", (SEARCH, BOOK), "It is 20C."),
        Invocation("q", (BOOK,), "晴 25 度"),
        Invocation("q", (), ""),
    ]
    cases = [case(a, b) for a in (*sides, None) for b in (*sides, Invocation("q"), None)]
    cases.append(Case("two", (Turn(sides[0], (sides[1],)), Turn(sides[1], (sides[1],)))))
    cases.append(Case("broken", (), error="damaged"))
    one_by_one = [metric.score(case) for case in cases]
    assert list(metric.score_many([Evidence(case) for case in cases])) == one_by_one


@everyone
def test_the_reason_says_something(name: str) -> None:
    side = Invocation("q", (SEARCH, BOOK), "It is 20C.")
    assert made(name).score(case(side, Invocation("q", (SEARCH,), "It is 25C."))).reason


@text_metrics
def test_answers_are_interchangeable_exactly_where_declared(name: str) -> None:
    def scored(actual: str, expected: str) -> float | None:
        return made(name).score(case(Invocation("q", (), actual), Invocation("q", (), expected))).value

    pairs = [("a b c d", "a b"), ("the 3 books", "the 3 books cost 20"), ('{"a": 1}', '{"a": 1, "b": 2}')]
    assert all(scored(a, b) == scored(b, a) for a, b in pairs) == (name in SYMMETRIC)


@pytest.mark.parametrize("name", JUDGED)
def test_without_a_judge_a_judged_metric_is_an_error_and_never_a_zero(name: str) -> None:
    rubric = {"rubrics": [Rubric("polite", "The answer is polite.")]} if name.startswith("rubric") else {}
    metric = METRICS[name](**rubric)
    side = Invocation("q", (SEARCH,), "Here you are.")
    assert metric.prompts(case(side, side))
    score = metric.score(case(side, side))
    assert (score.status, score.value) == ("error", None)
    assert "judge" in score.reason


@text_metrics
def test_a_missing_answer_is_an_empty_one(name: str) -> None:
    score = made(name).score(case(Invocation("q", (), None), Invocation("q", (), "7")))
    assert score.status in ("scored", "error")  # of nothing there may be no vector
    assert score == made(name).score(case(Invocation("q", (), ""), Invocation("q", (), "7")))


@text_metrics
@pytest.mark.parametrize("text", ["It is 20 degrees.", "北京明天晴，最高气温25度。", "วันนี้อากาศดี", "مرحبا بالعالم"])
def test_equal_answers_in_any_script_score_one(name: str, text: str) -> None:
    score = made(name).score(case(Invocation("q", (), text), Invocation("q", (), text)))
    assert score.status == "skipped" or score.value == pytest.approx(1.0)


def test_every_metric_function_is_public_and_has_a_running_example() -> None:
    functions: dict[str, Callable[..., Any]] = {
        name: getattr(adk_scoring, name) for name in METRICS if name in adk_scoring.__all__
    }
    assert set(EMPTY) - {"tool_trajectory_avg_score", "adeval_pass"} <= set(functions)
    for name, function in functions.items():
        doc = inspect.getdoc(function) or ""
        assert ">>>" in doc, f"{name} has no example"
        assert "Raises:" in doc, f"{name} does not say what it raises"
        ast.parse(inspect.getsource(function).strip())
