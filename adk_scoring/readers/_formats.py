"""The formats: how each is told apart, which module reads it, and an example of it.

Modules are loaded when they are first asked about a document.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..model import Case
from ._reading import Reading

__all__ = ["READERS", "Reader"]


@dataclass(frozen=True, slots=True)
class Reader:
    """One format.

    Attributes:
        module: its module in this package, loaded on first use.
        about: what it is, in a line.
        keys: keys that tell it apart, for messages.
        example: a small document in it, as text.
        together: records of it that come line by line belong together and are given as one list.
    """

    module: str
    about: str
    keys: tuple[str, ...]
    example: str
    together: bool = False

    def recognises(self, document: Any) -> bool:
        """Whether a parsed document is of this format."""
        return bool(self._loaded().recognises(document))

    def cases(self, document: Any, reading: Reading, where: str) -> Iterator[Case]:
        """The cases of a document of this format."""
        found: Iterator[Case] = self._loaded().cases(document, reading, where)
        return found

    def _loaded(self) -> Any:
        return importlib.import_module(f"{__package__}.{self.module}")


# The first that recognises a document reads it.
READERS: dict[str, Reader] = {
    "adk_rust": Reader(
        "adk_rust",
        "adk-rust *.test.json, eval sets, optimizer cases, scripted runs",
        ("test_files", "scripted_model"),
        '{"eval_set_id": "weather", "name": "Weather", "eval_cases": [{"eval_id": "paris", "tags": ["smoke"], '
        '"conversation": [{"invocation_id": "1", "user_content": {"parts": [{"text": "Weather in Paris?"}]}, '
        '"final_response": {"parts": [{"text": "It is 20C."}], "role": "model"}, "intermediate_data": '
        '{"tool_uses": [{"name": "get_weather", "args": {"city": "Paris"}, "expected_response": {"c": 20}}]}}]}]}',
    ),
    "adk_evalset": Reader(
        "adk_evalset",
        "ADK eval set or eval case: *.evalset.json, *.test.json",
        ("eval_cases", "conversation"),
        '{"eval_set_id": "weather", "eval_cases": [{"eval_id": "paris", "conversation": [{'
        '"user_content": {"parts": [{"text": "Weather in Paris?"}]}, '
        '"final_response": {"parts": [{"text": "It is 20C."}]}, '
        '"intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": "Paris"}}]}}]}]}',
    ),
    "agents_cli": Reader(
        "agents_cli",
        "agents-cli datasets, traces and grade results",
        ("eval_cases", "agent_data"),
        '{"eval_cases": [{"eval_case_id": "paris", "prompt": {"parts": [{"text": "Weather in Paris?"}]}, '
        '"responses": [{"response": {"parts": [{"text": "It is 20C."}]}}], '
        '"reference_trajectory": [{"tool_name": "get_weather", "tool_input": {"city": "Paris"}}]}]}',
    ),
    "adk_result": Reader(
        "adk_result",
        "ADK evaluation result: *.evalset_result.json",
        ("eval_case_results",),
        '{"eval_set_id": "weather", "eval_case_results": [{"eval_id": "paris", "final_eval_status": 1, '
        '"eval_metric_result_per_invocation": [{"actual_invocation": {'
        '"user_content": {"parts": [{"text": "Weather in Paris?"}]}, '
        '"final_response": {"parts": [{"text": "It is 20C."}]}}, "expected_invocation": null}]}]}',
    ),
    "adk_events": Reader(
        "adk_events",
        "ADK session export, /run array or /run_sse stream",
        ("events",),
        '{"id": "s1", "appName": "weather", "userId": "u", "events": ['
        '{"invocationId": "e-1", "author": "user", "content": {"parts": [{"text": "Weather in Paris?"}]}}, '
        '{"invocationId": "e-1", "author": "root", "content": {"parts": [{"text": "It is 20C."}]}}]}',
    ),
    "adk_legacy": Reader(
        "adk_legacy",
        "ADK's oldest test files: lists of query, expected_tool_use, reference",
        ("query", "expected_tool_use"),
        '[{"query": "Weather in Paris?", "expected_tool_use": [{"tool_name": "get_weather", '
        '"tool_input": {"city": "Paris"}}], "reference": "It is 20C."}]',
    ),
    "otel": Reader(
        "otel",
        "OpenTelemetry traces: OTLP, Jaeger or Tempo JSON, or lists of spans",
        ("resourceSpans", "batches", "spans"),
        '{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t1", "spanId": "s1", "name": "invoke_agent root", '
        '"attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}}, '
        '{"key": "gen_ai.input.messages", "value": {"stringValue": "[{\\"role\\": \\"user\\", \\"parts\\": '
        '[{\\"type\\": \\"text\\", \\"content\\": \\"Weather in Paris?\\"}]}]"}}, '
        '{"key": "gen_ai.output.messages", "value": {"stringValue": "[{\\"role\\": \\"assistant\\", \\"parts\\": '
        '[{\\"type\\": \\"text\\", \\"content\\": \\"It is 20C.\\"}]}]"}}]}]}]}]}',
        together=True,
    ),
    "langfuse": Reader(
        "langfuse",
        "Langfuse traces with their observations",
        ("observations",),
        '{"trace": {"id": "t1", "input": "Weather in Paris?", "output": "It is 20C."}, "observations": [{"id": "o1", '
        '"traceId": "t1", "type": "TOOL", "name": "get_weather", "startTime": "2026-01-05T10:00:00Z", '
        '"input": {"city": "Paris"}, "output": "20C"}]}',
        together=True,
    ),
    "langsmith": Reader(
        "langsmith",
        "LangSmith runs, nested or flat",
        ("run_type", "child_runs"),
        '{"id": "r1", "run_type": "chain", "name": "agent", "inputs": {"input": "Weather in Paris?"}, '
        '"outputs": {"output": "It is 20C."}, "child_runs": [{"id": "r2", "run_type": "tool", "name": "get_weather", '
        '"inputs": {"city": "Paris"}, "outputs": {"output": "20C"}}]}',
        together=True,
    ),
    "bigquery": Reader(
        "bigquery",
        "rows of ADK's BigQuery Agent Analytics table agent_events",
        ("event_type",),
        '[{"timestamp": "2026-01-05T10:00:00Z", "event_id": "e1", "event_type": "USER_MESSAGE_RECEIVED", '
        '"session_id": "s1", "invocation_id": "i1", "content": {"text_summary": "Weather in Paris?"}}, '
        '{"timestamp": "2026-01-05T10:00:01Z", "event_id": "e2", "event_type": "TOOL_STARTING", "session_id": "s1", '
        '"invocation_id": "i1", "content": {"tool": "get_weather", "args": {"city": "Paris"}}}, '
        '{"timestamp": "2026-01-05T10:00:02Z", "event_id": "e3", "event_type": "AGENT_RESPONSE", "session_id": "s1", '
        '"invocation_id": "i1", "content": {"response": "text: \'It is 20C.\'"}}]',
    ),
    "inspect_log": Reader(
        "inspect_log",
        "inspect-ai logs: .json and zipped .eval",
        ("samples",),
        '{"version": 2, "status": "success", "eval": {"task": "weather"}, "samples": [{"id": 1, "epoch": 1, '
        '"target": "20", "messages": [{"role": "user", "content": "Weather in Paris?"}, '
        '{"role": "assistant", "content": "It is 20C."}], "scores": {"includes": {"value": "C"}}}]}',
    ),
    "atif": Reader(
        "atif",
        "ATIF trajectories (Harbor), v1.0 to v1.8",
        ("schema_version", "steps"),
        '{"schema_version": "ATIF-v1.6", "session_id": "s1", "agent": {"name": "a", "version": "1"}, "steps": ['
        '{"step_id": 1, "source": "user", "message": "Weather in Paris?"}, '
        '{"step_id": 2, "source": "agent", "message": "It is 20C."}]}',
    ),
    "tau": Reader(
        "tau",
        "tau-bench and tau2-bench results and tasks",
        ("traj", "simulations"),
        '[{"task_id": 0, "trial": 0, "reward": 1.0, "info": {"task": {"actions": []}}, "traj": ['
        '{"role": "user", "content": "Weather in Paris?"}, {"role": "assistant", "content": "It is 20C."}]}]',
    ),
    "bfcl": Reader(
        "bfcl",
        "Berkeley Function-Calling Leaderboard: answers, results, scores, questions",
        ("ground_truth",),
        '{"id": "simple_0", "question": [[{"role": "user", "content": "Weather in Paris?"}]], "function": [], '
        '"ground_truth": [{"get_weather": {"city": ["Paris"]}}], "result": "It is 20C."}',
    ),
    "rows": Reader(
        "rows",
        "rows of deepeval, ragas, mlflow and Azure AI Evaluation",
        ("actual_output", "user_input", "expectations", "query"),
        '{"input": "Weather in Paris?", "actual_output": "It is 20C.", "tools_called": [{"name": "get_weather", '
        '"input_parameters": {"city": "Paris"}}], "expected_tools": [{"name": "get_weather"}]}',
    ),
    "adeval": Reader(
        "adeval",
        "ADEval experiments and CSV tables",
        ("testCases", "expectedTools"),
        '{"id": "exp_1", "name": "weather", "testCases": [{"appName": "weather", "q": "Weather in Paris?", '
        '"expectedTools": "get_weather(city=\\"Paris\\")", "actualTools": "None", "actualAnswer": "It is 20C."}]}',
    ),
    "vertex_rows": Reader(
        "vertex_rows",
        "rows or columns of a Vertex evaluation dataset or result",
        ("predicted_trajectory", "reference_trajectory"),
        '[{"prompt": "Weather in Paris?", "response": "It is 20C.", "predicted_trajectory": [], '
        '"reference_trajectory": [{"tool_name": "get_weather", "tool_input": {"city": "Paris"}}]}]',
    ),
    "messages": Reader(
        "messages",
        "chat messages of OpenAI, LangChain, Anthropic, Bedrock, Gemini",
        ("messages", "role"),
        '[{"role": "user", "content": "Weather in Paris?"}, {"role": "assistant", "content": null, "tool_calls": [{'
        '"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}]}, '
        '{"role": "tool", "tool_call_id": "c1", "content": "20"}, {"role": "assistant", "content": "It is 20C."}]',
    ),
    "records": Reader(
        "records",
        "this library's own JSON Lines: one case a line",
        ("turns",),
        '{"case_id": "paris", "turns": [{"user": "Weather in Paris?", "calls": ["get_weather"], '
        '"response": "It is 20C.", "expected_calls": [{"name": "get_weather", "args": {}}]}]}',
    ),
}
