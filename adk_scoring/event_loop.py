"""Between plain and async code: `run` a coroutine wherever one is, and a function that may block `in_thread`."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, TypeVar

__all__ = ["in_thread", "run"]

_T = TypeVar("_T")
_GLANCE = 0.1
"""Seconds; so often a blocked caller looks whether it is cancelled, which is all that `asyncio.run` makes of Ctrl-C."""


def run(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine and return its result.

    In a script it has an event loop of its own. Where one is running already, as in a notebook, the work gets a
    thread with a loop of its own; Ctrl-C cancels it there, and what it had finished is kept by whoever keeps it.

    >>> async def answer() -> int:
    ...     return 42
    >>> run(answer())
    42
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    result: Future[_T] = Future()
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[_T]]] = Future()
    context = contextvars.copy_context()

    async def main() -> _T:
        task = asyncio.ensure_future(work)
        started.set_result((asyncio.get_running_loop(), task))
        return await task

    def target() -> None:
        try:
            result.set_result(context.run(asyncio.run, main()))
        except BaseException as error:  # belongs to the caller, whose thread is another one
            result.set_exception(error)

    thread = threading.Thread(target=target, name="adk_scoring", daemon=True)
    thread.start()
    caller = asyncio.current_task()
    try:
        while not result.done():
            wait([result], timeout=_GLANCE)
            if caller is not None and caller.cancelling():
                raise asyncio.CancelledError
        return result.result()
    except BaseException:
        if not result.done():  # the caller was interrupted, the work was not
            loop, task = started.result()
            loop.call_soon_threadsafe(task.cancel)
        raise
    finally:
        thread.join()


async def in_thread(function: Callable[[], _T]) -> _T:
    """Run a function in a thread of its own and return its result; what it raises is raised here.

    Not in asyncio's pool: that has few threads on a small machine, and the interpreter waits for them when it exits,
    so a function that hangs would hold up Ctrl-C. One that is cancelled is left to itself.

    >>> run(in_thread(lambda: 6 * 7))
    42
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[tuple[list[_T], Exception | None]] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        result: list[_T] = []
        error = None
        try:
            result.append(context.run(function))
        except BaseException as raised:  # a thread has nobody else to tell
            error = raised if isinstance(raised, Exception) else RuntimeError(f"{type(raised).__name__}: {raised}")
        with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits any more
            loop.call_soon_threadsafe(finish, result, error)

    def finish(result: list[_T], error: Exception | None) -> None:
        if not future.done():  # else it was cancelled meanwhile
            future.set_result((result, error))

    threading.Thread(target=work, name="adk_scoring", daemon=True).start()
    result, error = await future
    if error is not None:
        raise error
    return result[0]
