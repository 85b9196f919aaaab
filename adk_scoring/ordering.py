"""Calls whose order is free: parallel steps, groups and optional calls, settled before anything is counted.

In: the calls of both sides and which match. Out: an `Arrangement`: both sides listed so that the plain numbers of an
alignment are right, and what was kept in order.

A *block* is a run of neighbouring calls that may come in any order among themselves: those of one ``group`` of an
expectation, and those of one ``step`` under ``Match(parallel=True)``. Blocks keep their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .assignment import best_assignment
from .model import ToolCall

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
    that ends there, for each set of calls that its two blocks have given away so far. Calls that can be matched in
    one cell only need no set, and calls that look the same give away the first one first: so the sets stay few:
    a second for 60 calls in steps of 8 that nearly all match each other, milliseconds where arguments tell them apart.
    """
    if not rows or not columns:
        return []
    row_of = {i: x for x, row in enumerate(rows) for i in row}
    column_of = {j: y for y, column in enumerate(columns) for j in column}
    transposed = [sum((mask >> j & 1) << i for i, mask in enumerate(masks)) for j in range(len(worth))]
    settled, done = _settled(masks, transposed, row_of, column_of, worth)
    row_twin = _twins(rows, masks)
    column_twin = _twins(columns, list(zip(transposed, worth, strict=True)))
    above: list[_States] = [{} for _ in columns]
    for x, row in enumerate(rows):
        left: _States = {}
        for y, column in enumerate(columns):
            states: _States = {} if x or y else {(0, 0): _Kept(0)}
            for (used, _), kept in left.items():
                _improve(states, (used, 0), kept)
            for (_, taken), kept in above[y].items():
                _improve(states, (0, taken), kept)
            for i, j in settled.get((x, y), ()):
                states = {key: _Kept(kept.worth + worth[j], (i, j), kept) for key, kept in states.items()}
            for i in row:
                partners = [j for j in column if masks[i] >> j & 1] if i not in done else ()
                for (used, taken), kept in list(states.items()) if partners else ():
                    if used >> i & 1 or (i in row_twin and not used >> row_twin[i] & 1):
                        continue
                    for j in partners:
                        if not taken >> j & 1 and (j not in column_twin or taken >> column_twin[j] & 1):
                            key = used | 1 << i, taken | 1 << j
                            _improve(states, key, _Kept(kept.worth + worth[j], (i, j), kept))
            above[y] = left = states
    best = max(above[-1].values(), key=lambda kept: kept.worth)
    pairs = []
    while best.before is not None:
        pairs.append(best.pair)
        best = best.before
    return sorted(pairs, key=lambda pair: (row_of[pair[0]], column_of[pair[1]], pair))


def _improve(states: _States, key: tuple[int, int], kept: _Kept) -> None:
    if key not in states or kept.worth > states[key].worth:
        states[key] = kept


def _settled(
    masks: Sequence[int],
    transposed: Sequence[int],
    row_of: dict[int, int],
    column_of: dict[int, int],
    worth: Sequence[int],
) -> tuple[dict[tuple[int, int], Pairs], set[int]]:
    """Match what can be matched in one cell of the grid only: the pairs of each cell, and the calls made in them."""
    cells: dict[tuple[int, int], Pairs] = {}
    done: set[int] = set()
    seen: set[int] = set()
    for root in range(len(masks)):
        if not masks[root] or root in seen:
            continue
        # All that hangs together with this call by matches.
        made, wanted = [root], 0
        seen.add(root)
        for i in made:
            for j in _bits(masks[i] & ~wanted):
                made += [other for other in _bits(transposed[j]) if other not in seen]
                seen.update(made)
            wanted |= masks[i]
        calls = list(_bits(wanted))
        cell = {(row_of[i], column_of[j]) for i in made for j in calls}
        if len(cell) == 1:
            weights = [[worth[j] if masks[i] >> j & 1 else 0 for j in calls] for i in made]
            pairs = [(made[a], calls[b]) for a, b in best_assignment(weights) if weights[a][b]]
            cells.setdefault(cell.pop(), []).extend(pairs)
            done.update(made)
    return cells, done


def _bits(mask: int) -> Iterator[int]:
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def _twins(blocks: Sequence[Sequence[int]], looks: Sequence[object]) -> dict[int, int]:
    """Return for a call the one before it in its block that looks the same, if there is one."""
    twins = {}
    for block in blocks:
        seen: dict[object, int] = {}
        for index in block:
            if looks[index] in seen:
                twins[index] = seen[looks[index]]
            seen[looks[index]] = index
    return twins
