"""Running agents over cases: what is recorded, in which order, and what becomes of agents that fail."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from adk_scoring import (
    Agent,
    Case,
    ConfigError,
    Invocation,
    ReadError,
    Session,
    ToolCall,
    Turn,
    collect,
    collect_async,
    evaluate,
    read,
)
from adk_scoring.event_loop import run
from adk_scoring.runner import Interrupted, RunProgress


def asks(case_id: str, *texts: str, **more: Any) -> Case:
    """A case that says `texts` and expects no call of any turn."""
    return Case(case_id, tuple(Turn(None, (Invocation(text, ()),)) for text in texts), **more)


def echo(user_text: str, *, session: Session) -> Invocation:
    return Invocation("", (ToolCall("say", {"text": user_text}),), user_text.upper())


def event(text: str | None = None, call: str | None = None, **more: Any) -> dict[str, Any]:
    part = {"functionCall": {"name": call, "args": {}}} if call else {"text": text}
    return {"author": "agent", "invocationId": "e1", "content": {"role": "model", "parts": [part]}, **more}


def actual(case: Case, turn: int = 0) -> Invocation:
    side = case.turns[turn].actual
    assert side is not None
    return side


# --- what is recorded -----------------------------------------------------------------------------------------------


def test_both_sides_are_there_in_the_order_of_the_input() -> None:
    cases = [asks(f"c{i}", f"q{i}") for i in range(20)]

    async def slow_first(user_text: str, *, session: Session) -> Invocation:
        await asyncio.sleep(0.02 - int(user_text[1:]) / 1000)
        return echo(user_text, session=session)

    recorded = collect(slow_first, cases, concurrency=20)
    assert [case.case_id for case in recorded] == [case.case_id for case in cases]
    assert [actual(case).response for case in recorded] == [f"Q{i}" for i in range(20)]
    assert [case.turns[0].expected for case in recorded] == [case.turns[0].expected for case in cases]
    assert [actual(case).user_text for case in recorded] == [f"q{i}" for i in range(20)]
    assert evaluate(recorded, {"trajectory_in_order_match": 1.0}).passed


def test_one_session_for_a_case_and_trial_with_a_copy_of_the_state() -> None:
    seen: list[tuple[str, str, str, list[str]]] = []

    def agent(user_text: str, *, session: Session) -> Invocation:
        session.state["said"].append(user_text)
        seen.append((session.app_name, session.user_id, session.session_id, list(session.state["said"])))
        return Invocation()

    given = asks("a", "one", "two", session=Session("app", "ada", {"said": []}))
    recorded = collect(agent, [given], repeats=3, concurrency=1)
    assert [case.trial for case in recorded] == [0, 1, 2]
    assert [said for *_, said in seen] == [["one"], ["one", "two"]] * 3
    assert {names[:2] for names in seen} == {("app", "ada")}
    ids = [name for _, _, name, _ in seen]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3
    assert [case.session.session_id for case in recorded if case.session] == ids[::2]
    assert given.session is not None
    assert given.session.state == {"said": []}
    assert all(case.session and case.session.state == {"said": []} for case in recorded)


def test_trials_of_the_input_stay_apart() -> None:
    recorded = collect(echo, [asks("a", "q", trial=trial) for trial in (0, 1)], repeats=2)
    assert [case.trial for case in recorded] == [0, 1, 2, 3]


def test_a_run_that_the_case_holds_is_replaced() -> None:
    old = Case("a", (Turn(Invocation("q", (), "old")),))
    (recorded,) = collect(echo, [old])
    assert actual(recorded).response == "Q"


def test_what_cannot_be_put_is_an_error() -> None:
    broken = Case("a", (), error="could not be read")
    empty = Case("b", ())
    recorded = collect(echo, [broken, empty])
    assert [case.error for case in recorded] == ["could not be read", "the case has no turn to put"]


def test_several_applications_have_a_set_each() -> None:
    seen = []

    def other(user_text: str, *, session: Session) -> Invocation:
        seen.append(session.app_name)
        return Invocation(response="other")

    cases = [asks("a", "q", set_id="s", set_name="Set"), asks("b", "q", source=("dir/hello.evalset.json", ""))]
    recorded = collect({"one": echo, "two": other}, cases)
    assert [(case.set_id, case.set_name) for case in recorded] == [
        ("s @ one", "Set @ one"),
        ("hello @ one", "hello @ one"),
        ("s @ two", "Set @ two"),
        ("hello @ two", "hello @ two"),
    ]
    assert seen == ["two", "two"]
    assert [actual(case).response for case in recorded] == ["Q", "Q", "other", "other"]


# --- what an agent may be and return --------------------------------------------------------------------------------


class Pydantic:
    """Like google-adk's events."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content

    def model_dump(self, *, mode: str, exclude_none: bool) -> dict[str, Any]:
        assert (mode, exclude_none) == ("json", True)
        return self.content


EVENTS = [event(call="search"), event("Found it.")]


def returns_a_list(user_text: str, *, session: Session) -> list[Any]:
    return EVENTS


async def awaits(user_text: str, *, session: Session) -> list[Any]:
    return EVENTS


def yields(user_text: str, *, session: Session) -> Iterator[Any]:
    yield from EVENTS


async def yields_async(user_text: str, *, session: Session) -> AsyncIterator[Any]:
    for each in EVENTS:
        yield each


def returns_objects(user_text: str, *, session: Session) -> list[Any]:
    return [Pydantic(each) for each in EVENTS]


def returns_a_coroutine(user_text: str, *, session: Session) -> Any:
    return awaits(user_text, session=session)


class Callable:
    async def __call__(self, user_text: str, *, session: Session) -> list[Any]:
        return EVENTS


AGENTS: list[Agent] = [
    returns_a_list,
    awaits,
    yields,
    yields_async,
    returns_objects,
    returns_a_coroutine,
    Callable(),
]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: getattr(agent, "__name__", "object"))
def test_events_become_the_turn(agent: Agent) -> None:
    (recorded,) = collect(agent, [asks("a", "q")])
    made = actual(recorded)
    assert (made.error, made.response, [call.name for call in made.tool_calls or ()]) == (None, "Found it.", ["search"])
    assert made.user_text == "q"
    assert made.duration is not None


def test_calls_in_any_form_and_the_agents_own_duration() -> None:
    def agent(user_text: str, *, session: Session) -> Invocation:
        calls: Any = ["look", ("search", {"q": 1}), {"tool_name": "book", "tool_input": None}]
        return Invocation(tool_calls=calls, duration=7.5)

    (recorded,) = collect(agent, [asks("a", "q")])
    assert actual(recorded).tool_calls == (ToolCall("look"), ToolCall("search", {"q": 1}), ToolCall("book"))
    assert actual(recorded).duration == 7.5


def test_no_events_are_a_turn_in_which_nothing_was_done() -> None:
    (recorded,) = collect(lambda text, *, session: [], [asks("a", "q")])
    assert (actual(recorded).tool_calls, actual(recorded).response, actual(recorded).error) == ((), None, None)


def test_an_agent_that_is_a_context_manager_is_entered_around_the_run() -> None:
    class Server:
        opened = 0
        closed = 0

        async def __aenter__(self) -> Server:
            self.opened += 1
            return self

        async def __aexit__(self, *_: object) -> None:
            self.closed += 1

        async def __call__(self, user_text: str, *, session: Session) -> Invocation:
            assert (self.opened, self.closed) == (1, 0)
            return Invocation()

    server = Server()
    recorded = collect(server, [asks(str(i), "q") for i in range(5)])
    assert all(actual(case).error is None for case in recorded)
    assert (server.opened, server.closed) == (1, 1)


def test_sync_agents_overlap() -> None:
    both = threading.Barrier(4)

    def agent(user_text: str, *, session: Session) -> Invocation:
        both.wait(10)
        return Invocation()

    recorded = collect(agent, [asks(str(i), "q") for i in range(4)], concurrency=4)
    assert [actual(case).error for case in recorded] == [None] * 4


# --- what goes wrong ------------------------------------------------------------------------------------------------


def raises(user_text: str, *, session: Session) -> Invocation:
    if user_text == "two":
        raise ValueError("no idea")
    return Invocation(response="ok")


async def hangs(user_text: str, *, session: Session) -> Invocation:
    await asyncio.sleep(0 if user_text != "two" else 60)
    return Invocation(response="ok")


def blocks(user_text: str, *, session: Session) -> Invocation:
    time.sleep(0 if user_text != "two" else 5)
    return Invocation(response="ok")


def exits(user_text: str, *, session: Session) -> Invocation:
    if user_text == "two":
        raise SystemExit(3)
    return Invocation(response="ok")


async def exits_async(user_text: str, *, session: Session) -> Invocation:
    return exits(user_text, session=session)


async def cancels_itself(user_text: str, *, session: Session) -> Invocation:
    if user_text == "two":
        raise asyncio.CancelledError
    return Invocation(response="ok")


async def times_out_itself(user_text: str, *, session: Session) -> Invocation:
    if user_text == "two":
        raise TimeoutError("upstream")
    return Invocation(response="ok")


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        (raises, "ValueError: no idea"),
        (hangs, "timeout: no answer within 0.2 s"),
        (blocks, "timeout: no answer within 0.2 s"),
        (exits, "RuntimeError: SystemExit: 3"),
        (exits_async, "SystemExit: 3"),
        (cancels_itself, "the agent cancelled its own call"),
        (times_out_itself, "TimeoutError: upstream"),
    ],
)
def test_a_turn_that_fails_is_an_error_and_ends_the_case(agent: Agent, why: str) -> None:
    bad, good = collect(agent, [asks("bad", "one", "two", "three"), asks("good", "one")], timeout=0.2)
    assert actual(bad, 0).response == "ok"
    assert actual(bad, 1).error == why
    assert bad.turns[2].actual is None
    assert actual(good).error is None
    (row,) = evaluate([bad], {"trajectory_f1": 1.0}).rows
    assert row.score.status == "error"
    assert [part.status for part in row.score.parts] == ["scored", "error", "error"]


async def stops_midway(user_text: str, *, session: Session) -> AsyncIterator[Any]:
    yield event(call="search")
    raise ValueError("lost")


async def hangs_midway(user_text: str, *, session: Session) -> AsyncIterator[Any]:
    yield event(call="search")
    await asyncio.sleep(60)


def blocks_midway(user_text: str, *, session: Session) -> Iterator[Any]:
    yield event(call="search")
    time.sleep(3)


@pytest.mark.parametrize("agent", [stops_midway, hangs_midway, blocks_midway])
def test_what_an_agent_did_before_it_failed_is_kept(agent: Agent) -> None:
    (recorded,) = collect(agent, [asks("a", "q")], timeout=0.2)
    assert actual(recorded).error in ("ValueError: lost", "timeout: no answer within 0.2 s")
    assert [call.name for call in actual(recorded).tool_calls or ()] == ["search"]


@pytest.mark.parametrize(
    ("nonsense", "why"),
    [
        (None, "returned NoneType"),
        (42, "returned int (42)"),
        ("text", "returned str"),
        ({"author": "a"}, "returned dict"),
        ([1, 2], "holds no ADK events"),
        ([{"role": "user", "content": "hi"}], "holds no ADK events"),
        ([event("a"), 3], "events[1]: found a number, wanted an object"),
        ([event("a"), event("b", invocationId="e2")], "the events of 2 turns"),
        ([event("a"), {"author": "x", "content": {"parts": 3}}], "cannot be read"),
        (Invocation(tool_calls=(3,)), "not usable"),  # type: ignore[arg-type]
        (Invocation(response=3), "not usable"),  # type: ignore[arg-type]
        (Invocation(tool_calls=(ToolCall("f", {"when": time}),)), "not usable"),
        (Invocation(metadata={"x": object()}), "not usable"),
        (Invocation(usage=3), "not usable"),  # type: ignore[arg-type]
    ],
)
def test_nonsense_is_an_error_that_says_what_was_wanted(nonsense: Any, why: str, tmp_path: Path) -> None:
    (recorded,) = collect(lambda text, *, session: nonsense, [asks("a", "q")], resume=tmp_path / "runs.jsonl")
    assert why in str(actual(recorded).error)
    (back,) = read(tmp_path / "runs.jsonl")
    assert actual(back).error == actual(recorded).error


def test_events_read_with_a_tolerance_give_one_warning() -> None:
    answer = {"functionResponse": {"name": "f", "id": "1", "response": {}}}
    stray = event("ok") | {"content": {"role": "user", "parts": [answer]}}
    with pytest.warns(match="a function response without a call") as caught:
        collect(lambda text, *, session: [stray, event("ok")], [asks(str(i), "q") for i in range(3)])
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("options", "error", "why"),
    [
        ({"concurrency": 0}, ConfigError, "concurrency is a whole number from 1"),
        ({"repeats": True}, ConfigError, "repeats is a whole number from 1"),
        ({"timeout": 0}, ConfigError, "above 0"),
        ({"agent": 3}, ConfigError, "not an agent"),
        ({"agent": {}}, ConfigError, "no agent"),
        ({"cases": ["weather.json"]}, TypeError, r"read with read\(path\)"),
        ({"times": 2}, TypeError, "times"),
    ],
)
def test_what_cannot_be_run_is_refused(options: dict[str, Any], error: type[Exception], why: str) -> None:
    given: dict[str, Any] = {"agent": echo, "cases": [asks("a", "q")]}
    with pytest.raises(error, match=why):
        collect(**(given | options))


# --- around the run -------------------------------------------------------------------------------------------------


def test_results_and_progress_are_told_as_they_come() -> None:
    results: list[Case] = []
    progress: list[RunProgress] = []
    cases = [asks("a", "one", "two"), asks("b", "one"), asks("c", "one")]
    recorded = collect(raises, cases, on_result=results.append, progress=progress.append)
    assert sorted(case.case_id for case in results) == ["a", "b", "c"]
    assert all(case in recorded for case in results)
    assert [(now.done, now.total) for now in progress] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert progress[-1] == RunProgress(3, 3, 0, 1)


def test_a_bar_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    collect(echo, [asks("a", "q")], progress=True)
    assert "1/1" in capsys.readouterr().err


def test_a_bar_needs_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tqdm", None)
    with pytest.raises(ConfigError, match="install tqdm"):
        collect(echo, [asks("a", "q")], progress=True)


def test_an_error_of_the_caller_ends_the_run() -> None:
    def stop(case: Case) -> None:
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        collect(echo, [asks("a", "q"), asks("b", "q")], on_result=stop)


def test_inside_a_running_loop() -> None:
    async def notebook() -> list[Case]:
        return [*collect(echo, [asks("a", "q")]), *await collect_async(echo, [asks("b", "q")])]

    assert [actual(case).response for case in run(notebook())] == ["Q", "Q"]


def test_ctrl_c_loses_nothing(tmp_path: Path) -> None:
    def interrupted(case: Case) -> None:
        if case.case_id == "c":
            signal.raise_signal(signal.SIGINT)

    cases = [asks(name, "q") for name in "abcdef"]
    with pytest.raises(Interrupted, match="3 of 6 cases were recorded, in the attribute 'cases'") as stopped:
        collect(echo, cases, concurrency=1, on_result=interrupted)
    assert [case.case_id for case in stopped.value.cases] == ["a", "b", "c"]
    path = tmp_path / "runs.jsonl"
    with pytest.raises(Interrupted, match=r"runs.jsonl, and the same call goes on from there"):
        collect(echo, cases, concurrency=1, on_result=interrupted, resume=path)
    again: list[Case] = []
    assert len(collect(echo, cases, on_result=again.append, resume=path)) == 6
    assert sorted(case.case_id for case in again) == ["d", "e", "f"]


# --- going on after a stop ----------------------------------------------------------------------------------------


class Counting:
    """An agent that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, user_text: str, *, session: Session) -> Invocation:
        self.asked.append(user_text)
        if user_text == "bad":
            raise ValueError("bad")
        return echo(user_text, session=session)


def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    path, agent = tmp_path / "runs.jsonl", Counting()
    cases = [asks("a", "one", "two", session=Session("app", "u", {"n": [1]})), asks("b", "bad")]
    first = collect(agent, cases, repeats=2, resume=path)
    assert collect(agent, cases, repeats=2, resume=path) == first
    assert sorted(agent.asked) == ["bad", "bad", "one", "one", "two", "two"]
    assert {case.case_id: actual(case) for case in read(path) if not case.trial} == {
        case.case_id: actual(case) for case in first if not case.trial
    }
    more = collect(agent, cases, repeats=3, resume=path)
    assert sorted(agent.asked) == ["bad", "bad", "bad", *["one"] * 3, *["two"] * 3]
    assert [case.trial for case in more] == [0, 1, 2, 0, 1, 2]


def test_errors_are_run_again_when_asked_to(tmp_path: Path) -> None:
    path, agent = tmp_path / "runs.jsonl", Counting()
    collect(agent, [asks("a", "ok"), asks("b", "bad")], resume=path)
    collect(agent, [asks("a", "ok"), asks("b", "bad")], resume=path, retry_errors=True)
    assert sorted(agent.asked) == ["bad", "bad", "ok"]
    assert len(read(path)) == 2


def test_a_half_written_line_is_dropped(tmp_path: Path) -> None:
    path, agent = tmp_path / "runs.jsonl", Counting()
    cases = [asks(name, name) for name in "abc"]
    first = collect(agent, cases, concurrency=1, resume=path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 9])
    agent.asked.clear()
    second = collect(agent, cases, resume=path)
    assert agent.asked == ["c"]
    assert second[:2] == first[:2]
    assert [case.case_id for case in read(path)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "changed",
    [
        asks("a", "another question"),
        asks("a", "q", "and more"),
        asks("a", "q", session=Session("app", "u", {"n": 2})),
        asks("a", "q", session=Session("app", "someone", {"n": 1})),
    ],
)
def test_a_case_that_puts_something_else_is_run_again(tmp_path: Path, changed: Case) -> None:
    path, agent = tmp_path / "runs.jsonl", Counting()
    same = asks("b", "same")
    collect(agent, [asks("a", "q", session=Session("app", "u", {"n": 1})), same], resume=path)
    agent.asked.clear()
    recorded = collect(agent, [changed, same], resume=path)
    assert agent.asked == [turn.expected[0].user_text for turn in changed.turns]
    assert sorted(case.case_id for case in read(path)) == ["a", "b"]  # the old run is gone
    assert len(recorded[0].turns) == len(changed.turns)


def test_a_case_that_expects_something_else_is_not(tmp_path: Path) -> None:
    path, agent = tmp_path / "runs.jsonl", Counting()
    collect(agent, [asks("a", "q")], resume=path)
    wanted = (Invocation("q", (ToolCall("say", {"text": "q"}),)),)
    (recorded,) = collect(agent, [Case("a", (Turn(None, wanted),), tags=("new",))], resume=path)
    assert agent.asked == ["q"]
    assert (recorded.turns[0].expected, recorded.tags) == (wanted, ("new",))
    assert evaluate([recorded], {"trajectory_exact_match": 1.0}).passed


def test_one_file_serves_several_runs_and_cases_of_one_name(tmp_path: Path) -> None:
    path, agent = tmp_path / "runs.jsonl", Counting()
    twins = [asks("a", "one"), asks("a", "two"), asks("a", "one")]
    first = collect(agent, twins, resume=path)
    collect(agent, [asks("z", "three")], resume=path)
    assert collect(agent, twins, resume=path) == first
    assert sorted(agent.asked) == ["one", "one", "three", "two"]
    assert path.read_bytes().count(b"\n") == 4


@pytest.mark.parametrize("content", ['{"case_id": "a", "turns": []}\n', "hello\n", "[1]\n", '{"run_of": "x"}\n'])
def test_another_file_is_not_touched(tmp_path: Path, content: str) -> None:
    path = tmp_path / "precious.jsonl"
    path.write_text(content)
    with pytest.raises(ReadError, match=r"precious.jsonl: line 1: not a line of a recorded run"):
        collect(echo, [asks("a", "q")], resume=path)
    assert path.read_text() == content
