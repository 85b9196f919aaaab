"""Chat messages in every dialect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adk_scoring.errors import ReadWarning
from adk_scoring.model import Case, Invocation, Tool, ToolCall, Turn
from adk_scoring.readers import READERS, read

from .corpus import corpus

DATA = Path(__file__).parent / "data/messages"
TEA = ToolCall("find", {"q": "tea"}, call_id="c1", step=0)


def one(source: Any) -> Case:
    (case,) = read(source)
    return case


def runs(case: Case) -> list[Invocation | None]:
    return [turn.actual for turn in case.turns]


def test_openai_chat() -> None:
    path = DATA / "openai.json"
    with pytest.warns(ReadWarning, match="no JSON object"):
        case = one(path)
    first, second, last = case.turns
    assert first.actual is not None
    tea, broken, now, milk = first.actual.tool_calls or ()
    assert tea == ToolCall("find", {"q": "tea"}, call_id="c1", step=0, response="3 shops")
    assert (broken.args, broken.call_id) == (None, "c2")
    assert str(broken.args_error).startswith("arguments are not JSON")
    assert now == ToolCall("now", {}, call_id="c3", step=0)
    error = {"error": "sold out"}
    assert milk == ToolCall("find", {"q": "milk"}, call_id="c4", step=0, response=error, error="sold out")
    assert (first.actual.user_text, first.actual.response) == ("Find tea and milk", "Three shops.")
    assert first.actual.intermediate_responses == (("", "Looking."),)
    rice = ToolCall("find", {"q": "rice"}, step=0, response="none")
    assert second == Turn(Invocation("And rice?", (rice,), "I may not say."))
    # Nobody replied to the last question: no run, and no expectation either.
    assert last == Turn(None, (Invocation("Why?", None, None),))
    assert case.tools == (Tool("find", "Finds.", {"type": "object"}),)
    assert (case.case_id, case.instructions, case.metadata) == ("chat-1", "Be short.", {"model": "some-model"})
    assert case.source == (str(path), "")


def test_responses_items() -> None:
    with pytest.warns(ReadWarning, match="built-in tool"):
        case = one(DATA / "responses.json")
    assert runs(case) == [
        Invocation(
            "Find tea and milk",
            (
                TEA,
                ToolCall("find", {"q": "milk"}, call_id="c2", step=0, response="none"),
                ToolCall("book", {"n": 1}, call_id="m1", step=1, error="denied"),
                ToolCall("web_search", {"query": "tea"}, call_id="w1", step=2),
                ToolCall("run", {"input": "print(1)"}, call_id="c3", step=3, response="1"),
            ),
            "Three shops.",
        )
    ]
    assert (case.case_id, case.instructions) == ("resp_1", "Be short.")


def test_langchain() -> None:
    with pytest.warns(ReadWarning, match="no JSON object"):
        (run,) = runs(one(DATA / "langchain.json"))
    assert run is not None
    found, invalid = run.tool_calls or ()
    assert found == ToolCall("find", {"q": "tea"}, call_id="c1", step=0, response="no such shop", error="no such shop")
    assert (invalid.name, invalid.args, invalid.call_id) == ("book", None, "c2")
    assert (run.user_text, run.response) == ("Find tea", "There is none.")


@pytest.mark.parametrize("form", ["to_dict", "constructor"])
def test_langchain_serialised(form: str) -> None:
    bodies = [
        ("human", "HumanMessage", {"content": "Find tea"}),
        ("ai", "AIMessage", {"content": "", "tool_calls": [{"name": "find", "args": {"q": "tea"}, "id": "c1"}]}),
        ("tool", "ToolMessage", {"content": "3 shops", "tool_call_id": "c1"}),
        ("ai", "AIMessage", {"content": "Three."}),
    ]
    messages: list[dict[str, Any]] = [
        {"type": kind, "data": body}
        if form == "to_dict"
        else {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": body}
        for kind, name, body in bodies
    ]
    call = ToolCall("find", {"q": "tea"}, call_id="c1", step=0, response="3 shops")
    assert runs(one({"messages": messages})) == [Invocation("Find tea", (call,), "Three.")]


def test_anthropic() -> None:
    case = one(DATA / "anthropic.json")
    first, second = runs(case)
    assert first is not None
    assert first.tool_calls == (
        ToolCall("find", {"q": "tea"}, call_id="t1", step=0, response="3 shops"),
        ToolCall("find", {"q": "milk"}, call_id="t2", step=0, response="timeout", error="timeout"),
        ToolCall("book", {}, call_id="t3", step=1, response="ok"),
    )
    # The last result and the next question stand in one message.
    assert second == Invocation("Which one?", (), "The first.")
    assert (case.instructions, case.tools) == ("Be short.", (Tool("find", "Finds.", {"type": "object"}),))


def test_bedrock_and_strands() -> None:
    case = one(DATA / "bedrock.json")
    call = ToolCall("find", {"q": "tea"}, call_id="t1", step=0, response="timeout", error="timeout")
    said = (("", "Looking."),)
    assert runs(case) == [Invocation("Find tea", (call,), "It failed.", intermediate_responses=said)]
    assert (case.case_id, case.tools) == ("s-1", (Tool("find", "Finds.", {"type": "object"}),))


def test_gemini_contents() -> None:
    contents = [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}, {"text": "hm", "thought": True}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"error": "no"}}}]},
        {"role": "model", "parts": [{"text": "Sorry."}]},
    ]
    call = ToolCall("f", {}, step=0, response={"error": "no"}, error="no")
    assert runs(one({"contents": contents})) == [Invocation("Hi", (call,), "Sorry.")]


def test_a_recorded_stream() -> None:
    assert runs(one(DATA / "stream.jsonl")) == [
        Invocation("", (ToolCall("add", {"a": 1}, step=0),), "It is 1."),
        Invocation("", (), "Bye."),
    ]


def test_promptflows_history() -> None:
    assert runs(one(DATA / "promptflow.json")) == [
        Invocation("Weather?", (ToolCall("weather", {}, call_id="c1", step=0),), '{"c": 20}'),
        Invocation("Hi", (), "Hello!"),
    ]


def test_a_run_and_its_reference() -> None:
    (turn,) = one(DATA / "pair.json").turns
    assert turn.actual == Invocation("Find tea", (ToolCall("find", {"q": "tea"}, step=0),), "Found.")
    assert turn.expected == (Invocation("Find tea", (ToolCall("find", {"q": "tea"}), ToolCall("book")), None),)


def test_a_reference_of_other_length() -> None:
    user, reply = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}
    with pytest.warns(ReadWarning, match="another number of turns"):
        case = one({"outputs": [user, reply], "reference_outputs": [user, reply, user, reply]})
    assert [(turn.actual is None, len(turn.expected)) for turn in case.turns] == [(False, 1), (True, 1)]


def test_a_completion() -> None:
    choice = {"message": {"role": "assistant", "content": "Hello!"}}
    assert runs(one({"choices": [choice]})) == [Invocation("", (), "Hello!")]
    with pytest.warns(ReadWarning, match="several choices"):
        assert runs(one({"input": "Hi", "choices": [choice, choice]})) == [Invocation("Hi", (), "Hello!")]


def test_what_the_user_says_in_a_row_is_one_turn() -> None:
    said = [{"role": "user", "content": text} for text in ("a", "b")]
    assert runs(one([*said, {"role": "assistant", "content": "c"}])) == [Invocation("a\n\nb", (), "c")]


def test_an_answer_without_a_call() -> None:
    with pytest.warns(ReadWarning, match="an answer without a call"):
        case = one(
            [
                {"role": "user", "content": "a"},
                {"role": "tool", "tool_call_id": "x", "content": "?"},
                {"role": "assistant", "content": "b"},
            ]
        )
    assert runs(case) == [Invocation("a", (), "b")]


@pytest.mark.parametrize("arguments", ["", None, "{}", {}, " "])
def test_no_arguments(arguments: Any) -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": arguments}}
    case = one([{"role": "user", "content": "a"}, {"role": "assistant", "content": None, "tool_calls": [call]}])
    assert runs(case) == [Invocation("a", (ToolCall("f", {}, call_id="c", step=0),), None)]


def test_records_are_cases() -> None:
    record = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    lines = "\n".join(json.dumps(record | {"thread_id": f"t{i}"}) for i in range(3))
    assert [case.case_id for case in read(lines)] == ["t0", "t1", "t2"]
    assert [case.case_id for case in read([record, record])] == ["[0]", "[1]"]


def test_messages_as_lines_are_one_case() -> None:
    lines = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    assert runs(one("\n".join(map(json.dumps, lines)))) == [Invocation("a", (), "b")]


def test_no_messages() -> None:
    with pytest.warns(ReadWarning, match="without messages"):
        (case,) = read({"messages": []}, format="messages")
    assert case.turns == ()


@pytest.mark.parametrize(
    "document",
    [
        [],
        [5],
        [{"role": "user"}],
        [{"role": "critic", "content": "a"}],
        [{"author": "user", "role": "user", "content": "a"}],
        [{"type": "image"}],
        {"messages": []},
        {"messages": "a"},
        {"choices": [5]},
        {"output": "text"},
        [{"inputs": {}, "outputs": {"x": 1}}],
        [{"method": "countTokens", "response": {}}],
    ],
)
def test_what_is_none_of_these(document: Any) -> None:
    assert not READERS["messages"].recognises(document)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"messages": [{"role": "user", "content": "a"}, 5]}, "messages[1]: found a number, wanted an object"),
        ([{"role": "user", "content": "a"}, {"x": 1}], "[1]: not a message: found keys [x], wanted 'role' or 'type'"),
        ({"messages": [{"role": "user", "content": "a"}], "tools": 5}, "tools: found a number, wanted a list"),
        ({"messages": [{"role": "user", "content": "a"}], "functions": [5]}, "functions[0]: found a number"),
        ({"outputs": [{"role": "user", "content": "a"}], "reference_outputs": 5}, "reference_outputs: found a number"),
        ([{"method": "generateContent", "response": 5}], "[0].response: found a number, wanted an object"),
        ([{"inputs": {}, "outputs": {"llm_output": "a"}}, {"inputs": 5}], "[1].inputs: found a number"),
    ],
)
def test_broken(document: Any, says: str) -> None:
    error = one(document).error
    assert str(error).startswith(says)


def test_one_broken_record_leaves_the_others() -> None:
    good = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    lines = [
        json.dumps(good),
        '{"messages": [',
        json.dumps({"messages": [{"role": "user", "content": "a"}, 5]}),
        json.dumps(good),
    ]
    first, cut, broken, last = read("\n".join(lines))
    assert (first.error, last.error) == (None, None)
    assert str(cut.error).startswith("line 2 column 14: not JSON: EOF")
    assert str(broken.error).startswith("line 3: messages[1]: found a number")


def test_arguments_as_json_text_are_decoded() -> None:
    path = Path(__file__).parent / "data/vectors/reported_cases.jsonl"
    rows = {row["id"]: row["input"] for row in map(json.loads, filter(None, path.read_text().splitlines()))}
    raw, expected = (rows["tc-args-json-string"][key] for key in ("actual_raw", "expected"))
    case = one([{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "tool_calls": raw}])
    (run,) = runs(case)
    assert run is not None
    assert [(call.name, call.args) for call in run.tool_calls or ()] == [(c["name"], c["args"]) for c in expected]


def test_public_files_agree_with_a_direct_count() -> None:
    cases_seen = turns_seen = calls_seen = 0
    for path in sorted(corpus("openai_messages").iterdir()):
        text = path.read_text()
        cases = read(path)
        assert [case.error for case in cases] == [None] * len(cases)
        if path.suffix == ".jsonl":
            records = [json.loads(line) for line in text.splitlines()]
            assert len(cases) == len(records)
            turns = sum(m["role"] == "user" for record in records for m in record["messages"])
            calls = sum("function_call" in m for record in records for m in record["messages"])
            assert [len(case.tools or ()) for case in cases] == [len(record["functions"]) for record in records]
        elif "generateContentStream" in text:
            assert len(cases) == 1
            calls, turns = text.count('"functionCall"'), sum('"functionCall"' not in line for line in text.splitlines())
        else:
            assert len(cases) == 1
            exchanges = json.loads(text)
            turns = len(exchanges)
            calls = sum(len(each["outputs"]["llm_output"].get("tool_calls") or ()) for each in exchanges)
        assert sum(len(case.turns) for case in cases) == turns, path.name
        assert sum(len(run.tool_calls or ()) for case in cases for run in runs(case) if run) == calls, path.name
        cases_seen, turns_seen, calls_seen = cases_seen + len(cases), turns_seen + turns, calls_seen + calls
    assert (cases_seen, turns_seen, calls_seen) == (23, 32, 28)
