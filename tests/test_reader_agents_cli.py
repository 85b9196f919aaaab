"""agents-cli datasets, traces, grade results and configurations."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from adk_scoring import METRICS, ConfigError, Criteria
from adk_scoring.criteria.agents_cli import EQUIVALENTS
from adk_scoring.errors import ReadError, ReadWarning
from adk_scoring.model import Case, Invocation, RecordedScore, Rubric, Tool, ToolCall, Turn
from adk_scoring.readers import read

from .corpus import corpus

DATA = Path(__file__).parent / "data/agents_cli"


def dataset(**case: Any) -> dict[str, Any]:
    return {"eval_cases": [{"eval_case_id": "c", **case}]}


def one(**case: Any) -> Case:
    (found,) = read(dataset(**case))
    return found


def asked(text: str, *calls: ToolCall, response: str | None = None, **rest: Any) -> Turn:
    return Turn(None, (Invocation(text, calls or None, response, **rest),))


class TestDataset:
    def test_prompts_and_references(self) -> None:
        path = DATA / "dataset.json"
        greeting, lamp, follow_up = read(path)
        assert greeting == Case("greeting", (asked("Hello?"),), source=(str(path), "eval_cases[0]"))
        assert lamp == Case(
            "lamp",
            (asked("Turn the lamp off.", ToolCall("find", {"room": "hall"}), ToolCall("off"), response="It is off."),),
            rubrics=(
                Rubric("polite", "It is polite.", group="tone"),
                Rubric("short", "It is short.", type="LENGTH", group="tone"),
                Rubric("facts_0", "It is true.", group="facts"),
            ),
            context="There is one lamp.",
            metadata={"importance": {"polite": "HIGH"}, "owner": "me"},
            source=(str(path), "eval_cases[1]"),
        )
        run = Invocation("Is the lamp on?", (), "Yes.", invocation_id="t-0")
        assert follow_up == Case(
            "follow_up",
            (Turn(run), asked("Turn it off.", ToolCall("off", {"lamp": 1}), response="Off.")),
            instructions="You run a house.",
            source=(str(path), "eval_cases[2]"),
        )

    def test_camel_case_a_bare_case_and_a_case_without_an_id(self) -> None:
        (case,) = read({"evalCaseId": "a", "prompt": "Hi", "referenceTrajectory": [{"tool_name": "f"}]})
        assert (case.case_id, case.turns) == ("a", (asked("Hi", ToolCall("f")),))
        assert [case.case_id for case in read({"eval_cases": [{"prompt": "Hi"}]})] == ["eval_cases[0]"]

    def test_no_expectation_and_an_expectation_of_nothing(self) -> None:
        assert one(prompt="Hi", reference_trajectory=[]).turns == (Turn(None, (Invocation("Hi", (), None),)),)
        (case,) = read(dataset(prompt="Hi"), match_nothing_as_empty=True)
        assert case.turns == (Turn(None, (Invocation("Hi", (), None),)),)

    def test_more_trajectories_than_turns(self) -> None:
        with pytest.warns(ReadWarning, match="'reference_trajectory' has 2 lists for 1 turns"):
            case = one(prompt="Hi", reference_trajectory=[[{"name": "f"}], [{"name": "g"}]])
        assert case.turns == (asked("Hi", ToolCall("f")),)

    def test_expectations_that_nobody_reads_are_named(self) -> None:
        with pytest.warns(ReadWarning, match="'expected_tools' in eval_cases"):
            assert one(prompt="Hi", expected_tools=["f"]).metadata == {"expected_tools": ["f"]}

    def test_a_case_without_anything(self) -> None:
        with pytest.warns(ReadWarning, match="without 'prompt' and turns"):
            assert one(prompt=None).turns == ()

    def test_a_rubric_without_a_text(self) -> None:
        with pytest.warns(ReadWarning, match="a rubric without a text, left out"):
            assert one(prompt="Hi", rubric_groups={"g": [{"rubric_id": "r"}]}).rubrics == ()


class TestTrace:
    def test_calls_answers_thoughts_and_tools(self) -> None:
        lamp, no_prompt, *_ = read(DATA / "trace.json")
        (turn,) = lamp.turns
        assert turn == Turn(
            Invocation(
                "Turn the lamp off.",
                (
                    ToolCall("find", {"room": "hall"}, call_id="c-1", author="home", step=0, response={"lamp": 1}),
                    ToolCall(
                        "find",
                        {"room": "bath"},
                        call_id="c-2",
                        author="home",
                        step=0,
                        response={"error": "no lamp"},
                        error="no lamp",
                    ),
                    ToolCall("off", {"lamp": 1}, author="home", step=1),
                ),
                "It is off.",
            )
        )
        schema = {"type": "object", "properties": {"room": {"type": "string"}}}
        assert lamp.tools == (Tool("find", "Finds a device.", schema, agent="home"),)
        assert lamp.instructions == "You run a house."
        assert no_prompt.turns == (Turn(Invocation("Hi", (), "Hello!")),)

    def test_several_responses_are_trials(self) -> None:
        *_, first, second = read(DATA / "trace.json")
        assert [(case.case_id, case.trial) for case in (first, second)] == [("sampled", 0), ("sampled", 1)]
        # A response without a trace says nothing about calls.
        assert [case.turns[0].actual for case in (first, second)] == [
            Invocation("Say yes.", None, "Yes."),
            Invocation("Say yes.", None, "No."),
        ]

    def test_a_response_fills_a_trace_that_lacks_it(self) -> None:
        call = {"author": "a", "content": {"parts": [{"function_call": {"name": "f"}}]}}
        case = one(prompt="Hi", agent_data={"turns": [{"events": [call]}]}, responses=[{"text": "Hello"}])
        assert case.turns == (Turn(Invocation("Hi", (ToolCall("f", author="a", step=0),), "Hello")),)

    def test_events_without_turns_and_what_else_the_data_holds(self) -> None:
        events = [{"author": "user", "text": "Hi"}, {"author": "a", "text": "Hello"}]
        case = one(agent_data={"events": events, "version": 2})
        assert (case.turns, case.metadata) == ((Turn(Invocation("Hi", (), "Hello")),), {"agent_data": {"version": 2}})


class TestGrades:
    def test_scores_and_rubric_verdicts(self) -> None:
        with pytest.warns(ReadWarning, match="not in 'evaluation_dataset'"):
            second, first, lost = read(DATA / "results.json")
        assert (second.case_id, second.turns) == ("b", (Turn(Invocation("B?", None, "B.")),))
        assert second.recorded == (
            RecordedScore("general_quality", 0.5, reason="One of two."),
            RecordedScore("general_quality", 1.0, verdict="passed", rubric_id="polite", reason="It says please."),
            RecordedScore("general_quality", 0.0, verdict="failed", rubric_id="It is short."),
            RecordedScore("general_quality", None, verdict="not_evaluated", rubric_id="rubric_2"),
            RecordedScore("safety", None, verdict="not_evaluated", reason="400: several turns"),
        )
        assert (first.case_id, first.recorded) == ("a", (RecordedScore("safety", 1),))
        assert (lost.case_id, lost.turns, lost.recorded) == ("eval_cases[9]", (), (RecordedScore("safety", 0.0),))

    def test_candidates_in_one_dataset_and_in_several(self) -> None:
        def graded(*datasets: Any) -> list[Case]:
            results = [{"metric_results": {"safety": {"score": score}}} for score in (0.0, 1.0)]
            one_case = {"eval_case_index": 0, "response_candidate_results": results}
            return read({"eval_case_results": [one_case], "evaluation_dataset": list(datasets)})

        def answered(*texts: str) -> dict[str, Any]:
            return dataset(prompt="Hi", responses=[{"response": {"parts": [{"text": text}]}} for text in texts])

        for cases in (graded(answered("x", "y")), graded(answered("x"), answered("y"))):
            assert [(c.trial, c.turns[0].actual and c.turns[0].actual.response) for c in cases] == [(0, "x"), (1, "y")]
            assert [c.recorded[0].value for c in cases] == [0.0, 1.0]

    def test_a_broken_score_leaves_the_others(self) -> None:
        document = json.loads((DATA / "results.json").read_text())
        del document["eval_case_results"][2]
        document["eval_case_results"][0]["response_candidate_results"][0]["metric_results"] = 5
        broken, good = read(document)
        assert broken.error is not None
        assert "metric_results" in broken.error or "response_candidate_results" in broken.error
        assert (good.error, good.recorded) == (None, (RecordedScore("safety", 1),))

    def test_a_grade_without_results(self) -> None:
        (case,) = read(
            {"eval_case_results": [{"response_candidate_results": []}], "evaluation_dataset": dataset(prompt="Hi")},
            format="agents_cli",
        )
        assert (case.case_id, case.recorded) == ("c", ())


@pytest.mark.parametrize(
    ("broken", "place", "says"),
    [
        (5, "eval_cases[1]", "found a number, wanted an object"),
        ({"prompt": 5}, "eval_cases[1].prompt", "found a number, wanted a content"),
        ({"prompt": "a", "agent_data": []}, "eval_cases[1].agent_data", "found a list, wanted an object"),
        ({"agent_data": {"turns": 5}}, "eval_cases[1].agent_data.turns", "found a number, wanted a list"),
        ({"agent_data": {"turns": [[]]}}, "eval_cases[1].agent_data.turns[0]", "found a list, wanted an object"),
        ({"agent_data": {"turns": [{"events": 5}]}}, "eval_cases[1].agent_data.turns[0].events", "wanted a list"),
        ({"agent_data": {"agents": {"a": 5}}}, "eval_cases[1].agent_data.agents.a", "found a number"),
        ({"prompt": "a", "responses": {}}, "eval_cases[1].responses", "found an object, wanted a list"),
        ({"prompt": "a", "reference_trajectory": [5]}, "eval_cases[1].reference_trajectory[0]", "wanted a call"),
        ({"prompt": "a", "rubric_groups": []}, "eval_cases[1].rubric_groups", "found a list, wanted an object"),
        ({"prompt": "a", "adk_scoring": 5}, "eval_cases[1].adk_scoring", "found a number, wanted an object"),
    ],
)
def test_one_broken_case_leaves_the_others(broken: Any, place: str, says: str) -> None:
    good = {"eval_case_id": "good", "prompt": "Hi"}
    first, error, last = read({"eval_cases": [good, broken, {**good, "eval_case_id": "last"}]})
    assert (first.error, last.error) == (None, None)
    assert error.error is not None
    assert error.error.startswith(f"{place}: ")
    assert says in error.error
    assert (error.turns, error.source[1]) == ((), "eval_cases[1]")


def test_a_broken_event_is_an_error_of_its_turn_or_case() -> None:
    case = one(prompt="Hi", agent_data={"turns": [{"events": [{"author": "user", "text": "Hi"}, 5]}]})
    assert "found a number" in str(case.error or (case.turns[0].actual and case.turns[0].actual.error))


def test_an_eval_set_is_none_of_these() -> None:
    (case,) = read(
        {"eval_set_id": "s", "eval_cases": [{"eval_case_id": "a", "conversation": [{"user_content": "Hi"}]}]}
    )
    assert case.turns[0].expected[0].user_text == "Hi"
    with pytest.raises(ReadError, match="wanted a list"):
        read({"eval_cases": {}}, format="agents_cli")


def test_public_files_agree_with_a_direct_count() -> None:
    seen = []
    for path in sorted(corpus("agents_cli_dataset").glob("*.json")):
        wanted = json.loads(path.read_text())["eval_cases"]
        if any("expected_response_contains" in record for record in wanted):
            with pytest.warns(ReadWarning, match="expected_response_contains"):
                cases = read(path)
        else:
            cases = read(path)
        assert [case.error for case in cases] == [None] * len(wanted)
        for case, record in zip(cases, wanted, strict=True):
            assert case.case_id == record.get("eval_case_id", record.get("eval_id"))
            ((side,),) = [turn.expected for turn in case.turns]
            prompt = record["prompt"]
            assert side.user_text == (prompt if isinstance(prompt, str) else prompt["parts"][0]["text"])
            listed = record.get("reference_trajectory")
            assert (side.tool_calls and len(side.tool_calls)) == (listed and len(listed) if listed else side.tool_calls)
            assert len(case.rubrics) == sum(len(g["rubrics"]) for g in record.get("rubric_groups", {}).values())
            seen.append((len(side.tool_calls or ()), len(case.rubrics)))
    assert (len(seen), sum(calls for calls, _ in seen), sum(rubrics for _, rubrics in seen)) == (13, 8, 2)


# --- configurations ---------------------------------------------------------------------------------------------

CONFIG = """\
# what to run
metrics_to_run:
  - trajectory_in_order_match
  - name: response_rouge1
    threshold: 0.5
    metric_spec_parameters: {stat: recall}
  - safety
  - {name: final_response_match, metric_spec_parameters: {model: big}}
  - grounding
  - tone
  - steps
custom_metrics:
  - name: steps
    custom_function: |
      def evaluate(instance):
          raise SystemExit("run!")
  - name: tone
    prompt_template: "Is {response} polite?"
  - {name: spare, custom_function_file: spare.py}
  - {name: odd}
"""
TOLD = (
    "final_response_match: 'metric_spec_parameters' are those of the managed metric, not used",
    "grounding has no equivalent here",
    "steps is a custom metric in code; its code is not run",
    "tone is a custom prompt for a judge, not asked; write it as a rubric of rubric_quality",
    "spare is a custom metric in code; its code is not run",
    "odd has no equivalent here",
)


class TestConfig:
    @pytest.mark.parametrize("suffix", [".yaml", ".yml", ".json"])
    def test_names_are_mapped_and_the_rest_is_named(self, suffix: str, tmp_path: Path) -> None:
        yaml = pytest.importorskip("yaml")
        path = tmp_path / f"eval_config{suffix}"
        path.write_text(CONFIG if suffix != ".json" else json.dumps(yaml.safe_load(CONFIG)))
        with pytest.warns(ReadWarning) as caught:
            criteria = Criteria.from_file(path)
        assert criteria.labels == ("trajectory_in_order_match", "response_rouge1", "safety", "final_response_match")
        assert [criterion.threshold for criterion in criteria] == [None, 0.5, None, None]
        assert [criterion.metric.name for criterion in criteria][2:] == ["safety", "response_semantic_match"]
        assert "recall" in repr(criteria["response_rouge1"].metric)
        assert criteria.ignored == TOLD
        assert [str(warning.message) for warning in caught] == [f"{path}: {words}" for words in TOLD]

    def test_every_equivalent_is_a_metric(self) -> None:
        assert set(EQUIVALENTS.values()) <= METRICS.keys()
        assert len(Criteria.from_config({"metrics_to_run": sorted(EQUIVALENTS)}, where="x")) == len(EQUIVALENTS)

    def test_a_custom_metric_of_our_name_is_ours(self) -> None:
        content = {"custom_metrics": [{"name": "trajectory_f1", "custom_function_file": "f.py"}]}
        with pytest.warns(ReadWarning, match="the metric that has this name here is used"):
            assert Criteria.from_config(content, where="x").labels == ("trajectory_f1",)

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            ({"metrics_to_run": 5}, "x: metrics_to_run: found a number, wanted a list of names"),
            ({"metrics_to_run": [5]}, r"x: metrics_to_run\[0\]: wanted a name or an object with 'name', found 5"),
            ({"metrics_to_run": [], "custom_metrics": [{}]}, r"x: custom_metrics\[0\]: wanted a name"),
            ({"metrics_to_run": ["a"], "custom_metrics": {}}, "x: custom_metrics: found an object"),
        ],
    )
    def test_unusable(self, content: Any, says: str) -> None:
        with pytest.raises(ConfigError, match=says):
            Criteria.from_config(content, where="x")

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("a: [1", "not YAML"),
            ("a: &x [1]\nb: *x", r"holds a YAML alias \(\*name\); write its value out"),
            ("!!python/object/apply:os.system ['true']", "not YAML"),
            ("[" * 5000, "not "),
            ("- a", "wanted an object"),
        ],
    )
    def test_hostile_yaml(self, text: str, says: str, tmp_path: Path) -> None:
        pytest.importorskip("yaml")
        path = tmp_path / "eval_config.yaml"
        path.write_text(text)
        with pytest.raises(ConfigError, match=says):
            Criteria.from_file(path)

    def test_without_the_extra(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "yaml", None)
        path = tmp_path / "eval_config.yaml"
        path.write_text("metrics_to_run: []")
        with pytest.raises(ConfigError, match=r"pip install 'adk_scoring\[yaml\]'"):
            Criteria.from_file(path)

    def test_public_files(self) -> None:
        for path in corpus("agents_cli_eval_config").glob("*.json"):
            with pytest.warns(ReadWarning, match="its code is not run"):
                criteria = Criteria.from_file(path)
            content = json.loads(path.read_text())
            names = {entry["name"] for entry in content["custom_metrics"]}
            assert all(any(words.startswith(name) for words in criteria.ignored) for name in names)
            assert len(criteria) == 0
