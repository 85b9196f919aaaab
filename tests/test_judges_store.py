"""The verdict store: what finds a verdict and what does not, other processes, broken files, export."""

from __future__ import annotations

import gc
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adk_scoring
from adk_scoring.errors import ConfigError, JudgeError
from adk_scoring.judges import VerdictStore
from adk_scoring.judges import store as store_module
from adk_scoring.judges.store import verdict_key
from adk_scoring.metrics.base import Prompt, Reply

QUESTION = Prompt("turn 1/rubric polite", "Is it polite?", '{"response": "Hello!"}', '{"type": "object"}')
REPLY = Reply('{"verdict": "yes"}', {"input_tokens": 3}, "model-001", "STOP")


def put(store: VerdictStore, name: str, reply: Reply = REPLY, judge: str = "j") -> str:
    key = verdict_key(judge, {}, Prompt("", "", name))
    store.put(key, reply, judge=judge, sampling={"temperature": 1}, prompt=QUESTION)
    return key


def python(code: str, *arguments: str) -> subprocess.Popen[str]:
    """Start another process with the package at hand."""
    environment = {**os.environ, "PYTHONPATH": str(Path(adk_scoring.__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], env=environment, stdout=subprocess.PIPE, text=True
    )


WRITE = """
import sys
import threading
from adk_scoring.judges import VerdictStore
from adk_scoring.judges import store as store_module
from adk_scoring.judges.store import verdict_key
from adk_scoring.metrics.base import Prompt, Reply
path, who, many = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = VerdictStore(path)
for i in range(many):
    prompt = Prompt("q", "", f"{who} {i}")
    store.put(verdict_key("j", {}, prompt), Reply("x" * 500), judge="j", sampling={}, prompt=prompt)
    if i % 10 == 9:
        print(i + 1, flush=True)
"""


def test_a_verdict_comes_back_whole(tmp_path: Path) -> None:
    with VerdictStore(tmp_path / "v.db") as store:
        key = put(store, "a")
    with VerdictStore(tmp_path / "v.db") as store:
        assert store.get([key, "no such key"]) == {key: REPLY}
        assert len(store) == 1
        assert repr(store) == f"<verdict store {str(tmp_path / 'v.db')!r}, mode 'resume'>"


@pytest.mark.parametrize(
    ("judge", "sampling", "changes"),
    [
        ("other", {}, {}),
        ("j", {"temperature": 0.5}, {}),
        ("j", {}, {"system": "Is it rude?"}),
        ("j", {}, {"schema": '{"type": "string"}'}),
        ("j", {}, {"content": '{"response": "Hello."}'}),
        ("j", {}, {"sample": 1}),
        ("j", {}, {"system": "Is it polite?{", "content": '"response": "Hello!"}'}),
    ],
)
def test_what_may_change_a_verdict_changes_its_key(
    judge: str, sampling: dict[str, Any], changes: dict[str, Any]
) -> None:
    fields = {name: getattr(QUESTION, name) for name in ("key", "system", "content", "schema", "sample")}
    assert verdict_key(judge, sampling, Prompt(**{**fields, **changes})) != verdict_key("j", {}, QUESTION)


def test_what_cannot_change_a_verdict_does_not_change_its_key() -> None:
    elsewhere = Prompt("turn 7", QUESTION.system, QUESTION.content, QUESTION.schema)
    assert verdict_key("j", {}, elsewhere) == verdict_key("j", {}, QUESTION)
    assert verdict_key("j", {"a": 1, "b": 2}, QUESTION) == verdict_key("j", {"b": 2, "a": 1}, QUESTION)


@given(st.tuples(st.text(), st.text(), st.text()), st.tuples(st.text(), st.text(), st.text()))
def test_two_questions_have_two_keys(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    keys = [verdict_key("j", {}, Prompt("", *texts)) for texts in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)


def test_any_text_can_be_kept() -> None:
    odd = 'half a character \ud800, "quotes", \x00 and \U0001f600'
    with VerdictStore(":memory:") as store:
        key = put(store, odd, Reply(odd))
        assert store.get([key])[key].text == odd


def test_many_keys_at_once() -> None:
    with VerdictStore(":memory:") as store:
        keys = [put(store, str(i), Reply(str(i))) for i in range(1201)]
        found = store.get(keys)
    assert [found[key].text for key in keys] == [str(i) for i in range(1201)]


def test_a_failure_is_never_kept() -> None:
    with VerdictStore(":memory:") as store:
        with pytest.raises(ValueError, match="only good verdicts"):
            put(store, "a", Reply("", error="blocked: SAFETY"))
        assert len(store) == 0


def test_a_new_verdict_replaces_the_old_one() -> None:
    with VerdictStore(":memory:") as store:
        key = put(store, "a", Reply("old"))
        assert put(store, "a", Reply("new")) == key
        assert store.get([key])[key].text == "new"


@pytest.mark.parametrize(
    "broken", ["", "[]", "{}", "null", '{"text": 1, "usage": 0, "model_version": 0, "finish_reason": 0}']
)
def test_a_broken_entry_is_a_miss(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "v.db"
    with VerdictStore(path) as store:
        key, other = put(store, "a"), put(store, "b")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE verdicts SET record = ? WHERE key = ?", (broken, key))
    connection.commit()
    connection.close()
    with VerdictStore(path) as store:
        assert store.get([key, other]) == {other: REPLY}
        assert store.export(tmp_path / "v.jsonl") == 1


def test_replaying_reads_only_and_needs_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v#1 %41.db"
    with pytest.raises(JudgeError, match="no such file to replay"):
        VerdictStore(path, mode="replay")
    assert not path.exists()
    with VerdictStore(path) as store:
        key = put(store, "a")
    with VerdictStore(path, mode="replay") as store:
        assert store.get([key]) == {key: REPLY}
        with pytest.raises(JudgeError, match="readonly"):
            put(store, "b")
    # A folder that cannot be written to, as of an installed package.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with VerdictStore(path, mode="replay") as store:
        assert store.get([key]) == {key: REPLY}


@pytest.mark.parametrize("content", [b"This is no database, and long enough to be read as the head of one." * 20, b""])
def test_a_file_that_is_something_else(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(JudgeError, match=r"notes\.txt: the verdict store cannot be used: "):
        VerdictStore(path, mode="replay")
    if content:
        with pytest.raises(JudgeError, match="not a database"):
            VerdictStore(path)
    assert path.read_bytes() == content


def test_a_database_of_something_else(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "v.db")
    connection.execute("CREATE TABLE verdicts (case_name TEXT)")
    connection.close()
    with pytest.raises(JudgeError, match="no such column"):
        VerdictStore(tmp_path / "v.db")


def test_a_folder_that_is_not_there_and_a_mode_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="unable to open"):
        VerdictStore(tmp_path / "missing" / "v.db")
    with pytest.raises(ConfigError, match="'resume' or 'replay'"):
        VerdictStore(":memory:", mode="record")  # type: ignore[arg-type]


def test_a_closed_store_says_so() -> None:
    store = VerdictStore(":memory:")
    store.close()
    store.close()
    with pytest.raises(JudgeError, match="closed"):
        len(store)


def test_one_that_is_forgotten_closes_itself(tmp_path: Path) -> None:
    store = VerdictStore(tmp_path / "v.db")
    put(store, "a")
    del store
    gc.collect()  # an open connection would be reported
    assert [path.name for path in tmp_path.iterdir()] == ["v.db"]


def test_prune(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    with VerdictStore(tmp_path / "v.db") as store:
        monkeypatch.setattr(time, "time", lambda: now - 86400 * 40)
        old = put(store, "old")
        monkeypatch.undo()
        new, other = put(store, "new"), put(store, "other", judge="k")
        assert store.prune(older_than=timedelta(days=30)) == 1
        assert store.get([old, new, other]).keys() == {new, other}
        assert store.prune(judge="k", older_than=timedelta(days=30)) == 0
        assert store.prune(judge="k") == 1
        assert store.get([new, other]).keys() == {new}
        with pytest.raises(ConfigError, match="older_than or judge"):
            store.prune()


def test_export_and_load(tmp_path: Path) -> None:
    first, again = tmp_path / "first.jsonl", tmp_path / "again.jsonl"
    with VerdictStore(tmp_path / "v.db") as store:
        keys = [put(store, name, Reply(name, {"input_tokens": 1})) for name in ("b", "a", "é \ud800")]
        assert store.export(first) == 3
    lines = [json.loads(line) for line in first.read_text("utf-8").splitlines()]
    assert [line["key"] for line in lines] == sorted(keys)
    assert set(lines[0]) == {
        *("key", "judge", "created", "sampling", "question", "sample"),
        *("text", "usage", "model_version", "finish_reason"),
    }
    assert lines[0]["question"] == "turn 1/rubric polite"
    with VerdictStore(":memory:", mode="replay") as store:
        assert store.load(first) == 3
        assert store.get(keys)[keys[2]] == Reply("é \ud800", {"input_tokens": 1})
        assert store.export(again) == 3
    assert again.read_bytes() == first.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"v.db", "first.jsonl", "again.jsonl"}


def test_loading_keeps_what_is_there(tmp_path: Path) -> None:
    with VerdictStore(":memory:") as store:
        key = put(store, "a", Reply("exported"))
        store.export(tmp_path / "v.jsonl")
        put(store, "a", Reply("newer"))
        store.load(tmp_path / "v.jsonl")
        assert store.get([key])[key].text == "newer"


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", '{"key": "k", "judge": "j", "created": "yesterday", "text": "x"}', "SHORT"]
)
def test_a_line_that_is_no_verdict_adds_nothing(tmp_path: Path, line: str) -> None:
    path = tmp_path / "v.jsonl"
    with VerdictStore(":memory:") as store:
        put(store, "a")
        store.export(path)
    good = path.read_text("utf-8")
    if line == "SHORT":
        line = json.dumps({name: value for name, value in json.loads(good).items() if name != "text"})
    path.write_text(f"{good}\n{line}\n", "utf-8")
    with VerdictStore(":memory:") as store:
        with pytest.raises(JudgeError, match=r"v\.jsonl: line 3: not a verdict"):
            store.load(path)
        assert len(store) == 0
        with pytest.raises(FileNotFoundError):
            store.load(tmp_path / "missing.jsonl")


def test_processes_that_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    writers = [python(WRITE, str(path), who, "300") for who in ("a", "b", "c")]
    for writer in writers:
        writer.communicate(timeout=60)
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    keys = [verdict_key("j", {}, Prompt("", "", f"{who} {i}")) for who in ("a", "b", "c") for i in range(300)]
    with VerdictStore(path) as store:
        assert store.get(keys).keys() == set(keys)


def test_a_killed_writer_loses_nothing_and_breaks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    victim, survivor = python(WRITE, str(path), "victim", "100000"), python(WRITE, str(path), "survivor", "400")
    assert victim.stdout is not None
    written = [int(victim.stdout.readline()) for _ in range(20)][-1]
    victim.send_signal(signal.SIGKILL)
    told = victim.communicate(timeout=60)[0].split()
    written = int(told[-1]) if told else written
    survivor.communicate(timeout=60)
    assert (victim.returncode, survivor.returncode) == (-signal.SIGKILL, 0)
    keys = [verdict_key("j", {}, Prompt("", "", f"victim {i}")) for i in range(written)]
    keys += [verdict_key("j", {}, Prompt("", "", f"survivor {i}")) for i in range(400)]
    with VerdictStore(path) as store:
        assert store.get(keys).keys() == set(keys)
        assert put(store, "and goes on") in store.get([put(store, "and goes on")])
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_stores_made_at_the_same_moment(tmp_path: Path) -> None:
    # SQLite does not wait for others in the statement that makes a new file one for many writers.
    for turn in range(20):
        start = threading.Barrier(8)
        failures: list[Exception] = []

        def make(path: Path, start: threading.Barrier = start, failures: list[Exception] = failures) -> None:
            start.wait()
            try:
                VerdictStore(path).close()
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=make, args=(tmp_path / f"{turn}.db",)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []


class Locked:
    """A connection whose file is locked so many times."""

    def __init__(self, times: int, message: str = "database is locked") -> None:
        self.times, self.message = times, message

    def execute(self, statement: str) -> None:
        self.times -= 1
        if self.times >= 0:
            raise sqlite3.OperationalError(self.message)


def test_a_locked_file_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    connection: Any = Locked(3)
    store_module._switch_to_wal(connection)
    assert connection.times == -1
    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        store_module._switch_to_wal(cast(Any, Locked(1, "disk I/O error")))
    monkeypatch.setattr(store_module, "_WAIT", -1)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        store_module._switch_to_wal(cast(Any, Locked(1)))
