"""Cases as tests: a marker's arguments in, parametrised tests and the case of each out."""

from __future__ import annotations

import warnings
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pytest

from adk_scoring import (
    Agent,
    Case,
    Criteria,
    ReadWarning,
    Report,
    ScoringError,
    collect,
    evaluate,
    pair,
    read,
)
from adk_scoring.report import CaseReport

__all__ = ["SCORED", "ScoredCase", "case_of", "parametrize"]


class ScoredCase:
    """One case in a test.

    Attributes:
        case: the case; after `run`, with what the agent did.
        criteria: what it is held against.
        index: its place among the cases of its marker.
    """

    def __init__(self, case: Case, criteria: Criteria, *, judge: Any = None, index: int = 0) -> None:
        self.case, self.criteria, self.index = case, criteria, index
        self._judge = judge
        self._used = False

    def __repr__(self) -> str:
        return f"<case {self.case.case_id}>"

    def run(self, agent: Agent, *, timeout: float | None = None) -> ScoredCase:
        """Run an agent over the case, in place of the run it may hold.

        Args:
            agent: see `adk_scoring.Agent`.
            timeout: seconds for one turn.
        """
        (self.case,) = collect(agent, [self.case], timeout=timeout)
        self.__dict__.pop("whole", None)
        return self

    @cached_property
    def whole(self) -> Report:
        """The report of this case alone."""
        return evaluate([self.case], self.criteria, judge=self._judge)

    @property
    def report(self) -> CaseReport:
        """What each criterion says of it, for assertions of your own."""
        self._used = True
        return self.whole.case_at(0)

    def check(self) -> None:
        """Fail the test if the case failed or is an error, with the alignment; skip it if nothing could be scored."""
        report = self.report
        if report.verdict == "not_evaluated":
            reasons = "; ".join(f"{row.label}: {row.score.reason}" for row in report.rows if row.threshold is not None)
            pytest.skip(f"not evaluated: {reasons or 'no criterion has a threshold'}")
        if report.verdict != "passed":
            pytest.fail(str(report), pytrace=False)

    def check_unless_used(self) -> None:
        """Check it, unless the test did or asserted something of its own."""
        if not self._used:
            self.check()


SCORED: Final = pytest.StashKey[ScoredCase]()


def case_of(request: pytest.FixtureRequest) -> ScoredCase:
    """Return the case of a test; its report is written, whatever becomes of the test."""
    given = getattr(request, "param", None)
    if not isinstance(given, ScoredCase):
        pytest.fail("adk_case needs cases: mark the test with @pytest.mark.adk_scoring(cases=FILE)", pytrace=False)
    # What a test does with its case is not seen by the next run of the same test.
    fresh = ScoredCase(given.case, given.criteria, judge=given._judge, index=given.index)
    request.node.stash[SCORED] = fresh
    return fresh


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Make a test for each case that the marker names.

    Raises:
        pytest.Collector.CollectError: the marker, a file or the criteria cannot be used; says why.
    """
    marker = metafunc.definition.get_closest_marker("adk_scoring")
    if marker is None:
        raise AssertionError("called for a test without the marker")
    name = metafunc.definition.nodeid
    if "adk_case" not in metafunc.fixturenames:
        raise pytest.Collector.CollectError(f"{name}: marked adk_scoring, so it has to take the fixture adk_case")
    folder = metafunc.definition.path.parent
    try:
        cases = _scored(folder, *marker.args, **marker.kwargs)
    except (ScoringError, ReadWarning, OSError, TypeError) as error:
        raise pytest.Collector.CollectError(f"{name}: {error}") from None
    metafunc.parametrize("adk_case", cases, ids=_ids([scored.case for scored in cases]), indirect=True)


def _scored(
    folder: Path,
    cases: Any,
    *,
    expected: Any = None,
    config: Any = None,
    criteria: Any = None,
    judge: Any = None,
) -> list[ScoredCase]:
    """Read what a marker names; its parameters are the marker's."""
    runs = _read(folder, cases)
    if expected is not None:
        pairing = pair(actual=runs, expected=_read(folder, expected))
        runs = [*pairing.cases, *pairing.without_run]
        for run in pairing.without_expectation:
            warnings.warn(f"{': '.join(run.source)}: a run without an expected case", ReadWarning, stacklevel=2)
    if config is not None and criteria is not None:
        raise TypeError("config and criteria are two ways to say the same; give one")
    beside = cases if expected is None else expected
    if config is not None:
        chosen = Criteria.from_file(folder / config)
    elif criteria is None and isinstance(beside, str | Path):
        chosen = Criteria.discover(folder / beside)
    else:
        chosen = Criteria.of({} if criteria is None else criteria)
    if not chosen:
        raise TypeError("cases that come from no file need criteria=... or config=...")
    return [ScoredCase(case, chosen, judge=judge, index=index) for index, case in enumerate(runs)]


def _read(folder: Path, source: Any) -> list[Case]:
    return read(folder / source) if isinstance(source, str | Path) else list(source)


def _ids(cases: list[Case]) -> list[str]:
    several = len({case.set_id for case in cases}) > 1
    return [
        (f"{case.set_id}/" if several and case.set_id else "")
        + case.case_id
        + (f"-trial{case.trial}" if case.trial else "")
        for case in cases
    ]
