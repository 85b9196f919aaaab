"""What a metric is, what a score is, and how the scores of many cases are kept.

A `Metric` is pure: evidence (and a judge's replies) in, a `Score` out. A judged metric also says what it would
ask (`Metric.prompts`); who asks, and when, is not its business. `Scores` keeps a column of them in few bytes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, overload

from ..errors import ScoringError

if TYPE_CHECKING:
    from ..evidence import Evidence
    from ..model import Case, Turn

__all__ = ["Metric", "Prompt", "Reply", "Score", "Scores", "Status", "combine_turns", "score_turns", "turn_scores"]

Status = Literal["scored", "skipped", "error"]
_STATUSES: Final[tuple[Status, ...]] = ("scored", "skipped", "error")


@dataclass(frozen=True, slots=True)
class Score:
    """One number with what it is worth, or the reason why there is none.

    Attributes:
        metric: the metric's name.
        value: the number; ``None`` exactly when `status` is not ``"scored"``.
        status: ``"scored"``; ``"skipped"``: the case lacks what the metric needs; ``"error"``: it should have
            been scored and could not be. Neither of the last two is ever a 0.
        reason: the arithmetic, or why there is no number.
        counts: the whole numbers behind the value, for micro-averages and resampling.
        parts: the scores it was made of: per turn, then per rubric or sentence.
        label: which part of its parent it is, e.g. ``"turn 2"`` or a rubric's id.
        bounds: what the value would be with everything unscored at its worst and at its best, where some was.

    Raises:
        ValueError: value and status contradict each other, or the value is not finite.
    """

    metric: str
    value: float | None
    status: Status = "scored"
    reason: str = ""
    counts: Mapping[str, float] = field(default_factory=dict)
    parts: tuple[Score, ...] = ()
    label: str = ""
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.status not in _STATUSES:
            raise ValueError(f"{self.metric}: status {self.status!r}; wanted one of {', '.join(_STATUSES)}")
        if (self.value is not None) != (self.status == "scored"):
            raise ValueError(f"{self.metric}: status {self.status!r} with value {self.value!r}")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"{self.metric}: a score is a finite number, not {self.value!r}")

    @classmethod
    def skipped(cls, metric: str, reason: str, **more: object) -> Score:
        """Make a score of a case that lacks what the metric needs."""
        return cls(metric, None, "skipped", reason, **more)  # type: ignore[arg-type]  # the fields of Score

    @classmethod
    def failed(cls, metric: str, reason: str, **more: object) -> Score:
        """Make a score of a case that should have been scored and could not be."""
        return cls(metric, None, "error", reason, **more)  # type: ignore[arg-type]  # the fields of Score

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError(f"{self.metric} was not scored ({self.status}): {self.reason}")
        return self.value


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a judge.

    Attributes:
        key: names the question within its case, e.g. ``"turn 1/rubric polite"``.
        system: the instructions and the rubric; never holds judged material.
        content: the judged material, one JSON document.
        schema: JSON Schema (as JSON text) that the reply must satisfy, ``""`` for free text.
        sample: which repeat of the question this is, from 0.
    """

    key: str
    system: str
    content: str
    schema: str = ""
    sample: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge answered, or why it did not.

    Attributes:
        text: the answer as received.
        usage: tokens by kind, with the names of `Usage`, e.g. ``{"input_tokens": 210, "output_tokens": 12}``.
        model_version: the exact model that answered, if known.
        finish_reason: why it stopped, in the judge's words.
        error: why there is no usable answer; ``None`` if there is one.
    """

    text: str
    usage: Mapping[str, int] | None = None
    model_version: str | None = None
    finish_reason: str | None = None
    error: str | None = None


class Metric(ABC):
    """A question about one case, answered by a `Score`. Every metric is a frozen dataclass of its parameters.

    Subclass it to add your own: give `name`, the class attributes that differ, and `score`. What it is given is a case,
    or the evidence of one; `score_turns` settles what is missing and takes the mean of the turns.

    >>> from adk_scoring import Case, Criterion, Invocation, Turn, evaluate
    >>> from adk_scoring.evidence import Evidence
    >>> @dataclass(frozen=True)
    ... class Polite(Metric):
    ...     "1 if the answer says thank you."
    ...     name = "polite"
    ...     def score(self, evidence, replies=()):
    ...         turns = Evidence.of(evidence).case.turns
    ...         def measure(turn):
    ...             thanks = "thank" in (turns[turn].actual.response or "").lower()
    ...             return Score(self.name, float(thanks), reason="thanks" if thanks else "no thanks")
    ...         return score_turns(self.name, Evidence.of(evidence), measure, reference=None)
    >>> case = Case("a", (Turn(Invocation("Here you are.", (), "Thank you!")),))
    >>> evaluate([case], [Criterion("manners", Polite(), 1.0)]).passed
    True
    """

    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """Smallest and largest value it can give."""
    higher_is_better: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset()
    """What it needs of a case: ``expected_calls``, ``expected_response``, ``judge``, ``tools``, ``responses``."""
    per: ClassVar[Literal["case", "turn"]] = "case"
    """Whether a threshold is held against the mean of the turns or against each turn, unless a criterion says."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The id it has in `METRICS`."""

    @abstractmethod
    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case.

        Args:
            evidence: the case, or the evidence that other metrics of it share.
            replies: for a judged metric, the replies to all its prompts so far, in their order.
        """

    def prompts(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Sequence[Prompt]:
        """Return what to ask next, given the replies so far; nothing when it has all it needs."""
        return ()

    def reply_problem(self, prompt: Prompt, reply: Reply) -> str | None:
        """Say why a reply to one of its prompts cannot be used; ``None`` if it can.

        The one place that decides it: a reply with a problem is asked for once more, and is never stored. It is
        only given replies that are not errors.
        """
        return None

    def score_many(self, evidences: Iterable[Evidence]) -> Scores:
        """Score many cases into a column. Override it where many at once are faster than one by one."""
        scores = Scores(self)
        for evidence in evidences:
            scores.append(score_safely(self, evidence))
        return scores

    def explain(self, value: float, counts: Mapping[str, float]) -> str:
        """Return the reason of a score from its counts: the arithmetic, so that a person can redo it."""
        return ""

    @property
    def count_names(self) -> tuple[str, ...]:
        """The counts that every score of it has; what `explain` is given."""
        return ()


def score_safely(metric: Metric, evidence: Evidence, replies: Sequence[Reply] = ()) -> Score:
    """Score one case; an exception becomes an error with its text, so that one bad case never stops the others."""
    try:
        score = metric.score(evidence, replies)
    except Exception as error:  # whatever a metric or a caller's comparator raises belongs to this case alone
        return Score.failed(metric.name, _raised(error))
    if not isinstance(score, Score):
        return Score.failed(metric.name, f"{type(metric).__name__}.score gave {score!r:.60}; wanted a Score")
    return score


def _raised(error: Exception) -> str:
    """Say what was raised; our own errors are written for people, of others the type matters."""
    return str(error) if isinstance(error, ScoringError) else f"{type(error).__name__}: {error}"


def score_turns(
    metric: str,
    evidence: Evidence,
    measure: Callable[[int], Score],
    *,
    reference: Literal["tool_calls", "response"] | None,
    applies: Callable[[Turn], bool] | None = None,
    otherwise: str = "",
    higher_is_better: bool = True,
) -> Score:
    """Score each turn of a case that can be scored, and combine them; what is missing is settled here, once.

    Args:
        metric: the metric's name.
        evidence: the case.
        measure: gives the score of one turn, which has an actual side (and a reference, if one is needed).
        reference: what a turn's expectation must speak about for it to be scored; ``None``: no reference is needed.
        applies: whether the metric is about a turn that has such a reference; default: about each.
        otherwise: why a turn that it is not about is skipped.
        higher_is_better: the metric's direction; the reason tells of the turn that did worst.

    Returns:
        The case's score: an error where the case, the run or a turn failed or there is no run at all; skipped
        where no turn has a reference. A turn that the run did not reach although it has a reference is 0, but skipped
        where 0 would be the best there is.
    """
    case = evidence.case
    if case.error is not None:
        return Score.failed(metric, case.error)
    if case.turns and all(turn.actual is None for turn in case.turns):
        return Score.failed(metric, "there is no run of this case")
    scores = []
    failed = ""
    for index, turn in enumerate(case.turns):
        actual = turn.actual
        problem = actual.error if actual is not None else None
        unreadable = next((expected.error for expected in turn.expected if expected.error), None)
        if reference and unreadable is not None:
            scores.append(Score.failed(metric, unreadable))
        elif reference and all(getattr(expected, reference) is None for expected in turn.expected):
            what = "expected calls" if reference == "tool_calls" else "expected response"
            scores.append(Score.skipped(metric, f"no {what}" if turn.expected else f"no reference: no {what}"))
        elif problem is not None:
            scores.append(Score.failed(metric, problem))
        else:
            try:
                if applies is not None and not applies(turn):
                    scores.append(Score.skipped(metric, otherwise))
                elif actual is not None:
                    scores.append(measure(index))
                elif failed:
                    scores.append(Score.failed(metric, f"not reached: {failed}"))
                elif reference and higher_is_better:
                    scores.append(Score(metric, 0.0, reason="the run ended before this turn"))
                else:
                    scores.append(Score.skipped(metric, "the run ended before this turn"))
            except Exception as error:  # one bad turn leaves the others in `parts`
                scores.append(Score.failed(metric, _raised(error)))
        if problem is not None and not failed:
            failed = f"turn {index + 1} failed"
    return combine_turns(metric, scores, higher_is_better=higher_is_better)


def turn_scores(score: Score) -> tuple[Score, ...]:
    """Return the scores of the turns that a case's score was made of: itself where the case has one turn.

    The parts of a case of one turn are not turns: they are its rubrics or sentences.
    """
    are_turns = all(part.label == f"turn {number}" for number, part in enumerate(score.parts, 1))
    return score.parts if score.parts and are_turns else (score,)


def combine_turns(metric: str, turns: Sequence[Score], *, higher_is_better: bool = True) -> Score:
    """Make a case's score of its turns' scores.

    The value is the mean of the turns that were scored; a turn that is an error makes the case an error, its
    other turns stay in `parts`; nothing scored is skipped. A case of one turn has its score, without parts.
    """
    if not turns:
        return Score.skipped(metric, "the case has no turns")
    if len(turns) == 1:
        return replace(turns[0], label="")
    parts = tuple(replace(turn, label=f"turn {number}") for number, turn in enumerate(turns, 1))
    counts: dict[str, float] = {}
    for part in parts:
        for name, count in part.counts.items():
            counts[name] = counts.get(name, 0) + count
    if broken := next((part for part in parts if part.status == "error"), None):
        return Score.failed(metric, f"{broken.label}: {broken.reason}", counts=counts, parts=parts)
    scored = [part for part in parts if part.value is not None]
    if not scored:
        return Score.skipped(metric, f"no turn was scored; {parts[0].label}: {parts[0].reason}", parts=parts)
    values = [part.value for part in scored if part.value is not None]
    value = sum(values) / len(values)
    turns_scored = (
        f"{len(parts)} turns" if len(scored) == len(parts) else f"the {len(scored)} scored of {len(parts)} turns"
    )
    reason = f"mean of {turns_scored}: {', '.join(f'{v:.4g}' for v in values[:8])}"
    if len(values) > 8:
        reason += ", …"
    worst = scored[values.index(min(values) if higher_is_better else max(values))]
    if worst.reason and (value == 0 or min(values) < max(values)):
        reason += f"; {worst.label}: {worst.reason}"
    return Score(metric, value, reason=reason, counts=counts, parts=parts)


class Scores(Sequence[Score]):
    """A column of the scores that one metric gave to many cases, kept in about 20 bytes each.

    It behaves as a list of `Score`; a score is made when it is looked at, its default reason formatted then.
    """

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self.values = array("d")
        """The values; NaN where there is none. Use `statuses` to tell."""
        self.statuses = bytearray()
        """0 scored, 1 skipped, 2 error."""
        self._counts = tuple(array("i") for _ in metric.count_names)
        # Only what a formula cannot say again is kept for each score.
        self._reasons: dict[int, str] = {}
        self._parts: dict[int, tuple[Score, ...]] = {}
        self._own_counts: dict[int, Mapping[str, float]] = {}
        self._bounds: dict[int, tuple[float, float]] = {}

    def append(self, score: Score) -> None:
        """Add a score with all that it holds."""
        index = len(self.values)
        self.values.append(math.nan if score.value is None else score.value)
        self.statuses.append(_STATUSES.index(score.status))
        for column in self._counts:
            column.append(0)
        if score.counts:
            self._own_counts[index] = score.counts
        if score.parts:
            self._parts[index] = score.parts
        if score.bounds is not None:
            self._bounds[index] = score.bounds
        if score.reason or score.value is not None:  # without a reason a value counts as appended plainly
            self._reasons[index] = score.reason

    def append_plain(self, value: float, counts: Sequence[int]) -> None:
        """Add a scored value whose reason is what the metric's `explain` makes of the counts."""
        self.values.append(value)
        self.statuses.append(0)
        for column, count in zip(self._counts, counts):  # noqa: B905  # the hottest line of all; `strict` costs a tenth
            column.append(count)

    def extend_plain(self, values: Iterable[float], counts: Sequence[Iterable[int]]) -> None:
        """Add many scored values as `append_plain` does, each count as a column of its own."""
        start = len(self.values)
        self.values.extend(values)
        self.statuses.extend(bytes(len(self.values) - start))
        for column, numbers in zip(self._counts, counts, strict=True):
            column.extend(numbers)

    def extend(self, other: Scores) -> None:
        """Add another column of the same metric behind this one."""
        start = len(self.values)
        self.values.extend(other.values)
        self.statuses.extend(other.statuses)
        for column, more in zip(self._counts, other._counts, strict=True):
            column.extend(more)
        for mine, others in zip(self._sparse, other._sparse, strict=True):
            mine.update((start + index, item) for index, item in others.items())

    def select(self, indices: Iterable[int]) -> Scores:
        """Return the column of some of the cases."""
        chosen = Scores(self.metric)
        for new, index in enumerate(indices):
            chosen.values.append(self.values[index])
            chosen.statuses.append(self.statuses[index])
            for column, mine in zip(chosen._counts, self._counts, strict=True):
                column.append(mine[index])
            for kept, source in zip(chosen._sparse, self._sparse, strict=True):
                if index in source:
                    kept[new] = source[index]
        return chosen

    @property
    def _sparse(self) -> tuple[dict[int, Any], ...]:
        """What only some scores have, by their index."""
        return self._reasons, self._parts, self._own_counts, self._bounds

    def has_parts(self, index: int) -> bool:
        """Whether a score is made of others, told without making it."""
        return index in self._parts

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> Score: ...
    @overload
    def __getitem__(self, index: slice) -> list[Score]: ...
    def __getitem__(self, index: int | slice) -> Score | list[Score]:
        """Return one score, or a list of them."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        status = _STATUSES[self.statuses[index]]
        value = self.values[index] if status == "scored" else None
        counts = self._own_counts.get(index, {})
        reason = self._reasons.get(index, "")
        if value is not None and index not in self._reasons:  # appended plainly
            names = self.metric.count_names
            counts = {name: column[index] for name, column in zip(names, self._counts, strict=True)}
            reason = self.metric.explain(value, counts)
        parts, bounds = self._parts.get(index, ()), self._bounds.get(index)
        return Score(self.metric.name, value, status, reason, counts, parts, bounds=bounds)

    def __iter__(self) -> Iterator[Score]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self)} scores of {self.metric.name}>"
