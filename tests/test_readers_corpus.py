"""Public files of ADK users: each is read or refused with a good message, and nothing of it is lost.

The counts are made a second time straight from the JSON, in the simplest way.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from adk_scoring.errors import ReadError
from adk_scoring.model import Case, Invocation
from adk_scoring.readers import read

from .corpus import corpus

FOLDERS = ("adk_evalset", "adk_evalcase_bare", "adk_evalset_result", "adk_legacy_test", "adk_session")
EMPTY = {"google+adk-python+11", "minkhant1996+vertexai-agent-evaluation+3", "minkhant1996+vertexai-agent-evaluation+4"}


def files(name: str) -> list[Path]:
    return sorted(corpus(name).glob("*.json"))


def quietly(path: Path) -> list[Case]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read(path)


def parsed(path: Path) -> Any:
    document = json.loads(path.read_text(encoding="utf-8"))
    return json.loads(document) if isinstance(document, str) else document


def either(record: Any, *keys: str) -> Any:
    return next((record[key] for key in keys if isinstance(record, dict) and record.get(key) is not None), None)


def calls_in(content: Any) -> int:
    return sum(either(part, "function_call", "functionCall") is not None for part in either(content, "parts") or [])


def calls_of_turn(turn: Any) -> int | None:
    """How many calls a turn of an EvalSet or result names, ``None`` if it says nothing about calls."""
    data = either(turn, "intermediate_data", "intermediateData")
    if data is None:
        listed = either(turn, "tools", "expected_tool_use")
        return None if listed is None else len(listed)
    events = either(data, "invocation_events", "invocationEvents")
    if events is not None:
        return sum(calls_in(event["content"]) for event in events if event.get("content"))
    return len(either(data, "tool_uses", "toolUses") or []) + calls_in(data)


def text_of_content(content: Any) -> str | None:
    """The text of a content in the common shapes; the odd ones are tested elsewhere."""
    if content is None or isinstance(content, str):
        return content
    parts = [p["text"] for p in content.get("parts") or [] if isinstance(p.get("text"), str) and not p.get("thought")]
    return "".join(parts) if parts else content.get("content")


def counts(side: Invocation) -> tuple[int | None, str]:
    return (None if side.tool_calls is None else len(side.tool_calls)), side.user_text


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_is_read_or_holds_no_cases(folder: str) -> None:
    refused = set()
    for path in files(folder):
        try:
            cases = quietly(path)
        except ReadError as error:
            assert str(error) == f"{path}: holds no cases"  # noqa: PT017
            refused.add(path.stem)
        else:
            assert cases
            assert [case.error for case in cases] == [None] * len(cases), path.name
            assert all(case.source[0] == str(path) for case in cases)
    assert refused == (EMPTY if folder == "adk_evalset" else set())


@pytest.mark.parametrize("folder", ["adk_evalset", "adk_evalcase_bare"])
def test_eval_sets_agree_with_a_direct_count(folder: str) -> None:
    cases_seen = calls_seen = 0
    for path in files(folder):
        if path.stem in EMPTY:
            continue
        document = parsed(path)
        wanted = either(document, "eval_cases", "evalCases") or [document]
        cases = quietly(path)
        assert len(cases) == len(wanted), path.name
        for case, record in zip(cases, wanted, strict=True):
            turns = record.get("conversation") or []
            assert len(case.turns) == len(turns), (path.name, case.case_id)
            for turn, source in zip(case.turns, turns, strict=True):
                (side,) = turn.expected
                user = text_of_content(either(source, "user_content", "userContent", "user")) or ""
                assert counts(side) == (calls_of_turn(source), user), (path.name, case.case_id)
                final = either(source, "final_response", "finalResponse")
                if final is not None and not any(isinstance(p.get("text"), dict) for p in final.get("parts") or []):
                    assert side.response == text_of_content(final), (path.name, case.case_id)
                calls_seen += len(side.tool_calls or ())
        cases_seen += len(cases)
    assert (cases_seen, calls_seen) == {"adk_evalset": (257, 263), "adk_evalcase_bare": (4, 0)}[folder]


def test_results_agree_with_a_direct_count() -> None:
    cases_seen = turns_seen = calls_seen = scores_seen = 0
    for path in files("adk_evalset_result"):
        wanted = either(parsed(path), "eval_case_results", "evalCaseResults")
        cases = quietly(path)
        assert len(cases) == len(wanted), path.name
        for case, record in zip(cases, wanted, strict=True):
            assert case.case_id == either(record, "eval_id", "evalId")
            pairs = either(record, "eval_metric_result_per_invocation", "evalMetricResultPerInvocation")
            assert len(case.turns) == len(pairs), path.name
            for turn, pair in zip(case.turns, pairs, strict=True):
                run = either(pair, "actual_invocation", "actualInvocation")
                assert turn.actual is not None
                user = text_of_content(either(run, "user_content", "userContent"))
                assert counts(turn.actual) == (calls_of_turn(run) or 0, user), path.name
                reference = either(pair, "expected_invocation", "expectedInvocation")
                assert len(turn.expected) == (reference is not None)
                if reference is not None:
                    assert counts(turn.expected[0])[0] == calls_of_turn(reference)
                calls_seen += len(turn.actual.tool_calls or ())
            turns_seen += len(pairs)
            lists = [either(record, "overall_eval_metric_results", "overallEvalMetricResults") or []]
            lists += [either(pair, "eval_metric_results", "evalMetricResults") or [] for pair in pairs]
            whole = [score for score in case.recorded if score.rubric_id is None]
            assert len(whole) == sum(map(len, lists)), path.name
            scores_seen += len(whole)
        cases_seen += len(cases)
    assert (cases_seen, turns_seen, calls_seen, scores_seen) == (24, 46, 81, 140)


def test_legacy_tests_agree_with_a_direct_count() -> None:
    turns_seen = calls_seen = 0
    for path in files("adk_legacy_test"):
        document = parsed(path)
        wanted = [record["data"] for record in document] if "data" in document[0] else [document]
        cases = quietly(path)
        assert [len(case.turns) for case in cases] == [len(turns) for turns in wanted]
        for case, turns in zip(cases, wanted, strict=True):
            for turn, source in zip(case.turns, turns, strict=True):
                (side,) = turn.expected
                listed = source.get("expected_tool_use")
                assert counts(side) == (None if listed is None else len(listed), source["query"])
                assert side.response == source["reference"]
                calls_seen += len(side.tool_calls or ())
        turns_seen += sum(map(len, wanted))
    assert (turns_seen, calls_seen) == (40, 34)


def test_sessions_agree_with_a_direct_count() -> None:
    turns_seen = calls_seen = 0
    for path in files("adk_session"):
        document = parsed(path)
        (case,) = quietly(path)
        spoken: dict[str, str] = {}
        for event in document["events"]:
            if event["author"] == "user" and (text := text_of_content(event["content"])):
                spoken[either(event, "invocation_id", "invocationId")] = text
        turns = [turn.actual for turn in case.turns if turn.actual]
        assert [turn.user_text for turn in turns] == list(spoken.values()), path.name
        calls = sum(calls_in(event.get("content")) for event in document["events"])
        assert sum(len(turn.tool_calls or ()) for turn in turns) == calls
        answers = sum(call.response is not None for turn in turns for call in turn.tool_calls or ())
        assert answers == calls
        assert all(turn.response for turn in turns)
        turns_seen += len(turns)
        calls_seen += calls
    assert (turns_seen, calls_seen) == (17, 30)


@pytest.mark.parametrize("folder", ["adk_odd_evalset", "adk_eval_config"])
def test_other_schemas_are_refused_by_their_keys(folder: str) -> None:
    for path in files(folder):
        with pytest.raises(ReadError) as caught:
            quietly(path)
        document = parsed(path)
        message = str(caught.value)
        assert message.startswith(f"{path}: not a supported evaluation file: found keys [{next(iter(document))}")
        assert ("criteria config" in message) == (folder == "adk_eval_config"), message
        assert "adk_evalset (eval_cases)" in message


def test_a_whole_folder() -> None:
    with pytest.warns() as caught:
        cases = read(corpus("adk_evalset"))
    assert len(cases) == 257
    assert [case for case in cases if case.error] == []
    assert sum("files hold no cases" in str(warning.message) for warning in caught) == 1
