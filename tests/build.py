"""Short ways to build cases, and hypothesis strategies of cases with everything that JSON text can hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from adk_scoring import Case, Criteria, Criterion, Invocation, Metric, Report, Score, ToolCall, Turn, evaluate
from adk_scoring.evidence import Evidence
from adk_scoring.metrics.base import Reply, Scores


def calls(*names: Any) -> tuple[ToolCall, ...]:
    """Calls from names or (name, args) pairs."""
    return tuple(ToolCall.of(name) for name in names)


def said(text: str = "q", *names: Any, response: str | None = None, **more: Any) -> Invocation:
    """One side of a turn with calls."""
    return Invocation(text, calls(*names), response, **more)


def turn(made: Sequence[Any] | None, wanted: Sequence[Any] | None, text: str = "q") -> Turn:
    """A turn with the calls made and expected; ``None``: that side is not there."""
    return Turn(
        None if made is None else said(text, *made),
        () if wanted is None else (said(text, *wanted),),
    )


def case(*turns: Turn, case_id: str = "c", **more: Any) -> Case:
    return Case(case_id, turns, **more)


GOOD = turn(["search"], ["search"])
BAD = turn(["look"], ["search"])


def runs(case_id: str, *texts: str, ids: Sequence[str] = (), **more: Any) -> Case:
    """A recorded run that says `texts`, each turn with a call named after it."""
    named = ids or [""] * len(texts)
    turns = [Turn(said(text, text or "none", invocation_id=i)) for text, i in zip(texts, named, strict=True)]
    return Case(case_id, tuple(turns), **more)


def wants(case_id: str, *texts: str, ids: Sequence[str] = (), **more: Any) -> Case:
    """An expectation for `texts`, each turn with a call named after it."""
    named = ids or [""] * len(texts)
    turns = [Turn(None, (said(text, text or "none", invocation_id=i),)) for text, i in zip(texts, named, strict=True)]
    return Case(case_id, tuple(turns), **more)


@dataclass(frozen=True)
class Given(Metric):
    """A metric that gives what a case's metadata says: a number, ``None`` (skipped), a text (raised), or anything."""

    lower_is_better: bool = False
    bounds: tuple[float, float] = (0.0, 1.0)

    name = "given"

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return self.bounds

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]
        return not self.lower_is_better

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        value = Evidence.of(evidence).case.metadata["given"]
        if value is None:
            return Score.skipped(self.name, "nothing given")
        if isinstance(value, str):
            raise ValueError(value)
        return Score(self.name, value, reason="as given") if isinstance(value, float) else value


def given(value: Any, case_id: str = "c", **more: Any) -> Case:
    """A case that `Given` scores with `value`."""
    return Case(case_id, (GOOD,), metadata={"given": value, **more.pop("metadata", {})}, **more)


def report_of(*columns: Sequence[Any], threshold: float | None = 0.5, trials: Sequence[int] = ()) -> Report:
    """A report with a criterion ``a``, ``b``, ... for each column of numbers, ``None`` (skipped) and texts (errors)."""
    size = len(columns[0])
    cases = [Case(f"case{i}", (GOOD,), trial=trials[i] if trials else 0) for i in range(size)]
    criteria = Criteria(tuple(Criterion("abcdef"[i], Given(), threshold) for i in range(len(columns))))
    made = []
    for values in columns:
        column = Scores(Given())
        for value in values:
            if value is None:
                column.append(Score.skipped("given", "nothing given"))
            elif isinstance(value, str):
                column.append(Score.failed("given", value))
            else:
                column.append(Score("given", value, reason="as given"))
        made.append(column)
    return Report(cases, criteria, made)


def scored(one: Case, metric: str = "trajectory_recall", **parameters: Any) -> Score:
    """The score of one case by one metric."""
    return evaluate([one], {"x": {"metric": metric, **parameters}}).rows[0].score


# --- strategies --------------------------------------------------------------------------------------------------

# Every code point, lone surrogates too.
texts = st.text(st.characters(exclude_categories=()), max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)
tool_calls = st.builds(
    ToolCall,
    st.sampled_from(["a", "b", "查询"]),
    st.none() | json_objects,
    call_id=st.none() | texts,
    step=st.none() | st.integers(0, 2),
)
invocations = st.builds(
    Invocation,
    texts,
    st.none() | st.lists(tool_calls, max_size=3).map(tuple),
    st.none() | texts,
    error=st.none() | st.just("broke"),
    metadata=json_objects,
)
turns = st.builds(Turn, st.none() | invocations, st.lists(invocations, max_size=2).map(tuple))
cases = st.builds(
    Case,
    texts,
    st.lists(turns, max_size=3).map(tuple),
    set_id=texts,
    trial=st.integers(0, 3),
    tags=st.lists(texts, max_size=2).map(tuple),
    error=st.none() | texts.filter(bool),
    metadata=json_objects,
    source=st.tuples(texts, texts),
)
