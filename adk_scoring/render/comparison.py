"""Comparisons as tables: text, Markdown, LaTeX (booktabs) and HTML, wide or long, with what was not compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

from .markdown import cell
from .text import one_line, table
from .words import number, plain

if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..comparison.differences import Difference, Standing
    from ..stats import Interval

__all__ = [
    "comparison_html",
    "comparison_markdown",
    "comparison_table",
    "comparison_text",
    "interval_words",
    "p_words",
]

_LISTED: Final = 10
_COLOUR: Final = {"better": "#2e7d3233", "worse": "#c6282833"}
_LATEX: Final = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


@dataclass(frozen=True, slots=True)
class _Grid:
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    verdicts: tuple[str, ...]  # of each row, for its colour


def comparison_table(comparison: Comparison, layout: str, form: str) -> str:
    """Write one table of a comparison; `Comparison.table` says what there is.

    Raises:
        ValueError: there is no such layout or form.
    """
    if layout not in ("wide", "long"):
        raise ValueError(f"layout is {layout!r}; want 'wide' or 'long'")
    grid = _wide(comparison) if layout == "wide" else _long(comparison)
    writers = {"text": _text, "markdown": _markdown, "latex": _latex, "html": _html}
    if form not in writers:
        raise ValueError(f"form is {form!r}; want {', '.join(writers)}")
    return writers[form](grid)


def comparison_text(comparison: Comparison) -> str:
    """Write a comparison for a terminal."""
    remarks = [f"note: {one_line(remark, 400)}" for remark in _remarks(comparison)]
    wide, long = _text(_wide(comparison)), _text(_long(comparison))
    return "\n".join([plain(_headline(comparison)), "", wide, "", long, *([""] if remarks else []), *remarks])


def comparison_markdown(comparison: Comparison) -> str:
    """Write a comparison as Markdown, for a pull request or a job summary."""
    lines = [f"**{cell(_headline(comparison))}**", "", _markdown(_wide(comparison)), "", _markdown(_long(comparison))]
    if remarks := _remarks(comparison):
        lines += ["", *(f"- {cell(remark)}" for remark in remarks)]
    return "\n".join(lines) + "\n"


def comparison_html(comparison: Comparison) -> str:
    """Write a comparison as an HTML fragment; everything that came from data is escaped."""
    remarks = "".join(f"<li>{escape(remark)}</li>" for remark in _remarks(comparison))
    return (
        f'<div class="adk-scoring"><p><b>{escape(plain(_headline(comparison)))}</b></p>{_html(_wide(comparison))}'
        f"{_html(_long(comparison))}{f'<ul>{remarks}</ul>' if remarks else ''}</div>"
    )


def interval_words(interval: Interval) -> str:
    """Write an estimate with its interval; ``-`` where there is no estimate.

    >>> from adk_scoring.stats import t_interval, wilson
    >>> interval_words(wilson(7, 10)), interval_words(t_interval([2.0])), interval_words(t_interval([]))
    ('0.700 [0.397, 0.892]', '2.000', '-')
    """
    if interval.estimate is None or interval.low is None or interval.high is None:
        return number(interval.estimate)
    return f"{number(interval.estimate)} [{number(interval.low)}, {number(interval.high)}]"


def p_words(p: float | None) -> str:
    """Write a p-value; never as 0.

    >>> p_words(0.03125), p_words(1e-9), p_words(1.0), p_words(None)
    ('0.031', '<0.001', '1.000', '-')
    """
    return "-" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def _headline(comparison: Comparison) -> str:
    cases = len(comparison.cohort.cases)
    return f"{' / '.join(comparison.names)}: {cases} case{'s' if cases != 1 else ''} compared"


def _wide(comparison: Comparison) -> _Grid:
    """Make a row for each label, a column for each report; the first report is what the others are held against."""
    first = comparison.names[0]
    verdict_of = {(d.label, d.other): d.verdict for d in comparison.differences if d.baseline == first}

    def written(label: str, name: str, standing: Standing | None) -> str:
        if standing is None:
            return "-"
        covered, total = standing.coverage.split("/")
        partly = f" ({standing.coverage})" if covered != total else ""
        verdict = verdict_of.get((label, name), "unclear")
        return interval_words(standing.interval) + partly + (f" {verdict}" if verdict != "unclear" else "")

    rows = [
        (label, *(written(label, name, comparison.standing(label, name)) for name in comparison.names))
        for label in comparison.labels
    ]
    return _Grid(("criterion", *comparison.names), tuple(rows), ("",) * len(rows))


def _long(comparison: Comparison) -> _Grid:
    head = (
        "criterion",
        "compared",
        "cases",
        "difference",
        "p",
        "Holm",
        "wins/ties/losses",
        "detectable",
        "verdict",
        "test",
    )
    return _Grid(
        head, tuple(map(_long_row, comparison.differences)), tuple(each.verdict for each in comparison.differences)
    )


def _long_row(each: Difference) -> tuple[str, ...]:
    return (
        each.label + ("" if each.higher_is_better else " (lower is better)"),
        f"{one_line(each.other, 24)} - {one_line(each.baseline, 24)}",
        str(each.n) + (f" ({each.unscored} in one only)" if each.unscored else ""),
        interval_words(each.interval),
        p_words(each.test.p if each.test else None),
        p_words(each.adjusted),
        f"{each.wins}/{each.ties}/{each.losses}",
        "-" if each.detectable is None else f">= {number(each.detectable)}",
        each.verdict,
        each.test.method if each.test else "-",
    )


def _remarks(comparison: Comparison) -> list[str]:
    """Say what was not compared and why, and what to know of the differences."""
    cohort = comparison.cohort
    remarks = [f"{name} lacks {_some(cases)}" for name, cases in cohort.missing.items() if cases]
    if cohort.changed:
        remarks.append(f"asked or expected something else, so not compared: {_some(cohort.changed)}")
    for reason, labels in _grouped(
        {f"{label} ({other} - {base})": (why,) for (label, base, other), why in comparison.not_compared.items()}
    ).items():
        remarks.append(f"not compared: {', '.join(labels)}: {reason}")
    notes = {f"{each.label} ({each.other} - {each.baseline})": each.notes for each in comparison.differences}
    remarks += [f"{', '.join(labels)}: {note}" for note, labels in _grouped(notes).items()]
    if comparison.axes and "composite" in {standing.kind for standing in comparison.standings}:
        remarks.append(f"composite: mean of {', '.join(comparison.axes)}, each on 0 to 1")
    undetected = [each for each in comparison.differences if each.kind == "criterion" and each.detectable is not None]
    if any(each.verdict == "unclear" for each in undetected):
        remarks.append("detectable: the smallest difference that these cases would have shown with 80 % power")
    return remarks


def _grouped(notes: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for label, said in notes.items():
        for note in said:
            grouped.setdefault(note, []).append(label)
    return grouped


def _some(cases: Sequence[str]) -> str:
    """List the first few cases and count the rest."""
    shown = ", ".join(cases[:_LISTED])
    noun = f"{len(cases)} case{'s' if len(cases) != 1 else ''}"
    return f"{noun}: {shown}" + (f", … ({len(cases) - _LISTED} more)" if len(cases) > _LISTED else "")


def _text(grid: _Grid) -> str:
    return table([grid.head, *(tuple(one_line(text, 60) for text in row) for row in grid.rows)], indent="  ")


def _markdown(grid: _Grid) -> str:
    lines = [grid.head, tuple("---" for _ in grid.head), *grid.rows]
    return "\n".join(f"| {' | '.join(text if text == '---' else cell(text) for text in line)} |" for line in lines)


def _latex(grid: _Grid) -> str:
    def line(texts: Sequence[str]) -> str:
        return " & ".join("".join(_LATEX.get(c, c) for c in plain(text)) for text in texts) + r" \\"

    body = [line(row) for row in grid.rows]
    columns = "l" * len(grid.head)
    top = [f"\\begin{{tabular}}{{{columns}}}", r"\toprule", line(grid.head), r"\midrule"]
    return "\n".join([*top, *body, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _html(grid: _Grid) -> str:
    lines = ["<table><tr>", *(f'<th style="text-align:left">{escape(plain(name))}</th>' for name in grid.head), "</tr>"]
    for row, verdict in zip(grid.rows, grid.verdicts, strict=True):
        style = f' style="background:{_COLOUR[verdict]}"' if verdict in _COLOUR else ""
        cells = "".join(f'<td style="text-align:left">{escape(plain(text))}</td>' for text in row)
        lines.append(f"<tr{style}>{cells}</tr>")
    return "".join((*lines, "</table>"))
