"""How much data: sizes, variances and effects go in; the effect that could be seen, or the cases needed, come out.

Normal approximations for two-sided tests at α = 1 - ``level``. Sizes come back as real numbers: round them up.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from .inputs import check_level
from .special import normal_quantile

__all__ = [
    "cases_for_paired_rates",
    "cases_for_rates",
    "cases_needed",
    "cases_to_claim",
    "difference_variance",
    "mde",
    "power",
]


def _positive(**named: float) -> None:
    for name, value in named.items():
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(f"{name} is {value!r}; want a number above 0")


def _not_negative(**named: float) -> None:
    for name, value in named.items():
        if not (value >= 0 and math.isfinite(value)):
            raise ValueError(f"{name} is {value!r}; want a number from 0 up")


def _quantiles(level: float, power: float) -> tuple[float, float]:
    check_level(level)
    check_level(power, "power")
    return normal_quantile(0.5 + level / 2), normal_quantile(power)


def difference_variance(
    between: float, within_a: float = 0.0, within_b: float = 0.0, *, trials_a: int = 1, trials_b: int = 1
) -> float:
    """Variance of one case's difference when every case is run several times.

    ω² + σ_a²/K_a + σ_b²/K_b. Source: Miller 2024 (arXiv 2411.00640).

    Args:
        between: ω², variance over cases of the true difference of the systems.
        within_a: σ_a², variance over the trials of one case under the first system.
        within_b: σ_b², the same under the second.
        trials_a: K_a, trials per case under the first.
        trials_b: K_b, trials per case under the second.

    Returns:
        Variance, in the square of the scores' unit. All variances 0 (all-equal): 0.

    Raises:
        ValueError: a negative variance, or fewer than one trial (n = 0); n = 1 trial is the default.

    >>> round(difference_variance(1 / 9, 1 / 6, 1 / 6, trials_a=10, trials_b=10), 6)
    0.144444
    """
    _not_negative(between=between, within_a=within_a, within_b=within_b)
    _positive(trials_a=trials_a, trials_b=trials_b)
    return between + within_a / trials_a + within_b / trials_b


def mde(n: int, variance: float, *, level: float = 0.95, power: float = 0.8) -> float | None:
    """Smallest mean difference a paired comparison could have detected.

    (z_{1-α/2} + z_power) · √(variance / n). Source: Miller 2024 (arXiv 2411.00640).

    Args:
        n: paired cases.
        variance: of the differences; for 0/1 scores the share of discordant cases. See `difference_variance`.
        level: 1 - α of the two-sided test.
        power: chance wanted of detecting it.

    Returns:
        A difference in the scores' unit. n = 0: None. n = 1 is defined by the formula, though no test can use it.
        All-equal differences (variance 0): None, since the data do not say what could have been seen.

    Raises:
        ValueError: a negative n or variance, an impossible level or power.

    >>> round(mde(100, 0.2), 3)
    0.125
    """
    _not_negative(n=n, variance=variance)
    z = sum(_quantiles(level, power))
    return z * math.sqrt(variance / n) if n and variance else None


def power(n: int, effect: float, variance: float, *, level: float = 0.95) -> float | None:
    """Chance that a paired comparison of n cases detects a true mean difference.

    Φ(|effect|/se - z) + Φ(-|effect|/se - z), se = √(variance / n), z = z_{1-α/2}.

    Args:
        n: paired cases.
        effect: true difference, in the scores' unit.
        variance: of the differences.
        level: 1 - α of the two-sided test.

    Returns:
        A chance in [α, 1]; effect 0 gives α. n = 0 or variance 0 (all-equal): None. n = 1 is defined by the formula.

    Raises:
        ValueError: a negative n or variance, an effect that is not finite, an impossible level.

    >>> round(power(100, 0.125291, 0.2), 3)
    0.8
    """
    _not_negative(n=n, variance=variance, effect=abs(effect))
    z, _ = _quantiles(level, 0.5)
    if not n or not variance:
        return None
    shift = abs(effect) / math.sqrt(variance / n)
    return NormalDist().cdf(shift - z) + NormalDist().cdf(-shift - z)


def cases_needed(effect: float, variance: float, *, level: float = 0.95, power: float = 0.8) -> float:
    """Paired cases needed to detect a mean difference: `mde` solved for n.

    (z_{1-α/2} + z_power)² · variance / effect². Source: Miller 2024 (arXiv 2411.00640).

    Args:
        effect: difference to detect, not 0, in the scores' unit.
        variance: of the differences. See `difference_variance`.
        level: 1 - α of the two-sided test.
        power: chance wanted of detecting it.

    Returns:
        Number of cases, not rounded. Variance 0 (all-equal): 0. It may come out below n = 1: one case then suffices on
        paper.

    Raises:
        ValueError: an effect of 0, a negative variance, an impossible level or power.

    >>> math.ceil(cases_needed(0.03, 1 / 9))
    969
    """
    _positive(effect=abs(effect))
    _not_negative(variance=variance)
    z = sum(_quantiles(level, power))
    return z * z * variance / (effect * effect)


def cases_for_paired_rates(effect: float, discordance: float, *, level: float = 0.95, power: float = 0.8) -> float:
    """Paired cases needed to detect a difference of two pass rates with McNemar's test.

    (z_{1-α/2} √ψ + z_power √(ψ - δ²))² / δ². Source: Connor 1987.

    Args:
        effect: δ, difference of the pass rates, not 0.
        discordance: ψ, share of cases that exactly one system passes; |δ| <= ψ <= 1.
        level: 1 - α of the two-sided test.
        power: chance wanted of detecting it.

    Returns:
        Number of cases, not rounded; from n = 1 up. All-equal outcomes (ψ = 0) cannot have a difference: an error.

    Raises:
        ValueError: an effect of 0, a discordance below it or above 1, an impossible level or power.

    >>> math.ceil(cases_for_paired_rates(0.1, 0.2))
    155
    """
    _positive(effect=abs(effect))
    if not abs(effect) <= discordance <= 1:
        raise ValueError(f"discordance is {discordance!r}; want a share from the effect {abs(effect)!r} up to 1")
    z, z_power = _quantiles(level, power)
    square = effect * effect
    return (z * math.sqrt(discordance) + z_power * math.sqrt(discordance - square)) ** 2 / square


def cases_for_rates(
    rate_a: float, rate_b: float, *, pooled: bool = True, level: float = 0.95, power: float = 0.8
) -> float:
    """Cases needed per system to tell two pass rates apart on different cases.

    Pooled: (z_{1-α/2} √(2 p̄ (1-p̄)) + z_power √(v_a + v_b))² / (p_a - p_b)², v = p (1-p), p̄ the mean rate.
    Unpooled: (z_{1-α/2} + z_power)² (v_a + v_b) / (p_a - p_b)². Source: Fleiss, Levin & Paik 2003, chapter 4.

    Args:
        rate_a: pass rate of the first system, in [0, 1].
        rate_b: pass rate of the second, another one.
        pooled: whether the test pools the two rates.
        level: 1 - α of the two-sided test.
        power: chance wanted of detecting it.

    Returns:
        Number of cases per system, not rounded; from n = 0 up (rates of 0 and 1, unpooled, have no variance). Equal
        rates: an error.

    Raises:
        ValueError: rates outside [0, 1] or equal, an impossible level or power.

    >>> math.ceil(cases_for_rates(0.7, 0.8))
    294
    """
    if not (0 <= rate_a <= 1 and 0 <= rate_b <= 1) or rate_a == rate_b:
        raise ValueError(f"rates are {rate_a!r} and {rate_b!r}; want two different numbers in [0, 1]")
    z, z_power = _quantiles(level, power)
    own = rate_a * (1 - rate_a) + rate_b * (1 - rate_b)
    mean = (rate_a + rate_b) / 2
    null = 2 * mean * (1 - mean) if pooled else own
    return (z * math.sqrt(null) + z_power * math.sqrt(own)) ** 2 / (rate_a - rate_b) ** 2


def cases_to_claim(rate: float, *, level: float = 0.95) -> int:
    """Cases that must all pass before a pass rate of at least ``rate`` may be claimed.

    Smallest n with rate^n <= 1 - level: the one-sided Clopper-Pearson bound (1 - level)^(1/n) of n passes in n.

    Args:
        rate: pass rate to claim, strictly between 0 and 1.
        level: one-sided confidence level.

    Returns:
        Number of cases, from n = 1 up.

    Raises:
        ValueError: a rate or level outside (0, 1).

    >>> [cases_to_claim(rate) for rate in (0.8, 0.9, 0.95, 0.99)]
    [14, 29, 59, 299]
    """
    check_level(level)
    check_level(rate, "rate")
    # Where log(1-level)/log(rate) is a whole number, rounding must not add a case.
    return max(1, math.ceil(math.log(1 - level) / math.log(rate) - 1e-9))
