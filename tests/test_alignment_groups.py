"""Calls whose order is free: groups, parallel steps and optional calls, held against every possible reading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, groupby, permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_scoring.alignment import Alignment, align
from adk_scoring.matching import Match
from adk_scoring.metrics.formulas import (
    trajectory_exact_match,
    trajectory_f1,
    trajectory_in_order_match,
    trajectory_ordered_subset,
    trajectory_precision,
    trajectory_recall,
)
from adk_scoring.model import ToolCall

from .slow_alignment import common_subsequence, edges, maximum

names = st.sampled_from("fgh")
some_args = st.sampled_from([{}, {"a": 1}, {"a": 1, "b": 2}])
steps = st.sampled_from([None, 0, 1])
made_calls = st.lists(st.builds(ToolCall, names, some_args, step=steps), max_size=5)
expected_calls = st.lists(
    st.builds(ToolCall, names, some_args, step=steps, group=st.sampled_from([None, "p", "q"]), optional=st.booleans()),
    max_size=5,
)
rules = st.sampled_from(["exact", "subset", "superset", "ignore"])


def listings(calls: Sequence[ToolCall], parallel: bool) -> Iterator[list[int]]:
    """Every order that the calls may be listed in."""

    def key(index: int) -> object:
        call = calls[index]
        if call.group is not None:
            return call.group
        return ("step", call.step) if parallel and call.step is not None else ("alone", index)

    blocks = [list(block) for _, block in groupby(range(len(calls)), key)]
    for orders in product(*map(permutations, blocks)):
        yield list(chain.from_iterable(orders))


def readings(actual: Sequence[ToolCall], expected: Sequence[ToolCall], rule: str, parallel: bool) -> dict[str, Any]:
    table = edges(actual, expected, rule)
    required = [j for j, call in enumerate(expected) if not call.optional]
    optional = [j for j, call in enumerate(expected) if call.optional]
    k = maximum(table)
    made = k - maximum([[row[j] for j in required] for row in table])
    in_order, exact = 0, False
    for rows, columns in product(listings(actual, parallel), list(listings(expected, parallel))):
        wanted = [j for j in columns if j in required]
        in_order = max(in_order, common_subsequence([[table[i][j] for j in wanted] for i in rows], len(wanted)))
        for size in range(len(optional) + 1):
            for out in combinations(optional, size):
                kept = [j for j in columns if j not in out]
                exact |= len(kept) == len(rows) and all(table[i][j] for i, j in zip(rows, kept, strict=True))
    return {"n": len(actual), "m": len(required) + made, "k": k, "l": in_order + made, "exact": exact}


def numbers(found: Alignment) -> dict[str, Any]:
    return {"n": found.n, "m": found.m, "k": found.k, "l": found.l, "exact": found.is_exact}


@settings(max_examples=300, deadline=None)
@given(made_calls, expected_calls, rules, st.booleans())
def test_numbers_are_those_of_the_best_reading(
    actual: list[ToolCall], expected: list[ToolCall], rule: Any, parallel: bool
) -> None:
    found = Alignment(actual, expected, Match(args=rule, parallel=parallel))
    assert numbers(found) == readings(actual, expected, rule, parallel)
    assert (found.edit_distance == 0) == found.is_exact


@settings(max_examples=200, deadline=None)
@given(made_calls, expected_calls, rules, st.booleans())
def test_what_explains_the_numbers_fits_them(
    actual: list[ToolCall], expected: list[ToolCall], rule: Any, parallel: bool
) -> None:
    found = Alignment(actual, expected, Match(args=rule, parallel=parallel))
    assert sorted(map(repr, found.actual)) == sorted(map(repr, actual))
    assert [c for c in expected if not c.optional and c not in found.expected] == []
    assert len(found.pairs) == found.k
    table = edges(found.actual, found.expected, rule)
    assert all(table[i][j] for i, j in (*found.pairs, *found.in_order_pairs))
    assert all(not found.expected[j].optional for j in found.missing)
    assert list(found.in_order_pairs) == sorted(found.in_order_pairs)
    assert [j for _, j in found.in_order_pairs] == sorted({j for _, j in found.in_order_pairs})
    required = sum(not found.expected[j].optional for _, j in found.in_order_pairs)
    assert required + sum(call.optional for call in found.expected) == found.l


@settings(max_examples=100, deadline=None)
@given(st.data(), made_calls, expected_calls, rules)
def test_the_listing_within_a_block_does_not_count(
    data: st.DataObject, actual: list[ToolCall], expected: list[ToolCall], rule: Any
) -> None:
    match = Match(args=rule, parallel=True)
    one = numbers(Alignment(actual, expected, match))
    rows = data.draw(st.sampled_from(list(listings(actual, True))))
    columns = data.draw(st.sampled_from(list(listings(expected, True))))
    assert numbers(Alignment([actual[i] for i in rows], [expected[j] for j in columns], match)) == one


@settings(max_examples=100, deadline=None)
@given(made_calls, expected_calls, rules, st.data())
def test_making_a_call_optional_never_costs(
    actual: list[ToolCall], expected: list[ToolCall], rule: Any, data: st.DataObject
) -> None:
    if not expected:
        return
    j = data.draw(st.integers(0, len(expected) - 1))
    match = Match(args=rule)
    without = [*expected[:j], *expected[j + 1 :]]
    freed = [*expected[:j], replace(expected[j], optional=True), *expected[j + 1 :]]
    for score in (trajectory_precision, trajectory_recall, trajectory_f1, trajectory_in_order_match):
        assert score(actual, freed, match=match) >= score(actual, without, match=match) - 1e-12
    assert trajectory_ordered_subset(actual, freed, match=match) >= trajectory_ordered_subset(
        actual, without, match=match
    )


def test_a_group_comes_in_any_order_and_keeps_its_place() -> None:
    expected = [ToolCall("login"), ToolCall("a", group="g"), ToolCall("b", group="g"), ToolCall("pay")]
    assert trajectory_exact_match(["login", "b", "a", "pay"], expected) == 1
    assert trajectory_exact_match(["login", "b", "pay", "a"], expected) == 0
    assert trajectory_in_order_match(["login", "x", "b", "x", "a", "pay"], expected) == 1
    assert trajectory_ordered_subset(["a", "login", "b", "pay"], expected) == 0.75
    assert trajectory_in_order_match(["login", "b", "a", "pay"], [replace(c, group=None) for c in expected]) == 0


def test_neighbouring_groups_keep_their_order() -> None:
    expected = [ToolCall("a", group="g"), ToolCall("b", group="g"), ToolCall("c", group="h"), ToolCall("d", group="h")]
    assert trajectory_exact_match(["b", "a", "d", "c"], expected) == 1
    assert trajectory_ordered_subset(["c", "d", "a", "b"], expected) == 0.5


def test_parallel_steps_are_free_only_when_asked() -> None:
    made = [ToolCall("b", step=0), ToolCall("a", step=0), ToolCall("c", step=1)]
    assert trajectory_exact_match(made, ["a", "b", "c"]) == 0
    assert trajectory_exact_match(made, ["a", "b", "c"], match=Match(parallel=True)) == 1
    # A step of the expectation is free likewise; a call without a step stands alone.
    expected = [ToolCall("a", step=7), ToolCall("b", step=7), ToolCall("c")]
    assert trajectory_exact_match(["b", "a", "c"], expected, match=Match(parallel=True)) == 1
    assert trajectory_exact_match(["b", "c", "a"], expected, match=Match(parallel=True)) == 0


def test_an_optional_call_costs_nothing_either_way() -> None:
    expected = [ToolCall("look"), ToolCall("confirm", optional=True), ToolCall("write")]
    for made in (["look", "write"], ["look", "confirm", "write"]):
        found = align(made, expected)
        assert (found.n, found.m, found.k, found.l) == (len(made),) * 4
        assert found.is_exact
    out_of_place = align(["confirm", "look", "write"], expected)
    assert (out_of_place.k, out_of_place.l, out_of_place.m) == (3, 3, 3)
    assert not out_of_place.is_exact
    assert [(i, j) for i, j in out_of_place.in_order_pairs] == [(1, 0), (2, 2)]


def test_a_required_call_is_not_given_up_for_an_optional_one() -> None:
    expected = [ToolCall("f", {}, optional=True), ToolCall("f", {"a": 1})]
    found = align([("f", {"a": 1})], expected, match=Match(args="subset"))
    assert (found.k, found.m, found.missing) == (1, 1, ())
    assert found.expected == [expected[1]]


def test_the_first_expected_call_of_an_optional_pair_may_be_a_later_one() -> None:
    expected = [ToolCall("x", optional=True), ToolCall("a"), ToolCall("x", optional=True)]
    assert trajectory_exact_match(["a", "x"], expected) == 1
    assert trajectory_exact_match(["x", "a"], expected) == 1
    assert trajectory_exact_match(["x", "a", "x"], expected) == 1
    assert trajectory_exact_match(["x", "x", "a"], expected) == 0


@pytest.mark.parametrize("same", [True, False])
def test_wide_steps_are_within_reach(same: bool) -> None:
    """Forty calls at once, alike or all different: the sets of used calls must not explode."""
    made = [ToolCall("f", {"a": 0 if same else i}, step=i // 40) for i in reversed(range(120))]
    expected = [ToolCall("f", {"a": 0 if same else i}, step=i // 40) for i in range(120)]
    found = Alignment(made, expected, Match(parallel=True))
    assert found.k == 120
    assert found.l == (120 if same else 40)
