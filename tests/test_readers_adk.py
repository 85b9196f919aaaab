"""Golden files of ADK's formats: count, first and last, and every field that the model has a place for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from adk_scoring.errors import ReadWarning
from adk_scoring.model import Case, Invocation, RecordedScore, Rubric, Session, Tool, ToolCall, Usage
from adk_scoring.readers import read

DATA = Path(__file__).parent / "data"


def expected(case: Case, turn: int = 0) -> Invocation:
    (only,) = case.turns[turn].expected
    return only


def actual(case: Case, turn: int = 0) -> Invocation:
    side = case.turns[turn].actual
    assert side is not None
    return side


def eval_set(*turns: dict[str, Any], **case: Any) -> dict[str, Any]:
    return {"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": list(turns), **case}]}


def turn(**keys: Any) -> dict[str, Any]:
    return {"user_content": {"parts": [{"text": "hi"}]}, **keys}


class TestEvalSet:
    def test_intermediate_data(self) -> None:
        path = DATA / "adk_evalset/home.evalset.json"
        first, second, last = read(path)
        assert [case.case_id for case in (first, second, last)] == ["lamp_off", "events", "scenario"]
        assert (first.set_id, first.set_name, first.source) == ("home", "Smart home", (str(path), "eval_cases[0]"))
        assert first.session == Session("home_agent", "u1", {"home": "A"})
        assert first.metadata == {
            "session_input": {"session_id": "fixed"},
            "final_session_state": {"lamp": "off"},
            "eval_set": {"description": "Three ways to write a case.", "creation_timestamp": 3.0},
        }
        assert second.metadata == {"eval_set": first.metadata["eval_set"]}
        assert first.rubrics == (Rubric("polite", "The agent is polite."),)
        assert expected(first) == Invocation(
            "Turn the hall lamp off.",
            (
                ToolCall("find_device", {"room": "hall"}, call_id="c-1", response={"device": "lamp-7"}),
                ToolCall(
                    "set_power",
                    {"device": "lamp-7", "on": False},
                    response={"error": "lamp-7 did not answer"},
                    error="lamp-7 did not answer",
                ),
                ToolCall("log", {}),
            ),
            "Done, it is off.",
            invocation_id="i-1",
            intermediate_responses=(("finder", "Found lamp-7."),),
            rubrics=(Rubric("short", "The answer is one sentence.", type="FINAL_RESPONSE_QUALITY"),),
            metadata={"creation_timestamp": 12.5},
        )
        assert all(each.actual is None for each in first.turns)

    def test_an_absent_expectation_is_none_and_an_empty_one_is_empty(self) -> None:
        first, *_ = read(DATA / "adk_evalset/home.evalset.json")
        assert (expected(first, 1).tool_calls, expected(first, 1).response) == ((), None)
        assert (expected(first, 2).tool_calls, expected(first, 2).response) == (None, None)
        first, *_ = read(DATA / "adk_evalset/home.evalset.json", match_nothing_as_empty=True)
        assert expected(first, 2).tool_calls == ()

    def test_invocation_events(self) -> None:
        _, case, _ = read(DATA / "adk_evalset/home.evalset.json")
        assert expected(case) == Invocation(
            "Warm the bath and the kitchen.",
            (
                ToolCall("heat", {"room": "bath"}, call_id="a", author="home", step=0, response={"ok": 1}),
                ToolCall("heat", {"room": "kitchen"}, call_id="b", author="home", step=0, response={"ok": 2}),
                ToolCall("report", {}, call_id="c", author="home", step=1),
            ),
            "Both are warming up.",
            invocation_id="i-1",
            intermediate_responses=(("home", "On it."),),
            usage=Usage(input_tokens=30, output_tokens=11, cached_tokens=8, reasoning_tokens=2, model_calls=2),
        )
        schema = {"type": "object", "properties": {"room": {"type": ["string", "null"]}}, "required": ["room"]}
        assert case.tools == (Tool("heat", "Heats a room.", schema, agent="home"),)
        assert case.instructions == "You run a house."

    def test_a_scenario_has_no_turns_and_keeps_its_plan(self) -> None:
        *_, case = read(DATA / "adk_evalset/home.evalset.json")
        assert (case.turns, case.error) == ((), None)
        assert case.metadata["conversation_scenario"]["starting_prompt"] == "Hello"

    def test_trpc_agent_go(self) -> None:
        (case,) = read(DATA / "adk_evalset/trpc.evalset.json")
        call = ToolCall("add", {"a": 2, "b": 3}, call_id="t1", response={"sum": 5})
        assert expected(case) == Invocation("What is 2 + 3?", (call,), "5", invocation_id="add-1")
        assert case.rubrics == (Rubric("r1", "The sum is right.", type="final_response"),)

    def test_a_bare_case(self) -> None:
        whole = json.loads((DATA / "adk_evalset/home.evalset.json").read_text())
        (case,) = read(whole["eval_cases"][0])
        assert case.turns == read(whole)[0].turns
        assert (case.case_id, case.set_id) == ("lamp_off", "")

    @pytest.mark.parametrize(
        ("data", "calls"),
        [
            (None, None),
            ({}, ()),
            ([], ()),
            ({"tool_uses": None}, None),
            ({"tool_uses": []}, ()),
            ({"intermediate_responses": []}, ()),
            ({"invocation_events": []}, ()),
            ([{"name": "f"}], (ToolCall("f"),)),
            ({"tool_uses": [{"tool_name": "f", "tool_input": {"a": 1}}]}, (ToolCall("f", {"a": 1}),)),
            ({"tool_uses": [{"name": "f", "args": '{"a": 1}'}]}, (ToolCall("f", {"a": 1}),)),
            ({"invocation_events": None, "tool_uses": [{"name": "f"}]}, (ToolCall("f"),)),
        ],
    )
    def test_spellings_of_expected_calls(self, data: Any, calls: tuple[ToolCall, ...] | None) -> None:
        (case,) = read(eval_set(turn(intermediate_data=data)))
        assert expected(case).tool_calls == calls

    @pytest.mark.parametrize(
        ("data", "call", "says"),
        [
            (["f"], ToolCall("f"), "bare name"),
            ([{"name": None, "args": None}], ToolCall(""), "without a name"),
            ([{"name": 5}], ToolCall("5"), None),
            (
                [{"name": "f", "args": [1]}],
                ToolCall("f", None, args_error="arguments are a list, not an object"),
                "unknown",
            ),
        ],
    )
    def test_odd_calls_are_kept_and_named(self, data: Any, call: ToolCall, says: str | None) -> None:
        source = eval_set(turn(intermediate_data={"tool_uses": data}))
        if says is None:
            (case,) = read(source)
        else:
            with pytest.warns(ReadWarning, match=f"{says}.*conversation\\[0\\].intermediate_data.tool_uses\\[0\\]"):
                (case,) = read(source)
        assert expected(case).tool_calls == (call,)

    @pytest.mark.parametrize(
        ("keys", "calls", "response", "says"),
        [
            ({"expected_tool_use": [{"name": "f"}]}, (ToolCall("f"),), None, "expected_tool_use"),
            (
                {"expectedToolUse": [{"tool_name": "f", "tool_input": {"a": 1}}]},
                (ToolCall("f", {"a": 1}),),
                None,
                "expected_tool_use",
            ),
            ({"expected_tool_use": []}, (), None, "expected_tool_use"),
            ({"reference": "Hello"}, None, "Hello", "reference"),
            ({"reference_final_response": "Hello"}, None, "Hello", "reference_final_response"),
            ({"agent_content": {"parts": [{"text": "Hello"}]}}, None, "Hello", "agent_content"),
            (
                {"intermediate_data": {"role": "model", "parts": [{"function_call": {"name": "f"}}]}},
                (ToolCall("f", step=0),),
                None,
                "is a content",
            ),
            ({"final_response": {"parts": [{"text": {"a": 1}}]}}, None, '{"a": 1}', "'text' is an object"),
        ],
    )
    def test_clear_expectations_in_other_spellings(
        self, keys: dict[str, Any], calls: Any, response: str | None, says: str
    ) -> None:
        with pytest.warns(ReadWarning, match=says):
            (case,) = read(eval_set(turn(**keys)))
        assert (expected(case).tool_calls, expected(case).response) == (calls, response)

    def test_expectations_that_nobody_reads_are_named_in_one_warning_and_kept(self) -> None:
        first = turn(expected_tools=["f"], mood="good")
        source = eval_set(first, turn(expected_tools=["g"]), expected_behavior="nice", criteria={"x": 1})
        with pytest.warns(ReadWarning) as caught:
            (case,) = read(source)
        (warning,) = caught
        message = str(warning.message)
        assert "'expected_tools' in eval_cases[0].conversation[0] and 1 more" in message
        assert "'expected_behavior' in eval_cases[0]" in message
        assert "'criteria'" in message
        assert "mood" not in message
        assert expected(case).metadata == {"expected_tools": ["f"], "mood": "good"}
        assert case.metadata == {"expected_behavior": "nice", "criteria": {"x": 1}}

    @pytest.mark.parametrize(
        ("user", "text"),
        [
            ("plain", "plain"),
            ({"parts": ["plain"]}, "plain"),
            ({"parts": [{"text": "a"}, {"text": None}, {"inline_data": {}}, {"text": "b"}]}, "ab"),
            ({"parts": {"text": "one"}}, "one"),
            ({"role": "user", "content": "text"}, "text"),
            ({"role": "user", "content": [{"type": "text", "text": "text"}]}, "text"),
            ({"text": "direct"}, "direct"),
            ([{"text": "parts only"}], "parts only"),
            ({"role": "user"}, ""),
            ({"parts": [None]}, ""),
        ],
    )
    def test_shapes_of_a_content(self, user: Any, text: str) -> None:
        (case,) = read(eval_set({"user_content": user}))
        assert expected(case).user_text == text

    def test_a_turn_without_user_content(self) -> None:
        (case,) = read(eval_set({"user": "said"}))
        assert expected(case).user_text == "said"
        with pytest.warns(ReadWarning, match=r"a turn without 'user_content': eval_cases\[0\].conversation\[0\]"):
            (case,) = read(eval_set({"final_response": "x"}))
        assert expected(case) == Invocation("", None, "x")

    @pytest.mark.parametrize("parts", [[], [{"function_call": {"name": "f"}}], [{"text": "hm", "thought": True}]])
    def test_a_final_response_without_text_expects_nothing(self, parts: Any) -> None:
        (case,) = read(eval_set(turn(final_response={"parts": parts})))
        assert expected(case).response is None

    def test_ids_in_every_spelling(self) -> None:
        for key in ("eval_id", "evalId", "eval_case_id", "case_id", "id", "name"):
            source = {"eval_set_id": "s", "eval_cases": [{key: "a", "conversation": [turn()]}]}
            assert read(source)[0].case_id == "a"
        with pytest.warns(ReadWarning, match="without 'eval_id'"):
            (case,) = read({"eval_set_id": "s", "eval_cases": [{"conversation": [turn()]}]})
        assert case.case_id == "eval_cases[0]"

    def test_the_same_id_twice(self) -> None:
        one = {"eval_id": "a", "conversation": [turn()]}
        with pytest.warns(ReadWarning, match=r"comes again.*'a' at eval_cases\[1\] and 1 more"):
            cases = read({"eval_set_id": "s", "eval_cases": [one, one, one]})
        assert [case.case_id for case in cases] == ["a", "a#2", "a#3"]

    def test_a_conversation_with_no_turns(self) -> None:
        with pytest.warns(ReadWarning, match="no turns"):
            (case,) = read(eval_set())
        assert (case.turns, case.error) == ((), None)

    @pytest.mark.parametrize(
        ("broken", "place", "says"),
        [
            (5, r"eval_cases\[1\]", "found a number, wanted an object"),
            ({"eval_id": "b"}, r"eval_cases\[1\]", r"found keys \[eval_id\]"),
            ({"eval_id": "b", "conversation": {}}, r"eval_cases\[1\].conversation", "found an object, wanted a list"),
            ({"eval_id": "b", "conversation": [5]}, r"eval_cases\[1\].conversation\[0\]", "wanted an object"),
            (
                {"eval_id": "b", "conversation": [turn(intermediate_data=5)]},
                r"conversation\[0\].intermediate_data",
                "wanted an object",
            ),
            (
                {"eval_id": "b", "conversation": [turn(intermediate_data={"tool_uses": [5]})]},
                r"tool_uses\[0\]",
                "wanted a call",
            ),
            (
                {"eval_id": "b", "conversation": [turn(intermediate_data={"intermediate_responses": [5]})]},
                r"intermediate_responses\[0\]",
                r"wanted \[author, parts\]",
            ),
            ({"eval_id": "b", "conversation": [{"user_content": 5}]}, r"conversation\[0\]", "wanted a content"),
            ({"eval_id": "b", "conversation": [{"user_content": [5]}]}, r"conversation\[0\]", "wanted a part"),
            ({"eval_id": "b", "conversation": [], "session_input": 5}, "session_input", "wanted an object"),
            ({"eval_id": "b", "conversation": [], "rubrics": [5]}, r"rubrics\[0\]", "wanted an object"),
        ],
    )
    @pytest.mark.filterwarnings("ignore::adk_scoring.errors.ReadWarning")
    def test_a_broken_case_is_an_error_case_and_its_neighbours_are_read(
        self, broken: Any, place: str, says: str
    ) -> None:
        good = {"eval_id": "a", "conversation": [turn()]}
        first, second, third = read({"eval_set_id": "s", "eval_cases": [good, broken, good | {"eval_id": "c"}]})
        assert (first.error, third.error) == (None, None)
        assert second.error is not None
        assert (second.turns, second.set_id, second.source[1]) == ((), "s", "eval_cases[1]")
        assert second.case_id == ("b" if isinstance(broken, dict) else "eval_cases[1]")
        assert re.search(f"{place}.*{says}", second.error)

    def test_rubrics_without_a_text_are_named(self) -> None:
        with pytest.warns(ReadWarning, match="a rubric without a text"):
            (case,) = read(eval_set(turn(), rubrics=[{"rubric_id": "r"}, {"text": "Good?", "weight": 2}]))
        assert case.rubrics == (Rubric("rubric_1", "Good?", 2),)

    def test_responses_that_answer_no_call_are_named(self) -> None:
        data = {"tool_uses": [], "tool_responses": [{"name": "f", "response": {}}]}
        with pytest.warns(ReadWarning, match="without a call"):
            (case,) = read(eval_set(turn(intermediate_data=data)))
        assert expected(case).tool_calls == ()

    def test_intermediate_responses_and_answers_in_other_shapes(self) -> None:
        data = {"tool_uses": [], "intermediate_responses": [{"author": "a", "text": "hm"}, ["b", []]]}
        (case,) = read(eval_set(turn(intermediate_data=data)))
        assert expected(case).intermediate_responses == (("a", "hm"),)
        events = [{"author": "a", "content": {"parts": [{"function_response": {"id": "x", "name": "f"}}]}}]
        with pytest.warns(ReadWarning, match=r"without a call.*invocation_events\[0\]"):
            (case,) = read(eval_set(turn(intermediate_data={"invocation_events": events})))
        parts = [{"function_call": {"name": "f"}}, {"function_response": {"name": "f", "response": 1}}]
        with pytest.warns(ReadWarning, match="is a content"):
            (case,) = read(eval_set(turn(intermediate_data={"parts": parts})))
        assert expected(case).tool_calls == (ToolCall("f", step=0, response=1),)
        with pytest.warns(ReadWarning, match="without a call"):
            read(eval_set(turn(intermediate_data={"tool_uses": [], "tool_responses": [5]})))

    def test_a_bare_case_without_an_id(self) -> None:
        with pytest.warns(ReadWarning, match="without 'eval_id'"):
            (case,) = read({"conversation": [turn()]})
        assert case.case_id == "case"
        with pytest.warns(ReadWarning, match="without 'eval_id'"):
            (case,) = read({"conversation_scenario": {"starting_prompt": "x"}})
        assert case.turns == ()

    def test_responses_without_ids_go_to_calls_of_their_name_in_order(self) -> None:
        data = {
            "tool_uses": [{"name": "f"}, {"name": "g"}, {"name": "f"}],
            "tool_responses": [{"name": name, "response": n} for n, name in enumerate("ffg")],
        }
        (case,) = read(eval_set(turn(intermediate_data=data)))
        calls = expected(case).tool_calls
        assert calls is not None
        assert [call.response for call in calls] == [0, 2, 1]

    @pytest.mark.parametrize(
        ("response", "error"),
        [
            ({"error": "no"}, "no"),
            ({"error": {"code": 5}}, '{"code": 5}'),
            ({"error": None}, None),
            ({"isError": True, "content": []}, '{"isError": true, "content": []}'),
            ({"status": "error", "error_message": "no city"}, "no city"),
            ({"status": "success"}, None),
            ("text", None),
        ],
    )
    def test_what_counts_as_a_failed_call(self, response: Any, error: str | None) -> None:
        data = {"tool_uses": [{"name": "f"}], "tool_responses": [{"name": "f", "response": response}]}
        (case,) = read(eval_set(turn(intermediate_data=data)))
        assert expected(case).tool_calls == (ToolCall("f", response=response, error=error),)


class TestLegacy:
    def test_a_list_of_turns_is_one_case_named_after_its_file(self) -> None:
        (case,) = read(DATA / "adk_legacy/turns.test.json")
        assert (case.case_id, len(case.turns)) == ("turns", 3)
        assert expected(case) == Invocation(
            "Turn on the fan.",
            (ToolCall("set_power", {"device": "fan"}, response="ok"),),
            "It is on.",
            intermediate_responses=(("sub", "working"),),
        )
        assert expected(case, 1) == Invocation("Hello", ())
        assert case.turns[1].actual is None
        assert expected(case, 2) == Invocation("What can you do?", None, "Much.")
        assert actual(case, 2) == Invocation("What can you do?", (ToolCall("list"),), "A lot.")

    def test_a_list_of_cases(self) -> None:
        first, last = read(DATA / "adk_legacy/cases.evalset.json")
        assert (first.case_id, first.session) == ("first", Session("greeter", "u", {"n": 1}))
        assert first.turns[0].expected == (Invocation("Hi", (), "Hello."),)
        assert (last.case_id, last.session) == ("second", None)
        assert last.turns[0].expected == (Invocation("Bye", (ToolCall("close"),), ""),)

    def test_nothing_as_empty(self) -> None:
        (case,) = read([{"query": "hi", "reference": "x"}], match_nothing_as_empty=True)
        assert expected(case).tool_calls == ()

    def test_broken_entries(self) -> None:
        (case,) = read([{"query": "hi", "reference": "x"}, 5])
        assert case.error is not None
        assert "[1]: found a number, wanted an object" in case.error
        good = {"name": "a", "data": [{"query": "q", "reference": "r"}]}
        first, second = read([good, {"name": "b", "data": {"query": 1}}])
        assert (first.error, second.case_id) == (None, "b")
        assert second.error == "[1].data: found an object, wanted a list: {'query': 1}"

    def test_odd_turns_are_named(self) -> None:
        with pytest.warns(ReadWarning) as caught:
            cases = read([{"name": "a", "data": [{"query": "", "reference": "r"}]}, {"name": "b", "data": []}])
        assert [str(each.message).split(": ")[1] for each in caught] == [
            "a turn without 'query'",
            "a conversation with no turns, nothing of it can be scored",
        ]
        assert len(cases) == 2


class TestResult:
    def test_both_sides_the_scores_and_the_trials(self) -> None:
        first, second, last = read(DATA / "adk_result/home.evalset_result.json")
        assert [(case.case_id, case.trial) for case in (first, second, last)] == [
            ("warm", 0),
            ("warm", 1),
            ("no_metric", 0),
        ]
        assert actual(first) == Invocation(
            "Is it warm?",
            (ToolCall("get_temp", {"room": "hall"}, call_id="c1", author="home", step=0, response={"t": 21}),),
            "It is 21C.",
            invocation_id="e-1",
        )
        assert expected(first) == Invocation(
            "Is it warm?", (ToolCall("get_temp", {"room": "hall"}),), "21C", invocation_id="i-1"
        )
        criterion = {"threshold": 0.5, "match_type": "EXACT"}
        name = "tool_trajectory_avg_score"
        passed = RecordedScore(name, 1.0, verdict="passed", threshold=0.5, parameters=criterion)
        assert first.recorded == (
            passed,
            RecordedScore("rubric", 0.5, verdict="informational", threshold=0.5, parameters=criterion),
            RecordedScore("rubric", 1.0, rubric_id="polite", reason="It greets."),
            RecordedScore("rubric", None, rubric_id="short"),
            RecordedScore(name, 1.0, verdict="passed", threshold=0.5, turn=0, parameters=criterion),
        )
        assert first.metadata == {"session_id": "s", "final_eval_status": "passed"}
        assert [tool.name for tool in first.tools or ()] == ["get_temp"]
        assert (first.instructions, first.session) == ("You run a house.", Session("", "u"))

    def test_an_actual_run_that_holds_nothing_made_no_calls(self) -> None:
        _, second, _ = read(DATA / "adk_result/home.evalset_result.json")
        assert actual(second) == Invocation("Is it warm?", (), None, invocation_id="e-2")

    def test_turns_come_from_the_session_where_no_metric_was_computed(self) -> None:
        *_, last = read(DATA / "adk_result/home.evalset_result.json")
        assert actual(last) == Invocation("Hi", (), "Hello!", invocation_id="e-9")
        assert last.turns[0].expected == ()
        assert last.session == Session("home_agent", "u")

    def test_double_encoded(self) -> None:
        plain = read(DATA / "adk_result/home.evalset_result.json")
        double = read(DATA / "adk_result/double.evalset_result.json")
        assert [case.turns for case in double] == [case.turns for case in plain]
        assert [case.recorded for case in double] == [case.recorded for case in plain]

    def test_pairs_of_metric_and_result(self) -> None:
        with pytest.warns(ReadWarning, match="without turns"):
            (case,) = read(DATA / "adk_result/pairs.json")
        assert case.recorded == (RecordedScore("response_match_score", 0.25, verdict="failed", threshold=0.8),)

    def test_trpc_agent_go(self) -> None:
        (case,) = read(DATA / "adk_result/trpc.json")
        call = ToolCall("add", {"a": 2, "b": 3}, call_id="t1", response={"sum": 5})
        assert actual(case) == Invocation("2+3?", (call,), "5", invocation_id="x")
        assert expected(case) == Invocation("2+3?", None, None, invocation_id="add-1")
        assert case.recorded == (
            RecordedScore("final_response", 1, verdict="passed", threshold=1, reason="equal"),
            RecordedScore("skipped_one", None, verdict="not_evaluated", threshold=1),
        )
        assert (case.trial, case.metadata["runId"]) == (0, 1)

    def test_files_of_one_folder_are_trials(self, tmp_path: Path) -> None:
        text = (DATA / "adk_result/trpc.json").read_text()
        for name in ("a.json", "b.json", "c.json"):
            (tmp_path / name).write_text(text)
        assert [case.trial for case in read(tmp_path)] == [0, 1, 2]

    def test_a_final_response_without_text_is_an_empty_answer(self) -> None:
        run = {"user_content": "hi", "final_response": {"parts": [{"function_call": {"name": "ask"}}]}}
        pair = {"actual_invocation": run, "expected_invocation": None}
        (case,) = read({"eval_case_results": [{"eval_id": "a", "eval_metric_result_per_invocation": [pair]}]})
        assert actual(case).response == ""

    def test_broken_results(self) -> None:
        good = {"eval_id": "a", "eval_metric_result_per_invocation": [{"actual_invocation": {"user_content": "x"}}]}
        bad = {"eval_id": "b", "overall_eval_metric_results": [5], "eval_metric_result_per_invocation": []}
        with pytest.warns(ReadWarning, match="without turns"):
            first, second, third = read({"eval_case_results": [good, bad, 7], "eval_set_id": "s"})
        assert first.error is None
        assert (
            second.error == "eval_case_results[1].overall_eval_metric_results[0]: found a number, wanted an object: 5"
        )
        assert third.error == "eval_case_results[2]: found a number, wanted an object: 7"

    def test_a_session_of_another_length_is_not_taken_for_the_turns(self) -> None:
        events = [{"invocation_id": "e", "author": "user", "content": {"parts": [{"text": "Hi"}]}}]
        pair = {"actual_invocation": None, "expected_invocation": {"user_content": "x"}}
        result = {
            "eval_id": "a",
            "eval_metric_result_per_invocation": [pair, pair],
            "session_details": {"events": events},
        }
        with pytest.warns(ReadWarning, match="another number of turns"):
            (case,) = read({"eval_case_results": [result]})
        assert [side.actual for side in case.turns] == [None, None]
        result["eval_metric_result_per_invocation"] = [pair]
        (case,) = read({"eval_case_results": [result]})
        assert actual(case).user_text == "Hi"

    def test_one_case_result_alone(self) -> None:
        whole = json.loads((DATA / "adk_result/home.evalset_result.json").read_text())
        (case,) = read(whole["eval_case_results"][0])
        assert (case.case_id, case.set_id) == ("warm", "home")
        assert case.turns == read(whole)[0].turns


class TestAppDetails:
    def test_several_agents_and_turns(self) -> None:
        def agent(name: str, *tools: str) -> dict[str, Any]:
            declared = [{"function_declarations": [{"name": tool} for tool in tools]}]
            return {"name": name, "instructions": f"You are {name}.", "tool_declarations": declared}

        first = turn(app_details={"agent_details": {"a": agent("a", "f"), "b": agent("b", "f", "g")}})
        (case,) = read(eval_set(first, first))
        assert case.tools == (Tool("f", agent="a"), Tool("f", agent="b"), Tool("g", agent="b"))
        assert case.instructions == "[a]\nYou are a.\n\n[b]\nYou are b."

    def test_an_agent_without_tools_had_none(self) -> None:
        details: dict[str, Any] = {"agent_details": {"a": {"tool_declarations": [{"function_declarations": []}]}}}
        (case,) = read(eval_set(turn(app_details=details)))
        assert (case.tools, case.instructions) == ((), "")

    def test_schemas_of_google_genai_become_json_schemas(self) -> None:
        schema = {
            "type": "OBJECT",
            "properties": {
                "a": {"any_of": [{"type": "INTEGER"}, {"type": "STRING", "nullable": True}], "title": None},
                "b": {"type": "ARRAY", "items": {"type": "NUMBER"}, "min_items": "1"},
                "c": True,
            },
            "property_ordering": ["a", "b"],
        }
        tool = {"name": "f", "parameters": schema, "annotations": {"readOnlyHint": True}}
        details = {"agentDetails": {"a": {"toolDeclarations": [{"functionDeclarations": [tool]}]}}}
        (case,) = read(eval_set(turn(app_details=details)))
        (made,) = case.tools or ()
        assert made.parameters == {
            "type": "object",
            "properties": {
                "a": {"anyOf": [{"type": "integer"}, {"type": ["string", "null"]}]},
                "b": {"type": "array", "items": {"type": "number"}, "minItems": "1"},
                "c": True,
            },
        }
        assert made.annotations == {"readOnlyHint": True}
