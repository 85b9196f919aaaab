"""Metrics: `METRICS` names each one and what makes it; a criterion's parameters are its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from .base import Metric, Prompt, Reply, Score, Scores
from .formulas import FORMULAS
from .trajectory import AdkTrajectory, SingleToolUse, TrajectoryMetric

__all__ = ["METRICS", "Metric", "Prompt", "Reply", "Score", "Scores"]

METRICS: Final[Mapping[str, Callable[..., Metric]]] = {
    **{formula: partial(TrajectoryMetric, formula) for formula in FORMULAS},
    "trajectory_single_tool_use": SingleToolUse,
    "tool_trajectory_avg_score": AdkTrajectory,
}
