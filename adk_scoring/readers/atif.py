"""ATIF trajectories (Harbor's Agent Trajectory Interchange Format, v1.0 to v1.8) -> one case each.

Steps copied from an earlier file are passed over. The calls of one step are one parallel group. Embedded trajectories
of subagents are cases of their own, tagged ``subagent``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from typing import Any

from ..model import Case, Invocation, Turn, Usage
from ._declared import declared_tools, total
from ._reading import Reading, at, the_list, the_object, the_text
from ._said import Said, said_all, turns_with_members
from .otel_spans import nanoseconds

__all__ = ["cases", "recognises"]

_KNOWN = frozenset(
    {"schema_version", "session_id", "trajectory_id", "agent", "steps", "subagent_trajectories", "final_metrics"}
)
_ROLES = {"user": "user", "agent": "assistant", "system": "system"}
_DEEPEST = 20


def recognises(document: Any) -> bool:
    """An object whose schema version is ATIF's and that has steps."""
    return (
        isinstance(document, dict)
        and the_text(document.get("schema_version")).upper().startswith("ATIF")
        and "steps" in document
    )


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """The trajectory, then those of its subagents."""
    yield from _cases(document, reading, where, "", 0)


def _cases(document: Any, reading: Reading, where: str, parent: str, depth: int) -> Iterator[Case]:
    record = document if isinstance(document, dict) else {}
    own = the_text(record.get("trajectory_id") or record.get("session_id"))
    case_id = "/".join(part for part in (parent, own or (reading.stem if not parent else str(depth))) if part)
    yield reading.case(lambda: _case(document, case_id, reading, where, depth), case_id=case_id, where=where)
    inner = record.get("subagent_trajectories")
    if isinstance(inner, list) and depth < _DEEPEST:
        for i, each in enumerate(inner):
            place = f"{at(where, 'subagent_trajectories')}[{i}]"
            yield from _cases(each, reading, place, case_id, depth + 1)


def _case(document: Any, case_id: str, reading: Reading, where: str, depth: int) -> Case:
    record = the_object(document, where)
    place = at(where, "steps")
    steps = [
        (f"{place}[{i}]", the_object(item, f"{place}[{i}]"))
        for i, item in enumerate(the_list(record.get("steps"), place))
    ]
    own = [(where, step) for where, step in steps if step.get("is_copied_context") is not True]
    messages = [(where, _message(step, where)) for where, step in own]
    turns = turns_with_members(messages, reading)
    agent = record.get("agent")
    agent = agent if isinstance(agent, dict) else {}
    rest = reading.rest(record, _KNOWN, where)
    return Case(
        case_id,
        tuple([Turn(_told(turn, [own[i][1] for i in members])) for turn, members in turns]),
        tags=("subagent",) if depth else (),
        tools=declared_tools(agent.get("tool_definitions")),
        instructions="\n\n".join(text or "" for text in takewhile(bool, map(_system_text, messages))),
        metadata=({"agent": agent} if agent else {}) | rest,
    )


def _system_text(message: tuple[str, Said]) -> str | None:
    return message[1].text if message[1].role == "system" else None


def _message(step: dict[str, Any], where: str) -> Said:
    role = _ROLES.get(the_text(step.get("source")), the_text(step.get("source")))
    made = said_all({"role": role, "content": step.get("message")})[0]
    calls = the_list(step.get("tool_calls"), at(where, "tool_calls"))
    for i, item in enumerate(calls):
        call = the_object(item, f"{where}.tool_calls[{i}]")
        made.calls.append(
            {
                "id": the_text(call.get("tool_call_id")) or None,
                "name": call.get("function_name"),
                "args": call.get("arguments"),
            }
        )
    observation = step.get("observation")
    results = observation.get("results") if isinstance(observation, dict) else None
    for result in results if isinstance(results, list) else ():
        if not isinstance(result, dict):
            continue
        call_id = the_text(result.get("source_call_id")) or None
        if call_id is None and len(made.calls) == 1 and len(results or ()) == 1:
            call_id = made.calls[0]["id"]
        if call_id is not None:  # else it answers no call: what the terminal showed, say
            made.answers.append({"id": call_id, "name": "", "response": _content(result.get("content")), "error": None})
    return made


def _content(content: Any) -> Any:
    """The text of an observation; a list of parts that are all text is their text."""
    if isinstance(content, list) and content and all(isinstance(p, dict) and p.get("type") == "text" for p in content):
        return "".join(the_text(part.get("text")) for part in content)
    return content


def _told(turn: Invocation, steps: list[dict[str, Any]]) -> Invocation:
    """A turn with the tokens and the time of its steps."""
    metrics = [m for step in steps if isinstance(m := step.get("metrics"), dict)]
    stamps = [stamp for step in steps if (stamp := nanoseconds(step.get("timestamp"))) is not None]
    usage = None
    if metrics:
        usage = Usage(
            input_tokens=total(metrics, "prompt_tokens"),
            output_tokens=total(metrics, "completion_tokens"),
            cached_tokens=total(metrics, "cached_tokens"),
            model_calls=len(metrics),
        )
    duration = (max(stamps) - min(stamps)) / 1e9 if stamps and max(stamps) > min(stamps) else None
    return replace(turn, usage=usage, duration=duration)
