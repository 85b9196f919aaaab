"""Run somebody's agent over cases: an agent and cases in, the same cases with what the agent did out.

The library runs nothing by itself: the caller gives the agent, as a callable of the form `Agent`, and `agents` has
ready ones. What comes out holds both sides, so that it can be evaluated at once.
"""

from __future__ import annotations

import asyncio
import copy
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    contextmanager,
    nullcontext,
)
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TypeAlias, TypedDict

from ..errors import ConfigError
from ..event_loop import run
from ..model import Case, Invocation, Session, Turn
from ..readers._reading import Reading
from .calling import Agent, call_agent
from .log import RunLog, user_texts

__all__ = ["Agents", "Interrupted", "RunOptions", "RunProgress", "collect", "collect_async"]

Agents: TypeAlias = Agent | Mapping[str, Agent]
"""An agent, or several by the name of their application."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run is.

    Attributes:
        done: cases (trials of cases) that are finished.
        total: how many there are.
        resumed: how many of them an earlier run had finished.
        failed: how many of them ended in an error.
    """

    done: int
    total: int
    resumed: int = 0
    failed: int = 0


class RunOptions(TypedDict, total=False):
    """The options of `collect`, which says what they mean."""

    concurrency: int
    repeats: int
    timeout: float | None
    on_result: Callable[[Case], object] | None
    resume: str | PathLike[str] | None
    retry_errors: bool
    progress: Callable[[RunProgress], object] | bool


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while agents ran.

    Attributes:
        cases: what was recorded until then, in the order of the input.
    """

    def __init__(self, cases: list[Case], total: int, path: str | None) -> None:
        kept = f"; they are in {path}, and the same call goes on from there" if path else ", in the attribute 'cases'"
        super().__init__(f"{len(cases)} of {total} cases were recorded{kept}")
        self.cases = cases


def collect(
    agent: Agents,
    cases: Iterable[Case],
    *,
    concurrency: int = 4,
    repeats: int = 1,
    timeout: float | None = None,
    on_result: Callable[[Case], object] | None = None,
    resume: str | PathLike[str] | None = None,
    retry_errors: bool = False,
    progress: Callable[[RunProgress], object] | bool = False,
) -> list[Case]:
    """Run an agent over cases. Works in a script and inside a running event loop, such as a notebook's.

    Each trial of a case has a session of its own, with a new id and a copy of the case's state; the turns are put in
    order. A turn that fails (an exception, a timeout, an answer that is none) has its `Invocation.error`; the turns
    before it are kept, those after it are not put.

    Args:
        agent: the agent; or several, application name -> agent: then each runs every case, and the cases of an
            application are a set of their own, named ``<set> @ <application>``. One that is an async context manager
            is entered around the run.
        cases: what is to be said, with what is expected. A run that they hold already is replaced.
        concurrency: how many sessions run at once.
        repeats: how many trials of each case.
        timeout: seconds for one turn.
        on_result: called with each recorded case as it comes.
        resume: a JSON Lines file that takes each recorded case as it comes, and from which the same call goes on
            after it was stopped, even killed. A case that puts something else than it did then is run again; one
            that only expects something else is not.
        retry_errors: run again what the file has as an error.
        progress: called after each case with a `RunProgress`; ``True`` draws a bar with tqdm.

    Returns:
        The cases with what the agent did, in the order of the input, the trials of a case together.

    Raises:
        ConfigError: the agent is none, or an option is out of range.
        ReadError: the file to resume from holds something else.
        Interrupted: Ctrl-C; it has what was recorded.

    >>> def agent(user_text: str, *, session: Session) -> Invocation:
    ...     return Invocation(user_text, ("greet",), f"Hello, {session.state['name']}!")
    >>> case = Case("hi", (Turn(None, (Invocation("hi", ()),)),), session=Session(state={"name": "Ada"}))
    >>> recorded, = collect(agent, [case])
    >>> recorded.turns[0].actual.tool_calls, recorded.turns[0].actual.response
    ((ToolCall(name='greet', args={}),), 'Hello, Ada!')
    """
    work = _Run(agent, cases, concurrency, repeats, timeout, on_result, resume, retry_errors, progress)
    try:
        return run(work.finished())
    except KeyboardInterrupt:
        raise Interrupted(work.recorded(), len(work.jobs), work.resume) from None


async def collect_async(
    agent: Agents,
    cases: Iterable[Case],
    *,
    concurrency: int = 4,
    repeats: int = 1,
    timeout: float | None = None,
    on_result: Callable[[Case], object] | None = None,
    resume: str | PathLike[str] | None = None,
    retry_errors: bool = False,
    progress: Callable[[RunProgress], object] | bool = False,
) -> list[Case]:
    """Run an agent over cases, as `collect` does, in the caller's own event loop.

    >>> async def agent(user_text: str, *, session: Session) -> Invocation:
    ...     return Invocation(user_text, (), "Hello!")
    >>> case = Case("hi", (Turn(None, (Invocation("hi"),)),))
    >>> [asyncio.run(collect_async(agent, [case], repeats=2))[i].trial for i in (0, 1)]
    [0, 1]
    """
    work = _Run(agent, cases, concurrency, repeats, timeout, on_result, resume, retry_errors, progress)
    return await work.finished()


class _Run:
    """One run: the jobs, in order, and what came of them so far."""

    def __init__(
        self,
        agent: Agents,
        cases: Iterable[Case],
        concurrency: int,
        repeats: int,
        timeout: float | None,
        on_result: Callable[[Case], object] | None,
        resume: str | PathLike[str] | None,
        retry_errors: bool,
        progress: Callable[[RunProgress], object] | bool,
    ) -> None:
        for name, value in (("concurrency", concurrency), ("repeats", repeats)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigError(f"{name} is a whole number from 1, not {value!r}")
        if timeout is not None and not timeout > 0:
            raise ConfigError(f"timeout is a number of seconds above 0, or None, not {timeout!r}")
        self.concurrency, self.timeout, self.on_result, self.progress = concurrency, timeout, on_result, progress
        self.resume, self.retry_errors = None if resume is None else str(Path(resume)), retry_errors
        self.agents = tuple(agent.values()) if isinstance(agent, Mapping) else (agent,)
        self.jobs = list(_jobs(agent, list(cases), repeats))
        self.results: dict[int, Case] = {}
        self.resumed = self.failed = 0
        self.reading = Reading("the agent's events")

    def recorded(self) -> list[Case]:
        """What is there so far, in order."""
        return [self.results[index] for index in sorted(self.results)]

    async def finished(self) -> list[Case]:
        """Do all jobs and return what came of them."""
        with self._log() as log, _reporter(self.progress) as report:
            if log is not None:
                self._take_from(log)
            report(self._now())
            remaining = [index for index in range(len(self.jobs)) if index not in self.results]
            async with AsyncExitStack() as stack:
                entered = {
                    id(agent): await stack.enter_async_context(agent)
                    for agent in (self.agents if remaining else ())
                    if isinstance(agent, AbstractAsyncContextManager)
                }
                queue = iter(remaining)
                workers = min(self.concurrency, len(remaining))
                try:
                    async with asyncio.TaskGroup() as group:
                        for _ in range(workers):
                            group.create_task(self._work(queue, log, report, entered))
                except BaseExceptionGroup as several:  # not an agent's: of `on_result`, or of the disk
                    raise several.exceptions[0] from None
        self.reading.report()
        return self.recorded()

    def _log(self) -> AbstractContextManager[RunLog | None]:
        if self.resume is None:
            return nullcontext()
        again = _has_failed if self.retry_errors else None
        return RunLog(self.resume, [case for _, case in self.jobs], run_again=again)

    def _take_from(self, log: RunLog) -> None:
        for index, (_, case) in enumerate(self.jobs):
            earlier = log.take(case)
            if earlier is not None:
                runs = [turn.actual for turn in earlier.turns]
                self._keep(index, _with_runs(case, runs, earlier.session, earlier.error))
        self.resumed = len(self.results)

    def _keep(self, index: int, recorded: Case) -> None:
        self.results[index] = recorded
        self.failed += _has_failed(recorded)

    async def _work(
        self,
        queue: Iterator[int],
        log: RunLog | None,
        report: Callable[[RunProgress], object],
        entered: Mapping[int, Agent],
    ) -> None:
        for index in queue:
            agent, case = self.jobs[index]
            recorded = await self._run_case(entered.get(id(agent), agent), case)
            if log is not None:
                log.add(case, recorded)
            self._keep(index, recorded)
            if self.on_result is not None:
                self.on_result(recorded)
            report(self._now())

    async def _run_case(self, agent: Agent, case: Case) -> Case:
        texts = user_texts(case)
        if case.error is not None or not texts:
            return _with_runs(case, [None] * len(texts), case.session, case.error or "the case has no turn to put")
        given = case.session or Session()
        session = Session(given.app_name, given.user_id, copy.deepcopy(dict(given.state)), session_id=uuid.uuid4().hex)
        runs: list[Invocation | None] = []
        for text in texts:
            failed = bool(runs) and (runs[-1] is None or runs[-1].error is not None)
            runs.append(
                None if failed else await call_agent(agent, text, session, timeout=self.timeout, reading=self.reading)
            )
        return _with_runs(case, runs, replace(session, state=given.state), None)

    def _now(self) -> RunProgress:
        return RunProgress(len(self.results), len(self.jobs), self.resumed, self.failed)


def _jobs(agent: Agents, cases: list[Case], repeats: int) -> Iterator[tuple[Agent, Case]]:
    """Yield each agent with each case, once for each trial.

    Raises:
        ConfigError: there is no agent, or it is none.
        TypeError: something in `cases` is no case.
    """
    named = agent.items() if isinstance(agent, Mapping) else [("", agent)]
    if not named:
        raise ConfigError("there is no agent: the mapping of applications is empty")
    for name, one in named:
        if not callable(one):
            raise ConfigError(f"{one!r:.80} is not an agent: it has to be a callable agent(user_text, *, session)")
        for case in cases:
            if not isinstance(case, Case):
                raise TypeError(f"wanted cases, got {type(case).__name__}; a file is read with read(path)")
            of_app = _for_app(case, name) if isinstance(agent, Mapping) else case
            for repeat in range(repeats):
                yield one, replace(of_app, trial=case.trial * repeats + repeat)


def _for_app(case: Case, app: str) -> Case:
    """Put a case into the set of an application, and into its sessions."""
    session = replace(case.session or Session(), app_name=app)
    dataset = case.set_id or Path(case.source[0]).name.split(".")[0] or "cases"
    return replace(case, set_id=f"{dataset} @ {app}", set_name=f"{case.set_name or dataset} @ {app}", session=session)


def _with_runs(case: Case, runs: list[Invocation | None], session: Session | None, error: str | None) -> Case:
    """Put what an agent did beside what a case expects; scores that its file held were about another run."""
    turns = tuple(Turn(actual, turn.expected) for actual, turn in zip(runs, case.turns, strict=True))
    return replace(case, turns=turns, session=session, error=error, recorded=())


def _has_failed(case: Case) -> bool:
    return case.error is not None or any(turn.actual and turn.actual.error is not None for turn in case.turns)


@contextmanager
def _reporter(progress: Callable[[RunProgress], object] | bool) -> Iterator[Callable[[RunProgress], object]]:
    if callable(progress):
        yield progress
        return
    if not progress:
        yield lambda _: None
        return
    try:
        from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]  # it publishes no types
    except ImportError:
        raise ConfigError("progress=True draws a bar with tqdm: install tqdm, or give a function") from None
    with tqdm(desc="running", unit="case") as bar:

        def show(now: RunProgress) -> None:
            bar.total = now.total
            bar.set_postfix_str(f"{now.failed} failed, {now.resumed} resumed", refresh=False)
            bar.update(now.done - bar.n)

        yield show
