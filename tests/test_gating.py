"""The gate's four answers, baseline files, and thresholds from people's labels."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from adk_scoring import (
    Baseline,
    ConfigError,
    ReadError,
    Report,
    gate,
    read_baseline,
    suggest_threshold,
    write_baseline,
)
from adk_scoring.stats import newcombe
from tests.made_reports import Milliseconds, Share, Value, report_of

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def table(both: int, only_new: int, only_old: int, neither: int) -> tuple[Report, Report]:
    old = [1.0] * both + [0.0] * only_new + [1.0] * only_old + [0.0] * neither
    new = [1.0] * both + [1.0] * only_new + [0.0] * only_old + [0.0] * neither
    return report_of({"m": old}), report_of({"m": new})


@pytest.mark.parametrize(
    ("margin", "outcome"), [(0.02, "INCONCLUSIVE"), (0.05, "INCONCLUSIVE"), (0.1, "PASS"), (0.0, "INCONCLUSIVE")]
)
def test_the_worked_example(margin: float, outcome: str) -> None:
    # 200 cases, 6 better and 10 worse: D = -.02; one-sided 95 % lower bound by Tango -.0560.
    old, new = table(120, 6, 10, 64)
    found = gate(old, new, margin)
    (row,) = found.rows
    assert (found.outcome, row.outcome) == (outcome, outcome)
    bounds = newcombe(120, 6, 10, 64, level=0.9)
    assert row.bounds == (bounds.low, bounds.high)
    assert row.bounds[0] == pytest.approx(-0.0560, abs=3e-3)
    assert row.difference is not None
    assert row.difference.interval.estimate == -0.02


def test_worse_by_more_than_the_margin_fails() -> None:
    found = gate(*table(20, 2, 30, 48))
    assert found.outcome == "FAIL"
    assert found.rows[0].reason.startswith("-0.280; at best -0.")


def test_no_change_on_few_cases_is_no_proof() -> None:
    report = report_of({"m": [1.0] * 10})
    assert gate(report, report).outcome == "INCONCLUSIVE"
    assert gate(report, report, 0.3).outcome == "PASS"


def test_direction_per_metric() -> None:
    slow, fast = [float(900 + i % 7) for i in range(40)], [float(500 + i % 5) for i in range(40)]
    old, new = report_of({Milliseconds("ms"): fast}), report_of({Milliseconds("ms"): slow})
    assert gate(old, new, 50).outcome == "FAIL"
    assert gate(new, old, 50).outcome == "PASS"
    shares = [float(i % 2) for i in range(100)]
    worse, better = report_of({Share("bad"): [1.0] * 100}), report_of({Share("bad"): shares})
    assert gate(better, worse).outcome == "FAIL"
    assert gate(worse, better).outcome == "PASS"


def test_a_margin_for_each_criterion() -> None:
    old, new = report_of({"m": [1.0] * 90, "n": [1.0] * 90}), report_of({"m": [1.0] * 90, "n": [0.0] * 90})
    found = gate(old, new, {"m": 0.05, "n": 1.0})
    assert [(row.label, row.outcome) for row in found.rows] == [("m", "PASS"), ("n", "INCONCLUSIVE")]
    only = gate(old, new, {"m": 0.05})
    assert only.outcome == "PASS"
    assert only.notes == ("not asked about: n",)
    assert gate(old, new).outcome == "FAIL"


@pytest.mark.parametrize("margin", [-0.1, 5, float("nan"), float("inf"), True, "0.1", {"x": 0.1}, {}])
def test_an_impossible_margin_is_refused(margin: object) -> None:
    report = report_of({"m": [1.0]})
    with pytest.raises(ConfigError, match="margin"):
        gate(report, report, margin)  # type: ignore[arg-type]


def test_impossible_settings_are_refused() -> None:
    report = report_of({"m": [1.0]})
    with pytest.raises(ValueError, match="confidence"):
        gate(report, report, confidence=95)
    with pytest.raises(ValueError, match="max_unscored"):
        gate(report, report, max_unscored=-1)
    with pytest.raises(ValueError, match="inconclusive is 'warn'"):
        gate(report, report).exit_status("warn")  # type: ignore[arg-type]


GOOD: list[Value] = [1.0] * 100


def test_a_missing_case_is_invalid_whatever_the_rest_says() -> None:
    found = gate(report_of({"m": GOOD}), report_of({"m": GOOD[:99]}))
    assert (found.outcome, found.rows[0].outcome) == ("INVALID", "INVALID")
    assert found.problems == ("cases of the baseline are missing: case 99",)
    assert "on those that are: +0.000" in found.rows[0].reason


def test_a_changed_case_is_invalid() -> None:
    found = gate(
        report_of({"m": GOOD}), report_of({"m": GOOD}, asked=["other", *[f"question {i}" for i in range(1, 100)]])
    )
    assert found.outcome == "INVALID"
    assert found.problems == ("cases ask or expect something else than in the baseline: case 0",)


def test_a_new_case_is_only_noted() -> None:
    found = gate(report_of({"m": GOOD}), report_of({"m": [*GOOD, 0.0]}))
    assert found.outcome == "PASS"
    assert found.notes == ("cases that the baseline does not have, not compared: case 100",)


def test_no_case_in_common_is_invalid() -> None:
    found = gate(report_of({"m": [1]}, ids=["a"]), report_of({"m": [1]}, ids=["b"]))
    assert (found.outcome, found.comparison, [row.outcome for row in found.rows]) == ("INVALID", None, ["INVALID"])
    assert "no id is in all" in str(found)


@pytest.mark.parametrize("field", ["parameters", "scores_since", "judge", "prompts", "metric"])
def test_a_number_made_differently_is_invalid(field: str) -> None:
    old, new = report_of({"m": GOOD, "n": GOOD}), report_of({"m": GOOD, "n": GOOD})
    value: Any = {"x": 1} if field == "parameters" else "other"
    signatures = [replace(new.signatures[0], **{field: value}), new.signatures[1]]
    other = Report(new.cases, new.criteria, new.columns, signatures=signatures)
    found = gate(old, other)
    assert [row.outcome for row in found.rows] == ["INVALID", "PASS"]
    assert found.outcome == "INVALID"
    assert f"made differently: {field}" in found.rows[0].reason
    assert gate(old, other, allow=[field]).outcome == "PASS"


def test_a_criterion_that_is_gone_is_invalid() -> None:
    found = gate(report_of({"m": GOOD, "n": GOOD}), report_of({"m": GOOD}))
    assert [row.outcome for row in found.rows] == ["PASS", "INVALID"]
    assert found.rows[1].reason == "the other report does not have it"


def test_lost_scores_above_the_cap_are_invalid() -> None:
    lost: list[Value] = ["crashed", None, *GOOD[2:]]
    old, new = report_of({"m": GOOD}), report_of({"m": lost})
    found = gate(old, new)
    assert found.outcome == "INVALID"
    assert found.rows[0].reason == "2.0% of what the baseline scored is not scored now, above 0.0%: case 0, case 1"
    assert gate(old, new, max_unscored=0.02).outcome == "PASS"
    # What the baseline did not score either is not lost.
    assert gate(new, new).outcome == "PASS"
    assert gate(new, old).outcome == "PASS"


def test_a_lost_trial_counts_as_part_of_its_case() -> None:
    ids, trials = [f"c{i // 2}" for i in range(100)], [0, 1] * 50
    old = report_of({"m": GOOD}, ids=ids, trials=trials)
    new = report_of({"m": [None, *GOOD[1:]]}, ids=ids, trials=trials)
    assert "1.0% of what the baseline scored" in gate(old, new).rows[0].reason


def test_nothing_scored_in_both_is_invalid() -> None:
    old, new = report_of({"m": [1, None]}), report_of({"m": [None, 1]})
    found = gate(old, new, max_unscored=1.0)
    assert (found.outcome, found.rows[0].reason) == ("INVALID", "no case was scored in both reports")


def test_what_has_no_interval_is_inconclusive() -> None:
    found = gate(report_of({Milliseconds("ms"): [1]}), report_of({Milliseconds("ms"): [1]}))
    assert (found.outcome, found.rows[0].bounds, found.rows[0].reason) == (
        "INCONCLUSIVE",
        None,
        "one value has no spread",
    )


def test_the_caller_decides_what_inconclusive_does() -> None:
    few, many = report_of({"m": [1.0] * 10}), report_of({"m": GOOD})
    unsure = gate(few, few)
    assert (unsure.exit_status(), unsure.exit_status("fail"), unsure.exit_status("pass")) == (1, 1, 0)
    assert gate(many, many).exit_status() == 0
    assert gate(many, report_of({"m": [0.0] * 100})).exit_status("pass") == 1
    assert gate(many, few).exit_status("pass") == 3


def test_a_gate_shows_itself() -> None:
    found = gate(report_of({"m<": GOOD}), report_of({"m<": [0.0] * 98}))
    assert str(found).startswith("INVALID\n")
    assert found.to_markdown().startswith("**Gate: INVALID**\n\n| outcome | criterion |")
    assert "- INVALID: cases of the baseline are missing: case 98, case 99" in found.to_markdown()
    assert "m&lt;" in found._repr_html_()
    assert "m<" not in found._repr_html_()
    assert gate(report_of({"m": GOOD}), report_of({"m": GOOD})).to_markdown().endswith("|\n")


def test_a_baseline_file_keeps_where_it_is_from(tmp_path: Path) -> None:
    report = report_of({"m": GOOD})
    path = tmp_path / "base.json"
    write_baseline(report, path, note="commit 1a2b3c", now=NOON)
    read = read_baseline(path)
    assert isinstance(read, Baseline)
    assert (read.created, read.note, read.source) == ("2026-05-04T12:00:00+00:00", "commit 1a2b3c", str(path))
    assert read.made_with.startswith("adk_scoring 0.1.0, Python 3.")
    assert read.report.to_json() == report.to_json()
    found = gate(path, report)
    assert found.outcome == "PASS"
    assert "written 2026-05-04T12:00:00+00:00 by adk_scoring 0.1.0" in found.baseline
    assert str(found).endswith("commit 1a2b3c")
    first = path.read_bytes()
    write_baseline(report, path, note="commit 1a2b3c", now=NOON)
    assert path.read_bytes() == first


def test_a_report_file_is_a_baseline_without_provenance(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(report_of({"m": GOOD}).to_json(), encoding="utf-8")
    assert gate(str(path), report_of({"m": GOOD})).baseline == f"{path}: 100 runs, a report, not known from when"


def test_a_baseline_that_cannot_be_used_is_an_error_never_a_pass(tmp_path: Path) -> None:
    report = report_of({"m": GOOD})
    path = tmp_path / "base.json"
    with pytest.raises(ReadError, match=r"base\.json: cannot be read: No such file"):
        gate(path, report)
    for text in ("", "[]", "{}", "null", '{"format": "adk_scoring.comparison.baseline"}', "[" * 100_000):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ReadError, match=r"base\.json: neither a report nor a baseline"):
            read_baseline(path)
    path.write_text('{"criteria": {}}', encoding="utf-8")
    with pytest.raises(ReadError, match=r"neither a report nor a baseline; `python -m adk_scoring score"):
        read_baseline(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ReadError, match="neither"):
        read_baseline(path)
    path.write_text('{"format": "other"}', encoding="utf-8")
    with pytest.raises(ReadError, match=r"base\.json: not a report"):
        read_baseline(path)
    write_baseline(report, path, now=NOON)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["report"]["cases"][0]["scores"]["m"]["value"] = 0.0
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ReadError, match="was changed after it was written"):
        read_baseline(path)
    path.write_text(json.dumps(document | {"version": 2}), encoding="utf-8")
    with pytest.raises(ReadError, match="version 2; this library reads 1"):
        read_baseline(path)


def test_a_threshold_from_labels() -> None:
    report = report_of({"m": [0.1, 0.3, 0.4, 0.6, 0.7, 0.9, None]}, ids=list("abcdefg"))
    labels = {"a": False, "b": True, "c": False, "d": True, "e": True, "g": True}
    (found,) = suggest_threshold(report, labels).values()
    # .3 keeps all good and lets c in: 1 + 1/2; .6 loses b and keeps both bad out: 2/3 + 1.
    assert (found.loose, found.best, found.strict) == (0.3, 0.6, 0.6)
    assert (found.good, found.bad, found.unlabelled) == (3, 2, 1)
    assert (found.sensitivity.estimate, found.specificity.estimate) == pytest.approx((2 / 3, 1.0))
    assert "fewer than 30" in found.note


def test_a_threshold_where_less_is_better() -> None:
    report = report_of({Milliseconds("ms"): [100, 200, 300, 400]}, ids=list("abcd"))
    found = suggest_threshold(report, {"a": True, "b": True, "c": False, "d": False})["ms"]
    assert (found.loose, found.best, found.strict) == (200, 200, 200)


def test_of_equally_good_thresholds_the_loosest() -> None:
    report = report_of({"m": [0.2, 0.8, 0.4]}, ids=list("abc"))
    found = suggest_threshold(report, {"a": True, "b": True, "c": False})["m"]
    # .2: 1 + 0; .8: 1/2 + 1; nothing between: .4 keeps b alone and lets c in.
    assert (found.loose, found.best, found.strict) == (0.2, 0.8, 0.8)
    tie = suggest_threshold(report_of({"m": [0.2, 0.4]}, ids=list("ab")), {"a": True, "b": False})["m"]
    assert (tie.loose, tie.best, tie.strict) == (0.2, 0.2, None)


def test_labels_of_single_trials() -> None:
    report = report_of({"m": [0.9, 0.1]}, ids=["a", "a"], trials=[0, 1])
    found = suggest_threshold(report, {("a", 0): True, ("a", 1): False}, criterion="m")["m"]
    assert (found.best, found.sensitivity.clusters) == (0.9, 1)


def test_labels_that_cannot_be_used_are_refused() -> None:
    report = report_of({"m": [0.9, 0.1]}, ids=["a", "b"])
    with pytest.raises(ConfigError, match="none is for a case"):
        suggest_threshold(report, {"x": True})
    with pytest.raises(ConfigError, match="m scored no run that is good, or none that is bad"):
        suggest_threshold(report, {"a": True, "b": True})
    with pytest.raises(KeyError, match="no criterion 'n'"):
        suggest_threshold(report, {"a": True, "b": False}, criterion="n")


def test_the_margin_is_five_points_unless_said() -> None:
    old, new = table(120, 6, 10, 64)
    assert gate(old, new).rows[0].margin == 0.05


def test_a_cap_above_all_cases_is_refused() -> None:
    report = report_of({"m": GOOD})
    with pytest.raises(ValueError, match=r"max_unscored is 1\.5"):
        gate(report, report, max_unscored=1.5)


def test_the_share_that_was_lost_is_of_what_the_baseline_scored() -> None:
    old: list[Value] = [*[None] * 50, *[1.0] * 50]
    new: list[Value] = [*[None] * 51, *[1.0] * 49]
    reason = gate(report_of({"m": old}), report_of({"m": new})).rows[0].reason
    assert reason == "2.0% of what the baseline scored is not scored now, above 0.0%: case 50"


def test_a_baseline_that_scored_nothing_lost_nothing() -> None:
    row = gate(report_of({"m": [None] * 3}), report_of({"m": [1.0] * 3})).rows[0]
    assert (row.outcome, row.reason) == ("INVALID", "no case was scored in both reports")
