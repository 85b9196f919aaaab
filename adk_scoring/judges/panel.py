"""Several judges as one: each sample of a question goes to another of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import replace

from ..errors import ConfigError
from ..metrics.base import Prompt, Reply
from .judge import Judge

__all__ = ["Panel"]


class Panel:
    """A panel of judges: sample ``i`` of a question is answered by judge ``i`` modulo their number.

    Give the criterion as many ``samples`` as there are judges, or a multiple of it: each is asked, and the samples are
    settled as always, by majority, of levels by the mean. With fewer samples the later judges are never asked.

    A judge that cannot be asked at all (a wrong key, say) ends the run, as it does alone; one that fails on a question
    costs that sample alone.

    Args:
        judges: two judges or more.

    Raises:
        ConfigError: there are fewer, or one is no judge.

    >>> import asyncio
    >>> from adk_scoring.judges import judge_from
    >>> panel = Panel([judge_from(lambda prompt: "yes", name="mild"), judge_from(lambda prompt: "no", name="strict")])
    >>> panel.name, [asyncio.run(panel.ask(Prompt("1", "Polite?", "{}", sample=i))).text for i in range(3)]
    ('panel of mild, strict', ['yes', 'no', 'yes'])
    """

    def __init__(self, judges: Sequence[Judge]) -> None:
        self.judges = tuple(judges)
        if len(self.judges) < 2:
            raise ConfigError(f"a panel wants two judges or more, not {len(self.judges)}")
        if strangers := [judge for judge in self.judges if not isinstance(judge, Judge)]:
            raise ConfigError(f"{strangers[0]!r} is not a judge: it needs a name and `async ask(prompt)`")
        self.name = "panel of " + ", ".join(judge.name for judge in self.judges)
        settings = {str(i): dict(getattr(judge, "sampling", None) or {}) for i, judge in enumerate(self.judges)}
        self.sampling = {place: chosen for place, chosen in settings.items() if chosen}
        """What shapes the answers of each, by its place."""
        self.concurrency = sum(getattr(judge, "concurrency", 8) for judge in self.judges)
        self._open: AsyncExitStack | None = None

    def __repr__(self) -> str:
        return f"<{self.name}>"

    async def __aenter__(self) -> Panel:
        async with AsyncExitStack() as stack:
            for judge in self.judges:
                if isinstance(judge, AbstractAsyncContextManager):
                    await stack.enter_async_context(judge)
            self._open = stack.pop_all()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._open is not None:
            await self._open.aclose()
            self._open = None

    async def ask(self, prompt: Prompt) -> Reply:
        """Let the judge whose turn it is answer; see `Judge.ask`."""
        turn, place = divmod(prompt.sample, len(self.judges))
        return await self.judges[place].ask(replace(prompt, sample=turn))
