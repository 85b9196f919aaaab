"""The one normalised data model: what an agent did and what was expected of it.

Readers turn every file format into these frozen objects; nothing behind the readers knows a file format.

A `Case` is one conversation. It has `Turn`s; a turn holds what was recorded (`actual`) and the acceptable
expectations (`expected`), each an `Invocation`: the user's text, the tool calls in order, the answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields
from os import PathLike
from typing import Any

from .errors import MatchError

__all__ = ["Case", "Invocation", "RecordedScore", "Rubric", "Session", "Tool", "ToolCall", "Turn", "Usage", "cases_of"]


def _repr(self: Any) -> str:
    """Show positional fields and those that differ from their default; ``eval`` gives an equal object back."""
    shown = []
    for f in fields(self):
        value = getattr(self, f.name)
        if f.kw_only:
            default = f.default_factory() if f.default_factory is not MISSING else f.default
            if value == default:
                continue
        shown.append(f"{f.name}={value!r}")
    return f"{type(self).__name__}({', '.join(shown)})"


@dataclass(frozen=True, slots=True, repr=False)
class ToolCall:
    """One call of a tool: its name and its arguments.

    Attributes:
        name: the tool's name, compared case-sensitively.
        args: the arguments, a JSON object. ``None`` means that they are unknown (a trace that did not record
            them, or something that is not an object); comparing unknown arguments is a `MatchError`.
        call_id: the caller's id of the call. Never compared.
        author: the agent that made the call. Never compared.
        step: which model step issued it; the calls of a parallel group share one. ``None`` if unknown.
        response: what the tool answered, ``None`` if unknown.
        error: the text of the tool's failure, ``None`` if it did not fail or nothing is known.
        args_error: why `args` is ``None``, in words, where something was found that could not be used.
        optional: expected side only: the call may be left out.
        group: expected side only: the calls of one group may come in any order among themselves.

    >>> ToolCall("get_weather", {"city": "Paris"})
    ToolCall(name='get_weather', args={'city': 'Paris'})
    """

    name: str
    args: Mapping[str, Any] | None = field(default_factory=dict)
    _: KW_ONLY
    call_id: str | None = None
    author: str | None = None
    step: int | None = None
    response: Any = None
    error: str | None = None
    args_error: str | None = None
    optional: bool = False
    group: str | None = None

    __repr__ = _repr

    @classmethod
    def of(cls, call: Any) -> ToolCall:
        """Make a tool call of what other libraries call one.

        Args:
            call: a `ToolCall`, a name, a ``(name, args)`` pair, or a mapping in the form of ADK
                (``{"name", "args"}``), Vertex (``{"tool_name", "tool_input"}``), OpenAI
                (``{"function": {"name", "arguments"}}`` or ``{"type": "function_call", "name", "arguments"}``),
                LangChain (``{"name", "args", "id"}``), Anthropic (``{"name", "input"}``) or
                MCP (``{"params": {"name", "arguments"}}``). Arguments may be JSON text; null or missing
                arguments are ``{}``.

        Returns:
            The call. Arguments that are not a JSON object give ``args=None`` with the reason in `args_error`.

        Raises:
            MatchError: there is no name in it, or it is none of these forms.

        >>> ToolCall.of({"type": "function", "function": {"name": "find", "arguments": '{"city": "北京"}'}})
        ToolCall(name='find', args={'city': '北京'})
        >>> ToolCall.of({"tool_name": "find", "tool_input": {"city": "Paris"}})
        ToolCall(name='find', args={'city': 'Paris'})
        """
        if isinstance(call, cls):
            return call
        if isinstance(call, str):
            return cls(call)
        if isinstance(call, tuple) and len(call) == 2 and isinstance(call[0], str):
            return cls._from_parts(call[0], call[1], None)
        if not isinstance(call, Mapping):
            raise MatchError(
                f"a tool call is a name, a (name, args) pair or a mapping, not {type(call).__name__}: {call!r:.80}"
            )
        body = call
        for envelope in ("function", "params", "functionCall", "function_call"):
            if isinstance(call.get(envelope), Mapping):
                body = call[envelope]
                break
        name = next((body[key] for key in _NAME_KEYS if body.get(key) is not None), None)
        if not isinstance(name, str) or not name:
            raise MatchError(f"no tool name in {dict(call)!r:.120}: wanted one of the keys {', '.join(_NAME_KEYS)}")
        args = next((body[key] for key in _ARGS_KEYS if key in body), None)
        call_id = next((call[key] for key in _ID_KEYS if isinstance(call.get(key), str)), None)
        return cls._from_parts(name, args, call_id)

    @classmethod
    def _from_parts(cls, name: str, args: Any, call_id: str | None) -> ToolCall:
        known, problem = parse_args(args)
        return cls(name, known, call_id=call_id, args_error=problem)


_NAME_KEYS = ("name", "tool_name", "toolName")
_ARGS_KEYS = ("args", "arguments", "tool_input", "toolInput", "input", "parameters")
_ID_KEYS = ("call_id", "id", "tool_call_id", "callId")


def parse_args(args: Any) -> tuple[Mapping[str, Any] | None, str | None]:
    """Read the arguments of a call: ``(args, None)``, or ``(None, what is wrong with them)``.

    Null, missing and empty text are no arguments, ``{}``; text is parsed as JSON.

    >>> parse_args('{"a": 1}')
    ({'a': 1}, None)
    >>> parse_args([1])
    (None, 'arguments are a list, not an object')
    """
    if isinstance(args, str):
        if not args.strip():
            return {}, None
        try:
            args = json.loads(args)
        except (ValueError, RecursionError) as error:
            return None, f"arguments are not JSON ({type(error).__name__}: {error}): {args!r:.60}"
    if args is None:
        return {}, None
    if not isinstance(args, Mapping):
        return None, f"arguments are {_article(type(args).__name__)}, not an object"
    return args, None


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


@dataclass(frozen=True, slots=True, repr=False)
class Usage:
    """Tokens and model calls of one invocation; ``None`` is unknown, which is not 0.

    Attributes:
        input_tokens: tokens of the prompts, tool-use prompts included, cached ones included.
        output_tokens: tokens of the candidates, reasoning included.
        cached_tokens: the part of the input that came from a cache.
        reasoning_tokens: the part of the output that was reasoning.
        model_calls: how many times a model was asked.
    """

    _: KW_ONLY
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    model_calls: int | None = None

    __repr__ = _repr


@dataclass(frozen=True, slots=True, repr=False)
class Rubric:
    """One question about an answer or a trajectory, put to a judge.

    Attributes:
        rubric_id: names it within its criterion, case or turn.
        text: the property that is to hold, in words.
        weight: its share in a weighted mean; a negative weight is a penalty when the property holds.
        levels: integer levels of an ordinal scale, lowest first; ``None`` for yes or no.
        type: what it is about, in the file's words (ADK: ``FINAL_RESPONSE_QUALITY``, ``TOOL_USE_QUALITY``, ...).
        group: the rubric group it came from (agents-cli), if any.
    """

    rubric_id: str
    text: str
    weight: float = 1.0
    levels: tuple[int, ...] | None = None
    _: KW_ONLY
    type: str | None = None
    group: str | None = None

    __repr__ = _repr


@dataclass(frozen=True, slots=True, repr=False)
class Invocation:
    """One user turn: what the user said, the tool calls that followed in order, and the answer.

    Attributes:
        user_text: what the user said.
        tool_calls: the calls in order. ``None``: nothing is said about calls; ``()``: there are none.
        response: the final answer, without thoughts. ``None``: nothing is said about it.
        invocation_id: the file's id of it, ``""`` if it has none.
        intermediate_responses: ``(author, text)`` of what was said before the final answer.
        usage: tokens and model calls, if known.
        duration: seconds, if known.
        rubrics: rubrics of this turn alone.
        error: why the turn failed or could not be read; such a turn is an error, never a 0.
        metadata: what else the file says about it.
    """

    user_text: str = ""
    tool_calls: tuple[ToolCall, ...] | None = None
    response: str | None = None
    _: KW_ONLY
    invocation_id: str = ""
    intermediate_responses: tuple[tuple[str, str], ...] = ()
    usage: Usage | None = None
    duration: float | None = None
    rubrics: tuple[Rubric, ...] = ()
    error: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    __repr__ = _repr


@dataclass(frozen=True, slots=True, repr=False)
class Turn:
    """What was recorded for one user turn, and what would have been acceptable.

    Attributes:
        actual: the recorded run, ``None`` if there is none.
        expected: ``()`` if there is no reference; several are acceptable alternatives.
    """

    actual: Invocation | None = None
    expected: tuple[Invocation, ...] = ()

    __repr__ = _repr


@dataclass(frozen=True, slots=True, repr=False)
class Session:
    """In which session a case runs.

    Attributes:
        app_name: the application.
        user_id: the user.
        state: the initial state. An agent that is run gets a copy of its own, which it may change.
        session_id: names the session of one run; ``""`` where none was run. Never used to pair.
    """

    app_name: str = ""
    user_id: str = ""
    state: Mapping[str, Any] = field(default_factory=dict)
    _: KW_ONLY
    session_id: str = ""

    __repr__ = _repr


@dataclass(frozen=True, slots=True, repr=False)
class Tool:
    """A tool that the agent could call, as declared to it.

    Attributes:
        name: its name.
        description: what the model is told about it.
        parameters: JSON Schema of its arguments, ``None`` if unknown.
        annotations: hints in MCP's words (``readOnlyHint``, ``destructiveHint``, ...); a missing hint is unknown.
        agent: the agent that has it, if the file says so.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    _: KW_ONLY
    agent: str | None = None

    __repr__ = _repr


@dataclass(frozen=True, slots=True, repr=False)
class RecordedScore:
    """A score that a file already holds, given by another system; never mixed with scores of this library.

    Attributes:
        metric: the other system's name of it.
        value: its number, ``None`` if it has none.
        verdict: ``"passed"``, ``"failed"``, ``"not_evaluated"``, ``"informational"``, or ``None`` if it says nothing.
        threshold: the threshold it was held against.
        turn: index of the turn it is about, ``None`` for the whole case.
        rubric_id: the rubric it answers, if it is one verdict of several.
        reason: the other system's explanation.
        parameters: the criterion as recorded.
    """

    metric: str
    value: float | None
    _: KW_ONLY
    verdict: str | None = None
    threshold: float | None = None
    turn: int | None = None
    rubric_id: str | None = None
    reason: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    __repr__ = _repr


@dataclass(frozen=True, slots=True, repr=False)
class Case:
    """One conversation: what an agent did, what was expected of it, or both.

    Attributes:
        case_id: names it within its set.
        turns: its user turns in order.
        set_id: the eval set it belongs to, ``""`` if none.
        set_name: that set's human name.
        trial: which repeat of the case this is, from 0.
        session: application, user and initial state, if the file says so.
        rubrics: rubrics of every turn of it.
        tags: labels to group by.
        recorded: scores that the file already holds.
        tools: the tools the agent had. ``None``: unknown; ``()``: it had none.
        instructions: the agent's instructions, if known.
        context: material the answer was to be based on, if the file has it.
        error: why the case could not be read or run at all; every criterion of it is then an error.
        metadata: every key of the file that has no place above.
        source: ``(path, location in it)``, shown in every error and report.

    >>> Case("greeting", (Turn(Invocation("hi", response="Hello!")),), tags=("smoke",)).turns[0].actual.response
    'Hello!'
    """

    case_id: str
    turns: tuple[Turn, ...]
    _: KW_ONLY
    set_id: str = ""
    set_name: str = ""
    trial: int = 0
    session: Session | None = None
    rubrics: tuple[Rubric, ...] = ()
    tags: tuple[str, ...] = ()
    recorded: tuple[RecordedScore, ...] = ()
    tools: tuple[Tool, ...] | None = None
    instructions: str = ""
    context: str = ""
    error: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    source: tuple[str, str] = ("", "")

    __repr__ = _repr


def cases_of(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Gather the cases that a caller gave.

    Raises:
        TypeError: it is not cases; says what was given, and what to do.

    >>> cases_of("runs.json")
    Traceback (most recent call last):
    TypeError: wanted cases, got str: 'runs.json'; a file is read with read(path)
    """
    read_it = "a file is read with read(path)"
    if isinstance(cases, str | bytes | PathLike):
        raise TypeError(f"wanted cases, got {type(cases).__name__}: {cases!r:.80}; {read_it}")
    if not isinstance(cases, Iterable):
        hint = "put it in a list" if isinstance(cases, Case) else read_it
        raise TypeError(f"wanted cases, got one {type(cases).__name__}; {hint}")
    gathered = tuple(cases)
    for index, item in enumerate(gathered):
        if not isinstance(item, Case):
            raise TypeError(f"wanted cases, got at [{index}] {type(item).__name__}: {item!r:.80}; {read_it}")
    return gathered
