"""Every metric by its id. A dict literal registers; importing a module changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from .adeval import AXES, AxisMetric
from .answers import ResponseEmbeddingSimilarity, ResponseJson, ResponseNumbers
from .arguments import ToolArgsScore
from .base import Metric
from .conduct import Abstention, ForbiddenTools, ReadOnlyCompliance, ToolCallRate
from .efficiency import InferenceCallCount, InvocationDuration, TokenCost, TokenUsage, ToolCallCount
from .formulas import FORMULAS
from .hallucination import Hallucination
from .inquiries import INQUIRIES
from .judged import JudgedMetric
from .precedence import TrajectoryPrecedence
from .repetition import Loops, RedundantCalls
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
from .validity import FailedCalls, ToolSchemaValidity

__all__ = ["METRICS"]

METRICS: Final[Mapping[str, Callable[..., Metric]]] = {
    **{formula: partial(TrajectoryMetric, formula) for formula in FORMULAS},
    "trajectory_single_tool_use": SingleToolUse,
    "tool_trajectory_avg_score": AdkTrajectory,
    "tool_args_score": ToolArgsScore,
    "trajectory_precedence": TrajectoryPrecedence,
    "tool_call_rate": ToolCallRate,
    "abstention": Abstention,
    "read_only_compliance": ReadOnlyCompliance,
    "forbidden_tools": ForbiddenTools,
    "tool_schema_validity": ToolSchemaValidity,
    "failed_calls": FailedCalls,
    "redundant_calls": RedundantCalls,
    "loops": Loops,
    **{axis: partial(AxisMetric, axis) for axis in AXES},
    "tool_call_count_v1": ToolCallCount,
    "inference_call_count_v1": InferenceCallCount,
    "token_usage_v1": TokenUsage,
    "invocation_duration_v1": InvocationDuration,
    "token_cost": TokenCost,
    "response_exact_match": ResponseExactMatch,
    "response_contains": ResponseContains,
    "response_match_score": AdkResponseMatch,
    **{f"response_{kind}": partial(ResponseRouge, kind) for kind in ("rouge1", "rouge2", "rougeL", "rougeLsum")},
    "response_levenshtein": ResponseLevenshtein,
    "response_jaccard": ResponseJaccard,
    "response_token_f1": ResponseTokenF1,
    "response_numbers": ResponseNumbers,
    "response_json": ResponseJson,
    "response_embedding_similarity": ResponseEmbeddingSimilarity,
    **{inquiry: partial(JudgedMetric, inquiry) for inquiry in INQUIRIES},
    "hallucination": Hallucination,
    "hallucinations_v1": partial(Hallucination, adk=True),
}
