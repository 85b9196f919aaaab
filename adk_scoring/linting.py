"""What is wrong with evaluation data before any agent is run: cases in, findings out.

A finding is an error where a case cannot check what its author meant, a warning where that may be intended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, overload

from .criteria import Criteria, CriteriaLike, Criterion
from .errors import ConfigError
from .evidence import Evidence
from .matching import ADK_FRAMEWORK_TOOLS, Match
from .metrics.base import score_safely
from .model import Case, Invocation, Tool, ToolCall, Turn
from .readers._reading import looks_like_expectation
from .render.words import number, plain
from .tools import read_tools

__all__ = ["CODES", "Finding", "Findings", "lint"]

Severity = Literal["error", "warning"]

CODES: Final[Mapping[str, Severity]] = {
    "unreadable-case": "error",
    "unreadable-arguments": "error",
    "duplicate-id": "error",
    "nothing-expected": "error",
    "unread-expectation": "error",
    "empty-user-text": "warning",
    "undeclared-tool": "error",
    "unknown-argument": "error",
    "untested-tool": "warning",
    "unusable-criterion": "error",
    "unreachable-threshold": "error",
    "never-scored": "error",
}
"""What is looked for, and how bad it is."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with the data.

    Attributes:
        code: which of `CODES` it is.
        case: id of the case; ``""`` for what is about all of them.
        source: ``(path, location in it)`` of the case.
        message: what was found, what was wanted, and what to do.
    """

    code: str
    case: str
    source: tuple[str, str]
    message: str

    @property
    def severity(self) -> Severity:
        """``"error"``: the case cannot check what its author meant; ``"warning"``: that may be intended."""
        return CODES[self.code]

    def __str__(self) -> str:
        where = [part for part in (*self.source, self.case) if part]
        return plain(": ".join((*where, f"{self.severity} {self.code}", self.message)))


@dataclass(frozen=True, slots=True)
class Findings(Sequence[Finding]):
    """What `lint` found; a sequence of `Finding` that prints as a list.

    Attributes:
        items: the findings, case by case.
        cases: how many cases were looked at.
    """

    items: tuple[Finding, ...]
    cases: int

    @property
    def ok(self) -> bool:
        """Whether there is no error; warnings may be there."""
        return all(finding.severity != "error" for finding in self.items)

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        """Return one finding, or several."""
        return self.items[index]

    def __str__(self) -> str:
        kinds = [finding.severity for finding in self.items]
        counts = [f"{n} {kind}{'s' if n > 1 else ''}" for kind in ("error", "warning") if (n := kinds.count(kind))]
        cases = f"{self.cases} case{'' if self.cases == 1 else 's'}"
        return "\n".join((*map(str, self.items), f"{cases}: {', '.join(counts) or 'nothing found'}"))


def lint(cases: Iterable[Case], tools: Any = None, *, criteria: CriteriaLike | None = None) -> Findings:
    """Look for what is wrong with expectations, without running or scoring any agent.

    Found are: cases that could not be read, arguments that could not; ids that stand twice; cases that expect nothing
    (neither calls nor an answer nor a rubric); keys that look like expectations and are read by nobody; turns without
    a text of the user; expected calls of tools that are not declared, with arguments that the tool's schema does not
    know; tools that no case expects; and, with `criteria`, those that cannot be used, that no case can be scored by,
    or whose threshold even a run that does exactly what is expected does not reach.

    Args:
        cases: the cases; a recorded side is not looked at.
        tools: the declared tools, as `adk_scoring.tools.read_tools` takes them, e.g. an MCP server's answer to
            ``tools/list``; by default those of each case. Calls that ADK makes by itself need no declaration.
        criteria: what the cases will be scored by, as `evaluate` takes it. Judges and functions of yours are not
            called: criteria that need one are left out.

    Returns:
        The findings; print them, or ask `Findings.ok`.

    Raises:
        ConfigError: `tools` cannot be read, or `criteria` is nothing that `evaluate` takes.

    >>> from adk_scoring import Invocation, ToolCall, Turn
    >>> wanted = Invocation("Paris?", (ToolCall("weather", {"cty": "Paris"}),))
    >>> weather = {"name": "weather", "parameters": {"properties": {"city": {"type": "string"}}}}
    >>> print(lint([Case("paris", (Turn(None, (wanted,)),))], [weather]))
    paris: error unknown-argument: weather has no argument 'cty'; it has city; did you mean 'city'?
    1 case: 1 error
    """
    cases = list(cases)
    declared = None if tools is None else read_tools(tools)
    found: list[Finding] = []
    for case in cases:
        found += _of_case(case, declared if declared is not None else case.tools)
    found += _repeated(cases)
    found += _untested(cases, declared)
    if criteria is not None:
        found += _of_criteria(cases, criteria)
    return Findings(tuple(found), len(cases))


def _of_case(case: Case, tools: Sequence[Tool] | None) -> Iterator[Finding]:
    def finding(code: str, message: str) -> Finding:
        return Finding(code, case.case_id, case.source, message)

    if case.error is not None:
        yield finding("unreadable-case", case.error)
        return
    sides = [side for turn in case.turns for side in turn.expected]
    if not (case.rubrics or any(map(_says_something, sides)) or any(t.actual and t.actual.rubrics for t in case.turns)):
        yield finding("nothing-expected", "neither calls nor an answer nor a rubric: nothing can be checked")
    for metadata in (case.metadata, *(side.metadata for side in sides)):
        for key in metadata:
            if looks_like_expectation(key):
                message = f"the key {key!r} is read by nobody, so what it expects is not checked"
                yield finding("unread-expectation", message)
    silent = [str(index) for index, turn in enumerate(case.turns, 1) if not _user_text(turn)]
    if silent:
        yield finding("empty-user-text", f"no text of the user in turn {', '.join(silent)}")
    for side in sides:
        for call in side.tool_calls or ():
            yield from (finding(*problem) for problem in _of_call(call, tools))


def _says_something(side: Invocation) -> bool:
    return side.tool_calls is not None or side.response is not None or bool(side.rubrics)


def _user_text(turn: Turn) -> str:
    return "".join(side.user_text for side in (turn.actual, *turn.expected) if side is not None).strip()


def _of_call(call: ToolCall, tools: Sequence[Tool] | None) -> Iterator[tuple[str, str]]:
    if call.args is None:
        why = call.args_error or "they are not given"
        yield "unreadable-arguments", f"{call.name}: its arguments cannot be compared: {why}"
    if tools is None or any(fnmatchcase(call.name, pattern) for pattern in ADK_FRAMEWORK_TOOLS):
        return
    schemas = [tool.parameters for tool in tools if tool.name == call.name]
    if not schemas:
        yield "undeclared-tool", f"no tool {call.name!r} is declared{_nearest(call.name, [t.name for t in tools])}"
        return
    # Several agents may have tools of one name: what one of them knows is known.
    unknown = [{} if schema is None else dict(_unknown(call.args or {}, schema, "")) for schema in schemas]
    for path, known in unknown[0].items():
        if all(path in others for others in unknown):
            name = re.split(r"[.\]]", path)[-1]
            has = f"it has {', '.join(known)}" if known else "it has none"
            yield "unknown-argument", f"{call.name} has no argument {path!r}; {has}{_nearest(name, known)}"


# With any of these, `properties` does not name everything that is allowed.
_MORE = ("$ref", "allOf", "anyOf", "oneOf", "patternProperties")


def _unknown(value: Any, schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, list[str]]]:
    """Go through the places of arguments that a schema does not know, each with the names known there."""
    properties, items = schema.get("properties"), schema.get("items")
    if isinstance(value, Mapping) and isinstance(properties, Mapping):
        # JSON Schema allows more where it says nothing; whoever declares a tool does not mean that.
        is_open = bool(schema.get("additionalProperties")) or any(key in schema for key in _MORE)
        for key, item in value.items():
            place = f"{path}.{key}" if path else str(key)
            if isinstance(properties.get(key), Mapping):
                yield from _unknown(item, properties[key], place)
            elif key not in properties and not is_open:
                yield place, [str(name) for name in properties]
    elif isinstance(value, list | tuple) and isinstance(items, Mapping):
        for index, item in enumerate(value):
            yield from _unknown(item, items, f"{path}[{index}]")


def _nearest(name: str, known: Sequence[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


_RENAMED = re.compile(r"(.+)#\d+")


def _repeated(cases: Sequence[Case]) -> Iterator[Finding]:
    """Find ids that stand twice among the cases that expect something; reading renames the second to ``id#2``."""
    seen: dict[tuple[str, str, int], Case] = {}
    for case in cases:
        if all(not turn.expected for turn in case.turns):
            continue
        renamed = _RENAMED.fullmatch(case.case_id)
        names = [case.case_id, renamed[1]] if renamed else [case.case_id]
        for name in names:
            if first := seen.get((case.set_id, name, case.trial)):
                where = ": ".join(part for part in first.source if part)
                message = f"the id {name!r} stands twice{f', first at {where}' if where else ''}"
                yield Finding("duplicate-id", case.case_id, case.source, message)
                break
        seen.setdefault((case.set_id, case.case_id, case.trial), case)


def _untested(cases: Sequence[Case], declared: Sequence[Tool] | None) -> Iterator[Finding]:
    tools = declared if declared is not None else [tool for case in cases for tool in case.tools or ()]
    expected = {
        call.name for case in cases for turn in case.turns for side in turn.expected for call in side.tool_calls or ()
    }
    for name in dict.fromkeys(tool.name for tool in tools):
        if name not in expected:
            yield Finding("untested-tool", "", ("", ""), f"no case expects a call of {name}")


def _of_criteria(cases: Sequence[Case], criteria: CriteriaLike) -> Iterator[Finding]:
    usable: list[Criterion] = []
    if isinstance(criteria, Mapping):  # one by one, so that each that is not usable is found
        shared = {"match": criteria["match"]} if "match" in criteria else {}
        for label, spec in criteria.items():
            try:
                usable += () if label == "match" else Criteria.of({label: spec, **shared}, where="criteria")
            except ConfigError as error:
                yield Finding("unusable-criterion", "", ("", ""), str(error))
    else:
        usable += Criteria.of(criteria)
    runs = [(case, _ideal_runs(case)) for case in cases if case.error is None]
    for criterion in filter(_can_be_tried, usable):
        reasons = []
        for case, ideal in runs:
            scores = [score_safely(criterion.metric, Evidence(run)) for run in ideal]
            scored = [score for score in scores if score.value is not None]
            if not scored:
                reasons += [score.reason for score in scores]
            elif all(criterion.verdict(score) == "failed" for score in scored):
                message = (
                    f"{criterion.label}: even a run that does what is expected gets {number(scored[0].value)}, "
                    f"wanted {criterion.wanted}: {scored[0].reason}"
                )
                yield Finding("unreachable-threshold", case.case_id, case.source, message)
        if criterion.metric.needs and reasons and len(reasons) == sum(len(ideal) for _, ideal in runs):
            message = f"{criterion.label} can be scored in no case, so no report passes: {reasons[0]}"
            yield Finding("never-scored", "", ("", ""), message)


def _can_be_tried(criterion: Criterion) -> bool:
    """Whether a run made of expectations says anything about a criterion, without a call of anybody's function."""
    metric = criterion.metric
    match = getattr(metric, "match", None)
    if criterion.threshold is None or not metric.needs <= {"expected_calls", "expected_response"}:
        return False
    if isinstance(match, Match) and match.tools:  # to a comparator, what is expected need not be an example of itself
        return False
    return not (is_dataclass(metric) and any(callable(getattr(metric, f.name)) for f in fields(metric)))


def _ideal_runs(case: Case) -> list[Case]:
    """Return the case as if the agent had done what is expected: once for each alternative, if there are several."""
    alternatives = max((len(turn.expected) for turn in case.turns), default=0)
    return [
        replace(case, turns=tuple(_ideal_turn(turn, which) for turn in case.turns)) for which in range(alternatives)
    ]


def _ideal_turn(turn: Turn, which: int) -> Turn:
    if not turn.expected:
        return replace(turn, actual=Invocation())
    side = turn.expected[min(which, len(turn.expected) - 1)]
    calls = side.tool_calls and tuple(replace(call, optional=False, group=None) for call in side.tool_calls)
    return replace(turn, actual=Invocation(side.user_text, calls, side.response))
