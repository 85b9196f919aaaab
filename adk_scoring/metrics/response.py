"""Response metrics: the answer against the expected answer, as text.

An actual answer of ``None`` is an empty text; a turn whose expectation has no answer is skipped. Of several
expected answers the one with the best score counts, the first among equals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ..errors import ConfigError
from ..evidence import Evidence, Evidences
from ..model import Case, Turn
from ..text import Tokenizer, normalize, resolve_tokenizer
from ..text.pairs import levenshtein_many
from ..text.rouge import RougeScore, rouge
from ..text.similarity import contains, jaccard, levenshtein, token_f1
from .base import Metric, Reply, Score, Scores, score_safely, score_turns

__all__ = [
    "AdkResponseMatch",
    "ResponseContains",
    "ResponseExactMatch",
    "ResponseJaccard",
    "ResponseLevenshtein",
    "ResponseRouge",
    "ResponseTokenF1",
]

RougeKind = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]
Stat = Literal["precision", "recall", "f1"]

Measured = tuple[float, Mapping[str, float], str]
"""Value, counts and reason."""


def score_responses(
    metric: str,
    evidence: Evidence | Case,
    measure: Callable[[str, str], Measured],
    *,
    checkable: Callable[[str], bool] = lambda reference: True,
    nothing: str = "",
) -> Score:
    """Score the answer of each turn against its references; the best one counts.

    Args:
        metric: the metric's name.
        evidence: the case.
        measure: takes the answer and one reference.
        checkable: whether a reference says anything that the metric could check.
        nothing: why a turn without such a reference is skipped.

    Raises:
        TypeError: an answer is not text; names the case.
    """
    evidence = Evidence.of(evidence)
    case = evidence.case

    def turn_score(turn: int) -> Score:
        actual = case.turns[turn].actual
        text = _text(actual.response if actual else None, case.case_id, "response") or ""
        alternatives = case.turns[turn].expected
        references = [(i, _text(e.response, case.case_id, "expected response")) for i, e in enumerate(alternatives)]
        measured = [
            (index, measure(text, reference))
            for index, reference in references
            if reference is not None and checkable(reference)
        ]
        which, (value, counts, reason) = max(measured, key=lambda found: found[1][0])
        if sum(reference is not None for _, reference in references) > 1:
            reason += f"; against alternative {which + 1} of {len(alternatives)}"
        return Score(metric, value, reason=reason, counts=counts)

    def applies(turn: Turn) -> bool:
        texts = (_text(expected.response, case.case_id, "expected response") for expected in turn.expected)
        return any(text is not None and checkable(text) for text in texts)

    return score_turns(metric, evidence, turn_score, reference="response", applies=applies, otherwise=nothing)


def _text(value: object, case_id: str, what: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{case_id}: {what} is {type(value).__name__}, not text: {value!r:.60}")


def _in_bulk(
    metric: Metric, evidences: Iterable[Evidence], columns: Callable[[Evidences], tuple[Sequence[float], ...]]
) -> Scores:
    """Score a chunk: the answers that `Evidences` gathers by column (values, then counts), the others one by one."""
    chunk = Evidences.of(evidences)
    gathered, *_ = chunk.answers
    values, *counts = columns(chunk) if gathered else ((),)
    scores = Scores(metric)
    rows = iter(zip(values, *counts, strict=True))
    for index, evidence in enumerate(chunk):
        if index in gathered:
            value, *numbers = next(rows)
            scores.append_plain(value, [int(number) for number in numbers])
        else:
            scores.append(score_safely(metric, evidence))
    return scores


@dataclass(frozen=True)
class ResponseExactMatch(Metric):
    """1 if the normalised answer is the normalised expected answer; else 0. Both empty: 1."""

    name = "response_exact_match"
    needs: ClassVar[frozenset[str]] = frozenset({"expected_response"})

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns that have an expected answer."""
        return score_responses(self.name, evidence, _exact)


@dataclass(frozen=True)
class ResponseContains(Metric):
    """1 if the normalised expected answer occurs in the normalised answer; an empty expected answer is skipped."""

    name = "response_contains"
    needs: ClassVar[frozenset[str]] = frozenset({"expected_response"})

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns that have an expected answer."""
        return score_responses(
            self.name,
            evidence,
            _contains,
            checkable=lambda expected: bool(normalize(expected)),
            nothing="the expected response is empty: nothing to look for",
        )


def _exact(actual: str, expected: str) -> Measured:
    left, right = normalize(actual), normalize(expected)
    if left == right:
        return 1.0, {}, "equal after normalising"
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return 0.0, {}, f"differs from character {at + 1} on: expected {right[at : at + 20]!r}, got {left[at : at + 20]!r}"


def _contains(actual: str, expected: str) -> Measured:
    if contains(actual, expected):
        return 1.0, {}, "the expected text occurs in the response"
    return 0.0, {}, f"the expected text does not occur in the response: {expected[:40]!r}"


@dataclass(frozen=True)
class ResponseRouge(Metric):
    """ROUGE: the tokens, token pairs or longest common subsequence that the answer and the expected answer share.

    Args:
        kind: ``"rouge1"``, ``"rouge2"``, ``"rougeL"`` or ``"rougeLsum"``.
        stat: ``"f1"``, ``"precision"`` (divided by the answer) or ``"recall"`` (by the expected answer).
        stemmer: whether English words with one Porter stem are one token.
        tokenizer: ``"unicode"`` (every script), ``"rouge-score"`` (ASCII alone), ``"adk"``, or a function.

    No token on either side gives 0, as rouge-score has it.
    """

    kind: RougeKind
    stat: Stat = "f1"
    stemmer: bool = False
    tokenizer: Tokenizer = "unicode"

    needs: ClassVar[frozenset[str]] = frozenset({"expected_response"})
    count_names = ("shared", "in_response", "in_expected")

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, ("rouge1", "rouge2", "rougeL", "rougeLsum"))
        _one_of("stat", self.stat, ("f1", "precision", "recall"))
        resolve_tokenizer(self.tokenizer)

    @property
    def name(self) -> str:
        """The id: ``response_rouge1`` and so on."""
        return f"response_{self.kind}"

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns that have an expected answer."""

        def measure(actual: str, expected: str) -> Measured:
            found = getattr(rouge(actual, expected, stemmer=self.stemmer, tokenizer=self.tokenizer), self.kind)
            return _rouge_measured(self, getattr(found, self.stat), found)

        return score_responses(self.name, evidence, measure)

    def score_many(self, evidences: Iterable[Evidence]) -> Scores:
        """Score many cases at once, from tokens that all metrics of the chunk share."""
        return _in_bulk(self, evidences, lambda chunk: _rouge_columns(self, self.kind, self.stat, chunk))

    def explain(self, value: float, counts: Mapping[str, float]) -> str:
        """Return the arithmetic in words."""
        return _rouge_words(self.kind, counts)


@dataclass(frozen=True)
class AdkResponseMatch(Metric):
    """Google ADK's ``response_match_score``, to its last bit: ROUGE-1 F1, Porter stemmer, ADK's tokeniser."""

    name = "response_match_score"
    needs: ClassVar[frozenset[str]] = frozenset({"expected_response"})
    count_names = ("shared", "in_response", "in_expected")
    stemmer = True
    tokenizer: ClassVar[Tokenizer] = "adk"

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns that have an expected answer."""

        def measure(actual: str, expected: str) -> Measured:
            found = rouge(actual, expected, stemmer=True, tokenizer="adk").rouge1
            return _rouge_measured(self, found.f1, found)

        return score_responses(self.name, evidence, measure)

    def score_many(self, evidences: Iterable[Evidence]) -> Scores:
        """Score many cases at once, from tokens that all metrics of the chunk share."""
        return _in_bulk(self, evidences, lambda chunk: _rouge_columns(self, "rouge1", "f1", chunk))

    def explain(self, value: float, counts: Mapping[str, float]) -> str:
        """Return the arithmetic in words."""
        return _rouge_words("rouge1", counts)


_UNITS = {
    "rouge1": "tokens",
    "rouge2": "token pairs",
    "rougeL": "tokens in order",
    "rougeLsum": "tokens in order by line",
}


def _rouge_words(kind: str, counts: Mapping[str, float]) -> str:
    shared, response, expected = (int(counts[name]) for name in ("shared", "in_response", "in_expected"))
    if not response and not expected:
        return (
            "nothing to compare: neither text has a token" if kind != "rouge2" else "nothing to compare: no token pairs"
        )
    unit = _UNITS[kind] if shared != 1 else _UNITS[kind].replace("tokens", "token").replace("pairs", "pair")
    return f"{shared} {unit} shared; {response} in the response, {expected} in the expected one"


def _rouge_measured(metric: ResponseRouge | AdkResponseMatch, value: float, found: RougeScore) -> Measured:
    counts = {"shared": found.overlap, "in_response": found.n_actual, "in_expected": found.n_expected}
    return value, counts, metric.explain(value, counts)


def _rouge_columns(metric: Any, kind: RougeKind, stat: Stat, chunk: Evidences) -> tuple[Sequence[float], ...]:
    column = getattr(chunk.text_pairs(stemmer=metric.stemmer, tokenizer=metric.tokenizer), kind)
    return (
        getattr(column, stat).tolist(),
        column.overlap.tolist(),
        column.n_actual.tolist(),
        column.n_expected.tolist(),
    )


@dataclass(frozen=True)
class ResponseLevenshtein(Metric):
    """1 minus the edits that turn the answer into the expected one, divided by the longer one's length. Both empty: 1.

    Args:
        level: ``"char"`` counts code points of the normalised texts, ``"token"`` whole tokens.
    """

    level: Literal["char", "token"] = "char"

    name = "response_levenshtein"
    needs: ClassVar[frozenset[str]] = frozenset({"expected_response"})

    def __post_init__(self) -> None:
        _one_of("level", self.level, ("char", "token"))

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns that have an expected answer."""

        def measure(actual: str, expected: str) -> Measured:
            value = levenshtein(actual, expected, level=self.level)
            return value, {}, self.explain(value, {})

        return score_responses(self.name, evidence, measure)

    def score_many(self, evidences: Iterable[Evidence]) -> Scores:
        """Score many cases at once, from texts or tokens that all metrics of the chunk share."""

        def columns(chunk: Evidences) -> tuple[Sequence[float], ...]:
            actual, expected = chunk.normalized_answers
            return (levenshtein_many(actual, expected, level=self.level, normalizer=None).tolist(),)

        return _in_bulk(self, evidences, columns)

    def explain(self, value: float, counts: Mapping[str, float]) -> str:
        """Return the share of the text that has to be edited, in words."""
        unit = "characters" if self.level == "char" else "tokens"
        return f"{1 - value:.1%} of the {unit} of the longer text differ"


@dataclass(frozen=True)
class ResponseJaccard(Metric):
    """The distinct tokens that both answers have, divided by those that either has. Both without tokens: 1.

    Args:
        stemmer: whether English words with one Porter stem are one token.
    """

    stemmer: bool = False

    name = "response_jaccard"
    needs: ClassVar[frozenset[str]] = frozenset({"expected_response"})

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns that have an expected answer."""

        def measure(actual: str, expected: str) -> Measured:
            value = jaccard(actual, expected, stemmer=self.stemmer)
            return value, {}, self.explain(value, {})

        return score_responses(self.name, evidence, measure)

    def score_many(self, evidences: Iterable[Evidence]) -> Scores:
        """Score many cases at once, from tokens that all metrics of the chunk share."""
        return _in_bulk(
            self,
            evidences,
            lambda chunk: (chunk.text_pairs(stemmer=self.stemmer, tokenizer="unicode").jaccard.tolist(),),
        )

    def explain(self, value: float, counts: Mapping[str, float]) -> str:
        """Return the share of the distinct tokens, in words."""
        return f"{value:.1%} of the distinct tokens are in both texts"


@dataclass(frozen=True)
class ResponseTokenF1(Metric):
    """SQuAD's token F1 over this library's tokens: ROUGE-1's F1, but 1 where neither text has a token.

    Args:
        stemmer: whether English words with one Porter stem are one token.
    """

    stemmer: bool = False

    name = "response_token_f1"
    needs: ClassVar[frozenset[str]] = frozenset({"expected_response"})

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns that have an expected answer."""

        def measure(actual: str, expected: str) -> Measured:
            value = token_f1(actual, expected, stemmer=self.stemmer)
            return value, {}, self.explain(value, {})

        return score_responses(self.name, evidence, measure)

    def score_many(self, evidences: Iterable[Evidence]) -> Scores:
        """Score many cases at once, from tokens that all metrics of the chunk share."""
        return _in_bulk(
            self,
            evidences,
            lambda chunk: (chunk.text_pairs(stemmer=self.stemmer, tokenizer="unicode").token_f1.tolist(),),
        )

    def explain(self, value: float, counts: Mapping[str, float]) -> str:
        """Return what the number is, in words."""
        return f"token F1 {value:.3f}"


def _one_of(what: str, value: object, wanted: Sequence[str]) -> None:
    if value not in wanted:
        raise ConfigError(f"{what} {value!r}; wanted one of {', '.join(wanted)}")
