"""LangSmith runs -> one case a thread (else a trace), one turn a trace; its feedback as recorded scores.

Read are one run with its ``child_runs``, flat lists of runs, and pages ``{"runs": [...]}``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import ReadError
from ..model import Case, RecordedScore, Usage
from ._declared import whole
from ._literal import literal
from ._payload import asked_in, said_in
from ._reading import Reading, at, json_text, kind_of, number, the_text
from ._said import decoded
from ._trace import Step, cases_of
from .otel_spans import nanoseconds

__all__ = ["cases", "recognises"]

_KINDS = {"tool": "tool", "llm": "model", "chat_model": "model", "chain": "chain", "agent": "agent"}
_THREADS = ("thread_id", "session_id", "conversation_id")
_DEEPEST = 200


def recognises(document: Any) -> bool:
    """A run, a list of runs, or a page of them."""
    if isinstance(document, dict):
        if isinstance(document.get("runs"), list):
            return any(map(_is_run, document["runs"]))
        return _is_run(document)
    return isinstance(document, list) and any(map(_is_run, document[:20]))


def _is_run(item: Any) -> bool:
    return (
        isinstance(item, dict) and isinstance(item.get("run_type"), str) and bool(item.keys() & {"inputs", "outputs"})
    )


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """The conversations in the runs; an error case for each run that cannot be read."""
    if isinstance(document, dict) and isinstance(document.get("runs"), list):
        document, where = document["runs"], at(where, "runs")
    items = document if isinstance(document, list) else [document]
    steps: list[Step] = []
    for i, item in enumerate(items):
        place = f"{where}[{i}]" if isinstance(document, list) else where
        for step in _steps(item, "", "", place, 0):
            if isinstance(step, ReadError):
                yield reading.error_case(step, case_id=step.location, where=step.location)
            else:
                steps.append(step)
    yield from cases_of(steps, reading)


def _steps(item: Any, parent: str, trace: str, where: str, depth: int) -> Iterator[Step | ReadError]:
    if isinstance(item, ReadError):
        yield item
        return
    if not isinstance(item, dict):
        yield ReadError(f"found {kind_of(item)}, wanted a run", location=where)
        return
    if depth > _DEEPEST:
        yield ReadError("the runs are nested too deeply", location=where)
        return
    run_id = the_text(item.get("id")) or where
    trace = the_text(item.get("trace_id")) or trace or run_id
    yield _step(item, run_id, the_text(item.get("parent_run_id")) or parent, trace, where)
    children = item.get("child_runs")
    for i, child in enumerate(children if isinstance(children, list) else ()):
        yield from _steps(child, run_id, trace, f"{at(where, 'child_runs')}[{i}]", depth + 1)


def _step(item: dict[str, Any], run_id: str, parent: str, trace: str, where: str) -> Step:
    inputs, outputs = decoded(item.get("inputs")), decoded(item.get("outputs"))
    extra = item.get("extra")
    metadata = extra.get("metadata") if isinstance(extra, dict) else None
    metadata = metadata if isinstance(metadata, dict) else {}
    tags = item.get("tags")
    step = Step(
        run_id,
        parent,
        trace,
        the_text(item.get("name")),
        _KINDS.get(the_text(item.get("run_type")).lower(), ""),
        nanoseconds(item.get("start_time")),
        nanoseconds(item.get("end_time")),
        session=next((the_text(metadata[key]) for key in _THREADS if metadata.get(key)), ""),
        agent=the_text(metadata.get("langgraph_node")) if item.get("run_type") != "tool" else "",
        error=the_text(item.get("error")) or None,
        tags=tuple([tag for tag in tags if isinstance(tag, str)]) if isinstance(tags, list) and not parent else (),
        recorded=tuple(_feedback(item)),
        where=where,
    )
    if step.kind == "tool":
        step.args, step.unknown = _arguments(inputs), inputs is None
        _result(step, outputs)
    elif step.kind:
        step.asked, step.said = asked_in(inputs), said_in(outputs)
        step.usage = _usage(item)
    return step


def _arguments(inputs: Any) -> Any:
    """The arguments; LangChain writes them as ``{"input": "{'city': 'Paris'}"}``."""
    if isinstance(inputs, dict) and inputs.keys() == {"input"}:
        inner = literal(decoded(inputs["input"]))
        return inner if isinstance(inner, dict) else inputs
    return inputs


def _result(step: Step, outputs: Any) -> None:
    result = outputs["output"] if isinstance(outputs, dict) and outputs.keys() == {"output"} else outputs
    if isinstance(result, dict) and isinstance(result.get("kwargs"), dict):
        result = result["kwargs"]
    if isinstance(result, dict) and "tool_call_id" in result:
        step.call_id = the_text(result["tool_call_id"]) or None
        if result.get("status") == "error":
            step.error = step.error or the_text(result.get("content")) or "error"
        result = result.get("content")
    step.result = result


def _usage(item: dict[str, Any]) -> Usage | None:
    usage = Usage(input_tokens=whole(item.get("prompt_tokens")), output_tokens=whole(item.get("completion_tokens")))
    return usage if usage != Usage() else None


def _feedback(item: dict[str, Any]) -> Iterator[RecordedScore]:
    stats, listed = item.get("feedback_stats"), item.get("feedback")
    for key, value in stats.items() if isinstance(stats, dict) else ():
        if isinstance(value, dict):
            yield RecordedScore(the_text(key), number(value.get("avg")))
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and each.get("key"):
            value = each.get("value")
            reason = each.get("comment") or (value if isinstance(value, str) else json_text(value) if value else "")
            yield RecordedScore(the_text(each["key"]), number(each.get("score")), reason=the_text(reason))
