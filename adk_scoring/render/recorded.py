"""The table of recorded scores beside ours -> plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .text import table
from .words import number

if TYPE_CHECKING:
    from ..report.recorded import RecordedRow, RecordedTable

__all__ = ["recorded_text"]


def recorded_text(scores: RecordedTable) -> str:
    """Return the table in text: a line for each recorded score."""
    if not scores:
        return "no case holds a recorded score"
    head = ["case", "recorded as", "recorded", "ours", "difference", "criterion"]
    return table([head, *map(_cells, scores)], right=(2, 3, 4))


def _cells(row: RecordedRow) -> list[str]:
    recorded = row.recorded
    case = row.case_id + (f" (trial {row.trial})" if row.trial else "")
    about = "" if recorded.turn is None else f", turn {recorded.turn + 1}"
    about += f", {recorded.rubric_id}" if recorded.rubric_id else ""
    theirs = recorded.verdict if recorded.value is None and recorded.verdict else number(recorded.value)
    difference = row.difference
    return [
        case,
        recorded.metric + about,
        theirs,
        number(row.score.value if row.score else None),
        "-" if difference is None else f"{difference:+.4g}",
        row.label or "(none)",
    ]
