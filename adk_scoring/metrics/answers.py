"""Response metrics that look at what an answer says rather than how: its numbers, its JSON, its meaning as a vector."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..errors import ConfigError, ScoringError
from ..evidence import Evidence
from ..matching import DEFAULT_MATCH, Match
from ..model import Case, ToolCall
from ..text.numbers import missing_numbers, numbers
from .base import Metric, Reply, Score
from .response import Measured, score_responses

__all__ = ["ResponseEmbeddingSimilarity", "ResponseJson", "ResponseNumbers"]


@dataclass(frozen=True)
class ResponseNumbers(Metric):
    """The share of the expected answer's numbers that occur in the answer, by value: 1,000 is 1000, 50% is not 50.

    Args:
        percent_as_fraction: whether 50% is 0.5.

    Each number counts once, however often it occurs; 1 exactly when all are there. An expected answer without a number
    is skipped.
    """

    percent_as_fraction: bool = False

    name = "response_numbers"
    needs: ClassVar[frozenset[str]] = frozenset({"expected_response"})

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns that have an expected answer."""

        def measure(actual: str, expected: str) -> Measured:
            wanted = set(numbers(expected, percent_as_fraction=self.percent_as_fraction))
            missing = missing_numbers(actual, expected, percent_as_fraction=self.percent_as_fraction)
            found = len(wanted) - len(missing)
            reason = f"{found} of {len(wanted)} expected numbers are in the response"
            if missing:
                reason += f"; missing: {', '.join(map(str, missing[:5]))}"
            return found / len(wanted), {"found": found, "expected": len(wanted)}, reason

        return score_responses(
            self.name,
            evidence,
            measure,
            checkable=lambda expected: bool(numbers(expected)),
            nothing="the expected response holds no number",
        )


@dataclass(frozen=True)
class ResponseJson(Metric):
    """1 if the answer and the expected answer are the same JSON by a rule; else 0.

    Args:
        match: when two objects are the same, as for the arguments of a call: ``"exact"`` by default; comparators are
            given under the tool name ``"*"``.

    One fence around the answer (```` ```json ````) is taken off. An answer that is no JSON scores 0, an expected answer
    that is none is skipped.
    """

    match: Match = DEFAULT_MATCH

    name = "response_json"
    needs: ClassVar[frozenset[str]] = frozenset({"expected_response"})

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns that have an expected answer."""

        def measure(actual: str, expected: str) -> Measured:
            made = _parsed(actual)
            if made is _NOT_JSON:
                return 0.0, {}, f"the response is not JSON: {actual.strip()[:40]!r}"
            differences = self.match.differences(_as_call(made), _as_call(_parsed(expected)))
            if differences:
                return 0.0, {}, f"{len(differences)} differences: {'; '.join(map(str, differences[:3]))}"
            return 1.0, {}, "the same JSON"

        return score_responses(
            self.name,
            evidence,
            measure,
            checkable=lambda expected: _parsed(expected) is not _NOT_JSON,
            nothing="the expected response is not JSON",
        )


_NOT_JSON = object()


def _parsed(text: str) -> Any:
    body = text.strip()
    if body.startswith("```") and body.endswith("```") and len(body) > 6:
        first, _, rest = body[3:-3].partition("\n")
        body = rest if first.strip().lower() in ("", "json") else body
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _as_call(value: Any) -> ToolCall:
    """Take a JSON value for the arguments of a call, so that one rule compares both."""
    return ToolCall("response", value if isinstance(value, dict) else {"value": value})


@dataclass(frozen=True)
class ResponseEmbeddingSimilarity(Metric):
    """The cosine of the angle between the vectors of the answer and the expected answer, from -1 to 1.

    Args:
        embed: gives the vector of a text: numbers, as many for every text. Whatever model makes it is the caller's.

    A vector of other length, without direction or with a number that is not finite is an error of that case.
    """

    embed: Callable[[str], Sequence[float]]

    name = "response_embedding_similarity"
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    needs: ClassVar[frozenset[str]] = frozenset({"expected_response"})

    def __post_init__(self) -> None:
        if not callable(self.embed):
            raise ConfigError(f"embed {self.embed!r:.60}; wanted a function from a text to its vector")

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns that have an expected answer."""

        def measure(actual: str, expected: str) -> Measured:
            left, right = self._vector(actual, "response"), self._vector(expected, "expected response")
            if len(left) != len(right):
                raise ScoringError(f"embed gave vectors of {len(left)} and {len(right)} numbers; wanted as many")
            dot = math.fsum(a * b for a, b in zip(left, right, strict=True))
            cosine = min(max(dot / (math.hypot(*left) * math.hypot(*right)), -1.0), 1.0)
            return cosine, {}, f"cosine of two vectors of {len(left)} numbers"

        return score_responses(self.name, evidence, measure)

    def _vector(self, text: str, what: str) -> list[float]:
        vector = [float(number) for number in self.embed(text)]
        if not any(vector) or not all(map(math.isfinite, vector)):
            raise ScoringError(f"embed gave no usable vector for the {what}: {vector[:4]!r}; wanted finite numbers")
        return vector
