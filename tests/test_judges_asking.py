"""The driver: order, repeats, failures, rounds, the store, deadline, cancelling; and judges made of functions."""

from __future__ import annotations

import asyncio
import builtins
import contextvars
import functools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adk_scoring
from adk_scoring.errors import ConfigError, JudgeError
from adk_scoring.evidence import Evidence
from adk_scoring.judges import Judge, Progress, VerdictStore, ask_all, judge_cases, judge_from
from adk_scoring.metrics.base import Metric, Prompt, Reply, Score
from adk_scoring.model import Case

from .gemini_server import Answer, GeminiServer, text

CASE = Evidence(Case("a", ()))


def prompt(content: str, **more: Any) -> Prompt:
    return Prompt(content, "Is it polite?", content, **more)


@dataclass
class Scripted:
    """A judge that answers what a function says, and remembers what it was asked."""

    answer: Callable[[Prompt], Any] = lambda prompt: Reply(prompt.content.upper(), {"output_tokens": 1})
    name: str = "scripted"
    delay: float = 0.0
    asked: list[str] = field(default_factory=list)
    now: int = 0
    most_at_once: int = 0

    async def ask(self, prompt: Prompt) -> Reply:
        self.asked.append(prompt.content)
        self.now += 1
        self.most_at_once = max(self.most_at_once, self.now)
        try:
            await asyncio.sleep(self.delay)
            answer = self.answer(prompt)
        finally:
            self.now -= 1
        if isinstance(answer, BaseException):
            raise answer
        return answer  # type: ignore[no-any-return]  # a wrong one is part of the tests


def ask(judge: Judge, *contents: str, **more: Any) -> list[Reply]:
    return asyncio.run(ask_all([prompt(content) for content in contents], judge, **more))


@given(st.lists(st.sampled_from("abcdef"), max_size=30), st.integers(1, 9))
def test_order_is_kept_and_each_question_is_asked_once(contents: list[str], concurrency: int) -> None:
    judge = Scripted()
    replies = ask(judge, *contents, concurrency=concurrency)
    assert [reply.text for reply in replies] == [content.upper() for content in contents]
    assert Counter(judge.asked) == Counter(set(contents))


def test_a_reply_without_a_text_is_an_error() -> None:
    broken: Any = Reply(None)  # type: ignore[arg-type]  # a careless judge
    assert (ask(Scripted(lambda _: broken), "a")[0].error or "").endswith("wanted a Reply with a text")


def test_a_repeat_with_another_sample_index_is_another_question() -> None:
    judge = Scripted()
    asyncio.run(ask_all([prompt("a", sample=index) for index in (0, 1, 2, 1)], judge))
    assert judge.asked == ["a"] * 3


def test_no_more_at_once_than_allowed() -> None:
    judge = Scripted(delay=0.005)
    ask(judge, *(str(i) for i in range(30)), concurrency=4)
    assert judge.most_at_once == 4
    judge.concurrency = 6  # type: ignore[attr-defined]  # judges may say it themselves
    ask(judge, *(str(i) for i in range(30)))
    assert judge.most_at_once == 6


@pytest.mark.parametrize(
    ("answer", "error", "asked"),
    [
        (ValueError("no"), "failed: ValueError: no", 1),
        (TimeoutError(), "failed: TimeoutError: ", 1),
        (asyncio.CancelledError(), "failed: the judge cancelled its own call", 1),
        (None, "failed: scripted returned None; wanted a Reply with a text", 1),
        ("yes", "failed: scripted returned 'yes'; wanted a Reply with a text", 1),
        (Reply("", error="blocked: SAFETY"), "blocked: SAFETY", 1),
        (Reply(" \n"), "empty: the answer has no text", 2),
        (Reply("maybe"), "parse_error: neither yes nor no", 2),
        (Reply("stumble"), "parse_error: KeyError: 'verdict'", 2),
    ],
)
def test_what_goes_wrong_with_a_question_is_an_error_of_its_reply_alone(answer: object, error: str, asked: int) -> None:
    def check(question: Prompt, reply: Reply) -> str | None:
        if reply.text == "stumble":
            raise KeyError("verdict")
        return None if reply.text in ("yes", "no") else "neither yes nor no"

    judge = Scripted(lambda question: answer if question.content == "bad" else Reply("yes"))
    with VerdictStore(":memory:") as store:
        before, bad, after = ask(judge, "a", "bad", "b", check=check, store=store, concurrency=1)
        assert len(store) == 2  # only what can be used is kept
    assert (before, after) == (Reply("yes"), Reply("yes"))
    assert bad.error == error
    assert bad.text == (answer.text if isinstance(answer, Reply) else "")  # kept, to be looked at
    assert judge.asked.count("bad") == asked


def test_a_second_answer_that_can_be_used_is_used_and_both_are_counted() -> None:
    answers = iter([Reply("hm", {"input_tokens": 5, "output_tokens": 1}), Reply("yes", {"input_tokens": 5})])
    [reply] = ask(Scripted(lambda _: next(answers)), "a", check=lambda _, reply: None if reply.text == "yes" else "no")
    assert reply == Reply("yes", {"input_tokens": 10, "output_tokens": 1})
    answers = iter([Reply("hm", {"input_tokens": 5}), Reply("", error="unavailable: gone")])
    [reply] = ask(Scripted(lambda _: next(answers)), "a", check=lambda *_: "no")
    assert (reply.error, reply.usage) == ("unavailable: gone", {"input_tokens": 5})


def test_a_judge_that_cannot_be_asked_at_all_stops_the_run() -> None:
    judge = Scripted(lambda _: JudgeError("wrong key"))
    replies = ask(judge, *"abcdefgh", concurrency=2)
    assert {reply.error for reply in replies} == {"stopped: wrong key"}
    assert judge.asked == ["a", "b"]


def test_the_deadline_of_a_run() -> None:
    judge = Scripted(lambda question: Reply("yes"), delay=0.0)
    slow = Scripted(lambda question: Reply("yes"), delay=5.0)
    started = time.monotonic()
    first, second = ask(slow, "a", "b", deadline=0.1, concurrency=1)
    assert time.monotonic() - started < 2
    assert first.error == "deadline: no answer when the 0.1 s of the run were over"
    assert second.error == "deadline: not asked, the 0.1 s of the run were over"
    assert slow.asked == ["a"]
    assert ask(judge, "a", deadline=60)[0].error is None


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"judge": lambda prompt: "yes"}, "is not a judge"),
        ({"judge": Scripted(name=None)}, "is not a judge"),  # type: ignore[arg-type]  # that is the test
        ({"concurrency": 0}, "concurrency is at least 1"),
        ({"deadline": 0}, "deadline is a number of seconds above 0"),
    ],
)
def test_arguments_that_are_not_usable(more: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        asyncio.run(ask_all([prompt("a")], **{"judge": Scripted(), **more}))


def test_nothing_to_ask() -> None:
    assert asyncio.run(ask_all([], Scripted())) == []
    assert asyncio.run(judge_cases([], Scripted())) == []


# The store


def test_what_is_in_the_store_is_not_asked(tmp_path: Path) -> None:
    with VerdictStore(tmp_path / "v.db") as store:
        first = ask(Scripted(), "a", "b", store=store)
        judge = Scripted()
        seen: list[Progress] = []
        replies = ask(judge, "a", "b", "c", "a", store=store, progress=seen.append, concurrency=1)
    assert replies[:2] == first
    assert judge.asked == ["c"]
    assert seen[-1] == Progress(done=4, total=4, asked=1, reused=2, failed=0, usage={"output_tokens": 1})


def test_a_stored_verdict_that_the_metric_does_not_accept_any_more_is_asked_again_and_replaced() -> None:
    with VerdictStore(":memory:") as store:
        ask(Scripted(), "a", store=store)
        judge = Scripted(lambda _: Reply("yes"))
        only_yes: Any = lambda _, reply: None if reply.text == "yes" else "no yes"  # noqa: E731
        for _ in range(2):
            assert ask(judge, "a", store=store, check=only_yes)[0].text == "yes"
    assert judge.asked == ["a"]


def test_settings_of_the_judge_are_a_part_of_what_is_stored() -> None:
    warm, cold = Scripted(), Scripted()
    warm.sampling, cold.sampling = {"temperature": 1.0}, {"temperature": 0.0}  # type: ignore[attr-defined]
    with VerdictStore(":memory:") as store:
        for judge in (warm, cold, warm, cold):
            ask(judge, "a", store=store)
        assert len(store) == 2
    assert warm.asked == cold.asked == ["a"]


def test_replaying_asks_nobody() -> None:
    with VerdictStore(":memory:") as store:
        ask(Scripted(), "a", store=store)
        store.mode = "replay"
        judge = Scripted(lambda _: AssertionError("asked"))
        hit, miss = ask(judge, "a", "b", store=store)
    assert hit == Reply("A", {"output_tokens": 1})
    assert miss.error == ("replay: no usable verdict of scripted on 'b' in :memory:; run once with mode='resume'")
    assert judge.asked == []


def test_a_store_that_cannot_be_written_ends_the_run_before_more_is_paid_for(tmp_path: Path) -> None:
    with VerdictStore(tmp_path / "v.db") as store:
        store._connection.execute("PRAGMA query_only=1")
        judge = Scripted(delay=0.01)
        with pytest.raises(JudgeError, match=r"v\.db: the verdict store cannot be used: "):
            ask(judge, *"abcdefghijkl", store=store, concurrency=3)
    assert len(judge.asked) == 3


def test_a_cancelled_run_keeps_what_it_has(tmp_path: Path) -> None:
    with VerdictStore(tmp_path / "v.db") as store:
        judge = Scripted(delay=0.01)

        async def run() -> int:
            task = asyncio.create_task(ask_all([prompt(str(i)) for i in range(200)], judge, store=store))
            while len(store) < 40:
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return len(asyncio.all_tasks())

        assert asyncio.run(run()) == 1  # nothing is left running
        kept = len(store)
        rest = Scripted()
        replies = ask(rest, *(str(i) for i in range(200)), store=store)
    assert 40 <= kept < 200
    assert len(rest.asked) == 200 - kept
    assert all(reply.error is None for reply in replies)


def test_a_failure_of_the_caller_s_own_progress_leaves_nothing_running() -> None:
    def stop(now: Progress) -> None:
        raise RuntimeError(f"enough after {now.done}")

    async def run() -> int:
        with pytest.raises(RuntimeError, match="enough after 1"):
            await ask_all([prompt(c) for c in "abcdef"], Scripted(delay=0.01), progress=stop, concurrency=3)
        return len(asyncio.all_tasks())

    assert asyncio.run(run()) == 1


ASK_200 = """
import asyncio, json, sys
from adk_scoring.judges import GeminiJudge, VerdictStore, ask_all
from adk_scoring.metrics.base import Prompt
url, path = sys.argv[1:]
judge = GeminiJudge("gemini-test", client_options={"api_key": "none", "http_options": {"base_url": url}})
prompts = [Prompt(f"question {i}", "Polite?", f"question {i}") for i in range(200)]
replies = asyncio.run(ask_all(prompts, judge, store=VerdictStore(path)))
print(json.dumps([reply.text for reply in replies]))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "ctrl-c"])
def test_a_run_of_200_that_is_ended_half_way_asks_only_the_rest(tmp_path: Path, how: signal.Signals) -> None:
    path = tmp_path / "v.db"
    drop = ("GOOGLE_", "GEMINI_", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(drop)}
    environment["PYTHONPATH"] = str(Path(adk_scoring.__file__).parents[1])

    def start(server: GeminiServer) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", ASK_200, server.url, str(path)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    with GeminiServer(lambda request: Answer(text(request.text.upper()).body, delay=0.01)) as server:
        process = start(server)
        while len(server.requests) < 100:
            time.sleep(0.002)
        process.send_signal(how)
        errors = process.communicate(timeout=30)[1]
        asked_before = {request.text for request in server.requests}
        del server.requests[:]
        with VerdictStore(path) as store:
            kept = len(store)
        output = start(server).communicate(timeout=30)[0]
        asked_after = [request.text for request in server.requests]
    assert process.returncode == -how
    assert ("KeyboardInterrupt" in errors) == (how == signal.SIGINT)
    # Only the eight in flight may have been asked and not been kept.
    assert len(asked_before) - 8 <= kept < 200
    assert len(asked_after) == len(set(asked_after)) == 200 - kept
    assert json.loads(output) == [f"QUESTION {i}" for i in range(200)]


# Metrics that ask in rounds


@dataclass(frozen=True)
class Sentences(Metric):
    """First asks for sentences, then about each of them."""

    label: str = "s"

    @property
    def name(self) -> str:
        return "sentences"

    def prompts(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Sequence[Prompt]:
        if not replies:
            return [Prompt("split", "Split.", self.label)]
        if len(replies) == 1 and replies[0].error is None:
            return [Prompt(sentence, "True?", sentence) for sentence in replies[0].text.split(".") if sentence]
        return []

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        return Score(self.name, len(replies) / 10)

    def reply_problem(self, prompt: Prompt, reply: Reply) -> str | None:
        return "unclear" if reply.text == "?" else None


def split(question: Prompt) -> Reply:
    if question.key != "split":
        return Reply("?" if question.content.endswith("odd") else "yes")
    return Reply(f"{question.content} one.common.{question.content} odd")


def test_rounds_of_many_cases() -> None:
    judge = Scripted(split, delay=0.001)
    metrics = [Sentences(f"case {i}") for i in range(30)]
    seen: list[Progress] = []
    with VerdictStore(":memory:") as store:
        everything = asyncio.run(judge_cases([(m, CASE) for m in metrics], judge, store=store, progress=seen.append))
        assert len(store) == 30 + 30 + 1
        again = Scripted(lambda question: Reply("?"))
        second = asyncio.run(judge_cases([(m, CASE) for m in metrics], again, store=store))
    for i, replies in enumerate(everything):
        texts = [reply.text for reply in replies]
        assert texts == [f"case {i} one.common.case {i} odd", "yes", "yes", "?"]
        assert [reply.error for reply in replies] == [None, None, None, "parse_error: unclear"]
    # What all have in common was asked once, what could not be used twice.
    assert Counter(judge.asked) == {
        **{f"case {i}": 1 for i in range(30)},
        **{f"case {i} one": 1 for i in range(30)},
        "common": 1,
        **{f"case {i} odd": 2 for i in range(30)},
    }
    assert seen[-1] == Progress(done=30, total=30, asked=30 + 30 + 1 + 60, reused=0, failed=30)
    assert [now.done for now in seen] == list(range(1, 31))
    assert second == everything
    assert set(again.asked) == {f"case {i} odd" for i in range(30)}


def test_a_metric_that_asks_nothing_costs_nothing() -> None:
    class Silent(Sentences):
        def prompts(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Sequence[Prompt]:
            return ()

    judge = Scripted()
    assert asyncio.run(judge_cases([(Silent(), CASE)] * 3, judge)) == [[], [], []]
    assert judge.asked == []


def test_a_metric_that_raises_spoils_no_other() -> None:
    class Raises(Sentences):
        def prompts(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Sequence[Prompt]:
            if replies:
                raise KeyError("rubric")
            return super().prompts(evidence, replies)

    class Endless(Sentences):
        def prompts(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Sequence[Prompt]:
            return [prompt(str(len(replies)))]

    bad, endless, good = asyncio.run(
        judge_cases([(Raises(), CASE), (Endless(), CASE), (Sentences(), CASE)], Scripted(split))
    )
    assert [reply.error for reply in bad] == [None, "failed: KeyError: 'rubric'"]
    assert endless[-1].error == "failed: sentences still had questions after 20 rounds"
    assert len(endless) == 21
    assert len(good) == 4


def test_a_metric_accepts_every_answer_unless_it_says_otherwise() -> None:
    assert Metric.reply_problem(Sentences(), prompt("a"), Reply("anything")) is None


# Connections


class Connected(Scripted):
    """A judge with something to open and to close."""

    async def __aenter__(self) -> Connected:
        self.asked.append("open")
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self.asked.append("close")


def test_connections_are_open_for_the_run() -> None:
    judge = Connected()
    ask(judge, "a", "b", concurrency=1)
    assert judge.asked == ["open", "a", "b", "close"]


# Progress


def test_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    ask(Scripted(), *"abcde", progress=True)
    shown = capsys.readouterr().err
    assert "judging: 100%" in shown
    assert "5/5" in shown
    assert "5 asked, 0 reused, 0 failed" in shown


def test_a_bar_without_tqdm_says_what_to_do_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *more: Any) -> Any:
        if name == "tqdm":
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    judge = Scripted()
    with pytest.raises(ConfigError, match="install tqdm"):
        ask(judge, "a", progress=True)
    assert judge.asked == []


# Judges made of functions


async def shout(question: Prompt) -> str:
    await asyncio.sleep(0)
    return question.content.upper()


class Shouting:
    async def __call__(self, question: Prompt) -> str:
        return await shout(question)


@pytest.mark.parametrize(
    "function",
    [
        lambda question: question.content.upper(),
        lambda question: Reply(question.content.upper()),
        shout,
        functools.partial(shout),
        Shouting(),
        lambda question: shout(question),
    ],
    ids=["plain", "gives a reply", "async", "partial", "object", "gives an awaitable"],
)
def test_a_function_as_judge(function: Callable[[Prompt], Any]) -> None:
    judge = judge_from(function, name="shout")
    assert isinstance(judge, Judge)
    assert repr(judge) == "<judge shout>"
    assert ask(judge, "a", "b") == [Reply("A"), Reply("B")]


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (ValueError("no"), "failed: ValueError: no"),
        (StopIteration(), "failed: RuntimeError: coroutine raised StopIteration"),
        (SystemExit(3), "failed: RuntimeError: SystemExit: 3"),
        (JudgeError("wrong key"), "stopped: wrong key"),
    ],
)
def test_a_function_that_raises(raised: BaseException, error: str) -> None:
    def function(question: Prompt) -> str:
        raise raised

    assert ask(judge_from(function, name="f"), "a")[0].error == error


def test_a_function_that_returns_something_else() -> None:
    assert ask(judge_from(lambda _: 0.7, name="f"), "a")[0].error == "failed: f returned float; wanted a str or a Reply"


def test_a_function_of_a_text() -> None:
    given: list[str] = []

    def function(text: str) -> str:
        given.append(text)
        return "yes"

    judge = judge_from(function, name="f", as_text=True)
    asyncio.run(
        ask_all([Prompt("1", "Polite?", "Hello!"), Prompt("2", "Polite?", "Hello!", '{"type": "object"}')], judge)
    )
    assert sorted(given, key=len) == [
        "Polite?\n\nHello!",
        "Polite?\n\nAnswer with one JSON document that satisfies this JSON Schema, and nothing else:\n"
        '{"type": "object"}\n\nHello!',
    ]


def test_plain_functions_run_in_as_many_threads_as_wanted_with_the_caller_s_context() -> None:
    who = contextvars.ContextVar[str]("who")
    together = threading.Barrier(40, timeout=20)  # passes only if all forty wait at once

    def function(question: Prompt) -> str:
        together.wait()
        return who.get()

    who.set("me")
    replies = ask(judge_from(function, name="f", concurrency=40), *(str(i) for i in range(40)))
    assert {reply.text for reply in replies} == {"me"}


def test_a_plain_function_that_hangs_holds_up_nobody() -> None:
    release, left = threading.Event(), threading.Event()

    def function(question: Prompt) -> str:
        release.wait(20)
        left.set()
        return "late"

    started = time.monotonic()
    [reply] = ask(judge_from(function, name="f"), "a", deadline=0.05)
    assert time.monotonic() - started < 5
    assert (reply.error or "").startswith("deadline: ")
    release.set()  # its loop is closed: the late answer goes nowhere, quietly
    assert left.wait(5)


def test_a_late_answer_in_a_loop_that_is_still_there_goes_nowhere() -> None:
    release = threading.Event()

    async def run() -> str | None:
        judge = judge_from(lambda _: release.wait(20) and "late", name="f")
        [reply] = await ask_all([prompt("a")], judge, deadline=0.05)
        release.set()
        await asyncio.sleep(0.05)
        return reply.error

    assert (asyncio.run(run()) or "").startswith("deadline: ")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"function": "gpt"}, "takes a function"),
        ({"name": ""}, "needs a name"),
        ({"concurrency": 0}, "at least 1"),
    ],
)
def test_what_no_judge_can_be_made_of(more: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        judge_from(**{"function": shout, "name": "f", **more})


def test_a_store_on_another_thread() -> None:
    """Inside a running loop the driver runs in a thread that did not make the store."""
    with VerdictStore(":memory:") as store:

        async def notebook() -> list[Reply]:
            return await asyncio.to_thread(ask, Scripted(), "a", store=store)

        assert asyncio.run(notebook())[0].text == "A"
        assert len(store) == 1
        assert isinstance(store._connection, sqlite3.Connection)
