"""Whether the calls were well made: answered without an error, and with arguments that their tool's schema allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..alignment import as_calls
from ..errors import ConfigError
from ..evidence import Evidence
from ..matching import ADK_FRAMEWORK_TOOLS, Match
from ..model import Case, Tool, ToolCall
from ..tools import read_tools
from .base import Metric, Reply, Score, score_turns

__all__ = ["FailedCalls", "ToolSchemaValidity", "failed_calls", "tool_schema_validity"]


def failed_calls(actual: Sequence[Any]) -> float | None:
    """The share of the answered calls that were answered by an error.

    Args:
        actual: the calls made; those with `ToolCall.error` failed, those with a response alone did not, of the others
            nothing is known.

    Returns:
        A number from 0 to 1, lower is better; ``None`` if no call has a recorded answer.

    Raises:
        MatchError: something is not a tool call.

    >>> failed_calls([ToolCall("f", error="timeout"), ToolCall("f", response={"ok": True}), ToolCall("g")])
    0.5
    """
    return _failed(as_calls(actual, "actual")).value


def tool_schema_validity(
    actual: Sequence[Any], tools: Any, *, ignore_tools: Sequence[str] = ADK_FRAMEWORK_TOOLS
) -> float | None:
    """The share of the calls whose arguments their tool's JSON Schema allows.

    Args:
        actual: the calls made; each whatever `ToolCall.of` takes.
        tools: the declared tools, as `adk_scoring.tools.read_tools` takes them. A call of a tool that is not among
            them is not valid; one of a tool without a schema is not judged.
        ignore_tools: names or patterns of calls that are none of the agent's own; by default those of ADK itself.

    Returns:
        A number from 0 to 1; ``None`` if there is no call to judge.

    Raises:
        MatchError: something is not a tool call.
        ConfigError: `tools` cannot be read, a schema is none, or the jsonschema library is missing
            (``pip install 'adk_scoring[schema]'``).

    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    >>> tool_schema_validity([("f", {"n": 1}), ("f", {"n": "1"})], [{"name": "f", "inputSchema": schema}])
    0.5
    """
    calls = Match(ignore_tools=ignore_tools).kept(as_calls(actual, "actual"))
    return _valid(calls, _validators(read_tools(tools))).value


@dataclass(frozen=True)
class FailedCalls(Metric):
    """`failed_calls` as a metric; a turn without an answered call is skipped.

    Args:
        ignore_tools: names or patterns of calls to leave out.
    """

    ignore_tools: tuple[str, ...] = ()

    name = "failed_calls"
    higher_is_better = False
    needs: ClassVar[frozenset[str]] = frozenset({"responses"})
    per = "turn"

    def __post_init__(self) -> None:
        object.__setattr__(self, "ignore_tools", Match(ignore_tools=self.ignore_tools).ignore_tools)

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns."""
        evidence, match = Evidence.of(evidence), Match(ignore_tools=self.ignore_tools)
        return score_turns(
            self.name,
            evidence,
            lambda turn: _failed(match.kept(evidence.made(turn))),
            reference=None,
            higher_is_better=False,
        )


@dataclass(frozen=True)
class ToolSchemaValidity(Metric):
    """`tool_schema_validity` as a metric; a turn without a call to judge is skipped.

    Args:
        tools: the declared tools; by default those of the case, which is skipped if it knows none.
        ignore_tools: names or patterns of calls that are none of the agent's own.
    """

    tools: tuple[Tool, ...] | None = field(default=None, hash=False)
    ignore_tools: tuple[str, ...] = ADK_FRAMEWORK_TOOLS

    name = "tool_schema_validity"
    needs: ClassVar[frozenset[str]] = frozenset({"tools"})
    per = "turn"

    def __post_init__(self) -> None:
        if self.tools is not None:
            object.__setattr__(self, "tools", read_tools(self.tools))
        object.__setattr__(self, "ignore_tools", Match(ignore_tools=self.ignore_tools).ignore_tools)

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Score one case: the mean over its turns."""
        evidence, match = Evidence.of(evidence), Match(ignore_tools=self.ignore_tools)
        tools = self.tools if self.tools is not None else evidence.case.tools
        validators = None if tools is None else _validators(tools)

        def measure(turn: int) -> Score:
            if validators is None:
                return Score.skipped(self.name, "no tool declarations: the case does not say which tools there were")
            return _valid(match.kept(evidence.made(turn)), validators)

        return score_turns(self.name, evidence, measure, reference=None)


def _failed(calls: Sequence[ToolCall]) -> Score:
    if not calls:
        return Score.skipped("failed_calls", "no calls were made")
    failed = [call for call in calls if call.error is not None]
    answered = len(failed) + sum(call.error is None and call.response is not None for call in calls)
    if not answered:
        return Score.skipped("failed_calls", "no call has a recorded answer")
    reason = f"{len(failed)} of {answered} answered calls failed"
    if failed:
        reason += f"; {failed[0].name}: {failed[0].error:.120}"
    counts = {"failed": len(failed), "answered": answered, "made": len(calls)}
    return Score("failed_calls", len(failed) / answered, reason=reason, counts=counts)


_Validator = Callable[[Mapping[str, Any]], str]
"""Says what is wrong with arguments, ``""`` if nothing is."""


def _validators(tools: Sequence[Tool]) -> dict[str, list[_Validator] | None]:
    """Return by tool what checks its arguments, ``None`` where nothing is known about them.

    Several agents may have tools of one name: what one of them allows is valid.
    """
    validators: dict[str, list[_Validator] | None] = {}
    for tool in tools:
        if tool.parameters is None:
            validators[tool.name] = None
        elif (known := validators.setdefault(tool.name, [])) is not None:
            known.append(_validator(tool))
    return validators


def _validator(tool: Tool) -> _Validator:
    try:
        import jsonschema
        import referencing
    except ImportError:
        raise ConfigError(
            "tool_schema_validity needs the jsonschema library: pip install 'adk_scoring[schema]'"
        ) from None
    schema = dict(tool.parameters or {})
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise ConfigError(
            f"the parameters of {tool.name} are no JSON Schema: {error.json_path}: {error.message}"
        ) from None
    # An empty registry: a reference to another document is an error, never a download.
    validator = kind(schema, registry=referencing.Registry())

    def check(args: Mapping[str, Any]) -> str:
        try:
            worst = jsonschema.exceptions.best_match(validator.iter_errors(args))
        except referencing.exceptions.Unresolvable as error:
            raise ConfigError(
                f"the parameters of {tool.name} refer to {error.ref!r}, which is not in the schema"
            ) from None
        return (
            ""
            if worst is None
            else f"{worst.json_path.removeprefix('$').removeprefix('.') or 'arguments'}: {worst.message}"
        )

    return check


def _valid(calls: Sequence[ToolCall], validators: Mapping[str, list[_Validator] | None]) -> Score:
    name = "tool_schema_validity"
    if not calls:
        return Score.skipped(name, "no calls were made")
    judged = 0
    problems: list[str] = []
    for call in calls:
        problem = _problem(call, validators)
        if problem is not None:
            judged += 1
            if problem:
                problems.append(f"{call.name}: {problem:.160}")
    if not judged:
        return Score.skipped(
            name, "no call can be judged: no schema of the tools called, or their arguments are unknown"
        )
    reason = f"{judged - len(problems)} of {judged} calls have valid arguments"
    if problems:
        reason += f"; {problems[0]}"
    counts = {"valid": judged - len(problems), "judged": judged, "made": len(calls)}
    return Score(name, (judged - len(problems)) / judged, reason=reason, counts=counts)


def _problem(call: ToolCall, validators: Mapping[str, list[_Validator] | None]) -> str | None:
    """Say what is wrong with a call, ``""`` if nothing is, ``None`` if that cannot be known."""
    if call.name not in validators:
        return "no such tool was declared"
    if call.args_error is not None:
        return call.args_error
    checks = validators[call.name]
    if checks is None or call.args is None:
        return None
    problems = [check(call.args) for check in checks]
    return "" if "" in problems else problems[0]
