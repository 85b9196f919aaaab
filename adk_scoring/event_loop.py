"""A coroutine goes in, its result comes out: from plain code, whether or not an event loop runs in this thread."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["run"]

_T = TypeVar("_T")


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
    try:
        return result.result()
    except BaseException:
        if not result.done():  # the caller was interrupted, the work was not
            loop, task = started.result()
            loop.call_soon_threadsafe(task.cancel)
        raise
    finally:
        thread.join()
