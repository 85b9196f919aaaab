"""Quantiles and distribution functions the intervals need: numbers in, numbers out, standard library only.

The incomplete beta function is the continued fraction of Abramowitz & Stegun 26.5.8 (modified Lentz), with its leading
factor in the saddle-point form of Loader (2000), which keeps 12 digits where differences of ``lgamma`` lose them.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

__all__ = ["beta_cdf", "beta_quantile", "normal_quantile", "t_cdf", "t_quantile"]

_TINY = 1e-300
_EPSILON = 1e-16
# Terms of the Stirling series of lgamma; five are enough for arguments above 16.
_STIRLING = (1 / 12, 1 / 360, 1 / 1260, 1 / 1680, 1 / 1188)


def normal_quantile(p: float) -> float:
    """Quantile of the standard normal distribution.

    Args:
        p: probability, 0 < p < 1.

    Returns:
        z with P(Z <= z) = p, from :class:`statistics.NormalDist` (Wichura's AS 241).

    >>> round(normal_quantile(0.975), 10)
    1.9599639845
    """
    return NormalDist().inv_cdf(p)


def _stirling_error(x: float) -> float:
    """``lgamma(x + 1)`` minus Stirling's formula for it."""
    if x > 16:
        square = x * x
        total = 0.0
        for term in reversed(_STIRLING):
            total = term - total / square
        return total / x
    return math.lgamma(x + 1) - (x + 0.5) * math.log(x) + x - 0.5 * math.log(2 * math.pi)


def _deviance(x: float, mean: float) -> float:
    """``x log(x/mean) + mean - x`` without cancellation when x is near the mean."""
    if abs(x - mean) < 0.1 * (x + mean):
        v = (x - mean) / (x + mean)
        total = (x - mean) * v
        term = 2 * x * v
        for j in range(3, 1000, 2):
            term *= v * v
            following = total + term / j
            if following == total:
                break
            total = following
        return total
    return x * math.log(x / mean) + mean - x


def _leading_factor(x: float, a: float, b: float) -> float:
    """``x^a (1-x)^b / B(a, b)``; divided by x(1-x) it is the density of Beta(a, b)."""
    n = a + b
    if n * x == 0:  # x or the product underflowed: nothing of the density is left
        return 0.0
    exponent = _stirling_error(n) - _stirling_error(a) - _stirling_error(b)
    exponent -= _deviance(a, n * x) + _deviance(b, n * (1 - x))
    return math.exp(exponent) * math.sqrt(a * b / (2 * math.pi * n))


def _continued_fraction(x: float, a: float, b: float) -> float:
    """The fraction of A&S 26.5.8; converges fast for x below the mean of Beta(a, b)."""
    c = 1.0
    d = 1 / (1 - (a + b) * x / (a + 1) or _TINY)
    value = d
    for m in range(1, 100_000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + numerator * d or _TINY)
            c = 1 + numerator / c or _TINY
            value *= d * c
        if abs(d * c - 1) < 4 * _EPSILON:
            break
    return value


def beta_cdf(x: float, a: float, b: float) -> float:
    """Distribution function of Beta(a, b): the regularised incomplete beta function I_x(a, b).

    Args:
        x: where, 0 <= x <= 1.
        a: first shape, > 0.
        b: second shape, > 0.

    Returns:
        P(X <= x), in [0, 1].

    >>> round(beta_cdf(0.25, 1, 3), 12)  # 1 - 0.75^3
    0.578125
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _leading_factor(x, a, b) * _continued_fraction(1 - x, b, a) / b
    return _leading_factor(x, a, b) * _continued_fraction(x, a, b) / a


@lru_cache(maxsize=4096)
def beta_quantile(p: float, a: float, b: float) -> float:
    """Quantile of Beta(a, b).

    Args:
        p: probability, 0 <= p <= 1.
        a: first shape, > 0.
        b: second shape, > 0.

    Returns:
        x with ``beta_cdf(x, a, b) == p``: Newton's steps, kept inside a bracket that bisection shrinks.

    >>> round(beta_quantile(0.025, 10, 1), 6)  # 0.025 ** (1 / 10)
    0.691503
    """
    if p <= 0 or p >= 1:
        return float(p >= 1)
    low, high = 0.0, 1.0
    x = a / (a + b)
    for _ in range(1100):  # bisection alone reaches the smallest double in this many halvings
        excess = beta_cdf(x, a, b) - p
        if excess > 0:
            high = x
        else:
            low = x
        density = _leading_factor(x, a, b) / (x * (1 - x))
        following = x - excess / density if density > 0 else low
        if not low < following < high:
            following = low + (high - low) / 2
        if abs(following - x) <= _EPSILON * x or following in (0.0, 1.0):
            return following
        x = following
    return x  # pragma: no cover - the bracket is narrower than a double by now


def t_cdf(t: float, df: float) -> float:
    """Distribution function of Student's t.

    Args:
        t: where.
        df: degrees of freedom, > 0.

    Returns:
        P(T <= t), in [0, 1].

    >>> t_cdf(1.0, 1)
    0.75
    """
    square = t * t
    if square < df:  # whichever of the two arguments is the smaller keeps its digits
        return 0.5 + math.copysign(beta_cdf(square / (df + square), 0.5, df / 2) / 2, t)
    tail = beta_cdf(df / (df + square), df / 2, 0.5) / 2
    return 1 - tail if t > 0 else tail


def t_quantile(p: float, df: float) -> float:
    """Quantile of Student's t.

    Args:
        p: probability, 0 < p < 1.
        df: degrees of freedom, > 0.

    Returns:
        t with ``t_cdf(t, df) == p``. y = t^2/(df + t^2) follows Beta(1/2, df/2); where y is near 1 its complement is
        solved for instead, so that neither few nor many degrees of freedom cost digits.

    >>> round(t_quantile(0.975, 4), 10)
    2.7764451052
    """
    tail = min(p, 1 - p)
    y = beta_quantile(1 - 2 * tail, 0.5, df / 2)
    if y > 0.5:
        complement = beta_quantile(2 * tail, df / 2, 0.5)
        ratio = (1 - complement) / complement
    else:
        ratio = y / (1 - y)
    return math.copysign(math.sqrt(df * ratio), p - 0.5)
