"""pytest end to end, with the plugin as it is installed: five cases, also over processes, results read back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from adk_scoring import Case, Invocation, Report, ToolCall, Turn, write_evalset

WANTED = {"a": "passed", "b": "passed", "c": "passed", "wrong": "failed", "nothing": "not_evaluated"}

TESTS = """
import pytest
from adk_scoring import Invocation, ToolCall

@pytest.fixture
def agent():
    def answer(user_text, *, session):
        return Invocation(user_text, (ToolCall("look", {"at": "sky" if user_text == "wrong" else user_text}),), "ok")
    return answer

@pytest.mark.adk_scoring(cases="look.evalset.json")
def test_agent(adk_case, agent):
    adk_case.run(agent).check()
"""


def looks(name: str) -> Case:
    calls = None if name == "nothing" else (ToolCall("look", {"at": name}),)
    return Case(name, (Turn(None, (Invocation(name, calls),)),))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_evalset(map(looks, WANTED), tmp_path / "look.evalset.json")
    (tmp_path / "test_config.json").write_text(json.dumps({"criteria": {"trajectory_exact_match": 1.0}}))
    (tmp_path / "test_agent.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    return tmp_path


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("spread", [[], ["-n", "2"]], ids=["one process", "xdist"])
def test_five_cases(project: Path, spread: list[str]) -> None:
    done = pytest_in(project, *spread, "--adk-scoring-report=report.json", "--junitxml=junit.xml", "-rs")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 3 passed, 1 skipped" in done.stdout
    assert 'look(at="wrong")' in done.stdout  # the alignment
    assert 'look(at="sky")' in done.stdout
    assert "not evaluated: trajectory_exact_match" in done.stdout
    report = Report.from_json((project / "report.json").read_text())
    assert {c.case_id: v for c, v in zip(report.cases, report.case_verdicts, strict=True)} == WANTED
    suite = ElementTree.parse(project / "junit.xml").getroot()[0]  # noqa: S314  # pytest's own
    assert [suite.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["5", "1", "0", "1"]


def test_our_junit(project: Path) -> None:
    pytest_in(project, "--adk-scoring-report=report.xml")
    root = ElementTree.parse(project / "report.xml").getroot()  # noqa: S314  # written by this test
    assert [root.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["5", "1", "0", "1"]


def test_the_plugin_is_there_and_loads_nothing(project: Path) -> None:
    (project / "test_agent.py").write_text(
        "import sys\n\ndef test_a():\n"
        "    ours = {name for name in sys.modules if name.startswith('adk_scoring')}\n"
        "    assert ours == {'adk_scoring', 'adk_scoring.integrations', 'adk_scoring.integrations.pytest_plugin'}\n"
        "    assert not {'numpy', 'pydantic', 'rapidfuzz', 'google.genai'} & sys.modules.keys()\n"
    )
    done = pytest_in(project)
    assert done.returncode == 0, done.stdout
    assert "--adk-scoring-report" in pytest_in(project, "--help").stdout
