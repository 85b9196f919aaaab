"""How a number was made, and whether a case is still the same."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

from adk_scoring import (
    METRICS,
    Case,
    Criterion,
    Invocation,
    Match,
    Metric,
    Prompt,
    Reply,
    Report,
    Rubric,
    Score,
    Session,
    Signature,
    ToolCall,
    Turn,
    compare,
    evaluate,
    judge_from,
    rejudge,
    rescore,
)
from adk_scoring.evidence import Evidence
from adk_scoring.report.signature import COMPARED, SCORES_SINCE, content_hash
from tests.made_reports import report_of

WANTED = Invocation("Weather?", (ToolCall("weather", {"city": "Paris"}),), "20 C")
CASE = Case("a", (Turn(WANTED, (WANTED,)),))


def test_a_signature_names_metric_fields_and_releases() -> None:
    shown = str(Signature.of(METRICS["trajectory_f1"](match=Match(args="ignore"))))
    assert shown.startswith('metric:trajectory_f1|match:{"args":"ignore"}|numbers:')
    assert f"numbers:{SCORES_SINCE}|version:" in shown


def test_the_release_alone_makes_no_difference_but_moved_numbers_do() -> None:
    mine = Signature("f1", version="0.1.0")
    assert mine.differences(replace(mine, version="9.9")) == ()
    assert mine.differences(replace(mine, scores_since="9.9")) == (f"scores_since: {SCORES_SINCE!r} and '9.9'",)


@pytest.mark.parametrize("field", COMPARED)
def test_each_field_is_compared_unless_allowed(field: str) -> None:
    mine = Signature("f1")
    value: Any = {"x": 1} if field == "parameters" else "other"
    other = replace(mine, **{field: value})
    assert len(mine.differences(other)) == 1
    assert mine.differences(other, allow=[field]) == ()


def test_signatures_survive_a_file() -> None:
    report = evaluate([CASE], {"trajectory_f1": 1.0, "loose": {"metric": "trajectory_f1", "match": "ignore"}})
    document = json.loads(report.to_json())
    document["criteria"]["items"][0]["signature"]["version"] = "0.0.9"
    read = Report.from_json(json.dumps(document))
    assert read.signatures == (replace(report.signatures[0], version="0.0.9"), report.signatures[1])
    assert read.select([0]).signatures == read.signatures
    assert "0.0.9" in read.to_json()


def test_rescoring_keeps_how_kept_scores_were_made() -> None:
    report = evaluate([CASE], {"trajectory_f1": 1.0})
    old = Report(report.cases, report.criteria, report.columns, signatures=[replace(report.signatures[0], version="0")])
    again = rescore(old, {"trajectory_recall": 0.5, "trajectory_f1": 0.5})
    assert [signature.version for signature in again.signatures] == [report.signatures[0].version, "0"]


def test_a_function_as_parameter_is_the_same_in_every_process() -> None:
    def close(actual: object, expected: object) -> bool:
        return actual == expected

    shown = str(Signature.of(METRICS["trajectory_f1"](match=Match(tools={"weather": {"city": close}}))))
    assert "close" in shown
    assert " at 0x" not in shown


@dataclass(frozen=True)
class Asked(Metric):
    """Asks a judge one question."""

    question: str = "Polite?"
    breaks: bool = False
    name = "asked"
    needs = frozenset({"judge"})

    def prompts(self, evidence: Evidence | Case, replies: object = ()) -> list[Prompt]:
        if self.breaks:
            raise KeyError("metadata")
        return [] if replies else [Prompt("turn 1", self.question, "{}")]

    def score(self, evidence: Evidence | Case, replies: object = ()) -> Score:
        return Score("asked", 1.0) if replies else Score.failed("asked", "nobody answered")


def test_a_judged_number_names_the_judge_its_model_and_a_hash_of_what_it_is_asked() -> None:
    judge = judge_from(lambda prompt: Reply("yes", model_version="judge-001"), name="judge-latest")
    criteria = [Criterion("asked", Asked()), Criterion("f1", METRICS["trajectory_f1"]())]
    report = evaluate([CASE], criteria, judge=judge)
    asked, f1 = report.signatures
    assert asked.judge == "judge-latest, model judge-001"
    assert len(asked.prompts) == 16
    assert (f1.judge, f1.prompts) == ("", "")
    newer = judge_from(lambda prompt: Reply("yes", model_version="judge-002"), name="judge-latest")
    found = compare({"old": report, "new": rejudge(report, newer)})
    assert "judge-001' and 'judge-latest, model judge-002" in found.not_compared["asked", "old", "new"]
    assert found.difference("f1").ties == 1


def test_another_wording_is_another_signature() -> None:
    assert Signature.of(Asked("Polite?")).prompts != Signature.of(Asked("Kind?")).prompts
    assert Signature.of(Asked(breaks=True)).prompts == "unknown"


def changed(**of_expectation: object) -> Case:
    return replace(CASE, turns=(Turn(WANTED, (replace(WANTED, **of_expectation),)),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "other",
    [
        changed(user_text="Weather in Rome?"),
        changed(response="21 C"),
        changed(tool_calls=None),
        changed(tool_calls=(ToolCall("weather", {"city": "Rome"}),)),
        changed(tool_calls=(ToolCall("weather", {"city": "Paris"}, optional=True),)),
        changed(rubrics=(Rubric("r", "polite"),)),
        replace(CASE, rubrics=(Rubric("r", "polite"),)),
        replace(CASE, context="Paris: 20 C"),
        replace(CASE, session=Session(state={"unit": "F"})),
        replace(CASE, turns=(*CASE.turns, *CASE.turns)),
    ],
)
def test_what_is_asked_or_expected_changes_the_content(other: Case) -> None:
    assert content_hash(other) != content_hash(CASE)


@pytest.mark.parametrize(
    "other",
    [
        replace(CASE, turns=(Turn(Invocation("Weather?", (), "I do not know"), (WANTED,)),)),
        replace(CASE, turns=(Turn(None, (WANTED,)),), error="crashed"),
        replace(CASE, trial=3, tags=("x",), instructions="Be brief.", tools=(), metadata={"run": 1}),
        changed(user_text=" Weather? \n"),
        replace(CASE, session=Session(user_id="u")),
    ],
)
def test_what_the_run_did_does_not(other: Case) -> None:
    assert content_hash(other) == content_hash(CASE)


def test_without_expectations_the_first_question_counts() -> None:
    def simulated(*said: str) -> Case:
        return Case("a", tuple(Turn(Invocation(text)) for text in said))

    assert content_hash(simulated("hi", "then this")) == content_hash(simulated("hi", "then that", "bye"))
    assert content_hash(simulated("hi")) != content_hash(simulated("hello"))
    assert content_hash(Case("a", ())) == content_hash(Case("b", (Turn(),)))


def test_strange_texts_and_values_have_a_hash() -> None:
    strange = changed(tool_calls=(ToolCall("f", {"a": "\ud800", "b": float("nan"), "c": {1, 2}}),))
    assert content_hash(strange) == content_hash(strange)


def test_every_report_has_signatures() -> None:
    report = report_of({"m": [1]})
    assert [str(each) for each in report.signatures] == [f"metric:m|label:m|numbers:{SCORES_SINCE}|version:0.1.0"]


def test_a_mean_says_how_it_was_made() -> None:
    report = report_of({"m": [0.5, 0.25, None]}, ids=["a", "a", "b"], trials=[0, 1, 0])
    assert report.signature("m") == f"{report.signatures[0]}|scored:2/3|interval:clustered t, 95%"
    with pytest.raises(KeyError, match="no criterion 'x'"):
        report.signature("x")
