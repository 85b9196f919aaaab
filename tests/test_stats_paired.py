"""Two systems on the same cases: vectors, statsmodels and scipy on random input, brute force, edges."""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep

from adk_scoring.stats import (
    Interval,
    PValue,
    clustered,
    holm,
    mcnemar_exact,
    mcnemar_midp,
    newcombe,
    newcombe_independent,
    paired_difference,
    sign_flip,
    t_interval,
    wilson,
)
from adk_scoring.stats.special import t_cdf

A = [1, 1, 0, 1, 0, 1, 1, 0, 1, 1]
B = [1, 0, 0, 1, 0, 1, 0, 0, 1, 0]


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def test_paired_difference_vector() -> None:
    result = paired_difference(A, B)
    assert result.estimate == pytest.approx(0.3, abs=1e-15)
    assert result.se == pytest.approx(0.152752523165, abs=1e-12)
    assert ends(result) == pytest.approx((-0.045550, 0.645550), abs=5.1e-7)
    assert result.method == "paired t"
    assert 2 * (1 - t_cdf(0.3 / 0.152752523165, 9)) == pytest.approx(0.081126, abs=5.1e-7)
    unpaired = math.hypot(t_interval(A).se or 0, t_interval(B).se or 0)
    assert unpaired == pytest.approx(0.223607, abs=5.1e-7)


def test_paired_difference_edges() -> None:
    assert paired_difference([], []).estimate is None
    one = paired_difference([1], [0])
    assert (one.estimate, one.low) == (1.0, None)
    assert ends(paired_difference(A, A, bounds=(0, 1))) == pytest.approx((-(1 - 0.025**0.1), 1 - 0.025**0.1), abs=1e-12)
    assert paired_difference(A, A).low is None
    assert ends(paired_difference([1, 1], [0, 1], bounds=(0, 1))) == (-1.0, 1.0)
    with pytest.raises(ValueError, match="a has 2, b has 1 values"):
        paired_difference([1, 1], [0])
    with pytest.raises(ValueError, match=r"b\[0\] is 3.0, outside"):
        paired_difference([1], [3], bounds=(0, 1))
    with pytest.raises(ValueError, match=r"a\[0\] is nan"):
        paired_difference([math.nan], [3])


def test_paired_difference_of_clusters() -> None:
    cases = [i // 2 for i in range(10)]
    result = paired_difference(A, B, clusters=cases, bounds=(0, 1))
    expected = clustered([a - b for a, b in zip(A, B, strict=True)], cases, bounds=(-1, 1))
    assert ends(result) == ends(expected)
    assert (result.method, result.clusters) == ("paired clustered t", 5)


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [
        (1, 0, 1),
        (5, 0, 0.0625),
        (6, 0, 0.03125),
        (6, 1, 0.125),
        (8, 2, 0.109375),
        (10, 2, 0.03857421875),
        (25, 10, 0.0166738478),
        (3, 3, 1),
        (0, 0, 1),
    ],
)
def test_mcnemar_exact_vectors(b: int, c: int, p: float) -> None:
    assert mcnemar_exact(b, c).p == pytest.approx(p, abs=1e-10)
    assert mcnemar_exact(c, b) == mcnemar_exact(b, c)


@pytest.mark.parametrize(
    ("b", "c", "p"), [(5, 0, 0.03125), (6, 1, 0.0703125), (10, 2, 0.0224609375), (0, 0, 1), (1, 0, 0.5)]
)
def test_mcnemar_midp_vectors(b: int, c: int, p: float) -> None:
    assert mcnemar_midp(b, c).p == p


@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemar_equals_statsmodels_and_scipy(b: int, c: int) -> None:
    if b + c:
        expected = float(mcnemar([[0, b], [c, 0]], exact=True).pvalue)
        assert mcnemar_exact(b, c).p == pytest.approx(expected, rel=1e-9)
        low = min(b, c)
        midp = 2 * scipy_stats.binom.cdf(low, b + c, 0.5) - scipy_stats.binom.pmf(low, b + c, 0.5)
        assert mcnemar_midp(b, c).p == pytest.approx(midp, rel=1e-9)
    assert mcnemar_exact(b, c).informative == b + c
    assert mcnemar_exact(b, c).smallest <= mcnemar_exact(b, c).p <= 1


def test_fewer_than_six_discordant_cases_cannot_be_significant() -> None:
    assert [m for m in range(12) if mcnemar_exact(m, 0).smallest <= 0.05] == list(range(6, 12))
    assert all(mcnemar_exact(m, 0).smallest == mcnemar_exact(m, 0).p for m in range(12))
    assert all(mcnemar_midp(m, 0).smallest == mcnemar_midp(m, 0).p for m in range(12))


def test_p_is_never_zero() -> None:
    for m in (1000, 1074, 1080, 5000):
        for test in (mcnemar_exact(m, 0), mcnemar_midp(m, 0)):
            assert test.p >= sys.float_info.min
            assert test.smallest >= sys.float_info.min
    assert sign_flip([1] * 60, resamples=2000).p == 1 / 2001


@pytest.mark.parametrize(("b", "c"), [(-1, 2), (0.5, 2), (math.nan, 2), (math.inf, 1)])
def test_mcnemar_refuses_impossible_counts(b: Any, c: int) -> None:
    for function in (mcnemar_exact, mcnemar_midp):
        with pytest.raises(ValueError, match="b is"):
            function(b, c)


# (36, 12, 2, 0) is the published example of Newcombe 1998, Stat. Med. 17, 2635: [.0569, .3404].
NEWCOMBE = [
    ((36, 12, 2, 0), 0.2, 0.0569, 0.3404, 5.1e-5),
    ((20, 8, 2, 20), 0.12, -0.005089, 0.237269, 5.1e-7),
    ((6, 3, 1, 0), 0.2, -0.193657, 0.530992, 5.1e-7),
    ((5, 3, 0, 2), 0.3, -0.052953, 0.566548, 5.1e-7),
    ((10, 0, 0, 0), 0.0, -0.2775, 0.2775, 5.1e-5),
]


@pytest.mark.parametrize(("table", "estimate", "low", "high", "digits"), NEWCOMBE)
def test_newcombe_vectors(
    table: tuple[int, int, int, int], estimate: float, low: float, high: float, digits: float
) -> None:
    result = newcombe(*table)
    assert result.estimate == pytest.approx(estimate, abs=1e-12)
    assert ends(result) == pytest.approx((low, high), abs=digits)


@given(st.tuples(*[st.integers(0, 60)] * 4), st.sampled_from([0.8, 0.9, 0.95]))
def test_newcombe_is_a_sane_interval(table: tuple[int, int, int, int], level: float) -> None:
    both, only_a, only_b, neither = table
    result = newcombe(*table, level=level)
    low, high = ends(result)
    swapped = ends(newcombe(both, only_b, only_a, neither, level=level))
    assert -1 <= low < high <= 1
    assert (-swapped[1], -swapped[0]) == pytest.approx((low, high), abs=1e-12)
    if result.estimate is not None:
        assert low - 1e-12 <= result.estimate <= high + 1e-12
        wider = ends(newcombe(*table, level=0.99))
        assert wider[0] <= low
        assert wider[1] >= high


@given(st.integers(1, 200), st.integers(1, 200), st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.8, 0.95]))
def test_newcombe_independent_equals_statsmodels(n_a: int, n_b: int, x: float, y: float, level: float) -> None:
    s_a, s_b = round(x * n_a), round(y * n_b)
    theirs = confint_proportions_2indep(s_a, n_a, s_b, n_b, method="newcomb", compare="diff", alpha=1 - level)
    result = newcombe_independent(s_a, n_a, s_b, n_b, level=level)
    assert ends(result) == pytest.approx(theirs, abs=1e-9)
    assert result.estimate == s_a / n_a - s_b / n_b


def test_newcombe_edges() -> None:
    assert newcombe(0, 0, 0, 0) == Interval(None, -1.0, 1.0, 0.95, "newcombe paired", 0)
    assert newcombe_independent(0, 0, 1, 2) == Interval(None, -1.0, 1.0, 0.95, "newcombe independent", 2)
    assert ends(newcombe(1, 0, 0, 0)) == pytest.approx((-(wilson(0, 1).high or 0), wilson(0, 1).high or 0))
    with pytest.raises(ValueError, match="only_b is -1"):
        newcombe(1, 1, -1, 1)
    with pytest.raises(ValueError, match="successes_b is 3 and n_b is 2"):
        newcombe_independent(1, 2, 3, 2)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([0.3, 0.1, 0.2, 0.4, -0.1], 0.1875),
        ([1] * 5, 0.0625),
        ([1] * 6, 0.03125),
        ([0.1, -0.2, 0.05, -0.15, 0.3], 0.9375),
        ([0, 0, 0], 1),
        ([], 1),
        ([0.5], 1),
        ([0, 0, 1, 1, 1, 1, 1, -1], 0.21875),
        ([0.25] * 10, 0.001953125),
    ],
)
def test_sign_flip_vectors(differences: list[float], p: float) -> None:
    assert sign_flip(differences).p == p


@given(st.lists(st.integers(-8, 8).map(lambda x: x / 10), max_size=10))
def test_sign_flip_equals_every_pattern_counted(differences: list[float]) -> None:
    # In whole tenths, so that the slow version has no rounding at all.
    tenths = [round(x * 10) for x in differences]
    patterns = list(itertools.product((1, -1), repeat=len(tenths)))
    sums = [abs(sum(s * x for s, x in zip(signs, tenths, strict=True))) for signs in patterns]
    expected = sum(total >= abs(sum(tenths)) for total in sums) / len(patterns)
    assert sign_flip(differences).p == expected


@given(st.integers(0, 12), st.integers(0, 8), st.integers(0, 5))
def test_sign_flip_of_pass_and_fail_is_mcnemar(b: int, c: int, ties: int) -> None:
    result = sign_flip([1] * b + [-1] * c + [0] * ties)
    assert result.p == mcnemar_exact(b, c).p
    assert (result.informative, result.smallest) == (b + c, mcnemar_exact(b, c).smallest)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=9, unique=True))
def test_sign_flip_equals_scipy(differences: list[float]) -> None:
    d = [x for x in differences if abs(x) > 1e-6]
    if len(d) < 2:
        return
    theirs = scipy_stats.permutation_test(
        (np.array(d),), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    assert sign_flip(d).p == pytest.approx(float(theirs.pvalue), abs=1e-12)


def test_sign_flip_at_the_limit_and_beyond() -> None:
    rng = np.random.default_rng(5)
    d = rng.normal(0.3, 1, 20)
    exact = sign_flip(d)
    assert exact.method == "sign-flip, exact"
    assert exact.p * 2**20 == int(exact.p * 2**20)
    drawn = sign_flip([*d, 1e-9], seed=3)  # one more makes it Monte Carlo and changes nothing else
    assert drawn.method == "sign-flip, 100000 random sign patterns, seed 3"
    assert (drawn.informative, drawn.smallest) == (21, 1 / 100_001)
    assert drawn.p == pytest.approx(exact.p, abs=0.006)
    assert drawn == sign_flip([*d, 1e-9], seed=3)
    assert drawn.p != sign_flip([*d, 1e-9], seed=4).p
    assert (drawn.p * 100_001) == pytest.approx(round(drawn.p * 100_001), abs=1e-6)


def test_sign_flip_monte_carlo_of_pass_and_fail_is_near_mcnemar() -> None:
    p = sign_flip([1] * 25 + [-1] * 10, seed=0).p
    assert p == pytest.approx(mcnemar_exact(25, 10).p, abs=0.002)
    assert sign_flip([1] * 15 + [-1] * 15, resamples=2000).p == 1.0


def test_sign_flip_refuses_what_it_cannot_use() -> None:
    with pytest.raises(ValueError, match=r"differences\[0\] is nan"):
        sign_flip([math.nan])
    with pytest.raises(ValueError, match="at least 2000"):
        sign_flip([1.0], resamples=10)
    with pytest.raises(ValueError, match="seed"):
        sign_flip([1.0], seed=-1)


def test_rounding_makes_no_difference_informative() -> None:
    assert sign_flip([0.1 + 0.2 - 0.3, 0.5]) == PValue(1.0, "sign-flip, exact", 1, 1.0)


@pytest.mark.parametrize(
    ("ps", "adjusted"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.001, 0.2, 0.03, 0.04], [0.004, 0.2, 0.09, 0.09]),
        ([0.02] * 3, [0.06] * 3),
        ([0.5], [0.5]),
        ([], []),
        ([0.6, 0.7], [1.0, 1.0]),
    ],
)
def test_holm_vectors(ps: list[float], adjusted: list[float]) -> None:
    assert holm(ps) == pytest.approx(adjusted, abs=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_equals_statsmodels(ps: list[float]) -> None:
    assert holm(ps) == pytest.approx(multipletests(ps, method="holm")[1].tolist(), abs=1e-12)


@pytest.mark.parametrize("bad", [math.nan, -0.1, 1.1])
def test_holm_refuses_what_is_no_p(bad: float) -> None:
    with pytest.raises(ValueError, match=r"pvalues\[1\]"):
        holm([0.5, bad])


@pytest.mark.slow
def test_simulated_coverage_of_a_paired_difference() -> None:
    rng = np.random.default_rng(11)
    rounds, held, rejected = 3000, 0, 0
    cells = [0.6, 0.15, 0.05, 0.2]
    for _ in range(rounds):
        low, high = ends(newcombe(*rng.multinomial(60, cells).tolist()))
        held += low <= 0.1 <= high
        rejected += sign_flip(rng.normal(0, 1, 8)).p <= 0.05
    assert held / rounds == pytest.approx(0.955, abs=0.015)
    assert rejected / rounds == pytest.approx(0.047, abs=0.015)  # 12 of 256 patterns


def test_a_difference_stays_within_the_width_of_the_range() -> None:
    found = paired_difference([5, 5], [1, 1], bounds=(1, 5))
    assert (found.estimate, found.high) == (4.0, 4.0)
    assert found.low is not None
    assert found.low >= -4.0
    down = paired_difference([1, 1], [5, 5], bounds=(1, 5))
    assert (down.estimate, down.low, down.high) == (-4.0, -4.0, -found.low)


def test_clustered_differences_have_the_level_asked_for() -> None:
    a, b, names = [1, 0, 1, 1, 0, 1], [0, 0, 1, 0, 1, 0], list("aabbcc")
    narrow, wide = (paired_difference(a, b, clusters=names, level=level) for level in (0.8, 0.95))
    assert (narrow.level, wide.level) == (0.8, 0.95)
    assert narrow.low is not None
    assert wide.low is not None
    assert narrow.low > wide.low
