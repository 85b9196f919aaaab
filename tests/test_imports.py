"""Importing costs almost nothing, and every public name is there."""

from __future__ import annotations

import subprocess
import sys

import pytest

import adk_scoring

HEAVY = ("google.genai", "rouge_score", "nltk", "numpy", "pydantic", "pandas", "matplotlib", "pyarrow", "jsonschema")


def loaded_after(code: str) -> set[str]:
    """Return which heavy packages a fresh interpreter has loaded after running the code."""
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(shown.stdout.split())


def test_importing_loads_nothing_heavy() -> None:
    assert loaded_after("import adk_scoring") == set()


def test_listing_the_names_loads_nothing_heavy() -> None:
    assert loaded_after("import adk_scoring; dir(adk_scoring)") == set()


def test_a_first_trajectory_score_loads_only_what_it_needs() -> None:
    assert loaded_after("import adk_scoring; adk_scoring.trajectory_f1(['a'], ['a'])") == set()


def test_evaluating_trajectories_loads_only_what_it_needs() -> None:
    code = (
        "from adk_scoring import Case, Invocation, Turn, evaluate\n"
        "side = Invocation('q', ())\n"
        "assert evaluate([Case('a', (Turn(side, (side,)),))], {'trajectory_f1': 1.0}).passed"
    )
    assert loaded_after(code) == set()


def test_the_heavy_packages_are_seen_when_they_are_loaded() -> None:
    assert loaded_after("import pydantic") == {"pydantic"}


@pytest.mark.parametrize("name", adk_scoring.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(adk_scoring, name) is not None
    assert name in dir(adk_scoring)


def test_star_import_gives_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from adk_scoring import *", names)  # noqa: S102
    assert set(adk_scoring.__all__) - {"__version__"} <= set(names)


def test_a_name_that_is_not_there_says_so() -> None:
    with pytest.raises(AttributeError, match="no attribute 'trajectory_magic'"):
        _ = adk_scoring.trajectory_magic


def test_a_function_is_not_hidden_by_a_module_of_its_name() -> None:
    code = (
        "import importlib, pathlib, adk_scoring as a\n"
        "for path in pathlib.Path(a.__file__).parent.glob('[!_]*'):\n"
        "    assert not callable(getattr(a, path.stem, None)), f'{path.stem} is a module and a public function'"
    )
    assert loaded_after(code) <= set(HEAVY)


def test_the_typed_names_are_the_real_ones() -> None:
    """The names that type checkers see and those loaded on first use are two lists; they must not drift apart."""
    import ast
    from pathlib import Path

    tree = ast.parse(Path(adk_scoring.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed == set(adk_scoring.__all__) - {"__version__"}
