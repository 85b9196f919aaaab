"""Response metrics: the answer against the expected answer, as text.

An actual answer of ``None`` is an empty text; a turn whose expectation has no answer is skipped. Of several
expected answers the one with the best score counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..evidence import Evidence
from ..model import Case
from ..text import normalize
from .base import Metric, Reply, Score, score_turns

__all__ = ["ResponseContains", "ResponseExactMatch"]

Measured = tuple[float, Mapping[str, float], str] | None
"""Value, counts and reason; ``None``: this reference says nothing that could be checked."""


def score_responses(metric: str, evidence: Evidence, measure: Callable[[str, str], Measured]) -> Score:
    """Score the answer of each turn against its references; the best reference counts, the first among equals.

    Raises:
        TypeError: an answer is not text; names the case.
    """
    case = evidence.case

    def turn_score(turn: int) -> Score:
        actual = case.turns[turn].actual
        text = _text(actual.response if actual else None, case.case_id, "response") or ""
        best: tuple[float, Mapping[str, float], str] | None = None
        which, references = 0, 0
        for index, expected in enumerate(case.turns[turn].expected):
            reference = _text(expected.response, case.case_id, "expected response")
            if reference is None:
                continue
            references += 1
            found = measure(text, reference)
            if found is not None and (best is None or found[0] > best[0]):
                best, which = found, index
        if best is None:
            return Score.skipped(metric, "the expected response is empty: nothing to look for")
        value, counts, reason = best
        if references > 1:
            reason += f"; against alternative {which + 1} of {len(case.turns[turn].expected)}"
        return Score(metric, value, reason=reason, counts=counts)

    return score_turns(metric, evidence, turn_score, reference="response")


def _text(value: object, case_id: str, what: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{case_id}: {what} is {type(value).__name__}, not text: {value!r:.60}")


@dataclass(frozen=True)
class ResponseExactMatch(Metric):
    """1 if the normalised answer is the normalised expected answer; else 0. Both empty: 1."""

    name = "response_exact_match"
    needs: ClassVar[frozenset[str]] = frozenset({"expected_response"})

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns that have an expected answer."""
        return score_responses(self.name, Evidence.of(evidence), _exact)


@dataclass(frozen=True)
class ResponseContains(Metric):
    """1 if the normalised expected answer occurs in the normalised answer; an empty expected answer is skipped."""

    name = "response_contains"
    needs: ClassVar[frozenset[str]] = frozenset({"expected_response"})

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns that have an expected answer."""
        return score_responses(self.name, Evidence.of(evidence), _contains)


def _exact(actual: str, expected: str) -> Measured:
    left, right = normalize(actual), normalize(expected)
    if left == right:
        return 1.0, {}, "equal after normalising"
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return 0.0, {}, f"differs from character {at + 1} on: expected {right[at : at + 20]!r}, got {left[at : at + 20]!r}"


def _contains(actual: str, expected: str) -> Measured:
    wanted = normalize(expected)
    if not wanted:
        return None
    if wanted in normalize(actual):
        return 1.0, {}, "the expected text occurs in the response"
    return 0.0, {}, f"the expected text does not occur in the response: {wanted[:40]!r}"
