"""pass@k and pass^k: vectors, brute force over all choices of k trials, tables over tasks."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring.stats import PassK, pass_at_k, pass_hat_k, pass_k_table, t_interval

VECTORS = [
    (10, 3, 1, 0.3, 0.3),
    (10, 3, 5, 0.916666666667, 0),
    (10, 3, 8, 1, 0),
    (5, 2, 3, 0.9, 0),
    (4, 3, 2, 1, 0.5),
    (4, 3, 4, 1, 0),
    (8, 6, 3, 1, 0.357142857143),
    (10, 0, 3, 0, 0),
    (10, 10, 3, 1, 1),
    (1, 1, 1, 1, 1),
]


@pytest.mark.parametrize(("n", "c", "k", "at", "hat"), VECTORS)
def test_vectors(n: int, c: int, k: int, at: float, hat: float) -> None:
    assert pass_at_k(n, c, k) == pytest.approx(at, abs=1e-12)
    assert pass_hat_k(n, c, k) == pytest.approx(hat, abs=1e-12)


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_they_are_shares_of_all_choices_of_k_trials(counts: tuple[int, int, int]) -> None:
    n, c, k = counts
    choices = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, choices)) / len(choices), abs=1e-12)
    assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, choices)) / len(choices), abs=1e-12)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_equals_the_stable_product(counts: tuple[int, int, int]) -> None:
    n, c, k = counts
    product = 1.0 if n - c < k else 1 - math.prod(1 - k / i for i in range(n - c + 1, n + 1))
    assert pass_at_k(n, c, k) == pytest.approx(product, abs=1e-9)
    at, hat = pass_at_k(n, c, k), pass_hat_k(n, c, k)
    assert at is not None
    assert hat is not None
    assert 0 <= hat <= c / n + 1e-12
    assert c / n - 1e-12 <= at <= 1


def test_both_are_unbiased() -> None:
    n, k, p = 6, 3, 0.35
    chances = [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    assert math.fsum(w * (pass_at_k(n, c, k) or 0) for c, w in enumerate(chances)) == pytest.approx(1 - (1 - p) ** k)
    assert math.fsum(w * (pass_hat_k(n, c, k) or 0) for c, w in enumerate(chances)) == pytest.approx(p**k)


def test_more_trials_asked_about_than_seen_is_undefined() -> None:
    for n, c, k in ((1, 1, 2), (0, 0, 1), (3, 3, 4)):
        assert pass_at_k(n, c, k) is None
        assert pass_hat_k(n, c, k) is None


@pytest.mark.parametrize(
    ("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3.5, 1, 1), (-1, -1, 1), (math.nan, 1, 1)]
)
def test_impossible_counts_are_refused(n: Any, c: int, k: int) -> None:
    for function in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match=r"[nck] is .*want"):
            function(n, c, k)


def test_table_of_published_counts() -> None:
    # Successes of the 50 tasks x 4 trials that tau-bench published for gpt-4o, airline.
    counts = [(4, 0)] * 14 + [(4, 1)] * 12 + [(4, 2)] * 10 + [(4, 3)] * 4 + [(4, 4)] * 10
    table = pass_k_table(counts)
    assert [row.k for row in table] == [1, 2, 3, 4]
    assert [row.pass_hat.estimate for row in table] == pytest.approx([0.42, 0.273333, 0.22, 0.2], abs=5.1e-7)
    assert [row.pass_hat.se for row in table] == pytest.approx([0.052216, 0.055484, 0.056532, 0.057143], abs=5.1e-7)
    assert [row.pass_at.estimate for row in table] == pytest.approx([0.42, 0.566667, 0.66, 0.72], abs=5.1e-7)
    assert [row.pass_at.se for row in table] == pytest.approx([0.052216, 0.056745, 0.060508, 0.064143], abs=5.1e-7)
    assert {(row.tasks, row.excluded) for row in table} == {(50, 0)}
    assert (table[1].pass_at.method, table[1].pass_hat.method) == ("pass@2, t over tasks", "pass^2, t over tasks")


def test_tasks_with_too_few_trials_are_left_out_and_counted() -> None:
    table = pass_k_table([(4, 2), (3, 3), (1, 0), (0, 0)])
    assert [(row.tasks, row.excluded) for row in table] == [(3, 1), (2, 2), (2, 2), (1, 3)]
    assert table[0].pass_hat.estimate == pytest.approx((0.5 + 1 + 0) / 3)
    assert table[1].pass_hat == t_interval_named([1 / 6, 1.0], "pass^2, t over tasks")
    assert (table[3].pass_at.estimate, table[3].pass_at.low) == (1.0, None)


def t_interval_named(values: list[float], method: str) -> Any:
    import dataclasses

    return dataclasses.replace(t_interval(values, bounds=(0, 1)), method=method)


def test_table_edges() -> None:
    assert pass_k_table([]) == ()
    assert pass_k_table([(0, 0)]) == ()
    (row,) = pass_k_table([], max_k=1)
    assert isinstance(row, PassK)
    assert (row.pass_at.estimate, row.tasks, row.excluded) == (None, 0, 0)
    assert len(pass_k_table([(8, 3)], max_k=2)) == 2
    certain = pass_k_table([(2, 2)] * 6)[0].pass_hat
    assert certain.low == pytest.approx(0.025 ** (1 / 6))
    with pytest.raises(ValueError, match="c is 5"):
        pass_k_table([(4, 5)])


def test_the_table_has_the_level_asked_for() -> None:
    (row,) = pass_k_table([(4, 4), (4, 2), (4, 0), (4, 1)], max_k=1, level=0.8)
    wanted = t_interval([1.0, 0.5, 0.0, 0.25], level=0.8, bounds=(0.0, 1.0))
    assert (row.pass_at.low, row.pass_at.high) == (wanted.low, wanted.high)
