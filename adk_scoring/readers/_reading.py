"""What every reader shares: access to loosely typed JSON, locations, notes that become warnings, error cases.

JSON in; out come values of the wanted type, or a `ReadError` that names the place, what was found and what was wanted.
"""

from __future__ import annotations

import json
import re
import reprlib
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from ..errors import ReadError, ReadWarning
from ..model import Case

__all__ = [
    "Reading",
    "at",
    "get",
    "json_text",
    "kind_of",
    "known_keys",
    "looks_like_expectation",
    "number",
    "show",
    "the_list",
    "the_object",
    "the_text",
]

_PACKAGE = __name__.partition(".")[0] + "."

# repr() of hostile input can be endless or too deep; this one is bounded both ways.
_shown = reprlib.Repr()
_shown.maxlevel, _shown.maxdict, _shown.maxlist, _shown.maxstring, _shown.maxother = 3, 8, 8, 60, 60

_KINDS = {
    dict: "an object",
    list: "a list",
    tuple: "a list",
    str: "text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}

# Keys that authors invent to say what they expect. One that no reader knows would check nothing, silently.
_EXPECTATION = re.compile(
    r"(expect|reference|criteri|ground_?truth|golden|assert|should|must_|ideal|acceptable)", re.IGNORECASE
)


def looks_like_expectation(key: object) -> bool:
    """Whether an author who writes this key seems to say what is expected."""
    return bool(_EXPECTATION.match(str(key)))


def show(value: Any) -> str:
    """A short Python literal of any value, for a message."""
    try:
        return _shown.repr(value)
    except ValueError:  # an integer of more digits than Python will print
        return "a huge number"


def kind_of(value: Any) -> str:
    """Name the JSON type of `value` for a message."""
    return _KINDS.get(type(value)) or f"a Python {type(value).__name__}"


def at(where: str, place: str) -> str:
    """Join two locations: ``line 3`` and ``turns[0]`` are ``line 3: turns[0]``."""
    if not where or not place:
        return where or place
    return f"{where}: {place}" if where.startswith(("line ", "record ")) and ":" not in where else f"{where}.{place}"


@cache
def _camel(snake: str) -> str:
    head, *rest = snake.split("_")
    return head + "".join(word.capitalize() for word in rest)


def get(record: dict[str, Any], snake: str) -> Any:
    """The value under `snake` or its camelCase spelling; ``None`` if it is absent or null."""
    value = record.get(snake)
    return record.get(_camel(snake)) if value is None else value


def known_keys(*snake: str) -> frozenset[str]:
    """Both spellings of every key."""
    return frozenset(snake) | {_camel(key) for key in snake}


def the_object(value: Any, where: str) -> dict[str, Any]:
    """`value` if it is an object, else a `ReadError`."""
    if isinstance(value, dict):
        return value
    raise ReadError(f"found {kind_of(value)}, wanted an object: {show(value)}", location=where)


def the_list(value: Any, where: str) -> list[Any] | tuple[Any, ...]:
    """`value` if it is a list, else a `ReadError`; null is an empty one."""
    if isinstance(value, list | tuple):
        return value
    if value is None:
        return ()
    raise ReadError(f"found {kind_of(value)}, wanted a list: {show(value)}", location=where)


def the_text(value: Any) -> str:
    """A label that should be text: null is ``""``, anything else is kept as JSON text."""
    if isinstance(value, str):
        return value
    return "" if value is None else json_text(value)


def number(value: Any) -> float | None:
    """`value` if it is a number, else ``None``; true and false are none, nor is a whole number that no float holds."""
    if isinstance(value, float):
        return value
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**1023 else None


def json_text(value: Any) -> str:
    """Compact JSON of a value that stands where text was wanted."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):  # made in Python: circular, keys that are no text, integers of 5,000 digits
        return show(value)


@dataclass(slots=True)
class _Places:
    """Where something was noted first, and how often."""

    first: str
    count: int = 0

    def __str__(self) -> str:
        first = self.first or "the top level"
        return first if self.count == 1 else f"{first} and {self.count - 1} more"


@dataclass(slots=True)
class Reading:
    """The reading of one document: where it comes from, how it is to be read, what has to be reported about it.

    Attributes:
        path: the file, or a name for what was given instead.
        match_nothing_as_empty: an absent expectation about calls means that none are expected.
        trials: how often each ``(set_id, case_id)`` was met in result files, shared by all documents of one call.
    """

    path: str
    match_nothing_as_empty: bool = False
    trials: Counter[tuple[str, str]] = field(default_factory=Counter)
    _notes: dict[str, _Places] = field(default_factory=dict)
    _unread: dict[str, _Places] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """A name for a case that the file does not name: the file's, up to its first dot."""
        name = re.split(r"[/\\]", self.path)[-1]
        return name.lstrip(".").split(".")[0] or "case"

    @property
    def no_expectation(self) -> tuple[()] | None:
        """What an absent expectation about calls means here."""
        return () if self.match_nothing_as_empty else None

    def note(self, what: str, where: str) -> None:
        """Remember that something was read with a tolerance; `report` warns once per kind."""
        self._notes.setdefault(what, _Places(where)).count += 1

    def rest(self, record: dict[str, Any], known: frozenset[str], where: str) -> dict[str, Any]:
        """The entries under keys that are not `known`, for `metadata`; those that look like expectations are noted."""
        if record.keys() <= known:
            return {}
        rest = {key: value for key, value in record.items() if key not in known and value is not None}
        for key in rest:
            if looks_like_expectation(key):
                self._unread.setdefault(key, _Places(where)).count += 1
        return rest

    def report(self) -> None:
        """Give the warnings that were noted, one per kind."""
        for what, places in self._notes.items():
            self.warn(f"{what}: {places}")
        if self._unread:
            named = "; ".join(f"{key!r} in {places}" for key, places in self._unread.items())
            self.warn(
                f"not read, though it looks like an expectation (nothing is checked by it; kept in metadata): {named}"
            )
        self._notes.clear()
        self._unread.clear()

    def warn(self, message: str) -> None:
        """Give one warning that names the source, at the line outside this package that reads."""
        level, frame = 1, sys._getframe()
        while frame.f_back and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
            level, frame = level + 1, frame.f_back
        warnings.warn(f"{self.path}: {message}" if self.path else message, ReadWarning, stacklevel=level)

    def case(self, build: Callable[[], Case], *, case_id: Any, set_id: str = "", where: str) -> Case:
        """Build one case; what goes wrong makes it an error case, so that its neighbours are read."""
        try:
            case = build()
        except ReadError as error:
            return self.error_case(error, case_id=case_id, set_id=set_id, where=where)
        except RecursionError:
            problem = ReadError("the values are nested too deeply", location=where)
            return self.error_case(problem, case_id=case_id, set_id=set_id, where=where)
        return case if case.source[0] else replace(case, source=(self.path, where))

    def error_case(self, error: ReadError, *, case_id: Any, set_id: str = "", where: str) -> Case:
        """A case that stands for something that could not be read."""
        name = case_id if isinstance(case_id, str) and case_id else where or self.stem
        located = ReadError(error.message, location=error.location or where)
        return Case(name, (), set_id=set_id, error=str(located), source=(self.path, where))
