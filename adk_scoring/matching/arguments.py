"""When two calls' arguments are the same under a rule, and each place where they differ.

In: two JSON values, a rule (``"exact"``, ``"subset"``, ...) and, per path, comparators that overrule it.
Out: yes or no, or the `Difference`s with their paths.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from types import EllipsisType
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from ..errors import ConfigError, MatchError

__all__ = ["ABSENT", "ArgsRule", "Comparator", "Difference", "Governed", "differences", "json_equal", "show_json"]

ArgsRule = Literal["exact", "subset", "superset", "ignore", "adk"]
Comparator: TypeAlias = Callable[[Any, Any], bool]
"""Judges two values, ``(actual, expected)``."""
Governed: TypeAlias = "dict[str | int | EllipsisType, Governed | Comparator]"
"""Comparators by path: a key or an index leads one step down, ``...`` stands for every key or index."""


class _Absent:
    """What stands on a side of a `Difference` where the key is not there; a null value is not absent."""

    def __repr__(self) -> str:
        return "ABSENT"

    def __reduce__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


class Difference(NamedTuple):
    """One place where two calls' arguments differ: its path, what was expected there and what was found."""

    path: str
    expected: Any
    actual: Any

    def __str__(self) -> str:
        return f"{self.path}: expected {show_json(self.expected)}, got {show_json(self.actual)}"


def json_equal(a: Any, b: Any) -> bool:
    """Whether two JSON values are equal: numbers by value, true and false only to themselves, NaN to NaN.

    >>> json_equal({"n": 1, "m": [2]}, {"m": [2.0], "n": 1.0}), json_equal(1, True), json_equal(2**53 + 1, float(2**53))
    (True, False, False)
    """
    kind, other = type(a), type(b)
    if kind is other:
        if kind in _PLAIN:
            return bool(a == b)
        if kind is dict:
            return len(a) == len(b) and _same_items(a, b)
    if kind is bool or other is bool:
        return a is b
    if isinstance(a, Mapping):
        return isinstance(b, Mapping) and len(a) == len(b) and _same_items(a, b)
    if _is_list(a):
        return _is_list(b) and len(a) == len(b) and all(map(json_equal, a, b))
    if isinstance(a, float) and a != a:
        return isinstance(b, float) and b != b
    return bool(a == b)


def _same_items(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Whether each item of one object is in another of the same size. The innermost loop of all: plain values are
    compared here and now, because a call for each costs as much as all the rest.
    """
    for key, value in a.items():
        other = b.get(key, ABSENT)
        if value is other:
            continue
        kind = type(value)
        if kind is type(other) and kind in _PLAIN:
            if value != other:
                return False
        elif not json_equal(value, other):
            return False
    return True


_PLAIN = frozenset((str, int, bool, type(None)))


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _subset(actual: Any, expected: Any) -> bool:
    if isinstance(expected, Mapping):
        if not isinstance(actual, Mapping):
            return False
        for key, value in expected.items():  # noqa: SIM110  # as above
            if key not in actual or not _subset(actual[key], value):
                return False
        return True
    if _is_list(expected):
        return _is_list(actual) and len(actual) == len(expected) and all(map(_subset, actual, expected))
    return json_equal(actual, expected)


SAME: Final[Mapping[str, Comparator]] = {
    "exact": json_equal,
    "subset": _subset,
    "superset": lambda actual, expected: _subset(expected, actual),
    "ignore": lambda actual, expected: True,
    "adk": lambda actual, expected: bool(actual == expected),
}
"""The rules as comparators of whole values."""


def differences(
    actual: Any, expected: Any, rule: ArgsRule, governed: Governed | None = None, path: str = ""
) -> Iterator[Difference]:
    """Find each place where two values differ.

    Args:
        actual: the value found.
        expected: the value wanted.
        rule: decides about every place that no comparator governs.
        governed: the comparators at and below this place.
        path: where this place is.

    Raises:
        MatchError: a comparator raised; the message names the argument and the exception.
    """
    if governed is None and SAME[rule](actual, expected):
        return
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        steps: Iterator[tuple[Any, str]] = (
            (key, f"{path}.{key}" if path else str(key))
            for key in (*expected, *(k for k in actual if k not in expected))
        )
    elif _is_list(actual) and _is_list(expected) and len(actual) == len(expected):
        steps = ((index, f"{path}[{index}]") for index in range(len(expected)))
    else:
        if governed is None or not SAME[rule](actual, expected):
            yield Difference(path or "arguments", expected, actual)
        return
    for step, inner in steps:
        below = governed.get(step, governed.get(...)) if governed else None
        if isinstance(expected, Mapping):
            got, wanted = actual.get(step, ABSENT), expected.get(step, ABSENT)
        else:
            got, wanted = actual[step], expected[step]
        on_one_side = got is ABSENT or wanted is ABSENT
        if callable(below):
            same = (
                _may_be_absent(rule, wanted, governed=True)
                if on_one_side and not getattr(below, "judges_absence", False)
                else _judge(below, got, wanted, inner)
            )
            if not same:
                yield Difference(inner, wanted, got)
        elif not on_one_side:
            yield from differences(got, wanted, rule, below, inner)
        elif not _may_be_absent(rule, wanted, governed=below is not None):
            yield Difference(inner, wanted, got)


def _may_be_absent(rule: ArgsRule, wanted: Any, *, governed: bool) -> bool:
    """Whether a key may be on one side only: an extra one under "subset", a missing one under "superset".

    Under "ignore" either may, but a key that was given a comparator is asked for when it is expected.
    """
    if wanted is ABSENT:
        return rule in ("subset", "ignore")
    return rule == "superset" or (rule == "ignore" and not governed)


def _judge(comparator: Comparator, actual: Any, expected: Any, path: str) -> bool:
    try:
        return bool(comparator(actual, expected))
    except Exception as error:
        name = getattr(comparator, "__name__", None) or repr(comparator)
        raise MatchError(
            f"argument {path}: comparator {name} raised {type(error).__name__}: {error} "
            f"(on {show_json(actual)}, expected {show_json(expected)})"
        ) from error


_STEP = re.compile(r'\.?(?:(?P<key>[^.\[\]]+)|\[(?:(?P<index>\d+)|(?P<any>\*)|(?P<quoted>"(?:[^"\\]|\\.)*"))\])')


def govern(comparators: Mapping[str, Comparator], where: str) -> Governed:
    """Arrange comparators by path: ``address.zip``, ``items[*].sku``, ``items[0]``, ``*`` (every key), ``["a.b"]``.

    Args:
        comparators: path -> comparator.
        where: what the paths belong to, for messages.

    Raises:
        ConfigError: a path cannot be read, or one lies below another that has a comparator.
    """
    tree: Governed = {}
    for path, comparator in comparators.items():
        place = tree
        *inner, last = _steps(path, where)
        for step in inner:
            below = place.setdefault(step, {})
            if callable(below):
                raise ConfigError(f"{where}.{path}: a shorter path has a comparator already, which judges all below it")
            place = below
        if last in place:
            raise ConfigError(f"{where}.{path}: this place or one below it has a comparator already")
        place[last] = comparator
    return tree


def _steps(path: str, where: str) -> list[str | int | EllipsisType]:
    steps: list[str | int | EllipsisType] = []
    position = 0
    while position < len(path):
        found = _STEP.match(path, position)
        if not found or (path[position] != "[" and (position == 0) == path.startswith(".", position)):
            steps = []
            break
        key, index, any_index, quoted = found.group("key", "index", "any", "quoted")
        if index is not None:
            steps.append(int(index))
        elif any_index or key == "*":
            steps.append(...)
        else:
            steps.append(key if key is not None else json.loads(quoted))
        position = found.end()
    if not steps:
        raise ConfigError(
            f'{where}: cannot read the path {path!r}; wanted e.g. when, address.zip, items[*].sku, items[0], ["a.b"]'
        )
    return steps


def show_json(value: Any, width: int = 60) -> str:
    """Show a value as JSON on one line, shortened in the middle; `ABSENT` as "nothing"."""
    if value is ABSENT:
        return "nothing"
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (ValueError, RecursionError):  # a cycle, or nesting deeper than the interpreter allows
        text = repr(type(value))
    return text if len(text) <= width else f"{text[: width - 15]} … {text[-12:]}"
