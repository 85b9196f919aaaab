"""Runs x expectations -> cases that hold both sides, and everything that did not pair.

Cases pair by id, then by what the user said; inside a pair the turns pair by their ids, their texts or their place.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from .errors import ReadWarning
from .model import Case, Invocation, Turn, cases_of

__all__ = ["Pairing", "pair"]

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Pairing:
    """What came of pairing runs with expectations; `evaluate` takes it, so that nothing is forgotten.

    Attributes:
        cases: the cases with both sides.
        without_run: expected cases that no run was found for. They are error rows of a report.
        without_expectation: runs that no expected case was found for. A report lists them.
        surplus_turns: recorded turns that paired with no expected turn, in words.
    """

    cases: tuple[Case, ...]
    without_run: tuple[Case, ...] = ()
    without_expectation: tuple[Case, ...] = ()
    surplus_turns: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{_count(self.cases, 'case')} paired"]
        if self.without_run:
            lines.append(f"{_count(self.without_run, 'expected case')} without a run: {_names(self.without_run)}")
        if self.without_expectation:
            runs = _count(self.without_expectation, "run")
            lines.append(f"{runs} without an expected case: {_names(self.without_expectation)}")
        return "\n".join((*lines, *self.surplus_turns))


def pair(*, actual: Iterable[Case], expected: Iterable[Case]) -> Pairing:
    """Pair recorded runs with the cases that say what was expected of them.

    Args:
        actual: the runs. Several runs of one case are its trials. A case that holds no run but one expectation a
            turn (a run saved as an eval set) is taken as a run.
        expected: the expectations; what they hold of an actual side is not looked at.

    Returns:
        The pairs, in the order of `expected`, and what did not pair. Cases pair by set and case id, then by
        case id alone, then by equal user texts where exactly one expected case has them.

    Raises:
        TypeError: a side is not cases, e.g. the path of a file that was not read.

    >>> said = Invocation("hi", tool_calls=(), response="Hello!")
    >>> pairing = pair(actual=[Case("session-7", (Turn(said),))], expected=[Case("greet", (Turn(None, (said,)),))])
    >>> [case.case_id for case in pairing.cases], pairing.without_run
    (['greet'], ())
    """
    expectations = cases_of(expected)
    runs: list[Case | None] = [_as_run(case) for case in cases_of(actual)]
    found: list[list[Case]] = [[] for _ in expectations]

    def take(key: Callable[[Case], Key | None]) -> None:
        """Give each free run to the expected case of the same key, where exactly one has it.

        A run of another set is not one more trial of a case that has its runs.
        """
        owners: dict[Key, list[int]] = {}
        for index, case in enumerate(expectations):
            if (name := key(case)) is not None:
                owners.setdefault(name, []).append(index)
        taken = [bool(matched) for matched in found]
        for position, run in enumerate(runs):
            name = key(run) if run is not None else None
            if run is None or name is None or len(owners.get(name, ())) != 1:
                continue
            owner = owners[name][0]
            if taken[owner] and run.set_id and run.set_id != expectations[owner].set_id:
                continue
            found[owner].append(run)
            runs[position] = None

    take(lambda case: (case.set_id, case.case_id))
    take(lambda case: case.case_id)
    take(_user_texts)
    cases: list[Case] = []
    surplus: list[str] = []
    for case, matched in zip(expectations, found, strict=True):
        for trial, run in enumerate(matched):
            trials_differ = len({r.trial for r in matched}) == len(matched)
            cases.append(_joined(run, case, run.trial if trials_differ else trial, surplus))
    return Pairing(
        cases=tuple(cases),
        without_run=tuple(_not_run(case) for case, matched in zip(expectations, found, strict=True) if not matched),
        without_expectation=tuple(run for run in runs if run is not None),
        surplus_turns=tuple(surplus),
    )


def _count(cases: Sequence[Case], noun: str) -> str:
    return f"{len(cases)} {noun}{'' if len(cases) == 1 else 's'}"


def _names(cases: Sequence[Case]) -> str:
    shown = ", ".join(case.case_id for case in cases[:10])
    return shown if len(cases) <= 10 else f"{shown}, … ({len(cases) - 10} more)"


def _not_run(case: Case) -> Case:
    """An expectation that no run was found for; a run that its own file holds is not what was asked about."""
    turns = tuple(Turn(expected=turn.expected) for turn in case.turns)
    return replace(case, turns=turns, error=case.error or "there is no run of this case")


def _as_run(case: Case) -> Case:
    """Take a recorded conversation that was saved as an eval set for what it is."""
    if case.turns and all(turn.actual is None and len(turn.expected) == 1 for turn in case.turns):
        return replace(case, turns=tuple(Turn(actual=_with_calls(turn.expected[0])) for turn in case.turns))
    return case


def _with_calls(invocation: Invocation) -> Invocation:
    """On the actual side, no word about calls means that there were none."""
    return invocation if invocation.tool_calls is not None else replace(invocation, tool_calls=())


def _said(turn: Turn) -> str:
    """What the user said in a turn, white space aside."""
    for side in (turn.actual, *turn.expected):
        if side is not None and side.user_text:
            return " ".join(side.user_text.split())
    return ""


def _user_texts(case: Case) -> tuple[str, ...] | None:
    texts = tuple(_said(turn) for turn in case.turns)
    return texts if any(texts) else None


def _joined(run: Case, expectation: Case, trial: int, surplus: list[str]) -> Case:
    """Put the run's actual turns beside the expectation's turns; the expectation says what the case is."""
    where = f"{expectation.case_id}, run from {' '.join(part for part in run.source if part) or run.case_id}"
    places = _pair_turns(run.turns, expectation.turns, where)
    turns = tuple(
        Turn(actual=None if place is None else run.turns[place].actual, expected=turn.expected)
        for turn, place in zip(expectation.turns, places, strict=True)
    )
    left = [place for place in range(len(run.turns)) if place not in places]
    surplus += [f"{where}: turn {place + 1} of the run paired with no expected turn" for place in left]
    return replace(
        expectation,
        turns=turns,
        trial=trial,
        session=expectation.session or run.session,
        rubrics=expectation.rubrics or run.rubrics,
        tags=tuple(dict.fromkeys((*expectation.tags, *run.tags))),
        recorded=tuple(
            score if score.turn is None else replace(score, turn=places.index(score.turn))
            for score in run.recorded
            if score.turn is None or score.turn in places
        ),
        tools=expectation.tools if expectation.tools is not None else run.tools,
        instructions=expectation.instructions or run.instructions,
        context=expectation.context or run.context,
        error=expectation.error if expectation.error is not None else run.error,
        metadata={**run.metadata, **expectation.metadata},
        source=run.source if any(run.source) else expectation.source,
    )


def _pair_turns(actual: Sequence[Turn], expected: Sequence[Turn], where: str) -> list[int | None]:
    """Return for each expected turn the index of its recorded turn, or None."""
    ids = [turn.actual.invocation_id if turn.actual else "" for turn in actual]
    wanted = [turn.expected[0].invocation_id if turn.expected else "" for turn in expected]
    if all(ids) and len(set(ids)) == len(ids) and len(ids) == len(wanted) and set(ids) == set(wanted):
        return [ids.index(name) for name in wanted]
    said, asked = [_said(turn) for turn in actual], [_said(turn) for turn in expected]
    places = _in_order(said, asked)
    if places is None:
        if said != asked[: len(said)] and said[: len(asked)] != asked:
            warnings.warn(
                f"{where}: neither ids nor user texts of the turns agree; they were paired by position",
                ReadWarning,
                stacklevel=4,
            )
        places = [index if index < len(actual) else None for index in range(len(expected))]
    return places


def _in_order(said: Sequence[str], asked: Sequence[str]) -> list[int | None] | None:
    """Find each asked text in the said ones, in order; None unless one side is found whole in the other."""
    if len(asked) > len(said):
        back = _in_order(asked, said)
        return None if back is None else [back.index(place) if place in back else None for place in range(len(asked))]
    places: list[int | None] = []
    start = 0
    for text in asked:
        try:
            place = said.index(text, start)
        except ValueError:
            return None
        places.append(place)
        start = place + 1
    return places if any(asked) else None
