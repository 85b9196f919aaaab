"""Abstention, tool-call rate, forbidden tools and read-only compliance."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import pytest

from adk_scoring.alignment import as_calls
from adk_scoring.errors import ConfigError, MatchError
from adk_scoring.metrics import METRICS, Metric, Score
from adk_scoring.metrics.conduct import ForbiddenTools, ReadOnlyCompliance, forbidden_tools, read_only_compliance
from adk_scoring.model import Case, Invocation, Tool, ToolCall, Turn
from adk_scoring.tools import read_tools

Calls = Sequence[Any] | None


def turn(actual: Calls, *expected: Calls) -> Turn:
    def side(calls: Calls) -> Invocation:
        return Invocation(tool_calls=None if calls is None else as_calls(calls, "calls"))

    return Turn(side(actual), tuple(map(side, expected)))


def score(metric: Metric, *turns: Turn, **more: Any) -> Score:
    return metric.score(Case("c", turns, **more))


def seen(found: Score) -> tuple[str, float | None]:
    return found.status, found.value


@pytest.mark.parametrize(
    ("of", "rate", "abstention"),
    [
        (turn(["a"], ["a"]), 1.0, None),
        (turn(["x"], ["a"]), 1.0, None),  # which tool was called is another question
        (turn([], ["a"]), 0.0, None),
        (turn(None, ["a"]), 0.0, None),  # a run that says nothing about calls made none
        (turn([], []), None, 1.0),
        (turn(None, []), None, 1.0),
        (turn(["a"], []), None, 0.0),
        (turn(["a"], None), None, None),
        (turn(["a"]), None, None),
        (turn([], [], ["a"]), None, None),  # with and without a call are both acceptable
        (turn(["a"], ["a"], ["b"]), 1.0, None),
        (turn([], [ToolCall("a", optional=True)]), None, None),
        (turn([], None, []), None, 1.0),
    ],
)
def test_calls_where_they_are_due_and_where_not(of: Turn, rate: float | None, abstention: float | None) -> None:
    for name, value in (("tool_call_rate", rate), ("abstention", abstention)):
        assert seen(score(METRICS[name](), of)) == ("skipped" if value is None else "scored", value)


def test_an_outage_is_no_abstention() -> None:
    broken = Turn(Invocation(tool_calls=(), error="503"), (Invocation(tool_calls=()),))
    found = score(METRICS["abstention"](), broken)
    assert (found.status, found.reason) == ("error", "503")


def test_turns_never_reached_count_only_where_the_metric_applies() -> None:
    def unreached(*calls: str) -> Turn:
        return Turn(None, (Invocation(tool_calls=as_calls(calls, "calls")),))

    case = turn(["a"], ["a"]), unreached("b"), unreached()
    rate, abstention = (score(METRICS[name](), *case) for name in ("tool_call_rate", "abstention"))
    assert [part.value for part in rate.parts] == [1.0, 0.0, None]
    assert [part.value for part in abstention.parts] == [None, None, 0.0]
    assert (rate.value, abstention.value) == (0.5, 0.0)


def test_calls_of_the_framework_can_be_left_out() -> None:
    of = turn(["transfer_to_agent"], [])
    assert score(METRICS["abstention"](), of).value == 0
    assert score(METRICS["abstention"](ignore_tools=["transfer_*"]), of).value == 1
    assert score(METRICS["tool_call_rate"](ignore_tools=["transfer_*"]), turn(["transfer_to_agent"], ["a"])).value == 0


def test_forbidden_tools() -> None:
    assert forbidden_tools(["get", "update"], ["delete_*", "drop"]) == 1
    assert forbidden_tools([], ["drop"]) == 1
    assert forbidden_tools(["Drop"], ["drop"]) == 1
    metric = METRICS["forbidden_tools"](tools=["delete_*"])
    assert metric == ForbiddenTools(("delete_*",))
    found = score(metric, turn(["delete_a", "get", "delete_b", "delete_a"]))
    assert (found.value, found.counts) == (0.0, {"forbidden": 3, "made": 4})
    assert found.reason == "3 of 4 calls made are of forbidden tools: delete_a, delete_b"
    assert score(metric, turn(None, ["delete_a"])).value == 1
    with pytest.raises(MatchError, match=r"actual\[0\]"):
        forbidden_tools([1], ["a"])


@pytest.mark.parametrize("tools", ["drop", [], [1], (), 3])
def test_forbidden_tools_wants_names(tools: Any) -> None:
    with pytest.raises(ConfigError, match="wanted a list of names of tools"):
        METRICS["forbidden_tools"](tools=tools)
    with pytest.raises(ConfigError, match="wanted a list of names of tools"):
        forbidden_tools(["drop"], tools)


@pytest.mark.parametrize(
    ("hints", "severity"),
    [
        ({"readOnlyHint": True}, None),
        ({"readOnlyHint": True, "destructiveHint": True}, None),  # MCP: meaningful only if not read-only
        ({"readOnlyHint": False}, "destructive"),  # MCP: destructive unless it says otherwise
        ({"readOnlyHint": False, "destructiveHint": False}, "write"),
        ({"readOnlyHint": False, "destructiveHint": True}, "destructive"),
        ({"destructiveHint": True}, "destructive"),
        ({"destructiveHint": False}, "write"),
        ({}, "unknown"),
        ({"readOnlyHint": "true"}, "unknown"),  # a text is no boolean
        ({"readOnlyHint": None, "idempotentHint": True}, "unknown"),
    ],
)
def test_severity_follows_the_hints(hints: dict[str, Any], severity: str | None) -> None:
    found = score(ReadOnlyCompliance(read_tools({"f": hints})), turn(["f"]))
    counts = {"destructive": 0, "write": 0, "unknown": 0, "exempt": 0, "made": 1}
    if severity:
        counts[severity] = 1
    assert (found.value, found.counts) == (float(severity is None), counts)
    assert (f"f ({severity})" in found.reason) == (severity is not None)


TOOLS = {"get": True, "update": {"readOnlyHint": False, "destructiveHint": False}, "delete": False}


@pytest.mark.parametrize(
    ("actual", "expected", "value"),
    [
        ([], [], 1),
        (["get", "get"], [], 1),
        (["update"], [], 0),
        (["update"], ["update"], 1),
        ([("update", {"id": 2})], [("update", {"id": 1})], 1),  # whether it is the right one is another question
        (["delete", "delete"], ["delete"], 0),  # as many as expected are exempt, no more
        (["update"], ["delete"], 0),
        (["other"], [], 0),
        (["transfer_to_agent", "adk_request_confirmation"], [], 1),
    ],
)
def test_writes_beyond_those_expected(actual: list[Any], expected: list[Any], value: float) -> None:
    assert read_only_compliance(actual, TOOLS, expected) == value
    assert score(METRICS["read_only_compliance"](tools=TOOLS), turn(actual, expected)).value == value


def test_the_worst_call_is_named_and_counted() -> None:
    found = score(METRICS["read_only_compliance"](tools=TOOLS), turn(["delete", "update", "other", "get"], ["update"]))
    assert found.counts == {"destructive": 1, "write": 0, "unknown": 1, "exempt": 1, "made": 4}
    assert found.reason == "calls that may write and are not expected: delete (destructive), other (unknown)"


def test_framework_calls_are_a_list_of_your_own() -> None:
    assert read_only_compliance(["transfer_to_agent"], TOOLS, ignore_tools=()) == 0
    assert score(METRICS["read_only_compliance"](tools=TOOLS, ignore_tools=["log*"]), turn(["log_it"])).value == 1


def test_the_alternative_that_fits_best_is_the_one_exempted() -> None:
    metric = METRICS["read_only_compliance"](tools=TOOLS)
    assert score(metric, turn(["update"], [], ["update"])).value == 1
    assert score(metric, turn(["update"], None)).value == 0


def test_tools_of_the_case_are_used_where_they_have_hints() -> None:
    metric = METRICS["read_only_compliance"]()
    hinted = read_tools(TOOLS)
    assert score(metric, turn(["get"]), tools=hinted).value == 1
    assert score(metric, turn(["update"]), tools=hinted).value == 0
    for nothing_known in (None, (Tool("get"), Tool("update", annotations={"title": "Update"}))):
        found = score(metric, turn(["get"]), tools=nothing_known)
        assert found.status == "skipped"
        assert "no tool annotations" in found.reason
    # An empty list is a list: of such a case every call is of an unknown tool.
    assert score(metric, turn(["get"]), tools=()).value == 0
    assert score(metric, turn([]), tools=()).value == 1
    assert read_only_compliance(["get"], []) == 0


def test_of_two_tools_of_one_name_the_worse_one_counts() -> None:
    both = (Tool("f", annotations={"readOnlyHint": True}, agent="a"), Tool("f", annotations={"destructiveHint": False}))
    found = score(METRICS["read_only_compliance"](tools=both), turn(["f"]))
    assert found.counts["write"] == 1
    assert score(METRICS["read_only_compliance"](tools=both[::-1]), turn(["f"])).counts["write"] == 1


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (
            {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a", "annotations": {"readOnlyHint": True}}]}},
            ["a"],
        ),
        ({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}, ["a"]),
        ([{"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}}], ["a"]),
        ([{"name": "a", "input_schema": {"type": "object"}, "description": "does a"}], ["a"]),
        ([{"functionDeclarations": [{"name": "a"}, {"name": "b"}]}], ["a", "b"]),
        ([{"function_declarations": [{"name": "a", "parameters_json_schema": {}}]}, "c"], ["a", "c"]),
        ([Tool("a")], ["a"]),
        ([], []),
        ({}, []),
        ({"a": True, "b": {"readOnlyHint": False}}, ["a", "b"]),
    ],
)
def test_tools_are_read_from_what_is_at_hand(given: Any, names: list[str]) -> None:
    assert [tool.name for tool in read_tools(given)] == names


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("get", "tools: wanted a list of tools"),
        (3, "tools: wanted a list of tools"),
        ([3], r"tools\[0\]: wanted a tool declaration or a name, got 3"),
        ([{"description": "x"}], r"tools\[0\]: no name in"),
        ([{"name": "a", "inputSchema": "x"}], r"tools\[0\]: the schema of a is 'x'"),
        ({"a": "yes"}, "tools.a: wanted annotations"),
        ([{"name": "a", "annotations": []}], r"tools\[0\]: wanted annotations"),
    ],
)
def test_what_is_no_list_of_tools_is_refused(given: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_tools(given)
    with pytest.raises(ConfigError, match=message):
        METRICS["read_only_compliance"](tools=given)


@pytest.mark.parametrize(
    "metric",
    [
        METRICS["read_only_compliance"](tools=TOOLS),
        METRICS["tool_schema_validity"](tools=TOOLS),
        METRICS["forbidden_tools"](tools=["a"]),
        METRICS["trajectory_precedence"](rules=[["a", "b"]]),
        METRICS["abstention"](),
        METRICS["loops"](ignore_tools=["a"]),
        METRICS["token_cost"](input=1, output=2),
    ],
    ids=lambda metric: metric.name,
)
def test_a_metric_is_a_value(metric: Metric) -> None:
    assert pickle.loads(pickle.dumps(metric)) == metric  # noqa: S301
    assert isinstance(hash(metric), int)


@pytest.mark.parametrize(
    "name",
    [
        "abstention",
        "tool_call_rate",
        "read_only_compliance",
        "failed_calls",
        "redundant_calls",
        "loops",
        "tool_call_count_v1",
    ],
)
def test_ignored_tools_are_a_list(name: str) -> None:
    with pytest.raises(ConfigError, match="wanted a list of names"):
        METRICS[name](ignore_tools="transfer_to_agent")


def test_conduct_is_held_against_each_turn() -> None:
    names = ["abstention", "tool_call_rate", "read_only_compliance", "failed_calls", "redundant_calls", "loops"]
    assert {METRICS[name]().per for name in names} == {"turn"}
    assert [METRICS[name]().higher_is_better for name in names] == [True, True, True, False, False, False]


def test_one_hinted_tool_is_enough_to_look_at_the_others() -> None:
    tools = (Tool("get", annotations={"readOnlyHint": True}), Tool("wipe"))
    nothing = Invocation(tool_calls=())
    case = Case("c", (Turn(Invocation(tool_calls=as_calls(["get", "wipe"], "actual")), (nothing,)),), tools=tools)
    assert METRICS["read_only_compliance"]().score(case).status == "scored"
