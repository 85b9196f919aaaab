"""Many pairs of texts in, the strings of `text.encoding.encode` out: tokenizing as arithmetic on arrays.

Texts whose tokens are ASCII are joined and cut at spaces; a word of up to 16 letters is two integers, looked up in a
table. Other texts are joined too, and each character becomes what a table says. Only new words, long ones, words
beyond ASCII, and texts in which neighbouring characters change each other are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from .encoding import Encoded, Vocabulary, VocabularyFullError, encode, encode_one, shared_vocabulary
from .tokens import (
    NEEDS_CONTEXT,
    SINGLE,
    CharTable,
    Tokenizer,
    character_table,
    lower_ascii,
    resolve_tokenizer,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["WordTable", "encode_pairs"]

_CHUNK_CHARACTERS = 1 << 17  # with more, the temporary arrays no longer fit the processor's caches


def encode_pairs(
    actuals: Sequence[str], expecteds: Sequence[str], *, stemmer: bool = False, tokenizer: Tokenizer = "unicode"
) -> tuple[list[Encoded], list[Encoded]]:
    """Encode each actual text and its expected one, as `adk_scoring.text.encoding.encode` does for one pair.

    >>> actual, expected = encode_pairs(["a b", "今天"], ["b a", "天"])
    >>> actual[0] == expected[0][::-1], actual[1], expected[1]
    (True, '今天', '天')
    """
    tokens_of = resolve_tokenizer(tokenizer)
    actual: list[Encoded] = []
    expected: list[Encoded] = []
    for start, stop in _chunks(actuals, expecteds):
        texts = list(chain(actuals[start:stop], expecteds[start:stop]))
        try:
            encoded = _encode_chunk(texts, shared_vocabulary(stemmer), tokens_of)
        except VocabularyFullError:
            pairs = zip(actuals[start:stop], expecteds[start:stop], strict=True)
            one_by_one = [encode(*pair, stemmer=stemmer, tokenizer=tokenizer) for pair in pairs]
            actual += [pair[0] for pair in one_by_one]
            expected += [pair[1] for pair in one_by_one]
        else:
            actual += encoded[: stop - start]
            expected += encoded[stop - start :]
    return actual, expected


def _chunks(actuals: Sequence[str], expecteds: Sequence[str]) -> Iterator[tuple[int, int]]:
    start = size = 0
    for i, (actual, expected) in enumerate(zip(actuals, expecteds, strict=True)):
        more = len(actual) + len(expected)
        if size and size + more > _CHUNK_CHARACTERS:
            yield start, i
            start, size = i, 0
        size += more
    if start < len(actuals):
        yield start, len(actuals)


def _encode_chunk(texts: list[str], vocabulary: Vocabulary, tokens_of: Callable[[str], list[str]]) -> list[str]:
    table = character_table(tokens_of)
    encoded: list[str] = [""] * len(texts)
    ascii_texts: dict[int, bytes] = {}
    others: list[int] = []
    for i, text in enumerate(texts):
        lowered = lower_ascii(text, tokens_of)
        if lowered is not None:
            ascii_texts[i] = lowered
        elif table is not None:
            others.append(i)
        else:
            encoded[i] = encode_one(text, vocabulary, tokens_of)
    if ascii_texts:
        with vocabulary.table_lock:
            for i, text in zip(ascii_texts, _encode_ascii(list(ascii_texts.values()), vocabulary), strict=True):
                encoded[i] = text
    if others and table is not None:
        found = _encode_characters([texts[i] for i in others], vocabulary, _Characters.of(table))
        for i, code in zip(others, found, strict=True):
            encoded[i] = encode_one(texts[i], vocabulary, tokens_of) if code is None else code
    return encoded


class WordTable:
    """Words of up to 16 bytes, as two integers each, and the code of the character that stands for them.

    A word's place is its hash; a word that finds another there takes the place over, so it is a cache of the
    vocabulary and never wrong.
    """

    _BITS = 17

    def __init__(self) -> None:
        import numpy as np

        self._low, self._high = np.zeros((2, 1 << self._BITS), np.uint64)
        self._code = np.zeros(1 << self._BITS, np.uint32)

    def codes(
        self,
        low: NDArray[np.uint64],
        high: NDArray[np.uint64],
        fits: NDArray[np.bool_],
        look_up: Callable[[NDArray[np.intp]], list[int]],
    ) -> NDArray[np.uint32]:
        """The code of each word; `look_up` gives the codes of those, by position, that are not in the table."""
        import numpy as np

        mixed = (low ^ high * np.uint64(0xC2B2AE3D27D4EB4F)) * np.uint64(0x9E3779B97F4A7C15)
        place = mixed >> np.uint64(64 - self._BITS)
        codes: NDArray[np.uint32] = self._code[place]
        new = np.flatnonzero(~((self._low[place] == low) & (self._high[place] == high) & fits))
        if new.size:
            codes[new] = look_up(new)
            new = new[fits[new]]
            self._low[place[new]], self._high[place[new]], self._code[place[new]] = low[new], high[new], codes[new]
        return codes


def _encode_ascii(texts: list[bytes], vocabulary: Vocabulary) -> list[str]:
    """Encode texts of lower-case letters, digits and spaces."""
    import numpy as np

    if vocabulary.table is None:
        vocabulary.table = WordTable()
    data = b" " + b" ".join(texts) + b" " * 17  # so that 16 bytes can be read from the start of any word
    letters = np.frombuffer(data, np.uint8) != ord(" ")
    edges = np.flatnonzero(letters[1:] != letters[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    lengths = ends - starts
    eight_bytes_at: NDArray[np.uint64] = np.ndarray((len(data) - 7,), "<u8", data, strides=(1,))
    first_bytes = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
    low = eight_bytes_at[starts] & first_bytes[np.minimum(lengths, 8)]
    high = eight_bytes_at[starts + 8] & first_bytes[np.clip(lengths - 8, 0, 8)]

    def look_up(words: NDArray[np.intp]) -> list[int]:
        places = zip(starts[words].tolist(), ends[words].tolist(), strict=True)
        return [ord(vocabulary[data[start:end].decode("ascii")]) for start, end in places]

    codes = vocabulary.table.codes(low, high, lengths <= 16, look_up)
    bounds = np.cumsum([1, *(len(text) + 1 for text in texts)])
    return _cut(codes, np.searchsorted(starts, bounds))


def _cut(codes: NDArray[np.uint32], bounds: NDArray[np.intp]) -> list[str]:
    text = codes.astype("<u4").tobytes().decode("utf-32-le")
    return [text[start:end] for start, end in pairwise(bounds.tolist())]


class _Characters:
    """What each character becomes, for arrays of characters: a code and in its high bits what it is."""

    CODE = (1 << 21) - 1
    WORD, SINGLE, CONTEXT, UNKNOWN = 1 << 21, 1 << 22, 1 << 23, 1 << 24
    _tables: dict[int, _Characters] = {}  # noqa: RUF012

    def __init__(self, table: CharTable) -> None:
        import numpy as np

        self._table = table
        self._values = np.full(0x110000, self.UNKNOWN, np.uint32)

    @classmethod
    def of(cls, table: CharTable) -> _Characters:
        """The one of a tokenizer's table; 4 MB, so it is kept."""
        if id(table) not in cls._tables:
            cls._tables[id(table)] = cls(table)
        return cls._tables[id(table)]

    def __call__(self, codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
        import numpy as np

        values = self._values[codes]
        unknown = values == self.UNKNOWN
        if unknown.any():
            for code in np.unique(codes[unknown]).tolist():
                self._values[code] = self._value(self._table[code])
            values = self._values[codes]
        return values

    def _value(self, part: str) -> int:
        if part.isspace():
            return ord(" ")
        if len(part) != 1 or part == NEEDS_CONTEXT:
            return self.CONTEXT
        return ord(part) | (self.SINGLE if SINGLE.match(part) else self.WORD)


def _encode_characters(texts: list[str], vocabulary: Vocabulary, characters: _Characters) -> list[str | None]:
    """Encode texts by their characters; ``None`` for one in which that does not do."""
    import numpy as np

    joined = " ".join(texts) + " "
    values = characters(np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), "<u4"))
    word = values & characters.WORD != 0
    before = np.concatenate(([False], word[:-1]))
    begins, ends = word & ~before, np.flatnonzero(before & ~word)
    starts = np.flatnonzero(begins | (values & characters.SINGLE != 0))
    codes: NDArray[np.uint32] = values[starts] & np.uint32(characters.CODE)
    folded = (values & characters.CODE).astype("<u4").tobytes().decode("utf-32-le")
    words = zip(np.flatnonzero(begins).tolist(), ends.tolist(), strict=True)
    codes[begins[starts]] = [ord(vocabulary[folded[start:end]]) for start, end in words]
    bounds = np.cumsum([0, *(len(text) + 1 for text in texts)])
    encoded: list[str | None] = list(_cut(codes, np.searchsorted(starts, bounds)))
    in_context = np.flatnonzero(values & characters.CONTEXT)
    for i in set((np.searchsorted(bounds, in_context, "right") - 1).tolist()):
        encoded[i] = None
    return encoded
