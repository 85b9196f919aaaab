"""The README says what there is: its table of metrics is `METRICS`, its sample output is what the command prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from adk_scoring import METRICS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_tables_name_every_metric_and_nothing_else() -> None:
    section = README[README.index("## Metrics") : README.index("## How missing things count")]
    first_cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = [name for cell in first_cells for name in re.findall(r"`([^`]+)`", cell)]
    assert sorted(named) == sorted(METRICS)


def test_the_sample_prints_what_the_readme_shows() -> None:
    command = next(line for line in README.splitlines() if line.startswith("$ ") and "score notebooks/sample" in line)
    arguments = command.partition("-m adk_scoring ")[2].split()
    done = subprocess.run(
        [sys.executable, "-m", "adk_scoring", *arguments], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )
    shown = README[README.index("```text\n") + len("```text\n") :].partition("\n```")[0]
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.rstrip() == shown


def test_the_first_result_stands_within_the_first_lines() -> None:
    assert "NOT PASSED" in "\n".join(README.splitlines()[:25])


def test_there_are_exactly_two_commands() -> None:
    commands = [line for line in README.splitlines() if line.startswith("$ ")]
    assert len(commands) == 2
    assert all(".venv" in command for command in commands)
