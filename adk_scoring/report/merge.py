"""Several reports -> one: their cases one after the other, under all their criteria."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..criteria import Criteria, Criterion
from ..metrics.base import Score, Scores
from . import Report
from .signature import Signature

__all__ = ["merged"]


def merged(reports: Sequence[Report]) -> Report:
    """Put reports together.

    Args:
        reports: at least one. A criterion is the same in two of them if label, metric, threshold and `per` are;
            else the later one gets the label ``label#2`` and so on.

    Returns:
        One report. Where a case was not held against a criterion its score is skipped, which never blocks it.

    Raises:
        ValueError: there is no report.

    >>> from adk_scoring import Case, Invocation, Turn, evaluate
    >>> case = Case("a", (Turn(Invocation(tool_calls=()), (Invocation(tool_calls=()),)),))
    >>> both = merged([evaluate([case], {"trajectory_f1": 1.0}), evaluate([case], {"trajectory_recall": 1.0})])
    >>> both.passed, [row.score.status for row in both.rows]
    (True, ['scored', 'skipped', 'skipped', 'scored'])
    """
    if not reports:
        raise ValueError("there is no report to merge")
    known: dict[str, Criterion] = {}
    signatures: dict[str, Signature] = {}
    columns_of: list[dict[str, Scores]] = []
    for report in reports:
        columns = {}
        for criterion, column, signature in zip(report.criteria, report.columns, report.signatures, strict=True):
            label = _label(criterion, known)
            known.setdefault(label, replace(criterion, label=label))
            signatures.setdefault(label, signature)
            columns[label] = column
        columns_of.append(columns)
    joined = []
    for label, criterion in known.items():
        whole = Scores(criterion.metric)
        for report, columns in zip(reports, columns_of, strict=True):
            if label in columns:
                whole.extend(columns[label])
                continue
            for _ in report.cases:
                whole.append(Score.skipped(criterion.metric.name, "not a criterion of this case"))
        joined.append(whole)
    sources = "; ".join(dict.fromkeys(report.criteria.source for report in reports))
    ignored = tuple(dict.fromkeys(words for report in reports for words in report.criteria.ignored))
    return Report(
        [case for report in reports for case in report.cases],
        Criteria(tuple(known.values()), sources, ignored),
        joined,
        notes=tuple(dict.fromkeys(note for report in reports for note in report.notes)),
        signatures=tuple(signatures.values()),
    )


def _label(criterion: Criterion, known: dict[str, Criterion]) -> str:
    """Find the label under which the same criterion stands already, or the first one that is free."""
    label, number = criterion.label, 1
    while label in known and known[label] != replace(criterion, label=label):
        number += 1
        label = f"{criterion.label}#{number}"
    return label
