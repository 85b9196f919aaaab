"""``python -m adk_scoring score``: exit statuses, formats, folders, and one line for every kind of bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import adk_scoring.__main__ as command_line
from adk_scoring import Report
from adk_scoring.__main__ import main

ROOT = Path(__file__).resolve().parents[1]


def eval_set(name: str, *ids: str, tool: str = "get_weather") -> dict[str, Any]:
    return {
        "eval_set_id": name,
        "eval_cases": [
            {
                "eval_id": case_id,
                "conversation": [
                    {
                        "user_content": {"role": "user", "parts": [{"text": f"Weather in {case_id}?"}]},
                        "intermediate_data": {"tool_uses": [{"name": tool, "args": {"city": case_id}}]},
                    }
                ],
            }
            for case_id in ids
        ],
    }


def run_of(case_id: str, city: str = "", **more: Any) -> dict[str, Any]:
    calls = [{"name": "get_weather", "args": {"city": city or case_id}}]
    return {
        "case_id": case_id,
        "turns": [{"user": f"Weather in {case_id}?", "calls": calls, "response": "20C"}],
        **more,
    }


def both_sides(case_id: str, city: str = "", **more: Any) -> dict[str, Any]:
    record = run_of(case_id, city, **more)
    record["turns"][0]["expected_calls"] = [{"name": "get_weather", "args": {"city": case_id}}]
    return record


CONFIG = {"criteria": {"tool_trajectory_avg_score": 1.0}}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an eval set of two cases, its configuration and runs, one of which is wrong."""
    write(tmp_path, "evals/weather.evalset.json", eval_set("weather", "paris", "oslo"))
    write(tmp_path, "evals/test_config.json", CONFIG)
    write(tmp_path, "good.jsonl", run_of("paris"), run_of("oslo"))
    write(tmp_path, "bad.jsonl", run_of("paris"), run_of("oslo", "Rome"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, name: str, *records: Any) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in records), encoding="utf-8")
    return file


class Ran:
    """What a command printed and returned."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
        capsys.readouterr()
        self.status = main(["score", *arguments])
        self.out, self.err = capsys.readouterr()

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


EXPECTED = ("--expected", "evals/weather.evalset.json")


# --- what it prints and returns ----------------------------------------------------------------------------------


def test_all_passed_is_status_0(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "good.jsonl", *EXPECTED)
    assert (ran.status, ran.err) == (0, "")
    assert ran.lines[:2] == ["PASSED: 2 cases: 2 passed", f"criteria: evals{os.sep}test_config.json"]


def test_some_did_not_pass_is_status_1(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "bad.jsonl", *EXPECTED)
    assert (ran.status, ran.err) == (1, "")
    assert ran.lines[0] == "NOT PASSED: 2 cases: 1 passed, 1 failed"
    assert "oslo  at bad.jsonl: line 2" in ran.lines
    assert '      get_weather: city: expected "oslo", got "Rome"' in ran.lines


def test_a_missing_run_is_status_1_and_shown(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, "part.jsonl", run_of("paris"), run_of("rome"))
    ran = Ran(capsys, "part.jsonl", *EXPECTED)
    assert ran.status == 1
    assert "  ERROR   tool_trajectory_avg_score: there is no run of this case" in ran.lines
    assert "note: run without an expected case: rome (part.jsonl)" in ran.lines


def test_a_file_may_hold_both_sides(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, "both.jsonl", both_sides("paris"))
    assert Ran(capsys, "both.jsonl", "--config", "evals/test_config.json").status == 0


def test_without_a_configuration_adk_s_default_is_used_and_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(here, "both.jsonl", both_sides("paris"))
    ran = Ran(capsys, "both.jsonl")
    assert ran.lines[1] == "criteria: ADK's default (no test_config.json or eval_config.json found)"
    # No answer is expected, so one of the two was scored in no case: that is not a pass.
    assert ran.status == 1
    assert (
        "response_match_score was scored in no case, so the report is not passed; paris: no expected response"
        in ran.out
    )


def test_runs_without_expectations_say_where_those_are_given(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "good.jsonl")
    assert ran.status == 1
    assert ran.err == "warning: good.jsonl: holds no expectations; give them with --expected FILE\n"
    used = {"criteria": {"trajectory_single_tool_use": {"tool": "get_weather", "threshold": 1}}}
    write(here, "used.json", used)
    alone = Ran(capsys, "good.jsonl", "--config", "used.json")
    assert (alone.status, alone.err) == (0, "")


def test_another_configuration_may_be_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, "loose.json", {"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "ignore_args": True}}})
    ran = Ran(capsys, "bad.jsonl", *EXPECTED, "--config", "loose.json")
    assert ran.status == 0
    assert "criteria: loose.json" in ran.lines


def test_the_configuration_beside_the_runs_is_found(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, "runs/both.jsonl", both_sides("paris"))
    write(here, "eval_config.json", CONFIG)
    assert "criteria: eval_config.json" in Ran(capsys, "runs/both.jsonl").lines


def test_a_folder_has_a_table_for_each_set_and_a_total(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, "runs/a.jsonl", both_sides("paris", set_id="one"))
    write(here, "runs/b.jsonl", both_sides("oslo", "Rome", set_id="two"), both_sides("bonn", set_id="two"))
    ran = Ran(capsys, "runs", "--config", "evals/test_config.json")
    assert ran.status == 1
    assert [line for line in ran.lines if line.startswith(("=", "PASSED", "NOT"))] == [
        "=== one",
        "PASSED: 1 case: 1 passed",
        "=== two",
        "NOT PASSED: 2 cases: 1 passed, 1 failed",
        "=== total of 2 sets",
        "NOT PASSED: 3 cases: 2 passed, 1 failed",
    ]
    markdown = Ran(capsys, "runs", "--config", "evals/test_config.json", "--format", "markdown")
    assert [line for line in markdown.lines if line.startswith("#")] == ["## one", "## two", "## Total of 2 sets"]


def test_runs_and_expectations_may_both_be_folders(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, "runs/a.jsonl", run_of("paris"))
    write(here, "runs/b.jsonl", run_of("oslo"))
    (here / "evals/test_config.json").rename(here / "config.json")
    ran = Ran(capsys, "runs", "--expected", "evals", "--config", "config.json")
    assert (ran.status, ran.err) == (0, "")


def test_a_run_saved_as_an_eval_set_is_a_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, "saved.evalset.json", eval_set("saved-today", "paris", "oslo"))
    assert Ran(capsys, "saved.evalset.json", *EXPECTED).status == 0


def test_json_is_the_whole_report(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "bad.jsonl", *EXPECTED, "--format", "json")
    assert ran.status == 1
    report = Report.from_json(ran.out)
    assert report.case_verdicts == ("passed", "failed")
    assert report.case("oslo").case.source == ("bad.jsonl", "line 2")


def test_markdown_is_for_a_pull_request(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "bad.jsonl", *EXPECTED, "--format", "markdown")
    assert ran.status == 1
    assert ran.lines[0] == "**NOT PASSED: 2 cases: 1 passed, 1 failed**"
    assert any(line.startswith("| oslo | tool\\_trajectory\\_avg\\_score | 0.000 |") for line in ran.lines)


def test_one_case_is_shown_call_by_call(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "bad.jsonl", *EXPECTED, "--case", "oslo")
    assert ran.status == 1
    assert ran.lines[0] == "oslo: FAILED"
    assert "turn 1: Weather in oslo?" in ran.lines
    assert any(line.split()[:1] == ["~"] for line in ran.lines)
    assert Ran(capsys, "bad.jsonl", *EXPECTED, "--case", "paris").status == 0
    alone = Ran(capsys, "bad.jsonl", *EXPECTED, "--case", "oslo", "--format", "json")
    assert [case.case_id for case in Report.from_json(alone.out).cases] == ["oslo"]
    markdown = Ran(capsys, "bad.jsonl", *EXPECTED, "--case", "oslo", "--format", "markdown")
    assert markdown.lines[0] == "**NOT PASSED: 1 case: 1 failed**"


def test_every_trial_of_a_case_is_shown(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, "trials.jsonl", run_of("oslo"), run_of("oslo", "Rome", trial=1), run_of("paris"))
    ran = Ran(capsys, "trials.jsonl", *EXPECTED, "--case", "oslo")
    assert [line for line in ran.lines if line.startswith("oslo")] == ["oslo: PASSED", "oslo (trial 1): FAILED"]


def test_a_warning_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = run_of("paris")
    record["turns"][0]["user"] = "Something\nelse \x1b[31m"
    write(here, "odd.jsonl", record, run_of("oslo"))
    showwarning = warnings.showwarning
    ran = Ran(capsys, "odd.jsonl", *EXPECTED)
    assert ran.status == 0
    assert ran.err.splitlines() == [
        "warning: paris, run from odd.jsonl line 1: neither ids nor user texts of the turns agree; "
        "they were paired by position"
    ]
    assert warnings.showwarning is showwarning


def test_nothing_that_a_terminal_obeys_is_printed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "x\x1b[31m\x9b\n\u202e"
    write(here, "evil.jsonl", both_sides(evil, "Rome", set_id=evil), both_sides(evil, "Rome", set_id=evil + "2"))
    write(here, "evil.json", {"criteria": {evil: 1}})
    for arguments in (
        ("evil.jsonl", "--config", "evals/test_config.json"),
        ("evil.jsonl", "--config", "evals/test_config.json", "--format", "markdown"),
        ("evil.jsonl", "--config", "evals/test_config.json", "--format", "json"),
        ("evil.jsonl", "--config", "evals/test_config.json", "--case", evil),
        ("evil.jsonl", "--config", "evil.json"),
        ("evil.jsonl", "--case", evil + "3"),
    ):
        ran = Ran(capsys, *arguments)
        assert ran.out + ran.err
        assert all(line.isprintable() for line in (ran.out + ran.err).split("\n"))
        if "json" in arguments:
            assert {case.case_id for case in Report.from_json(ran.out).cases} == {evil}


# --- bad input ---------------------------------------------------------------------------------------------------


def refused(ran: Ran, *says: str) -> None:
    assert ran.status == 2
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1, ran.err
    assert ran.err.startswith("adk_scoring: ")
    for words in says:
        assert words in ran.err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"{", "JSON"),
        (b"\x89PNG\r\n\x1a\n\x00\xff\xfe", "UTF-8"),
        (b"[]", "found"),
        (b"{}", "found"),
        (b"5", "found"),
        (b'"text"', "found"),
        (b'{"criteria": {}}', "Criteria.from_file"),
        (b'{"eval_set_id": "x", "eval_cases": []}', "no cases"),
        (b"[" * 100_000, ""),
        (json.dumps(eval_set("x", "paris")).encode(), "holds expectations and no run"),
        (json.dumps(eval_set("x", "paris")).encode()[:-20], "JSON"),
        (json.dumps(eval_set("x", "paris")).encode("utf-16"), ""),
    ],
    ids=lambda value: repr(value)[:30] if isinstance(value, bytes) else value[:20],
)
def test_a_file_without_runs_is_one_line(
    content: bytes, says: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "odd.json").write_bytes(content)
    refused(Ran(capsys, "odd.json"), "odd.json", says)


def test_swapped_files_are_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "session.json").write_text(
        json.dumps({"id": "s", "events": [{"author": "user", "content": {"parts": [{"text": "hi"}], "role": "user"}}]})
    )
    (here / "set.json").write_text(json.dumps(eval_set("x", "paris")))
    refused(Ran(capsys, "set.json", "--expected", "session.json"), "session.json", "holds runs and no expectations")


def test_what_is_not_there_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(Ran(capsys, "missing.json"), "missing.json", "No such file")
    refused(Ran(capsys, "good.jsonl", "--expected", "missing.json"), "missing.json", "No such file")
    refused(Ran(capsys, "good.jsonl", *EXPECTED, "--config", "missing.json"), "missing.json", "No such file")
    refused(Ran(capsys, "missing/*.json"), "missing/*.json", "no file matches")
    refused(Ran(capsys, ""), "empty")
    refused(Ran(capsys, "x" * 5000), "File name too long")


def test_a_folder_without_data_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "empty").mkdir()
    refused(Ran(capsys, "empty"), "empty: the folder holds no data file")
    (here / "empty/readme.txt").write_text("nothing")
    refused(Ran(capsys, "empty"), "empty: the folder holds no data file")
    write(here, "empty/config.json", {"a": 1})
    refused(Ran(capsys, "empty"), "empty")


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"criteria": {}}', '{"criteria": {"trajectory_f2": 1}}'])
@pytest.mark.parametrize("found", [True, False])
def test_a_broken_configuration_is_one_line(
    content: str, found: bool, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path("evals/test_config.json" if found else "other.json")
    file.write_text(content)
    refused(Ran(capsys, "good.jsonl", *EXPECTED, *(() if found else ("--config", "other.json"))), str(file))


def test_a_configuration_that_is_a_folder_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(Ran(capsys, "good.jsonl", *EXPECTED, "--config", "evals"), "evals: cannot be read: Is a directory")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "evals").chmod(0)
    try:
        refused(Ran(capsys, "evals"), "evals")
        refused(Ran(capsys, "good.jsonl", *EXPECTED), "evals")
    finally:
        (here / "evals").chmod(0o700)


def test_an_error_of_the_system_is_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "evals")

    monkeypatch.setattr(command_line, "read", denied)
    refused(Ran(capsys, "good.jsonl"), "adk_scoring: evals: Permission denied")


def test_the_same_file_given_twice_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(Ran(capsys, "evals/weather.evalset.json", *EXPECTED), "is ACTUAL and --expected")


def test_an_unknown_case_is_one_line_with_the_nearest(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(Ran(capsys, "good.jsonl", *EXPECTED, "--case", "olso"), "no case 'olso'; did you mean 'oslo'?")


@pytest.mark.parametrize("arguments", [[], ["score"], ["scor"], ["score", "x", "--format", "xml"], ["score", "x", "y"]])
def test_wrong_arguments_are_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: python -m adk_scoring" in capsys.readouterr().err


def test_an_interrupt_is_quiet(here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, "read", interrupted)
    ran = Ran(capsys, "good.jsonl")
    assert (ran.status, ran.out, ran.err) == (130, "", "")


# --- as a process ------------------------------------------------------------------------------------------------


def process(folder: Path, *arguments: str, **more: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "adk_scoring", "score", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **more.pop("env", {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )


def test_it_runs_as_a_module(here: Path) -> None:
    with process(here, "bad.jsonl", *EXPECTED) as running:
        out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (1, b"")
    assert out.startswith(b"NOT PASSED: 2 cases: 1 passed, 1 failed\n")
    with process(here, "missing.json") as running:
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (2, b"")
    assert err.count(b"\n") == 1
    assert b"Traceback" not in err


def test_a_console_that_cannot_show_a_character_shows_its_escape(here: Path) -> None:
    write(here, "chinese.jsonl", both_sides("北京", "上海"))
    with process(
        here, "chinese.jsonl", "--config", "evals/test_config.json", env={"PYTHONIOENCODING": "ascii"}
    ) as running:
        out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (1, b"")
    assert b"\\u5317\\u4eac" in out


@pytest.mark.skipif(os.name == "nt", reason="pipes close otherwise there")
def test_a_pipe_that_nobody_reads_gives_no_traceback(here: Path) -> None:
    write(here, "many.jsonl", *(both_sides(f"case {i} {'x' * 200}") for i in range(2000)))
    for form in ("json", "text"):
        with process(here, "many.jsonl", "--config", "evals/test_config.json", "--format", form) as running:
            assert running.stdout
            assert running.stderr
            running.stdout.close()  # as `head` does when it has seen enough
            err = running.stderr.read()
        assert (running.returncode, err) == (141, b"")


@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
def test_control_c_ends_it_quietly(here: Path) -> None:
    os.mkfifo(here / "slow.jsonl")
    # The file opens when the other side reads.
    with process(here, "slow.jsonl", *EXPECTED) as running, (here / "slow.jsonl").open("w"):
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, b"")
