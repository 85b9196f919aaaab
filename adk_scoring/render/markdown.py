"""Reports as Markdown, for a pull request or a job summary."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from .text import one_line
from .words import number, threshold_words, total_words

if TYPE_CHECKING:
    from ..report import Report

__all__ = ["report_markdown"]

_FAILURES_SHOWN = 50


def report_markdown(report: Report) -> str:
    """Write a report as Markdown: the outcome, the table of criteria, the failures."""
    summary = report.summary
    lines = [
        f"**{total_words(summary, report.passed)}**",
        "",
        f"Criteria: {cell(report.criteria.source)}",
        "",
        "| criterion | mean | scored | wanted | passed |",
        "| --- | ---: | --- | --- | --- |",
    ]
    for entry, criterion in zip(summary.criteria, report.criteria, strict=True):
        wanted = threshold_words(entry, criterion.metric.higher_is_better)
        passed = "-" if entry.threshold is None else f"{entry.passed}/{entry.scored}"
        lines.append(f"| {cell(entry.label)} | {number(entry.mean)} | {entry.coverage} | {cell(wanted)} | {passed} |")
    shown = list(islice(report.iter_failures(), _FAILURES_SHOWN + 1))
    if shown:
        lines += ["", "| case | criterion | value | why |", "| --- | --- | ---: | --- |"]
    for failure in shown[:_FAILURES_SHOWN]:
        row = failure.row
        why = "; ".join((row.score.reason, *failure.differences)) or f"{failure.actual} for {failure.expected}"
        value = "error" if row.score.status == "error" else number(row.score.value)
        lines.append(f"| {cell(row.case_id)} | {cell(row.label)} | {value} | {cell(one_line(why, 300))} |")
    if len(shown) > _FAILURES_SHOWN:
        lines.append("| … | | | more failures than shown here |")
    notes = [
        *(f"{label}: scored in no case" for label in summary.never_scored),
        *report.criteria.ignored,
        *report.notes,
    ]
    if notes:
        lines += ["", *(f"- {cell(note)}" for note in notes)]
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """Make a text safe inside a table cell: what Markdown or HTML would obey is escaped."""
    safe = text.replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
    for mark in "*_`[]":
        safe = safe.replace(mark, f"\\{mark}")
    return " ".join(safe.split())
