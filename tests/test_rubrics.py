"""Rubrics as configuration writes them, and their weighted mean by hand-worked examples."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring import ConfigError, Rubric, Score
from adk_scoring.metrics.rubrics import check_rubrics, rubric_of, rubrics_of, weigh


@pytest.mark.parametrize(
    ("item", "rubric"),
    [
        ("It is polite.", Rubric("It is polite.", "It is polite.")),
        ({"rubric_id": "r", "text": "t"}, Rubric("r", "t")),
        ({"text": "t"}, Rubric("t", "t")),
        ({"rubric_id": "r", "text": "t", "weight": -2, "levels": [1, 2, 5]}, Rubric("r", "t", -2.0, (1, 2, 5))),
        ({"rubric_id": "r", "rubric_content": {"text_property": "t"}, "type": "X"}, Rubric("r", "t", type="X")),
        ({"rubricId": "r", "rubricContent": {"textProperty": "t"}, "description": "d"}, Rubric("r", "t")),
        ({"rubric_id": "r", "text": "t", "group": "g", "weight": 0}, Rubric("r", "t", 0.0, group="g")),
        (Rubric("r", "t", 3), Rubric("r", "t", 3)),
    ],
)
def test_forms(item: Any, rubric: Rubric) -> None:
    assert rubric_of(item) == rubric


@pytest.mark.parametrize(
    ("item", "told"),
    [
        ("", "a rubric is a text or an object"),
        (7, "found int"),
        ({"rubric_id": "r"}, "wants rubric_id and text"),
        ({"rubric_id": "r", "text": " "}, "wants rubric_id and text"),
        ({"rubric_id": 7, "text": "t"}, "wants rubric_id and text"),
        ({"rubric_id": "r", "rubric_content": {}}, "wants rubric_id and text"),
        ({"rubric_id": "r", "text": "t", "wieght": 2}, "no 'wieght'; did you mean 'weight'?"),
        ({"rubric_id": "r", "text": "t", 7: 2}, "a rubric has no 7"),
        ({"rubric_id": "r", "text": "t", "weight": "2"}, "weight '2'; wanted a finite number"),
        ({"rubric_id": "r", "text": "t", "weight": True}, "weight True"),
        ({"rubric_id": "r", "text": "t", "weight": math.nan}, "weight nan"),
        ({"rubric_id": "r", "text": "t", "weight": math.inf}, "weight inf"),
        ({"rubric_id": "r", "text": "t", "levels": [3, 2, 1]}, "levels (3, 2, 1); wanted whole numbers, lowest first"),
        ({"rubric_id": "r", "text": "t", "levels": [1, 1]}, "levels (1, 1)"),
        ({"rubric_id": "r", "text": "t", "levels": [1]}, "levels (1,)"),
        ({"rubric_id": "r", "text": "t", "levels": [0, 0.5]}, "levels (0, 0.5)"),
        ({"rubric_id": "r", "text": "t", "levels": "low"}, "levels 'low'"),
        ({"rubric_id": "r", "text": "t", "levels": [False, True]}, "levels (False, True)"),
    ],
)
def test_rubrics_that_are_not_usable(item: Any, told: str) -> None:
    with pytest.raises(ConfigError) as raised:
        rubric_of(item)
    assert told in str(raised.value)


def test_lists_and_mappings() -> None:
    assert rubrics_of({"a": "A.", "b": "B."}) == rubrics_of([Rubric("a", "A."), {"rubric_id": "b", "text": "B."}])
    assert rubrics_of([]) == ()
    for wrong in ("text", 7, None):
        with pytest.raises(ConfigError, match="rubrics: wanted a list"):
            rubrics_of(wrong)


def test_ids_that_clash_and_weights_that_can_reach_nothing() -> None:
    with pytest.raises(ConfigError, match="the rubric 'a' stands twice"):
        rubrics_of(["a", "b", "a"])
    with pytest.raises(ConfigError, match="no rubric has a positive weight"):
        check_rubrics([Rubric("a", "", -1), Rubric("b", "", 0)], "case")
    with pytest.raises(ConfigError, match="weight nan"):
        check_rubrics([Rubric("a", "", math.nan)], "case")
    check_rubrics([], "case")


def weighed(*given: tuple[float, float | None], floor: float = 1.0) -> Score:
    """Weigh (weight, verdict) pairs; ``None`` is unscored."""
    rubrics = [Rubric(f"r{place}", "", weight) for place, (weight, _) in enumerate(given)]
    parts = [
        Score.failed("m", "no reply", label=rubric.rubric_id)
        if value is None
        else Score("m", value, reason=f"said {value:g}")
        for rubric, (_, value) in zip(rubrics, given, strict=True)
    ]
    return weigh("m", rubrics, parts, floor=floor)


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ([(1, 1.0)], 1.0),
        ([(1, 0.0)], 0.0),
        ([(3, 1.0), (2, 0.0), (1, 0.0)], 3 / 6),
        ([(3, 1.0), (1, 0.5)], 3.5 / 4),
        ([(2, 1.0), (-1, 1.0)], 1 / 2),  # a penalty that is met
        ([(2, 1.0), (-1, 0.0)], 1.0),  # and one that is not
        ([(1, 1.0), (-3, 1.0)], 0.0),  # clamped
        ([(1, 0.0), (-3, 1.0)], 0.0),
        ([(4, 1.0), (-2, 0.5)], 3 / 4),
        ([(1, 1.0), (0, 0.0)], 1.0),  # weight 0 is shown and counts for nothing
        ([(0.1, 1.0), (0.2, 0.0)], 0.1 / 0.3),
    ],
)
def test_worked_examples(given: list[tuple[float, float | None]], value: float) -> None:
    score = weighed(*given)
    assert score.value == pytest.approx(value, abs=1e-12)
    assert score.bounds is None
    assert score.counts["weight"] == score.counts["weight_scored"]


@pytest.mark.parametrize(
    ("given", "value", "bounds", "coverage"),
    [
        ([(3, 1.0), (2, None), (1, 0.0)], 0.75, (3 / 6, 5 / 6), 4 / 6),
        ([(1, 1.0), (1, None), (1, 1.0)], 1.0, (2 / 3, 1.0), 2 / 3),  # not a mean that rises in silence
        ([(2, 1.0), (-1, None)], 1.0, (1 / 2, 1.0), 2 / 3),  # an unscored penalty may be met
        ([(2, 0.0), (-1, 1.0), (2, None)], 0.0, (0.0, 1 / 4), 3 / 5),
        ([(1, 0.0), (-5, None)], 0.0, (0.0, 0.0), 1 / 6),
    ],
)
def test_unscored_rubrics(given: list[tuple[float, float | None]], value: float, bounds: Any, coverage: float) -> None:
    score = weighed(*given, floor=0.1)
    assert score.value == pytest.approx(value)
    assert score.bounds == pytest.approx(bounds)
    assert score.counts["weight_scored"] / score.counts["weight"] == pytest.approx(coverage)
    assert f"coverage {coverage:.3g}" in score.reason
    strict = weighed(*given)
    assert (strict.status, strict.bounds) == ("error", score.bounds)
    assert f"the score lies between {bounds[0]:.3f} and {bounds[1]:.3f}" in strict.reason
    assert [part.value for part in strict.parts] == [given_value for _, given_value in given]


def test_the_floor_is_a_share_of_the_weight() -> None:
    two_thirds = [(3, 1.0), (2, None), (1, 0.0)]
    assert weighed(*two_thirds, floor=2 / 3).status == "scored"
    assert weighed(*two_thirds, floor=0.67).status == "error"


def test_only_penalties_scored_is_no_score_however_low_the_floor() -> None:
    assert weighed((1, None), (-9, 0.0), floor=0.1).status == "error"


def test_a_single_rubric_is_an_error_for_its_own_reason() -> None:
    assert weighed((1, None)).reason == "no reply"
    assert weighed((1, None)).bounds == (0.0, 1.0)


def test_the_reason_is_the_arithmetic_and_what_cost_most() -> None:
    assert weighed((3, 1.0), (2, 0.0), (1, 0.5)).reason == "(3 * 1 + 2 * 0 + 1 * 0.5) / 6 = 0.583; r1: said 0"
    assert weighed((2, 1.0), (-1, 1.0), (1, 1.0)).reason == "(2 * 1 + -1 * 1 + 1 * 1) / 3 = 0.667; r1: said 1"
    assert weighed(*[(1, 1.0)] * 9).reason == "sum of 9 weighted verdicts / 9 = 1.000; r0: said 1"


def test_nothing_to_reach() -> None:
    with pytest.raises(ConfigError, match="no rubric has a positive weight"):
        weighed((-1, 1.0))


weights = st.integers(-4, 4).map(float)
verdicts = st.none() | st.sampled_from([0.0, 0.25, 1.0])


@given(st.lists(st.tuples(weights, verdicts), min_size=1, max_size=6), st.sampled_from([0.01, 0.5, 1.0]))
def test_the_bounds_hold_whatever_the_unscored_turn_out_to_be(
    given: list[tuple[float, float | None]], floor: float
) -> None:
    """Each way to fill the gaps with yes and no gives a value between the bounds, and both bounds are reached."""
    if sum(max(weight, 0) for weight, _ in given) == 0:
        return
    score = weighed(*given, floor=floor)
    gaps = [place for place, (_, value) in enumerate(given) if value is None]
    filled = []
    for mask in range(2 ** len(gaps)):
        full = [[weight, value] for weight, value in given]
        for bit, place in enumerate(gaps):
            full[place][1] = float(mask >> bit & 1)
        filled.append(float(weighed(*map(tuple, full))))  # type: ignore[arg-type]  # pairs they are
    if not gaps:
        assert score.bounds is None
        assert filled == [score.value]
        return
    assert score.bounds == pytest.approx((min(filled), max(filled)))
    if score.value is not None:
        assert min(filled) - 1e-9 <= score.value <= max(filled) + 1e-9


def test_two_levels_are_a_scale_and_one_is_none() -> None:
    assert rubrics_of([Rubric("r", "kind", levels=(0, 1))])[0].levels == (0, 1)
    with pytest.raises(ConfigError, match="levels"):
        rubrics_of([Rubric("r", "kind", levels=(1,))])
