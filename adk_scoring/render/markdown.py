"""Reports as Markdown, for a pull request or a job summary."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from .text import one_line
from .words import absent_words, never_scored_words, number, plain, total_words, trial_words

if TYPE_CHECKING:
    from ..report import Report

__all__ = ["report_markdown", "sets_markdown"]

_FAILURES_SHOWN = 50


def report_markdown(report: Report) -> str:
    """Write a report as Markdown: the outcome, the table of criteria, the failures."""
    return "\n".join([*_outcome(report), *_failures(report), *_notes(report)]) + "\n"


def sets_markdown(report: Report) -> str:
    """Write a report for each eval set, and the total behind them; a report of one set as `report_markdown` does."""
    sets = report.by("set_id")
    if len(sets) == 1:
        return report_markdown(report)
    lines = []
    for name, part in sets.items():
        lines += [f"## {cell(name) or '(no set)'}", "", *_outcome(part), *_failures(part), ""]
    return "\n".join([*lines, f"## Total of {len(sets)} sets", "", *_outcome(report), *_notes(report)]) + "\n"


def _outcome(report: Report) -> list[str]:
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
        wanted = criterion.wanted
        passed = "-" if entry.threshold is None else f"{entry.passed}/{entry.scored}"
        lines.append(f"| {cell(entry.label)} | {entry.mean_words} | {entry.coverage} | {cell(wanted)} | {passed} |")
    return [*lines, *_list([*never_scored_words(report), *absent_words(report), *trial_words(report)])]


def _failures(report: Report) -> list[str]:
    shown = list(islice(report.iter_failures(), _FAILURES_SHOWN + 1))
    if not shown:
        return []
    lines = ["", "| case | criterion | value | why |", "| --- | --- | ---: | --- |"]
    for failure in shown[:_FAILURES_SHOWN]:
        row = failure.row
        name = row.case_id + (f" (trial {row.trial})" if row.trial else "")
        value = "error" if row.score.status == "error" else number(row.score.value)
        why = one_line("; ".join((row.score.reason, *failure.differences)), 300)
        lines.append(f"| {cell(name)} | {cell(row.label)} | {value} | {cell(why)} |")
    if len(shown) > _FAILURES_SHOWN:
        lines.append("| … | | | more failures than shown here |")
    return lines


def _notes(report: Report) -> list[str]:
    return _list([*report.criteria.ignored, *report.notes])


def _list(items: Sequence[str]) -> list[str]:
    return ["", *(f"- {cell(item)}" for item in items)] if items else []


def cell(text: str) -> str:
    """Make a text safe inside a table cell: what Markdown or HTML would obey is escaped."""
    safe = plain(text).replace("&", "&amp;").replace("<", "&lt;")
    return " ".join("".join(f"\\{c}" if c in _MARKS else c for c in safe).split())


_MARKS = frozenset("\\|*_`[]~$")
