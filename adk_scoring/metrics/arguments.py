"""Partial credit for arguments: which share of what was expected in the calls is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, ClassVar

from ..alignment import Alignment, align
from ..alignment.assignment import best_assignment
from ..evidence import Evidence
from ..matching import DEFAULT_MATCH, Match
from ..model import Case
from .base import Metric, Reply, Score, score_turns

__all__ = ["ToolArgsScore", "tool_args_score"]


def tool_args_score(actual: Sequence[Any], expected: Sequence[Any], *, match: Match | None = None) -> float:
    """How much of the expected arguments is right: the mean over the expected calls of the share that matches.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        expected: the calls expected, in order.
        match: when two arguments are the same; comparators count.

    Returns:
        A number from 0 to 1. Each expected call is given a call of the same tool so that the sum is largest; one
        that is given none counts 0, one that is and has no arguments counts 1. Extra calls and extra arguments are
        free. Nothing expected: 1, nothing was checked. Only nothing made: 0.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.

    >>> tool_args_score([("book", {"seat": "3B", "day": 1})], [("book", {"seat": "3A", "day": 1})])
    0.5
    """
    return float(_score(align(actual, expected, match=match)))


@dataclass(frozen=True)
class ToolArgsScore(Metric):
    """`tool_args_score` as a metric.

    Args:
        match: when two arguments are the same.
    """

    match: Match = DEFAULT_MATCH

    name = "tool_args_score"
    needs: ClassVar[frozenset[str]] = frozenset({"expected_calls"})

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns that have an expectation about calls."""
        evidence = Evidence.of(evidence)
        return score_turns(
            self.name, evidence, lambda turn: _score(evidence.aligned(turn, self.match)[1]), reference="tool_calls"
        )


def _score(alignment: Alignment) -> Score:
    match, expected = alignment.match, alignment.expected
    # Shares are whole numbers of one common part, so that the sum is exact and no listing order shows in it.
    part = lcm(*(len(call.args or ()) or 1 for call in expected))
    given = right = earned = 0
    for made, wanted in alignment.by_name():
        matching = [[len(match.matching_arguments(alignment.actual[i], expected[j])) for j in wanted] for i in made]
        sizes = [len(expected[j].args or ()) for j in wanted]
        weights = [[part * m // size if size else part for m, size in zip(row, sizes, strict=True)] for row in matching]
        for a, b in best_assignment(weights):
            given, right, earned = given + 1, right + matching[a][b], earned + weights[a][b]
    arguments = sum(len(call.args or ()) for call in expected)
    counts = {"matched": right, "arguments": arguments, "given": given, "expected": len(expected)}
    if not expected:
        return Score("tool_args_score", 1.0, reason="no calls are expected: nothing was checked", counts=counts)
    reason = f"{right} of {arguments} expected arguments match; {given} of {len(expected)} expected calls have a call"
    return Score("tool_args_score", float(Fraction(earned, part * len(expected))), reason=reason, counts=counts)
