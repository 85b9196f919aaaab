"""Intervals of one rate or mean: vectors, scipy and statsmodels on random input, edges, coverage."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import proportion_confint

from adk_scoring.stats import (
    Interval,
    beta_interval,
    bootstrap,
    bootstrap_means,
    clopper_pearson,
    clustered,
    t_interval,
    wilson,
)

COUNTS = st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
LEVEL = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])
SCORES = st.lists(st.floats(0, 1, width=32), min_size=2, max_size=60)


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


# statsmodels 0.15.0, proportion_confint(s, n, method="wilson" | "beta"); Beta(1, 1): scipy 1.17.1, beta.ppf.
RATES = [
    (0, 1, (0, 0.793451), (0, 0.975), (0.012579, 0.841886)),
    (1, 1, (0.206549, 1), (0.025, 1), None),
    (0, 5, (0, 0.434482), (0, 0.521824), None),
    (5, 5, (0.565518, 1), (0.478176, 1), None),
    (0, 10, (0, 0.277533), (0, 0.308497), None),
    (10, 10, (0.722467, 1), (0.691503, 1), (0.715086, 0.997701)),
    (7, 10, (0.396778, 0.892209), (0.347547, 0.933260), (0.390257, 0.890737)),
    (3, 4, (0.300642, 0.954413), (0.194120, 0.993691), None),
    (27, 30, (0.743789, 0.965400), (0.734712, 0.978883), (0.742461, 0.963698)),
    (95, 100, (0.888250, 0.978456), (0.887165, 0.983568), None),
    (50, 100, (0.403832, 0.596168), (0.398321, 0.601679), None),
    (0, 100, (0, 0.036993), (0, 0.036217), None),
]


@pytest.mark.parametrize(("s", "n", "by_wilson", "exact", "credible"), RATES)
def test_rates(
    s: int, n: int, by_wilson: tuple[float, float], exact: tuple[float, float], credible: tuple[float, float] | None
) -> None:
    assert ends(wilson(s, n)) == pytest.approx(by_wilson, abs=5.1e-7)
    assert ends(clopper_pearson(s, n)) == pytest.approx(exact, abs=5.1e-7)
    if credible:
        assert ends(beta_interval(s, n)) == pytest.approx(credible, abs=5.1e-7)
    assert wilson(s, n).estimate == clopper_pearson(s, n).estimate == beta_interval(s, n).estimate == s / n


@given(COUNTS, LEVEL)
def test_rates_equal_statsmodels(counts: tuple[int, int], level: float) -> None:
    s, n = counts
    for ours, method in ((wilson, "wilson"), (clopper_pearson, "beta")):
        theirs = proportion_confint(s, n, alpha=1 - level, method=method)
        assert ends(ours(s, n, level=level)) == pytest.approx(theirs, abs=1e-9)
    low, high = scipy_stats.beta.ppf([(1 - level) / 2, (1 + level) / 2], s + 0.5, n - s + 2)
    assert ends(beta_interval(s, n, level=level, prior=(0.5, 2))) == pytest.approx((low, high), abs=1e-9)


@given(COUNTS, LEVEL)
def test_a_rate_lies_in_its_interval_and_mirrors(counts: tuple[int, int], level: float) -> None:
    s, n = counts
    for method in (wilson, clopper_pearson):
        low, high = ends(method(s, n, level=level))
        mirrored = ends(method(n - s, n, level=level))
        assert 0 <= low <= s / n + 1e-15
        assert s / n - 1e-15 <= high <= 1
        assert low < high
        assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-11)


def test_no_cases_all_passed_and_one_sided() -> None:
    assert wilson(0, 0) == Interval(None, 0.0, 1.0, 0.95, "wilson", 0)
    assert clopper_pearson(0, 0) == Interval(None, 0.0, 1.0, 0.95, "clopper-pearson", 0)
    assert beta_interval(0, 0).estimate is None
    assert ends(beta_interval(0, 0)) == pytest.approx((0.025, 0.975), abs=1e-12)
    assert clopper_pearson(12, 12).low == pytest.approx(0.025 ** (1 / 12), abs=1e-12)
    assert clopper_pearson(12, 12, level=0.9).low == pytest.approx(0.05 ** (1 / 12), abs=1e-12)
    assert (wilson(0, 7).low, wilson(7, 7).high) == (0.0, 1.0)


def test_an_interval_is_frozen_and_prints_what_it_knows() -> None:
    interval = wilson(7, 10)
    with pytest.raises(FrozenInstanceError):
        interval.low = 0.0  # type: ignore[misc]
    assert str(interval) == "0.700 [0.397, 0.892]"
    assert str(t_interval([0.25])) == "0.250"
    assert str(t_interval([])) == "undefined"
    assert str(wilson(0, 0)) == "undefined [0.000, 1.000]"


@pytest.mark.parametrize("function", [wilson, clopper_pearson, beta_interval])
@pytest.mark.parametrize(("s", "n"), [(-1, 3), (4, 3), (math.nan, 3), (1, math.nan), (1, math.inf), (0, -1)])
def test_impossible_counts_are_refused(function: Callable[[float, float], Interval], s: float, n: float) -> None:
    with pytest.raises(ValueError, match="want 0 <= successes <= n"):
        function(s, n)


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, math.nan])
def test_impossible_levels_are_refused(level: float) -> None:
    makers: list[Callable[[], Interval]] = [
        lambda: wilson(1, 2, level=level),
        lambda: clopper_pearson(1, 2, level=level),
        lambda: beta_interval(1, 2, level=level),
        lambda: t_interval([0, 1], level=level),
        lambda: clustered([0, 1], "ab", level=level),
        lambda: bootstrap([0, 1], seed=0, level=level),
    ]
    for make in makers:
        with pytest.raises(ValueError, match="level is"):
            make()


def test_a_prior_must_be_two_positive_numbers() -> None:
    with pytest.raises(ValueError, match="prior"):
        beta_interval(1, 2, prior=(0, 1))


def test_t_interval_vector() -> None:
    result = t_interval([0.2, 0.4, 0.4, 0.6, 0.9])
    assert result.estimate == pytest.approx(0.5, abs=1e-15)
    assert result.se == pytest.approx(0.118321595662, abs=1e-12)
    assert ends(result) == pytest.approx((0.171486584885, 0.828513415115), abs=1e-9)
    assert result.note == ""


@given(SCORES, LEVEL)
def test_t_interval_equals_scipy(xs: list[float], level: float) -> None:
    if min(xs) == max(xs):
        return
    theirs = scipy_stats.t.interval(level, len(xs) - 1, np.mean(xs), scipy_stats.sem(xs))
    assert ends(t_interval(xs, level=level)) == pytest.approx(theirs, abs=1e-9)
    low, high = ends(t_interval(xs, level=level, bounds=(0, 1)))
    assert (low, high) == pytest.approx((max(0, theirs[0]), min(1, theirs[1])), abs=1e-9)


def test_t_interval_edges() -> None:
    assert t_interval([]) == Interval(None, None, None, 0.95, "t", 0, note="no values")
    one = t_interval([0.3], bounds=(0, 1))
    assert (one.estimate, one.low, one.high, one.se) == (0.3, None, None, None)
    same = t_interval([0.3] * 4)
    assert (same.estimate, same.low, same.high) == (0.3, None, None)
    assert "all 4 values are equal" in same.note
    cut = t_interval([0, 1, 1], bounds=(0, 1))
    assert ends(cut) == (0.0, 1.0)
    assert cut.note == "cut at [0, 1]"
    assert ends(t_interval(np.array([0.2, 0.4], dtype=np.float32))) == pytest.approx(ends(t_interval([0.2, 0.4])), 1e-6)


@pytest.mark.parametrize("n", [2, 5, 50])
def test_all_equal_with_bounds_is_never_certain(n: int) -> None:
    for value in (0.0, 1.0):
        assert ends(t_interval([value] * n, bounds=(0, 1))) == pytest.approx(ends(clopper_pearson(value * n, n)), 1e-12)
    share = 0.025 ** (1 / n)
    assert ends(t_interval([3] * n, bounds=(1, 5))) == pytest.approx(
        (share * 3 + 1 - share, share * 3 + 5 * (1 - share))
    )


@pytest.mark.parametrize("bad", [math.nan, math.inf, None, "0.5", "x", "nan"])
def test_what_is_no_finite_number_is_refused_with_its_place(bad: Any) -> None:
    for make in (
        lambda: t_interval([1, bad]),
        lambda: clustered([1, bad], "ab"),
        lambda: bootstrap([1, bad], seed=0),
        lambda: bootstrap_means([1, bad], seed=0),
    ):
        with pytest.raises(ValueError, match=r"values\[1\] is .*leave unscored cases out"):
            make()
    with pytest.raises(ValueError, match="is text"):
        t_interval("101")  # type: ignore[arg-type]


def test_bounds_are_held() -> None:
    with pytest.raises(ValueError, match=r"values\[1\] is 1.5, outside the declared bounds"):
        t_interval([0, 1.5], bounds=(0, 1))
    for bounds in ((1, 0), (0, math.inf), (math.nan, 1), (0, 0)):
        with pytest.raises(ValueError, match="bounds are"):
            t_interval([0.0, 0.0], bounds=bounds)


Y = [1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 0]
G = [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 3]


def test_clustered_vector() -> None:
    result = clustered(Y, G)
    assert result.estimate == pytest.approx(7 / 12, abs=1e-15)
    assert result.se == pytest.approx(0.217247559382, abs=1e-12)
    assert ends(result) == pytest.approx((-0.108045, 1.274712), abs=5.1e-7)
    assert result.clusters == 4
    assert result.n_eff == pytest.approx(12 * (0.148647097503 / 0.217247559382) ** 2, rel=1e-9)
    # Without the G/(G-1) of finite clusters this is Miller's standard error.
    assert (result.se or 0) * math.sqrt(3 / 4) == pytest.approx(0.188141905335, abs=1e-12)
    within = clustered(Y, G, bounds=(0, 1))
    assert (*ends(within), within.note) == (0.0, 1.0, "cut at [0, 1]")


def test_clustered_equals_the_error_of_cluster_means_where_balanced() -> None:
    y, g = [1, 1, 0, 0, 1, 0, 1, 1], "aabbccdd"
    means = [1, 0, 0.5, 1]
    assert clustered(y, g).se == pytest.approx(0.239356776939, abs=1e-12)
    assert clustered(y, g).se == pytest.approx(t_interval(means).se, abs=1e-12)


def test_clustered_wilson_on_effective_counts() -> None:
    result = clustered(Y, G, method="wilson")
    assert result.n_eff is not None
    assert ends(result) == pytest.approx(ends(wilson(7 / 12 * result.n_eff, result.n_eff)), abs=1e-12)
    assert result.method == "clustered wilson"


@given(st.lists(st.tuples(st.floats(0, 1, width=16), st.integers(0, 6)), min_size=3, max_size=40))
@settings(deadline=None)
def test_clustered_equals_statsmodels(rows: list[tuple[float, int]]) -> None:
    y, g = np.array([x for x, _ in rows]), np.array([key for _, key in rows])
    result = clustered(y, g.tolist())
    if result.se is None:
        assert len(set(g)) == 1 or max(abs(np.mean(y[g == key]) - np.mean(y)) for key in set(g)) < 1e-9
        return
    fit = sm.OLS(y, np.ones(len(y))).fit(cov_type="cluster", cov_kwds={"groups": g, "df_correction": True}, use_t=True)
    # statsmodels multiplies by G/(G-1) * (n-1)/(n-1): one parameter.
    assert result.se == pytest.approx(float(fit.bse[0]), rel=1e-7, abs=1e-9)
    assert result.n_eff is not None
    assert 0 < result.n_eff <= len(rows)


def test_clustered_of_single_observations_is_the_t_interval() -> None:
    xs = [0.2, 0.4, 0.4, 0.6, 0.9]
    result = clustered(xs, range(5))
    assert ends(result) == pytest.approx(ends(t_interval(xs)), abs=1e-12)
    assert result.n_eff == pytest.approx(5)


def test_clustered_edges() -> None:
    assert clustered([], []) == Interval(None, None, None, 0.95, "clustered t", 0, clusters=0, note="no values")
    single = clustered([0, 1, 1], "aaa")
    assert single.estimate == pytest.approx(2 / 3)
    assert (single.se, single.low, single.clusters) == (None, None, 1)
    by_wilson = clustered([0, 1, 1], "aaa", method="wilson")
    assert (by_wilson.se, by_wilson.n_eff) == (None, 1.0)
    assert ends(by_wilson) == pytest.approx(ends(wilson(2 / 3, 1)))
    # All values, or all cluster means, are equal: no spread, and no certainty either; the clusters count.
    same = clustered([1, 1, 1, 1], "aabb", bounds=(0, 1))
    assert (same.se, same.n_eff) == (None, 2.0)
    assert ends(same) == pytest.approx(ends(clopper_pearson(2, 2)), abs=1e-12)
    assert ends(clustered([1, 1, 1, 1], "aabb", method="wilson")) == pytest.approx(ends(wilson(2, 2)))
    balanced = clustered([0.1, 0.2, 0.2, 0.1], "aabb")
    assert (balanced.se, balanced.low, balanced.n_eff) == (None, None, 2.0)
    assert "all 2 cluster means are equal" in balanced.note
    # Trials that disagree more than independent ones would: worth no more than they are.
    assert clustered([0, 1, 0, 1, 1, 1], "aabbcc").n_eff == 6


def test_clustered_refuses_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="values has 2 and clusters 3"):
        clustered([0, 1], "abc")
    with pytest.raises(ValueError, match=r"clusters\[1\] is None"):
        clustered([0, 1], ["a", None])
    with pytest.raises(ValueError, match="0 or 1"):
        clustered([0, 0.5], "ab", method="wilson")
    with pytest.raises(ValueError, match="outside the declared bounds"):
        clustered([0, 2], "ab", bounds=(0, 1))


def test_bootstrap_same_seed_same_bits() -> None:
    xs = [0.1, 0.7, 0.4, 0.9, 1.0, 0.0, 0.35]
    first = bootstrap(xs, seed=7)
    assert first == bootstrap(np.array(xs), seed=7)
    assert first != bootstrap(xs, seed=8)
    assert first.method == "percentile bootstrap, 10000 resamples, seed 7"
    assert bootstrap_means(xs, seed=7).tobytes() == bootstrap_means(xs, seed=7).tobytes()


def test_bootstrap_bits_do_not_move() -> None:
    # numpy promises the stream of Generator(PCG64).integers only within a version; 2.4.6 and its neighbours agree.
    means = bootstrap_means([0.0, 0.25, 0.5, 1.0], seed=0, resamples=2000)
    rng = np.random.default_rng(0)
    slow = [np.array([0.0, 0.25, 0.5, 1.0])[rng.integers(4, size=4)].mean() for _ in range(2000)]
    assert means.tolist() == slow


def test_bootstrap_in_chunks_draws_on() -> None:
    xs = np.linspace(0, 1, 1500)  # 2000 x 1500 numbers are more than one chunk
    means = bootstrap_means(xs, seed=3, resamples=2000)
    rng = np.random.default_rng(3)
    slow = np.array([xs[rng.integers(1500, size=1500)].mean() for _ in range(2000)])
    assert means == pytest.approx(slow, abs=1e-12)


def test_bootstrap_agrees_with_theory_and_draws_clusters_whole() -> None:
    rng = random.Random(1)
    xs = [rng.random() for _ in range(60)]
    cases = [i // 3 for i in range(60)]
    result = bootstrap(xs, seed=0, clusters=cases, resamples=20_000)
    plain = bootstrap(xs, seed=0, resamples=20_000)
    assert result.se == pytest.approx(clustered(xs, cases).se, rel=0.06)
    assert plain.se == pytest.approx(t_interval(xs).se, rel=0.03)
    assert ends(plain) == pytest.approx(ends(t_interval(xs)), abs=0.01)
    assert (result.clusters, plain.clusters) == (20, None)
    # Doubling every observation within its case changes nothing but the count.
    doubled = bootstrap(xs * 2, seed=0, clusters=cases * 2, resamples=20_000)
    assert ends(doubled) == pytest.approx(ends(result), abs=1e-12)


def test_bootstrap_edges() -> None:
    empty = bootstrap([], seed=0)
    assert (empty.estimate, empty.low, empty.note) == (None, None, "no values")
    assert bootstrap_means([], seed=0).shape == (0,)
    for degenerate in (
        bootstrap([0.5], seed=0),
        bootstrap([0.1] * 30, seed=0),
        bootstrap([0, 1], seed=0, clusters="aa"),
    ):
        assert (degenerate.low, degenerate.high, degenerate.se) == (None, None, None)
        assert degenerate.estimate is not None
        assert "every resample has the same mean" in degenerate.note
    for clusters in (["a"], ["a", None]):
        with pytest.raises(ValueError, match="one id, not None, for each value"):
            bootstrap_means([0, 1], seed=0, clusters=clusters)
    with pytest.raises(ValueError, match="at least 2000"):
        bootstrap([0, 1], seed=0, resamples=1999)
    for seed in (-1, None, 1.5, True):
        with pytest.raises(ValueError, match="seed is"):
            bootstrap([0, 1], seed=seed)  # type: ignore[arg-type]


# Exact coverage of a nominal 95 % interval, summed over the binomial distribution: method, p, n, coverage (two digits).
COVERAGE = [
    (wilson, 0.9, 5, 0.92),
    (wilson, 0.9, 10, 0.93),
    (wilson, 0.9, 20, 0.96),
    (wilson, 0.9, 100, 0.94),
    (wilson, 0.95, 10, 0.91),
    (wilson, 0.95, 20, 0.92),
    (wilson, 0.95, 100, 0.97),
    (clopper_pearson, 0.9, 10, 0.99),
    (clopper_pearson, 0.95, 20, 0.98),
    (clopper_pearson, 0.95, 300, 0.97),
]


@pytest.mark.parametrize(("method", "p", "n", "coverage"), COVERAGE)
def test_exact_coverage_of_a_pass_rate(
    method: Callable[[float, float], Interval], p: float, n: int, coverage: float
) -> None:
    held = math.fsum(
        math.comb(n, s) * p**s * (1 - p) ** (n - s)
        for s in range(n + 1)
        if ends(method(s, n))[0] <= p <= ends(method(s, n))[1]
    )
    assert held == pytest.approx(coverage, abs=0.0051)


@pytest.mark.slow
def test_simulated_coverage_of_means_and_clusters() -> None:
    rng = np.random.default_rng(20)
    rounds = 1500
    held = {"t": 0, "clustered": 0, "naive": 0, "wilson": 0, "bootstrap": 0}
    cases = np.repeat(np.arange(40), 4)
    for _ in range(rounds):
        low, high = ends(t_interval(rng.beta(4, 2, 15), bounds=(0, 1)))
        held["t"] += low <= 2 / 3 <= high
        rates = rng.beta(1.5, 1, 40)  # tasks differ in how often they pass: mean .6
        trials = (rng.random(160) < rates[cases]).astype(float)
        for name, interval in (
            ("clustered", clustered(trials, cases.tolist(), bounds=(0, 1))),
            ("wilson", clustered(trials, cases.tolist(), method="wilson")),
            ("naive", wilson(trials.sum(), 160)),
        ):
            low, high = ends(interval)
            held[name] += low <= 0.6 <= high
    for _ in range(300):
        low, high = ends(bootstrap(rng.beta(4, 2, 50), seed=int(rng.integers(1 << 30)), resamples=2000))
        held["bootstrap"] += low <= 2 / 3 <= high
    for name in ("t", "clustered", "wilson"):
        assert held[name] / rounds == pytest.approx(0.95, abs=0.02), name
    assert held["naive"] / rounds < 0.90  # trials of one case are not independent
    assert held["bootstrap"] / 300 == pytest.approx(0.94, abs=0.04)
