"""ADK evaluation results (``*.evalset_result.json``) -> cases with both sides and the scores recorded in them.

Plain and double-encoded, snake_case and camelCase, numeric and named statuses (trpc-agent-go), the oldest lists of
``[metric, result]`` pairs. An id that comes again is another trial of the case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..model import Case, Invocation, RecordedScore, Session, Turn
from ._genai import tools_of
from ._reading import Reading, at, get, known_keys, number, the_list, the_object, the_text
from .adk_evalset import invocation
from .adk_events import invocations

__all__ = ["cases", "recognises"]

_PER_TURN = "eval_metric_result_per_invocation"
_SET_KEYS = known_keys("eval_case_results", "eval_set_id", "eval_set_result_id", "eval_set_result_name")
_CASE_KEYS = known_keys(
    "eval_set_file",
    "eval_set_id",
    "eval_id",
    "final_eval_status",
    "eval_metric_results",
    "overall_eval_metric_results",
    "session_details",
    "user_id",
    _PER_TURN,
)
_STATUSES = {1: "passed", 2: "failed", 3: "not_evaluated", 4: "informational"}
_VERDICTS = {name.replace("_", ""): name for name in _STATUSES.values()}


def recognises(document: Any) -> bool:
    """An object with case results of ADK's kind; agents-cli uses the same key for its own."""
    if not isinstance(document, dict):
        return False
    results = get(document, "eval_case_results")
    if results is None:
        return get(document, _PER_TURN) is not None
    if not isinstance(results, list | tuple):
        return True
    return not any(isinstance(item, dict) and "response_candidate_results" in item for item in results)


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """One case for every case result."""
    record = the_object(document, where)
    set_id = the_text(get(record, "eval_set_id"))
    results = get(record, "eval_case_results")
    if results is None:
        yield _guarded(record, set_id, reading, where)
        return
    reading.rest(record, _SET_KEYS, where)
    for i, item in enumerate(the_list(results, at(where, "eval_case_results"))):
        yield _guarded(item, set_id, reading, at(where, f"eval_case_results[{i}]"))


def _guarded(item: Any, set_id: str, reading: Reading, where: str) -> Case:
    case_id = ""
    if isinstance(item, dict):
        set_id = the_text(get(item, "eval_set_id")) or set_id
        case_id = the_text(get(item, "eval_id"))
    case_id = case_id or where or reading.stem
    trial = reading.trials[set_id, case_id]
    reading.trials[set_id, case_id] += 1
    return reading.case(
        lambda: _case(item, case_id, set_id, trial, reading, where), case_id=case_id, set_id=set_id, where=where
    )


def _case(item: Any, case_id: str, set_id: str, trial: int, reading: Reading, where: str) -> Case:
    record = the_object(item, where)
    place = at(where, _PER_TURN)
    pairs = [the_object(pair, f"{place}[{i}]") for i, pair in enumerate(the_list(get(record, _PER_TURN), place))]
    turns = [_turn(pair, reading, f"{place}[{i}]") for i, pair in enumerate(pairs)]
    turns = _from_session(turns, record, reading, where)
    if not turns:
        reading.note("a case result without turns, nothing of it can be scored", where)
    recorded = _scores(get(record, "overall_eval_metric_results"), None, at(where, "overall_eval_metric_results"))
    recorded += _scores(get(record, "eval_metric_results"), None, at(where, "eval_metric_results"))
    for i, pair in enumerate(pairs):
        recorded += _scores(get(pair, "eval_metric_results"), i, f"{place}[{i}].eval_metric_results")
    actuals = [get(pair, "actual_invocation") for pair in pairs]
    details = (get(actual, "app_details") for actual in actuals if isinstance(actual, dict))
    tools, instructions = tools_of(details, where)
    metadata = reading.rest(record, _CASE_KEYS, where)
    status = _verdict(get(record, "final_eval_status"))
    return Case(
        case_id,
        tuple(turns),
        set_id=set_id,
        trial=trial,
        session=_session(record),
        recorded=tuple(recorded),
        tools=tools,
        instructions=instructions,
        metadata=metadata | {"final_eval_status": status} if status else metadata,
        source=(reading.path, where),
    )


def _turn(pair: dict[str, Any], reading: Reading, where: str) -> Turn:
    actual, expected = get(pair, "actual_invocation"), get(pair, "expected_invocation")
    return Turn(
        None if actual is None else invocation(actual, reading, f"{where}.actual_invocation", recorded=True),
        () if expected is None else (_expected(expected, reading, f"{where}.expected_invocation"),),
    )


def _expected(item: Any, reading: Reading, where: str) -> Invocation:
    return invocation(item, reading, where, recorded=False)


def _from_session(turns: list[Turn], record: dict[str, Any], reading: Reading, where: str) -> list[Turn]:
    """Take the actual side from the session's events where the result lacks it (no metric could be computed)."""
    details = get(record, "session_details")
    if any(turn.actual for turn in turns) or not isinstance(details, dict) or not details.get("events"):
        return turns
    made = invocations(details["events"], reading, at(where, "session_details.events"))
    if turns and len(made) != len(turns):
        reading.note("actual turns are missing and the session has another number of turns, left out", where)
        return turns
    expected = [turn.expected for turn in turns] or [()] * len(made)
    return [Turn(actual, wanted) for actual, wanted in zip(made, expected, strict=True)]


def _session(record: dict[str, Any]) -> Session | None:
    details = get(record, "session_details")
    details = details if isinstance(details, dict) else {}
    app_name, user_id = the_text(get(details, "app_name")), the_text(get(details, "user_id") or get(record, "user_id"))
    # The state in a result is that at the end of the run, no initial state.
    return Session(app_name, user_id) if app_name or user_id else None


def _scores(items: Any, turn: int | None, where: str) -> list[RecordedScore]:
    scores = []
    for i, item in enumerate(the_list(items, where)):
        place = f"{where}[{i}]"
        if isinstance(item, list | tuple):  # the oldest files: a pair of the metric and its result
            merged: dict[str, Any] = {}
            for half in item:
                merged |= the_object(half, place)
            item = merged
        scores += _score(the_object(item, place), turn, place)
    return scores


def _score(record: dict[str, Any], turn: int | None, where: str) -> list[RecordedScore]:
    metric, threshold = the_text(get(record, "metric_name")), number(record.get("threshold"))
    details, criterion = record.get("details"), record.get("criterion")
    details = details if isinstance(details, dict) else {}
    scores = [
        RecordedScore(
            metric,
            number(record.get("score")),
            verdict=_verdict(get(record, "eval_status")),
            threshold=threshold,
            turn=turn,
            reason=_reason(details),
            parameters=criterion if isinstance(criterion, dict) else {},
        )
    ]
    for i, item in enumerate(the_list(get(details, "rubric_scores"), at(where, "details.rubric_scores"))):
        rubric = the_object(item, f"{where}.details.rubric_scores[{i}]")
        rubric_id = the_text(get(rubric, "rubric_id") or rubric.get("id"))
        scores.append(
            RecordedScore(metric, number(rubric.get("score")), turn=turn, rubric_id=rubric_id, reason=_reason(rubric))
        )
    return scores


def _reason(record: dict[str, Any]) -> str:
    return the_text(record.get("rationale") or record.get("reason"))


def _verdict(status: Any) -> str | None:
    """ADK's number, or a name in any spelling (``passed``, ``NOT_EVALUATED``, ``notEvaluated``)."""
    if isinstance(status, str):
        return _VERDICTS.get(status.lower().replace("_", ""))
    return _STATUSES.get(status) if isinstance(status, int) else None
