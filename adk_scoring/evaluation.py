"""Cases x criteria -> `Report`. The one place where metrics meet cases; one bad case never stops the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice

from .criteria import ADK_DEFAULT, Criteria, CriteriaLike
from .errors import ScoringError
from .evidence import Evidence
from .metrics.base import Metric, Scores, score_safely
from .model import Case
from .pairing import Pairing
from .report import Report

__all__ = ["evaluate", "rescore"]

_CHUNK = 256
"""Cases whose evidence is alive at once: enough to share work in bulk, few enough to stay in the cache."""


def evaluate(cases: Pairing | Iterable[Case], criteria: CriteriaLike | None = None) -> Report:
    """Score cases by criteria.

    Args:
        cases: what `pair` returned, or cases that hold both sides. An expected case without a run is an error row.
        criteria: a mapping label -> threshold, `Criteria`, or a list of `Criterion`. Default: ADK's two.

    Returns:
        A report with a row for each case and criterion.

    Raises:
        ConfigError: a criterion is not usable.
        ScoringError: there is no case at all; scoring nothing is not success.

    >>> from adk_scoring import Case, Invocation, ToolCall, Turn
    >>> made = Invocation("Weather in Paris?", (ToolCall("get_weather", {"city": "Paris"}),), "20 degrees.")
    >>> wanted = Invocation("Weather in Paris?", (ToolCall("get_weather", {"city": "Paris"}),))
    >>> report = evaluate([Case("paris", (Turn(made, (wanted,)),))], {"trajectory_exact_match": 1.0})
    >>> report.passed, report.rows[0].score.value
    (True, 1.0)
    """
    chosen = Criteria.of(ADK_DEFAULT, where="ADK's default") if criteria is None else Criteria.of(criteria)
    if not chosen:
        raise ScoringError("no criteria were given; there is nothing to score by")
    if isinstance(cases, Pairing):
        listed = (*cases.cases, *cases.without_run)
        notes = _notes(cases)
    else:
        listed, notes = tuple(cases), ()
    if not listed:
        raise ScoringError("no cases were given; an evaluation of nothing is not a success")
    columns = [Scores(criterion.metric) for criterion in chosen]
    for chunk in _chunks(listed):
        evidences = [Evidence(case) for case in chunk]
        for column in columns:
            column.extend(_score_chunk(column.metric, evidences))
    return Report(listed, chosen, columns, notes=notes)


def rescore(report: Report, criteria: CriteriaLike) -> Report:
    """Score the cases of a report by other criteria, without running anything again.

    Args:
        report: an earlier report; a criterion whose metric it already has keeps those scores, so that a changed
            threshold costs nothing.
        criteria: the new criteria.

    >>> from adk_scoring import Case, Invocation, Turn
    >>> case = Case("a", (Turn(Invocation(tool_calls=()), (Invocation(tool_calls=()),)),))
    >>> rescore(evaluate([case], {"trajectory_f1": 1.0}), {"trajectory_f1": 0.5, "trajectory_recall": None}).passed
    True
    """
    chosen = Criteria.of(criteria)
    known = {column.metric: column for column in report.columns}
    new = [criterion for criterion in chosen if criterion.metric not in known]
    if new:
        fresh = evaluate(report.cases, Criteria(tuple(new), chosen.source))
        known |= {column.metric: column for column in fresh.columns}
    return Report(report.cases, chosen, [known[criterion.metric] for criterion in chosen], notes=report.notes)


def _score_chunk(metric: Metric, evidences: list[Evidence]) -> Scores:
    with suppress(Exception):  # the slow way below finds out which case it was
        scores = metric.score_many(evidences)
        if len(scores) == len(evidences):
            return scores
    scores = Scores(metric)
    for evidence in evidences:
        scores.append(score_safely(metric, evidence))
    return scores


def _chunks(cases: Iterable[Case]) -> Iterator[list[Case]]:
    remaining = iter(cases)
    while chunk := list(islice(remaining, _CHUNK)):
        yield chunk


def _notes(pairing: Pairing) -> tuple[str, ...]:
    notes = [
        f"run without an expected case: {case.case_id}" + (f" ({case.source[0]})" if case.source[0] else "")
        for case in pairing.without_expectation
    ]
    return (*notes, *pairing.surplus_turns)
