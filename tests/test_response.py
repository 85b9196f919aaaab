"""Response metrics: what each counts, what missing and several references give, bulk against one by one."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring import METRICS, Case, ConfigError, Invocation, Score, Turn, comparators, evaluate, rouge
from adk_scoring.evidence import Evidence, Evidences
from adk_scoring.matching import Match

RECORDED = [
    record
    for line in (Path(__file__).parent / "data/vectors/adk_recorded_scores.jsonl").read_text("utf-8").splitlines()
    if (record := json.loads(line))["metric"] == "response_match_score"
]


def case(actual: str | None, *expected: str | None) -> Case:
    return Case("c", (Turn(Invocation("q", (), actual), tuple(Invocation("q", (), text) for text in expected)),))


def score(name: str, actual: str | None, *expected: str | None, **parameters: Any) -> Score:
    return METRICS[name](**parameters).score(case(actual, *expected))


def value(name: str, actual: str | None, *expected: str | None, **parameters: Any) -> float | None:
    return score(name, actual, *expected, **parameters).value


@pytest.mark.parametrize("record", RECORDED, ids=[str(record["id"]) for record in RECORDED])
def test_response_match_score_is_what_adk_recorded(record: dict[str, Any]) -> None:
    """Scores that google-adk wrote into public result files; the oldest are of a hosted ROUGE-1 without a stemmer."""
    mine = value("response_match_score", record["response"], record["reference"])
    unstemmed = value("response_rouge1", record["response"], record["reference"], tokenizer="rouge-score")
    assert record["recorded_score"] in (pytest.approx(mine, abs=1e-6), pytest.approx(unstemmed, abs=1e-6))


def test_the_old_scores_without_a_stemmer_are_few() -> None:
    reproduced = [
        value("response_match_score", r["response"], r["reference"]) == pytest.approx(r["recorded_score"], abs=1e-6)
        for r in RECORDED
    ]
    assert sum(reproduced) >= len(RECORDED) - 5


def test_identical_chinese_is_one_and_the_price_is_seen() -> None:
    assert value("response_match_score", "北京明天晴", "北京明天晴") == 1
    assert value("response_match_score", "the price is 100", "the price is 900") == 0.75
    assert value("response_numbers", "the price is 100", "the price is 900") == 0


def test_adk_gives_two_empty_answers_a_zero_and_so_do_we_with_a_reason() -> None:
    found = score("response_match_score", "", "")
    assert (found.value, found.reason) == (0.0, "nothing to compare: neither text has a token")


@pytest.mark.parametrize("kind", ["rouge1", "rouge2", "rougeL", "rougeLsum"])
@pytest.mark.parametrize("stat", ["precision", "recall", "f1"])
def test_rouge_metrics_are_the_function(kind: str, stat: str) -> None:
    actual, expected = "a c e x\nthe end", "a b c d e\nthe end"
    wanted = getattr(getattr(rouge(actual, expected), kind), stat)
    assert value(f"response_{kind}", actual, expected, stat=stat) == wanted


def test_precision_divides_by_the_answer_and_recall_by_the_reference() -> None:
    assert value("response_rougeL", "a c e x", "a b c d e", stat="precision") == 0.75
    assert value("response_rougeL", "a c e x", "a b c d e", stat="recall") == 0.6


def test_the_stemmer_is_an_option() -> None:
    assert value("response_rouge1", "the agent returns two error", "the agent returned two errors") == 0.6
    assert value("response_rouge1", "the agent returns two error", "the agent returned two errors", stemmer=True) == 1


@pytest.mark.parametrize(
    ("actual", "expected", "wanted"),
    [
        ("Paris", "paris ", 1),
        ("使用 Python", "使用Python", 1),
        ("3.14", "314", 0),
        ("-5", "5", 0),
        ("−5", "-5", 1),
        ("", "", 1),
    ],
)
def test_exact_match_normalises_but_keeps_meaning(actual: str, expected: str, wanted: float) -> None:
    assert value("response_exact_match", actual, expected) == wanted


def test_exact_match_says_where_the_texts_part() -> None:
    assert "character 4" in score("response_exact_match", "abcX", "abcY").reason


def test_contains_looks_for_the_expected_text_in_the_answer() -> None:
    assert value("response_contains", "The capital is PARIS.", "Paris") == 1
    assert value("response_contains", "Paris", "The capital is Paris.") == 0
    assert score("response_contains", "Paris", " ").status == "skipped"


def test_levenshtein_counts_characters_or_tokens() -> None:
    assert value("response_levenshtein", "kitten", "sitting") == 1 - 3 / 7
    assert value("response_levenshtein", "fly to Paris", "fly to Rome", level="token") == 1 - 1 / 3
    assert value("response_levenshtein", "", "") == 1


def test_jaccard_and_token_f1() -> None:
    assert value("response_jaccard", "to be or not to be", "to be") == 0.5
    assert value("response_token_f1", " Paris", "Paris") == 1
    assert value("response_token_f1", "!", "?") == 1


@pytest.mark.parametrize(
    ("actual", "expected", "wanted"),
    [
        ("The answer is (42)!", "42", 1),
        ("60", "60%", 0),
        ("1000 rows", "1,000 rows", 1),
        ("两个，共 3 本", "3", 1),
        ("1 and 2", "1, 2 and 3", 2 / 3),
    ],
)
def test_numbers_are_found_by_value(actual: str, expected: str, wanted: float) -> None:
    assert value("response_numbers", actual, expected) == pytest.approx(wanted)


def test_numbers_of_a_reference_without_any_are_skipped() -> None:
    assert score("response_numbers", "42", "no number").status == "skipped"
    assert value("response_numbers", "0.5", "50 %", percent_as_fraction=True) == 1


def test_json_is_compared_as_json() -> None:
    assert value("response_json", '```json\n{"b": 2.0, "a": 1}\n```', '{"a": 1, "b": 2}') == 1
    assert value("response_json", "[1, 2]", "[1, 2]") == 1
    assert value("response_json", "[2, 1]", "[1, 2]") == 0
    assert score("response_json", "x", '{"a": 1}').reason.startswith("the response is not JSON")
    assert score("response_json", "{}", "x").status == "skipped"
    found = score("response_json", '{"a": {"b": 1}}', '{"a": {"b": "1"}}')
    assert (found.value, found.reason) == (0.0, '1 differences: a.b: expected "1", got 1')


def test_json_takes_the_rule_of_calls() -> None:
    loose = Match(args="subset", tools={"*": {"price": comparators.approx(rel=0.1)}})
    assert value("response_json", '{"price": 101, "note": "x"}', '{"price": 100}', match=loose) == 1


def letters(text: str) -> list[float]:
    return [float(text.count(char)) for char in "abc"]


def test_embeddings_are_the_callers() -> None:
    assert value("response_embedding_similarity", "aab", "aab", embed=letters) == pytest.approx(1)
    assert value("response_embedding_similarity", "a", "b", embed=letters) == 0


@pytest.mark.parametrize(
    ("embed", "why"),
    [
        (lambda text: [0.0, 0.0], "no usable vector"),
        (lambda text: [math.nan], "no usable vector"),
        (lambda text: [1.0] * len(text), "vectors of 1 and 2"),
        (lambda text: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_vector_that_cannot_be_used_is_an_error_of_its_case(embed: Any, why: str) -> None:
    found = score("response_embedding_similarity", "a", "bb", embed=embed)
    assert (found.status, found.value) == ("error", None)
    assert why in found.reason


@pytest.mark.parametrize(
    "name", ["response_exact_match", "response_rouge1", "response_levenshtein", "response_jaccard"]
)
def test_the_best_reference_counts_and_is_named(name: str) -> None:
    found = score(name, "Rome", "Paris", None, "Rome", "Rome")
    assert found.value == 1
    assert "against alternative 3 of 4" in found.reason


@pytest.mark.parametrize("text", [None, 1, math.nan, b"x", ["x"]])
def test_an_answer_that_is_no_text_names_its_case(text: Any) -> None:
    if text is None:
        return
    found = evaluate([case(text, "x")], {"response_rouge1": 1.0}).rows[0].score
    assert (found.status, found.reason.partition(":")[0]) == ("error", "TypeError")
    assert "c: response is" in found.reason
    found = evaluate([case("x", text)], {"response_rouge1": 1.0}).rows[0].score
    assert found.status == "error"


def test_a_missing_answer_is_an_empty_text_and_a_missing_reference_is_skipped() -> None:
    assert value("response_rouge1", None, "x") == 0
    assert score("response_rouge1", "x", None).status == "skipped"


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("response_rouge1", {"stat": "f2"}),
        ("response_rouge1", {"tokenizer": "latin"}),
        ("response_levenshtein", {"level": "word"}),
        ("response_embedding_similarity", {"embed": 3}),
    ],
)
def test_a_parameter_that_cannot_be_used_is_refused(name: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        METRICS[name](**parameters)


texts = st.one_of(
    st.none(),
    st.text(max_size=40),
    st.lists(st.sampled_from(["run", "running", "the", "天气", "good", "25", "\n", "สวัสดี"]), max_size=12).map(" ".join),
)


@given(pairs=st.lists(st.tuples(texts, texts), max_size=8))
def test_many_at_once_are_one_by_one(pairs: Sequence[tuple[str | None, str | None]]) -> None:
    chunk = Evidences(Evidence(case(actual, expected)) for actual, expected in pairs)
    for name in (
        "response_levenshtein",
        "response_match_score",
        "response_rouge2",
        "response_rougeLsum",
        "response_jaccard",
        "response_token_f1",
    ):
        metric = METRICS[name]()
        assert list(metric.score_many(chunk)) == [metric.score(evidence) for evidence in chunk]


@pytest.mark.parametrize(
    ("name", "expected", "why"),
    [
        ("response_numbers", "no number", "the expected response holds no number"),
        ("response_json", "no JSON", "the expected response is not JSON"),
        ("response_contains", " ", "the expected response is empty: nothing to look for"),
    ],
)
def test_a_turn_that_was_not_reached_is_no_zero_where_it_would_have_been_skipped(
    name: str, expected: str, why: str
) -> None:
    reached = Turn(Invocation("q", response="7"), (Invocation("q", response="7"),))
    cases = [Case("c", (reached, Turn(None, (Invocation("q", response=text),)))) for text in (expected, "8")]
    skipped, ended = (METRICS[name]().score(case) for case in cases)
    assert (skipped.value, skipped.parts[1].status, skipped.parts[1].reason) == (1.0, "skipped", why)
    assert (ended.value, ended.parts[1].reason) == (0.5, "the run ended before this turn")
