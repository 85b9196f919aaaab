"""Scores and people's labels of the same cases -> thresholds: where to start loose, and where to tighten to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..criteria import Criterion
from ..errors import ConfigError
from ..report import Report
from ..stats import Interval, clustered

__all__ = ["Suggestion", "suggest_threshold"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Thresholds for one criterion, in the metric's unit.

    Attributes:
        label: the criterion.
        loose: the tightest threshold that every good run passes; start here, it fails nothing that is good.
        best: the threshold that tells good from bad best (sensitivity + specificity), of several the loosest.
        strict: the loosest threshold that no bad run passes; ``None`` where no value keeps all of them out.
        sensitivity: share of the good runs that pass `best`, with its interval.
        specificity: share of the bad runs that fail it, likewise.
        good: good runs that were scored.
        bad: bad runs that were scored.
        unlabelled: scored runs without a label.
        note: what a reader must know; `best` was chosen on these very runs, so it looks better than it is.
    """

    label: str
    loose: float
    best: float
    strict: float | None
    sensitivity: Interval
    specificity: Interval
    good: int
    bad: int
    unlabelled: int
    note: str


def suggest_threshold(
    report: Report, labels: Mapping[str, bool] | Mapping[tuple[str, int], bool], *, criterion: str | None = None
) -> dict[str, Suggestion]:
    """Suggest thresholds from what people say of the runs.

    Args:
        report: scored runs.
        labels: case id -> whether it is good, or (case id, trial) -> whether that trial is.
        criterion: one label; default: every criterion that scored a good and a bad run.

    Returns:
        Label -> suggestion, in the order of the criteria. A threshold is always a value that a run has.

    Raises:
        ConfigError: no label is for a case of the report, or no criterion scored a good and a bad run.
        KeyError: there is no such criterion.

    >>> from adk_scoring import Case, Invocation, Turn, evaluate
    >>> def ran(name, said):
    ...     return Case(name, (Turn(Invocation(response=said), (Invocation(response="it is sunny in Rome"),)),))
    >>> report = evaluate(
    ...     [ran("a", "it is sunny in Rome"), ran("b", "sunny in Rome"), ran("c", "no idea")], {"response_rouge1": None}
    ... )
    >>> found = suggest_threshold(report, {"a": True, "b": True, "c": False})["response_rouge1"]
    >>> print(f"{found.loose:.2f} {found.best:.2f} {found.strict:.2f}")
    0.75 0.75 0.75
    """
    chosen = [report.criteria[criterion]] if criterion else list(report.criteria)
    told = [_label_of(labels, case.case_id, case.trial) for case in report.cases]
    if all(label is None for label in told):
        raise ConfigError("labels: none is for a case of the report; wanted case id -> good or not")
    found = {each.label: made for each in chosen if (made := _suggest(report, each, told))}
    if not found:
        raise ConfigError(
            f"labels: {', '.join(each.label for each in chosen)} scored no run that is good, or none that is bad; "
            "a threshold needs both"
        )
    return found


def _label_of(labels: Mapping[str, bool] | Mapping[tuple[str, int], bool], case_id: str, trial: int) -> bool | None:
    by_any: Mapping[Any, bool] = labels
    return by_any.get((case_id, trial), by_any.get(case_id))


def _suggest(report: Report, criterion: Criterion, told: list[bool | None]) -> Suggestion | None:
    column = report.columns[report.criteria.labels.index(criterion.label)]
    # Turned so that more is better; turned back below.
    sign = 1.0 if criterion.metric.higher_is_better else -1.0
    runs = [
        (sign * value, label, (case.set_id, case.case_id))
        for case, value, status, label in zip(report.cases, column.values, column.statuses, told, strict=True)
        if not status
    ]
    good = [value for value, label, _ in runs if label]
    bad = [value for value, label, _ in runs if label is False]
    if not good or not bad:
        return None

    def worth(threshold: float) -> float:
        kept, out = sum(value >= threshold for value in good), sum(value < threshold for value in bad)
        return kept / len(good) + out / len(bad)

    values = sorted({value for value, label, _ in runs if label is not None})
    best = max(values, key=lambda threshold: (round(worth(threshold), 12), -threshold))

    def rate(wanted: bool) -> Interval:
        hits = [float((value >= best) == wanted) for value, label, _ in runs if label is wanted]
        return clustered(hits, [case for _, label, case in runs if label is wanted], method="wilson")

    few = min(len(good), len(bad)) < 30
    return Suggestion(
        label=criterion.label,
        loose=sign * min(good),
        best=sign * best,
        strict=next((sign * value for value in values if value > max(bad)), None),
        sensitivity=rate(True),
        specificity=rate(False),
        good=len(good),
        bad=len(bad),
        unlabelled=sum(label is None for _, label, _ in runs),
        note="chosen on these runs; check it on others" + (", there are fewer than 30 good or bad ones" if few else ""),
    )
