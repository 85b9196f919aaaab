"""When two calls are the same, and where they differ, held against the slow restatement."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring.errors import ConfigError, MatchError
from adk_scoring.matching import ABSENT, ADK_FRAMEWORK_TOOLS, Difference, Match, json_equal
from adk_scoring.model import ToolCall

from .slow_alignment import args, call_lists, canonical, edges, rules, same_args, values


def masks_as_table(masks: list[int], m: int) -> list[list[bool]]:
    assert all(mask >> m == 0 for mask in masks)
    return [[bool(mask >> j & 1) for j in range(m)] for mask in masks]


def nested(depth: int, leaf: Any = 1) -> dict[str, Any]:
    value: Any = leaf
    for _ in range(depth):
        value = {"a": value}
    return {"a": value}


@given(values, values)
def test_json_equality_is_equality_of_canonical_forms(a: Any, b: Any) -> None:
    assert json_equal(a, b) == (canonical(a) == canonical(b))


@given(values)
def test_a_value_equals_its_copy(a: Any) -> None:
    assert json_equal(a, copy.deepcopy(a))


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (0, False, False),
        (None, False, False),
        ("1", 1, False),
        (2**53 + 1, float(2**53), False),
        (2**53, float(2**53), True),
        (10**400, 10**400, True),
        (10**400, float("inf"), False),
        (float("nan"), float("nan"), True),
        (float("nan"), 1.0, False),
        (1, float("nan"), False),
        (-0.0, 0, True),
        ([1, 2], (1, 2.0), True),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ({"a": 1, "b": 2}, OrderedDict(b=2, a=1), True),
        ({"a": None}, {}, False),
        ({}, [], False),
        ("", None, False),
        ("é", "e\u0301", False),
    ],
)
def test_json_equality_by_example(a: Any, b: Any, equal: bool) -> None:
    assert json_equal(a, b) is equal
    assert json_equal(b, a) is equal


@given(call_lists, call_lists, rules)
def test_masks_say_what_the_rule_says(actual: list[ToolCall], expected: list[ToolCall], rule: Any) -> None:
    masks = Match(args=rule).masks(actual, expected)
    assert masks_as_table(masks, len(expected)) == edges(actual, expected, rule)


@given(args, args, rules)
def test_calls_match_exactly_when_nothing_differs(a: dict[str, Any], b: dict[str, Any], rule: Any) -> None:
    found = Match(args=rule).differences(ToolCall("f", a), ToolCall("f", b))
    assert (not found) == same_args(a, b, rule)


@pytest.mark.parametrize(
    ("rule", "actual", "expected", "found"),
    [
        ("exact", {"a": 1}, {"a": 2}, [("a", 2, 1)]),
        ("exact", {"a": 1}, {}, [("a", ABSENT, 1)]),
        ("exact", {}, {"a": None}, [("a", None, ABSENT)]),
        ("exact", {"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, [("a.b[1]", 3, 2)]),
        ("exact", {"a": [1]}, {"a": [1, 2]}, [("a", [1, 2], [1])]),
        ("exact", {"b": 1, "c": 2}, {"b": 2, "a": 0}, [("b", 2, 1), ("a", 0, ABSENT), ("c", ABSENT, 2)]),
        ("subset", {"a": {"b": 1, "c": 2}}, {"a": {"b": 2}}, [("a.b", 2, 1)]),
        ("subset", {"x": 1}, {"a": 1}, [("a", 1, ABSENT)]),
        ("superset", {"x": 1}, {"a": 1}, [("x", ABSENT, 1)]),
        ("superset", {"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, [("a.c", ABSENT, 2)]),
        ("ignore", {"a": 1}, {"a": 2}, []),
        ("adk", {"a": True}, {"a": 1}, []),
        ("adk", {"a": True}, {"a": 0}, [("a", 0, True)]),
    ],
)
def test_each_difference_has_its_path(rule: Any, actual: Any, expected: Any, found: list[tuple[str, Any, Any]]) -> None:
    assert Match(args=rule).differences(ToolCall("f", actual), ToolCall("f", expected)) == found


def test_a_difference_reads_as_a_sentence() -> None:
    assert str(Difference("to.zip", 75001, "75001")) == 'to.zip: expected 75001, got "75001"'
    assert str(Difference("note", ABSENT, "hi")) == 'note: expected nothing, got "hi"'
    assert len(str(Difference("text", "x" * 500, "y" * 500))) < 150


def test_values_that_are_not_json_are_still_shown() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    assert str(Difference("a", {1, 2}, cycle)) == "a: expected \"{1, 2}\", got <class 'list'>"


def test_absent_is_one_object_wherever_it_goes() -> None:
    assert pickle.loads(pickle.dumps(ABSENT)) is ABSENT  # noqa: S301
    assert copy.deepcopy(ABSENT) is ABSENT
    assert repr(ABSENT) == "ABSENT"


@pytest.mark.parametrize("rule", ["exact", "subset", "superset", "adk"])
def test_unknown_arguments_cannot_be_compared(rule: Any) -> None:
    unknown = ToolCall("f", None, args_error="arguments are a list, not an object")
    for pair in ([ToolCall("f")], [unknown]), ([unknown], [ToolCall("f")]):
        with pytest.raises(MatchError, match=r'f: arguments are a list.*args="ignore"'):
            Match(args=rule).masks(*pair)
        with pytest.raises(MatchError, match="f: arguments are a list"):
            Match(args=rule).differences(pair[0][0], pair[1][0])


def test_unknown_arguments_do_not_matter_where_nothing_compares_them() -> None:
    unknown = ToolCall("f", None)
    assert Match().masks([unknown], [ToolCall("g")]) == [0]
    assert Match(args="ignore").masks([unknown], [ToolCall("f", {"a": 1})]) == [1]
    assert Match(args="ignore").differences(unknown, ToolCall("f", {"a": 1})) == []
    with pytest.raises(MatchError, match="f: its arguments were not recorded"):
        Match().masks([unknown], [ToolCall("f")])


@pytest.mark.parametrize("rule", ["exact", "subset", "superset"])
def test_nesting_that_cannot_be_compared_is_a_match_error(rule: Any) -> None:
    assert Match(args=rule).masks([ToolCall("f", nested(50))], [ToolCall("f", nested(50))]) == [1]
    deep, other = ToolCall("f", nested(100_000)), ToolCall("f", nested(100_000))
    with pytest.raises(MatchError, match="arguments of f are nested too deeply"):
        Match(args=rule).masks([deep], [other])
    with pytest.raises(MatchError, match="arguments of f are nested too deeply"):
        Match(args=rule).differences(deep, other)


def test_ignored_tools_are_dropped_by_name_or_pattern() -> None:
    calls = [ToolCall("transfer_to_agent"), ToolCall("search"), ToolCall("adk_request_input"), ToolCall("Search")]
    assert Match(ignore_tools=ADK_FRAMEWORK_TOOLS).kept(calls) == (ToolCall("search"), ToolCall("Search"))
    assert Match(ignore_tools=("search",)).kept(calls) == (calls[0], calls[2], calls[3])
    assert Match().kept(calls) is calls


def test_a_rule_is_a_value() -> None:
    rule = Match(args="subset", ignore_tools=["a"])
    assert rule == Match(args="subset", ignore_tools=("a",))
    assert hash(rule) == hash(Match(args="subset", ignore_tools=("a",)))
    assert pickle.loads(pickle.dumps(rule)) == rule  # noqa: S301
    assert eval(repr(rule), {"Match": Match}) == rule  # noqa: S307


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        (None, Match()),
        ("subset", Match(args="subset")),
        ({"args": "ignore"}, Match(args="ignore")),
        ({"ignore_tools": ["a", "b*"]}, Match(ignore_tools=("a", "b*"))),
        (Match(args="adk"), Match.adk()),
        ({}, Match()),
    ],
)
def test_a_rule_is_read_as_files_write_it(written: Any, rule: Match) -> None:
    assert Match.of(written) == rule


def test_adk_rule_by_name() -> None:
    assert Match.adk(ignore_args=True, ignore_tools=["x"]) == Match(args="ignore", ignore_tools=("x",))


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("exactly", "args='exactly'.*exact, subset"),
        ({"arg": "exact"}, "unknown key 'arg'"),
        ({"ignore_tools": "search"}, "ignore_tools='search'.*wanted a list of names"),
        ({"ignore_tools": [1]}, "wanted a list of names"),
        ({"ignore_tools": None}, "wanted a list of names"),
        (3, "got int"),
    ],
)
def test_a_rule_that_is_not_one_is_refused(written: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Match.of(written)


@given(st.sampled_from(["exact", "ignore"]), call_lists)
def test_equivalence_rules_are_equivalences(rule: Any, calls: list[ToolCall]) -> None:
    match = Match(args=rule)
    assert match.is_equivalence
    table = masks_as_table(match.masks(calls, calls), len(calls))
    for i, row in enumerate(table):
        assert row[i]
        assert all(table[j] == row for j in range(len(calls)) if row[j])


def test_what_lies_inside_an_argument_is_compared_as_json_too() -> None:
    # For Python [1] == [True], and NaN is not NaN.
    assert not json_equal({"a": [1]}, {"a": [True]})
    assert not json_equal({"a": {"b": 0}}, {"a": {"b": False}})
    assert json_equal({"a": float("nan")}, {"a": float("nan")})


@pytest.mark.parametrize(("actual", "expected"), [(5, {}), ("key", {}), ([], {}), ([1, 2], [1]), ([1], [1, 2])])
def test_what_is_no_object_or_longer_is_no_superset(actual: Any, expected: Any) -> None:
    made, wanted = [ToolCall("f", {"a": actual})], [ToolCall("f", {"a": expected})]
    assert Match(args="subset").masks(made, wanted) == [0]
    assert Match(args="superset").masks(wanted, made) == [0]
