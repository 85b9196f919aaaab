"""Reports made of plain lists of values, for tests that are about what comes after scoring."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from adk_scoring import Case, Criterion, Invocation, Metric, Reply, Report, Score, ToolCall, Turn, evaluate
from adk_scoring.evidence import Evidence


@dataclass(frozen=True)
class Given(Metric):
    """The value that a case's metadata has for a label: a number, ``None`` (skipped) or a text (an error)."""

    label: str

    @property
    def name(self) -> str:
        return self.label

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        value = Evidence.of(evidence).case.metadata[self.label]
        if value is None:
            return Score.skipped(self.name, "nothing to score")
        if isinstance(value, str):
            return Score.failed(self.name, value)
        return Score(self.name, float(value), reason=f"given: {value}")


@dataclass(frozen=True)
class Milliseconds(Given):
    """A value without an upper end, of which less is better."""

    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    higher_is_better: ClassVar[bool] = False


@dataclass(frozen=True)
class Share(Given):
    """A share of which less is better."""

    higher_is_better: ClassVar[bool] = False


Value = float | str | None


def report_of(
    columns: Mapping[Any, Sequence[Value]],
    *,
    threshold: float | None = None,
    ids: Sequence[str] = (),
    trials: Sequence[int] = (),
    asked: Sequence[str] = (),
    set_id: str = "",
    tags: Sequence[tuple[str, ...]] = (),
) -> Report:
    """A report whose scores are the given values, one case a place; a key of `columns` is a label or a `Given`."""
    metrics = [label if isinstance(label, Given) else Given(label) for label in columns]
    count = len(next(iter(columns.values())))
    cases = [
        Case(
            ids[i] if ids else f"case {i}",
            (
                Turn(
                    Invocation("q", (ToolCall("find"),), "ran"),
                    (Invocation(asked[i] if asked else f"question {ids[i] if ids else i}", (ToolCall("find"),)),),
                ),
            ),
            trial=trials[i] if trials else 0,
            set_id=set_id,
            tags=tags[i] if tags else (),
            metadata={metric.label: values[i] for metric, values in zip(metrics, columns.values(), strict=True)},
        )
        for i in range(count)
    ]
    return evaluate(cases, [Criterion(metric.label, metric, threshold) for metric in metrics])
