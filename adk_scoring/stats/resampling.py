"""Resampling: values and a seed go in, a percentile interval or a p-value comes out; the same seed gives the same bits.

numpy is loaded by the functions that draw. Sums are taken without BLAS, so the number of threads changes nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, SupportsFloat

from .inputs import check_level, check_seed, finite
from .intervals import Interval
from .paired import PValue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["bootstrap", "bootstrap_means", "sign_flip"]

_MIN_RESAMPLES = 2000
_EXACT_UP_TO = 20
# Numbers drawn at a time: bounds the memory, and is part of what makes a seed reproducible.
_CHUNK = 1 << 20


def bootstrap_means(
    values: Iterable[SupportsFloat],
    *,
    seed: int,
    clusters: Iterable[Hashable] | None = None,
    resamples: int = 10_000,
) -> NDArray[np.float64]:
    """Means of resamples drawn with replacement, whole clusters at a time.

    Args:
        values: one value per observation, in any unit. For a paired comparison: the differences, case by case.
        seed: whole number from 0 up.
        clusters: the cluster of each value; None makes every value its own.
        resamples: how many, at least 2000.

    Returns:
        Array of shape (resamples,), in the values' unit. n = 0: empty. n = 1 or all-equal: all the same number.
        ``(means <= 0).mean()`` is the bootstrap share at or below zero.

    Raises:
        ValueError: NaN or infinite values, lengths that differ, a missing cluster id, too few resamples, a bad seed.

    >>> means = bootstrap_means([0.0, 0.5, 1.0], seed=1)
    >>> means.shape, bool(abs(means.mean() - 0.5) < 0.01)
    ((10000,), True)
    """
    import numpy as np

    check_seed(seed)
    if resamples < _MIN_RESAMPLES:
        raise ValueError(
            f"resamples is {resamples}; want at least {_MIN_RESAMPLES}: the ends are quantiles of the tails"
        )
    sums, sizes = _cluster_sums(finite("values", values), clusters)
    groups = len(sums)
    if groups == 0:
        return np.empty(0)
    sum_of, size_of = np.array(sums), np.array(sizes, dtype=np.float64)
    rng = np.random.default_rng(seed)
    means = np.empty(resamples)
    step = max(1, _CHUNK // groups)
    for start in range(0, resamples, step):
        drawn = rng.integers(groups, size=(min(step, resamples - start), groups))
        means[start : start + step] = sum_of[drawn].sum(axis=1) / size_of[drawn].sum(axis=1)
    return means


def _cluster_sums(xs: list[float], clusters: Iterable[Hashable] | None) -> tuple[list[float], list[int]]:
    if clusters is None:
        return xs, [1] * len(xs)
    keys = list(clusters)
    if len(keys) != len(xs) or None in keys:
        raise ValueError(f"clusters has {len(keys)} items for {len(xs)} values; want one id, not None, for each value")
    members: dict[Hashable, list[float]] = {}
    for x, key in zip(xs, keys, strict=True):
        members.setdefault(key, []).append(x)
    return [sum(group) for group in members.values()], [len(group) for group in members.values()]


def bootstrap(
    values: Iterable[SupportsFloat],
    *,
    seed: int,
    clusters: Iterable[Hashable] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
) -> Interval:
    """Percentile bootstrap interval for a mean; clusters are drawn whole.

    Quantiles α/2 and 1-α/2 of `bootstrap_means` (linear interpolation). Source: Efron 1979; Field & Welsh 2007 for
    clusters. It never leaves the observed values: below 30 cases, and for pass rates, prefer `wilson`.

    Args:
        values: one value per observation, in any unit. For a paired comparison: the differences, case by case.
        seed: whole number from 0 up; with ``resamples`` it stands in ``method``.
        clusters: the cluster of each value; None makes every value its own.
        level: two-sided confidence level.
        resamples: how many, at least 2000.

    Returns:
        The mean and its interval, in the values' unit. n = 0: estimate None, no interval. n = 1, a single cluster or
        all-equal: no interval, since every resample is the same.

    Raises:
        ValueError: as `bootstrap_means`, or an impossible level.

    >>> result = bootstrap([0.2, 0.4, 0.4, 0.6, 0.9], seed=0)
    >>> result.method
    'percentile bootstrap, 10000 resamples, seed 0'
    >>> 0.2 < result.low < 0.5 < result.high < 0.9
    True
    """
    check_level(level)
    xs = finite("values", values)
    keys = list(range(len(xs))) if clusters is None else list(clusters)
    means = bootstrap_means(xs, seed=seed, clusters=keys, resamples=resamples)
    method = f"percentile bootstrap, {resamples} resamples, seed {seed}"
    groups = None if clusters is None else len(set(keys))
    if not xs:
        return Interval(None, None, None, level, method, 0, clusters=groups, note="no values")
    mean = sum(xs) / len(xs)
    if means.max() - means.min() <= 1e-12 * max(abs(x) for x in xs):
        note = "every resample has the same mean: nothing to measure the spread with"
        return Interval(mean, None, None, level, method, len(xs), clusters=groups, note=note)
    import numpy as np

    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(mean, float(low), float(high), level, method, len(xs), float(means.std(ddof=1)), groups)


def sign_flip(differences: Iterable[SupportsFloat], *, seed: int = 0, resamples: int = 100_000) -> PValue:
    """Two-sided sign-flip (permutation) test that paired differences are symmetric around zero.

    The share of sign patterns whose |Σ ±d| reaches |Σ d|. Exact over all 2^m patterns of the m non-zero differences up
    to m = 20; above that Monte Carlo, (1 + reached) / (1 + resamples). Sources: Fisher 1935; Phipson & Smyth 2010.
    For differences of 0/1 scores it equals `mcnemar_exact`. Differences within 1e-12 count as zero and ties within
    1e-12 of Σ|d| as reached, so that rounding decides nothing.

    Args:
        differences: one per case, in any unit; average the trials of a case first.
        seed: whole number from 0 up, used by Monte Carlo only.
        resamples: sign patterns drawn by Monte Carlo, at least 2000.

    Returns:
        A `PValue`, never 0. n = 0 and all zero: p = 1 (no evidence either way). n = 1: p = 1.
        All-equal and not zero: 2^(1-m) while exact.

    Raises:
        ValueError: NaN or infinite differences, too few resamples, a bad seed.

    >>> sign_flip([0.3, 0.1, 0.2, 0.4, -0.1]).p
    0.1875
    >>> sign_flip([1] * 6)
    PValue(p=0.03125, method='sign-flip, exact', informative=6, smallest=0.03125)
    """
    import numpy as np

    check_seed(seed)
    if resamples < _MIN_RESAMPLES:
        raise ValueError(
            f"resamples is {resamples}; want at least {_MIN_RESAMPLES}: p is a multiple of 1/(1 + resamples)"
        )
    d = np.array([x for x in finite("differences", differences) if abs(x) > 1e-12])
    m = len(d)
    reach = abs(float(d.sum())) - 1e-12 * float(np.abs(d).sum())
    if m <= _EXACT_UP_TO:
        sums = d[:1]  # a pattern and its mirror image have the same |sum|: the first sign stays
        for x in d[1:]:
            sums = np.concatenate([sums + x, sums - x])
        p = float((np.abs(sums) >= reach).mean()) if m else 1.0
        return PValue(p, "sign-flip, exact", m, min(1.0, 2.0 ** (1 - m)))
    rng = np.random.default_rng(seed)
    reached = 0
    step = max(1, _CHUNK // m)
    total = float(d.sum())
    for start in range(0, resamples, step):
        flipped = rng.integers(2, size=(min(step, resamples - start), m), dtype=np.int8)
        reached += int((np.abs(total - 2 * np.einsum("ij,j->i", flipped, d)) >= reach).sum())
    method = f"sign-flip, {resamples} random sign patterns, seed {seed}"
    return PValue((1 + reached) / (1 + resamples), method, m, 1 / (1 + resamples))
