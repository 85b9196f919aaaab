"""A baseline report and a current one -> PASS, FAIL, INCONCLUSIVE or INVALID, for each criterion and overall.

The question is whether the current report is worse than the baseline by more than a margin. It is put to the one-sided
bound of the paired difference, so "not shown to be worse" and "shown not to be worse" are two answers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from ..errors import ConfigError, ScoringError
from ..report import Report
from ..stats.inputs import check_level
from . import Comparison, compare
from .baseline import Baseline, read_baseline
from .differences import Difference

__all__ = ["Gate", "GateRow", "Outcome", "gate"]

Outcome = Literal["PASS", "FAIL", "INCONCLUSIVE", "INVALID"]
_WORST_FIRST: Final[tuple[Outcome, ...]] = ("INVALID", "FAIL", "INCONCLUSIVE", "PASS")


@dataclass(frozen=True, slots=True)
class GateRow:
    """The outcome of one criterion.

    Attributes:
        label: the criterion.
        outcome: PASS, FAIL, INCONCLUSIVE or INVALID.
        margin: how much worse is still acceptable, in the metric's unit.
        difference: what was compared; ``None`` where nothing could be.
        bounds: one-sided bounds of the improvement, lower and upper; ``None`` where the data determine none.
        reason: the arithmetic, or why there is no answer.
    """

    label: str
    outcome: Outcome
    margin: float
    difference: Difference | None
    bounds: tuple[float, float] | None
    reason: str


@dataclass(frozen=True, slots=True)
class Gate:
    """What a gate says, for each criterion and overall.

    Attributes:
        outcome: the worst of all: INVALID, then FAIL, INCONCLUSIVE, PASS.
        rows: one for each criterion that was asked about.
        problems: why the two reports cannot be held against each other at all; any makes the gate INVALID.
        notes: what else a reader must know.
        comparison: what it rests on; ``None`` where no case could be compared.
        baseline: where the baseline is from, in words.
    """

    outcome: Outcome
    rows: tuple[GateRow, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    comparison: Comparison | None
    baseline: str = ""

    def exit_status(self, inconclusive: Literal["fail", "pass"] = "fail") -> int:
        """Return a process's exit status: 0 PASS, 1 FAIL, 3 INVALID.

        Args:
            inconclusive: whether INCONCLUSIVE is 1 or 0.

        Raises:
            ValueError: `inconclusive` is neither.
        """
        if inconclusive not in ("fail", "pass"):
            raise ValueError(f"inconclusive is {inconclusive!r}; want 'fail' or 'pass'")
        if self.outcome == "INCONCLUSIVE":
            return int(inconclusive == "fail")
        return {"PASS": 0, "FAIL": 1, "INVALID": 3}[self.outcome]

    def to_markdown(self) -> str:
        """Return the outcome and its reasons as Markdown, for a pull request or a job summary."""
        from ..render.gating import gate_markdown

        return gate_markdown(self)

    def __str__(self) -> str:
        from ..render.gating import gate_text

        return gate_text(self)

    def _repr_html_(self) -> str:
        from ..render.gating import gate_html

        return gate_html(self)


def gate(
    baseline: Report | Baseline | str | Path,
    current: Report,
    margin: float | Mapping[str, float] = 0.05,
    *,
    confidence: float = 0.95,
    max_unscored: float = 0.0,
    seed: int = 0,
    allow: Collection[str] = (),
) -> Gate:
    """Ask whether a report is worse than a baseline by more than a margin.

    With D the paired improvement (current - baseline, turned by the metric's direction) and its one-sided bounds:
    PASS if lower > -margin; FAIL if upper < -margin; else INCONCLUSIVE. INVALID, whatever the numbers, where a case of
    the baseline is missing or changed, a criterion is missing or was made differently, or more cases than
    `max_unscored` lost their score. Overall: the worst.

    Args:
        baseline: a report, or a file of `write_baseline`.
        current: the report in question.
        margin: how much worse is acceptable, in each metric's unit; one number for every criterion of the baseline,
            or label -> number for those that are asked about.
        confidence: of the one-sided bounds.
        max_unscored: share of the cases scored in the baseline that may be unscored now.
        seed: see `compare`.
        allow: fields of the `Signature` that may differ; see `compare`.

    Raises:
        ConfigError: a margin is no number from 0 up, is wider than the metric's range, or is for a criterion that the
            baseline does not have.
        ReadError: the baseline file cannot be read. A missing baseline is never a pass.
        ValueError: an impossible confidence or cap.

    >>> from adk_scoring import Case, Invocation, ToolCall, Turn, evaluate
    >>> wanted = (Invocation(tool_calls=(ToolCall("find"),)),)
    >>> def ran(calls):
    ...     cases = [Case(str(i), (Turn(Invocation(tool_calls=(ToolCall(c),)), wanted),)) for i, c in enumerate(calls)]
    ...     return evaluate(cases, {"trajectory_exact_match": 1.0})
    >>> good = ran(["find"] * 60)
    >>> gate(good, good).outcome, gate(good, ran(["look"] * 60)).outcome, gate(good, ran(["find"] * 59)).outcome
    ('PASS', 'FAIL', 'INVALID')
    """
    check_level(confidence, "confidence")
    if not 0 <= max_unscored <= 1:
        raise ValueError(f"max_unscored is {max_unscored!r}; want a share from 0 to 1")
    origin = ""
    if isinstance(baseline, str | Path):
        baseline = read_baseline(baseline)
    if isinstance(baseline, Baseline):
        baseline, origin = baseline.report, str(baseline)
    margins = _margins(margin, baseline)
    try:
        comparison = compare(
            {"baseline": baseline, "current": current}, level=2 * confidence - 1, seed=seed, allow=allow
        )
    except ScoringError as error:
        rows = tuple(GateRow(label, "INVALID", limit, None, None, str(error)) for label, limit in margins.items())
        return Gate("INVALID", rows, (str(error),), (), None, origin)
    problems, notes = _problems(comparison)
    if left := [label for label in baseline.criteria.labels if label not in margins]:
        notes.append(f"not asked about: {', '.join(left)}")
    rows = tuple(_row(comparison, label, limit, max_unscored) for label, limit in margins.items())
    if problems:  # whatever the numbers say, they are not about the baseline's cases
        rows = tuple(
            replace(row, outcome="INVALID", reason=f"not the same cases; on those that are: {row.reason}")
            for row in rows
        )
    outcome = next(each for each in _WORST_FIRST if each in {row.outcome for row in rows})
    return Gate(outcome, rows, tuple(problems), tuple(notes), comparison, origin)


def _margins(margin: float | Mapping[str, float], baseline: Report) -> dict[str, float]:
    labels = baseline.criteria.labels
    margins = dict(margin) if isinstance(margin, Mapping) else dict.fromkeys(labels, margin)
    if not margins:
        raise ConfigError("no margin is given, so there is nothing to ask")
    for label, limit in margins.items():
        if label not in labels:
            raise ConfigError(f"margin: the baseline has no criterion {label!r}; it has {', '.join(labels)}")
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not (0 <= limit < math.inf):
            raise ConfigError(f"margin of {label}: {limit!r}; wanted a number from 0 up")
        metric = next(criterion.metric for criterion in baseline.criteria.items if criterion.label == label)
        low, high = metric.range
        if limit > high - low:
            raise ConfigError(
                f"margin of {label}: {limit:g} can never fail; {metric.name} gives {low:g} to {high:g}, and 0.05 is "
                "5 percentage points of a share"
            )
    return margins


def _problems(comparison: Comparison) -> tuple[list[str], list[str]]:
    """Return what makes every answer void, and what is only worth knowing."""
    cohort = comparison.cohort
    problems, notes = [], []
    if gone := cohort.missing["current"]:
        problems.append(f"cases of the baseline are missing: {', '.join(gone)}")
    if cohort.changed:
        problems.append(f"cases ask or expect something else than in the baseline: {', '.join(cohort.changed)}")
    if new := cohort.missing["baseline"]:
        notes.append(f"cases that the baseline does not have, not compared: {', '.join(new)}")
    return problems, notes


def _row(comparison: Comparison, label: str, margin: float, max_unscored: float) -> GateRow:
    if reason := comparison.not_compared.get((label, "baseline", "current")):
        return GateRow(label, "INVALID", margin, None, None, reason)
    difference = comparison.difference(label)
    if reason := _lost_scores(comparison, label, max_unscored):
        return GateRow(label, "INVALID", margin, difference, None, reason)
    improvement = difference.improvement
    if difference.n == 0:
        return GateRow(label, "INVALID", margin, difference, None, "no case was scored in both reports")
    if improvement.low is None or improvement.high is None:
        return GateRow(label, "INCONCLUSIVE", margin, difference, None, improvement.note)
    low, high = improvement.low, improvement.high
    estimate = improvement.estimate or 0.0
    if low > -margin:
        outcome: Outcome = "PASS"
        reason = f"{estimate:+.3f}; at worst {low:+.3f}, above -{margin:g}"
    elif high < -margin:
        outcome = "FAIL"
        reason = f"{estimate:+.3f}; at best {high:+.3f}, below -{margin:g}"
    else:
        outcome = "INCONCLUSIVE"
        reason = f"{estimate:+.3f}; between {low:+.3f} and {high:+.3f}, and -{margin:g} is in between"
    return GateRow(label, outcome, margin, difference, (low, high), reason)


def _lost_scores(comparison: Comparison, label: str, max_unscored: float) -> str | None:
    """Say which cases lost their score, if they are more than the cap."""
    cohort = comparison.cohort
    before, now = (cohort.unscored(name, label) for name in ("baseline", "current"))
    scored = [index for index, share in enumerate(before) if share < 1]
    lost = {index: now[index] - before[index] for index in scored if now[index] > before[index]}
    share = sum(lost.values()) / len(scored) if scored else 0.0
    if share <= max_unscored + 1e-12:
        return None
    names = ", ".join(cohort.cases[index] for index in lost)
    return f"{share:.1%} of what the baseline scored is not scored now, above {max_unscored:.1%}: {names}"
