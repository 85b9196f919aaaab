"""Reports, cases and alignments as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING
from unicodedata import category, east_asian_width

from ..errors import MatchError
from .words import (
    PictureRow,
    absent_words,
    alignment_words,
    call_words,
    never_scored_words,
    number,
    picture,
    plain,
    total_words,
    trial_words,
    verdict_words,
)

if TYPE_CHECKING:
    from ..alignment import Alignment
    from ..report import CaseReport, Report
    from ..report.failures import Failure

__all__ = ["alignment_text", "case_text", "report_text", "sets_text", "table"]

_FAILURES_SHOWN = 20
_WIDTH = 120
_LANES = 6


def table(rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), indent: str = "") -> str:
    """Lay out rows in columns; the last column is left as it is. Wide characters count as the two cells they take.

    Args:
        rows: the cells; every row has as many.
        right: the columns that are aligned to the right.
        indent: stands before each line.
    """
    rows = [[plain(text) for text in row] for row in rows]
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        padded = []
        for index, (text, width) in enumerate(zip(row, widths, strict=True)):
            gap = " " * (width - cells(text))
            padded.append(gap + text if index in right else text + gap)
        lines.append((indent + "  ".join(padded)).rstrip())
    return "\n".join(lines)


def cells(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if category(c) in _NO_WIDTH else 2 if east_asian_width(c) in "WF" else 1 for c in text)


_NO_WIDTH = ("Mn", "Me", "Cf")


def one_line(text: str, width: int = 100) -> str:
    """Put a text on one line and shorten it; what a terminal would obey is shown, not obeyed."""
    flat = plain(" ".join(text.split()))
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def report_text(report: Report) -> str:
    """Write a report: the outcome, a table of criteria with coverage, the failures with their reasons."""
    return _lines([*_outcome(report), *_failures(report), *_notes(report)])


def sets_text(report: Report) -> str:
    """Write a report for each eval set, and the total behind them; a report of one set as `report_text` does."""
    sets = report.by("set_id")
    if len(sets) == 1:
        return report_text(report)
    lines = []
    for name, part in sets.items():
        lines += [f"=== {name or '(no set)'}", *_outcome(part), *_failures(part), ""]
    return _lines([*lines, f"=== total of {len(sets)} sets", *_outcome(report), *_notes(report)])


def _lines(lines: Sequence[str]) -> str:
    return "\n".join(map(plain, lines))


def _outcome(report: Report) -> list[str]:
    summary = report.summary
    rows = [("criterion", "mean", "scored", "wanted", "passed")]
    for entry, criterion in zip(summary.criteria, report.criteria, strict=True):
        rows.append(
            (
                entry.label,
                entry.mean_words,
                entry.coverage,
                criterion.wanted,
                "-" if entry.threshold is None else f"{entry.passed}/{entry.scored}",
            )
        )
    lines = [total_words(summary, report.passed), f"criteria: {report.criteria.source}"]
    lines += ["", *table(rows, right=(1,), indent="  ").split("\n")]
    lines += [f"  {words}" for words in (*never_scored_words(report), *absent_words(report))]
    return [*lines, *trial_words(report)]


def _failures(report: Report) -> list[str]:
    lines: list[str] = []
    shown = list(islice(report.iter_failures(), _FAILURES_SHOWN + 1))
    before: Failure | None = None
    for failure in shown[:_FAILURES_SHOWN]:
        lines += _failure_lines(failure, before)
        before = failure
    if len(shown) > _FAILURES_SHOWN:
        lines += ["", f"… more failures: report.failures() has all, report.case({shown[-1].row.case_id!r}).show() one"]
    return lines


def _notes(report: Report) -> list[str]:
    return [f"note: {note}" for note in (*report.criteria.ignored, *report.notes)]


def _failure_lines(failure: Failure, before: Failure | None) -> list[str]:
    """Write one failure; what the failure before it said of the same turn is not said again."""
    row = failure.row
    lines = []
    same_case = before is not None and (before.row.set_id, before.row.case_id, before.row.trial) == (
        row.set_id,
        row.case_id,
        row.trial,
    )
    if not same_case:
        name = row.case_id + (f" (trial {row.trial})" if row.trial else "")
        lines += ["", name + (f"  at {': '.join(filter(None, failure.source))}" if any(failure.source) else "")]
    if row.score.status == "error":
        return [*lines, f"  ERROR   {row.label}: {one_line(row.score.reason, 300)}"]
    lines.append(f"  FAILED  {row.label} = {number(row.score.value)}: {one_line(row.score.reason, 300)}")
    said = (before.turn, before.expected, before.actual) if before is not None and same_case else None
    if said != (failure.turn, failure.expected, failure.actual):
        several = row.score.parts and row.score.parts[0].label == "turn 1"
        turn = f"turn {failure.turn + 1} " if several else ""
        lines.append(f"    {turn}expected: {one_line(failure.expected)}")
        lines.append(f"    {turn}actual:   {one_line(failure.actual)}")
        lines += [f"      {one_line(difference, 160)}" for difference in failure.differences[:10]]
        if len(failure.differences) > 10:
            lines.append(f"      … {len(failure.differences) - 10} more differences")
    return lines


def case_text(report: CaseReport) -> str:
    """Write one case: the verdict, each criterion with its reason, each turn's calls aligned and its answers."""
    case = report.case
    where = ": ".join(part for part in case.source if part)
    lines = [f"{case.case_id}" + (f" (trial {case.trial})" if case.trial else "") + f": {report.verdict.upper()}"]
    if where:
        lines.append(f"at {where}")
    rows = []
    for row in report.rows:
        wanted = "" if row.threshold is None else f"wanted {report.criteria[row.label].wanted}"
        rows.append((row.verdict, row.label, number(row.score.value), wanted, one_line(row.score.reason, 200)))
    lines += table(rows, right=(2,), indent="  ").split("\n")
    for row in report.rows:
        if given := verdict_words(row):
            shown = [(turn, one_line(part, 100), value, one_line(reason, 200)) for turn, part, value, reason in given]
            lines += ["", f"{row.label}, verdict by verdict", *table(shown, right=(2,), indent="  ").split("\n")]
    for index, turn in enumerate(case.turns, 1):
        said = next((side.user_text for side in (turn.actual, *turn.expected) if side and side.user_text), "")
        lines += ["", f"turn {index}: {one_line(said)}"]
        lines += [f"  {line}" for line in _turn_lines(report, index - 1)]
    return _lines(lines)


def _turn_lines(report: CaseReport, turn: int) -> list[str]:
    actual = report.case.turns[turn].actual
    if actual is None:
        return ["no run of this turn"]
    lines = [f"the run failed: {one_line(actual.error, 300)}"] if actual.error else []
    try:
        expected, alignment = report.expectation(turn)
    except MatchError as error:
        expected, alignment = None, None
        lines.append(f"the calls cannot be compared: {error}")
    if alignment is not None:
        lines += alignment_text(alignment).split("\n")
    elif actual.tool_calls:
        lines.append("calls made, none compared: " + ", ".join(map(call_words, actual.tool_calls)))
    if expected is not None and expected.response is not None:
        lines.append(f"expected: {one_line(expected.response)}")
    lines.append(f"response: {'(none)' if actual.response is None else one_line(actual.response)}")
    return lines


def alignment_text(alignment: Alignment) -> str:
    """Write an alignment as two columns, expected and made, with what differs beside each pair.

    A line at the left joins the two halves of a call that is out of order. Where all that would not fit a usual
    terminal, what differs stands on a line of its own.
    """
    head = alignment_words(alignment)
    rows = picture(alignment)
    if not rows:
        return head
    drawn = list(zip(rows, *_arcs(rows), strict=True))
    body = [
        ("", "expected", "made", ""),
        *((arc + row.mark, row.expected, row.made, row.note) for row, arc, _ in drawn),
    ]
    wide = table(body, indent="  ")
    if max(map(cells, wide.splitlines())) <= _WIDTH:
        return f"{head}\n{wide}"
    lines = table([row[:3] for row in body], indent="  ").splitlines()
    if max(map(cells, lines)) > _WIDTH:  # even two calls side by side are too wide
        lines = [f"  {' ' * len(drawn[0][1])}   expected / made"]
        for row, arc, below in drawn:
            sides = dict.fromkeys(filter(None, (row.expected, row.made)))
            marks = arc + row.mark, below + " "
            lines.append("\n".join(f"  {mark}  {side}" for mark, side in zip(marks, sides, strict=False)))
    noted = [lines[0]]
    for line, (row, _, below) in zip(lines[1:], drawn, strict=True):
        noted += [line, *([f"  {below}     {row.note}"] if row.note else [])]
    return "\n".join((head, *noted))


def _arcs(rows: Sequence[PictureRow]) -> tuple[list[str], list[str]]:
    """Draw a line between the halves of each call that is out of order: what stands left of each row, and below it."""
    spans = sorted(
        ((top, row.other) for top, row in enumerate(rows) if row.other is not None and top < row.other),
        key=lambda span: span[1] - span[0],
    )
    lanes: list[list[tuple[int, int]]] = []  # short lines first, so that they lie inside the long ones
    for span in spans:
        free = (lane for lane in lanes if all(top > span[1] or bottom < span[0] for top, bottom in lane))
        lane = next(free, None)
        if lane is None:
            if len(lanes) == _LANES:  # more lines beside each other would be a thicket; the notes still name the places
                continue
            lanes.append(lane := [])
        lane.append(span)
    width = len(lanes)
    beside, below = [[" "] * width for _ in rows], [[" "] * width for _ in rows]
    for inside, lane in enumerate(lanes):
        column = width - 1 - inside
        for top, bottom in lane:
            for index in range(top, bottom):
                beside[index][column] = below[index][column] = "│"
            for index, corner in ((top, "╭"), (bottom, "╰")):
                beside[index][column] = corner
                for crossed in range(column + 1, width):
                    beside[index][crossed] = "─" if beside[index][crossed] == " " else "┼"
    return ["".join(row) for row in beside], ["".join(row) for row in below]
