"""The picture of what two texts share."""

from __future__ import annotations

import html
import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring.text.diff import Piece, show_text, token_spans
from adk_scoring.text.rouge import rouge

from .text_samples import lines


def kinds(pieces: tuple[Piece, ...], kind: str) -> list[str]:
    return [piece.text for piece in pieces if piece.kind == kind]


def test_what_differs_is_marked() -> None:
    diff = show_text("The price is 100 euros.", "the price: 900 euros")
    assert (
        str(diff)
        == repr(diff)
        == (
            "actual:   The price [+is+] [+100+] euros.\n"
            "expected: the price: [-900-] euros\n"
            "3 of 5 actual and of 4 expected tokens match"
        )
    )
    assert kinds(diff.actual, "same") == ["The", "price", "euros"]
    assert kinds(diff.actual, "between") == [" ", " ", " ", " ", "."]


def test_chinese_and_stems() -> None:
    assert str(show_text("今天晴天", "今天雨天")).startswith("actual:   今天[+晴+]天\nexpected: 今天[-雨-]天\n")
    assert kinds(show_text("agents ran", "an agent").actual, "same") == []
    assert kinds(show_text("agents ran", "an agent", stemmer=True).actual, "same") == ["agents"]


def test_two_tokens_of_one_character() -> None:
    assert show_text("½", "1 2").actual == (Piece("½", "same"),)
    assert show_text("½", "1 3").actual == (Piece("½", "different"),)
    assert show_text("½", "2").actual == (Piece("½", "different"),)


def test_html_is_escaped() -> None:
    shown = show_text("<script>alert(1)</script> & 'a'", "<b>")._repr_html_()
    assert "<script" not in shown
    assert '&lt;<mark style="background:#ffd7d5">script</mark>&gt;' in shown
    assert "&amp; &#x27;" in shown
    assert "0 of 5 actual and of 1 expected tokens match" in shown
    assert "<b>same</b>" in show_text("same", "same")._repr_html_()


def test_what_cannot_be_printed_is_escaped() -> None:
    diff = show_text("a\x1b[31m\ud800\n\tb", "a")
    assert str(diff).startswith("actual:   a\\x1b[[+31m+]\\ud800\n\t[+b+]\n")
    assert diff._repr_html_().encode("utf-8")


@given(lines, lines, st.booleans())
def test_the_pieces_are_the_texts_and_the_matches_are_rouge_l(actual: str, expected: str, stemmer: bool) -> None:
    diff = show_text(actual, expected, stemmer=stemmer)
    assert "".join(piece.text for piece in diff.actual) == actual
    assert "".join(piece.text for piece in diff.expected) == expected
    longest = rouge(actual, expected, stemmer=stemmer).rougeL.overlap
    matched = [len(kinds(pieces, "same")) for pieces in (diff.actual, diff.expected)]
    assert max(matched) <= longest
    if not any(b[1] < a[2] for text in (actual, expected) for a, b in pairwise(token_spans(text))):
        assert matched == [longest, longest]
    assert html.unescape(re.sub("<[^>]*>", "", diff._repr_html_())).startswith("actual")


@pytest.mark.parametrize("wrong", [None, 5, b"a"])
def test_what_is_not_text_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="actual must be a str"):
        show_text(wrong, "a")
    with pytest.raises(TypeError, match="expected must be a str"):
        show_text("a", wrong)
