"""What the metrics of one case share: its alignments and chosen references, computed on first use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, overload

from .alignment import Alignment
from .matching import Match
from .model import Case, ToolCall

if TYPE_CHECKING:
    from .text import Tokenizer
    from .text.pairs import TextPairs

__all__ = ["Evidence", "Evidences"]


class Evidence:
    """One case and what was worked out about it so far.

    Args:
        case: the case to score.

    Metrics take it instead of a `Case` so that one alignment per turn and `Match` serves all of them.
    """

    __slots__ = ("_aligned", "case")

    def __init__(self, case: Case) -> None:
        self.case = case
        # Keyed by the identity of the Match: equal ones are merged when criteria are built, and hashing a
        # dataclass for each lookup would cost more than some of the metrics.
        self._aligned: dict[tuple[int, int], tuple[Match, int, Alignment]] = {}

    @classmethod
    def of(cls, case: Case | Evidence) -> Evidence:
        """Wrap a case; evidence stays as it is."""
        return case if isinstance(case, Evidence) else cls(case)

    def made(self, turn: int) -> tuple[ToolCall, ...]:
        """Return the calls that were made in a turn; a recorded run that says nothing about calls made none."""
        actual = self.case.turns[turn].actual
        return (actual.tool_calls if actual else None) or ()

    def aligned(self, turn: int, match: Match) -> tuple[int, Alignment]:
        """Return the alternative that was chosen for a turn, and the alignment with it.

        Of several acceptable expectations the one with the highest F1 is chosen, then the one whose order is
        kept best, then the one listed first. The turn must have an actual side and an expectation about calls.

        Raises:
            MatchError: arguments that have to be compared are unknown.
        """
        key = (turn, id(match))
        found = self._aligned.get(key)
        if found is None:
            calls = self.made(turn)
            alternatives = [
                (index, Alignment(calls, expected.tool_calls, match))
                for index, expected in enumerate(self.case.turns[turn].expected)
                if expected.tool_calls is not None
            ]
            if not alternatives:
                raise ValueError(f"turn {turn + 1} has no expectation about calls")
            best = alternatives[0] if len(alternatives) == 1 else max(alternatives, key=_worth)
            # The Match is kept so that its id stays its own while this entry lives.
            found = self._aligned[key] = match, *best
        return found[1], found[2]


def _worth(alternative: tuple[int, Alignment]) -> tuple[float, float]:
    """F1, then how well the order is kept; of equals `max` takes the one listed first."""
    alignment = alternative[1]
    n, m = alignment.n, alignment.m
    f1 = 2 * alignment.k / (n + m) if n + m else 1.0
    return f1, alignment.l / m if m else 1.0


class Evidences(Sequence[Evidence]):
    """A chunk of cases, and what was worked out over all of them at once: their answers, tokenised together.

    Args:
        evidences: the evidence of each case.
    """

    def __init__(self, evidences: Iterable[Evidence]) -> None:
        self._evidences = list(evidences)
        self._pairs: dict[tuple[bool, Tokenizer], TextPairs] = {}
        self._alignments: dict[int, tuple[Match, list[Alignment | None]]] = {}

    @classmethod
    def of(cls, evidences: Iterable[Evidence]) -> Evidences:
        """Gather evidence; a chunk stays as it is."""
        return evidences if isinstance(evidences, Evidences) else cls(evidences)

    @overload
    def __getitem__(self, index: int) -> Evidence: ...
    @overload
    def __getitem__(self, index: slice) -> list[Evidence]: ...
    def __getitem__(self, index: int | slice) -> Evidence | list[Evidence]:
        """Return the evidence of one case, or of several."""
        return self._evidences[index]

    def __len__(self) -> int:
        return len(self._evidences)

    def __iter__(self) -> Iterator[Evidence]:
        return iter(self._evidences)

    def alignments(self, match: Match) -> list[Alignment | None]:
        """Return the alignment of each case of one turn with one expectation; ``None`` where there is more to say."""
        known = self._alignments.get(id(match))
        if known is None:
            known = self._alignments[id(match)] = match, [_plain_alignment(e, match) for e in self._evidences]
        return known[1]

    @cached_property
    def answers(self) -> tuple[frozenset[int], list[str], list[str]]:
        """The cases of one turn with one answer and one reference: their indices, the answers, the references."""
        indices, actual, expected = [], [], []
        for index, evidence in enumerate(self._evidences):
            case = evidence.case
            if case.error is not None or len(case.turns) != 1 or len(case.turns[0].expected) != 1:
                continue
            made, (wanted,) = case.turns[0].actual, case.turns[0].expected
            if made is None or made.error is not None or wanted.error is not None:
                continue
            text = "" if made.response is None else made.response
            if isinstance(text, str) and isinstance(wanted.response, str):
                indices.append(index)
                actual.append(text)
                expected.append(wanted.response)
        return frozenset(indices), actual, expected

    @cached_property
    def normalized_answers(self) -> tuple[list[str], list[str]]:
        """The answers and references of `answers`, normalised."""
        from .text import normalize

        _, actual, expected = self.answers
        return list(map(normalize, actual)), list(map(normalize, expected))

    def text_pairs(self, *, stemmer: bool, tokenizer: Tokenizer) -> TextPairs:
        """Return the answers and references of `answers`, tokenised once for every metric that wants them so."""
        key = (stemmer, tokenizer)
        if key not in self._pairs:
            from .text.pairs import TextPairs

            _, actual, expected = self.answers
            self._pairs[key] = TextPairs(actual, expected, stemmer=stemmer, tokenizer=tokenizer)
        return self._pairs[key]


def _plain_alignment(evidence: Evidence, match: Match) -> Alignment | None:
    case = evidence.case
    if case.error is not None or len(case.turns) != 1 or len(case.turns[0].expected) != 1:
        return None
    actual, (expected,) = case.turns[0].actual, case.turns[0].expected
    if actual is None or actual.error is not None or expected.error is not None or expected.tool_calls is None:
        return None
    try:
        return evidence.aligned(0, match)[1]
    except Exception:  # what is wrong is said in words by whoever scores the case by itself
        return None
