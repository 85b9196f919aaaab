"""Edit distance, token sets, token F1, containment and numbers."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring.errors import ConfigError
from adk_scoring.text import normalize, tokenize
from adk_scoring.text.numbers import Number, missing_numbers, numbers
from adk_scoring.text.similarity import contains, jaccard, levenshtein, token_f1

from .text_samples import texts

REPORTED = {
    row["id"]: row
    for row in map(
        json.loads,
        (Path(__file__).parent / "data/vectors/reported_cases.jsonl").read_text("utf-8").splitlines(),
    )
    if row["kind"] == "text"
}


def slow_levenshtein(a: Any, b: Any) -> float:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (x != y))
    return 1 - row[-1] / max(len(a), len(b)) if a or b else 1.0


@given(texts, texts)
def test_levenshtein(actual: str, expected: str) -> None:
    assert levenshtein(actual, expected) == slow_levenshtein(normalize(actual), normalize(expected))
    assert levenshtein(actual, expected, normalizer=None) == slow_levenshtein(actual, expected)
    tokens = slow_levenshtein(tokenize(actual), tokenize(expected))
    assert levenshtein(actual, expected, level="token", normalizer=None) == tokens


def test_levenshtein_of_known_pairs() -> None:
    assert levenshtein("", "") == 1.0
    assert levenshtein("", "abc") == 0.0
    assert levenshtein("ab", "ba") == 0.0  # a transposition is two edits
    assert levenshtein("É", "e\u0301") == 1.0
    assert levenshtein("É", "e\u0301", normalizer=None) == 0.0
    assert levenshtein("今天晴天", "今天雨天") == 0.75
    assert levenshtein("\ud800a", "\ud801a", normalizer=None) == 0.5
    with pytest.raises(ConfigError, match="level must be 'char' or 'token', not 'word'"):
        levenshtein("a", "a", level="word")  # type: ignore[arg-type]


@given(texts, texts)
def test_jaccard(actual: str, expected: str) -> None:
    left, right = set(tokenize(actual)), set(tokenize(expected))
    want = len(left & right) / len(left | right) if left | right else 1.0
    assert jaccard(actual, expected) == want == jaccard(expected, actual)


def test_token_f1() -> None:
    row = REPORTED["tx-target-space"]
    assert token_f1(row["input"]["response"], row["input"]["reference"]) == row["right"]
    assert token_f1("", "") == token_f1("!", "?") == 1.0
    assert token_f1("", "a") == token_f1("a", "") == 0.0
    assert token_f1("runs", "running") == 0.0
    assert token_f1("runs", "running", stemmer=True) == 1.0


def test_contains_is_not_symmetric() -> None:
    assert contains("The capital is ＰＡＲＩＳ.", "paris")
    assert not contains("paris", "The capital is paris")
    assert not contains("PARIS", "paris", normalizer=None)
    assert contains("x", "")
    assert contains("使用 Python 3", "使用Python")


@pytest.mark.parametrize("function", [contains, levenshtein, jaccard, token_f1, missing_numbers])
def test_what_is_not_text_is_refused_by_name(function: Any) -> None:
    for wrong in (None, 5, float("nan"), b"a"):
        with pytest.raises(TypeError, match=f"actual must be a str, not {type(wrong).__name__}"):
            function(wrong, "a")
        with pytest.raises(TypeError, match=f"expected must be a str, not {type(wrong).__name__}"):
            function("a", wrong)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,000 = 1000", "1000 1000"),
        ("The answer is (42)!", "42"),
        ("-5 −5 (－5) 3-5 GPT-4 a-5", "-5 -5 -5 3 5 4 5"),
        ("-$5 $-5 +5", "-5 -5 5"),
        ("50% 50 % 50 ％ 50 percent 50 per cent 5‰ 50 percentage", "50% 50% 50% 50% 50% 5‰ 50"),
        ("3.14. .5 -.5 5. 1..2", "3.14 0.5 -0.5 5 1 2"),
        ("1.2.3 v2.0 192.168.0.1 1.22.33.", "1 2 3 2.0 192 168 0 1 1 22 33"),
        ("2024-01-15 10:30 12/25/2024 15.01.2024", "2024 1 15 10 30 12 25 2024 15 1 2024"),
        ("1,000,000.50 1,00,000 1'000 1’000 1\u202f000\u202f000", "1000000.50 100000 1000 1000 1000000"),
        ("1,5 and 1,0000", "1 5 1 0"),
        ("１，０００ ٣٫١٤ ١٬٠٠٠ ৪২", "1000 3.14 1000 42"),
        ("1e5 1E-3 1.5e+2", "100000 0.001 150"),
        ("1.2 million 3 thousand 5万 1.5亿 2 billion", "1200000 3000 50000 150000000 2000000000"),
        ("Python3 a1b2 3f2a9 x_1 0x1F 1e9999", ""),
        ("USD100 5kg 100ms 25.5℃ 10k 1920x1080", "100 5 100 25.5 10 1920 1080"),
        ("共100元，第3章", "100 3"),
        ("10⁵ x² ½ no number", "10"),
        ("", ""),
    ],
)
def test_numbers(text: str, found: str) -> None:
    assert " ".join(map(str, numbers(text))) == found


def test_numbers_are_exact_and_equal_by_value() -> None:
    digits = "9" * 60
    assert numbers(f"{digits}.5 million") == [Number(Decimal(f"{digits}500000"))]
    assert numbers("1,000.0") == numbers("1000")
    assert numbers("007") == numbers("7")
    assert numbers("60%") != numbers("60")
    assert numbers("50%") != numbers("0.5")
    assert numbers("50 % 5‰", percent_as_fraction=True) == numbers("0.5 0.005")


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**12), max_value=10**12))
def test_a_number_written_in_any_way_is_itself(value: Decimal) -> None:
    for written in (f"{value}", f"{value:,}", f"({value:,})!", f"约{value}元", f"is {value:,}, or"):
        assert [number.value for number in numbers(written)] == [value]


def test_missing_numbers() -> None:
    row = REPORTED["tx-number-punct"]
    assert missing_numbers(row["input"]["response"], row["input"]["reference"]) == []
    assert missing_numbers("60", "60%") == [Number(Decimal(60), "%")]
    assert missing_numbers("costs 900", "costs 100, yes 100, of 900") == [Number(Decimal(100))]
    assert missing_numbers("half: 0.5", "50 %", percent_as_fraction=True) == []
    assert missing_numbers("anything", "no number") == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1" * 300_000, 1),
        ("1," * 150_000, 150_000),
        ("1.1" * 100_000, 100_001),
        ("1a" * 150_000, 0),
        ("-" * 300_000, 0),
        ("1e" * 150_000, 0),
    ],
    ids=["digits", "commas", "stops", "letters", "hyphens", "exponents"],
)
def test_numbers_of_long_texts(text: str, count: int) -> None:
    assert len(numbers(text)) == count  # in linear time; a pattern that goes back and forth would take minutes
