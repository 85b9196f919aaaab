"""``report``, ``compare`` and ``gate`` on the command line: statuses, what is written, and bad input in one line."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from adk_scoring import Report, compare, read_baseline
from adk_scoring.__main__ import main
from tests.made_reports import report_of


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four reports in the working folder."""
    monkeypatch.chdir(tmp_path)
    half = [1.0, 0.0] * 40
    reports = {
        "good": report_of({"m": [1.0] * 80, "n": half}, threshold=0.5),
        "bad": report_of({"m": [0.0] * 80, "n": half}, threshold=0.5),
        "all": report_of({"m": [1.0] * 80}, threshold=0.5),
        "few": report_of({"m": [1.0] * 8, "n": half[:8]}, threshold=0.5),
    }
    for name, report in reports.items():
        (tmp_path / f"{name}.json").write_text(report.to_json(), encoding="utf-8")
    return tmp_path


def out(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_report_shows_it_again(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = Report.from_json((files / "good.json").read_text(encoding="utf-8"))
    assert main(["report", "good.json"]) == 1
    assert out(capsys) == f"{report}\n"
    assert main(["report", "all.json", "--format", "json"]) == 0
    assert Report.from_json(out(capsys)).passed
    assert main(["report", "good.json", "--format", "markdown"]) == 1
    assert out(capsys) == report.to_markdown()
    assert main(["report", "good.json", "--format", "html"]) == 1
    assert out(capsys).startswith('<div class="adk-scoring">')
    assert main(["report", "all.json", "--signatures"]) == 0
    assert out(capsys).splitlines()[-1].startswith("m: metric:m|label:m|numbers:")


def test_report_writes_junit_summary_and_baseline(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "summary.md").write_text("# Before\n", encoding="utf-8")
    arguments = ["--junit", "junit.xml", "--summary", "summary.md", "--baseline", "base.json", "--note", "v1"]
    assert main(["report", "good.json", *arguments]) == 1
    root = fromstring((files / "junit.xml").read_bytes())  # noqa: S314  # our own file
    assert (root.get("tests"), root.get("failures")) == ("80", "40")
    assert (files / "summary.md").read_text(encoding="utf-8").startswith("# Before\n**NOT PASSED: 80 cases")
    assert read_baseline("base.json").note == "v1"
    out(capsys)
    assert main(["gate", "good.json", "--baseline", "base.json", "--margin", "0.1"]) == 0
    assert out(capsys).splitlines()[-1].endswith(", v1")


def test_compare_in_every_form(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reports = {name: read_baseline(f"{name}.json").report for name in ("good", "bad")}
    found = compare(reports)
    for form, wanted in {
        "text": str(found),
        "markdown": found.to_markdown(),
        "html": found.to_html(),
        "latex": found.table("wide", "latex"),
    }.items():
        assert main(["compare", "good.json", "bad.json", "--format", form]) == 0
        assert out(capsys) == wanted.rstrip("\n") + "\n"
    assert main(["compare", "good.json", "bad.json", "--format", "latex", "--layout", "long"]) == 0
    assert out(capsys) == found.table("long", "latex")
    assert main(["compare", "good.json", "bad.json", "--format", "json", "--level", "0.9", "--seed", "3"]) == 0
    assert json.loads(out(capsys)) == compare(reports, level=0.9, seed=3).to_records()


def test_compare_names_and_pairs(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "other").mkdir()
    (files / "other" / "good.json").write_bytes((files / "good.json").read_bytes())
    assert main(["compare", "good.json", "other/good.json"]) == 0
    assert out(capsys).startswith("good.json / other/good.json: 80 cases compared")
    arguments = ["compare", "good.json", "bad.json", "other/good.json", "--names", "a,b,c", "--pairs", "all"]
    assert main(arguments) == 0
    shown = out(capsys)
    assert all(pair in shown for pair in ("b - a", "c - a", "c - b"))


def test_compare_draws(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="figures need the extra plot")
    figures = ["--radar", "radar.svg", "--forest", "forest.png", "--heatmap", "heat.png", "--label", "n"]
    assert main(["compare", "good.json", "bad.json", *figures]) == 0
    assert b"<svg" in (files / "radar.svg").read_bytes()
    assert all((files / name).read_bytes().startswith(b"\x89PNG") for name in ("forest.png", "heat.png"))
    capsys.readouterr()
    assert main(["compare", "good.json", "bad.json", "--heatmap", "heat.png", "--label", "x"]) == 2
    assert capsys.readouterr().err == "adk_scoring: --label: no 'x'; there are m, n, cases passed, composite\n"
    assert main(["compare", "good.json", "bad.json", "--radar", "radar.bmp"]) == 2
    assert "radar.bmp: a figure is written to" in capsys.readouterr().err


def test_gate_outcomes_are_exit_statuses(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for current, baseline, more, status, outcome in (
        ("good", "good", [], 0, "PASS"),
        ("bad", "good", [], 1, "FAIL"),
        ("few", "few", [], 1, "INCONCLUSIVE"),
        ("few", "few", ["--inconclusive", "pass"], 0, "INCONCLUSIVE"),
        ("few", "good", [], 3, "INVALID"),
        ("all", "good", [], 3, "INVALID"),
        ("bad", "good", ["--margin", "n=0.1"], 0, "PASS"),
        ("bad", "good", ["--margin", "0.1", "--margin", "m=1.0"], 1, "INCONCLUSIVE"),
    ):
        arguments = ["gate", f"{current}.json", "--baseline", f"{baseline}.json", *more]
        assert main(arguments) == status, arguments
        assert out(capsys).splitlines()[0] == outcome, arguments


def test_gate_writes_a_summary(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "good.json", "--baseline", "good.json", "--summary", "s.md", "--format", "markdown"]) == 0
    assert out(capsys) == (files / "s.md").read_text(encoding="utf-8").rstrip("\n") + "\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report", "absent.json"], "absent.json: cannot be read: No such file or directory"),
        (["compare", "good.json"], "1 report given; a comparison takes two or more"),
        (["compare", "good.json", "good.json"], "want one for each: --names A,B"),
        (["compare", "good.json", "bad.json", "--names", "a"], "2 files and the names a; want one for each"),
        (["gate", "good.json", "--baseline", "absent.json"], "absent.json: cannot be read"),
        (["gate", "good.json", "--baseline", "good.json", "--margin", "x"], "--margin x: wanted a number"),
        (["gate", "good.json", "--baseline", "good.json", "--margin", "x=1"], "the baseline has no criterion 'x'"),
        (["gate", "good.json", "--baseline", "good.json", "--margin=-1"], "wanted a number from 0 up"),
        (["gate", "good.json", "--baseline", "good.json", "--margin", "5"], "5 can never fail"),
        (["report", "good.json", "--junit", "absent/junit.xml"], "absent/junit.xml: No such file or directory"),
    ],
)
def test_bad_input_is_one_line(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert files.exists()
    assert main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("adk_scoring: ")
    assert message in line


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "good.json", "bad.json", "--level", "95"],
        ["compare", "good.json", "bad.json", "--level", "x"],
        ["compare", "good.json", "bad.json", "--seed", "-1"],
        ["compare", "good.json", "bad.json", "--allow", "all"],
        ["gate", "good.json", "--baseline", "good.json", "--max-unscored", "2"],
        ["gate", "good.json", "--baseline", "good.json", "--confidence", "0.5"],
        ["gate", "good.json"],
    ],
)
def test_impossible_options_are_refused(files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert files.exists()
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err
