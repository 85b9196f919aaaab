"""Calls, model calls, tokens, seconds and cost: known ones are averaged, unknown ones are skipped."""

from __future__ import annotations

import math
from typing import Any

import pytest

from adk_scoring import evaluate
from adk_scoring.alignment import as_calls
from adk_scoring.errors import ConfigError
from adk_scoring.metrics import METRICS
from adk_scoring.metrics.efficiency import TokenCost
from adk_scoring.model import Case, Invocation, Turn, Usage

NAMES = ["tool_call_count_v1", "inference_call_count_v1", "token_usage_v1", "invocation_duration_v1"]
RATES = {"input": 3.0, "output": 15.0, "cached": 0.3}
FULL = Usage(input_tokens=1000, output_tokens=200, cached_tokens=400, reasoning_tokens=50, model_calls=3)


def case(*turns: Invocation) -> Case:
    return Case("c", tuple(map(Turn, turns)))


def values(of: Case) -> list[float | None]:
    return [METRICS[name]().score(of).value for name in NAMES]


def test_one_turn() -> None:
    made = Invocation(tool_calls=as_calls(["a", "b", "a"], "calls"), usage=FULL, duration=2.5)
    assert values(case(made)) == [3, 3, 1200, 2.5]
    found = METRICS["token_usage_v1"]().score(case(made))
    assert found.counts == {"input_tokens": 1000, "output_tokens": 200, "cached_tokens": 400, "reasoning_tokens": 50}
    assert found.reason == "1200 tokens: 1000 input, 200 output, 400 cached, 50 reasoning"


def test_unknown_is_not_zero() -> None:
    nothing = Invocation()
    assert values(case(nothing)) == [0, None, None, None]
    for name in NAMES[1:]:
        found = METRICS[name]().score(case(nothing))
        assert (found.status, "not recorded" in found.reason) == ("skipped", True)
    zero = Invocation(tool_calls=(), usage=Usage(input_tokens=0, output_tokens=0, model_calls=0), duration=0.0)
    assert values(case(zero)) == [0, 0, 0, 0]


def test_the_mean_is_over_the_turns_of_which_it_is_known() -> None:
    turns = [
        Invocation(tool_calls=as_calls(["a"], "calls"), usage=FULL, duration=1.0),
        Invocation(tool_calls=None),
        Invocation(
            tool_calls=as_calls(["a", "b"], "calls"), usage=Usage(output_tokens=100, model_calls=1), duration=2.0
        ),
    ]
    assert values(case(*turns)) == [1.0, 2.0, 650.0, 1.5]


def test_a_turn_that_failed_is_an_error() -> None:
    for name in NAMES:
        assert METRICS[name]().score(case(Invocation(error="503", usage=FULL, duration=1.0))).status == "error"


def test_framework_calls_can_be_left_out() -> None:
    made = Invocation(tool_calls=as_calls(["transfer_to_agent", "a"], "calls"))
    assert METRICS["tool_call_count_v1"](ignore_tools=["transfer_*"]).score(case(made)).value == 1


@pytest.mark.parametrize(
    ("rates", "usage", "cost"),
    [
        (RATES, FULL, (600 * 3 + 400 * 0.3 + 200 * 15) / 1e6),
        ({"input": 3.0, "output": 15.0}, FULL, (1000 * 3 + 200 * 15) / 1e6),
        # adk-eval's documented prices, per 1000 tokens: 5000 in and 1200 out at 0.00015 and 0.0006 cost 0.00147.
        (
            {"input": 0.00015, "output": 0.0006, "per_tokens": 1000},
            Usage(input_tokens=5000, output_tokens=1200),
            0.00147,
        ),
        (RATES, Usage(input_tokens=10, output_tokens=0, cached_tokens=99), 10 * 0.3 / 1e6),
        (RATES, Usage(input_tokens=10), None),
        (RATES, Usage(output_tokens=10), None),
        (RATES, None, None),
    ],
)
def test_cost(rates: dict[str, Any], usage: Usage | None, cost: float | None) -> None:
    found = METRICS["token_cost"](**rates).score(case(Invocation(usage=usage)))
    assert (found.status, found.value) == ("skipped" if cost is None else "scored", cost and pytest.approx(cost))


@pytest.mark.parametrize(
    "rates",
    [
        {"input": -1, "output": 1},
        {"input": 1, "output": "1"},
        {"input": 1, "output": True},
        {"input": 1, "output": math.inf},
        {"input": 1, "output": 1, "cached": math.nan},
        {"input": 1, "output": 1, "per_tokens": 0},
    ],
)
def test_rates_are_numbers(rates: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="wanted"):
        METRICS["token_cost"](**rates)


def test_lower_is_better_without_a_limit() -> None:
    for metric in (*(METRICS[name]() for name in NAMES), TokenCost(1, 1)):
        assert (metric.range, metric.higher_is_better) == ((0.0, math.inf), False)
        assert metric.name in METRICS


def test_a_threshold_makes_a_budget_and_none_decides_nothing() -> None:
    cases = [case(Invocation(tool_calls=as_calls(["a"] * 3, "calls"), usage=FULL, duration=2.0))]
    budget = {"metric": "token_cost", **RATES, "threshold": 0.005}
    good = {"tool_call_count_v1": 3, "cost": budget, "invocation_duration_v1": None}
    assert evaluate(cases, good).passed
    assert not evaluate(cases, {**good, "tool_call_count_v1": 2}).passed
    assert not evaluate(cases, {**good, "cost": {**budget, "threshold": 0.001}}).passed
    verdicts = {row.label: row.verdict for row in evaluate(cases, good).rows}
    assert verdicts["invocation_duration_v1"] == "informational"
