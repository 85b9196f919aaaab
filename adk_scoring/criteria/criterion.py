"""One criterion: a metric, the value that is good enough, and how a configuration writes them."""

from __future__ import annotations

import difflib
import inspect
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..errors import ConfigError, ReadWarning
from ..matching import Match
from ..metrics import METRICS, Metric, Score
from ..metrics.base import turn_scores

__all__ = ["Criterion", "Per", "Verdict", "criterion_of"]

Verdict = Literal["passed", "failed", "not_evaluated", "informational"]
Per = Literal["case", "turn"]

_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Criterion:
    """One metric with the value that is good enough, under a label.

    Attributes:
        label: names it in a report.
        metric: what is computed.
        threshold: the smallest passing value (the largest where lower is better); ``None``: informational.
        per: ``"case"``: the mean over the turns is held against it; ``"turn"``: every scored turn is.

    Raises:
        ConfigError: the threshold is no number or lies outside the metric's range.
    """

    label: str
    metric: Metric
    threshold: float | None = None
    per: Per = "case"

    def __post_init__(self) -> None:
        if self.per not in ("case", "turn"):
            raise ConfigError(f"{self.label}: per {self.per!r}; wanted 'case' or 'turn'")
        if self.threshold is None:
            return
        number = self.threshold
        if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
            raise ConfigError(f"{self.label}: threshold {number!r}; wanted a number or null")
        low, high = self.metric.range
        if not low <= number <= high or math.isinf(number):
            raise ConfigError(
                f"{self.label}: threshold {number:g} can never decide; {self.metric.name} gives {low:g} to {high:g}"
            )
        object.__setattr__(self, "threshold", float(number))

    @property
    def wanted(self) -> str:
        """What it asks for, in words, e.g. ``>= 0.8``."""
        if self.threshold is None:
            return "informational"
        asked = f"{'>=' if self.metric.higher_is_better else '<='} {self.threshold:g}"
        return f"{asked} in each turn" if self.per == "turn" else asked

    def meets(self, value: float) -> bool:
        """Whether a value passes; a difference of 1e-9 is none. An informational criterion is always met."""
        if self.threshold is None:
            return True
        if self.metric.higher_is_better:
            return value >= self.threshold - _TOLERANCE
        return value <= self.threshold + _TOLERANCE

    def verdict(self, score: Score) -> Verdict:
        """Return what a score means: ``"not_evaluated"`` where it is skipped or an error, never a failure."""
        if self.threshold is None:
            return "informational"
        if score.value is None:
            return "not_evaluated"
        values = [score.value]
        if self.per == "turn":
            values = [turn.value for turn in turn_scores(score) if turn.value is not None]
        return "passed" if all(map(self.meets, values)) else "failed"


_SETTINGS = ("metric", "threshold", "per")
_ADK_ALIASES = {"matchType": "match_type", "ignoreArgs": "ignore_args"}
# ADK keeps keys that it does not know, and writes these into every criterion it dumps.
_ADK_IDLE = frozenset(
    (
        "include_intermediate_responses_in_final",
        "includeIntermediateResponsesInFinal",
        "evaluate_intermediate_nl_responses",
        "evaluateIntermediateNlResponses",
        "include_intermediate",  # of a judged metric that has no use for it
    )
)


def criterion_of(label: str, spec: Any, shared_match: Any, where: str) -> Criterion:
    """Read one criterion as a mapping or an ADK configuration writes it.

    Args:
        label: its label; names the metric too, unless the object does.
        spec: a threshold, or an object with ``metric``, ``threshold``, ``per`` and the metric's parameters.
        shared_match: the rule for metrics that take one and are not given their own; ``None``: theirs.
        where: names the place in errors.

    Raises:
        ConfigError: the metric or a parameter is unknown, or a value is not usable.
    """
    if not isinstance(spec, Mapping):
        spec = {"threshold": None if spec is None else _number(spec, where)}
    name = spec.get("metric", label)
    make = METRICS.get(name) if isinstance(name, str) else None
    if make is None:
        hint = _nearest(name, METRICS) or "; the names are those of adk_scoring.METRICS"
        raise ConfigError(f"{where}: unknown metric {name!r}{hint}")
    parameters = {_ADK_ALIASES.get(key, key): value for key, value in spec.items() if key not in _SETTINGS}
    signature = inspect.signature(make).parameters
    known = list(signature)
    if "samples" in known:
        _read_judge_options(parameters, where)
    for key in [key for key in parameters if key not in known]:
        if key not in _ADK_IDLE:
            raise ConfigError(f"{where}: {name} has no parameter {key!r}{_nearest(key, known) or _listed(known)}")
        if parameters.pop(key):
            warnings.warn(f"{where}: {key} is not used by {name}", ReadWarning, stacklevel=5)
    if shared_match is not None and "match" in known:
        parameters.setdefault("match", shared_match)
    for key, parameter in signature.items():
        if parameter.default is parameter.empty and key not in parameters:
            raise ConfigError(f"{where}: {name} needs the parameter {key!r}")
    try:
        if "match" in parameters:
            parameters["match"] = Match.of(parameters["match"])
        metric = make(**parameters)
        hash(metric)  # a list where a name is due shows here
    except (ConfigError, TypeError, ValueError) as error:
        raise ConfigError(f"{where}: {error}") from None
    threshold = spec.get("threshold")
    number = None if threshold is None else _number(threshold, where)
    try:
        return Criterion(label, metric, number, spec.get("per", metric.per))
    except ConfigError as error:
        raise ConfigError(where + str(error).removeprefix(label)) from None


def _read_judge_options(parameters: dict[str, Any], where: str) -> None:
    """Turn ADK's ``judge_model_options`` and its other judge settings into the parameters of a judged metric."""
    options = parameters.pop("judge_model_options", parameters.pop("judgeModelOptions", None)) or {}
    if not isinstance(options, Mapping):
        raise ConfigError(f"{where}: judge_model_options: wanted an object, found {options!r:.60}")
    read = (("judge_model", ("judge_model", "judgeModel")), ("samples", ("num_samples", "numSamples")))
    for key in ("judge_model_config", "judgeModelConfig"):  # parallelism_limit: how fast, not what
        if options.get(key):
            warnings.warn(f"{where}: {key} of the judge is not used; give it to the judge", ReadWarning, stacklevel=6)
    for ours, theirs in read:
        for key in theirs:
            if options.get(key) is not None:
                parameters.setdefault(ours, options[key])
    for key in ("include_intermediate_responses_in_final", "includeIntermediateResponsesInFinal"):
        if parameters.pop(key, False):
            parameters["include_intermediate"] = True


def _number(value: Any, where: str) -> float:
    """Read a threshold as ADK does: ``"0.5"`` is 0.5 and ``true`` is 1."""
    if isinstance(value, bool | int | float | str):
        try:
            return float(value)
        except (ValueError, OverflowError):
            pass
    raise ConfigError(f"{where}: wanted a threshold (a number) or an object, found {value!r:.60}")


def _nearest(name: Any, known: Any) -> str:
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6) if isinstance(name, str) else []
    return f"; did you mean {close[0]!r}?" if close else ""


def _listed(known: Sequence[str]) -> str:
    return f"; it takes {', '.join(known)}" if known else "; it takes none"
