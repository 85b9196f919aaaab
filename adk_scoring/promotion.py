"""A recorded run -> an expectation: what was right once becomes a regression case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .errors import ScoringError
from .model import Case, Invocation, ToolCall, Turn, cases_of

__all__ = ["promote"]


def promote(case: Case, *, case_id: str | None = None, tags: Iterable[str] = ()) -> Case:
    """Make what an agent did what is expected of it.

    Each turn's calls and answer become its only expectation; what the tools answered stays with the calls, for
    mocking. What belonged to the run goes: usage, duration, steps, call ids and authors, intermediate answers,
    recorded scores, trial. Session, rubrics, tools, metadata and source stay. A call whose arguments were not recorded
    stays so, and can only be matched by name. Look at the case before you keep it: an expectation is only as good as
    the run it was.

    Args:
        case: a case with a recorded run.
        case_id: the id of the new case; default: that of `case`.
        tags: labels to add.

    Returns:
        The new case, to be written with `write_evalset`, `write_agents_cli` or `write_jsonl`.

    Raises:
        ScoringError: the case or one of its turns is an error, or has no run.
        TypeError: it is not a case.

    >>> run = Invocation("Weather in Paris?", (ToolCall("get_weather", {"city": "Paris"}, step=0),), "20 degrees.")
    >>> promote(Case("s-17", (Turn(run),)), case_id="paris", tags=["regression"])  # doctest: +NORMALIZE_WHITESPACE
    Case(case_id='paris', turns=(Turn(actual=None, expected=(Invocation(user_text='Weather in Paris?',
        tool_calls=(ToolCall(name='get_weather', args={'city': 'Paris'}),), response='20 degrees.'),)),),
        tags=('regression',))
    """
    (case,) = cases_of([case])
    if case.error:
        raise ScoringError(f"case {case.case_id!r} cannot be promoted, it is an error: {case.error}")
    if not case.turns:
        raise ScoringError(f"case {case.case_id!r} cannot be promoted, it has no turns")
    return replace(
        case,
        case_id=case.case_id if case_id is None else case_id,
        turns=tuple([_expected(case, i, turn.actual) for i, turn in enumerate(case.turns)]),
        tags=tuple(dict.fromkeys((*case.tags, *tags))),
        trial=0,
        recorded=(),
    )


def _expected(case: Case, index: int, run: Invocation | None) -> Turn:
    where = f"case {case.case_id!r}, turns[{index}]"
    if run is None:
        raise ScoringError(f"{where} cannot be promoted, it has no recorded run")
    if run.error:
        raise ScoringError(f"{where} cannot be promoted, it is an error: {run.error}")
    calls = run.tool_calls
    if calls is not None:
        calls = tuple(
            [ToolCall(c.name, c.args, response=c.response, error=c.error, args_error=c.args_error) for c in calls]
        )
    wanted = Invocation(
        run.user_text, calls, run.response, invocation_id=run.invocation_id, rubrics=run.rubrics, metadata=run.metadata
    )
    return Turn(None, (wanted,))
