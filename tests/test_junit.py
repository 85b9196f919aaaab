"""JUnit XML: a parser reads it, and what it counts is what the report says."""

from __future__ import annotations

from dataclasses import replace
from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_scoring import Case, Invocation, Report, ToolCall, Turn, evaluate
from tests.made_reports import report_of

COUNTS = ("tests", "failures", "errors", "skipped")


def parsed(report: Report) -> Element:
    """Parse the file as a CI system would, and check what every such file must keep to."""
    root = fromstring(report.to_junit().encode("utf-8"))  # noqa: S314  # our own file
    assert root.tag == "testsuites"
    totals = dict.fromkeys(COUNTS, 0)
    for suite in root:
        assert suite.tag == "testsuite"
        assert suite.get("name")
        cases = suite.findall("testcase")
        assert {child.tag for child in suite} <= {"properties", "testcase"}
        counted = {
            "tests": len(cases),
            "failures": len(suite.findall("testcase/failure")),
            "errors": len(suite.findall("testcase/error")),
            "skipped": len(suite.findall("testcase/skipped")),
        }
        assert {name: int(suite.get(name, "")) for name in COUNTS} == counted
        for case in cases:
            assert case.get("name") is not None
            assert case.get("classname")
            results = [child.tag for child in case if child.tag != "properties"]
            assert results in ([], ["failure"], ["error"], ["skipped"])
            assert all(child.get("message") for child in case if child.tag != "properties")
        for name in COUNTS:
            totals[name] += counted[name]
    assert {name: int(root.get(name, "")) for name in COUNTS} == totals
    return root


def test_each_outcome_is_what_it_is() -> None:
    report = report_of({"m": [1.0, 0.2, "no answer", None]}, threshold=0.5, ids=["good", "bad", "broken", "bare"])
    cases = {case.get("name"): case for case in parsed(report).iter("testcase")}
    assert [child.tag for child in cases["good"]] == ["properties"]
    failure, error, skipped = cases["bad"].find("failure"), cases["broken"].find("error"), cases["bare"].find("skipped")
    assert failure is not None
    assert (failure.get("message"), failure.get("type")) == ("m: given: 0.2", "m")
    assert failure.text is not None
    assert failure.text.startswith("bad: FAILED")
    assert error is not None
    assert error.get("message") == "m: no answer"
    assert skipped is not None
    assert skipped.get("message") == "m: nothing to score"


def test_one_message_for_several_criteria() -> None:
    report = report_of({"m": [0.0], "n": ["gone"], "o": [0.1]}, threshold=0.5)
    (failure,) = parsed(report).iter("failure")
    assert failure.get("message") == "m: given: 0.0; o: given: 0.1"
    assert failure.get("type") == "m, o"
    broken = next(parsed(report_of({"m": ["gone"], "n": [None]}, threshold=0.5)).iter("testcase"))
    assert [child.tag for child in broken] == ["properties", "error"]


def test_scores_and_signatures_are_properties() -> None:
    report = report_of({"m": [0.25], "n": [None]}, threshold=0.1)
    (suite, _) = parsed(report)
    of_suite = {each.get("name"): each.get("value") for each in suite.findall("properties/property")}
    of_case = {each.get("name"): each.get("value") for each in suite.findall("testcase/properties/property")}
    assert of_suite == {"m": str(report.signatures[0]), "n": str(report.signatures[1])}
    assert of_case == {"m": "0.25", "n": "skipped"}


def test_a_criterion_never_scored_is_an_error_so_that_not_passed_is_not_green() -> None:
    report = report_of({"m": [1.0], "n": [None]}, threshold=0.5)
    assert not report.passed
    (error,) = parsed(report).iter("error")
    assert (error.get("type"), error.get("message")) == (
        "never scored",
        "n was scored in no case, so the report is not passed; case 0: nothing to score",
    )
    assert parsed(report).get("errors") == "1"


def test_informational_criteria_make_no_failure() -> None:
    (skipped,) = parsed(report_of({"m": [0.0]})).iter("skipped")
    assert skipped.get("message") == "no criterion has a threshold"


def test_a_suite_for_each_set_and_a_name_for_each_trial() -> None:
    one, two = (
        report_of({"m": [1, 0]}, threshold=1, ids=["a", "a"], trials=[0, 1], set_id="x"),
        report_of({"m": [1]}, threshold=1),
    )
    column = one.columns[0].select(range(2))
    column.extend(two.columns[0])
    root = parsed(Report([*one.cases, *two.cases], one.criteria, [column]))
    assert [suite.get("name") for suite in root] == ["x", "cases"]
    assert [case.get("name") for case in root.iter("testcase")] == ["a", "a (trial 1)", "case 0"]
    assert [case.get("classname") for case in root.iter("testcase")] == ["x", "x", "cases"]


def test_time_is_there_where_it_is_known() -> None:
    side = Invocation("q", (), "a", duration=1.25)
    known = Case("known", (Turn(side, (side,)), Turn(side, (side,))))
    partly = Case("partly", (Turn(side, (side,)), Turn(replace(side, duration=None), (side,))))
    report = evaluate([known, partly], {"response_exact_match": 1.0})
    assert [case.get("time") for case in parsed(report).iter("testcase")] == ["2.500", None]


@pytest.mark.parametrize(
    "nasty", ["\x00\x1b[31m", "\ud800", "\ufffe\uffff", "]]><![CDATA[", "\"<&>'", "\x85\u2028", "名\U0001f600"]
)
def test_what_xml_cannot_hold_is_shown_as_an_escape(nasty: str) -> None:
    wanted = Invocation(nasty, (ToolCall(nasty or "f"),), nasty)
    case = Case(nasty, (Turn(Invocation(nasty, (), f"not {nasty}"), (wanted,)),), set_id=nasty)
    root = parsed(evaluate([case], {nasty: {"metric": "response_exact_match", "threshold": 1.0}}))
    (test,) = root.iter("testcase")
    if nasty == "\x00\x1b[31m":
        assert test.get("name") == "\\u0000\\u001b[31m"
    if nasty == "\ud800":
        assert test.get("name") == "\\ud800"
    if nasty == "名\U0001f600":
        assert test.get("name") == nasty


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=8), st.text(max_size=8), st.sampled_from([1.0, 0.0, None, "x"]))
def test_any_text_gives_a_file_that_a_parser_reads(name: str, said: str, value: float | str | None) -> None:
    report = report_of({name: [value if value != "x" else said]}, threshold=0.5, ids=[said], set_id=name)
    assert parsed(report).get("tests") in ("1", "2")
