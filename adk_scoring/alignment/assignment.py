"""One-to-one assignment: as many pairs as possible, or those with the largest sum."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["best_assignment", "maximum_matching"]


def maximum_matching(masks: Sequence[int]) -> dict[int, int]:
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
        weights: a rectangular table; every row or every column, whichever are fewer, is assigned. Whole numbers of
            any size are summed exactly.

    The Hungarian method with shortest augmenting paths: O(rows^2 * columns).

    >>> best_assignment([[2, 3], [0, 2]])
    [(0, 0), (1, 1)]
    """
    rows, columns = len(weights), len(weights[0]) if weights else 0
    if rows > columns:
        return sorted((i, j) for j, i in best_assignment([list(column) for column in zip(*weights, strict=True)]))
    infinity = float("inf")
    row_price: list[float] = [0] * rows
    column_price: list[float] = [0] * columns
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
