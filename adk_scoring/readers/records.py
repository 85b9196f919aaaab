r"""This library's own JSON Lines, one case a line -> cases, and back without loss.

The short form of a turn is ``{"user", "calls", "response", "expected_calls", "expected_response"}``: the actual side
is there if ``calls`` or ``response`` says something, the expected side likewise. A side that needs more than that is
written whole under ``actual`` or in the list ``expected`` (several are alternatives). Every other field of the data
model is an optional key under its own name; what has its default is left out. Calls may come in any form that
`ToolCall.of` takes. Numbers that JSON lacks are ``{"$float": "nan"}`` (``inf``, ``-inf``), ``{"$object": {...}}``
protects an object that looks like that, ``"args_unknown": true`` marks arguments that were not recorded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import MatchError, ReadError
from ..model import Case, Invocation, RecordedScore, Rubric, Session, Tool, ToolCall, Turn, Usage
from ._reading import Reading, at, kind_of, show, the_list, the_object

__all__ = ["case_from_record", "case_to_record", "cases", "recognises", "write_jsonl"]

_TAGS = frozenset({"$float", "$object"})
_RENAMED = {"user_text": "user", "tool_calls": "calls"}
_CASE_KEYS = frozenset(f.name for f in fields(Case))
_SIDES = frozenset({"actual", "expected", "expected_calls", "expected_response"})
_TURN_KEYS = _SIDES | {"user", "calls", "response"}


def recognises(document: Any) -> bool:
    """An object with a list of turns, and an id of ours or a first turn with a key of ours."""
    if not isinstance(document, dict) or not isinstance(document.get("turns"), list):
        return False
    first = document["turns"][0] if document["turns"] else None
    return "case_id" in document or (isinstance(first, dict) and bool(first.keys() & _TURN_KEYS))


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """The one case that a record is."""
    named = document.get("case_id") if isinstance(document, dict) else None
    case_id = named if isinstance(named, str) and named else where or reading.stem
    yield reading.case(lambda: _case(document, case_id, reading, where), case_id=case_id, where=where)


def _case(document: Any, case_id: str, reading: Reading, where: str) -> Case:
    record = the_object(document, where)
    rest = reading.rest(record, _CASE_KEYS, where)
    record = {key: value for key, value in record.items() if key not in rest} | {"case_id": case_id}
    if rest:
        metadata = record.get("metadata")
        record["metadata"] = rest | (metadata if isinstance(metadata, dict) else {})
    return case_from_record(record, source=(reading.path, where), where=where)


def write_jsonl(cases: Iterable[Case], path: str | PathLike[str]) -> int:
    """Write cases as JSON Lines; `read` gives them back equal but for `Case.source`.

    Args:
        cases: any iterable; taken one by one.
        path: the file, replaced if it exists.

    Returns:
        How many cases were written.

    Raises:
        ReadError: a case holds something that is no JSON, such as a date.

    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_jsonl([Case("a", (Turn(Invocation("hi", (), "Hello!")),))], os.path.join(folder, "cases.jsonl"))
    1
    """
    written = 0
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        for case in cases:
            file.write(record_to_line(case_to_record(case)) + "\n")
            written += 1
    return written


def record_to_line(record: Mapping[str, Any]) -> str:
    """A record as one line of valid UTF-8 JSON; only a lone surrogate makes it escape everything beyond ASCII."""
    line = json.dumps(record, ensure_ascii=False, allow_nan=False)
    try:
        line.encode()
    except UnicodeEncodeError:
        return json.dumps(record, allow_nan=False)
    return line


def case_to_record(case: Case) -> dict[str, Any]:
    """The JSON object of a case, without its source.

    Raises:
        ReadError: it holds something that is no JSON.

    >>> case_to_record(Case("a", (Turn(Invocation("hi", (ToolCall("find"),))),), trial=1))
    {'case_id': 'a', 'turns': [{'user': 'hi', 'calls': [{'name': 'find', 'args': {}}]}], 'trial': 1}
    """
    record = _changed(case, {"turns", "source"}, f"case {case.case_id!r}")
    head = {"case_id": record.pop("case_id")}
    turns = [_turn_out(turn, f"case {case.case_id!r}, turns[{i}]") for i, turn in enumerate(case.turns)]
    return {**head, "turns": turns, **record}


def case_from_record(record: Mapping[str, Any], *, source: tuple[str, str] = ("", ""), where: str = "") -> Case:
    """The case of a record as `case_to_record` or a person wrote it.

    Args:
        record: the JSON object.
        source: becomes `Case.source`.
        where: the location, for errors.

    Raises:
        ReadError: a key is unknown, or a value has the wrong type.

    >>> case = Case("a", (Turn(Invocation("hi", (ToolCall("f", None),), "x")),), trial=2)
    >>> case_from_record(case_to_record(case)) == case
    True
    """
    record = the_object(dict(record), where)
    if not isinstance(record.get("case_id"), str):
        found = kind_of(record.get("case_id"))
        raise ReadError(f"found {found}, wanted text", location=at(where, "case_id"))
    values = {key: value for key, value in record.items() if key not in ("turns", "source")}
    place = at(where, "turns")
    turns = tuple([_turn_in(each, f"{place}[{i}]") for i, each in enumerate(the_list(record.get("turns"), place))])
    return Case(**_arguments(Case, values, where), turns=turns, source=source)


def _turn_out(turn: Turn, where: str) -> dict[str, Any]:
    actual, expected = turn.actual, turn.expected
    out: dict[str, Any] = {}
    if actual is not None and not _is_said(actual):
        out["actual"] = _invocation_out(actual, where)
    elif actual is not None:
        out = {"user": actual.user_text, **_invocation_out(actual, where)}
    if len(expected) == 1 and _is_plain(expected[0]) and (not out or out.get("user") == expected[0].user_text):
        side = _invocation_out(expected[0], where)
        out.setdefault("user", expected[0].user_text)
        out |= {f"expected_{key}": side[key] for key in ("calls", "response") if key in side}
    elif expected:
        out["expected"] = [_invocation_out(each, where) for each in expected]
    return out


def _is_said(side: Invocation) -> bool:
    """Whether the short form shows that this side is there."""
    return side.tool_calls is not None or side.response is not None


def _is_plain(side: Invocation) -> bool:
    return _is_said(side) and side == Invocation(side.user_text, side.tool_calls, side.response)


def _invocation_out(side: Invocation, where: str) -> dict[str, Any]:
    return {_RENAMED.get(key, key): value for key, value in _changed(side, set(), where).items()}


def _turn_in(item: Any, where: str) -> Turn:
    record = the_object(item, where)
    if not record:
        return Turn()
    shared = {key: value for key, value in record.items() if key not in _SIDES}
    actual: Invocation | None = None
    if record.get("actual") is not None:
        actual = _invocation_in(record["actual"], at(where, "actual"))
    elif any(value is not None for key, value in shared.items() if key != "user"):
        actual = _invocation_in(shared, where)
    alternatives = [
        _invocation_in(each, f"{where}.expected[{i}]")
        for i, each in enumerate(the_list(record.get("expected"), at(where, "expected")))
    ]
    short = {key: record.get(f"expected_{key}") for key in ("calls", "response")}
    if any(value is not None for value in short.values()):
        alternatives.insert(0, _invocation_in(short | {"user": record.get("user")}, where, "expected_"))
    return Turn(actual, tuple(alternatives))


_BACK = {short: long for long, short in _RENAMED.items()}


def _invocation_in(item: Any, where: str, prefix: str = "") -> Invocation:
    record = the_object(item, where)
    values = {_BACK.get(key, key): value for key, value in record.items() if value is not None}
    calls = values.pop("tool_calls", None)
    arguments = _arguments(Invocation, values, where)
    if calls is not None:
        place = at(where, f"{prefix}calls")
        arguments["tool_calls"] = tuple(
            [_call_in(call, f"{place}[{i}]") for i, call in enumerate(the_list(calls, place))]
        )
    return Invocation(**arguments)


def _call_out(call: ToolCall, where: str) -> dict[str, Any]:
    out = _changed(call, {"args"}, where)
    name = out.pop("name")
    args: dict[str, Any] = (
        {"args_unknown": True} if call.args is None else {"args": _json_out(call.args, f"{where}.args")}
    )
    return {"name": name, **args, **out}


def _call_in(item: Any, where: str) -> ToolCall:
    if isinstance(item, dict) and isinstance(item.get("name"), str) and item.keys() <= _CALL_KEYS:
        values = {key: value for key, value in item.items() if key not in ("args", "args_unknown")}
        arguments = _arguments(ToolCall, values, where)
        if item.get("args_unknown") is True:
            return ToolCall(**arguments, args=None)
        args = item.get("args")
        return ToolCall(**arguments, args=_json_in(the_object({} if args is None else args, at(where, "args"))))
    try:
        return ToolCall.of(tuple(item) if isinstance(item, list) else item)
    except MatchError as error:
        raise ReadError(str(error), location=where) from None


_CALL_KEYS = {f.name for f in fields(ToolCall)} | {"args_unknown"}


# --- dataclasses by their fields ---------------------------------------------------------------------------------

_MANY: dict[str, type] = {"rubrics": Rubric, "recorded": RecordedScore, "tools": Tool}
_ONE: dict[str, type] = {"session": Session, "usage": Usage}
# A field of which several types are right, or that is not told by its annotation alone.
_JSON_FIELDS = frozenset({"metadata", "response", "parameters", "annotations", "state"})


def _changed(thing: Any, without: set[str], where: str) -> dict[str, Any]:
    """The fields that differ from their default, as JSON."""
    out: dict[str, Any] = {}
    for f in fields(thing):
        if f.name in without:
            continue
        value = getattr(thing, f.name)
        default = _default(f)
        if default is not MISSING and _same(value, default):
            continue
        place = f"{where}.{f.name}"
        if f.name in _ONE:
            out[f.name] = _changed(value, set(), place)
        elif f.name in _MANY:
            out[f.name] = [_changed(each, set(), f"{place}[{i}]") for i, each in enumerate(value)]
        elif f.name == "tool_calls":
            out[f.name] = [_call_out(call, f"{place}[{i}]") for i, call in enumerate(value)]
        else:
            out[f.name] = _json_out(value, place)
    return out


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _default(f: Field[Any]) -> Any:
    return f.default_factory() if f.default_factory is not MISSING else f.default


def _json_out(value: Any, where: str) -> Any:
    """`value` with what JSON lacks tagged."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, Mapping):
        out = {}
        for key, each in value.items():
            if not isinstance(key, str):
                raise ReadError(f"cannot be written as JSON: the key {show(key)} is no text", location=where)
            out[key] = _json_out(each, f"{where}.{key}")
        return {"$object": out} if len(out) == 1 and _TAGS & out.keys() else out
    if isinstance(value, list | tuple):
        return [_json_out(each, f"{where}[{i}]") for i, each in enumerate(value)]
    raise ReadError(f"cannot be written as JSON: found {kind_of(value)}, convert it first", location=where)


def _json_in(value: Any) -> Any:
    """`value` with its tags resolved; what holds none is not copied."""
    if isinstance(value, dict):
        if len(value) == 1:
            if isinstance(inner := value.get("$object"), dict):
                return {key: _json_in(each) for key, each in inner.items()}
            if value.get("$float") in ("nan", "inf", "-inf"):
                return float(value["$float"])
        changed = {key: new for key, each in value.items() if (new := _json_in(each)) is not each}
        return value | changed if changed else value
    if isinstance(value, list):
        items = [_json_in(each) for each in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


@cache
def _annotations(cls: type) -> dict[str, str]:
    return {f.name: str(f.type) for f in fields(cls)}


@cache
def _required(cls: type) -> dict[str, str]:
    """The fields without a default, but for those that are built elsewhere."""
    return {f.name: str(f.type) for f in fields(cls) if _default(f) is MISSING and f.name != "turns"}


def _arguments(cls: type, values: dict[str, Any], where: str) -> dict[str, Any]:
    """Constructor arguments of `cls` from JSON, each with its type checked."""
    annotations = _annotations(cls)
    out: dict[str, Any] = {}
    for key, value in values.items():
        place = at(where, str(key))
        if key not in annotations:
            raise ReadError(f"unknown key, wanted one of {', '.join(annotations)}", location=place)
        if value is None:
            continue
        if key in _ONE:
            out[key] = _ONE[key](**_arguments(_ONE[key], the_object(value, place), place))
        elif key in _MANY:
            items = [the_object(each, f"{place}[{i}]") for i, each in enumerate(the_list(value, place))]
            out[key] = tuple(
                [_MANY[key](**_arguments(_MANY[key], each, f"{place}[{i}]")) for i, each in enumerate(items)]
            )
        else:
            out[key] = _checked(value, annotations[key], place)
    for name, annotation in _required(cls).items():
        if name not in out:
            if not annotation.endswith(" | None"):
                raise ReadError(f"missing, wanted {_wanted(annotation)}", location=at(where, name))
            out[name] = None
    return out


_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "Mapping[str, Any]": (dict,),
}


def _wanted(annotation: str) -> str:
    names = {"str": "text", "bool": "true or false", "int": "a whole number", "float": "a number"}
    return names.get(annotation.removesuffix(" | None"), "an object")


def _checked(value: Any, annotation: str, where: str) -> Any:
    """A plain value by its annotation; lists become tuples."""
    bare = annotation.removesuffix(" | None")
    if bare != "str":
        value = _json_in(value)
    if bare == "Any":
        return value
    if bare.startswith("tuple["):
        items = the_list(value, where)
        element = str if "str" in bare else int
        pairs = bare.startswith("tuple[tuple")
        made = tuple([tuple(each) if pairs and isinstance(each, list) else each for each in items])
        for i, each in enumerate(made):
            if pairs:
                right = isinstance(each, tuple) and len(each) == 2 and all(isinstance(part, str) for part in each)
            else:
                right = isinstance(each, element) and not isinstance(each, bool)
            if not right:
                wanted = "[author, text]" if pairs else _wanted(element.__name__)
                raise ReadError(f"found {show(each)}, wanted {wanted}", location=f"{where}[{i}]")
        return made
    types = _TYPES[bare]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise ReadError(f"found {kind_of(value)}, wanted {_wanted(bare)}: {show(value)}", location=where)
    return value
