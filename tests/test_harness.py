"""One criterion as an evaluator: every way in which harnesses hand over a row."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adk_scoring import METRICS, Case, ConfigError, Criterion, Invocation, ToolCall, Turn, as_evaluator, judge_from
from adk_scoring.integrations import agents_cli


def chat(*calls: tuple[str, str], answer: str = "done") -> list[dict[str, Any]]:
    """Messages of OpenAI's form."""
    made = [
        {"id": str(i), "type": "function", "function": {"name": name, "arguments": arguments}}
        for i, (name, arguments) in enumerate(calls)
    ]
    results = [{"role": "tool", "tool_call_id": str(i), "content": "ok"} for i in range(len(calls))]
    return [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": made},
        *results,
        {"role": "assistant", "content": answer},
    ]


class Message:
    """Like LangChain's message objects."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content

    def __getitem__(self, key: str) -> Any:
        return self.content[key]

    def model_dump(self) -> dict[str, Any]:
        return self.content


MADE = chat(("search", '{"q": "x"}'), ("book", "{}"))
WANTED = chat(("search", '{"q": "x"}'))
TWO_THIRDS = 2 / 3


@pytest.mark.parametrize(
    "given",
    [
        {"outputs": MADE, "reference_outputs": WANTED},
        {"outputs": {"messages": MADE}, "reference_outputs": {"messages": WANTED}},
        {"outputs": {"messages": list(map(Message, MADE))}, "reference_outputs": {"messages": WANTED}},
        {"outputs": ["search", "book"], "reference_outputs": ["search"]},
        {"outputs": {"tool_calls": ["search", "book"]}, "reference_outputs": {"expected_calls": ["search"]}},
        {"output": {"calls": ["search", "book"]}, "expected": {"trajectory": ["search"]}, "input": "q"},
        {"output": {"calls": ["search", "book"]}, "expected_output": {"calls": ["search"]}, "metadata": {}},
        {
            "outputs": Invocation("q", (ToolCall("search"), ToolCall("book"))),
            "reference_outputs": Invocation("q", (ToolCall("search"),)),
            "inputs": {"question": "q"},
        },
    ],
)
def test_the_sides_may_come_in_many_forms(given: dict[str, Any]) -> None:
    evaluator = as_evaluator("trajectory_f1")
    assert evaluator(**given)["score"] == pytest.approx(TWO_THIRDS)
    assert evaluator(given)["score"] == pytest.approx(TWO_THIRDS)


def test_rows_that_hold_both_sides() -> None:
    row = {
        "prompt": "q",
        "response": "It is 20 C.",
        "predicted_trajectory": [{"tool_name": "f", "tool_input": {}}],
        "reference_trajectory": [{"tool_name": "f", "tool_input": {}}],
    }
    assert as_evaluator("trajectory_exact_match")(row)["score"] == 1.0
    case = Case("a", (Turn(Invocation("q", (), "Hi"), (Invocation("q", (), "Hi"),)),))
    assert as_evaluator("response_exact_match")(case)["score"] == 1.0


def test_answers_are_compared() -> None:
    evaluator = as_evaluator("response_exact_match")
    assert evaluator(outputs="Paris", reference_outputs="paris")["score"] == 1.0
    assert evaluator(outputs={"answer": "Paris"}, reference_outputs={"answer": "Rome"})["score"] == 0.0
    assert evaluator(outputs={"messages": MADE}, reference_outputs="done")["score"] == 1.0


def test_conversations_pair_turn_by_turn() -> None:
    evaluator = as_evaluator("trajectory_exact_match")
    assert evaluator(outputs=MADE + MADE, reference_outputs=MADE + WANTED)["score"] == 0.5
    assert evaluator(outputs=MADE, reference_outputs=MADE + WANTED)["score"] == 0.5
    assert evaluator(outputs=MADE + MADE, reference_outputs=MADE)["score"] == 1.0


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"outputs": ["f"], "reference_outputs": {}}, "skipped: no reference: no expected calls"),
        ({"outputs": ["f"]}, "skipped: no reference"),
        ({"outputs": 3, "reference_outputs": ["f"]}, "error: outputs is int (3)"),
        (
            {"outputs": {"score": 1}, "reference_outputs": ["f"]},
            "error: outputs has the keys score; wanted one of calls",
        ),
        ({"outputs": {"calls": "f"}, "reference_outputs": ["f"]}, "error: calls are str"),
        ({"outputs": [{"args": {}}], "reference_outputs": ["f"]}, "error: no tool name"),
        ({"outputs": [["f"]], "reference_outputs": ["f"]}, "error: "),
        ({"row": {"x": 1}}, "error: <data>: not a supported evaluation file"),
        ({"row": 3}, "error: "),
        ({}, "error: "),
        ({"outputs": [{"role": "user", "content": "q"}, {"role": 3}], "reference_outputs": ["f"]}, "error: "),
    ],
)
def test_what_is_not_scored_is_none_with_the_reason(given: dict[str, Any], why: str) -> None:
    result = as_evaluator("trajectory_f1")(**given)
    assert result["score"] is None
    assert result["comment"].startswith(why)


def test_the_shapes_of_what_comes_back() -> None:
    sides: dict[str, Any] = {"outputs": ["f"], "reference_outputs": ["f"]}
    assert set(as_evaluator("trajectory_f1")(**sides)) == {"key", "score", "comment"}
    assert set(as_evaluator("trajectory_f1", returns="explanation")(**sides)) == {"score", "explanation"}
    assert as_evaluator("trajectory_f1", returns="named")(sides)["trajectory_f1"] == 1.0
    assert as_evaluator("trajectory_f1").__name__ == "trajectory_f1"


def test_what_a_criterion_may_be() -> None:
    sides: dict[str, Any] = {"outputs": [("f", {"x": 1})], "reference_outputs": [("f", {})]}
    metric = METRICS["trajectory_f1"]()
    for same in ("trajectory_f1", metric, Criterion("f1", metric, 0.5), {"f1": {"metric": "trajectory_f1"}}):
        assert as_evaluator(same)(**sides)["score"] == 0.0
    lenient = as_evaluator({"names": {"metric": "trajectory_f1", "match": "ignore"}})
    assert lenient(**sides) == {"key": "names", "score": 1.0, "comment": lenient(**sides)["comment"]}


def test_a_judge_is_asked() -> None:
    verdict = json.dumps({"rubric_id": "harmless", "reason": "so", "verdict": "yes"})
    evaluator = as_evaluator("safety", judge=judge_from(lambda prompt: verdict, name="yes"))
    assert evaluator(inputs="hi", outputs="Hello!")["score"] == 1.0
    assert as_evaluator("safety")(inputs="hi", outputs="Hello!")["comment"].startswith("error: needs a judge")


@pytest.mark.parametrize("wrong", ["trajectory_f9", {}, {"trajectory_f1": 1, "trajectory_recall": 1}, 3])
def test_it_is_one_criterion(wrong: Any) -> None:
    with pytest.raises(ConfigError):
        as_evaluator(wrong)
    with pytest.raises(ConfigError, match="wanted 'key'"):
        as_evaluator("trajectory_f1", returns="list")  # type: ignore[arg-type]


# --- agents-cli -------------------------------------------------------------------------------------------------------


def trace(made: list[str], wanted: list[str] | None, **more: Any) -> dict[str, Any]:
    calls = [
        {"author": "agent", "content": {"role": "model", "parts": [{"function_call": {"name": name, "args": {}}}]}}
        for name in made
    ]
    asked = {"author": "user", "content": {"role": "user", "parts": [{"text": "q"}]}}
    reference = {} if wanted is None else {"reference_trajectory": [{"tool_name": n, "tool_input": {}} for n in wanted]}
    return {
        "eval_case_id": "a",
        "agent_data": {"turns": [{"turn_index": 0, "events": [asked, *calls]}]},
        **reference,
        **more,
    }


def test_agents_cli_gets_the_score_and_all_reasons() -> None:
    result = agents_cli.evaluate(trace(["search", "book"], ["search"]))
    assert result["score"] == pytest.approx(TWO_THIRDS)
    for said in ("trajectory_f1 0.6667: ", "trajectory_exact_match 0: ", "trajectory_in_order_match 1: "):
        assert said in result["explanation"]


def test_agents_cli_with_criteria_of_ones_own() -> None:
    evaluate = agents_cli.evaluator({"response_contains": None})
    content = {"role": "model", "parts": [{"text": "It is 20 C."}]}
    row = trace([], None, response=content, reference={"response": {"role": "model", "parts": [{"text": "20 c"}]}})
    assert evaluate(row)["score"] == 1.0


def test_agents_cli_none_where_nothing_can_be_scored() -> None:
    assert agents_cli.evaluate(trace(["search"], None)) == {
        "score": None,
        "explanation": "skipped: no reference: no expected calls",
    }
    assert agents_cli.evaluate({"eval_case_id": "a", "agent_data": {"turns": 3}})["score"] is None
    assert agents_cli.evaluate(3)["explanation"].startswith("error: ")


def test_agents_cli_takes_vertex_objects() -> None:
    class EvalCase:
        def model_dump(self, *, mode: str, exclude_none: bool) -> dict[str, Any]:
            return trace(["search"], ["search"])

    assert agents_cli.evaluate(EvalCase())["score"] == 1.0
