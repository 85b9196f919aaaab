"""Rubrics as configuration writes them, and the weighted mean of their verdicts with coverage and bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import ConfigError
from ..model import Rubric
from .base import Score

__all__ = ["check_rubrics", "rubric_of", "rubrics_of", "weigh"]


def rubric_of(item: Any) -> Rubric:
    """Read one rubric: a `Rubric`, a text, or an object in this library's or ADK's form.

    Args:
        item: ``{"rubric_id", "text", "weight"?, "levels"?}``, or ADK's
            ``{"rubric_id", "rubric_content": {"text_property"}, "type"?}`` in either spelling.

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
    content = item.get("rubric_content", item.get("rubricContent"))
    text = item.get("text")
    if text is None and isinstance(content, Mapping):
        text = content.get("text_property", content.get("textProperty"))
    name = item.get("rubric_id", item.get("rubricId", text))
    if not isinstance(text, str) or not text.strip() or not isinstance(name, str) or not name:
        raise ConfigError(f"a rubric wants rubric_id and text, found {dict(item)!r:.120}")
    weight = item.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or weight != weight:
        raise ConfigError(f"rubric {name!r}: weight {weight!r}; wanted a number")
    return Rubric(name, text, float(weight), _levels(item.get("levels"), name), type=item.get("type"))


def _levels(levels: Any, name: str) -> tuple[int, ...] | None:
    if levels is None:
        return None
    whole = isinstance(levels, list | tuple) and all(isinstance(x, int) and not isinstance(x, bool) for x in levels)
    if not whole or len(levels) < 2 or sorted(set(levels)) != list(levels):
        raise ConfigError(f"rubric {name!r}: levels {levels!r}; wanted whole numbers, lowest first")
    return tuple(levels)


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
    """Refuse rubrics whose ids clash or whose weights can give no score.

    Raises:
        ConfigError: an id stands twice, or no weight is positive.
    """
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
        The score with its bounds: all that is unscored at its worst, and at its best. Below the floor it is an
        error, and has its bounds still.

    >>> asked = (Rubric("a", "", 3), Rubric("b", "", 2), Rubric("c", "", 1))
    >>> said = (Score("m", 1.0), Score.failed("m", "no reply"), Score("m", 0.0))
    >>> score = weigh("m", asked, said, floor=0.5)
    >>> score.value, score.bounds
    (0.75, (0.5, 0.8333333333333334))
    """
    pairs = list(zip(rubrics, parts, strict=True))
    total = sum(abs(rubric.weight) for rubric in rubrics)
    scored = [(rubric, part.value) for rubric, part in pairs if part.value is not None]
    covered = sum(abs(rubric.weight) for rubric, _ in scored)
    reachable = sum(max(rubric.weight, 0) for rubric in rubrics)
    sum_scored = sum(rubric.weight * value for rubric, value in scored)
    lost = [(rubric, part) for rubric, part in pairs if part.value is None]
    worst = sum_scored + sum(min(rubric.weight, 0) for rubric, _ in lost)
    best = sum_scored + sum(max(rubric.weight, 0) for rubric, _ in lost)
    bounds = (_clamp(worst / reachable), _clamp(best / reachable)) if reachable > 0 else None
    counts = {"rubrics": len(pairs), "scored": len(scored), "weight": total, "weight_scored": covered}
    if lost:
        coverage = covered / total if total else 0.0
        missing = f"{len(lost)} of {len(pairs)} rubrics unscored ({lost[0][0].rubric_id}: {lost[0][1].reason})"
        if coverage < floor - 1e-9 or sum(max(rubric.weight, 0) for rubric, _ in scored) <= 0:
            between = f"; the score lies between {bounds[0]:.3f} and {bounds[1]:.3f}" if bounds else ""
            return Score.failed(metric, missing + between, counts=counts, parts=tuple(parts), bounds=bounds)
    positive = sum(max(rubric.weight, 0) for rubric, _ in scored)
    value = _clamp(sum_scored / positive)
    shown = ", ".join(f"{rubric.rubric_id} {value:g}" for rubric, value in scored[:8])
    reason = f"({_terms(scored)}) / {positive:g} = {value:.3f}" if len(scored) <= 6 else f"{shown}, …"
    worst_part = min(scored, key=lambda pair: pair[1] * (1 if pair[0].weight > 0 else -1))[0]
    told = next(part.reason for rubric, part in pairs if rubric is worst_part)
    reason = f"{reason}; {worst_part.rubric_id}: {told}"
    if lost:
        reason += f"; {missing}"
    return Score(metric, value, reason=reason, counts=counts, parts=tuple(parts), bounds=bounds if lost else None)


def _terms(scored: Sequence[tuple[Rubric, float]]) -> str:
    return " + ".join(f"{rubric.weight:g} * {value:g}" for rubric, value in scored)


def _clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)
