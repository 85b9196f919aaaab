"""What stands behind a row that failed: the turn, its two sides in words, and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from ..criteria import Criterion
from ..errors import MatchError
from ..evidence import Evidence
from ..matching import Match
from ..metrics.base import Score, turn_scores
from ..model import Case, Invocation, Turn
from ..render.words import call_words, difference_words

if TYPE_CHECKING:
    from . import Row

__all__ = ["Failure", "failure_of"]


@dataclass(frozen=True, slots=True)
class Failure:
    """A row that failed or could not be scored, with the two sides of the turn that made it so.

    Attributes:
        row: the row.
        turn: index of the turn that did worst; the first one that is an error, where there is one.
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
    worst = _worst_turn(turn_scores(row.score), criterion.metric.higher_is_better)
    turn = case.turns[worst] if worst < len(case.turns) else Turn()
    match = getattr(criterion.metric, "match", None)
    needs = criterion.metric.needs
    about_answers = "expected_response" in needs or "judge" in needs
    expected = turn.expected[0] if turn.expected else None
    differences: tuple[str, ...] = ()
    if "expected_calls" in needs and turn.actual and isinstance(match, Match) and row.score.status == "scored":
        with suppress(MatchError, ValueError):  # a metric may need expected calls and not compare them
            chosen, alignment = Evidence(case).aligned(worst, match)
            expected, differences = turn.expected[chosen], difference_words(alignment)
    return Failure(
        row,
        worst,
        _side(expected, about_answers, "nothing is said about it" if turn.expected else "no reference"),
        _side(turn.actual, about_answers, "no calls" if turn.actual else "nothing recorded"),
        differences,
        case.source,
    )


def _worst_turn(turns: Sequence[Score], higher_is_better: bool) -> int:
    """Return the index of the first turn that is an error, else of the first of those that did worst."""
    sign = 1 if higher_is_better else -1
    worth = [-inf if turn.status == "error" else inf if turn.value is None else sign * turn.value for turn in turns]
    return worth.index(min(worth))


def _side(invocation: Invocation | None, about_answers: bool, nothing: str) -> str:
    """Write one side of a turn: its answer or its calls."""
    if invocation is None:
        return nothing
    if about_answers:
        return "no response" if invocation.response is None else invocation.response
    if invocation.tool_calls is None:
        return nothing
    return ", ".join(map(call_words, invocation.tool_calls)) or "no calls"
