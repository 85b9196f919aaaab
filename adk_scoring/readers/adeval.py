"""ADEval experiments (``.adeval/experiments/*.json``) and its CSV tables -> cases, one question each.

The answer that a case expects is, in ADEval, a keyword for its page and the true tool output for its accuracy judge;
here it is the reference answer. No expected tools (``None``, ``N/A``, ``-`` or nothing) is an expectation of no calls.
On the recorded side ``None`` is no call, ``N/A`` and ``-`` say nothing about calls, and ``Error`` is a request that
failed: the turn is an error. Its scores arrive in `Case.recorded` as ``status``, ``judgeScore`` and ``answerScore``.

A table is read by its column names. One without known names is read by position if ``format="adeval"`` says that it is
one: app name, question, session state, expected tools, expected answer, actual tools, actual answer, status, judge
score, judge explanation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..errors import ReadError
from ..model import Case, Invocation, RecordedScore, Session, ToolCall, Turn
from ._call_text import calls_in_text
from ._document import parse_json
from ._reading import Reading, at, number, the_list, the_object, the_text
from .adk_events import invocations

__all__ = ["cases", "recognises"]

# Field of a test case -> the names of its column in the tables that ADEval reads and writes.
_COLUMNS = {
    "appName": ("App Name", "appName"),
    "q": ("Question", "question", "q"),
    "state": ("Session State", "state"),
    "expectedTools": ("Expected Tools", "expectedTools", "tools"),
    "expectedAnswer": ("Expected Answer", "expectedAnswer", "answer"),
    "actualTools": ("Actual Tools", "actualTools"),
    "actualAnswer": ("Actual Answer", "actualAnswer"),
    "status": ("Status", "status"),
    "judgeScore": ("Judge Score", "judgeScore"),
    "judgeExplanation": ("Judge Explanation", "Judge Reason", "judgeExplanation"),
}
_TELLING = {"Expected Tools", "Actual Tools", "App Name", "expectedTools", "actualTools"}
_EXPERIMENT_KEYS = frozenset({"id", "name", "userId", "apiUrl", "testCases"})
_CASE_KEYS = frozenset(_COLUMNS) | {"rawResponse", "answerScore", "answerExplanation"}
_NO_TOOLS = frozenset({"", "none", "n/a", "-"})
_STATUSES = {"PASS": (1.0, "passed"), "FAIL": (0.0, "failed")}


def recognises(document: Any) -> bool:
    """An experiment, or a row of a table with ADEval's column names."""
    if not isinstance(document, dict):
        return False
    if isinstance(document.get("testCases"), list):
        return True
    return bool(_TELLING & document.keys()) and any(name in document for name in _COLUMNS["q"])


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """One case for every test case of an experiment, or for every row."""
    if isinstance(document, list):
        for i, row in enumerate(document):
            yield from cases(row, reading, at(where, f"[{i}]"))
        return
    record = document if isinstance(document, dict) else {}
    if "testCases" not in record:
        yield _guarded(document, _from_row, {}, reading, where)
        return
    reading.rest(record, _EXPERIMENT_KEYS, where)
    place = at(where, "testCases")
    for i, item in enumerate(the_list(record["testCases"], place)):
        yield _guarded(item, the_object, record, reading, f"{place}[{i}]")


def _guarded(item: Any, as_test: Any, experiment: dict[str, Any], reading: Reading, where: str) -> Case:
    set_id = the_text(experiment.get("id")) or reading.stem
    return reading.case(
        lambda: _case(as_test(item, where), set_id, experiment, reading, where),
        case_id="",
        set_id=set_id,
        where=where,
    )


def _from_row(row: Any, where: str) -> dict[str, Any]:
    """A row of a table as a test case."""
    record = the_object(row, where)
    if not any(name in record for name in _COLUMNS["q"]):
        return dict(zip(_COLUMNS, record.values(), strict=False))
    known = {field: next((name for name in names if name in record), None) for field, names in _COLUMNS.items()}
    rest = {name: value for name, value in record.items() if name not in known.values() and value != ""}
    return rest | {field: record[name] for field, name in known.items() if name is not None}


def _case(test: dict[str, Any], set_id: str, experiment: dict[str, Any], reading: Reading, where: str) -> Case:
    question = the_text(test.get("q"))
    if not question.strip():
        raise ReadError("a test case without a question", location=at(where, "q"))
    wanted = test.get("expectedTools")
    expected = Invocation(
        question,
        None if wanted is None else _expected_calls(_lines(wanted), reading, at(where, "expectedTools")),
        the_text(test.get("expectedAnswer")) or None,
    )
    says_something = expected.tool_calls is not None or expected.response is not None
    run = _run(test, question, reading, where)
    api_url = the_text(experiment.get("apiUrl"))
    return Case(
        question,
        (Turn(run, (expected,) if says_something or run is None else ()),),
        set_id=set_id,
        set_name=the_text(experiment.get("name")),
        session=_session(test, experiment, reading, where),
        recorded=tuple(_scores(test)),
        metadata=({"apiUrl": api_url} if api_url else {}) | reading.rest(test, _CASE_KEYS, where),
    )


def _session(test: dict[str, Any], experiment: dict[str, Any], reading: Reading, where: str) -> Session | None:
    state = test.get("state")
    if isinstance(state, str) and state.strip():
        try:
            state = parse_json(state.encode("utf-8", "surrogatepass"))
        except ReadError:
            state = None
    if state in (None, ""):
        state = {}
    if not isinstance(state, dict) or (not state and the_text(test.get("state")).strip() not in ("", "{}")):
        reading.note("a session state that is no JSON object, read as empty as ADEval does", at(where, "state"))
        state = {}
    session = Session(the_text(test.get("appName")), the_text(experiment.get("userId")), state)
    return session if session != Session() else None


def _run(test: dict[str, Any], question: str, reading: Reading, where: str) -> Invocation | None:
    tools, answer = _lines(test.get("actualTools")).strip(), test.get("actualAnswer")
    answer = None if answer in (None, "") else the_text(answer)
    if not tools and answer is None:
        return None
    if tools.lower() == "error":
        return Invocation(question, None, None, error=f"the request failed: {answer or 'no reason was recorded'}")
    place = at(where, "actualTools")
    calls = None if tools.lower() in ("n/a", "-") else _calls(tools, reading, place)
    events = test.get("rawResponse")
    if isinstance(events, list) and events and calls is not None:
        made = next(iter(_from_events(events, reading, at(where, "rawResponse"))), None)
        if made is not None and [call.name for call in made.tool_calls or ()] == [call.name for call in calls]:
            # The events know ids, answers and steps; which calls count is what ADEval said.
            return replace(made, user_text=question, response=answer, invocation_id="", intermediate_responses=())
        reading.note("'actualTools' holds other calls than 'rawResponse'; they are taken as ADEval has them", place)
    return Invocation(question, calls, answer)


def _lines(tools: Any) -> str:
    """Calls as ADEval writes them, one a line; people also write a list."""
    return "\n".join(map(the_text, tools)) if isinstance(tools, list) else the_text(tools)


def _from_events(events: list[Any], reading: Reading, where: str) -> list[Invocation]:
    try:
        same_turn = [event | {"invocationId": "run"} if isinstance(event, dict) else event for event in events]
        return invocations(same_turn, reading, where)
    except ReadError:
        return []


def _expected_calls(text: str, reading: Reading, where: str) -> tuple[ToolCall, ...] | None:
    if text.strip().lower() == "error":
        reading.note("'Error' as expected tools says nothing about calls", where)
        return None
    return _calls(text, reading, where)


def _calls(text: str, reading: Reading, where: str) -> tuple[ToolCall, ...]:
    calls = []
    if text.strip().lower() in _NO_TOOLS:
        return ()
    for call in calls_in_text(text):
        if call.args == {} and call.name.lower() in _NO_TOOLS:
            continue
        if call.problem:
            reading.note("a call whose arguments could not be read, they count as unknown", where)
        calls.append(ToolCall(call.name, call.args, args_error=call.problem))
    return tuple(calls)


def _scores(test: dict[str, Any]) -> Iterator[RecordedScore]:
    status = _STATUSES.get(the_text(test.get("status")).strip().upper())
    if status:
        yield RecordedScore("status", status[0], verdict=status[1])
    for metric, explanation in (("judgeScore", "judgeExplanation"), ("answerScore", "answerExplanation")):
        score, reason = test.get(metric), the_text(test.get(explanation))
        value = _number_in(score) if isinstance(score, str) else number(score)
        if value is None and isinstance(score, str) and score.strip():
            reason = f"{score}: {reason}" if reason else score
        if value is not None or reason:
            yield RecordedScore(metric, value, reason=reason)


def _number_in(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
