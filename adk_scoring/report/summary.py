"""A column of scores in numbers: coverage, mean, verdicts; and the verdict of each case over all columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from ..criteria import Criteria, Criterion, Verdict
from ..metrics.base import Scores
from ..model import Case
from ..stats import Interval, clustered, t_interval, wilson

__all__ = ["CaseVerdict", "CriterionSummary", "Summary", "case_verdicts", "finite_range", "mean_interval", "summarise"]

CaseVerdict = Literal["passed", "failed", "error", "not_evaluated"]


@dataclass(frozen=True, slots=True)
class CriterionSummary:
    """One criterion over all cases: the mean over the scored ones with its interval, and how many those are.

    Attributes:
        label: the criterion.
        metric: its metric's name.
        threshold: what each case is held against; ``None``: informational.
        mean: over the scored cases; ``None`` where there is none.
        interval: the mean's 95 % interval; trials of one case count as one cluster. Wilson's where every value
            is 0 or 1, Student's elsewhere; ends are ``None`` where the data determine none.
        scored: cases with a value.
        skipped: cases that lack what the metric needs.
        errors: cases that should have been scored and could not be.
        passed: scored cases that meet the threshold.
        failed: scored cases that do not.
    """

    label: str
    metric: str
    threshold: float | None
    mean: float | None
    interval: Interval
    scored: int
    skipped: int
    errors: int
    passed: int
    failed: int

    @property
    def total(self) -> int:
        """How many cases there are, scored or not."""
        return self.scored + self.skipped + self.errors

    @property
    def mean_words(self) -> str:
        """The mean with its interval, e.g. ``0.820 [0.740, 0.890]``; ``-`` where nothing was scored."""
        if self.mean is None:
            return "-"
        shown = f"{self.mean:.3f}" if abs(self.mean) < 1000 else f"{self.mean:.5g}"
        low, high = self.interval.low, self.interval.high
        return shown if low is None or high is None else f"{shown} [{low:.3f}, {high:.3f}]"

    @property
    def coverage(self) -> str:
        """How many cases the mean covers, e.g. ``41/45 (3 skipped, 1 error)``."""
        left = [f"{self.skipped} skipped"] if self.skipped else []
        if self.errors:
            left.append(f"{self.errors} error{'s' if self.errors > 1 else ''}")
        return f"{self.scored}/{self.total}" + (f" ({', '.join(left)})" if left else "")


@dataclass(frozen=True, slots=True)
class Summary:
    """All cases and criteria in numbers.

    Attributes:
        criteria: one entry for each criterion.
        total: rows of cases, each trial one.
        passed: those that passed.
        failed: those with a criterion that failed.
        errors: those with none failed, and one that could not be scored.
        not_evaluated: those where nothing was scored.
        cases: distinct cases; less than `total` where there are trials.
        flaky: distinct cases that passed in some trials and not in others.
        never_scored: labels of criteria that were scored in no case at all; they make a report not passed.
    """

    criteria: tuple[CriterionSummary, ...]
    total: int
    passed: int
    failed: int
    errors: int
    not_evaluated: int
    cases: int
    flaky: tuple[str, ...]
    never_scored: tuple[str, ...]


def case_verdicts(cases: int, criteria: Criteria, columns: Sequence[Scores]) -> tuple[CaseVerdict, ...]:
    """Return the verdict of each case over all criteria that have a threshold.

    A case passes when at least one criterion was scored, every scored one passed and none is an error.
    """
    failed, broken, scored = bytearray(cases), bytearray(cases), bytearray(cases)
    for criterion, column in zip(criteria, columns, strict=True):
        if criterion.threshold is None:
            continue
        for index, (status, verdict) in enumerate(zip(column.statuses, _verdicts(criterion, column), strict=True)):
            if status == 2:
                broken[index] = 1
            elif status == 0:
                scored[index] = 1
                failed[index] |= verdict == "failed"
    return tuple(
        "failed" if f else "error" if b else "passed" if s else "not_evaluated"
        for f, b, s in zip(failed, broken, scored, strict=True)
    )


def summarise(
    cases: Sequence[Case], criteria: Criteria, columns: Sequence[Scores], verdicts: Sequence[CaseVerdict]
) -> Summary:
    """Return everything in numbers: by criterion with coverage, and by case."""
    clusters = [(case.set_id, case.case_id) for case in cases]
    by_criterion = tuple(
        _summarise(criterion, column, clusters) for criterion, column in zip(criteria, columns, strict=True)
    )
    trials: dict[tuple[str, str], set[bool]] = {}
    for case, verdict in zip(cases, verdicts, strict=True):
        trials.setdefault((case.set_id, case.case_id), set()).add(verdict == "passed")
    return Summary(
        criteria=by_criterion,
        total=len(verdicts),
        passed=verdicts.count("passed"),
        failed=verdicts.count("failed"),
        errors=verdicts.count("error"),
        not_evaluated=verdicts.count("not_evaluated"),
        cases=len(trials),
        flaky=tuple(case_id for (_, case_id), outcomes in trials.items() if len(outcomes) == 2),
        never_scored=tuple(c.label for c in by_criterion if c.threshold is not None and not c.scored),
    )


def _verdicts(criterion: Criterion, column: Scores) -> Iterator[Verdict]:
    """Go through the verdicts of a column; a score is made only where its turns decide."""
    for index, (status, value) in enumerate(zip(column.statuses, column.values, strict=True)):
        if status:
            yield "not_evaluated"
        elif criterion.per == "turn" and column.has_parts(index):
            yield criterion.verdict(column[index])
        else:
            yield "passed" if criterion.meets(value) else "failed"


def _summarise(criterion: Criterion, column: Scores, clusters: Sequence[tuple[str, str]]) -> CriterionSummary:
    scored = [index for index, status in enumerate(column.statuses) if not status]
    values = [column.values[index] for index in scored]
    verdicts = list(_verdicts(criterion, column)) if criterion.threshold is not None else []
    return CriterionSummary(
        label=criterion.label,
        metric=criterion.metric.name,
        threshold=criterion.threshold,
        mean=sum(values) / len(values) if values else None,
        interval=mean_interval(values, [clusters[index] for index in scored], criterion.metric.range),
        scored=len(values),
        skipped=column.statuses.count(1),
        errors=column.statuses.count(2),
        passed=verdicts.count("passed"),
        failed=verdicts.count("failed"),
    )


def mean_interval(
    values: Sequence[float], clusters: Sequence[tuple[str, str]], bounds: tuple[float, float], *, level: float = 0.95
) -> Interval:
    """Return the interval of a mean by the kind of its data.

    Args:
        values: the scores.
        clusters: the case of each; several trials of one are a cluster.
        bounds: the range of the scores, which may be infinite.
        level: two-sided confidence level.
    """
    binary = bounds == (0.0, 1.0) and all(value in (0.0, 1.0) for value in values)
    limits = finite_range(bounds)
    if limits and any(not limits[0] <= value <= limits[1] for value in values):
        limits = None  # a metric that leaves the range it declares is wrong there, and its report is still to be read
    if len(set(clusters)) < len(clusters):
        return clustered(values, clusters, level=level, bounds=limits, method="wilson" if binary else "t")
    if binary:
        return wilson(sum(values), len(values), level=level)
    return t_interval(values, level=level, bounds=limits)


def finite_range(bounds: tuple[float, float]) -> tuple[float, float] | None:
    """Return a metric's range where it has two ends, as the intervals want it."""
    return bounds if all(map(isfinite, bounds)) else None
