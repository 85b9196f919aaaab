"""What a judge is, and how a plain function becomes one: a `Prompt` goes in, a `Reply` comes out."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from ..errors import ConfigError, JudgeError
from ..event_loop import in_thread
from ..metrics.base import Prompt, Reply

__all__ = ["Judge", "judge_from"]


@runtime_checkable
class Judge(Protocol):
    """Anything that answers prompts. Two lines make one: a name, and how to ask.

    Attributes:
        name: which judge it is, e.g. the model's name. Verdicts are stored under it, so two judges that may answer
            differently need two names.

    What else a judge may have, and is used if it does:

    * ``sampling``: a mapping of what shapes its answers (temperature, seed, ...). Verdicts are stored under it too.
    * ``concurrency``: how many questions it may be asked at once.
    * ``__aenter__`` and ``__aexit__``: entered around a run, to open and close connections.
    """

    @property
    def name(self) -> str:
        """Which judge it is."""

    async def ask(self, prompt: Prompt) -> Reply:
        """Answer one prompt.

        Returns:
            The reply; one with `Reply.error` if this question could not be answered.

        Raises:
            JudgeError: no question can be answered (a wrong key, say). It ends the run early.
        """


def judge_from(
    function: Callable[[Any], Any],
    *,
    name: str,
    as_text: bool = False,
    concurrency: int = 8,
) -> Judge:
    """Make a judge of a function.

    Args:
        function: takes a `Prompt`, returns the answer's text or a `Reply`. A plain function runs in threads, so it
            may block; an async one is awaited.
        name: the judge's name; verdicts are stored under it, so change it when the model or its settings change.
        as_text: give the function one text (instructions, schema and material) instead of a `Prompt`.
        concurrency: how many calls may run at once.

    Returns:
        A judge. An exception of the function becomes an error reply with its type and text, except a `JudgeError`,
        which ends the run.

    >>> import asyncio
    >>> judge = judge_from(lambda prompt: '{"verdict": "yes"}', name="yes-man")
    >>> asyncio.run(judge.ask(Prompt("turn 1", "Is it polite?", '{"response": "Hello!"}'))).text
    '{"verdict": "yes"}'
    """
    if not callable(function):
        raise ConfigError(f"judge_from takes a function, not {function!r}")
    if not name:
        raise ConfigError("a judge needs a name: verdicts are stored under it")
    if concurrency < 1:
        raise ConfigError(f"concurrency is at least 1, not {concurrency!r}")
    return _FunctionJudge(function, name, as_text, concurrency)


class _FunctionJudge:
    def __init__(self, function: Callable[[Any], Any], name: str, as_text: bool, concurrency: int) -> None:
        self._function, self.name, self._as_text, self.concurrency = function, name, as_text, concurrency

    def __repr__(self) -> str:
        return f"<judge {self.name}>"

    async def ask(self, prompt: Prompt) -> Reply:
        """Call the function; what it raises or returns wrongly is an error of this question."""
        given = _text_of(prompt) if self._as_text else prompt
        call = self._function
        try:
            if inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(type(call).__call__):
                answer = await call(given)
            else:
                answer = await in_thread(lambda: call(given))
                if inspect.isawaitable(answer):
                    answer = await answer
        except JudgeError:
            raise
        except Exception as error:
            return Reply("", error=f"failed: {type(error).__name__}: {error}")
        if isinstance(answer, Reply):
            return answer
        if isinstance(answer, str):
            return Reply(answer)
        return Reply("", error=f"failed: {self.name} returned {type(answer).__name__}; wanted a str or a Reply")


def _text_of(prompt: Prompt) -> str:
    parts = [prompt.system, prompt.content]
    if prompt.schema:
        form = "Answer with one JSON document that satisfies this JSON Schema, and nothing else:"
        parts.insert(1, f"{form}\n{prompt.schema}")
    return "\n\n".join(parts)
