"""Metrics: `METRICS` names each one and what makes it; a criterion's parameters are its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from .base import Metric, Prompt, Reply, Score, Scores
from .formulas import FORMULAS
from .hallucination import Hallucination
from .inquiries import INQUIRIES
from .judged import JudgedMetric
from .response import (
    AdkResponseMatch,
    ResponseContains,
    ResponseExactMatch,
    ResponseJaccard,
    ResponseLevenshtein,
    ResponseRouge,
    ResponseTokenF1,
)
from .trajectory import AdkTrajectory, SingleToolUse, TrajectoryMetric

__all__ = ["METRICS", "Metric", "Prompt", "Reply", "Score", "Scores"]

METRICS: Final[Mapping[str, Callable[..., Metric]]] = {
    **{formula: partial(TrajectoryMetric, formula) for formula in FORMULAS},
    "trajectory_single_tool_use": SingleToolUse,
    "tool_trajectory_avg_score": AdkTrajectory,
    "response_exact_match": ResponseExactMatch,
    "response_contains": ResponseContains,
    "response_match_score": AdkResponseMatch,
    **{f"response_{kind}": partial(ResponseRouge, kind) for kind in ("rouge1", "rouge2", "rougeL", "rougeLsum")},
    "response_levenshtein": ResponseLevenshtein,
    "response_jaccard": ResponseJaccard,
    "response_token_f1": ResponseTokenF1,
    **{inquiry: partial(JudgedMetric, inquiry) for inquiry in INQUIRIES},
    "hallucination": Hallucination,
    "hallucinations_v1": partial(Hallucination, adk=True),
}
