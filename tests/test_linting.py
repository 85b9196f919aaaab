"""What `lint` finds in expectations, one test a kind of finding, and what it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import adk_scoring as ads
from adk_scoring import Case, Criterion, Invocation, Match, Metric, Rubric, Score, Tool, ToolCall, Turn, lint
from adk_scoring.__main__ import main
from adk_scoring.linting import CODES

from .corpus import corpus

WEATHER = {
    "name": "weather",
    "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "when": {"type": "object", "properties": {"day": {}, "hour": {}}},
            "places": {"type": "array", "items": {"type": "object", "properties": {"zip": {}}}},
        },
    },
}


def case(*calls: ToolCall, case_id: str = "c", **more: Any) -> Case:
    return Case(case_id, (Turn(None, (Invocation("q", calls),)),), source=("set.json", "eval_cases[0]"), **more)


def answer(text: str | None, case_id: str = "c", **more: Any) -> Case:
    return Case(case_id, (Turn(None, (Invocation("q", response=text),)),), **more)


def codes(found: ads.Findings) -> list[str]:
    return [finding.code for finding in found]


def test_what_is_sound_has_no_findings() -> None:
    found = lint([case(ToolCall("weather", {"city": "Paris", "when": {"day": 1}}))], [WEATHER])
    assert (list(found), found.ok, str(found)) == ([], True, "1 case: nothing found")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ({"cty": "x"}, "weather has no argument 'cty'; it has city, when, places; did you mean 'city'?"),
        ({"when": {"dya": 1}}, "weather has no argument 'when.dya'; it has day, hour; did you mean 'day'?"),
        (
            {"places": [{"zip": 1}, {"zap": 1}]},
            "weather has no argument 'places[1].zap'; it has zip; did you mean 'zip'?",
        ),
    ],
)
def test_arguments_that_the_schema_does_not_know(args: dict[str, Any], problem: str) -> None:
    (finding,) = lint([case(ToolCall("weather", args))], [WEATHER])
    assert (finding.code, finding.severity, finding.message) == ("unknown-argument", "error", problem)
    assert str(finding) == f"set.json: eval_cases[0]: c: error unknown-argument: {problem}"


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {"type": "object"},
        {"properties": {"a": {}}, "additionalProperties": True},
        {"properties": {"a": {}}, "additionalProperties": {"type": "string"}},
        {"properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}]},
        {"properties": {"a": {}}, "$ref": "#/$defs/more"},
        {"properties": {"a": {}, "b": True}},
    ],
)
def test_a_schema_that_allows_more_or_says_nothing_is_left_alone(schema: dict[str, Any] | None) -> None:
    assert list(lint([case(ToolCall("f", {"b": 1}))], [Tool("f", parameters=schema)])) == []


def test_a_tool_without_arguments_has_none() -> None:
    (finding,) = lint([case(ToolCall("f", {"b": 1}))], [Tool("f", parameters={"properties": {}})])
    assert finding.message == "f has no argument 'b'; it has none"


def test_what_one_of_two_tools_of_a_name_knows_is_known() -> None:
    one, other = Tool("f", parameters={"properties": {"a": {}}}), Tool("f", parameters={"properties": {"b": {}}})
    assert list(lint([case(ToolCall("f", {"b": 1}))], [one, other])) == []
    assert codes(lint([case(ToolCall("f", {"c": 1}))], [one, other])) == ["unknown-argument"]
    assert list(lint([case(ToolCall("f", {"c": 1}))], [one, Tool("f")])) == []


def test_calls_of_tools_that_are_not_declared() -> None:
    found = lint([case(ToolCall("wether"), ToolCall("transfer_to_agent"))], [WEATHER])
    assert [(f.code, f.severity, f.message) for f in found] == [
        ("undeclared-tool", "error", "no tool 'wether' is declared; did you mean 'weather'?"),
        ("untested-tool", "warning", "no case expects a call of weather"),
    ]
    assert not found.ok


def test_tools_without_a_case_are_a_warning() -> None:
    found = lint([case(ToolCall("a"))], {"a": True, "b": False})
    assert (codes(found), found.ok) == (["untested-tool"], True)
    assert str(found) == "warning untested-tool: no case expects a call of b\n1 case: 1 warning"


def test_the_tools_of_each_case_are_the_default() -> None:
    first = case(ToolCall("a"), case_id="1", tools=(Tool("a"), Tool("b")))
    assert codes(lint([first, case(ToolCall("x"), case_id="2")])) == ["untested-tool"]
    assert codes(lint([first, case(ToolCall("b"), case_id="2", tools=())])) == ["undeclared-tool"]


@pytest.mark.parametrize(
    ("expects_something", "whole"),
    [
        (False, Case("c", (Turn(Invocation("q", (), "yes")),))),
        (False, Case("c", (Turn(None, (Invocation("q"),)),))),
        (True, Case("c", (Turn(None, (Invocation("q", ()),)),))),
        (True, Case("c", (Turn(None, (Invocation("q", response=""),)),))),
        (True, Case("c", (Turn(None, (Invocation("q"),)),), rubrics=(Rubric("r", "It is polite."),))),
        (True, Case("c", (Turn(Invocation("q", rubrics=(Rubric("r", "It is polite."),))),))),
        (True, Case("c", (Turn(None, (Invocation("q", rubrics=(Rubric("r", "It is polite."),)),)),))),
    ],
)
def test_a_case_that_expects_nothing(expects_something: bool, whole: Case) -> None:
    assert codes(lint([whole])) == ([] if expects_something else ["nothing-expected"])


def test_keys_that_nobody_reads() -> None:
    side = Invocation("q", (), metadata={"expected_tone": "kind", "note": "x"})
    found = lint([Case("c", (Turn(None, (side,)),), metadata={"golden_answer": "7", "owner": "me"})])
    assert [finding.message for finding in found] == [
        "the key 'golden_answer' is read by nobody, so what it expects is not checked",
        "the key 'expected_tone' is read by nobody, so what it expects is not checked",
    ]


def test_turns_without_a_text_of_the_user_are_one_warning() -> None:
    turns = [Turn(None, (Invocation(text, ()),)) for text in ("", "q", " \n")]
    (finding,) = lint([Case("c", tuple(turns))])
    assert (finding.code, finding.severity) == ("empty-user-text", "warning")
    assert finding.message == "no text of the user in turn 1, 3"
    assert list(lint([Case("c", (Turn(Invocation("q"), (Invocation("", ()),)),))])) == []


def test_cases_and_arguments_that_could_not_be_read() -> None:
    found = lint([Case("c", (), error="damaged at line 3"), case(ToolCall("f", None, args_error="not JSON"))])
    assert [(finding.code, finding.message) for finding in found] == [
        ("unreadable-case", "damaged at line 3"),
        ("unreadable-arguments", "f: its arguments cannot be compared: not JSON"),
    ]
    assert "they are not given" in lint([case(ToolCall("f", None))])[0].message


def test_ids_that_stand_twice() -> None:
    found = lint([case(case_id="a"), case(case_id="a#2"), case(case_id="b#2"), case(case_id="b#2")])
    assert [(finding.code, finding.case, finding.message) for finding in found] == [
        ("duplicate-id", "a#2", "the id 'a' stands twice, first at set.json: eval_cases[0]"),
        ("duplicate-id", "b#2", "the id 'b#2' stands twice, first at set.json: eval_cases[0]"),
    ]
    assert lint([answer("7"), answer("7")])[0].message == "the id 'c' stands twice"


def test_ids_of_other_sets_trials_and_runs_do_not_stand_twice() -> None:
    run = Case("a", (Turn(Invocation("q")),), rubrics=(Rubric("r", "It is polite."),))
    assert list(lint([case(case_id="a"), case(case_id="a", set_id="s"), case(case_id="a", trial=1), run, run])) == []


# --- criteria ----------------------------------------------------------------------------------------------------


def test_a_threshold_that_a_perfect_run_does_not_reach() -> None:
    found = lint(
        [case(ToolCall("f"), ToolCall("f")), case(ToolCall("f"), case_id="once")],
        criteria={"redundant_calls": 0.0, "tool_call_count_v1": 1, "trajectory_exact_match": 1.0},
    )
    assert {finding.code for finding in found} == {"unreachable-threshold"}
    assert [(finding.case, finding.message.partition(":")[0]) for finding in found] == [
        ("c", "redundant_calls"),
        ("c", "tool_call_count_v1"),
    ]
    assert "even a run that does what is expected gets 0.500, wanted <= 0 in each turn" in found[0].message


def test_a_reference_that_no_answer_can_match() -> None:
    found = lint([answer("!?"), answer("yes", "d")], criteria={"response_match_score": 0.8})
    assert [(finding.code, finding.case) for finding in found] == [("unreachable-threshold", "c")]


def test_one_of_several_expectations_is_enough() -> None:
    turn = Turn(None, (Invocation("q", (ToolCall("f"), ToolCall("f"))), Invocation("q", (ToolCall("f"),))))
    both = Case("c", (turn, Turn(None, (Invocation("q", ()),)), Turn()))
    assert codes(lint([both], criteria={"redundant_calls": 0.0})) == ["empty-user-text"]


def test_optional_and_grouped_calls_are_no_reason_to_fail() -> None:
    calls = (ToolCall("a", group="g"), ToolCall("b", group="g"), ToolCall("c", optional=True))
    assert list(lint([case(*calls)], criteria={"trajectory_exact_match": 1.0})) == []


def test_a_criterion_that_no_case_can_be_scored_by() -> None:
    found = lint([answer("yes")], criteria={"trajectory_recall": 1.0, "response_rouge1": 0.5, "trajectory_f1": None})
    assert [(f.code, f.severity, f.message) for f in found] == [
        ("never-scored", "error", "trajectory_recall can be scored in no case, so no report passes: no expected calls")
    ]
    assert list(lint([], criteria={"trajectory_recall": 1.0})) == []
    assert codes(lint([Case("c", (), error="damaged")], criteria={"trajectory_recall": 1.0})) == ["unreadable-case"]


def test_criteria_that_cannot_be_used_are_all_found() -> None:
    found = lint([answer("yes")], criteria={"response_rouge1": 1.5, "rouge": 1, "match": "subset", "abstention": None})
    assert codes(found) == ["unusable-criterion", "unusable-criterion"]
    assert "can never decide" in found[0].message
    assert "unknown metric 'rouge'" in found[1].message


def test_what_cannot_be_tried_is_left_out() -> None:
    def never(text: str) -> list[float]:
        raise AssertionError("a function of the caller's is not called")

    assert (
        list(
            lint(
                [Case("c", (Turn(None, (Invocation("q", (ToolCall("f", {"a": "x.*"}),), "yes"),)),))],
                criteria={
                    "response_embedding_similarity": {"embed": never, "threshold": 0.9},
                    "safety": 1.0,  # needs a judge
                    "invocation_duration_v1": 3,  # only a run has it
                    "trajectory_recall": {"match": {"tools": {"f": {"a": lambda a, e: False}}}, "threshold": 1.0},
                },
            )
        )
        == []
    )


def test_criteria_of_any_kind_are_taken() -> None:
    class Nothing(Metric):
        name = "nothing"

        def score(self, evidence: Any, replies: Any = ()) -> Score:
            return Score(self.name, 0.0, reason="it never is")

    (finding,) = lint([answer("yes")], criteria=[Criterion("mine", Nothing(), 1.0)])
    assert "mine: even a run that does what is expected gets 0.000, wanted >= 1: it never is" in finding.message
    exact = ads.Criteria.of({"trajectory_exact_match": {"threshold": 1, "match": Match(args="subset")}})
    assert list(lint([case(ToolCall("f", {"a": 1}))], criteria=exact)) == []
    with pytest.raises(ads.ConfigError, match="wanted a mapping"):
        lint([], criteria="eval_config.json")  # type: ignore[arg-type]


# --- findings ----------------------------------------------------------------------------------------------------


def test_findings_are_a_sequence_and_obey_no_terminal() -> None:
    found = lint([case(case_id="a\x1b[31m"), Case("b", ()), Case("d", ())])
    assert (len(found), found[0].case, len(found[:1])) == (2, "b", 1)
    assert str(found).endswith("3 cases: 2 errors")
    assert "\x1b" not in str(lint([Case("a\x1b[31m\n", ())]))


def test_every_code_is_found_by_a_test_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert [code for code in CODES if f'"{code}"' not in text] == []


# --- the command line --------------------------------------------------------------------------------------------


def written(path: Path, *cases: Case) -> str:
    ads.write_jsonl(cases, path)
    return str(path)


def test_the_command_says_what_is_wrong_and_its_status_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sound = written(tmp_path / "sound.jsonl", case(ToolCall("weather", {"city": "Paris"})))
    wrong = written(tmp_path / "wrong.jsonl", Case("x", (Turn(Invocation("q", (), "yes")),)))
    assert main(["lint", sound]) == 0
    assert capsys.readouterr().out == "1 case: nothing found\n"
    assert main(["lint", sound, wrong]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith(f"{wrong}: ")
    assert "x: error nothing-expected" in out[0]
    assert out[-1] == "2 cases: 1 error"


def test_the_command_takes_tools_and_criteria(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sound = written(tmp_path / "sound.jsonl", case(ToolCall("weather", {"city": "Paris"})))
    tools, config = tmp_path / "tools.json", tmp_path / "eval_config.json"
    tools.write_text(json.dumps({"result": {"tools": [WEATHER, {"name": "book"}]}}))
    config.write_text(json.dumps({"criteria": {"tool_call_count_v1": 0}}))
    assert main(["lint", sound, "--tools", str(tools)]) == 0
    assert "untested-tool: no case expects a call of book" in capsys.readouterr().out
    assert main(["lint", sound, "--tools", str(tools), "--strict"]) == 1
    assert main(["lint", sound, "--config", str(config)]) == 1
    assert "unreachable-threshold" in capsys.readouterr().out
    tools.write_text("{")
    assert main(["lint", sound, "--tools", str(tools)]) == 2
    assert "not JSON" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::adk_scoring.ReadWarning")
def test_public_eval_sets_have_real_findings() -> None:
    found = lint(ads.read(corpus("adk_evalset")))
    assert {"nothing-expected", "unread-expectation"} <= set(codes(found))
    assert "untested-tool" not in codes(found)  # their files declare no tools
