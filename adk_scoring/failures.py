"""What stands behind a row that failed: the turn, its two sides in words, and where they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .criteria import Criterion
from .evidence import Evidence
from .matching import Match
from .model import Case, Invocation
from .render.words import call_words, difference_words

if TYPE_CHECKING:
    from .report import Row

__all__ = ["Failure", "failure_of"]


@dataclass(frozen=True, slots=True)
class Failure:
    """A row that failed or could not be scored, with the two sides of the turn that made it so.

    Attributes:
        row: the row.
        turn: index of the first turn that did not pass.
        expected: what was expected there, in words.
        actual: what was recorded there, in words.
        differences: the arguments that differ, ``path: expected ..., got ...``, and missing and extra calls.
        source: where the case stands.
    """

    row: Row
    turn: int
    expected: str
    actual: str
    differences: tuple[str, ...]
    source: tuple[str, str]


def failure_of(case: Case, row: Row, criterion: Criterion) -> Failure:
    """Find the turn that made a row fail, and say what stands on its two sides."""
    parts = row.score.parts or (row.score,)
    bad = next(
        (
            index
            for index, part in enumerate(parts)
            if part.status == "error" or (part.value is not None and not criterion.meets(part.value))
        ),
        0,
    )
    turn = case.turns[bad] if bad < len(case.turns) else None
    match = getattr(criterion.metric, "match", None)
    about_calls = "expected_calls" in criterion.metric.needs
    actual = turn.actual if turn else None
    expected: Invocation | None = None
    differences: tuple[str, ...] = ()
    if turn and turn.expected:
        expected = turn.expected[0]
        if about_calls and actual and isinstance(match, Match) and row.score.status == "scored":
            chosen, alignment = Evidence(case).aligned(bad, match)
            expected, differences = turn.expected[chosen], difference_words(alignment)

    def side(invocation: Invocation | None) -> str:
        if invocation is None:
            return "nothing recorded" if invocation is actual else "no reference"
        if about_calls:
            return ", ".join(call_words(call) for call in invocation.tool_calls or ()) or "no calls"
        return "no response" if invocation.response is None else invocation.response

    return Failure(row, bad, side(expected), side(actual), differences, case.source)
