"""The same metrics from a configuration, through `evaluate`; and the reported cases about aggregates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from adk_scoring import Case, ConfigError, Criteria, Invocation, Metric, Report, Score, Turn, comparators, evaluate
from adk_scoring.alignment import as_calls

CALLS: dict[str, list[Any]] = {
    "made": ["get", ("book", {"when": "2026-08-19T09:00:00+08:00"})],
    "expected": [("book", {"when": "2026-08-19T01:00:00Z"})],
}
CRITERIA: dict[str, Any] = {
    "match": {"tools": {"book": {"when": {"iso8601": {}}}}},
    "trajectory_recall": 1.0,
    "tool_args_score": 1.0,
    "read_only_compliance": {"threshold": 1, "tools": {"get": True, "book": False}},
    "forbidden_tools": {"threshold": 1, "tools": ["delete_*"]},
    "look first": {"metric": "trajectory_precedence", "rules": [["get", "book"]], "threshold": 1},
    "loops": 0,
    "tool_call_count_v1": 2,
}


def case(name: str = "c") -> Case:
    made, expected = (Invocation("q", as_calls(CALLS[side], side)) for side in ("made", "expected"))
    return Case(name, (Turn(made, (expected,)),))


def test_a_configuration_asks_all_of_it() -> None:
    report = evaluate([case()], json.loads(json.dumps(CRITERIA)))
    assert [(row.label, row.verdict) for row in report.rows] == [(key, "passed") for key in CRITERIA if key != "match"]
    assert report.passed
    assert str(Report.from_json(report.to_json())) == str(report)
    assert not evaluate([case()], {**CRITERIA, "match": "exact"}).passed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"match": {"tools": {"book": {"when": {"iso8602": {}}}}}},
            "match.tools.book.when: unknown comparator 'iso8602'",
        ),
        ({"loops": {"ignore_tools": "get"}}, "loops: .*wanted a list of names"),
        ({"token_cost": {"input": 1}}, "token_cost needs the parameter 'output'"),
        ({"look first": {"metric": "trajectory_precedence", "rules": ["get"]}}, "look first: rules .*pairs of names"),
        ({"loops": 2}, "loops"),  # beyond its range
    ],
)
def test_what_a_configuration_gets_wrong_is_told_with_its_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Criteria.of({**CRITERIA, **change})


def test_a_comparator_of_your_own_that_raises_spoils_its_case_only() -> None:
    def fails(actual: Any, expected: Any) -> bool:
        raise KeyError("zone")

    made = Invocation("q", as_calls(["get"], "made"))
    good = Case("good", (Turn(made, (made,)),))
    match = {"tools": {"book": {"when": fails}}}
    report = evaluate([case("bad"), good], {"trajectory_recall": {"threshold": 1, "match": match}})
    bad_row, good_row = report.rows
    assert (good_row.verdict, bad_row.score.status) == ("passed", "error")
    assert "book: argument when: comparator fails raised KeyError: 'zone'" in bad_row.score.reason


def test_comparators_are_at_hand_as_one_name() -> None:
    assert comparators.approx(abs=1)(1, 2)


REPORTED = {
    line["id"]: line
    for line in map(
        json.loads, (Path(__file__).parent / "data/vectors/reported_cases.jsonl").read_text("utf-8").splitlines()
    )
    if line["kind"] == "aggregate"
}


@dataclass(frozen=True)
class Recorded(Metric):
    """Gives a case the value that stands in its metadata, whatever that is."""

    name = "recorded"

    def score(self, evidence: Any, replies: Sequence[Any] = ()) -> Score:
        case = getattr(evidence, "case", evidence)
        return Score(self.name, case.metadata["score"])


def recorded(*scores: Any) -> list[Case]:
    return [Case(f"c{i}", case().turns, metadata={"score": score}) for i, score in enumerate(scores)]


def report_of(cases: list[Case], threshold: float) -> Report:
    from adk_scoring.criteria import Criterion

    return evaluate(cases, Criteria((Criterion("recorded", Recorded(), threshold),)))


def test_a_number_written_as_text_is_no_pass() -> None:
    given = REPORTED["st-string-score"]["input"]
    (row,) = report_of(recorded(given["score"]), given["threshold"]).rows
    assert row.score.status == "error"
    assert row.verdict != "passed"


def test_nan_is_never_a_score() -> None:
    (row,) = (report := report_of(recorded(float("nan")), REPORTED["st-nan"]["input"]["threshold"])).rows
    assert (row.score.value, row.score.status) == (None, "error")
    assert not report.passed
    json.loads(report.to_json(), parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


def test_a_measurement_without_a_threshold_is_kept() -> None:
    two = Case("c", case().turns * 2)
    (row,) = evaluate([two], {"tool_call_count_v1": None}).rows
    assert row.verdict == "informational"
    assert [part.value for part in row.score.parts] == [2.0, 2.0]


def test_each_metric_keeps_its_own_status() -> None:
    report = evaluate([case()], {"tool_call_rate": 1, "forbidden_tools": {"tools": ["get"], "threshold": 1}})
    assert {row.label: row.verdict for row in report.rows} == {"tool_call_rate": "passed", "forbidden_tools": "failed"}
    assert not report.passed


def test_what_could_not_be_graded_is_counted_and_left_out_of_the_mean() -> None:
    given, right = REPORTED["st-grader-failure-min"]["input"], REPORTED["st-grader-failure-min"]["right"]
    report = report_of(recorded(*given["grades"]), 0.5)
    (summary,) = report.summary.criteria
    assert (summary.mean, summary.errors) == (right["score"], right["invalid"])


def test_the_reported_aggregates_are_all_looked_at() -> None:
    # A jury's tie is a matter of judged metrics; the others are above.
    assert len(REPORTED) == 6
