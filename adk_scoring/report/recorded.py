"""Scores that a file already holds, beside those of a report: one row for each, in one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from ..errors import ConfigError
from ..metrics.base import Score, turn_scores
from ..model import RecordedScore

if TYPE_CHECKING:
    from . import Report, Row

__all__ = ["RecordedRow", "RecordedTable", "recorded_table"]


@dataclass(frozen=True, slots=True)
class RecordedRow:
    """One recorded score, and ours of the same case, turn and rubric.

    Attributes:
        set_id: the set of the case.
        case_id: the case.
        trial: which repeat of it.
        recorded: the other system's score.
        label: our criterion that it stands beside, ``""`` if there is none.
        score: our score, ``None`` if there is none of this turn and rubric.
        verdict: our verdict of the whole case by this criterion, ``None`` for a turn or a rubric alone.
    """

    set_id: str
    case_id: str
    trial: int
    recorded: RecordedScore
    label: str
    score: Score | None
    verdict: str | None

    @property
    def difference(self) -> float | None:
        """Our value minus the recorded one; ``None`` where one of them is missing."""
        ours, theirs = self.score.value if self.score else None, self.recorded.value
        return None if ours is None or theirs is None else ours - theirs


@dataclass(frozen=True)
class RecordedTable(Sequence[RecordedRow]):
    """The recorded scores of a report's cases beside its own; print it to see it."""

    rows: tuple[RecordedRow, ...]

    @overload
    def __getitem__(self, index: int) -> RecordedRow: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[RecordedRow]: ...
    def __getitem__(self, index: int | slice) -> RecordedRow | Sequence[RecordedRow]:
        """Return one row, or several."""
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def to_records(self) -> list[dict[str, Any]]:
        """Return one flat dict a row, for a data frame or a CSV file; a missing value is ``None``."""
        return [
            {
                "set_id": row.set_id,
                "case_id": row.case_id,
                "trial": row.trial,
                "turn": row.recorded.turn,
                "rubric_id": row.recorded.rubric_id,
                "recorded_metric": row.recorded.metric,
                "recorded": row.recorded.value,
                "recorded_verdict": row.recorded.verdict,
                "criterion": row.label or None,
                "value": row.score.value if row.score else None,
                "verdict": row.verdict,
                "difference": row.difference,
            }
            for row in self.rows
        ]

    def __str__(self) -> str:
        from ..render.recorded import recorded_text

        return recorded_text(self)


def recorded_table(report: Report, criteria: Mapping[str, str]) -> RecordedTable:
    """Put each recorded score beside ours; see `Report.recorded`."""
    for theirs, label in criteria.items():
        if label not in report.criteria.labels:
            known = ", ".join(report.criteria.labels)
            raise ConfigError(f"recorded metric {theirs!r}: there is no criterion {label!r}; there are {known}")
    return RecordedTable(tuple(_rows(report, {**_same_names(report), **criteria})))


def _same_names(report: Report) -> dict[str, str]:
    """Each criterion under its metric's name, and under its own label, which goes first."""
    by_metric = {criterion.metric.name: criterion.label for criterion in reversed(report.criteria.items)}
    return by_metric | {label: label for label in report.criteria.labels}


def _rows(report: Report, labels: Mapping[str, str]) -> Iterator[RecordedRow]:
    for index, case in enumerate(report.cases):
        if not case.recorded:
            continue
        ours = {row.label: row for row in report.rows_of(index)}
        for recorded in case.recorded:
            row = ours.get(labels.get(recorded.metric, ""))
            score = _part(row, recorded, len(case.turns)) if row else None
            whole = row is not None and score is row.score
            yield RecordedRow(
                case.set_id,
                case.case_id,
                case.trial,
                recorded,
                row.label if row else "",
                score,
                row.verdict if row and whole else None,
            )


def _part(row: Row, recorded: RecordedScore, turns: int) -> Score | None:
    """Our score of what the recorded one is about: the case, one turn of it, one rubric."""
    score = row.score
    if recorded.turn is not None and turns != 1:
        of_turns = turn_scores(score)
        if len(of_turns) != turns or not 0 <= recorded.turn < turns:
            return None
        score = of_turns[recorded.turn]
    if recorded.rubric_id is None:
        return score
    return next((part for part in score.parts if part.label == recorded.rubric_id), None)
