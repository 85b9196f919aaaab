"""Ask a judge the questions of many cases: prompts or (metric, evidence) pairs in, replies out, in the same order.

A question is asked once however often it occurs, its answer is in the store before the next one is asked, and
whatever goes wrong with it is an error of its own reply: nothing but a broken store or a cancelled run ends early.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeVar

from ..errors import ConfigError, JudgeError
from ..metrics.base import Metric, Prompt, Reply
from .judge import Judge
from .store import VerdictStore, verdict_key

if TYPE_CHECKING:
    from ..evidence import Evidence
    from ..model import Case

__all__ = ["Check", "Progress", "ask_all", "judge_cases", "reporter"]

Check = Callable[[Prompt, Reply], str | None]
"""Says what is wrong with a reply, or ``None``; see `Metric.reply_problem`."""
_T = TypeVar("_T")
_ROUNDS: Final = 20
"""A metric that asks in more rounds than this would ask for ever."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        done: prompts (of `ask_all`) or pairs of a metric and a case (of `judge_cases`) that are finished.
        total: how many there are.
        asked: questions the judge was asked.
        reused: questions answered by the store.
        failed: questions without a usable answer.
        usage: what the asking cost so far, by kind of token; what the store answered costs nothing.
    """

    done: int
    total: int
    asked: int = 0
    reused: int = 0
    failed: int = 0
    usage: Mapping[str, int] = field(default_factory=dict)


async def ask_all(
    prompts: Sequence[Prompt],
    judge: Judge,
    *,
    check: Check | None = None,
    store: VerdictStore | None = None,
    concurrency: int | None = None,
    deadline: float | None = None,
    progress: Callable[[Progress], object] | bool = False,
) -> list[Reply]:
    """Ask a judge some prompts.

    Args:
        prompts: the questions; identical ones are asked once.
        judge: whom to ask.
        check: says what is wrong with a reply. A reply with a problem is asked for once more, and then an error.
        store: where verdicts are looked up first and kept, each as it comes, so that a run that is cancelled or
            killed asks only the rest when it is started again.
        concurrency: how many questions to ask at once; default: the judge's own, else 8.
        deadline: seconds for the whole run; what is not answered then is an error.
        progress: called after each prompt; ``True`` draws a bar with tqdm.

    Returns:
        The replies in the order of the prompts.

    Raises:
        JudgeError: the store cannot be used.
        ConfigError: the judge is not one, a number is out of range, or a bar was asked for without tqdm.

    >>> from adk_scoring.judges import judge_from
    >>> judge = judge_from(lambda prompt: prompt.content.upper(), name="shout")
    >>> replies = asyncio.run(ask_all([Prompt("1", "", "a"), Prompt("2", "", "b")], judge))
    >>> [reply.text for reply in replies]
    ['A', 'B']
    """

    async def one(run: _Run, prompt: Prompt) -> Reply:
        [reply] = await run.answers([prompt], check)
        return reply

    return await _drive(prompts, one, judge, store, concurrency, deadline, progress)


async def judge_cases(
    questions: Sequence[tuple[Metric, Evidence | Case]],
    judge: Judge,
    *,
    store: VerdictStore | None = None,
    concurrency: int | None = None,
    deadline: float | None = None,
    progress: Callable[[Progress], object] | bool = False,
) -> list[list[Reply]]:
    """Ask a judge all that metrics want to know about cases, round by round, many cases at once.

    A metric is asked for prompts again, with the replies so far, until it has none; `Metric.reply_problem` decides
    which replies are usable. The arguments are those of `ask_all`.

    Args:
        questions: which metric is to judge which case.
        judge: whom to ask.
        store: where verdicts are looked up and kept.
        concurrency: how many questions to ask at once.
        deadline: seconds for the whole run.
        progress: called after each pair; ``True`` draws a bar with tqdm.

    Returns:
        For each pair its replies, in the order of its prompts: what `Metric.score` takes. If the metric raised
        while it was asked for prompts, the last reply is an error that says so.

    Raises:
        JudgeError: the store cannot be used.
        ConfigError: as for `ask_all`.
    """

    async def one(run: _Run, question: tuple[Metric, Evidence | Case]) -> list[Reply]:
        metric, evidence = question
        replies: list[Reply] = []
        for _ in range(_ROUNDS):
            try:
                prompts = list(metric.prompts(evidence, tuple(replies)))
            except Exception as error:  # belongs to this case alone, as in `score_safely`
                return [*replies, Reply("", error=f"failed: {type(error).__name__}: {error}")]
            if not prompts:
                return replies
            replies += await run.answers(prompts, metric.reply_problem)
        return [*replies, Reply("", error=f"failed: {metric.name} still had questions after {_ROUNDS} rounds")]

    return await _drive(questions, one, judge, store, concurrency, deadline, progress)


_Item = TypeVar("_Item")


async def _drive(
    items: Sequence[_Item],
    one: Callable[[_Run, _Item], Awaitable[_T]],
    judge: Judge,
    store: VerdictStore | None,
    concurrency: int | None,
    deadline: float | None,
    progress: Callable[[Progress], object] | bool,
) -> list[_T]:
    """Work through the items, as many at a time as questions may be asked at once."""
    if not isinstance(judge, Judge) or not isinstance(judge.name, str):
        raise ConfigError(f"{judge!r} is not a judge: it needs a name and `async ask(prompt)`; see judge_from")
    if concurrency is None:
        concurrency = getattr(judge, "concurrency", 8)
    if concurrency < 1:
        raise ConfigError(f"concurrency is at least 1, not {concurrency!r}")
    if deadline is not None and not deadline > 0:
        raise ConfigError(f"deadline is a number of seconds above 0, not {deadline!r}")
    run = _Run(judge, store, concurrency, deadline)
    results: dict[int, _T] = {}
    remaining = iter(enumerate(items))

    async def worker(report: Callable[[Progress], object]) -> None:
        for index, item in remaining:
            results[index] = await one(run, item)
            report(Progress(len(results), len(items), run.asked, run.reused, run.failed, dict(run.usage)))

    connections = judge if isinstance(judge, AbstractAsyncContextManager) else nullcontext()
    with reporter(progress) as report:
        async with connections:
            await _gather([worker(report) for _ in range(min(concurrency, len(items)))])
    return [results[index] for index in range(len(items))]


class _Run:
    """One run: what was asked in it and what came back."""

    def __init__(self, judge: Judge, store: VerdictStore | None, concurrency: int, deadline: float | None) -> None:
        self._judge, self._store = judge, store
        self._sampling: Mapping[str, object] = getattr(judge, "sampling", None) or {}
        self._slots = asyncio.Semaphore(concurrency)
        self._seconds = deadline
        self._end = None if deadline is None else asyncio.get_running_loop().time() + deadline
        self._stopped = ""
        self._replies: dict[str, asyncio.Future[Reply]] = {}
        self.asked = self.reused = self.failed = 0
        self.usage: Mapping[str, int] = {}

    async def answers(self, prompts: Sequence[Prompt], check: Check | None) -> list[Reply]:
        keys = [verdict_key(self._judge.name, self._sampling, prompt) for prompt in prompts]
        unknown = [key for key in keys if key not in self._replies]
        stored = {} if self._store is None else self._store.get(unknown)
        return await _gather(
            [self._answer(p, key, stored.get(key), check) for p, key in zip(prompts, keys, strict=True)]
        )

    async def _answer(self, prompt: Prompt, key: str, stored: Reply | None, check: Check | None) -> Reply:
        if (known := self._replies.get(key)) is not None:
            return _checked(prompt, await asyncio.shield(known), check)  # who asks goes on if this one is cancelled
        future = self._replies[key] = asyncio.get_running_loop().create_future()
        try:
            reply = await self._obtain(prompt, key, stored, check)
            future.set_result(reply)
        finally:
            future.cancel()  # does nothing where there is a result; else the run is ending
        self.failed += reply.error is not None
        return reply

    async def _obtain(self, prompt: Prompt, key: str, stored: Reply | None, check: Check | None) -> Reply:
        if stored is not None:
            stored = _checked(prompt, stored, check)
            if stored.error is None:
                self.reused += 1
                return stored
        if self._store is not None and self._store.mode == "replay":
            what = f"no usable verdict of {self._judge.name} on {prompt.key!r}"
            return Reply("", error=f"replay: {what} in {self._store.path}; run once with mode='resume'")
        async with self._slots:
            reply = await self._ask(prompt, check)
        self.usage = _sum_of(self.usage, reply.usage) or {}
        if self._store is not None and reply.error is None:
            self._store.put(key, reply, judge=self._judge.name, sampling=self._sampling, prompt=prompt)
        return reply

    async def _ask(self, prompt: Prompt, check: Check | None) -> Reply:
        """Ask, and once more if the answer came but cannot be used."""
        first = await self._ask_once(prompt)
        reply = _checked(prompt, first, check)
        if first.error is not None or reply.error is None:
            return reply
        again = _checked(prompt, await self._ask_once(prompt), check)
        return replace(again, usage=_sum_of(first.usage, again.usage))

    async def _ask_once(self, prompt: Prompt) -> Reply:
        if self._stopped:
            return Reply("", error=self._stopped)
        if self._end is not None and asyncio.get_running_loop().time() >= self._end:
            return Reply("", error=f"deadline: not asked, the {self._seconds:g} s of the run were over")
        self.asked += 1
        try:
            async with asyncio.timeout_at(self._end) as timer:
                reply = await self._judge.ask(prompt)
        except JudgeError as error:
            self._stopped = f"stopped: {error}"
            return Reply("", error=self._stopped)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return Reply("", error="failed: the judge cancelled its own call")
        except Exception as error:
            if timer.expired():
                return Reply("", error=f"deadline: no answer when the {self._seconds:g} s of the run were over")
            return Reply("", error=f"failed: {type(error).__name__}: {error}")
        if not isinstance(reply, Reply) or not isinstance(reply.text, str):
            return Reply("", error=f"failed: {self._judge.name} returned {reply!r:.80}; wanted a Reply with a text")
        return reply


def _checked(prompt: Prompt, reply: Reply, check: Check | None) -> Reply:
    """Return the reply, as an error if it is not usable. Its text stays."""
    if reply.error is not None:
        return reply
    if not reply.text.strip():
        return replace(reply, error="empty: the answer has no text")
    if check is None:
        return reply
    try:
        problem = check(prompt, reply)
    except Exception as error:  # the reply made the metric stumble: it cannot be read
        problem = f"{type(error).__name__}: {error}"
    return reply if problem is None else replace(reply, error=f"parse_error: {problem}")


def _sum_of(one: Mapping[str, int] | None, other: Mapping[str, int] | None) -> Mapping[str, int] | None:
    if one is None or other is None:
        return one or other
    return {kind: one.get(kind, 0) + other.get(kind, 0) for kind in {**one, **other}}


async def _gather(work: Sequence[Coroutine[object, object, _T]]) -> list[_T]:
    """Do the work at once; if one fails or all are cancelled, leave nothing running behind."""
    if len(work) == 1:
        return [await work[0]]
    tasks = [asyncio.create_task(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


@contextmanager
def reporter(progress: Callable[[Progress], object] | bool) -> Iterator[Callable[[Progress], object]]:
    """What a caller wants to see of a run, as a function: his own, a bar of tqdm for ``True``, nothing for ``False``.

    Raises:
        ConfigError: a bar was asked for, and tqdm is not installed.
    """
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
    with tqdm(desc="judging", unit="") as bar:

        def show(now: Progress) -> None:
            bar.total = now.total
            bar.set_postfix_str(f"{now.asked} asked, {now.reused} reused, {now.failed} failed", refresh=False)
            bar.update(now.done - bar.n)

        yield show
