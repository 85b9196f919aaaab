"""Files of the Berkeley Function-Calling Leaderboard, one JSON object a line -> one case each.

Possible answers are expectations: each argument has a list of values that are right, ``""`` among them that it may be
left out; their combinations are the acceptable alternatives, up to a bound. Calls of the parallel categories may come
in any order. Answers of multi-turn tasks are lists of calls as Python text, which is parsed, never run. Results are
runs, score files bring both sides and the verdict, questions what the user says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from typing import Any

from ..errors import ReadError
from ..model import Case, Invocation, RecordedScore, ToolCall, Turn, Usage, parse_args
from ._declared import declared_tools, whole
from ._literal import expression, value_of
from ._reading import Reading, at, json_text, kind_of, number, the_list, the_object, the_text
from ._said import decoded, said_all

__all__ = ["cases", "recognises"]

_KNOWN = frozenset(
    {
        "id",
        "ground_truth",
        "result",
        "question",
        "function",
        "input_token_count",
        "output_token_count",
        "latency",
        "valid",
        "error",
        "model_result_decoded",
        "model_result_raw",
        "model_result",
        "possible_answer",
        "prompt",
        "reasoning_content",
        "inference_log",
    }
)
_MOST = 64  # alternatives of one turn


def recognises(document: Any) -> bool:
    """A line of a file of answers, results, scores or questions; or the head of a score file."""
    if not isinstance(document, dict):
        return False
    if document.keys() >= {"accuracy", "correct_count", "total_count"}:
        return True
    if "id" not in document:
        return False
    truth, question = document.get("ground_truth"), document.get("question")
    return (
        (isinstance(truth, list) and all(map(_is_answer, truth[:20])))
        or (isinstance(question, list) and ("function" in document or "involved_classes" in document))
        or ("result" in document and bool(document.keys() & {"input_token_count", "inference_log", "latency"}))
        or ("valid" in document and bool(document.keys() & {"possible_answer", "model_result_decoded"}))
    )


def _is_answer(item: Any) -> bool:
    """A call with its acceptable arguments, a turn of calls, or a call as text."""
    if isinstance(item, dict):
        return len(item) == 1 and all(isinstance(args, dict) for args in item.values())
    return isinstance(item, list) or (isinstance(item, str) and item.endswith(")"))


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """The one case of a line; none for the head of a score file."""
    record = document if isinstance(document, dict) else {}
    if "id" not in record and "accuracy" in record:
        return
    case_id = the_text(record.get("id")) or where or reading.stem
    yield reading.case(lambda: _case(document, case_id, reading, where), case_id=case_id, where=where)


def _case(document: Any, case_id: str, reading: Reading, where: str) -> Case:
    record = the_object(document, where)
    questions = _questions(record.get("question"))
    truth = record["ground_truth"] if "ground_truth" in record else record.get("possible_answer")
    wanted = None if truth is None else _wanted(truth, case_id, reading, at(where, "ground_truth"))
    made = _made(record, reading, where)
    turns = []
    for i in range(max(len(questions), len(wanted or ()), len(made or ()))):
        text = questions[i] if i < len(questions) else ""
        actual = replace(made[i], user_text=text) if made and i < len(made) else None
        alternatives = wanted[i] if wanted and i < len(wanted) else []
        expected = tuple([Invocation(text, calls) for calls in alternatives])
        if actual is None and not expected:
            expected = (Invocation(text),)
        turns.append(Turn(actual, expected))
    return Case(
        case_id,
        tuple(turns),
        recorded=tuple(_verdict(record)),
        tools=declared_tools(record.get("function")),
        metadata=reading.rest(record, _KNOWN, where),
    )


def _questions(items: Any) -> list[str]:
    """What the user says in each turn."""
    turns = items if isinstance(items, list) else []
    texts = []
    for turn in turns:
        said = [each.text for each in said_all(turn) if each.role == "user" and each.text]
        texts.append("\n\n".join(said))
    return texts


def _wanted(truth: Any, case_id: str, reading: Reading, where: str) -> list[list[tuple[ToolCall, ...]]]:
    """The alternatives of each turn."""
    items = the_list(decoded(truth), where)
    if any(isinstance(item, list) for item in items):
        return [
            [tuple(_text_calls(the_list(turn, f"{where}[{i}]"), reading, f"{where}[{i}]"))]
            for i, turn in enumerate(items)
        ]
    if items and all(isinstance(item, str) for item in items):
        return [[tuple(_text_calls(items, reading, where))]]
    group = "parallel" if "parallel" in case_id else None
    options = [_options(the_object(item, f"{where}[{i}]"), group, f"{where}[{i}]") for i, item in enumerate(items)]
    alternatives = list(islice(product(*options), _MOST + 1))
    if len(alternatives) > _MOST:
        reading.note(f"more than {_MOST} acceptable combinations of values, the first {_MOST} are kept", where)
    return [[*alternatives[:_MOST]]]


def _options(item: dict[str, Any], group: str | None, where: str) -> list[ToolCall]:
    """The acceptable forms of one call, the first values first."""
    if len(item) != 1:
        raise ReadError(f"found {len(item)} keys, wanted one tool with its arguments", location=where)
    ((name, args),) = item.items()
    values = the_object(args, at(where, name))
    choices = [[(key, choice) for choice in _choices(value)] for key, value in values.items()]
    calls = []
    for combination in islice(product(*choices), _MOST + 1):
        known = {key: choice[0] for key, choice in combination if choice}
        call = ToolCall(name, known, group=group)
        if call not in calls:
            calls.append(call)
    return calls


def _choices(values: Any) -> list[tuple[Any, ...]]:
    """The acceptable values of an argument, each in a tuple; the empty tuple leaves the argument out."""
    listed = values if isinstance(values, list) else [values]
    choices: list[tuple[Any, ...]] = []
    for value in listed:
        if value == "" and len(listed) > 1:
            choices.append(())
        else:
            choices += [(form,) for form in _forms(value)]
    # A value that may be left out is listed with its default: the value itself is the first choice.
    return sorted(choices, key=lambda choice: not choice) or [()]


def _forms(value: Any) -> list[Any]:
    """The forms of a value: objects inside hold lists of acceptable values in their turn."""
    if isinstance(value, dict):
        inner = [[(key, choice) for choice in _choices(each)] for key, each in value.items()]
        return [{key: choice[0] for key, choice in form if choice} for form in islice(product(*inner), _MOST)]
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        return [list(form) for form in islice(product(*[_forms(each) for each in value]), _MOST)]
    return [value]


def _made(record: dict[str, Any], reading: Reading, where: str) -> list[Invocation] | None:
    """The turns of a run; ``None`` if the line holds none."""
    keys = ("result", "model_result_decoded", "model_result", "model_result_raw")
    key = next((key for key in keys if record.get(key) is not None), None)
    if key is None:
        return None
    place, result = at(where, key), decoded(record[key])
    if isinstance(result, list) and any(isinstance(turn, list) for turn in result):
        turns = [_run(turn, reading, f"{place}[{i}]") for i, turn in enumerate(result)]
    else:
        turns = [_run([result], reading, place)]
    if len(turns) == 1:
        counts = [whole(record.get(name)) for name in ("input_token_count", "output_token_count")]
        usage = Usage(input_tokens=counts[0], output_tokens=counts[1])
        turns[0] = replace(turns[0], usage=usage if usage != Usage() else None, duration=number(record.get("latency")))
    return turns


def _run(steps: Any, reading: Reading, where: str) -> Invocation:
    """One turn: steps that are calls, as objects or as Python text, or what the model said."""
    calls: list[ToolCall] = []
    texts: list[str] = []
    for step_number, step in enumerate(the_list(steps, where)):
        place = f"{where}[{step_number}]"
        for item in step if isinstance(step, list) else [step]:
            found = _step_calls(item, step_number, reading, place)
            if found is None:
                texts.append(the_text(item))
            else:
                calls += found
    return Invocation(
        "",
        tuple(calls),
        texts[-1] if texts else None,
        intermediate_responses=tuple([("", text) for text in texts[:-1] if text]),
    )


def _step_calls(item: Any, step: int, reading: Reading, where: str) -> list[ToolCall] | None:
    """The calls of one item, ``None`` if it is text that is no call."""
    if isinstance(item, dict):
        made = []
        for name, value in item.items():
            args, problem = parse_args(value)
            if problem:
                reading.note("arguments that are no JSON object, counted as unknown", where)
            made.append(ToolCall(name, args, step=step, args_error=problem))
        return made
    if not isinstance(item, str):
        raise ReadError(f"found {kind_of(item)}, wanted a call or text", location=where)
    nodes = _parsed(item)
    return None if nodes is None else [_text_call(node, item, step) for node in nodes]


def _text_calls(items: Any, reading: Reading, where: str) -> Iterator[ToolCall]:
    for i, item in enumerate(items):
        nodes = _parsed(item) if isinstance(item, str) else None
        if nodes is None:
            raise ReadError(f"found {json_text(item)[:80]}, wanted calls like f(a=1)", location=f"{where}[{i}]")
        for node in nodes:
            call = _text_call(node, item, None)
            if call.args_error:
                reading.note("arguments without names, counted as unknown", f"{where}[{i}]")
            yield call


def _parsed(text: str) -> list[ast.Call] | None:
    """The calls in ``f(a=1)`` or ``[f(a=1), g()]``; ``None`` if the text is something else."""
    tree = expression(text) if text.rstrip().endswith((")", "]")) else None
    if tree is None:
        return None
    nodes = tree.elts if isinstance(tree, ast.List) else [tree]
    calls = [node for node in nodes if isinstance(node, ast.Call) and _name(node.func)]
    return calls if calls and len(calls) == len(nodes) else None


def _name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _text_call(node: ast.Call, text: str, step: int | None) -> ToolCall:
    name = _name(node.func)
    try:
        args = {keyword.arg: value_of(keyword.value) for keyword in node.keywords if keyword.arg}
    except ValueError:
        return ToolCall(name, None, step=step, args_error=f"arguments are no plain values: {text:.80}")
    if node.args or len(args) < len(node.keywords):
        return ToolCall(name, None, step=step, args_error=f"arguments without names: {text:.80}")
    return ToolCall(name, args, step=step)


def _verdict(record: dict[str, Any]) -> Iterator[RecordedScore]:
    valid = record.get("valid")
    if isinstance(valid, bool):
        error = record.get("error")
        reason = "; ".join(map(the_text, error)) if isinstance(error, list) else the_text(error)
        yield RecordedScore("valid", float(valid), verdict="passed" if valid else "failed", reason=reason)
