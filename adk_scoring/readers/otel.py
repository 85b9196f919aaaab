"""OpenTelemetry traces -> one case a conversation (else a trace), one turn a trace or agent invocation.

Which containers are read says `otel_spans`, which conventions `otel_meaning`, how turns and calls come about `_trace`.
Arguments of calls whose content was not captured are unknown, not empty. Thoughts are left out where they are marked;
the messages of ADK's second schema do not mark them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import ReadError
from ..model import Case
from ._reading import Reading
from ._trace import Step, cases_of
from .otel_meaning import app_of, meaning
from .otel_spans import Span, looks_like_spans, spans_of

__all__ = ["cases", "recognises"]


def recognises(document: Any) -> bool:
    """A container of spans, a list of such, or a list of spans."""
    return looks_like_spans(document)


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """The conversations in the spans; an error case for each span that cannot be read."""
    spans: list[Span] = []
    for span in spans_of(document, where):
        if isinstance(span, ReadError):
            yield reading.error_case(span, case_id=span.location, where=span.location)
        else:
            spans.append(span)
    uncaptured = _uncaptured(spans)
    steps = []
    for span in spans:
        step = meaning(span)
        step.app = app_of(span.resource)
        if step.trace_id in uncaptured and step.kind == "tool":
            _forget(step, span)
        steps.append(step)
    yield from cases_of(steps, reading)


_CONTENT = tuple(
    [f"gcp.vertex.agent.{key}" for key in ("llm_request", "llm_response", "tool_call_args", "tool_response")]
)
_LEFT_OUT: tuple[Any, ...] = (None, "", "{}", "null", "N/A", {})


def _uncaptured(spans: list[Span]) -> set[str]:
    """The traces of ADK's first schema whose content was not captured: it writes ``{}`` for what it leaves out."""
    told: set[str] = set()
    captured: set[str] = set()
    for span in spans:
        values = [span.attributes[key] for key in _CONTENT if key in span.attributes]
        if values:
            told.add(span.trace_id)
        if any(value not in _LEFT_OUT for value in values):
            captured.add(span.trace_id)
    return told - captured


def _forget(step: Step, span: Span) -> None:
    """Make the arguments and the answer unknown that stand there as ``{}``."""
    if "gen_ai.tool.call.arguments" not in span.attributes and step.args in _LEFT_OUT:
        step.args, step.unknown, step.result = None, True, None
