"""`as_evaluator` under the harnesses that call it, each as far as it runs without its service."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest

from adk_scoring import as_evaluator

GOOD = {"calls": [{"name": "search", "args": {"q": "x"}}]}


@pytest.mark.parametrize(("reference", "score"), [(GOOD, 1.0), ({"calls": ["look"]}, 0.0), ({}, None)])
def test_langsmith(reference: dict[str, object], score: float | None) -> None:
    pytest.importorskip("langsmith")
    from langsmith.evaluation import run_evaluator
    from langsmith.schemas import Example, Run

    now = datetime.now(UTC)
    common = {"id": uuid.uuid4(), "name": "agent", "run_type": "chain", "trace_id": uuid.uuid4(), "dotted_order": "x"}
    run = Run(**common, start_time=now, inputs={"question": "q"}, outputs=GOOD)
    example = Example(id=uuid.uuid4(), dataset_id=uuid.uuid4(), inputs={"question": "q"}, outputs=reference)
    result = run_evaluator(as_evaluator("trajectory_f1")).evaluate_run(run, example)
    assert (result.key, result.score) == ("trajectory_f1", score)
    assert result.comment


def test_vertex_custom_metric() -> None:
    evaluation = pytest.importorskip("vertexai.evaluation")
    metric = evaluation.CustomMetric("trajectory_f1", as_evaluator("trajectory_f1", returns="named"))
    row = {
        "prompt": "q",
        "response": "",
        "predicted_trajectory": [{"tool_name": "search", "tool_input": {}}],
        "reference_trajectory": [{"tool_name": "search", "tool_input": {}}],
    }
    assert metric.metric_function(row)[metric.name] == 1.0
