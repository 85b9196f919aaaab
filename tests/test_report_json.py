"""A report as JSON text: the same text for the same report, and back without loss."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_scoring import (
    Case,
    Criteria,
    Criterion,
    Match,
    ReadError,
    Report,
    Score,
    ScoringError,
    Turn,
    evaluate,
    rescore,
)
from adk_scoring.metrics.base import Scores
from adk_scoring.report.codec import RecordedMetric
from tests.build import BAD, GOOD, Given, case, cases, report_of, turn
from tests.build import given as given_case

CRITERIA = {
    "trajectory_f1": 0.5,
    "names": {"metric": "trajectory_recall", "match": {"args": "ignore", "ignore_tools": ["b"]}, "per": "turn"},
    "tool_trajectory_avg_score": {"threshold": 1, "match_type": "IN_ORDER", "ignore_tools": ["查询"]},
    'one "of" <them>': {"metric": "trajectory_single_tool_use", "tool": "查询", "threshold": None},
    "dates": {"metric": "trajectory_precision", "match": {"tools": {"a": {"when": "iso8601"}}}},
}


def same(left: Report, right: Report) -> None:
    # NaN is not equal to itself, so that cases are compared as they are shown.
    assert repr(left.cases) == repr(right.cases)
    assert left.criteria == right.criteria
    assert list(left.rows) == list(right.rows)
    assert left.summary == right.summary
    assert (left.notes, left.passed, str(left)) == (right.notes, right.passed, str(right))


@settings(max_examples=200)
@given(st.lists(cases, min_size=1, max_size=3))
def test_what_was_written_is_read_back_without_loss(some: list[Case]) -> None:
    report = evaluate(some, CRITERIA)
    written = report.to_json()
    assert written.encode("utf-8")
    again = Report.from_json(written)
    same(report, again)
    assert again.to_json() == written
    assert Report.from_json(written.encode()).to_json() == written
    assert evaluate(some, CRITERIA).to_json() == written


def test_the_bounds_of_a_score_come_back() -> None:
    column = Scores(Given())
    column.append(Score.failed("given", "one rubric was not answered", bounds=(0.25, 0.75)))
    report = Report([case(GOOD)], Criteria((Criterion("x", Given(), 0.5),)), [column])
    assert Report.from_json(report.to_json()).rows[0].score == column[0]


_values = st.lists(st.none() | st.sampled_from(["broke", "坏\ud800"]) | st.floats(0, 1), min_size=2, max_size=2)


@given(_values, _values, st.none() | st.floats(0, 1))
def test_every_kind_of_score_comes_back(first: list[Any], second: list[Any], threshold: float | None) -> None:
    report = report_of(first, second, threshold=threshold, trials=[0, 1])
    again = Report.from_json(report.to_json())
    assert [row.score for row in again.rows] == [row.score for row in report.rows]
    assert again.case_verdicts == report.case_verdicts
    assert again.to_json() == report.to_json()


def test_the_text_does_not_depend_on_the_process() -> None:
    program = (
        "from adk_scoring import Case, Invocation, ToolCall, Turn, evaluate\n"
        "made = Invocation('q', (ToolCall('f', {'b': 1, 'a': [2]}),), 'x', metadata={'k': 1})\n"
        "case = Case('c', (Turn(made, (made,)), Turn(made, ())), tags=('x', 'y'))\n"
        "print(evaluate([case], {'trajectory_f1': 1, 'response_exact_match': 0.5}).to_json())\n"
    )
    root = str(Path(__file__).resolve().parents[1])
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": root},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1
    assert json.loads(texts.pop())["passed"] is True


def test_the_text_is_json_with_the_verdicts_for_people_and_other_tools() -> None:
    document = json.loads(evaluate([case(GOOD, BAD)], {"trajectory_f1": 1}).to_json())
    assert (document["format"], document["version"], document["passed"]) == ("adk_scoring.report", 1, False)
    (entry,) = document["cases"]
    assert entry["verdict"] == "failed"
    assert entry["scores"]["trajectory_f1"]["value"] == 0.5
    assert [part["label"] for part in entry["scores"]["trajectory_f1"]["parts"]] == ["turn 1", "turn 2"]


def test_what_a_metric_is_not_known_by_here_is_kept_and_cannot_score_again() -> None:
    report = evaluate(
        [given_case(1.0), given_case(0.0, "d")], [Criterion("mine", Given(True, (0.0, float("inf"))), 0.5)]
    )
    written = report.to_json()
    again = Report.from_json(written)
    assert again.to_json() == written
    metric = again.criteria["mine"].metric
    assert isinstance(metric, RecordedMetric)
    assert (metric.name, metric.range, metric.higher_is_better) == ("given", (0.0, float("inf")), False)
    assert [row.verdict for row in again.rows] == ["failed", "passed"]
    assert rescore(again, [Criterion("mine", metric, 1.5)]).passed
    with pytest.raises(ScoringError, match="given is known from a report only"):
        metric.score(again.cases[0])


def test_a_caller_s_comparator_is_kept_in_words() -> None:
    def close(actual: Any, expected: Any) -> bool:
        return bool(abs(actual - expected) < 2)

    rule = Match(tools={"f": {"n": close}})
    sides = turn([("f", {"n": 1})], [("f", {"n": 2})])
    report = evaluate([case(sides)], {"trajectory_f1": {"match": rule, "threshold": 1}})
    again = Report.from_json(report.to_json())
    assert again.to_json() == report.to_json()
    assert again.passed
    assert "close" in again.criteria["trajectory_f1"].metric.parameters["match"]  # type: ignore[attr-defined]
    bad = evaluate([case(turn(["a"], ["b"]))], {"trajectory_f1": {"match": rule, "threshold": 1}})
    (failure,) = Report.from_json(bad.to_json()).failures()
    assert (failure.expected, failure.actual) == ("b()", "a()")


@dataclass(frozen=True)
class Odd(Given):
    """Parameters of kinds that JSON has not."""

    names: frozenset[str] = frozenset({"b", "a"})
    most: float = float("inf")
    thing: object = print
    several: tuple[tuple[str, int], ...] = (("a", 1),)


def test_parameters_that_json_has_not_are_written_in_words() -> None:
    report = evaluate([given_case(1.0)], [Criterion("x", Odd(), 0.5)])
    parameters = json.loads(report.to_json())["criteria"]["items"][0]["parameters"]
    assert parameters["names"] == ["a", "b"]
    assert parameters["most"] == "inf"
    assert parameters["thing"] == "<built-in function print>"
    assert parameters["several"] == [["a", 1]]
    assert Report.from_json(report.to_json()).to_json() == report.to_json()


def test_what_is_no_json_is_refused_with_its_place() -> None:
    from datetime import date

    with pytest.raises(ReadError, match="cannot be written as JSON: found a Python date"):
        evaluate([case(GOOD, metadata={"day": date(2026, 1, 1)})], {"trajectory_f1": 1}).to_json()


GOOD_TEXT = evaluate([case(GOOD)], {"trajectory_f1": 1}).to_json()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "report: not JSON"),
        ("{", "report: not JSON"),
        (b"\xff\xfe", "report: not JSON"),
        ("[" * 100_000, "report: not JSON"),
        ("[]", "not a report: found list; wanted 'format': 'adk_scoring.report'"),
        ('{"eval_cases": []}', r"not a report: found keys \[eval_cases\]"),
        ("{}", r"not a report: found keys \[\]"),
        (GOOD_TEXT.replace('"version": 1', '"version": 2'), "version 2; this library reads 1"),
        (GOOD_TEXT.replace('"trajectory_f1": {', '"other": {'), "damaged: KeyError: 'trajectory_f1'"),
        (
            GOOD_TEXT.replace('"status": "scored"', '"status": "fine"'),
            "damaged: ValueError: trajectory_f1: status 'fine'",
        ),
        (GOOD_TEXT.replace('"threshold": 1.0', '"threshold": 7'), "damaged: ConfigError: trajectory_f1: threshold 7"),
        (GOOD_TEXT.replace('"case_id": "c"', '"case_id": 5'), "case_id: found"),
        (GOOD_TEXT.replace('"source": ["", ""]', '"source": 5'), r"cases\[0\]: damaged: TypeError"),
        (GOOD_TEXT.replace('"metric": "trajectory_f1"', '"metric": []'), "criteria: damaged: TypeError"),
    ],
)
def test_what_is_no_report_is_refused(text: str | bytes, says: str) -> None:
    with pytest.raises(ReadError, match=says):
        Report.from_json(text)


@given(st.data())
def test_a_damaged_report_gives_no_foreign_error(data: st.DataObject) -> None:
    document = json.loads(GOOD_TEXT)
    node = document
    while isinstance(node, dict | list) and node:
        key = data.draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
        if not isinstance(node[key], dict | list) or not node[key] or data.draw(st.booleans()):
            node[key] = data.draw(st.sampled_from([None, 5, "x", [], {}, [1], {"a": 1}, True]))
            break
        node = node[key]
    text = json.dumps(document)
    try:
        report = Report.from_json(text)
    except ReadError:
        return
    assert report.to_json()


def test_a_large_report_is_written_and_read() -> None:
    report = evaluate([Case(f"c{i}", (Turn(GOOD.actual, GOOD.expected),)) for i in range(3000)], {"trajectory_f1": 1})
    again = Report.from_json(report.to_json())
    assert again.summary == report.summary
    assert isinstance(again.columns[0], Scores)
