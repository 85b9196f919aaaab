"""Agents over files and folders of expectations; several reports in one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adk_scoring import (
    Case,
    ConfigError,
    Invocation,
    ReadError,
    ReadWarning,
    Report,
    Session,
    Turn,
    evaluate,
    evaluate_directory,
    evaluate_file,
    write_evalset,
)
from adk_scoring.report.merge import merged
from tests.build import BAD, GOOD, case, report_of


def agent(user_text: str, *, session: Session) -> Invocation:
    return Invocation(user_text, (), "Hello!")


def greeting(name: str, answer: str = "Hello!") -> Case:
    return Case(name, (Turn(None, (Invocation("hi", (), answer),)),))


def write(path: Path, *cases: Case, criteria: dict[str, Any] | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_evalset(cases, path)
    if criteria is not None:
        (path.parent / "test_config.json").write_text(json.dumps({"criteria": criteria}))
    return path


def test_a_file_is_run_and_scored_by_the_configuration_beside_it(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.evalset.json", greeting("a"), greeting("b", "Bye!"), criteria={"response_exact_match": 1}
    )
    report = evaluate_file(agent, path)
    assert (report.criteria.labels, report.case_verdicts) == (("response_exact_match",), ("passed", "failed"))
    assert evaluate_file(agent, path, {"trajectory_f1": 1.0}, repeats=2).summary.total == 4
    both = evaluate_file({"x": agent, "y": agent}, str(path), resume=tmp_path / "runs.jsonl")
    assert list(both.by("set_id")) == ["a @ x", "a @ y"]


def test_a_folder_is_run_file_by_file_each_by_its_own_configuration(tmp_path: Path) -> None:
    one = write(tmp_path / "one" / "a.evalset.json", greeting("a"), criteria={"response_exact_match": 1})
    two = write(tmp_path / "two" / "deep" / "b.evalset.json", greeting("a"), greeting("b", "Bye!"))
    (tmp_path / "two" / "broken.evalset.json").write_text('{"eval_set_id": "x", "eval_cases": [')
    (tmp_path / "two" / "notes.json").write_text('{"title": "none of ours"}')
    with pytest.warns(ReadWarning, match="notes.json"):
        report = evaluate_directory(agent, tmp_path)
    assert {Path(path).name: r.case_verdicts for path, r in report.reports.items()} == {
        "a.evalset.json": ("passed",),
        "broken.evalset.json": ("error",),
        "b.evalset.json": ("passed", "failed"),
    }
    assert report.reports[str(one)].criteria.labels == ("response_exact_match",)
    assert report.reports[str(two)].criteria.labels == ("tool_trajectory_avg_score", "response_match_score")
    assert (report.passed, report.total.summary.total, report.total.summary.passed) == (False, 4, 2)
    assert str(report).endswith("=== total\n2 of 4 cases, 1 of 3 files passed")


def test_a_folder_that_passes_by_criteria_for_all(tmp_path: Path) -> None:
    write(tmp_path / "a.evalset.json", greeting("a"))
    write(tmp_path / "b" / "b.evalset.json", greeting("b"))
    report = evaluate_directory(agent, tmp_path, {"response_exact_match": 1.0}, concurrency=2)
    assert report.passed
    assert report.total.passed
    assert len(report.reports) == 2


def test_nothing_to_run_is_no_success(tmp_path: Path) -> None:
    with pytest.raises(ReadError):
        evaluate_directory(agent, tmp_path)
    with pytest.raises(ReadError):
        evaluate_file(agent, tmp_path / "nowhere.json", {"trajectory_f1": 1.0})
    with pytest.raises(ConfigError):
        evaluate_file(agent, write(tmp_path / "a.evalset.json", greeting("a")), {"trajectory_f1": 3.0})


def test_merged_reports_keep_every_row() -> None:
    first = evaluate([case(GOOD, case_id="a")], {"trajectory_f1": 1.0, "trajectory_recall": 1.0})
    second = evaluate([case(BAD, case_id="b"), case(GOOD, case_id="c")], {"trajectory_f1": 1.0})
    third = evaluate([case(BAD, case_id="d")], {"trajectory_f1": 0.0})
    whole = merged([first, second, third])
    assert whole.criteria.labels == ("trajectory_f1", "trajectory_recall", "trajectory_f1#2")
    assert whole.case_verdicts == ("passed", "failed", "passed", "passed")
    values = {
        (row.case_id, row.label): row.score.value
        for row in whole.rows
        if row.score.reason != "not a criterion of this case"
    }
    assert values == {
        ("a", "trajectory_f1"): 1.0,
        ("a", "trajectory_recall"): 1.0,
        ("b", "trajectory_f1"): 0.0,
        ("c", "trajectory_f1"): 1.0,
        ("d", "trajectory_f1#2"): 0.0,
    }
    assert Report.from_json(whole.to_json()).case_verdicts == whole.case_verdicts


def test_one_report_merged_is_itself() -> None:
    report = report_of([0.3, 0.7, None, "broken"], [1.0, 0.0, 0.0, 1.0])
    assert merged([report]).to_records() == report.to_records()


def test_merging_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no report"):
        merged([])
