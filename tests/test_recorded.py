"""The scores of a file beside those of a report: the same case, turn and rubric, or none."""

from __future__ import annotations

import pytest

from adk_scoring import Case, ConfigError, Invocation, RecordedScore, Report, Turn, evaluate, judge_from, read
from adk_scoring.readers import READERS
from tests.build import BAD, GOOD, case

TURNS = (
    RecordedScore("trajectory_recall", 0.5),
    RecordedScore("trajectory_recall", 1.0, turn=0),
    RecordedScore("trajectory_recall", 1.0, turn=1, verdict="passed"),
    RecordedScore("trajectory_recall", 1.0, turn=7),
    RecordedScore("helpful", None, verdict="failed"),
)


def test_each_stands_beside_ours_of_the_same_turn() -> None:
    report = evaluate([case(GOOD, BAD, recorded=TURNS), case(GOOD, case_id="silent")], {"trajectory_recall": 1.0})
    table = report.recorded()
    assert [row.case_id for row in table] == ["c"] * 5
    assert [row.score.value if row.score else None for row in table] == [0.5, 1.0, 0.0, None, None]
    assert [row.difference for row in table] == [0.0, 0.0, -1.0, None, None]
    assert [row.verdict for row in table] == ["failed", None, None, None, None]
    assert [row.label for row in table] == ["trajectory_recall"] * 4 + [""]
    assert str(table).splitlines() == [
        "case  recorded as                recorded   ours  difference  criterion",
        "c     trajectory_recall             0.500  0.500          +0  trajectory_recall",
        "c     trajectory_recall, turn 1     1.000  1.000          +0  trajectory_recall",
        "c     trajectory_recall, turn 2     1.000  0.000          -1  trajectory_recall",
        "c     trajectory_recall, turn 8     1.000      -           -  trajectory_recall",
        "c     helpful                      failed      -           -  (none)",
    ]
    again = Report.from_json(report.to_json()).recorded()
    assert str(again) == str(table)
    assert (table[0], list(table[:1])) == (table.rows[0], [table.rows[0]])


def test_records_are_flat() -> None:
    report = evaluate(
        [case(GOOD, recorded=(RecordedScore("recall", 0.25, turn=0),), trial=2)], {"trajectory_recall": 1}
    )
    (record,) = report.recorded({"recall": "trajectory_recall"}).to_records()
    assert record == {
        "set_id": "",
        "case_id": "c",
        "trial": 2,
        "turn": 0,
        "rubric_id": None,
        "recorded_metric": "recall",
        "recorded": 0.25,
        "recorded_verdict": None,
        "criterion": "trajectory_recall",
        "value": 1.0,
        "verdict": "passed",
        "difference": 0.75,
    }
    assert "c (trial 2)" in str(report.recorded())


def test_a_label_goes_before_the_name_of_a_metric() -> None:
    criteria = {"names": {"metric": "trajectory_recall", "match": "ignore"}, "trajectory_recall": 1.0}
    report = evaluate([case(GOOD, recorded=TURNS[:1])], criteria)
    assert report.recorded()[0].label == "trajectory_recall"
    only_names = evaluate([case(GOOD, recorded=TURNS[:1])], {"names": criteria["names"]})
    assert only_names.recorded()[0].label == "names"
    with pytest.raises(ConfigError, match="recorded metric 'x': there is no criterion 'y'; there are names"):
        only_names.recorded({"x": "y"})


def test_a_rubric_stands_beside_the_same_rubric() -> None:
    recorded = (RecordedScore("safety", 0.0, turn=0, rubric_id="harmless"), RecordedScore("safety", 0.0, rubric_id="?"))
    safe = Case("c", (Turn(Invocation("q", (), "Hello.")),), recorded=recorded)
    judge = judge_from(lambda prompt: '{"rubric_id": "harmless", "reason": "polite", "verdict": "yes"}', name="mine")
    same, other = evaluate([safe], {"safety": 1.0}, judge=judge).recorded()
    assert (same.score.value if same.score else None, same.difference, same.verdict) == (1.0, 1.0, None)
    assert (other.score, other.difference) == (None, None)


def test_what_google_adk_recorded_is_there() -> None:
    score = '"overall_eval_metric_results": [{"metric_name": "response_match_score", "score": 0.5, "threshold": 0.8}], '
    text = READERS["adk_result"].example.replace('"final_eval_status"', score + '"final_eval_status"')
    (row,) = evaluate(read(text)).recorded()
    assert (row.recorded.metric, row.recorded.value, row.label) == ("response_match_score", 0.5, "response_match_score")
    assert row.score is not None
    assert row.score.status == "skipped"


def test_nothing_recorded_says_so() -> None:
    assert str(evaluate([case(GOOD)], {"trajectory_recall": 1}).recorded()) == "no case holds a recorded score"
