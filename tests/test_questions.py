"""One question: its wording and form, every wrong reply, and the settling of samples."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring import Prompt, Reply, Rubric
from adk_scoring.metrics.questions import (
    Question,
    Verdict,
    document,
    is_blank,
    read_json,
    read_verdict,
    rubric_asked,
    settle,
    visible,
)

from .build import json_values, texts
from .judging import verdict

POLITE = Rubric("polite", "The answer is polite.")
GRADE = Rubric("grade", "How good is it?", levels=(1, 2, 3, 4, 5))


def text_of(**fields: Any) -> str:
    return json.dumps({"rubric_id": "polite", "reason": "r", "verdict": "yes", **fields})


# --- what is asked ---------------------------------------------------------------------------------------------------


def test_a_question_has_the_rubric_in_the_system_instruction_and_the_material_beside_it() -> None:
    first, second = Question("turn 1/polite", POLITE, '{"response": "Hi"}').prompts(2)
    assert "The answer is polite." in first.system
    assert first.content == second.content == '{"response": "Hi"}'
    assert (first.sample, second.sample) == (0, 1)
    assert (first.system, first.schema, first.key) == (second.system, second.schema, "turn 1/polite")
    schema = json.loads(first.schema)
    assert schema["properties"]["rubric_id"]["enum"] == ["polite"]
    assert schema["properties"]["verdict"]["enum"] == ["yes", "no", "cannot_assess"]
    assert schema["required"] == ["rubric_id", "reason", "verdict"]


def test_a_scale_names_its_levels_and_which_end_is_good() -> None:
    [prompt] = Question("k", GRADE, "{}").prompts(1)
    assert "1, 2, 3, 4, 5: 1 is the worst, 5 the best" in prompt.system
    assert json.loads(prompt.schema)["properties"]["verdict"]["enum"] == ["1", "2", "3", "4", "5", "cannot_assess"]
    assert rubric_asked(prompt) == Rubric("grade", "", levels=(1, 2, 3, 4, 5))


def test_the_weight_is_not_a_part_of_the_question() -> None:
    light, heavy = (Question("k", Rubric("r", "text", weight), "{}").prompts(1) for weight in (1, -7.5))
    assert light == heavy


def test_braces_in_a_rubric_are_text() -> None:
    [prompt] = Question("k", Rubric("r", "It is {json} {0} {{x}}"), "{}").prompts(1)
    assert "It is {json} {0} {{x}}" in prompt.system


@given(texts.filter(bool))
def test_the_answer_to_any_rubric_id_can_be_given(rubric_id: str) -> None:
    [prompt] = Question("k", Rubric(rubric_id, "text"), "{}").prompts(1)
    prompt.system.encode()
    asked = json.loads(prompt.schema)["properties"]["rubric_id"]["enum"][0]
    reply = json.dumps({"rubric_id": asked, "reason": "", "verdict": "no"})
    assert read_verdict(Rubric(rubric_id, "text"), reply) == Verdict(0.0, "no", "")
    assert read_verdict(rubric_asked(prompt), reply) == Verdict(0.0, "no", "")


# --- the material ----------------------------------------------------------------------------------------------------


@given(st.dictionaries(texts, json_values, max_size=4))
def test_a_document_is_json_that_every_request_can_carry(material: dict[str, Any]) -> None:
    written = document(material)
    written.encode("utf-8")
    read = json.loads(written, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))
    assert len(read) == len(material)
    assert not any(ord(char) < 32 or 0xD800 <= ord(char) < 0xE000 for char in written)


def test_keys_that_look_the_same_do_not_hide_each_other() -> None:
    assert json.loads(document({"a": 1, "a\u200b": 2, "\u2060a": 3})) == {"a": 1, "a'": 2, "a''": 3}


@pytest.mark.parametrize(
    ("value", "written"), [(math.nan, '"nan"'), (-math.inf, '"-inf"'), ({1}, '"{1}"'), (b"\x00", "\"b'\\\\x00'\"")]
)
def test_what_is_no_json_is_written_as_a_text(value: object, written: str) -> None:
    assert document({"a": value}) == f'{{"a": {written}}}'


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain", "plain"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\x00b\x1b[31mc\x7f\x85", "ab[31mc"),
        ("pay\u200bpal\u200c\u200d\u2060\ufeff", "paypal"),
        ("\u202eevil\u2066\u2069\u200e\u200f\u061c", "evil"),
        ("hi\U000e0041\U000e0042", "hi"),  # tag characters, invisible ASCII
        ("hi\ufe00\U000e0100", "hi"),  # variation selectors, another invisible alphabet
        ("\u3164\u115f\uffa0", ""),  # fillers that count as letters
        ("lone \ud800 end", "lone \ufffd end"),
        ("naïve 北京 สวัสดี \U0001f600", "naïve 北京 สวัสดี \U0001f600"),
    ],
)
def test_what_a_reader_cannot_see_is_not_shown(text: str, seen: str) -> None:
    assert visible(text) == seen
    assert visible(seen) == seen


@pytest.mark.parametrize("text", ["", " \n\t", "...", "?!", "—", "「」", "\u200b\u3164", "$", "+=<>", "¨", ":"])
def test_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", "7", "好", "ا", "👍", "✓", "∞", "€", "- 5"])
def test_not_blank(text: str) -> None:
    assert not is_blank(text)


# --- replies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        (text_of(), 1.0),
        (text_of(verdict="no"), 0.0),
        (text_of(verdict="cannot_assess"), None),
        (text_of(verdict=True), 1.0),  # a JSON boolean says the same
        (text_of(verdict=False), 0.0),
        (text_of(verdict=" Yes "), 1.0),
        (text_of(extra=1), 1.0),
        ("\n " + text_of() + " \n", 1.0),
        (f"```json\n{text_of()}\n```", 1.0),
        (f"```\n{text_of()}```", 1.0),
        (f"```JSON \n{text_of()}\n```", 1.0),
        ('{"rubric_id": "polite", "verdict": "no"}', 0.0),
        (text_of(reason=7), 1.0),
    ],
)
def test_replies_that_count(reply: str, value: float | None) -> None:
    read = read_verdict(POLITE, reply)
    assert isinstance(read, Verdict), read
    assert read.value == value


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "not one JSON object"),
        ("yes", "not one JSON object"),
        ("Verdict: yes", "not one JSON object"),
        (f"Sure! {text_of()}", "not one JSON object"),
        (f"{text_of()} Hope this helps.", "not one JSON object"),
        (f"{text_of()}\n{text_of(verdict='no')}", "not one JSON object"),
        (f"```json\n{text_of()}\n```\nDone.", "not one JSON object"),
        (f"```python\n{text_of()}\n```", "not one JSON object"),
        ("``````", "not one JSON object"),
        (text_of()[:-4], "not one JSON object"),
        ('{"rubric_id": "polite", "verdict": "no", "verdict": "yes"}', "a key stands twice"),
        ("[" * 100_000, "not one JSON object"),
        ('["yes"]', "not a JSON object but list"),
        ('"yes"', "not a JSON object but str"),
        ("null", "not a JSON object but NoneType"),
        (text_of(rubric_id="other"), "answers rubric 'other', asked was 'polite'"),
        (text_of(rubric_id=None), "answers rubric None"),
        ('{"verdict": "yes"}', "answers rubric None"),
        (text_of(verdict="yes, although one could say no"), "verdict 'yes, although"),
        (text_of(verdict="not yes"), "wanted one of yes, no, cannot_assess"),
        (text_of(verdict="unknown"), "verdict 'unknown'"),
        (text_of(verdict="none"), "verdict 'none'"),
        (text_of(verdict=1), "verdict '1'"),
        (text_of(verdict=0.9), "verdict 0.9"),
        (text_of(verdict=math.nan), "verdict nan"),
        (text_of(verdict=None), "verdict None"),
        (text_of(verdict=["yes"]), "verdict ['yes']"),
        (text_of(verdict={"yes": 1}), "verdict {'yes': 1}"),
        ('{"rubric_id": "polite", "reason": "yes"}', "verdict None"),
    ],
)
def test_replies_that_do_not_count(reply: str, problem: str) -> None:
    read = read_verdict(POLITE, reply)
    assert isinstance(read, str)
    assert problem in read


@pytest.mark.parametrize(
    ("word", "value"), [("1", 0.0), (1, 0.0), ("3", 0.5), (5, 1.0), (" 5 ", 1.0), ("cannot_assess", None)]
)
def test_levels_are_mapped_to_0_to_1(word: object, value: float | None) -> None:
    read = read_verdict(GRADE, text_of(rubric_id="grade", verdict=word))
    assert isinstance(read, Verdict)
    assert read.value == value


@pytest.mark.parametrize("word", [0, 6, 90, -1, 2.5, math.nan, math.inf, True, "yes", "6", "4/5", None])
def test_levels_out_of_range_are_errors_and_never_clamped(word: object) -> None:
    assert "wanted one of 1, 2, 3, 4, 5, cannot_assess" in str(
        read_verdict(GRADE, text_of(rubric_id="grade", verdict=word))
    )


def test_negative_levels() -> None:
    scale = Rubric("grade", "g", levels=(-1, 0, 1))
    read = read_verdict(scale, text_of(rubric_id="grade", verdict=-1))
    assert isinstance(read, Verdict)
    assert read.value == 0.0


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_whatever_a_judge_says_is_a_verdict_or_an_explanation(text: str) -> None:
    read = read_verdict(POLITE, text)
    assert isinstance(read, str)  # a text drawn at random is never the JSON that was asked for
    assert isinstance(read_json(text), str | dict)


# --- samples ---------------------------------------------------------------------------------------------------------

ERROR = Reply("", error="unavailable: HTTP 503")


def settled(rubric: Rubric, *words: Any) -> Any:
    return settle("m", rubric, [word if isinstance(word, Reply) else verdict(rubric.rubric_id, word) for word in words])


@pytest.mark.parametrize(
    ("words", "status", "value"),
    [
        (["yes"], "scored", 1.0),
        (["no"], "scored", 0.0),
        (["yes", "no", "yes"], "scored", 1.0),
        (["no", "no", "yes"], "scored", 0.0),
        (["yes", "no"], "error", None),  # a tie is unscored
        (["yes", "no", "yes", "no"], "error", None),
        (["yes", "yes", ERROR], "scored", 1.0),  # 2 of 3 are more than half
        (["yes", ERROR], "error", None),  # 1 of 2 is not
        (["yes", ERROR, ERROR], "error", None),
        (["yes", ERROR, ERROR, ERROR, ERROR], "error", None),  # one parseable yes of five decides nothing
        (["yes", "no", ERROR], "error", None),
        ([ERROR], "error", None),
        ([], "error", None),
        (["cannot_assess"], "skipped", None),
        (["cannot_assess", "cannot_assess", "yes"], "skipped", None),
        (["yes", "yes", "cannot_assess"], "scored", 1.0),
        (["yes", "yes", "cannot_assess", ERROR], "skipped", None),  # 2 of 4 assessed it
        (["cannot_assess", ERROR], "error", None),
        (["yes", "banana", "yes"], "scored", 1.0),
        (["banana", "banana", "yes"], "error", None),
    ],
)
def test_samples_of_a_yes_or_no_question(words: list[Any], status: str, value: float | None) -> None:
    score = settled(POLITE, *words)
    assert (score.status, score.value) == (status, value), score.reason
    assert score.label == "polite"
    assert score.counts["asked"] == len(words)


def test_votes_and_reason_are_kept() -> None:
    score = settled(
        POLITE, verdict("polite", "no", "rude"), verdict("polite", "yes", "please"), verdict("polite", "yes")
    )
    assert score.counts == {"asked": 3, "yes": 2, "no": 1}
    assert score.reason == "yes (2 of 3 samples): please"


def test_a_reason_says_what_is_missing_and_why() -> None:
    assert settled(POLITE, ERROR).reason == "no verdict for polite in 1 of 1 samples: unavailable: HTTP 503"
    assert settled(POLITE, "yes", "no").reason == "the samples are tied, 1 yes and 1 no"
    assert settled(POLITE, verdict("polite", "cannot_assess", "no answer is shown")).reason == (
        "the judge cannot assess it: no answer is shown"
    )
    assert settle("m", POLITE, []).reason == "no verdict for polite in 0 of 0 samples: nobody was asked"


def test_levels_are_averaged() -> None:
    score = settled(GRADE, "5", "4", "cannot_assess")
    assert score.value == pytest.approx((1 + 0.75) / 2)
    assert score.counts == {"asked": 3, "5": 1, "4": 1, "cannot_assess": 1}
    assert score.reason == "level 5, 4 of 1 to 5: because"


@given(st.lists(st.sampled_from(["yes", "no", "cannot_assess", "error"]), max_size=9))
def test_samples_against_the_slow_way(words: list[str]) -> None:
    score = settled(POLITE, *(ERROR if word == "error" else word for word in words))
    yes, no = words.count("yes"), words.count("no")
    if yes + no > len(words) / 2 and yes != no:
        assert score.value == (1.0 if yes > no else 0.0)
    else:
        assert score.value is None
    assert [score.counts.get(word, 0) for word in ("yes", "no")] == [yes, no]


def test_a_prompt_of_another_kind_has_no_rubric() -> None:
    with pytest.raises(json.JSONDecodeError):
        rubric_asked(Prompt("k", "s", "c"))
