"""Two texts in, how alike they are out: character and token edit distance, token sets, token F1, containment.

Arguments are ``(actual, expected)`` everywhere; only `contains` depends on their order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from ..errors import ConfigError
from .encoding import encode
from .rouge import rouge
from .tokens import Tokenizer, normalize, require_text

__all__ = ["Normalizer", "contains", "jaccard", "levenshtein", "token_f1"]

Normalizer: TypeAlias = Callable[[str], str]
"""A function that makes equal what is to count as equal."""


def contains(actual: str, expected: str, *, normalizer: Normalizer | None = normalize) -> bool:
    """Whether the expected text stands in the actual one, as a run of characters.

    Args:
        actual: the answer.
        expected: what is to be in it; an empty text is in every other.
        normalizer: applied to both first; ``None`` compares the texts as they are.

    Raises:
        TypeError: an argument is not a `str`.

    >>> contains("The capital is PARIS.", "Paris"), contains("Paris", "The capital is Paris.")
    (True, False)
    """
    require_text(actual, "actual")
    require_text(expected, "expected")
    if normalizer is not None:
        actual, expected = normalizer(actual), normalizer(expected)
    return expected in actual


def levenshtein(
    actual: str,
    expected: str,
    *,
    level: Literal["char", "token"] = "char",
    normalizer: Normalizer | None = normalize,
) -> float:
    """Levenshtein similarity: 1 minus the edits that make one text the other, divided by the longer one's length.

    Insertions, deletions and substitutions count one each; a transposition is two.

    Args:
        actual: the answer.
        expected: the reference.
        level: ``"char"`` edits code points, ``"token"`` whole tokens of `adk_scoring.text.tokenize`.
        normalizer: applied to both first; ``None`` compares the texts as they are.

    Returns:
        From 0 to 1; 1 for equal texts, two empty ones included.

    Raises:
        TypeError: an argument is not a `str`.
        ConfigError: `level` is neither.

    >>> levenshtein("Kitten", "sitting")
    0.5714285714285714
    >>> levenshtein("fly to Paris", "fly to Rome", level="token")
    0.6666666666666667
    """
    from rapidfuzz.distance import Levenshtein

    require_level(level)
    require_text(actual, "actual")
    require_text(expected, "expected")
    if normalizer is not None:
        actual, expected = normalizer(actual), normalizer(expected)
    if level == "token":
        return Levenshtein.normalized_similarity(*encode(actual, expected))
    return Levenshtein.normalized_similarity(actual, expected)


def require_level(level: str) -> None:
    """Refuse a unit of edits that is not known.

    Raises:
        ConfigError: `level` is neither ``"char"`` nor ``"token"``.

    >>> require_level("char")
    """
    if level not in ("char", "token"):
        raise ConfigError(f"level must be 'char' or 'token', not {level!r}")


def jaccard(actual: str, expected: str, *, stemmer: bool = False, tokenizer: Tokenizer = "unicode") -> float:
    """Jaccard similarity: the different tokens that both texts have, divided by those that either has.

    Args:
        actual: the answer.
        expected: the reference.
        stemmer: count English words by their Porter stem.
        tokenizer: a preset or a function, see `adk_scoring.text.rouge.rouge`.

    Returns:
        From 0 to 1; 1 if neither text has a token.

    Raises:
        TypeError: an argument is not a `str`.
        ConfigError: there is no such tokenizer.

    >>> jaccard("to be or not to be", "to be")
    0.5
    """
    left, right = map(
        frozenset,
        encode(
            require_text(actual, "actual"),
            require_text(expected, "expected"),
            stemmer=stemmer,
            tokenizer=tokenizer,
        ),
    )
    union = len(left | right)
    return len(left & right) / union if union else 1.0


def token_f1(actual: str, expected: str, *, stemmer: bool = False, tokenizer: Tokenizer = "unicode") -> float:
    """Token F1 of question answering: the harmonic mean of the shares of tokens that are in common.

    It is ROUGE-1's F1, except that two texts without a token are equal. Unlike SQuAD's script, articles count.

    Args:
        actual: the answer.
        expected: the reference.
        stemmer: count English words by their Porter stem.
        tokenizer: a preset or a function, see `adk_scoring.text.rouge.rouge`.

    Returns:
        From 0 to 1; 1 if neither text has a token.

    Raises:
        TypeError: an argument is not a `str`.
        ConfigError: there is no such tokenizer.

    >>> token_f1("in Paris", " Paris"), token_f1("", "")
    (0.6666666666666666, 1.0)
    """
    require_text(expected, "expected")
    score = rouge(actual, expected, stemmer=stemmer, tokenizer=tokenizer).rouge1
    return score.f1 if score.n_actual or score.n_expected else 1.0
