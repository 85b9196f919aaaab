"""An answer and its references in, ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum out.

The counts, the choice among longest common subsequences and the order of operations are rouge-score 0.1.2's, so on
ASCII text the numbers are the same to the last bit. `adk_scoring.text.pairs` computes the same for many pairs at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from math import isqrt

from ..errors import ConfigError
from .encoding import Encoded, encode
from .tokens import Tokenizer, require_text, resolve_tokenizer

__all__ = ["Rouge", "RougeScore", "lcs_pairs", "rouge"]


@dataclass(frozen=True, slots=True, repr=False)
class RougeScore:
    """What two texts share, in counts and as shares.

    Attributes:
        overlap: n-grams in common, each counted as often as both have it; for L and Lsum, tokens of the longest
            common subsequence.
        n_actual: n-grams of the actual text.
        n_expected: n-grams of the reference.

    >>> RougeScore(overlap=2, n_actual=4, n_expected=2)
    RougeScore(precision=0.5, recall=1.0, f1=0.6666666666666666, overlap=2, n_actual=4, n_expected=2)
    """

    overlap: int
    n_actual: int
    n_expected: int

    @property
    def precision(self) -> float:
        """``overlap / n_actual``, from 0 to 1; 0 for an empty text."""
        return self.overlap / (self.n_actual or 1)

    @property
    def recall(self) -> float:
        """``overlap / n_expected``, from 0 to 1; 0 for an empty reference."""
        return self.overlap / (self.n_expected or 1)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, from 0 to 1; 0 when nothing is shared."""
        precision, recall = self.precision, self.recall
        # In this order: 2 * overlap / (n_actual + n_expected) is the same number, but for the last bit.
        return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0

    def __repr__(self) -> str:
        shares = f"precision={self.precision!r}, recall={self.recall!r}, f1={self.f1!r}"
        counts = f"overlap={self.overlap}, n_actual={self.n_actual}, n_expected={self.n_expected}"
        return f"RougeScore({shares}, {counts})"


@dataclass(frozen=True, repr=False)
class Rouge:
    """The four ROUGE scores of one answer; each is computed when it is first asked for.

    Of several references, each score takes the one with the highest F1, the first of equals.

    Attributes:
        actual: the answer.
        expected: its references.
        stemmer: words with one Porter stem are one token.
        tokenizer: a preset's name or a function from a text to its tokens.
    """

    actual: str
    expected: tuple[str, ...]
    stemmer: bool = False
    tokenizer: Tokenizer = "unicode"

    @cached_property
    def rouge1(self) -> RougeScore:
        """Tokens in common."""
        return _best([_ngram_score(actual, expected, 1) for actual, expected in self._pairs])

    @cached_property
    def rouge2(self) -> RougeScore:
        """Pairs of neighbouring tokens in common; a text of one token has none."""
        return _best([_ngram_score(actual, expected, 2) for actual, expected in self._pairs])

    @cached_property
    def rougeL(self) -> RougeScore:  # noqa: N802
        """Longest common subsequence of tokens."""
        return _best([_lcs_score(actual, expected) for actual, expected in self._pairs])

    @cached_property
    def rougeLsum(self) -> RougeScore:  # noqa: N802
        """Longest common subsequences line by line, united per line of the reference; without newlines, ROUGE-L.

        Every line of the one is compared with every line of the other that shares a token with it.
        """
        if "\n" not in self.actual and not any("\n" in reference for reference in self.expected):
            return self.rougeL
        return _best(
            [
                summary_score(self.actual, reference, stemmer=self.stemmer, tokenizer=self.tokenizer)
                for reference in self.expected
            ]
        )

    @cached_property
    def _pairs(self) -> list[tuple[Encoded, Encoded]]:
        actual, *expected = encode(self.actual, *self.expected, stemmer=self.stemmer, tokenizer=self.tokenizer)
        return [(actual, reference) for reference in expected]

    def __repr__(self) -> str:
        names = ("rouge1", "rouge2", "rougeL", "rougeLsum")
        return f"Rouge({', '.join(f'{name}={getattr(self, name).f1:.4f}' for name in names)})"


def rouge(
    actual: str,
    expected: str | Sequence[str],
    *,
    stemmer: bool = False,
    tokenizer: Tokenizer = "unicode",
) -> Rouge:
    """Score how much of an answer and its reference is the same, token by token.

    Equals rouge-score 0.1.2 to the last bit on ASCII text, and on any text with ``tokenizer="rouge-score"``.
    ``tokenizer="adk", stemmer=True`` gives google-adk 2.13's `response_match_score` as `rouge1.f1`.

    Args:
        actual: the answer.
        expected: the reference, or a list or tuple of references.
        stemmer: count English words by their Porter stem.
        tokenizer: ``"unicode"`` (`adk_scoring.text.tokenize`: every script), ``"rouge-score"`` (ASCII only),
            ``"adk"``, or a function from a text to its list of tokens.

    Returns:
        `rouge1`, `rouge2`, `rougeL` and `rougeLsum`, each with `precision`, `recall`, `f1` from 0 to 1 and its counts.
        Where there is nothing to compare (no token on a side, no pair of tokens for `rouge2`), 0.0.

    Raises:
        TypeError: an argument is not text.
        ConfigError: no references, or no such tokenizer.

    >>> score = rouge("the price is 100", "the price is 900")
    >>> score
    Rouge(rouge1=0.7500, rouge2=0.6667, rougeL=0.7500, rougeLsum=0.7500)
    >>> score.rouge1.overlap, score.rouge1.precision
    (3, 0.75)
    >>> rouge("今天晴天", ["今天雨天", "今天晴天"]).rougeL.f1
    1.0
    """
    require_text(actual, "actual")
    resolve_tokenizer(tokenizer)  # a wrong one is an error here, not at the first score
    if isinstance(expected, list | tuple):
        if not expected:
            raise ConfigError("expected is empty: give at least one reference")
        references = tuple(require_text(reference, f"expected[{i}]") for i, reference in enumerate(expected))
    else:
        references = (require_text(expected, "expected"),)
    return Rouge(actual, references, stemmer, tokenizer)


def _best(scores: list[RougeScore]) -> RougeScore:
    return scores[0] if len(scores) == 1 else max(scores, key=lambda score: score.f1)


def clipped_overlap(actual: Iterable[Hashable], expected: Iterable[Hashable]) -> int:
    """How many items two collections share, each counted as often as both have it.

    >>> clipped_overlap("aab", "aaab")
    3
    """
    left: dict[Hashable, int] = {}
    get = left.get
    for item in expected:
        left[item] = get(item, 0) + 1
    overlap = 0
    for item in actual:
        if n := get(item):
            left[item] = n - 1
            overlap += 1
    return overlap


def _ngram_score(actual: Encoded, expected: Encoded, n: int) -> RougeScore:
    return RougeScore(ngram_overlap(actual, expected, n), max(len(actual) - n + 1, 0), max(len(expected) - n + 1, 0))


def ngram_overlap(actual: Encoded, expected: Encoded, n: int) -> int:
    """How many tokens (``n=1``) or pairs of neighbouring tokens (``n=2``) two encoded texts share.

    >>> ngram_overlap("abcab", "abab", 1), ngram_overlap("abcab", "abab", 2)
    (4, 2)
    """
    if n == 1:
        return clipped_overlap(actual, expected)
    return clipped_overlap(_bigrams(actual), _bigrams(expected))


def _bigrams(text: Encoded) -> Sequence[Hashable]:
    if isinstance(text, tuple):
        return list(pairwise(text))
    # Two characters of four bytes are one integer: five times as fast as making pairs.
    data = text.encode("utf-32-le")
    even, odd = data[: len(data) & -8], data[4 : 4 + (max(len(data) - 4, 0) & -8)]
    return memoryview(even).cast("Q").tolist() + memoryview(odd).cast("Q").tolist()


def _lcs_score(actual: Encoded, expected: Encoded) -> RougeScore:
    from rapidfuzz.distance import LCSseq  # 40 ms, not for who only normalizes

    return RougeScore(int(LCSseq.similarity(actual, expected)), len(actual), len(expected))


def summary_score(actual: str, expected: str, *, stemmer: bool, tokenizer: Tokenizer) -> RougeScore:
    r"""ROUGE-Lsum of one answer and one reference.

    For each line of the reference the longest common subsequences with the lines of the answer are united; what they
    hold counts as often as the answer has it.

    >>> summary_score("b\na", "a\nb", stemmer=False, tokenizer="unicode").f1
    1.0
    """
    actual_lines = [line for line in actual.split("\n") if line]
    expected_lines = [line for line in expected.split("\n") if line]
    encoded = encode(*actual_lines, *expected_lines, stemmer=stemmer, tokenizer=tokenizer)
    answer, reference = encoded[: len(actual_lines)], encoded[len(actual_lines) :]
    distinct = {line: frozenset(line) for line in answer}
    united: list[Hashable] = []
    for line in reference:
        if line in distinct:  # its longest common subsequence is the whole line
            united.extend(line)
            continue
        tokens = frozenset(line)
        others = (other for other, its in distinct.items() if not tokens.isdisjoint(its))
        positions = {position for other in others for _, position in lcs_pairs(other, line)}
        united.extend(line[position] for position in positions)
    overlap = clipped_overlap(chain.from_iterable(answer), united)
    return RougeScore(overlap, sum(map(len, answer)), sum(map(len, reference)))


_LCS_BITS = 1 << 28  # 32 MB


def lcs_pairs(actual: Encoded, expected: Encoded) -> list[tuple[int, int]]:
    """Where two encoded texts agree: one longest common subsequence, as pairs of positions.

    Of several equally long ones it is rouge-score's, which from the end drops a token of the reference rather than
    one of the answer. The table of lengths is kept as one big integer per token of the answer, bit i telling whether
    token i of the reference adds nothing; where that would be too much memory, only every k-th, from which the
    others are computed again.

    >>> lcs_pairs("axbc", "abxc")
    [(0, 0), (2, 1), (3, 3)]
    """
    where: defaultdict[Hashable, int] = defaultdict(int)
    for i, token in enumerate(expected):
        where[token] |= 1 << i
    full = (1 << len(expected)) - 1
    step = len(actual) if len(actual) * len(expected) <= _LCS_BITS else isqrt(len(actual)) + 1

    def columns(column: int, tokens: Encoded) -> list[int]:
        result = [column]
        for token in tokens:
            common = column & where.get(token, 0)
            column = ((column + common) | (column - common)) & full
            result.append(column)
        return result

    firsts = [full]
    starts = range(0, len(actual), max(step, 1))
    for start in starts[:-1]:
        firsts.append(columns(firsts[-1], actual[start : start + step])[-1])
    pairs: list[tuple[int, int]] = []
    i = len(expected) - 1
    for start, first in zip(reversed(starts), reversed(firsts), strict=False):
        block = actual[start : start + step]
        table = columns(first, block)
        j = len(block) - 1
        while i >= 0 and j >= 0:
            if block[j] == expected[i]:
                pairs.append((start + j, i))
                i -= 1
                j -= 1
            elif table[j + 1] >> i & 1:
                i -= 1
            else:
                j -= 1
    return pairs[::-1]
