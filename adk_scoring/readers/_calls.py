"""Calls and the answers to them, as events or lists give them -> tool calls with their answers attached."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import ReadError
from ..model import ToolCall, parse_args
from ._reading import Reading, get, json_text, kind_of, show, the_text

__all__ = ["CallLog", "failure"]

_NAME_KEYS = ("name", "tool_name", "toolName")
_ARGS_KEYS = ("args", "arguments", "tool_input", "toolInput", "input")
_ID_KEYS = ("id", "call_id", "callId")


class CallLog:
    """Collects the calls of one turn in order and attaches answers: by id where there are ids, else by order of name.

    >>> log = CallLog(Reading("run.json"))
    >>> log.call({"name": "find", "args": {"q": "tea"}}, where="events[1]")
    >>> log.answer({"name": "find", "response": {"error": "no such shop"}})
    True
    >>> log.calls()[0].error
    'no such shop'
    """

    __slots__ = ("_answered", "_by_id", "_calls", "_indexed", "_reading")

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._calls: list[ToolCall] = []
        self._answered: set[int] = set()
        # Filled when the first answer comes: most logs of expected calls never get one.
        self._by_id: dict[str, list[int]] = {}
        self._indexed = 0

    def __len__(self) -> int:
        return len(self._calls)

    def call(self, item: Any, *, author: str | None = None, step: int | None = None, where: str) -> None:
        """Add a call: an object in any usual spelling, or a bare name.

        Raises:
            ReadError: it is neither.
        """
        problem = None
        if isinstance(item, dict):
            # The usual spelling first: this is the innermost loop of reading.
            name, args, call_id = item.get("name"), item.get("args"), item.get("id")
            if name is None:
                name = _first(item, _NAME_KEYS)
                if name is None:
                    self._reading.note("a call without a name, kept under the name ''", where)
            if not isinstance(args, dict):
                args, problem = parse_args(_first(item, _ARGS_KEYS))
                if problem:
                    self._reading.note("arguments that are no JSON object, counted as unknown", where)
            if call_id is None:
                call_id = _first(item, _ID_KEYS)
        elif isinstance(item, str):
            name, args, call_id = item, {}, None
            self._reading.note("a call that is a bare name, read as a call without arguments", where)
        else:
            raise ReadError(
                f"found {kind_of(item)}, wanted a call like {{'name', 'args'}}: {show(item)}", location=where
            )
        self._calls.append(
            ToolCall(
                name if isinstance(name, str) else the_text(name),
                args,
                call_id=the_text(call_id) or None,
                author=author,
                step=step,
                args_error=problem,
            )
        )

    def answer(self, item: Any, *, by_name: bool = True) -> bool:
        """Attach a function response ``{"id", "name", "response"}``; false if there is no call that it answers.

        Args:
            item: the response.
            by_name: whether an answer whose id is unknown may go to the first open call of the same name.
        """
        if not isinstance(item, dict):
            return False
        call_id, name = the_text(_first(item, _ID_KEYS)) or None, the_text(_first(item, _NAME_KEYS))
        index = self._open(call_id, name, by_name)
        if index is None:
            return False
        response = next((item[key] for key in ("response", "result", "output") if item.get(key) is not None), None)
        error = the_text(item.get("error")) or failure(response)
        self._answered.add(index)
        self._calls[index] = replace(self._calls[index], response=response, error=error)
        return True

    def _open(self, call_id: str | None, name: str, by_name: bool) -> int | None:
        """The index of the call that an answer belongs to."""
        for index in range(self._indexed, len(self._calls)):
            self._by_id.setdefault(self._calls[index].call_id or "", []).append(index)
        self._indexed = len(self._calls)
        if call_id and (same_id := self._by_id.get(call_id)):
            # A long-running call is answered more than once: the last answer is what it came to.
            return next((index for index in same_id if index not in self._answered), same_id[-1])
        if by_name:
            for index, call in enumerate(self._calls):
                if call.name == name and index not in self._answered and not (call_id and call.call_id):
                    return index
        return None

    def calls(self) -> tuple[ToolCall, ...]:
        """The calls so far, with what answered them."""
        return tuple(self._calls)


def failure(response: Any) -> str | None:
    """The text of a tool's failure, ``None`` if it did not fail.

    A response is a failure if it has an ``error`` that says something, ``isError`` (MCP) or ``"status": "error"``.

    >>> failure({"error": "timeout"}), failure({"status": "error", "message": "no city"}), failure({"error": None})
    ('timeout', 'no city', None)
    """
    if not isinstance(response, dict):
        return None
    error = response.get("error")
    if error:
        return error if isinstance(error, str) else json_text(error)
    status = response.get("status")
    if get(response, "is_error") is True or (isinstance(status, str) and status.lower() == "error"):
        message = get(response, "error_message") or response.get("message")
        return message if isinstance(message, str) else json_text(response)
    return None


def _first(item: dict[str, Any], keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = item.get(key)
        if value is not None:
            return value
    return None
