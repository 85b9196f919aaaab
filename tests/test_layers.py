"""The rooms of the house: who may import whom, read off the imports themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import adk_scoring

PACKAGE = Path(adk_scoring.__file__).parent

# What each module or package may import of ours, besides itself. `render` is imported by what prints itself.
SCORING = {"alignment", "comparators", "errors", "evidence", "matching", "model", "text", "tools"}
MAY_IMPORT = {
    "errors": set(),
    "stats": set(),
    "event_loop": set(),
    "model": {"errors"},
    "tools": {"errors", "model"},
    "readers": {"errors", "model"},
    "writers": {"errors", "model", "readers"},
    "promotion": {"errors", "model"},
    "pairing": SCORING,
    "comparators": SCORING,
    "matching": SCORING,
    "alignment": SCORING | {"render"},
    "evidence": SCORING,
    "text": SCORING,
    "metrics": SCORING,
    "judges": {"errors", "event_loop", "metrics", "model", "evidence"},
    "criteria": SCORING | {"metrics", "readers"},
    "evaluation": SCORING | {"event_loop", "metrics", "readers", "pairing", "criteria", "judges", "report"},
    "report": SCORING | {"criteria", "metrics", "readers", "render", "stats", "__version__"},
    "comparison": {"criteria", "errors", "render", "report", "stats", "__version__"},
    "calibration": SCORING | {"event_loop", "judges", "metrics", "readers", "report", "stats"},
    "linting": SCORING | {"criteria", "metrics", "readers", "render"},
    "runner": {"criteria", "errors", "evaluation", "event_loop", "judges", "model", "readers", "report"},
    "agents": {"errors", "event_loop", "model", "runner"},
    "harness": {"criteria", "errors", "evaluation", "judges", "metrics", "model", "readers"},
    "render": {"alignment", "comparison", "errors", "matching", "metrics", "model", "report", "stats", "text"},
}
PUBLIC_ONLY = {"__main__", "report_commands", "integrations"}
NEVER = {  # third-party packages that only these may import
    "pydantic": {"readers"},
    "pydantic_core": {"readers"},
    "google": {"agents", "integrations", "judges"},
    "matplotlib": {"render"},
    "numpy": {"stats", "text", "metrics"},
    "rapidfuzz": {"text", "comparators", "metrics"},
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (package, what) of each import: package "." for ours, the top-level name for others."""
    depth = len(path.relative_to(PACKAGE).parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top, _, rest = alias.name.partition(".")
                yield (".", rest.partition(".")[0]) if top == "adk_scoring" else (top, alias.name)
        elif isinstance(node, ast.ImportFrom):
            if node.level == depth:  # from the package's root
                for name in [node.module.partition(".")[0]] if node.module else [a.name for a in node.names]:
                    yield ".", name
            elif node.level:
                yield ".", room_of(path)
            elif node.module:
                top, _, rest = node.module.partition(".")
                yield (".", rest.partition(".")[0]) if top == "adk_scoring" else (top, node.module)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_room_may(path: Path) -> None:
    room = room_of(path)
    if room == "__init__":
        return
    ours = {name for package, name in imports(path) if package == "."} - {room}
    if room in PUBLIC_ONLY:
        private = {name for name in ours if name.startswith("_")}
        assert not private, f"{room} reaches into private names {private}"
        return
    assert room in MAY_IMPORT, f"{room} has no place in the layers: give it one here"
    assert ours <= MAY_IMPORT[room], f"{room} may not import {ours - MAY_IMPORT[room]}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_third_party_packages_stay_in_their_rooms(path: Path) -> None:
    room = room_of(path)
    for package, _ in imports(path):
        assert room in NEVER.get(package, {room}), f"{room} may not import {package}"


def test_no_room_is_named_after_nothing() -> None:
    nothing = {"utils", "util", "helpers", "common", "core", "misc", "manager", "handler"}
    assert not nothing & {path.stem for path in modules()}


def test_every_module_says_what_it_is() -> None:
    silent = [str(path) for path in modules() if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert silent == []
