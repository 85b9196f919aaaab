"""Calls, scores and differences in words: the phrases that text, Markdown and HTML share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..matching import show_json

if TYPE_CHECKING:
    from ..alignment import Alignment
    from ..model import ToolCall
    from ..summary import CriterionSummary, Summary

__all__ = ["PictureRow", "call_words", "difference_words", "number", "picture", "threshold_words", "total_words"]

Mark = Literal["=", "~", "-", "+", "!"]


@dataclass(frozen=True, slots=True)
class PictureRow:
    """One line of an alignment's picture.

    Attributes:
        mark: ``=`` matched, ``~`` the same tool with other arguments, ``-`` missing, ``+`` extra,
            ``!`` matched, but out of order.
        expected: the expected call, ``""`` where there is none.
        made: the call made, ``""`` where there is none.
        note: what a person must see: the differing arguments, or the place of the other half.
    """

    mark: Mark
    expected: str
    made: str
    note: str = ""


def picture(alignment: Alignment) -> list[PictureRow]:
    """Return the rows of an alignment's picture: both lists in their order, matched calls side by side."""
    in_order = alignment.in_order_pairs
    used_made, used_expected = {i for i, _ in in_order}, {j for _, j in in_order}
    # A maximum matching need not hold the calls that match in order; only what it says of the others is shown.
    moved = {i: j for i, j in alignment.pairs if i not in used_made and j not in used_expected}
    came_from = {j: i for i, j in moved.items()}
    near = {mismatch.expected_index: mismatch for mismatch in alignment.mismatches}
    beside = list(in_order)
    for mismatch in alignment.mismatches:
        i, j = mismatch.actual_index, mismatch.expected_index
        if i not in used_made and j not in used_expected and all((a < i) == (b < j) for a, b in beside):
            beside.append((i, j))

    rows: list[PictureRow] = []
    made = expected = 0
    for i, j in (*sorted(beside), (alignment.n, alignment.m)):
        for lone in range(expected, j):
            call = call_words(alignment.expected[lone])
            if lone in came_from:
                rows.append(PictureRow("!", call, "", f"made out of order, as call {came_from[lone] + 1}"))
            elif lone in near:
                differ = "; ".join(map(str, near[lone].differences))
                rows.append(
                    PictureRow("-", call, "", f"missing; closest is call {near[lone].actual_index + 1}: {differ}")
                )
            else:
                rows.append(PictureRow("-", call, "", "missing"))
        for lone in range(made, i):
            call = call_words(alignment.actual[lone])
            if lone in moved:
                rows.append(PictureRow("!", "", call, f"out of order, expected as call {moved[lone] + 1}"))
            else:
                rows.append(PictureRow("+", "", call, "extra"))
        made, expected = i + 1, j + 1
        if i < alignment.n and j < alignment.m:
            pair = call_words(alignment.expected[j]), call_words(alignment.actual[i])
            if (i, j) in in_order:
                rows.append(PictureRow("=", *pair))
            else:
                rows.append(PictureRow("~", *pair, "; ".join(map(str, near[j].differences))))
    return rows


def difference_words(alignment: Alignment) -> tuple[str, ...]:
    """Say each thing that differs between the calls made and the calls expected, in the order of the picture."""
    # A call that was made out of order has a row on each side; the side that was made says it.
    return tuple(
        f"{row.made or row.expected}: {row.note}"
        for row in picture(alignment)
        if row.mark != "=" and (row.mark != "!" or row.made)
    )


def call_words(call: ToolCall, width: int = 60) -> str:
    """Write a call as a person would: ``book(seat="3A", paid=true)``.

    >>> from adk_scoring import ToolCall
    >>> call_words(ToolCall("book", {"seat": "3A", "paid": True}))
    'book(seat="3A", paid=true)'
    """
    if call.args is None:
        return f"{call.name}(unknown arguments)"
    shown = ", ".join(f"{key}={show_json(value, 30)}" for key, value in call.args.items())
    if len(shown) > width:
        shown = shown[: width - 1] + "…"
    return f"{call.name or '(no name)'}({shown})"


def number(value: float | None) -> str:
    """Write a score: three decimals, ``-`` where there is none."""
    return "-" if value is None else f"{value:.3f}" if abs(value) < 1000 else f"{value:.5g}"


def threshold_words(criterion: CriterionSummary, higher_is_better: bool) -> str:
    """Write what a criterion asks for."""
    if criterion.threshold is None:
        return "informational"
    return f"{'>=' if higher_is_better else '<='} {criterion.threshold:g}"


def total_words(summary: Summary, passed: bool) -> str:
    """Write the outcome of a report in one line."""
    noun = "case" if summary.total == 1 else "cases"
    if summary.cases != summary.total:
        noun = f"trials of {summary.cases} case{'s' if summary.cases != 1 else ''}"
    kinds = (
        (summary.passed, "passed"),
        (summary.failed, "failed"),
        (summary.errors, "with errors"),
        (summary.not_evaluated, "not evaluated"),
    )
    counts = ", ".join(f"{count} {kind}" for count, kind in kinds if count)
    return f"{'PASSED' if passed else 'NOT PASSED'}: {summary.total} {noun}: {counts}"
