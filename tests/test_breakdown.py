"""A report taken apart by turn, by tool and by trial."""

from __future__ import annotations

import pytest

from adk_scoring import Case, Criterion, Invocation, Match, Report, ToolCall, Turn, evaluate
from adk_scoring.stats import clustered, pass_k_table
from tests.made_reports import Given, report_of


def side(*calls: ToolCall | str, response: str | None = None, error: str | None = None) -> Invocation:
    return Invocation("q", tuple(ToolCall.of(call) for call in calls), response, error=error)


def turn(made: Invocation | None, *wanted: Invocation) -> Turn:
    return Turn(made, wanted)


def test_by_turn_is_a_report_for_each_turn() -> None:
    cases = [
        Case("two", (turn(side("a"), side("a")), turn(side("x"), side("b")))),
        Case("one", (turn(side("b"), side("a")),)),
    ]
    report = evaluate(cases, {"trajectory_exact_match": 1.0})
    turns = report.by("turn")
    assert list(turns) == ["1", "2"]
    assert [case.case_id for case in turns["1"].cases] == ["two", "one"]
    assert [row.score.value for row in turns["1"].rows] == [1.0, 0.0]
    assert [row.score.value for row in turns["2"].rows] == [0.0]
    assert turns["2"].summary.criteria[0].mean == 0.0
    assert turns["2"].failures()[0].expected == "b()"
    assert turns["1"].signatures == report.signatures


def test_a_turn_that_broke_is_an_error_of_its_turn_alone() -> None:
    case = Case("a", (turn(side("a"), side("a")), turn(side(error="timeout"), side("b"))))
    turns = evaluate([case], {"trajectory_f1": 1.0}).by("turn")
    assert [part.rows[0].score.status for part in turns.values()] == ["scored", "error"]


def test_what_is_scored_for_the_whole_case_is_in_no_turn() -> None:
    two = Case("a", (turn(side("a")), turn(side("b"))), metadata={"m": 0.5})
    broken = Case("b", (turn(side("a")), turn(side("b"))), metadata={"m": "broken"})
    turns = evaluate([two, broken], [Criterion("m", Given("m"), 0.5)]).by("turn")
    first, second = turns["1"].rows
    assert (first.score.status, first.score.reason) == ("skipped", "scored for the case as a whole, not turn by turn")
    assert (second.score.status, second.score.reason) == ("error", "broken")


def test_by_tool_holds_the_cases_that_expect_or_call_it() -> None:
    cases = [
        Case("ab", (turn(side("a"), side("b")),)),
        Case("b", (turn(side("b"), side("b")),)),
        Case("none", (turn(side(), side()),)),
        Case("not run", (turn(None, side("a")),)),
    ]
    parts = evaluate(cases, {"trajectory_f1": 1.0}).by("tool")
    assert {tool: [case.case_id for case in part.cases] for tool, part in parts.items()} == {
        "b": ["ab", "b"],
        "a": ["ab", "not run"],
        "": ["none"],
    }


def test_each_tool_in_numbers() -> None:
    paris, rome = ToolCall("weather", {"city": "Paris"}), ToolCall("weather", {"city": "Rome"})
    cases = [
        Case("1", (turn(side(paris, "book"), side(paris, "book")), turn(side(rome), side(paris)))),
        Case("2", (turn(side(paris, "pay"), side(paris)),)),
        Case("broken", (turn(side(error="timeout"), side(paris)),)),
        Case("free", (turn(side(paris), Invocation("q")),)),
    ]
    report = evaluate(cases, {"trajectory_f1": 1.0})
    tools = {each.tool: each for each in report.tools()}
    weather = tools["weather"]
    assert (weather.expected, weather.made, weather.matched, weather.wrong_args, weather.cases) == (3, 3, 2, 1, 2)
    assert weather.recall == clustered([1, 0, 1], ["1", "1", "2"], method="wilson")
    assert (tools["pay"].expected, tools["pay"].made, tools["pay"].matched) == (0, 1, 0)
    assert (tools["pay"].recall.estimate, tools["pay"].precision.estimate) == (None, 0.0)
    assert tools["book"].recall.estimate == 1.0
    by_name = {each.tool: each for each in report.tools(match=Match(args="ignore"))}
    assert (by_name["weather"].matched, by_name["weather"].wrong_args) == (3, 0)


def test_each_tool_says_which_argument_fails_most_often() -> None:
    def order(sku: str, city: str, *more: str) -> ToolCall:
        return ToolCall("order", {"items": [{"sku": each} for each in (sku, *more)], "to": {"city": city}})

    cases = [
        Case("1", (turn(side(order("a", "Rome")), side(order("b", "Paris"))),)),
        Case("2", (turn(side(order("a", "Paris", "x")), side(order("b", "Paris", "y"))),)),
        Case("3", (turn(side(order("b", "Paris")), side(order("b", "Paris"))),)),
    ]
    (tool,) = evaluate(cases, {"trajectory_f1": 1.0}).tools()
    assert (tool.wrong_args, tool.arguments) == (2, (("items[*].sku", 2), ("to.city", 1)))


def test_calls_that_cannot_be_compared_are_left_out_of_the_tools() -> None:
    unknown = ToolCall("a", None)
    report = evaluate([Case("1", (turn(side(unknown), side("a")),))], {"trajectory_f1": 1.0})
    assert report.tools() == ()
    assert report.rows[0].score.status == "error"


def trials() -> Report:
    ids, numbers = ["a"] * 4 + ["b"] * 4 + ["c"] * 3, [0, 1, 2, 3] * 2 + [0, 1, 2]
    return report_of({"m": [1, 1, 1, 1, 1, 0, 1, 0, 0, "crashed", None]}, threshold=0.5, ids=ids, trials=numbers)


def test_pass_k_counts_scored_trials_by_case() -> None:
    assert trials().pass_k() == pass_k_table([(4, 4), (4, 2), (1, 0)])
    assert trials().pass_k("m", max_k=1) == pass_k_table([(4, 4), (4, 2), (1, 0)], max_k=1)
    assert [(row.tasks, row.excluded) for row in trials().pass_k()] == [(3, 0), (2, 1), (2, 1), (2, 1)]


def test_pass_k_of_one_criterion_among_several() -> None:
    report = report_of({"m": [1, 0], "n": [1, 1]}, threshold=0.5, ids=["a", "a"], trials=[0, 1])
    assert report.pass_k()[0].pass_hat.estimate == 0.5
    assert report.pass_k("n")[0].pass_hat.estimate == 1.0
    with pytest.raises(KeyError, match="no criterion 'x'"):
        report.pass_k("x")
    with pytest.raises(ValueError, match="m has no threshold"):
        report_of({"m": [1]}).pass_k("m")


def test_trials_stand_in_the_report() -> None:
    for shown in (str(trials()), trials().to_markdown(), trials()._repr_html_()):
        assert "flaky (passed in some trials only): b" in shown
        assert "of 1 trial: one passes (pass@1) 0.500" in shown
        assert "2 cases, 1 with fewer trials left out" in shown
    assert "pass@1" not in str(report_of({"m": [1, 0]}, threshold=0.5))
