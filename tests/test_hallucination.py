"""Hallucination: the split, which may lose nothing, and the question about each sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring import Case, ConfigError, Invocation, Reply, Rubric, Score, Signature, ToolCall, Turn, evaluate
from adk_scoring.evidence import Evidence
from adk_scoring.metrics import hallucination
from adk_scoring.metrics.base import score_safely
from adk_scoring.metrics.hallucination import Hallucination
from adk_scoring.metrics.questions import visible

from .judging import Scripted, answered, one_turn, shown, verdict

ANSWER = "Hello! It is 20 °C in Paris. It will rain."
SENTENCES = ["Hello!", "It is 20 °C in Paris.", "It will rain."]
CASE = Case(
    "c",
    (
        Turn(Invocation("I am Ann.", (), "Hi Ann.")),
        Turn(Invocation("Weather?", (ToolCall("weather", {}, response={"t": 20}),), ANSWER)),
    ),
    instructions="Be kind.",
    context="Paris is in France.",
)


def split(*sentences: str) -> Reply:
    return Reply(json.dumps({"sentences": sentences}))


def by_full_stops(prompt: Any) -> Any:
    """Split at ``. `` and ``! ``, and say no to what tells of rain."""
    seen = shown(prompt)
    if "sentences" in prompt.key:
        return split(*seen["response"].replace("! ", "!|").replace(". ", ".|").split("|"))
    return verdict("supported", "no" if "rain" in seen["sentence"] else "yes", "the tool says nothing of it")


def score(case: Case, answer: Any = by_full_stops, **parameters: Any) -> Score:
    metric = Hallucination(**parameters)
    replies: list[Reply] = []
    while prompts := metric.prompts(case, tuple(replies)):
        replies += [answer(prompt) for prompt in prompts]
    return score_safely(metric, Evidence(case), replies)


def test_two_rounds_and_the_share_that_is_borne_out() -> None:
    metric = Hallucination()
    first = metric.prompts(CASE)
    assert [prompt.key for prompt in first] == ["turn 1/sentences", "turn 2/sentences"]
    assert [shown(prompt) for prompt in first] == [{"response": "Hi Ann."}, {"response": ANSWER}]
    replies = [split("Hi Ann."), split(*SENTENCES)]
    second = metric.prompts(CASE, replies)
    assert [prompt.key for prompt in second] == [
        "turn 1/sentence 1",
        *(f"turn 2/sentence {number}" for number in (1, 2, 3)),
    ]
    assert shown(second[2]) == {
        "sentence": "It is 20 °C in Paris.",
        "instructions": "Be kind.",
        "context": "Paris is in France.",
        "earlier": [{"user": "I am Ann.", "calls": []}],
        "user": "Weather?",
        "calls": [{"name": "weather", "arguments": {}, "answer": {"t": 20}}],
    }
    assert metric.prompts(CASE, [*replies, *[verdict("supported", "yes")] * 4]) == ()
    got = score(CASE)
    assert got.value == pytest.approx((1 + 2 / 3) / 2)
    assert [part.value for part in got.parts[1].parts] == [1.0, 1.0, 0.0]
    assert got.parts[1].parts[2].label == "sentence 3: It will rain."
    assert "sentence 3: It will rain.: no: the tool says nothing of it" in got.parts[1].reason


def test_adk_s_id_and_the_cases_without_a_sentence() -> None:
    assert (Hallucination().name, Hallucination(adk=True).name) == ("hallucination", "hallucinations_v1")
    for response in ("", "...", "👍", None, "\u3164"):
        got = score(one_turn(response))
        assert (got.status, got.reason) == ("skipped", "the answer has no sentence")
    assert score(Case("c", (), error="broken")).status == "error"
    assert score(Case("c", (Turn(Invocation("q", error="HTTP 500")),))).reason == "HTTP 500"
    got = score(Case("c", (answered("Hi there."), answered(""))))
    assert (got.value, [part.status for part in got.parts]) == (1.0, ["scored", "skipped"])


def test_without_a_judge() -> None:
    assert "GeminiJudge('g')" in Hallucination(judge_model="g").score(CASE).reason
    report = evaluate([CASE], {"hallucination": 1.0})
    assert report.rows[0].score.status == "error"
    assert Hallucination().score(one_turn("")).status == "skipped"


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply("", error="blocked: SAFETY"), "the answer could not be split: blocked: SAFETY"),
        (Reply("1. Hello!"), "not one JSON object"),
        (Reply('{"parts": []}'), "no list of sentences"),
        (Reply('{"sentences": ["Hello!", 7]}'), "no list of sentences"),
        (split("Hello!", "It is 20 °C in Paris."), "not the response, word for word"),  # one was dropped
        (split("Hello!", "It is 21 °C in Paris.", "It will rain."), "not the response"),
        (split(*SENTENCES, "And more."), "not the response"),
        (split(*reversed(SENTENCES)), "not the response"),
        (split(), "not the response"),
    ],
)
def test_a_split_that_loses_or_changes_something_is_an_error(reply: Reply, told: str) -> None:
    case = one_turn(ANSWER)
    got = score(case, lambda prompt: reply)
    assert (got.status, got.value) == ("error", None)
    assert told in got.reason
    if reply.error is None:
        assert told in str(Hallucination().reply_problem(Hallucination().prompts(case)[0], reply))


def test_a_good_split_and_a_good_verdict_have_no_problem() -> None:
    metric = Hallucination()
    prompts = metric.prompts(CASE)
    assert metric.reply_problem(prompts[1], split(*SENTENCES)) is None
    [asked, *_] = metric.prompts(CASE, [split("Hi Ann."), split(*SENTENCES)])
    assert metric.reply_problem(asked, verdict("supported", "yes")) is None
    assert metric.reply_problem(asked, verdict("supported", "perhaps")) is not None


@pytest.mark.parametrize(
    ("response", "said", "cut"),
    [
        (
            "It is -5 °C. The sky (now) is blue.",
            ["It is 5 C", "The sky now is blue"],
            ["It is -5 °C.", "The sky (now) is blue."],
        ),
        ("你好。「今天」很好。", ["你好", "今天很好"], ["你好。", "「今天」很好。"]),
        ("Low: 1. -5 is lower.", ["Low: 1", "5 is lower"], ["Low: 1.", "-5 is lower."]),
        ("**Hi**!\n\n- one\n- two", ["Hi", "one", "two"], ["**Hi**!", "- one", "- two"]),
        ("Hi", ["", "Hi", "..."], ["Hi"]),
        ("One.Two", ["One", "Two"], ["One.", "Two"]),
    ],
)
def test_sentences_are_cut_out_of_the_answer_itself(response: str, said: list[str], cut: list[str]) -> None:
    """A judge that drops a minus or a mark-up sign changes nothing: only its boundaries count."""
    prompts = Hallucination().prompts(one_turn(response), [split(*said)])
    assert [shown(prompt)["sentence"] for prompt in prompts] == cut


@given(st.text(min_size=1, max_size=40), st.lists(st.integers(0, 40), max_size=4))
def test_nothing_of_an_answer_gets_lost(response: str, places: Sequence[int]) -> None:
    ends = sorted({0, len(visible(response)), *places})
    said = [visible(response)[start:end] for start, end in pairwise(ends)]
    case = one_turn(response)
    metric = Hallucination()
    if not metric.prompts(case):
        assert not any(category(char)[0] in "LN" for char in visible(response))
        return
    prompts = metric.prompts(case, [split(*said)])
    joined = "".join(shown(prompt)["sentence"] for prompt in prompts)
    assert "".join(joined.split()) == "".join(visible(response).split())


def test_samples_floor_and_unscored_sentences() -> None:
    def unsure(prompt: Any) -> Any:
        if "sentences" in prompt.key:
            return by_full_stops(prompt)
        if "rain" in shown(prompt)["sentence"]:
            return Reply("", error="unavailable: HTTP 503")
        return verdict("supported", "no" if prompt.sample == 0 else "yes")

    case = one_turn(ANSWER)
    assert score(case, unsure, samples=3).status == "error"
    got = score(case, unsure, samples=3, coverage_floor=0.5)
    assert (got.value, got.bounds) == (1.0, (2 / 3, 1.0))
    assert [part.counts.get("yes", 0) for part in got.parts] == [2, 2, 0]


def test_what_was_asked_and_said() -> None:
    listed = Hallucination().verdicts(CASE, score(CASE))
    assert [(turn, part and part.value) for turn, _, part in listed] == [(0, 1.0), (1, 1.0), (1, 1.0), (1, 0.0)]
    assert listed[3][1].rubric_id == "sentence 3: It will rain."


def test_through_evaluate() -> None:
    judge = Scripted(by_full_stops)
    report = evaluate(
        [CASE], {"hallucinations_v1": {"threshold": 0.8, "judge_model_options": {"num_samples": 2}}}, judge=judge
    )
    assert report.rows[0].score.value == pytest.approx(5 / 6)
    assert len(judge.asked) == 2 + 4 * 2


def test_the_signature_covers_both_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Signature.of(Hallucination()).prompts
    monkeypatch.setattr(hallucination, "_RUBRIC", Rubric("supported", "Another wording."))
    assert Signature.of(Hallucination()).prompts != before


@pytest.mark.parametrize("parameters", [{"samples": 0}, {"coverage_floor": 2}, {"judge_model": 1}])
def test_parameters_that_are_not_usable(parameters: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(parameters))):
        Hallucination(**parameters)


def test_an_evaluation_that_stops_after_the_first_round_is_an_error() -> None:
    replies = [split("Hi Ann."), split(*SENTENCES)]
    got = Hallucination().score(CASE, replies)
    assert (got.status, "nobody was asked" in got.parts[0].reason) == ("error", True)
    got = Hallucination().score(CASE, [Reply("", error="failed: x")])
    assert (got.status, got.reason) == ("error", "failed: x")
