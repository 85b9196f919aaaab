"""Inside agents-cli: the dict of an eval case in, a score with its explanation out.

In a file that ``custom_function_file`` of ``eval_config.yaml`` names, one line is enough::

    from adk_scoring.integrations.agents_cli import evaluate

or, for another metric or another rule of matching, `evaluator`::

    evaluate = evaluator({"trajectory_in_order_match": {"match": "subset"}})

The expected calls are the case's ``reference_trajectory``: a list of ``{"tool_name", "tool_input"}``, in a case of
several turns one list for each. Needs nothing but this library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from adk_scoring import Case, Criteria, ReadError, Score, read
from adk_scoring import evaluate as evaluate_cases

__all__ = ["evaluate", "evaluator"]

_TRAJECTORY: Final = (
    "trajectory_f1",
    "trajectory_precision",
    "trajectory_recall",
    "trajectory_exact_match",
    "trajectory_in_order_match",
    "trajectory_any_order_match",
)


def evaluator(criteria: Mapping[str, Any] | Criteria) -> Callable[[Any], dict[str, Any]]:
    """Make an ``evaluate(instance)`` of criteria.

    Args:
        criteria: as for `adk_scoring.evaluate`. The first is the score; all are in the explanation.

    Returns:
        The function. It takes an eval case as a dict and returns ``{"score", "explanation"}``. The score is
        ``None`` where the case lacks what it needs or cannot be read, and the explanation says so.

    Raises:
        ConfigError: the criteria are not usable.

    >>> evaluate = evaluator({"trajectory_recall": None})
    >>> call = {"function_call": {"name": "find", "args": {"city": "Paris"}}}
    >>> events = [{"author": "user", "content": {"parts": [{"text": "Weather?"}]}},
    ...           {"author": "agent", "content": {"role": "model", "parts": [call]}}]
    >>> evaluate({"eval_case_id": "a", "agent_data": {"turns": [{"turn_index": 0, "events": events}]},
    ...           "reference_trajectory": [{"tool_name": "find", "tool_input": {"city": "Paris"}}]})
    {'score': 1.0, 'explanation': 'trajectory_recall 1: 1 of 1 expected calls were made'}
    """
    chosen = Criteria.of(criteria)

    def evaluate(instance: Any) -> dict[str, Any]:
        try:
            case = _case(instance)
        except ReadError as error:
            return {"score": None, "explanation": f"error: {error}"}
        scores = [row.score for row in evaluate_cases([case], chosen).rows]
        if scores[0].value is None:
            return {"score": None, "explanation": f"{scores[0].status}: {scores[0].reason}"}
        labelled = zip(chosen.labels, scores, strict=True)
        return {"score": scores[0].value, "explanation": "; ".join(_words(label, score) for label, score in labelled)}

    return evaluate


def _case(instance: Any) -> Case:
    """Read the case, of several responses the first. What is run locally gets its one response unwrapped."""
    if hasattr(instance, "model_dump"):
        instance = instance.model_dump(mode="json", exclude_none=True)
    if isinstance(instance, Mapping) and "response" in instance and not instance.get("responses"):
        rest = {key: value for key, value in instance.items() if key != "response"}
        instance = {**rest, "responses": [{"response": instance["response"]}]}
    return read({"eval_cases": [instance]}, format="agents_cli")[0]


def _words(label: str, score: Score) -> str:
    value = score.status if score.value is None else f"{score.value:.4g}"
    return f"{label} {value}: {score.reason}"


def evaluate(instance: Any) -> dict[str, Any]:
    """Score the tool calls of an eval case against its ``reference_trajectory``.

    Args:
        instance: the eval case, as agents-cli gives it.

    Returns:
        ``{"score", "explanation"}``: the F1 of the calls, and in the explanation also precision, recall and whether
        they match exactly, in order, or in any order; a score of ``None`` with the reason where nothing is expected.

    >>> evaluate({"eval_case_id": "a", "prompt": {"parts": [{"text": "hi"}]}})["score"] is None
    True
    """
    return evaluator(dict.fromkeys(_TRAJECTORY))(instance)
