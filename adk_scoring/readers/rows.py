"""Single rows of other evaluation libraries, one object a case: deepeval, ragas, mlflow, Azure AI Evaluation.

Told apart by their keys. Either side may be there; columns of a CSV export hold JSON text, which is parsed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..model import Case, Invocation, RecordedScore, ToolCall, Turn, parse_args
from ._calls import CallLog
from ._declared import declared_tools
from ._payload import asked_in, said_in
from ._reading import Reading, at, get, json_text, known_keys, number, the_list, the_object, the_text
from ._said import as_one, decoded, said_all, turns_of

__all__ = ["cases", "recognises"]

_IDS = ("case_id", "id", "name", "request_id", "trace_id")
_DEEPEVAL = known_keys(
    "input",
    "actual_output",
    "expected_output",
    "tools_called",
    "expected_tools",
    "context",
    "retrieval_context",
    "metrics_data",
    "success",
    "tags",
    "completion_time",
    *_IDS,
)
_RAGAS = frozenset(
    {"user_input", "response", "reference", "reference_tool_calls", "retrieved_contexts", "reference_contexts", *_IDS}
)
_MLFLOW = frozenset({"inputs", "outputs", "expectations", "request", "response", "tags", *_IDS})
_AZURE = frozenset(
    {
        "query",
        "response",
        "actions",
        "expected_actions",
        "ground_truth",
        "tool_calls",
        "tool_definitions",
        "context",
        *_IDS,
    }
)


def recognises(document: Any) -> bool:
    """A row of one of these libraries, or deepeval's test run with its test cases."""
    return isinstance(document, dict) and (_kind(document) != "" or _is_test_run(document))


def _is_test_run(document: dict[str, Any]) -> bool:
    items = get(document, "test_cases")
    return isinstance(items, list) and any(isinstance(item, dict) and _kind(item) == "deepeval" for item in items)


def _kind(row: dict[str, Any]) -> str:
    keys = row.keys()
    if "input" in keys and keys & known_keys("actual_output", "tools_called", "expected_tools"):
        return "deepeval"
    if "user_input" in keys and keys & {"response", "reference", "reference_tool_calls", "retrieved_contexts"}:
        return "ragas"
    if "inputs" in keys and "expectations" in keys:
        return "mlflow"
    if keys & {"actions", "expected_actions"} or ("query" in keys and keys & {"response", "ground_truth"}):
        return "azure"
    if "ground_truth" in keys and isinstance(row.get("response"), list):
        return "azure"
    return ""


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """The one case of a row; those of a test run."""
    if isinstance(document, dict) and _is_test_run(document):
        key = "testCases" if "testCases" in document else "test_cases"
        items = [(f"{at(where, key)}[{i}]", item) for i, item in enumerate(the_list(document[key], at(where, key)))]
    else:
        items = [(where, document)]
    for place, item in items:
        record = item if isinstance(item, dict) else {}
        named = next((the_text(record[key]) for key in _IDS if record.get(key)), "")

        def build(item: Any = item, place: str = place, named: str = named) -> Case:
            row = the_object(item, place)
            make = _MAKERS.get(_kind(row), _deepeval)
            case = make({key: _cell(value) for key, value in row.items()}, reading, place)
            return replace(case, case_id=named or place or reading.stem)

        yield reading.case(build, case_id=named or place or reading.stem, where=place)


def _cell(value: Any) -> Any:
    """A cell of a table: lists and objects as text are parsed, empty cells and NaN are nothing."""
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, str):
        parsed = decoded(value) if value.lstrip()[:1] in ("{", "[") else value
        return parsed if parsed != "" else None
    return value


def _deepeval(row: dict[str, Any], reading: Reading, where: str) -> Case:
    asked = _text(row.get("input")) or ""
    made, wanted = get(row, "tools_called"), get(row, "expected_tools")
    answer, reference = _text(get(row, "actual_output")), _text(get(row, "expected_output"))
    context = get(row, "retrieval_context") or row.get("context")
    silent = made is None and answer is None
    turn = Turn(
        None if silent else Invocation(asked, _calls(made, reading, where, "tools_called"), answer),
        _reference(asked, wanted, reference, reading, where, "expected_tools"),
    )
    tags = row.get("tags")
    return Case(
        "",
        (turn,),
        context=_joined(context),
        tags=tuple([tag for tag in tags if isinstance(tag, str)]) if isinstance(tags, list) else (),
        recorded=tuple(_metrics(get(row, "metrics_data"))),
        metadata=reading.rest(row, _DEEPEVAL, where),
    )


def _metrics(items: Any) -> Iterator[RecordedScore]:
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and item.get("name"):
            success = item.get("success")
            yield RecordedScore(
                the_text(item["name"]),
                number(item.get("score")),
                verdict={True: "passed", False: "failed"}.get(success) if isinstance(success, bool) else None,
                threshold=number(item.get("threshold")),
                reason=the_text(item.get("reason") or item.get("error")),
            )


def _ragas(row: dict[str, Any], reading: Reading, where: str) -> Case:
    asked, answer, reference = row.get("user_input"), _text(row.get("response")), _text(row.get("reference"))
    wanted = row.get("reference_tool_calls")
    if isinstance(asked, list):
        place = at(where, "user_input")
        messages = [(f"{place}[{i}]", said) for i, item in enumerate(asked) for said in said_all(item)]
        runs = turns_of(messages, reading)
    else:
        runs = [Invocation(_text(asked) or "", (), answer)] if answer is not None else []
    # What ragas expects is about the whole conversation; a reference answer to several turns stands at the last.
    if len(runs) > 1 and wanted is not None:
        runs = [as_one(runs)]
    text = runs[-1].user_text if runs else _text(asked) or ""
    expected = _reference(text, wanted, reference, reading, where, "reference_tool_calls")
    turns = [Turn(run) for run in runs[:-1]] + [Turn(runs[-1] if runs else None, expected)]
    context = row.get("retrieved_contexts") or row.get("reference_contexts")
    return Case("", tuple(turns), context=_joined(context), metadata=reading.rest(row, _RAGAS, where))


def _mlflow(row: dict[str, Any], reading: Reading, where: str) -> Case:
    expectations = row.get("expectations")
    expectations = expectations if isinstance(expectations, dict) else {}
    asked = next((m.text for m in reversed(asked_in(row.get("inputs"))) if m.role == "user" and m.text), "")
    outputs = row.get("outputs")
    said = said_in(outputs)
    calls = [call for message in said for call in message.calls]
    answer = next((m.text for m in reversed(said) if m.text), None)
    if outputs is not None and answer is None and not calls:
        answer = _text(outputs)
    wanted = expectations.get("expected_tool_calls")
    expected = _reference(
        asked, wanted, _text(expectations.get("expected_response")), reading, where, "expectations.expected_tool_calls"
    )
    actual = None if outputs is None else Invocation(asked, _calls(calls, reading, where, "outputs"), answer)
    rest = {k: v for k, v in expectations.items() if k not in ("expected_response", "expected_tool_calls")}
    return Case(
        "",
        (Turn(actual, expected),),
        metadata=({"expectations": rest} if rest else {}) | reading.rest(row, _MLFLOW, where),
    )


def _azure(row: dict[str, Any], reading: Reading, where: str) -> Case:
    asked = next((m.text for m in reversed(asked_in(row.get("query"))) if m.role == "user" and m.text), "")
    made = row.get("response") if row.get("response") is not None else row.get("actions")
    calls, answer = _azure_run(made, reading, where)
    if isinstance(row.get("tool_calls"), list) and not calls:
        calls = _calls(row["tool_calls"], reading, where, "tool_calls")
    truth = row["expected_actions"] if row.get("expected_actions") is not None else row.get("ground_truth")
    actual = None if made is None and row.get("tool_calls") is None else Invocation(asked, calls, answer)
    return Case(
        "",
        (Turn(actual, _azure_truth(truth, asked, reading, where)),),
        tools=declared_tools(row.get("tool_definitions")),
        context=_text(row.get("context")) or "",
        metadata=reading.rest(row, _AZURE, where),
    )


def _azure_run(made: Any, reading: Reading, where: str) -> tuple[tuple[ToolCall, ...], str | None]:
    if not isinstance(made, list):
        return (), _text(made)
    if made and all(isinstance(item, str) for item in made):
        return _calls(made, reading, where, "actions"), None
    place = at(where, "response")
    messages = [(f"{place}[{i}]", said) for i, item in enumerate(made) for said in said_all(item, "assistant")]
    whole = turns_of(messages, reading)
    if not whole:
        return (), None
    run = as_one(whole)
    return run.tool_calls or (), run.response


def _azure_truth(truth: Any, asked: str, reading: Reading, where: str) -> tuple[Invocation, ...]:
    """The expected side: an answer, names of tools, or names with their arguments by name."""
    if truth is None:
        return ()
    if isinstance(truth, list) and len(truth) == 2 and isinstance(truth[0], list) and isinstance(truth[1], dict):
        names, args = truth
        calls = []
        for name in names:
            known, problem = parse_args(args.get(name) if isinstance(name, str) else None)
            calls.append(ToolCall(the_text(name), known, args_error=problem))
        return (Invocation(asked, tuple(calls)),)
    if isinstance(truth, list):
        return (Invocation(asked, _calls(truth, reading, where, "ground_truth")),)
    return (Invocation(asked, None, _text(truth)),)


_MAKERS = {"deepeval": _deepeval, "ragas": _ragas, "mlflow": _mlflow, "azure": _azure}


def _reference(
    asked: str, wanted: Any, answer: str | None, reading: Reading, where: str, key: str
) -> tuple[Invocation, ...]:
    if wanted is None and answer is None:
        return ()
    calls = None if wanted is None else _calls(wanted, reading, where, key)
    return (Invocation(asked, calls, answer),)


def _calls(items: Any, reading: Reading, where: str, key: str) -> tuple[ToolCall, ...]:
    log = CallLog(reading)
    place = at(where, key)
    listed = the_list(items, place)
    if listed and all(isinstance(item, str) for item in listed):
        reading.note("tools by their names alone, arguments unknown; use Match(args='ignore')", place)
        return tuple([ToolCall(name, None) for name in listed])
    for i, item in enumerate(listed):
        spot = f"{place}[{i}]"
        arguments = get(the_object(item, spot), "input_parameters")
        call = {"role": "assistant", "tool_calls": [item if arguments is None else item | {"args": arguments}]}
        (made,) = said_all(call)[0].calls
        log.call(made, where=spot)
        if item.get("output") is not None:
            log.answer({"name": made["name"], "response": item["output"]})
    return log.calls()


def _text(value: Any) -> str | None:
    """A cell as text; digits that a table loader made a number are text again."""
    if value is None or isinstance(value, str):
        return value
    return json_text(value)


def _joined(context: Any) -> str:
    if isinstance(context, list):
        return "\n\n".join(_text(each) or "" for each in context)
    return _text(context) or ""
