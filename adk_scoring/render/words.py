"""Calls, scores and differences in words: the phrases that text, Markdown and HTML share."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..matching import show_json

if TYPE_CHECKING:
    from ..alignment import Alignment
    from ..matching import Difference
    from ..metrics.base import Scores
    from ..model import ToolCall
    from ..report import Report, Row
    from ..report.summary import Summary

__all__ = [
    "PictureRow",
    "absent_words",
    "alignment_words",
    "call_pieces",
    "call_words",
    "difference_words",
    "never_scored_words",
    "number",
    "picture",
    "plain",
    "total_words",
    "trial_words",
    "verdict_words",
]

Mark = Literal["=", "~", "-", "+", "!"]
Piece: TypeAlias = tuple[str, bool]
"""Words of a call, and whether they are marked."""


@dataclass(frozen=True, slots=True)
class PictureRow:
    """One line of an alignment's picture.

    Attributes:
        mark: ``=`` matched, ``~`` the same tool with other arguments, ``-`` missing, ``+`` extra,
            ``!`` matched, but out of order.
        expected: the expected call, ``""`` where there is none.
        made: the call made, ``""`` where there is none.
        note: what a person must see: the differing arguments, or the place of the other half.
        other: the row of the other half of a call that is out of order.
        pieces: both calls in pieces, each with whether it is an argument that differs.
    """

    mark: Mark
    expected: str
    made: str
    note: str = ""
    other: int | None = field(default=None, compare=False)
    pieces: tuple[tuple[Piece, ...], tuple[Piece, ...]] = field(default=((), ()), compare=False)


def picture(alignment: Alignment) -> list[PictureRow]:
    """Return the rows of an alignment's picture: both lists in their order, matched calls side by side."""
    in_order = alignment.in_order_pairs
    moved = _moved(alignment)
    came_from = {j: i for i, j in moved.items()}
    settled = {i for i, _ in in_order} | moved.keys(), {j for _, j in in_order} | came_from.keys()
    near = {
        mismatch.expected_index: mismatch
        for mismatch in alignment.mismatches
        if mismatch.actual_index not in settled[0] and mismatch.expected_index not in settled[1]
    }
    beside = list(in_order)
    for mismatch in near.values():
        i, j = mismatch.actual_index, mismatch.expected_index
        if all((a < i) == (b < j) for a, b in beside):
            beside.append((i, j))

    rows: list[PictureRow] = []
    halves: dict[tuple[int, int], list[int]] = {}
    made = expected = 0
    for i, j in (*sorted(beside), (alignment.n, alignment.m)):
        for lone in range(expected, j):
            call = alignment.expected[lone]
            if lone in came_from:
                halves.setdefault((came_from[lone], lone), []).append(len(rows))
                rows.append(_row("!", call, None, f"made out of order, as call {came_from[lone] + 1}"))
            elif lone in near:
                differ = near[lone].differences
                closest = f"missing; closest is call {near[lone].actual_index + 1}: {_said(differ)}"
                rows.append(_row("-", call, None, closest, differ))
            else:
                rows.append(_row("-", call, None, "missing"))
        for lone in range(made, i):
            call = alignment.actual[lone]
            if lone in moved:
                halves.setdefault((lone, moved[lone]), []).append(len(rows))
                rows.append(_row("!", None, call, f"out of order, expected as call {moved[lone] + 1}"))
            else:
                rows.append(_row("+", None, call, "extra"))
        made, expected = i + 1, j + 1
        if i < alignment.n and j < alignment.m:
            pair = alignment.expected[j], alignment.actual[i]
            differ = () if (i, j) in in_order else near[j].differences
            rows.append(_row("=" if (i, j) in in_order else "~", *pair, _said(differ), differ))
    for one, other in halves.values():
        rows[one], rows[other] = replace(rows[one], other=other), replace(rows[other], other=one)
    return rows


def _row(
    mark: Mark, expected: ToolCall | None, made: ToolCall | None, note: str, differ: Sequence[Difference] = ()
) -> PictureRow:
    def pieces(call: ToolCall | None) -> tuple[Piece, ...]:
        keys = (call.args if call else None) or ()
        marked = {k for k in keys if any(d.path == k or d.path.startswith((f"{k}.", f"{k}[")) for d in differ)}
        return call_pieces(call, marked) if call else ()

    wanted, got = pieces(expected), pieces(made)
    return PictureRow(mark, _joined(wanted), _joined(got), note, pieces=(wanted, got))


def _joined(pieces: Sequence[Piece]) -> str:
    return "".join(text for text, _ in pieces)


def _said(differences: Sequence[Difference]) -> str:
    return plain("; ".join(map(str, differences)))


def _moved(alignment: Alignment) -> dict[int, int]:
    """Pair the calls that match, but are not among those in order: actual index -> expected index.

    What a maximum matching says of them goes first; it may pair others where a call stands twice.
    """
    made = set(range(alignment.n)) - {i for i, _ in alignment.in_order_pairs}
    wanted = set(range(alignment.m)) - {j for _, j in alignment.in_order_pairs}
    moved: dict[int, int] = {}
    others = ((i, j) for i in sorted(made) for j in sorted(wanted) if alignment.masks[i] >> j & 1)
    for i, j in (*alignment.pairs, *others):
        if i in made and j in wanted:
            moved[i] = j
            made.remove(i)
            wanted.remove(j)
    return moved


def alignment_words(alignment: Alignment) -> str:
    """Write the numbers of an alignment in one line."""
    a = alignment
    made = f"{a.n} call{'' if a.n == 1 else 's'} made, {a.m} expected"
    return f"{made}: {a.k} match, {a.l} of them in order"


def difference_words(alignment: Alignment) -> tuple[str, ...]:
    """Say each thing that differs between the calls made and the calls expected, in the order of the picture."""
    said = []
    for row in picture(alignment):
        if row.mark == "~":
            said.append(f"{row.made.partition('(')[0]}: {row.note}")
        # A call that was made out of order has a row on each side; the side that was made says it.
        elif row.mark in "-+" or (row.mark == "!" and row.made):
            said.append(f"{row.made or row.expected}: {row.note}")
    return tuple(said)


def call_words(call: ToolCall, width: int = 60) -> str:
    """Write a call as a person would: ``book(seat="3A", paid=true)``.

    >>> from adk_scoring import ToolCall
    >>> call_words(ToolCall("book", {"seat": "3A", "paid": True}))
    'book(seat="3A", paid=true)'
    """
    return _joined(call_pieces(call, (), width))


def call_pieces(call: ToolCall, marked: Collection[str], width: int = 60) -> tuple[Piece, ...]:
    """Write a call in pieces, each with whether it is one of the arguments to be marked.

    >>> from adk_scoring import ToolCall
    >>> call_pieces(ToolCall("book", {"seat": "3A"}), {"seat"})
    (('book(', False), ('seat="3A"', True), (')', False))
    """
    arguments = [("unknown arguments", False)]
    if call.args is not None:
        arguments = [(f"{key}={show_json(value, 30)}", key in marked) for key, value in call.args.items()]
    pieces = [(f"{call.name or '(no name)'}(", False)]
    left = width if len(", ".join(text for text, _ in arguments)) <= width else width - 1
    for index, (text, is_marked) in enumerate(arguments):
        comma = ", " if index else ""
        if len(comma + text) > left:
            pieces += [(comma[:left], False), (text[: max(left - len(comma), 0)] + "…", is_marked)]
            break
        pieces += [(comma, False), (text, is_marked)]
        left -= len(comma + text)
    return tuple((plain(text), is_marked) for text, is_marked in (*pieces, (")", False)) if text)


def plain(text: str) -> str:
    r"""Put a text on one line that is safe to print: what a terminal would obey is shown as an escape.

    >>> print(plain("a\x1b[31mb" + chr(10) + "晴"))
    a\x1b[31mb 晴
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in _JOINERS else " " if c.isspace() else c.encode("unicode_escape").decode()
        for c in text
    )


_JOINERS = "\u200c\u200d"  # Persian, Indic scripts and emoji need them


def number(value: float | None) -> str:
    """Write a score: three decimals, ``-`` where there is none."""
    return "-" if value is None else f"{value:.3f}" if abs(value) < 1000 else f"{value:.5g}"


def verdict_words(row: Row) -> list[tuple[str, str, str, str]]:
    """Return the verdicts that a judged score was made of: turn, rubric or sentence, value, reason; none for others."""
    parts = row.score.parts
    turns = parts if all(part.label == f"turn {n}" for n, part in enumerate(parts, 1)) else (row.score,)
    return [(turn.label, part.label, number(part.value), part.reason) for turn in turns for part in turn.parts]


def _first_reason(report: Report, column: Scores) -> str:
    """Say why the first case has no value; nothing where there is no case."""
    return f"; {report.cases[0].case_id}: {column[0].reason or column[0].status}" if report.cases else ""


def never_scored_words(report: Report) -> list[str]:
    """Say which criteria were scored in no case, and why not in the first one."""
    return [
        f"{criterion.label} was scored in no case, so the report is not passed{_first_reason(report, column)}"
        for criterion, column in zip(report.criteria, report.columns, strict=True)
        if criterion.label in report.summary.never_scored
    ]


def absent_words(report: Report) -> list[str]:
    """Say which informational criteria have no value in any case, and why not in the first one."""
    return [
        f"{criterion.label} has no value in any case{_first_reason(report, column)}"
        for criterion, column, entry in zip(report.criteria, report.columns, report.summary.criteria, strict=True)
        if criterion.threshold is None and not entry.scored and report.cases
    ]


def trial_words(report: Report) -> list[str]:
    """Say how repeated trials of the cases came out; nothing where no case ran twice."""
    summary = report.summary
    if summary.cases == summary.total:
        return []
    lines = [f"flaky (passed in some trials only): {', '.join(summary.flaky)}"] if summary.flaky else []
    for row in report.pass_k():
        left = f", {row.excluded} with fewer trials left out" if row.excluded else ""
        lines.append(
            f"of {row.k} trial{'s' if row.k > 1 else ''}: one passes (pass@{row.k}) {row.pass_at}, "
            f"all pass (pass^{row.k}) {row.pass_hat}; {row.tasks} case{'s' if row.tasks != 1 else ''}{left}"
        )
    return lines


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
