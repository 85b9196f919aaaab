"""Which call matched which: the one value that every trajectory metric is a formula of.

``align(actual, expected)`` gives an `Alignment` with the four numbers n, m, k, l, which prints as a picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..matching import Difference, Match, json_equal
from ..model import ToolCall
from .assignment import best_assignment, maximum_matching

__all__ = ["Alignment", "Mismatch", "align", "as_calls"]


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

    Where order is free, these are the numbers of the best reading. The calls of a *block* (neighbours of one
    ``group`` of the expectation; of one ``step`` on either side under ``Match(parallel=True)``) come in any order
    among themselves: `actual` and `expected` list each block so that most is kept in order, and everything is counted
    on these lists. An optional expected call that was not made is left out of `expected`, as if it had never been
    there; one that was made counts as matched and as in order wherever it was made (only an exact match asks for
    its place). So neither leaving it out nor making it costs anything, and required calls go first.

    What explains the numbers (`pairs`, `in_order_pairs`, `missing`, `extra`, `mismatches`, the picture) is
    computed when it is first looked at.
    """

    def __init__(self, actual: Sequence[ToolCall], expected: Sequence[ToolCall], match: Match) -> None:
        actual, expected = match.kept(actual), match.kept(expected)
        masks = match.masks(actual, expected)
        arranged = None
        if match.parallel or _leaves_order_free(expected):
            from .ordering import arrange

            arranged = arrange(actual, expected, masks, parallel=match.parallel)
            if arranged is not None:
                actual = [actual[i] for i in arranged.actual]
                expected = [expected[j] for j in arranged.expected]
                masks = [
                    sum((masks[i] >> j & 1) << place for place, j in enumerate(arranged.expected))
                    for i in arranged.actual
                ]
                self.in_order_pairs = arranged.in_order
        self.actual = actual
        self.expected = expected
        self.match = match
        self.masks: list[int] = masks
        self.n: int = len(actual)
        self.m: int = len(expected)
        m = self.m
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
        self.l: int = m - row.bit_count() if arranged is None else arranged.length
        self.k: int = k if match.is_equivalence or k == min(self.n, m) else len(maximum_matching(masks))

    @property
    def is_exact(self) -> bool:
        """Whether there are as many calls as expected and each matches the one at its place."""
        return self.n == self.m and all(mask >> i & 1 for i, mask in enumerate(self.masks))

    @property
    def in_place(self) -> int:
        """How many calls match the expected call at their own place."""
        return sum(mask >> i & 1 for i, mask in enumerate(self.masks))

    @property
    def known(self) -> int:
        """How many calls made match any expected call."""
        return sum(map(bool, self.masks))

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
        """Levenshtein distance of the two lists of calls: the fewest calls to insert, delete or replace.

        The lists are `actual` and `expected` as they are read: it is 0 exactly where the match is exact.
        """
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
        """A maximum matching as (actual, expected) indices.

        Of those with most pairs the one with most required calls, then with most exact pairs, then the earliest: the
        first call made has the first expected call it can have, then the second, and so on.
        """
        found = []
        if self.match.args == "exact" and self.match.is_equivalence:  # all pairs are exact: the first free one is best
            free = (1 << self.m) - 1
            for i, mask in enumerate(self.masks):
                if hit := mask & free:
                    free ^= hit & -hit
                    found.append((i, (hit & -hit).bit_length() - 1))
            return tuple(found)
        for made, wanted in self.by_name():
            # Digits of one number, so that no amount of a lower wish outweighs a higher one.
            base = len(wanted) + 1
            most = min(len(made), len(wanted)) + 1
            weights = [[0] * len(wanted) for _ in made]
            for row, i in enumerate(made):
                for column, j in enumerate(wanted):
                    if self.masks[i] >> j & 1:
                        call, other = self.actual[i], self.expected[j]
                        wishes = (most + (not other.optional)) * most + _identical(call.args, other.args)
                        early = (len(wanted) - column) * base ** (len(made) - 1 - row)
                        weights[row][column] = wishes * base ** len(made) + early
            found += [(made[a], wanted[b]) for a, b in best_assignment(weights) if weights[a][b]]
        return tuple(sorted(found))

    def by_name(self) -> Iterator[tuple[list[int], list[int]]]:
        """Return for each tool that was both called and expected the indices of its calls on both sides."""
        by_name: dict[str, tuple[list[int], list[int]]] = {}
        for i, call in enumerate(self.actual):
            by_name.setdefault(call.name, ([], []))[0].append(i)
        for j, call in enumerate(self.expected):
            if call.name in by_name:
                by_name[call.name][1].append(j)
        return ((made, wanted) for made, wanted in by_name.values() if wanted)

    @cached_property
    def in_order_pairs(self) -> tuple[tuple[int, int], ...]:
        """A longest common subsequence as (actual, expected) indices; of required calls first, then optional ones."""
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
        extra, missing, found = set(self.extra), set(self.missing), []
        for made, wanted in self.by_name():
            made, wanted = [i for i in made if i in extra], [j for j in wanted if j in missing]
            differ = [[tuple(self.match.differences(self.actual[i], self.expected[j])) for j in wanted] for i in made]
            most = max((len(d) for row in differ for d in row), default=0) + 1
            for a, b in best_assignment([[most - len(d) for d in row] for row in differ]):
                found.append(Mismatch(made[a], wanted[b], differ[a][b]))
        return tuple(sorted(found, key=lambda mismatch: mismatch.expected_index))

    def __str__(self) -> str:
        from ..render.text import alignment_text

        return alignment_text(self)

    def _repr_html_(self) -> str:
        from ..render.html import alignment_html

        return alignment_html(self)

    def __repr__(self) -> str:
        return f"<Alignment n={self.n} m={self.m} k={self.k} l={self.l}>"


def _identical(actual: Any, expected: Any) -> bool:
    """Whether arguments are equal, where that is only a preference: what cannot be compared is not."""
    try:
        return json_equal(actual, expected)
    except RecursionError:
        return False


def _leaves_order_free(expected: Sequence[ToolCall]) -> bool:
    for call in expected:  # noqa: SIM110  # a generator expression takes twice as long
        if call.optional or call.group is not None:
            return True
    return False


def align(
    actual: Sequence[Any], expected: Sequence[Any], *, match: Match | Mapping[str, Any] | str | None = None
) -> Alignment:
    """Align the calls that were made with the calls that were expected.

    Args:
        actual: the calls made, in order; each whatever `ToolCall.of` takes.
        expected: the calls expected, in order.
        match: when two calls are the same; exact arguments by default. The spelling of a configuration file will do
            too, e.g. ``"subset"``.

    Returns:
        The alignment; print it to see it.

    Raises:
        MatchError: something is not a tool call, or arguments to compare are unknown.
        ConfigError: `match` is no rule.

    >>> print(align([("book", {"seat": "3B"}), "pay"], ["search", ("book", {"seat": "3A"}), "pay"]))
    2 calls made, 3 expected: 1 match, 1 of them in order
         expected         made
      -  search()                          missing
      ~  book(seat="3A")  book(seat="3B")  seat: expected "3A", got "3B"
      =  pay()            pay()
    """
    return Alignment(as_calls(actual, "actual"), as_calls(expected, "expected"), Match.of(match))


def as_calls(calls: Sequence[Any], side: str) -> tuple[ToolCall, ...]:
    """Make `ToolCall`s of a list of calls.

    Raises:
        MatchError: an item is not a call (the message says which), or a text stands where a list is due.
    """
    from ..errors import MatchError

    if isinstance(calls, str | bytes) or not hasattr(calls, "__iter__"):
        raise MatchError(f"{side}: wanted a list of tool calls, got {type(calls).__name__}: {calls!r:.60}")
    made = []
    for index, call in enumerate(calls):
        try:
            made.append(ToolCall.of(call))
        except MatchError as error:
            raise MatchError(f"{side}[{index}]: {error}") from None
    return tuple(made)
