"""adk-eval's numbers beside ours: every row of its scores is equal under named settings, or listed with the reason.

The rows come from adk-eval's own scoring source (adk-rust 7fbc01fa, built with rustc 1.95 and run); `data/vectors`
holds them. A cell that is neither equal nor listed fails, and so does a listed one that has become equal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import adk_scoring as ads
from adk_scoring.text import Tokenizer, normalize
from adk_scoring.text.similarity import contains

ROWS = json.loads((Path(__file__).parent / "data/vectors/adk_rust_parity.json").read_text(encoding="utf-8"))
TEXT, TOOLS = ROWS["text"], ROWS["tools"]
CLOSE = 1e-12

# --- texts -------------------------------------------------------------------------------------------------------

# adk-eval cuts at white space, so that a mark stays glued to its word; our tokens are words without marks. These rows
# are equal with ``tokenizer=`` white space, all others with the default.
WHITE_SPACE_TOKENS = {4, 11, 13, 15, 16, 37, 40, 46, 47, 48, 50, 52}

SET_RECALL = "adk-eval counts distinct n-grams, so repetition is free; rouge-score and we count each, clipped"
NO_BIGRAM = "adk-eval's rouge2 of texts without a bigram is 1, even for 'yes' and 'no'; ours is 0"
NOTHING = "of two texts without a token adk-eval's ROUGE is 1; rouge-score's and ours is 0: nothing to compare"
SYMMETRIC_CONTAINS = "adk-eval's contains also holds where the answer stands in the reference; ours asks one thing"
ALL_PUNCTUATION = "adk-eval deletes every mark, so that 3.14 is 314, -5 is 5 and !!! is ???; ours drops edges only"
ONE_SPELLING = "we fold what is one text in two spellings: ß and ss, é composed or not, spaces beside Han, U+001F"
SCRIPT = "。 is a token of adk-eval and none of ours; halfwidth kana are its one word and our letters"

# reason -> algorithm -> row -> our value
TEXT_DIFFERS: Mapping[str, Mapping[str, Mapping[int, float]]] = {
    SET_RECALL: {
        "rouge1": {3: 5 / 6, 8: 5 / 9, 10: 7 / 9, 25: 1 / 2, 31: 2 / 3},
        "rouge2": {25: 1 / 3},
    },
    NO_BIGRAM: {"rouge2": dict.fromkeys((1, 2, 18, 19, 23, 28, 34, 35, 36, 39, 42, 43, 48, 49, 50, 52, 56), 0.0)},
    NOTHING: {algorithm: dict.fromkeys((17, 20, 21, 22), 0.0) for algorithm in ("rouge1", "rouge2", "rouge_l")},
    SYMMETRIC_CONTAINS: {"contains": dict.fromkeys((19, 25, 29, 33, 48, 50, 51, 52), 0.0)},
    ALL_PUNCTUATION: {
        "exact": dict.fromkeys((38, 39, 41), 0.0),
        "contains": dict.fromkeys((38, 39, 41), 0.0),
        "levenshtein": {38: 3 / 4, 39: 1 / 2, 41: 9 / 10},
        "jaccard": {38: 0.0, 41: 0.0},
        "rouge1": {38: 0.0, 41: 0.0},
        "rouge2": {38: 0.0, 41: 0.0},
        "rouge_l": {38: 0.0, 41: 0.0},
    },
    ONE_SPELLING: {
        "exact": dict.fromkeys((30, 32, 34, 35, 36, 54), 1.0),
        "contains": dict.fromkeys((30, 32, 34, 35, 36, 54), 1.0),
        "levenshtein": dict.fromkeys((30, 32, 34, 35, 36, 54), 1.0),
        "jaccard": dict.fromkeys((34, 35, 36, 54), 1.0),
        "rouge1": dict.fromkeys((34, 35, 36, 54), 1.0),
        "rouge2": {54: 1.0},
        "rouge_l": dict.fromkeys((34, 35, 36, 54), 1.0),
    },
    SCRIPT: {"jaccard": {51: 1.0}, "rouge1": {51: 1.0}, "rouge2": {51: 1.0}, "rouge_l": {51: 1.0}},
}

Normalizer = Callable[[str], str] | None


def settings_of(row: Mapping[str, Any]) -> Normalizer:
    """adk-eval's three flags as our normaliser; without `normalize` the other two do nothing there."""
    if not row["normalize"]:
        return None
    return partial(normalize, punctuation="edges") if row["ignore_punctuation"] else normalize


def white_space(normalizer: Normalizer) -> Tokenizer:
    return lambda text: (normalizer(text) if normalizer else text).split()


def ours(actual: str, expected: str, normalizer: Normalizer, tokenizer: Tokenizer) -> dict[str, float]:
    """The seven algorithms in our words."""
    rouge = ads.rouge(actual, expected, tokenizer=tokenizer)
    left, right = (normalizer(actual), normalizer(expected)) if normalizer else (actual, expected)
    return {
        "exact": float(left == right),
        "contains": float(contains(actual, expected, normalizer=normalizer)),
        "levenshtein": ads.levenshtein(actual, expected, normalizer=normalizer),
        "jaccard": ads.jaccard(actual, expected, tokenizer=tokenizer),
        "rouge1": rouge.rouge1.recall,
        "rouge2": rouge.rouge2.recall,
        "rouge_l": rouge.rougeL.f1,
    }


def listed(algorithm: str, row: int) -> list[float]:
    return [rows[algorithm][row] for rows in TEXT_DIFFERS.values() if row in rows.get(algorithm, {})]


@pytest.mark.parametrize("index", range(len(TEXT)))
def test_every_text_score_is_ours_or_is_listed_with_the_reason(index: int) -> None:
    row = TEXT[index]
    normalizer = settings_of(row)
    tokenizer = white_space(normalizer) if index in WHITE_SPACE_TOKENS else "unicode"
    scores = ours(row["actual"], row["expected"], normalizer, tokenizer)
    assert scores.keys() == row["scores"].keys()
    for algorithm, theirs in row["scores"].items():
        exceptions = listed(algorithm, index)
        assert len(exceptions) <= 1, f"{algorithm} stands under two reasons"
        if exceptions:
            assert scores[algorithm] == pytest.approx(exceptions[0], abs=CLOSE), algorithm
            assert scores[algorithm] != pytest.approx(theirs, abs=CLOSE), f"{algorithm} is equal: no exception"
        else:
            assert scores[algorithm] == pytest.approx(theirs, abs=CLOSE), algorithm


@pytest.mark.parametrize("index", sorted(WHITE_SPACE_TOKENS))
def test_white_space_tokens_are_named_only_where_they_are_needed(index: int) -> None:
    row = TEXT[index]
    scores = ours(row["actual"], row["expected"], settings_of(row), "unicode")
    differ = [name for name, theirs in row["scores"].items() if scores[name] != pytest.approx(theirs, abs=CLOSE)]
    assert [name for name in differ if not listed(name, index)]


def test_the_text_rows_are_those_that_were_run() -> None:
    assert len(TEXT) == 58
    cells = [(algorithm, row) for rows in TEXT_DIFFERS.values() for algorithm in rows for row in rows[algorithm]]
    assert all(row < len(TEXT) for _, row in cells)
    # How much of adk-eval is reproduced: 406 cells, of which these differ.
    assert (len(TEXT) * 7, len(cells)) == (406, 95)


# --- tool calls --------------------------------------------------------------------------------------------------

GREEDY = "adk-eval takes the first call that fits and loses a better pairing or order; ours is the largest"
NULL_ARGS = "adk-eval tells null arguments from {}; to us both are a call without arguments"
NUMBERS = "adk-eval tells 1 from 1.0; JSON numbers are equal by value"

TOOLS_DIFFER: Mapping[str, Mapping[int, float]] = {
    GREEDY: {10: 2 / 3, 38: 1.0},
    NULL_ARGS: {20: 1.0, 21: 1.0, 39: 1.0, 40: 1.0},
    NUMBERS: {23: 1.0, 42: 1.0},
}


def our_trajectory(row: Mapping[str, Any]) -> float:
    """adk-eval's score: the calls that match, in order if asked, over the longer list."""
    match = ads.Match(args="exact" if row["strict_args"] else "subset")
    actual, expected = row["actual"], row["expected"]
    if not row["strict_order"]:
        precision = ads.trajectory_precision(actual, expected, match=match)
        return min(precision, ads.trajectory_recall(actual, expected, match=match))
    alignment = ads.align(actual, expected, match=match)
    longer = max(alignment.n, alignment.m)
    return alignment.l / longer if longer else 1.0


@pytest.mark.parametrize("index", range(len(TOOLS)))
def test_every_tool_score_is_ours_or_is_listed_with_the_reason(index: int) -> None:
    row = TOOLS[index]
    exceptions = [rows[index] for rows in TOOLS_DIFFER.values() if index in rows]
    if exceptions:
        assert [our_trajectory(row)] == [pytest.approx(value, abs=CLOSE) for value in exceptions]
        assert our_trajectory(row) != pytest.approx(row["score"], abs=CLOSE)
    else:
        assert our_trajectory(row) == pytest.approx(row["score"], abs=CLOSE)


def test_the_tool_rows_are_those_that_were_run() -> None:
    assert len(TOOLS) == 45
    assert sorted(row for rows in TOOLS_DIFFER.values() for row in rows) == [10, 20, 21, 23, 38, 39, 40, 42]
