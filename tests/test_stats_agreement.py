"""A judge against people: kappa, Rogan-Gladen and PPI by their vectors, statsmodels, simulation and edges."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from adk_scoring.stats import Interval, confusion, kappa, ppi, rogan_gladen, t_interval
from adk_scoring.stats.special import normal_quantile


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def test_kappa_vectors() -> None:
    good = kappa([[40, 5], [10, 45]])
    assert good.estimate == pytest.approx(0.7, abs=1e-12)
    assert good.se == pytest.approx(0.071056, abs=5.1e-7)
    assert ends(good) == pytest.approx((0.560733, 0.839267), abs=1.1e-6)
    assert good.n == 100
    fair = kappa([[20, 5], [10, 15]])
    assert [fair.estimate, fair.se] == pytest.approx([0.4, 0.126996], abs=5.1e-7)
    assert kappa([[98, 1], [1, 0]]).estimate == pytest.approx(-0.010101, abs=5.1e-7)


@pytest.mark.parametrize(("weights", "value"), [(None, 0.656863), ("linear", 0.740260), ("quadratic", 0.825218)])
def test_weighted_kappa_vectors(weights: Literal["linear", "quadratic"] | None, value: float) -> None:
    assert kappa([[10, 2, 0], [3, 8, 2], [0, 1, 9]], weights=weights).estimate == pytest.approx(value, abs=5.1e-7)


@given(
    st.integers(2, 4).flatmap(
        lambda size: st.lists(st.lists(st.integers(0, 30), min_size=size, max_size=size), min_size=size, max_size=size)
    ),
    st.sampled_from([None, "linear", "quadratic"]),
)
def test_kappa_equals_statsmodels(table: list[list[int]], weights: Any) -> None:
    result = kappa(table, weights=weights)
    if result.estimate is None:
        used = {i for i, row in enumerate(table) if sum(row)} | {
            j for j, column in enumerate(zip(*table, strict=True)) if sum(column)
        }
        assert len(used) <= 1
        return
    with np.errstate(all="ignore"):
        theirs = cohens_kappa(np.array(table), wt={None: None, "linear": "linear", "quadratic": "quadratic"}[weights])
    assert result.estimate == pytest.approx(float(theirs.kappa), abs=1e-9)
    if result.se is not None:
        assert result.se == pytest.approx(float(theirs.std_kappa), rel=1e-6, abs=1e-9)
        low, high = max(-1.0, float(theirs.kappa_low)), min(1.0, float(theirs.kappa_upp))
        assert ends(result) == pytest.approx((low, high), rel=1e-6, abs=1e-8)
        assert -1 <= ends(result)[0] <= result.estimate <= ends(result)[1] <= 1


def test_kappa_edges() -> None:
    for table in ([[50, 0], [0, 0]], [[7]], [], [[0, 0], [0, 0]]):
        result = kappa(table)
        assert (result.estimate, result.low, result.se) == (None, None, None)
        assert result.note
    perfect = kappa([[5, 0], [0, 5]])
    assert (perfect.estimate, perfect.low) == (1.0, None)
    assert kappa([[0, 1], [0, 0]]).estimate == 0
    cut = kappa([[4, 0], [1, 1]])
    assert ends(cut)[1] == 1.0
    assert cut.note == "cut at [-1, 1]"
    for bad in ([[1, 2]], [[1, 2], [3]], [[1, -1], [0, 1]]):
        with pytest.raises(ValueError, match="square"):
            kappa(bad)
    with pytest.raises(ValueError, match=r"table\[0\]\[1\] is nan"):
        kappa([[1, math.nan], [0, 1]])


def test_confusion_counts_pairs() -> None:
    assert confusion(["yes", "no", "yes"], ["yes", "yes", "no"]) == [[1, 1], [1, 0]]
    assert confusion([1, 2], [2, 2], labels=[1, 2, 3]) == [[0, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert confusion([], []) == []
    with pytest.raises(ValueError, match="first has 1 and second 2"):
        confusion("a", "ab")
    with pytest.raises(ValueError, match="label 'c' is not among"):
        confusion("ab", "ac", labels="ab")


def test_rogan_gladen_vectors() -> None:
    result = rogan_gladen(300, 500, 40, 45, 45, 55)
    assert result.estimate == pytest.approx(0.591429, abs=5.1e-7)
    assert result.se == pytest.approx(0.061849, abs=5.1e-7)
    low, high = ends(result)
    assert (low, high) == pytest.approx((0.479223, 0.721669), abs=1.1e-6)
    assert (low + high) / 2 == pytest.approx(0.597999 + 0.002447, abs=1.1e-6)  # adjusted point + shift
    assert result.note == ""
    clipped = rogan_gladen(170, 200, 90, 100, 85, 100)
    assert clipped.estimate == pytest.approx(0.933333, abs=5.1e-7)
    assert ends(clipped) == pytest.approx((0.837397, 1), abs=5.1e-7)


def test_rogan_gladen_of_a_judge_without_error_is_its_pass_rate() -> None:
    result = rogan_gladen(30, 50, 10_000, 10_000, 10_000, 10_000)
    assert result.estimate == pytest.approx(0.6)
    assert ends(result)[0] < 0.6 < ends(result)[1]


@pytest.mark.parametrize(
    "counts",
    [
        (300, 500, 20, 45, 25, 55),  # worse than chance
        (300, 500, 5, 10, 5, 10),  # exactly chance
        (300, 500, 1, 1, 10, 1000),  # above chance by one lucky label
    ],
)
def test_rogan_gladen_refuses_a_judge_no_better_than_chance(counts: tuple[int, int, int, int, int, int]) -> None:
    result = rogan_gladen(*counts)
    assert (result.estimate, result.low, result.high, result.se) == (None, None, None, None)
    assert result.note.startswith("refused: TPR + TNR = ")


def test_rogan_gladen_edges() -> None:
    for counts in ((0, 0, 1, 1, 1, 1), (1, 2, 0, 0, 1, 1), (1, 2, 1, 1, 0, 0)):
        result = rogan_gladen(*counts)
        assert result.estimate is None
        assert result.note.startswith("refused: wants")
    cut = rogan_gladen(3, 50, 27, 30, 27, 30)
    assert (cut.estimate, ends(cut)[0]) == (0.0, 0.0)
    assert cut.note == "estimate -0.050 cut at [0, 1]; cut at [0, 1]"
    # A judge that passes 10 % of the bad items and yet none of 100: its labels do not fit, and [0, 0] would be a lie.
    for outside, estimate in (
        (rogan_gladen(0, 100, 45, 50, 45, 50), 0.0),
        (rogan_gladen(100, 100, 45, 50, 45, 50), 1.0),
    ):
        assert (outside.estimate, outside.low, outside.high) == (estimate, None, None)
        assert "not like the judged ones" in outside.note
    for counts in ((3, 2, 1, 1, 1, 1), (1, 2, 2, 1, 1, 1), (1, 2, 1, 1, 2, 1)):
        with pytest.raises(ValueError, match="want 0 <="):
            rogan_gladen(*counts)


HUMAN = [1, 0, 1, 1, 0, 1, 0, 1, 1, 1]
JUDGED = [1, 0, 1, 0, 0, 1, 1, 1, 1, 1]
REST = [1] * 70 + [0] * 30


def test_ppi_vectors() -> None:
    # ppi-python 0.2.3, ppi_mean_ci with lam=1 and with lam=None.
    plain = ppi(HUMAN, JUDGED, REST, tune=False)
    assert plain.estimate == pytest.approx(0.7, abs=1e-12)
    assert ends(plain) == pytest.approx((0.408630, 0.991370), abs=5.1e-7)
    tuned = ppi(HUMAN, JUDGED, REST)
    assert tuned.estimate == pytest.approx(0.7, abs=1e-12)
    assert ends(tuned) == pytest.approx((0.45393, 0.94607), abs=5.1e-6)
    assert tuned.method == "ppi, lambda 0.47619, 100 unlabelled"


def test_ppi_edges() -> None:
    assert ppi([], [], REST).estimate is None
    one = ppi([1], [0], REST)
    assert (one.estimate, one.low) == (1.0, None)
    alone = ppi(HUMAN, JUDGED, [])  # nothing judged beyond the labels: the human mean and its normal interval
    half = normal_quantile(0.975) * math.sqrt(np.var(HUMAN) / 10)
    assert ends(alone) == pytest.approx((0.7 - half, 0.7 + half))
    assert alone.method == "ppi, lambda 0, 0 unlabelled"
    constant = ppi(HUMAN, [1] * 10, [1] * 50)  # a judge that always says the same adds nothing
    assert ends(constant) == pytest.approx(ends(alone))
    assert ppi([1] * 5, [1] * 5, [1] * 5).low is None
    agreeing = ppi([0, 1, 1], [0, 1, 1], REST, tune=False)
    assert "too narrow" in agreeing.note
    assert ends(ppi(HUMAN, JUDGED, [1] * 100, tune=False, bounds=(0, 0.9)))[1] == 0.9
    with pytest.raises(ValueError, match="human has 1, judged has 2"):
        ppi([1], [1, 0], [1])
    with pytest.raises(ValueError, match=r"unlabelled\[0\] is nan"):
        ppi([1], [1], [math.nan])


@pytest.mark.slow
def test_simulated_coverage_of_corrected_rates() -> None:
    rng = np.random.default_rng(4)
    rounds, held_rg, held_ppi, narrower = 1500, 0, 0, 0
    for _ in range(rounds):
        truth = rng.random(500) < 0.7
        judged = np.where(truth, rng.random(500) < 0.9, rng.random(500) < 0.2)
        labels = slice(0, 100)
        positives, negatives = int(truth[labels].sum()), int((~truth[labels]).sum())
        hits = int((judged & truth)[labels].sum())
        rejections = int((~judged & ~truth)[labels].sum())
        low, high = ends(rogan_gladen(int(judged[100:].sum()), 400, hits, positives, rejections, negatives))
        held_rg += low <= 0.7 <= high
        interval = ppi(truth[labels], judged[labels], judged[100:])
        low, high = ends(interval)
        held_ppi += low <= 0.7 <= high
        narrower += (interval.se or 1) < (t_interval(truth[labels]).se or 0)
    assert held_rg / rounds == pytest.approx(0.955, abs=0.02)
    assert held_ppi / rounds == pytest.approx(0.94, abs=0.02)
    assert narrower == rounds
