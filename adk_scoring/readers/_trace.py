"""Spans of any tracer, already understood -> cases: conversations of turns.

One case is a session (else a trace); one turn is a trace, or each of the agent's invocations where a trace holds
several. The calls of a turn are those that a model asked for and those that spans show executed, each once: matched by
id, else by name and arguments. They stand in the order of their start, ties in the order of the file.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ..model import Case, Invocation, RecordedScore, Session, Tool, ToolCall, Turn, Usage, parse_args
from ._calls import failure
from ._reading import Reading, the_text
from ._said import Said

__all__ = ["Step", "cases_of"]


@dataclass(slots=True, eq=False)
class Step:
    """One span.

    Attributes:
        kind: ``tool``, ``model``, ``agent``, ``chain`` (something around these), ``skipped`` (looks like a call and is
            none), or ``""``.
        start: nanoseconds; `end` likewise.
        root: whether one user turn starts here.
        name: of the tool, else of the span.
        args: of the tool, `unknown` if they were not recorded.
        asked: the messages that went in; `said` those that came out.
        where: its place in the file.
    """

    span_id: str = ""
    parent_id: str = ""
    trace_id: str = ""
    name: str = ""
    kind: str = ""
    start: int | None = None
    end: int | None = None
    root: bool = False
    session: str = ""
    invocation: str = ""
    agent: str = ""
    app: str = ""
    user: str = ""
    call_id: str | None = None
    args: Any = None
    unknown: bool = False
    result: Any = None
    error: str | None = None
    asked: list[Said] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    usage: Usage | None = None
    tools: tuple[Tool, ...] | None = None
    instructions: str = ""
    tags: tuple[str, ...] = ()
    recorded: tuple[RecordedScore, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)
    where: str = ""
    # Filled when the tree is walked.
    depth: int = 0
    in_tool: bool = False
    in_model: bool = False  # inside a model call that tells what was said
    nested: bool = False  # inside a model call
    by: str = ""
    turn: Step | None = None


def cases_of(steps: Iterable[Step], reading: Reading) -> Iterator[Case]:
    """The cases that spans make, in the order of their first start."""
    traces: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        traces[step.trace_id].append(step)
    cases: dict[tuple[str, str], list[list[Step]]] = defaultdict(list)
    empty = 0
    for trace_id, trace in traces.items():
        _walk(trace)
        if not any(step.kind for step in trace):
            empty += 1
            continue
        trace = _in_order(trace)
        session = min((s for s in trace if s.session), key=lambda s: s.depth, default=None)
        cases[("session", session.session) if session else ("trace", trace_id)].append(trace)
    if empty:
        reading.note(
            f"{empty} trace{'s' if empty != 1 else ''} without a span of an agent, a model or a tool, left out", ""
        )
    ordered = [(name, sorted(parts, key=_start)) for (_, name), parts in cases.items()]
    for name, parts in sorted(ordered, key=lambda each: _start(each[1][0])):
        case_id, where = name or reading.stem, parts[0][0].where

        def build(case_id: str = case_id, parts: list[list[Step]] = parts) -> Case:
            return _case(case_id, parts, reading)

        yield reading.case(build, case_id=case_id, where=where)


def _start(trace: list[Step]) -> int:
    return trace[0].start or 0


def _in_order(trace: list[Step]) -> list[Step]:
    if any(step.start is None for step in trace):
        return trace
    return sorted(trace, key=lambda step: step.start or 0)


def _walk(trace: list[Step]) -> None:
    """Tell each span how deep it lies and what lies around it; a parent that is not there makes a root."""
    by_id = {step.span_id: step for step in trace if step.span_id}
    children: dict[int, list[Step]] = defaultdict(list)
    roots = []
    for step in trace:
        parent = by_id.get(step.parent_id)
        if parent is None or parent is step:
            roots.append(step)
        else:
            children[id(parent)].append(step)
    seen: set[int] = set()
    # Spans that are their own ancestors are reached from none: each then counts as a root.
    for root in [*roots, *trace]:
        if id(root) in seen:
            continue
        seen.add(id(root))
        # A step that stands for its whole trace says how deep it counts.
        root.by, root.turn = root.agent, root if root.root else None
        queue = deque([root])
        while queue:
            step = queue.popleft()
            for child in children[id(step)]:
                if id(child) in seen:
                    continue
                seen.add(id(child))
                child.depth = step.depth + 1
                child.in_tool = step.in_tool or step.kind == "tool"
                # A model call is often traced twice, by the framework and by the client inside it.
                around = step.kind in ("model", "")
                child.nested = around and (step.nested or step.kind == "model")
                child.in_model = around and (step.in_model or (step.kind == "model" and bool(step.said)))
                child.by = child.agent or step.by
                child.turn = step.turn or (child if child.root else None)
                queue.append(child)


def _case(case_id: str, traces: list[list[Step]], reading: Reading) -> Case:
    turns: list[Invocation] = []
    recorded: list[RecordedScore] = []
    steps = [step for trace in traces for step in trace]
    for trace in traces:
        scores = [score for step in trace for score in step.recorded]
        # A score of a trace is one of the case only where the case is that trace.
        recorded += scores if len(traces) == 1 else [replace(score, turn=len(turns)) for score in scores]
        turns += [_turn(turn, reading) for turn in _turns(trace)]
    tools = next((step.tools for step in steps if step.tools is not None), None)
    app = next((step.app for step in steps if step.app), "")
    user = next((step.user for step in steps if step.user), "")
    metadata: dict[str, Any] = {}
    for step in steps:
        metadata |= step.metadata
    return Case(
        case_id,
        tuple([Turn(turn) for turn in turns]),
        session=Session(app, user) if app or user else None,
        tags=tuple(dict.fromkeys(tag for step in steps for tag in step.tags)),
        recorded=tuple(recorded),
        tools=tools,
        instructions=next((step.instructions for step in steps if step.instructions), ""),
        metadata=metadata,
    )


def _turns(trace: list[Step]) -> list[list[Step]]:
    """The spans of each turn: the whole trace, or those of each invocation where there are several."""
    groups: dict[int, list[Step]] = {}
    for step in trace:
        if step.turn is not None:
            groups.setdefault(id(step.turn), []).append(step)
    return list(groups.values()) if len(groups) > 1 else [trace]


def _turn(steps: list[Step], reading: Reading) -> Invocation:
    models = [s for s in steps if s.kind == "model" and not s.in_model]
    outer = [s for s in steps if s.kind in ("agent", "chain") and not s.in_tool]
    answer, source = _answer(outer, models)
    starts = [s.start for s in steps if s.start is not None]
    ends = [s.end for s in steps if s.end is not None]
    failed = next((s.error for s in sorted(outer, key=lambda s: s.depth) if s.error), None)
    if failed is None and answer is None:
        failed = next((s.error for s in reversed(models) if s.error), None)
    said = [(s.by, m.text) for s in models if s is not source for m in s.said if m.text and m.text != answer]
    return Invocation(
        _question(outer, models),
        _calls(steps, models, outer, reading),
        answer,
        invocation_id=next((s.invocation for s in steps if s.invocation), ""),
        intermediate_responses=tuple(said),
        usage=_usage([s for s in steps if s.kind == "model"], outer),
        duration=(max(ends) - min(starts)) / 1e9 if starts and ends and max(ends) > min(starts) else None,
        error=failed if answer is None else None,
    )


def _question(outer: list[Step], models: list[Step]) -> str:
    for step in [*sorted(outer, key=lambda s: s.depth), *models]:
        texts = [message.text for message in step.asked if message.role == "user" and message.text]
        if texts:
            return texts[-1]
    return ""


def _answer(outer: list[Step], models: list[Step]) -> tuple[str | None, Step | None]:
    """The outermost agent's, of several the one that ended last; else what a model said last, best beside no call."""
    given = [(step, text) for step in outer if (text := _last_text(step.said)) is not None]
    if given:
        depth = min(step.depth for step, _ in given)
        level = [each for each in given if each[0].depth == depth]
        step, text = max(reversed(level), key=lambda each: each[0].end or each[0].start or 0)
        return text, step
    told = [(step, text) for step in models if (text := _last_text(step.said)) is not None]
    final = [each for each in told if not any(message.calls for message in each[0].said)]
    for choice in ([each for each in final if not each[0].in_tool], final, told):
        if choice:
            return choice[-1][1], choice[-1][0]
    return None, None


def _last_text(messages: list[Said]) -> str | None:
    texts = [message.text for message in messages if message.text and message.role in ("assistant", "")]
    return texts[-1] if texts else None


def _usage(models: list[Step], outer: list[Step]) -> Usage | None:
    """The tokens of the model calls, one traced twice counted once; else what the outermost agent says of them."""
    asked = [step for step in models if not step.nested]
    known = [step.usage for step in asked if step.usage] or [step.usage for step in models if step.usage]
    if not known:
        known = [step.usage for step in sorted(outer, key=lambda s: s.depth) if step.usage][:1]
        return known[0] if known else (Usage(model_calls=len(asked)) if asked else None)

    def total(name: str) -> int | None:
        counts = [count for usage in known if (count := getattr(usage, name)) is not None]
        return sum(counts) if counts else None

    return Usage(
        input_tokens=total("input_tokens"),
        output_tokens=total("output_tokens"),
        cached_tokens=total("cached_tokens"),
        reasoning_tokens=total("reasoning_tokens"),
        model_calls=len(asked),
    )


@dataclass(slots=True, eq=False)
class _Asked:
    """A call that a model asked for."""

    step: Step
    group: int
    call: dict[str, Any]
    taken: bool = False


def _calls(steps: list[Step], models: list[Step], outer: list[Step], reading: Reading) -> tuple[ToolCall, ...] | None:
    executed = [step for step in steps if step.kind == "tool"]
    skipped = [step for step in steps if step.kind == "skipped"]
    asked = _asked(models or outer)
    if not executed and not skipped and not asked and not outer and not any(step.said for step in models):
        # Lone model calls without their content: whether anything was called is not known.
        return None
    index = _Index(asked)
    for step in skipped:
        index.take(step)
    placed: list[tuple[int | None, ToolCall]] = []
    for step in executed:
        match = index.take(step)
        placed.append((step.start, _built(step, match, reading)))
    for each in asked:
        if not each.taken:
            placed.append((each.step.end or each.step.start, _unexecuted(each, reading)))
    if all(start is not None for start, _ in placed):
        placed.sort(key=lambda item: item[0] or 0)
    return tuple([call for _, call in placed])


def _asked(models: list[Step]) -> list[_Asked]:
    """The calls in the models' answers; an id that comes again is the same call, told again."""
    asked: list[_Asked] = []
    ids: set[str] = set()
    group = 0
    for step in models:
        calls = [call for message in step.said if message.role in ("assistant", "") for call in message.calls]
        new = [call for call in calls if not call["id"] or call["id"] not in ids]
        asked += [_Asked(step, group, call) for call in new]
        ids.update(call["id"] for call in new if call["id"])
        group += bool(new)
    return asked


class _Index:
    """Finds the call that a span executed among those that were asked for."""

    def __init__(self, asked: list[_Asked]) -> None:
        self._ids = {each.call["id"]: each for each in asked if each.call["id"]}
        self._exact: dict[tuple[str, str], deque[_Asked]] = defaultdict(deque)
        self._names: dict[str, deque[_Asked]] = defaultdict(deque)
        for each in asked:
            name = the_text(each.call["name"])
            self._exact[name, _key(parse_args(each.call["args"])[0])].append(each)
            self._names[name].append(each)

    def take(self, step: Step) -> _Asked | None:
        found = self._ids.get(step.call_id or "")
        if found is None or found.taken:
            found = self._next(self._exact[step.name, _key(parse_args(step.args)[0])]) if not step.unknown else None
            if found is None:
                found = self._next(self._names[step.name])
        if found is not None:
            found.taken = True
        return found

    @staticmethod
    def _next(queue: deque[_Asked]) -> _Asked | None:
        while queue and queue[0].taken:
            queue.popleft()
        return queue[0] if queue else None


def _key(args: Any) -> str:
    return json.dumps(args, sort_keys=True, default=str)


def _built(step: Step, match: _Asked | None, reading: Reading) -> ToolCall:
    args, unknown = step.args, step.unknown
    if unknown and match is not None and match.call["args"] is not None:
        args, unknown = match.call["args"], False
    known, problem = (None, None) if unknown else parse_args(args)
    if problem:
        reading.note(f"{problem}; the arguments count as unknown", step.where)
    return ToolCall(
        step.name,
        known,
        call_id=step.call_id or (match.call["id"] if match else None),
        author=step.by or (match.step.by if match else "") or None,
        step=match.group if match else None,
        response=step.result,
        error=step.error or failure(step.result),
        args_error=problem,
    )


def _unexecuted(each: _Asked, reading: Reading) -> ToolCall:
    """A call that no span executes: a transfer, one that was cut off, or tools are not traced."""
    known, problem = parse_args(each.call["args"])
    if problem:
        reading.note(f"{problem}; the arguments count as unknown", each.step.where)
    return ToolCall(
        the_text(each.call["name"]),
        known,
        call_id=each.call["id"],
        author=each.step.by or None,
        step=each.group,
        args_error=problem,
    )
