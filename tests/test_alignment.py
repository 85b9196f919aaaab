"""n, m, k, l and every trajectory score, held against brute force and the shared vectors."""

from __future__ import annotations

import json
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_scoring.alignment import Alignment, align, as_calls
from adk_scoring.alignment.assignment import best_assignment, maximum_matching
from adk_scoring.errors import ConfigError, MatchError
from adk_scoring.evidence import Evidence
from adk_scoring.matching import Match
from adk_scoring.metrics import METRICS, formulas
from adk_scoring.metrics.formulas import FORMULAS
from adk_scoring.model import Case, Invocation, ToolCall, Turn

from .slow_alignment import (
    call_lists,
    canonical,
    common_subsequence,
    edges,
    levenshtein,
    matchings,
    maximum,
    rules,
    scores,
)

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data/vectors/trajectory.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_vectors(vector: dict[str, Any]) -> None:
    match = Match(args=vector["args"])
    found = {
        name: getattr(formulas, name)(vector["actual"], vector["expected"], match=match) for name in vector["scores"]
    }
    assert found == vector["scores"]
    # The metric of the same name gives the same number for a case.
    turn = Turn(
        Invocation(tool_calls=as_calls(vector["actual"], "actual")),
        (Invocation(tool_calls=as_calls(vector["expected"], "expected")),),
    )
    evidence = Evidence(Case("c", (turn,)))
    assert {name: METRICS[name](match=match).score(evidence).value for name in vector["scores"]} == vector["scores"]


@given(call_lists, call_lists, rules)
def test_the_four_numbers_are_those_of_brute_force(actual: list[ToolCall], expected: list[ToolCall], rule: Any) -> None:
    found = Alignment(actual, expected, Match(args=rule))
    table = edges(actual, expected, rule)
    assert (found.n, found.m) == (len(actual), len(expected))
    # ADK compares by ==, under which NaN is no equal of itself: no equivalence, but matching still never errs.
    assert found.k == maximum(table)
    assert found.l == common_subsequence(table, len(expected))
    assert found.edit_distance == levenshtein(table, len(expected))


@given(call_lists, call_lists, rules)
def test_every_score_is_that_of_the_restatement(actual: list[ToolCall], expected: list[ToolCall], rule: Any) -> None:
    found = {name: formula.value(Alignment(actual, expected, Match(args=rule))) for name, formula in FORMULAS.items()}
    assert found == scores(actual, expected, rule)


@given(st.data(), call_lists, call_lists, rules)
def test_order_free_scores_do_not_depend_on_the_listing(
    data: st.DataObject, actual: list[ToolCall], expected: list[ToolCall], rule: Any
) -> None:
    one = Alignment(actual, expected, Match(args=rule))
    other = Alignment(data.draw(st.permutations(actual)), data.draw(st.permutations(expected)), Match(args=rule))
    for name in ("any_order_match", "unordered_match", "precision", "recall", "f1", "set_match"):
        formula = FORMULAS[f"trajectory_{name}"]
        assert formula.value(one) == formula.value(other)
    assert len(one.missing) == len(other.missing)
    assert len(one.extra) == len(other.extra)


def _exact(actual: ToolCall, expected: ToolCall) -> bool:
    return actual.name == expected.name and canonical(actual.args) == canonical(expected.args)


@given(call_lists, call_lists, rules)
def test_pairs_are_most_then_exact_then_earliest(actual: list[ToolCall], expected: list[ToolCall], rule: Any) -> None:
    found = Alignment(actual, expected, Match(args=rule))

    def worth(pairs: list[tuple[int, int]]) -> tuple[int, int, list[int]]:
        place = dict(pairs)
        exact = sum(_exact(actual[i], expected[j]) for i, j in pairs)
        return len(pairs), exact, [-place.get(i, len(expected)) for i in range(len(actual))]

    best = max(matchings(edges(actual, expected, rule)), key=worth)
    assert list(found.pairs) == best
    assert found.missing == tuple(j for j in range(found.m) if j not in {b for _, b in best})
    assert found.extra == tuple(i for i in range(found.n) if i not in {a for a, _ in best})


@given(call_lists, call_lists, rules)
def test_pairs_in_order_are_a_longest_common_subsequence(
    actual: list[ToolCall], expected: list[ToolCall], rule: Any
) -> None:
    found = Alignment(actual, expected, Match(args=rule))
    table = edges(actual, expected, rule)
    pairs = found.in_order_pairs
    assert len(pairs) == found.l
    assert all(table[i][j] for i, j in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))


@given(call_lists, call_lists, rules)
def test_mismatches_pair_what_is_left_of_one_tool(actual: list[ToolCall], expected: list[ToolCall], rule: Any) -> None:
    found = Alignment(actual, expected, Match(args=rule))
    assert {m.actual_index for m in found.mismatches} <= set(found.extra)
    assert {m.expected_index for m in found.mismatches} <= set(found.missing)
    for mismatch in found.mismatches:
        a, e = actual[mismatch.actual_index], expected[mismatch.expected_index]
        assert a.name == e.name
        assert mismatch.differences == tuple(found.match.differences(a, e)) != ()
    for name in ("f", "g"):
        left = sum(actual[i].name == name for i in found.extra), sum(expected[j].name == name for j in found.missing)
        assert sum(actual[m.actual_index].name == name for m in found.mismatches) == min(left)


def test_the_closest_call_stands_beside_a_missing_one() -> None:
    found = align(
        [("book", {"seat": "3B", "day": 1}), ("book", {"seat": "9Z", "day": 9})], [("book", {"seat": "3A", "day": 1})]
    )
    (mismatch,) = found.mismatches
    assert (mismatch.actual_index, mismatch.expected_index) == (0, 0)
    assert [str(d) for d in mismatch.differences] == ['seat: expected "3A", got "3B"']
    assert repr(found) == "<Alignment n=2 m=1 k=0 l=0>"


tables = st.integers(0, 4).flatmap(
    lambda columns: st.lists(st.lists(st.integers(-3, 6), min_size=columns, max_size=columns), max_size=4)
)


@given(tables)
def test_the_assignment_is_the_best_of_all(weights: list[list[int]]) -> None:
    rows, columns = len(weights), len(weights[0]) if weights else 0
    pairs = best_assignment(weights)
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs) == min(rows, columns)
    everything = [[True] * columns for _ in range(rows)]
    full = [p for p in matchings(everything) if len(p) == len(pairs)]
    assert sum(weights[i][j] for i, j in pairs) == max(sum(weights[i][j] for i, j in p) for p in full)


@given(st.lists(st.integers(0, 2**7 - 1), max_size=6))
def test_augmenting_paths_find_a_maximum_matching(masks: list[int]) -> None:
    holds = maximum_matching(masks)
    assert all(masks[i] >> j & 1 for i, j in holds.items())
    assert len(set(holds.values())) == len(holds) == maximum([[bool(m >> j & 1) for j in range(7)] for m in masks])


def test_long_lists_are_within_reach() -> None:
    loose = [ToolCall("f", {"a": i % 10}) for i in range(200)]
    made = [ToolCall("f", {"a": i % 10, "b": i}) for i in reversed(range(200))]
    found = Alignment(made, loose, Match(args="subset"))
    assert (found.k, found.n, found.m) == (200, 200, 200)
    assert 20 <= found.l < 200


@pytest.mark.parametrize(
    ("given_calls", "message"),
    [
        ("search", "actual: wanted a list of tool calls, got str"),
        (7, "actual: wanted a list of tool calls, got int"),
        (["search", 3], r"actual\[1\]: a tool call is"),
        ([{"args": {}}], r"actual\[0\]: no tool name"),
    ],
)
def test_what_is_no_list_of_calls_is_refused(given_calls: Any, message: str) -> None:
    with pytest.raises(MatchError, match=message):
        align(given_calls, [])


def _case(actual: list[Any], *alternatives: list[Any] | None) -> Case:
    expected = tuple(
        Invocation(tool_calls=None if calls is None else as_calls(calls, "expected")) for calls in alternatives
    )
    return Case("c", (Turn(Invocation(tool_calls=as_calls(actual, "actual")), expected),))


@pytest.mark.parametrize(
    ("actual", "alternatives", "chosen"),
    [
        (["a", "b"], (["c"], ["a", "b"]), 1),
        (["a", "b"], (["b", "a"], ["a", "b"]), 1),  # the same F1: the order decides
        (["a"], (["a"], ["a"]), 0),  # all the same: the first listed
        (["a", "x"], (["b"], None, ["a", "b"]), 2),  # one that says nothing about calls is no alternative
        ([], (["a"], []), 1),
        (["a"], ([], ["b"]), 0),
    ],
)
def test_the_best_alternative_is_chosen(
    actual: list[Any], alternatives: tuple[list[Any] | None, ...], chosen: int
) -> None:
    index, alignment = Evidence(_case(actual, *alternatives)).aligned(0, Match())
    assert index == chosen
    assert alignment.m == len(alternatives[chosen] or [])


@settings(max_examples=50)
@given(call_lists, st.lists(call_lists, min_size=1, max_size=3), rules)
def test_no_alternative_beats_the_chosen_one(actual: list[ToolCall], listed: list[list[ToolCall]], rule: Any) -> None:
    def worth(calls: list[ToolCall]) -> tuple[float, float]:
        values = scores(actual, calls, rule)
        return values["trajectory_f1"], values["trajectory_ordered_subset"]

    index, _ = Evidence(_case(actual, *listed)).aligned(0, Match(args=rule))
    best = max(range(len(listed)), key=lambda i: (*(round(v, 9) for v in worth(listed[i])), -i))
    assert index == best


def test_an_alignment_is_made_once_for_a_rule() -> None:
    evidence, match = Evidence(_case(["a"], ["a"])), Match()
    assert evidence.aligned(0, match)[1] is evidence.aligned(0, match)[1]
    assert evidence.aligned(0, Match(args="ignore"))[1] is not evidence.aligned(0, match)[1]
    assert Evidence.of(evidence) is evidence
    assert Evidence.of(evidence.case).case is evidence.case


def test_a_turn_without_expectation_has_no_alignment() -> None:
    with pytest.raises(ValueError, match="turn 1 has no expectation about calls"):
        Evidence(_case(["a"], None)).aligned(0, Match())


def test_the_reason_names_the_alternative() -> None:
    score = METRICS["trajectory_recall"]().score(_case(["a", "b"], ["c"], ["a", "b"]))
    assert (score.value, score.reason) == (1.0, "2 of 2 expected calls were made; against alternative 2 of 2")


def test_brute_force_agrees_on_every_small_pattern() -> None:
    """All pairs of lists of up to three of two calls: nothing is left to chance."""
    lists = [list(p) for size in range(4) for p in product([ToolCall("f"), ToolCall("f", {"a": 1})], repeat=size)]
    for actual, expected, rule in product(lists, lists, ("exact", "subset", "superset", "ignore")):
        found = {n: f.value(Alignment(actual, expected, Match(args=rule))) for n, f in FORMULAS.items()}  # type: ignore[arg-type]  # a str of the loop
        assert found == scores(actual, expected, rule), (actual, expected, rule)


def test_a_rule_may_be_spelled_as_in_a_configuration() -> None:
    made, wanted = [("book", {"seat": "3B", "meal": "none"})], [("book", {"seat": "3B"})]
    assert align(made, wanted).k == 0
    assert align(made, wanted, match="subset").k == 1
    assert align(made, wanted, match={"args": "ignore"}).k == 1
    with pytest.raises(ConfigError, match="wanted one of exact, subset"):
        align(made, wanted, match="sub")


def test_of_calls_that_all_match_the_one_with_equal_arguments_is_the_partner() -> None:
    found = align([("f", {"a": 1})], [("f", {"a": 2}), ("f", {"a": 1})], match=Match(args="ignore"))
    assert found.pairs == ((0, 1),)
