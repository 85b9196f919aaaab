"""Comparators by themselves: what matches, how they are written in files, what is refused."""

from __future__ import annotations

import copy
import json
import pickle
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring import comparators
from adk_scoring.comparators import (
    COMPARATORS,
    absent,
    anything,
    approx,
    casefold,
    from_json,
    fuzzy,
    iso8601,
    one_of,
    optional,
    regex,
    to_json,
    unordered,
)
from adk_scoring.errors import ConfigError
from adk_scoring.matching.arguments import ABSENT, json_equal

from .slow_alignment import canonical, values

EACH = [
    absent(),
    anything(),
    approx(rel=0.01),
    approx(rel=0, abs=2),
    casefold(),
    fuzzy(0.75),
    iso8601(),
    iso8601(strict=True, assume="+08:00"),
    one_of(["a", {"b": [1]}]),
    one_of(),
    optional(),
    optional({"b": 1}),
    optional(None),
    regex(r"\d+", ignore_case=True),
    regex(),
    unordered(),
]


@pytest.mark.parametrize("comparator", EACH, ids=repr)
def test_a_comparator_is_a_value(comparator: Any) -> None:
    assert eval(repr(comparator), {**vars(comparators), "ABSENT": ABSENT}) == comparator  # noqa: S307
    assert pickle.loads(pickle.dumps(comparator)) == comparator  # noqa: S301
    assert hash(copy.deepcopy(comparator)) == hash(comparator)
    assert from_json(json.loads(json.dumps(to_json(comparator)))) == comparator


def test_every_comparator_is_tried_above_and_named() -> None:
    assert {type(c).__name__ for c in EACH} == set(COMPARATORS)
    assert {name: COMPARATORS[name].__name__ for name in COMPARATORS} == {name: name for name in COMPARATORS}
    assert set(COMPARATORS) <= set(comparators.__all__)


@given(values)
def test_equal_values_match_where_values_are_compared(value: Any) -> None:
    other = copy.deepcopy(value)
    for comparator in (approx(), casefold(), fuzzy(1.0), iso8601(), iso8601(strict=True), unordered(), optional()):
        assert comparator(value, other), comparator


@given(values, values)
def test_values_of_other_kinds_are_only_compared_for_equality(a: Any, b: Any) -> None:
    for comparator in (approx(rel=0), fuzzy(1.0), iso8601(), optional(7)):
        assert comparator(a, b) == json_equal(a, b), comparator


@pytest.mark.parametrize(
    ("comparator", "actual", "expected", "same"),
    [
        (approx(rel=0.01), 101, 100, True),
        (approx(rel=0.01), 101.1, 100, False),
        (approx(rel=0.01), -101, -100, True),
        (approx(rel=0.01), 100, -100, False),
        (approx(abs=0.1), 1.1, 1.0, True),
        (approx(abs=0.1), 1.2, 1.0, False),
        (approx(rel=0.1, abs=0.5), 104, 100, True),
        (approx(rel=0.001, abs=5), 104, 100, True),
        (approx(), 1e300, 10**300, True),
        (approx(rel=0.1), 10**400, 10**400 + 1, True),
        (approx(rel=0), 2**53 + 1, float(2**53), False),
        (approx(abs=1), float("inf"), 1, False),
        (approx(abs=1), float("inf"), float("inf"), True),
        (approx(abs=1), float("nan"), float("nan"), True),
        (approx(abs=1), float("nan"), 0, False),
        (approx(abs=1), True, 1, False),
        (approx(abs=1), "1", 1, False),
        (approx(abs=1), None, 0, False),
        (iso8601(), "2026-08-19T09:00:00+08:00", "2026-08-19T01:00:00Z", True),
        (iso8601(), "2026-08-19T09:00:00+08:00", "2026-08-19T09:00:00Z", False),
        (iso8601(), "2026-08-19T09:00:00.000Z", "2026-08-19T09:00Z", True),
        (iso8601(), "20260819T090000Z", "2026-08-19 09:00:00+00:00", True),
        (iso8601(), "2026-08-19T09:00:00", "2026-08-19T09:00:00Z", False),
        (iso8601(assume="Z"), "2026-08-19T09:00:00", "2026-08-19T09:00:00Z", True),
        (iso8601(assume="+08:00"), "2026-08-19T09:00:00", "2026-08-19T01:00:00Z", True),
        (iso8601(), "2026-08-19", "2026-08-19T00:00:00", True),
        (iso8601(), "2026-08-19", "2026-08-20", False),
        (iso8601(), "2026-W34-3", "2026-08-19", True),
        (iso8601(), " 2026-08-19 ", "2026-08-19", True),
        (iso8601(), "tomorrow", "tomorrow", True),
        (iso8601(), "tomorrow", "Tomorrow", False),
        (iso8601(), 20260819, "2026-08-19", False),
        (iso8601(strict=True), "2026-08-19T09:00:00+08:00", "2026-08-19T01:00:00+00:00", True),
        (iso8601(strict=True), "2026-08-18T20:00:00-05:00", "2026-08-19T09:00:00+08:00", True),
        (iso8601(strict=True), "2026-08-19T01:00:00Z", "2026-08-19T01:00:00+00:00", False),
        (iso8601(strict=True), "2026-08-19", "2026-08-19T00:00:00", False),
        (regex(r"[A-Z]{3}\d+"), "HAT271", None, True),
        (regex(r"[A-Z]{3}"), "HAT271", "HAT271", False),
        (regex("hat.*", ignore_case=True), "HAT271", None, True),
        (regex("1"), 1, 1, False),
        (regex(), "abc", "a.c", True),
        (regex(), "abc", 3, False),
        (fuzzy(0.8), "abcde", "abcdX", True),
        (fuzzy(0.8), "abcde", "abcXX", False),
        (fuzzy(0.5), 1, 1.0, True),
        (fuzzy(0.5), 1, "1", False),
        (fuzzy(0), "", "x", True),
        (one_of(["a", 1]), 1.0, "z", True),
        (one_of(["a", 1]), True, "a", False),
        (one_of(), "b", ["a", "b"], True),
        (one_of(), "b", "b", False),
        (one_of([]), "b", "b", False),
        (casefold(), "STRASSE", "straße", True),
        (casefold(), "É", "e\u0301", True),
        (casefold(), "a", "b", False),
        (casefold(), ["A"], ["a"], False),
        (unordered(), [1, {"a": 1}, 1.0], [{"a": 1.0}, 1, 1], True),
        (unordered(), [1, 1, 2], [1, 2, 2], False),
        (unordered(), [1], [1, 1], False),
        (unordered(), [True], [1], False),
        (unordered(), "ab", "ba", False),
        (anything(), ABSENT, 1, True),
        (anything(), 1, ABSENT, True),
        (optional(), ABSENT, 1, True),
        (optional(), 2, 1, False),
        (optional(1), ABSENT, 1.0, True),
        (optional(1), 2, ABSENT, False),
        (optional(1), ABSENT, 2, False),
        (optional(None), None, ABSENT, True),
        (absent(), ABSENT, 1, True),
        (absent(), None, ABSENT, False),
    ],
)
def test_what_matches(comparator: Any, actual: Any, expected: Any, same: bool) -> None:
    assert comparator(actual, expected) is same


@given(st.lists(values, max_size=4), st.lists(values, max_size=4))
def test_unordered_is_equality_of_some_order(a: list[Any], b: list[Any]) -> None:
    assert unordered()(a, b) == any(canonical(list(p)) == canonical(b) for p in permutations(a))


numbers = st.integers(-1000, 1000) | st.floats(-1000, 1000)


@given(numbers, numbers, st.sampled_from([0.0, 0.01, 0.5]), st.sampled_from([0.0, 0.1, 3.0]))
def test_approx_is_the_arithmetic_up_to_rounding(a: float, e: float, rel: float, amount: float) -> None:
    allowed = max(rel * abs(e), amount)
    # Numbers on the very edge are the business of the examples above.
    if abs(abs(a - e) - allowed) > 1e-9:
        assert approx(rel=rel, abs=amount)(a, e) == (abs(a - e) < allowed)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("anything", anything()),
        ({"iso8601": {}}, iso8601()),
        ({"iso8601": None}, iso8601()),
        ({"iso8601": True}, iso8601(strict=True)),
        ({"approx": {"rel": 0.01}}, approx(rel=0.01)),
        ({"approx": 0.01}, approx(rel=0.01)),
        ({"fuzzy": 0.9}, fuzzy(0.9)),
        ({"regex": "a+"}, regex("a+")),
        ({"one_of": ["a", "b"]}, one_of(("a", "b"))),
        ({"one_of": {"values": ["a", "b"]}}, one_of(("a", "b"))),
        ({"optional": {"default": {"x": 1}}}, optional({"x": 1})),
        (json_equal, json_equal),
    ],
)
def test_spellings_of_files(written: Any, read: Any) -> None:
    assert from_json(written) == read


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("iso8602", r"here: unknown comparator 'iso8602'; did you mean 'iso8601'\? known: absent, anything"),
        ({"xyz": {}}, "here: unknown comparator 'xyz'; known: absent"),
        (3, "here: wanted a comparator, e.g. .*got 3"),
        ({}, "here: wanted a comparator"),
        ({"approx": {}, "fuzzy": {}}, "here: wanted a comparator"),
        ({"approx": {"relative": 1}}, "here: approx has no parameter 'relative'; known: rel, abs"),
        ({"anything": 1}, "here: anything takes no parameters, got 1"),
        ({"anything": {"x": 1}}, "here: anything has no parameter 'x'; known: none"),
        ({"approx": {"rel": -1}}, r"here: approx\(rel=-1\): wanted a number from 0"),
        ({"approx": {"abs": "1"}}, r"approx\(abs='1'\)"),
        ({"approx": {"abs": True}}, r"approx\(abs=True\)"),
        ({"fuzzy": 90}, r"fuzzy\(ratio=90\): wanted a number from 0 to 1"),
        ({"fuzzy": True}, r"fuzzy\(ratio=True\)"),
        ({"regex": "("}, r"regex\(pattern='\('\): not a regular expression"),
        ({"regex": 3}, "not a regular expression"),
        ({"one_of": "ab"}, r"one_of\(values='ab'\): wanted a list"),
        ({"iso8601": {"strict": "yes"}}, r"iso8601\(strict='yes'\): wanted true or false"),
        ({"iso8601": {"assume": "Asia/Taipei"}}, r"iso8601\(assume='Asia/Taipei'\): wanted an offset"),
        ({"iso8601": {"assume": ".5"}}, r"iso8601\(assume='.5'\): wanted an offset"),
    ],
)
def test_what_is_no_comparator_is_refused_with_its_place(written: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        from_json(written, "here")


def test_a_function_cannot_be_written() -> None:
    with pytest.raises(ConfigError, match="a function of your own"):
        to_json(json_equal)
