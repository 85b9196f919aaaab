"""Five hundred cases, an agent that raises, hangs or returns nonsense at random, and a process that is killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import adk_scoring
from adk_scoring import Case, Invocation, Session, Turn, collect, read

CASES = 500


def cases() -> list[Case]:
    return [Case(f"case{i}", (Turn(None, (Invocation(f"question {i}", ()),)),)) for i in range(CASES)]


def fate(user_text: str) -> str:
    return random.Random(user_text).choices(["answers", "raises", "hangs", "nonsense"], [80, 8, 4, 8])[0]


class Unreliable:
    """Answers, raises, hangs or returns nonsense, by its question; writes down what it was asked."""

    def __init__(self, log: Path) -> None:
        self.log = log

    def __call__(self, user_text: str, *, session: Session) -> Any:
        with self.log.open("a") as file:
            file.write(user_text + "\n")
        match fate(user_text):
            case "raises":
                raise RuntimeError(f"no answer to {user_text}")
            case "hangs":
                time.sleep(3)
            case "nonsense":
                return random.Random(user_text).choice([None, 42, "text", [1], {"a": 1}])
        time.sleep(0.003)
        return Invocation(response=user_text.upper())


def collected(folder: Path) -> list[Case]:
    return collect(
        Unreliable(folder / "asked.txt"), cases(), concurrency=16, timeout=0.15, resume=folder / "runs.jsonl"
    )


def test_nothing_is_lost_and_the_order_is_kept_after_kill_9(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[1]
    search = os.pathsep.join([str(root), str(Path(adk_scoring.__file__).parents[1])])
    code = f"import pathlib, tests.test_runner_killed as t; t.collected(pathlib.Path({str(tmp_path)!r}))"
    process = subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": search})
    file = tmp_path / "runs.jsonl"
    deadline = time.monotonic() + 30
    while not file.exists() or file.read_bytes().count(b"\n") < 120:
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = file.read_bytes().count(b"\n")
    assert 120 <= done < CASES
    with file.open("ab") as torn:  # as if it was killed while it wrote
        torn.write(b'{"case_id": "case499", "turns": [{"us')
    kept = {json.loads(line)["case_id"] for line in file.read_bytes().split(b"\n")[:done]}
    (tmp_path / "asked.txt").unlink()

    recorded = collected(tmp_path)

    asked_again = set((tmp_path / "asked.txt").read_text().splitlines())
    assert asked_again == {f"question {i}" for i in range(CASES)} - {name.replace("case", "question ") for name in kept}
    assert [case.case_id for case in recorded] == [f"case{i}" for i in range(CASES)]
    for index, case in enumerate(recorded):
        made, text = case.turns[0].actual, f"question {index}"
        assert made is not None
        match fate(text):
            case "answers":
                # A busy machine may be slower than the timeout; then that is what it says.
                assert (made.response, made.error) in (
                    (text.upper(), None),
                    (None, "timeout: no answer within 0.15 s"),
                )
            case "raises":
                assert made.error == f"RuntimeError: no answer to {text}"
            case "hangs":
                assert made.error == "timeout: no answer within 0.15 s"
            case "nonsense":
                assert str(made.error).startswith("the agent returned")
    assert sum(case.turns[0].actual.error is None for case in recorded if case.turns[0].actual) > 300
    assert sorted(case.case_id for case in read(file)) == sorted(case.case_id for case in cases())
    assert collected(tmp_path) == recorded
