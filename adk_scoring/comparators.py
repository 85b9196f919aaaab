"""When two argument values are the same although they are not equal: same instant, close enough, any order, ...

Each comparator is a small value (it compares, prints and pickles as one) that is called with ``(actual, expected)``.
Give them to ``Match(tools={"book": {"when": iso8601(), "items[*].sku": casefold()}})``; any function of the two
values that returns a bool does as well. Configuration files write ``{"approx": {"rel": 0.01}}``, ``{"fuzzy": 0.9}`` or
just ``"casefold"``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, ClassVar, Final

from .errors import ConfigError
from .matching.arguments import ABSENT, Comparator, json_equal

__all__ = [
    "COMPARATORS",
    "absent",
    "anything",
    "approx",
    "casefold",
    "from_json",
    "fuzzy",
    "iso8601",
    "one_of",
    "optional",
    "regex",
    "to_json",
    "unordered",
]


@dataclass(frozen=True, slots=True)
class approx:  # noqa: N801  # comparators are written as functions are
    """Two numbers that differ by no more than a share of the expected one, or by no more than an amount.

    Args:
        rel: largest difference as a share of the expected number.
        abs: largest difference as an amount; the wider of the two counts.

    Numbers are taken as they are written, so 1.1 is within 0.1 of 1.0. Values that are not both numbers have to be
    equal; true and false are not numbers, infinities and NaN equal only themselves.

    >>> approx(rel=0.01)(100.9, 100), approx(abs=0.1)(1.1, 1.0), approx()(1, 2)
    (True, True, False)
    """

    rel: float = 1e-6
    abs: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("rel", self.rel), ("abs", self.abs)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
                raise ConfigError(f"approx({name}={value!r}): wanted a number from 0")

    def __call__(self, actual: Any, expected: Any) -> bool:
        """Judge ``(actual, expected)``."""
        if json_equal(actual, expected):
            return True
        a, e = _as_written(actual), _as_written(expected)
        if a is None or e is None:
            return False
        rel, amount = Fraction(str(self.rel)), Fraction(str(self.abs))
        return abs(a - e) <= max(rel * abs(e), amount)


def _as_written(value: Any) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        return Fraction(value)
    return Fraction(repr(value)) if value - value == 0 else None


@dataclass(frozen=True, slots=True)
class iso8601:  # noqa: N801
    """Two ISO 8601 texts that mean the same instant.

    Args:
        strict: whether the expected form is asked for too (``Z`` or ``+00:00``, with or without milliseconds), since
            a wrong form is what the next tool rejects.
        assume: the offset (``"Z"``, ``"+08:00"``) of a time that is written without one. By default such a time is
            the same only as another without: without an offset it is no instant.

    A date alone means its midnight, so ``2026-08-19`` is ``2026-08-19T00:00:00``. Equal values always match; what
    is not ISO 8601 matches nothing else. Digits beyond the microsecond do not count.

    >>> iso8601()("2026-08-19T09:00:00+08:00", "2026-08-19T01:00:00Z")
    True
    >>> iso8601(strict=True)("2026-08-19T01:00:00.000Z", "2026-08-19T01:00:00Z")
    False
    """

    strict: bool = False
    assume: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.strict, bool):
            raise ConfigError(f"iso8601(strict={self.strict!r}): wanted true or false")
        if self.assume:
            sample = _moment(f"2000-01-01T00:00:00{self.assume}")
            if sample is None or sample.tzinfo is None:
                raise ConfigError(f'iso8601(assume={self.assume!r}): wanted an offset, e.g. "Z" or "+08:00"')

    def __call__(self, actual: Any, expected: Any) -> bool:
        """Judge ``(actual, expected)``."""
        if json_equal(actual, expected):
            return True
        a, e = self._instant(actual), self._instant(expected)
        # Two datetimes of which one has no offset are unequal, as they should be.
        return a is not None and a == e and (not self.strict or _form(actual) == _form(expected))

    def _instant(self, value: Any) -> datetime | None:
        moment = _moment(value) if isinstance(value, str) else None
        if moment is not None and moment.tzinfo is None and self.assume:
            return _moment(f"{moment.isoformat()}{self.assume}")
        return moment


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def _form(text: str) -> str:
    """Reduce a time to how it is written: every digit becomes 0, and an offset west of Greenwich one east of it."""
    return re.sub(r"-(?=00(:?00)?$)", "+", re.sub(r"\d", "0", text))


@dataclass(frozen=True, slots=True)
class regex:  # noqa: N801
    r"""A text that a regular expression describes from its start to its end.

    Args:
        pattern: the expression; ``None``: the expected value is one.
        ignore_case: whether upper and lower case are the same.

    >>> regex(r"[A-Z]{3}\d+")("HAT271", "HAT270"), regex()("HAT271", r"HAT\d")
    (True, False)
    """

    pattern: str | None = None
    ignore_case: bool = False

    def __post_init__(self) -> None:
        if self.pattern is not None:
            try:
                re.compile(self.pattern)
            except (re.error, TypeError) as error:
                raise ConfigError(f"regex(pattern={self.pattern!r}): not a regular expression: {error}") from None

    def __call__(self, actual: Any, expected: Any) -> bool:
        """Judge ``(actual, expected)``."""
        pattern = expected if self.pattern is None else self.pattern
        if not isinstance(pattern, str) or not isinstance(actual, str):
            return False
        return re.fullmatch(pattern, actual, re.IGNORECASE if self.ignore_case else 0) is not None


@dataclass(frozen=True, slots=True)
class fuzzy:  # noqa: N801
    """Two texts that are nearly the same: 1 - Levenshtein distance / length of the longer is at least `ratio`.

    Args:
        ratio: the smallest similarity that will do, 0 to 1. The distance counts code points, upper case is not
            lower case. Values that are not both texts have to be equal.

    >>> fuzzy(0.8)("12 Main Street", "12 Main Street."), fuzzy(0.8)("Paris", "Rome")
    (True, False)
    """

    ratio: float = 0.9

    def __post_init__(self) -> None:
        if isinstance(self.ratio, bool) or not isinstance(self.ratio, int | float) or not 0 <= self.ratio <= 1:
            raise ConfigError(f"fuzzy(ratio={self.ratio!r}): wanted a number from 0 to 1")

    def __call__(self, actual: Any, expected: Any) -> bool:
        """Judge ``(actual, expected)``."""
        if not isinstance(actual, str) or not isinstance(expected, str):
            return json_equal(actual, expected)
        from rapidfuzz.distance import Levenshtein

        # The tolerance is that of thresholds, so that 0.8 means 0.8 whatever the division leaves.
        return Levenshtein.normalized_similarity(actual, expected) >= self.ratio - 1e-9


@dataclass(frozen=True, slots=True)
class one_of:  # noqa: N801
    """A value out of a list.

    Args:
        values: the list; ``None``: the expected value is the list.

    >>> one_of(["economy", "basic"])("basic", "economy"), one_of()("basic", ["economy", "business"])
    (True, False)
    """

    values: Sequence[Any] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if self.values is not None:
            if not isinstance(self.values, list | tuple):
                raise ConfigError(f"one_of(values={self.values!r}): wanted a list of values")
            object.__setattr__(self, "values", tuple(self.values))

    def __call__(self, actual: Any, expected: Any) -> bool:
        """Judge ``(actual, expected)``."""
        values = expected if self.values is None else self.values
        return isinstance(values, list | tuple) and any(json_equal(actual, value) for value in values)


@dataclass(frozen=True, slots=True)
class casefold:  # noqa: N801
    """Two texts that are the same but for upper and lower case, and for how accents are encoded.

    Values that are not both texts have to be equal.

    >>> casefold()("STRASSE", "straße"), casefold()("a", "b")
    (True, False)
    """

    def __call__(self, actual: Any, expected: Any) -> bool:
        """Judge ``(actual, expected)``."""
        if not isinstance(actual, str) or not isinstance(expected, str):
            return json_equal(actual, expected)
        return _caseless(actual) == _caseless(expected)


def _caseless(text: str) -> str:
    """Return the form that Unicode compares for a canonical caseless match (D145)."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold())


@dataclass(frozen=True, slots=True)
class unordered:  # noqa: N801
    """Two lists of the same items, each as often, in any order. Values that are not both lists have to be equal.

    >>> unordered()([1, 2, 2], [2, 1, 2]), unordered()([1, 2], [1, 2, 2])
    (True, False)
    """

    def __call__(self, actual: Any, expected: Any) -> bool:
        """Judge ``(actual, expected)``."""
        if not isinstance(actual, list | tuple) or not isinstance(expected, list | tuple):
            return json_equal(actual, expected)
        left = list(expected)
        for item in actual:
            place = next((i for i, other in enumerate(left) if json_equal(item, other)), None)
            if place is None:
                return False
            del left[place]
        return not left


@dataclass(frozen=True, slots=True)
class anything:  # noqa: N801
    """Whatever is there, or nothing: the argument is left out of the comparison.

    >>> anything()("hello", "hi"), anything()("hello", ABSENT)
    (True, True)
    """

    judges_absence: ClassVar[bool] = True

    def __call__(self, actual: Any, expected: Any) -> bool:
        """Judge ``(actual, expected)``."""
        return True


@dataclass(frozen=True, slots=True)
class optional:  # noqa: N801
    """An argument that may be left out on either side; where both sides have it, the values have to be equal.

    Args:
        default: what leaving it out means; by default it may then be anything.

    >>> optional(1)(ABSENT, 1), optional(1)(2, ABSENT), optional()(2, ABSENT)
    (True, False, True)
    """

    default: Any = field(default=ABSENT, hash=False)
    judges_absence: ClassVar[bool] = True

    def __call__(self, actual: Any, expected: Any) -> bool:
        """Judge ``(actual, expected)``; either may be `ABSENT`."""
        a = self.default if actual is ABSENT else actual
        e = self.default if expected is ABSENT else expected
        return a is ABSENT or e is ABSENT or json_equal(a, e)


@dataclass(frozen=True, slots=True)
class absent:  # noqa: N801
    """An argument that must not be given, whatever the expected call says.

    >>> absent()(ABSENT, 1), absent()(None, ABSENT)
    (True, False)
    """

    judges_absence: ClassVar[bool] = True

    def __call__(self, actual: Any, expected: Any) -> bool:
        """Judge ``(actual, expected)``; either may be `ABSENT`."""
        return actual is ABSENT


COMPARATORS: Final[Mapping[str, Callable[..., Comparator]]] = {
    c.__name__: c for c in (absent, anything, approx, casefold, fuzzy, iso8601, one_of, optional, regex, unordered)
}
"""The comparators that configuration files can name."""


def from_json(written: Any, where: str = "comparator") -> Comparator:
    """Read a comparator as a configuration file writes it.

    Args:
        written: ``"casefold"``, ``{"approx": {"rel": 0.01}}``, ``{"one_of": ["a", "b"]}`` (one value is the first
            parameter), or a function, which is kept.
        where: the place in the file, for messages.

    Raises:
        ConfigError: it is none, or a parameter is unknown or not usable; the message names the place.

    >>> from_json({"approx": {"rel": 0.01}}), from_json("casefold")
    (approx(rel=0.01, abs=0.0), casefold())
    """
    if callable(written):
        return written  # type: ignore[no-any-return]  # what it returns shows when it is called
    name, given = written, None
    if isinstance(written, Mapping) and len(written) == 1:
        ((name, given),) = written.items()
    if not isinstance(name, str):
        raise ConfigError(
            f'{where}: wanted a comparator, e.g. "casefold" or {{"approx": {{"rel": 0.01}}}}, got {written!r:.80}'
        )
    if name not in COMPARATORS:
        near = get_close_matches(name, COMPARATORS, 1, 0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ";"
        raise ConfigError(f"{where}: unknown comparator {name!r}{hint} known: {', '.join(COMPARATORS)}")
    known = [f.name for f in fields(COMPARATORS[name])]  # type: ignore[arg-type]  # all of them are dataclasses
    if given is None:
        given = {}
    elif not isinstance(given, Mapping):
        if not known:
            raise ConfigError(f"{where}: {name} takes no parameters, got {given!r:.80}")
        given = {known[0]: given}
    if unknown := [key for key in given if key not in known]:
        raise ConfigError(f"{where}: {name} has no parameter {unknown[0]!r}; known: {', '.join(known) or 'none'}")
    try:
        return COMPARATORS[name](**given)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None


def to_json(comparator: Comparator) -> Any:
    """Write a comparator as a configuration file does; the reverse of `from_json`.

    Raises:
        ConfigError: it is a function, which no file can hold.

    >>> to_json(approx(rel=0.01)), to_json(casefold())
    ({'approx': {'rel': 0.01}}, 'casefold')
    """
    name = type(comparator).__name__
    if COMPARATORS.get(name) is not type(comparator):
        raise ConfigError(f"{comparator!r} is a function of your own, which a configuration file cannot hold")
    given = {
        f.name: value for f in fields(comparator) if not json_equal(value := getattr(comparator, f.name), f.default)
    }
    return {name: given} if given else name
