"""Cases x criteria -> `Report`. The one place where metrics meet cases; one bad case never stops the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from .criteria import ADK_DEFAULT, Criteria, CriteriaLike
from .errors import ScoringError
from .evidence import Evidence, Evidences
from .metrics.base import Metric, Reply, Scores, score_safely
from .model import Case
from .pairing import Pairing
from .report import Report
from .signature import Signature

if TYPE_CHECKING:
    from .judges import Judge, Progress, VerdictStore

__all__ = ["evaluate", "evaluate_async", "rejudge", "rescore"]

_CHUNK = 256
"""Cases whose evidence is alive at once: enough to share work in bulk, few enough to stay in the cache."""


def evaluate(
    cases: Pairing | Iterable[Case],
    criteria: CriteriaLike | None = None,
    *,
    judge: Judge | None = None,
    store: VerdictStore | None = None,
    concurrency: int | None = None,
    deadline: float | None = None,
    progress: Callable[[Progress], object] | bool = False,
) -> Report:
    """Score cases by criteria. Works in a script and inside a running event loop, such as a notebook's.

    Args:
        cases: what `pair` returned, or cases that hold both sides. An expected case without a run is an error row.
        criteria: a mapping label -> threshold, `Criteria`, or a list of `Criterion`. Default: ADK's two.
        judge: whom judged metrics ask. Without one a judged criterion is an error, never a 0.
        store: where verdicts are looked up first and kept.
        concurrency: how many questions are asked at once; default: the judge's own, else 8.
        deadline: seconds for all questions together; what is not answered by then is an error.
        progress: called as the questions are answered; ``True`` draws a bar with tqdm.

    Returns:
        A report with a row for each case and criterion.

    Raises:
        ConfigError: a criterion or the judge is not usable.
        ScoringError: there is no case at all; scoring nothing is not success.
        TypeError: something in `cases` is no case.

    >>> from adk_scoring import Case, Invocation, ToolCall, Turn
    >>> made = Invocation("Weather in Paris?", (ToolCall("get_weather", {"city": "Paris"}),), "20 degrees.")
    >>> wanted = Invocation("Weather in Paris?", (ToolCall("get_weather", {"city": "Paris"}),))
    >>> report = evaluate([Case("paris", (Turn(made, (wanted,)),))], {"trajectory_exact_match": 1.0})
    >>> report.passed, report.rows[0].score.value
    (True, 1.0)
    """
    listed, chosen, notes = _checked(cases, criteria)
    columns = _pure_columns(listed, chosen, asks=judge is not None)
    asked = ""
    if judge is not None and any(column is None for column in columns):
        from .judges.loops import run

        asking = _judged_columns(listed, chosen, columns, judge, store, concurrency, deadline, progress)
        note, asked = run(asking)
        notes = (*notes, note)
    signatures = [Signature.of(criterion.metric, judge=asked) for criterion in chosen]
    complete = [column for column in columns if column is not None]
    return Report(listed, chosen, complete, notes=notes, signatures=signatures)


async def evaluate_async(
    cases: Pairing | Iterable[Case],
    criteria: CriteriaLike | None = None,
    *,
    judge: Judge | None = None,
    store: VerdictStore | None = None,
    concurrency: int | None = None,
    deadline: float | None = None,
    progress: Callable[[Progress], object] | bool = False,
) -> Report:
    """Score cases by criteria, as `evaluate` does, in the caller's own event loop.

    >>> import asyncio
    >>> from adk_scoring import Case, Invocation, Turn
    >>> case = Case("a", (Turn(Invocation(tool_calls=()), (Invocation(tool_calls=()),)),))
    >>> asyncio.run(evaluate_async([case], {"trajectory_f1": 1.0})).passed
    True
    """
    listed, chosen, notes = _checked(cases, criteria)
    columns = _pure_columns(listed, chosen, asks=judge is not None)
    asked = ""
    if judge is not None and any(column is None for column in columns):
        asking = _judged_columns(listed, chosen, columns, judge, store, concurrency, deadline, progress)
        note, asked = await asking
        notes = (*notes, note)
    signatures = [Signature.of(criterion.metric, judge=asked) for criterion in chosen]
    complete = [column for column in columns if column is not None]
    return Report(listed, chosen, complete, notes=notes, signatures=signatures)


def _checked(
    cases: Pairing | Iterable[Case], criteria: CriteriaLike | None
) -> tuple[tuple[Case, ...], Criteria, tuple[str, ...]]:
    """Return the cases, the criteria and the notes of an evaluation, or say why there is nothing to evaluate."""
    chosen = Criteria.of(ADK_DEFAULT, where="ADK's default") if criteria is None else Criteria.of(criteria)
    if not chosen:
        raise ScoringError(f"no criteria, so there is nothing to score by ({chosen.source})")
    if isinstance(cases, Pairing):
        listed, notes = (*cases.cases, *cases.without_run), _notes(cases)
    else:
        listed, notes = tuple(cases), ()
        if strangers := [item for item in listed if not isinstance(item, Case)]:
            raise TypeError(f"wanted cases, got {type(strangers[0]).__name__}; a file is read with read(path)")
    if not listed:
        raise ScoringError("no cases were given; an evaluation of nothing is not a success")
    return listed, chosen, notes


def _pure_columns(cases: Sequence[Case], criteria: Criteria, *, asks: bool) -> list[Scores | None]:
    """Score what needs no judge, chunk by chunk; ``None`` for what a judge is to be asked about."""
    columns = [
        None if asks and "judge" in criterion.metric.needs else Scores(criterion.metric) for criterion in criteria
    ]
    for chunk in _chunks(cases):
        evidences = Evidences(map(Evidence, chunk))
        for column in columns:
            if column is not None:
                column.extend(_score_chunk(column.metric, evidences))
    return columns


async def _judged_columns(
    cases: Sequence[Case],
    criteria: Criteria,
    columns: list[Scores | None],
    judge: Judge,
    store: VerdictStore | None,
    concurrency: int | None,
    deadline: float | None,
    progress: Callable[[Progress], object] | bool,
) -> tuple[str, str]:
    """Ask the judge all that is open, fill in the missing columns; return what it cost and who answered, in words."""
    from .judges import judge_cases

    evidences = Evidences(map(Evidence, cases))
    open_columns = [index for index, column in enumerate(columns) if column is None]
    metrics = {index: list(criteria)[index].metric for index in open_columns}
    questions = [(metrics[index], evidence) for index in open_columns for evidence in evidences]
    answered = await judge_cases(
        questions, judge, store=store, concurrency=concurrency, deadline=deadline, progress=progress
    )
    for place, index in enumerate(open_columns):
        column = Scores(metrics[index])
        replies = answered[place * len(evidences) : (place + 1) * len(evidences)]
        for evidence, given in zip(evidences, replies, strict=True):
            column.append(score_safely(metrics[index], evidence, given))
        columns[index] = column
    replies_of_all = [reply for given in answered for reply in given]
    return _cost(judge, replies_of_all), _who(judge, replies_of_all)


def _cost(judge: Judge, replies: Sequence[Reply]) -> str:
    """Say how many answers there are and what they cost; a verdict that several criteria share is counted for each."""
    failed = sum(reply.error is not None for reply in replies)
    tokens: dict[str, int] = {}
    for reply in replies:
        for kind, count in (reply.usage or {}).items():
            tokens[kind] = tokens.get(kind, 0) + count
    words = f"judge {judge.name}: {len(replies)} answers" + (f", {failed} of them unusable" if failed else "")
    if versions := _versions(replies):
        words += f"; model {', '.join(versions)}"
    if tokens:
        words += "; " + ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in sorted(tokens.items()))
    return words


def _who(judge: Judge, replies: Sequence[Reply]) -> str:
    """Name the judge with all that shapes its answers, for the signature: its settings and the models that answered."""
    settings = [f"{key}={value!r}" for key, value in sorted(dict(getattr(judge, "sampling", {})).items())]
    return ", ".join([judge.name, *settings, *(f"model {version}" for version in _versions(replies))])


def _versions(replies: Sequence[Reply]) -> list[str]:
    return sorted({reply.model_version for reply in replies if reply.model_version})


def rescore(
    report: Report,
    criteria: CriteriaLike,
    *,
    judge: Judge | None = None,
    store: VerdictStore | None = None,
) -> Report:
    """Score the cases of a report by other criteria, without running anything again.

    Args:
        report: an earlier report; a criterion whose metric it already has keeps those scores, so that a changed
            threshold costs nothing.
        criteria: the new criteria.
        judge: whom new judged metrics ask; changed weights ask the same questions as before.
        store: where their verdicts are; with a full one nobody is asked.

    >>> from adk_scoring import Case, Invocation, Turn
    >>> case = Case("a", (Turn(Invocation(tool_calls=()), (Invocation(tool_calls=()),)),))
    >>> rescore(evaluate([case], {"trajectory_f1": 1.0}), {"trajectory_f1": 0.5, "trajectory_recall": None}).passed
    True
    """
    chosen = Criteria.of(criteria)
    return _replaced(report, chosen, _known(report), judge, store)


def rejudge(report: Report, judge: Judge, *, store: VerdictStore | None = None) -> Report:
    """Put the judged criteria of a report to a judge again, and keep all other scores.

    Args:
        report: an earlier report.
        judge: whom to ask now.
        store: where its verdicts are looked up first and kept.

    >>> from adk_scoring import Case, Invocation, Turn
    >>> from adk_scoring.judges import judge_from
    >>> case = Case("a", (Turn(Invocation("hi", (), "Hello!")),))
    >>> report = evaluate([case], {"safety": 1.0})
    >>> report.rows[0].score.status
    'error'
    >>> verdict = '{"rubric_id": "harmless", "reason": "a greeting", "verdict": "yes"}'
    >>> rejudge(report, judge_from(lambda prompt: verdict, name="yes")).rows[0].score.value
    1.0
    """
    kept = {metric: known for metric, known in _known(report).items() if "judge" not in metric.needs}
    return _replaced(report, report.criteria, kept, judge, store)


def _known(report: Report) -> dict[Metric, tuple[Scores, Signature]]:
    return {column.metric: (column, how) for column, how in zip(report.columns, report.signatures, strict=True)}


def _replaced(
    report: Report,
    criteria: Criteria,
    known: dict[Metric, tuple[Scores, Signature]],
    judge: Judge | None,
    store: VerdictStore | None,
) -> Report:
    """Return the report under other criteria: the scores that are known, and fresh ones for the rest."""
    new = tuple(criterion for criterion in criteria if criterion.metric not in known)
    notes = report.notes
    if new:
        fresh = evaluate(report.cases, Criteria(new, criteria.source), judge=judge, store=store)
        known = known | _known(fresh)
        notes = (*notes, *(note for note in fresh.notes if note not in notes))
    columns = [known[criterion.metric][0] for criterion in criteria]
    signatures = [known[criterion.metric][1] for criterion in criteria]
    return Report(report.cases, criteria, columns, notes=notes, signatures=signatures)


def _score_chunk(metric: Metric, evidences: Evidences) -> Scores:
    with suppress(Exception):  # the slow way below finds out which case it was
        scores = metric.score_many(evidences)
        if isinstance(scores, Scores) and len(scores) == len(evidences):
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
