"""The trajectory formulas: each turns one `Alignment` into a number, and stands beside its public function.

n calls were made, m were expected; k is the size of a maximum one-to-one matching, l the length of the longest
common subsequence. Where nothing else is said, no call made and none expected gives 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from ..alignment import Alignment, align, as_calls
from ..errors import ConfigError
from ..matching import Match

__all__ = [
    "FORMULAS",
    "Formula",
    "call_count_match",
    "trajectory_any_order_match",
    "trajectory_edit_similarity",
    "trajectory_exact_match",
    "trajectory_f1",
    "trajectory_in_order_match",
    "trajectory_ordered_subset",
    "trajectory_precision",
    "trajectory_recall",
    "trajectory_set_match",
    "trajectory_single_tool_use",
    "trajectory_unordered_match",
]


class Formula(NamedTuple):
    """A trajectory metric: its value and its counts from an alignment, and the counts in words."""

    value: Callable[[Alignment], float]
    counts: Mapping[str, Callable[[Alignment], int]]
    words: str


def _exact(a: Alignment) -> float:
    return 1.0 if a.is_exact else 0.0


def _in_order(a: Alignment) -> float:
    return 1.0 if a.l == a.m else 0.0


def _any_order(a: Alignment) -> float:
    return 1.0 if a.k == a.m else 0.0


def _unordered(a: Alignment) -> float:
    return 1.0 if a.n == a.m == a.k else 0.0


def _ordered_subset(a: Alignment) -> float:
    return a.l / a.m if a.m else 1.0


def _precision(a: Alignment) -> float:
    return a.k / a.n if a.n else float(not a.m)


def _recall(a: Alignment) -> float:
    return a.k / a.m if a.m else float(not a.n)


def _f1(a: Alignment) -> float:
    precision, recall = _precision(a), _recall(a)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _edit_similarity(a: Alignment) -> float:
    return 1 - a.edit_distance / max(a.n, a.m) if a.n or a.m else 1.0


def _set(a: Alignment) -> float:
    return 1.0 if a.same_set else 0.0


def _call_count(a: Alignment) -> float:
    return min(a.n, a.m) / max(a.n, a.m) if a.n or a.m else 1.0


_MADE, _EXPECTED, _MATCHED, _IN_ORDER = attrgetter("n"), attrgetter("m"), attrgetter("k"), attrgetter("l")

FORMULAS: Final[Mapping[str, Formula]] = {
    "trajectory_exact_match": Formula(
        _exact,
        {"in_place": attrgetter("in_place"), "made": _MADE, "expected": _EXPECTED},
        "{in_place} of {expected} expected calls at their place; {made} made",
    ),
    "trajectory_in_order_match": Formula(
        _in_order,
        {"in_order": _IN_ORDER, "expected": _EXPECTED},
        "{in_order} of {expected} expected calls in order",
    ),
    "trajectory_any_order_match": Formula(
        _any_order,
        {"matched": _MATCHED, "expected": _EXPECTED},
        "{matched} of {expected} expected calls were made",
    ),
    "trajectory_unordered_match": Formula(
        _unordered,
        {"matched": _MATCHED, "made": _MADE, "expected": _EXPECTED},
        "{matched} matched; {made} made, {expected} expected",
    ),
    "trajectory_ordered_subset": Formula(
        _ordered_subset,
        {"in_order": _IN_ORDER, "expected": _EXPECTED},
        "{in_order} of {expected} expected calls in order",
    ),
    "trajectory_precision": Formula(
        _precision, {"matched": _MATCHED, "made": _MADE}, "{matched} of {made} calls made were expected"
    ),
    "trajectory_recall": Formula(
        _recall, {"matched": _MATCHED, "expected": _EXPECTED}, "{matched} of {expected} expected calls were made"
    ),
    "trajectory_f1": Formula(
        _f1,
        {"matched": _MATCHED, "made": _MADE, "expected": _EXPECTED},
        "{matched} matched; precision {matched}/{made}, recall {matched}/{expected}",
    ),
    "trajectory_edit_similarity": Formula(
        _edit_similarity,
        {"edits": attrgetter("edit_distance"), "made": _MADE, "expected": _EXPECTED},
        "calls to insert, delete or replace: {edits}; {made} made, {expected} expected",
    ),
    "trajectory_set_match": Formula(
        _set,
        {"known": attrgetter("known"), "made": _MADE, "expected": _EXPECTED},
        "{known} of {made} calls made are among the {expected} expected; repeats and order are free",
    ),
    "call_count_match": Formula(
        _call_count, {"made": _MADE, "expected": _EXPECTED}, "calls: {made} made, {expected} expected"
    ),
}

CONTAINMENT = frozenset(("trajectory_in_order_match", "trajectory_any_order_match", "trajectory_ordered_subset"))
"""Formulas that any run satisfies where nothing is expected."""


def _value(formula: str, actual: Sequence[Any], expected: Sequence[Any], match: Match | None) -> float:
    return FORMULAS[formula].value(align(actual, expected, match=match))


def trajectory_exact_match(actual: Sequence[Any], expected: Sequence[Any], *, match: Match | None = None) -> float:
    """1 if the calls made are the calls expected, each at its place; else 0.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        expected: the calls expected, in order.
        match: when two calls are the same; exact arguments by default.

    Returns:
        A number from 0 to 1. Nothing made and nothing expected: 1.
        Extra calls: 0. Only one side empty: 0.
        Source: Vertex ``trajectory_exact_match``; ADK ``EXACT``.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.

    >>> trajectory_exact_match(["search", "book"], ["search", "book"])
    1.0
    >>> trajectory_exact_match(["book", "search"], ["search", "book"])
    0.0
    """
    return _value("trajectory_exact_match", actual, expected, match)


def trajectory_in_order_match(actual: Sequence[Any], expected: Sequence[Any], *, match: Match | None = None) -> float:
    """1 if every expected call was made, in the expected order (l = m); else 0.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        expected: the calls expected, in order.
        match: when two calls are the same; exact arguments by default.

    Returns:
        A number from 0 to 1. Nothing made and nothing expected: 1.
        Extra calls are free. Nothing expected: 1, nothing was checked. Only nothing made: 0.
        Source: Vertex ``trajectory_in_order_match``; ADK ``IN_ORDER``.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.

    >>> trajectory_in_order_match(["search", "look", "book"], ["search", "book"])
    1.0
    """
    return _value("trajectory_in_order_match", actual, expected, match)


def trajectory_any_order_match(actual: Sequence[Any], expected: Sequence[Any], *, match: Match | None = None) -> float:
    """1 if every expected call was made, in any order (k = m); else 0.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        expected: the calls expected, in order.
        match: when two calls are the same; exact arguments by default.

    Returns:
        A number from 0 to 1. Nothing made and nothing expected: 1.
        Extra calls are free. Nothing expected: 1, nothing was checked. Only nothing made: 0.
        Source: Vertex ``trajectory_any_order_match``; ADK ``ANY_ORDER``.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.

    >>> trajectory_any_order_match(["book", "search", "look"], ["search", "book"])
    1.0
    """
    return _value("trajectory_any_order_match", actual, expected, match)


def trajectory_unordered_match(actual: Sequence[Any], expected: Sequence[Any], *, match: Match | None = None) -> float:
    """1 if exactly the expected calls were made, in any order (n = m = k); else 0.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        expected: the calls expected, in order.
        match: when two calls are the same; exact arguments by default.

    Returns:
        A number from 0 to 1. Nothing made and nothing expected: 1.
        Extra calls: 0. Only one side empty: 0.
        Source: agentevals ``unordered``.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.

    >>> trajectory_unordered_match(["book", "search"], ["search", "book"])
    1.0
    >>> trajectory_unordered_match(["book", "search", "look"], ["search", "book"])
    0.0
    """
    return _value("trajectory_unordered_match", actual, expected, match)


def trajectory_ordered_subset(actual: Sequence[Any], expected: Sequence[Any], *, match: Match | None = None) -> float:
    """The share of the expected calls that were made in order: l / m. 1 exactly when the in-order match is.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        expected: the calls expected, in order.
        match: when two calls are the same; exact arguments by default.

    Returns:
        A number from 0 to 1. Nothing made and nothing expected: 1.
        Extra calls are free. Nothing expected: 1, nothing was checked. Only nothing made: 0.
        Source: adk-eval's ordered subset, by longest common subsequence instead of greedily.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.

    >>> trajectory_ordered_subset(["book", "search"], ["search", "book"])
    0.5
    """
    return _value("trajectory_ordered_subset", actual, expected, match)


def trajectory_precision(actual: Sequence[Any], expected: Sequence[Any], *, match: Match | None = None) -> float:
    """The share of the calls made that were expected: k / n.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        expected: the calls expected, in order.
        match: when two calls are the same; exact arguments by default.

    Returns:
        A number from 0 to 1. Nothing made and nothing expected: 1.
        Extra calls cost. Only one side empty: 0.
        Source: Vertex ``trajectory_precision``, with a one-to-one matching.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.

    >>> trajectory_precision(["search", "look"], ["search"])
    0.5
    """
    return _value("trajectory_precision", actual, expected, match)


def trajectory_recall(actual: Sequence[Any], expected: Sequence[Any], *, match: Match | None = None) -> float:
    """The share of the expected calls that were made: k / m.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        expected: the calls expected, in order.
        match: when two calls are the same; exact arguments by default.

    Returns:
        A number from 0 to 1. Nothing made and nothing expected: 1.
        Extra calls are free. Only one side empty: 0.
        Source: Vertex ``trajectory_recall``, with a one-to-one matching.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.

    >>> trajectory_recall(["search"], ["search", "book"])
    0.5
    """
    return _value("trajectory_recall", actual, expected, match)


def trajectory_f1(actual: Sequence[Any], expected: Sequence[Any], *, match: Match | None = None) -> float:
    """The harmonic mean of precision k / n and recall k / m.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        expected: the calls expected, in order.
        match: when two calls are the same; exact arguments by default.

    Returns:
        A number from 0 to 1. Nothing made and nothing expected: 1.
        Extra calls cost. Only one side empty: 0.
        Source: van Rijsbergen's F, beta 1.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.

    >>> trajectory_f1(["search", "look"], ["search", "book"])
    0.5
    """
    return _value("trajectory_f1", actual, expected, match)


def trajectory_edit_similarity(actual: Sequence[Any], expected: Sequence[Any], *, match: Match | None = None) -> float:
    """1 - d / max(n, m), d the fewest calls to insert, delete or replace.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        expected: the calls expected, in order.
        match: when two calls are the same; exact arguments by default.

    Returns:
        A number from 0 to 1. Nothing made and nothing expected: 1.
        Extra calls cost. Only one side empty: 0.
        Source: Normalised Levenshtein similarity over calls.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.

    >>> trajectory_edit_similarity(["search", "look", "book", "pay"], ["search", "book", "pay"])
    0.75
    """
    return _value("trajectory_edit_similarity", actual, expected, match)


def trajectory_set_match(actual: Sequence[Any], expected: Sequence[Any], *, match: Match | None = None) -> float:
    """1 if the distinct calls made are the distinct calls expected; else 0. Order and repeats are free.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        expected: the calls expected, in order.
        match: when two calls are the same; exact arguments by default.

    Returns:
        A number from 0 to 1. Nothing made and nothing expected: 1.
        A call of another kind: 0. Only one side empty: 0.
        Source: ADEval's strict gate (names only with ``Match(args="ignore")``).

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.

    >>> trajectory_set_match(["search", "search", "book"], ["book", "search"])
    1.0
    """
    return _value("trajectory_set_match", actual, expected, match)


def call_count_match(actual: Sequence[Any], expected: Sequence[Any], *, match: Match | None = None) -> float:
    """How well the number of calls fits: min(n, m) / max(n, m). What was called does not count.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        expected: the calls expected, in order.
        match: when two calls are the same; exact arguments by default.

    Returns:
        A number from 0 to 1. Nothing made and nothing expected: 1.
        Extra calls cost. Only one side empty: 0.
        Source: ADEval's call-count axis.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.

    >>> call_count_match(["search"], ["search", "book"])
    0.5
    """
    return _value("call_count_match", actual, expected, match)


def trajectory_single_tool_use(actual: Sequence[Any], tool: str) -> float:
    """1 if the tool was called, whatever else was; else 0.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        tool: the tool's name.

    Returns:
        1 or 0; no calls give 0. Source: Vertex ``trajectory_single_tool_use``.

    Raises:
        MatchError: something is not a tool call.
        ConfigError: `tool` is no name.

    >>> trajectory_single_tool_use(["search", "book"], "book")
    1.0
    """
    if not isinstance(tool, str) or not tool:
        raise ConfigError(f"tool {tool!r}; wanted the name of the tool")
    return float(any(call.name == tool for call in as_calls(actual, "actual")))
