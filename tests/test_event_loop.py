"""Coroutines run to their end from plain code, inside a running event loop and outside."""

from __future__ import annotations

import asyncio
import contextvars
import os
import signal
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import closing
from typing import Any

import pytest

from adk_scoring.event_loop import run

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("NAME", default="nobody")


async def where() -> tuple[str, str]:
    await asyncio.sleep(0)
    return threading.current_thread().name, NAME.get()


def test_outside_a_loop_it_runs_in_the_same_thread() -> None:
    token = NAME.set("Ann")
    assert run(where()) == (threading.current_thread().name, "Ann")
    NAME.reset(token)


def test_inside_a_loop_it_runs_in_a_thread_with_the_caller_s_context() -> None:
    async def notebook() -> tuple[str, str]:
        NAME.set("Ann")
        return run(where())

    assert asyncio.run(notebook()) == ("adk_scoring", "Ann")


@pytest.mark.parametrize("inside", [False, True])
def test_what_it_raises_comes_out(inside: bool) -> None:
    async def broken() -> None:
        raise KeyError("broken")

    async def notebook() -> None:
        run(broken())

    with pytest.raises(KeyError, match="broken"):
        run(notebook() if inside else broken())


def in_a_script(work: Coroutine[Any, Any, None]) -> None:
    run(work)


def in_a_notebook(work: Coroutine[Any, Any, None]) -> None:
    """There nobody but Python itself handles Ctrl-C."""

    async def cell() -> None:
        run(work)

    with closing(asyncio.new_event_loop()) as loop:
        loop.run_until_complete(cell())


def in_async_code(work: Coroutine[Any, Any, None]) -> None:
    async def main() -> None:
        run(work)

    asyncio.run(main())


@pytest.mark.parametrize("call", [in_a_script, in_a_notebook, in_async_code])
def test_ctrl_c_cancels_the_work_and_waits_for_its_end(call: Callable[[Coroutine[Any, Any, None]], None]) -> None:
    ended = []

    async def work() -> None:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            await asyncio.sleep(30)
        finally:
            ended.append(time.monotonic())

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        call(work())
    assert len(ended) == 1
    assert ended[0] - start < 10
