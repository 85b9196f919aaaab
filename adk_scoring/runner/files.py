"""Run an agent over files of expectations and score it: an agent and a path in, reports out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from ..criteria import Criteria, CriteriaLike
from ..evaluation import evaluate
from ..model import Case
from ..readers import read
from ..report import Report
from ..report.merge import merged
from . import Agents, RunOptions, collect

if TYPE_CHECKING:
    from ..judges import Judge, VerdictStore

__all__ = ["DirectoryReport", "evaluate_directory", "evaluate_file"]


def evaluate_file(
    agent: Agents,
    path: str | PathLike[str],
    criteria: CriteriaLike | None = None,
    *,
    judge: Judge | None = None,
    store: VerdictStore | None = None,
    **options: Unpack[RunOptions],
) -> Report:
    """Run an agent over the cases of a file and score what it did.

    Args:
        agent: the agent, or several by application, as for `collect`.
        path: a file that `read` takes.
        criteria: what is asked for; default: the configuration beside the file (`Criteria.discover`).
        judge: whom judged criteria ask.
        store: where their verdicts are kept.
        options: those of `collect`: ``concurrency``, ``repeats``, ``timeout``, ``resume``, ...

    Returns:
        The report.

    Raises:
        ReadError: the file cannot be read.
        ConfigError: the criteria or an option are not usable.

    >>> import tempfile
    >>> from adk_scoring import Invocation, Turn, write_evalset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "hello.evalset.json"
    ...     _ = write_evalset([Case("hi", (Turn(None, (Invocation("hi", (), "Hello!"),)),))], path)
    ...     evaluate_file(lambda text, *, session: Invocation(text, (), "Hello!"), path)
    <Report 1/1 cases passed, 2 criteria>
    """
    chosen = Criteria.discover(Path(path)) if criteria is None else Criteria.of(criteria)
    return evaluate(collect(agent, read(Path(path)), **options), chosen, judge=judge, store=store)


@dataclass(frozen=True)
class DirectoryReport:
    """What came of a folder of evaluation files.

    Attributes:
        reports: a report for each file, by its path.
        total: all cases in one report, under all criteria.
    """

    reports: Mapping[str, Report]
    total: Report

    @property
    def passed(self) -> bool:
        """Whether every file passed by its own criteria."""
        return all(report.passed for report in self.reports.values())

    def __str__(self) -> str:
        parts = [f"=== {path}\n{report}" for path, report in self.reports.items()]
        summary = self.total.summary
        files = sum(report.passed for report in self.reports.values())
        words = f"{summary.passed} of {summary.total} cases, {files} of {len(self.reports)} files passed"
        return "\n\n".join([*parts, f"=== total\n{words}"])


def evaluate_directory(
    agent: Agents,
    folder: str | PathLike[str],
    criteria: CriteriaLike | None = None,
    *,
    judge: Judge | None = None,
    store: VerdictStore | None = None,
    **options: Unpack[RunOptions],
) -> DirectoryReport:
    """Run an agent over every evaluation file of a folder and score each file by its own criteria.

    Args:
        agent: the agent, or several by application, as for `collect`.
        folder: searched recursively; every file that `read` recognises is taken, the others give a warning.
        criteria: what is asked of all files; default: for each file the configuration beside it.
        judge: whom judged criteria ask.
        store: where their verdicts are kept.
        options: those of `collect`; a file to resume from serves all files.

    Returns:
        A report for each file, and the total. A file that is broken is in it, as an error.

    Raises:
        ReadError: the folder holds no evaluation file.
        ConfigError: criteria or an option are not usable.
    """
    by_file: dict[str, list[Case]] = {}
    for case in collect(agent, read(Path(folder)), **options):
        by_file.setdefault(case.source[0], []).append(case)
    reports = {
        path: evaluate(cases, Criteria.discover(path) if criteria is None else criteria, judge=judge, store=store)
        for path, cases in by_file.items()
    }
    return DirectoryReport(reports, merged(list(reports.values())))
