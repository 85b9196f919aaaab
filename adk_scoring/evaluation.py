"""Cases x criteria -> `Report`. The one place where metrics meet cases; one bad case never stops the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from .criteria import ADK_DEFAULT, Criteria, CriteriaLike
from .errors import ConfigError, ScoringError
from .event_loop import run
from .evidence import Evidence, Evidences
from .metrics.base import Metric, Score, Scores, score_safely
from .metrics.judged import JudgedMetric
from .model import Case, cases_of
from .pairing import Pairing
from .report import Report
from .report.signature import Signature

if TYPE_CHECKING:
    from .judges import Judge, Progress, VerdictStore

__all__ = ["evaluate", "evaluate_async", "rejudge", "rescore"]

_JUDGE = "judge "
"""How a note on a judge begins."""
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
        store: where verdicts are looked up first and kept. It needs the judge too, whose name the verdicts stand
            under; with a full store it is not asked, so that `GeminiJudge` needs no key.
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
    wanted = _checked(cases, criteria, judge, store)
    if judge is None or not any("judge" in criterion.metric.needs for criterion in wanted.criteria):
        return _report(wanted, [None] * len(wanted.criteria))
    return run(_judged(wanted, judge, store, concurrency, deadline, progress))


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
    wanted = _checked(cases, criteria, judge, store)
    if judge is None or not any("judge" in criterion.metric.needs for criterion in wanted.criteria):
        return _report(wanted, [None] * len(wanted.criteria))
    return await _judged(wanted, judge, store, concurrency, deadline, progress)


@dataclass(frozen=True)
class _Wanted:
    """What is to be evaluated."""

    cases: tuple[Case, ...]
    criteria: Criteria
    notes: tuple[str, ...]


def _checked(
    cases: Pairing | Iterable[Case],
    criteria: CriteriaLike | None,
    judge: Judge | None,
    store: VerdictStore | None,
) -> _Wanted:
    """Return what is to be evaluated, or say why there is nothing."""
    chosen = Criteria.of(ADK_DEFAULT, where="ADK's default") if criteria is None else Criteria.of(criteria)
    if not chosen:
        raise ScoringError(f"no criteria, so there is nothing to score by ({chosen.source})")
    if isinstance(cases, Pairing):
        listed, notes = (*cases.cases, *cases.without_run), _notes(cases)
    else:
        listed, notes = cases_of(cases), ()
    if not listed:
        raise ScoringError("no cases were given; an evaluation of nothing is not a success")
    if store is not None and judge is None:
        raise ConfigError(
            "a store without a judge: verdicts stand under its name; give the judge too, it need not be asked"
        )
    return _Wanted(listed, chosen, notes)


def _report(wanted: _Wanted, judged: Sequence[Scores | None], *, who: str = "", notes: Sequence[str] = ()) -> Report:
    """Score what the judge was not asked about, chunk by chunk, and report all."""
    columns = [
        Scores(criterion.metric) if ready is None else ready
        for criterion, ready in zip(wanted.criteria, judged, strict=True)
    ]
    for chunk in _chunks(wanted.cases):
        evidences = Evidences(map(Evidence, chunk))
        for column, ready in zip(columns, judged, strict=True):
            if ready is None:
                column.extend(_score_chunk(column.metric, evidences))
    signatures = [Signature.of(criterion.metric, judge=who) for criterion in wanted.criteria]
    return Report(wanted.cases, wanted.criteria, columns, notes=(*wanted.notes, *notes), signatures=signatures)


async def _judged(
    wanted: _Wanted,
    judge: Judge,
    store: VerdictStore | None,
    concurrency: int | None,
    deadline: float | None,
    progress: Callable[[Progress], object] | bool,
) -> Report:
    """Put to the judge what it is to be asked, and report all."""
    from .judges import Progress, judge_cases
    from .judges.asking import reporter

    spent = Progress(0, 0)

    def watch(now: Progress) -> None:
        nonlocal spent
        spent = now
        show(now)

    evidences = Evidences(map(Evidence, wanted.cases))
    metrics = [criterion.metric for criterion in wanted.criteria]
    asking = list(dict.fromkeys(metric for metric in metrics if "judge" in metric.needs))
    questions = [(metric, evidence) for metric in asking for evidence in evidences]
    with reporter(progress) as show:
        answers = await judge_cases(
            questions, judge, store=store, concurrency=concurrency, deadline=deadline, progress=watch
        )
    judged: dict[Metric, Scores] = {metric: Scores(metric) for metric in asking}
    for (metric, evidence), replies in zip(questions, answers, strict=True):
        judged[metric].append(score_safely(metric, evidence, replies))
    versions = sorted({reply.model_version for replies in answers for reply in replies if reply.model_version})
    note = _cost(judge, spent, versions)
    return _report(wanted, [judged.get(metric) for metric in metrics], who=_who(judge, versions), notes=[note])


def _cost(judge: Judge, spent: Progress, versions: Sequence[str]) -> str:
    """Say how many questions were asked and what that cost in this run."""
    words = (
        f"{_JUDGE}{judge.name}: {spent.asked} asked, {spent.reused} from the store, {spent.failed} without an answer"
    )
    if versions:
        words += f"; model {', '.join(versions)}"
    kinds = [f"{count} {kind.replace('_', ' ')}" for kind, count in sorted(spent.usage.items())]
    return f"{words}; {', '.join(kinds)}" if kinds else words


def _who(judge: Judge, versions: Sequence[str]) -> str:
    """Name the judge with all that shapes its answers, for the signature: its settings and the models that answered."""
    settings = [f"{key}={value!r}" for key, value in sorted(dict(getattr(judge, "sampling", None) or {}).items())]
    return ", ".join([judge.name, *settings, *(f"model {version}" for version in versions)])


def rescore(
    report: Report,
    criteria: CriteriaLike,
    *,
    judge: Judge | None = None,
    store: VerdictStore | None = None,
    concurrency: int | None = None,
    deadline: float | None = None,
    progress: Callable[[Progress], object] | bool = False,
) -> Report:
    """Score the cases of a report by other criteria, without running anything again.

    What the report has is used: a changed threshold costs nothing, and neither do changed weights or coverage floors
    of a judged metric, whose verdicts are weighed again.

    Args:
        report: an earlier report.
        criteria: the new criteria.
        judge: whom judged metrics ask that ask something new.
        store: where their verdicts are looked up first and kept.
        concurrency: how many questions are asked at once.
        deadline: seconds for all questions together.
        progress: called as the questions are answered; ``True`` draws a bar with tqdm.

    >>> from adk_scoring import Case, Invocation, Turn
    >>> case = Case("a", (Turn(Invocation(tool_calls=()), (Invocation(tool_calls=()),)),))
    >>> rescore(evaluate([case], {"trajectory_f1": 1.0}), {"trajectory_f1": 0.5, "trajectory_recall": None}).passed
    True
    """
    chosen = Criteria.of(criteria)
    known = _known(report)
    for metric in [criterion.metric for criterion in chosen if criterion.metric not in known]:
        if (again := _reweighed(report, metric)) is not None:
            known[metric] = again
    new = [criterion for criterion in chosen if criterion.metric not in known]
    notes = report.notes
    if new:
        fresh = evaluate(
            report.cases,
            new,
            judge=judge,
            store=store,
            concurrency=concurrency,
            deadline=deadline,
            progress=progress,
        )
        known |= _known(fresh)
        notes = (*notes, *fresh.notes)
    return _of_known(report.cases, chosen, known, notes)


def rejudge(
    report: Report,
    judge: Judge,
    *,
    store: VerdictStore | None = None,
    concurrency: int | None = None,
    deadline: float | None = None,
    progress: Callable[[Progress], object] | bool = False,
) -> Report:
    """Put the judged criteria of a report to a judge again, and keep all other scores.

    Args:
        report: an earlier report.
        judge: whom to ask now.
        store: where its verdicts are looked up first and kept.
        concurrency: how many questions are asked at once.
        deadline: seconds for all questions together.
        progress: called as the questions are answered; ``True`` draws a bar with tqdm.

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
    judged = [criterion for criterion in report.criteria if "judge" in criterion.metric.needs]
    notes = [note for note in report.notes if not note.startswith(_JUDGE)]  # of the judge before
    if not judged:
        return report
    fresh = evaluate(
        report.cases,
        judged,
        judge=judge,
        store=store,
        concurrency=concurrency,
        deadline=deadline,
        progress=progress,
    )
    return _of_known(report.cases, report.criteria, _known(report) | _known(fresh), (*notes, *fresh.notes))


_Known = dict[Metric, tuple[Scores, Signature]]


def _known(report: Report) -> _Known:
    return {column.metric: (column, how) for column, how in zip(report.columns, report.signatures, strict=True)}


def _reweighed(report: Report, metric: Metric) -> tuple[Scores, Signature] | None:
    """Return the column of a judged metric from that of one which asked the same, if the report has it."""
    if not isinstance(metric, JudgedMetric):
        return None
    for column, signature in zip(report.columns, report.signatures, strict=True):
        asked = column.metric
        if isinstance(asked, JudgedMetric) and asked.same_questions() == metric.same_questions():
            scores = Scores(metric)
            for case, score in zip(report.cases, column, strict=True):
                try:
                    scores.append(metric.reweighed(case, score))
                except ConfigError as error:  # the weights leave this case nothing to reach
                    scores.append(Score.failed(metric.name, str(error)))
            return scores, Signature.of(metric, judge=signature.judge)
    return None


def _of_known(cases: Sequence[Case], criteria: Criteria, known: _Known, notes: Sequence[str]) -> Report:
    columns = [known[criterion.metric][0] for criterion in criteria]
    signatures = [known[criterion.metric][1] for criterion in criteria]
    return Report(cases, criteria, columns, notes=notes, signatures=signatures)


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
