"""Writers and `promote`: what is written is read back, and other tools find what they look for."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adk_scoring import evaluate, pair, read
from adk_scoring.errors import ReadError, ReadWarning, ScoringError
from adk_scoring.model import Case, Invocation, RecordedScore, Rubric, Session, Tool, ToolCall, Turn, Usage
from adk_scoring.promotion import promote
from adk_scoring.readers.records import case_to_record
from adk_scoring.writers import write_agents_cli, write_evalset, write_jsonl

from .corpus import corpus

Writer = Callable[[Iterable[Case], str | PathLike[str]], int]

words = st.text(st.characters(codec=None), max_size=6)
names = st.sampled_from(["find", "book", "", "find "]) | words
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
# Keys that no format knows, and some that mean something in one of them.
free_keys = st.sampled_from(["mood", "name", "$float", "x", "session_input", "eval_id", "agent_data", "importance"])
objects = st.dictionaries(words | free_keys, json_values, max_size=2)
maybe = st.none() | words
calls = st.builds(
    ToolCall,
    names,
    st.none() | objects,
    call_id=maybe,
    author=maybe | st.just("user"),
    step=st.none() | st.integers(0, 2),
    response=json_values | st.just({"error": "no"}),
    error=maybe,
    args_error=maybe,
    optional=st.booleans(),
    group=maybe,
)
rubrics = st.builds(
    Rubric,
    words,
    words,
    st.sampled_from([1.0, -2.5]),
    st.none() | st.just((1, 2, 3)),
    type=maybe,
    group=maybe,
)
few_rubrics = st.lists(rubrics, max_size=2).map(tuple)
counts = st.none() | st.integers(0, 9)
usages = st.builds(Usage, input_tokens=counts, model_calls=counts)
sides = st.builds(
    Invocation,
    words,
    st.none() | st.lists(calls, max_size=3).map(tuple),
    maybe,
    invocation_id=words,
    intermediate_responses=st.lists(st.tuples(words | st.just("user"), words), max_size=2).map(tuple),
    usage=st.none() | usages,
    duration=st.none() | st.floats(0, 9),
    rubrics=few_rubrics,
    error=maybe,
    metadata=objects,
)
expectations = st.lists(sides, min_size=1, max_size=2).map(tuple)


def cases_of(turns: st.SearchStrategy[Turn]) -> st.SearchStrategy[list[Case]]:
    case = st.builds(
        Case,
        st.text("abc", min_size=1, max_size=3),
        st.lists(turns, max_size=3).map(tuple),
        set_id=st.just("s"),
        set_name=st.sampled_from(["", "S"]),
        trial=st.integers(0, 2),
        session=st.none() | st.builds(Session, words, words, objects),
        rubrics=few_rubrics,
        tags=st.lists(words, max_size=2).map(tuple),
        recorded=st.lists(
            st.builds(RecordedScore, words, st.none() | st.floats(0, 1), parameters=objects), max_size=1
        ).map(tuple),
        tools=st.none() | st.lists(st.builds(Tool, names, words, st.none() | objects, objects), max_size=2).map(tuple),
        instructions=words,
        context=words,
        error=maybe,
        metadata=objects,
    )
    # What a set says once cannot differ between its cases.
    return st.lists(case, min_size=1, max_size=2, unique_by=lambda each: each.case_id).map(
        lambda found: [replace(each, set_name=found[0].set_name) for each in found]
    )


def written_and_read(write: Writer, cases: list[Case]) -> list[Case]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadWarning)
        path = Path(folder) / "some.json"
        assert write(cases, path) == len(cases)
        return [replace(case, source=("", "")) for case in read(path)]


slow = settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@slow
@given(cases_of(st.builds(Turn, st.none(), expectations)))
def test_an_eval_set_comes_back(cases: list[Case]) -> None:
    assert as_text(written_and_read(write_evalset, cases)) == as_text(cases)


@slow
@given(cases_of(st.builds(Turn, st.none() | sides, expectations) | st.builds(Turn, sides)))
def test_a_dataset_comes_back(cases: list[Case]) -> None:
    assert as_text(written_and_read(write_agents_cli, cases)) == as_text(cases)


def as_text(cases: list[Case]) -> str:
    """A text that is equal for equal cases, where NaN equals itself and true is not 1."""
    return json.dumps([case_to_record(case) for case in cases], sort_keys=True)


def wanted(text: str, *calls: ToolCall, **rest: Any) -> Turn:
    return Turn(None, (Invocation(text, calls, **rest),))


def json_of(path: Path) -> Any:
    return json.loads(path.read_bytes())


class TestEvalSet:
    def test_what_adk_finds(self, tmp_path: Path) -> None:
        path = tmp_path / "home.evalset.json"
        call = ToolCall("off", {"lamp": 1}, call_id="c-1", response={"ok": True}, optional=True)
        other = Invocation("Lamp off", ())
        case = Case(
            "lamp",
            (Turn(None, (Invocation("Lamp off", (call,), "Off.", intermediate_responses=(("a", "Hm."),)), other)),),
            set_name="Home",
            session=Session("home", "u", {"lamp": "on"}),
            rubrics=(Rubric("r", "It is polite.", 2.0, type="TONE"),),
            tags=("smoke",),
            metadata={"final_session_state": {"lamp": "off"}, "session_input": {"session_id": "s-1"}},
        )
        assert write_evalset([case], path) == 1
        content = json_of(path)
        assert (content["eval_set_id"], content["name"]) == ("home", "Home")
        (written,) = content["eval_cases"]
        assert written == {
            "eval_id": "lamp",
            "conversation": [
                {
                    "invocation_id": "",
                    "user_content": {"role": "user", "parts": [{"text": "Lamp off"}]},
                    "final_response": {"role": "model", "parts": [{"text": "Off."}]},
                    "intermediate_data": {
                        "tool_uses": [{"id": "c-1", "name": "off", "args": {"lamp": 1}}],
                        "tool_responses": [{"id": "c-1", "name": "off", "response": {"ok": True}}],
                        "intermediate_responses": [["a", [{"text": "Hm."}]]],
                    },
                }
            ],
            "session_input": {"session_id": "s-1", "app_name": "home", "user_id": "u", "state": {"lamp": "on"}},
            "rubrics": [{"rubric_id": "r", "rubric_content": {"text_property": "It is polite."}, "type": "TONE"}],
            "final_session_state": {"lamp": "off"},
            "adk_scoring": {
                "rubrics": [{"rubric_id": "r", "text": "It is polite.", "weight": 2.0, "type": "TONE"}],
                "tags": ["smoke"],
                "turns": [
                    {
                        "expected": {"calls": [{"optional": True}]},
                        "alternatives": [{"user": "Lamp off", "calls": []}],
                    }
                ],
            },
        }
        assert [replace(each, source=("", "")) for each in read(path)] == [replace(case, set_id="home")]

    def test_a_plain_case_needs_no_extra_key(self, tmp_path: Path) -> None:
        write_evalset([Case("a", (wanted("Hi", ToolCall("f")),))], tmp_path / "a.json")
        assert "adk_scoring" not in json_of(tmp_path / "a.json")["eval_cases"][0]

    def test_a_run_is_not_written_and_said_so(self, tmp_path: Path) -> None:
        run = Invocation("Hi", (ToolCall("f"),), "Hello")
        cases = [Case("a", (Turn(run),)), Case("b", (Turn(run, (run,)),)), Case("c", (wanted("Hi"),))]
        with pytest.warns(ReadWarning, match=r"a.json: the recorded runs of 2 of 3 cases are not written.*promote"):
            write_evalset(cases, tmp_path / "a.json")
        assert [case.turns for case in read(tmp_path / "a.json")] == [
            (Turn(None, (Invocation("Hi"),)),),
            (Turn(None, (run,)),),
            cases[2].turns,
        ]

    def test_cases_of_several_sets(self, tmp_path: Path) -> None:
        cases = [Case(name, (wanted("Hi"),), set_id=name.upper()) for name in "ab"]
        write_evalset(cases, tmp_path / "x.json")
        assert json_of(tmp_path / "x.json")["eval_set_id"] == "A"
        assert [case.set_id for case in read(tmp_path / "x.json")] == ["A", "B"]

    def test_a_scenario(self, tmp_path: Path) -> None:
        plan = {"starting_prompt": "Hi", "conversation_plan": "Ask for a table."}
        write_evalset([Case("a", (), metadata={"conversation_scenario": plan})], tmp_path / "a.json")
        (written,) = json_of(tmp_path / "a.json")["eval_cases"]
        assert written == {"eval_id": "a", "conversation_scenario": plan}

    @pytest.mark.parametrize("write", [write_evalset, write_agents_cli, write_jsonl])
    def test_what_is_no_json_is_refused_and_writes_nothing(self, write: Writer, tmp_path: Path) -> None:
        with pytest.raises(ReadError, match="cannot be written as JSON: found a Python object"):
            write([Case("a", (wanted("Hi", ToolCall("f", {"a": object()})),))], tmp_path / "a.json")
        if write is not write_jsonl:
            assert not (tmp_path / "a.json").exists()

    @pytest.mark.parametrize(
        ("extra", "says"),
        [
            ({"turns": [{}, {}]}, "adk_scoring.turns: 2 entries for 1 turns"),
            ({"turns": [{"expected": {"calls": [{}, {}]}}]}, "turns[0].expected.calls: 2 entries for 1 calls"),
            ({"turns": [{"expected": {"calls": 5}}]}, "turns[0].expected.calls: found a number, wanted a list"),
            ({"turns": [{"alternatives": [5]}]}, "found a number, wanted an object"),
            ({"turns": 5}, "adk_scoring.turns: found a number, wanted a list"),
            ({"mood": 5}, "mood: unknown key"),
        ],
    )
    def test_an_extra_key_that_does_not_fit(self, extra: Any, says: str, tmp_path: Path) -> None:
        write_evalset([Case("a", (wanted("Hi", ToolCall("f")),)), Case("b", (wanted("Hi"),))], tmp_path / "a.json")
        content = json_of(tmp_path / "a.json")
        content["eval_cases"][0]["adk_scoring"] = extra
        broken, good = read(content)
        assert says in str(broken.error)
        assert good.error is None


class TestAgentsCli:
    def test_a_dataset(self, tmp_path: Path) -> None:
        path = tmp_path / "dataset.json"
        case = Case(
            "lamp",
            (wanted("Lamp off", ToolCall("off", {"lamp": 1}), response="Off."),),
            rubrics=(Rubric("r", "It is polite.", group="tone"),),
            context="One lamp.",
        )
        assert write_agents_cli([case], path) == 1
        assert json_of(path) == {
            "eval_cases": [
                {
                    "eval_case_id": "lamp",
                    "prompt": {"role": "user", "parts": [{"text": "Lamp off"}]},
                    "reference_trajectory": [{"tool_name": "off", "tool_input": {"lamp": 1}}],
                    "reference": {"response": {"role": "model", "parts": [{"text": "Off."}]}},
                    "context": "One lamp.",
                    "rubric_groups": {
                        "tone": {
                            "rubrics": [{"rubric_id": "r", "content": {"property": {"description": "It is polite."}}}]
                        }
                    },
                }
            ]
        }

    def test_a_trace(self, tmp_path: Path) -> None:
        path = tmp_path / "trace.json"
        calls = (
            ToolCall("find", call_id="c-1", author="home", step=0, response={"lamp": 1}),
            ToolCall("off", {"lamp": 1}, call_id="c-2", author="home", step=1),
        )
        turns = (Turn(Invocation("Lamp off", calls, "Off.")), wanted("Thanks"))
        write_agents_cli([Case("lamp", turns, tools=(Tool("off", agent="home"),), instructions="Help.")], path)
        (written,) = json_of(path)["eval_cases"]
        data = written["agent_data"]
        assert [[event["author"] for event in turn["events"]] for turn in data["turns"]] == [
            ["user", "home", "tool", "home", "home"],
            ["user"],
        ]
        assert data["agents"]["home"]["instruction"] == "Help."
        assert written["reference_trajectory"] == [None, []]
        assert "prompt" not in written
        assert "adk_scoring" not in written


class TestPromote:
    def test_a_run_becomes_an_expectation(self) -> None:
        run = Invocation(
            "Lamp off",
            (
                ToolCall("off", {"lamp": 1}, call_id="c", author="home", step=0, response={"ok": 1}),
                ToolCall("log", None),
            ),
            "Off.",
            invocation_id="i",
            usage=Usage(input_tokens=5),
            duration=1.0,
            intermediate_responses=(("home", "Hm."),),
        )
        case = Case(
            "s-1",
            (Turn(run, (Invocation("old"),)),),
            trial=2,
            session=Session("home"),
            tags=("night",),
            recorded=(RecordedScore("x", 1.0),),
            source=("log.json", "[3]"),
        )
        calls = (ToolCall("off", {"lamp": 1}, response={"ok": 1}), ToolCall("log", None))
        assert promote(case, case_id="lamp", tags=["regression", "night"]) == Case(
            "lamp",
            (Turn(None, (Invocation("Lamp off", calls, "Off.", invocation_id="i"),)),),
            session=Session("home"),
            tags=("night", "regression"),
            source=("log.json", "[3]"),
        )
        assert promote(case).case_id == "s-1"
        assert promote(promoted_run(Invocation("a", None, "b"))).turns[0].expected[0].tool_calls is None

    @pytest.mark.parametrize(
        ("case", "says"),
        [
            (Case("a", (), error="broken"), "case 'a' cannot be promoted, it is an error: broken"),
            (Case("a", ()), "case 'a' cannot be promoted, it has no turns"),
            (Case("a", (wanted("Hi"),)), r"case 'a', turns\[0\] cannot be promoted, it has no recorded run"),
            (
                Case("a", (Turn(Invocation("Hi", error="down")),)),
                r"turns\[0\] cannot be promoted, it is an error: down",
            ),
        ],
    )
    def test_errors_are_refused(self, case: Case, says: str) -> None:
        with pytest.raises(ScoringError, match=says):
            promote(case)

    @pytest.mark.parametrize("write", [write_evalset, write_agents_cli, write_jsonl])
    def test_a_promoted_case_is_met_by_its_run(self, write: Writer, tmp_path: Path) -> None:
        run = Case("a", (Turn(Invocation("Hi", (ToolCall("f", {"a": 1}), ToolCall("g")), "Hello")),))
        write([promote(run)], tmp_path / "a.json")
        pairing = pair(actual=[run], expected=read(tmp_path / "a.json"))
        assert evaluate(pairing, {"trajectory_exact_match": 1.0, "response_exact_match": 1.0}).passed


def promoted_run(run: Invocation) -> Case:
    return Case("a", (Turn(run),))


@pytest.mark.parametrize("write", [write_evalset, write_agents_cli])
def test_public_eval_sets_move_without_loss(write: Writer) -> None:
    moved = 0
    for path in sorted(corpus("adk_evalset").glob("*.json")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReadWarning)
            try:
                cases = [replace(case, source=("", "")) for case in read(path)]
            except ReadError:
                continue  # it holds no cases
        assert as_text(written_and_read(write, cases)) == as_text(cases), path.name
        moved += len(cases)
    assert moved == 257


def test_what_only_looks_like_a_session_stays_metadata(tmp_path: Path) -> None:
    odd = Case("a", (wanted("hi"),), set_id="s", metadata={"session_input": {"state": False}})
    assert write_evalset([odd], tmp_path / "s.evalset.json") == 1
    (back,) = read(tmp_path / "s.evalset.json")
    assert (back.error, back.session, back.metadata) == (None, None, odd.metadata)


@pytest.mark.parametrize("write", [write_evalset, write_agents_cli])
def test_only_cases_are_written(write: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"wanted cases, got str: 'runs\.json'; a file is read with read"):
        write("runs.json", tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()
