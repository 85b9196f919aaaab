"""A judge against people: labels or counts go in, agreement or a corrected pass rate with its interval comes out."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Literal, SupportsFloat

from .inputs import check_counts, check_level, finite, same_length
from .intervals import Interval, cut
from .special import normal_quantile

__all__ = ["confusion", "kappa", "ppi", "rogan_gladen"]


def confusion(
    first: Iterable[Hashable], second: Iterable[Hashable], *, labels: Sequence[Hashable] | None = None
) -> list[list[int]]:
    """How often each pair of labels was given to one item.

    Args:
        first: labels of the first rater, one per item.
        second: labels of the second, the same items in the same order.
        labels: the categories in their order; None takes those seen, in order of first appearance.

    Returns:
        Square table of counts: rows are the first rater's labels, columns the second's. n = 0 and no labels: ``[]``.

    Raises:
        ValueError: lengths that differ, or a label that is not among ``labels``.

    >>> confusion("yyn", "yny", labels="yn")
    [[1, 1], [1, 0]]
    """
    rows, columns = list(first), list(second)
    if len(rows) != len(columns):
        raise ValueError(f"first has {len(rows)} and second {len(columns)} labels; want one of each for every item")
    names = list(dict.fromkeys(rows + columns)) if labels is None else list(labels)
    index = {name: position for position, name in enumerate(names)}
    for label in rows + columns:
        if label not in index:
            raise ValueError(f"label {label!r} is not among the labels {names!r}")
    table = [[0] * len(names) for _ in names]
    for row, column in zip(rows, columns, strict=True):
        table[index[row]][index[column]] += 1
    return table


def kappa(
    table: Sequence[Sequence[float]], *, weights: Literal["linear", "quadratic"] | None = None, level: float = 0.95
) -> Interval:
    """Cohen's kappa: agreement of two raters beyond chance.

    (p_o - p_e) / (1 - p_e), where p_o = Σ w_ij p_ij and p_e = Σ w_ij p_i. p_.j. The agreement weights w are 1 on the
    diagonal and else 0; linear 1 - |i-j|/(K-1); quadratic 1 - (i-j)²/(K-1)². Standard error for large samples, interval
    ± z · se cut at [-1, 1]. Sources: Cohen 1960, 1968; Fleiss, Cohen & Everitt 1969.

    Args:
        table: counts, K x K, such as `confusion` gives; for weights in the order of the scale.
        weights: None for names, "linear" or "quadratic" for an ordered scale.
        level: two-sided confidence level.

    Returns:
        Kappa, in [-1, 1]; ``n`` is the number of items. n = 0, or chance agreement of 1 (both raters used one and the
        same category only): estimate None, no interval. n = 1 with two labels: 0. Full or no agreement at all, where
        the standard error is 0: the estimate, no interval.

    Raises:
        ValueError: a table that is not square, or counts that are negative, NaN or infinite.

    >>> print(kappa([[40, 5], [10, 45]]))
    0.700 [0.561, 0.839]
    >>> kappa([[50, 0], [0, 0]]).estimate is None  # 100 % agreement that could not have been otherwise
    True
    """
    check_level(level)
    counts = [finite(f"table[{i}]", row) for i, row in enumerate(table)]
    size = len(counts)
    if any(len(row) != size for row in counts) or any(count < 0 for row in counts for count in row):
        raise ValueError("table must be square, of counts from 0 up: one row and one column for each label")
    method = f"kappa, {weights} weights" if weights else "kappa"
    n = math.fsum(map(math.fsum, counts))
    undefined = Interval(None, None, None, level, method, n)
    if n == 0:
        return replace(undefined, note="no items")

    span = range(size)
    power = {"linear": 1, "quadratic": 2}.get(weights or "")
    agree = [
        [float(i == j) if power is None else 1 - (abs(i - j) / max(1, size - 1)) ** power for j in span] for i in span
    ]
    p = [[count / n for count in row] for row in counts]
    rows, columns = [math.fsum(row) for row in p], [math.fsum(column) for column in zip(*p, strict=True)]
    observed = math.fsum(p[i][j] * agree[i][j] for i in span for j in span)
    chance = math.fsum(rows[i] * columns[j] * agree[i][j] for i in span for j in span)
    if chance >= 1 - 1e-12:
        return replace(undefined, note="both raters used one category only: chance alone agrees fully")
    value = (observed - chance) / (1 - chance)

    by_row = [math.fsum(columns[j] * agree[i][j] for j in span) for i in span]
    by_column = [math.fsum(rows[i] * agree[i][j] for i in span) for j in span]
    spread = math.fsum(
        p[i][j] * (agree[i][j] - (by_row[i] + by_column[j]) * (1 - value)) ** 2 for i in span for j in span
    )
    variance = (spread - (value - chance * (1 - value)) ** 2) / (n * (1 - chance) ** 2)
    if variance <= 1e-15:
        return replace(undefined, estimate=value, note="the large-sample error is 0 here and says nothing")
    se = math.sqrt(variance)
    half = normal_quantile(0.5 + level / 2) * se
    return cut(Interval(value, value - half, value + half, level, method, n, se), (-1.0, 1.0))


def rogan_gladen(
    passed: int,
    n: int,
    true_positives: int,
    positives: int,
    true_negatives: int,
    negatives: int,
    *,
    level: float = 0.95,
) -> Interval:
    """The true pass rate behind a judge's pass rate, corrected for the judge's errors on human-labelled items.

    θ = (q + TNR - 1) / (TPR + TNR - 1), q = passed/n. Interval: every count is first moved towards the middle,
    q~ = (passed + z²/2)/(n + z²), TPR~ = (tp + 1)/(positives + 2), TNR~ likewise; then θ~ + d ± z · se with
    d = 2z²(θ~ TPR~(1-TPR~)/(positives+2) - (1-θ~) TNR~(1-TNR~)/(negatives+2)), cut at [0, 1].
    Sources: Rogan & Gladen 1978; Lang & Reiczigel 2014.

    Args:
        passed: items the judge passed among the unlabelled ones.
        n: unlabelled items it judged.
        true_positives: labelled items it passed and people passed.
        positives: labelled items people passed.
        true_negatives: labelled items it failed and people failed.
        negatives: labelled items people failed.
        level: two-sided confidence level.

    Returns:
        The corrected rate, in [0, 1]; ``note`` says when it or the interval had to be cut, and when nothing of the
        interval was inside, so that there is none. No estimate, with the reason in
        ``note``: n = 0, no labels on one side, or a judge no better than chance (TPR + TNR <= 1, also after moving the
        counts towards the middle). n = 1 and all-equal counts are defined.

    Raises:
        ValueError: impossible counts or level.

    >>> print(rogan_gladen(300, 500, 40, 45, 45, 55))
    0.591 [0.479, 0.722]
    >>> rogan_gladen(300, 500, 20, 45, 25, 55).note
    'refused: TPR + TNR = 0.899; at 1 or below the judge does no better than chance'
    """
    check_level(level)
    check_counts(passed, n, ("passed", "n"))
    check_counts(true_positives, positives, ("true_positives", "positives"))
    check_counts(true_negatives, negatives, ("true_negatives", "negatives"))
    method = f"rogan-gladen, {positives}+{negatives} labels"
    refused = Interval(None, None, None, level, method, n)
    if min(n, positives, negatives) == 0:
        return replace(refused, note="refused: wants judged items, and labelled items that people passed and failed")
    z = normal_quantile(0.5 + level / 2)
    size, size_1, size_0 = n + z * z, positives + 2, negatives + 2
    q, tpr, tnr = (passed + z * z / 2) / size, (true_positives + 1) / size_1, (true_negatives + 1) / size_0
    raw = true_positives / positives + true_negatives / negatives
    if min(raw, tpr + tnr) <= 1 + 1e-12:
        return replace(
            refused, note=f"refused: TPR + TNR = {raw:.3g}; at 1 or below the judge does no better than chance"
        )
    point = (passed / n + true_negatives / negatives - 1) / (raw - 1)
    theta = (q + tnr - 1) / (tpr + tnr - 1)
    spread_1, spread_0 = tpr * (1 - tpr) / size_1, tnr * (1 - tnr) / size_0
    shift = 2 * z * z * (theta * spread_1 - (1 - theta) * spread_0)
    variance = q * (1 - q) / size + (1 - theta) ** 2 * spread_0 + theta**2 * spread_1
    se = math.sqrt(variance) / (tpr + tnr - 1)
    estimate = min(1.0, max(0.0, point))
    note = "" if estimate == point else f"estimate {point:.3f} cut at [0, 1]"
    low, high = theta + shift - z * se, theta + shift + z * se
    if low > 1 or high < 0:
        note = f"{note}; the interval lies outside: the labelled items are not like the judged ones"
        return Interval(estimate, None, None, level, method, n, se, note=note)
    return cut(Interval(estimate, low, high, level, method, n, se, note=note), (0.0, 1.0))


def ppi(
    human: Iterable[SupportsFloat],
    judged: Iterable[SupportsFloat],
    unlabelled: Iterable[SupportsFloat],
    *,
    tune: bool = True,
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
) -> Interval:
    """Prediction-powered mean: few human scores and many judge scores in one estimate that the judge cannot bias.

    θ = λ mean(unlabelled) + mean(human - λ judged); variance var(human - λ judged)/n + λ² var(unlabelled)/N (both
    divided by their n); θ ± z · se. λ = cov(human, judged) / ((1 + n/N) var(all judge scores)), kept in [0, 1].
    Sources: Angelopoulos et al. 2023 (arXiv 2301.09633), 2023 (arXiv 2311.01453) for λ.

    Args:
        human: human scores of n items drawn at random from the same population as the rest.
        judged: the judge's scores of these items, in the same order and unit.
        unlabelled: the judge's scores of N further items.
        tune: choose λ as above; False takes λ = 1.
        bounds: the range of the scores; the interval is cut there.
        level: two-sided confidence level.

    Returns:
        The mean in the scores' unit; ``n`` is the number of labelled items; λ stands in ``method``. n = 0: estimate
        None. No unlabelled items: λ = 0, the plain mean of the human scores. n = 1: no interval. All-equal: no
        interval where the standard error is 0, a note where the judge's error on the labelled items is constant.

    Raises:
        ValueError: NaN or infinite scores, or human and judged of different lengths.

    >>> human, judged = [1, 0, 1, 1, 0, 1, 0, 1, 1, 1], [1, 0, 1, 0, 0, 1, 1, 1, 1, 1]
    >>> print(ppi(human, judged, [1] * 70 + [0] * 30))
    0.700 [0.454, 0.946]
    """
    check_level(level)
    truth, seen, rest = finite("human", human), finite("judged", judged), finite("unlabelled", unlabelled)
    same_length(human=truth, judged=seen)
    n, more = len(truth), len(rest)
    if n == 0:
        return Interval(None, None, None, level, "ppi", 0, note="no labelled items")
    weight = 0.0 if more == 0 else _tuned(truth, seen, rest) if tune else 1.0
    errors = [y - weight * f for y, f in zip(truth, seen, strict=True)]
    estimate = _mean(errors) + (weight * _mean(rest) if more else 0.0)
    result = Interval(estimate, None, None, level, f"ppi, lambda {weight:.6g}, {more} unlabelled", n)
    if n == 1:
        return replace(result, note="one labelled item has no spread")
    variance = _variance(errors) / n + (weight**2 * _variance(rest) / more if more else 0.0)
    if variance <= 1e-24:
        return replace(result, note="the scores are all equal: their spread says nothing")
    se = math.sqrt(variance)
    half = normal_quantile(0.5 + level / 2) * se
    note = "the judge's error is the same on all labelled items: too narrow" if max(errors) == min(errors) else ""
    return cut(replace(result, low=estimate - half, high=estimate + half, se=se, note=note), bounds)


def _tuned(truth: list[float], seen: list[float], rest: list[float]) -> float:
    """The λ of least variance."""
    spread = _variance(seen + rest)
    if spread == 0:
        return 0.0  # a judge that always says the same adds nothing
    mean_truth, mean_seen = _mean(truth), _mean(seen)
    covariance = _mean([(y - mean_truth) * (f - mean_seen) for y, f in zip(truth, seen, strict=True)])
    return min(1.0, max(0.0, covariance / ((1 + len(truth) / len(rest)) * spread)))


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: list[float]) -> float:
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / len(values)
