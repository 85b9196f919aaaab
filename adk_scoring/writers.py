"""Cases -> files that other tools read: ADK eval sets and agents-cli datasets. `read` gives the cases back.

What a format has a place for is written there, for that format's own tools. What it has none for goes to the key
``"adk_scoring"`` of the case, which those tools ignore and `read` uses: optional calls, groups, alternatives, tags,
weights and so on. So a case comes back equal but for its source. `write_jsonl` writes our own records.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import Any

from .errors import ReadWarning
from .model import Case, Turn, cases_of
from .readers import _extra, adk_evalset, agents_cli
from .readers._reading import Reading, known_keys
from .readers.records import write_jsonl

__all__ = ["write_agents_cli", "write_evalset", "write_jsonl"]

_Record = dict[str, Any]

# Metadata under these keys of an eval case would be read as something else.
_EVALSET_KEYS = {_extra.KEY} | known_keys(
    "eval_id", "eval_case_id", "case_id", "id", "conversation", "session_input", "rubrics", "tags"
)
_SESSION_KEYS = known_keys("app_name", "user_id", "state")


def write_evalset(cases: Iterable[Case], path: str | PathLike[str]) -> int:
    """Write the expectations of cases as an ADK eval set.

    Args:
        cases: what is expected. A turn without an expectation is written as its question alone.
        path: the file, ``*.evalset.json``; replaced if it exists. A set that no case names gets its name from it.

    Returns:
        How many cases were written.

    Raises:
        ReadError: a case holds something that is no JSON, such as a date.

    Warns:
        ReadWarning: a case holds a recorded run, which an eval set has no place for; `promote` makes it an expectation.

    >>> import tempfile
    >>> from adk_scoring import Invocation, ToolCall, read
    >>> wanted = Invocation("hi", (ToolCall("greet", optional=True),), "Hello!")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "greetings.evalset.json"
    ...     print(write_evalset([Case("a", (Turn(None, (wanted,)),))], path))
    ...     read(path)[0].turns[0].expected == (wanted,)
    1
    True
    """
    wanted = []
    runs = 0
    for case in cases_of(cases):
        runs += any(turn.actual for turn in case.turns)
        wanted.append(replace(case, turns=tuple([_expectation(turn) for turn in case.turns])))
    if runs:
        warnings.warn(
            f"{Path(path)}: the recorded runs of {runs} of {len(wanted)} cases are not written, an eval set holds "
            "expectations; promote(case) makes a run one, write_jsonl keeps both",
            ReadWarning,
            stacklevel=2,
        )
    return _write(wanted, Path(path), _evalset_case, adk_evalset.cases, named=True)


def write_agents_cli(cases: Iterable[Case], path: str | PathLike[str]) -> int:
    """Write cases as a dataset of agents-cli, or as a trace file where they hold a run.

    Expected calls, for which that format has no field, stand in ``reference_trajectory``: a list of
    ``{"tool_name", "tool_input"}``, in a case of several turns one list for each.

    Args:
        cases: expectations, runs or both.
        path: the file; replaced if it exists.

    Returns:
        How many cases were written.

    Raises:
        ReadError: a case holds something that is no JSON, such as a date.

    >>> import tempfile
    >>> from adk_scoring import Invocation, ToolCall
    >>> wanted = Invocation("hi", (ToolCall("greet", {"loud": True}),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "dataset.json"
    ...     print(write_agents_cli([Case("a", (Turn(None, (wanted,)),))], path))
    ...     json.loads(path.read_bytes())["eval_cases"][0]["reference_trajectory"]
    1
    [{'tool_name': 'greet', 'tool_input': {'loud': True}}]
    """
    return _write(cases_of(cases), Path(path), _agents_cli_case, agents_cli.cases, named=False)


def _expectation(turn: Turn) -> Turn:
    if turn.expected or turn.actual is None:
        return Turn(None, turn.expected)
    return Turn(None, (type(turn.actual)(turn.actual.user_text),))


def _write(
    cases: Sequence[Case],
    path: Path,
    native_case: Callable[[_Record], _Record],
    read_back: Callable[[Any, Reading, str], Iterator[Case]],
    *,
    named: bool,
) -> int:
    """Write each case natively, read it back, and add what is missing under the extra key."""
    set_id = set_name = ""
    envelope: _Record = {}
    if named:  # agents-cli's tools refuse a dataset that says more than its cases
        set_id = next((case.set_id for case in cases if case.set_id), Reading(str(path)).stem)
        set_name = next((case.set_name for case in cases if case.set_name), "")
        envelope = {"eval_set_id": set_id} | ({"name": set_name} if set_name else {})
    items = []
    for case in cases:
        case = replace(case, set_id=case.set_id or set_id, set_name=case.set_name or set_name)
        native = native_case(_extra.long_record(case))
        (back,) = read_back(envelope | {"eval_cases": [native]}, Reading(""), "")
        extra = _extra.extra_of(case, back)
        items.append(native | {_extra.KEY: extra} if extra else native)
    text = json.dumps(envelope | {"eval_cases": items}, ensure_ascii=False, indent=2, allow_nan=False)
    try:
        content = text.encode()
    except UnicodeEncodeError:  # a lone surrogate can only be written as an escape
        content = json.dumps(envelope | {"eval_cases": items}, indent=2, allow_nan=False).encode()
    path.write_bytes(content + b"\n")
    return len(items)


# --- ADK --------------------------------------------------------------------------------------------------------


def _evalset_case(record: _Record) -> _Record:
    metadata = dict(record.get("metadata", {}))
    # The id of a run's session is not written there: ADK would put every later run into that one session.
    session = {key: value for key, value in record.get("session", {}).items() if key != "session_id"}
    rest = metadata.get("session_input")
    if isinstance(rest, dict) and not rest.keys() & _SESSION_KEYS:  # else it would be read as the session itself
        session = rest | session
    out: _Record = {"eval_id": record["case_id"]}
    # A scenario has a plan in the place of turns.
    if record["turns"] or metadata.get("conversation_scenario") is None:
        metadata.pop("conversation_scenario", None)
        out["conversation"] = [_evalset_turn(turn) for turn in record["turns"]]
    if session:
        out["session_input"] = {"app_name": "", "user_id": "", **session}
    if record.get("rubrics"):
        out["rubrics"] = _adk_rubrics(record["rubrics"])
    return out | {key: value for key, value in metadata.items() if key not in _EVALSET_KEYS}


def _evalset_turn(turn: _Record) -> _Record:
    side: _Record = next(iter(turn["expected"]), {})
    out: _Record = {"invocation_id": side.get("invocation_id", ""), "user_content": _content(side.get("user"), "user")}
    if side.get("response") is not None:
        out["final_response"] = _content(side["response"], "model")
    data: _Record = {}
    if side.get("calls") is not None:
        data["tool_uses"] = [_function_call(call) for call in side["calls"]]
        answers = [_function_response(call) for call in side["calls"] if isinstance(call.get("response"), dict)]
        data |= {"tool_responses": answers} if answers else {}
    if side.get("intermediate_responses"):
        data["intermediate_responses"] = [[author, [{"text": text}]] for author, text in side["intermediate_responses"]]
    if data:
        out["intermediate_data"] = data
    if side.get("rubrics"):
        out["rubrics"] = _adk_rubrics(side["rubrics"])
    return out


def _content(text: Any, role: str) -> _Record:
    return {"role": role, "parts": [{"text": text or ""}]}


def _function_call(call: _Record) -> _Record:
    return {**_call_id(call), "name": call["name"], "args": call.get("args", {})}


def _function_response(call: _Record) -> _Record:
    return {**_call_id(call), "name": call["name"], "response": call["response"]}


def _call_id(call: _Record) -> _Record:
    return {"id": call["call_id"]} if call.get("call_id") else {}


def _adk_rubrics(rubrics: list[_Record]) -> list[_Record]:
    return [
        {"rubric_id": rubric["rubric_id"], "rubric_content": {"text_property": rubric["text"]}}
        | ({"type": rubric["type"]} if rubric.get("type") else {})
        for rubric in rubrics
    ]


# --- agents-cli -------------------------------------------------------------------------------------------------


def _agents_cli_case(record: _Record) -> _Record:
    turns = record["turns"]
    out: _Record = {"eval_case_id": record["case_id"]}
    if len(turns) == 1:
        out["prompt"] = _content(_user_text(turns[0]), "user")
    agents = _agents(record)
    if len(turns) > 1 or agents or any(turn["actual"] is not None for turn in turns):
        events = [{"turn_index": i, **_agents_cli_turn(turn)} for i, turn in enumerate(turns)]
        out["agent_data"] = {"agents": agents, "turns": events}
    expected: list[_Record] = [next(iter(turn["expected"]), {}) for turn in turns]
    if any(side.get("calls") is not None for side in expected):
        lists = [_trajectory(side.get("calls")) for side in expected]
        out["reference_trajectory"] = lists if len(lists) > 1 else lists[0]
    if expected and expected[-1].get("response") is not None:
        out["reference"] = {"response": _content(expected[-1]["response"], "model")}
    if record.get("context"):
        out["context"] = record["context"]
    groups: dict[str, list[_Record]] = {}
    for rubric in record.get("rubrics", ()):
        written = {"rubric_id": rubric["rubric_id"], "content": {"property": {"description": rubric["text"]}}}
        written |= {"type": rubric["type"]} if rubric.get("type") else {}
        groups.setdefault(rubric.get("group", "rubrics"), []).append(written)
    if groups:
        out["rubric_groups"] = {name: {"rubrics": rubrics} for name, rubrics in groups.items()}
    return out


def _user_text(turn: _Record) -> str:
    sides = [turn["actual"] or {}, *turn["expected"]]
    return next((text for side in sides if (text := side.get("user"))), "")


def _trajectory(calls: list[_Record] | None) -> list[_Record] | None:
    if calls is None:
        return None
    return [{"tool_name": call["name"], "tool_input": call.get("args", {})} for call in calls]


def _agents_cli_turn(turn: _Record) -> _Record:
    side = turn["actual"]
    events = [{"author": "user", "content": _content(_user_text(turn), "user")}]
    if side is None:
        return {"events": events}
    for author, text in side.get("intermediate_responses", ()):
        events.append({"author": author, "content": _content(text, "model")})
    calls = side.get("calls") or []
    for _, group in groupby(enumerate(calls), key=lambda item: item[1].get("step", -1 - item[0])):
        together = [call for _, call in group]
        parts = [{"function_call": _function_call(call)} for call in together]
        events.append({"author": together[0].get("author") or "agent", "content": {"role": "model", "parts": parts}})
        answers = [
            {"function_response": _function_response(call)}
            for call in together
            if isinstance(call.get("response"), dict)
        ]
        if answers:
            events.append({"author": "tool", "content": {"role": "user", "parts": answers}})
    if side.get("response") is not None or len(events) == 1:
        author = next((call["author"] for call in reversed(calls) if call.get("author")), "agent")
        events.append({"author": author, "content": _content(side.get("response"), "model")})
    turn_id = side.get("invocation_id")
    return ({"turn_id": turn_id} if turn_id else {}) | {"events": events}


def _agents(record: _Record) -> _Record:
    """The declared tools and the instructions, by agent; instructions without an agent are those of ``agent``."""
    agents: dict[str, _Record] = {}
    for tool in record.get("tools", ()):
        name = tool.get("agent") or "agent"
        agent = agents.setdefault(name, {"agent_id": name, "tools": [{"function_declarations": []}]})
        declared = {"name": tool["name"], "description": tool.get("description", "")}
        declared |= {"parameters_json_schema": tool["parameters"]} if tool.get("parameters") is not None else {}
        agent["tools"][0]["function_declarations"].append(declared)
    if record.get("instructions"):
        first = next(iter(agents), "agent")
        agents.setdefault(first, {"agent_id": first})["instruction"] = record["instructions"]
    return agents
