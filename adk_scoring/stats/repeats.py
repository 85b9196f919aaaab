"""Several trials of one task: trials and successes per task go in, pass@k and pass^k come out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from .inputs import whole
from .intervals import Interval, t_interval

__all__ = ["PassK", "pass_at_k", "pass_hat_k", "pass_k_table"]


def _check(n: int, c: int, k: int) -> None:
    whole(n=n, c=c, k=k)
    if c > n or k < 1:
        raise ValueError(f"n is {n}, c is {c} and k is {k}; want c <= n and k >= 1")


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """pass@k: the chance that at least one of k trials succeeds; unbiased for 1 - (1 - p)^k.

    1 - C(n-c, k) / C(n, k). Source: Chen et al. 2021 (arXiv 2107.03374).

    Args:
        n: trials of the task that were scored.
        c: those that succeeded, 0 <= c <= n.
        k: trials asked about, k >= 1.

    Returns:
        A chance in [0, 1], or None when n < k (so also n = 0): k trials were never seen. n = 1, k = 1: c.
        All failed: 0; all succeeded: 1.

    Raises:
        ValueError: counts that cannot be.

    >>> pass_at_k(5, 2, 3), pass_at_k(1, 1, 2)
    (0.9, None)
    """
    _check(n, c, k)
    return None if n < k else 1 - math.comb(n - c, k) / math.comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """pass^k: the chance that all of k trials succeed; unbiased for p^k.

    C(c, k) / C(n, k). Source: Yao et al. 2024, tau-bench (arXiv 2406.12045).

    Args:
        n: trials of the task that were scored.
        c: those that succeeded, 0 <= c <= n.
        k: trials asked about, k >= 1.

    Returns:
        A chance in [0, 1], or None when n < k (so also n = 0). n = 1, k = 1: c. All failed: 0; all succeeded: 1.

    Raises:
        ValueError: counts that cannot be.

    >>> pass_hat_k(4, 3, 2), pass_hat_k(4, 3, 4), pass_hat_k(0, 0, 1)
    (0.5, 0.0, None)
    """
    _check(n, c, k)
    return None if n < k else math.comb(c, k) / math.comb(n, k)


@dataclass(frozen=True, slots=True)
class PassK:
    """One row of the table of repeated trials.

    Attributes:
        k: trials asked about.
        pass_at: pass@k, mean over the tasks.
        pass_hat: pass^k, mean over the tasks.
        tasks: tasks with at least k scored trials, which the means are over.
        excluded: tasks with fewer, which they leave out.
    """

    k: int
    pass_at: Interval
    pass_hat: Interval
    tasks: int
    excluded: int


def pass_k_table(
    counts: Iterable[tuple[int, int]], *, max_k: int | None = None, level: float = 0.95
) -> tuple[PassK, ...]:
    """pass@k and pass^k for k = 1 up, each the mean over tasks with its error.

    The mean of the tasks' own values; se = sd over tasks (T - 1) / √T, `t_interval` within [0, 1]: tasks are the
    clusters. Each task counts with its own n; a missing trial is no failure.

    Args:
        counts: (n, c) of each task: scored trials, successes.
        max_k: last k; None goes up to the largest n.
        level: two-sided confidence level.

    Returns:
        One `PassK` for each k. No tasks, or none with a scored trial: an empty table unless ``max_k`` asks for rows,
        which are then undefined. One task: its values, no interval. All tasks equal: as `t_interval` with bounds.

    Raises:
        ValueError: counts that cannot be.

    >>> for row in pass_k_table([(4, 4), (4, 2), (3, 0)]):
    ...     print(row.k, row.pass_at, row.pass_hat, row.tasks, row.excluded)
    1 0.500 [0.000, 1.000] 0.500 [0.000, 1.000] 3 0
    2 0.611 [0.000, 1.000] 0.389 [0.000, 1.000] 3 0
    3 0.667 [0.000, 1.000] 0.333 [0.000, 1.000] 3 0
    4 1.000 [0.158, 1.000] 0.500 [0.000, 1.000] 2 1
    """
    tasks = list(counts)
    for n, c in tasks:
        _check(n, c, 1)
    last = max((n for n, _ in tasks), default=0) if max_k is None else max_k
    return tuple(_row(tasks, k, level) for k in range(1, last + 1))


def _row(tasks: list[tuple[int, int]], k: int, level: float) -> PassK:
    enough = [(n, c) for n, c in tasks if n >= k]

    def over_tasks(name: str, chance: Callable[[int, int, int], float | None]) -> Interval:
        values = [value for n, c in enough if (value := chance(n, c, k)) is not None]
        return replace(t_interval(values, level=level, bounds=(0.0, 1.0)), method=f"{name}{k}, t over tasks")

    at, hat = over_tasks("pass@", pass_at_k), over_tasks("pass^", pass_hat_k)
    return PassK(k, at, hat, len(enough), len(tasks) - len(enough))
