"""Every public file is recognised as what the index says it is, by one format."""

from __future__ import annotations

import csv
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from adk_scoring.errors import ReadError
from adk_scoring.readers import READERS, read
from tests.corpus import corpus

# The index's kinds and who reads them; what is listed under no reader is no run of an agent and is refused.
KINDS = {
    "adk_evalset": {"adk_evalset"},
    "adk_evalcase_bare": {"adk_evalset"},
    "adk_evalset_result": {"adk_result"},
    "adk_legacy_test": {"adk_legacy", "adk_evalset"},
    "adk_odd_evalset": set(READERS),
    "adk_rust": {"adk_rust", "adk_evalset"},
    "adk_session": {"adk_events"},
    "agents_cli_dataset": {"agents_cli"},
    "atif": {"atif"},
    "bfcl": {"bfcl"},
    "inspect_log": {"inspect_log"},
    "langfuse_trace": {"langfuse"},
    "langsmith": {"langfuse"},  # its one file is an export of Langfuse
    "openai_messages": {"messages"},
    "otel": {"otel"},
    "otlp": {"otel"},
    "tau2": {"tau"},
    "tau_bench": {"tau"},
    "vertex_eval_dataset": {"vertex_rows", "agents_cli"},  # Vertex has both shapes
}
REFUSED = {"adk_eval_config", "agents_cli_eval_config", "bayes_evals", "llmbar"}


def recognised(path: Path) -> str | None:
    """The first format that recognises the document, its first line, or the list of all lines."""
    text = path.read_text(encoding="utf-8")
    documents: list[Any]
    try:
        documents = [json.loads(text)]
        if isinstance(documents[0], str):  # old results hold their JSON in a string
            documents = [json.loads(documents[0])]
    except ValueError:
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        documents = [lines[0], lines]
    for document in documents:
        for name, reader in READERS.items():
            if reader.recognises(document):
                return name
    return None


def index() -> list[tuple[str, str]]:
    with (corpus() / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        return [(row["path"], row["kind"]) for row in csv.DictReader(file, delimiter="\t")]


def test_every_kind_is_known() -> None:
    assert {kind for _, kind in index()} <= KINDS.keys() | REFUSED


def test_every_file_is_recognised_as_its_kind_and_read_or_refused() -> None:
    seen = 0
    for name, kind in index():
        path = corpus() / name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                cases = read(path)
            except ReadError:
                cases = []
        if kind in REFUSED:
            assert not cases, name
        elif path.suffix == ".eval":
            assert cases, name
        elif cases:
            assert recognised(path) in KINDS[kind], name
            assert all(isinstance(case.case_id, str) and case.source[0] == str(path) for case in cases)
        seen += 1
    assert seen > 200


@pytest.mark.parametrize("name", READERS)
def test_an_example_is_recognised_by_its_own_format_first(name: str) -> None:
    document = json.loads(READERS[name].example)
    assert next(each for each, reader in READERS.items() if reader.recognises(document)) == name
