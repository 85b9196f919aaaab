"""Inside ADK: ``adk eval`` and ``AgentEvaluator`` with this library's metrics, read back from what ADK wrote."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.adk.evaluation.agent_evaluator import AgentEvaluator
from google.adk.evaluation.eval_case import IntermediateData, Invocation, InvocationEvent, InvocationEvents
from google.adk.evaluation.eval_metrics import BaseCriterion, EvalMetric, EvalStatus
from google.adk.evaluation.evaluator import EvaluationResult
from google.adk.evaluation.final_response_match_v1 import RougeEvaluator
from google.adk.evaluation.metric_evaluator_registry import MetricEvaluatorRegistry
from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator
from google.genai import types

from adk_scoring import METRICS, read
from adk_scoring.integrations import adk

from .trip_cases import CRITERIA, FAILING, PASSING, SKIPPED, TRIP, write_cases

SCORE = {"code_config": {"name": "adk_scoring.integrations.adk.score"}}
IN_PLACE = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}


def code(name: str) -> dict[str, Any]:
    return {"code_config": {"name": f"adk_scoring.integrations.adk.{name}"}}


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A copy of the application, which ADK writes its results into, with the five cases beside it."""
    shutil.copytree(TRIP, tmp_path / "apps" / "trip", ignore=shutil.ignore_patterns("__pycache__", ".adk"))
    write_cases(tmp_path / "trips.test.json")
    return tmp_path / "apps" / "trip"


def config(app: Path, criteria: dict[str, Any], custom: dict[str, Any]) -> Path:
    path = app.parents[1] / "test_config.json"
    path.write_text(json.dumps({"criteria": criteria, "custom_metrics": custom}))
    return path


def adk_eval(app: Path, settings: Path) -> tuple[subprocess.CompletedProcess[str], dict[str, dict[str, Any]]]:
    """Run ``adk eval``; return it, and each case's result from the file that ADK wrote."""
    shutil.rmtree(app / ".adk", ignore_errors=True)
    cases = app.parents[1] / "trips.test.json"
    command = [sys.executable, "-m", "google.adk.cli", "eval", str(app), str(cases)]
    command += ["--config_file_path", str(settings), "--print_detailed_results"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"COLUMNS": "200"})
    written = list(app.glob(".adk/eval_history/*.json"))
    assert len(written) == 1, done.stdout[-2000:] + done.stderr[-4000:]
    content = json.loads(written[0].read_text())
    return done, {result["eval_id"]: result for result in content["eval_case_results"]}


def overall(result: dict[str, Any]) -> dict[str, tuple[float | None, int]]:
    found = result["overall_eval_metric_results"]
    return {m["metric_name"]: (m["score"], m["eval_status"]) for m in found if not m["metric_name"].endswith("_v1")}


def test_our_metrics_under_adk_eval(app: Path) -> None:
    done, results = adk_eval(app, config(app, CRITERIA, dict.fromkeys(CRITERIA, SCORE)))
    assert {name: result["final_eval_status"] for name, result in results.items()} == {
        **dict.fromkeys(PASSING, EvalStatus.PASSED.value),
        FAILING: EvalStatus.FAILED.value,
        SKIPPED: EvalStatus.NOT_EVALUATED.value,
    }
    assert overall(results[SKIPPED]) == dict.fromkeys(CRITERIA, (None, EvalStatus.NOT_EVALUATED.value))
    assert overall(results[FAILING])["trajectory_in_order_match"] == (0.0, EvalStatus.FAILED.value)
    assert len(results["weather"]["eval_metric_result_per_invocation"]) == 2
    # The reasons stand in ADK's own output.
    assert "0 of 1 expected calls in order" in done.stdout
    assert "Reasoning: skipped: no expected calls" in done.stdout


def test_replacing_adks_metrics_in_place_gives_adks_numbers(app: Path) -> None:
    _, own = adk_eval(app, config(app, IN_PLACE, {}))
    _, ours = adk_eval(app, config(app, IN_PLACE, {name: code(name) for name in IN_PLACE}))
    assert {name: overall(result) for name, result in ours.items()} == {
        name: overall(result) for name, result in own.items()
    }
    assert overall(ours["booking"])["tool_trajectory_avg_score"] == (0.0, EvalStatus.FAILED.value)


def test_our_keys_of_a_criterion_work_in_place(app: Path) -> None:
    lenient = {"tool_trajectory_avg_score": {"threshold": 1.0, "ignore_tools": ["transfer_to_agent"]}}
    _, results = adk_eval(app, config(app, lenient, dict.fromkeys(lenient, SCORE)))
    assert overall(results["booking"])["tool_trajectory_avg_score"] == (1.0, EvalStatus.PASSED.value)


def test_results_that_adk_wrote_are_read_back(app: Path) -> None:
    adk_eval(app, config(app, CRITERIA, dict.fromkeys(CRITERIA, SCORE)))
    (written,) = app.glob(".adk/eval_history/*.json")
    recorded = {case.case_id: case.recorded for case in read(written)}
    assert set(recorded) == {*PASSING, FAILING, SKIPPED}
    whole = [s for s in recorded[FAILING] if s.metric == "trajectory_in_order_match" and s.turn is None]
    assert [(s.value, s.verdict, s.reason) for s in whole] == [
        (0.0, "failed", ""),
        (0.0, None, "0 of 1 expected calls in order"),
    ]


def test_agent_evaluator(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config(app, CRITERIA, dict.fromkeys(CRITERIA, SCORE))
    monkeypatch.syspath_prepend(app.parent)
    table = app.parents[1] / "results.csv"
    with pytest.raises(AssertionError) as failure:
        asyncio.run(
            AgentEvaluator.evaluate("trip", str(app.parents[1] / "trips.test.json"), num_runs=1, output_file=str(table))
        )
    said = str(failure.value)
    assert "trajectory_in_order_match" in said
    with table.open() as file:
        rows = [row for row in csv.DictReader(file) if row["metric_name"] in CRITERIA]
    statuses = {(row["eval_id"], row["metric_name"]): row["eval_status"] for row in rows}
    assert {statuses[name, metric] for name in PASSING for metric in CRITERIA} == {"PASSED"}
    assert statuses[FAILING, "trajectory_in_order_match"] == "FAILED"
    assert {statuses[SKIPPED, metric] for metric in CRITERIA} == {"NOT_EVALUATED"}
    assert len(rows) == 12  # two metrics of six turns


# --- the functions themselves --------------------------------------------------------------------------------------


def turn(text: str, calls: list[tuple[str, Any]] | None, parts: list[types.Part] | None, *, events: bool) -> Invocation:
    made = None
    if calls is not None:
        uses = [types.FunctionCall(name=name, args=args) for name, args in calls]
        if events:
            content = types.Content(role="model", parts=[types.Part(function_call=use) for use in uses])
            made = InvocationEvents(invocation_events=[InvocationEvent(author="a", content=content)])
        else:
            made = IntermediateData(tool_uses=uses)
    return Invocation(
        user_content=types.Content(role="user", parts=[types.Part(text=text)]),
        final_response=None if parts is None else types.Content(role="model", parts=parts),
        intermediate_data=made,
    )


TEXTS = (
    None,
    [types.Part(text="It is"), types.Part(text="20 C")],
    [types.Part(text="I think hard", thought=True), types.Part(text="It is 20 C")],
    [types.Part(text="北京 20 度")],
)
CALLS: tuple[list[tuple[str, Any]] | None, ...] = (
    None,
    [],
    [("f", {"x": 1})],
    [("f", {"x": True}), ("g", {"y": [1, {"z": None}]})],
    [("g", {"y": [1, {"z": None}]}), ("f", {"x": 1.0})],
)


def metric(name: str, threshold: float | None = 0.5, **keys: Any) -> EvalMetric:
    return EvalMetric(metric_name=name, criterion=BaseCriterion(threshold=threshold, **keys))


def scored(name: str, actual: list[Invocation], expected: list[Invocation] | None, **keys: Any) -> EvaluationResult:
    return asyncio.run(adk.score(metric(name, **keys), actual, expected, None))


@pytest.mark.parametrize("match_type", ["EXACT", "IN_ORDER", "ANY_ORDER"])
def test_the_trajectory_score_is_adks_to_the_last_bit(match_type: str) -> None:
    actual = [turn("q", calls, None, events=True) for calls in CALLS for _ in CALLS]
    expected = [turn("q", calls, None, events=False) for _ in CALLS for calls in CALLS]
    eval_metric = metric("tool_trajectory_avg_score", match_type=match_type)
    theirs = TrajectoryEvaluator(eval_metric=eval_metric).evaluate_invocations(actual, expected)
    ours = scored("tool_trajectory_avg_score", actual, expected, match_type=match_type)
    assert [r.score for r in ours.per_invocation_results] == [r.score for r in theirs.per_invocation_results]
    assert [r.eval_status for r in ours.per_invocation_results] == [
        r.eval_status for r in theirs.per_invocation_results
    ]
    assert (ours.overall_score, ours.overall_eval_status) == (theirs.overall_score, theirs.overall_eval_status)


def test_the_response_score_is_adks_to_the_last_bit() -> None:
    actual = [turn("q", None, parts, events=True) for parts in TEXTS for _ in TEXTS]
    expected = [turn("q", None, parts, events=False) for _ in TEXTS for parts in TEXTS]
    theirs = RougeEvaluator(metric("response_match_score")).evaluate_invocations(actual, expected)
    ours = scored("response_match_score", actual, expected)
    assert [r.score for r in ours.per_invocation_results] == [r.score for r in theirs.per_invocation_results]
    assert (ours.overall_score, ours.overall_eval_status) == (theirs.overall_score, theirs.overall_eval_status)


@pytest.mark.parametrize("expected_turns", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("name", sorted(METRICS))
def test_there_is_one_result_for_each_actual_invocation(name: str, expected_turns: int | None) -> None:
    actual = [turn("q", CALLS[2], list(TEXTS[1] or ()), events=True) for _ in range(2)]
    expected = None if expected_turns is None else [turn("q", CALLS[2], None, events=False)] * expected_turns
    result = scored(name, actual, expected, judge=f"{__name__}.yes")
    assert [r.actual_invocation for r in result.per_invocation_results] == actual
    if result.overall_score is None:
        assert result.overall_eval_status == EvalStatus.NOT_EVALUATED
        assert result.overall_rubric_scores
        assert result.overall_rubric_scores[0].rationale


def test_no_invocation_gives_no_result() -> None:
    result = scored("trajectory_f1", [], [])
    assert (result.overall_score, result.per_invocation_results) == (None, [])


def yes(prompt: Any) -> str:
    """A judge that says yes to whatever rubric it is asked about."""
    return json.dumps(
        {"rubric_id": json.loads(prompt.schema)["properties"]["rubric_id"]["enum"][0], "reason": "so", "verdict": "yes"}
    )


def test_a_judged_metric_asks_the_judge_that_the_criterion_names() -> None:
    rubrics = [{"rubric_id": "short", "rubric_content": {"text_property": "It is short."}}]
    actual = [turn("q", [], [types.Part(text="20 C")], events=True)] * 2
    result = scored("rubric_based_final_response_quality_v1", actual, None, rubrics=rubrics, judge=f"{__name__}.yes")
    assert (result.overall_score, result.overall_eval_status) == (1.0, EvalStatus.PASSED)
    first = result.per_invocation_results[0].rubric_scores
    assert first is not None
    assert [(rubric.rubric_id, rubric.score) for rubric in first][1:] == [("short", 1.0)]


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"match_type": "SUPERSET"}, "SUPERSET"),
        ({"tresholds": 1}, "no parameter 'tresholds'"),
    ],
)
def test_a_criterion_that_is_not_usable_is_not_evaluated_and_says_why(keys: dict[str, Any], why: str) -> None:
    actual = [turn("q", [], None, events=True)]
    result = scored("tool_trajectory_avg_score", actual, actual, **keys)
    assert result.overall_eval_status == EvalStatus.NOT_EVALUATED
    assert result.overall_rubric_scores
    assert why in str(result.overall_rubric_scores[0].rationale)


def test_a_judge_that_cannot_be_imported_says_so() -> None:
    actual = [turn("q", [], [types.Part(text="20 C")], events=True)]
    result = scored("safety_v1", actual, None, judge="nowhere.judge")
    assert result.overall_rubric_scores
    assert "nowhere.judge" in str(result.overall_rubric_scores[0].rationale)


def test_the_registry_takes_our_evaluator() -> None:
    registry = MetricEvaluatorRegistry()
    names = adk.register(registry=registry)
    assert "trajectory_f1" in names
    assert "trajectory_single_tool_use" not in names  # it needs to be told which tool
    evaluator = registry.get_evaluator(metric("trajectory_f1"))
    assert isinstance(evaluator, adk.AdkScoringEvaluator)
    same = [turn("q", CALLS[2], None, events=True)]
    assert asyncio.run(evaluator.evaluate_invocations(same, same)).overall_score == 1.0
    with pytest.raises(TypeError):
        adk.register("trajectory_single_tool_use", registry=registry)
    with pytest.raises(ValueError, match="unknown metric"):
        adk.evaluator("magic")
