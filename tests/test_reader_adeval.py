"""ADEval experiments, its two tables, and calls as people type them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_scoring.errors import ReadError, ReadWarning
from adk_scoring.model import Case, Invocation, RecordedScore, Session, ToolCall, Turn, Usage
from adk_scoring.readers import iter_cases, read
from adk_scoring.readers._call_text import Typed, calls_in_text

DATA = Path(__file__).parent / "data/adeval"


def run(case: Case) -> Invocation:
    (turn,) = case.turns
    assert turn.actual is not None
    return turn.actual


def wanted(case: Case) -> Invocation:
    (turn,) = case.turns
    (side,) = turn.expected
    return side


def case_of(**test: Any) -> Case:
    (case,) = read({"testCases": [{"q": "Hi", **test}]})
    return case


class TestExperiment:
    def test_the_first_case_whole(self) -> None:
        path = DATA / "experiment.json"
        with pytest.warns(ReadWarning):
            case, *_ = read(path)
        question = "Move my leave to Friday"
        update = {"id": 1, "day": "2026-08-21", "notify": ["hr", "me"]}
        assert case == Case(
            question,
            (
                Turn(
                    Invocation(
                        question,
                        (
                            ToolCall(
                                "get_leave", {"id": 1}, call_id="c1", author="hr", step=0, response={"day": "Thursday"}
                            ),
                            ToolCall("update_leave", update, call_id="c2", author="hr", step=1),
                        ),
                        "It is moved.",
                        usage=Usage(input_tokens=5, model_calls=1),
                    ),
                    (
                        Invocation(
                            question, (ToolCall("get_leave", {"id": 1}), ToolCall("update_leave", update)), "moved"
                        ),
                    ),
                ),
            ),
            set_id="exp_1a2b3c4d5",
            set_name="leave",
            session=Session("hr", "eval-user", {"user": "kim"}),
            recorded=(
                RecordedScore("status", 1.0, verdict="passed"),
                RecordedScore("judgeScore", 98, reason="Clear."),
                RecordedScore("answerScore", 0, reason="Wrong day."),
            ),
            metadata={"apiUrl": "http://localhost:8000"},
            source=(str(path), "testCases[0]"),
        )

    def test_what_is_told_apart(self) -> None:
        with pytest.warns(ReadWarning) as caught:
            _, joke, down, not_run, unknown, nameless = read(DATA / "experiment.json")
        # ADEval took a call out of prose: what it counted stays, and is named.
        assert run(joke).tool_calls == (ToolCall("search", {"q": "joke"}),)
        assert wanted(joke) == Invocation("Tell a joke", ())
        assert run(down) == Invocation("Is it down?", error="the request failed: API Error 503: busy")
        assert wanted(down).tool_calls == ()
        assert not_run.turns[0].actual is None
        assert wanted(not_run).tool_calls == (
            ToolCall("a", None, args_error="the argument '1' has no name"),
            ToolCall("b", {}),
            ToolCall("c", None, args_error="the bracket after the arguments is not closed"),
        )
        assert (run(unknown).tool_calls, wanted(unknown).tool_calls) == (None, ())
        assert nameless.error == "testCases[5].q: a test case without a question"
        messages = " ".join(str(warning.message) for warning in caught)
        assert "holds other calls than 'rawResponse'" in messages
        assert "a session state that is no JSON object" in messages
        assert "could not be read, they count as unknown: testCases[3].expectedTools and 1 more" in messages

    @pytest.mark.parametrize("text", ["None", "none", "N/A", "-", "", " \n"])
    def test_no_expected_tools_are_an_expectation_of_none(self, text: str) -> None:
        assert wanted(case_of(expectedTools=text)).tool_calls == ()

    def test_nothing_said_about_tools(self) -> None:
        assert wanted(case_of()) == Invocation("Hi", None, None)
        assert wanted(case_of(expectedAnswer="x")) == Invocation("Hi", None, "x")
        assert case_of(actualAnswer="x").turns[0].expected == ()
        with pytest.warns(ReadWarning, match="'Error' as expected tools"):
            assert wanted(case_of(expectedTools="Error")).tool_calls is None

    @pytest.mark.parametrize(
        ("tools", "calls"),
        [
            ("None", ()),
            ("none", ()),
            ("", ()),
            ("N/A", None),
            ("-", None),
            (["f(a=1)", "g"], (ToolCall("f", {"a": 1}), ToolCall("g"))),
        ],
    )
    def test_recorded_tools(self, tools: Any, calls: Any) -> None:
        assert run(case_of(actualTools=tools, actualAnswer="x")).tool_calls == calls

    def test_a_failed_request_without_a_reason(self) -> None:
        assert run(case_of(actualTools="Error")).error == "the request failed: no reason was recorded"

    def test_none_among_calls_is_no_call(self) -> None:
        assert wanted(case_of(expectedTools="None\na()")).tool_calls == (ToolCall("a"),)

    def test_raw_events_that_cannot_be_read_do_not_matter(self) -> None:
        with pytest.warns(ReadWarning, match="rawResponse"):
            assert run(case_of(actualTools="f()", rawResponse=[{"content": 5}])).tool_calls == (ToolCall("f"),)

    @pytest.mark.parametrize("state", ["[1]", "{", 5, [1]])
    def test_a_state_that_is_no_object(self, state: Any) -> None:
        with pytest.warns(ReadWarning, match="state"):
            assert case_of(state=state, appName="a").session == Session("a")

    @pytest.mark.parametrize("state", ["{}", "", None, {}])
    def test_no_state(self, state: Any) -> None:
        assert case_of(state=state).session is None

    def test_a_state_that_is_an_object_already(self) -> None:
        assert case_of(state={"a": 1}).session == Session(state={"a": 1})

    def test_unknown_keys_are_kept(self) -> None:
        with pytest.warns(ReadWarning, match="'expectedKeywords'"):
            assert case_of(expectedKeywords=["a"]).metadata == {"expectedKeywords": ["a"]}

    def test_one_broken_case_leaves_the_others(self) -> None:
        first, broken, last = read({"testCases": [{"q": "a"}, 5, {"q": "b"}]})
        assert [first.case_id, last.case_id] == ["a", "b"]
        assert broken.error == "testCases[1]: found a number, wanted an object: 5"


class TestTables:
    def test_the_command_lines_table(self) -> None:
        path = DATA / "cli.csv"
        leave, joke, down, not_run = read(path)
        calls = (ToolCall("get_leave", {"id": 1}),)
        assert run(leave) == Invocation("Where is my leave?", calls, "It is 12.")
        assert wanted(leave) == Invocation("Where is my leave?", (*calls, ToolCall("notify", {"to": "hr"})), "12")
        assert leave.recorded == (
            RecordedScore("status", 0.0, verdict="failed"),
            RecordedScore("judgeScore", 80.0, reason="Fine"),
        )
        assert (leave.session, leave.set_id, leave.source) == (Session("hr"), "cli", (str(path), "line 2"))
        assert (run(joke).tool_calls, wanted(joke).tool_calls) == ((), ())
        assert run(down).error == "the request failed: Request Timeout"
        assert down.recorded[1] == RecordedScore("judgeScore", None, reason="high")
        assert not_run.turns == (Turn(None, (Invocation("Not run", (ToolCall("get_a"), ToolCall("get_b"))),)),)
        assert (not_run.recorded, not_run.source[1]) == ((), "line 6")

    def test_the_pages_table_by_name_and_by_position(self) -> None:
        by_name = read(DATA / "ui.csv")
        (case,) = by_name
        assert case.session == Session("hr", state={"user": "kim"})
        assert case.recorded[1] == RecordedScore("judgeScore", 80.0, reason="Fine")
        content = (DATA / "ui.csv").read_text()
        head, rest = content.split("\n", 1)
        translated = ",".join(f"列{i}" for i in range(10)) + "\n" + rest
        with pytest.raises(ReadError, match="not a supported evaluation file"):
            read(translated)
        (by_position,) = read(translated, format="adeval")
        assert (by_position.turns, by_position.recorded, by_position.session) == (
            case.turns,
            case.recorded,
            case.session,
        )
        assert len(head.split(",")) == 10

    def test_broken_rows_leave_the_others(self) -> None:
        head = b"Question,Expected Tools,App Name\n"
        rows = b'a,f(),x\nb,f(),x,too,many\nc\xff,f(),x\n"d"e,f(),x\n,f(),x\n\n ,\ng,f()\nh,"f()'
        cases = read(head + rows)
        assert [case.source[1] for case in cases] == [f"line {n}" for n in (2, 3, 4, 5, 6, 9, 10)]
        assert [case.case_id for case in cases if not case.error] == ["a", "g"]
        errors = [case.error for case in cases if case.error]
        assert errors == [
            "line 3: found 5 cells, wanted at most 3 as in the head of the table",
            "line 4: byte 0xff is not valid UTF-8; save the file as UTF-8",
            "line 5: not CSV: ',' expected after '\"'",
            "line 6: q: a test case without a question",
            "line 10: not CSV: unexpected end of data",
        ]

    def test_a_byte_order_mark_windows_line_ends_and_a_long_cell(self) -> None:
        long = "x" * 300_000
        content = f'\ufeff"Question","Expected Tools"\r\n"two\r\nlines","f()"\r\n"{long}",\r\n'
        first, second = read(content.encode())
        assert (first.case_id, wanted(first).tool_calls) == ("two\r\nlines", (ToolCall("f"),))
        assert (second.case_id, second.source[1]) == (long, "line 4")

    def test_rows_come_one_by_one(self, tmp_path: Path) -> None:
        path = tmp_path / "many.csv"
        path.write_text("Question,Expected Tools\n" + "".join(f"q{i},f()\n" for i in range(50)))
        cases = iter_cases(path)
        assert next(cases).case_id == "q0"
        assert sum(1 for _ in cases) == 49

    def test_no_rows_no_table(self) -> None:
        with pytest.raises(ReadError, match="empty"):
            read(b"Question,Expected Tools\n")
        with pytest.raises(ReadError, match="not JSON"):
            read(b'"eval_cases": [1, 2]\n')
        with pytest.raises(ReadError, match="not JSON"):
            read(b"just one cell\n")

    def test_parsed_rows(self) -> None:
        rows = [{"question": "a", "expectedTools": "f()"}, {"question": "b", "expectedTools": "", "answer": "B"}]
        assert [wanted(case).response for case in read(rows)] == [None, "B"]


# --- typed calls ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("f()", {}),
        ("f", {}),
        ("f( )", {}),
        ("f (a=1)", {"a": 1}),
        ("f(a=1,)", {"a": 1}),
        ("f(a = 1 , b = null)", {"a": 1, "b": None}),
        ('f(a="x, y)", b=[1, {"c": 2}])', {"a": "x, y)", "b": [1, {"c": 2}]}),
        ("f(a='x, y)', b=True, c=None, d=False)", {"a": "x, y)", "b": True, "c": None, "d": False}),
        ("f(a={'b': (1, 2)})", {"a": {"b": [1, 2]}}),
        ("f(title=It's fine, n=1)", {"title": "It's fine", "n": 1}),
        ("f(a=2026-08-19, b=1.50, c=x y)", {"a": "2026-08-19", "b": 1.5, "c": "x y"}),
        ('f(a="one\ntwo")', {"a": "one\ntwo"}),
        ("f(a='one\ntwo')", {"a": "one\ntwo"}),
        ("f(a='\\d')", {"a": "\\d"}),
        ("f(a=)", {"a": ""}),
        ("f(a=g(1, 2))", {"a": "g(1, 2)"}),
        ("f(a={1, 2})", {"a": "{1, 2}"}),
        ('f(名="北京")', {"名": "北京"}),
        ("f(a=1, a=2)", {"a": 2}),
        ("f(a=NaN1)", {"a": "NaN1"}),
    ],
)
def test_arguments(text: str, args: dict[str, Any]) -> None:
    assert calls_in_text(text) == [Typed("f", args, None)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a()\nb()\r\n\nc", ["a", "b", "c"]),
        ("get_a, get_b", ["get_a", "get_b"]),
        ("a(x=1), b(y=2); c()", ["a", "b", "c"]),
        ("a(x=1)b(y=2)", ["a", "b"]),
        ("my.tool-1\n工具(a=1)", ["my.tool-1", "工具"]),
        (" ,;\n", []),
    ],
)
def test_calls_are_split(text: str, names: list[str]) -> None:
    calls = calls_in_text(text)
    assert [call.name for call in calls] == names
    assert [call.problem for call in calls] == [None] * len(names)


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ("f(1, 2)", "f", "the argument '1' has no name"),
        ("f(a=1", "f", "not closed"),
        ("f(a=[1)", "f", "not closed"),
        ("f(", "f", "has no name"),
        ("search for tea", "search for tea", "not a call"),
        ("(x)", "(x)", "not a call"),
        ('"f"()', '"f"()', "not a call"),
    ],
)
def test_a_broken_call_keeps_its_line(text: str, name: str, says: str) -> None:
    first, second = calls_in_text(f"{text}\nlast(a=1)")
    assert (first.name, first.args) == (name, None)
    assert says in str(first.problem)
    assert second == Typed("last", {"a": 1}, None)


def test_endless_broken_calls_end() -> None:
    for line in ("f(\n", "f(a=[\n", "f(a='\n", "(\n"):
        calls = calls_in_text(line * 100_000)
        assert len(calls) == 101
        assert calls[-1] == Typed("", None, "100 calls could not be read, the rest of the text is left out")
    (deep,) = calls_in_text("f(a=" + "[" * 100_000 + "]" * 100_000 + ")")
    assert deep.name == "f"
    (minus,) = calls_in_text("f(a=[" + "-" * 9_000 + "1])")
    assert minus.name == "f"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
names = st.from_regex(r"[A-Za-z_][A-Za-z_0-9]{0,6}", fullmatch=True)


@given(st.lists(st.tuples(names, st.dictionaries(names, json_values, max_size=3)), max_size=4))
def test_what_adeval_writes_is_read_back(calls: list[tuple[str, dict[str, Any]]]) -> None:
    lines = [f"{name}({', '.join(f'{k}={json.dumps(v)}' for k, v in args.items())})" for name, args in calls]
    assert calls_in_text("\n".join(lines)) == [Typed(name, args, None) for name, args in calls]


@settings(max_examples=300)
@given(st.text(st.sampled_from("ab1 ,;()[]{}='\"\\\n-:"), max_size=30) | st.text(max_size=20))
def test_any_text_is_calls(text: str) -> None:
    calls = calls_in_text(text)
    assert all((call.args is None) == (call.problem is not None) for call in calls)
    assert bool(calls) == bool(text.strip(" ,;\t\n\r\x0b\x0c") and any(not c.isspace() and c not in ",;" for c in text))


def test_the_comparators_vectors_are_read() -> None:
    path = Path(__file__).parent / "data/vectors/adeval_pass_fail.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    calls = [call for row in rows for key in ("expectedTools", "actualTools") for call in calls_in_text(row[key])]
    assert len(rows) == 17
    # ADEval's own parser drops them, so f(1, 2) passes for f(3, 4).
    assert [call.problem for call in calls if call.problem] == [f"the argument '{n}' has no name" for n in (1, 3)]
