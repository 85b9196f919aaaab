"""Hostile input through every format: mutated public files, bombs, depth, size, broken text; bounded, with a place."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import warnings
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adk_scoring.errors import ReadError, ReadWarning
from adk_scoring.model import Case
from adk_scoring.readers import READERS, read
from tests.corpus import corpus
from tests.test_readers_fuzz import ODD, places, survives

DATA = Path(__file__).parent / "data"
NEW = ("otel", "langfuse", "langsmith", "bigquery", "inspect_log", "atif", "tau", "bfcl", "rows")
GOLDEN = [path for name in NEW for path in sorted((DATA / name).glob("*.json*"))]
_LARGEST = 100_000  # a mutation of a larger file says no more and takes longer


@cache
def document(path: Path) -> Any:
    """The parsed file; that of lines as a list."""
    text = path.read_text(encoding="utf-8")
    try:
        return json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


@cache
def places_in(path: Path) -> list[tuple[Any, ...]]:
    return [place for place in places(document(path)) if place]


def mutated(path: Path, data: st.DataObject) -> Any:
    """The file with a few values replaced, removed or turned into text."""
    whole = json.loads(json.dumps(document(path)))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(places_in(path)))
        inside = whole
        try:
            for key in place[:-1]:
                inside = inside[key]
            old = inside[place[-1]]
        except (KeyError, IndexError, TypeError):
            continue
        if not isinstance(inside, dict | list):
            continue
        what = data.draw(st.sampled_from(["replace", "remove", "as text", "twice"]))
        if what == "remove":
            del inside[place[-1]]
        elif what == "twice" and isinstance(inside, list):
            inside.append(old)
        else:
            inside[place[-1]] = json.dumps(old) if what == "as text" else data.draw(ODD)
    return whole


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(GOLDEN), st.data())
def test_mutated_golden_files(path: Path, data: st.DataObject) -> None:
    whole = mutated(path, data)
    survives(whole)
    survives(whole, format=data.draw(st.sampled_from(list(READERS))))


@cache
def public_files() -> list[Path]:
    """Those of every kind, the small ones."""
    files = [path for path in sorted(corpus().rglob("*.json*")) if path.stat().st_size < _LARGEST]
    return [path for path in files if isinstance(document(path), dict | list) and document(path)]


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_mutated_public_files(data: st.DataObject) -> None:
    kinds = sorted({path.parent.name for path in public_files()})
    kind = data.draw(st.sampled_from(kinds))
    path = data.draw(st.sampled_from([path for path in public_files() if path.parent.name == kind]))
    whole = mutated(path, data)
    survives(whole)
    survives(whole, format=data.draw(st.sampled_from(list(READERS))))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_mutated_zips(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(corpus("inspect_log").glob("*.eval"))))
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        # Mostly where the directory is, at the end.
        back = data.draw(st.integers(1, 700)) if data.draw(st.booleans()) else data.draw(st.integers(1, len(raw)))
        raw[-back] = data.draw(st.integers(0, 255))
    survives(bytes(raw[: data.draw(st.integers(len(raw) // 2, len(raw)))] if data.draw(st.booleans()) else raw))


def quietly(source: Any, **options: Any) -> list[Case]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadWarning)
        return read(source, **options)


@pytest.mark.parametrize("name", READERS)
class TestTextOfEveryFormat:
    """What may be wrong with the bytes of a file, whatever the format."""

    def test_byte_order_marks(self, name: str) -> None:
        text = READERS[name].example
        wanted = [case.turns for case in quietly(text)]
        assert [case.turns for case in quietly(b"\xef\xbb\xbf" + text.encode())] == wanted
        assert [case.turns for case in quietly(text.encode("utf-16"))] == wanted

    def test_lone_surrogates_invalid_utf8_and_truncation(self, name: str) -> None:
        text = READERS[name].example
        (case,) = quietly(text.replace("Weather", "\\ud800").encode())
        said = case.turns[0].actual or case.turns[0].expected[0]
        assert "\ud800" in said.user_text
        for raw in (text.encode().replace(b"Weather", b"\xff"), text.encode()[:-1], text.encode()[:-1] + b",}"):
            with pytest.raises(ReadError) as caught:
                quietly(raw)
            assert caught.value.location.startswith("line 1 column")

    def test_deep_nesting(self, name: str) -> None:
        text, deep = READERS[name].example, "[" * 10_000 + "]" * 10_000
        start = '{"x": ' if text[0] == "{" else "["
        with pytest.raises(ReadError, match="nested too deeply"):
            quietly(f"{start}{deep}, {text[1:]}")

    def test_depth_hidden_in_text(self, name: str) -> None:
        """Formats keep JSON in text; what is too deep in there stays text or is an error, and nothing falls over."""
        for deep in ("[" * 5_000, "[" * 5_000 + "]" * 5_000, '{"a":' * 5_000 + "1" + "}" * 5_000):
            survives(READERS[name].example.replace("It is 20C.", deep.replace('"', '\\"')))
            survives(READERS[name].example.replace('"Paris"', json.dumps(deep)))

    def test_numbers_that_json_lacks(self, name: str) -> None:
        text = READERS[name].example.replace('"Paris"', "[NaN, -Infinity, 1e999]")
        survives(text)


def test_repeated_keys_the_last_one_counts() -> None:
    (case,) = read('{"input": "a", "input": "b", "actual_output": "x"}')
    assert case.turns[0].actual is not None
    assert case.turns[0].actual.user_text == "b"


@pytest.mark.parametrize("name", NEW)
def test_a_huge_string_is_carried_and_not_multiplied(name: str) -> None:
    """100 MB of text in one value: read in a process that may use 1.5 GB."""
    code = (
        "import resource, sys, warnings\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29))\n"
        "warnings.simplefilter('ignore')\n"
        "from adk_scoring.readers import READERS, read\n"
        f"text = READERS[{name!r}].example.replace('It is 20C.', 'x' * 100_000_000).encode()\n"
        "case, = read(text)\n"
        "side = case.turns[0].actual or case.turns[0].expected[0]\n"
        "print(len(side.response or ''), case.error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "100000000 None", done.stderr[-500:]


@pytest.mark.parametrize("name", ["tau", "bfcl", "rows", "inspect_log", "atif"])
def test_lines_of_a_format_are_taken_one_by_one(name: str, tmp_path: Path) -> None:
    """About 30 MB of JSON Lines; a file of any size takes no more memory."""
    example = json.loads(READERS[name].example)
    record = example[0] if isinstance(example, list) else example
    line = json.dumps(record).replace("It is 20C.", "x" * 6_000)
    ids = {"tau": '"task_id": 0', "bfcl": '"simple_0"', "atif": '"s1"', "inspect_log": '"id": 1'}
    path = tmp_path / "many.jsonl"
    with path.open("w") as file:
        for n in range(5_000):
            old = ids.get(name)
            file.write((line.replace(old, old.replace("0", str(n)).replace("1", str(n)), 1) if old else line) + "\n")
    assert path.stat().st_size > 29_000_000
    code = (
        "import sys, tracemalloc, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "from adk_scoring.readers import iter_cases\n"
        "taken = iter_cases(sys.argv[1]); next(taken)\n"
        "tracemalloc.start()\n"
        "print(1 + sum(case.error is None for case in taken), tracemalloc.get_traced_memory()[1])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    count, peak = map(int, done.stdout.split())
    assert count == 5_000
    assert peak < 4_000_000


def test_a_zip_is_never_unpacked_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("samples/1_epoch_1.json", '{"id": 1, "messages": [{"role": "user", "content": "hi"}]}')
        archive.writestr("../samples/2_epoch_1.json", "{}")
    (case,) = read(out.getvalue())
    assert case.case_id == "1"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("many", [20_000])
def test_many_equal_calls_take_linear_time(many: int) -> None:
    """Equal names everywhere, in reverse: a search through all for each would take minutes."""
    parts = [{"type": "tool_call", "name": "f", "arguments": {"n": n}} for n in range(many)]
    spans: list[dict[str, Any]] = [
        {
            "trace_id": "t",
            "span_id": "model",
            "name": "chat",
            "attributes": {
                "gen_ai.operation.name": "chat",
                "gen_ai.output.messages": [{"role": "assistant", "parts": parts}],
            },
        }
    ]
    spans += [
        {
            "trace_id": "t",
            "span_id": str(n),
            "parent_span_id": str(n - 1),
            "name": "f",
            "attributes": {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "f",
                "gen_ai.tool.call.arguments": {"n": many - 1 - n},
            },
        }
        for n in range(many)
    ]
    (case,) = read(spans)
    assert case.turns[0].actual is not None
    assert len(case.turns[0].actual.tool_calls or ()) == many
