"""Cases out of public bug reports of scoring tools: what is to be read, and what of a call."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adk_scoring import trajectory_exact_match
from adk_scoring.errors import ReadError, ReadWarning
from adk_scoring.model import Invocation, ToolCall
from adk_scoring.readers import read

VECTORS = Path(__file__).parent / "data/vectors/reported_cases.jsonl"
CASES = {
    case["id"]: case
    for case in map(json.loads, VECTORS.read_text(encoding="utf-8").splitlines())
    if case["kind"] in ("read", "extract")
}


def actual_of(source: Any) -> Invocation:
    (case,) = read(source)
    (turn,) = case.turns
    assert turn.actual is not None
    return turn.actual


def list_as_arguments(given: dict[str, Any], right: dict[str, Any], folder: Path) -> None:
    span = given["span"]
    attributes = {"mlflow.spanType": span["kind"], "mlflow.spanInputs": span["inputs"]}
    with pytest.warns(ReadWarning, match="unknown"):
        made = actual_of([{"trace_id": "t", "span_id": "s", "name": span["name"], "attributes": attributes}])
    assert right["error"].endswith("are a list")
    wanted = ToolCall("add", None, args_error="arguments are a list, not an object")
    assert made.tool_calls == (wanted,)


def text_as_arguments(given: dict[str, Any], right: float, folder: Path) -> None:
    made = actual_of([{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": given["actual_raw"]}])
    expected = [ToolCall.of(call) for call in given["expected"]]
    assert trajectory_exact_match(made.tool_calls or (), expected) == right


def scenario(given: dict[str, Any], right: dict[str, Any], folder: Path) -> None:
    (case,) = read(given)
    assert (case.case_id, case.turns, case.error) == ("c1", (), None)
    assert case.metadata["conversation_scenario"]["starting_prompt"] == "Hi"


def empty_parts(given: dict[str, Any], right: dict[str, Any], folder: Path) -> None:
    assert right["turns"] == 1
    assert actual_of(given).response == right["final_text"]


def digits(given: dict[str, Any], right: float, folder: Path) -> None:
    (case,) = read(given["jsonl_line"])
    (turn,) = case.turns
    assert turn.actual is not None
    assert float(turn.actual.response == turn.expected[0].response == "42") == right


def encoding(given: dict[str, Any], right: dict[str, Any], folder: Path) -> None:
    one = '"eval_cases": [{"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "größer 👍"}]}}]}]'
    text = given["file_bytes_utf8"].replace('"eval_cases": []', one)
    assert right["description"] in text
    for name, mark in (("plain.json", b""), ("marked.json", b"\xef\xbb\xbf")):
        (folder / name).write_bytes(mark + text.encode())
        (case,) = read(folder / name)
        assert case.turns[0].expected[0].user_text == right["description"]


def trailing_comma(given: dict[str, Any], right: dict[str, Any], folder: Path) -> None:
    path = folder / "sample.evalset.json"
    path.write_text(given["file_text"])
    with pytest.raises(ReadError, match="JSON allows no comma before a closing bracket") as caught:
        read(path)
    assert (caught.value.path, caught.value.location) == (str(path), "line 1 column 39")


def legacy_array(given: dict[str, Any], right: dict[str, Any], folder: Path) -> None:
    (folder / "cases.test.json").write_text(json.dumps(given["file"]))
    cases = read(folder / "cases.test.json")
    assert (len(cases), len(cases[0].turns)) == (right["cases"], right["turns"])
    assert list(cases[0].turns[0].expected[0].tool_calls or ()) == right["expected_calls"]
    assert cases[0].turns[0].expected[0].tool_calls == ()


CHECKS: dict[str, Callable[[dict[str, Any], Any, Path], None]] = {
    "tc-args-not-dict": list_as_arguments,
    "tc-args-json-string": text_as_arguments,
    "tc-scenario-no-expected": scenario,
    "tc-empty-parts": empty_parts,
    "tx-digits-become-int": digits,
    "rd-encoding": encoding,
    "rd-trailing-comma": trailing_comma,
    "rd-legacy-array": legacy_array,
}


def test_every_reported_case_is_held() -> None:
    assert set(CASES) == set(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_reported_case(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    CHECKS[name](case["input"], case["right"], tmp_path)
