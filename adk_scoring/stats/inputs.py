"""What counts as usable input, in one place: values in, finite floats out, or a ValueError says what is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import SupportsFloat

__all__ = ["check_counts", "check_level", "check_seed", "check_within", "finite", "same_length", "whole"]


def finite(name: str, values: Iterable[SupportsFloat]) -> list[float]:
    """The values as floats.

    >>> finite("values", [1, 0.5])
    [1.0, 0.5]
    """
    if isinstance(values, (str, bytes)):
        raise ValueError(f"{name} is text; want numbers")
    result = []
    for position, value in enumerate(values):
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if isinstance(value, str) or not math.isfinite(number):
            raise ValueError(
                f"{name}[{position}] is {value!r}; want a finite number: leave unscored cases out, do not replace them"
            )
        result.append(number)
    return result


def same_length(**named: list[float]) -> None:
    """Refuse lists that are meant to go together and do not."""
    if len({len(values) for values in named.values()}) > 1:
        lengths = ", ".join(f"{name} has {len(values)}" for name, values in named.items())
        raise ValueError(f"the inputs must be of one length: {lengths} values")


def check_level(level: float, name: str = "level") -> None:
    """A confidence level or a power is a share strictly between 0 and 1, not a percentage."""
    if not 0 < level < 1:
        raise ValueError(f"{name} is {level!r}; want a number between 0 and 1, such as 0.95")


def check_counts(successes: float, n: float, names: tuple[str, str] = ("successes", "n")) -> None:
    """Refuse counts that cannot be: not finite, negative, or more successes than trials."""
    if not (math.isfinite(n) and 0 <= successes <= n):
        raise ValueError(f"{names[0]} is {successes!r} and {names[1]} is {n!r}; want 0 <= {names[0]} <= {names[1]}")


def whole(**named: float) -> None:
    """Refuse counts that are not whole numbers from 0 up."""
    for name, value in named.items():
        if not (value >= 0 and float(value).is_integer()):
            raise ValueError(f"{name} is {value!r}; want a whole number from 0 up")


def check_within(values: list[float], bounds: tuple[float, float] | None, name: str = "values") -> None:
    """Refuse values outside the declared range, and a range that is none."""
    if bounds is None:
        return
    low, high = bounds
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"bounds are {bounds!r}; want two finite numbers, the lower first")
    for position, value in enumerate(values):
        if not low <= value <= high:
            raise ValueError(f"{name}[{position}] is {value!r}, outside the declared bounds [{low}, {high}]")


def check_seed(seed: object) -> None:
    """A seed is a whole number from 0 up: with None the result could not be had again."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"seed is {seed!r}; want a whole number from 0 up")
