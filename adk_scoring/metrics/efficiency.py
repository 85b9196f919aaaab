"""What a turn cost: calls, model calls, tokens, seconds, money. Lower is better, per turn, the mean over the turns.

Without a threshold these are shown and decide nothing, as in ADK; a threshold makes one a budget. What a file does not
say is unknown, never 0: such turns are skipped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..errors import ConfigError
from ..evidence import Evidence
from ..matching import Match
from ..model import Case, Invocation, Usage
from .base import Metric, Reply, Score, score_turns

__all__ = ["InferenceCallCount", "InvocationDuration", "TokenCost", "TokenUsage", "ToolCallCount"]

_NO_LIMIT = (0.0, math.inf)


@dataclass(frozen=True)
class ToolCallCount(Metric):
    """ADK's ``tool_call_count_v1``: how many tool calls were made in a turn.

    Args:
        ignore_tools: names or patterns of calls that do not count (not in ADK).
    """

    ignore_tools: tuple[str, ...] = ()

    name = "tool_call_count_v1"
    range: ClassVar[tuple[float, float]] = _NO_LIMIT
    higher_is_better = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "ignore_tools", Match(ignore_tools=self.ignore_tools).ignore_tools)

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns."""
        evidence, match = Evidence.of(evidence), Match(ignore_tools=self.ignore_tools)

        def measure(turn: int) -> Score:
            made = len(match.kept(evidence.made(turn)))
            return Score(self.name, float(made), reason=f"{made} tool calls", counts={"tool_calls": made})

        return score_turns(self.name, evidence, measure, reference=None, higher_is_better=False)


@dataclass(frozen=True)
class InferenceCallCount(Metric):
    """ADK's ``inference_call_count_v1``: how many times a model was asked in a turn."""

    name = "inference_call_count_v1"
    range: ClassVar[tuple[float, float]] = _NO_LIMIT
    higher_is_better = False

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over the turns of which it is known."""
        evidence = Evidence.of(evidence)

        def measure(turn: int) -> Score:
            calls = _usage(evidence, turn).model_calls
            if calls is None:
                return Score.skipped(self.name, "how often a model was asked is not recorded")
            return Score(self.name, float(calls), reason=f"{calls} model calls", counts={"model_calls": calls})

        return score_turns(self.name, evidence, measure, reference=None, higher_is_better=False)


@dataclass(frozen=True)
class TokenUsage(Metric):
    """ADK's ``token_usage_v1``: input and output tokens of a turn; the counts hold every kind that is known.

    A kind that is not recorded adds nothing, as in ADK; a turn of which neither input nor output is known is skipped,
    where ADK averages it in as 0.
    """

    name = "token_usage_v1"
    range: ClassVar[tuple[float, float]] = _NO_LIMIT
    higher_is_better = False

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over the turns of which it is known."""
        evidence = Evidence.of(evidence)

        def measure(turn: int) -> Score:
            usage = _usage(evidence, turn)
            if usage.input_tokens is None and usage.output_tokens is None:
                return Score.skipped(self.name, "tokens are not recorded")
            total = (usage.input_tokens or 0) + (usage.output_tokens or 0)
            counts = _known_tokens(usage)
            words = ", ".join(f"{count} {kind.removesuffix('_tokens')}" for kind, count in counts.items())
            return Score(self.name, float(total), reason=f"{total} tokens: {words}", counts=counts)

        return score_turns(self.name, evidence, measure, reference=None, higher_is_better=False)


@dataclass(frozen=True)
class InvocationDuration(Metric):
    """ADK's ``invocation_duration_v1``: how many seconds a turn took, as the run measured it."""

    name = "invocation_duration_v1"
    range: ClassVar[tuple[float, float]] = _NO_LIMIT
    higher_is_better = False

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over the turns of which it is known."""
        evidence = Evidence.of(evidence)

        def measure(turn: int) -> Score:
            seconds = _actual(evidence, turn).duration
            if seconds is None:
                return Score.skipped(self.name, "the duration is not recorded")
            return Score(self.name, float(seconds), reason=f"{seconds:.4g} seconds")

        return score_turns(self.name, evidence, measure, reference=None, higher_is_better=False)


@dataclass(frozen=True)
class TokenCost(Metric):
    """What the tokens of a turn cost at rates that you give; this library knows no prices.

    Args:
        input: price of `per_tokens` input tokens, in whatever currency.
        output: price of `per_tokens` output tokens, reasoning included.
        cached: price of `per_tokens` input tokens that came from a cache; by default that of the others.
        per_tokens: how many tokens a price is for.

    A turn of which the input or the output tokens are unknown is skipped: a part of a cost is none. Cached tokens
    that are not recorded are taken as none.

    >>> usage = Usage(input_tokens=5000, output_tokens=1200)
    >>> round(TokenCost(input=0.15, output=0.60).of(usage), 5)
    0.00147
    """

    input: float
    output: float
    cached: float | None = None
    per_tokens: int = 1_000_000

    name = "token_cost"
    range: ClassVar[tuple[float, float]] = _NO_LIMIT
    higher_is_better = False

    def __post_init__(self) -> None:
        given: dict[str, Any] = {"input": self.input, "output": self.output, "per_tokens": self.per_tokens}
        if self.cached is not None:
            given["cached"] = self.cached
        for name, value in given.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise ConfigError(f"{name} {value!r}; wanted a number from 0")
        if not self.per_tokens:
            raise ConfigError("per_tokens 0; wanted how many tokens a price is for")

    def of(self, usage: Usage) -> float | None:
        """Return what these tokens cost, ``None`` if the input or the output is unknown."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        at_cache = self.input if self.cached is None else self.cached
        fresh = usage.input_tokens - cached
        return (fresh * self.input + cached * at_cache + usage.output_tokens * self.output) / self.per_tokens

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over the turns of which it is known."""
        evidence = Evidence.of(evidence)

        def measure(turn: int) -> Score:
            usage = _usage(evidence, turn)
            cost = self.of(usage)
            if cost is None:
                return Score.skipped(self.name, "input or output tokens are not recorded")
            counts = _known_tokens(usage)
            return Score(self.name, cost, reason=f"{cost:.6g} at the given rates", counts=counts)

        return score_turns(self.name, evidence, measure, reference=None, higher_is_better=False)


def _actual(evidence: Evidence, turn: int) -> Invocation:
    return evidence.case.turns[turn].actual or Invocation()


def _usage(evidence: Evidence, turn: int) -> Usage:
    return _actual(evidence, turn).usage or Usage()


def _known_tokens(usage: Usage) -> dict[str, int]:
    kinds = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
    return {kind: count for kind in kinds if (count := getattr(usage, kind)) is not None}
