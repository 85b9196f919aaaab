"""The slow, obvious restatement of what matching and alignment mean; the fast ones are held against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from hypothesis import strategies as st

from adk_scoring.model import ToolCall


def canonical(value: Any) -> object:
    """One hashable form per JSON value: equal forms are equal values."""
    if value is None or isinstance(value, bool | str):
        return type(value).__name__, value
    if isinstance(value, int | float):
        if value != value:
            return "number", "nan"
        return "number", str(value) if value in (float("inf"), float("-inf")) else Fraction(value)
    if isinstance(value, Mapping):
        return "object", frozenset((key, canonical(item)) for key, item in value.items())
    return "list", tuple(map(canonical, value))


def same_args(actual: Any, expected: Any, rule: str) -> bool:
    if rule == "ignore":
        return True
    if rule == "adk":
        return bool(actual == expected)
    if rule == "superset":
        return same_args(expected, actual, "subset")
    if rule == "subset":
        if isinstance(actual, Mapping) and isinstance(expected, Mapping):
            return set(expected) <= set(actual) and all(same_args(actual[k], expected[k], rule) for k in expected)
        if isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
            return len(actual) == len(expected) and all(
                same_args(actual[i], expected[i], rule) for i in range(len(expected))
            )
    return canonical(actual) == canonical(expected)


def edges(actual: Sequence[ToolCall], expected: Sequence[ToolCall], rule: str) -> list[list[bool]]:
    return [[a.name == e.name and same_args(a.args, e.args, rule) for e in expected] for a in actual]


def matchings(
    table: Sequence[Sequence[bool]], row: int = 0, used: frozenset[int] = frozenset()
) -> list[list[tuple[int, int]]]:
    """Every one-to-one matching along the edges of a small table."""
    if row == len(table):
        return [[]]
    found = matchings(table, row + 1, used)
    for column, edge in enumerate(table[row]):
        if edge and column not in used:
            found += [[(row, column), *rest] for rest in matchings(table, row + 1, used | {column})]
    return found


def maximum(table: Sequence[Sequence[bool]]) -> int:
    return max(map(len, matchings(table)))


def common_subsequence(table: Sequence[Sequence[bool]], m: int) -> int:
    @cache
    def longest(i: int, j: int) -> int:
        if not i or not j:
            return 0
        best = max(longest(i - 1, j), longest(i, j - 1))
        return max(best, longest(i - 1, j - 1) + 1) if table[i - 1][j - 1] else best

    return longest(len(table), m)


def levenshtein(table: Sequence[Sequence[bool]], m: int) -> int:
    @cache
    def distance(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, distance(i - 1, j - 1) + (not table[i - 1][j - 1]))

    return distance(len(table), m)


def scores(actual: Sequence[ToolCall], expected: Sequence[ToolCall], rule: str) -> dict[str, float]:
    """Every trajectory score, from the table of what each name means."""
    n, m = len(actual), len(expected)
    table = edges(actual, expected, rule)
    k, kept, d = maximum(table), common_subsequence(table, m), levenshtein(table, m)
    precision = k / n if n else float(m == 0)
    recall = k / m if m else float(n == 0)
    return {
        "trajectory_exact_match": float(n == m and all(table[i][i] for i in range(n))),
        "trajectory_in_order_match": float(kept == m),
        "trajectory_any_order_match": float(k == m),
        "trajectory_unordered_match": float(n == m == k),
        "trajectory_ordered_subset": kept / m if m else 1.0,
        "trajectory_precision": precision,
        "trajectory_recall": recall,
        "trajectory_f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        "trajectory_edit_similarity": 1 - d / max(n, m) if n or m else 1.0,
        "trajectory_set_match": float(all(map(any, table)) and all(any(row[j] for row in table) for j in range(m))),
        "call_count_match": min(n, m) / max(n, m) if n or m else 1.0,
    }


scalars = st.sampled_from([None, True, False, 0, 1, 1.0, 2, "1", "a", float("nan"), 2**53, 2**53 + 1, float(2**53)])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xy"), inner, max_size=2),
    max_leaves=4,
)
# Few names and few values, so that calls often match, and often match several.
args = st.dictionaries(st.sampled_from("ab"), st.sampled_from([1, 2]) | values, max_size=2)
calls = st.builds(ToolCall, st.sampled_from(["f", "g"]), args)
call_lists = st.lists(calls, max_size=5)
rules = st.sampled_from(["exact", "subset", "superset", "ignore", "adk"])
