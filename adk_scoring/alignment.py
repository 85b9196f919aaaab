"""Which call matched which: the one value that every trajectory metric is a formula of.

``align(actual, expected)`` gives an `Alignment` with the four numbers n, m, k, l, which prints as a picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .matching import Difference, Match
from .model import ToolCall

__all__ = ["Alignment", "Mismatch", "align", "best_assignment"]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """An expected call that was not made, beside the call of the same tool that comes closest to it.

    Attributes:
        actual_index: index of the closest unmatched call in `Alignment.actual`.
        expected_index: index of the missing call in `Alignment.expected`.
        differences: each argument that differs: path, expected, actual.
    """

    actual_index: int
    expected_index: int
    differences: tuple[Difference, ...]


class Alignment:
    """What was called against what should have been called, under one `Match`.

    Attributes:
        actual: the calls made that count, in order.
        expected: the calls expected that count, in order.
        match: the rule they were compared by.
        masks: for each actual call, the expected calls that it matches, as bits of an int.
        n: number of calls made.
        m: number of calls expected.
        k: size of a maximum one-to-one matching.
        l: length of the longest common subsequence.

    What explains the numbers (`pairs`, `in_order_pairs`, `missing`, `extra`, `mismatches`, the picture) is
    computed when it is first looked at.
    """

    def __init__(self, actual: Sequence[ToolCall], expected: Sequence[ToolCall], match: Match) -> None:
        self.actual = actual = match.kept(actual)
        self.expected = expected = match.kept(expected)
        self.match = match
        self.masks = masks = match.masks(actual, expected)
        self.n = len(actual)
        self.m = m = len(expected)
        # Longest common subsequence, bit-parallel over the expected calls (Hyyrö 2004): a zero bit in `row`
        # marks a column where the table grows. Where the rule is an equivalence, taking the first free expected
        # call gives a maximum matching, so both numbers come out of one pass.
        row = full = (1 << m) - 1
        free, k = full, 0
        for mask in masks:
            if mask:
                step = row & mask
                row = ((row + step) | (row - step)) & full
                if hit := mask & free:
                    free ^= hit & -hit
                    k += 1
        self.l = m - row.bit_count()
        self.k = k if match.is_equivalence or k == min(self.n, m) else len(_maximum_matching(masks))

    @property
    def is_exact(self) -> bool:
        """Whether there are as many calls as expected and each matches the one at its place."""
        return self.n == self.m and all(mask >> i & 1 for i, mask in enumerate(self.masks))

    @property
    def same_set(self) -> bool:
        """Whether the distinct calls made are the distinct calls expected, however often and in any order."""
        seen = 0
        for mask in self.masks:
            if not mask:
                return False
            seen |= mask
        return seen == (1 << self.m) - 1

    @property
    def edit_distance(self) -> int:
        """Levenshtein distance of the two lists of calls: the fewest calls to insert, delete or replace."""
        # Myers 1999 / Hyyrö 2003: one column of the table in two bit vectors of vertical differences.
        if not self.m:
            return self.n
        full, last = (1 << self.m) - 1, 1 << (self.m - 1)
        plus, minus, distance = full, 0, self.m
        for mask in self.masks:
            diagonal = (((mask & plus) + plus) ^ plus) | mask | minus
            up = minus | ~(diagonal | plus) & full
            down = plus & diagonal
            distance += bool(up & last) - bool(down & last)
            up, down = up << 1 | 1, down << 1
            plus = (down | ~(diagonal | up)) & full
            minus = up & diagonal & full
        return distance

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """A maximum matching as (actual, expected) indices: as many exact pairs as possible, then the earliest."""
        if self.match.is_equivalence:
            pairs, free = [], (1 << self.m) - 1
            for i, mask in enumerate(self.masks):
                if hit := mask & free:
                    free ^= hit & -hit
                    pairs.append((i, (hit & -hit).bit_length() - 1))
            return tuple(pairs)
        exact = Match(args="exact").masks(self.actual, self.expected)
        # One more pair always outweighs any number of exact ones.
        size = min(self.n, self.m) + 1
        weights = [
            [(size + (strict >> j & 1)) if loose >> j & 1 else 0 for j in range(self.m)]
            for loose, strict in zip(self.masks, exact, strict=True)
        ]
        return tuple((i, j) for i, j in best_assignment(weights) if weights[i][j])

    @cached_property
    def in_order_pairs(self) -> tuple[tuple[int, int], ...]:
        """A longest common subsequence as (actual, expected) indices."""
        row = full = (1 << self.m) - 1
        rows = []
        for mask in self.masks:
            step = row & mask
            row = ((row + step) | (row - step)) & full
            rows.append(row)
        pairs, i, j = [], self.n, self.m
        while i and j:
            if rows[i - 1] >> (j - 1) & 1:
                j -= 1
                continue
            i -= 1
            if not i or rows[i - 1] >> (j - 1) & 1:
                j -= 1
                pairs.append((i, j))
        return tuple(reversed(pairs))

    @property
    def missing(self) -> tuple[int, ...]:
        """Indices of the expected calls that no call matched."""
        matched = {j for _, j in self.pairs}
        return tuple(j for j in range(self.m) if j not in matched)

    @property
    def extra(self) -> tuple[int, ...]:
        """Indices of the calls made that matched no expected call."""
        matched = {i for i, _ in self.pairs}
        return tuple(i for i in range(self.n) if i not in matched)

    @cached_property
    def mismatches(self) -> tuple[Mismatch, ...]:
        """Each missing call beside the closest extra call of the same tool, where there is one."""
        by_name: dict[str, tuple[list[int], list[int]]] = {}
        for i in self.extra:
            by_name.setdefault(self.actual[i].name, ([], []))[0].append(i)
        for j in self.missing:
            by_name.setdefault(self.expected[j].name, ([], []))[1].append(j)
        found = []
        for made, wanted in by_name.values():
            differ = [[tuple(self.match.differences(self.actual[i], self.expected[j])) for j in wanted] for i in made]
            most = max((len(d) for row in differ for d in row), default=0) + 1
            for a, b in best_assignment([[most - len(d) for d in row] for row in differ]):
                found.append(Mismatch(made[a], wanted[b], differ[a][b]))
        return tuple(sorted(found, key=lambda mismatch: mismatch.expected_index))

    def __str__(self) -> str:
        from .render.text import alignment_text

        return alignment_text(self)

    def _repr_html_(self) -> str:
        from .render.html import alignment_html

        return alignment_html(self)

    def __repr__(self) -> str:
        return f"<Alignment n={self.n} m={self.m} k={self.k} l={self.l}>"


def align(actual: Sequence[Any], expected: Sequence[Any], *, match: Match | None = None) -> Alignment:
    """Align the calls that were made with the calls that were expected.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        expected: the calls expected, in order.
        match: when two calls are the same; exact arguments by default.

    Returns:
        The alignment; print it to see it.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.

    >>> print(align([("book", {"seat": "3B"}), "pay"], ["search", ("book", {"seat": "3A"}), "pay"]))
    2 calls made, 3 expected: 1 match, 1 of them in order
         expected         made
      -  search()                          missing
      ~  book(seat="3A")  book(seat="3B")  seat: expected "3A", got "3B"
      =  pay()            pay()
    """
    return Alignment(as_calls(actual, "actual"), as_calls(expected, "expected"), match or Match())


def as_calls(calls: Sequence[Any], side: str) -> tuple[ToolCall, ...]:
    """Make `ToolCall`s of a list of calls.

    Raises:
        MatchError: an item is not a call (the message says which), or a text stands where a list is due.
    """
    from .errors import MatchError

    if isinstance(calls, str | bytes) or not hasattr(calls, "__iter__"):
        raise MatchError(f"{side}: wanted a list of tool calls, got {type(calls).__name__}: {calls!r:.60}")
    made = []
    for index, call in enumerate(calls):
        try:
            made.append(ToolCall.of(call))
        except MatchError as error:
            raise MatchError(f"{side}[{index}]: {error}") from None
    return tuple(made)


def _maximum_matching(masks: Sequence[int]) -> dict[int, int]:
    """Return actual index -> expected index of a maximum matching, by shortest augmenting paths.

    Greedy matching is wrong where a call can match several expectations of different looseness: ``{}`` may take
    the only call that would satisfy ``{"id": 1}``.
    """
    holds: dict[int, int] = {}  # actual -> expected
    owner: dict[int, int] = {}  # expected -> actual
    taken = 0
    for root in range(len(masks)):
        seen = 0
        via: dict[int, int] = {}  # expected -> the actual call that the search came to it from
        queue = [root]
        for i in queue:
            new = masks[i] & ~seen
            if free := new & ~taken:
                j = (free & -free).bit_length() - 1
                taken |= 1 << j
                while True:  # walk back to the root; everyone on the way moves to the next place
                    left = holds.get(i)
                    holds[i], owner[j] = j, i
                    if left is None:
                        break
                    j, i = left, via[left]
                break
            seen |= new
            while new:
                j = (new & -new).bit_length() - 1
                new &= new - 1
                via[j] = i
                queue.append(owner[j])
    return holds


def best_assignment(weights: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the one-to-one assignment of rows to columns with the largest sum, as (row, column) pairs.

    Args:
        weights: a rectangular table; every row or every column, whichever are fewer, is assigned.

    The Hungarian method with shortest augmenting paths: O(rows^2 * columns).

    >>> best_assignment([[2, 3], [0, 2]])
    [(0, 0), (1, 1)]
    """
    rows, columns = len(weights), len(weights[0]) if weights else 0
    if rows > columns:
        return sorted((i, j) for j, i in best_assignment([list(column) for column in zip(*weights, strict=True)]))
    infinity = float("inf")
    row_price, column_price = [0.0] * rows, [0.0] * columns
    owner = [-1] * columns
    for root in range(rows):
        slack, came_from, done = [infinity] * columns, [-1] * columns, [False] * columns
        i, last = root, -1
        while True:
            nearest, j = infinity, -1
            for column in range(columns):
                if done[column]:
                    continue
                reduced = row_price[i] + column_price[column] - weights[i][column]
                if reduced < slack[column]:
                    slack[column], came_from[column] = reduced, last
                if slack[column] < nearest:
                    nearest, j = slack[column], column
            row_price[root] -= nearest
            for column in range(columns):
                if done[column]:
                    column_price[column] += nearest
                    row_price[owner[column]] -= nearest
                else:
                    slack[column] -= nearest
            done[j], last = True, j
            if owner[j] < 0:
                break
            i = owner[j]
        while j >= 0:
            before = came_from[j]
            owner[j] = owner[before] if before >= 0 else root
            j = before
    return sorted((i, j) for j, i in enumerate(owner) if i >= 0)
