"""ADK session exports, ``/run`` arrays and ``/run_sse`` streams -> one recorded case each.

Events become turns by ADK's rules, with these departures: thoughts are dropped and never replace an answer, streamed
pieces are not counted beside the whole, rewound turns and compactions make no turn, the user's question is not lost
to an answer to a confirmation, and the output of a workflow node is the answer where there is no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import ReadError
from ..model import Case, Invocation, Session, Turn
from ._calls import CallLog
from ._genai import Content, UsageSum, log_content
from ._reading import Reading, at, get, json_text, known_keys, number, the_list, the_object, the_text

__all__ = ["cases", "invocations", "recognises"]

_SESSION_KEYS = known_keys("id", "app_name", "user_id", "events")
_EVENT_KEYS = known_keys("invocation_id", "content", "actions", "error_code", "error_message", "partial")


def recognises(document: Any) -> bool:
    """A session (an object with events) or a list of events."""
    if isinstance(document, dict):
        events = document.get("events")
        if not isinstance(events, list | tuple):
            return False
        return any(map(_is_event, events)) if events else get(document, "app_name") is not None
    return isinstance(document, list) and any(map(_is_event, document[:20]))


def _is_event(item: Any) -> bool:
    return isinstance(item, dict) and "author" in item and bool(_EVENT_KEYS & item.keys())


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """The one case that a session or a list of events is."""
    session = document if isinstance(document, dict) else {"events": document}
    case_id = the_text(session.get("id")) or reading.stem
    yield reading.case(lambda: _case(session, case_id, reading, where), case_id=case_id, where=where)


def _case(record: dict[str, Any], case_id: str, reading: Reading, where: str) -> Case:
    turns = invocations(record.get("events"), reading, at(where, "events"))
    if not turns:
        reading.note("a session in which nobody said or did anything", where)
    app_name, user_id = the_text(get(record, "app_name")), the_text(get(record, "user_id"))
    return Case(
        case_id,
        tuple([Turn(turn) for turn in turns]),
        # The state of an export is that at the end, so it is no initial state: it goes to the metadata.
        session=Session(app_name, user_id) if app_name or user_id else None,
        metadata=reading.rest(record, _SESSION_KEYS, where),
    )


def invocations(events: Any, reading: Reading, where: str) -> list[Invocation]:
    """The turns that a session's events make.

    Raises:
        ReadError: `events` is not a list, or an event has the wrong shape.
    """
    turns: dict[str, _Turn] = {}
    current: _Turn | None = None
    seen: dict[str, Any] = {}
    for i, event in _kept(the_list(events, where), reading, where):
        place = f"{where}[{i}]"
        if isinstance(event, ReadError):
            problem = f"an event could not be read: {at(event.location, event.message)}"
            if current is None:
                current = turns.setdefault("", _Turn("", reading))
            current.error = problem
            continue
        event = the_object(event, place)
        content, partial = event.get("content"), _option(event, "partial") is True
        event_id = event.get("id")
        if isinstance(event_id, str) and event_id and not partial:
            # The server sends an event with content and artifacts twice under one id, the second time without content.
            if event_id in seen and content in (None, seen[event_id]):
                continue
            seen[event_id] = content
        is_user = _author(event).lower() == "user"
        key = the_text(get(event, "invocation_id"))
        if not key:
            starts = current is None or (is_user and bool(current.started))
            key = f"#{i}" if starts or current is None else current.key
        current = turns.get(key) or turns.setdefault(key, _Turn(key, reading))
        current.add(event, place, is_user=is_user, partial=partial)
        for answer in current.take_unplaced():
            if not any(turn.log.answer(answer, by_name=False) for turn in reversed(turns.values())):
                reading.note("a function response without a call, left out", place)
    return [turn.invocation() for turn in turns.values() if turn.started]


def _kept(events: Any, reading: Reading, where: str) -> list[tuple[int, Any]]:
    """The events that count: not compactions, not what was rewound."""
    kept: list[tuple[int, Any]] = []
    for i, event in enumerate(events):
        if not isinstance(event, dict):
            kept.append((i, event))
            continue
        target = _option(event, "rewind_before_invocation_id")
        if target:
            start = next((n for n, (_, old) in enumerate(kept) if _invocation_id(old) == target), None)
            if start is None:
                reading.note("a rewind to an unknown invocation, ignored", f"{where}[{i}]")
            else:
                del kept[start:]
        elif _option(event, "compaction") is None:
            kept.append((i, event))
    return kept


def _invocation_id(event: Any) -> Any:
    return get(event, "invocation_id") if isinstance(event, dict) else None


def _option(event: dict[str, Any], key: str) -> Any:
    """A flag of an event, from where the ADK version keeps it: the event, its actions, or (2024) its options."""
    for holder in (event, event.get("actions"), event.get("options")):
        if isinstance(holder, dict):
            found = get(holder, key)
            if found is not None:
                return found
    return None


def _author(event: dict[str, Any]) -> str:
    author = event.get("author")
    if not author and isinstance(event.get("content"), dict):
        author = event["content"].get("role")
    return the_text(author)


class _Turn:
    """One user turn while its events come in."""

    __slots__ = (
        "answer_index",
        "begin",
        "end",
        "error",
        "error_code",
        "key",
        "log",
        "output",
        "pieces",
        "reading",
        "response",
        "said",
        "step",
        "unplaced",
        "usage",
        "user_text",
    )

    def __init__(self, key: str, reading: Reading) -> None:
        self.key, self.reading = key, reading
        self.user_text: str | None = None
        self.log, self.usage, self.step = CallLog(reading), UsageSum(), 0
        self.said: list[tuple[str, str]] = []
        self.pieces: list[str] = []
        self.response: str | None = None
        self.answer_index: int | None = None
        self.output: Any = None
        self.error: str | None = None
        self.error_code: str | None = None
        self.begin: float | None = None
        self.end: float | None = None
        self.unplaced: list[Any] = []

    @property
    def started(self) -> bool:
        """Whether anybody said or did something in it."""
        return bool(
            self.user_text is not None
            or self.response is not None
            or self.error
            or self.said
            or self.pieces
            or len(self.log)
            or self.output is not None
        )

    def add(self, event: dict[str, Any], where: str, *, is_user: bool, partial: bool) -> None:
        stamp = number(event.get("timestamp"))
        if stamp is not None:
            self.begin, self.end = stamp if self.begin is None else self.begin, stamp
        content = event.get("content")
        if partial:
            # Pieces are followed by the whole; calls in pieces are not complete and were not made.
            text = log_content(content, CallLog(self.reading), self.reading, where, author=None, step=0).text
            self.pieces += [text] if text else []
            return
        author = _author(event)
        found = log_content(content, self.log, self.reading, where, author=author or None, step=self.step)
        self.step += found.calls > 0
        self.unplaced = [answer for answer in found.answers if not self.log.answer(answer)]
        if is_user:
            if found.text is not None:
                self.user_text = found.text
            elif content is not None and not found.answers and self.user_text is None:
                self.user_text = ""
            return
        self.usage.add(get(event, "usage_metadata"))
        if found.text:
            self.said.append((author, found.text))
            self.pieces.clear()
        if event.get("output") is not None:
            self.output = event["output"]
        problem = _problem(event)
        if _is_final(event, found, problem) and content is not None and (found.text or not self.response):
            self.response = found.text or ""
            if found.text:
                self.answer_index, self.error = len(self.said) - 1, None
        if problem:
            self.error_code = problem
            self.error = self.error if found.text else problem

    def take_unplaced(self) -> list[Any]:
        """The answers of the last event that belong to no call of this turn."""
        unplaced, self.unplaced = self.unplaced, []
        return unplaced

    def invocation(self) -> Invocation:
        response, said = self.response, self.said
        if self.answer_index is not None:
            said = said[: self.answer_index] + said[self.answer_index + 1 :]
        if not response and self.pieces:
            response = "".join(self.pieces)
        if not response and self.output is not None:
            response = self.output if isinstance(self.output, str) else json_text(self.output)
        duration = None if self.begin is None or self.end is None else self.end - self.begin
        return Invocation(
            self.user_text or "",
            self.log.calls(),
            response,
            invocation_id="" if self.key.startswith("#") else self.key,
            intermediate_responses=tuple(said),
            usage=self.usage.total(),
            duration=duration or None,
            error=self.error,
            metadata={"error_code": self.error_code} if self.error_code and not self.error else {},
        )


def _is_final(event: dict[str, Any], found: Content, problem: str | None) -> bool:
    if _option(event, "skip_summarization") or _option(event, "long_running_tool_ids"):
        return True
    if problem:
        return not found.calls
    return not found.calls and not found.answers and not found.ends_in_code_result


def _problem(event: dict[str, Any]) -> str | None:
    """What an error event says: ADK's ``error_code`` and ``error_message``, or the server's ``{"error": ...}``."""
    code, message = get(event, "error_code"), get(event, "error_message") or event.get("error")
    if code is None and message is None:
        return None
    return ": ".join(the_text(part) for part in (code, message) if part)
