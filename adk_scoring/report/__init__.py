"""What came out: rows, verdicts, coverage and reasons, by case and by criterion, and as JSON and back.

In: cases, criteria and a column of scores for each criterion. Rows and scores are made when they are looked at,
so a report of a million cases stays small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from ..alignment import Alignment
from ..criteria import Criteria, Criterion, Verdict
from ..evidence import Evidence
from ..matching import DEFAULT_MATCH, Match
from ..metrics.base import Score, Scores
from ..model import Case, Invocation
from .failures import Failure, failure_of
from .signature import Signature
from .summary import CaseVerdict, Summary, case_verdicts, summarise

if TYPE_CHECKING:
    from ..stats import PassK
    from .breakdown import ToolSummary
    from .recorded import RecordedTable

__all__ = ["CaseReport", "Failure", "Report", "Row", "Rows", "Summary"]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a report: what one criterion says of one case.

    Attributes:
        case_id: the case; `Report.case` gives it with its calls.
        trial: which repeat of the case.
        label: the criterion.
        score: the number, or why there is none.
        threshold: what it was held against; ``None``: informational.
        verdict: ``"passed"``, ``"failed"``, ``"not_evaluated"`` or ``"informational"``.
        set_id: the set the case belongs to.
    """

    case_id: str
    trial: int
    label: str
    score: Score
    threshold: float | None
    verdict: Verdict
    set_id: str = ""


class Report:
    """Rows, verdicts and a summary of cases under criteria.

    Args:
        cases: the cases, in order.
        criteria: what they were scored by.
        columns: for each criterion, the scores of the cases.
        notes: what else a reader must know, e.g. runs that had no expectation.
        signatures: how each column was made; default: by this installation, without a judge.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        criteria: Criteria,
        columns: Sequence[Scores],
        *,
        notes: Sequence[str] = (),
        signatures: Sequence[Signature] | None = None,
    ) -> None:
        if len(columns) != len(criteria) or any(len(column) != len(cases) for column in columns):
            raise ValueError("a report wants one column for each criterion and one score for each case")
        self.cases = tuple(cases)
        self.criteria = criteria
        self.columns = tuple(columns)
        self.notes = tuple(notes)
        self._signatures = None if signatures is None else tuple(signatures)

    @cached_property
    def signatures(self) -> tuple[Signature, ...]:
        """How the numbers of each criterion were made, in the order of the criteria."""
        return self._signatures or tuple(Signature.of(criterion.metric) for criterion in self.criteria)

    def signature(self, label: str) -> str:
        """Return how the mean of a criterion and its interval were made, in one line.

        Raises:
            KeyError: there is no such criterion.

        >>> from adk_scoring import Case, Invocation, Turn, evaluate
        >>> case = Case("a", (Turn(Invocation(tool_calls=()), (Invocation(tool_calls=()),)),))
        >>> print(evaluate([case], {"trajectory_f1": 1.0}).signature("trajectory_f1"))
        metric:trajectory_f1|numbers:...|version:...|scored:1/1|interval:wilson, 95%
        """
        index = self.criteria.labels.index(self.criteria[label].label)
        entry = self.summary.criteria[index]
        interval = f"{entry.interval.method}, {entry.interval.level:.0%}"
        return f"{self.signatures[index]}|scored:{entry.scored}/{entry.total}|interval:{interval}"

    @property
    def rows(self) -> Rows:
        """Every row, case by case."""
        return Rows(self)

    @cached_property
    def case_verdicts(self) -> tuple[CaseVerdict, ...]:
        """The verdict of each case (of each trial), in order: passed, failed, error or not_evaluated."""
        return case_verdicts(len(self.cases), self.criteria, self.columns)

    @cached_property
    def summary(self) -> Summary:
        """Everything in numbers: by criterion with coverage, and by case."""
        return summarise(self.cases, self.criteria, self.columns, self.case_verdicts)

    @property
    def passed(self) -> bool:
        """Whether every case passed and every criterion with a threshold was scored in at least one."""
        summary = self.summary
        return summary.passed == summary.total > 0 and not summary.never_scored

    def failures(self) -> list[Failure]:
        """Return each row that failed or is an error, with what was expected, what was found and what differs."""
        return list(self.iter_failures())

    def iter_failures(self) -> Iterator[Failure]:
        """Go through the failures one by one, in the order of the cases."""
        for index, case in enumerate(self.cases):
            for criterion, column in zip(self.criteria, self.columns, strict=True):
                status = column.statuses[index]
                if status == 1 or criterion.threshold is None:
                    continue
                if status == 0 and not column.has_parts(index) and criterion.meets(column.values[index]):
                    continue
                row = self._row(index, criterion, column)
                if row.verdict == "failed" or row.score.status == "error":
                    yield failure_of(case, row, criterion)

    def case(self, case_id: str, *, trial: int | None = None, set_id: str | None = None) -> CaseReport:
        """Return one case with its rows; ``.show()`` prints its alignment, call by call.

        Args:
            case_id: the case.
            trial: which repeat; default: the first one there is.
            set_id: which set, where several have a case of that id.

        Raises:
            KeyError: there is no such case.
        """
        for index, case in enumerate(self.cases):
            if case.case_id == case_id and trial in (None, case.trial) and set_id in (None, case.set_id):
                return self.case_at(index)
        ids = [case.case_id for case in self.cases]
        if case_id in ids:
            raise KeyError(f"case {case_id!r} is there, but not with trial={trial!r}, set_id={set_id!r}")
        near = get_close_matches(case_id, ids, n=1)
        raise KeyError(f"no case {case_id!r}" + (f"; did you mean {near[0]!r}?" if near else ""))

    def case_at(self, index: int) -> CaseReport:
        """Return the case at an index, in the order of `cases`."""
        return CaseReport(self.cases[index], tuple(self.rows_of(index)), self.criteria, self.case_verdicts[index])

    def rows_of(self, index: int) -> list[Row]:
        """Return the rows of the case at an index, one for each criterion."""
        return [self._row(index, c, column) for c, column in zip(self.criteria, self.columns, strict=True)]

    def by(self, field: str) -> dict[str, Report]:
        """Split the report by a field of its cases.

        Args:
            field: ``"set_id"``, ``"set_name"``, ``"case_id"``, ``"trial"``, ``"tags"`` or ``"tool"`` (a case with
                several tags or tools is in several parts), ``"turn"`` (``"1"`` holds the first turn of every case),
                or a key of the cases' metadata.

        Returns:
            A report for each value, in the order in which the values first occur; ``""`` holds the cases without.

        Raises:
            KeyError: no case has the field.
        """
        if field in ("turn", "tool"):
            from .breakdown import by_tool, by_turn

            return by_turn(self) if field == "turn" else by_tool(self)
        groups: dict[str, list[int]] = {}
        known = field in ("set_id", "set_name", "case_id", "trial", "tags")
        if not known and not any(field in case.metadata for case in self.cases):
            raise KeyError(
                f"no case has {field!r}; wanted set_id, set_name, case_id, trial, tags, turn, tool or a metadata key"
            )
        for index, case in enumerate(self.cases):
            value = getattr(case, field) if known else case.metadata.get(field, "")
            for name in (value or ("",)) if field == "tags" else (value,):
                groups.setdefault(str(name), []).append(index)
        return {name: self.select(indices) for name, indices in groups.items()}

    def select(self, indices: Iterable[int]) -> Report:
        """Return the report of some of the cases; the notes, which are about all of them, stay behind."""
        chosen = list(indices)
        columns = [column.select(chosen) for column in self.columns]
        return Report([self.cases[index] for index in chosen], self.criteria, columns, signatures=self.signatures)

    def tools(self, *, match: Match | None = None) -> tuple[ToolSummary, ...]:
        """Return how each tool was used: calls expected, made and matched, recall and precision with intervals.

        Args:
            match: when two calls are the same; default: the rule of the first criterion that compares calls.

        >>> from adk_scoring import Case, Invocation, ToolCall, Turn, evaluate
        >>> side = Invocation("hi", (ToolCall("find"),))
        >>> used, = evaluate([Case("a", (Turn(side, (side,)),))], {"trajectory_f1": 1.0}).tools()
        >>> used.tool, used.expected, used.made, used.matched
        ('find', 1, 1, 1)
        """
        from .breakdown import tools

        return tools(self, match)

    def pass_k(self, label: str | None = None, *, max_k: int | None = None) -> tuple[PassK, ...]:
        """Return pass@k and pass^k for k = 1 up, over the cases: whether one, and whether all of k trials pass.

        A trial that is an error or was not scored does not count; see `stats.pass_k_table`.

        Args:
            label: one criterion; default: the verdict over all of them.
            max_k: the last k; default: the most trials that a case has.

        Raises:
            KeyError: there is no such criterion.
            ValueError: it has no threshold.
        """
        from .breakdown import pass_k

        return pass_k(self, label, max_k)

    def recorded(self, criteria: Mapping[str, str] | None = None) -> RecordedTable:
        """Return the scores that the files already held beside ours, in one table; print it to see it.

        Args:
            criteria: which criterion a recorded metric stands beside, by their names; default: the one of that label,
                else the one whose metric has that name.

        Raises:
            ConfigError: there is no such criterion.

        >>> from adk_scoring import Case, Invocation, RecordedScore, Turn, evaluate
        >>> turn = Turn(Invocation(tool_calls=()), (Invocation(tool_calls=()),))
        >>> case = Case("a", (turn,), recorded=(RecordedScore("tool_match", 0.0),))
        >>> print(evaluate([case], {"trajectory_f1": 1.0}).recorded({"tool_match": "trajectory_f1"}))
        case  recorded as  recorded   ours  difference  criterion
        a     tool_match      0.000  1.000          +1  trajectory_f1
        """
        from .recorded import recorded_table

        return recorded_table(self, criteria or {})

    def to_records(self) -> list[dict[str, Any]]:
        """Return one flat dict a row, for a data frame or a CSV file; a missing value is ``None``."""
        return [
            {
                "set_id": row.set_id,
                "case_id": row.case_id,
                "trial": row.trial,
                "criterion": row.label,
                "metric": row.score.metric,
                "value": row.score.value,
                "status": row.score.status,
                "threshold": row.threshold,
                "verdict": row.verdict,
                "reason": row.score.reason,
            }
            for row in self.rows
        ]

    def to_json(self) -> str:
        """Return everything as JSON text, the same for the same report; `from_json` gives the report back."""
        from .codec import report_to_json

        return report_to_json(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> Report:
        """Read what `to_json` wrote.

        Raises:
            ReadError: the text is not such a report.
        """
        from .codec import report_from_json

        return report_from_json(text)

    def to_junit(self) -> str:
        """Return JUnit XML: a test case for each case and trial, its scores as properties."""
        from ..render.junit import report_junit

        return report_junit(self)

    def to_markdown(self) -> str:
        """Return the summary and the failures as Markdown."""
        from ..render.markdown import report_markdown

        return report_markdown(self)

    def __str__(self) -> str:
        from ..render.text import report_text

        return report_text(self)

    def _repr_html_(self) -> str:
        from ..render.html import report_html

        return report_html(self)

    def __repr__(self) -> str:
        s = self.summary
        return f"<Report {s.passed}/{s.total} cases passed, {len(self.criteria)} criteria>"

    def _row(self, index: int, criterion: Criterion, column: Scores) -> Row:
        case, score = self.cases[index], column[index]
        return Row(
            case.case_id,
            case.trial,
            criterion.label,
            score,
            criterion.threshold,
            criterion.verdict(score),
            case.set_id,
        )


class Rows(Sequence[Row]):
    """The rows of a report, case by case, each made when it is looked at."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def __len__(self) -> int:
        return len(self._report.cases) * len(self._report.criteria)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        """Return one row, or a list of them."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        case, criterion = divmod(index % len(self), len(self._report.criteria))
        return self._report.rows_of(case)[criterion]

    def __iter__(self) -> Iterator[Row]:
        for index in range(len(self._report.cases)):
            yield from self._report.rows_of(index)


@dataclass(frozen=True)
class CaseReport:
    """One case of a report: what was recorded, what was expected, and what each criterion says."""

    case: Case
    rows: tuple[Row, ...]
    criteria: Criteria
    verdict: CaseVerdict

    def show(self) -> None:
        """Print it: the verdict, each row with its reason, each turn's calls aligned."""
        print(self)  # noqa: T201  # what a person asked to see

    def expectation(self, turn: int) -> tuple[Invocation | None, Alignment | None]:
        """Return what a turn is shown against: the reference that was chosen, and the alignment with it.

        The rule is that of the first criterion that compares calls.

        Raises:
            MatchError: arguments that have to be compared are unknown.
        """
        rules = (getattr(criterion.metric, "match", None) for criterion in self.criteria)
        match = next((rule for rule in rules if isinstance(rule, Match)), DEFAULT_MATCH)
        sides = self.case.turns[turn]
        if sides.actual is None or all(expected.tool_calls is None for expected in sides.expected):
            return (sides.expected[0] if sides.expected else None), None
        chosen, alignment = Evidence(self.case).aligned(turn, match)
        return sides.expected[chosen], alignment

    def __str__(self) -> str:
        from ..render.text import case_text

        return case_text(self)

    def _repr_html_(self) -> str:
        from ..render.html import case_html

        return case_html(self)
