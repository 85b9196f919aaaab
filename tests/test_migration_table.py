"""The README's table for those who come from elsewhere: every name is one of ours, every number is what we give."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import adk_scoring
from adk_scoring import METRICS

README = Path(__file__).parents[1] / "README.md"
HEADING = "### Coming from another library\n"
FUNCTIONS: dict[str, Any] = {name: getattr(adk_scoring, name) for name in adk_scoring.__all__}


def value(expression: str, names: dict[str, Any]) -> Any:
    return eval(expression, {"__builtins__": {}}, names)  # noqa: S307  # our own README


def table() -> list[list[str]]:
    _, found, rest = README.read_text(encoding="utf-8").partition(HEADING)
    if not found:
        pytest.skip(f"README.md has no section {HEADING.strip()!r}", allow_module_level=True)
    lines = [line for line in re.split(r"\n#+ ", rest)[0].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


@pytest.mark.parametrize("row", table(), ids=lambda row: row[0])
def test_every_row_names_what_there_is(row: list[str]) -> None:
    there, here, differ = row
    assert there
    assert differ
    expressions = re.findall("`([^`]+)`", here)
    assert expressions
    for expression in expressions:
        assert value(expression, {**FUNCTIONS, **METRICS}) is not None, expression


@pytest.mark.parametrize(
    ("expression", "number"),
    [found for _, _, differ in table() for found in re.findall(r"`([^`]+)` is ([\d.]+\d|\d)", differ)],
)
def test_every_number_is_what_we_give(expression: str, number: str) -> None:
    assert value(expression, FUNCTIONS) == float(number)


def test_the_table_speaks_of_each_library() -> None:
    text = "".join(there for there, _, _ in table())
    assert all(f"**{library}**" in text for library in ("Google ADK", "Vertex", "adk-eval", "ADEval"))
    assert sum(len(re.findall(r"`[^`]+` is \d", differ)) for _, _, differ in table()) >= 8
