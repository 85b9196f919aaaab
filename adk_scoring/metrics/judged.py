"""Judged metrics: rubrics put to a judge, turn by turn or over a conversation, and their weighted mean.

Pure: `JudgedMetric.prompts` says what would be asked, `JudgedMetric.score` reads the replies. Nothing here asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from unicodedata import category

from ..errors import ConfigError
from ..evidence import Evidence
from ..model import Case, Rubric
from .base import Metric, Prompt, Reply, Score, score_turns
from .inquiries import INQUIRIES, Inquiry, material
from .questions import Question, document, read_verdict, rubric_asked, settle
from .rubrics import check_rubrics, rubrics_of, weigh

__all__ = ["JudgedMetric"]


@dataclass(frozen=True)
class JudgedMetric(Metric):
    """One of `INQUIRIES` as a metric: each rubric is a question of its own, answered yes, no or "cannot assess".

    Args:
        inquiry: its id, a key of `INQUIRIES`.
        rubrics: rubrics of the criterion; of an inquiry that has its own they change the weights alone.
        samples: how often each question is asked: the majority decides, of levels the mean.
        coverage_floor: the share of the rubrics' weight that must have been scored; below it the score is an error.
        group: only case and turn rubrics of this group (agents-cli) are taken.
        include_intermediate: whether the judge also sees what the agent said before its final answer.
        judge_model: the model that a configuration names; said where no judge is given. It asks nobody by itself.

    Raises:
        ConfigError: a parameter is not usable, or rubrics clash.
    """

    inquiry: str
    rubrics: tuple[Rubric, ...] = ()
    samples: int = 1
    coverage_floor: float = 1.0
    group: str | None = None
    include_intermediate: bool = False
    judge_model: str | None = None

    def __post_init__(self) -> None:
        if self.inquiry not in INQUIRIES:
            raise ConfigError(f"unknown inquiry {self.inquiry!r}; wanted one of {', '.join(INQUIRIES)}")
        if isinstance(self.samples, bool) or not isinstance(self.samples, int) or self.samples < 1:
            raise ConfigError(f"samples {self.samples!r}; wanted a whole number from 1")
        if not 0 < self.coverage_floor <= 1:
            raise ConfigError(f"coverage_floor {self.coverage_floor!r}; wanted a share above 0, at most 1")
        object.__setattr__(self, "rubrics", rubrics_of(self.rubrics))
        own = {rubric.rubric_id for rubric in self._inquiry.rubrics}
        if own and (foreign := [r.rubric_id for r in self.rubrics if r.rubric_id not in own]):
            raise ConfigError(f"{self.inquiry} asks {', '.join(sorted(own))}, not {foreign[0]!r}; use rubric_quality")

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
            return Score.failed(self.name, broken or self._no_judge())
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

    def _no_judge(self) -> str:
        model = repr(self.judge_model) if self.judge_model else "model"
        return f"needs a judge, and none was given: evaluate(..., judge=GeminiJudge({model})), or any Judge"

    def _asked(self, case: Case) -> list[tuple[Rubric, Prompt]]:
        """List every question of a case with its rubric, samples side by side."""
        if case.error is not None:
            return []
        judged: list[int | None] = [turn for turn in range(len(case.turns)) if self._is_judged(case, turn)]
        if self._inquiry.scope == "case":
            judged = [None] if _is_complete(case) else []
        asked = []
        for turn in judged:
            rubrics = self._rubrics(case, turn)
            sides = None if turn is None else case.turns[turn]
            shown = document(material(case, sides, self._material))
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

    def _is_judged(self, case: Case, turn: int) -> bool:
        """Whether a turn is put to the judge: it ran, and has the reference and the words that it takes."""
        actual = case.turns[turn].actual
        if actual is None or actual.error is not None:
            return False
        if "references" in self._inquiry.material and all(e.response is None for e in case.turns[turn].expected):
            return False
        return not (self._inquiry.about_answer and is_blank(actual.response or ""))

    def _rubrics(self, case: Case, turn: int | None) -> tuple[Rubric, ...]:
        """Return the rubrics in force: the inquiry's own, or those of the criterion, the case and the turn together.

        Raises:
            ConfigError: an id stands in two places.
        """
        if self._inquiry.rubrics:
            weights = {rubric.rubric_id: rubric.weight for rubric in self.rubrics}
            return tuple(replace(r, weight=weights.get(r.rubric_id, r.weight)) for r in self._inquiry.rubrics)
        takes = self._inquiry.takes
        sides = case.turns if turn is None else (case.turns[turn],)
        found = [*case.rubrics]
        for side in sides:
            for invocation in (side.actual, *side.expected):
                found += [r for r in (invocation.rubrics if invocation is not None else ()) if r not in found]
        fitting = [
            rubric
            for rubric in found
            if (takes is None or rubric.type is None or rubric.type in takes)
            and (self.group is None or rubric.group == self.group)
        ]
        rubrics = (*self.rubrics, *(rubric for rubric in fitting if rubric not in self.rubrics))
        check_rubrics(rubrics, "criterion, case and turn")
        return rubrics

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
        if self._inquiry.about_answer and is_blank((actual.response if actual else None) or ""):
            return Score(self.name, 0.0, reason="blank_response: the answer has no word in it, so no judge was asked")
        return self._weighed(case, turn, answers, f"turn {turn + 1}")

    def _weighed(self, case: Case, turn: int | None, answers: Mapping[str, Sequence[Reply]], where: str) -> Score:
        rubrics = self._rubrics(case, turn)
        if not rubrics:
            return Score.skipped(self.name, "no rubrics: neither the criterion nor the case has one of a fitting type")
        parts = [settle(self.name, r, answers.get(f"{where}/{r.rubric_id}", ())) for r in rubrics]
        return weigh(self.name, rubrics, parts, floor=self.coverage_floor)


def _is_complete(case: Case) -> bool:
    """Whether a conversation can be judged as a whole: it was run, and no turn of it failed."""
    return any(turn.actual is not None for turn in case.turns) and not any(
        turn.actual is not None and turn.actual.error is not None for turn in case.turns
    )


def is_blank(text: str) -> bool:
    """Whether an answer has no word in it: nothing, white space, or punctuation and symbols alone.

    >>> is_blank(" ... !"), is_blank("ok"), is_blank("好")
    (True, False, False)
    """
    return not any(category(char)[0] in "LN" for char in text)
