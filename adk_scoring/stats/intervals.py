"""Intervals for one pass rate or one mean: counts or values go in, an `Interval` comes out.

Which one to use:

* pass rates of independent cases: `wilson` (near its level at every n), or `clopper_pearson` (never below it);
* means of graded scores: `t_interval`, with the metric's range as ``bounds``;
* several trials of one case: `clustered`, because trials of one case are not independent;
* anything skewed, with 30 cases or more: `bootstrap` (module ``resampling``).

``level`` is the two-sided confidence level. A one-sided bound at 95 % is the same side of a two-sided interval at 0.90.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Literal, SupportsFloat

from .inputs import check_counts, check_level, check_within, finite
from .special import beta_quantile, normal_quantile, t_quantile

__all__ = ["Interval", "beta_interval", "clopper_pearson", "clustered", "t_interval", "wilson"]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its interval, and how both were made.

    Attributes:
        estimate: the estimate, in the unit of the input; None when there is nothing to estimate it from.
        low: lower end; None (as ``high``) when the data determine no interval, and then ``note`` says why.
        high: upper end.
        level: two-sided confidence level, in (0, 1).
        method: what made it, with everything needed to make it again.
        n: how many observations it rests on.
        se: standard error, where the method has one.
        clusters: how many independent groups, where the observations are grouped.
        n_eff: how many independent observations they are worth, where they are grouped.
        note: what a reader must know: clipped, undefined, a fallback.

    >>> print(wilson(7, 10))
    0.700 [0.397, 0.892]
    """

    estimate: float | None
    low: float | None
    high: float | None
    level: float
    method: str
    n: float
    se: float | None = None
    clusters: int | None = None
    n_eff: float | None = None
    note: str = ""

    def __str__(self) -> str:
        estimate = "undefined" if self.estimate is None else f"{self.estimate:.3f}"
        return estimate if self.low is None or self.high is None else f"{estimate} [{self.low:.3f}, {self.high:.3f}]"


def wilson(successes: float, n: float, *, level: float = 0.95) -> Interval:
    """Wilson's score interval for a pass rate.

    With z the normal quantile: centre (s + z²/2) / (n + z²), half-width z/(n + z²) · √(s(n-s)/n + z²/4).
    Source: Wilson 1927; Brown, Cai & DasGupta 2001.

    Args:
        successes: how many passed, 0 <= successes <= n. A fraction is welcome (effective counts).
        n: how many were scored.
        level: two-sided confidence level.

    Returns:
        The rate s/n and its interval, within [0, 1]. n = 0: estimate None, [0, 1], as the formula has it.
        n = 1 and all-equal are defined and never of zero width; the end at 0 or 1 is exact.

    Raises:
        ValueError: impossible counts or level.

    >>> wilson(10, 10).low.__round__(6), wilson(10, 10).high
    (0.722467, 1.0)
    >>> wilson(0, 0).estimate is None
    True
    """
    check_level(level)
    check_counts(successes, n)
    if n == 0:
        return Interval(None, 0.0, 1.0, level, "wilson", 0)
    low, high = wilson_limits(successes, n, level)
    return Interval(successes / n, low, high, level, "wilson", n)


def wilson_limits(successes: float, n: float, level: float) -> tuple[float, float]:
    """The two ends of `wilson` for n > 0, for those that build on them."""
    z = normal_quantile(0.5 + level / 2)
    centre = (successes + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(successes * (n - successes) / n + z * z / 4)
    # At the ends the formula gives exactly 0 and 1; rounding does not.
    return 0.0 if successes == 0 else centre - half, 1.0 if successes == n else centre + half


def clopper_pearson(successes: float, n: float, *, level: float = 0.95) -> Interval:
    """Clopper and Pearson's exact interval for a pass rate: coverage is never below ``level``.

    Low: quantile α/2 of Beta(s, n-s+1); high: quantile 1-α/2 of Beta(s+1, n-s). All passed: low = (α/2)^(1/n).
    Source: Clopper & Pearson 1934.

    Args:
        successes: how many passed, 0 <= successes <= n.
        n: how many were scored.
        level: two-sided confidence level.

    Returns:
        The rate s/n and its interval, within [0, 1]. n = 0: estimate None, [0, 1]. n = 1 and all-equal are defined.

    Raises:
        ValueError: impossible counts or level.

    >>> print(clopper_pearson(27, 30))
    0.900 [0.735, 0.979]
    """
    check_level(level)
    check_counts(successes, n)
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else beta_quantile(tail, successes, n - successes + 1)
    high = 1.0 if successes == n else beta_quantile(1 - tail, successes + 1, n - successes)
    return Interval(successes / n if n else None, low, high, level, "clopper-pearson", n)


def beta_interval(
    successes: float, n: float, *, level: float = 0.95, prior: tuple[float, float] = (1.0, 1.0)
) -> Interval:
    """Bayesian credible interval for a pass rate with a Beta prior.

    Equal-tailed quantiles of Beta(s + a, n - s + b). Source: Bowyer, Aitchison & Ivanova 2025 (arXiv 2503.01747).

    Args:
        successes: how many passed, 0 <= successes <= n.
        n: how many were scored.
        level: posterior probability inside the interval.
        prior: the two shapes a, b > 0; (1, 1) is uniform.

    Returns:
        The observed rate s/n (not the posterior mean) and the interval, within [0, 1]. n = 0: estimate None, the
        interval of the prior, [.025, .975] for the uniform one. n = 1 and all-equal are defined.

    Raises:
        ValueError: impossible counts, level or prior.

    >>> print(beta_interval(7, 10))
    0.700 [0.390, 0.891]
    """
    check_level(level)
    check_counts(successes, n)
    a, b = prior
    if not (a > 0 and b > 0 and math.isfinite(a + b)):
        raise ValueError(f"prior is {prior!r}; want two positive numbers")
    tail = (1 - level) / 2
    low, high = (beta_quantile(p, successes + a, n - successes + b) for p in (tail, 1 - tail))
    return Interval(successes / n if n else None, low, high, level, f"beta({a:g}, {b:g})", n)


def t_interval(
    values: Iterable[SupportsFloat], *, level: float = 0.95, bounds: tuple[float, float] | None = None
) -> Interval:
    """Student's interval for a mean of independent values.

    m ± t(n-1) · s/√n with s the sample standard deviation (n - 1), cut at ``bounds``. Source: Student 1908.
    For 0/1 values use `wilson`: below a few hundred cases this one covers far less than it says.

    Args:
        values: one value per case, in any unit.
        level: two-sided confidence level.
        bounds: the range the values cannot leave, such as (0, 1).

    Returns:
        The mean and its interval in the values' unit; ``note`` says when it was cut. n = 0: estimate None, no interval.
        n = 1: the value, no interval. All-equal: a width of zero would be false certainty. With bounds, the share q of
        cases that have the common value v is at least (α/2)^(1/n) (Clopper-Pearson), the rest may lie anywhere:
        [q v + (1-q) low, q v + (1-q) high]. Without bounds: no interval.

    Raises:
        ValueError: NaN or infinite values, values outside the bounds, an impossible level.

    >>> print(t_interval([0.2, 0.4, 0.4, 0.6, 0.9]))
    0.500 [0.171, 0.829]
    >>> print(t_interval([1.0] * 10, bounds=(0, 1)))
    1.000 [0.692, 1.000]
    >>> print(t_interval([1.0]))
    1.000
    """
    check_level(level)
    xs = finite("values", values)
    check_within(xs, bounds)
    n = len(xs)
    if n == 0:
        return Interval(None, None, None, level, "t", 0, note="no values")
    if n == 1:
        return Interval(xs[0], None, None, level, "t", 1, note="one value has no spread")
    if min(xs) == max(xs):
        return _equal_interval(Interval(xs[0], None, None, level, "t", n), xs[0], n, bounds, "values")
    mean = math.fsum(xs) / n
    se = math.sqrt(math.fsum((x - mean) ** 2 for x in xs) / (n - 1) / n)
    return _student(Interval(mean, None, None, level, "t", n), mean, se, n - 1, bounds)


def clustered(
    values: Iterable[SupportsFloat],
    clusters: Iterable[Hashable],
    *,
    level: float = 0.95,
    bounds: tuple[float, float] | None = None,
    method: Literal["t", "wilson"] = "t",
) -> Interval:
    """Interval for a mean of values that come in groups, such as the trials of one case.

    se = √(G/(G-1) · Σ_g (Σ_{i in g} (x_i - m))²) / n over G clusters, then m ± t(G-1) · se, cut at ``bounds``.
    Effective size: n_eff = n · se_iid²/se², at most n. With ``method="wilson"`` (0/1 values): Wilson's interval of
    m · n_eff successes in n_eff, which stays inside [0, 1]. Sources: Miller 2024 (arXiv 2411.00640), with the
    finite-cluster correction of Liang & Zeger 1986 as statsmodels has it; Korn & Graubard 1998 for n_eff.

    Args:
        values: one value per observation, in any unit; 0 or 1 for ``method="wilson"``.
        clusters: the cluster of each observation, same length; no None.
        level: two-sided confidence level.
        bounds: the range the values cannot leave; (0, 1) for ``method="wilson"``.
        method: "t" for graded scores, "wilson" for 0/1 values.

    Returns:
        The mean over all observations with ``se``, ``clusters`` and ``n_eff``. n = 0: estimate None, no interval.
        One cluster: the mean, no se and, for "t", no interval; "wilson" counts the cluster as one observation.
        All-equal values, or cluster means that are all equal: as `t_interval` for G values, n_eff = G.
        One observation in each cluster gives `t_interval`. With fewer than about 10 clusters "wilson" is optimistic.

    Raises:
        ValueError: NaN or infinite values, lengths that differ, a missing cluster id, values outside the bounds.

    >>> trials, cases = [1, 1, 0, 0, 1, 0, 1, 1], "aabbccdd"
    >>> result = clustered(trials, cases, bounds=(0, 1))
    >>> round(result.se, 6), result.clusters, result.note
    (0.239357, 4, 'cut at [0, 1]')
    >>> print(clustered(trials, cases, method="wilson"))
    0.625 [0.239, 0.899]
    """
    check_level(level)
    xs, keys = finite("values", values), list(clusters)
    if len(xs) != len(keys):
        raise ValueError(f"values has {len(xs)} and clusters {len(keys)} items; want one cluster id for each value")
    if None in keys:
        raise ValueError(f"clusters[{keys.index(None)}] is None; want the id of the value's case")
    if method == "wilson":
        bounds = (0.0, 1.0)
        if any(x not in (0.0, 1.0) for x in xs):
            raise ValueError('method="wilson" wants values that are 0 or 1; use method="t" for graded scores')
    check_within(xs, bounds)

    name = f"clustered {method}"
    n, groups = len(xs), len(set(keys))
    if n == 0:
        return Interval(None, None, None, level, name, 0, clusters=0, note="no values")
    mean = xs[0] if min(xs) == max(xs) else math.fsum(xs) / n
    result = Interval(mean, None, None, level, name, n, clusters=groups)
    if groups == 1:
        if method == "wilson":
            return _effective_wilson(replace(result, note="one cluster counts as one observation"), mean, 1.0)
        return replace(result, note="one cluster has no spread between clusters")

    totals: dict[Hashable, list[float]] = {}
    for x, key in zip(xs, keys, strict=True):
        totals.setdefault(key, []).append(x - mean)
    sums = [math.fsum(deviations) for deviations in totals.values()]
    se = math.sqrt(groups / (groups - 1) * math.fsum(s * s for s in sums)) / n
    se_iid = math.sqrt(math.fsum((x - mean) ** 2 for x in xs) / (n - 1) / n)
    if se <= 1e-12 * se_iid:  # also when both are 0
        if method == "wilson":
            return _effective_wilson(result, mean, float(groups))
        return _equal_interval(replace(result, n_eff=float(groups)), mean, groups, bounds, "cluster means")
    # A case whose trials disagree more than chance would have it (se < se_iid) does not make more cases.
    n_eff = n * min(1.0, (se_iid / se) ** 2)
    if method == "wilson":
        return _effective_wilson(replace(result, se=se), mean, n_eff)
    return _student(replace(result, n_eff=n_eff), mean, se, groups - 1, bounds)


def _effective_wilson(result: Interval, rate: float, n_eff: float) -> Interval:
    low, high = wilson_limits(rate * n_eff, n_eff, result.level)
    return replace(result, low=low, high=high, n_eff=n_eff)


def _student(result: Interval, mean: float, se: float, df: float, bounds: tuple[float, float] | None) -> Interval:
    half = t_quantile(0.5 + result.level / 2, df) * se
    return cut(replace(result, low=mean - half, high=mean + half, se=se), bounds)


def cut(result: Interval, bounds: tuple[float, float] | None) -> Interval:
    """The interval cut at the range its estimate cannot leave; ``note`` says so where it was."""
    if bounds is None or result.low is None or result.high is None:
        return result
    low, high = max(result.low, bounds[0]), min(result.high, bounds[1])
    if (low, high) == (result.low, result.high):
        return result
    note = "; ".join(part for part in (result.note, f"cut at [{bounds[0]:g}, {bounds[1]:g}]") if part)
    return replace(result, low=low, high=high, note=note)


def _equal_interval(result: Interval, value: float, n: int, bounds: tuple[float, float] | None, what: str) -> Interval:
    note = f"all {n} {what} are equal: their spread says nothing"
    if bounds is None:
        return replace(result, note=note)
    share = ((1 - result.level) / 2) ** (1 / n)
    low, high = (share * value + (1 - share) * end for end in bounds)
    return replace(result, low=low, high=high, note=f"{note}; Clopper-Pearson bound instead")
