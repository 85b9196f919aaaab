"""One call of somebody's agent: a user's text and a session in, the turn that came of it out.

Whatever goes wrong (an exception, a timeout, an answer that is none) is an error of that turn, with what the agent
had done until then.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ..errors import MatchError, ReadError
from ..event_loop import in_thread
from ..model import Case, Invocation, Session, ToolCall, Turn
from ..readers import adk_events
from ..readers._reading import Reading
from ..readers.records import case_from_record, case_to_record

__all__ = ["Agent", "Answer", "call_agent"]

Event: TypeAlias = Any
"""An ADK event: a mapping in either spelling, or google-adk's own object."""
Answer: TypeAlias = Invocation | Sequence[Event] | Iterator[Event] | AsyncIterator[Event]


@runtime_checkable
class Agent(Protocol):
    """Anything that can be put a user's text to: one callable, sync or async.

    It returns an `Invocation`, or the ADK events of this turn: as a list, or one by one from a generator, so that
    what came before an exception or a timeout is kept.

    >>> def agent(user_text: str, *, session: Session) -> Invocation:
    ...     return Invocation(user_text, (), f"Hello, {session.user_id}!")
    >>> isinstance(agent, Agent)
    True
    """

    def __call__(self, user_text: str, *, session: Session) -> Answer | Awaitable[Answer]:
        """Answer one turn.

        Args:
            user_text: what the user says.
            session: application, user, state and the session's unique id; the same object in each turn of a case.
                Its state is a copy of its own, a dict that the agent may change.
        """


async def call_agent(
    agent: Agent, user_text: str, session: Session, *, timeout: float | None, reading: Reading
) -> Invocation:
    """Put one turn to an agent.

    Args:
        agent: whom. A plain function runs in a thread of its own, so it may block; after a timeout it is left there.
        user_text: what the user says.
        session: the session of the case.
        timeout: seconds; ``None``: as long as it takes.
        reading: takes the notes on events that were read with a tolerance.

    Returns:
        The turn. Its `Invocation.error` says what went wrong, if anything did.
    """
    loop = asyncio.get_running_loop()
    begin = loop.time()
    received: list[Event] = []
    duration: float | None = None
    try:
        async with asyncio.timeout(timeout) as timer:
            answer = await _answer(agent, user_text, session, received)
        # Timestamps of events leave out the first step, which ends with the first event; an Invocation's own is kept.
        duration = answer.duration if isinstance(answer, Invocation) else None
        turn = _turn(answer, reading)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        turn = _failed(received, "the agent cancelled its own call", reading)
    except (Exception, SystemExit) as error:  # the caller's code; one bad turn never stops the others
        if isinstance(error, TimeoutError) and timer.expired():
            problem = f"timeout: no answer within {timeout:g} s"
        else:
            problem = str(error) if isinstance(error, _UnusableError) else f"{type(error).__name__}: {error}"
        turn = _failed(received, problem, reading)
    return replace(
        turn,
        user_text=user_text,
        tool_calls=turn.tool_calls if turn.tool_calls is not None else (),
        duration=loop.time() - begin if duration is None else duration,
    )


class _UnusableError(Exception):
    """What the agent returned is no turn; says so for people."""


async def _answer(agent: Agent, user_text: str, session: Session, received: list[Event]) -> Answer:
    """Call the agent; events that come one by one are gathered in `received` as they come."""

    def call() -> Any:
        answer = agent(user_text, session=session)
        if isinstance(answer, Iterator):
            for event in answer:
                received.append(event)
            return received
        return answer

    kind = (agent, type(agent).__call__)
    if any(inspect.iscoroutinefunction(f) or inspect.isasyncgenfunction(f) for f in kind):
        answer: Any = agent(user_text, session=session)
    else:
        answer = await in_thread(call)
    if inspect.isawaitable(answer):
        answer = await answer
    if isinstance(answer, AsyncIterator):
        async for event in answer:
            received.append(event)
        return received
    return answer  # type: ignore[no-any-return]  # whatever it is: `_turn` looks at it


def _turn(answer: Any, reading: Reading) -> Invocation:
    """Make a turn of what an agent returned.

    Raises:
        _UnusableError: it is none.
    """
    if isinstance(answer, Invocation):
        return _checked(answer)
    if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Sequence):
        raise _UnusableError(
            f"the agent returned {type(answer).__name__} ({answer!r:.60}); wanted an Invocation or a list of ADK events"
        )
    events = [e.model_dump(mode="json", exclude_none=True) if hasattr(e, "model_dump") else e for e in answer]
    if events and not adk_events.recognises(events):
        raise _UnusableError(f"the agent returned a list that holds no ADK events: {events!r:.80}")
    try:
        turns = adk_events.invocations(events, reading, "events")
    except ReadError as error:
        raise _UnusableError(f"the agent's events cannot be read: {error}") from None
    if len(turns) > 1:
        raise _UnusableError(f"the agent returned the events of {len(turns)} turns; wanted those of this turn alone")
    return _checked(turns[0]) if turns else Invocation(tool_calls=())


def _checked(turn: Invocation) -> Invocation:
    """Return a turn that can be written and read back; calls may be given in any form that `ToolCall.of` takes.

    Raises:
        _UnusableError: something in it has the wrong type or is no JSON.
    """
    try:
        calls = None if turn.tool_calls is None else tuple(map(ToolCall.of, turn.tool_calls))
        record = case_to_record(Case("", (Turn(replace(turn, tool_calls=calls)),)))
        actual = case_from_record(record).turns[0].actual
    except (MatchError, ReadError, TypeError, AttributeError, RecursionError) as error:
        raise _UnusableError(f"the agent returned an Invocation that is not usable: {error}") from None
    return actual or Invocation()


def _failed(received: list[Event], problem: str, reading: Reading) -> Invocation:
    """Make an error of a turn, with what was received before it failed."""
    try:
        turn = _turn(list(received), reading)
    except _UnusableError:
        turn = Invocation()
    return replace(turn, error=problem)
