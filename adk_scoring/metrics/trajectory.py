"""Trajectory metrics: a formula over the alignment of a turn, scored for a case and for many.

In: the evidence of cases. Out: scores whose reason is the arithmetic. The formulas are in `formulas`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final

from ..errors import ConfigError
from ..evidence import Evidence, Evidences
from ..matching import DEFAULT_MATCH, Match
from ..model import Case
from .base import Metric, Reply, Score, Scores, score_safely, score_turns
from .formulas import CONTAINMENT, FORMULAS

__all__ = ["AdkTrajectory", "SingleToolUse", "TrajectoryMetric"]


@dataclass(frozen=True)
class TrajectoryMetric(Metric):
    """One of the formulas of `FORMULAS` as a metric.

    Args:
        formula: its id, a key of `FORMULAS`.
        match: when two calls are the same.
    """

    formula: str
    match: Match = DEFAULT_MATCH

    needs: ClassVar[frozenset[str]] = frozenset({"expected_calls"})

    def __post_init__(self) -> None:
        if self.formula not in FORMULAS:
            raise ConfigError(f"unknown trajectory formula {self.formula!r}; wanted one of {', '.join(FORMULAS)}")

    @property
    def name(self) -> str:
        """The formula's id."""
        return self.formula

    @property
    def count_names(self) -> tuple[str, ...]:
        """The counts behind the formula."""
        return tuple(FORMULAS[self.formula].counts)

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns that have an expectation about calls."""
        return _score(self.name, self.formula, self.match, Evidence.of(evidence))

    def score_many(self, evidences: Iterable[Evidence]) -> Scores:
        """Score many cases; the usual case of one complete turn takes a short way to the same score."""
        return _score_many(self, self.formula, self.match, evidences)

    def explain(self, value: float, counts: Mapping[str, float]) -> str:
        """Return the arithmetic in words."""
        return _explain(self.formula, value, counts)


@dataclass(frozen=True)
class AdkTrajectory(Metric):
    """Google ADK's ``tool_trajectory_avg_score``: 1 or 0 per turn, the mean over the turns, to ADK's last bit.

    Args:
        match_type: ``"EXACT"``, ``"IN_ORDER"`` or ``"ANY_ORDER"``; ADK's other spellings (``"any-order"``,
            ``"in order"``, 0, 1, 2) are accepted.
        ignore_args: whether names alone are compared.
        ignore_tools: names or patterns of calls to leave out on both sides (not in ADK).

    Raises:
        ConfigError: `match_type` is none of these.
    """

    match_type: str = "EXACT"
    ignore_args: bool = False
    ignore_tools: tuple[str, ...] = ()

    name = "tool_trajectory_avg_score"
    needs: ClassVar[frozenset[str]] = frozenset({"expected_calls"})

    def __post_init__(self) -> None:
        given: Any = self.match_type
        spelled = given.upper().replace("-", "_").replace(" ", "_") if isinstance(given, str) else None
        if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < len(_ADK_FORMULAS):
            spelled = tuple(_ADK_FORMULAS)[given]
        if spelled not in _ADK_FORMULAS:
            raise ConfigError(f"match_type {given!r}; wanted one of {', '.join(_ADK_FORMULAS)}")
        if not isinstance(self.ignore_args, bool):
            raise ConfigError(f"ignore_args {self.ignore_args!r}; wanted true or false")
        names: Any = self.ignore_tools
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            raise ConfigError(f"ignore_tools {names!r}; wanted a list of names")
        object.__setattr__(self, "match_type", spelled)
        object.__setattr__(self, "ignore_tools", tuple(names))

    @property
    def formula(self) -> str:
        """The formula that this match type is."""
        return _ADK_FORMULAS[self.match_type]

    @property
    def match(self) -> Match:
        """The rule that calls are compared by."""
        return _adk_match(self.ignore_args, self.ignore_tools)

    @property
    def count_names(self) -> tuple[str, ...]:
        """The counts behind the formula."""
        return tuple(FORMULAS[self.formula].counts)

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns that have an expectation about calls."""
        return _score(self.name, self.formula, self.match, Evidence.of(evidence))

    def score_many(self, evidences: Iterable[Evidence]) -> Scores:
        """Score many cases; the usual case of one complete turn takes a short way to the same score."""
        return _score_many(self, self.formula, self.match, evidences)

    def explain(self, value: float, counts: Mapping[str, float]) -> str:
        """Return the arithmetic in words."""
        return _explain(self.formula, value, counts)


_ADK_FORMULAS: Final = {
    "EXACT": "trajectory_exact_match",
    "IN_ORDER": "trajectory_in_order_match",
    "ANY_ORDER": "trajectory_any_order_match",
}


@lru_cache(maxsize=64)
def _adk_match(ignore_args: bool, ignore_tools: tuple[str, ...]) -> Match:
    """Return one Match for equal settings, so that metrics of one case share its alignment."""
    return Match.adk(ignore_args=ignore_args, ignore_tools=ignore_tools)


def _explain(formula: str, value: float, counts: Mapping[str, float]) -> str:
    words = FORMULAS[formula].words.format(**counts)
    if not counts.get("expected", 1):
        if formula in CONTAINMENT:
            return "no calls are expected: nothing was checked"
        return "no calls are expected and none were made" if value == 1 else "no calls are expected, but some were made"
    return words


def _score(metric: str, formula_id: str, match: Match, evidence: Evidence) -> Score:
    formula = FORMULAS[formula_id]

    def measure(turn: int) -> Score:
        chosen, alignment = evidence.aligned(turn, match)
        counts = {name: count(alignment) for name, count in formula.counts.items()}
        value = formula.value(alignment)
        reason = _explain(formula_id, value, counts)
        alternatives = len(evidence.case.turns[turn].expected)
        if alternatives > 1:
            reason += f"; against alternative {chosen + 1} of {alternatives}"
        return Score(metric, value, reason=reason, counts=counts)

    return score_turns(metric, evidence, measure, reference="tool_calls")


def _score_many(metric: Metric, formula_id: str, match: Match, evidences: Iterable[Evidence]) -> Scores:
    chunk = Evidences.of(evidences)
    scores = Scores(metric)
    value, counts, _ = FORMULAS[formula_id]
    alignments = chunk.alignments(match)
    plain = [alignment for alignment in alignments if alignment is not None]
    if len(plain) == len(alignments):
        scores.extend_plain(map(value, plain), [map(count, plain) for count in counts.values()])
        return scores
    for evidence, alignment in zip(chunk, alignments, strict=True):
        if alignment is None:
            scores.append(score_safely(metric, evidence))
        else:
            scores.append_plain(value(alignment), [count(alignment) for count in counts.values()])
    return scores


@dataclass(frozen=True)
class SingleToolUse(Metric):
    """1 if the tool was called in the turn, whatever else was; needs no reference.

    Args:
        tool: the tool's name.
    """

    tool: str

    name = "trajectory_single_tool_use"
    count_names = ("calls_of_tool", "made")

    def __post_init__(self) -> None:
        if not isinstance(self.tool, str) or not self.tool:  # a configuration may hold anything
            raise ConfigError(f"tool {self.tool!r}; wanted the name of the tool")

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns."""
        evidence = Evidence.of(evidence)

        def measure(turn: int) -> Score:
            actual = evidence.case.turns[turn].actual
            calls = (actual.tool_calls if actual else None) or ()
            counts = {"calls_of_tool": sum(call.name == self.tool for call in calls), "made": len(calls)}
            value = float(counts["calls_of_tool"] > 0)
            return Score(self.name, value, reason=self.explain(value, counts), counts=counts)

        return score_turns(self.name, evidence, measure, reference=None)

    def explain(self, value: float, counts: Mapping[str, float]) -> str:
        """Return the arithmetic in words."""
        return f"{counts['calls_of_tool']} of {counts['made']} calls made are of {self.tool}"
