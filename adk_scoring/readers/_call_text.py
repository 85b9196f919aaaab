"""Calls as people type them, ``name(key=value, ...)``, one a line -> calls, each with what is wrong with it.

Values are JSON, Python literals or bare text; line breaks inside quotes and brackets belong to the value, calls may
also be joined by commas. Arguments without a name have no place in a call: they make its arguments unknown.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Any, NamedTuple

from ..errors import ReadError

__all__ = ["Typed", "calls_in_text"]

_BETWEEN = re.compile(r"[\s,;]*")
_NAME = re.compile(r"[^\s(),;=\"'\[\]{}]+")
_OPEN = re.compile(r"[ \t]*\(")
_END_OF_CALL = re.compile(r"[ \t]*(?=[,;\r\n]|$)")
_REST_OF_LINE = re.compile(r"[^\r\n]*")
_KEY = re.compile(r"\s*([^\s(),=\"'\[\]{}]+)\s*=\s*")
_AFTER_VALUE = re.compile(r"\s*([,)])")
_SPACE = re.compile(r"\s*")
_WORDS = {"True": True, "False": False, "None": None}
_STARTS_LITERAL = frozenset("\"'([{")
_LONGEST_LITERAL = 10_000
# A broken call may make the reader look at all that follows; so many of them are no list of calls.
_MOST_BROKEN = 100
_decode = json.JSONDecoder(strict=False).raw_decode  # a line break inside quotes is no error


class Typed(NamedTuple):
    """One typed call: `args` is ``None`` where they could not be read, and `problem` says why."""

    name: str
    args: dict[str, Any] | None
    problem: str | None


def calls_in_text(text: str) -> list[Typed]:
    r"""The calls in a text, in order.

    >>> calls_in_text("get(id=1)\nbook(when='9:00', tags=[\"a\", \"b\"], note=as usual)")[1].args
    {'when': '9:00', 'tags': ['a', 'b'], 'note': 'as usual'}
    >>> calls_in_text("f(1, 2)")
    [Typed(name='f', args=None, problem="the argument '1' has no name")]
    """
    calls = []
    broken = 0
    position = _end(_BETWEEN, text, 0)
    while position < len(text):
        call, position = _call(text, position)
        calls.append(call)
        broken += call.problem is not None
        if broken == _MOST_BROKEN:
            calls.append(Typed("", None, f"{broken} calls could not be read, the rest of the text is left out"))
            break
        position = _end(_BETWEEN, text, position)
    return calls


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


def _call(text: str, start: int) -> tuple[Typed, int]:
    line_end = _end(_REST_OF_LINE, text, start)
    name = _NAME.match(text, start)
    if name is None:
        line = text[start:line_end]
        return Typed(line.strip(), None, f"not a call like name(key=value): {line!r:.60}"), line_end
    opened = _OPEN.match(text, name.end())
    if opened is None:
        if end := _END_OF_CALL.match(text, name.end()):
            return Typed(name[0], {}, None), end.end()
        line = text[start:line_end].strip()
        return Typed(line, None, f"not a call like name(key=value): {line!r:.60}"), line_end
    try:
        args, end_of_args = _arguments(text, opened.end())
    except ReadError as error:
        return Typed(name[0], None, error.message), max(line_end, opened.end())
    return Typed(name[0], args, None), end_of_args


def _arguments(text: str, position: int) -> tuple[dict[str, Any], int]:
    args: dict[str, Any] = {}
    while True:
        position = _end(_SPACE, text, position)
        if text.startswith(")", position):
            return args, position + 1
        key = _KEY.match(text, position)
        if key is None:
            found = text[position : position + 60]
            raise ReadError(f"the argument {found[: _end_of_value(found, 0)].strip()!r} has no name")
        args[key[1]], position = _value(text, key.end())
        after = _AFTER_VALUE.match(text, position)
        if after is None:
            raise ReadError("the bracket after the arguments is not closed")
        if after[1] == ")":
            return args, after.end()
        position = after.end()


def _value(text: str, start: int) -> tuple[Any, int]:
    """A value as JSON, else as a Python literal, else as the text that it is."""
    try:
        value, end = _decode(text, start)
        if _AFTER_VALUE.match(text, end):
            return value, end
    except (ValueError, RecursionError):
        pass
    end = _end_of_value(text, start)
    raw = text[start:end].strip()
    if raw in _WORDS:
        return _WORDS[raw], end
    if raw[:1] in _STARTS_LITERAL and len(raw) <= _LONGEST_LITERAL:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # an odd backslash in a text is no concern of the reader's
                return json.loads(json.dumps(ast.literal_eval(raw))), end
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            pass
    quoted = len(raw) > 1 and raw[0] == raw[-1] and raw[0] in "\"'"
    return raw[1:-1] if quoted else raw, end


def _end_of_value(text: str, start: int) -> int:
    """Where a value ends: at a comma or bracket outside quotes and brackets.

    A quote opens a text only at the start of a value or of something inside its brackets: ``It's`` has none.
    """
    depth = 0
    position = start
    before = ","
    while position < len(text):
        char = text[position]
        if char in "\"'" and before in ",([{:=":
            closing = _closing_quote(text, position)
            if closing is not None:
                position = closing
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            if depth == 0:
                return position
            depth -= 1
        elif char == "," and depth == 0:
            return position
        if not char.isspace():
            before = char
        position += 1
    return position


def _closing_quote(text: str, start: int) -> int | None:
    position = start + 1
    while position < len(text):
        if text[position] == "\\":
            position += 1
        elif text[position] == text[start]:
            return position
        position += 1
    return None
