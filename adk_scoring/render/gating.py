"""What a gate says, as text, Markdown and HTML: the outcome, each criterion's arithmetic, what stood in the way."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from .markdown import cell
from .text import one_line, table
from .words import plain

if TYPE_CHECKING:
    from ..comparison.gating import Gate

__all__ = ["gate_html", "gate_markdown", "gate_text"]

_HEAD: Final = ("outcome", "criterion", "margin", "cases", "improvement on the baseline")
_COLOUR: Final = {"PASS": "#2e7d3233", "FAIL": "#c6282833", "INCONCLUSIVE": "#f9a82566", "INVALID": "#75757566"}


def gate_text(gate: Gate) -> str:
    """Write a gate for a terminal."""
    rows = [_HEAD, *(tuple(one_line(text, 300) for text in row) for row in _rows(gate))]
    return "\n".join(
        [gate.outcome, "", table(rows, indent="  "), *(f"  {one_line(text, 400)}" for text in _said(gate))]
    )


def gate_markdown(gate: Gate) -> str:
    """Write a gate as Markdown, for a pull request or a job summary."""
    lines = [_HEAD, ("---",) * len(_HEAD), *(tuple(map(cell, row)) for row in _rows(gate))]
    body = [f"| {' | '.join(line)} |" for line in lines]
    said = [f"- {cell(text)}" for text in _said(gate)]
    return "\n".join([f"**Gate: {gate.outcome}**", "", *body, *([""] if said else []), *said]) + "\n"


def gate_html(gate: Gate) -> str:
    """Write a gate as an HTML fragment; everything that came from data is escaped."""
    head = "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in _HEAD)
    body = "".join(
        f'<tr style="background:{_COLOUR[row[0]]}">'
        + "".join(f'<td style="text-align:left">{escape(plain(text))}</td>' for text in row)
        + "</tr>"
        for row in _rows(gate)
    )
    said = "".join(f"<li>{escape(plain(text))}</li>" for text in _said(gate))
    return (
        f'<div class="adk-scoring"><p><b style="background:{_COLOUR[gate.outcome]};padding:2px 6px">{gate.outcome}</b>'
        f"</p><table><tr>{head}</tr>{body}</table>{f'<ul>{said}</ul>' if said else ''}</div>"
    )


def _rows(gate: Gate) -> list[tuple[str, ...]]:
    return [
        (row.outcome, row.label, f"{row.margin:g}", str(row.difference.n) if row.difference else "-", row.reason)
        for row in gate.rows
    ]


def _said(gate: Gate) -> list[str]:
    origin = [f"baseline: {gate.baseline}"] if gate.baseline else []
    return [*(f"INVALID: {problem}" for problem in gate.problems), *(f"note: {note}" for note in gate.notes), *origin]
