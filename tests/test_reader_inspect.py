"""Logs of inspect-ai: samples, epochs, grades, attachments; zipped logs and what may be hostile about them."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

from adk_scoring.errors import ReadError, ReadWarning
from adk_scoring.model import Invocation, RecordedScore, ToolCall, Usage
from adk_scoring.readers import READERS, read
from tests.corpus import corpus

LOG = Path(__file__).parent / "data/inspect_log/log.json"

pytestmark = pytest.mark.filterwarnings("ignore:.*arguments that are no JSON object:adk_scoring.errors.ReadWarning")


def zipped(entries: dict[str, Any], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, value in entries.items():
            archive.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return out.getvalue()


def log() -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(LOG.read_text())
    return whole


def as_zip() -> dict[str, Any]:
    whole = log()
    samples = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in whole.pop("samples")}
    return {"_journal/start.json": whole, **samples, "header.json": whole, "summaries.json": []}


def test_golden_log() -> None:
    first, second, failed = read(LOG)
    assert [(case.case_id, case.trial, case.set_id) for case in (first, second, failed)] == [
        ("france", 0, "capitals"),
        ("france", 1, "capitals"),
        ("7", 0, "capitals"),
    ]
    (turn,) = first.turns
    assert turn.actual is not None
    assert turn.actual.tool_calls is not None
    good, bad = turn.actual.tool_calls
    assert good == ToolCall("search", {"q": "France"}, call_id="c1", step=0, response="Paris is the capital.")
    assert (bad.args, bad.error, bad.step) == (None, "bad JSON", 0)
    assert bad.args_error is not None
    assert "bad JSON" in bad.args_error
    assert (turn.actual.response, turn.actual.intermediate_responses) == ("Paris", (("", "Looking it up."),))
    assert turn.actual.usage == Usage(input_tokens=8, output_tokens=2, cached_tokens=3)
    assert [each.response for each in turn.expected] == ["Paris", "paris"]
    assert first.recorded == (
        RecordedScore("match", 1.0, verdict="passed", reason="exact"),
        RecordedScore("cost", 0.25),
        RecordedScore("multi/a", 1.0),
        RecordedScore("multi/b", 0.5),
    )
    assert (first.instructions, first.metadata) == ("Answer in a word.", {"level": "easy"})
    assert [turn.actual and turn.actual.user_text for turn in second.turns] == ["Capital of France?", "Sure?"]
    assert [len(turn.expected) for turn in second.turns] == [0, 1]
    assert failed.turns[0].actual == Invocation("Capital of Chad?", (), error="the model was gone")


def test_a_zipped_log_gives_the_same_cases_in_order(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(zipped(as_zip()))
    cases = read(path)
    assert [case.source[1] for case in cases] == [
        "samples/7_epoch_1.json",
        "samples/france_epoch_1.json",
        "samples/france_epoch_2.json",
    ]
    wanted = {(case.case_id, case.trial): case for case in read(LOG)}
    for case in cases:
        other = wanted[case.case_id, case.trial]
        assert (case.turns, case.recorded, case.set_id) == (other.turns, other.recorded, other.set_id)
    assert [case.turns for case in read(path.read_bytes())] == [case.turns for case in cases]
    with path.open("rb") as file:
        assert len(read(file)) == 3
    assert len(read(tmp_path)) == 3  # found in a folder too


def test_samples_sort_by_number() -> None:
    sample = log()["samples"][1]
    entries = {f"samples/{n}_epoch_1.json": sample | {"id": n, "epoch": 1} for n in (10, 9, 2)}
    assert [case.case_id for case in read(zipped(entries))] == ["2", "9", "10"]


class TestHostile:
    def test_one_broken_entry_among_good_ones(self) -> None:
        broken, case = read(zipped({"samples/1_epoch_1.json": b"{oops", "samples/2_epoch_1.json": log()["samples"][1]}))
        assert broken.error is not None
        assert "not JSON" in broken.error
        assert (broken.source[1], case.error) == ("samples/1_epoch_1.json", None)

    @pytest.mark.parametrize("size", [40 << 20])
    def test_a_bomb_is_refused_unread(self, size: int) -> None:
        sample = log()["samples"][1]
        bomb, case = read(zipped({"samples/1_epoch_1.json": b" " * size, "samples/2_epoch_1.json": sample}))
        assert bomb.error is not None
        assert "looks like a zip bomb" in bomb.error
        assert case.error is None

    def test_entries_that_share_their_bytes(self) -> None:
        """One packed entry, listed many times: each is small, all together are not."""
        raw = zipped({"samples/1_epoch_1.json": b" " * (10 << 20)})
        start, end = raw.index(b"PK\x01\x02"), raw.index(b"PK\x05\x06")
        entry, many = raw[start:end], 150
        listed = b"".join(entry.replace(b"samples/1_", b"samples/%c_" % (48 + n % 10)) for n in range(many))
        tail = bytearray(raw[end:])
        struct.pack_into("<HHI", tail, 8, many, many, len(listed))
        with pytest.raises(ReadError, match=r"the archive unpacks from .* looks like a zip bomb"):
            read(raw[:start] + listed + bytes(tail))

    def test_an_entry_that_lies_about_its_size(self) -> None:
        raw = bytearray(zipped({"samples/1_epoch_1.json": b" " * 5000, "samples/2_epoch_1.json": log()["samples"][1]}))
        directory = raw.index(b"PK\x01\x02")
        struct.pack_into("<I", raw, directory + 24, 10)  # the size that the central directory declares
        broken, case = read(bytes(raw))
        assert broken.error is not None
        assert "cannot be unpacked" in broken.error or "empty" in broken.error
        assert case.error is None

    @pytest.mark.parametrize("method", [12, 14, 93, 99])
    def test_other_compressions(self, method: int) -> None:
        raw = bytearray(
            zipped({"samples/1_epoch_1.json": log()["samples"][1], "samples/2_epoch_1.json": log()["samples"][1]})
        )
        struct.pack_into("<H", raw, raw.index(b"PK\x01\x02") + 10, method)
        broken, case = read(bytes(raw))
        assert broken.error is not None
        if method == 93 and not hasattr(zipfile, "ZIP_ZSTANDARD"):
            assert "inspect log convert --to json" in broken.error
        else:
            assert "cannot be unpacked" in broken.error
        assert case.error is None

    def test_encrypted(self) -> None:
        raw = bytearray(
            zipped({"samples/1_epoch_1.json": log()["samples"][1], "samples/2_epoch_1.json": log()["samples"][1]})
        )
        raw[raw.index(b"PK\x01\x02") + 8] |= 1
        broken, _ = read(bytes(raw))
        assert broken.error is not None
        assert "encrypted" in broken.error

    @pytest.mark.parametrize(
        ("raw", "says"),
        [
            (zipped(as_zip())[:-40], "not a zip archive"),
            (zipped({"word/document.xml": b"<x/>"}), "holds no log of inspect"),
            (zipped({"../../samples/1.json": b"{}"}), "holds no log of inspect"),
            (b"PK\x03\x04", "not a zip archive"),
        ],
    )
    def test_other_archives(self, raw: bytes, says: str) -> None:
        with pytest.raises(ReadError, match=says):
            read(raw)


def test_a_log_without_samples() -> None:
    whole = log() | {"samples": None, "status": "error"}
    with pytest.warns(ReadWarning, match=r"without samples \(its status is error\)"), pytest.raises(ReadError):
        read(whole)
    with pytest.warns(ReadWarning, match="without samples"), pytest.raises(ReadError):
        read(zipped({"header.json": whole}))


def test_one_broken_sample_among_good_ones() -> None:
    whole = log()
    whole["samples"][0]["messages"] = 5
    whole["samples"].append("x")
    first, good, _, last = read(whole)
    assert first.error == "samples[0].messages: found a number, wanted a list: 5"
    assert (first.case_id, first.set_id, good.error) == ("france", "capitals", None)
    assert last.error == "samples[3]: found text, wanted an object: 'x'"
    (case, *_) = read(log() | {"samples": [{"id": 1, "error": "gone"}]})
    assert (case.turns, case.error) == ((), "gone")


def contents(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header and samples of a log, read without the library."""
    if path.suffix == ".json":
        whole = json.loads(path.read_text())
        return whole, whole.get("samples", [])
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.startswith("samples/")]
        return json.loads(archive.read("header.json")), [json.loads(archive.read(name)) for name in names]


def test_public_files() -> None:
    files = sorted(corpus("inspect_log").iterdir())
    assert len(files) == 14
    total = 0
    for path in files:
        header, samples = contents(path)
        if path.suffix == ".json":
            assert [name for name, reader in READERS.items() if reader.recognises(header)] == ["inspect_log"]
        if not samples:
            with pytest.warns(ReadWarning, match="without samples"), pytest.raises(ReadError, match="holds no cases"):
                read(path)
            continue
        if path.name.endswith("+9.json"):  # its messages are answers of tools alone
            with pytest.warns(ReadWarning, match="an answer without a call"):
                cases = read(path)
        else:
            cases = read(path)
        assert {(case.case_id, case.trial + 1) for case in cases} == {(str(s["id"]), s["epoch"]) for s in samples}
        made = [call for case in cases for turn in case.turns if turn.actual for call in turn.actual.tool_calls or ()]
        assert len(made) == sum(len(m.get("tool_calls") or ()) for s in samples for m in s["messages"])
        assert sum(len(case.recorded) for case in cases) == sum(len(s.get("scores") or ()) for s in samples)
        # None of them has a user message after an answer.
        assert all(len(case.turns) == 1 for case in cases)
        assert {case.set_id for case in cases} == {header["eval"]["task"]}
        total += len(cases)
    assert total == 33
