"""ADEval's axes that no other metric has: they look at the turns in which calls are expected, and at no others.

In: the evidence of cases. Out: scores with the formulas of ADEval 051ef423, but one call pairs with one. The other
axes are metrics of their own; `Criteria.adeval` puts all of them side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Final, Literal, NamedTuple

from ..alignment import Alignment
from ..errors import ConfigError
from ..evidence import Evidence
from ..matching import Match
from ..model import Case
from .base import Metric, Reply, Score, score_turns
from .conduct import requires_calls
from .formulas import FORMULAS

__all__ = ["AXES", "Axis", "AxisMetric"]


class Axis(NamedTuple):
    """One axis.

    Attributes:
        measure: an alignment in; value, counts and reason out, or in words why it is skipped.
        compares: whether names alone are compared, or arguments as the metric's `match` says.
        negatives: whether turns in which no call is expected are scored too.
        higher_is_better: the direction.
    """

    measure: Callable[[Alignment], tuple[float, Mapping[str, float], str] | str]
    compares: Literal["names", "arguments"]
    negatives: bool = False
    higher_is_better: bool = True


def _covered(a: Alignment) -> tuple[float, Mapping[str, float], str]:
    return float(a.k == a.m), {"matched": a.k, "expected": a.m}, f"{a.k} of {a.m} expected calls were made"


def _call_count(a: Alignment) -> tuple[float, Mapping[str, float], str]:
    value = FORMULAS["call_count_match"].value(a)
    return value, {"made": a.n, "expected": a.m}, f"{a.n} calls made, {a.m} expected"


def _extra_arguments(a: Alignment) -> tuple[float, Mapping[str, float], str] | str:
    if a.k < a.m:
        return "not all expected calls were made, so that extra arguments mean nothing"
    surplus = [
        f"{a.actual[i].name}: {key}"
        for i, j in a.pairs
        for key in a.actual[i].args or ()
        if key not in (a.expected[j].args or {})
    ]
    reason = f"{len(surplus)} arguments that are not expected" + (f"; {surplus[0]}" if surplus else "")
    return float(bool(surplus)), {"extra": len(surplus), "matched": a.k}, reason


def _pass(a: Alignment) -> tuple[float, Mapping[str, float], str]:
    if a.m:
        return _covered(a)
    reason = f"{a.n} calls were made where none is expected" if a.n else "no call was made, as expected"
    return float(not a.n), {"matched": 0, "expected": 0}, reason


_COVERS: Final = Match(args="subset")
"""A call covers an expected one if it has its arguments; one object, so that alignments are shared."""

AXES: Final[Mapping[str, Axis]] = {
    "adeval_name_accuracy": Axis(_covered, "names"),
    "adeval_name_args_accuracy": Axis(_covered, "arguments"),
    "adeval_call_count": Axis(_call_count, "names"),
    "adeval_extra_argument_rate": Axis(_extra_arguments, "arguments", higher_is_better=False),
    "adeval_pass": Axis(_pass, "arguments", negatives=True),
}


@dataclass(frozen=True)
class AxisMetric(Metric):
    """One of ADEval's axes, 1 or 0 per turn but for the call count; a turn that requires no call is skipped.

    ``adeval_name_accuracy``: 1 if every expected tool was called as often as expected, whatever the arguments.
    Bias: order and extra calls are free, so an agent that calls everything scores 1.

    ``adeval_name_args_accuracy``: 1 if every expected call was made with the expected arguments. Bias: as above,
    and extra arguments are free.

    ``adeval_call_count``: min(n, m) / max(n, m) of n calls made and m expected. Bias: an agent that looks before it
    acts scores lower for the extra step, and calls that are all wrong score 1 if there are as many as expected.

    ``adeval_extra_argument_rate`` (lower is better): of the turns that name-and-arguments accuracy has as 1, those
    with an argument nobody expects. Bias: the more calls fail, the fewer turns it is taken from.

    ``adeval_pass``: ADEval's PASS: every expected call was made, or none where none is expected. Bias: as
    name-and-arguments accuracy; with ``Match(args="ignore")`` as name accuracy.

    Args:
        axis: its id, a key of `AXES`.
        match: when two calls are the same, for axes that look at arguments; its `ignore_tools` for all of them.

    Raises:
        ConfigError: there is no such axis.
    """

    axis: str
    match: Match = _COVERS

    needs: ClassVar[frozenset[str]] = frozenset({"expected_calls"})

    def __post_init__(self) -> None:
        if self.axis not in AXES:
            raise ConfigError(f"unknown axis {self.axis!r}; wanted one of {', '.join(AXES)}")

    @property
    def name(self) -> str:
        """The axis's id."""
        return self.axis

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]  # depends on the axis
        """The direction."""
        return AXES[self.axis].higher_is_better

    @cached_property
    def _rule(self) -> Match:
        return replace(self.match, args="ignore", tools={}) if AXES[self.axis].compares == "names" else self.match

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over the turns that the axis is about."""
        evidence, axis = Evidence.of(evidence), AXES[self.axis]

        def measure(turn: int) -> Score:
            chosen, alignment = evidence.aligned(turn, self._rule)
            found = axis.measure(alignment)
            if isinstance(found, str):
                return Score.skipped(self.name, found)
            value, counts, reason = found
            if (alternatives := len(evidence.case.turns[turn].expected)) > 1:
                reason += f"; against alternative {chosen + 1} of {alternatives}"
            return Score(self.name, value, reason=reason, counts=counts)

        return score_turns(
            self.name,
            evidence,
            measure,
            reference="tool_calls",
            applies=None if axis.negatives else lambda turn: requires_calls(turn, self._rule),
            otherwise="no call is required",
            higher_is_better=axis.higher_is_better,
        )
