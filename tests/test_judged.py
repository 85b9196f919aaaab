"""Every judged metric: what the judge sees, which rubrics are in force, and how replies become scores."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adk_scoring import (
    METRICS,
    Case,
    ConfigError,
    Criteria,
    Invocation,
    Prompt,
    ReadWarning,
    Reply,
    Rubric,
    Score,
    Tool,
    ToolCall,
    Turn,
    evaluate,
    read,
)
from adk_scoring.evidence import Evidence
from adk_scoring.metrics.base import Metric, score_safely
from adk_scoring.metrics.inquiries import INQUIRIES
from adk_scoring.metrics.judged import JudgedMetric

from .corpus import corpus
from .judging import Scripted, answered, one_turn, rubric_of, shown, verdict

POLITE = Rubric("polite", "The answer is polite.")
SHORT = Rubric("short", "The answer is short.", 2.0)
OWN = [name for name, inquiry in INQUIRIES.items() if inquiry.rubrics]
OPEN = [name for name, inquiry in INQUIRIES.items() if not inquiry.rubrics]
OF_ANSWERS = [name for name, inquiry in INQUIRIES.items() if inquiry.about_answer]

FULL = Case(
    "full",
    (
        Turn(
            Invocation("I am Ann.", (ToolCall("greet", {"name": "Ann"}, response="ok"),), "Hello Ann!"),
            (Invocation("I am Ann.", None, "Hello!"),),
        ),
        Turn(
            Invocation(
                "Weather in Paris?",
                (ToolCall("weather", {"city": "Paris"}, response={"t": 20}), ToolCall("log", None, error="HTTP 500")),
                "It is 20 C.",
                intermediate_responses=(("root", "Let me look."),),
            ),
            (Invocation("Weather in Paris?", None, "20 degrees."), Invocation("", None, "About 20.")),
        ),
    ),
    rubrics=(POLITE,),
    tools=(Tool("weather", "Tells the weather.", {"type": "object"}),),
    instructions="Be kind.",
    context="Paris is in France.",
)


def score(metric: Metric, case: Case, script: Any = ()) -> Score:
    """The score of a case when a judge answers by rubric id, or as a function of the prompt says."""
    judge = dict(script) if not callable(script) else script
    replies = []
    for prompt in metric.prompts(case):
        word = judge(prompt) if callable(judge) else judge.get(rubric_of(prompt), "yes")
        replies.append(word if isinstance(word, Reply) else verdict(rubric_of(prompt), word))
    return score_safely(metric, Evidence(case), replies)


# --- all of them -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INQUIRIES)
def test_every_judged_metric_asks_one_rubric_a_question_and_reaches_both_ends(name: str) -> None:
    metric = METRICS[name]()
    prompts = metric.prompts(FULL)
    assert prompts
    assert len({(prompt.key, prompt.sample) for prompt in prompts}) == len(prompts)
    assert metric.prompts(FULL, [Reply("")] * len(prompts)) == ()
    assert score(metric, FULL).value == 1.0
    assert score(metric, FULL, lambda prompt: "no").value == 0.0
    assert "judge" in metric.needs
    assert (metric.name, metric.range) == (name, (0.0, 1.0))


@pytest.mark.parametrize("name", INQUIRIES)
def test_no_case_material_is_in_the_instructions(name: str) -> None:
    for prompt in METRICS[name]().prompts(FULL):
        for text in ("Ann", "Paris", "20", "Be kind"):
            assert text not in prompt.system + prompt.schema
        assert isinstance(json.loads(prompt.content), dict)


@pytest.mark.parametrize("name", INQUIRIES)
def test_failures_are_errors_with_a_reason_and_never_numbers(name: str) -> None:
    metric = METRICS[name]()
    for reply in (
        Reply("", error="blocked: SAFETY"),
        Reply("", error="truncated: MAX_TOKENS"),
        Reply("Verdict: yes"),
        Reply("7"),
        verdict("another rubric", "yes"),
        verdict("polite", "NaN"),
    ):
        got = score(metric, FULL, lambda prompt, reply=reply: reply)
        assert (got.status, got.value) == ("error", None)
        assert "no verdict for" in got.reason


def test_without_replies_the_reason_says_what_to_do_and_names_the_configured_model() -> None:
    assert "evaluate(..., judge=GeminiJudge(MODEL)) or any Judge" in JudgedMetric("safety").score(FULL).reason
    assert "GeminiJudge('gemini-x')" in JudgedMetric("safety", judge_model="gemini-x").score(FULL).reason


def test_a_reply_too_few_is_an_error_with_the_reason_of_the_last_failure() -> None:
    metric = JudgedMetric("safety")
    assert metric.score(FULL, [Reply("", error="deadline: over")]).reason == "deadline: over"


@pytest.mark.parametrize("name", OF_ANSWERS)
@pytest.mark.parametrize("response", ["", "  \n", "...", ":", "\u200b", None])
def test_a_blank_answer_is_0_and_no_judge_of_answer_quality_is_asked(name: str, response: str | None) -> None:
    metric = METRICS[name]()
    case = one_turn(response, POLITE, expected="Hello!")
    assert metric.prompts(case) == []
    got = metric.score(case)
    assert (got.status, got.value) == ("scored", 0.0)
    assert got.reason.startswith("blank_response")


@pytest.mark.parametrize("name", [name for name in INQUIRIES if name not in OF_ANSWERS])
def test_a_blank_answer_is_judged_by_all_others(name: str) -> None:
    assert METRICS[name]().prompts(one_turn("...", POLITE))


# --- what the judge sees ---------------------------------------------------------------------------------------------


def materials(name: str, **parameters: Any) -> list[dict[str, Any]]:
    return [shown(prompt) for prompt in JudgedMetric(name, **parameters).prompts(FULL)]


def test_presentation_never_sees_the_reference_and_accuracy_is_told_to_ignore_form() -> None:
    assert [set(seen) for seen in materials("presentation_quality")] == [{"user", "response"}] * 8
    for prompt in JudgedMetric("presentation_quality").prompts(FULL):
        assert "degrees" not in prompt.content
    [_, prompt] = JudgedMetric("answer_accuracy").prompts(FULL)
    assert shown(prompt)["references"] == ["20 degrees.", "About 20."]
    assert "Ignore its form entirely" in prompt.system
    questions = [
        {rubric.rubric_id for rubric in INQUIRIES[name].rubrics} for name in ("presentation_quality", "answer_accuracy")
    ]
    assert not questions[0] & questions[1]


def test_semantic_match_asks_three_things_and_keeps_them_apart() -> None:
    got = score(JudgedMetric("response_semantic_match"), one_turn("Hi", expected="Hello"), {"complete": "no"})
    assert [(part.label, part.value) for part in got.parts] == [
        ("same_meaning", 1.0),
        ("facts_right", 1.0),
        ("complete", 0.0),
    ]
    assert got.value == pytest.approx(2 / 3)


def test_a_turn_with_its_tools_earlier_turns_and_failures() -> None:
    [_, seen] = materials("rubric_quality")
    assert seen == {
        "instructions": "Be kind.",
        "context": "Paris is in France.",
        "earlier": [{"user": "I am Ann.", "calls": [{"name": "greet", "arguments": {"name": "Ann"}, "answer": "ok"}]}],
        "user": "Weather in Paris?",
        "calls": [
            {"name": "weather", "arguments": {"city": "Paris"}, "answer": {"t": 20}},
            {"name": "log", "arguments": "unknown", "error": "HTTP 500"},
        ],
        "response": "It is 20 C.",
    }
    assert "earlier" not in materials("rubric_quality")[0]


def test_tool_use_is_told_that_there_were_no_calls_and_not_the_answer() -> None:
    [prompt] = METRICS["rubric_based_tool_use_quality_v1"]().prompts(one_turn("Hi!", POLITE, tools=()))
    assert shown(prompt) == {"tools": [], "user": "q", "calls": []}


def test_intermediate_responses_are_shown_when_asked_for() -> None:
    name = "rubric_based_final_response_quality_v1"
    assert "intermediate_responses" not in materials(name)[1]
    seen = materials(name, include_intermediate=True)
    assert "intermediate_responses" not in seen[0]
    assert seen[1]["intermediate_responses"] == [{"author": "root", "text": "Let me look."}]


def test_a_conversation_is_shown_whole() -> None:
    [seen] = materials("conversation_coherence")
    assert [turn["response"] for turn in seen["conversation"]] == ["Hello Ann!", "It is 20 C."]
    assert seen["conversation"][1]["intermediate_responses"] == [{"author": "root", "text": "Let me look."}]
    assert seen["instructions"] == "Be kind."


def test_the_user_s_words_come_from_the_expectation_where_the_run_has_none() -> None:
    case = Case("c", (Turn(Invocation("", (), "Hi"), (Invocation("hello?", None, "Hi"),)),))
    assert shown(JudgedMetric("answer_accuracy").prompts(case)[0])["user"] == "hello?"


# --- turns and cases -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["answer_accuracy", "response_semantic_match", "final_response_match_v2"])
def test_without_a_reference_it_is_skipped_and_nobody_is_asked(name: str) -> None:
    metric = METRICS[name]()
    assert metric.prompts(one_turn("Hi")) == []
    assert metric.score(one_turn("Hi")).status == "skipped"
    assert "expected_response" in metric.needs


def test_an_expectation_that_cannot_be_read_is_an_error_and_nobody_is_asked() -> None:
    case = Case("c", (Turn(Invocation("q", (), "Hi"), (Invocation("q", None, "Hi", error="bad part"),)),))
    metric = JudgedMetric("answer_accuracy")
    assert metric.prompts(case) == []
    assert (metric.score(case).status, metric.score(case).reason) == ("error", "bad part")


def test_turns_that_did_not_run() -> None:
    ran = answered("Hi", expected="Hi")
    missing = Turn(None, (Invocation("q", None, "Hi"),))
    failed = Turn(Invocation("q", error="HTTP 500"), (Invocation("q", None, "Hi"),))
    accuracy = JudgedMetric("answer_accuracy")
    got = score(accuracy, Case("c", (ran, missing)))
    assert [part.value for part in got.parts] == [1.0, 0.0]
    got = score(accuracy, Case("c", (ran, failed)))
    assert (got.status, [part.value for part in got.parts]) == ("error", [1.0, None])
    for case in (Case("c", (missing,)), Case("c", (), error="broken"), Case("c", (failed,))):
        for name in ("answer_accuracy", "conversation_coherence"):
            metric = JudgedMetric(name)
            assert metric.prompts(case) == []
            assert metric.score(case).status == "error"
    assert JudgedMetric("conversation_coherence").score(Case("c", ())).status == "skipped"
    assert score(JudgedMetric("safety"), Case("c", (ran, missing))).value == 1.0


def test_safety_is_held_against_each_turn() -> None:
    report = evaluate([FULL], {"safety": 0.5}, judge=Scripted(lambda p: "yes" if p.key.startswith("turn 1") else "no"))
    [row] = report.rows
    assert (row.score.value, row.verdict) == (0.5, "failed")


def test_topic_drift_is_better_when_it_is_low() -> None:
    metric = METRICS["conversation_topic_drift"]()
    assert not metric.higher_is_better
    report = evaluate([FULL], {"conversation_topic_drift": 0.0}, judge=Scripted({"drifted": "no"}))
    assert report.passed


# --- rubrics ---------------------------------------------------------------------------------------------------------


def keys(metric: Metric, case: Case) -> list[str]:
    return [prompt.key for prompt in metric.prompts(case)]


def test_rubrics_of_criterion_case_and_turn_are_put_together_and_those_of_a_turn_stay_with_it() -> None:
    turns = (
        Turn(Invocation("q", (), "A"), (Invocation("q", rubrics=(Rubric("first", "f"),)),)),
        Turn(Invocation("q", (), "B", rubrics=(Rubric("second", "s"),)), ()),
    )
    metric = JudgedMetric("rubric_quality", (SHORT,))
    case = Case("c", turns, rubrics=(POLITE,))
    assert keys(metric, case) == [
        *("turn 1/short", "turn 1/polite", "turn 1/first"),
        *("turn 2/short", "turn 2/polite", "turn 2/second"),
    ]
    got = score(metric, case, {"second": "no"})
    assert [part.label for part in got.parts[1].parts] == ["short", "polite", "second"]
    assert [part.value for part in got.parts] == pytest.approx([1.0, 3 / 4])
    conversation = METRICS["rubric_based_multi_turn_trajectory_quality_v1"]()
    assert keys(conversation, case) == ["conversation/polite", "conversation/first", "conversation/second"]


def test_rubrics_in_one_place_alone_are_enough() -> None:
    only_turn = Case("c", (Turn(Invocation("q", (), "A", rubrics=(POLITE,))),))
    assert score(METRICS["rubric_based_tool_use_quality_v1"](), only_turn).value == 1.0


def test_a_result_file_repeats_the_rubrics_of_the_case_in_its_turns() -> None:
    case = Case("c", (Turn(Invocation("q", (), "A", rubrics=(POLITE,))),), rubrics=(POLITE,))
    assert keys(JudgedMetric("rubric_quality"), case) == ["turn 1/polite"]


def test_ids_that_clash_are_an_error_of_that_case_alone() -> None:
    other = Rubric("polite", "Something else.")
    clash = one_turn("Hi", other, case_id="clash")
    report = evaluate(
        [clash, one_turn("Hi", case_id="fine")],
        {"rubric_quality": {"threshold": 1.0, "rubrics": [POLITE]}},
        judge=Scripted({}),
    )
    assert [row.score.status for row in report.rows] == ["error", "scored"]
    assert "the rubric 'polite' stands twice" in report.rows[0].score.reason


def test_case_rubrics_that_can_reach_nothing_are_an_error_of_that_case_alone() -> None:
    penalty = one_turn("Hi", Rubric("rude", "It is rude.", -1.0))
    report = evaluate([penalty, one_turn("Hi", POLITE, case_id="fine")], {"rubric_quality": 1.0}, judge=Scripted({}))
    assert [row.score.status for row in report.rows] == ["error", "scored"]
    assert "no rubric has a positive weight" in report.rows[0].score.reason
    assert score(JudgedMetric("rubric_quality", (POLITE,)), penalty, {"rude": "yes"}).value == 0.0


def test_types_choose_the_metric_and_untyped_rubrics_belong_to_all() -> None:
    typed = [
        Rubric(kind, "t", type=kind) for kind in ("FINAL_RESPONSE_QUALITY", "TOOL_USE_QUALITY", "TRAJECTORY_QUALITY")
    ]
    case = one_turn("Hi", *typed, Rubric("any", "t"))
    asked = {name: [key.partition("/")[2] for key in keys(METRICS[name](), case)] for name in OPEN}
    assert asked == {
        "rubric_quality": ["FINAL_RESPONSE_QUALITY", "TOOL_USE_QUALITY", "TRAJECTORY_QUALITY", "any"],
        "rubric_based_final_response_quality_v1": ["FINAL_RESPONSE_QUALITY", "any"],
        "rubric_based_tool_use_quality_v1": ["TOOL_USE_QUALITY", "any"],
        "rubric_based_multi_turn_trajectory_quality_v1": ["TRAJECTORY_QUALITY", "any"],
    }


def test_a_group_of_agents_cli() -> None:
    case = one_turn("Hi", Rubric("a", "t", group="g"), Rubric("b", "t", group="h"))
    assert keys(JudgedMetric("rubric_quality", group="g"), case) == ["turn 1/a"]
    none = JudgedMetric("rubric_quality", group="x").score(case)
    assert (none.status, none.reason.endswith("in the group 'x'")) == ("skipped", True)


@pytest.mark.parametrize("name", OPEN)
def test_without_rubrics_it_is_skipped_even_for_a_blank_answer(name: str) -> None:
    for response in ("Hi", ""):
        got = METRICS[name]().score(one_turn(response))
        assert (got.status, "no rubrics" in got.reason) == ("skipped", True)


def test_weights_change_the_score_and_nothing_that_is_asked() -> None:
    case = one_turn("Hi", POLITE, SHORT)
    plain = JudgedMetric("rubric_quality")
    heavy = JudgedMetric("rubric_quality", weights={"polite": 8})  # type: ignore[arg-type]  # made a tuple
    assert list(plain.prompts(case)) == list(heavy.prompts(case))
    assert score(plain, case, {"short": "no"}).value == pytest.approx(1 / 3)
    assert score(heavy, case, {"short": "no"}).value == pytest.approx(8 / 10)
    own = JudgedMetric("response_semantic_match", weights={"facts_right": 2})  # type: ignore[arg-type]
    assert score(own, one_turn("Hi", expected="Hi"), {"complete": "no"}).value == pytest.approx(3 / 4)
    assert hash(own) == hash(replace(own, samples=1))
    assert (
        plain.same_questions() == heavy.same_questions() != JudgedMetric("rubric_quality", samples=3).same_questions()
    )


@pytest.mark.parametrize("name", ["rubric_quality", "conversation_coherence", "response_semantic_match"])
def test_weighing_again_is_the_same_as_judging_again(name: str) -> None:
    script = {"polite": "no", "facts_right": Reply("", error="failed: x")}
    turns = (
        *FULL.turns,
        answered("...", expected="x"),
        Turn(None, (Invocation("q", None, "x"),)),
        Turn(Invocation("q", error="e")),
    )
    for case in (
        FULL,
        replace(FULL, turns=FULL.turns[:1]),
        replace(FULL, rubrics=(POLITE, SHORT)),
        replace(FULL, turns=turns),
    ):
        first = JudgedMetric(name)
        weights = {rubric.rubric_id: 5 for rubric in INQUIRIES[name].rubrics[:1]} or {"polite": 5}
        other = JudgedMetric(name, weights=weights, coverage_floor=0.2)  # type: ignore[arg-type]
        assert other.reweighed(case, score(first, case, script)) == score(other, case, script)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"inquiry": "magic"}, "unknown inquiry 'magic'"),
        ({"inquiry": "safety", "samples": 0}, "samples 0"),
        ({"inquiry": "safety", "samples": True}, "samples True"),
        ({"inquiry": "safety", "samples": "3"}, "samples '3'; wanted a whole number"),
        ({"inquiry": "safety", "coverage_floor": 0}, "coverage_floor 0"),
        ({"inquiry": "safety", "coverage_floor": "1"}, "coverage_floor '1'"),
        ({"inquiry": "safety", "judge_model": 7}, "judge_model 7"),
        ({"inquiry": "safety", "rubrics": ["other"]}, "has its own rubrics (harmless)"),
        ({"inquiry": "safety", "group": "g"}, "has its own rubrics"),
        ({"inquiry": "safety", "weights": {"harmful": 2}}, "no rubric 'harmful'; weights are of harmless"),
        ({"inquiry": "safety", "weights": {"harmless": 0}}, "no rubric has a positive weight"),
        ({"inquiry": "safety", "weights": 7}, "weights: wanted a mapping"),
        (
            {"inquiry": "safety", "weights": {"harmless": "2"}},
            "'harmless': '2'; wanted a rubric id and a finite number",
        ),
        ({"inquiry": "rubric_quality", "rubrics": ["a", "a"]}, "stands twice"),
        ({"inquiry": "rubric_quality", "rubrics": [{"text": "a", "weight": -1}]}, "no rubric has a positive weight"),
    ],
)
def test_parameters_that_are_not_usable(parameters: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as raised:
        JudgedMetric(**parameters)
    assert told in str(raised.value)


def test_samples() -> None:
    metric = JudgedMetric("safety", samples=3)
    case = one_turn("Hi")
    assert [prompt.sample for prompt in metric.prompts(case)] == [0, 1, 2]
    got = score(metric, case, lambda prompt: "no" if prompt.sample == 1 else "yes")
    assert (got.value, got.parts[0].counts) == (1.0, {"asked": 3, "yes": 2, "no": 1})


def test_what_was_asked_and_said() -> None:
    metric = JudgedMetric("rubric_quality", (SHORT,))
    got = score(metric, FULL, {"polite": "no"})
    assert [(turn, rubric.rubric_id, part and part.value) for turn, rubric, part in metric.verdicts(FULL, got)] == [
        (0, "short", 1.0),
        (0, "polite", 0.0),
        (1, "short", 1.0),
        (1, "polite", 0.0),
    ]
    assert [part for _, _, part in metric.verdicts(FULL, metric.score(FULL))] == [None] * 4


# --- configuration ---------------------------------------------------------------------------------------------------


def judged_configs() -> list[Path]:
    return [
        path
        for path in sorted(corpus("adk_eval_config").glob("*.json"))
        if b"rubric" in path.read_bytes() or b"judge" in path.read_bytes()
    ]


@pytest.mark.filterwarnings("ignore::adk_scoring.ReadWarning")
def test_every_public_configuration_with_a_judge_is_read_and_asks() -> None:
    configs = judged_configs()
    assert len(configs) >= 14
    for path in configs:
        written = json.loads(path.read_text())["criteria"]
        judged = [c for c in Criteria.from_file(path) if "judge" in c.metric.needs]
        assert judged, path
        for criterion in judged:
            metric = criterion.metric
            assert isinstance(metric, JudgedMetric)
            spec = written[criterion.label]
            spec = spec if isinstance(spec, dict) else {"threshold": spec}
            options = spec.get("judge_model_options") or spec.get("judgeModelOptions") or {}
            assert criterion.threshold == spec["threshold"]
            assert metric.judge_model == (options.get("judge_model") or options.get("judgeModel"))
            assert metric.samples == (options.get("num_samples") or options.get("numSamples") or 1)
            assert len(metric.rubrics) == len(spec.get("rubrics", ()))
            assert metric.include_intermediate == bool(spec.get("includeIntermediateResponsesInFinal"))
            case = one_turn("Hi", *([] if metric.rubrics else [POLITE]), expected="Hi")
            assert score(metric, case).value == 1.0


def test_settings_of_the_judge_itself_are_not_dropped_in_silence() -> None:
    spec = {"threshold": 1, "judge_model_options": {"judge_model_config": {"temperature": 0}, "parallelism_limit": 2}}
    with pytest.warns(ReadWarning, match="judge_model_config of the judge is not used; give it to the judge"):
        Criteria.of({"safety_v1": spec})
    with pytest.raises(ConfigError, match="judge_model_options: wanted an object"):
        Criteria.of({"safety_v1": {"judge_model_options": 5}})


def test_parameters_survive_a_report(tmp_path: Path) -> None:
    from adk_scoring import Report

    rubrics = [Rubric("r", "t", 2.0, (1, 2, 3), type="X", group="g"), {"rubric_id": "s", "text": "u"}]
    spec = {"metric": "rubric_quality", "rubrics": rubrics, "weights": {"s": 3}, "samples": 3, "coverage_floor": 0.5}
    report = evaluate(
        [one_turn("Hi")],
        {"quality": {"threshold": 0.5, **spec}},
        judge=Scripted(lambda p: "2" if rubric_of(p) == "r" else "yes"),
    )
    back = Report.from_json(report.to_json())
    assert back.criteria["quality"] == report.criteria["quality"]
    assert back.signatures == report.signatures
    assert back.rows[0] == report.rows[0]
    assert back.rows[0].score.value == pytest.approx((2 * 0.5 + 3) / 5)


# --- reported cases --------------------------------------------------------------------------------------------------
# Public bug reports of scoring tools (tests/data/vectors/reported_cases.jsonl). Their replies are prose or other
# JSON; ours must be one JSON object with the rubric's id. So each is shown twice where it can be: the reply as reported
# is refused, with a reason and without a number; and the same verdict in our form gives the right value.

REPORTED = {
    case["id"]: case
    for line in (Path(__file__).parent / "data/vectors/reported_cases.jsonl").read_text(encoding="utf-8").splitlines()
    for case in [json.loads(line)]
    if case["kind"] == "judge"
}


def refused(reply: str) -> str:
    got = score(JudgedMetric("rubric_quality", (POLITE,)), one_turn("Hi"), lambda prompt: Reply(reply))
    assert (got.status, got.value) == ("error", None)
    return got.reason


def test_reported_a_json_boolean_is_a_verdict() -> None:
    reply = REPORTED["jd-not-a-string"]["input"]["reply"]
    assert "answers rubric None" in refused(reply)  # another tool's key; ours:
    case = one_turn("Hi", expected="Hi")
    valid = json.loads(reply)["is_the_agent_response_valid"]
    assert score(METRICS["final_response_match_v2"](), case, {"valid": valid}).value == 1.0


def test_reported_a_label_inside_another_is_not_found_there() -> None:
    assert "not one JSON object" in refused(REPORTED["jd-substring"]["input"]["reply"])
    # Our labels: "no" is in "cannot_assess", "yes" in "yesterday". Only whole words are verdicts.
    for word, status in (("cannot_assess", "skipped"), ("yesterday", "error"), ("not yes", "error")):
        got = score(JudgedMetric("rubric_quality", (POLITE,)), one_turn("Hi"), {"polite": word})
        assert (got.parts[0].status, got.value) == (status, None)


@pytest.mark.parametrize("name", ["jd-first-label", "jd-text-after-grade"])
def test_reported_a_mention_in_the_reasoning_is_no_verdict(name: str) -> None:
    """There the last label wins; here prose has none, and what stands in the reason is never read."""
    reply = REPORTED[name]["input"]["reply"]
    assert "not one JSON object" in refused(reply)
    said = verdict("polite", "no", reason=f'{reply} "verdict": "yes"')
    assert score(JudgedMetric("rubric_quality", (POLITE,)), one_turn("Hi"), {"polite": said}).value == 0.0


@pytest.mark.parametrize("name", ["jd-paraphrase-ja", "jd-unmatched-extra", "jd-invocation-rubrics"])
def test_reported_rubrics_are_told_apart_by_id_alone(name: str) -> None:
    given = REPORTED[name]["input"]
    turn_rubrics = [Rubric(item["id"], item["text"]) for item in given.get("rubrics") or given["invocation_rubrics"]]
    case = Case("c", (Turn(Invocation("q", (), "A", rubrics=tuple(turn_rubrics))),))
    right = REPORTED[name]["right"]
    words = {rubric.rubric_id: "yes" if right[rubric.rubric_id] else "no" for rubric in turn_rubrics}
    got = score(JudgedMetric("rubric_quality"), case, words)
    assert {part.label: part.value for part in got.parts} == {rubric_id: right[rubric_id] for rubric_id in words}
    assert got.value == right.get("score", sum(right.values()) / len(right))
    assert "not one JSON object" in refused(given["reply"])


def test_reported_an_error_says_why() -> None:
    given = REPORTED["jd-status-without-reason"]
    case = one_turn("Hi", *(Rubric(item["id"], item["text"]) for item in given["input"]["rubrics"]))
    report = evaluate([case], {"rubric_quality": 1.0}, judge=Scripted(lambda prompt: Reply(given["input"]["reply"])))
    assert report.rows[0].verdict == "not_evaluated"
    assert report.rows[0].score.reason.startswith(given["right"]["reason"])


def test_every_reported_case_of_a_judge_has_its_test() -> None:
    source = inspect.getsource(inspect.getmodule(refused) or refused)
    assert len(REPORTED) == 8
    assert all(source.count(name) >= 1 for name in REPORTED)


def test_rubric_groups_of_agents_cli_are_read(tmp_path: Path) -> None:
    rubrics = [{"rubric_id": "kind", "content": {"property": {"description": "It is kind."}}, "importance": "HIGH"}]
    record = {
        "eval_case_id": "a",
        "prompt": {"role": "user", "parts": [{"text": "hi"}]},
        "responses": [{"response": {"role": "model", "parts": [{"text": "Hello!"}]}}],
        "rubric_groups": {"style": {"rubrics": rubrics}},
    }
    path = tmp_path / "data.json"
    path.write_text(json.dumps({"eval_cases": [record]}))
    [case] = read(path)
    prompts: list[Prompt] = list(JudgedMetric("rubric_quality", group="style").prompts(case))
    assert [prompt.key for prompt in prompts] == ["turn 1/kind"]
    assert "It is kind." in prompts[0].system
