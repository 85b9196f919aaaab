"""Where the public evaluation files are; tests over them are skipped where they are absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_BESIDE_THE_REPOSITORY = Path(__file__).resolve().parents[1] / "../shared/corpus"


def corpus(name: str = "") -> Path:
    """The folder `name` of the corpus; skips the test or module if there is none."""
    root = Path(os.environ.get("ADK_SCORING_CORPUS", _BESIDE_THE_REPOSITORY)).resolve()
    folder = root / name
    if not folder.is_dir():
        pytest.skip(f"no public evaluation files at {folder}", allow_module_level=True)
    return folder
