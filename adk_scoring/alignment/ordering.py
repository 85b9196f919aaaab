"""Calls whose order is free: parallel steps, groups and optional calls, settled before anything is counted.

In: the calls of both sides and which match. Out: an `Arrangement`: both sides listed so that the plain numbers of an
alignment are right, and what was kept in order.

A *block* is a run of neighbouring calls that may come in any order among themselves: those of one ``group`` of an
expectation, and those of one ``step`` under ``Match(parallel=True)``. Blocks keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..model import ToolCall
from .assignment import best_assignment

__all__ = ["Arrangement", "arrange", "blocks"]

Pairs = list[tuple[int, int]]


class Arrangement(NamedTuple):
    """How two lists of calls are best read where their order is free.

    Attributes:
        actual: indices of the calls made, in the order to read them in.
        expected: indices of the expected calls, likewise, without the optional ones that were not made.
        in_order: (actual, expected) positions in these lists of the pairs that keep the order.
        length: how many expected calls of `expected` count as kept in order. An optional one that was made does,
            wherever it was made.
    """

    actual: list[int]
    expected: list[int]
    in_order: tuple[tuple[int, int], ...]
    length: int


def arrange(
    actual: Sequence[ToolCall], expected: Sequence[ToolCall], masks: Sequence[int], *, parallel: bool
) -> Arrangement | None:
    """Settle the order of two lists of calls; ``None`` if nothing about it is free.

    Args:
        actual: the calls made.
        expected: the calls expected.
        masks: for each call made, the expected calls that it matches, as bits of an int.
        parallel: whether calls of one step are a block.

    Required calls go before optional ones: as many required calls as possible are kept in order, then as many
    optional ones; of the optional calls those stay that a maximum matching has a place for.
    """
    n, m = len(actual), len(expected)
    rows, columns = blocks(actual, parallel=parallel, groups=False), blocks(expected, parallel=parallel)
    if len(rows) == n and len(columns) == m and not any(call.optional for call in expected):
        return None
    # One required call outweighs all optional ones.
    worth = [1 if call.optional else n + 1 for call in expected]
    in_order = _longest_in_order(masks, rows, columns, worth)
    together = set(in_order)
    weights = [
        [(w * (n + 1) + ((i, j) in together) if mask >> j & 1 else 0) for j, w in enumerate(worth)]
        for i, mask in enumerate(masks)
    ]
    made = {j for i, j in best_assignment(weights) if weights[i][j]}
    kept = [j for j in range(m) if j in made or not expected[j].optional]
    read_actual = _read(range(n), rows, {i: rank for rank, (i, _) in enumerate(in_order)})
    read_expected = _read(kept, columns, {j: rank for rank, (_, j) in enumerate(in_order)})
    at = {j: position for position, j in enumerate(read_expected)}
    place = {i: position for position, i in enumerate(read_actual)}
    pairs = tuple((place[i], at[j]) for i, j in in_order if j in at)
    required = sum(not expected[j].optional for _, j in in_order)
    return Arrangement(read_actual, read_expected, pairs, required + sum(expected[j].optional for j in kept))


def blocks(calls: Sequence[ToolCall], *, parallel: bool, groups: bool = True) -> list[list[int]]:
    """Return the indices of each run of neighbours of one group, or of one step where there is no group."""
    found: list[list[int]] = []
    before = None
    for index, call in enumerate(calls):
        key = (call.group if groups else None, call.step if parallel else None)
        if key[0] is not None:
            key = (key[0], None)
        if found and key == before and key != (None, None):
            found[-1].append(index)
        else:
            found.append([index])
        before = key
    return found


def _read(indices: Sequence[int], within: Sequence[Sequence[int]], rank: dict[int, int]) -> list[int]:
    """List what is kept in the order of its partners within each block, the rest of the block behind it."""
    kept = set(indices)
    last = len(rank)
    return [i for block in within for i in sorted(block, key=lambda i: rank.get(i, last)) if i in kept]


class _Kept(NamedTuple):
    """Pairs kept so far: what they are worth, the last one, and those before it."""

    worth: int
    pair: tuple[int, int] = (0, 0)
    before: _Kept | None = None


_States = dict[tuple[int, int], _Kept]
"""(calls made that are used up, expected calls that are taken), as bits of the two blocks at hand -> the best pairs."""


def _longest_in_order(
    masks: Sequence[int], rows: Sequence[Sequence[int]], columns: Sequence[Sequence[int]], worth: Sequence[int]
) -> Pairs:
    """Return the one-to-one pairs of largest worth that keep the order of the blocks, sorted by block.

    Walking through the calls made block by block, one must never have to walk back among the expected blocks: a
    path through the grid of blocks that goes right or down. The table has, for each cell, the best pairs of a path
    that ends there, for each set of calls that its two blocks have given away so far. Calls that look the same give
    away the first one first, and what can only be matched among itself is matched at once, so the sets stay few: a
    second for 60 calls in steps of 8 that loosely match each other, milliseconds where "the same" is transitive.
    """
    if not rows or not columns:
        return []
    transposed = [sum((mask >> j & 1) << i for i, mask in enumerate(masks)) for j in range(len(worth))]
    alike_rows = [_alike(row, masks) for row in rows]
    alike_columns = [_alike(column, list(zip(transposed, worth, strict=True))) for column in columns]
    most = max(worth, default=0)
    above: list[_States] = [{} for _ in columns]
    for x, block in enumerate(rows):
        left: _States = {}
        row = sum(1 << i for i in block)
        for y in range(len(columns)):
            states: _States = {} if x or y else {(0, 0): _Kept(0)}
            for (used, _), kept in left.items():
                _improve(states, (used, 0), kept)
            for (_, taken), kept in above[y].items():
                _improve(states, (0, taken), kept)
            for made in alike_rows[x]:
                partners = [wanted for wanted in alike_columns[y] if masks[made[0]] >> wanted[0] & 1]
                if (
                    len(partners) == 1
                    and worth[(wanted := partners[0])[0]] == most
                    and (transposed[wanted[0]] & row == sum(1 << i for i in made))
                ):
                    # They match only each other here, and whichever way the path goes on, one of the two sides is of
                    # no more use: nothing is gained by keeping a pair back.
                    states = _matched(states, made, wanted, most)
                elif partners:
                    _match_any(states, made, partners, worth)
            above[y] = left = states
    best = max(above[-1].values(), key=lambda kept: kept.worth)
    pairs = []
    while best.before is not None:
        pairs.append(best.pair)
        best = best.before
    row_of = {i: x for x, row in enumerate(rows) for i in row}
    column_of = {j: y for y, column in enumerate(columns) for j in column}
    return sorted(pairs, key=lambda pair: (row_of[pair[0]], column_of[pair[1]], pair))


def _improve(states: _States, key: tuple[int, int], kept: _Kept) -> None:
    if key not in states or kept.worth > states[key].worth:
        states[key] = kept


def _matched(states: _States, made: Sequence[int], wanted: Sequence[int], worth: int) -> _States:
    """Match as many calls of two classes as each state has left."""
    matched: _States = {}
    for (used, taken), kept in states.items():
        free = [i for i in made if not used >> i & 1], [j for j in wanted if not taken >> j & 1]
        for i, j in zip(*free, strict=False):
            used, taken, kept = used | 1 << i, taken | 1 << j, _Kept(kept.worth + worth, (i, j), kept)
        _improve(matched, (used, taken), kept)
    return matched


def _match_any(states: _States, made: Sequence[int], partners: Sequence[Sequence[int]], worth: Sequence[int]) -> None:
    """Add what comes of matching any number of the calls of a class with any of their partners."""
    for place, i in enumerate(made):
        for (used, taken), kept in list(states.items()):
            if used >> i & 1 or (place and not used >> made[place - 1] & 1):
                continue
            for wanted in partners:
                j = next((j for j in wanted if not taken >> j & 1), None)
                if j is not None:
                    _improve(states, (used | 1 << i, taken | 1 << j), _Kept(kept.worth + worth[j], (i, j), kept))


def _alike(block: Sequence[int], looks: Sequence[object]) -> list[list[int]]:
    """Group the calls of a block that look the same."""
    groups: dict[object, list[int]] = {}
    for index in block:
        groups.setdefault(looks[index], []).append(index)
    return list(groups.values())
