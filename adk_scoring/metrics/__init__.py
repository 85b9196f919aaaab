"""Metrics: `METRICS` names each one and what makes it; a criterion's parameters are its arguments.

`base` says what a metric and a score are. One module for each kind of question: `formulas` and `trajectory`,
`arguments` and `precedence` hold calls against expected calls; `conduct`, `repetition` and `validity` look at calls
alone; `efficiency` at what a run cost; `response` and `answers` at what was said; `judged` and `hallucination` ask a
judge, with `inquiries`, `questions` and `rubrics`; `adeval` has ADEval's axes. `registry` names them all. Names are
loaded on first use: a first trajectory score needs few of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import Metric, Prompt, Reply, Score, Scores
    from .registry import METRICS

__all__ = ["METRICS", "Metric", "Prompt", "Reply", "Score", "Scores"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(".registry" if name == "METRICS" else ".base", __name__), name)
    globals()[name] = value
    return value
