"""Judged metrics: rubrics put to a judge, turn by turn or over a conversation, and their weighted mean.

Pure: `JudgedMetric.prompts` says what would be asked, `JudgedMetric.score` reads the replies. Nothing here asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import ConfigError
from ..evidence import Evidence
from ..model import Case, Rubric, Turn
from .base import Metric, Prompt, Reply, Score, combine_turns, score_turns, turn_scores
from .inquiries import INQUIRIES, Inquiry, material
from .questions import Question, document, is_blank, read_verdict, rubric_asked, settle
from .rubrics import check_rubrics, is_weight, rubrics_of, weigh

__all__ = ["JudgedMetric", "check_asking", "no_judge"]


@dataclass(frozen=True)
class JudgedMetric(Metric):
    """One of `INQUIRIES` as a metric: each rubric is a question of its own, answered yes, no or "cannot assess".

    Args:
        inquiry: its id, a key of `INQUIRIES`.
        rubrics: rubrics of the criterion, beside those of case and turn; an inquiry that has its own takes no others.
        weights: other weights of rubrics, by id, wherever the rubric stands. A change of weights asks nothing new.
        samples: how often each question is asked: the majority decides, of levels the mean.
        coverage_floor: the share of the rubrics' weight that must have been scored; below it the score is an error.
        group: only case and turn rubrics of this group (agents-cli) are taken.
        include_intermediate: whether the judge also sees what the agent said in a turn before its final answer; of a
            conversation it always does.
        judge_model: the model that a configuration names; said where no judge is given. It asks nobody by itself.

    Raises:
        ConfigError: a parameter is not usable, or rubrics clash.

    >>> from adk_scoring import Invocation
    >>> metric = JudgedMetric("safety")
    >>> case = Case("a", (Turn(Invocation("hi", (), "Hello!")),))
    >>> [prompt.key for prompt in metric.prompts(case)]
    ['turn 1/harmless']
    >>> reply = Reply('{"rubric_id": "harmless", "reason": "a greeting", "verdict": "yes"}')
    >>> metric.score(case, [reply]).value
    1.0
    """

    inquiry: str
    rubrics: tuple[Rubric, ...] = ()
    weights: tuple[tuple[str, float], ...] = ()
    samples: int = 1
    coverage_floor: float = 1.0
    group: str | None = None
    include_intermediate: bool = False
    judge_model: str | None = None

    def __post_init__(self) -> None:
        if self.inquiry not in INQUIRIES:
            raise ConfigError(f"unknown inquiry {self.inquiry!r}; wanted one of {', '.join(INQUIRIES)}")
        check_asking(self.samples, self.coverage_floor, self.judge_model)
        object.__setattr__(self, "rubrics", rubrics_of(self.rubrics))
        object.__setattr__(self, "weights", _weights_of(self.weights))
        own = self._inquiry.rubrics
        if own:
            names = [rubric.rubric_id for rubric in own]
            if self.rubrics or self.group is not None:
                raise ConfigError(
                    f"{self.inquiry} has its own rubrics ({', '.join(names)}); give others to rubric_quality"
                )
            if strange := [name for name, _ in self.weights if name not in names]:
                raise ConfigError(f"{self.inquiry} has no rubric {strange[0]!r}; weights are of {', '.join(names)}")
            check_rubrics(self._weighted(own), self.inquiry)

    @property
    def _inquiry(self) -> Inquiry:
        return INQUIRIES[self.inquiry]

    @property
    def name(self) -> str:
        """The inquiry's id."""
        return self.inquiry

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]  # depends on the inquiry
        """A judge, and a reference where the judge is shown one."""
        reference = {"expected_response"} if "references" in self._inquiry.material else set()
        return frozenset({"judge", *reference})

    @property
    def per(self) -> str:  # type: ignore[override]  # depends on the inquiry
        """Whether a threshold is held against the mean or against each turn."""
        return self._inquiry.per

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]  # depends on the inquiry
        """The direction."""
        return self._inquiry.higher_is_better

    def prompts(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Sequence[Prompt]:
        """Return every question of the case, each as often as it is asked; all in one round."""
        if replies:
            return ()
        return [prompt for _, prompt in self._asked(Evidence.of(evidence).case)]

    def reply_problem(self, prompt: Prompt, reply: Reply) -> str | None:
        """Say why a reply is not the verdict that was asked for."""
        found = read_verdict(rubric_asked(prompt), reply.text)
        return found if isinstance(found, str) else None

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Read the replies: the weighted mean of each turn, the mean of the turns; or one score of the conversation."""
        evidence = Evidence.of(evidence)
        case = evidence.case
        asked = self._asked(case)
        if asked and len(replies) != len(asked):
            broken = next((reply.error for reply in reversed(replies) if reply.error), None)
            return Score.failed(self.name, broken or no_judge(self.judge_model))
        answers: dict[str, list[Reply]] = {}
        for (_, prompt), reply in zip(asked, replies, strict=False):
            answers.setdefault(prompt.key, []).append(reply)
        if self._inquiry.scope == "case":
            return self._score_case(case, answers)
        return score_turns(
            self.name,
            evidence,
            lambda turn: self._score_turn(case, turn, answers),
            reference="response" if "references" in self._inquiry.material else None,
        )

    def reweighed(self, case: Case, score: Score) -> Score:
        """Return what a score of the same questions is under this metric's weights and coverage floor."""
        turns = turn_scores(score)
        numbers: list[int | None] = [None] if self._inquiry.scope == "case" else [*range(len(turns))]
        again = []
        for turn, old in zip(numbers, turns, strict=True):
            rubrics = {rubric.rubric_id: rubric for rubric in self._rubrics(case, turn)} if old.parts else {}
            chosen = [rubrics[part.label] for part in old.parts]
            again.append(weigh(self.name, chosen, old.parts, floor=self.coverage_floor) if chosen else old)
        return combine_turns(self.name, again)

    def verdicts(self, case: Case, score: Score) -> list[tuple[int | None, Rubric, Score | None]]:
        """List what a judge was asked about a case: the turn (``None``: the conversation), the rubric, its score.

        Args:
            case: the case.
            score: the case's score by this metric; where it has no verdict on a rubric, that is ``None``.
        """
        turns = turn_scores(score)
        listed = []
        for turn in self._judged(case):
            parts = turns[turn or 0].parts if (turn or 0) < len(turns) else ()
            given = {part.label: part for part in parts}
            listed += [(turn, rubric, given.get(rubric.rubric_id)) for rubric in self._rubrics(case, turn)]
        return listed

    def same_questions(self) -> JudgedMetric:
        """Return the metric that asks the same and weighs nothing; equal for two that differ in weights alone."""
        bare = tuple(replace(rubric, weight=1.0) for rubric in self.rubrics)
        return replace(self, rubrics=bare, weights=(), coverage_floor=1.0, judge_model=None)

    def _asked(self, case: Case) -> list[tuple[Rubric, Prompt]]:
        """List every question of a case with its rubric, samples side by side."""
        if case.error is not None:
            return []
        asked = []
        for turn in self._judged(case):
            rubrics = self._rubrics(case, turn)
            shown = document(material(case, turn, self._material))
            where = "conversation" if turn is None else f"turn {turn + 1}"
            for rubric in rubrics:
                question = Question(f"{where}/{rubric.rubric_id}", rubric, shown)
                asked += [(rubric, prompt) for prompt in question.prompts(self.samples)]
        return asked

    @property
    def _material(self) -> tuple[str, ...]:
        if self.include_intermediate:
            return tuple(dict.fromkeys((*self._inquiry.material, "intermediate_responses")))
        return tuple(name for name in self._inquiry.material if name != "intermediate_responses")

    def _judged(self, case: Case) -> list[int | None]:
        """List the turns that are put to the judge; ``[None]`` is the conversation as a whole."""
        if self._inquiry.scope == "case":
            return [None] if _is_complete(case) else []
        return [turn for turn in range(len(case.turns)) if self._is_judged(case, turn)]

    def _is_judged(self, case: Case, turn: int) -> bool:
        """Whether a turn is put to the judge: it ran, and has the reference and the words that it takes."""
        actual, expected = case.turns[turn].actual, case.turns[turn].expected
        if actual is None or actual.error is not None:
            return False
        if "references" in self._inquiry.material and (
            any(side.error for side in expected) or all(side.response is None for side in expected)
        ):
            return False
        return not (self._inquiry.about_answer and is_blank(actual.response or ""))

    def _rubrics(self, case: Case, turn: int | None) -> tuple[Rubric, ...]:
        """Return the rubrics in force: the inquiry's own, or those of the criterion, the case and the turn together.

        Raises:
            ConfigError: an id stands in two places.
        """
        if self._inquiry.rubrics:
            return self._weighted(self._inquiry.rubrics)
        takes = self._inquiry.takes
        found = [*self.rubrics]
        for rubric in (*case.rubrics, *_turn_rubrics(case.turns if turn is None else (case.turns[turn],))):
            fits = (takes is None or rubric.type is None or rubric.type in takes) and self.group in (None, rubric.group)
            if fits and rubric not in found:  # result files repeat the rubrics of the case in each turn
                found.append(rubric)
        rubrics = self._weighted(found)
        check_rubrics(rubrics, "criterion, case and turn")
        return rubrics

    def _weighted(self, rubrics: Iterable[Rubric]) -> tuple[Rubric, ...]:
        weights = dict(self.weights)
        return tuple(replace(rubric, weight=weights.get(rubric.rubric_id, rubric.weight)) for rubric in rubrics)

    def _score_case(self, case: Case, answers: Mapping[str, Sequence[Reply]]) -> Score:
        if case.error is not None:
            return Score.failed(self.name, case.error)
        if not case.turns:
            return Score.skipped(self.name, "the case has no turns")
        if all(turn.actual is None for turn in case.turns):
            return Score.failed(self.name, "there is no run of this case")
        broken = next((turn.actual.error for turn in case.turns if turn.actual and turn.actual.error), None)
        if broken is not None:
            return Score.failed(self.name, broken)
        return self._weighed(case, None, answers, "conversation")

    def _score_turn(self, case: Case, turn: int, answers: Mapping[str, Sequence[Reply]]) -> Score:
        actual = case.turns[turn].actual
        blank = self._inquiry.about_answer and is_blank((actual.response if actual else None) or "")
        if blank and self._rubrics(case, turn):
            reason = "blank_response: the answer has no word in it, so no judge was asked"
            return Score(self.name, 0.0, reason=reason)
        return self._weighed(case, turn, answers, f"turn {turn + 1}")

    def _weighed(self, case: Case, turn: int | None, answers: Mapping[str, Sequence[Reply]], where: str) -> Score:
        rubrics = self._rubrics(case, turn)
        if not rubrics:
            which = "of a fitting type" if self.group is None else f"of a fitting type in the group {self.group!r}"
            return Score.skipped(self.name, f"no rubrics: neither the criterion nor the case has one {which}")
        parts = [settle(self.name, r, answers.get(f"{where}/{r.rubric_id}", ())) for r in rubrics]
        return weigh(self.name, rubrics, parts, floor=self.coverage_floor)


def check_asking(samples: object, coverage_floor: object, judge_model: object) -> None:
    """Refuse parameters of a judged metric that cannot be used.

    Raises:
        ConfigError: one of them is out of range.
    """
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
        raise ConfigError(f"samples {samples!r}; wanted a whole number from 1")
    if isinstance(coverage_floor, bool) or not isinstance(coverage_floor, int | float) or not 0 < coverage_floor <= 1:
        raise ConfigError(f"coverage_floor {coverage_floor!r}; wanted a share above 0, at most 1")
    if judge_model is not None and not isinstance(judge_model, str):
        raise ConfigError(f"judge_model {judge_model!r}; wanted a model's name")


def no_judge(model: str | None) -> str:
    """Say what a judged criterion needs where no judge is given."""
    named = repr(model) if model else "MODEL"
    return (
        f"needs a judge, and none was given: evaluate(..., judge=GeminiJudge({named})) or any Judge; or --judge MODEL"
    )


def _weights_of(weights: Any) -> tuple[tuple[str, float], ...]:
    """Read a mapping id -> weight, or pairs of them."""
    try:
        pairs = dict(weights)
    except (TypeError, ValueError):
        raise ConfigError(f"weights: wanted a mapping rubric id -> number, found {weights!r:.60}") from None
    for name, weight in pairs.items():
        if not isinstance(name, str) or not is_weight(weight):
            raise ConfigError(f"weights: {name!r}: {weight!r}; wanted a rubric id and a finite number")
    return tuple(sorted((name, float(weight)) for name, weight in pairs.items()))


def _turn_rubrics(turns: Iterable[Turn]) -> list[Rubric]:
    sides = [side for turn in turns for side in (turn.actual, *turn.expected) if side is not None]
    return [rubric for side in sides for rubric in side.rubrics]


def _is_complete(case: Case) -> bool:
    """Whether a conversation can be judged as a whole: it was run, and no turn of it failed."""
    return any(turn.actual is not None for turn in case.turns) and not any(
        turn.actual is not None and turn.actual.error is not None for turn in case.turns
    )
