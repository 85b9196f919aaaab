"""Texts in, strings with one character per token out, so that tokens are compared at the speed of characters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from .tokens import RUN, SINGLE, Tokenizer, porter_stem, resolve_tokenizer, separate, tokenize

if TYPE_CHECKING:
    from .bulk import WordTable

__all__ = ["Encoded", "Vocabulary", "VocabularyFullError", "encode", "encode_one", "shared_vocabulary"]

Encoded: TypeAlias = str | tuple[int, ...]
"""One character per token; numbers for the rare texts with more different tokens than there are characters."""


class VocabularyFullError(Exception):
    """There is no character left to stand for a token."""


class Vocabulary(dict[str, str]):
    """Token -> the character that stands for it. Equal stems share one, so a word is stemmed once, not per use."""

    # The first, most frequent tokens get characters below 256, for which rapidfuzz has a table; none of them, nor any
    # of the rest, is white space or a character that is a token by itself.
    _low, _high = range(0xA1, 0x100), range(0x40000, 0x110000)

    def __init__(self, *, stemmer: bool) -> None:
        super().__init__()
        self._form = porter_stem if stemmer else str
        self._chars: dict[str, str] = {}
        self._lock = Lock()
        self.size = 0  # characters of all tokens in it
        self.table: WordTable | None = None
        self.table_lock = Lock()

    def __missing__(self, token: str) -> str:
        form = self._form(token)
        with self._lock:  # two threads must not give two tokens one character
            if form not in self._chars:
                self._chars[form] = form if SINGLE.fullmatch(form) else self._next()
            char = self[token] = self._chars[form]
            self.size += len(token)
        return char

    def _next(self) -> str:
        n = len(self._chars)
        if n >= len(self._high):
            raise VocabularyFullError
        return chr(self._low[n] if n < len(self._low) else self._high[n])


_VOCABULARY_SIZE = 1 << 20  # some 150,000 words; then a new vocabulary begins
_vocabularies: dict[bool, Vocabulary] = {}


def shared_vocabulary(stemmer: bool) -> Vocabulary:
    """The vocabulary that calls share; calls that began with an older one keep it until they are done."""
    vocabulary = _vocabularies.get(stemmer)
    if vocabulary is None or vocabulary.size > _VOCABULARY_SIZE:
        vocabulary = _vocabularies[stemmer] = Vocabulary(stemmer=stemmer)
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
    vocabulary = shared_vocabulary(stemmer)
    try:
        return [encode_one(text, vocabulary, tokens_of) for text in texts]
    except VocabularyFullError:
        form = porter_stem if stemmer else str
        numbers: defaultdict[str, int] = defaultdict(count().__next__)
        return [tuple(numbers[form(token)] for token in tokens_of(text)) for text in texts]


def encode_one(text: str, vocabulary: Vocabulary, tokens_of: Callable[[str], list[str]]) -> str:
    """Encode a text with the characters of a vocabulary.

    Raises:
        VocabularyFullError: there are more different tokens than characters.

    >>> encode_one("今天 a b a", Vocabulary(stemmer=False), tokenize)
    '今天¡¢¡'
    """
    lookup = vocabulary.__getitem__
    if tokens_of is not tokenize:
        return "".join(map(lookup, tokens_of(text)))
    separated = separate(text)
    if text.isascii() or not SINGLE.search(separated):
        return "".join(map(lookup, separated.split()))
    # Characters that are tokens stand for themselves; only the words between them are looked up.
    return "".join(RUN.sub(lambda word: lookup(word[0]), separated).split())
