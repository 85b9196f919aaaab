"""Inside google-adk (``adk eval``, ``AgentEvaluator``, ``adk web``): its invocations in, its `EvaluationResult` out.

A configuration names a function of this module as the code of a metric. It may be a metric of ADK's, which is then
replaced in place, or one of ours under its own id, or any label whose criterion says which ``metric`` it is::

    {"criteria": {"tool_trajectory_avg_score": {"threshold": 1.0, "ignore_tools": ["transfer_to_agent"]},
                  "order_kept": {"threshold": 0.5, "metric": "trajectory_ordered_subset"}},
     "custom_metrics": {
         "tool_trajectory_avg_score": {"code_config": {"name": "adk_scoring.integrations.adk.score"}},
         "order_kept": {"code_config": {"name": "adk_scoring.integrations.adk.score"}}}}

The keys of a criterion are those of `adk_scoring.Criteria`, and two more for judged metrics: ``judge``, the dotted path
of a judge or of a function from prompt to text (default: `GeminiJudge` of ``judge_model_options.judge_model``), and
``store``, a file for its verdicts. What was skipped or is an error is NOT_EVALUATED, and why stands in the rationale.

`register` puts the same metrics into ADK's registry, for ``adk web``, which reads no configuration of functions.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from adk_scoring import (
    METRICS,
    Case,
    Criteria,
    Criterion,
    GeminiJudge,
    Invocation,
    Judge,
    Score,
    ScoringError,
    ToolCall,
    Turn,
    VerdictStore,
    evaluate_async,
    judge_from,
    read,
)
from adk_scoring.metrics.base import turn_scores

try:
    from google.adk.evaluation.eval_case import get_all_tool_calls
    from google.adk.evaluation.eval_metrics import BaseCriterion, EvalStatus, Interval, MetricInfo, MetricValueInfo
    from google.adk.evaluation.eval_rubrics import RubricScore
    from google.adk.evaluation.evaluator import EvaluationResult, Evaluator, PerInvocationResult
except ImportError as error:
    raise ImportError(
        f"adk_scoring.integrations.adk needs google-adk with its evaluation ({error}): pip install 'adk_scoring[adk]'"
    ) from error

__all__ = ["AdkScoringEvaluator", "evaluator", "register", "score"]

_LOG: Final = logging.getLogger(__name__)
_ADK_JUDGE: Final = "gemini-2.5-flash"
"""Whom ADK asks where a criterion names nobody."""
_AS_ADK_READS: Final = ("tool_trajectory_avg_score", "response_match_score")
"""ADK's own deterministic metrics get what ADK would hand over, so that the same cases give the same numbers: an absent
expectation is one of nothing, thoughts count as text, and parts are joined by a newline. All others get what `read`
makes of an invocation."""


async def score(
    eval_metric: Any,
    actual_invocations: list[Any],
    expected_invocations: list[Any] | None = None,
    conversation_scenario: Any = None,
) -> EvaluationResult:
    """Score a conversation by the criterion of a metric; the function to name in ``code_config``.

    Args:
        eval_metric: ADK's metric: its name is the label, its criterion says threshold, metric and parameters.
        actual_invocations: what the agent did.
        expected_invocations: what was expected of it; ``None`` where there is no reference.
        conversation_scenario: a simulated user's plan; not looked at.

    Returns:
        ADK's result, with exactly one entry for each actual invocation.
    """
    label = eval_metric.metric_name
    try:
        criterion, judge, store = _criterion(eval_metric)
        case = _case(criterion.metric.name, actual_invocations, expected_invocations)
        report = await evaluate_async([case], [criterion], judge=judge, store=store)
        scored = report.rows[0].score
    except ScoringError as error:
        _LOG.error("%s: %s", label, error)
        criterion, scored = None, Score.failed(label, str(error))
    return _result(label, criterion, scored, actual_invocations, expected_invocations)


def evaluator(metric: str) -> Callable[..., Any]:
    """Make a function for ``code_config`` that scores by one metric, whatever its label is in the configuration.

    Args:
        metric: an id in `METRICS`.
    """
    if metric not in METRICS:
        raise ValueError(f"unknown metric {metric!r}; METRICS has them all")

    async def function(
        eval_metric: Any,
        actual_invocations: list[Any],
        expected_invocations: list[Any] | None = None,
        conversation_scenario: Any = None,
    ) -> EvaluationResult:
        named = eval_metric.model_copy(deep=True)
        keys = _keys_of(named)
        named.criterion = BaseCriterion(**{"metric": metric, **keys})
        return await score(named, actual_invocations, expected_invocations, conversation_scenario)

    function.__name__ = function.__qualname__ = metric
    return function


# Under ADK's names, for configurations that read well: adk_scoring.integrations.adk.response_match_score
tool_trajectory_avg_score = evaluator("tool_trajectory_avg_score")
response_match_score = evaluator("response_match_score")
final_response_match_v2 = evaluator("final_response_match_v2")
rubric_based_final_response_quality_v1 = evaluator("rubric_based_final_response_quality_v1")
rubric_based_tool_use_quality_v1 = evaluator("rubric_based_tool_use_quality_v1")
rubric_based_multi_turn_trajectory_quality_v1 = evaluator("rubric_based_multi_turn_trajectory_quality_v1")
hallucinations_v1 = evaluator("hallucinations_v1")
safety_v1 = evaluator("safety_v1")
multi_turn_task_success_v1 = evaluator("multi_turn_task_success_v1")
multi_turn_trajectory_quality_v1 = evaluator("multi_turn_trajectory_quality_v1")
multi_turn_tool_use_quality_v1 = evaluator("multi_turn_tool_use_quality_v1")


class AdkScoringEvaluator(Evaluator):  # type: ignore[misc, unused-ignore]  # a type only where google-adk is installed
    """ADK's evaluator interface over `score`, for its registry.

    Args:
        eval_metric: ADK's metric.
    """

    criterion_type = BaseCriterion

    def __init__(self, eval_metric: Any) -> None:
        self._eval_metric = eval_metric

    async def evaluate_invocations(
        self,
        actual_invocations: list[Any],
        expected_invocations: list[Any] | None = None,
        conversation_scenario: Any = None,
    ) -> EvaluationResult:
        """Score a conversation; see `score`."""
        return await score(self._eval_metric, actual_invocations, expected_invocations, conversation_scenario)


def register(*metrics: str, registry: Any = None) -> tuple[str, ...]:
    """Put metrics of this library into ADK's registry, under their ids; those that ADK has too are replaced.

    Args:
        metrics: ids in `METRICS`; default: all that need no parameter.
        registry: ADK's registry; default: the one that ``adk eval``, ``adk web`` and ``AgentEvaluator`` use.

    Returns:
        The ids that were registered.
    """
    if registry is None:
        registry = importlib.import_module(
            "google.adk.evaluation.metric_evaluator_registry"
        ).DEFAULT_METRIC_EVALUATOR_REGISTRY
    registered = []
    for name in metrics or METRICS:
        try:
            metric = METRICS[name]()
        except TypeError:  # needs a parameter, so its range is not known without one
            if metrics:
                raise
            continue
        low, high = metric.range
        value_info = MetricValueInfo(interval=Interval(min_value=low, max_value=high))
        info = MetricInfo(metric_name=name, description=f"adk_scoring: {name}", metric_value_info=value_info)
        registry.register_evaluator(metric_info=info, evaluator=AdkScoringEvaluator)
        registered.append(name)
    return tuple(registered)


# --- what ADK gives ----------------------------------------------------------------------------------------------


def _keys_of(eval_metric: Any) -> dict[str, Any]:
    """The keys of a metric's criterion as they stand in the configuration."""
    given = eval_metric.criterion
    keys: dict[str, Any] = {} if given is None else given.model_dump(mode="json", exclude_unset=True)
    if keys.get("threshold") is None:
        keys["threshold"] = eval_metric.threshold
    return keys


def _criterion(eval_metric: Any) -> tuple[Criterion, Judge | None, VerdictStore | None]:
    keys = _keys_of(eval_metric)
    path, store = keys.pop("judge", None), keys.pop("store", None)
    criteria = Criteria.of({eval_metric.metric_name: keys}, where="criteria")
    criterion = criteria[eval_metric.metric_name]
    if "judge" not in criterion.metric.needs:
        return criterion, None, None
    judge = _judge(path, getattr(criterion.metric, "judge_model", None))
    return criterion, judge, None if store is None else VerdictStore(store)


def _judge(path: str | None, model: str | None) -> Judge:
    if path is None:
        return GeminiJudge(model or _ADK_JUDGE)
    module, _, name = str(path).rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ScoringError(f"judge {path!r} cannot be imported: {error}") from None
    if isinstance(found, Judge):
        return found
    return judge_from(found, name=str(path))


def _case(metric: str, actual: Sequence[Any], expected: Sequence[Any] | None) -> Case:
    as_adk = metric in _AS_ADK_READS
    run = _read(actual)
    runs = [
        _as_adk_reads(o) if as_adk else replace(s, tool_calls=s.tool_calls or ())
        for o, s in zip(actual, _sides(run), strict=True)
    ]
    wanted = _sides(_read(expected)) if expected else []
    if as_adk and expected:
        wanted = [_as_adk_reads(invocation) for invocation in expected]
    turns = tuple(
        Turn(runs[i] if i < len(runs) else None, (wanted[i],) if i < len(wanted) else ())
        for i in range(max(len(runs), len(wanted)))
    )
    return replace(run, turns=turns)


def _read(invocations: Sequence[Any]) -> Case:
    """Read ADK's invocations as `read` reads an eval case: rubrics, tools and instructions come with them."""
    conversation = [invocation.model_dump(mode="json", exclude_none=True) for invocation in invocations]
    (case,) = read({"eval_id": "conversation", "conversation": conversation}, format="adk_evalset")
    return case


def _sides(case: Case) -> list[Invocation]:
    return [turn.expected[0] for turn in case.turns]


def _as_adk_reads(invocation: Any) -> Invocation:
    parts = (invocation.final_response.parts if invocation.final_response else None) or ()
    calls = get_all_tool_calls(invocation.intermediate_data)
    return Invocation(
        "\n".join(part.text for part in invocation.user_content.parts or () if part.text),
        tuple(ToolCall(call.name or "", call.args or {}) for call in calls),
        "\n".join(part.text for part in parts if part.text),
    )


# --- what ADK gets -----------------------------------------------------------------------------------------------


def _result(
    label: str, criterion: Criterion | None, scored: Score, actual: Sequence[Any], expected: Sequence[Any] | None
) -> EvaluationResult:
    """Write a score as ADK's result; `criterion` is ``None`` where not even that could be made."""
    turns = turn_scores(scored)
    if len(turns) < len(actual):  # of the conversation as a whole: ADK shows that at its last invocation
        why = "scored for the conversation as a whole" if scored.value is not None else scored.reason
        turns = (*(Score.skipped(label, why) for _ in actual[1:]), scored)
    entries = [
        PerInvocationResult(
            actual_invocation=invocation,
            expected_invocation=expected[i] if expected and i < len(expected) else None,
            score=turns[i].value,
            eval_status=_status(criterion, turns[i]),
            rubric_scores=_rationale(label, turns[i]),
        )
        for i, invocation in enumerate(actual)
    ]
    return EvaluationResult(
        overall_score=scored.value,
        overall_eval_status=_status(criterion, scored),
        per_invocation_results=entries,
        overall_rubric_scores=_rationale(label, scored),
    )


def _status(criterion: Criterion | None, scored: Score) -> EvalStatus:
    if criterion is None or scored.value is None:
        return EvalStatus.NOT_EVALUATED
    verdict = criterion.verdict(scored)
    if verdict == "informational":  # without a threshold, which ADK asks for in every configuration
        return getattr(EvalStatus, "INFORMATIONAL", EvalStatus.NOT_EVALUATED)
    return EvalStatus.PASSED if verdict == "passed" else EvalStatus.FAILED


def _rationale(label: str, scored: Score) -> list[RubricScore]:
    """The reason, where ADK has a place for one: as a rubric; of a judged turn, its rubrics as well."""
    reason = scored.reason if scored.value is not None else f"{scored.status}: {scored.reason}"
    rubrics = [RubricScore(rubric_id=label, score=scored.value, rationale=reason)]
    if turn_scores(scored) == (scored,):
        rubrics += [RubricScore(rubric_id=p.label, score=p.value, rationale=p.reason) for p in scored.parts if p.label]
    return rubrics
