"""Normalizing and tokenizing: the recorded vectors, a slow restatement of the rules, and what must always hold."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from rouge_score.tokenize import tokenize as rouge_score_tokenize

from adk_scoring.errors import ConfigError
from adk_scoring.text import TOKENIZERS, normalize, porter_stem, resolve_tokenizer, tokenize
from adk_scoring.text.diff import token_spans

from .text_samples import ascii_texts, glued, texts

VECTORS = Path(__file__).parent / "data/vectors"
TOKENIZER = json.loads((VECTORS / "tokenizer.json").read_text("utf-8"))

SINGLE = re.compile(
    "[\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u309f\u30a1-\u30fa\u30fc-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff"
    "\U00016fe0-\U00018dff\U0001aff0-\U0001b2ff\U00020000-\U0003ffff]"
)
IGNORED = re.compile("[\u034f\u0640\u20dd-\u20e4\ufe00-\ufe0f\U000e0100-\U000e01ef]")
CLUSTERED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf]")


def slow_tokenize(text: str) -> list[str]:
    """Rules R1 to R6, one after the other and one character at a time."""

    def compose(s: str) -> str:
        return unicodedata.normalize("NFC", s)

    folded = ""
    for char in compose(text):
        for c in unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", char).casefold()):
            if c == "\u200b":
                folded += " "
            elif unicodedata.category(c) == "Cf" or IGNORED.match(c):
                continue
            else:
                folded += str(unicodedata.decimal(c)) if unicodedata.category(c) == "Nd" else c
    folded = compose(folded)
    folded = compose(re.sub("i\u0307+", "i", folded))
    tokens: list[str] = []
    state = "between"  # or in a "word", in a "cluster", after a "single"
    for c in folded:
        kind = unicodedata.category(c)
        counted = kind[0] in "LNM" or "\u2e80" <= c <= "\u2fdf" or (kind == "Cn" and SINGLE.match(c) is not None)
        if not counted:
            state = "between"
        elif SINGLE.match(c):
            tokens.append(c)
            state = "single"
        elif CLUSTERED.match(c) and kind[0] != "M":
            tokens.append(c)
            state = "cluster"
        elif state == "word" or (state == "cluster" and kind[0] == "M"):
            tokens[-1] += c
        else:
            tokens.append(c)
            state = "word"
    return tokens


@pytest.mark.parametrize("row", TOKENIZER, ids=lambda row: row["name"])
def test_recorded_tokens(row: dict[str, Any]) -> None:
    assert tokenize(row["text"]) == row["tokens"]
    assert slow_tokenize(row["text"]) == row["tokens"]


def test_all_vectors_are_there() -> None:
    assert len(TOKENIZER) == 33


@given(texts)
@example("ผมชื่อJohn")
@example("อ\u0301\u0e48j")
@example("𞤀\u0307i\u0307\u0307")
@example("a\u200dกb")
def test_tokens_follow_the_rules(text: str) -> None:
    assert tokenize(text) == slow_tokenize(text)


@given(ascii_texts)
def test_ascii_tokens_are_rouge_scores(text: str) -> None:
    assert tokenize(text) == rouge_score_tokenize(text, None)


@given(texts)
def test_rouge_score_preset_on_any_text(text: str) -> None:
    # rouge-score itself cannot encode a lone surrogate; it separates like everything it does not know.
    assert TOKENIZERS["rouge-score"](text) == rouge_score_tokenize(re.sub("[\ud800-\udfff]", " ", text), None)


@given(texts)
def test_canonically_equivalent_texts_have_the_same_tokens(text: str) -> None:
    decomposed = unicodedata.normalize("NFD", text)
    assert tokenize(decomposed) == tokenize(text) == tokenize(unicodedata.normalize("NFC", text))
    assert normalize(decomposed) == normalize(text)


@given(texts)
def test_tokenizing_the_tokens_gives_them_back(text: str) -> None:
    tokens = tokenize(text)
    assert tokenize(" ".join(tokens)) == tokens


@given(texts)
def test_spans_are_the_tokens_in_place(text: str) -> None:
    spans = token_spans(text)
    assert [token for token, _, _ in spans] == tokenize(text)
    assert all(0 <= start < end <= len(text) for _, start, end in spans)
    assert all(a[1] <= b[1] and a[2] <= b[2] for a, b in pairwise(spans))


@given(glued)
def test_a_span_holds_its_token(text: str) -> None:
    for token, start, end in token_spans(text):
        assert token in tokenize(text[start:end])


def test_stemming_touches_long_ascii_words_only() -> None:
    assert tokenize("flying skies été news ran 今天", stem=True) == ["fli", "sky", "été", "news", "ran", "今", "天"]
    assert porter_stem("Running") == "Running"


def test_presets_and_functions_are_tokenizers() -> None:
    assert resolve_tokenizer("unicode") is tokenize
    assert resolve_tokenizer("adk")("使用get_weather ๑๒ สวัสดี ฿5") == [
        *("使", "用", "get", "weather", "๑", "๒", "ส", "วั", "ส", "ดี", "฿5"),
    ]
    assert resolve_tokenizer(str.split)("a  b") == ["a", "b"]
    for wrong in ("words", None, ["unicode"]):
        with pytest.raises(ConfigError, match="tokenizer must be one of 'unicode', 'rouge-score', 'adk'"):
            resolve_tokenizer(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  The\tQuick \n Fox ", "the quick fox"),
        ("Straße ＡＢＣ Ⅳ", "strasse abc iv"),
        ("İstanbul I\u0307", "istanbul i"),
        ("使用 Python 3 吧", "使用python 3吧"),
        ("สวัสดี ครับ", "สวัสดีครับ"),
        ("안녕 하세요", "안녕 하세요"),
        ("−5 −3.14", "-5 -3.14"),
        ("foo\u200bbar so\u00adft \ufeff", "foo bar soft"),
        ("a\u00a0b\u3000c\u2029d", "a b c d"),
        ("٣ ۳ ３", "3 3 3"),
        ("Café, naïve!", "café, naïve!"),
        ("", ""),
        ("\ud800 A", "\ud800 a"),
        ("👍 1️⃣", "👍 1"),
    ],
)
def test_normalize(text: str, normal: str) -> None:
    assert normalize(text) == normal


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ('He said: "Yes!" (really)...', "he said yes really"),
        ("3.14 -5 +5 .5 50% $5 -$5 $-5 5.", "3.14 -5 +5 .5 50% $5 -$5 $-5 5"),
        ("...5 - 5 5- x-5 1,000 10:30", "5 5 5 x-5 1,000 10:30"),
        ("don't U.S. C++ C# f@x a&b get_weather _x_", "don't u.s c++ c# f@x a&b get_weather x"),
        ("**bold** `code` # Title", "bold code # title"),
        ("你好，世界！「好」", "你好世界好"),
        ("की-बात। हिन्दी!", "की-बात हिन्दी"),
        ("!!!", ""),
        ("<b> a=b", "<b> a=b"),
    ],
)
def test_normalize_edges(text: str, normal: str) -> None:
    assert normalize(text, punctuation="edges") == normal


@pytest.mark.parametrize(
    ("one", "other"), [("3.14", "314"), ("-5", "5"), ("50%", "50"), ("1,000", "1.000"), ("C++", "C#")]
)
@pytest.mark.parametrize("punctuation", ["keep", "edges"])
def test_numbers_and_names_stay_apart(one: str, other: str, punctuation: Any) -> None:
    assert normalize(one, punctuation=punctuation) != normalize(other, punctuation=punctuation)


@given(texts)
def test_normalizing_twice_changes_nothing(text: str) -> None:
    for punctuation in ("keep", "edges"):
        once = normalize(text, punctuation=punctuation)
        assert normalize(once, punctuation=punctuation) == once


def test_what_is_not_text_is_refused() -> None:
    for wrong in (None, 42, float("nan"), b"abc", ["a"]):
        with pytest.raises(TypeError, match="text must be a str, not"):
            tokenize(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="text must be a str, not"):
            normalize(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="text must be a str, not"):
            token_spans(wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="punctuation must be 'keep' or 'edges', not 'drop'"):
        normalize("a", punctuation="drop")  # type: ignore[arg-type]


def test_importing_loads_nothing_heavy_and_fills_no_table() -> None:
    code = (
        "import sys; from adk_scoring.text import rouge, pairs, similarity, diff, numbers, tokens\n"
        "print([m for m in ('numpy', 'nltk', 'rouge_score', 'rapidfuzz') if m in sys.modules])\n"
        "print(len(tokens.FOLD_AND_SEPARATE))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.split() == ["[]", "0"]
