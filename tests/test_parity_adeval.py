"""ADEval's PASS and FAIL beside ours: every row of its four comparators is equal, or listed with the reason.

The rows are ADEval's own strings, judged by its two published generations: set equality (up to 376eaeb8) and subset
(051ef423), each with and without arguments. Both sides are read by our reader, as a recorded experiment would be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import adk_scoring as ads
from adk_scoring.report import Report

LINES = (Path(__file__).parent / "data/vectors/adeval_pass_fail.jsonl").read_text(encoding="utf-8").splitlines()
ROWS = [json.loads(line) for line in LINES]
SETTINGS = {
    "set_equality_args": ads.Criteria.adeval(gate="set"),
    "set_equality_names": ads.Criteria.adeval(verify_args=False, gate="set"),
    "subset_args": ads.Criteria.adeval(),
    "subset_names": ads.Criteria.adeval(verify_args=False),
}

CASE_FOLDED = "ADEval folds the case of names, keys and values, and compares numbers as text"
COLLAPSED = "ADEval lets one call stand for several expected ones; ours pairs one to one"
POSITIONAL = "ADEval's subset drops arguments without a name; to us they are unknown and cannot be compared"
NESTED = "ADEval's subset goes one level deep, and compares 2.0 with 2 there alone; ours goes all the way"
OUTAGE = "ADEval counts 'Error', a failed request, as no call; to us the case is an error"
BLANK = "ADEval's set equality tells no expected tools from 'None'; both expect no call"

# reason -> comparator -> row -> our verdict
DIFFERS: Mapping[str, Mapping[str, Mapping[int, str]]] = {
    CASE_FOLDED: {
        "set_equality_args": {5: "failed", 6: "passed", 7: "passed"},
        "set_equality_names": {5: "failed"},
        "subset_args": {4: "failed", 5: "failed"},
        "subset_names": {5: "failed"},
    },
    COLLAPSED: {"subset_args": {2: "failed"}, "subset_names": {2: "failed"}},
    POSITIONAL: {"set_equality_args": {11: "error"}, "subset_args": {11: "error"}},
    NESTED: {"subset_args": {7: "passed", 8: "passed"}},
    OUTAGE: {
        "set_equality_args": {14: "error"},
        "set_equality_names": {14: "error"},
        "subset_args": {14: "error"},
        "subset_names": {14: "error"},
    },
    BLANK: {"set_equality_args": {15: "passed"}, "set_equality_names": {15: "passed"}},
}


def judged(row: Mapping[str, Any], criteria: ads.Criteria) -> Report:
    test = {"q": "What now?", "expectedTools": row["expectedTools"], "actualTools": row["actualTools"]}
    (case,) = ads.read({"id": "exp_1", "name": "rows", "testCases": [test]}, format="adeval")
    return ads.evaluate([case], criteria)


@pytest.mark.parametrize("comparator", SETTINGS)
@pytest.mark.parametrize("index", range(len(ROWS)))
@pytest.mark.filterwarnings("ignore::adk_scoring.ReadWarning")
def test_every_verdict_is_ours_or_is_listed_with_the_reason(index: int, comparator: str) -> None:
    theirs = "passed" if ROWS[index][comparator] else "failed"
    (verdict,) = judged(ROWS[index], SETTINGS[comparator]).case_verdicts
    exceptions = [rows[comparator][index] for rows in DIFFERS.values() if index in rows.get(comparator, {})]
    if exceptions:
        assert [str(verdict)] == exceptions
        assert verdict != theirs, "is equal: no exception"
    else:
        assert verdict == theirs


def test_the_rows_are_those_that_were_run() -> None:
    assert len(ROWS) == 17
    assert {index for rows in DIFFERS.values() for row in rows.values() for index in row} < set(range(len(ROWS)))
