"""Calls that bring nothing new: the same call twice in a row, and blocks of calls that go round and round.

In: the calls made in a turn. Out: the share of them that is repetition, 0 to 1, lower is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..alignment import as_calls
from ..evidence import Evidence
from ..matching import DEFAULT_MATCH, Match
from ..model import Case, ToolCall
from .base import Metric, Reply, Score, score_turns

__all__ = ["Loops", "RedundantCalls", "loops", "redundant_calls"]


def redundant_calls(actual: Sequence[Any]) -> float:
    """The share of the calls made that equal the call just before, in name and arguments.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.

    Returns:
        A number from 0 to 1, lower is better; no calls give 0.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.

    >>> redundant_calls(["search", "search", "book", "search"])
    0.25
    """
    return float(_redundant(as_calls(actual, "actual")))


def loops(actual: Sequence[Any]) -> float:
    """The share of the calls made that go round in a loop.

    A loop is a block of 1 to n/3 calls, equal in names and arguments, that comes three times or more in a row. Its
    first round is no repetition; every call after it counts, once however many loops it is in.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.

    Returns:
        A number from 0 to 1, lower is better; no calls give 0.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.

    >>> loops(["read", "write", "read", "write", "read", "write", "done", "bye"])
    0.5
    >>> loops([("page", {"n": 1}), ("page", {"n": 2}), ("page", {"n": 3})])
    0.0
    """
    return float(_loops(as_calls(actual, "actual")))


@dataclass(frozen=True)
class RedundantCalls(Metric):
    """`redundant_calls` as a metric: the mean over the turns.

    Args:
        ignore_tools: names or patterns of calls to leave out, e.g. of a tool that is polled.
    """

    ignore_tools: tuple[str, ...] = ()

    name = "redundant_calls"
    higher_is_better = False
    per = "turn"

    def __post_init__(self) -> None:
        object.__setattr__(self, "ignore_tools", Match(ignore_tools=self.ignore_tools).ignore_tools)

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns."""
        evidence, match = Evidence.of(evidence), Match(ignore_tools=self.ignore_tools)
        return score_turns(
            self.name,
            evidence,
            lambda turn: _redundant(match.kept(evidence.made(turn))),
            reference=None,
            higher_is_better=False,
        )


@dataclass(frozen=True)
class Loops(Metric):
    """`loops` as a metric: the mean over the turns.

    Args:
        ignore_tools: names or patterns of calls to leave out, e.g. of a tool that is polled.
    """

    ignore_tools: tuple[str, ...] = ()

    name = "loops"
    higher_is_better = False
    per = "turn"

    def __post_init__(self) -> None:
        object.__setattr__(self, "ignore_tools", Match(ignore_tools=self.ignore_tools).ignore_tools)

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns."""
        evidence, match = Evidence.of(evidence), Match(ignore_tools=self.ignore_tools)
        return score_turns(
            self.name,
            evidence,
            lambda turn: _loops(match.kept(evidence.made(turn))),
            reference=None,
            higher_is_better=False,
        )


def _redundant(calls: Sequence[ToolCall]) -> Score:
    repeated = [b for a, b in pairwise(calls) if DEFAULT_MATCH.masks([b], [a]) == [1]]
    reason = f"{len(repeated)} of {len(calls)} calls repeat the call just before"
    if repeated:
        reason += f": {', '.join(dict.fromkeys(call.name for call in repeated))}"
    counts = {"redundant": len(repeated), "made": len(calls)}
    return Score("redundant_calls", len(repeated) / len(calls) if calls else 0.0, reason=reason, counts=counts)


def _loops(calls: Sequence[ToolCall]) -> Score:
    kinds, n = _kinds(calls), len(calls)
    wasted: set[int] = set()
    for period in range(1, n // 3 + 1):
        run = 0  # how many calls up to here equal the call one period before
        for i in range(period, n):
            run = run + 1 if kinds[i] == kinds[i - period] else 0
            if run >= 2 * period:  # three rounds: the first, and two that repeat it
                wasted.update(range(i - 2 * period + 1, i + 1))
    reason = f"{len(wasted)} of {n} calls go round in loops"
    if wasted:
        reason += f": {', '.join(dict.fromkeys(calls[i].name for i in sorted(wasted)))}"
    counts = {"looping": len(wasted), "made": n}
    return Score("loops", len(wasted) / n if n else 0.0, reason=reason, counts=counts)


def _kinds(calls: Sequence[ToolCall]) -> list[int]:
    """Number the calls so that equal ones have equal numbers."""
    kinds: list[int] = []
    seen: dict[str, list[tuple[int, ToolCall]]] = {}
    for index, call in enumerate(calls):
        of_name = seen.setdefault(call.name, [])
        (mask,) = DEFAULT_MATCH.masks([call], [other for _, other in of_name])
        if mask:
            kinds.append(of_name[mask.bit_length() - 1][0])
        else:
            of_name.append((index, call))
            kinds.append(index)
    return kinds
