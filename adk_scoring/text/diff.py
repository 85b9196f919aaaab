"""An answer and its reference in, a picture of what they share out, as text and as HTML.

What is shown is the texts as they are; what is compared is their tokens, along one longest common subsequence.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal
from unicodedata import category

from .rouge import lcs_pairs
from .tokens import CLUSTER, FOLD, TOKEN, CharTable, composes, porter_stem, require_text, separate

__all__ = ["Piece", "TextDiff", "show_text", "token_spans"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text: a token that matched, one that did not, or what stands between tokens."""

    text: str
    kind: Literal["same", "different", "between"]


@dataclass(frozen=True, slots=True, repr=False)
class TextDiff:
    """Two texts, token by token. It prints as text and shows as HTML in a notebook.

    Attributes:
        actual: the pieces of the answer; joined, they are the answer.
        expected: the pieces of the reference.
    """

    actual: tuple[Piece, ...]
    expected: tuple[Piece, ...]

    def __str__(self) -> str:
        return "\n".join(
            (
                "actual:   " + "".join(_marked(piece, "[+", "+]") for piece in self.actual),
                "expected: " + "".join(_marked(piece, "[-", "-]") for piece in self.expected),
                self._counts(),
            )
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = ""
        for name, pieces, color in (("actual", self.actual, "#ffd7d5"), ("expected", self.expected, "#fff3c4")):
            shown = "".join(_html(piece, color) for piece in pieces)
            rows += (
                f'<tr><th style="text-align:left;vertical-align:top">{name}</th>'
                f'<td style="text-align:left;white-space:pre-wrap">{shown}</td></tr>'
            )
        return f"<table>{rows}</table><small>{self._counts()}</small>"

    def _counts(self) -> str:
        same, n_actual = _count(self.actual)
        _, n_expected = _count(self.expected)
        return f"{same} of {n_actual} actual and of {n_expected} expected tokens match"


def _count(pieces: Sequence[Piece]) -> tuple[int, int]:
    kinds = [piece.kind for piece in pieces]
    return kinds.count("same"), len(kinds) - kinds.count("between")


def _marked(piece: Piece, before: str, after: str) -> str:
    text = _printable(piece.text)
    return f"{before}{text}{after}" if piece.kind == "different" else text


def _html(piece: Piece, color: str) -> str:
    text = html.escape(_printable(piece.text))
    if piece.kind == "same":
        return f"<b>{text}</b>"
    return f'<mark style="background:{color}">{text}</mark>' if piece.kind == "different" else text


def _printable_char(char: str) -> str:
    shown = category(char) not in ("Cc", "Cs") or char in "\n\t"
    return char if shown else char.encode("unicode_escape").decode("ascii")


_PRINTABLE = CharTable(_printable_char)


def _printable(text: str) -> str:
    """Lone surrogates cannot be printed, and control characters would steer the terminal: show them escaped."""
    return text.translate(_PRINTABLE)


def show_text(actual: str, expected: str, *, stemmer: bool = False) -> TextDiff:
    """Mark which tokens of an answer and its reference are the same, in the same order.

    The tokens are those of `adk_scoring.text.tokenize`; the ones that count as the same are a longest common
    subsequence, as in ROUGE-L.

    Args:
        actual: the answer.
        expected: the reference.
        stemmer: words with one Porter stem are the same.

    Returns:
        What to print, or to show in a notebook: tokens that differ are in brackets, or coloured.

    Raises:
        TypeError: an argument is not a `str`.

    >>> show_text("The price is 100 euros.", "the price: 900 euros")
    actual:   The price [+is+] [+100+] euros.
    expected: the price: [-900-] euros
    3 of 5 actual and of 4 expected tokens match
    """
    require_text(actual, "actual")
    require_text(expected, "expected")
    left, right = token_spans(actual), token_spans(expected)
    characters: dict[str, int] = {}
    ids = [
        tuple(characters.setdefault(porter_stem(token) if stemmer else token, len(characters)) for token, _, _ in spans)
        for spans in (left, right)
    ]
    pairs = lcs_pairs(*ids)
    return TextDiff(
        _pieces(actual, left, {i for i, _ in pairs}),
        _pieces(expected, right, {j for _, j in pairs}),
    )


def _pieces(text: str, spans: Sequence[tuple[str, int, int]], matched: set[int]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    end = 0
    for i, (_, start, stop) in enumerate(spans):
        kind: Literal["same", "different"] = "same" if i in matched else "different"
        if start < end:  # a second token of the same character
            if kind == "different":
                pieces[-1] = Piece(pieces[-1].text, kind)
            continue
        if start > end:
            pieces.append(Piece(text[end:start], "between"))
        pieces.append(Piece(text[start:stop], kind))
        end = stop
    if end < len(text):
        pieces.append(Piece(text[end:], "between"))
    return tuple(pieces)


def token_spans(text: str) -> list[tuple[str, int, int]]:
    """The tokens of `tokenize`, each with where it stands in the text as it was given.

    Returns:
        ``(token, start, end)`` in order; ``text[start:end]`` is what became the token. One character can hold two
        tokens (½ is 1 and 2), which then have the same place.

    Raises:
        TypeError: `text` is not a `str`.

    >>> token_spans("Café, 北京!")
    [('café', 0, 4), ('北', 6, 7), ('京', 7, 8)]
    """
    require_text(text, "text")
    starts = [i for i, char in enumerate(text) if i == 0 or not _continues(char)] + [len(text)]
    parts: list[str] = []
    owners: list[int] = []  # for each character of the parts, which atom it came from
    for atom, (start, end) in enumerate(pairwise(starts)):
        part = separate(text[start:end])
        if CLUSTER in part:
            part += " "  # a cluster is whole; what follows is another token
        parts.append(part)
        owners += [atom] * len(part)
    return [
        (match[0], starts[owners[match.start()]], starts[owners[match.end() - 1] + 1])
        for match in TOKEN.finditer("".join(parts))
    ]


def _continues(char: str) -> bool:
    """Whether a character can change what the one before becomes, or leaves no trace of its own."""
    folded = FOLD[ord(char)]
    return not folded or composes(folded[0])
