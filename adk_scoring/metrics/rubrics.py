"""Rubrics as configuration writes them, and the weighted mean of their verdicts with coverage and bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from ..errors import ConfigError
from ..model import Rubric
from .base import Score

__all__ = ["check_rubrics", "rubric_of", "rubrics_of", "weigh"]


_KEYS: Final = frozenset(
    (
        "rubric_id",
        "rubricId",
        "text",
        "rubric_content",
        "rubricContent",
        "weight",
        "levels",
        "type",
        "group",
        "description",
    )
)


def rubric_of(item: Any) -> Rubric:
    """Read one rubric: a `Rubric`, a text, or an object in this library's or ADK's form.

    Args:
        item: ``{"rubric_id", "text", "weight"?, "levels"?, "type"?, "group"?}``, or ADK's
            ``{"rubric_id", "rubric_content": {"text_property"}, "type"?}`` in either spelling. A text is its own id.

    Raises:
        ConfigError: it is none of these, or a value in it is not usable.

    >>> rubric_of({"rubricId": "polite", "rubricContent": {"textProperty": "The answer is polite."}})
    Rubric(rubric_id='polite', text='The answer is polite.', weight=1.0, levels=None)
    """
    if isinstance(item, Rubric):
        return item
    if isinstance(item, str) and item.strip():
        return Rubric(item, item)
    if not isinstance(item, Mapping):
        raise ConfigError(f"a rubric is a text or an object, found {type(item).__name__}: {item!r:.60}")
    if unknown := [key for key in item if key not in _KEYS]:
        near = get_close_matches(str(unknown[0]), _KEYS, n=1)
        raise ConfigError(f"a rubric has no {unknown[0]!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    content = item.get("rubric_content", item.get("rubricContent"))
    text = item.get("text")
    if text is None and isinstance(content, Mapping):
        text = content.get("text_property", content.get("textProperty"))
    name = item.get("rubric_id", item.get("rubricId", text))
    if not isinstance(text, str) or not text.strip() or not isinstance(name, str) or not name:
        raise ConfigError(f"a rubric wants rubric_id and text, found {dict(item)!r:.120}")
    levels = item.get("levels")
    rubric = Rubric(
        name,
        text,
        item.get("weight", 1.0),
        tuple(levels) if isinstance(levels, list) else levels,
        type=item.get("type"),
        group=item.get("group"),
    )
    _check(rubric)
    return rubric


def _check(rubric: Rubric) -> None:
    if not is_weight(rubric.weight):
        raise ConfigError(f"rubric {rubric.rubric_id!r}: weight {rubric.weight!r}; wanted a finite number")
    levels = rubric.levels
    if levels is None:
        return
    whole = isinstance(levels, tuple) and all(isinstance(x, int) and not isinstance(x, bool) for x in levels)
    if not whole or len(levels) < 2 or tuple(sorted(set(levels))) != levels:
        raise ConfigError(f"rubric {rubric.rubric_id!r}: levels {levels!r}; wanted whole numbers, lowest first")


def is_weight(value: object) -> bool:
    """Whether a value can be a weight: a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def rubrics_of(items: Any) -> tuple[Rubric, ...]:
    """Read the rubrics of a criterion: a list of them, or a mapping id -> text.

    Raises:
        ConfigError: one is not usable, or an id stands twice.
    """
    if isinstance(items, Mapping):
        items = [{"rubric_id": key, "text": text} for key, text in items.items()]
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise ConfigError(f"rubrics: wanted a list, found {type(items).__name__}")
    rubrics = tuple(rubric_of(item) for item in items)
    check_rubrics(rubrics, "rubrics")
    return rubrics


def check_rubrics(rubrics: Sequence[Rubric], where: str) -> None:
    """Refuse rubrics whose ids clash, or whose weights or levels can give no score.

    Raises:
        ConfigError: an id stands twice, a weight or a level is not usable, or no weight is positive.
    """
    for rubric in rubrics:
        _check(rubric)
    names = [rubric.rubric_id for rubric in rubrics]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"{where}: the rubric {twice[0]!r} stands twice; give each its own id")
    if rubrics and all(rubric.weight <= 0 for rubric in rubrics):
        raise ConfigError(f"{where}: no rubric has a positive weight, so there is nothing to reach")


def weigh(metric: str, rubrics: Sequence[Rubric], parts: Sequence[Score], *, floor: float = 1.0) -> Score:
    """Make one score of the verdicts on some rubrics.

    ``sum(weight * verdict)`` over the scored rubrics, divided by the sum of their positive weights, clamped to 0..1;
    a negative weight is a penalty where its property holds.

    Args:
        metric: the metric's name.
        rubrics: what was asked.
        parts: the score of each, in the same order.
        floor: the share of the weight (signs aside) that must have been scored.

    Returns:
        The score. Where some are unscored it has bounds: these at their worst, and at their best. Below the floor it
        is an error, and has its bounds still. Its counts hold the weight and how much of it was scored.

    Raises:
        ConfigError: no weight is positive.

    >>> asked = (Rubric("a", "", 3), Rubric("b", "", 2), Rubric("c", "", 1))
    >>> said = (Score("m", 1.0), Score.failed("m", "no reply"), Score("m", 0.0))
    >>> score = weigh("m", asked, said, floor=0.5)
    >>> score.value, score.bounds
    (0.75, (0.5, 0.8333333333333334))
    """
    pairs = list(zip(rubrics, parts, strict=True))
    scored = [(rubric, part.value) for rubric, part in pairs if part.value is not None]
    lost = [(rubric, part) for rubric, part in pairs if part.value is None]
    total = sum(abs(rubric.weight) for rubric in rubrics)
    covered = sum(abs(rubric.weight) for rubric, _ in scored)
    reachable = sum(max(rubric.weight, 0) for rubric in rubrics)
    if reachable <= 0:
        raise ConfigError(f"{metric}: no rubric has a positive weight, so there is nothing to reach")
    reached = sum(rubric.weight * value for rubric, value in scored)
    counts = {"rubrics": len(pairs), "scored": len(scored), "weight": total, "weight_scored": covered}
    bounds, missing = None, ""
    if lost:
        worst = reached + sum(min(rubric.weight, 0) for rubric, _ in lost)
        best = reached + sum(max(rubric.weight, 0) for rubric, _ in lost)
        bounds = _clamp(worst / reachable), _clamp(best / reachable)
        missing = (
            f"{len(lost)} of {len(pairs)} unscored, coverage {covered / total:.3g} "
            f"({lost[0][0].rubric_id}: {lost[0][1].reason})"
        )
    positive = sum(max(rubric.weight, 0) for rubric, _ in scored)
    if lost and (covered / total < floor - 1e-9 or positive <= 0):
        reason = f"{missing}; the score lies between {bounds[0]:.3f} and {bounds[1]:.3f}" if bounds else missing
        if len(pairs) == 1:
            reason = parts[0].reason
        return Score.failed(metric, reason, counts=counts, parts=tuple(parts), bounds=bounds)
    value = _clamp(reached / positive)
    least, part = min((pair for pair in pairs if pair[1].value is not None), key=_gain)
    reason = f"{_terms(scored)} / {positive:g} = {value:.3f}; {least.rubric_id}: {part.reason}"
    if lost:
        reason += f"; {missing}"
    return Score(metric, value, reason=reason, counts=counts, parts=tuple(parts), bounds=bounds)


def _gain(pair: tuple[Rubric, Score]) -> float:
    """What a verdict adds to the best that its rubric could give: 0 or less."""
    rubric, part = pair
    return rubric.weight * float(part) - max(rubric.weight, 0)


def _terms(scored: Sequence[tuple[Rubric, float]]) -> str:
    terms = [f"{rubric.weight:g} * {value:g}" for rubric, value in scored]
    return f"({' + '.join(terms)})" if len(terms) <= 6 else f"sum of {len(terms)} weighted verdicts"


def _clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)
