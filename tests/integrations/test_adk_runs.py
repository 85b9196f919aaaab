"""A real google-adk agent, run in this process and over HTTP: what is recorded is what ADK records."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from google.adk.evaluation.eval_case import get_all_tool_calls
from google.adk.evaluation.evaluation_generator import EvaluationGenerator
from google.adk.runners import InMemoryRunner

from adk_scoring import Case, ScoringError, collect, evaluate
from adk_scoring.agents import adk_agent, adk_server, adk_server_apps

from .agents.trip.agent import root_agent
from .trip_cases import AGENTS, CASES, CRITERIA, FAILING, HELLO, PASSING, SKIPPED, expects


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """ADK's own server on the loopback interface, over a copy of the applications: it writes sessions beside them."""
    apps = tmp_path_factory.mktemp("server") / "apps"
    shutil.copytree(AGENTS, apps, ignore=shutil.ignore_patterns("__pycache__"))
    (apps / "__init__.py").unlink()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "google.adk.cli", "api_server", "--port", str(port), str(apps)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                adk_server_apps(url)
                break
            except ScoringError:
                assert process.poll() is None, "the server ended"
                time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.wait(20)


def recorded_by_adk(case: Case) -> list[tuple[list[tuple[str, dict[str, object]]], str]]:
    """The calls and the answer of each turn as ADK makes them of a session's events."""

    async def run() -> list[tuple[list[tuple[str, dict[str, object]]], str]]:
        from google.genai import types

        runner = InMemoryRunner(root_agent, app_name="trip")
        assert case.session is not None
        session = await runner.session_service.create_session(
            app_name="trip", user_id="ada", state=dict(case.session.state)
        )
        for turn in case.turns:
            message = types.Content(role="user", parts=[types.Part(text=turn.expected[0].user_text)])
            async for _ in runner.run_async(user_id="ada", session_id=session.id, new_message=message):
                pass
        session = await runner.session_service.get_session(app_name="trip", user_id="ada", session_id=session.id)
        turns = EvaluationGenerator.convert_events_to_eval_invocations(session.events)
        return [
            (
                [(call.name, dict(call.args)) for call in get_all_tool_calls(turn.intermediate_data)],
                "".join(part.text for part in turn.final_response.parts if part.text and not part.thought),
            )
            for turn in turns
        ]

    return asyncio.run(run())


def of(recorded: Case) -> list[tuple[list[tuple[str, dict[str, object]]], str]]:
    sides = [turn.actual for turn in recorded.turns]
    assert all(side is not None and side.error is None for side in sides)
    return [([(c.name, dict(c.args or {})) for c in s.tool_calls or ()], s.response or "") for s in sides if s]


def test_in_process_records_what_adk_records() -> None:
    recorded = collect(adk_agent(root_agent), CASES)
    assert [of(case) for case in recorded] == [recorded_by_adk(case) for case in CASES]
    assert [call.step for call in recorded[0].turns[0].actual.tool_calls] == [0, 0, 1]  # type: ignore[union-attr]
    usage = recorded[0].turns[0].actual.usage  # type: ignore[union-attr]
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.model_calls) == (30, 15, 3)


def test_over_http_records_what_adk_records(server: str) -> None:
    recorded = collect(adk_server(server), CASES, concurrency=3, repeats=2)
    assert [of(case) for case in recorded] == [recorded_by_adk(case) for case in CASES for _ in range(2)]
    assert len({case.session.session_id for case in recorded if case.session}) == 10


def test_a_run_is_evaluated_at_once() -> None:
    report = evaluate(collect(adk_agent(root_agent), CASES), CRITERIA)
    verdicts = {case.case_id: verdict for case, verdict in zip(report.cases, report.case_verdicts, strict=True)}
    assert verdicts == dict.fromkeys(PASSING, "passed") | {FAILING: "failed", SKIPPED: "not_evaluated"}


def test_all_applications_of_a_server_at_once(server: str) -> None:
    apps = adk_server_apps(server)
    assert sorted(apps) == ["echo", "trip"]
    recorded = collect(apps, CASES[:2])
    assert [case.set_id for case in recorded] == [f"trips @ {app}" for app in apps for _ in range(2)]
    said = {case.set_id: case.turns[-1].actual.response for case in recorded if case.turns[-1].actual}
    assert said == {"trips @ trip": "Hello, Ada!", "trips @ echo": "hello"}


def test_what_a_model_did_before_it_failed_is_kept() -> None:
    failing = expects("broken", HELLO, ("break it", [], None), HELLO)
    (recorded,) = collect(adk_agent(root_agent), [failing])
    first, second, third = (turn.actual for turn in recorded.turns)
    assert first is not None
    assert first.error is None
    assert second is not None
    assert second.error == "RuntimeError: the model is down"
    assert [call.name for call in second.tool_calls or ()] == ["get_weather"]
    assert third is None


def test_a_server_that_fails_is_an_error_of_the_turn(server: str) -> None:
    (recorded,) = collect(adk_server(server), [expects("broken", ("break it", [], None))])
    assert recorded.turns[0].actual is not None
    assert "status 500" in str(recorded.turns[0].actual.error)
    (nowhere,) = collect(adk_server(server, "no_such_app"), [expects("x", HELLO)])
    assert nowhere.turns[0].actual is not None
    assert nowhere.turns[0].actual.error
