"""``tool_args_score``: partial credit under the best assignment by name."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_scoring.alignment import as_calls
from adk_scoring.comparators import casefold, iso8601
from adk_scoring.errors import MatchError
from adk_scoring.matching import Match
from adk_scoring.metrics import METRICS
from adk_scoring.metrics.arguments import tool_args_score
from adk_scoring.model import Case, Invocation, ToolCall, Turn

from .slow_alignment import call_lists, matchings, same_args


@pytest.mark.parametrize(
    ("actual", "expected", "rule", "value"),
    [
        ([], [], "exact", 1),
        (["f"], [], "exact", 1),
        ([], ["f"], "exact", 0),
        (["f"], ["f"], "exact", 1),
        (["g"], ["f"], "exact", 0),
        ([("f", {"x": 1})], ["f"], "exact", 1),  # extra arguments are free
        ([("f", {"a": 1, "b": 2})], [("f", {"a": 1, "b": 3})], "exact", 0.5),
        ([("f", {"a": 1})], [("f", {"a": 1, "b": 3})], "exact", 0.5),
        ([("f", {"a": 1})], [("f", {"a": 1, "b": 3})], "superset", 1),
        ([("f", {"a": {"x": 1, "y": 2}})], [("f", {"a": {"x": 1}})], "exact", 0),
        ([("f", {"a": {"x": 1, "y": 2}})], [("f", {"a": {"x": 1}})], "subset", 1),
        ([("f", {"a": 1})], [("f", {"a": 9, "b": 9})], "ignore", 1),
        ([("f", {"a": True})], [("f", {"a": 1})], "adk", 1),
        (["f", "f"], ["f"], "exact", 1),
        (["f"], ["f", "f"], "exact", 0.5),
        ([("f", {"a": 1}), "g"], [("f", {"a": 2}), ("g", {"b": 1}), "h", "g"], "exact", 0.25),
    ],
)
def test_examples(actual: list[Any], expected: list[Any], rule: Any, value: float) -> None:
    assert tool_args_score(actual, expected, match=Match(args=rule)) == value


@settings(max_examples=200)
@given(call_lists, call_lists, st.sampled_from(["exact", "subset", "superset", "ignore", "adk"]))
def test_the_assignment_is_the_best(actual: list[ToolCall], expected: list[ToolCall], rule: Any) -> None:
    def share(a: ToolCall, e: ToolCall) -> Fraction:
        got, wanted = a.args or {}, e.args or {}
        right = sum(same_args({k: got[k]} if k in got else {}, {k: wanted[k]}, rule) for k in wanted)
        return Fraction(right, len(wanted)) if wanted else Fraction(1)

    same_name = [[a.name == e.name for e in expected] for a in actual]
    best = max(sum((share(actual[i], expected[j]) for i, j in pairs), Fraction(0)) for pairs in matchings(same_name))
    value = float(best / len(expected)) if expected else 1.0
    assert tool_args_score(actual, expected, match=Match(args=rule)) == value


@given(st.data(), call_lists, call_lists)
def test_the_listing_does_not_count(data: st.DataObject, actual: list[ToolCall], expected: list[ToolCall]) -> None:
    other = tool_args_score(data.draw(st.permutations(actual)), data.draw(st.permutations(expected)))
    assert other == tool_args_score(actual, expected)


def _case(actual: list[Any], *expected: list[Any]) -> Case:
    sides = tuple(Invocation(tool_calls=as_calls(calls, "expected")) for calls in expected)
    return Case("c", (Turn(Invocation(tool_calls=as_calls(actual, "actual")), sides),))


def test_comparators_count() -> None:
    match = Match(tools={"f": {"when": iso8601(), "to.name": casefold()}})
    actual = [("f", {"when": "2026-08-19T09:00:00+08:00", "to": {"name": "BOB"}, "n": 1})]
    expected = [("f", {"when": "2026-08-19T01:00:00Z", "to": {"name": "bob"}, "n": 2})]
    assert tool_args_score(actual, expected, match=match) == pytest.approx(2 / 3)
    found = METRICS["tool_args_score"](match=match).score(_case(actual, expected))
    assert found.counts == {"matched": 2, "arguments": 3, "given": 1, "expected": 1}
    assert found.reason == "2 of 3 expected arguments match; 1 of 1 expected calls have a call"
    with pytest.raises(MatchError, match="f: argument when: comparator _raises raised ValueError: no"):
        tool_args_score(actual, expected, match=Match(tools={"f": {"when": _raises}}))


def _raises(actual: Any, expected: Any) -> bool:
    raise ValueError("no")


def test_nothing_expected_says_so_and_nothing_known_is_skipped() -> None:
    metric = METRICS["tool_args_score"]()
    assert metric.score(_case(["f"], [])).reason == "no calls are expected: nothing was checked"
    assert metric.score(_case(["f"])).status == "skipped"


def test_unknown_arguments_are_an_error_unless_names_alone_count() -> None:
    with pytest.raises(MatchError, match="f: its arguments were not recorded"):
        tool_args_score([ToolCall("f", None)], [("f", {"a": 1})], match=Match(args="subset"))
    assert tool_args_score([ToolCall("f", None)], [("f", {"a": 1})], match=Match(args="ignore")) == 1


def test_an_optional_call_costs_nothing() -> None:
    expected = [ToolCall("look", {"a": 1}, optional=True), ToolCall("write", {"b": 1})]
    assert tool_args_score([("write", {"b": 1})], expected) == 1
    assert tool_args_score([("look", {"a": 2}), ("write", {"b": 1})], expected) == 1
    assert tool_args_score([("look", {"a": 1}), ("write", {"b": 2})], expected) == 0.5
