"""When two tool calls are the same call, and where they differ if they are not.

`Match` is the rule; everything that compares calls takes one. Call ids, authors and responses are never compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Final, cast, get_args

from ..errors import ConfigError, MatchError
from ..model import ToolCall
from .arguments import (
    ABSENT,
    SAME,
    ArgsRule,
    Comparator,
    Difference,
    Governed,
    differences,
    govern,
    json_equal,
    show_json,
)

__all__ = ["ABSENT", "ADK_FRAMEWORK_TOOLS", "DEFAULT_MATCH", "Difference", "Match", "json_equal", "show_json"]

ADK_FRAMEWORK_TOOLS: Final = ("transfer_to_agent", "set_model_response", "exit_loop", "adk_request_*")
"""Calls that Google ADK makes by itself; give them to ``Match(ignore_tools=...)`` to compare only the agent's own."""


@dataclass(frozen=True, kw_only=True)
class Match:
    """The rule by which two calls are the same: equal names, and arguments that match.

    Args:
        args: ``"exact"``: JSON equality (key order is free, ``1 == 1.0``, ``True != 1``, NaN equals NaN);
            ``"subset"``: every expected key is there with a matching value, extras are allowed, in nested objects
            too; ``"superset"``: the reverse; ``"ignore"``: names alone count; ``"adk"``: Python's ``==``, as
            google-adk compares (``True == 1``).
        tools: by tool (``"*"``: every tool) and argument path, a comparator (see `comparators`) or any
            ``f(actual, expected) -> bool``. What it governs is judged by it alone; `args` decides about all the rest,
            and whether the argument may be missing on a side (``"ignore"``: only where it is not expected), except
            that ``anything``, ``optional`` and ``absent`` decide that too. Paths: ``when``, ``address.zip``,
            ``items[*].sku``, ``items[0]``, ``*`` (every argument), ``["a.b"]`` (a key with a dot).
        ignore_tools: names or patterns (``adk_request_*``) of calls that are dropped on both sides before
            anything is counted. `ADK_FRAMEWORK_TOOLS` names ADK's own.
        parallel: whether calls of one ``step`` that stand beside each other come in any order among themselves.

    Raises:
        ConfigError: a value is not usable; a comparator or a path in `tools` is unknown or cannot be read.

    >>> Match(args="subset").differences(ToolCall("f", {"a": 1, "b": 2}), ToolCall("f", {"a": 1}))
    []
    >>> Match().differences(ToolCall("f", {"to": {"zip": "75001"}}), ToolCall("f", {"to": {"zip": 75001}}))
    [Difference(path='to.zip', expected=75001, actual='75001')]
    >>> from adk_scoring.comparators import casefold
    >>> Match(tools={"f": {"to.zip": casefold()}}).masks([ToolCall("f", {"to": {"zip": "N1C"}})],
    ...                                                  [ToolCall("f", {"to": {"zip": "n1c"}})])
    [1]
    """

    args: ArgsRule = "exact"
    # Equal rules have equal hashes without it, and what a caller gives as a comparator need not be hashable.
    tools: Mapping[str, Mapping[str, Comparator]] = field(default_factory=dict, hash=False)
    ignore_tools: Sequence[str] = ()
    parallel: bool = False

    def __post_init__(self) -> None:
        if self.args not in get_args(ArgsRule):
            raise ConfigError(f"Match(args={self.args!r}): wanted one of {', '.join(get_args(ArgsRule))}")
        names: Any = self.ignore_tools  # a configuration may hold anything
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            raise ConfigError(f"Match(ignore_tools={names!r:.80}): wanted a list of names")
        if not isinstance(self.parallel, bool):
            raise ConfigError(f"Match(parallel={self.parallel!r}): wanted true or false")
        object.__setattr__(self, "ignore_tools", tuple(names))
        object.__setattr__(self, "tools", _read_tools(self.tools) if self.tools else {})
        if self.tools:
            _ = self._governed  # a path that cannot be read is an error now, not at the first call

    @classmethod
    def adk(cls, *, ignore_args: bool = False, ignore_tools: Sequence[str] = ()) -> Match:
        """Google ADK's rule: names equal and arguments equal by Python's ``==``, or names alone.

        One departure stays: null and missing arguments are both ``{}``.
        """
        return cls(args="ignore" if ignore_args else "adk", ignore_tools=ignore_tools)

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

    def to_json(self) -> dict[str, Any]:
        """Return the rule as a configuration file writes it; `Match.of` reads it back.

        Raises:
            ConfigError: a comparator is a function, which no file can hold.

        >>> Match.of({"tools": {"book": {"when": {"iso8601": {}}}}}).to_json()
        {'tools': {'book': {'when': 'iso8601'}}}
        """
        written: dict[str, Any] = {
            f.name: list(value) if isinstance(value, tuple) else value
            for f in fields(self)
            if f.name != "tools" and (value := getattr(self, f.name)) != f.default
        }
        if self.tools:
            from ..comparators import to_json

            written["tools"] = {
                tool: {path: to_json(comparator) for path, comparator in paths.items()}
                for tool, paths in self.tools.items()
            }
        return written

    @property
    def is_equivalence(self) -> bool:
        """Whether "the same call" is transitive under this rule, so that greedy matching is maximum matching."""
        return self.args in ("exact", "ignore", "adk") and not self.tools

    @cached_property
    def _governed(self) -> dict[str, Governed]:
        everywhere = self.tools.get("*", {})
        return {tool: govern({**everywhere, **paths}, f"match.tools.{tool}") for tool, paths in self.tools.items()}

    def governed(self, tool: str) -> Governed | None:
        """Return the comparators for a tool, arranged by path, or ``None`` if it has none."""
        return self._governed.get(tool, self._governed.get("*")) if self.tools else None

    def kept(self, calls: Sequence[ToolCall]) -> Sequence[ToolCall]:
        """Return the calls that count: those that `ignore_tools` does not name."""
        if not self.ignore_tools:
            return calls
        return tuple(c for c in calls if not any(fnmatchcase(c.name, pattern) for pattern in self.ignore_tools))

    def masks(self, actual: Sequence[ToolCall], expected: Sequence[ToolCall]) -> list[int]:
        """Return for each actual call the set of expected calls that it matches, as bits of an int.

        Raises:
            MatchError: arguments that have to be compared are unknown or nested too deeply, or a comparator raised;
                the message names the tool.
        """
        bit = 1
        tools = self.tools
        if self.args == "ignore" and not tools:
            by_name: dict[str, int] = {}
            for call in expected:
                by_name[call.name] = by_name.get(call.name, 0) | bit
                bit <<= 1
            return [by_name.get(call.name, 0) for call in actual]
        # Only calls of one name are compared: with names as different as they are in real runs, this leaves
        # about one comparison for each expected call.
        same = SAME[self.args]
        buckets: dict[str, list[tuple[int, ToolCall]]] = {}
        for call in expected:
            buckets.setdefault(call.name, []).append((bit, call))
            bit <<= 1
        result = []
        for call in actual:
            mask = 0
            if tools:
                same = self._same(call.name)
            try:
                for bit, other in buckets.get(call.name, ()):
                    if (call.args is None or other.args is None) and same is not SAME["ignore"]:
                        _known(call), _known(other)  # raises
                    if same(call.args, other.args):
                        mask |= bit
            except (RecursionError, MatchError):
                with _naming(call):
                    raise
            result.append(mask)
        return result

    def _same(self, tool: str) -> Comparator:
        """Return what compares the arguments of two calls of a tool."""
        governed = self.governed(tool)
        if governed is None:
            return SAME[self.args]
        return lambda actual, expected: next(differences(actual, expected, self.args, governed), None) is None

    def matching_arguments(self, actual: ToolCall, expected: ToolCall) -> list[str]:
        """Return the expected arguments (of the top level) that the call made has right.

        Raises:
            MatchError: as `masks`.

        >>> Match().matching_arguments(ToolCall("f", {"a": 1, "b": 2}), ToolCall("f", {"a": 1.0, "b": 3}))
        ['a']
        """
        if self.args == "ignore" and self.governed(expected.name) is None:
            return list(expected.args or ())
        same = self._same(expected.name)
        with _naming(expected):
            got, wanted = _known(actual), _known(expected)
            return [key for key in wanted if same({key: got[key]} if key in got else {}, {key: wanted[key]})]

    def differences(self, actual: ToolCall, expected: ToolCall) -> list[Difference]:
        """Return each place where the arguments of two calls of one tool differ; ``[]`` where they match.

        Raises:
            MatchError: as `masks`.
        """
        governed = self.governed(expected.name)
        if self.args == "ignore" and governed is None:
            return []
        with _naming(expected):
            return list(differences(_known(actual), _known(expected), self.args, governed))


@contextmanager
def _naming(call: ToolCall) -> Iterator[None]:
    """Name the tool in what goes wrong when its arguments are compared."""
    try:
        yield
    except RecursionError:
        raise MatchError(f"arguments of {call.name} are nested too deeply to compare") from None
    except MatchError as error:
        raise MatchError(f"{call.name}: {error}") from error.__cause__


def _known(call: ToolCall) -> Mapping[str, Any]:
    if call.args is None:
        why = call.args_error or "its arguments were not recorded"
        raise MatchError(f'{why}; compare names alone with Match(args="ignore")')
    return call.args


def _read_tools(tools: Any) -> dict[str, dict[str, Comparator]]:
    from ..comparators import from_json

    read: dict[str, dict[str, Comparator]] = {}
    for tool, paths in _object(tools, "match.tools").items():
        where = f"match.tools.{tool}"
        read[tool] = {path: from_json(c, f"{where}.{path}") for path, c in _object(paths, where).items()}
    return read


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ConfigError(f'{where}: wanted an object, e.g. {{"book": {{"when": "iso8601"}}}}, got {value!r:.80}')
    return value


DEFAULT_MATCH: Final = Match()
"""The rule where none is given; one object, so that metrics of one case share its alignment."""
