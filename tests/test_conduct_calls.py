"""Repeated, looping, failed and invalid calls."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring.alignment import as_calls
from adk_scoring.errors import ConfigError, MatchError
from adk_scoring.metrics import METRICS, Score
from adk_scoring.metrics.repetition import loops, redundant_calls
from adk_scoring.metrics.validity import failed_calls, tool_schema_validity
from adk_scoring.model import Case, Invocation, Tool, ToolCall, Turn


def case(*turns: list[Any], **more: Any) -> Case:
    return Case("c", tuple(Turn(Invocation(tool_calls=as_calls(calls, "calls"))) for calls in turns), **more)


# The lists are those on which adk-eval's trace analyzer counts a call twice; these are the values by union.
@pytest.mark.parametrize(
    ("names", "redundant", "looping"),
    [
        ("", 0, 0),
        ("a", 0, 0),
        ("aa", 1, 0),
        ("aaa", 2, 2),
        ("aaaaa", 4, 4),
        ("rwrw", 0, 0),
        ("rwrwrw", 0, 4),
        ("rrrwss", 3, 2),
        ("aabaa", 2, 0),
        ("abcabcabc", 0, 6),
        ("abababababab", 0, 10),
        ("xabababy", 0, 4),
        ("abababa", 0, 5),
        ("aaabbb", 4, 4),
        ("abcabc", 0, 0),
    ],
)
def test_repetition(names: str, redundant: int, looping: int) -> None:
    n = max(1, len(names))
    assert redundant_calls(list(names)) == redundant / n
    assert loops(list(names)) == looping / n
    found = METRICS["loops"]().score(case(list(names)))
    assert (found.value, found.counts) == (looping / n, {"looping": looping, "made": len(names)})
    found = METRICS["redundant_calls"]().score(case(list(names)))
    assert (found.value, found.counts) == (redundant / n, {"redundant": redundant, "made": len(names)})


def slow_loops(calls: list[Any]) -> set[int]:
    n, wasted = len(calls), set()
    for length in range(1, n // 3 + 1):
        for start in range(n):
            block = calls[start : start + length]
            rounds = 1
            while calls[start + rounds * length : start + (rounds + 1) * length] == block:
                rounds += 1
            if rounds >= 3:
                wasted |= set(range(start + length, start + rounds * length))
    return wasted


@given(st.lists(st.sampled_from("ab"), max_size=14) | st.lists(st.sampled_from("abc"), max_size=20))
def test_loops_are_all_blocks_that_go_round(names: list[str]) -> None:
    assert loops(names) == (len(slow_loops(names)) / len(names) if names else 0)


def test_arguments_count() -> None:
    pages = [("page", {"n": n}) for n in range(5)]
    assert (redundant_calls(pages), loops(pages)) == (0, 0)
    same = [("page", {"n": 1, "q": "x"}), ("page", {"q": "x", "n": 1.0})]
    assert redundant_calls(same) == 0.5
    assert redundant_calls([("f", {"a": True}), ("f", {"a": 1})]) == 0
    with pytest.raises(MatchError, match="f: its arguments were not recorded"):
        redundant_calls([ToolCall("f", None), ToolCall("f", None)])
    assert METRICS["loops"]().score(case([ToolCall("f", None)] * 3)).status == "error"


def test_polled_tools_can_be_left_out_and_offenders_are_named() -> None:
    calls = ["poll", "poll", "poll", "search", "search", "search"]
    assert METRICS["loops"](ignore_tools=["poll"]).score(case(calls)).value == pytest.approx(2 / 3)
    assert METRICS["redundant_calls"](ignore_tools=["poll"]).score(case(calls)).value == pytest.approx(2 / 3)
    assert METRICS["loops"]().score(case(calls)).reason == "4 of 6 calls go round in loops: poll, search"
    found = METRICS["redundant_calls"]().score(case(calls))
    assert found.reason == "4 of 6 calls repeat the call just before: poll, search"


def test_turns_are_their_own() -> None:
    assert METRICS["redundant_calls"]().score(case(["a"], ["a"])).value == 0
    assert METRICS["redundant_calls"]().score(case(["a", "a"], ["a"])).value == 0.25


FINE, WRONG, SILENT = ToolCall("f", response={"ok": 1}), ToolCall("g", error="timeout"), ToolCall("h")


@pytest.mark.parametrize(
    ("calls", "value"),
    [
        ([FINE], 0),
        ([WRONG], 1),
        ([FINE, WRONG, FINE, FINE], 0.25),
        ([FINE, WRONG, SILENT], 0.5),
        ([SILENT], None),
        ([], None),
        ([ToolCall("f", error="")], 1),
        ([ToolCall("f", error="late", response={"x": 1})], 1),
        ([ToolCall("f", response=False)], 0),
    ],
)
def test_failed_calls(calls: list[ToolCall], value: float | None) -> None:
    assert failed_calls(calls) == value
    found = METRICS["failed_calls"]().score(case(calls))
    assert (found.status, found.value) == ("skipped" if value is None else "scored", value)


def test_the_first_failure_is_told() -> None:
    found = METRICS["failed_calls"]().score(case([FINE, WRONG, SILENT]))
    assert found.reason == "1 of 2 answered calls failed; g: timeout"
    assert found.counts == {"failed": 1, "answered": 2, "made": 3}
    assert METRICS["failed_calls"](ignore_tools=["g"]).score(case([FINE, WRONG])).value == 0


BOOK = {
    "name": "book",
    "inputSchema": {
        "type": "object",
        "properties": {
            "seat": {"type": "string", "pattern": "^[0-9]+[A-F]$"},
            "meals": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["seat"],
        "additionalProperties": False,
    },
}


@pytest.mark.parametrize(
    ("calls", "value", "problem"),
    [
        ([("book", {"seat": "3A"})], 1, ""),
        ([("book", {"seat": "3A"}), ("book", {"seat": "3Z"})], 0.5, "book: seat: '3Z' does not match"),
        ([("book", {})], 0, "book: arguments: 'seat' is a required property"),
        ([("book", {"seat": "3A", "meals": ["a", 1]})], 0, "book: meals[1]: 1 is not of type 'string'"),
        ([("book", {"seat": "3A", "sit": 1})], 0, "Additional properties are not allowed ('sit' was unexpected)"),
        (["bokk"], 0, "bokk: no such tool was declared"),
        ([("book", "not json")], 0, "book: arguments are not JSON"),
        ([ToolCall("book", None)], None, "no call can be judged"),
        (["free"], None, "no call can be judged"),
        (["free", ("book", {"seat": "3A"})], 1, "1 of 1 calls"),
        ([], None, "no calls were made"),
        (["transfer_to_agent"], None, "no calls were made"),
    ],
)
def test_arguments_against_the_schema(calls: list[Any], value: float | None, problem: str) -> None:
    tools = [BOOK, {"name": "free"}]
    assert tool_schema_validity(calls, tools) == value
    for found in (
        METRICS["tool_schema_validity"](tools=tools).score(case(calls)),
        METRICS["tool_schema_validity"]().score(case(calls, tools=METRICS["tool_schema_validity"](tools=tools).tools)),  # type: ignore[attr-defined]  # a field of this metric
    ):
        assert (found.status, found.value) == ("skipped" if value is None else "scored", value)
        assert problem in found.reason


def test_a_case_that_knows_no_tools_is_skipped() -> None:
    found = METRICS["tool_schema_validity"]().score(case(["f"]))
    assert found.status == "skipped"
    assert "no tool declarations" in found.reason
    assert METRICS["tool_schema_validity"]().score(case(["f"], tools=())).value == 0


def test_what_one_of_two_agents_tools_allows_is_valid() -> None:
    by = [Tool("f", parameters={"required": [key]}, agent=key) for key in "ab"]
    assert tool_schema_validity([("f", {"a": 1}), ("f", {"b": 1}), ("f", {"c": 1})], by) == pytest.approx(2 / 3)
    assert tool_schema_validity([("f", {"c": 1})], [*by, Tool("f")]) is None
    assert tool_schema_validity([("f", {"c": 1})], [Tool("f"), *by]) is None


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "OBJECT"}, "the parameters of f are no JSON Schema"),
        ({"properties": 3}, "the parameters of f are no JSON Schema"),
        ({"$ref": "https://example.org/other.json"}, "refer to 'https://example.org/other.json', which is not in"),
    ],
)
def test_a_schema_that_cannot_be_used_is_an_error(schema: Any, message: str) -> None:
    tools = [{"name": "f", "inputSchema": schema}]
    with pytest.raises(ConfigError, match=message):
        tool_schema_validity(["f"], tools)


def test_references_within_a_schema_work() -> None:
    schema = {"properties": {"n": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}}
    tools = [{"name": "f", "inputSchema": schema}]
    assert tool_schema_validity([("f", {"n": 1}), ("f", {"n": "x"})], tools) == 0.5


def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(ConfigError, match=r"pip install 'adk_scoring\[schema\]'"):
        tool_schema_validity([("book", {"seat": "3A"})], [BOOK])


def test_a_run_that_failed_is_an_error_on_each() -> None:
    broken = Case("c", (Turn(Invocation(tool_calls=(), error="503")),), tools=())
    for name in ("failed_calls", "redundant_calls", "loops", "tool_schema_validity", "read_only_compliance"):
        found: Score = METRICS[name]().score(broken)
        assert (found.status, found.reason) == ("error", "503"), name
