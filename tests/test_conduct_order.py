"""Precedence: look before you write, by the expected order or by rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from adk_scoring.alignment import as_calls
from adk_scoring.errors import ConfigError
from adk_scoring.matching import Match
from adk_scoring.metrics import METRICS
from adk_scoring.metrics.precedence import trajectory_precedence
from adk_scoring.model import Case, Invocation, ToolCall, Turn

from .slow_alignment import call_lists, edges, rules


@pytest.mark.parametrize(
    ("actual", "expected", "value"),
    [
        ([], [], 1),
        (["x"], [], 1),
        ([], ["get", "update"], 1),
        (["get", "update"], ["get", "update"], 1),
        (["update", "get"], ["get", "update"], 0),
        (["update", "get", "update"], ["get", "update"], 0),
        (["get", "update", "get"], ["get", "update"], 1),
        (["update"], ["get", "update"], 0),
        (["get"], ["get", "update"], 1),
        (["x", "get", "y", "update"], ["get", "update"], 1),
        (["get", "update"], ["get"], 1),
        (["a", "c", "b"], ["a", "b", "c"], 2 / 3),
        (["c", "b", "a"], ["a", "b", "c"], 0),
        (["get", "update", "get"], ["get", "update", "get", "update"], 1),
        ([("f", {"i": 2}), ("f", {"i": 1})], [("f", {"i": 1}), ("f", {"i": 2})], 0),
    ],
)
def test_examples(actual: list[Any], expected: list[Any], value: float) -> None:
    assert trajectory_precedence(actual, expected) == pytest.approx(value)


@given(call_lists, call_lists, rules)
def test_precedence_is_what_it_says(actual: list[ToolCall], expected: list[ToolCall], rule: Any) -> None:
    among, table = edges(expected, expected, rule), edges(actual, expected, rule)
    distinct: list[int] = []
    for j in range(len(expected)):
        if all(not among[i][j] and not among[j][i] for i in distinct):
            distinct.append(j)
    first = [min((i for i, row in enumerate(table) if row[j]), default=None) for j in range(len(expected))]
    holds = []
    for x in distinct:
        for y in distinct:
            if x < y:
                fx, fy = first[x], first[y]
                holds.append(fy is None or (fx is not None and fx < fy))
    found = trajectory_precedence(actual, expected, match=Match(args=rule))
    assert found == pytest.approx(sum(holds) / len(holds) if holds else 1)


def _case(actual: list[Any], *expected: list[Any]) -> Case:
    sides = tuple(Invocation(tool_calls=as_calls(calls, "expected")) for calls in expected)
    return Case("c", (Turn(Invocation(tool_calls=as_calls(actual, "actual")), sides),))


def test_the_reason_names_the_order_that_was_broken() -> None:
    metric = METRICS["trajectory_precedence"]()
    found = metric.score(_case(["update", "get", "update"], ["get", "update"]))
    assert (found.value, found.counts) == (0.0, {"held": 0, "pairs": 1})
    assert found.reason == "0 of 1 orders kept; update came without get before it"
    assert metric.score(_case(["x"], ["get"])).reason == "no order is asked for: nothing was checked"
    assert metric.score(_case(["x"])).status == "skipped"


def test_explicit_rules_need_no_reference() -> None:
    metric = METRICS["trajectory_precedence"](rules=[["get", "pay"], ["confirm", "pay"], ["get", "confirm"]])
    found = metric.score(_case(["get", "pay", "confirm"]))
    assert found.value == pytest.approx(2 / 3)
    assert found.counts == {"held": 2, "pairs": 3}
    assert found.reason == "2 of 3 orders kept; pay came without confirm before it"
    assert metric.score(_case(["x"], ["pay", "get"])).value == 1
    assert metric.score(_case([])).value == 1
    assert trajectory_precedence(["pay"], ["pay"], rules=[("get", "pay")]) == 0


def test_calls_in_any_order_have_no_precedence() -> None:
    group = [ToolCall("a", group="g"), ToolCall("b", group="g"), ToolCall("c")]
    assert trajectory_precedence(["b", "a", "c"], group) == 1
    assert trajectory_precedence(["b", "c", "a"], group) == 0.5
    together = [ToolCall("b", step=0), ToolCall("a", step=0), ToolCall("c", step=1)]
    assert trajectory_precedence(together, ["a", "b", "c"]) == pytest.approx(2 / 3)
    assert trajectory_precedence(together, ["a", "b", "c"], match=Match(parallel=True)) == 1
    # An optional look that was left out is no broken order.
    assert trajectory_precedence(["write"], [ToolCall("look", optional=True), ToolCall("write")]) == 1


@pytest.mark.parametrize("rules", ["get update", [["get"]], [["get", 1]], ["ab"]])
def test_rules_are_pairs_of_names(rules: Any) -> None:
    with pytest.raises(ConfigError, match="wanted pairs of names"):
        METRICS["trajectory_precedence"](rules=rules)
