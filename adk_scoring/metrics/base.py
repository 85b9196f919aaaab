"""What a metric is, what a score is, and how the scores of many cases are kept.

A `Metric` is pure: evidence (and a judge's replies) in, a `Score` out. A judged metric also says what it would
ask (`Metric.prompts`); who asks, and when, is not its business.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, overload

if TYPE_CHECKING:
    from ..evidence import Evidence
    from ..model import Case, Turn

__all__ = ["Metric", "Prompt", "Reply", "Score", "Scores", "Status"]

Status = Literal["scored", "skipped", "error"]
