"""Reports -> the cases that all of them have unchanged, and each case's value under a criterion, trials averaged."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ..criteria import Criterion
from ..report import Report
from ..report.signature import content_hash

__all__ = ["Cohort", "Values", "share_of_range"]

Key = tuple[str, str]
Values = tuple[float | None, ...]
_OUTCOME: Final = {"passed": 1.0, "failed": 0.0}


@dataclass(frozen=True)
class Cohort:
    """The cases that several reports can be compared on.

    Attributes:
        reports: the reports by name, cut to these cases and in one order.
        cases: names of these cases; with their set where there are several sets.
        missing: for each report, the cases that it lacks and another has.
        changed: cases that asked or expected something else in another report.
    """

    reports: Mapping[str, Report]
    cases: tuple[str, ...]
    missing: Mapping[str, tuple[str, ...]]
    changed: tuple[str, ...]

    @classmethod
    def of(cls, reports: Mapping[str, Report]) -> Cohort:
        """Find the cases of the same set and id in all reports that asked and expected the same."""
        rows = {name: _rows_by_case(report) for name, report in reports.items()}
        known = list(dict.fromkeys(key for by_case in rows.values() for key in by_case))
        everywhere = [key for key in known if all(key in by_case for by_case in rows.values())]
        asked = {name: _content_by_case(report) for name, report in reports.items()}
        changed = [key for key in everywhere if len({frozenset(contents[key]) for contents in asked.values()}) > 1]
        shared = [key for key in everywhere if key not in set(changed)]
        several_sets = len({set_id for set_id, _ in known}) > 1

        def names(keys: Sequence[Key]) -> tuple[str, ...]:
            return tuple(f"{set_id}/{case_id}" if several_sets else case_id for set_id, case_id in keys)

        return cls(
            {name: report.select(i for key in shared for i in rows[name][key]) for name, report in reports.items()},
            names(shared),
            {name: names([key for key in known if key not in by_case]) for name, by_case in rows.items()},
            names(changed),
        )

    def values(self, name: str, label: str) -> Values:
        """Return a report's value of each case under a criterion; ``None`` where no trial was scored."""
        report = self.reports[name]
        column = report.columns[report.criteria.labels.index(label)]
        return self._means(name, lambda row: None if column.statuses[row] else column.values[row])

    def passed(self, name: str) -> Values:
        """Return the share of each case's trials that passed; those with an error or no score do not count."""
        verdicts = self.reports[name].case_verdicts
        return self._means(name, lambda row: _OUTCOME.get(verdicts[row]))

    def composite(self, axes: Sequence[str]) -> dict[str, Values]:
        """Return each report's mean over some criteria, case by case, each on 0..1 with 1 as the best.

        In each case those criteria count that every report scored; where there is none, the case has no composite.
        """
        table = {
            name: [
                [None if value is None else _share(report.criteria[label], value) for value in self.values(name, label)]
                for label in axes
            ]
            for name, report in self.reports.items()
        }
        means: dict[str, list[float | None]] = {name: [] for name in self.reports}
        for case in range(len(self.cases)):
            shares = {name: [column[case] for column in columns] for name, columns in table.items()}
            common = [axis for axis in range(len(axes)) if all(each[axis] is not None for each in shares.values())]
            for name, each in shares.items():
                known = [share for axis in common if (share := each[axis]) is not None]
                means[name].append(sum(known) / len(known) if known else None)
        return {name: tuple(values) for name, values in means.items()}

    def unscored(self, name: str, label: str) -> tuple[float, ...]:
        """Return for each case the share of its trials that have no score under a criterion."""
        report = self.reports[name]
        statuses = report.columns[report.criteria.labels.index(label)].statuses
        return tuple(sum(statuses[row] > 0 for row in rows) / len(rows) for rows in self._rows[name])

    @cached_property
    def has_trials(self) -> bool:
        """Whether a case of a report was run more than once."""
        return any(len(rows) > 1 for by_case in self._rows.values() for rows in by_case)

    @cached_property
    def _rows(self) -> dict[str, list[list[int]]]:
        return {name: list(_rows_by_case(report).values()) for name, report in self.reports.items()}

    def _means(self, name: str, value_of: Callable[[int], float | None]) -> Values:
        means: list[float | None] = []
        for rows in self._rows[name]:
            values = [value for row in rows if (value := value_of(row)) is not None]
            means.append(sum(values) / len(values) if values else None)
        return tuple(means)


def share_of_range(bounds: tuple[float, float], higher_is_better: bool, value: float) -> float | None:
    """Put a value on 0..1 with 1 as the best; ``None`` where the range has no two ends.

    >>> share_of_range((1, 5), True, 4), share_of_range((0, 1), False, 0.25), share_of_range((0, math.inf), True, 7)
    (0.75, 0.75, None)
    """
    if not all(map(math.isfinite, bounds)):
        return None
    share = (value - bounds[0]) / (bounds[1] - bounds[0])
    return share if higher_is_better else 1.0 - share


def _share(criterion: Criterion, value: float) -> float | None:
    return share_of_range(criterion.metric.range, criterion.metric.higher_is_better, value)


def _rows_by_case(report: Report) -> dict[Key, list[int]]:
    rows: dict[Key, list[int]] = {}
    for index, case in enumerate(report.cases):
        rows.setdefault((case.set_id, case.case_id), []).append(index)
    return rows


def _content_by_case(report: Report) -> dict[Key, set[str]]:
    contents: dict[Key, set[str]] = {}
    for case in report.cases:
        contents.setdefault((case.set_id, case.case_id), set()).add(content_hash(case))
    return contents
