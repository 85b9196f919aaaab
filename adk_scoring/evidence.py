"""What the metrics of one case share: its alignments and chosen references, computed on first use."""

from __future__ import annotations

from .alignment import Alignment
from .matching import Match
from .model import Case

__all__ = ["Evidence"]


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
            actual = self.case.turns[turn].actual
            calls = (actual.tool_calls if actual else None) or ()
            best: tuple[tuple[float, float], int, Alignment] | None = None
            for index, expected in enumerate(self.case.turns[turn].expected):
                if expected.tool_calls is None:
                    continue
                alignment = Alignment(calls, expected.tool_calls, match)
                worth = _worth(alignment)
                if best is None or worth > best[0]:
                    best = worth, index, alignment
            if best is None:
                raise ValueError(f"turn {turn + 1} has no expectation about calls")
            # The Match is kept so that its id stays its own while this entry lives.
            found = self._aligned[key] = match, best[1], best[2]
        return found[1], found[2]


def _worth(alignment: Alignment) -> tuple[float, float]:
    n, m = alignment.n, alignment.m
    f1 = 2 * alignment.k / (n + m) if n + m else 1.0
    return f1, alignment.l / m if m else 1.0
