"""Texts in, strings with one character per token out, so that tokens are compared at the speed of characters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import count
from threading import Lock
from typing import TypeAlias

from .text import RUN, SINGLE, Tokenizer, porter_stem, resolve_tokenizer, separate, tokenize

__all__ = ["Encoded", "encode"]

Encoded: TypeAlias = str | tuple[int, ...]
"""One character per token; numbers for the rare texts with more different tokens than there are characters."""


class _VocabularyFullError(Exception):
    """There is no character left to stand for a token."""


class _Vocabulary(dict[str, str]):
    """Token -> the character that stands for it. Equal stems share one, so a word is stemmed once, not per use."""

    # The first, most frequent tokens get characters below 256, for which rapidfuzz has a table; none of them, nor any
    # of the rest, is white space or a character that is a token by itself.
    _low, _high = range(0xA1, 0x100), range(0x40000, 0x110000)

    def __init__(self, *, stemmer: bool) -> None:
        self._form = porter_stem if stemmer else str
        self._chars: dict[str, str] = {}
        self._lock = Lock()
        self.size = 0  # characters of all tokens in it

    def __missing__(self, token: str) -> str:
        form = self._form(token)
        with self._lock:  # two threads must not give two tokens one character
            if form not in self._chars:
                n = len(self._chars)
                if n >= len(self._high):
                    raise _VocabularyFullError
                self._chars[form] = chr(self._low[n] if n < len(self._low) else self._high[n])
            char = self[token] = self._chars[form]
            self.size += len(token)
        return char


_VOCABULARY_SIZE = 1 << 20  # some 150,000 words; then a new vocabulary begins
_vocabularies: dict[bool, _Vocabulary] = {}


def _vocabulary(stemmer: bool) -> _Vocabulary:
    """The vocabulary that calls share; calls that began with an older one keep it until they are done."""
    vocabulary = _vocabularies.get(stemmer)
    if vocabulary is None or vocabulary.size > _VOCABULARY_SIZE:
        vocabulary = _vocabularies[stemmer] = _Vocabulary(stemmer=stemmer)
    return vocabulary


def encode(*texts: str, stemmer: bool = False, tokenizer: Tokenizer = "unicode") -> list[Encoded]:
    """Encode texts that are to be compared with each other: one character a token, equal for equal tokens.

    Which character stands for a token may change from one call to the next.

    Args:
        *texts: any texts.
        stemmer: words with one Porter stem are one token.
        tokenizer: a preset of `TOKENIZERS` or a function from a text to its tokens.

    Returns:
        For each text as many characters as it has tokens.

    Raises:
        ConfigError: there is no such preset.

    >>> actual, expected = encode("the agent runs", "an agent running", stemmer=True)
    >>> len(actual), actual[1:] == expected[1:], actual[0] == expected[0]
    (3, True, False)
    """
    tokens_of = resolve_tokenizer(tokenizer)
    lookup = _vocabulary(stemmer).__getitem__
    try:
        return [_encode(text, lookup, tokens_of) for text in texts]
    except _VocabularyFullError:
        form = porter_stem if stemmer else str
        numbers: defaultdict[str, int] = defaultdict(count().__next__)
        return [tuple(numbers[form(token)] for token in tokens_of(text)) for text in texts]


def _encode(text: str, lookup: Callable[[str], str], tokens_of: Callable[[str], list[str]]) -> str:
    if tokens_of is not tokenize:
        return "".join(map(lookup, tokens_of(text)))
    separated = separate(text)
    if text.isascii() or not SINGLE.search(separated):
        return "".join(map(lookup, separated.split()))
    # Characters that are tokens stand for themselves; only the words between them are looked up.
    return "".join(RUN.sub(lambda word: lookup(word[0]), separated).split())
