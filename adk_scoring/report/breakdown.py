"""A report taken apart: turn by turn, tool by tool, and by how often repeated trials of a case pass."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import MatchError
from ..evidence import Evidence
from ..matching import DEFAULT_MATCH, Match
from ..metrics.base import Score, Scores, turn_scores
from ..model import Case
from ..stats import Interval, PassK, clustered, pass_k_table

if TYPE_CHECKING:
    from . import Report

__all__ = ["ToolSummary", "by_tool", "by_turn", "pass_k", "tools"]

_INDEX = re.compile(r"\[\d+\]")
_Hits = list[tuple[float, tuple[str, str]]]
"""1 or 0 for each call, and its case."""


@dataclass(frozen=True, slots=True)
class ToolSummary:
    """How one tool was used over all turns that say which calls are expected.

    Attributes:
        tool: its name.
        expected: calls expected.
        made: calls made.
        matched: calls made that are one of the expected ones.
        wrong_args: expected calls that were missed and stand beside a call of this tool with other arguments.
        recall: matched / expected with its interval; the calls of a case are one cluster.
        precision: matched / made, likewise.
        cases: cases that expect or call it.
        arguments: the arguments that differed in `wrong_args`, each with in how many calls, most frequent first;
            the items of a list count as one place, ``items[*].sku``.
    """

    tool: str
    expected: int
    made: int
    matched: int
    wrong_args: int
    recall: Interval
    precision: Interval
    cases: int
    arguments: tuple[tuple[str, int], ...] = ()


def by_turn(report: Report) -> dict[str, Report]:
    """Return a report for each turn: ``"1"`` holds the first turn of every case, and so on."""
    return {str(turn + 1): _turn(report, turn) for turn in range(max((len(c.turns) for c in report.cases), default=0))}


def _turn(report: Report, turn: int) -> Report:
    from . import Report

    indices = [index for index, case in enumerate(report.cases) if turn < len(case.turns)]
    columns = []
    for column in report.columns:
        part = Scores(column.metric)
        for index in indices:
            part.append(_turn_score(column[index], len(report.cases[index].turns), turn))
        columns.append(part)
    cases = [replace(report.cases[index], turns=(report.cases[index].turns[turn],)) for index in indices]
    return Report(cases, report.criteria, columns, signatures=report.signatures)


def _turn_score(score: Score, turns: int, turn: int) -> Score:
    parts = turn_scores(score)
    if len(parts) == turns:
        return replace(parts[turn], label="")
    if score.status != "scored":  # the case as a whole could not be scored
        return score
    return Score.skipped(score.metric, "scored for the case as a whole, not turn by turn")


def by_tool(report: Report) -> dict[str, Report]:
    """Return a report for each tool with the cases that expect or call it; ``""`` holds those without any."""
    groups: dict[str, list[int]] = {}
    for index, case in enumerate(report.cases):
        for tool in dict.fromkeys(_tools_of(case)) or ("",):
            groups.setdefault(tool, []).append(index)
    return {tool: report.select(indices) for tool, indices in groups.items()}


def _tools_of(case: Case) -> Iterator[str]:
    for turn in case.turns:
        for side in (*turn.expected, turn.actual):
            if side is not None:
                yield from (call.name for call in side.tool_calls or ())


def tools(report: Report, match: Match | None) -> tuple[ToolSummary, ...]:
    """Return how each tool was used; see `Report.tools`."""
    rules = (getattr(criterion.metric, "match", None) for criterion in report.criteria)
    rule = match or next((found for found in rules if isinstance(found, Match)), DEFAULT_MATCH)
    wanted: dict[str, _Hits] = {}
    made: dict[str, _Hits] = {}
    near: dict[str, list[set[str]]] = {}
    for case in report.cases:
        key = (case.set_id, case.case_id)
        evidence = Evidence(case)
        for index, turn in enumerate(case.turns):
            if turn.actual is None or turn.actual.error or all(e.tool_calls is None for e in turn.expected):
                continue
            try:
                _, alignment = evidence.aligned(index, rule)
                pairs = alignment.pairs
            except MatchError:  # arguments that are not known: the criteria have it as an error
                continue
            hit, met = {i for i, _ in pairs}, {j for _, j in pairs}
            for i, call in enumerate(alignment.actual):
                made.setdefault(call.name, []).append((float(i in hit), key))
            for j, call in enumerate(alignment.expected):
                wanted.setdefault(call.name, []).append((float(j in met), key))
            for mismatch in alignment.mismatches:
                paths = {_INDEX.sub("[*]", difference.path) for difference in mismatch.differences}
                near.setdefault(alignment.expected[mismatch.expected_index].name, []).append(paths)
    return tuple(
        _tool(name, wanted.get(name, []), made.get(name, []), near.get(name, [])) for name in {**wanted, **made}
    )


def _tool(name: str, wanted: _Hits, made: _Hits, near: list[set[str]]) -> ToolSummary:
    def rate(hits: _Hits) -> Interval:
        return clustered([hit for hit, _ in hits], [case for _, case in hits], method="wilson")

    return ToolSummary(
        tool=name,
        expected=len(wanted),
        made=len(made),
        matched=int(sum(hit for hit, _ in made)),
        wrong_args=len(near),
        recall=rate(wanted),
        precision=rate(made),
        cases=len({case for _, case in (*wanted, *made)}),
        arguments=tuple(Counter(path for paths in near for path in sorted(paths)).most_common()),
    )


def pass_k(report: Report, label: str | None, max_k: int | None) -> tuple[PassK, ...]:
    """Return pass@k and pass^k over the cases; see `Report.pass_k`."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    if label is None:
        verdicts = [str(verdict) for verdict in report.case_verdicts]
    else:
        criterion = report.criteria[label]
        column = report.columns[report.criteria.labels.index(label)]
        if criterion.threshold is None:
            raise ValueError(f"{label} has no threshold, so nothing passes it")
        verdicts = [criterion.verdict(score) for score in column]
    for case, verdict in zip(report.cases, verdicts, strict=True):
        n, c = counts.get((case.set_id, case.case_id), (0, 0))
        counts[case.set_id, case.case_id] = n + (verdict in ("passed", "failed")), c + (verdict == "passed")
    return pass_k_table(counts.values(), max_k=max_k)
