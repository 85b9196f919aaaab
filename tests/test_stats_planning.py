"""Sizes and detectable effects: published examples, statsmodels, round trips, edges."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import normal_power

from adk_scoring.stats import (
    cases_for_paired_rates,
    cases_for_rates,
    cases_needed,
    cases_to_claim,
    clopper_pearson,
    difference_variance,
    mde,
    power,
)


def test_cases_needed_of_the_published_examples() -> None:
    # Miller 2024 (arXiv 2411.00640): 969 questions; with within-question variance 1/6 on both sides, K = 1 and 10.
    assert math.ceil(cases_needed(0.03, 1 / 9)) == 969
    assert round(cases_needed(0.03, difference_variance(1 / 9, 1 / 6, 1 / 6))) == 3876
    ten = difference_variance(1 / 9, 1 / 6, 1 / 6, trials_a=10, trials_b=10)
    assert round(cases_needed(0.03, ten)) == 1260
    assert cases_needed(1, 1) == pytest.approx(7.848879734, abs=5e-9)


def test_cases_for_rates_of_the_known_examples() -> None:
    assert cases_for_paired_rates(0.1, 0.2) == pytest.approx(154.6, abs=0.05)
    assert cases_for_rates(0.7, 0.8) == pytest.approx(293.15, abs=0.005)
    assert cases_for_rates(0.7, 0.8, pooled=False) == pytest.approx(290.41, abs=0.005)
    assert cases_for_rates(0.8, 0.7) == pytest.approx(cases_for_rates(0.7, 0.8), rel=1e-12)


@pytest.mark.parametrize(
    ("n", "effect"), [(20, 0.280), (50, 0.177), (100, 0.125), (200, 0.089), (500, 0.056), (1000, 0.040)]
)
def test_mde_of_a_fifth_discordant(n: int, effect: float) -> None:
    assert mde(n, 0.2) == pytest.approx(effect, abs=0.00051)


@given(
    st.integers(2, 10_000), st.floats(0.001, 2), st.sampled_from([0.9, 0.95, 0.99]), st.sampled_from([0.5, 0.8, 0.95])
)
def test_mde_cases_and_power_are_one_formula(n: int, variance: float, level: float, wanted: float) -> None:
    effect = mde(n, variance, level=level, power=wanted)
    assert effect is not None
    assert cases_needed(effect, variance, level=level, power=wanted) == pytest.approx(n, rel=1e-9)
    reached = power(n, effect, variance, level=level)
    theirs = normal_power(effect / math.sqrt(variance), n, 1 - level)
    assert reached == pytest.approx(float(theirs), abs=1e-9)
    assert reached == pytest.approx(wanted, abs=0.005)
    assert power(n, -effect, variance, level=level) == reached


def test_planning_edges() -> None:
    assert mde(0, 0.2) is None
    assert mde(10, 0) is None
    assert power(0, 0.1, 0.2) is None
    assert power(10, 0.1, 0) is None
    assert power(10, 0, 0.2) == pytest.approx(0.05)
    assert cases_needed(0.1, 0) == 0
    assert cases_for_rates(0, 1, pooled=False) == 0
    assert cases_for_paired_rates(-1, 1) == pytest.approx(1.9599639845400545**2)
    assert difference_variance(0.5) == 0.5


def test_cases_to_claim_a_rate() -> None:
    assert [cases_to_claim(rate) for rate in (0.8, 0.9, 0.95, 0.99)] == [14, 29, 59, 299]
    assert cases_to_claim(0.5, level=0.75) == 2
    assert cases_to_claim(0.01) == 1
    for rate in (0.5, 0.8, 0.9, 0.95, 0.99):
        n = cases_to_claim(rate)
        # One-sided 95 % is the low side of a two-sided 90 %.
        assert (clopper_pearson(n, n, level=0.9).low or 0) >= rate
        assert (clopper_pearson(n - 1, n - 1, level=0.9).low or 0) < rate


@pytest.mark.parametrize(
    "make",
    [
        lambda: mde(-1, 0.2),
        lambda: mde(10, math.nan),
        lambda: mde(10, 0.2, power=1),
        lambda: mde(10, 0.2, level=95),
        lambda: power(10, math.inf, 0.2),
        lambda: cases_needed(0, 0.2),
        lambda: cases_needed(0.1, -1),
        lambda: cases_for_paired_rates(0.3, 0.2),
        lambda: cases_for_paired_rates(0.0, 0.2),
        lambda: cases_for_paired_rates(0.3, 1.2),
        lambda: cases_for_rates(0.7, 0.7),
        lambda: cases_for_rates(0.7, 1.7),
        lambda: cases_to_claim(1),
        lambda: cases_to_claim(0.5, level=0),
        lambda: difference_variance(-1),
        lambda: difference_variance(1, trials_a=0),
    ],
)
def test_impossible_plans_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="want"):
        make()
