"""Langfuse exports -> one case a session (else a trace), one turn a trace; its scores as recorded ones.

Read are one trace with its observations (``{"trace", "observations"}`` or the web API's trace), lists and pages of
them, and bare lists of observations. An observation that came in through OpenTelemetry keeps its attributes, which
say more than Langfuse's own fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import ReadError
from ..model import Case, RecordedScore
from ._payload import asked_in, said_in
from ._reading import Reading, at, kind_of, number, the_list, the_object, the_text
from ._said import decoded
from ._trace import Step, cases_of
from .otel_meaning import meaning
from .otel_spans import Span, nanoseconds

__all__ = ["cases", "recognises"]

_TYPES = frozenset(
    {
        "SPAN",
        "GENERATION",
        "EVENT",
        "AGENT",
        "TOOL",
        "CHAIN",
        "RETRIEVER",
        "EVALUATOR",
        "EMBEDDING",
        "GUARDRAIL",
    }
)
# Below every real span: what a trace says of itself is used where its observations say nothing.
_LAST = 1 << 30


def recognises(document: Any) -> bool:
    """A trace with observations, a list or page of such, or a list of observations."""
    if isinstance(document, dict):
        observations = document.get("observations")
        if isinstance(observations, list) and ("trace" in document or "id" in document):
            return not observations or any(map(_is_observation, observations))
        data = document.get("data")
        return isinstance(data, list) and bool(data) and recognises(data)
    if isinstance(document, list):
        first = next((item for item in document if isinstance(item, dict)), None)
        return first is not None and (_is_observation(first) or ("observations" in first and recognises(first)))
    return False


def _is_observation(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and str(item.get("type")) in _TYPES
        and bool(item.keys() & {"traceId", "trace_id"})
        and bool(item.keys() & {"startTime", "start_time"})
    )


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """The conversations in the traces; an error case for each observation that cannot be read."""
    steps: list[Step] = []
    for step in _steps(document, where):
        if isinstance(step, ReadError):
            yield reading.error_case(step, case_id=step.location, where=step.location)
        else:
            steps.append(step)
    yield from cases_of(steps, reading)


def _steps(document: Any, where: str) -> Iterator[Step | ReadError]:
    if isinstance(document, dict) and not isinstance(document.get("observations"), list):
        document, where = document.get("data"), at(where, "data")
    if isinstance(document, dict):
        yield from _trace(document, where)
        return
    for i, item in enumerate(the_list(document, where)):
        place = f"{where}[{i}]"
        if isinstance(item, ReadError):
            yield item
        elif not isinstance(item, dict):
            yield ReadError(f"found {kind_of(item)}, wanted a trace or an observation", location=place)
        elif "observations" in item:
            yield from _trace(item, place)
        else:
            yield _step(item, "", place)


def _trace(record: dict[str, Any], where: str) -> Iterator[Step | ReadError]:
    trace = record.get("trace") if isinstance(record.get("trace"), dict) else record
    trace = the_object(trace, where)
    session, trace_id = the_text(trace.get("sessionId")), the_text(trace.get("id"))
    place = at(where, "observations")
    try:
        items = the_list(record.get("observations"), place)
    except ReadError as error:
        yield error
        return
    yield _whole(trace, record, trace_id, session, where)
    for i, item in enumerate(items):
        if isinstance(item, dict):
            yield _step({"traceId": trace_id} | item, session, f"{place}[{i}]")
        else:
            yield ReadError(f"found {kind_of(item)}, wanted an observation", location=f"{place}[{i}]")


def _whole(trace: dict[str, Any], record: dict[str, Any], trace_id: str, session: str, where: str) -> Step:
    """What a trace says of itself, as a span beside its observations."""
    scores = trace.get("scores") or record.get("scores")
    tags = trace.get("tags")
    return Step(
        trace_id=trace_id,
        name=the_text(trace.get("name")),
        kind="chain" if trace.get("input") is not None or trace.get("output") is not None else "",
        start=nanoseconds(trace.get("timestamp")),
        session=session,
        user=the_text(trace.get("userId")),
        asked=asked_in(decoded(trace.get("input"))),
        said=said_in(decoded(trace.get("output"))),
        tags=tuple([tag for tag in tags if isinstance(tag, str)]) if isinstance(tags, list) else (),
        recorded=tuple(_scores(scores)),
        metadata={key: trace[key] for key in ("name", "metadata", "release", "version") if trace.get(key)},
        where=where,
        depth=_LAST,
    )


def _scores(items: Any) -> Iterator[RecordedScore]:
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and item.get("name"):
            value = number(item.get("value"))
            label = item.get("stringValue") if value is None else None
            yield RecordedScore(the_text(item["name"]), value, reason=the_text(item.get("comment") or label))


def _step(item: dict[str, Any], session: str, where: str) -> Step:
    found = decoded(item.get("metadata"))
    metadata: dict[str, Any] = found if isinstance(found, dict) else {}
    attributes = metadata.get("attributes")
    attributes = dict(attributes) if isinstance(attributes, dict) else {}
    kind = the_text(item.get("type")).lower()
    attributes.setdefault("langfuse.observation.type", kind)
    for key, value in (("input", item.get("input")), ("output", item.get("output"))):
        if value is not None:
            attributes[f"langfuse.observation.{key}"] = value
    usage = item.get("usageDetails") or item.get("usage")
    if isinstance(usage, dict):
        attributes.setdefault("gen_ai.usage.input_tokens", usage.get("input"))
        attributes.setdefault("gen_ai.usage.output_tokens", usage.get("output"))
    span = Span(
        the_text(item.get("id")),
        the_text(item.get("parentObservationId") or item.get("parent_observation_id")),
        the_text(item.get("traceId") or item.get("trace_id")),
        the_text(item.get("name")),
        nanoseconds(item.get("startTime") or item.get("start_time")),
        nanoseconds(item.get("endTime") or item.get("end_time")),
        attributes,
        failed=(the_text(item.get("statusMessage")) or "error") if item.get("level") == "ERROR" else None,
        where=where,
    )
    step = meaning(span)
    step.session = session or step.session
    if step.kind == "tool":
        _unwrap(step)
    return step


def _unwrap(step: Step) -> None:
    """Strands' tools: the arguments are the content of a message, the answer is its text."""
    args = step.args
    if isinstance(args, list) and len(args) == 1 and isinstance(args[0], dict) and args[0].get("role") == "tool":
        step.args = decoded(args[0].get("content"))
    result = step.result
    if isinstance(result, dict) and result.keys() <= {"message", "id"} and "message" in result:
        texts = said_in({"role": "assistant", "content": result["message"]})
        step.result = texts[0].text if texts and texts[0].text is not None else result["message"]
