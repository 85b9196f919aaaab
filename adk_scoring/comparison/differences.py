"""Values of two reports case by case -> what differs, with its interval, its test and what could have been seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import variance
from typing import Final, Literal

from ..report.summary import finite_range
from ..stats import Interval, PValue, mcnemar_exact, mde, newcombe, paired_difference, sign_flip
from .cohort import Values

__all__ = ["COMPOSITE", "PASSED", "Analysis", "Difference", "Kind", "Measure", "Standing"]

Kind = Literal["criterion", "passed", "composite"]
PASSED: Final = "cases passed"
"""Label of the share of cases that passed every criterion."""
COMPOSITE: Final = "composite"
"""Label of the mean over the criteria that all reports have, each put on 0..1 with 1 as its best."""
_SAME: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Measure:
    """What is compared: a criterion, `PASSED` or `COMPOSITE`, with its range and direction."""

    label: str
    kind: Kind
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True


@dataclass(frozen=True, slots=True)
class Standing:
    """What one report says under one label, over the cases that are compared.

    Attributes:
        label: the criterion, `PASSED` or `COMPOSITE`.
        kind: which of these it is.
        report: the report's name.
        interval: its mean with interval; trials of one case count as one cluster.
        coverage: how many rows that covers, in words.
        share: where the mean lies in the metric's range, 1 being the best; ``None`` without a mean or a finite range.
    """

    label: str
    kind: Kind
    report: str
    interval: Interval
    coverage: str
    share: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two reports under one label.

    Attributes:
        label: the criterion, `PASSED` or `COMPOSITE`.
        kind: which of these it is.
        baseline: name of the report that is compared with.
        other: name of the report that is compared.
        n: cases that both scored.
        unscored: compared cases that one of them did not score.
        baseline_mean: over these n; trials of a case are averaged first.
        other_mean: likewise.
        interval: of other - baseline, in the metric's unit.
        test: of no difference; ``None`` where no case was scored by both.
        adjusted: Holm's p over all criteria and pairs; ``None`` for `PASSED` and `COMPOSITE`, which repeat them.
        wins: cases in which the other is better, in the metric's direction.
        ties: cases in which they are equal.
        losses: cases in which the baseline is better.
        detectable: the smallest difference that so many cases, as different as these, show with 80 % power;
            ``None`` where nothing differs, so that the data do not say.
        higher_is_better: the metric's direction.
        range: the metric's range.
        signature: how it was made, in one line.
        notes: what else a reader must know.
    """

    label: str
    kind: Kind
    baseline: str
    other: str
    n: int
    unscored: int
    baseline_mean: float | None
    other_mean: float | None
    interval: Interval
    test: PValue | None
    adjusted: float | None
    wins: int
    ties: int
    losses: int
    detectable: float | None
    higher_is_better: bool
    range: tuple[float, float]
    signature: str
    notes: tuple[str, ...] = ()

    @property
    def p(self) -> float | None:
        """The p-value that decides: adjusted where there is a family, else the test's own."""
        return self.adjusted if self.adjusted is not None else self.test.p if self.test else None

    @property
    def improvement(self) -> Interval:
        """The interval turned so that more is better, whatever the metric's direction."""
        if self.higher_is_better:
            return self.interval
        low, high = _negative(self.interval.high), _negative(self.interval.low)
        return replace(self.interval, estimate=_negative(self.interval.estimate), low=low, high=high)

    @property
    def verdict(self) -> Literal["better", "worse", "unclear"]:
        """Whether the other report is significantly better or worse than the baseline."""
        estimate = self.improvement.estimate
        if self.p is None or estimate is None or self.p > 1 - self.interval.level + _SAME:
            return "unclear"
        return "better" if estimate > 0 else "worse"


@dataclass(frozen=True, slots=True)
class Analysis:
    """How differences are tested; see `compare`.

    Attributes:
        level: two-sided confidence level.
        seed: of the sign-flip test where it draws patterns.
        resamples: how many it draws.
        averaged: whether values are means of trials.
    """

    level: float
    seed: int
    resamples: int
    averaged: bool

    def difference(
        self, measure: Measure, names: tuple[str, str], sides: tuple[Values, Values], *, made: str, notes: Sequence[str]
    ) -> Difference:
        """Compare two reports under one measure.

        Args:
            measure: what is compared.
            names: the baseline's name and the other's.
            sides: the baseline's value of each case and the other's.
            made: how the values were made.
            notes: what a reader must know of how they were made.
        """
        scored = [(old, new) for old, new in zip(*sides, strict=True) if old is not None and new is not None]
        unscored = sum((old is None) != (new is None) for old, new in zip(*sides, strict=True))
        olds, news = [old for old, _ in scored], [new for _, new in scored]
        changes = [0.0 if abs(new - old) <= _SAME else new - old for old, new in scored]
        ups, downs = sum(change > 0 for change in changes), sum(change < 0 for change in changes)
        zero_or_one = all(value in (0.0, 1.0) for value in (*olds, *news))
        binary = zero_or_one and not self.averaged and measure.range == (0.0, 1.0)
        test: PValue | None = None
        detectable: float | None = None
        if binary and scored:
            both = sum(old + new == 2 for old, new in scored)
            interval = newcombe(both, ups, downs, len(scored) - both - ups - downs, level=self.level)
            test = mcnemar_exact(ups, downs)
            detectable = mde(len(scored), (ups + downs) / len(scored), level=self.level)
        else:
            interval = paired_difference(news, olds, level=self.level, bounds=finite_range(measure.range))
            if scored:
                test = sign_flip(changes, seed=self.seed, resamples=self.resamples)
            if len(scored) > 1:
                detectable = mde(len(scored), variance(changes), level=self.level)
        method = f"interval:{interval.method}, {self.level:.0%}|test:{test.method if test else 'none'}"
        return Difference(
            measure.label,
            measure.kind,
            *names,
            n=len(scored),
            unscored=unscored,
            baseline_mean=math.fsum(olds) / len(olds) if olds else None,
            other_mean=math.fsum(news) / len(news) if news else None,
            interval=interval,
            test=test,
            adjusted=None,
            wins=ups if measure.higher_is_better else downs,
            ties=len(scored) - ups - downs,
            losses=downs if measure.higher_is_better else ups,
            detectable=detectable,
            higher_is_better=measure.higher_is_better,
            range=measure.range,
            signature=f"{made}|cases:{len(scored)}|trials:{'averaged by case' if self.averaged else 'one'}|{method}",
            notes=(*notes, *self._remarks(test, interval)),
        )

    def _remarks(self, test: PValue | None, interval: Interval) -> list[str]:
        remarks = []
        alpha = 1 - self.level
        if test is None:
            remarks.append("no case was scored in both reports")
        elif test.smallest > alpha + _SAME:
            # The smallest p of m differing cases is 2^(1-m).
            enough = math.ceil(1 - math.log2(alpha) - 1e-9)
            remarks.append(
                f"cannot be significant: {test.informative} case{'s differ' if test.informative != 1 else ' differs'}, "
                f"and it takes at least {enough}"
            )
        if interval.note:
            remarks.append(interval.note)
        return remarks


def _negative(value: float | None) -> float | None:
    return None if value is None else 0.0 - value
