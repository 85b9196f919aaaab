"""The special functions against scipy over a wide range, and against what is known exactly."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from adk_scoring.stats.special import beta_cdf, beta_quantile, normal_quantile, t_cdf, t_quantile

SHAPE = st.floats(-1, 5).map(lambda exponent: 10.0**exponent)
DF = st.floats(0, 6).map(lambda exponent: 10.0**exponent)
PROBABILITY = st.one_of(st.floats(1e-6, 1 - 1e-6), st.sampled_from([0.005, 0.025, 0.05, 0.5, 0.95, 0.975, 0.995]))


@given(st.floats(0, 1), SHAPE, SHAPE)
def test_beta_cdf_equals_scipy(x: float, a: float, b: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), abs=1e-11)


@given(PROBABILITY, SHAPE, SHAPE)
def test_beta_cdf_near_its_median_equals_scipy(p: float, a: float, b: float) -> None:
    x = float(special.betaincinv(a, b, p))
    assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), abs=1e-11)


@given(PROBABILITY, SHAPE, SHAPE)
def test_beta_quantile_equals_scipy(p: float, a: float, b: float) -> None:
    # Bracketed by scipy's distribution function: its inverse is 1e-8 off in places (scipy 1.17.1, a = b = 10 ** 0.0625,
    # p = 0.5: 0.50000001027, where symmetry wants 0.5).
    x = beta_quantile(p, a, b)
    below, above = special.betainc(a, b, [x * (1 - 1e-10), min(1.0, x * (1 + 1e-10))])
    assert below - 1e-12 <= p <= above + 1e-12
    assert x == pytest.approx(float(special.betaincinv(a, b, p)), rel=1e-6, abs=1e-9)


@given(st.floats(-50, 50), DF)
def test_t_cdf_equals_scipy(t: float, df: float) -> None:
    # Not stats.t.cdf: at df = 1 and t = 1e-9 scipy 1.17.1 gives 0.5, where 1/2 + atan(t)/pi is 3.2e-10 more.
    centre = special.betainc(0.5, df / 2, t * t / (df + t * t)) / 2
    assert t_cdf(t, df) == pytest.approx(0.5 + math.copysign(centre, t), abs=1e-11)


@given(st.floats(-1e6, 1e6))
def test_t_cdf_of_one_and_two_degrees_in_closed_form(t: float) -> None:
    assert t_cdf(t, 1) == pytest.approx(0.5 + math.atan(t) / math.pi, abs=1e-14)
    assert t_cdf(t, 2) == pytest.approx(0.5 + t / (2 * math.sqrt(2 + t * t)), abs=1e-14)


@given(PROBABILITY, DF)
def test_t_quantile_equals_scipy(p: float, df: float) -> None:
    assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9, abs=1e-9)


@given(st.floats(1e-12, 1 - 1e-12))
def test_normal_quantile_equals_scipy(p: float) -> None:
    assert normal_quantile(p) == pytest.approx(special.ndtri(p), rel=1e-12, abs=1e-14)


@given(PROBABILITY, SHAPE, SHAPE)
@settings(max_examples=50)
def test_beta_quantile_inverts_beta_cdf(p: float, a: float, b: float) -> None:
    x = beta_quantile(p, a, b)
    if 1e-200 < x < 1 - 1e-9:  # beyond that a double cannot hold the quantile finely enough
        assert beta_cdf(x, a, b) == pytest.approx(p, abs=1e-10)


@pytest.mark.parametrize(
    ("df", "quantile"),
    [
        (1, 12.7062047362),
        (2, 4.3026527297),
        (3, 3.1824463053),
        (4, 2.7764451052),
        (9, 2.2621571628),
        (29, 2.0452296421),
        (99, 1.9842169516),
    ],
)
def test_t_quantile_of_the_tables(df: int, quantile: float) -> None:
    assert t_quantile(0.975, df) == pytest.approx(quantile, abs=1e-10)
    assert t_quantile(0.025, df) == pytest.approx(-t_quantile(0.975, df), rel=1e-12)


@pytest.mark.parametrize(
    ("p", "z"), [(0.975, 1.9599639845), (0.95, 1.6448536270), (0.90, 1.2815515655), (0.80, 0.8416212336)]
)
def test_normal_quantile_of_the_tables(p: float, z: float) -> None:
    assert normal_quantile(p) == pytest.approx(z, abs=1e-10)


def test_ends_and_centres_are_exact() -> None:
    assert (beta_cdf(0, 2, 3), beta_cdf(1, 2, 3), beta_cdf(-1, 2, 3), beta_cdf(2, 2, 3)) == (0, 1, 0, 1)
    assert (beta_quantile(0, 2, 3), beta_quantile(1, 2, 3)) == (0, 1)
    assert (t_quantile(0.5, 7), t_cdf(0, 7)) == (0, 0.5)
    assert (t_cdf(1, 1), t_cdf(-1, 1)) == pytest.approx((0.75, 0.25), abs=1e-15)
    assert beta_cdf(1e-320, 0.5, 2) == pytest.approx(0, abs=1e-150)
    assert beta_quantile(1e-6, 0.01, 1) in (0.0, pytest.approx(math.exp(100 * math.log(1e-6)), abs=1e-300))
