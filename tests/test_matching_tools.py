"""``Match(tools=...)``: comparators by tool and path, and how they and the plain rule share an argument object."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring.alignment import Alignment, align
from adk_scoring.comparators import absent, anything, approx, casefold, iso8601, one_of, optional, regex, unordered
from adk_scoring.errors import ConfigError, MatchError
from adk_scoring.matching import Match
from adk_scoring.matching.arguments import ABSENT, json_equal
from adk_scoring.metrics import METRICS
from adk_scoring.metrics.formulas import trajectory_recall
from adk_scoring.model import Case, Invocation, ToolCall, Turn

from .slow_alignment import args, call_lists, edges, maximum


def match_of(paths: Any, rule: Any = "exact") -> Match:
    return Match(args=rule, tools={"f": paths})


def differ(match: Match, actual: Any, expected: Any) -> list[tuple[str, Any, Any]]:
    found = match.differences(ToolCall("f", actual), ToolCall("f", expected))
    assert match.masks([ToolCall("f", actual)], [ToolCall("f", expected)]) == [int(not found)]
    return [tuple(d) for d in found]


def test_an_argument_with_a_comparator_is_judged_by_it_alone() -> None:
    match = match_of({"when": iso8601(), "price": approx(rel=0.01)})
    actual = {"when": "2026-08-19T09:00:00+08:00", "price": 100.5, "seat": "3A"}
    expected = {"when": "2026-08-19T01:00:00Z", "price": 100, "seat": "3A"}
    assert differ(match, actual, expected) == []
    assert differ(match, {**actual, "seat": "3B"}, expected) == [("seat", "3A", "3B")]
    assert differ(match, {**actual, "price": 102}, expected) == [("price", 100, 102)]
    # Only calls of that tool are compared so.
    assert match.masks([ToolCall("g", actual)], [ToolCall("g", expected)]) == [0]


@pytest.mark.parametrize(
    ("paths", "actual", "expected", "found"),
    [
        ({"to.zip": casefold()}, {"to": {"zip": "N1C", "n": 1}}, {"to": {"zip": "n1c", "n": 1}}, []),
        ({"to.zip": casefold()}, {"to": {"zip": "N1C", "n": 2}}, {"to": {"zip": "n1c", "n": 1}}, [("to.n", 1, 2)]),
        ({"to.zip": casefold()}, {"to": {}}, {"to": {"zip": "n1c"}}, [("to.zip", "n1c", ABSENT)]),
        ({"to.zip": casefold()}, {}, {"to": {"zip": "n1c"}}, [("to", {"zip": "n1c"}, ABSENT)]),
        ({"to.zip": casefold()}, {"to": None}, {"to": None}, []),
        ({"to.zip": casefold()}, {"to": "x"}, {"to": {"zip": 1}}, [("to", {"zip": 1}, "x")]),
        (
            {"items[*].sku": casefold()},
            {"items": [{"sku": "A"}, {"sku": "b"}]},
            {"items": [{"sku": "a"}, {"sku": "B"}]},
            [],
        ),
        (
            {"items[*].sku": casefold()},
            {"items": [{"sku": "A"}]},
            {"items": [{"sku": "x"}]},
            [("items[0].sku", "x", "A")],
        ),
        ({"items[*].sku": casefold()}, {"items": [{"sku": "A"}]}, {"items": []}, [("items", [], [{"sku": "A"}])]),
        ({"items[*].sku": casefold()}, {"items": ["a"]}, {"items": ["A"]}, [("items[0]", "A", "a")]),
        ({"items[0]": anything()}, {"items": [1, 2]}, {"items": [9, 2]}, []),
        ({"items[0]": anything()}, {"items": [1, 2]}, {"items": [9, 3]}, [("items[1]", 3, 2)]),
        ({"items[0]": anything(), "items[*]": casefold()}, {"items": [1, "A"]}, {"items": [2, "a"]}, []),
        ({"grid[*][*]": approx(abs=1)}, {"grid": [[1, 2], [3]]}, {"grid": [[2, 3], [4]]}, []),
        ({"*": casefold()}, {"a": "X", "b": "y"}, {"a": "x", "b": "Y"}, []),
        ({"*": casefold(), "a": anything()}, {"a": 1, "b": "y"}, {"a": 2, "b": "Y"}, []),
        ({"*.id": anything()}, {"a": {"id": 1}, "b": {"id": 2, "n": 1}}, {"a": {"id": 3}, "b": {"id": 4, "n": 1}}, []),
        ({'["a.b"]': anything()}, {"a.b": 1}, {"a.b": 2}, []),
        ({'["a\\"]"].c': anything()}, {'a"]': {"c": 1}}, {'a"]': {"c": 2}}, []),
        ({"x": unordered()}, {"x": [1, 2]}, {"x": [2, 1]}, []),
        ({"x": unordered()}, {"x": [1, 2]}, {"x": [2]}, [("x", [2], [1, 2])]),
    ],
)
def test_paths(paths: Any, actual: Any, expected: Any, found: Any) -> None:
    assert differ(match_of(paths), actual, expected) == found


NOTE = [("note", "n", ABSENT)]
EXTRA = [("note", ABSENT, "n")]


@pytest.mark.parametrize(
    ("comparator", "rule", "missing", "extra"),
    [
        (casefold(), "exact", NOTE, EXTRA),
        (casefold(), "adk", NOTE, EXTRA),
        (casefold(), "subset", NOTE, []),
        (casefold(), "superset", [], EXTRA),
        (casefold(), "ignore", NOTE, []),
        (anything(), "exact", [], []),
        (optional(), "exact", [], []),
        (optional("n"), "exact", [], []),
        (optional("m"), "exact", NOTE, EXTRA),
        (optional("m"), "subset", NOTE, EXTRA),
        (absent(), "exact", [], EXTRA),
        (absent(), "subset", [], EXTRA),
        (lambda actual, expected: True, "exact", NOTE, EXTRA),
    ],
)
def test_an_argument_on_one_side_only(comparator: Any, rule: Any, missing: Any, extra: Any) -> None:
    match = match_of({"note": comparator}, rule)
    assert differ(match, {}, {"note": "n"}) == missing
    assert differ(match, {"note": "n"}, {}) == extra
    assert differ(match, {}, {}) == []


def test_names_alone_plus_one_argument() -> None:
    match = match_of({"seat": casefold()}, "ignore")
    assert differ(match, {"seat": "3a", "x": 1}, {"seat": "3A", "y": 2}) == []
    assert differ(match, {"seat": "4a", "x": 1}, {"seat": "3A"}) == [("seat", "3A", "4a")]
    # Calls that nothing compares may have unknown arguments, the others may not.
    assert match.masks([ToolCall("g", None)], [ToolCall("g", {"a": 1})]) == [1]
    assert match.differences(ToolCall("g", None), ToolCall("g")) == []
    with pytest.raises(MatchError, match="f: its arguments were not recorded"):
        match.masks([ToolCall("f", None)], [ToolCall("f")])


def test_comparators_for_every_tool() -> None:
    match = Match(tools={"*": {"id": anything(), "name": casefold()}, "f": {"name": regex("x+")}})
    assert match.masks([ToolCall("g", {"id": 1, "name": "A"})], [ToolCall("g", {"id": 2, "name": "a"})]) == [1]
    assert match.masks([ToolCall("f", {"id": 1, "name": "A"})], [ToolCall("f", {"id": 2, "name": "a"})]) == [0]
    assert match.masks([ToolCall("f", {"id": 1, "name": "xx"})], [ToolCall("f", {"id": 2, "name": "a"})]) == [1]


def test_a_comparator_receives_actual_then_expected_under_every_rule() -> None:
    for rule in ("exact", "subset", "superset", "ignore", "adk"):
        seen: list[Any] = []

        def spy(actual: Any, expected: Any, seen: list[Any] = seen) -> bool:
            seen.append((actual, expected))
            return True

        align([("f", {"x": {"y": "made"}})], [("f", {"x": {"y": "wanted"}})], match=match_of({"x.y": spy}, rule))
        assert set(seen) == {("made", "wanted")}


@given(args, args, st.sampled_from(["exact", "subset", "superset", "adk"]))
def test_comparing_by_the_rule_itself_changes_nothing(a: dict[str, Any], b: dict[str, Any], rule: Any) -> None:
    # In a list, as in an object, Python takes one NaN for itself, and two for different; alone it is never itself.
    same = {"exact": json_equal, "adk": lambda x, y: [x] == [y]}
    if rule in same:
        for paths in ({"*": same[rule]}, {"a": same[rule]}, {"a.x": same[rule], "b[*]": same[rule]}):
            assert (differ(match_of(paths, rule), a, b) == []) == (differ(Match(args=rule), a, b) == [])
    assert (differ(match_of({"none.such": anything()}, rule), a, b) == []) == (differ(Match(args=rule), a, b) == [])


@given(args, args, st.sampled_from(["exact", "subset", "superset"]))
def test_anything_is_taking_the_argument_away(a: dict[str, Any], b: dict[str, Any], rule: Any) -> None:
    without = [{k: v for k, v in side.items() if k != "a"} for side in (a, b)]
    assert differ(match_of({"a": anything()}, rule), a, b) == differ(Match(args=rule), *without)


@given(call_lists, call_lists)
def test_loose_comparators_are_matched_at_most(actual: list[ToolCall], expected: list[ToolCall]) -> None:
    """An uneven comparator is no equivalence: greedy matching would err, ours is held to brute force."""

    def at_most(x: Any, y: Any) -> bool:
        return not isinstance(x, int) or not isinstance(y, int) or x <= y

    match = Match(tools={"*": {"a": at_most}})
    assert not match.is_equivalence
    masks = match.masks(actual, expected)
    table = [[bool(mask >> j & 1) for j in range(len(expected))] for mask in masks]
    exact = edges(actual, expected, "exact")
    assert all(table[i][j] or not exact[i][j] for i in range(len(actual)) for j in range(len(expected)))
    assert Alignment(actual, expected, match).k == maximum(table)


def test_mismatches_respect_comparators() -> None:
    match = match_of({"when": iso8601()})
    made = [("f", {"when": "2026-08-19T09:00:00+08:00", "seat": "3B"})]
    (mismatch,) = align(made, [("f", {"when": "2026-08-19T01:00:00Z", "seat": "3A"})], match=match).mismatches
    assert [str(d) for d in mismatch.differences] == ['seat: expected "3A", got "3B"']


def test_exact_pairs_are_not_given_up_for_weaker_ones() -> None:
    match = match_of({"x": anything()})
    found = align([("f", {"x": 1}), ("f", {"x": 2})], [("f", {"x": 2}), ("f", {"x": 1})], match=match)
    assert found.pairs == ((0, 1), (1, 0))


def fails(actual: Any, expected: Any) -> bool:
    return bool(actual / expected)


def test_a_comparator_that_raises_is_an_error_of_that_case() -> None:
    match = match_of({"x.y": fails})
    message = r"f: argument x.y: comparator fails raised ZeroDivisionError: division by zero \(on 1, expected 0\)"
    with pytest.raises(MatchError, match=message):
        trajectory_recall([("f", {"x": {"y": 1}})], [("f", {"x": {"y": 0}})], match=match)
    with pytest.raises(MatchError, match=message):
        match.differences(ToolCall("f", {"x": {"y": 1}}), ToolCall("f", {"x": {"y": 0}}))
    with pytest.raises(MatchError, match=r"f: argument x: comparator regex\(.*\) raised error: .*expected \"\(\""):
        trajectory_recall([("f", {"x": "a"})], [("f", {"x": "("})], match=match_of({"x": regex()}))
    good = Case("good", (Turn(Invocation(tool_calls=()), (Invocation(tool_calls=()),)),))
    calls = [(ToolCall("f", {"x": {"y": y}}),) for y in (1, 0)]
    bad = Case("bad", (Turn(Invocation(tool_calls=calls[0]), (Invocation(tool_calls=calls[1]),)),))
    metric = METRICS["trajectory_recall"](match=match)
    assert metric.score(bad).status == "error"
    assert "ZeroDivisionError" in metric.score(bad).reason
    assert metric.score(good).value == 1


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


def test_deep_nesting_below_a_comparator_is_a_match_error() -> None:
    deep, like_it = nested(50_000), nested(50_000)
    match = match_of({"b": anything()})
    with pytest.raises(MatchError, match="arguments of f are nested too deeply"):
        match.masks([ToolCall("f", {"x": deep})], [ToolCall("f", {"x": like_it})])
    # What a comparator takes away is not looked into, not even to prefer exact pairs.
    found = Alignment([ToolCall("f", {"b": deep})], [ToolCall("f", {"b": like_it})], match)
    assert (found.k, found.pairs) == (1, ((0, 0),))


def test_a_rule_with_comparators_is_a_value() -> None:
    written = {
        "args": "subset",
        "tools": {"book": {"when": {"iso8601": {}}, "items[*].sku": "casefold", "price": {"approx": {"rel": 0.01}}}},
        "parallel": True,
        "ignore_tools": ["adk_*"],
    }
    rule = Match.of(written)
    assert rule == Match(
        args="subset",
        tools={"book": {"when": iso8601(), "items[*].sku": casefold(), "price": approx(rel=0.01)}},
        parallel=True,
        ignore_tools=("adk_*",),
    )
    assert rule != Match.of({**written, "tools": {"book": {"when": "iso8601"}}})
    assert hash(rule) == hash(Match.of(json.loads(json.dumps(rule.to_json()))))
    assert Match.of(json.loads(json.dumps(rule.to_json()))) == rule
    assert pickle.loads(pickle.dumps(rule)) == rule  # noqa: S301
    names = {"Match": Match, "iso8601": iso8601, "casefold": casefold, "approx": approx}
    assert eval(repr(rule), names) == rule  # noqa: S307
    assert hash(match_of({"x": one_of([{"not": "hashable"}])})) == hash(match_of({"x": one_of([{"not": "hashable"}])}))
    assert Match().to_json() == {}
    assert Match(args="subset").to_json() == {"args": "subset"}


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        (
            {"book": {"when": {"iso8602": {}}}},
            r"match.tools.book.when: unknown comparator 'iso8602'; did you mean 'iso8601'",
        ),
        ({"book": {"when": {"approx": {"rel": "x"}}}}, r"match.tools.book.when: approx\(rel='x'\)"),
        ({"book": "when"}, "match.tools.book: wanted an object"),
        ("book", "match.tools: wanted an object"),
        ({"book": {1: "anything"}}, "match.tools.book: wanted an object"),
        ({"book": {"": "anything"}}, "match.tools.book: cannot read the path ''"),
        ({"book": {"a..b": "anything"}}, "cannot read the path 'a..b'"),
        ({"book": {".a": "anything"}}, "cannot read the path '.a'"),
        ({"book": {"a.": "anything"}}, "cannot read the path 'a.'"),
        ({"book": {"a[x]": "anything"}}, r"cannot read the path 'a\[x\]'"),
        ({"book": {"a[0]b": "anything"}}, r"cannot read the path 'a\[0\]b'"),
        (
            {"book": {"a": "anything", "a.b": "anything"}},
            "match.tools.book.a.b: a shorter path has a comparator already",
        ),
        ({"book": {"a.b": "anything", "a": "anything"}}, "match.tools.book.a: this place or one below it has"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(tools: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Match.of({"tools": tools})


def test_parallel_is_true_or_false() -> None:
    with pytest.raises(ConfigError, match="parallel='yes'"):
        Match.of({"parallel": "yes"})
