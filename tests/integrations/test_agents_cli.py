"""Local grading as agents-cli does it: a function file, run by the evaluation client over traces, results read back."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from google.auth import credentials

from adk_scoring import collect, read, write_agents_cli
from adk_scoring.agents import adk_agent

from .agents.trip.agent import root_agent
from .trip_cases import CASES, FAILING, PASSING, SKIPPED

agentplatform = pytest.importorskip("agentplatform", reason="google-cloud-aiplatform without its new client")

FUNCTION_FILE = "from adk_scoring.integrations.agents_cli import evaluator\n\n"
FUNCTION_FILE += "evaluate = evaluator({'trajectory_in_order_match': None, 'trajectory_f1': None})\n"


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the agent, write its traces, grade them with the function of a file, write the results."""
    folder = tmp_path_factory.mktemp("eval")
    traces = folder / "traces.json"
    write_agents_cli(collect(adk_agent(root_agent), CASES), traces)
    (folder / "custom_metric.py").write_text(FUNCTION_FILE)
    function = runpy.run_path(str(folder / "custom_metric.py"))["evaluate"]

    types = agentplatform.types
    content = json.loads(traces.read_text())
    for case in content["eval_cases"]:  # the client wants the last answer beside the trace
        last = case["agent_data"]["turns"][-1]["events"][-1]["content"]
        case["responses"] = [{"response": last}]
    nobody = credentials.AnonymousCredentials()  # type: ignore[no-untyped-call, unused-ignore]  # nothing is asked for it
    client = agentplatform.Client(project="none", location="us-central1", credentials=nobody)
    result = client.evals.evaluate(
        dataset=types.EvaluationDataset.model_validate(content),
        metrics=[types.Metric(name="trajectory", custom_function=function)],
    )
    out = folder / "results.json"
    out.write_text(result.model_dump_json(exclude_none=True))
    return out


def metric_of(result: dict[str, Any]) -> dict[str, Any]:
    (candidate,) = result["response_candidate_results"]
    found: dict[str, Any] = candidate["metric_results"]["trajectory"]
    return found


def test_the_client_wrote_our_scores(graded: Path) -> None:
    content = json.loads(graded.read_text())
    results = content["eval_case_results"]
    found = {CASES[result["eval_case_index"]].case_id: metric_of(result) for result in results}
    assert {name: metric.get("score") for name, metric in found.items()} == {
        **dict.fromkeys(PASSING, 1.0),
        FAILING: 0.0,
        SKIPPED: None,
    }
    assert "0 of 1 expected calls in order" in found[FAILING]["explanation"]
    assert found[SKIPPED]["explanation"].startswith("skipped: ")
    # What could not be scored is outside the mean, not a 0 in it.
    (summary,) = content["summary_metrics"]
    assert (summary["num_cases_valid"], summary["mean_score"]) == (4, 0.75)


def test_the_results_are_read_back(graded: Path) -> None:
    recorded = {case.case_id: [(s.metric, s.value) for s in case.recorded] for case in read(graded)}
    assert {name: recorded[name] for name in (*PASSING, FAILING)} == {
        **{key: [("trajectory", 1.0)] for key in PASSING},
        FAILING: [("trajectory", 0.0)],
    }
