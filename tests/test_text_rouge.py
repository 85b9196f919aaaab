"""ROUGE against rouge-score and google-adk, to the last bit, and the bulk path against the single one."""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from adk_scoring.errors import ConfigError
from adk_scoring.text import TOKENIZERS, Tokenizer, tokenize
from adk_scoring.text import bulk as text_bulk
from adk_scoring.text import encoding as text_encoding
from adk_scoring.text import pairs as text_pairs
from adk_scoring.text.encoding import Encoded, encode
from adk_scoring.text.pairs import TextPairs, jaccard_many, levenshtein_many, rouge_many
from adk_scoring.text.rouge import Rouge, RougeScore, clipped_overlap, lcs_pairs, ngram_overlap, rouge
from adk_scoring.text.similarity import jaccard, levenshtein, token_f1

from .text_samples import lines, texts

VECTORS = Path(__file__).parent / "data/vectors"
TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
_WORDS = """a b the The agent agents running runs flies died 42 1990s -5 don't news generalization a_b % . yyy
happily relational conditional rationally valenci digitizer conformabli hopefulness"""
WORDS = [*_WORDS.split(), "\n", "\n", "\t"]


def three(score: RougeScore) -> tuple[float, float, float]:
    return score.precision, score.recall, score.f1


def random_ascii(rng: random.Random) -> str:
    if rng.random() < 0.2:
        return "".join(chr(rng.randrange(128)) for _ in range(rng.randrange(60)))
    return " ".join(rng.choice(WORDS) for _ in range(rng.choice((0, 1, 2, 5, 12, 20))))


def differing(n: int, *, stemmer: bool) -> list[tuple[str, str, str]]:
    """Of `n` random pairs of ASCII texts, those of which a number differs from rouge-score's in any bit."""
    rng = random.Random(20)
    scorer = rouge_scorer.RougeScorer(list(TYPES), use_stemmer=stemmer)
    wrong = []
    for _ in range(n):
        actual, expected = random_ascii(rng), random_ascii(rng)
        ours, theirs = rouge(actual, expected, stemmer=stemmer), scorer.score(expected, actual)
        wrong += [(actual, expected, name) for name in TYPES if three(getattr(ours, name)) != tuple(theirs[name])]
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("stemmer", [False, True])
def test_no_bit_differs_from_rouge_score(stemmer: bool) -> None:
    assert differing(20_000, stemmer=stemmer) == []


@given(lines, lines, st.booleans())
def test_no_bit_differs_from_rouge_score_with_our_tokens(actual: str, expected: str, stemmer: bool) -> None:
    class Ours:
        def tokenize(self, text: str) -> list[str]:
            return tokenize(text, stem=stemmer)

    ours = rouge(actual, expected, stemmer=stemmer)
    # rouge-score cannot encode a lone surrogate, which separates tokens here.
    clean = [text.replace("\ud800", " ") for text in (expected, actual)]
    theirs = rouge_scorer.RougeScorer(list(TYPES), tokenizer=Ours()).score(*clean)
    assert {name: three(getattr(ours, name)) for name in TYPES} == {name: tuple(theirs[name]) for name in TYPES}


@given(texts, texts, st.booleans())
def test_rouge_score_preset(actual: str, expected: str, stemmer: bool) -> None:
    ours = rouge(actual, expected, stemmer=stemmer, tokenizer="rouge-score")
    clean = ["".join(" " if "\ud800" <= c <= "\udfff" else c for c in text) for text in (expected, actual)]
    theirs = rouge_scorer.RougeScorer(["rouge1", "rougeL"], use_stemmer=stemmer).score(*clean)
    assert (three(ours.rouge1), three(ours.rougeL)) == (tuple(theirs["rouge1"]), tuple(theirs["rougeL"]))


def test_adk_preset_gives_what_google_adk_gave() -> None:
    recorded = json.loads((VECTORS / "adk_response_match.json").read_text("utf-8"))["rows"]
    actual, expected = [row["actual"] for row in recorded], [row["expected"] for row in recorded]
    want = [row["f1"] for row in recorded]
    assert len(want) == 133
    assert [rouge(a, e, stemmer=True, tokenizer="adk").rouge1.f1 for a, e in zip(actual, expected, strict=True)] == want
    assert rouge_many(actual, expected, stemmer=True, tokenizer="adk").rouge1.f1.tolist() == want


def reported(metric: str) -> list[dict[str, Any]]:
    lines = (VECTORS / "reported_cases.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["kind"] == "text"]
    assert len(rows) == 13
    return [row for row in rows if row["input"]["metric"].startswith(metric)]


@pytest.mark.parametrize("row", reported("rouge"), ids=lambda row: row["id"])
def test_reported_cases(row: dict[str, Any]) -> None:
    given_, right = row["input"], row["right"]
    response = given_.get("response")
    if response is None:  # thoughts are not part of the answer; leaving them out is the readers' work
        response = "".join(part["text"] for part in given_["response_parts"] if not part.get("thought"))
    plain, stemmed = rouge(response, given_["reference"]), rouge(response, given_["reference"], stemmer=True)
    if row["id"] == "tx-p-r-swapped":
        assert {"precision": plain.rougeL.precision, "recall": plain.rougeL.recall} == right
    elif row["id"] == "tx-stemmer-generation":
        assert (plain.rouge1.f1, stemmed.rouge1.f1) == (right["without_stemmer"], right["with_porter_stemmer"])
    elif row["id"] == "tx-chinese-unspaced":
        assert plain.rouge1.f1 == right["character_tokens"]
    else:
        score = plain.rougeL if given_["metric"] == "rougeL_f" else plain.rouge1
        assert score.f1 == pytest.approx(right, abs=1e-15)
        assert score.f1 != row["wrong"]


def test_precision_divides_by_the_actual() -> None:
    score = rouge("a c e x", "a b c d e").rougeL
    assert (score.overlap, score.n_actual, score.n_expected) == (3, 4, 5)
    assert three(score) == (0.75, 0.6, 2 * 0.75 * 0.6 / (0.75 + 0.6))


@pytest.mark.parametrize(
    ("actual", "expected"), [("", ""), ("", "a"), ("a", ""), ("!!!", "!!!"), ("👍", "👍"), ("\n", "\n\n")]
)
def test_nothing_to_compare_is_zero(actual: str, expected: str) -> None:
    score = rouge(actual, expected)
    assert [three(getattr(score, name)) for name in TYPES] == [(0.0, 0.0, 0.0)] * 4


def test_each_type_takes_its_best_reference() -> None:
    references = ["b a d c", "a b x y z", "c d a b"]
    score = rouge("a b c d", references)
    theirs = rouge_scorer.RougeScorer(list(TYPES)).score_multi(references, "a b c d")
    assert {name: three(getattr(score, name)) for name in TYPES} == {name: tuple(theirs[name]) for name in TYPES}
    assert rouge("a", ["a b", "a c"]).rouge1 == rouge("a", "a b").rouge1


def test_the_first_of_equal_references_counts() -> None:
    # Both F1 are 0.5; the counts tell which one was taken.
    score = rouge("a b", ["a x", "a y"]).rouge1
    assert three(score) == (0.5, 0.5, 0.5)
    swapped = rouge("a a b", ["b", "a a b x x x x x x"])
    assert (swapped.rouge1.n_expected, swapped.rouge1.f1) == (1, 0.5)
    assert rouge("a a b", ["a a b x x x x x x", "b"]).rouge1.n_expected == 9


def test_references_with_newlines_beside_one_without() -> None:
    assert rouge("a b", ["b\na", "x"]).rougeLsum.f1 == 1.0
    assert rouge("a b", ["b\na", "x"]).rougeL.f1 == 0.5


def test_only_what_is_asked_for_is_computed() -> None:
    calls: list[str] = []

    def words(text: str) -> list[str]:
        calls.append(text)
        return text.split()

    score = rouge("a b", "a c", tokenizer=words)
    assert calls == []
    assert score.rouge1.f1 == score.rouge2.f1 + 0.5 == score.rougeL.f1
    assert calls == ["a b", "a c"]
    assert "rougeLsum" not in vars(score)


def test_a_result_is_a_value() -> None:
    score = rouge("a b", ["a", "b"])
    assert score == Rouge("a b", ("a", "b"))
    assert pickle.loads(pickle.dumps(score)).rouge1 == score.rouge1  # noqa: S301
    assert repr(score.rouge1) == (
        "RougeScore(precision=0.5, recall=1.0, f1=0.6666666666666666, overlap=1, n_actual=2, n_expected=1)"
    )
    with pytest.raises(AttributeError):
        score.actual = "c"  # type: ignore[misc]


def test_what_is_not_text_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="actual must be a str, not NoneType"):
        rouge(None, "a")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected must be a str, not float: nan"):
        rouge("a", float("nan"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected must be a str, not bytes"):
        rouge("a", b"a")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"expected\[1\] must be a str, not int: 5"):
        rouge("a", ["a", 5])  # type: ignore[list-item]
    with pytest.raises(ConfigError, match="expected is empty"):
        rouge("a", [])
    with pytest.raises(ConfigError, match="tokenizer must be one of"):
        rouge("a", "a", tokenizer="porter")  # type: ignore[arg-type]


# One longest common subsequence


def slow_lcs_pairs(actual: str, expected: str) -> list[tuple[int, int]]:
    """The table of lengths and rouge-score's way back through it."""
    n, m = len(expected), len(actual)
    table = [[0] * (m + 1) for _ in range(n + 1)]
    for i, j in ((i, j) for i in range(1, n + 1) for j in range(1, m + 1)):
        same = expected[i - 1] == actual[j - 1]
        table[i][j] = table[i - 1][j - 1] + 1 if same else max(table[i - 1][j], table[i][j - 1])
    i, j, pairs = n, m, []
    while i and j:
        if expected[i - 1] == actual[j - 1]:
            pairs.append((j - 1, i - 1))
            i, j = i - 1, j - 1
        elif table[i][j - 1] > table[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return pairs[::-1]


@given(st.text("abcd", max_size=30), st.text("abcd", max_size=30), st.sampled_from([0, 1 << 28]))
def test_lcs_pairs(actual: str, expected: str, bits: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adk_scoring.text.rouge._LCS_BITS", bits)
        assert lcs_pairs(actual, expected) == slow_lcs_pairs(actual, expected)


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_overlaps(actual: str, expected: str) -> None:
    assert clipped_overlap(actual, expected) == sum(min(actual.count(c), expected.count(c)) for c in "abc")
    pairs = [[text[i : i + 2] for i in range(len(text) - 1)] for text in (actual, expected)]
    want = sum(min(pairs[0].count(pair), pairs[1].count(pair)) for pair in set(pairs[0]))
    assert ngram_overlap(actual, expected, 2) == want
    assert ngram_overlap(tuple(map(ord, actual)), tuple(map(ord, expected)), 2) == want


# Many pairs at once

COLUMNS = ("jaccard", "token_f1", "token_levenshtein")


def singles(actual: str, expected: str, stemmer: bool, tokenizer: Tokenizer) -> dict[str, Any]:
    from rapidfuzz.distance import Levenshtein

    score = rouge(actual, expected, stemmer=stemmer, tokenizer=tokenizer)
    found: dict[str, Any] = {name: three(getattr(score, name)) for name in TYPES}
    found["jaccard"] = jaccard(actual, expected, stemmer=stemmer, tokenizer=tokenizer)
    found["token_f1"] = token_f1(actual, expected, stemmer=stemmer, tokenizer=tokenizer)
    encoded: list[Encoded] = encode(actual, expected, stemmer=stemmer, tokenizer=tokenizer)
    found["token_levenshtein"] = Levenshtein.normalized_similarity(*encoded)
    return found


def in_bulk(pairs: TextPairs) -> list[dict[str, Any]]:
    columns: dict[str, list[Any]] = {name: getattr(pairs, name).tolist() for name in COLUMNS}
    for name in TYPES:
        column = getattr(pairs, name)
        values = (column.precision.tolist(), column.recall.tolist(), column.f1.tolist())
        columns[name] = list(zip(*values, strict=True))
    return [{name: column[i] for name, column in columns.items()} for i in range(len(pairs))]


pair_lists = st.lists(st.tuples(lines, lines), max_size=12)


@given(pair_lists, st.booleans(), st.sampled_from([*TOKENIZERS, str.split]), st.sampled_from([1, 40, 25_000]))
@example([], False, "unicode", 25_000)
@example([("", "")], False, "unicode", 25_000)
def test_bulk_equals_single(pairs: list[tuple[str, str]], stemmer: bool, tokenizer: Tokenizer, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_pairs, "_CHUNK_TOKENS", chunk)
        patch.setattr(text_bulk, "_CHUNK_CHARACTERS", chunk)
        bulk = TextPairs(*split(pairs), stemmer=stemmer, tokenizer=tokenizer)
        assert in_bulk(bulk) == [singles(actual, expected, stemmer, tokenizer) for actual, expected in pairs]


def split(pairs: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [actual for actual, _ in pairs], [expected for _, expected in pairs]


@given(pair_lists)
def test_bulk_edit_distance_and_sets_equal_single(pairs: list[tuple[str, str]]) -> None:
    actuals, expecteds = split(pairs)
    assert jaccard_many(actuals, expecteds).tolist() == list(map(jaccard, actuals, expecteds))
    for level in ("char", "token"):
        for normalizer in (str.upper, None):
            want = [levenshtein(a, e, level=level, normalizer=normalizer) for a, e in pairs]
            assert levenshtein_many(actuals, expecteds, level=level, normalizer=normalizer, workers=2).tolist() == want
        default = levenshtein_many(actuals, expecteds, level=level).tolist()
        assert default == [levenshtein(a, e, level=level) for a, e in pairs]


@given(pair_lists)
def test_more_tokens_than_characters(pairs: list[tuple[str, str]]) -> None:
    want = [singles(actual, expected, True, "unicode") for actual, expected in pairs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_encoding, "_vocabularies", {})
        patch.setattr(text_encoding.Vocabulary, "_low", range(0xA1, 0xA3))
        patch.setattr(text_encoding.Vocabulary, "_high", range(0x40000, 0x40006))
        assert [singles(actual, expected, True, "unicode") for actual, expected in pairs] == want
        assert in_bulk(TextPairs(*split(pairs), stemmer=True)) == want


@given(st.lists(st.tuples(st.text("ab ", max_size=80), st.text("ab ", max_size=80)), max_size=6), st.integers(1, 3))
@example([("a" * 16 + " " + "a" * 17, "a" * 8 + " " + "a" * 9)], 1)
def test_words_that_share_a_place_in_the_table(pairs: list[tuple[str, str]], bits: int) -> None:
    want = [singles(actual, expected, False, "unicode") for actual, expected in pairs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_encoding, "_vocabularies", {})
        patch.setattr(text_bulk.WordTable, "_BITS", bits)
        assert in_bulk(TextPairs(*split(pairs))) == want
        assert in_bulk(TextPairs(*split(pairs))) == want  # and with the table filled


def test_the_vocabulary_is_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_encoding, "_vocabularies", {})
    monkeypatch.setattr(text_encoding, "_VOCABULARY_SIZE", 10)
    assert rouge("some words of a first text", "some words").rouge1.overlap == 2
    first = text_encoding._vocabularies[False]
    assert rouge("some more words", "some words").rouge1.overlap == 2
    assert text_encoding._vocabularies[False] is not first


@given(st.lists(st.sampled_from(["runs", "running", "run", "the", "runner", "运", "ran"]), max_size=8))
def test_characters_are_equal_exactly_for_equal_stems(words: list[str]) -> None:
    (encoded,) = encode(" ".join(words), stemmer=True)
    stems = tokenize(" ".join(words), stem=True)
    assert len(encoded) == len(stems)
    assert all((encoded[i] == encoded[j]) == (stems[i] == stems[j]) for i, j in combinations(range(len(stems)), 2))


def test_threads_share_a_vocabulary() -> None:
    from concurrent.futures import ThreadPoolExecutor

    texts = [" ".join(f"w{i * 7 % (k + 50)}" for i in range(300)) for k in range(40)]
    pairs = list(pairwise(texts))
    want = [(len(set(a.split()) & set(e.split())), len(set(a.split()) | set(e.split()))) for a, e in pairs]
    text_encoding._vocabularies.clear()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda pair: jaccard(*pair), pairs))
    assert found == [common / union for common, union in want]


def test_bulk_names_what_is_not_text_and_what_is_missing() -> None:
    with pytest.raises(TypeError, match=r"actuals\[1\] must be a str, not NoneType"):
        rouge_many(["a", None], ["a", "b"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"expecteds\[0\] must be a str, not int: 3"):
        rouge_many(["a"], [3])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"expecteds\[0\] must be a str, not int: 3"):
        levenshtein_many(["a"], [3])  # type: ignore[list-item]
    for many in (rouge_many, levenshtein_many, jaccard_many):
        with pytest.raises(ValueError, match="2 actual texts and 1 expected ones"):
            many(["a", "b"], ["a"])
    with pytest.raises(ConfigError, match="tokenizer must be one of"):
        rouge_many([], [], tokenizer="porter")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="level must be"):
        levenshtein_many([], [], level="word")  # type: ignore[arg-type]
    assert repr(rouge_many(["a"], ["b"])) == "<TextPairs of 1 pairs>"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="counts the memory as Linux shows it")
def test_ten_megabytes_in_bounded_memory() -> None:
    # In a process of its own, which may have 1.5 GB of address space more than it began with: a table of lengths
    # would need 10^12 cells.
    code = """
import resource
from adk_scoring.text.rouge import rouge
from adk_scoring.text.pairs import rouge_many
rouge("warm up", "warm up", stemmer=True).rougeL, rouge_many(["a"], ["a"]).rouge2.f1
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + 1_500_000_000,) * 2)
long = "answer " * 1_428_572
score = rouge(long, "the answer is here", stemmer=True)
print(len(long), score.rouge1.overlap, score.rouge2.overlap, score.rougeL.overlap, score.rougeLsum.n_actual)
many = rouge_many([long, "x"], [long + "now", "x"])
print(many.rouge1.overlap.tolist(), many.rouge2.overlap.tolist())
distinct = " ".join(map(str, range(1_300_000)))
score = rouge(distinct, distinct[: 10_000])
print(score.rouge1.precision > 0, score.rougeL.recall > 0.99)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stderr == ""
    assert run.stdout.split("\n")[:3] == [
        "10000004 1 0 1 1428572",
        "[1428572, 1] [1428571, 0]",
        "True True",
    ]
