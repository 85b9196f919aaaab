"""Reports, cases and alignments as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from ..errors import MatchError
from .words import call_words, number, picture, threshold_words, total_words

if TYPE_CHECKING:
    from ..alignment import Alignment
    from ..failures import Failure
    from ..report import CaseReport, Report

__all__ = ["alignment_text", "case_text", "report_text", "table"]

_FAILURES_SHOWN = 20


def table(rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), indent: str = "") -> str:
    """Lay out rows in columns; the last column is left as it is. Wide characters count as the two cells they take.

    Args:
        rows: the cells; every row has as many.
        right: the columns that are aligned to the right.
        indent: stands before each line.
    """
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
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def one_line(text: str, width: int = 100) -> str:
    """Put a text on one line and shorten it; control characters are shown, not obeyed."""
    flat = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def report_text(report: Report) -> str:
    """Write a report: the outcome, a table of criteria with coverage, the failures with their reasons."""
    summary = report.summary
    lines = [total_words(summary, report.passed), f"criteria: {report.criteria.source}"]
    rows = [("criterion", "mean", "scored", "wanted", "passed")]
    for entry, criterion in zip(summary.criteria, report.criteria, strict=True):
        rows.append(
            (
                entry.label,
                number(entry.mean),
                entry.coverage,
                threshold_words(entry, criterion.metric.higher_is_better),
                "-" if entry.threshold is None else f"{entry.passed}/{entry.scored}",
            )
        )
    lines += ["", table(rows, right=(1,), indent="  ")]
    lines += [f"  {label}: scored in no case, so the report is not passed" for label in summary.never_scored]
    if summary.flaky:
        lines.append(f"flaky (passed in some trials only): {', '.join(summary.flaky)}")
    shown = list(islice(report.iter_failures(), _FAILURES_SHOWN + 1))
    before: Failure | None = None
    for failure in shown[:_FAILURES_SHOWN]:
        lines += _failure_lines(failure, before)
        before = failure
    if len(shown) > _FAILURES_SHOWN:
        lines += ["", f"… more failures: report.failures() has all, report.case({shown[-1].row.case_id!r}).show() one"]
    lines += [f"note: {note}" for note in (*report.criteria.ignored, *report.notes)]
    return "\n".join(lines)


def _failure_lines(failure: Failure, before: Failure | None) -> list[str]:
    """Write one failure; what the failure before it said of the same turn is not said again."""
    row = failure.row
    name = row.case_id + (f" (trial {row.trial})" if row.trial else "")
    same_case = before is not None and (before.row.case_id, before.row.trial) == (row.case_id, row.trial)
    lines = (
        []
        if same_case
        else ["", f"{name}" + (f"  at {': '.join(filter(None, failure.source))}" if any(failure.source) else "")]
    )
    if row.score.status == "error":
        return [*lines, f"  ERROR   {row.label}: {one_line(row.score.reason, 300)}"]
    lines.append(f"  FAILED  {row.label} = {number(row.score.value)}: {one_line(row.score.reason, 300)}")
    if before is None or not same_case or (before.expected, before.actual) != (failure.expected, failure.actual):
        lines += [f"    expected: {one_line(failure.expected)}", f"    actual:   {one_line(failure.actual)}"]
        lines += [f"      {one_line(difference, 160)}" for difference in failure.differences[:10]]
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
        wanted = "" if row.threshold is None else f"wanted {row.threshold:g}"
        rows.append((row.verdict, row.label, number(row.score.value), wanted, one_line(row.score.reason, 200)))
    lines += [table(rows, right=(2,), indent="  ")] if rows else []
    for index, turn in enumerate(case.turns, 1):
        said = next((side.user_text for side in (turn.actual, *turn.expected) if side and side.user_text), "")
        lines += ["", f"turn {index}: {one_line(said)}"]
        lines += [f"  {line}" for line in _turn_lines(report, index - 1)]
    return "\n".join(lines)


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
        lines += alignment_text(alignment).splitlines()
    elif actual.tool_calls:
        lines.append("calls made, none compared: " + ", ".join(map(call_words, actual.tool_calls)))
    if expected is not None and expected.response is not None:
        lines.append(f"expected: {one_line(expected.response)}")
    lines.append(f"response: {'(none)' if actual.response is None else one_line(actual.response)}")
    return lines


def alignment_text(alignment: Alignment) -> str:
    """Write an alignment as two columns, expected and made, with what differs beside each pair."""
    a = alignment
    head = f"{a.n} calls made, {a.m} expected: {a.k} match, {a.l} of them in order"
    rows = picture(a)
    if not rows:
        return head
    body = [("", "expected", "made", ""), *((row.mark, row.expected, row.made, row.note) for row in rows)]
    return "\n".join((head, table(body, indent="  ")))
