"""Two or more reports -> what differs between them, with intervals and tests: paired by case, never by average.

A case is compared where every report has it and asked the same of it (`content_hash`); a criterion where both reports
made it the same way (`Signature`). What is not compared is listed with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from ..criteria import Criterion
from ..errors import ScoringError
from ..report import Report
from ..report.signature import COMPARED, Signature
from ..report.summary import finite_range, mean_interval
from ..stats import holm
from ..stats.inputs import check_level
from .cohort import Cohort, Values, share_of_range
from .differences import COMPOSITE, PASSED, Analysis, Difference, Measure, Standing

if TYPE_CHECKING:
    from ..render.figures import Drawing

__all__ = ["COMPOSITE", "PASSED", "Comparison", "Difference", "Standing", "compare"]


@dataclass(frozen=True)
class Comparison:
    """Reports compared case by case; it prints as tables, and draws itself.

    Attributes:
        cohort: the cases that are compared, and those that are not.
        standings: what each report says under each label.
        differences: what differs, pair by pair and label by label.
        axes: the criteria that all reports have and scored, which `COMPOSITE` is made of.
        not_compared: (label, baseline, other) -> why there is no difference for them.
        level: confidence level of all intervals.
    """

    cohort: Cohort
    standings: tuple[Standing, ...]
    differences: tuple[Difference, ...]
    axes: tuple[str, ...]
    not_compared: Mapping[tuple[str, str, str], str]
    level: float

    @property
    def names(self) -> tuple[str, ...]:
        """The reports' names in order."""
        return tuple(self.cohort.reports)

    @property
    def labels(self) -> tuple[str, ...]:
        """Every label that a report has something to say under, in order."""
        return tuple(dict.fromkeys(standing.label for standing in self.standings))

    def difference(self, label: str, *, other: str | None = None, baseline: str | None = None) -> Difference:
        """Return one difference.

        Args:
            label: the criterion, `PASSED` or `COMPOSITE`.
            other: which report; default: the first that is compared.
            baseline: with which; default: likewise.

        Raises:
            KeyError: there is none; the message says why not.
        """
        for item in self.differences:
            if item.label == label and other in (None, item.other) and baseline in (None, item.baseline):
                return item
        why = [reason for (name, _, _), reason in self.not_compared.items() if name == label]
        raise KeyError(f"no difference for {label!r}: " + (why[0] if why else f"there are {', '.join(self.labels)}"))

    def standing(self, label: str, report: str) -> Standing | None:
        """Return what one report says under one label; ``None`` if it does not have it."""
        return next((each for each in self.standings if (each.label, each.report) == (label, report)), None)

    def values(self, label: str) -> dict[str, Values]:
        """Return each report's value of each compared case; trials are averaged, ``None`` is not scored.

        Raises:
            KeyError: no report has the label.
        """
        if label not in self.labels:
            raise KeyError(f"no {label!r}; there are {', '.join(self.labels)}")
        return _values(self.cohort, label, self.axes)

    def to_records(self) -> list[dict[str, Any]]:
        """Return one flat dict a difference, for a data frame or a CSV file; what is undefined is ``None``."""
        return [
            {
                "label": each.label,
                "kind": each.kind,
                "baseline": each.baseline,
                "other": each.other,
                "n": each.n,
                "unscored": each.unscored,
                "baseline_mean": each.baseline_mean,
                "other_mean": each.other_mean,
                "difference": each.interval.estimate,
                "low": each.interval.low,
                "high": each.interval.high,
                "level": each.interval.level,
                "interval": each.interval.method,
                "test": each.test.method if each.test else None,
                "p": each.test.p if each.test else None,
                "p_holm": each.adjusted,
                "wins": each.wins,
                "ties": each.ties,
                "losses": each.losses,
                "detectable": each.detectable,
                "higher_is_better": each.higher_is_better,
                "verdict": each.verdict,
                "signature": each.signature,
                "notes": "; ".join(each.notes),
            }
            for each in self.differences
        ]

    def table(
        self,
        layout: Literal["wide", "long"] = "wide",
        form: Literal["text", "markdown", "latex", "html"] = "text",
    ) -> str:
        """Return one table.

        Args:
            layout: ``"wide"``: a row for each criterion, a column for each report. ``"long"``: a row for each
                difference, with interval, p and wins.
            form: how it is written; LaTeX is for booktabs.
        """
        from ..render.comparison import comparison_table

        return comparison_table(self, layout, form)

    def to_markdown(self) -> str:
        """Return both tables and all remarks as Markdown."""
        from ..render.comparison import comparison_markdown

        return comparison_markdown(self)

    def to_html(self) -> str:
        """Return both tables and all remarks as an HTML fragment."""
        from ..render.comparison import comparison_html

        return comparison_html(self)

    def radar(self) -> Drawing:
        """Draw each report over the criteria of a finite range, 1 being the best; what a report lacks is left out.

        Raises:
            ScoringError: matplotlib is not installed, or no criterion can be drawn.
        """
        from ..render.figures import radar

        return radar(self)

    def forest(self) -> Drawing:
        """Draw the interval of each difference, better to the right.

        Raises:
            ScoringError: matplotlib is not installed, or there is no difference.
        """
        from ..render.figures import forest

        return forest(self)

    def heatmap(self, label: str | None = None) -> Drawing:
        """Draw one label's value of each case under each report.

        Args:
            label: default: `COMPOSITE` if there is one, else the first label.

        Raises:
            ScoringError: matplotlib is not installed.
            KeyError: no report has the label.
        """
        from ..render.figures import heatmap

        return heatmap(self, label)

    def __str__(self) -> str:
        from ..render.comparison import comparison_text

        return comparison_text(self)

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.names)} over {len(self.cohort.cases)} cases>"


def compare(
    reports: Mapping[str, Report],
    *,
    pairs: Literal["first", "all"] = "first",
    level: float = 0.95,
    seed: int = 0,
    resamples: int = 10_000,
    allow: Collection[str] = (),
) -> Comparison:
    """Compare reports on the cases that all of them have.

    Cases pair by set and case id, and only if they asked and expected the same. Trials of a case are averaged first:
    the case is the unit. Where every value is 0 or 1 and there are no trials: the exact McNemar test and Newcombe's
    interval; elsewhere the sign-flip test and the paired t interval. Holm's correction is over all criteria and
    pairs. `PASSED` and `COMPOSITE` repeat what the criteria say, so they stand outside it.

    Args:
        reports: name -> report, the baseline first.
        pairs: compare each with the first, or all with all.
        level: two-sided confidence level; 1 - level is the α of the tests.
        seed: whole number from 0 up; used where sign-flip draws patterns, above 20 cases that differ.
        resamples: how many patterns it draws.
        allow: fields of the `Signature` that may differ, e.g. ``("judge",)``; the differences then say so.

    Returns:
        The comparison. What no case was scored for is undefined: ``None``, never 0.

    Raises:
        ScoringError: fewer than two reports, or no case that they share unchanged.
        ValueError: an impossible level or seed, or an unknown field in ``allow``.

    >>> from adk_scoring import Case, Invocation, ToolCall, Turn, evaluate
    >>> def ran(*calls):
    ...     wanted = (Invocation(tool_calls=(ToolCall("find"),)),)
    ...     turns = [Turn(Invocation(tool_calls=(ToolCall(name),)), wanted) for name in calls]
    ...     return evaluate([Case(str(i), (turn,)) for i, turn in enumerate(turns)], {"trajectory_exact_match": 1.0})
    >>> found = compare({"base": ran(*["look"] * 6 + ["find"] * 2), "tuned": ran(*["find"] * 8)})
    >>> difference = found.difference("trajectory_exact_match")
    >>> print(difference.interval, difference.wins, difference.test.p, difference.verdict)
    0.750 [0.280, 0.929] 6 0.03125 better
    """
    check_level(level)
    if unknown := set(allow) - set(COMPARED):
        raise ValueError(f"allow holds {sorted(unknown)}; a signature has {', '.join(COMPARED)}")
    if pairs not in ("first", "all"):
        raise ValueError(f"pairs is {pairs!r}; want 'first' or 'all'")
    if len(reports) < 2:
        raise ScoringError(
            f"{len(reports) or 'no'} report given; a comparison takes two or more, e.g. {{'base': a, 'new': b}}"
        )
    cohort = Cohort.of(reports)
    if not cohort.cases:
        raise ScoringError(
            "the reports share no case: "
            + (f"all {len(cohort.changed)} asked or expected something else" if cohort.changed else "no id is in all")
        )
    names = list(reports)
    chosen = combinations(names, 2) if pairs == "all" else ((names[0], other) for other in names[1:])
    analysis = Analysis(level, seed, resamples, cohort.has_trials)
    differences: list[Difference] = []
    not_compared: dict[tuple[str, str, str], str] = {}
    axes = _axes(cohort, allow)
    measures = _measures(cohort, axes)
    for baseline, other in chosen:
        for measure in measures:
            reason, notes = _obstacle(measure, cohort.reports[baseline], cohort.reports[other], allow)
            if reason:
                not_compared[measure.label, baseline, other] = reason
                continue
            values = _values(cohort, measure.label, axes)
            sides = values[baseline], values[other]
            made = _made(measure, cohort.reports[baseline], axes)
            differences.append(analysis.difference(measure, (baseline, other), sides, made=made, notes=notes))
    standings = tuple(_standings(cohort, measures, axes, level))
    return Comparison(cohort, standings, _corrected(differences), axes, not_compared, level)


def _values(cohort: Cohort, label: str, axes: tuple[str, ...]) -> dict[str, Values]:
    """Return the values by case of each report that has the label."""
    if label == COMPOSITE:
        return cohort.composite(axes)
    if label == PASSED:
        return {name: cohort.passed(name) for name, report in cohort.reports.items() if _rules(report)}
    return {
        name: cohort.values(name, label) for name, report in cohort.reports.items() if label in report.criteria.labels
    }


def _measures(cohort: Cohort, axes: tuple[str, ...]) -> list[Measure]:
    """Return what there is to compare: every criterion of any report, the cases passed, the composite."""
    criteria: dict[str, Criterion] = {}
    for report in cohort.reports.values():
        for criterion in report.criteria:
            criteria.setdefault(criterion.label, criterion)
    measures = [
        Measure(label, "criterion", each.metric.range, each.metric.higher_is_better) for label, each in criteria.items()
    ]
    if any(_rules(report) for report in cohort.reports.values()):
        measures.append(Measure(PASSED, "passed"))
    if len(axes) > 1:
        measures.append(Measure(COMPOSITE, "composite"))
    return measures


def _axes(cohort: Cohort, allow: Collection[str]) -> tuple[str, ...]:
    """Return the criteria of a finite range that every report has, made alike and scored."""
    first, *others = cohort.reports.values()
    return tuple(
        criterion.label
        for criterion in first.criteria
        if finite_range(criterion.metric.range)
        and all(_difference_of_making(criterion.label, first, other, allow)[0] is None for other in others)
        and all(any(v is not None for v in cohort.values(name, criterion.label)) for name in cohort.reports)
    )


def _obstacle(
    measure: Measure, baseline: Report, other: Report, allow: Collection[str]
) -> tuple[str | None, tuple[str, ...]]:
    """Say why a measure cannot be compared, or else what a reader must know of how its two sides were made."""
    if measure.kind == "composite":
        return None, ()
    if measure.kind == "criterion":
        return _difference_of_making(measure.label, baseline, other, allow)
    old, new = _rules(baseline), _rules(other)
    if old != new:
        changed = [label for label in {**old, **new} if old.get(label) != new.get(label)]
        return f"other thresholds: {', '.join(changed)}", ()
    notes: list[str] = []
    for label in old:
        reason, allowed = _difference_of_making(label, baseline, other, allow)
        if reason:
            return f"{label}: {reason}", ()
        notes += [f"{label}: {note}" for note in allowed]
    return None, tuple(notes)


def _difference_of_making(
    label: str, baseline: Report, other: Report, allow: Collection[str]
) -> tuple[str | None, tuple[str, ...]]:
    sides = []
    for which, report in (("baseline", baseline), ("other report", other)):
        if label not in report.criteria.labels:
            return f"the {which} does not have it", ()
        sides.append(_signature(label, report))
    if differ := sides[0].differences(sides[1], allow=allow):
        return f"made differently: {'; '.join(differ)}", ()
    return None, tuple(f"made differently: {each}" for each in sides[0].differences(sides[1]))


def _signature(label: str, report: Report) -> Signature:
    return report.signatures[report.criteria.labels.index(label)]


def _rules(report: Report) -> dict[str, tuple[float, str]]:
    """Return what decides whether a case passes: label -> threshold and what it is held against."""
    return {each.label: (each.threshold, each.per) for each in report.criteria if each.threshold is not None}


def _made(measure: Measure, report: Report, axes: tuple[str, ...]) -> str:
    if measure.kind == "criterion":
        return str(_signature(measure.label, report))
    if measure.kind == "composite":
        return f"mean of:{', '.join(axes)}"
    return (
        f"passed:{', '.join(f'{label} {threshold:g} per {per}' for label, (threshold, per) in _rules(report).items())}"
    )


def _standings(cohort: Cohort, measures: list[Measure], axes: tuple[str, ...], level: float) -> Iterator[Standing]:
    for measure in measures:
        for name, values in _values(cohort, measure.label, axes).items():
            report = cohort.reports[name]
            if measure.kind == "criterion":
                column = report.columns[report.criteria.labels.index(measure.label)]
                rows = [row for row, status in enumerate(column.statuses) if not status]
                scores = [column.values[row] for row in rows]
                total = len(column)
            elif measure.kind == "passed":
                rows = [row for row, verdict in enumerate(report.case_verdicts) if verdict in ("passed", "failed")]
                scores = [float(report.case_verdicts[row] == "passed") for row in rows]
                total = len(report.cases)
            else:
                rows = [row for row, value in enumerate(values) if value is not None]
                scores = [value for value in values if value is not None]
                total = len(values)
            clusters = [
                (name, str(row))
                if measure.kind == "composite"
                else (report.cases[row].set_id, report.cases[row].case_id)
                for row in rows
            ]
            interval = mean_interval(scores, clusters, measure.range, level=level)
            share = None
            if interval.estimate is not None:
                share = share_of_range(measure.range, measure.higher_is_better, interval.estimate)
            yield Standing(measure.label, measure.kind, name, interval, f"{len(rows)}/{total}", share)


def _corrected(differences: list[Difference]) -> tuple[Difference, ...]:
    """Adjust the p-values of the criteria, which are one family."""
    family = [each for each in differences if each.kind == "criterion" and each.test]
    adjusted = dict(zip(map(id, family), holm(each.test.p for each in family if each.test), strict=True))
    return tuple(
        replace(each, adjusted=adjusted[id(each)], signature=f"{each.signature}|holm:{len(family)}")
        if id(each) in adjusted
        else each
        for each in differences
    )
