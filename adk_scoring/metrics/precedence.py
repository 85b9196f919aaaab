"""Order that has to be kept whatever else is called: look before you write.

A plain subsequence does not see the first write of write, look, write; these rules do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..alignment import Alignment, align
from ..alignment.ordering import blocks
from ..errors import ConfigError
from ..evidence import Evidence
from ..matching import DEFAULT_MATCH, Match
from ..model import Case
from .base import Metric, Reply, Score, score_turns

__all__ = ["TrajectoryPrecedence", "trajectory_precedence"]

Rules = tuple[tuple[str, str], ...]


def trajectory_precedence(
    actual: Sequence[Any],
    expected: Sequence[Any] = (),
    *,
    match: Match | None = None,
    rules: Sequence[tuple[str, str]] = (),
) -> float:
    """How many "x before y" are kept: by the expected order, or by explicit rules.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        expected: the calls expected, in order. Each two distinct calls x, y of it of which x comes first are a pair;
            calls that may come in any order (a group, a step under ``Match(parallel=True)``) are none.
        match: when two calls are the same; exact arguments by default.
        rules: ``(x, y)`` names of tools, instead of the expected order.

    Returns:
        The share of the pairs that hold, from 0 to 1. A pair holds when y was not called, or x was called before the
        first y. No pairs: 1, nothing was checked. Extra calls are free.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.
        ConfigError: a rule is not a pair of names.

    >>> trajectory_precedence(["update", "get", "update"], ["get", "update"])
    0.0
    >>> trajectory_precedence(["get", "pay"], rules=[("get", "pay"), ("confirm", "pay")])
    0.5
    """
    metric = TrajectoryPrecedence(Match.of(match), tuple(rules))
    return float(metric.judge(align(actual, expected, match=metric.match)))


@dataclass(frozen=True)
class TrajectoryPrecedence(Metric):
    """`trajectory_precedence` as a metric.

    Args:
        match: when two calls are the same.
        rules: pairs of names, "x before y"; without them the expected order is the rule, and a case without an
            expectation about calls is skipped.
    """

    match: Match = DEFAULT_MATCH
    rules: Rules = ()

    name = "trajectory_precedence"
    needs: ClassVar[frozenset[str]] = frozenset({"expected_calls"})
    per = "turn"

    def __post_init__(self) -> None:
        given: Any = self.rules
        if not isinstance(given, list | tuple) or not all(
            isinstance(rule, list | tuple) and len(rule) == 2 and all(isinstance(name, str) for name in rule)
            for rule in given
        ):
            raise ConfigError(
                f'rules {given!r:.120}; wanted pairs of names such as [["get", "update"]]: get before update'
            )
        object.__setattr__(self, "rules", tuple((x, y) for x, y in given))

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns."""
        evidence = Evidence.of(evidence)
        if self.rules:
            return score_turns(
                self.name,
                evidence,
                lambda turn: self.judge(Alignment(evidence.made(turn), (), self.match)),
                reference=None,
            )
        return score_turns(
            self.name, evidence, lambda turn: self.judge(evidence.aligned(turn, self.match)[1]), reference="tool_calls"
        )

    def judge(self, alignment: Alignment) -> Score:
        """Score one alignment; under explicit rules only its calls made count."""
        first: dict[Any, int] = {}
        pairs: Sequence[tuple[Any, Any]]
        if self.rules:
            pairs = self.rules
            for i, call in enumerate(alignment.actual):
                first.setdefault(call.name, i)
        else:
            pairs = _pairs(alignment)
            for i, mask in enumerate(alignment.masks):
                for j in range(alignment.m):
                    if mask >> j & 1:
                        first.setdefault(j, i)
        block_of = _numbered(blocks(alignment.actual, parallel=self.match.parallel, groups=False))

        def before(x: Any, y: Any) -> bool:
            # Calls of one block may be taken in either order.
            return x in first and first[x] != first[y] and block_of[first[x]] <= block_of[first[y]]

        broken: list[tuple[Any, Any]] = [(x, y) for x, y in pairs if y in first and not before(x, y)]
        held = len(pairs) - len(broken)
        reason = f"{held} of {len(pairs)} orders kept"
        if not pairs:
            reason = "no order is asked for: nothing was checked"
        elif broken:
            shown = broken[0] if self.rules else tuple(alignment.expected[j].name for j in broken[0])
            reason += f"; {shown[1]} came without {shown[0]} before it"
        counts = {"held": held, "pairs": len(pairs)}
        return Score(self.name, held / len(pairs) if pairs else 1.0, reason=reason, counts=counts)


def _pairs(alignment: Alignment) -> list[tuple[int, int]]:
    """Return each two distinct expected calls of which the first has to come first."""
    expected, match = alignment.expected, alignment.match
    masks = match.masks(expected, expected)
    distinct: list[int] = []
    for j in range(alignment.m):
        if not any(masks[j] >> i & 1 or masks[i] >> j & 1 for i in distinct):
            distinct.append(j)
    block_of = _numbered(blocks(expected, parallel=match.parallel))
    return [(x, y) for x in distinct for y in distinct if block_of[x] < block_of[y]]


def _numbered(blocks: Sequence[Sequence[int]]) -> dict[int, int]:
    return {index: number for number, block in enumerate(blocks) for index in block}
