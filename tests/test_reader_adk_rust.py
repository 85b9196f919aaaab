"""adk-rust files: test files and sets, optimizer cases, scripted runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adk_scoring.errors import ReadError, ReadWarning
from adk_scoring.model import Case, Invocation, Session, Tool, ToolCall, Turn
from adk_scoring.readers import READERS, read

from .corpus import corpus

DATA = Path(__file__).parent / "data/adk_rust"


def wanted(case: Case, turn: int = 0) -> Invocation:
    (side,) = case.turns[turn].expected
    return side


def test_a_test_file() -> None:
    path = DATA / "weather.test.json"
    paris, flat = read(path)
    assert (paris.case_id, paris.set_id, paris.set_name) == ("paris", "weather", "Weather")
    assert (paris.tags, paris.session) == (("smoke", "city"), Session("weather", "u", {"unit": "C"}))
    assert paris.metadata == {"generated": True, "source": "log 7", "description": "One city."}
    assert paris.source == (str(path), "eval_cases[0]")
    assert wanted(paris) == Invocation(
        "Weather in Paris?",
        (
            ToolCall("get_weather", {"city": "Paris"}, response={"celsius": 20}),
            ToolCall("log", {}),
            ToolCall("done", {}),
        ),
        "20C.",
        invocation_id="i-1",
        intermediate_responses=(("model", "Looking."),),
    )
    assert wanted(paris, 1) == Invocation("Thanks", (), invocation_id="i-2")
    assert wanted(paris, 2) == Invocation("Bye", None, invocation_id="i-3")
    assert wanted(flat) == Invocation("Hi", None, "Hello!", invocation_id="i-1")


def test_a_set_reads_its_files_and_no_others() -> None:
    own, paris, flat, *errors = read(DATA / "all.evalset.json")
    assert (own.case_id, own.set_id) == ("own", "all")
    assert (paris.turns, flat.turns) == tuple(case.turns for case in read(DATA / "weather.test.json"))
    assert paris.source[1] == "test_files[0] (weather.test.json).eval_cases[0]"
    assert [case.case_id for case in errors] == ["missing.test.json", "../records/cases.jsonl", "5"]
    assert [case.error for case in errors] == [
        "test_files[1]: 'missing.test.json' cannot be read: No such file or directory",
        "test_files[2]: found '../records/cases.jsonl', wanted a path below the folder of this file",
        "test_files[3]: found 5, wanted a path below the folder of this file",
    ]


@pytest.mark.parametrize("name", ["/etc/hostname", "a/../../b.json", "C:\\b.json", "c:b.json", ""])
def test_a_path_that_leads_out_is_refused(name: str) -> None:
    (case,) = read({"test_files": [name]})
    assert "wanted a path below the folder of this file" in str(case.error)


def test_a_file_that_is_broken_is_one_error_case(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"eval_cases": [')
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "all.json").write_text(json.dumps({"test_files": ["bad.json", "list.json", "nul\0.json"]}))
    bad, other, nul = read(tmp_path / "all.json")
    assert str(bad.error).startswith("test_files[0]: 'bad.json': line 1 column 16: not JSON: EOF")
    assert str(other.error).startswith("test_files[1]: found a list, wanted an object")
    assert "null byte" in str(nul.error)


@pytest.mark.parametrize(
    "case",
    [
        {"tags": []},
        {"conversation": [{"user_content": {"parts": [{"name": "f", "args": {}}]}}]},
        {"conversation": [{"final_response": {"parts": [{"name": "f", "response": 1}]}}]},
        {"conversation": [{"intermediate_data": {"tool_uses": [{"name": "f", "expected_response": 1}]}}]},
        {"conversation": [{"intermediate_data": {"intermediate_responses": [{"parts": []}]}}]},
    ],
)
def test_what_tells_it_from_an_eval_set_of_adk(case: dict[str, Any]) -> None:
    document = {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [], **case}]}
    assert READERS["adk_rust"].recognises(document)
    plain = {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}]}
    assert not READERS["adk_rust"].recognises({"eval_set_id": "s", "eval_cases": [plain]})


def test_an_optimizer_case() -> None:
    (case,) = read(DATA / "optimizer.json")
    side = Invocation("What is a slice?", None, "It says that a slice borrows.")
    assert (case.case_id, case.turns, case.tags) == ("optimizer", (Turn(None, (side,)),), ("rust", "beginner"))
    first, second = read(
        [{"input": "a", "expected": "b"}, {"input": "c", "expected": "d", "id": "x", "metadata": {"n": 1}}]
    )
    assert (first.case_id, second.case_id, second.metadata) == ("[0]", "x", {"n": 1})


def test_a_scripted_run() -> None:
    with pytest.warns(ReadWarning, match="'assertions'"):
        (case,) = read(DATA / "scripted.json")
    assert case.case_id == "Deploy twice"
    assert wanted(case) == Invocation(
        "Deploy",
        (
            ToolCall("deploy", {"to": "prod"}, call_id="c-1", step=0, response="v2 is up"),
            ToolCall("web_search", {}, call_id="c-2", step=0),
            ToolCall("deploy", {"to": "test"}, call_id="c-3", step=1),
        ),
        "Deployed.",
    )
    assert wanted(case, 1) == Invocation("Thanks", (), "You are welcome.")
    assert case.tools == (
        Tool("deploy", "Deploys.", {"type": "object"}, agent="deployer"),
        Tool("web_search", agent="deployer"),
    )
    assert case.instructions == "Deploy when asked."


def test_a_script_that_ends_early() -> None:
    message = {"type": "user.message", "content": "Hi"}
    (case,) = read({"scripted_model": {"turns": []}, "scenario": [message], "agent_def": None})
    assert (case.turns, case.tools) == ((Turn(None, (Invocation("Hi", (), None),)),), None)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (5, "eval_cases[1]: found a number, wanted an object"),
        ({"conversation": 5}, "eval_cases[1].conversation: found a number, wanted a list"),
        ({"conversation": [5]}, "eval_cases[1].conversation[0]: found a number, wanted an object"),
        ({"tags": 5, "conversation": [{"user_content": "x"}]}, "eval_cases[1].tags: found a number, wanted a list"),
        (
            {"conversation": [{"user_content": {"parts": 5}}]},
            "eval_cases[1].conversation[0].parts: found a number, wanted a list",
        ),
        (
            {"conversation": [{"user_content": "x", "intermediate_data": {"tool_uses": 5}}]},
            "eval_cases[1].conversation[0].intermediate_data.tool_uses: found a number, wanted a list",
        ),
    ],
)
def test_one_broken_case_leaves_the_others(broken: Any, says: str) -> None:
    good = {"eval_id": "good", "tags": [], "conversation": [{"user_content": "Hi"}]}
    first, error, last = read({"eval_cases": [good, broken, {**good, "eval_id": "last"}]})
    assert (first.error, last.error) == (None, None)
    assert str(error.error).startswith(says)


def test_a_conversation_with_no_turns() -> None:
    with pytest.warns(ReadWarning, match="no turns"):
        (case,) = read({"eval_cases": [{"tags": ["t"], "conversation": []}]})
    assert (case.case_id, case.turns) == ("eval_cases[0]", ())


@pytest.mark.parametrize(
    "document",
    [
        {"scripted_model": {"turns": [5]}, "scenario": [{"type": "user.message"}]},
        {"scripted_model": {"turns": []}, "scenario": [5]},
        {"scripted_model": {}, "scenario": [], "agent_def": {"tools": [5]}},
    ],
)
def test_a_broken_script_is_an_error_case(document: Any) -> None:
    (case,) = read(document)
    assert "found a number, wanted an object" in str(case.error)


def test_public_files_agree_with_a_direct_count() -> None:
    counts = {"scripted": [0, 0, 0], "optimizer": [0, 0, 0]}
    refused = []
    for path in sorted(corpus("adk_rust").glob("*.json")):
        document = json.loads(path.read_text())
        if "requests" in document:
            with pytest.raises(ReadError, match="found keys"):
                read(path)
            refused.append(path.stem)
            continue
        if "scenario" not in document:
            (case,) = read(path)
            assert wanted(case) == Invocation(document["input"], None, document["expected"])
            assert case.tags == tuple(document["tags"])
            seen = counts["optimizer"]
        else:
            with pytest.warns(ReadWarning, match="'assertions'"):
                (case,) = read(path)
            texts = [e["content"][0]["text"] for e in document["scenario"] if e["type"] == "user.message"]
            script = document["scripted_model"]["turns"]
            assert [wanted(case, i).user_text for i in range(len(case.turns))] == texts
            assert [wanted(case, i).response for i in range(len(texts))] == [s["text"] for s in script if s["text"]]
            assert sum(len(wanted(case, i).tool_calls or ()) for i in range(len(texts))) == sum(
                len(step["tool_calls"]) for step in script
            )
            seen = counts["scripted"]
        assert case.error is None
        seen[0] += 1
        seen[1] += len(case.turns)
        seen[2] += sum(len(turn.expected[0].tool_calls or ()) for turn in case.turns)
    assert counts == {"scripted": [6, 8, 2], "optimizer": [3, 3, 0]}
    assert refused == ["zavora-ai+adk-rust+9"]
