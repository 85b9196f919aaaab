"""Our own JSON Lines: what is written is read back equal, and people may write it by hand."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_scoring.errors import ReadError, ReadWarning
from adk_scoring.model import Case, Invocation, RecordedScore, Rubric, Session, Tool, ToolCall, Turn, Usage
from adk_scoring.readers import read
from adk_scoring.readers.records import case_from_record, case_to_record, record_to_line, write_jsonl

DATA = Path(__file__).parent / "data"

TEXT = st.text(max_size=5)
MAYBE_TEXT = st.none() | TEXT
FLOATS = st.floats(allow_nan=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXT | st.sampled_from(["$float", "$object"]), inner, max_size=3)
    ),
    max_leaves=5,
)
OBJECT = st.dictionaries(TEXT | st.sampled_from(["$float", "$object"]), JSON, max_size=2)
COUNT = st.none() | st.integers(0, 10**6)
CALL = st.builds(
    ToolCall,
    TEXT,
    st.none() | OBJECT,
    call_id=MAYBE_TEXT,
    author=MAYBE_TEXT,
    step=COUNT,
    response=JSON,
    error=MAYBE_TEXT,
    args_error=MAYBE_TEXT,
    optional=st.booleans(),
    group=MAYBE_TEXT,
)
RUBRIC = st.builds(
    Rubric,
    TEXT,
    TEXT,
    FLOATS,
    st.none() | st.lists(st.integers(0, 5), max_size=3).map(tuple),
    type=MAYBE_TEXT,
    group=MAYBE_TEXT,
)
RUBRICS = st.lists(RUBRIC, max_size=2).map(tuple)
USAGE = st.builds(
    Usage, input_tokens=COUNT, output_tokens=COUNT, cached_tokens=COUNT, reasoning_tokens=COUNT, model_calls=COUNT
)
INVOCATION = st.builds(
    Invocation,
    TEXT,
    st.none() | st.lists(CALL, max_size=2).map(tuple),
    MAYBE_TEXT,
    invocation_id=st.just("") | TEXT,
    intermediate_responses=st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple),
    usage=st.none() | USAGE,
    duration=st.none() | FLOATS,
    rubrics=st.just(()) | RUBRICS,
    error=MAYBE_TEXT,
    metadata=st.just({}) | OBJECT,
)
PLAIN = st.builds(Invocation, st.sampled_from(["q", ""]), st.none() | st.lists(CALL, max_size=2).map(tuple), MAYBE_TEXT)
SIDE = PLAIN | INVOCATION
TURN = st.builds(Turn, st.none() | SIDE, st.lists(SIDE, max_size=2).map(tuple))
RECORDED = st.builds(
    RecordedScore,
    TEXT,
    st.none() | FLOATS,
    verdict=MAYBE_TEXT,
    threshold=st.none() | FLOATS,
    turn=COUNT,
    rubric_id=MAYBE_TEXT,
    reason=TEXT,
    parameters=OBJECT,
)
CASE = st.builds(
    Case,
    TEXT,
    st.lists(TURN, max_size=3).map(tuple),
    set_id=TEXT,
    set_name=TEXT,
    trial=st.integers(0, 3),
    session=st.none() | st.builds(Session, TEXT, TEXT, OBJECT),
    rubrics=RUBRICS,
    tags=st.lists(TEXT, max_size=2).map(tuple),
    recorded=st.lists(RECORDED, max_size=2).map(tuple),
    tools=st.none()
    | st.lists(st.builds(Tool, TEXT, TEXT, st.none() | OBJECT, OBJECT, agent=MAYBE_TEXT), max_size=2).map(tuple),
    instructions=TEXT,
    context=TEXT,
    error=MAYBE_TEXT,
    metadata=OBJECT,
    source=st.just(("file", "place")),
)


@settings(max_examples=200, deadline=None)
@given(CASE)
def test_a_round_trip_loses_nothing_but_the_source(case: Case) -> None:
    line = record_to_line(case_to_record(case))
    back = case_from_record(json.loads(line))
    assert back == replace(case, source=("", ""))
    assert repr(back) == repr(replace(case, source=("", "")))


@settings(max_examples=20, deadline=None)
@given(st.lists(CASE, min_size=2, max_size=4, unique_by=lambda case: case.case_id))
def test_write_and_read(tmp_path_factory: pytest.TempPathFactory, cases: list[Case]) -> None:
    cases = [replace(case, case_id=f"c{i}{case.case_id}", source=("", "")) for i, case in enumerate(cases)]
    path = tmp_path_factory.mktemp("cases") / "cases.jsonl"
    assert write_jsonl(cases, path) == len(cases)
    assert [replace(case, source=("", "")) for case in read(path, format="records")] == cases


FULL = Case(
    "a",
    (
        Turn(
            Invocation(
                "hi",
                (
                    ToolCall(
                        "f",
                        {"x": 1},
                        call_id="c",
                        author="root",
                        step=0,
                        response=[1],
                        error="e",
                        args_error="none",
                        optional=True,
                        group="g",
                    ),
                ),
                "x",
                invocation_id="i",
                intermediate_responses=(("root", "hm"),),
                usage=Usage(input_tokens=1, output_tokens=2, cached_tokens=3, reasoning_tokens=4, model_calls=5),
                duration=0.5,
                rubrics=(Rubric("r", "good?", 2.0, (0, 1), type="t", group="g"),),
                error="down",
                metadata={"k": None},
            ),
            (Invocation("ho"),),
        ),
    ),
    set_id="s",
    set_name="S",
    trial=1,
    session=Session("app", "u", {"n": 1}, session_id="s1"),
    rubrics=(Rubric("r", "kind?"),),
    tags=("t",),
    recorded=(
        RecordedScore(
            "m", 1.0, verdict="passed", threshold=0.5, turn=0, rubric_id="r", reason="so", parameters={"p": 1}
        ),
    ),
    tools=(Tool("f", "does f", {"type": "object"}, {"readOnlyHint": True}, agent="root"),),
    instructions="be nice",
    context="the manual",
    error="late",
    metadata={"k": 1},
)


def test_every_field_of_the_model_makes_the_round_trip() -> None:
    def unset(thing: object) -> list[str]:
        return [f.name for f in fields(thing) if getattr(thing, f.name) == f.default and f.name != "source"]  # type: ignore[arg-type]

    side = FULL.turns[0].actual
    assert side is not None
    assert side.tool_calls is not None
    assert FULL.session is not None
    for thing in (FULL, side, side.tool_calls[0], side.usage, side.rubrics[0], FULL.session, *(FULL.tools or ())):
        assert unset(thing) == [], "set the new field in FULL"
    assert unset(FULL.recorded[0]) == [], "set the new field in FULL"
    assert case_from_record(json.loads(record_to_line(case_to_record(FULL)))) == FULL


def test_numbers_that_json_lacks() -> None:
    args = {"a": math.nan, "b": [math.inf, {"c": -math.inf}], "d": {"$float": "nan"}, "e": {"$object": {}}}
    case = Case("a", (Turn(Invocation("", (ToolCall("f", args),))),), recorded=(RecordedScore("m", math.nan),))
    line = record_to_line(case_to_record(case))
    json.loads(line, parse_constant=pytest.fail)
    back = case_from_record(json.loads(line))
    assert repr(back) == repr(case)


def test_lone_surrogates_are_escaped(tmp_path: Path) -> None:
    cut = "\ud83d"
    cases = [Case("a", (Turn(Invocation(cut, (), "x")),)), Case("b", (Turn(Invocation("日本", (), "x")),))]
    write_jsonl(cases, tmp_path / "cases.jsonl")
    raw = (tmp_path / "cases.jsonl").read_bytes().decode()
    assert "\\ud83d" in raw
    assert "日本" in raw
    assert [case.turns for case in read(tmp_path / "cases.jsonl")] == [case.turns for case in cases]


def test_what_is_no_json_is_refused_with_its_place(tmp_path: Path) -> None:
    case = Case("a", (Turn(Invocation("", (ToolCall("f", {"when": [date(2024, 1, 1)]}),))),))
    with pytest.raises(ReadError, match=r"case 'a', turns\[0\].tool_calls\[0\].args.when\[0\].*a Python date, convert"):
        write_jsonl([case], tmp_path / "cases.jsonl")
    with pytest.raises(ReadError, match="the key 5 is no text"):
        case_to_record(Case("a", (), metadata={5: 1}))  # type: ignore[dict-item]


def test_the_short_form_is_written_where_it_says_all() -> None:
    actual, expected = Invocation("hi", (ToolCall("f"),), "x"), Invocation("hi", (), "y")
    record = case_to_record(Case("a", (Turn(actual, (expected,)), Turn(None, (expected,)), Turn(), Turn(Invocation()))))
    assert record["turns"] == [
        {
            "user": "hi",
            "calls": [{"name": "f", "args": {}}],
            "response": "x",
            "expected_calls": [],
            "expected_response": "y",
        },
        {"user": "hi", "expected_calls": [], "expected_response": "y"},
        {},
        {"actual": {}},
    ]


def test_the_golden_file() -> None:
    path = DATA / "records/cases.jsonl"
    first, second, third, last = read(path)
    assert (first.case_id, first.trial, first.source) == ("paris", 0, (str(path), "line 1"))
    (turn,) = first.turns
    paris = ToolCall("get_weather", {"city": "Paris"})
    assert turn.actual == Invocation(
        "Weather in Paris?", (paris, ToolCall("log"), ToolCall("unseen", None)), "It is 20C."
    )
    assert turn.expected == (Invocation("Weather in Paris?", (paris,), "20C"),)
    assert (second.trial, second.metadata, second.turns[0].expected) == (1, {"team": "blue"}, ())
    assert (third.set_id, third.tags, third.source[1]) == ("s", ("hard",), "line 4")
    assert third.turns[0].actual == Invocation("Hi", ())
    assert [each.response for each in third.turns[0].expected] == ["Hello", "Good day"]
    assert last.case_id == "not_a_number"
    assert last.turns[0].actual is not None
    (call,) = last.turns[0].actual.tool_calls or ()
    assert call.args is not None
    assert math.isnan(call.args["x"])
    assert call.args["y"] == {"$float": "nan"}


def test_expectations_nobody_reads_are_named() -> None:
    lines = ['{"case_id": "a", "turns": []}', '{"case_id": "b", "turns": [], "expected_tools": 1}']
    with pytest.warns(ReadWarning, match="'expected_tools' in line 2"):
        _, case = read("\n".join(lines))
    assert case.metadata == {"expected_tools": 1}


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ({"case_id": 5, "turns": []}, "case_id: found a number, wanted text"),
        ({"turns": []}, "case_id: found null, wanted text"),
        ({"case_id": "a", "turns": {}}, "turns: found an object, wanted a list"),
        ({"case_id": "a", "turns": [5]}, r"turns\[0\]: found a number, wanted an object"),
        ({"case_id": "a", "turns": [{"usr": 5}]}, r"turns\[0\].usr: unknown key, wanted one of user_text"),
        ({"case_id": "a", "turns": [{"user": 5, "calls": []}]}, "found a number, wanted text"),
        ({"case_id": "a", "turns": [{"calls": [5]}]}, r"turns\[0\].calls\[0\]: a tool call is"),
        ({"case_id": "a", "turns": [{"expected_calls": [{}]}]}, r"turns\[0\].expected_calls\[0\]: no tool name"),
        ({"case_id": "a", "turns": [{"calls": [{"name": "f", "args": []}]}]}, "args: found a list, wanted an object"),
        (
            {"case_id": "a", "turns": [{"calls": [{"name": "f", "step": True}]}]},
            "step: found true or false, wanted a whole",
        ),
        ({"case_id": "a", "trial": "x"}, "trial: found text, wanted a whole number"),
        ({"case_id": "a", "tags": "x"}, "tags: found text, wanted a list"),
        ({"case_id": "a", "tags": [1]}, r"tags\[0\]: found 1, wanted text"),
        ({"case_id": "a", "rubrics": [{"rubric_id": "r"}]}, r"rubrics\[0\].text: missing, wanted text"),
        ({"case_id": "a", "rubrics": [{"rubric_id": "r", "text": "t", "levels": ["x"]}]}, r"levels\[0\]: found 'x'"),
        ({"case_id": "a", "recorded": [{"value": 1}]}, "metric: missing"),
        ({"case_id": "a", "session": 5}, "session: found a number, wanted an object"),
        ({"case_id": "a", "wrong": 5}, "wrong: unknown key"),
        (
            {"case_id": "a", "turns": [{"actual": {"intermediate_responses": [["a"]]}}]},
            r"intermediate_responses\[0\]: found \('a',\), wanted \[author, text\]",
        ),
    ],
)
def test_broken_records(record: dict[str, Any], says: str) -> None:
    with pytest.raises(ReadError, match=says):
        case_from_record(record)


def test_a_score_without_a_value_and_nulls_from_a_table() -> None:
    record = {"case_id": "a", "recorded": [{"metric": "m"}], "turns": [{"user": "x", "calls": None, "response": "y"}]}
    case = case_from_record(record, source=("f", "line 1"))
    assert case.recorded == (RecordedScore("m", None),)
    assert (case.turns[0].actual, case.source) == (Invocation("x", None, "y"), ("f", "line 1"))
    assert case_from_record({"case_id": "a", "turns": [{"user": "x", "calls": None}]}).turns == (Turn(),)
