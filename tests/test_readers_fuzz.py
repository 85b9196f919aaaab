"""Mutated golden files: whatever comes in, only `ReadError` comes out, and cases have a place."""

from __future__ import annotations

import copy
import json
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adk_scoring.errors import ReadError
from adk_scoring.model import Case
from adk_scoring.readers import READERS, read
from adk_scoring.readers.records import case_from_record, case_to_record

DATA = Path(__file__).parent / "data"
FILES = sorted(path for name in READERS for path in (DATA / name).glob("*.*"))
RAW = {path.name: path.read_bytes() for path in FILES}


def documents(path: Path) -> list[Any]:
    """What a golden file holds: one document, or one a line."""
    if path.suffix not in (".json", ".jsonl"):
        return []
    try:
        return [json.loads(path.read_bytes())]
    except ValueError:
        lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    for line in filter(str.strip, lines):
        with suppress(ValueError):
            found.append(json.loads(line))
    return found


PARSED = [document for path in FILES for document in documents(path)]

ODDITIES: list[Any] = [
    None,
    True,
    0,
    -1.5,
    float("nan"),
    10**400,
    "",
    "x",
    "[",
    [],
    [[]],
    [None],
    [{}],
    ["a"],
    [["a"]],
]
ODDITIES += [{}, {"": None}, {"parts": 5}, {"parts": [{}]}, {"name": "f"}, [{"name": {}}], {"text": []}, {"error": 1}]
ODD = st.sampled_from([*ODDITIES, {"events": [{}]}]).map(copy.deepcopy)


def survives(source: Any, **options: Any) -> list[Case]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cases = read(source, **options)
        except ReadError:
            return []
    assert cases
    for case in cases:
        assert isinstance(case.case_id, str)
        assert case.source[0]
        repr(case)
    return cases


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    if isinstance(value, dict):
        found += [place for key in value for place in places(value[key], (*path, key))]
    elif isinstance(value, list):
        found += [place for i, item in enumerate(value) for place in places(item, (*path, i))]
    return found


PLACES = [places(document) for document in PARSED]


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_value_replaced_removed_or_renamed(data: st.DataObject) -> None:
    n = data.draw(st.integers(0, len(PARSED) - 1))
    document = json.loads(json.dumps(PARSED[n]))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(PLACES[n]))
        if not place:
            continue
        inside = document
        try:
            for key in place[:-1]:
                inside = inside[key]
            if isinstance(inside, dict) != isinstance(place[-1], str):
                continue  # an earlier change made an object of a list; keys of JSON are text
            what = data.draw(st.sampled_from(["replace", "remove", "rename"]))
            if what == "remove":
                del inside[place[-1]]
            elif what == "rename" and isinstance(inside, dict):
                inside[data.draw(st.sampled_from(["x", "name", "args", "content", "text"]))] = inside.pop(place[-1])
            else:
                inside[place[-1]] = data.draw(ODD)
        except (KeyError, IndexError, TypeError):
            continue
    for case in survives(document, match_nothing_as_empty=data.draw(st.booleans())):
        assert repr(case_from_record(case_to_record(case), source=case.source)) == repr(case)
    survives(document, format=data.draw(st.sampled_from(list(READERS))))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(RAW)), st.data())
def test_bytes_changed_or_cut(name: str, data: st.DataObject) -> None:
    raw = bytearray(RAW[name])
    for _ in range(data.draw(st.integers(0, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))
    survives(bytes(raw[:cut] if data.draw(st.booleans()) else raw[cut:]))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=60).filter(lambda text: not Path(text.replace("\0", "")).exists()))
def test_noise(source: bytes | str) -> None:
    survives(source)


KEYS = ["eval_cases", "conversation", "eval_id", "eval_set_id", "eval_case_results", "events", "author", "content"]
KEYS += ["parts", "actions", "query", "expected_tool_use", "data", "turns", "case_id", "user", "calls"]


@settings(max_examples=300, deadline=None)
@given(
    st.recursive(
        ODD,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        max_leaves=12,
    )
)
def test_json_made_of_our_keys(document: Any) -> None:
    survives(document)
