"""Two systems on the same cases: paired scores or counts go in, a difference with its interval or a p-value comes out.

The case is the unit: average the trials of a case before testing, or name the cases as ``clusters``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import SupportsFloat

from .inputs import check_counts, check_level, check_within, finite, same_length, whole
from .intervals import Interval, clustered, t_interval, wilson_limits

__all__ = [
    "PValue",
    "holm",
    "mcnemar_exact",
    "mcnemar_midp",
    "newcombe",
    "newcombe_independent",
    "paired_difference",
]


@dataclass(frozen=True, slots=True)
class PValue:
    """A two-sided p-value and what it rests on.

    Attributes:
        p: in (0, 1].
        method: the test, with everything needed to run it again.
        informative: how many cases bear on it: those where the two systems differ.
        smallest: the smallest p the test can give with that many; above your α the comparison cannot be significant.

    >>> mcnemar_exact(5, 0).smallest > 0.05
    True
    """

    p: float
    method: str
    informative: int
    smallest: float


def paired_difference(
    a: Iterable[SupportsFloat],
    b: Iterable[SupportsFloat],
    *,
    clusters: Iterable[Hashable] | None = None,
    level: float = 0.95,
    bounds: tuple[float, float] | None = None,
) -> Interval:
    """Mean difference a - b on the same cases.

    `t_interval` of the differences: d̄ ± t(n-1) · s_d/√n, or `clustered` where clusters are given.
    Source: Student 1908; Miller 2024 (arXiv 2411.00640), section on paired differences.

    Args:
        a: scores of the first system, one per case.
        b: scores of the second, the same cases in the same order.
        clusters: the case of each pair, when a case stands more than once.
        level: two-sided confidence level.
        bounds: the range of the scores, such as (0, 1); the difference then lies within ±(high - low).

    Returns:
        The difference in the scores' unit. n = 0: estimate None, no interval. n = 1: the difference, no interval.
        All differences equal: as `t_interval`, an interval only with bounds. For 0/1 scores `newcombe` is better.

    Raises:
        ValueError: NaN or infinite scores, lengths that differ, scores outside the bounds.

    >>> print(paired_difference([1, 1, 0, 1, 0, 1, 1, 0, 1, 1], [1, 0, 0, 1, 0, 1, 0, 0, 1, 0]))
    0.300 [-0.046, 0.646]
    """
    first, second = finite("a", a), finite("b", b)
    same_length(a=first, b=second)
    span = None
    if bounds is not None:
        check_within(first, bounds, "a")
        check_within(second, bounds, "b")
        span = (bounds[0] - bounds[1], bounds[1] - bounds[0])
    differences = [x - y for x, y in zip(first, second, strict=True)]
    if clusters is None:
        return replace(t_interval(differences, level=level, bounds=span), method="paired t")
    return replace(clustered(differences, clusters, level=level, bounds=span), method="paired clustered t")


def _binomial_tail(b: int, c: int) -> tuple[float, float, int]:
    """P(X <= min(b, c)) and P(X = min(b, c)) for X ~ Binomial(b + c, 1/2), in whole numbers until the last division."""
    whole(b=b, c=c)
    m = int(b + c)
    term = total = 1
    for i in range(int(min(b, c))):
        term = term * (m - i) // (i + 1)
        total += term
    return total / 2**m, term / 2**m, m


def mcnemar_exact(b: int, c: int) -> PValue:
    """Exact McNemar test for 0/1 scores of two systems on the same cases.

    p = min(1, 2 · P(X <= min(b, c))), X ~ Binomial(b + c, 1/2). Source: McNemar 1947; conservative.

    Args:
        b: cases only the first system passed.
        c: cases only the second passed.

    Returns:
        A `PValue`, never 0. b + c = 0 (n = 0, or all cases agree): p = 1. n = 1: p = 1. The smallest p is 2^(1-b-c):
        with fewer than 6 discordant cases .05 is out of reach.

    Raises:
        ValueError: counts that are negative or not whole.

    >>> mcnemar_exact(6, 1).p, mcnemar_exact(0, 0).p
    (0.125, 1.0)
    """
    tail, _, m = _binomial_tail(b, c)
    return PValue(_above_zero(2 * tail), "McNemar, exact", m, _above_zero(2.0 ** (1 - m)))


def mcnemar_midp(b: int, c: int) -> PValue:
    """McNemar test with mid-p: counts half the probability of the observed table, so it is not conservative.

    p = 2 · P(X <= m) - P(X = m), X ~ Binomial(b + c, 1/2), m = min(b, c). Source: Fagerland, Lydersen & Laake 2013.

    Args:
        b: cases only the first system passed.
        c: cases only the second passed.

    Returns:
        A `PValue`, never 0. b + c = 0: p = 1. n = 1: .5. The smallest p is 2^-(b+c).

    Raises:
        ValueError: counts that are negative or not whole.

    >>> mcnemar_midp(6, 1).p
    0.0703125
    """
    tail, point, m = _binomial_tail(b, c)
    return PValue(_above_zero(2 * tail - point), "McNemar, mid-p", m, _above_zero(2.0**-m))


def _above_zero(p: float) -> float:
    return min(1.0, max(p, sys.float_info.min))


def newcombe(both: int, only_a: int, only_b: int, neither: int, *, level: float = 0.95) -> Interval:
    """Newcombe's interval for the difference of two pass rates on the same cases.

    Method 10: the distances of both Wilson intervals from their rates, joined with the correlation φ of the table; a
    positive numerator of φ is lessened by n/2, at most to 0. Source: Newcombe 1998, Stat. Med. 17, 2635-2650.

    Args:
        both: cases both passed.
        only_a: cases only the first passed.
        only_b: cases only the second passed.
        neither: cases neither passed.
        level: two-sided confidence level.

    Returns:
        (only_a - only_b) / n and its interval, within [-1, 1]. n = 0: estimate None, [-1, 1]. n = 1 is defined.
        All cases concordant: 0, with a width that is not zero.

    Raises:
        ValueError: counts that are negative or not whole.

    >>> print(newcombe(36, 12, 2, 0))
    0.200 [0.057, 0.340]
    """
    check_level(level)
    whole(both=both, only_a=only_a, only_b=only_b, neither=neither)
    n, passed_a, passed_b = both + only_a + only_b + neither, both + only_a, both + only_b
    if n == 0:
        return Interval(None, -1.0, 1.0, level, "newcombe paired", 0)
    numerator = float(both * neither - only_a * only_b)
    if numerator > 0:
        numerator = max(0.0, numerator - n / 2)
    marginals = passed_a * (n - passed_a) * passed_b * (n - passed_b)
    phi = numerator / math.sqrt(marginals) if marginals else 0.0
    low, high = _square_and_add((passed_a, n), (passed_b, n), phi, level)
    return Interval((only_a - only_b) / n, low, high, level, "newcombe paired", n)


def newcombe_independent(successes_a: int, n_a: int, successes_b: int, n_b: int, *, level: float = 0.95) -> Interval:
    """Newcombe's interval for the difference of two pass rates on different cases.

    Low: δ - √((p_a - l_a)² + (u_b - p_b)²); high: δ + √((u_a - p_a)² + (p_b - l_b)²), with l and u of `wilson`.
    Source: Newcombe 1998, Stat. Med. 17, 873-890, method 10.

    Args:
        successes_a: how many the first system passed, of ``n_a``.
        n_a: how many cases the first was scored on.
        successes_b: how many the second passed, of ``n_b``.
        n_b: how many cases the second was scored on.
        level: two-sided confidence level.

    Returns:
        successes_a/n_a - successes_b/n_b and its interval, within [-1, 1]; ``n`` is n_a + n_b. A side of n = 0:
        estimate None, [-1, 1]. n = 1 and all-equal are defined and never of zero width.

    Raises:
        ValueError: impossible counts or level.

    >>> print(newcombe_independent(9, 10, 5, 10))
    0.400 [-0.002, 0.676]
    """
    check_level(level)
    check_counts(successes_a, n_a, ("successes_a", "n_a"))
    check_counts(successes_b, n_b, ("successes_b", "n_b"))
    n = n_a + n_b
    if n_a == 0 or n_b == 0:
        return Interval(None, -1.0, 1.0, level, "newcombe independent", n)
    low, high = _square_and_add((successes_a, n_a), (successes_b, n_b), 0.0, level)
    return Interval(successes_a / n_a - successes_b / n_b, low, high, level, "newcombe independent", n)


def _square_and_add(a: tuple[int, int], b: tuple[int, int], phi: float, level: float) -> tuple[float, float]:
    """Limits of the difference of two rates, (successes, n) each, whose estimates correlate by ``phi``."""
    rate_a, rate_b = a[0] / a[1], b[0] / b[1]
    (low_a, high_a), (low_b, high_b) = wilson_limits(*a, level), wilson_limits(*b, level)

    def joined(x: float, y: float) -> float:
        return math.sqrt(max(0.0, x * x - 2 * phi * x * y + y * y))  # rounding alone could make it negative

    low = rate_a - rate_b - joined(rate_a - low_a, high_b - rate_b)
    high = rate_a - rate_b + joined(high_a - rate_a, rate_b - low_b)
    return max(-1.0, low), min(1.0, high)


def holm(pvalues: Iterable[SupportsFloat]) -> list[float]:
    """Holm's adjusted p-values: the family-wise error stays below α if those at most α are called significant.

    With p sorted upwards, adjusted_(i) = max over j <= i of min(1, (m - j + 1) · p_(j)). Source: Holm 1979.

    Args:
        pvalues: the m p-values of one family, each in [0, 1].

    Returns:
        Adjusted p-values in the order given. m = 0: an empty list. m = 1: as given. All-equal: m times the value, or 1.

    Raises:
        ValueError: NaN, or outside [0, 1].

    >>> [round(p, 6) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    ps = finite("pvalues", pvalues)
    for position, p in enumerate(ps):
        if not 0 <= p <= 1:
            raise ValueError(f"pvalues[{position}] is {p!r}; want a number in [0, 1]")
    order = sorted(range(len(ps)), key=ps.__getitem__)
    steps = accumulate((min(1.0, (len(ps) - rank) * ps[i]) for rank, i in enumerate(order)), max)
    adjusted = dict(zip(order, steps, strict=True))
    return [adjusted[i] for i in range(len(ps))]
