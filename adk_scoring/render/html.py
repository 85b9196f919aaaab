"""Reports, cases and alignments as HTML fragments for a notebook; everything that came from data is escaped."""

from __future__ import annotations

from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from ..errors import MatchError
from .text import one_line
from .words import (
    PictureRow,
    absent_words,
    alignment_words,
    never_scored_words,
    number,
    picture,
    total_words,
    trial_words,
    verdict_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..alignment import Alignment
    from ..report import CaseReport, Report

__all__ = ["alignment_html", "case_html", "report_html"]

_FAILURES_SHOWN = 50
# Colours that carry over to a dark theme, and differ in lightness for those who do not see hues.
_COLOUR = {
    "=": "#2e7d3233",
    "~": "#f9a82566",
    "-": "#c6282833",
    "+": "#1565c033",
    "!": "#6a1b9a33",
    "passed": "#2e7d3233",
    "failed": "#c6282833",
    "error": "#c6282866",
    "not_evaluated": "#75757533",
    "informational": "#75757522",
}


def report_html(report: Report) -> str:
    """Write a report: the outcome, the table of criteria, the failures."""
    summary = report.summary
    rows = []
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
    outcome = "passed" if report.passed else "failed"
    parts = [
        f'<p><b style="background:{_COLOUR[outcome]};padding:2px 6px">{escape(total_words(summary, report.passed))}</b>'
        f"<br><small>criteria: {escape(report.criteria.source)}</small></p>",
        _table(("criterion", "mean", "scored", "wanted", "passed"), rows),
    ]
    shown = list(islice(report.iter_failures(), _FAILURES_SHOWN + 1))
    if shown:
        failures = []
        for failure in shown[:_FAILURES_SHOWN]:
            row = failure.row
            value = "error" if row.score.status == "error" else number(row.score.value)
            why = "\n".join((row.score.reason, *failure.differences))
            failures.append((row.case_id, row.label, value, one_line(failure.expected), one_line(failure.actual), why))
        parts.append(_table(("case", "criterion", "value", "expected", "actual", "why"), failures))
    if len(shown) > _FAILURES_SHOWN:
        parts.append("<p>… more failures: <code>report.failures()</code></p>")
    notes = [
        *never_scored_words(report),
        *absent_words(report),
        *trial_words(report),
        *report.criteria.ignored,
        *report.notes,
    ]
    if notes:
        parts.append("<ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>")
    return f'<div class="adk-scoring">{"".join(parts)}</div>'


def case_html(report: CaseReport) -> str:
    """Write one case: the verdict, each criterion with its reason, each turn's calls aligned and its answers."""
    case = report.case
    parts = [
        f'<p><b>{escape(case.case_id)}</b> <span style="background:{_COLOUR[report.verdict]};padding:2px 6px">'
        f"{report.verdict}</span> <small>{escape(': '.join(part for part in case.source if part))}</small></p>",
        _table(
            ("verdict", "criterion", "value", "reason"),
            [(row.verdict, row.label, number(row.score.value), row.score.reason) for row in report.rows],
            colours=[_COLOUR[row.verdict] for row in report.rows],
        ),
    ]
    for row in report.rows:
        if given := verdict_words(row):
            parts.append(f"<p>{escape(row.label)}, verdict by verdict</p>" + _table(("", "", "", ""), given))
    for index, turn in enumerate(case.turns, 1):
        said = next((side.user_text for side in (turn.actual, *turn.expected) if side and side.user_text), "")
        parts.append(f"<p><b>turn {index}</b> {escape(said)}</p>")
        actual = turn.actual
        if actual is None:
            parts.append("<p>no run of this turn</p>")
            continue
        if actual.error:
            parts.append(f"<p>the run failed: {escape(actual.error)}</p>")
        try:
            expected, alignment = report.expectation(index - 1)
        except MatchError as error:
            expected, alignment = None, None
            parts.append(f"<p>the calls cannot be compared: {escape(str(error))}</p>")
        if alignment is not None:
            parts.append(alignment_html(alignment))
        answers = [("response", actual.response if actual.response is not None else "(none)")]
        if expected is not None and expected.response is not None:
            answers.insert(0, ("expected", expected.response))
        parts.append(_table(("", ""), answers))
    return f'<div class="adk-scoring">{"".join(parts)}</div>'


def alignment_html(alignment: Alignment) -> str:
    """Write an alignment as two columns, expected and made; a line joins what matched, aslant where out of order.

    The arguments that differ are marked, and said below: beside long calls they would be out of sight. Where a page
    drops drawings, the marks and notes of the rows still say it all.
    """
    rows = picture(alignment)
    head = f"<p>{alignment_words(alignment)}</p>"
    if not rows:
        return head
    names = ("", "expected", "", "made")
    lines = ['<tr style="background:none">', *(f'<th style="{_CELL}">{name}</th>' for name in names), "</tr>"]
    for index, row in enumerate(rows):
        cell = f'<td style="{_CELL};background:{_COLOUR[row.mark]}">'
        expected, made = map(_pieces, row.pieces)
        lines += ['<tr style="background:none">', f"{cell}{row.mark}</td>", f"{cell}{expected}</td>"]
        if not index:
            lines.append(f'<td rowspan="{len(rows)}" style="padding:0;border:0">{_links(rows)}</td>')
        lines += [f"{cell}{made}</td>", "</tr>"]
    table = f'<div style="overflow-x:auto"><table style="border-collapse:collapse">{"".join(lines)}</table></div>'
    notes = "".join(
        f"<li>{row.mark} {escape((row.made or row.expected).partition('(')[0])}: {escape(row.note)}</li>"
        for row in rows
        if row.note
    )
    return head + table + (f'<ul style="list-style:none;padding-left:8px">{notes}</ul>' if notes else "")


_HEIGHT, _WIDTH = 26, 64
"""Pixels of a row and of the drawing between the columns; rows do not wrap, so that lines meet them."""
_CELL = f"text-align:left;white-space:pre;height:{_HEIGHT}px;padding:0 8px;border:0"
_LINE = {"=": "#2e7d32", "~": "#f9a825", "!": "#8e24aa"}


def _pieces(side: Sequence[tuple[str, bool]]) -> str:
    style = "background:#f9a82599;color:inherit;font-weight:bold"
    return "".join(
        f'<mark style="{style}">{escape(text)}</mark>' if is_marked else escape(text) for text, is_marked in side
    )


def _links(rows: Sequence[PictureRow]) -> str:
    """Draw a line from each expected call to the call made for it, dashed where arguments differ."""
    lines = []
    for index, row in enumerate(rows):
        other = index if row.other is None else row.other
        if row.mark in _LINE and row.expected:  # of the two halves of a line, the expected one draws it
            ends = f'x1="4" y1="{(index + 0.5) * _HEIGHT:g}" x2="{_WIDTH - 4}" y2="{(other + 0.5) * _HEIGHT:g}"'
            dashes = ' stroke-dasharray="4 3"' if row.mark == "~" else ""
            lines.append(f'<line {ends} stroke="{_LINE[row.mark]}" stroke-width="2"{dashes}/>')
    size = f'width="{_WIDTH}" height="{len(rows) * _HEIGHT}"'
    return f'<svg {size} style="display:block">{"".join(lines)}</svg>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], colours: Sequence[str] = ()) -> str:
    lines = ["<table><tr>", *(f'<th style="text-align:left">{escape(name)}</th>' for name in head), "</tr>"]
    for index, row in enumerate(rows):
        style = f' style="background:{colours[index]}"' if colours else ""
        lines += [
            f"<tr{style}>",
            *(f'<td style="text-align:left;white-space:pre-wrap">{escape(text)}</td>' for text in row),
            "</tr>",
        ]
    return "".join((*lines, "</table>"))
