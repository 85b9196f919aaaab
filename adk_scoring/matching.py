"""When two tool calls are the same call, and where they differ if they are not.

`Match` is the rule; everything that compares calls takes one. Call ids, authors and responses are never compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, NamedTuple, cast, get_args

from .errors import ConfigError, MatchError
from .model import ToolCall

__all__ = ["ABSENT", "ADK_FRAMEWORK_TOOLS", "Difference", "Match", "json_equal"]

ArgsRule = Literal["exact", "subset", "superset", "ignore", "adk"]

ADK_FRAMEWORK_TOOLS: Final = ("transfer_to_agent", "set_model_response", "exit_loop", "adk_request_*")
"""Calls that Google ADK makes by itself; give them to ``Match(ignore_tools=...)`` to compare only the agent's own."""


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


@dataclass(frozen=True, kw_only=True)
class Match:
    """The rule by which two calls are the same: equal names, and arguments that match.

    Args:
        args: ``"exact"``: JSON equality (key order is free, ``1 == 1.0``, ``True != 1``, NaN equals NaN);
            ``"subset"``: every expected key is there with a matching value, extras are allowed, in nested objects
            too; ``"superset"``: the reverse; ``"ignore"``: names alone count; ``"adk"``: Python's ``==``, as
            google-adk compares (``True == 1``).
        ignore_tools: names or patterns (``adk_request_*``) of calls that are dropped on both sides before
            anything is counted. `ADK_FRAMEWORK_TOOLS` names ADK's own.

    Raises:
        ConfigError: `args` is none of these.

    >>> Match(args="subset").differences(ToolCall("f", {"a": 1, "b": 2}), ToolCall("f", {"a": 1}))
    []
    >>> Match().differences(ToolCall("f", {"to": {"zip": "75001"}}), ToolCall("f", {"to": {"zip": 75001}}))
    [Difference(path='to.zip', expected=75001, actual='75001')]
    """

    args: ArgsRule = "exact"
    ignore_tools: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.args not in get_args(ArgsRule):
            raise ConfigError(f"Match(args={self.args!r}): wanted one of {', '.join(get_args(ArgsRule))}")
        if isinstance(self.ignore_tools, str):
            raise ConfigError(f"Match(ignore_tools={self.ignore_tools!r}): wanted a list of names, not one text")
        object.__setattr__(self, "ignore_tools", tuple(self.ignore_tools))

    @classmethod
    def adk(cls, *, ignore_args: bool = False, ignore_tools: Sequence[str] = ()) -> Match:
        """Google ADK's rule: names equal and arguments equal by Python's ``==``, or names alone.

        One departure stays: null and missing arguments are both ``{}``.
        """
        return cls(args="ignore" if ignore_args else "adk", ignore_tools=tuple(ignore_tools))

    @classmethod
    def of(cls, rule: Match | Mapping[str, Any] | str | None) -> Match:
        """Read a rule as a configuration file writes it: ``"subset"`` or ``{"args": "subset", ...}``.

        Raises:
            ConfigError: a key is unknown or a value is not usable.
        """
        if isinstance(rule, cls):
            return rule
        if rule is None or isinstance(rule, str):
            return cls(args=cast(ArgsRule, rule or "exact"))
        if not isinstance(rule, Mapping):
            raise ConfigError(f"match: wanted a rule or an object, got {type(rule).__name__}: {rule!r:.60}")
        known = [f.name for f in fields(cls)]
        if unknown := [key for key in rule if key not in known]:
            raise ConfigError(f"match: unknown key {unknown[0]!r}; wanted any of {', '.join(known)}")
        return cls(**rule)

    @property
    def is_equivalence(self) -> bool:
        """Whether "the same call" is transitive under this rule, so that greedy matching is maximum matching."""
        return self.args in ("exact", "ignore", "adk")

    def kept(self, calls: Sequence[ToolCall]) -> Sequence[ToolCall]:
        """Return the calls that count: those that `ignore_tools` does not name."""
        if not self.ignore_tools:
            return calls
        return tuple(c for c in calls if not any(fnmatchcase(c.name, pattern) for pattern in self.ignore_tools))

    def masks(self, actual: Sequence[ToolCall], expected: Sequence[ToolCall]) -> list[int]:
        """Return for each actual call the set of expected calls that it matches, as bits of an int.

        Raises:
            MatchError: arguments that have to be compared are unknown.
        """
        bit = 1
        if self.args == "ignore":
            by_name: dict[str, int] = {}
            for call in expected:
                by_name[call.name] = by_name.get(call.name, 0) | bit
                bit <<= 1
            return [by_name.get(call.name, 0) for call in actual]
        # Only calls of one name are compared: with names as different as they are in real runs, this leaves
        # about one comparison for each expected call.
        same = _SAME[self.args]
        buckets: dict[str, list[tuple[int, ToolCall]]] = {}
        for call in expected:
            buckets.setdefault(call.name, []).append((bit, call))
            bit <<= 1
        result = []
        for call in actual:
            mask = 0
            for bit, other in buckets.get(call.name, ()):
                if call.args is None or other.args is None:
                    raise MatchError(_unknown_arguments(call if call.args is None else other))
                try:
                    if same(call.args, other.args):
                        mask |= bit
                except RecursionError:
                    raise MatchError(f"arguments of {call.name} are nested too deeply to compare") from None
            result.append(mask)
        return result

    def differences(self, actual: ToolCall, expected: ToolCall) -> list[Difference]:
        """Return each place where the arguments of two calls differ under this rule; ``[]`` where they match."""
        if self.args == "ignore":
            return []
        if actual.args is None or expected.args is None:
            raise MatchError(_unknown_arguments(actual if actual.args is None else expected))
        return list(_differences("", actual.args, expected.args, self.args))


DEFAULT_MATCH: Final = Match()
"""The rule where none is given; one object, so that metrics of one case share its alignment."""


def _unknown_arguments(call: ToolCall) -> str:
    why = call.args_error or "its arguments were not recorded"
    return f'{call.name}: {why}; compare names alone with Match(args="ignore")'


def json_equal(a: Any, b: Any) -> bool:
    """Whether two JSON values are equal: numbers by value, true and false only to themselves, NaN to NaN.

    >>> json_equal({"n": 1, "m": [2]}, {"m": [2.0], "n": 1.0}), json_equal(1, True), json_equal(2**53 + 1, float(2**53))
    (True, False, False)
    """
    kind, other = type(a), type(b)
    if kind is other and kind in _PLAIN:
        return bool(a == b)
    if kind is bool or other is bool:
        return a is b
    if isinstance(a, Mapping):
        return (
            isinstance(b, Mapping)
            and len(a) == len(b)
            and all(key in b and json_equal(value, b[key]) for key, value in a.items())
        )
    if _is_list(a):
        return _is_list(b) and len(a) == len(b) and all(map(json_equal, a, b))
    if isinstance(a, float) and a != a:
        return isinstance(b, float) and b != b
    return bool(a == b)


_PLAIN = frozenset((str, int, bool, type(None)))


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _subset(actual: Any, expected: Any) -> bool:
    if isinstance(expected, Mapping):
        return isinstance(actual, Mapping) and all(
            key in actual and _subset(actual[key], value) for key, value in expected.items()
        )
    if _is_list(expected):
        return _is_list(actual) and len(actual) == len(expected) and all(map(_subset, actual, expected))
    return json_equal(actual, expected)


_SAME = {
    "exact": json_equal,
    "subset": _subset,
    "superset": lambda actual, expected: _subset(expected, actual),
    "adk": lambda actual, expected: bool(actual == expected),
}


def _differences(path: str, actual: Any, expected: Any, rule: str) -> Iterator[Difference]:
    if _SAME[rule](actual, expected):
        return
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        for key in (*expected, *(key for key in actual if key not in expected)):
            got, wanted = actual.get(key, ABSENT), expected.get(key, ABSENT)
            inner = f"{path}.{key}" if path else str(key)
            if got is ABSENT or wanted is ABSENT:
                # An extra key is no difference under "subset", nor is a missing one under "superset".
                if rule != ("subset" if wanted is ABSENT else "superset"):
                    yield Difference(inner, wanted, got)
            else:
                yield from _differences(inner, got, wanted, rule)
    elif _is_list(actual) and _is_list(expected) and len(actual) == len(expected):
        for index, (got, wanted) in enumerate(zip(actual, expected, strict=True)):
            yield from _differences(f"{path}[{index}]", got, wanted, rule)
    else:
        yield Difference(path or "arguments", expected, actual)


def show_json(value: Any, width: int = 60) -> str:
    """Show a value as JSON on one line, shortened in the middle; `ABSENT` as "nothing"."""
    if value is ABSENT:
        return "nothing"
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (ValueError, RecursionError):  # a cycle, or nesting deeper than the interpreter allows
        text = repr(type(value))
    return text if len(text) <= width else f"{text[: width - 15]} … {text[-12:]}"
