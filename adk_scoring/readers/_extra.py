"""What a foreign format cannot hold of a case: found by reading back what was written, kept under one extra key.

The key is ``"adk_scoring"`` of a case in an eval set or dataset; other tools ignore it. Its object has the fields of
`Case` that the format has no place for, in the form of our records, and ``turns``, one object for each turn::

    {"tags": ["smoke"], "turns": [{"expected": {"calls": [{"optional": true}, {"group": "any order"}]},
                                   "alternatives": [{"user": "...", "calls": [...]}]}]}

``expected`` adds to the turn's first expectation and ``actual`` to its run, ``calls`` call by call; ``null`` is the
field's default. ``alternatives`` are the other acceptable expectations, whole.
"""

from __future__ import annotations

from typing import Any

from ..errors import ReadError
from ..model import Case, Invocation, Turn
from ._reading import at, the_list, the_object
from .records import case_from_record, case_to_record

__all__ = ["KEY", "extended", "extra_of", "long_record"]

KEY = "adk_scoring"

_STALE = "the case was edited beside this key, adapt or remove it"

_Record = dict[str, Any]


def long_record(case: Case) -> _Record:
    """The record of a case with both sides of every turn written whole: ``{"actual": {} or None, "expected": []}``."""
    record = case_to_record(case)
    record["turns"] = [
        {"actual": turn.actual and _side(turn.actual), "expected": [_side(each) for each in turn.expected]}
        for turn in case.turns
    ]
    return record


def _side(side: Invocation) -> _Record:
    (turn,) = case_to_record(Case("", (Turn(side),)))["turns"]
    whole: _Record = turn.get("actual", turn)
    return whole


def extra_of(wanted: Case, native: Case) -> _Record:
    """What `native`, as read back from the format, lacks of `wanted`; both have the same turns."""
    ours, theirs = long_record(wanted), long_record(native)
    turns = [_turn_extra(*pair) for pair in zip(ours.pop("turns"), theirs.pop("turns"), strict=True)]
    extra = _difference(ours, theirs)
    return extra | {"turns": turns} if any(turns) else extra


def _turn_extra(wanted: _Record, native: _Record) -> _Record:
    extra: _Record = {}
    pairs: dict[str, tuple[_Record | None, _Record | None]] = {
        "actual": (wanted["actual"], native["actual"]),
        "expected": (next(iter(wanted["expected"]), None), next(iter(native["expected"]), None)),
    }
    for key, (ours, theirs) in pairs.items():
        if ours is None and theirs is not None:
            extra[key] = None
        elif ours is not None and ours != theirs:
            extra[key] = _side_extra(ours, theirs or {})
    if wanted["expected"][1:]:
        extra["alternatives"] = wanted["expected"][1:]
    return extra


def _side_extra(wanted: _Record, native: _Record) -> _Record:
    extra = _difference(wanted, native)
    ours, theirs = wanted.get("calls"), native.get("calls")
    if "calls" in extra and ours is not None and theirs is not None and len(ours) == len(theirs):
        extra["calls"] = [_difference(*pair) for pair in zip(ours, theirs, strict=True)]
    return extra


def _difference(wanted: _Record, native: _Record) -> _Record:
    keys = [*wanted, *(key for key in native if key not in wanted)]
    return {key: wanted.get(key) for key in keys if wanted.get(key) != native.get(key)}


def extended(case: Case, extra: Any, where: str) -> Case:
    """Add what stands under the extra key to the case that the format gave.

    Raises:
        ReadError: it does not fit the case.
    """
    if extra is None:
        return case
    added = the_object(extra, where)
    record = long_record(case)
    place = at(where, "turns")
    turns = the_list(added.get("turns"), place)
    if len(turns) > len(case.turns):
        raise ReadError(f"{len(turns)} entries for {len(case.turns)} turns; {_STALE}", location=place)
    for i, (turn, more) in enumerate(zip(record["turns"], turns, strict=False)):
        _extend_turn(turn, the_object(more, f"{place}[{i}]"), f"{place}[{i}]")
    return case_from_record(record | added | {"turns": record["turns"]}, source=case.source, where=where)


def _extend_turn(turn: _Record, added: _Record, where: str) -> None:
    if "actual" in added:
        turn["actual"] = _extended_side(turn["actual"], added["actual"], at(where, "actual"))
    first, *_ = turn["expected"] or [None]
    if "expected" in added:
        first = _extended_side(first, added["expected"], at(where, "expected"))
    alternatives = the_list(added.get("alternatives"), at(where, "alternatives"))
    turn["expected"] = [*([] if first is None else [first]), *alternatives]


def _extended_side(side: _Record | None, added: Any, where: str) -> _Record | None:
    if added is None:
        return None
    whole: _Record = (side or {}) | the_object(added, where)
    calls, more = (side or {}).get("calls"), whole.get("calls")
    if not calls or more is None or more is calls:
        return whole
    place = at(where, "calls")
    items = [the_object(each, f"{place}[{i}]") for i, each in enumerate(the_list(more, place))]
    if len(items) == len(calls):
        whole["calls"] = [call | item for call, item in zip(calls, items, strict=True)]
    elif not all("name" in item for item in items):
        raise ReadError(f"{len(items)} entries for {len(calls)} calls; {_STALE}", location=place)
    return whole
