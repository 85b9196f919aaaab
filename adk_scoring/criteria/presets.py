"""Criteria that come as a set: a few settings in, the objects of a configuration out; `Criteria` has the methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from ..errors import ConfigError
from ..matching import Match

__all__ = ["adeval_axes"]


def adeval_axes(
    *, verify_args: bool, gate: Literal["subset", "set"], judged: bool, tools: Any, ignore_tools: Sequence[str]
) -> Mapping[str, Any]:
    """Return ADEval's axes as label -> criterion; see `Criteria.adeval`.

    Raises:
        ConfigError: `gate` is neither.
    """
    if gate not in ("subset", "set"):
        raise ConfigError(f"gate {gate!r}; wanted 'subset' (every expected call was made) or 'set' (and no other)")
    match = Match(args="subset", ignore_tools=ignore_tools)
    gated = replace(match, args="ignore" if not verify_args else "exact" if gate == "set" else "subset")
    passing = "trajectory_set_match" if gate == "set" else "adeval_pass"
    read_only = {"tools": tools} | ({"ignore_tools": gated.ignore_tools} if ignore_tools else {})
    axes: dict[str, Any] = {
        "pass": {"metric": passing, "match": gated, "threshold": 1.0},
        "tool_call_rate": {"ignore_tools": gated.ignore_tools},
        "name_accuracy": {"metric": "adeval_name_accuracy", "match": match},
        "name_args_accuracy": {"metric": "adeval_name_args_accuracy", "match": match},
        "call_count": {"metric": "adeval_call_count", "match": match},
        "read_only_compliance": read_only,
        "abstention": {"ignore_tools": gated.ignore_tools},
        "extra_argument_rate": {"metric": "adeval_extra_argument_rate", "match": match},
    }
    return axes | ({"presentation_quality": {}, "answer_accuracy": {}} if judged else {})
