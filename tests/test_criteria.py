"""Criteria: from a dict, from ADK's configuration files in every accepted form, and where such a file is found."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring import METRICS, ConfigError, Criteria, Criterion, Match, ReadWarning
from adk_scoring.metrics.formulas import FORMULAS
from adk_scoring.metrics.trajectory import AdkTrajectory, SingleToolUse, TrajectoryMetric
from tests.build import Given
from tests.corpus import corpus

ADK = "tool_trajectory_avg_score"


def config(content: Any, path: Path, name: str = "test_config.json") -> Path:
    file = path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return file


def of(spec: Any, label: str = ADK) -> Criterion:
    return Criteria.of({label: spec})[label]


# --- a label and a number or an object ---------------------------------------------------------------------------


def test_a_label_is_a_metric_with_a_threshold_or_an_object_that_names_one() -> None:
    criteria = Criteria.of(
        {
            "trajectory_f1": 0.5,
            "names": {"metric": "trajectory_f1", "match": "ignore", "threshold": 0.9, "per": "turn"},
            "searched": {"metric": "trajectory_single_tool_use", "tool": "search", "threshold": 1},
            "shown": {"metric": "trajectory_recall"},
            "trajectory_precision": None,
            "trajectory_recall": {"threshold": None},
        }
    )
    assert list(criteria) == [
        Criterion("trajectory_f1", TrajectoryMetric("trajectory_f1"), 0.5),
        Criterion("names", TrajectoryMetric("trajectory_f1", Match(args="ignore")), 0.9, "turn"),
        Criterion("searched", SingleToolUse("search"), 1.0),
        Criterion("shown", TrajectoryMetric("trajectory_recall"), None),
        Criterion("trajectory_precision", TrajectoryMetric("trajectory_precision"), None),
        Criterion("trajectory_recall", TrajectoryMetric("trajectory_recall"), None),
    ]
    assert len(criteria) == 6
    assert criteria["names"].wanted == ">= 0.9 in each turn"
    assert criteria["shown"].wanted == "informational"
    with pytest.raises(KeyError, match="no criterion 'f2'; there are trajectory_f1, names"):
        criteria["f2"]


def test_a_match_beside_the_labels_stands_for_all_that_take_one() -> None:
    criteria = Criteria.of(
        {"match": {"args": "subset"}, "trajectory_f1": 1, "own": {"metric": "trajectory_f1", "match": "ignore"}, ADK: 1}
    )
    assert criteria.labels == ("trajectory_f1", "own", ADK)
    assert [getattr(criterion.metric, "match", None) for criterion in criteria] == [
        Match(args="subset"),
        Match(args="ignore"),
        Match.adk(),
    ]


def test_equal_rules_become_one_object() -> None:
    first, second = Criteria.of({"match": {"args": "subset"}, "trajectory_f1": 1, "trajectory_recall": 1})
    assert first.metric.match is second.metric.match  # type: ignore[attr-defined]


def test_criteria_and_criterion_objects_are_taken_as_they_are() -> None:
    criteria = Criteria.of([Criterion("x", Given(), 0.5)])
    assert criteria.labels == ("x",)
    assert Criteria.of(criteria) is criteria


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("test_config.json", r"wanted a mapping .*, got str; read a file with Criteria.from_file\(path\)"),
        (5, "wanted a mapping label -> threshold, or Criterion objects, got int"),
        (["trajectory_f1"], "wanted Criterion objects, got str: 'trajectory_f1'"),
        ([Criterion("x", Given()), Criterion("x", Given())], "the label 'x' stands twice"),
    ],
)
def test_what_is_no_criteria_is_refused(source: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Criteria.of(source)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"trajectory_f2": 1}, "trajectory_f2: unknown metric 'trajectory_f2'; did you mean 'trajectory_f1'?"),
        (
            {"x": {"metric": "tool_trajectory_score"}},
            f"x: unknown metric 'tool_trajectory_score'; did you mean '{ADK}'?",
        ),
        ({"x": {"metric": ["trajectory_f1"]}}, "x: unknown metric ['trajectory_f1']"),
        ({"x": 1}, "x: unknown metric 'x'; the names are those of adk_scoring.METRICS"),
        ({ADK: {"match_typ": "EXACT"}}, f"{ADK} has no parameter 'match_typ'; did you mean 'match_type'?"),
        ({"trajectory_f1": {"tool": 1}}, "trajectory_f1 has no parameter 'tool'; it takes match"),
        ({"trajectory_f1": {"formula": "x"}}, "trajectory_f1 has no parameter 'formula'"),
        ({"trajectory_f1": "high"}, "trajectory_f1: wanted a threshold (a number) or an object, found 'high'"),
        ({"trajectory_f1": [1]}, "trajectory_f1: wanted a threshold (a number) or an object, found [1]"),
        ({"trajectory_f1": 10**400}, "trajectory_f1: wanted a threshold (a number) or an object, found 1000"),
        ({"trajectory_f1": {"threshold": {}}}, "trajectory_f1: wanted a threshold (a number) or an object, found {}"),
        ({"trajectory_f1": 1.5}, "trajectory_f1: threshold 1.5 can never decide; trajectory_f1 gives 0 to 1"),
        ({"trajectory_f1": -0.1}, "trajectory_f1: threshold -0.1 can never decide"),
        ({"trajectory_f1": "nan"}, "trajectory_f1: threshold nan; wanted a number or null"),
        ({"trajectory_f1": {"per": "trial"}}, "trajectory_f1: per 'trial'; wanted 'case' or 'turn'"),
        ({"trajectory_f1": {"match": "some"}}, "Match(args='some'): wanted one of exact, subset"),
        ({"trajectory_f1": {"match": {"arg": "exact"}}}, "match: unknown key 'arg'; wanted any of args"),
        ({"trajectory_f1": {"match": 5}}, "match: wanted a rule or an object, got int: 5"),
        ({"match": 5, "trajectory_f1": 1}, "match: wanted a rule or an object, got int: 5"),
        ({"trajectory_f1": {"match": {"ignore_tools": 5}}}, "trajectory_f1: "),
        ({"trajectory_f1": {"match": {"ignore_tools": [["a"]]}}}, "trajectory_f1: "),
        ({"trajectory_single_tool_use": 1}, "trajectory_single_tool_use needs the parameter 'tool'"),
        ({"trajectory_single_tool_use": {"tool": 3}}, "tool 3; wanted the name of the tool"),
        ({ADK: {"ignore_args": "yes"}}, "ignore_args 'yes'; wanted true or false"),
        ({ADK: {"ignore_tools": "transfer_to_agent"}}, "ignore_tools 'transfer_to_agent'; wanted a list of names"),
        ({ADK: {"ignore_tools": [1]}}, "ignore_tools [1]; wanted a list of names"),
    ],
)
def test_what_is_not_usable_names_the_file_the_key_and_the_nearest_name(spec: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        Criteria.of(spec, where="given")
    assert str(caught.value).startswith(f"given: {next(label for label in spec if label != 'match')}: ")
    assert says in str(caught.value)
    file = config({"criteria": spec}, tmp_path)
    with pytest.raises(ConfigError) as from_file:
        Criteria.from_file(file)
    assert str(from_file.value) == f"{file}{str(caught.value).removeprefix('given')}"


def test_a_threshold_that_can_never_decide_is_refused_in_code_too() -> None:
    for wrong in (2, -1, float("nan"), True, "0.5"):
        with pytest.raises(ConfigError, match="x: threshold"):
            Criterion("x", Given(), wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="x: per 'trial'; wanted 'case' or 'turn'"):
        Criterion("x", Given(), 0.5, "trial")  # type: ignore[arg-type]
    open_ended = Given(bounds=(0, float("inf")))
    assert Criterion("x", open_ended, 1e9).threshold == 1e9
    with pytest.raises(ConfigError, match="x: threshold inf can never decide"):
        Criterion("x", open_ended, float("inf"))


def test_the_ends_of_the_range_are_in_it() -> None:
    assert [Criterion("x", Given(), number).threshold for number in (0, 1)] == [0.0, 1.0]


# --- ADK's configuration files -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "threshold"), [(1.0, 1.0), (1, 1.0), ("0.5", 0.5), (True, 1.0), ({"threshold": "0.5"}, 0.5)]
)
def test_a_threshold_may_be_written_as_adk_reads_it(written: Any, threshold: float, tmp_path: Path) -> None:
    criteria = Criteria.from_file(config({"criteria": {ADK: written}}, tmp_path))
    assert criteria[ADK] == Criterion(ADK, AdkTrajectory(), threshold)


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("EXACT", "EXACT"),
        ("exact", "EXACT"),
        ("in_order", "IN_ORDER"),
        ("In Order", "IN_ORDER"),
        ("any-order", "ANY_ORDER"),
        ("any order", "ANY_ORDER"),
        (0, "EXACT"),
        (1, "IN_ORDER"),
        (2, "ANY_ORDER"),
    ],
)
@pytest.mark.parametrize("key", ["match_type", "matchType"])
def test_a_match_type_may_be_written_in_every_form_that_adk_accepts(key: str, written: Any, means: str) -> None:
    assert of({"threshold": 1.0, key: written}).metric == AdkTrajectory(means)


@pytest.mark.parametrize("written", ["1", 5, -1, None, "SUPERSET", True, 1.0, ["EXACT"]])
def test_a_match_type_that_adk_rejects_is_an_error(written: Any) -> None:
    with pytest.raises(ConfigError, match=r"match_type .* wanted one of EXACT, IN_ORDER, ANY_ORDER"):
        of({"threshold": 1.0, "match_type": written})


@pytest.mark.parametrize("key", ["ignore_args", "ignoreArgs"])
def test_ignore_args_is_read_in_both_spellings(key: str) -> None:
    assert of({"threshold": 1.0, key: True}).metric == AdkTrajectory(ignore_args=True)


def test_what_adk_writes_into_every_criterion_is_no_parameter() -> None:
    assert of({"threshold": 1.0, "include_intermediate_responses_in_final": False}).metric == AdkTrajectory()
    with pytest.warns(ReadWarning, match=f"{ADK}: includeIntermediateResponsesInFinal is not used by {ADK}"):
        assert of({"threshold": 1.0, "includeIntermediateResponsesInFinal": True}).metric == AdkTrajectory()


def test_settings_that_are_not_criteria_are_passed_over(tmp_path: Path) -> None:
    content = {
        "criteria": {ADK: 1.0},
        "custom_metrics": None,
        "user_simulator_config": {"model": "m"},
        "live_model_config": {"timeout_seconds": 300},
    }
    criteria = Criteria.from_file(config(content, tmp_path))
    assert criteria.labels == (ADK,)
    assert criteria.ignored == ()
    assert criteria.source == str(tmp_path / "test_config.json")


def test_a_key_that_nobody_reads_is_named(tmp_path: Path) -> None:
    file = config({"criteria": {ADK: 1.0}, "match": "subset"}, tmp_path)
    with pytest.warns(ReadWarning, match="test_config.json: unknown keys, not used: match"):
        criteria = Criteria.from_file(file)
    assert criteria.ignored == ("unknown keys, not used: match",)


def test_a_custom_metric_in_code_is_named_and_not_run(tmp_path: Path) -> None:
    custom = {"mine": {"code_config": {"name": "pkg.mine"}}, "response_match_score": {"code_config": {"name": "pkg.r"}}}
    content = {"criteria": {"mine": 0.5, "response_match_score": 0.5, ADK: 1.0}, "custom_metrics": custom}
    with pytest.warns(ReadWarning, match="is a custom metric in code; its code is not run"):
        criteria = Criteria.from_file(config(content, tmp_path))
    assert criteria.labels == ("response_match_score", ADK)
    assert criteria.ignored == (
        "mine is a custom metric in code; its code is not run",
        "response_match_score is a custom metric in code; its code is not run; "
        "the metric that has this name here is used",
    )


def test_a_list_of_eval_metrics_is_read(tmp_path: Path) -> None:
    content = {
        "eval_metrics": [{"metric_name": "trajectory_f1", "threshold": 0.5}, {"metric_name": ADK, "threshold": 1}]
    }
    assert [(c.label, c.threshold) for c in Criteria.from_file(config(content, tmp_path))] == [
        ("trajectory_f1", 0.5),
        (ADK, 1.0),
    ]


@pytest.mark.parametrize(
    "content",
    [
        {"trajectory_f1": 0.5, "names": {"metric": "trajectory_recall", "threshold": 1}},
        {"names": {"metric": "trajectory_recall", "threshold": 1}, "trajectory_f1": 0.5},
        {"names": {"metric": "trajectory_recall", "threshold": 1}},
    ],
)
def test_a_plain_mapping_of_labels_is_a_configuration_too(content: dict[str, Any], tmp_path: Path) -> None:
    assert Criteria.from_file(config(content, tmp_path)).labels == tuple(content)


def test_a_byte_order_mark_is_no_part_of_it(tmp_path: Path) -> None:
    assert Criteria.from_file(config('\ufeff{"criteria": {"trajectory_f1": 1}}', tmp_path)).labels == ("trajectory_f1",)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"criteria": {"trajectory_f1": 1, "trajectory_f1": 0}}', "not JSON: the key 'trajectory_f1' stands twice"),
        ("[]", "wanted an object with 'criteria', found list"),
        ("{}", r"no criteria: found keys \(none\); wanted 'criteria'"),
        ('{"critera": {}}', "no criteria: found keys critera; wanted 'criteria'"),
        ('{"criteria": [1]}', "no criteria: found keys criteria"),
        ('{"eval_metrics": [1]}', "eval_metrics: wanted objects with 'metric_name', found 1"),
        ('{"eval_metrics": [{"name": "x"}]}', "eval_metrics: wanted objects with 'metric_name', found {'name'"),
        (
            '{"eval_metrics": [{"metric_name": "trajectory_f1"}, {"metric_name": "trajectory_f1"}]}',
            "eval_metrics: 'trajectory_f1' stands twice",
        ),
    ],
)
def test_a_file_that_is_no_configuration_names_itself(content: str, says: str, tmp_path: Path) -> None:
    file = config(content, tmp_path)
    with pytest.raises(ConfigError, match=f"test_config.json: {says}"):
        Criteria.from_file(file)


def test_a_file_that_cannot_be_opened_names_itself(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing.json: cannot be read: No such file"):
        Criteria.from_file(tmp_path / "missing.json")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        Criteria.from_file(tmp_path)
    (tmp_path / "binary.json").write_bytes(b"\x89PNG\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"binary\.json: not JSON"):
        Criteria.from_file(tmp_path / "binary.json")


_words = st.text("ab 1.北", max_size=5)
_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=5,
)
_keys = st.sampled_from(["criteria", "eval_metrics", "custom_metrics", ADK, "match", "threshold", "metric", "per", "x"])


@given(
    st.dictionaries(
        _keys,
        st.dictionaries(_keys, _anything | st.dictionaries(_keys, _anything, max_size=3), max_size=3) | _anything,
        max_size=3,
    )
)
def test_no_content_gives_a_foreign_error(content: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadWarning)
        criteria, refused = read_or_refused(lambda: Criteria.from_config(content, where="f.json"))
    assert refused.startswith("f.json: ") if refused else all(c.metric.name in METRICS for c in criteria)


def read_or_refused(read: Callable[[], Criteria]) -> tuple[Criteria, str]:
    """The criteria, or no criteria and what was said instead."""
    try:
        return read(), ""
    except ConfigError as error:
        return Criteria(()), str(error)


# --- where a configuration is found ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (
            ["evals/set/test_config.json", "evals/set/eval_config.json", "evals/eval_config.json"],
            "evals/set/test_config.json",
        ),
        (["evals/set/eval_config.json", "evals/eval_config.json"], "evals/set/eval_config.json"),
        (["evals/eval_config.json"], "evals/eval_config.json"),
        (["evals/test_config.json"], None),
        (["eval_config.json"], None),
        ([], None),
    ],
)
@pytest.mark.parametrize("data", ["evals/set/a.test.json", "evals/set"])
def test_the_configuration_beside_the_data_or_one_folder_up_is_found(
    data: str, files: list[str], found: str | None, tmp_path: Path
) -> None:
    (tmp_path / "evals/set").mkdir(parents=True)
    (tmp_path / "evals/set/a.test.json").write_text("{}")
    for name in files:
        config({"criteria": {"trajectory_f1": 0.25}}, tmp_path, name)
    criteria = Criteria.discover(tmp_path / data)
    if found is None:
        assert criteria.source == "ADK's default (no test_config.json or eval_config.json found)"
        assert [(c.label, c.threshold) for c in criteria] == [(ADK, 1.0), ("response_match_score", 0.8)]
    else:
        assert criteria.source == str(tmp_path / found)
        assert criteria.labels == ("trajectory_f1",)


@pytest.mark.parametrize("data", ["a.test.json", ".", "../set/a.test.json", "../set", "deeper/.."])
def test_one_folder_up_is_found_from_inside_the_folder(
    data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evals/set/deeper").mkdir(parents=True)
    (tmp_path / "evals/set/a.test.json").write_text("{}")
    config({"criteria": {"trajectory_f1": 0.25}}, tmp_path, "evals/eval_config.json")
    monkeypatch.chdir(tmp_path / "evals/set")
    assert Criteria.discover(data).labels == ("trajectory_f1",)


def test_a_configuration_further_down_is_named_and_not_used(tmp_path: Path) -> None:
    config({"criteria": {"trajectory_f1": 0.25}}, tmp_path, "weather/test_config.json")
    with pytest.warns(ReadWarning, match=r"weather.test_config.json: not used, all cases are scored by one set"):
        criteria = Criteria.discover(tmp_path)
    assert criteria.source.startswith("ADK's default")


def test_a_place_that_cannot_be_searched_is_an_error() -> None:
    with pytest.raises(ConfigError, match="cannot be searched for criteria: File name too long"):
        Criteria.discover("x" * 5000)


def test_a_broken_configuration_is_an_error_and_not_the_default(tmp_path: Path) -> None:
    config("{", tmp_path)
    with pytest.raises(ConfigError, match="not JSON"):
        Criteria.discover(tmp_path / "a.test.json")


# --- public files ------------------------------------------------------------------------------------------------


def test_every_public_configuration_is_read_or_refused_with_file_and_key() -> None:
    files = sorted(corpus("adk_eval_config").glob("*.json"))
    assert files
    deterministic = 0
    for file in files:
        content = json.loads(file.read_text(encoding="utf-8"))
        wanted = content.get("criteria") or {item["metric_name"]: item for item in content["eval_metrics"]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReadWarning)  # what a judge of ours does not use is named
            criteria, refused = read_or_refused(partial(Criteria.from_file, file))
        if refused:
            label = refused.removeprefix(f"{file}: ").partition(":")[0]
            assert label in wanted, refused
            assert label not in (ADK, "response_match_score"), refused
        else:
            assert criteria.labels == tuple(wanted)
            for label, spec in wanted.items():
                assert criteria[label].threshold == (spec["threshold"] if isinstance(spec, dict) else spec)
        deterministic += not refused and set(wanted) <= {ADK, "response_match_score"}
    assert deterministic >= 13


def test_every_formula_is_a_metric() -> None:
    assert set(FORMULAS) <= set(METRICS)
