"""`read`: what a source may be, how a format is recognised, what goes wrong and what is said about it."""

from __future__ import annotations

import gc
import io
import json
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adk_scoring.errors import ReadError, ReadWarning
from adk_scoring.readers import READERS, iter_cases, read

DATA = Path(__file__).parent / "data"
EVAL_SET: dict[str, Any] = json.loads(READERS["adk_evalset"].example)
RECORD = '{"case_id": "a", "turns": [{"user": "x", "response": "y"}]}'

OTHER = RECORD.replace('"a"', '"b"')


def refused(source: Any, **options: Any) -> str:
    with pytest.raises(ReadError) as caught:
        read(source, **options)
    assert type(caught.value) is ReadError
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301
    return str(caught.value)


@pytest.mark.parametrize("name", READERS)
def test_the_example_of_a_format_is_recognised_and_read(name: str) -> None:
    reader = READERS[name]
    (case,) = read(reader.example)
    assert case == read(reader.example, format=name)[0]
    assert case.error is None
    (turn,) = case.turns
    said = turn.actual or turn.expected[0]
    assert (said.user_text, said.response) == ("Weather in Paris?", "It is 20C.")


@pytest.mark.parametrize("name", READERS)
def test_an_example_is_first_recognised_by_its_own_format(name: str) -> None:
    try:
        document = json.loads(READERS[name].example)
    except ValueError:
        pytest.skip("an example of lines, recognised in the test above")
    assert next(other for other, reader in READERS.items() if reader.recognises(document)) == name


def test_the_formats_of_others_are_not_taken_for_ours() -> None:
    others: list[Any] = [
        {"eval_cases": [{"eval_case_id": "a", "prompt": {"parts": [{"text": "x"}]}}]},
        {"eval_case_results": [{"eval_case_index": 0, "response_candidate_results": []}]},
        [{"author": "me", "title": "x"}, {"query": "no expectation"}],
        {"events": [{"name": "click"}]},
        {"turns": [{"role": "user"}]},
        {"turns": []},
    ]
    adk = [reader for name, reader in READERS.items() if name.startswith("adk_") or name == "records"]
    for document in others:
        assert [reader.module for reader in adk if reader.recognises(document)] == []
    broken: list[Any] = [{"eval_cases": []}, {"evalCases": 5}, {"eval_case_results": 5}]
    for document in [*broken, {"eval_set_id": "s", "eval_cases": [1]}]:
        assert len([reader.module for reader in adk if reader.recognises(document)]) == 1


class TestSources:
    def test_every_way_to_hand_over_the_same(self, tmp_path: Path) -> None:
        text = READERS["adk_evalset"].example
        path = tmp_path / "anything.json"
        path.write_text(text)

        class Model:
            def model_dump(self, *, mode: str) -> Any:
                assert mode == "json"
                return EVAL_SET

        with path.open() as as_text, path.open("rb") as as_bytes:
            for source in (
                path, str(path), str(tmp_path), tmp_path, f"{tmp_path}/*.json", [path], [str(path)], text,
                "\ufeff " + text,
                text.encode(), bytearray(text.encode()), EVAL_SET, [EVAL_SET], (EVAL_SET,), iter([EVAL_SET]),
                as_text, as_bytes, io.BytesIO(text.encode()), io.StringIO(text), Model(),
            ):  # fmt: skip
                (case,) = read(source)
                assert case.turns[0].expected[0].response == "It is 20C."

    def test_a_folder_is_read_deeply_and_sorted(self, tmp_path: Path) -> None:
        for name in ("b/x.json", "a/deep/y.json", "c.jsonl", ".adk/eval_history/z.json", ".git/no.json", "a/notes.txt"):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(EVAL_SET))
        paths = [str(Path(case.source[0]).relative_to(tmp_path)) for case in read(tmp_path)]
        assert paths == [".adk/eval_history/z.json", "a/deep/y.json", "b/x.json", "c.jsonl"]

    def test_a_config_beside_the_data_is_no_news(self, tmp_path: Path) -> None:
        (tmp_path / "a.json").write_text(json.dumps(EVAL_SET))
        (tmp_path / "test_config.json").write_text('{"criteria": {"response_match_score": 0.8}}')
        assert len(read(tmp_path)) == 1  # and no warning, which would be an error

    def test_a_folder_of_nothing_but_a_config_says_what_it_is(self, tmp_path: Path) -> None:
        (tmp_path / "test_config.json").write_text('{"criteria": {"response_match_score": 0.8}}')
        assert "looks like a criteria config" in refused(tmp_path)

    def test_many_files_without_cases_are_counted_and_a_few_named(self, tmp_path: Path) -> None:
        (tmp_path / "a.json").write_text(json.dumps(EVAL_SET))
        for number in range(9):
            (tmp_path / f"z{number}.json").write_text('{"name": "x"}')
        with pytest.warns(ReadWarning, match=r"9 of 10 files hold no cases: .*z4.*; and 4 more$"):
            read(tmp_path)

    def test_unrelated_files_are_named_in_one_warning(self, tmp_path: Path) -> None:
        (tmp_path / "a.json").write_text(json.dumps(EVAL_SET))
        (tmp_path / "test_config.json").write_text('{"criteria": {"response_match_score": 0.8}}')
        (tmp_path / "package.json").write_text('{"name": "x", "version": "1"}')
        (tmp_path / "comments.json").write_text("// nothing of ours")
        (tmp_path / "empty.evalset.json").write_text('{"eval_set_id": "e", "eval_cases": []}')
        with pytest.warns(ReadWarning) as caught:
            (case,) = read(tmp_path)
        (warning,) = caught
        assert case.case_id == "paris"
        message = str(warning.message)
        assert message.startswith(f"{tmp_path}: 3 of 5 files hold no cases: ")
        assert "empty.evalset.json: holds no cases" in message

    def test_a_broken_eval_file_in_a_folder_is_an_error_case(self, tmp_path: Path) -> None:
        text = json.dumps(EVAL_SET)
        (tmp_path / "a.evalset.json").write_text(text)
        (tmp_path / "b.evalset.json").write_text(text[:-20])
        (tmp_path / "c.evalset.json").write_text('{"eval_cases": 5}')
        good, truncated, wrong = read(tmp_path)
        assert (good.error, truncated.case_id, wrong.case_id) == (None, "b", "c")
        assert truncated.error is not None
        assert "line 1 column" in truncated.error
        assert truncated.source[0].endswith("b.evalset.json")
        assert wrong.error == "eval_cases: found a number, wanted a list: 5"

    def test_a_file_that_cannot_be_opened(self, tmp_path: Path) -> None:
        assert (
            refused(tmp_path / "nowhere.json")
            == f"{tmp_path / 'nowhere.json'}: cannot be read: No such file or directory"
        )
        assert "cannot be read" in refused("nul\0byte")
        assert "cannot be read" in refused(Path("x" * 5000))
        (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
        assert "holds no data file" in refused(tmp_path)

    def test_a_file_of_a_folder_that_vanishes_is_not_lost(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "a.json").write_text(json.dumps(EVAL_SET))
        (tmp_path / "b.json").write_text(json.dumps(EVAL_SET))
        taken: Iterator[Any] = iter_cases(tmp_path)
        next(taken)
        (tmp_path / "b.json").unlink()
        (case,) = taken
        assert (case.case_id, case.error) == ("b", "cannot be read: No such file or directory")

    def test_nothing_there(self, tmp_path: Path) -> None:
        assert refused(tmp_path).startswith(f"{tmp_path}: the folder holds no data file (")
        assert "no file matches this pattern" in refused(f"{tmp_path}/*.json")
        assert "the text is empty" in refused("")
        assert "the file is empty" in refused(b" \n ")
        assert "the file is empty" in refused(b"\xef\xbb\xbf")
        assert "the file is empty" in refused(iter([]))
        assert "an empty list" in refused([])
        assert "a Python object" in refused(object())
        assert "found null" in refused(b"null")
        (tmp_path / "x.json").write_text('{"a": 1}')
        assert refused(tmp_path).startswith(f"{tmp_path}: 1 of 1 files hold no cases: ")
        assert "holds no cases" in refused({"eval_set_id": "s", "eval_cases": []})

    def test_a_list_with_one_unreadable_path_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a.json").write_text(json.dumps(EVAL_SET))
        assert "b.json" in refused([tmp_path / "a.json", tmp_path / "b.json"])

    def test_a_path_that_looks_like_json_or_a_pattern(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        for name in ("[a].json", "{x}.json"):
            Path(name).write_text(json.dumps(EVAL_SET))
            assert read(name)[0].source[0] == name

    def test_forced_formats(self) -> None:
        assert "unknown format 'adk_evalsets', wanted one of " in refused(EVAL_SET, format="adk_evalsets")
        assert "did you mean 'adk_evalset'?" in refused(EVAL_SET, format="adk_evalsets")
        assert "found a list, wanted an object" in refused([1], format="adk_evalset")
        assert "found a number, wanted an object" in str(read(b"5", format="records")[0].error)
        assert [case.case_id for case in read(b"5", format="records")] == ["<bytes>"]  # a row of a report has a name
        two = "\n".join(map(json.dumps, json.loads(READERS["adk_events"].example)["events"]))
        assert read(two, format="adk_events") == read(two)
        assert [case.case_id for case in read(f"{RECORD}\n{OTHER}", format="records")] == ["a", "b"]


class TestLines:
    def test_one_bad_line_among_good_ones(self, tmp_path: Path) -> None:
        path = tmp_path / "cases.jsonl"
        path.write_text(f"{RECORD}\n\n{{broken\n{OTHER}\n[1]\n{RECORD[:-9]}")
        cases = read(path, format=None)
        assert [(case.case_id, case.source[1]) for case in cases] == [
            ("a", "line 1"), ("line 3", "line 3"), ("b", "line 4"), ("line 5", "line 5"), ("line 6", "line 6")
        ]  # fmt: skip
        assert [case.error is None for case in cases] == [True, False, True, False, False]
        assert str(cases[1].error).startswith("line 3 column 2: not JSON: key must be a string")
        assert "not a supported evaluation file" in str(cases[3].error)
        assert "truncated" in str(cases[4].error)

    def test_a_bad_first_line(self) -> None:
        broken, good = read(f'{{"case_id": }}\n{RECORD}\n')
        assert (broken.case_id, good.case_id) == ("line 1", "a")
        assert "line 1 column" in str(broken.error)

    def test_lines_of_other_documents(self) -> None:
        one = json.dumps(EVAL_SET["eval_cases"][0])
        cases = read(f"{one}\n{one}\n{RECORD}\n".replace("paris", "p", 1).encode())
        assert [case.case_id for case in cases] == ["p", "paris", "a"]
        assert [case.source for case in cases] == [("<bytes>", f"line {n}") for n in (1, 2, 3)]

    def test_events_one_a_line_are_one_session(self) -> None:
        events = json.loads(READERS["adk_events"].example)["events"]
        (case,) = read("\n".join(map(json.dumps, events)))
        assert [turn.actual.response for turn in case.turns if turn.actual] == ["It is 20C."]

    def test_an_iterable_of_records(self) -> None:
        cases = list(iter_cases(json.loads(RECORD.replace('"a"', f'"{c}"')) for c in "ab"))
        assert [case.source for case in cases] == [("<records>", "record 1"), ("<records>", "record 2")]

    def test_nothing_but_bad_lines(self) -> None:
        message = refused('{"a": }\n{"b": 1}\n')
        assert "not a supported evaluation file: found keys [b]" in message
        assert "<text>: line 2" in message
        assert "line 1 column 7" in refused('{"a": }\n{"b": }\n')
        assert refused("data: {x\n\n").startswith("<text>: line 1 column 2: not JSON")

    def test_lines_are_taken_one_by_one(self, tmp_path: Path) -> None:
        path = tmp_path / "many.jsonl"
        with path.open("w") as file:
            for n in range(50_000):
                file.write(f'{{"case_id": "c{n}", "turns": [{{"user": "{"x" * 400}", "response": ""}}]}}\n')
        code = (
            "import resource, sys\nfrom adk_scoring.readers import iter_cases\n"
            "taken = iter_cases(sys.argv[1]); next(taken)\n"
            "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "n = 1 + sum(1 for _ in taken)\n"
            "print(n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
        )
        out = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True).stdout
        count, grown = map(int, out.split())
        assert count == 50_000
        assert path.stat().st_size > 20_000_000
        assert grown < 12_000  # kilobytes; the file alone has 22,000

    def test_an_abandoned_reading_closes_its_file(self) -> None:
        taken = iter_cases(DATA / "records/cases.jsonl")
        assert next(taken).case_id == "paris"
        del taken
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gc.collect()


class TestBadJson:
    @pytest.mark.parametrize(
        ("raw", "says"),
        [
            (b'{"eval_set_id": "s",\n "eval_cases": [],}', "line 2 column 19: not JSON: trailing comma; .* delete it"),
            (b'{"eval_set_id": "s",\n "eval_cases": [', "line 2 column 16: not JSON: EOF .*truncated"),
            (b'{"a": "\xff"}', "line 1 column 8: byte 0xff is not valid UTF-8; save"),
            (b'{"a":\n "ok \xe9t\xe9"}', "line 2 column 6: byte 0xe9 is not valid UTF-8"),
            (b"{'a': 1}", "line 1 column 2: not JSON"),
            (b"// comment\n{}", "line 1 column 1: not JSON"),
            (b"hello", "line 1 column 1: not JSON"),
            (b"[" * 10_000 + b"]" * 10_000, "nested too deeply"),
            (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "nested too deeply"),
            (b'{"eval_cases": [{"conversation": ' + b"[" * 10_000 + b"]" * 10_000 + b"}]}", "nested too deeply"),
            (b'"[1, 2"', "not JSON: EOF"),
            (b'"' + b"[" * 9_999 + b'"', "nested too deeply"),
            (b'{"a": "\\ud800\\q"}', "not JSON"),
            (b"\xff\xfe{", "starts like UTF-16 but is not"),
            (b"PK\x03\x04 a zip", "not a zip archive"),
            (b"1" * 5_000, "not JSON: number out of range"),
        ],
    )
    def test_refused_with_its_place(self, raw: bytes, says: str) -> None:
        with pytest.raises(ReadError, match=f"<bytes>: .*{says}") as caught:
            read(raw)
        assert len(str(caught.value)) < 1_500

    def test_tolerated(self) -> None:
        text = READERS["adk_evalset"].example
        for raw in (
            b"\xef\xbb\xbf" + text.encode(),
            ("\ufeff" + text).encode("utf-16-le"),
            ("\ufeff" + text).encode("utf-16-be"),
            b"\n\n " + text.encode(),
            text.encode().replace(b"{", b"{\n").replace(b"\n", b"\r\n"),
            json.dumps(text).encode(),
            text.replace('"eval_set_id": "weather"', '"eval_set_id": "x", "eval_set_id": "weather"').encode(),
        ):
            (case,) = read(raw)
            assert (case.set_id, case.turns[0].expected[0].response) == ("weather", "It is 20C.")

    def test_numbers_and_surrogates_beyond_json(self) -> None:
        text = READERS["adk_evalset"].example
        (case,) = read(text.replace('"Paris"', "NaN"))
        (call,) = case.turns[0].expected[0].tool_calls or ()
        assert str(call.args) == "{'city': nan}"
        (case,) = read(text.replace("It is 20C.", "cut \\ud83d"))
        assert case.turns[0].expected[0].response == "cut \ud83d"

    def test_a_text_of_a_hundred_megabytes(self) -> None:
        huge = "x" * 100_000_000
        (case,) = read(READERS["adk_evalset"].example.replace("It is 20C.", huge).encode())
        assert case.turns[0].expected[0].response == huge

    def test_parsed_values_nested_too_deeply(self) -> None:
        deep: Any = 1
        for _ in range(100_000):
            deep = [deep]
        call = {"name": deep}
        source = {
            "eval_set_id": "s",
            "eval_cases": [{"eval_id": "a", "conversation": [{"user_content": "x", "intermediate_data": [call]}]}],
        }
        (case,) = read(source)
        assert case.error == "eval_cases[0]: the values are nested too deeply"
        assert "not a supported" in refused({"a": deep})
        assert "wanted a list" in str(
            read({"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": {"a": deep}}]})[0].error
        )


class TestMessages:
    def test_found_and_wanted(self) -> None:
        message = refused({"description": "x", "test_cases": []})
        assert message.startswith("<data>: not a supported evaluation file: found keys [description, test_cases]; ")
        assert "wanted one of the formats " in message
        assert "adk_evalset (eval_cases), " in message
        assert "adk_events (events)" in message

    def test_hints(self) -> None:
        assert "Did you mean 'eval_cases' where 'eval_case' stands?" in refused({"eval_case": []})
        assert "Did you mean 'eval_case_results' where 'evalCaseResult' stands?" in refused({"evalCaseResult": []})
        message = refused({"evalCases": [{"name": "a", "userMessage": "b"}]})
        assert "'evalCases' is right, but its items have the keys [name, userMessage]" in message
        message = refused([{"name": "a"}, 5])
        assert "found a list of 2 items, keys [name]" in message
        assert "found a list of 1 items, the first a number; wanted one of" in refused([5])

    def test_values_that_python_will_not_print_are_named(self) -> None:
        turns = [{"user_content": [{"text": odd}]} for odd in (10**5000, {(1, 2): 3})]
        with pytest.warns(ReadWarning, match="'text' is"):
            (case,) = read({"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": turns}]})
        assert [turn.expected[0].user_text for turn in case.turns] == ["a huge number", "{(1, 2): 3}"]

    def test_many_keys_are_cut(self) -> None:
        assert len(refused({f"key{n}": n for n in range(10_000)})) < 2_000

    def test_a_warning_points_at_the_line_that_reads(self) -> None:
        with pytest.warns(ReadWarning) as caught:
            read({"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": []}]})
        assert [warning.filename for warning in caught] == [__file__]


class TestCollector:
    def test_it_is_paused_and_restored(self) -> None:
        assert gc.isenabled()
        read(EVAL_SET)
        assert gc.isenabled()
        refused(b"x")
        assert gc.isenabled()
        gc.disable()
        try:
            read(EVAL_SET)
            assert not gc.isenabled()
        finally:
            gc.enable()


def test_importing_the_readers_loads_neither_pydantic_nor_a_format() -> None:
    code = (
        "import sys, adk_scoring.readers\n"
        "print([m for m in sys.modules if 'pydantic' in m or m.startswith('adk_scoring.readers.adk')])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_a_case_named_by_its_place_is_no_trial_of_that_place_in_another_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text('{"turns": [{"user": "q", "calls": [], "response": "a"}]}\n' * 2)
    assert [case.case_id for case in read(tmp_path)] == ["one line 1", "one line 2", "two line 1", "two line 2"]
    assert [case.case_id for case in read(tmp_path / "one.jsonl")] == ["line 1", "line 2"]
