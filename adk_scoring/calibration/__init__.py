"""Is a judge to be trusted? Its verdicts and people's labels go in; agreement and corrected pass rates come out.

Every number is about items: one rubric of one turn each. Items of one case are not independent, so where cases have
many of them the intervals are somewhat too narrow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import ConfigError
from ..metrics.questions import CANNOT_ASSESS
from ..report import Report
from ..stats import Interval, confusion, kappa, ppi, rogan_gladen, wilson
from .annotations import Annotation, Key, annotation_items, judged_criterion

__all__ = ["Agreement", "Calibration", "agreement", "calibrate"]


@dataclass(frozen=True)
class Agreement:
    """How far two raters agree on the same items.

    Attributes:
        scale: the labels, in the order of `table`.
        table: counts; rows are the first rater's labels, columns the second's.
        rate: the share of items with the same label, with its Wilson interval.
        kappa: Cohen's kappa, with quadratic weights on a scale of levels.
        left_out: why items are not in the table, and how many: ``no partner`` (only one rater has it), ``unlabelled``,
            ``cannot assess``, ``disputed`` (labels of one rater that contradict each other), ``another answer``.
    """

    scale: tuple[str, ...]
    table: tuple[tuple[int, ...], ...]
    rate: Interval
    kappa: Interval
    left_out: Mapping[str, int]

    def __str__(self) -> str:
        width = max(map(len, ("", *self.scale)))
        rows = [f"{'':{width}}  " + "  ".join(f"{name:>{width}}" for name in self.scale)]
        for name, counts in zip(self.scale, self.table, strict=True):
            rows.append(f"{name:{width}}  " + "  ".join(f"{count:>{width}}" for count in counts))
        left_out = ", ".join(f"{count} {why}" for why, count in self.left_out.items())
        return "\n".join([*rows, f"agreement  {self.rate}", f"kappa      {self.kappa}", f"left out   {left_out or 0}"])


@dataclass(frozen=True)
class Calibration:
    """A judge held against people.

    Attributes:
        criterion: the criterion's label.
        agreement: people (rows) and judge (columns).
        tpr: how often the judge says yes where people do, with its Wilson interval; ``None`` on a scale of levels.
        tnr: how often it says no where people do.
        balanced_accuracy: the mean of both; ``None`` where one is not known.
        judged: the judge's rate of yes over all its verdicts (on levels: ``None``), with its Wilson interval.
        corrected: the true rate by Rogan & Gladen, from the items without labels; its note says why it is refused.
        powered: the true rate (on levels: the mean, from 0 to 1) by prediction-powered inference. It is right only
            where the labelled items were drawn at random.
    """

    criterion: str
    agreement: Agreement
    tpr: Interval | None
    tnr: Interval | None
    balanced_accuracy: float | None
    judged: Interval | None
    corrected: Interval | None
    powered: Interval

    def __str__(self) -> str:
        shown = {
            "TPR": self.tpr,
            "TNR": self.tnr,
            "judge says yes": self.judged,
            "corrected (Rogan-Gladen)": self.corrected,
            "corrected (prediction-powered)": self.powered,
        }
        lines = [f"{self.criterion}: people in rows, judge in columns", str(self.agreement)]
        for name, interval in shown.items():
            if interval is not None:
                lines.append(f"{name:<31}{interval}" + (f"  {interval.note}" if interval.note else ""))
        return "\n".join(lines)


def agreement(
    first: Report | Sequence[Annotation],
    second: Report | Sequence[Annotation],
    *,
    criterion: str | None = None,
    rubric: str | None = None,
    level: float = 0.95,
) -> Agreement:
    """Compare two raters on the items that both have: two judges, two people, or one of each.

    Args:
        first: a report with a judge's verdicts, or labelled annotations.
        second: the other one. Items are the same where case, trial, turn, criterion and rubric are; where what was
            judged is not the same text, the item is left out.
        criterion: the label of a judged criterion; needed where a report has several.
        rubric: only this rubric.
        level: two-sided confidence level.

    Raises:
        ConfigError: the criterion is not a judged one, or the rubrics have different scales.

    >>> def rated(*labels):
    ...     return [Annotation("case", n, "polite", label=label) for n, label in enumerate(labels)]
    >>> found = agreement(rated("yes", "no", "yes", ""), rated("yes", "no", "no", "yes"))
    >>> found.table, found.left_out
    (((1, 1), (0, 1)), {'unlabelled': 1})
    """
    pairs, left_out = _matched(_labels(first, criterion, rubric), _labels(second, criterion, rubric))
    return _agreement(_scale(pairs), pairs, left_out, level)


def calibrate(
    report: Report,
    labels: Sequence[Annotation],
    *,
    criterion: str | None = None,
    rubric: str | None = None,
    level: float = 0.95,
) -> Calibration:
    """Hold a judge's verdicts against people's labels, and correct its pass rate by what was found.

    Args:
        report: a report with the judge's verdicts on all items, labelled or not.
        labels: what people said about some of them, as `read_annotations` gives it.
        criterion: the label of a judged criterion; needed where the report has several.
        rubric: only this rubric; else all of the criterion together.
        level: two-sided confidence level.

    Raises:
        ConfigError: the criterion is not a judged one, or its rubrics have different scales.
    """
    label = judged_criterion(report, criterion)
    verdicts = _labels(report, label, rubric)
    people = {key: items for key, items in _labels(labels, label, rubric).items() if any(one.label for one in items)}
    pairs, left_out = _matched(people, verdicts, only_first=True)
    scored = [item for [item] in verdicts.values() if item.label]
    scale = _scale([(item, item) for item in scored])
    found = _agreement(scale, pairs, left_out, level)
    rest = [_value(item, scale) for item in scored if item.key not in people]
    human, judged = ([_value(pair[side], scale) for pair in pairs] for side in (0, 1))
    powered = ppi(human, judged, rest, bounds=(0.0, 1.0), level=level)
    if scale != ("yes", "no"):
        return Calibration(label, found, None, None, None, None, None, powered)
    (tp, fn), (fp, tn) = found.table
    tpr, tnr = wilson(tp, tp + fn, level=level), wilson(tn, fp + tn, level=level)
    balanced = None if tpr.estimate is None or tnr.estimate is None else (tpr.estimate + tnr.estimate) / 2
    rate = wilson(sum(item.label == "yes" for item in scored), len(scored), level=level)
    corrected = rogan_gladen(round(sum(rest)), len(rest), tp, tp + fn, tn, fp + tn, level=level)
    return Calibration(label, found, tpr, tnr, balanced, rate, corrected, powered)


_Pairs = list[tuple[Annotation, Annotation]]


def _labels(
    source: Report | Sequence[Annotation], criterion: str | None, rubric: str | None
) -> dict[Key, list[Annotation]]:
    """Return the labels of each item; a label without a criterion belongs to the one that is asked about."""
    if isinstance(source, Report):
        source = annotation_items(source, criterion, verdicts=True)
    items: dict[Key, list[Annotation]] = {}
    for item in source:
        if rubric in (None, item.rubric_id) and (criterion is None or item.criterion in ("", criterion)):
            set_id, case_id, trial, turn, named, rubric_id = item.key
            items.setdefault((set_id, case_id, trial, turn, criterion or named, rubric_id), []).append(item)
    return items


def _matched(
    first: Mapping[Key, Sequence[Annotation]], second: Mapping[Key, Sequence[Annotation]], *, only_first: bool = False
) -> tuple[_Pairs, dict[str, int]]:
    """Pair the labels of two raters, and count what has to be left out, by reason."""
    pairs: _Pairs = []
    left_out: dict[str, int] = {}
    alone = len(first.keys() - second.keys()) + (0 if only_first else len(second.keys() - first.keys()))
    if alone:
        left_out["no partner"] = alone
    for key in first.keys() & second.keys():
        why = _why_not(first[key], second[key])
        if why:
            left_out[why] = left_out.get(why, 0) + 1
        else:
            pairs.append((first[key][0], second[key][0]))
    return pairs, dict(sorted(left_out.items()))


def _why_not(first: Sequence[Annotation], second: Sequence[Annotation]) -> str:
    labels = [{item.label for item in items} for items in (first, second)]
    if len({item.digest for item in (*first, *second) if item.digest}) > 1:
        return "another answer"
    if any(len(given) > 1 for given in labels):
        return "disputed"
    if {""} in labels:
        return "unlabelled"
    return "cannot assess" if {CANNOT_ASSESS} in labels else ""


def _scale(pairs: _Pairs) -> tuple[str, ...]:
    scales = sorted({item.scale for pair in pairs for item in pair}) or ["yes/no/cannot_assess"]
    if len(scales) > 1:
        raise ConfigError(f"the rubrics have different scales ({', '.join(scales)}); choose one with rubric=...")
    return tuple(word for word in scales[0].split("/") if word != CANNOT_ASSESS)


def _agreement(scale: tuple[str, ...], pairs: _Pairs, left_out: Mapping[str, int], level: float) -> Agreement:
    table = confusion([one.label for one, _ in pairs], [other.label for _, other in pairs], labels=scale)
    same = sum(table[i][i] for i in range(len(scale)))
    beyond_chance = kappa(table, weights=None if scale == ("yes", "no") else "quadratic", level=level)
    rate = wilson(same, len(pairs), level=level)
    return Agreement(scale, tuple(map(tuple, table)), rate, beyond_chance, left_out)


def _value(item: Annotation, scale: tuple[str, ...]) -> float:
    if scale == ("yes", "no"):
        return float(item.label == "yes")
    low, high = int(scale[0]), int(scale[-1])
    return (int(item.label) - low) / (high - low)
