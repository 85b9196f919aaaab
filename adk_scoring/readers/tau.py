"""Results and tasks of tau-bench and tau2-bench -> one case a simulation, with its trial and rewards.

What a task expects is about the whole conversation, so a simulation of such a task is one turn: all that the user
said, all calls of the agent in order, its last answer. A simulation without expected actions is split at what the
user says. Calls of the simulated user are not the agent's. The rewards arrive as recorded scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..model import Case, Invocation, RecordedScore, ToolCall, Turn, Usage, parse_args
from ._declared import total
from ._reading import Reading, at, number, the_list, the_object, the_text
from ._said import Said, as_one, said, turns_of

__all__ = ["cases", "recognises"]

_RUN_KEYS = frozenset({"task_id", "reward", "info", "traj", "trial"})
_SIMULATION_KEYS = frozenset(
    {
        "id",
        "task_id",
        "trial",
        "messages",
        "reward_info",
        "duration",
        "termination_reason",
        "agent_cost",
        "user_cost",
        "seed",
        "timestamp",
        "start_time",
        "end_time",
        "policy",
        "ticks",
        "effect_timeline",
    }
)


def recognises(document: Any) -> bool:
    """A run of tau-bench or a list of them, results of tau2, or a list of its tasks."""
    if isinstance(document, dict):
        if "traj" in document and "task_id" in document:
            return True
        if isinstance(document.get("simulations"), list):
            return True
        return isinstance(document.get("tasks"), list) and isinstance(document.get("info"), dict) and _is_info(document)
    first = next((item for item in document if isinstance(item, dict)), {}) if isinstance(document, list) else {}
    return ("traj" in first and "task_id" in first) or ("id" in first and "user_scenario" in first)


def _is_info(document: dict[str, Any]) -> bool:
    return bool(document["info"].keys() & {"environment_info", "agent_info", "user_info"})


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """The simulations, or the tasks where there are only these."""
    if isinstance(document, dict) and "traj" not in document:
        yield from _results(document, reading, where)
        return
    items = document if isinstance(document, list) else [document]
    for i, item in enumerate(items):
        place = f"{where}[{i}]" if isinstance(document, list) else where
        record = item if isinstance(item, dict) else {}
        named = the_text(record.get("task_id") if "task_id" in record else record.get("id"))
        make = _task_case if "user_scenario" in record else _run_case

        def build(item: Any = item, place: str = place, make: Any = make) -> Case:
            made: Case = make(the_object(item, place), reading, place)
            return made

        yield reading.case(build, case_id=named or place, where=place)


# --- tau-bench ---------------------------------------------------------------------------------------------------


def _run_case(record: dict[str, Any], reading: Reading, where: str) -> Case:
    place = at(where, "traj")
    messages = _messages(record.get("traj"), place)
    info = record.get("info")
    info = info if isinstance(info, dict) else {}
    found = info.get("task")
    task: dict[str, Any] = found if isinstance(found, dict) else {}
    actions = task.get("actions")
    wanted = None
    if isinstance(actions, list):
        wanted = [
            _action(the_object(each, f"{where}.info.task.actions[{i}]"), "kwargs") for i, each in enumerate(actions)
        ]
    metadata = {key: task[key] for key in ("instruction", "outputs", "user_id") if task.get(key)}
    return Case(
        the_text(record.get("task_id")),
        _turns(messages, wanted, reading),
        trial=_trial(record),
        recorded=tuple(_rewards(record.get("reward"), info)),
        instructions=next((m.text for _, m in messages if m.role == "system" and m.text), ""),
        error=the_text(info.get("error")) or None if not messages else None,
        metadata=metadata | reading.rest(record, _RUN_KEYS, where),
    )


def _rewards(reward: Any, info: dict[str, Any]) -> Iterator[RecordedScore]:
    yield _reward(reward)
    found = info.get("reward_info")
    detail = found.get("info") if isinstance(found, dict) else None
    for key in ("r_actions", "r_outputs"):
        if isinstance(detail, dict) and isinstance(detail.get(key), int | float):
            yield RecordedScore(key, float(detail[key]))


def _reward(reward: Any) -> RecordedScore:
    value = number(reward)
    # Both benchmarks count a simulation as solved within this distance of 1.
    verdict = None if value is None else "passed" if abs(value - 1) <= 1e-6 else "failed"
    return RecordedScore("reward", value, verdict=verdict)


# --- tau2-bench --------------------------------------------------------------------------------------------------


def _results(document: dict[str, Any], reading: Reading, where: str) -> Iterator[Case]:
    place = at(where, "simulations")
    simulations = the_list(document.get("simulations"), place)
    tasks = {
        the_text(task.get("id")): task
        for task in (document["tasks"] if isinstance(document.get("tasks"), list) else ())
        if isinstance(task, dict)
    }
    if not simulations:
        reading.warn("results without simulations (they may lie in files of their own), nothing of it is read")
        return
    info = document.get("info")
    environment = info.get("environment_info") if isinstance(info, dict) else None
    domain = the_text(environment.get("domain_name")) if isinstance(environment, dict) else ""
    policy = the_text(environment.get("policy")) if isinstance(environment, dict) else ""
    for i, item in enumerate(simulations):
        spot = f"{place}[{i}]"
        named = the_text(item.get("task_id")) if isinstance(item, dict) else ""

        def build(item: Any = item, spot: str = spot) -> Case:
            record = the_object(item, spot)
            case = _simulation(record, tasks.get(the_text(record.get("task_id")), {}), reading, spot)
            return replace(case, set_id=domain, instructions=case.instructions or policy)

        yield reading.case(build, case_id=named or spot, set_id=domain, where=spot)


def _simulation(record: dict[str, Any], task: dict[str, Any], reading: Reading, where: str) -> Case:
    place = at(where, "messages")
    messages = _messages(record.get("messages"), place)
    turns = _turns(messages, _expected(task, reading, where), reading)
    if len(turns) == 1 and turns[0].actual is not None:
        usage = _usage(record.get("messages"))
        actual = replace(turns[0].actual, usage=usage, duration=number(record.get("duration")))
        turns = (replace(turns[0], actual=actual),)
    reason = the_text(record.get("termination_reason"))
    return Case(
        the_text(record.get("task_id")),
        turns,
        trial=_trial(record),
        recorded=tuple(_checks(record.get("reward_info"), where)),
        instructions=the_text(record.get("policy")),
        metadata=({"termination_reason": reason} if reason else {})
        | _about(task)
        | reading.rest(record, _SIMULATION_KEYS, where),
    )


def _task_case(record: dict[str, Any], reading: Reading, where: str) -> Case:
    scenario = record["user_scenario"]
    instructions = scenario.get("instructions") if isinstance(scenario, dict) else scenario
    text = the_text(record.get("ticket") or instructions)
    wanted = _expected(record, reading, where)
    calls = None if wanted is None else tuple(wanted)
    known = frozenset({"id", "ticket", "evaluation_criteria", "description"})
    return Case(
        the_text(record.get("id")) or where,
        (Turn(None, (Invocation(text, calls),)),),
        metadata=_about(record) | reading.rest(record, known, where),
    )


def _expected(task: dict[str, Any], reading: Reading, where: str) -> list[ToolCall] | None:
    """The agent's actions that a task expects; ``None`` if it says nothing about actions."""
    criteria = task.get("evaluation_criteria")
    actions = criteria.get("actions") if isinstance(criteria, dict) else None
    if not isinstance(actions, list):
        return None
    items = [the_object(action, f"{where}.evaluation_criteria.actions[{i}]") for i, action in enumerate(actions)]
    calls = []
    for action in items:
        if action.get("requestor") == "user":
            continue
        call = _action(action, "arguments")
        compared = action.get("compare_args")
        if isinstance(compared, list) and call.args is not None:
            reading.note("only some arguments of an expected action are compared; use Match(args='subset')", where)
            call = replace(call, args={key: value for key, value in call.args.items() if key in compared})
        calls.append(call)
    return calls


def _action(action: dict[str, Any], key: str) -> ToolCall:
    args, problem = parse_args(action.get(key))
    return ToolCall(the_text(action.get("name")), args, args_error=problem)


def _about(task: dict[str, Any]) -> dict[str, Any]:
    criteria = task.get("evaluation_criteria")
    keys = ("nl_assertions", "communicate_info", "env_assertions")
    return {key: criteria[key] for key in keys if criteria.get(key)} if isinstance(criteria, dict) else {}


def _checks(info: Any, where: str) -> Iterator[RecordedScore]:
    if not isinstance(info, dict):
        return
    yield _reward(info.get("reward"))
    found = info.get("reward_breakdown")
    for name, value in found.items() if isinstance(found, dict) else ():
        yield RecordedScore(name, number(value))
    for key, named, met in (
        ("action_checks", "action", "action_match"),
        ("nl_assertions", "nl_assertion", "met"),
        ("communicate_checks", "info", "met"),
        ("env_assertions", "env_assertion", "met"),
    ):
        for i, item in enumerate(the_list(info.get(key), f"{where}.reward_info.{key}")):
            check = the_object(item, f"{where}.reward_info.{key}[{i}]")
            about, held = check.get(named), check.get(met)
            rubric_id = the_text(about.get("action_id")) if isinstance(about, dict) else ""
            value = float(held) if isinstance(held, bool) else None
            reason = the_text(check.get("justification") or (about if isinstance(about, str) else None))
            yield RecordedScore(key, value, rubric_id=rubric_id or f"{key}[{i}]", reason=reason)


# --- both --------------------------------------------------------------------------------------------------------


def _trial(record: dict[str, Any]) -> int:
    trial = record.get("trial")
    return trial if isinstance(trial, int) and not isinstance(trial, bool) else 0


def _messages(items: Any, where: str) -> list[tuple[str, Said]]:
    """What was said, without the simulated user's own calls and the answers to them."""
    messages = []
    for i, item in enumerate(the_list(items, where)):
        place = f"{where}[{i}]"
        record = the_object(item, place)
        if record.get("requestor") == "user":
            continue
        message = said(record)
        if message is None:
            continue
        if message.role == "user":
            message.calls.clear()
            if message.text is None:
                continue
        for answer in message.answers:
            if isinstance(answer["response"], str) and answer["response"].startswith("Error:"):
                answer["error"] = answer["response"]
        messages.append((place, message))
    return messages


def _turns(messages: list[tuple[str, Said]], wanted: list[ToolCall] | None, reading: Reading) -> tuple[Turn, ...]:
    turns = turns_of(messages, reading)
    if wanted is None:
        return tuple([Turn(turn) for turn in turns])
    asked = "\n\n".join(turn.user_text for turn in turns if turn.user_text)
    expected = Invocation(asked, tuple(wanted))
    if not turns:
        return (Turn(None, (expected,)),)
    return (Turn(as_one(turns), (expected,)),)


def _usage(items: Any) -> Usage | None:
    usages = [
        item["usage"]
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, dict) and item.get("role") == "assistant" and isinstance(item.get("usage"), dict)
    ]
    if not usages:
        return None
    return Usage(
        input_tokens=total(usages, "prompt_tokens"),
        output_tokens=total(usages, "completion_tokens"),
        model_calls=len(usages),
    )
