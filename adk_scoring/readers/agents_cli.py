"""Google agents-cli datasets, traces and grade results -> cases.

A dataset holds prompts and references, a trace the same cases with ``agent_data`` or ``responses`` filled in, a grade
result the whole dataset with its scores. The envelope is that of an ADK eval set; inside the case they differ. Every
one of several ``responses`` to a prompt is a trial of the case. ``reference_trajectory`` holds the expected calls: a
list of calls for the last turn, or one list a turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..model import Case, Invocation, RecordedScore, Rubric, Tool, ToolCall, Turn
from . import _extra
from ._calls import CallLog
from ._genai import text_of, tools_of
from ._reading import Reading, at, get, known_keys, number, the_list, the_object, the_text
from .adk_events import invocations

__all__ = ["cases", "recognises"]

_SET_KEYS = known_keys("eval_cases", "eval_set_id", "name")
_GRADE_KEYS = known_keys("eval_case_results", "evaluation_dataset", "summary_metrics")
_MARKS = known_keys("eval_case_id", "prompt", "agent_data", "responses")
_OTHERS = known_keys("conversation", "conversation_scenario", "query", "messages")
_CASE_KEYS = known_keys(
    "eval_case_id",
    "eval_id",
    "prompt",
    "responses",
    "reference",
    "reference_trajectory",
    "context",
    "agent_data",
    "rubric_groups",
) | {_extra.KEY}


def recognises(document: Any) -> bool:
    """A dataset, one of its cases, or a grade result."""
    if not isinstance(document, dict):
        return False
    results, found = get(document, "eval_case_results"), get(document, "eval_cases")
    if results is not None:
        return isinstance(results, list) and (
            any(isinstance(item, dict) and get(item, "response_candidate_results") is not None for item in results)
            or (not results and get(document, "evaluation_dataset") is not None)
        )
    if found is not None:
        return isinstance(found, list) and any(isinstance(item, dict) and _is_case(item) for item in found)
    return _is_case(document) and (get(document, "eval_case_id") is not None or get(document, "agent_data") is not None)


def _is_case(item: dict[str, Any]) -> bool:
    return bool(_MARKS & item.keys()) and not _OTHERS & item.keys()


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """One case for every response of every eval case; for a grade result with its scores."""
    record = the_object(document, where)
    if get(record, "eval_case_results") is not None:
        yield from _graded(record, reading, where)
    elif get(record, "eval_cases") is None:
        yield from _candidates(record, reading, where, "", "")
    else:
        set_id, set_name = the_text(get(record, "eval_set_id")), the_text(record.get("name"))
        reading.rest(record, _SET_KEYS, where)
        place = at(where, "eval_cases")
        for i, item in enumerate(the_list(get(record, "eval_cases"), place)):
            yield from _candidates(item, reading, f"{place}[{i}]", set_id, set_name)


def _candidates(item: Any, reading: Reading, where: str, set_id: str, set_name: str) -> Iterator[Case]:
    responses = get(item, "responses") if isinstance(item, dict) else None
    for candidate in range(max(1, len(responses) if isinstance(responses, list) else 0)):
        yield _guarded(item, candidate, reading, where, set_id, set_name)


def _guarded(item: Any, candidate: int, reading: Reading, where: str, set_id: str = "", set_name: str = "") -> Case:
    case_id = _case_id(item, where or reading.stem)
    return reading.case(
        lambda: _case(item, case_id, candidate, reading, where, set_id, set_name),
        case_id=case_id,
        set_id=set_id,
        where=where,
    )


def _case_id(item: Any, otherwise: str) -> str:
    found = isinstance(item, dict) and (get(item, "eval_case_id") or get(item, "eval_id"))
    return the_text(found) if found else otherwise


def _case(item: Any, case_id: str, candidate: int, reading: Reading, where: str, set_id: str, set_name: str) -> Case:
    record = the_object(item, where)
    agent_data = get(record, "agent_data")
    data = {} if agent_data is None else the_object(agent_data, at(where, "agent_data"))
    tools, instructions = _agents(data, at(where, "agent_data"))
    rubrics, importance = _rubrics(get(record, "rubric_groups"), reading, at(where, "rubric_groups"))
    rest = {key: value for key, value in data.items() if key not in ("agents", "turns", "events")}
    metadata = ({"agent_data": rest} if rest else {}) | ({"importance": importance} if importance else {})
    turns = tuple(_turns(record, data, candidate, reading, where))
    trial = 0
    if any(turn.actual for turn in turns):
        trial = reading.trials[set_id, case_id]
        reading.trials[set_id, case_id] += 1
    case = Case(
        case_id,
        turns,
        set_id=set_id,
        set_name=set_name,
        trial=trial,
        rubrics=rubrics,
        tools=tools,
        instructions=instructions,
        context=text_of(record.get("context"), reading, at(where, "context")) or "",
        metadata=metadata | reading.rest(record, _CASE_KEYS, where),
    )
    return _extra.extended(case, record.get(_extra.KEY), at(where, _extra.KEY))


def _turns(record: dict[str, Any], data: dict[str, Any], candidate: int, reading: Reading, where: str) -> list[Turn]:
    said = _conversation(data, reading, at(where, "agent_data"))
    prompt = text_of(record.get("prompt"), reading, at(where, "prompt"))
    answer = _answer(record, candidate, reading, where)
    if not said and (prompt is not None or answer is not None):
        said = [("", None)]
    if not said:
        reading.note("a case without 'prompt' and turns, nothing of it can be scored", where)
        return []
    text, run = said[-1]
    if answer is not None and (run is None or not run.response):
        # A response without a trace says nothing about calls.
        said[-1] = (text, replace(run or Invocation(text), response=answer))
    if not said[0][0] and prompt:
        text, run = said[0]
        said[0] = (prompt, run and replace(run, user_text=prompt))
    calls = _expected_calls(get(record, "reference_trajectory"), len(said), reading, where)
    reference = text_of(_unwrapped(record.get("reference")), reading, at(where, "reference"))
    responses = [None] * (len(said) - 1) + [reference]
    turns = []
    for (text, run), wanted, response in zip(said, calls, responses, strict=True):
        says_something = wanted is not None or response is not None
        # A bare prompt stays as an expectation that says nothing about calls and answer.
        expected = (Invocation(text, wanted, response),) if says_something or run is None else ()
        turns.append(Turn(run, expected))
    return turns


def _answer(record: dict[str, Any], candidate: int, reading: Reading, where: str) -> str | None:
    place = at(where, "responses")
    responses = the_list(get(record, "responses"), place)
    if candidate >= len(responses):
        return None
    return text_of(_unwrapped(responses[candidate]), reading, f"{place}[{candidate}]")


def _unwrapped(item: Any) -> Any:
    """The content of ``{"response": content}``; people also write it bare."""
    return item["response"] if isinstance(item, dict) and "response" in item else item


def _conversation(data: dict[str, Any], reading: Reading, where: str) -> list[tuple[str, Invocation | None]]:
    """What the user said in every turn, and what the agent did, ``None`` where it did not run."""
    turns = data.get("turns")
    place = at(where, "turns")
    if turns is None and data.get("events"):
        turns, place = [data], where
    made = []
    for i, item in enumerate(the_list(turns, place)):
        here = f"{place}[{i}]"
        turn = the_object(item, here)
        events = [_event(event) for event in the_list(turn.get("events"), at(here, "events"))]
        run = next(iter(invocations(events, reading, at(here, "events"))), Invocation())
        run = replace(run, invocation_id=the_text(get(turn, "turn_id")))
        ran = any(isinstance(event, dict) and the_text(event.get("author")).lower() != "user" for event in events)
        made.append((run.user_text, run if ran else None))
    return made


def _event(event: Any) -> Any:
    """An event of ADK's kind; all events of one turn share an id, and some keep their text without a content."""
    if not isinstance(event, dict):
        return event
    content = event.get("content")
    if content is None and event.get("text") is not None:
        content = {"parts": [{"text": event["text"]}]}
    return event | {"invocation_id": "turn", "content": content}


def _agents(data: dict[str, Any], where: str) -> tuple[tuple[Tool, ...] | None, str]:
    """The tools and instructions, from where ADK's ``app_details`` would have them."""
    agents = data.get("agents")
    if not agents:
        return None, ""
    place = at(where, "agents")
    details = {}
    for key, item in the_object(agents, place).items():
        agent = the_object(item, f"{place}.{key}")
        details[key] = {
            "name": get(agent, "agent_id"),
            "instructions": agent.get("instruction"),
            "tool_declarations": agent.get("tools"),
        }
    return tools_of([{"agent_details": details}], place)


def _expected_calls(found: Any, turns: int, reading: Reading, where: str) -> list[tuple[ToolCall, ...] | None]:
    place = at(where, "reference_trajectory")
    nothing = reading.no_expectation
    if found is None:
        return [nothing] * turns
    items = the_list(found, place)
    if not items or not all(item is None or isinstance(item, list) for item in items):
        return [nothing] * (turns - 1) + [_calls(items, reading, place)]
    if len(items) > turns:
        reading.note(f"'reference_trajectory' has {len(items)} lists for {turns} turns, the rest is left out", where)
    lists = [nothing if item is None else _calls(item, reading, f"{place}[{i}]") for i, item in enumerate(items)]
    return (lists + [nothing] * turns)[:turns]


def _calls(items: Any, reading: Reading, where: str) -> tuple[ToolCall, ...]:
    log = CallLog(reading)
    for i, item in enumerate(items):
        log.call(item, where=f"{where}[{i}]")
    return log.calls()


def _rubrics(groups: Any, reading: Reading, where: str) -> tuple[tuple[Rubric, ...], dict[str, Any]]:
    """The rubrics of all groups, and the importance that the file gives them, which carries no weight there."""
    rubrics: list[Rubric] = []
    importance: dict[str, Any] = {}
    for group, body in ({} if groups is None else the_object(groups, where)).items():
        place = f"{where}.{group}"
        items = body.get("rubrics") if isinstance(body, dict) else body
        for i, item in enumerate(the_list(items, place)):
            record = the_object(item, f"{place}[{i}]")
            text = _property(record)
            if not text:
                reading.note("a rubric without a text, left out", f"{place}[{i}]")
                continue
            rubric_id = the_text(get(record, "rubric_id")) or f"{group}_{i}"
            kind = record.get("type")
            rubrics.append(Rubric(rubric_id, text, type=kind if isinstance(kind, str) else None, group=group))
            if record.get("importance") is not None:
                importance[rubric_id] = record["importance"]
    return tuple(rubrics), importance


def _property(rubric: dict[str, Any]) -> str:
    content = rubric.get("content")
    content = content.get("property", content) if isinstance(content, dict) else content
    text = content.get("description") or content.get("text") if isinstance(content, dict) else content
    return the_text(text or rubric.get("description"))


# --- grade results ----------------------------------------------------------------------------------------------


def _graded(record: dict[str, Any], reading: Reading, where: str) -> Iterator[Case]:
    """Every response of every graded case, taken from the dataset in the same file, with its scores."""
    found = get(record, "evaluation_dataset")
    place = at(where, "evaluation_dataset")
    datasets = [
        the_list(get(the_object(dataset, place), "eval_cases"), place)
        for dataset in (found if isinstance(found, list) else [found or {}])
    ]
    reading.rest(record, _GRADE_KEYS, where)
    place = at(where, "eval_case_results")
    for i, item in enumerate(the_list(get(record, "eval_case_results"), place)):
        here = f"{place}[{i}]"
        result = item if isinstance(item, dict) else {}
        index, candidates = get(result, "eval_case_index"), get(result, "response_candidate_results")
        index = index if isinstance(index, int) and not isinstance(index, bool) else i
        for n, candidate in enumerate(candidates if isinstance(candidates, list) and candidates else [None]):
            case = _graded_case(datasets, index, n, reading, here)
            scored = reading.case(
                lambda item=item, candidate=candidate, here=here: Case(  # type: ignore[misc]
                    "", (), recorded=_scores(item, candidate, here)
                ),
                case_id=case.case_id,
                where=here,
            )
            yield replace(case, recorded=scored.recorded, error=case.error or scored.error)


def _graded_case(datasets: list[Any], index: int, candidate: int, reading: Reading, where: str) -> Case:
    """The case that was graded; several datasets are those of several candidates."""
    if len(datasets) > 1 and candidate < len(datasets):
        items, candidate = datasets[candidate], 0
    else:
        items = datasets[0] if datasets else ()
    if 0 <= index < len(items):
        return _guarded(items[index], candidate, reading, f"evaluation_dataset.eval_cases[{index}]")
    reading.note("a graded case that is not in 'evaluation_dataset', only its scores are read", where)
    return Case(f"eval_cases[{index}]", (), trial=candidate, source=(reading.path, where))


def _scores(item: Any, candidate: Any, where: str) -> tuple[RecordedScore, ...]:
    the_object(item, where)
    place = at(where, "response_candidate_results")
    results = get(the_object({} if candidate is None else candidate, place), "metric_results")
    scores: list[RecordedScore] = []
    for name, found in ({} if results is None else the_object(results, place)).items():
        here = f"{place}.metric_results.{name}"
        result = the_object(found, here)
        value, problem = number(result.get("score")), the_text(get(result, "error_message"))
        scores.append(
            RecordedScore(
                name,
                value,
                verdict="not_evaluated" if value is None else None,
                reason=problem or the_text(result.get("explanation")),
            )
        )
        for i, verdict in enumerate(the_list(get(result, "rubric_verdicts"), here)):
            scores.append(_verdict(name, the_object(verdict, f"{here}.rubric_verdicts[{i}]"), i))
    return tuple(scores)


def _verdict(metric: str, record: dict[str, Any], index: int) -> RecordedScore:
    rubric = get(record, "evaluated_rubric")
    rubric = rubric if isinstance(rubric, dict) else {}
    holds = record.get("verdict")
    value = float(holds) if isinstance(holds, bool) else None
    return RecordedScore(
        metric,
        value,
        verdict="not_evaluated" if value is None else "passed" if value else "failed",
        rubric_id=the_text(get(rubric, "rubric_id")) or _property(rubric) or f"rubric_{index}",
        reason=the_text(record.get("reasoning")),
    )
