"""The ready agents: any function, an ADK server (one of our own on the loopback interface), google-adk in process."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest

from adk_scoring import Agent, Case, ConfigError, Invocation, ScoringError, Session, ToolCall, Turn, collect
from adk_scoring.agents import adk_agent, adk_server, adk_server_apps, function_agent


def asks(case_id: str, *texts: str, **more: Any) -> Case:
    return Case(case_id, tuple(Turn(None, (Invocation(text, ()),)) for text in texts), **more)


def actual(case: Case, turn: int = 0) -> Invocation:
    side = case.turns[turn].actual
    assert side is not None
    return side


# --- any function -----------------------------------------------------------------------------------------------------


async def shouts(text: str) -> str:
    return text.upper()


@pytest.mark.parametrize(
    ("function", "calls", "response"),
    [
        (str.upper, (), "HELLO"),
        (shouts, (), "HELLO"),
        (lambda text: {"response": text, "calls": [("f", {"x": 1})]}, (ToolCall("f", {"x": 1}),), "hello"),
        (lambda text: {"response": text}, (), "hello"),
        (lambda text: Invocation(response="own"), (), "own"),
    ],
)
def test_any_function(function: Any, calls: tuple[ToolCall, ...], response: str) -> None:
    (recorded,) = collect(function_agent(function), [asks("a", "hello")])
    assert (actual(recorded).tool_calls, actual(recorded).response) == (calls, response)


def test_a_function_that_returns_something_else() -> None:
    other, wrong = (
        actual(collect(function_agent(function), [asks("a", "hello")])[0]).error
        for function in (lambda text: 3, lambda text: {"answer": text})
    )
    assert "returned int (3)" in str(other)
    assert "['answer']; wanted 'response' and 'calls'" in str(wrong)


# --- an ADK server ----------------------------------------------------------------------------------------------------


@dataclass
class Fake:
    """A server that speaks ADK's protocol and remembers what it was asked."""

    url: str = ""
    apps: Any = field(default_factory=lambda: ["trip"])
    sessions: dict[str, dict[str, Any]] = field(default_factory=dict)
    headers: list[str] = field(default_factory=list)
    own_ids: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if path == "/list-apps":
            return 200, self.apps
        if path.endswith("/sessions"):
            with self.lock:
                name = f"own{len(self.sessions)}" if self.own_ids else body["sessionId"]
                assert name not in self.sessions
                self.sessions[name] = {"path": unquote(path), "state": body["state"], "said": []}
            return 200, {"id": name}
        session = self.sessions[body["sessionId"]]
        text = body["newMessage"]["parts"][0]["text"]
        session["said"].append((body["appName"], body["userId"], text))
        if text == "fail":
            return 500, {"detail": "Internal Server Error"}
        if text == "garbage":
            return 200, b"<html>"
        if text == "object":
            return 200, {"error": "x"}
        part = {"functionCall": {"name": "look", "args": {"at": text}}}
        content = ({"role": "model", "parts": [part]}, {"role": "model", "parts": [{"text": text.upper()}]})
        return 200, [{"author": "agent", "invocationId": "e", "content": each} for each in content]


@pytest.fixture
def server() -> Iterator[Fake]:
    fake = Fake()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply("GET", None)

        def do_POST(self) -> None:
            self.reply("POST", json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def reply(self, method: str, body: Any) -> None:
            fake.headers.append(self.headers.get("X-Key", ""))
            status, answer = fake.answer(method, self.path, body)
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        fake.url = f"http://127.0.0.1:{http.server_address[1]}"
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield fake
        http.shutdown()
        thread.join()


@pytest.mark.parametrize("own_ids", [False, True], ids=["our session ids", "its own session ids"])
def test_a_server_runs_each_case_in_a_session(server: Fake, own_ids: bool) -> None:
    server.own_ids = own_ids
    cases = [asks("a", "one", "two", session=Session("trip", "ada l/x", {"n": 1})), asks("b", "three")]
    first, second = collect(adk_server(f"{server.url}/", headers={"X-Key": "k"}), cases, repeats=2)[::2]
    assert [actual(first, turn).response for turn in (0, 1)] == ["ONE", "TWO"]
    assert actual(second).tool_calls == (ToolCall("look", {"at": "three"}, author="agent", step=0),)
    assert len(server.sessions) == 4
    ada = [session for session in server.sessions.values() if session["state"]]
    assert [session["path"] for session in ada] == ["/apps/trip/users/ada l/x/sessions"] * 2
    assert [session["said"] for session in ada] == [[("trip", "ada l/x", "one"), ("trip", "ada l/x", "two")]] * 2
    assert set(server.headers) == {"k"}


def test_every_application_that_the_server_lists(server: Fake) -> None:
    server.apps = ["trip", "echo"]
    assert list(adk_server_apps(server.url)) == ["trip", "echo"]
    recorded = collect(adk_server_apps(server.url, ["echo"]), [asks("a", "q", set_id="s")])
    assert [case.set_id for case in recorded] == ["s @ echo"]
    with pytest.raises(ConfigError, match="no application 'nope'; it lists trip, echo"):
        adk_server_apps(server.url, ["nope"])


def test_a_server_outside_of_a_run(server: Fake) -> None:
    events: Any = asyncio.run(adk_server(server.url)("q", session=Session("trip", session_id="s1")))  # type: ignore[arg-type]
    assert [event["author"] for event in events] == ["agent", "agent"]


def test_what_a_server_answers_wrongly_is_an_error_of_the_turn(server: Fake) -> None:
    texts = ("fail", "garbage", "object")
    recorded = collect(adk_server(server.url), [asks(text, text) for text in texts])
    errors = [str(actual(case).error) for case in recorded]
    assert '/run: status 500: {"detail": "Internal Server Error"}' in errors[0]
    assert "/run: the answer is not JSON: '<html>'" in errors[1]
    assert "returned dict" in errors[2]


def test_which_application_must_be_clear(server: Fake) -> None:
    server.apps = ["trip", "echo"]
    (recorded,) = collect(adk_server(server.url), [asks("a", "q")])
    assert "which application? It lists trip, echo" in str(actual(recorded).error)
    server.apps = {"apps": []}
    with pytest.raises(ScoringError, match="wanted a list of names"):
        adk_server_apps(server.url)


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(ScoringError, match=r"http://127.0.0.1:9/list-apps: ConnectError"):
        adk_server_apps("http://127.0.0.1:9")


def test_a_server_needs_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(ConfigError, match=r"adk_scoring\[http\]"):
        adk_server("http://127.0.0.1:9")


# --- google-adk in process: the real one is in tests/integrations ----------------------------------------------


class FakeRunner:
    """What of google-adk's Runner is used."""

    def __init__(self, agent: Any = None, *, app: Any = None, app_name: str = "from the app") -> None:
        self.app_name = app_name
        self.session_service = self
        self.sessions: list[tuple[str, str, str, dict[str, Any]]] = []
        self.closed = 0

    async def create_session(self, *, app_name: str, user_id: str, session_id: str, state: dict[str, Any]) -> None:
        self.sessions.append((app_name, user_id, session_id, state))

    async def run_async(self, *, user_id: str, session_id: str, new_message: Any) -> AsyncIterator[Any]:
        yield {"author": "a", "content": {"parts": [{"functionCall": {"name": "f", "args": {}}}]}}
        if new_message.parts[0].text == "fail":
            raise ValueError("down")
        yield {"author": "a", "content": {"parts": [{"text": "done"}]}}

    async def close(self) -> None:
        self.closed += 1


class FakeApp:
    pass


@pytest.fixture
def google_adk(monkeypatch: pytest.MonkeyPatch) -> None:
    runners, apps = ModuleType("google.adk.runners"), ModuleType("google.adk.apps")
    runners.__dict__.update(Runner=FakeRunner, InMemoryRunner=FakeRunner)
    apps.__dict__.update(App=FakeApp)
    for name, module in (("google.adk", ModuleType("google.adk")), (runners.__name__, runners), (apps.__name__, apps)):
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.usefixtures("google_adk")
def test_google_adk_in_process() -> None:
    runner = FakeRunner(app_name="mine")
    recorded = collect(
        adk_agent(runner),
        [asks("a", "one", "two", session=Session("", "ada", {"n": 1})), asks("b", "fail", "never")],
        concurrency=1,
    )
    assert [actual(recorded[0], turn).response for turn in (0, 1)] == ["done", "done"]
    assert actual(recorded[1]).error == "ValueError: down"
    assert [call.name for call in actual(recorded[1]).tool_calls or ()] == ["f"]
    assert [(app, user, state) for app, user, _, state in runner.sessions] == [
        ("mine", "ada", {"n": 1}),
        ("mine", "user", {}),
    ]
    assert runner.closed == 0  # it is the caller's


@pytest.mark.usefixtures("google_adk")
@pytest.mark.parametrize(("given", "name"), [(SimpleNamespace(), "adk_scoring"), (FakeApp(), "from the app")])
def test_a_runner_that_is_made_is_closed(given: Any, name: str) -> None:
    agent: Agent = adk_agent(given)
    collect(agent, [asks("a", "q")])
    runner = agent._runner  # type: ignore[attr-defined]
    assert (runner.app_name, runner.closed) == (name, 1)


def test_without_google_adk_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.adk", None)
    with pytest.raises(ConfigError, match=r"adk_scoring\[adk\]"):
        adk_agent(object())
    monkeypatch.delitem(sys.modules, "adk_scoring.integrations.adk", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'adk_scoring\[adk\]'"):
        __import__("adk_scoring.integrations.adk")
