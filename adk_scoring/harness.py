"""One criterion as the evaluator function that other harnesses call: their row in, key, score and comment out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from .criteria import Criteria, CriteriaLike, Criterion
from .errors import ConfigError, ReadError, ReadWarning, ScoringError
from .evaluation import evaluate
from .metrics.base import Metric
from .model import Case, Invocation, ToolCall, Turn
from .readers import read

if TYPE_CHECKING:
    from .judges import Judge, VerdictStore

__all__ = ["as_evaluator"]

Shape = Literal["key", "explanation", "named"]

# Under which names harnesses and applications keep an answer and a list of calls.
_RESPONSE_KEYS: Final = ("response", "final_response", "output", "answer", "content", "text", "result", "reference")
_CALLS_KEYS: Final = ("calls", "tool_calls", "trajectory", "predicted_trajectory", "reference_trajectory", "tool_uses")
_PREFIXES: Final = ("", "expected_", "actual_", "reference_")
_QUESTION_KEYS: Final = ("user", "user_text", "input", "inputs", "question", "query", "prompt")


def as_evaluator(
    criterion: str | Metric | Criterion | CriteriaLike,
    *,
    returns: Shape = "key",
    judge: Judge | None = None,
    store: VerdictStore | None = None,
) -> Callable[..., dict[str, Any]]:
    """Make an evaluator function of one criterion, for harnesses that call functions.

    It is called with keywords, ``f(outputs=..., reference_outputs=...)`` (LangSmith, openevals; ``output`` and
    ``expected`` or ``expected_output`` likewise: Phoenix, Langfuse, Braintrust), or with one row, ``f(row)`` (Vertex).
    A side is an answer's text; a list of calls, in any form that `ToolCall.of` takes; chat messages; a mapping with
    any of them (``response``, ``calls``, ``messages``); or an `Invocation`. A row is anything that `read` takes for a
    case, or a mapping with both sides under ``outputs`` and ``reference_outputs`` or the other names.

    Args:
        criterion: the name of a metric, a `Metric`, a `Criterion`, or a mapping as for `evaluate` with one entry.
        returns: ``"key"``: ``{"key", "score", "comment"}``; ``"explanation"``: ``{"score", "explanation"}`` (Vertex's
            client, agents-cli); ``"named"``: ``{label: score, "explanation"}`` (Vertex's ``CustomMetric``).
        judge: whom a judged criterion asks.
        store: where its verdicts are kept.

    Returns:
        The function, named after the criterion. Its score is the value, or ``None`` where it was skipped or is an
        error, and the comment says why; it never raises for a row that cannot be scored.

    Raises:
        ConfigError: it is not one criterion.

    >>> f = as_evaluator("trajectory_f1")
    >>> f(outputs={"calls": ["search", "book"]}, reference_outputs={"calls": ["search"]})["score"]
    0.6666666666666666
    >>> f(outputs={"calls": ["search"]}, reference_outputs={})
    {'key': 'trajectory_f1', 'score': None, 'comment': 'skipped: no reference: no expected calls'}
    """
    criteria = _one(criterion)
    if returns not in ("key", "explanation", "named"):
        raise ConfigError(f"returns {returns!r}; wanted 'key', 'explanation' or 'named'")
    label = criteria.labels[0]

    def evaluator(
        row: Any = None,
        *,
        inputs: Any = None,
        outputs: Any = None,
        reference_outputs: Any = None,
        **others: Any,
    ) -> dict[str, Any]:
        given = {"inputs": inputs, "outputs": outputs, "reference_outputs": reference_outputs, **others}
        named = {key: value for key, value in given.items() if value is not None}
        try:
            case = _case(named if row is None else row)
        except (ScoringError, ReadWarning, TypeError) as error:
            value, reason = None, f"error: {error}"
        else:
            score = evaluate([case], criteria, judge=judge, store=store).rows[0].score
            value, reason = score.value, score.reason if score.value is not None else f"{score.status}: {score.reason}"
        if returns == "key":
            return {"key": label, "score": value, "comment": reason}
        return {"score" if returns == "explanation" else label: value, "explanation": reason}

    evaluator.__name__ = evaluator.__qualname__ = label
    evaluator.__doc__ = f"Score a row by {label}."
    return evaluator


def _one(criterion: str | Metric | Criterion | CriteriaLike) -> Criteria:
    if isinstance(criterion, str):
        criteria = Criteria.of({criterion: None})
    elif isinstance(criterion, Metric):
        criteria = Criteria((Criterion(criterion.name, criterion),))
    else:
        criteria = Criteria.of([criterion] if isinstance(criterion, Criterion) else criterion)
    if len(criteria) != 1:
        raise ConfigError(f"an evaluator is one criterion, not {len(criteria)}; make one of each")
    return criteria


_ACTUAL_SIDE: Final = ("outputs", "output", "actual", "predicted")
_EXPECTED_SIDE: Final = ("reference_outputs", "expected_output", "expected_outputs", "expected", "reference", "target")


def _case(row: Any) -> Case:
    """Make a case of what a harness gave.

    Raises:
        ScoringError: it is no case, cannot be read, or has a call that is none.
        TypeError: a side is of a type that says nothing.
    """
    if isinstance(row, Case):
        return row
    actual = _first(row, _ACTUAL_SIDE)
    if actual is None:
        return read(row if isinstance(row, Mapping | list) else [row])[0]
    expected = _first(row, _EXPECTED_SIDE)
    asked = _question(_first(row, _QUESTION_KEYS))
    made, wanted = _turns(actual, "outputs"), _turns(expected, "reference_outputs")
    turns = []
    for index in range(max(len(made), len(wanted))):
        run = made[index] if index < len(made) else None
        side = wanted[index] if index < len(wanted) else None
        text = next((s.user_text for s in (run, side) if s is not None and s.user_text), asked if index == 0 else "")
        turns.append(Turn(run and _asked(run, text), (side,) if side is not None else ()))
    return Case("row", tuple(turns))


def _first(row: Any, keys: tuple[str, ...]) -> Any:
    return next((row[key] for key in keys if row.get(key) is not None), None) if isinstance(row, Mapping) else None


def _asked(run: Invocation, text: str) -> Invocation:
    return run if run.user_text or not text else Invocation(text, run.tool_calls, run.response, error=run.error)


def _question(inputs: Any) -> str:
    found = _first(inputs, _QUESTION_KEYS) if isinstance(inputs, Mapping) else inputs
    return found if isinstance(found, str) else ""


def _turns(side: Any, name: str) -> list[Invocation]:
    """Return the turns of one side: of a conversation in messages several, else one."""
    if side is None or side == {}:
        return []
    if isinstance(side, Invocation):
        return [side]
    if isinstance(side, str):
        return [Invocation(response=side)]
    if isinstance(side, list | tuple):
        if any(isinstance(item, Mapping) and "role" in item for item in side):
            return _of_messages(side)
        return [Invocation(tool_calls=tuple(map(ToolCall.of, side)))]
    if isinstance(side, Mapping):
        if isinstance(side.get("messages"), list | tuple):
            return _of_messages(side["messages"])
        calls = _first(side, tuple(prefix + key for key in _CALLS_KEYS for prefix in _PREFIXES))
        response = _first(side, tuple(prefix + key for key in _RESPONSE_KEYS for prefix in _PREFIXES))
        if calls is not None or isinstance(response, str):
            return [Invocation(tool_calls=_calls(calls), response=response if isinstance(response, str) else None)]
        wanted = f"{', '.join(_CALLS_KEYS[:3])}, {', '.join(_RESPONSE_KEYS[:3])} or messages"
        raise ReadError(f"{name} has the keys {', '.join(map(str, side))}; wanted one of {wanted}")
    raise TypeError(f"{name} is {type(side).__name__} ({side!r:.60}); wanted a text, calls, messages or a mapping")


def _calls(calls: Any) -> tuple[ToolCall, ...] | None:
    if calls is None:
        return None
    if isinstance(calls, str | bytes | Mapping) or not isinstance(calls, list | tuple):
        raise TypeError(f"calls are {type(calls).__name__} ({calls!r:.60}); wanted a list")
    return tuple(map(ToolCall.of, calls))


def _of_messages(messages: Any) -> list[Invocation]:
    dumped = [m.model_dump() if hasattr(m, "model_dump") else m for m in messages]
    (case,) = read({"messages": dumped}, format="messages")
    if case.error is not None:
        raise ScoringError(case.error)
    sides = (turn.actual or next(iter(turn.expected), None) for turn in case.turns)
    return [side for side in sides if side is not None]
