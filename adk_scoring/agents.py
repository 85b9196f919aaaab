"""Ready agents for `collect`: a plain function, a google-adk agent in this process, an ADK server over HTTP."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Any
from urllib.parse import quote

from .errors import ConfigError, ScoringError
from .event_loop import run
from .model import Invocation, Session
from .runner.calling import Agent

__all__ = ["adk_agent", "adk_server", "adk_server_apps", "function_agent"]

_USER = "user"
"""Who speaks where a case does not say; ADK wants a name."""


def function_agent(function: Callable[[str], Any]) -> Agent:
    """Make an agent of a function of the user's text.

    Args:
        function: sync or async; returns the answer's text, or a mapping ``{"response": text, "calls": [...]}`` with
            calls in any form that `ToolCall.of` takes, or what an `Agent` returns.

    >>> from adk_scoring import Case, Turn, collect
    >>> agent = function_agent(lambda text: {"response": "20C", "calls": [("get_weather", {"city": text})]})
    >>> recorded, = collect(agent, [Case("a", (Turn(Invocation("Paris")),))])
    >>> recorded.turns[0].actual.tool_calls, recorded.turns[0].actual.response
    ((ToolCall(name='get_weather', args={'city': 'Paris'}),), '20C')
    """
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):

        async def asynchronous(user_text: str, *, session: Session) -> Any:
            return _as_answer(await function(user_text))

        return asynchronous

    def agent(user_text: str, *, session: Session) -> Any:
        return _as_answer(function(user_text))

    return agent


def _as_answer(given: Any) -> Any:
    if isinstance(given, str):
        return Invocation(response=given)
    if isinstance(given, Mapping):
        if unknown := given.keys() - {"response", "calls"}:
            raise TypeError(f"the function returned the keys {sorted(unknown)}; wanted 'response' and 'calls'")
        return Invocation(tool_calls=tuple(given.get("calls") or ()), response=given.get("response"))
    return given


def adk_agent(agent: Any, *, app_name: str = "adk_scoring") -> Agent:
    """Run a google-adk agent in this process.

    Args:
        agent: an agent (``root_agent``), an ``App``, or a ``Runner`` of your own with its services.
        app_name: the application's name, where an agent is given.

    Returns:
        An agent whose events are kept as they come, also those before an exception or a timeout.

    Raises:
        ConfigError: google-adk is not installed.
    """
    try:
        from google.adk.apps import App
        from google.adk.runners import InMemoryRunner, Runner
    except ImportError as error:
        raise ConfigError(f"this needs google-adk ({error}): pip install 'adk_scoring[adk]'") from None
    if isinstance(agent, Runner):
        return _AdkAgent(agent, owned=False)
    made = InMemoryRunner(app=agent) if isinstance(agent, App) else InMemoryRunner(agent, app_name=app_name)
    return _AdkAgent(made, owned=True)


class _AdkAgent:
    def __init__(self, runner: Any, *, owned: bool) -> None:
        self._runner, self._owned = runner, owned
        self._begun: set[str] = set()

    async def __aenter__(self) -> _AdkAgent:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._owned:
            await self._runner.close()

    async def __call__(self, user_text: str, *, session: Session) -> AsyncIterator[Any]:
        from google.genai import types

        user = session.user_id or _USER
        if session.session_id not in self._begun:
            await self._runner.session_service.create_session(
                app_name=self._runner.app_name, user_id=user, session_id=session.session_id, state=dict(session.state)
            )
            self._begun.add(session.session_id)
        message = types.Content(role="user", parts=[types.Part(text=user_text)])
        events = self._runner.run_async(user_id=user, session_id=session.session_id, new_message=message)
        async with aclosing(events):
            async for event in events:
                yield event


def adk_server(url: str, app: str | None = None, *, headers: Mapping[str, str] | None = None) -> Agent:
    """Run an application of an ADK server (``adk api_server``, ``adk web``) over HTTP.

    Args:
        url: where the server is, e.g. ``http://localhost:8000``.
        app: the application; default: what the case's session says, else the only one that the server has.
        headers: sent with every request, e.g. an authorisation.

    Raises:
        ConfigError: the HTTP client is not installed.
    """
    _http()
    return _ServerAgent(url, app, headers)


def adk_server_apps(
    url: str, apps: list[str] | None = None, *, headers: Mapping[str, str] | None = None
) -> dict[str, Agent]:
    """Return an agent for each application of an ADK server, for `collect` to run several at once.

    Args:
        url: where the server is.
        apps: the applications; default: all that the server lists.
        headers: sent with every request.

    Raises:
        ConfigError: the HTTP client is not installed, or an application is not there.
        ScoringError: the server cannot be reached or answers with an error.
    """
    there = run(_ServerAgent(url, None, headers).apps())
    if missing := [app for app in apps or () if app not in there]:
        raise ConfigError(f"{url}: has no application {missing[0]!r}; it lists {', '.join(there) or 'none'}")
    return {app: _ServerAgent(url, app, headers) for app in apps or there}


def _http() -> Any:
    try:
        import httpx2
    except ImportError:
        raise ConfigError("an ADK server is reached with httpx2: pip install 'adk_scoring[http]'") from None
    return httpx2


class _ServerAgent:
    def __init__(self, url: str, app: str | None, headers: Mapping[str, str] | None) -> None:
        self._url, self._app, self._headers = url.rstrip("/"), app, dict(headers or {})
        self._client: Any = None
        self._begun: dict[str, tuple[str, str]] = {}

    async def __aenter__(self) -> _ServerAgent:
        http = _http()
        # How long an answer may take is said by who asks, not here.
        self._client = http.AsyncClient(
            base_url=self._url, headers=self._headers, timeout=http.Timeout(None, connect=10.0)
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        client, self._client = self._client, None
        await client.aclose()

    async def apps(self) -> list[str]:
        """The names that ``/list-apps`` gives."""
        found = await self._ask("GET", "/list-apps")
        if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
            raise ScoringError(f"{self._url}/list-apps: wanted a list of names, found {found!r:.80}")
        return found

    async def __call__(self, user_text: str, *, session: Session) -> Any:
        user = session.user_id or _USER
        begun = self._begun.get(session.session_id)
        if begun is None:
            app = self._app or session.app_name or await self._only_app()
            path = f"/apps/{quote(app, safe='')}/users/{quote(user, safe='')}/sessions"
            made = await self._ask("POST", path, {"sessionId": session.session_id, "state": dict(session.state)})
            # Old servers choose the id themselves.
            session_id = made["id"] if isinstance(made, dict) and "id" in made else session.session_id
            begun = self._begun[session.session_id] = (app, session_id)
        message = {"role": "user", "parts": [{"text": user_text}]}
        asked = {"appName": begun[0], "userId": user, "sessionId": begun[1], "newMessage": message}
        return await self._ask("POST", "/run", asked)

    async def _only_app(self) -> str:
        apps = await self.apps()
        if len(apps) != 1:
            raise ScoringError(f"{self._url}: which application? It lists {', '.join(apps) or 'none'}; give app=...")
        return apps[0]

    async def _ask(self, method: str, path: str, body: object = None) -> Any:
        if self._client is None:  # used by itself, not by `collect`
            async with self:
                return await self._ask(method, path, body)
        try:
            answer = await self._client.request(method, path, json=body)
        except _http().HTTPError as error:
            raise ScoringError(f"{self._url}{path}: {type(error).__name__}: {error}") from error
        if answer.is_error:
            raise ScoringError(f"{self._url}{path}: status {answer.status_code}: {answer.text:.300}")
        try:
            return answer.json()
        except ValueError:
            raise ScoringError(f"{self._url}{path}: the answer is not JSON: {answer.text!r:.80}") from None
