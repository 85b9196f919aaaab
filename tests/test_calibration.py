"""Judges against people: rows to label and back, and every number by vectors that others published or computed."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring import (
    Annotation,
    Case,
    ConfigError,
    Invocation,
    ReadError,
    Reply,
    Report,
    Rubric,
    ToolCall,
    Turn,
    agreement,
    annotation_items,
    calibrate,
    evaluate,
    read_annotations,
    write_annotations,
)

from .build import texts
from .judging import Scripted, answered, one_turn, rubric_of, shown

POLITE = Rubric("polite", "The answer is polite.")
GRADE = Rubric("grade", "How good is it?", levels=(1, 2, 3))
QUALITY = {"quality": {"metric": "rubric_quality", "threshold": 0.5}}


def judged(words: Sequence[str], name: str = "judge") -> Report:
    """A report of one-turn cases ``c0``, ``c1``, ... with these verdicts on the rubric ``polite``."""
    cases = [one_turn(f"answer {number}", POLITE, case_id=f"c{number}") for number in range(len(words))]
    table = dict(zip((f"answer {number}" for number in range(len(words))), words, strict=True))
    return evaluate(cases, QUALITY, judge=Scripted(lambda prompt: table[shown(prompt)["response"]], name))


def labelled(report: Report, words: Sequence[str]) -> list[Annotation]:
    """What people say about its first items."""
    return [replace(item, label=word) for item, word in zip(annotation_items(report), words, strict=False)]


# --- rows to label ---------------------------------------------------------------------------------------------------


def test_what_is_to_be_labelled_is_shown_without_the_judge_s_verdict() -> None:
    ran = Invocation("Weather?", (ToolCall("weather", {"city": "北京"}),), "It is\u200b 20.")
    case = Case(
        "a",
        (Turn(ran, (Invocation("", None, "20"), Invocation("", None, "20 C"))),),
        trial=2,
        set_id="s",
        rubrics=(POLITE, GRADE),
    )
    report = evaluate([case], QUALITY, judge=Scripted({"grade": "3"}))
    first, second = annotation_items(report)
    assert first == Annotation(
        "a",
        1,
        "polite",
        "The answer is polite.",
        "Weather?",
        "It is 20.",
        "20\n\n20 C",
        '[{"name": "weather", "arguments": {"city": "北京"}}]',
        set_id="s",
        trial=2,
        criterion="quality",
        digest=first.digest,
    )
    assert (second.scale, second.label, len(first.digest)) == ("1/2/3/cannot_assess", "", 12)
    assert [item.label for item in annotation_items(report, verdicts=True)] == ["yes", "3"]


def test_before_any_judge_was_asked_and_where_it_failed() -> None:
    case = Case("a", (answered("One"), answered("..."), answered("Three")), rubrics=(POLITE,))
    for report in (
        evaluate([case], QUALITY),
        evaluate([case], QUALITY, judge=Scripted(lambda _: Reply("", error="x"))),
    ):
        assert [(item.turn, item.label) for item in annotation_items(report, verdicts=True)] == [(1, ""), (3, "")]


def test_conversations_and_sentences() -> None:
    case = Case("a", (answered("Hi.", user="hello"), answered("Bye.", user="bye")))

    def judge(prompt: Any) -> Any:
        return Reply(json.dumps({"sentences": [shown(prompt)["response"]]})) if "sentences" in prompt.key else "no"

    report = evaluate([case], {"hallucination": None, "conversation_coherence": None}, judge=Scripted(judge))
    [talk] = annotation_items(report, "conversation_coherence")
    assert (talk.turn, talk.user) == (None, "")
    assert [turn["user"] for turn in json.loads(talk.response)] == ["hello", "bye"]
    sentences = annotation_items(report, "hallucination", verdicts=True)
    assert [(item.turn, item.rubric_id, item.label) for item in sentences] == [
        (1, "sentence 1: Hi.", "no"),
        (2, "sentence 1: Bye.", "no"),
    ]


def test_which_criterion() -> None:
    report = evaluate([one_turn("Hi", POLITE)], {**QUALITY, "safety": 1.0, "trajectory_recall": None})
    with pytest.raises(
        ConfigError, match="criterion None; wanted a judged criterion of the report; there are: quality, safety"
    ):
        annotation_items(report)
    with pytest.raises(ConfigError, match="'trajectory_recall'"):
        annotation_items(report, "trajectory_recall")
    with pytest.raises(ConfigError, match="there are: none"):
        annotation_items(evaluate([one_turn("Hi")], {"trajectory_recall": None}))


@pytest.mark.parametrize(("value", "label"), [(["1", "3"], "2"), (["3", "3"], "3"), (["1", "2"], "1")])
def test_the_mean_of_levels_is_the_level_next_to_it(value: list[str], label: str) -> None:
    report = evaluate(
        [one_turn("Hi", GRADE)],
        {"quality": {"metric": "rubric_quality", "samples": 2}},
        judge=Scripted(lambda prompt: value[prompt.sample]),
    )
    assert [item.label for item in annotation_items(report, verdicts=True)] == [label]


# --- files -----------------------------------------------------------------------------------------------------------

safe = texts.filter(lambda text: "\r" not in text and not any(0xD800 <= ord(char) < 0xE000 for char in text))
annotations_drawn = st.builds(
    Annotation,
    safe.filter(bool),
    st.none() | st.integers(1, 9),
    safe.filter(bool),
    safe,
    safe,
    safe,
    label=st.sampled_from(["", "yes", "no", "cannot_assess"]),
    set_id=safe,
    trial=st.integers(0, 3),
    criterion=safe,
)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
@given(items=st.lists(annotations_drawn, max_size=4))
def test_files_come_back_as_they_were(
    suffix: str, items: list[Annotation], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("labels") / f"labels{suffix}"
    assert write_annotations(items, path) == len(items)
    assert read_annotations(path) == items


def test_an_answer_is_never_run_by_a_spreadsheet(tmp_path: Path) -> None:
    answers = ['=HYPERLINK("http://evil")', "+1", "-1", "@SUM(A1)", "'quoted", "\tx"]
    path = tmp_path / "labels.csv"
    write_annotations([Annotation("c", 1, "r", response=answer) for answer in answers], path)
    with open(path, encoding="utf-8-sig", newline="") as file:
        cells = [row["response"] for row in csv.DictReader(file)]
    assert all(cell.startswith("'") for cell in cells)
    assert [item.response for item in read_annotations(path)] == answers


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_what_a_spreadsheet_makes_of_it(tmp_path: Path, delimiter: str) -> None:
    rows = [
        ["case_id", "turn", "rubric_id", "label", "remark"],
        ["a", "1", "polite", " YES ", "x, y; z"],
        ["b", "", "polite", "", ""],
    ]
    path = tmp_path / "labels.CSV"
    path.write_bytes("\r\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows).encode("utf-8-sig"))
    assert read_annotations(path) == [Annotation("a", 1, "polite", label="yes"), Annotation("b", None, "polite")]


@pytest.mark.parametrize(
    ("label", "scale", "read"),
    [
        ("true", "yes/no/cannot_assess", "yes"),
        ("Pass", "yes/no/cannot_assess", "yes"),
        ("1", "yes/no/cannot_assess", "yes"),
        ("0", "yes/no/cannot_assess", "no"),
        ("FALSE", "yes/no/cannot_assess", "no"),
        ("1", "1/2/3/cannot_assess", "1"),
        ("Cannot_Assess", "1/2/3/cannot_assess", "cannot_assess"),
    ],
)
def test_labels(tmp_path: Path, label: str, scale: str, read: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({"case_id": "a", "rubric_id": "r", "label": label, "scale": scale}) + "\n\n")
    assert [item.label for item in read_annotations(path)] == [read]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.jsonl", '{"case_id": "a", "rubric_id": "r", "label": "maybe"}', "line 1: label 'maybe'; wanted yes, no"),
        (
            "a.jsonl",
            '\n{"case_id": "a", "rubric_id": "r", "label": "4", "scale": "1/2/3"}',
            "line 2: label '4'; wanted 1, 2, 3",
        ),
        ("a.jsonl", '{"case_id": "a"}', "line 1: no rubric_id"),
        ("a.jsonl", '{"case_id": 7, "rubric_id": "r"}', "line 1: no case_id"),
        ("a.jsonl", '{"case_id": "a", "rubric_id": "r", "turn": "x"}', "turn and trial are whole numbers"),
        ("a.jsonl", "[1]", "found list, wanted an object"),
        ("a.jsonl", "{", "not JSON"),
        ("a.csv", "case_id,rubric_id,label\na,r,yes\na,r,perhaps\n", "line 3: label 'perhaps'"),
        ("a.csv", "name,verdict\na,yes\n", "line 2: no case_id"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: str, told: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ReadError) as raised:
        read_annotations(tmp_path / name)
    assert told in str(raised.value)
    assert name in str(raised.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes("case_id,rubric_id\nä,r\n".encode("latin-1"))
    with pytest.raises(ReadError, match="save it as UTF-8"):
        read_annotations(tmp_path / "latin.csv")
    with pytest.raises(ConfigError, match=r"ends in \.jsonl or \.csv"):
        write_annotations([], tmp_path / "labels.xlsx")
    with pytest.raises(FileNotFoundError):
        read_annotations(tmp_path / "none.csv")


def test_lone_surrogates_are_written(tmp_path: Path) -> None:
    for name in ("a.csv", "a.jsonl"):
        write_annotations([Annotation("c\ud800", 1, "r")], tmp_path / name)
        assert len(read_annotations(tmp_path / name)) == 1


# --- agreement -------------------------------------------------------------------------------------------------------

# Cohen's kappa of 100 items, and 500 more that only the judge saw: statsmodels 0.15 for kappa, Rogan-Gladen as in
# arXiv 2511.21140, prediction-powered inference as ppi-python 0.2.3.
PEOPLE = ["yes"] * 45 + ["no"] * 55
JUDGE = ["yes"] * 40 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 45


def test_kappa_rates_and_the_corrected_pass_rate() -> None:
    report = judged(JUDGE + ["yes"] * 300 + ["no"] * 200)
    found = calibrate(report, labelled(report, PEOPLE))
    assert found.agreement.table == ((40, 5), (10, 45))
    assert found.agreement.kappa.estimate == pytest.approx(0.7)
    assert (found.agreement.kappa.low, found.agreement.kappa.high) == pytest.approx((0.560733, 0.839267), abs=1e-6)
    assert found.agreement.rate.estimate == pytest.approx(0.85)
    assert found.agreement.left_out == {}
    assert found.tpr is not None
    assert found.tnr is not None
    assert (found.tpr.estimate, found.tnr.estimate) == (40 / 45, 45 / 55)
    assert found.balanced_accuracy == pytest.approx((40 / 45 + 45 / 55) / 2)
    assert found.judged is not None
    assert found.judged.estimate == 350 / 600
    assert found.corrected is not None
    assert found.corrected.estimate == pytest.approx(0.591429, abs=1e-6)
    assert (found.corrected.low, found.corrected.high) == pytest.approx((0.479223, 0.721669), abs=1e-6)


def test_the_second_vector_of_the_corrected_rate() -> None:
    people = ["yes"] * 100 + ["no"] * 100
    judge = ["yes"] * 90 + ["no"] * 10 + ["yes"] * 15 + ["no"] * 85
    report = judged(judge + ["yes"] * 170 + ["no"] * 30)
    corrected = calibrate(report, labelled(report, people)).corrected
    assert corrected is not None
    assert corrected.estimate == pytest.approx(0.933333, abs=1e-6)
    assert (corrected.low, corrected.high) == pytest.approx((0.837397, 1.0), abs=1e-6)


def test_a_judge_below_chance_is_not_corrected() -> None:
    report = judged(["no", "no", "yes", "yes", "yes", "no"])
    found = calibrate(report, labelled(report, ["yes", "yes", "no", "no"]))
    assert found.corrected is not None
    assert found.corrected.estimate is None
    assert "refused" in found.corrected.note
    assert "refused" in str(found)


def test_prediction_powered() -> None:
    people = [1, 0, 1, 1, 0, 1, 0, 1, 1, 1]
    judge = [1, 0, 1, 0, 0, 1, 1, 1, 1, 1] + [1] * 70 + [0] * 30
    report = judged(["yes" if word else "no" for word in judge])
    powered = calibrate(report, labelled(report, ["yes" if word else "no" for word in people])).powered
    assert powered.estimate == pytest.approx(0.7)
    assert (powered.low, powered.high) == pytest.approx((0.453930, 0.946070), abs=1e-5)


def test_the_prevalence_paradox_and_raters_with_one_label() -> None:
    first, second = ["yes"] * 99 + ["no"], ["yes"] * 98 + ["no", "yes"]
    found = agreement(judged(first, "a"), judged(second, "b"))
    assert found.rate.estimate == 0.98
    assert found.kappa.estimate == pytest.approx(-0.010101, abs=1e-6)
    assert agreement(judged(["yes"] * 5), judged(["yes"] * 5)).kappa.estimate is None


def test_two_judges_on_one_scale_of_levels() -> None:
    # Weighted kappa with quadratic weights: statsmodels 0.15, cohens_kappa(table, wt="quadratic").
    table = [[10, 2, 0], [3, 8, 2], [0, 1, 9]]
    pairs = [
        (str(i + 1), str(j + 1)) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)
    ]

    def graded(words: list[str]) -> Report:
        cases = [one_turn(f"answer {number}", GRADE, case_id=f"c{number}") for number in range(len(words))]
        return evaluate(cases, QUALITY, judge=Scripted(lambda p: words[int(shown(p)["response"].split()[1])]))

    first, second = graded([one for one, _ in pairs]), graded([other for _, other in pairs])
    found = agreement(first, second)
    assert found.table == ((10, 2, 0), (3, 8, 2), (0, 1, 9))
    assert found.kappa.estimate == pytest.approx(0.825218, abs=1e-6)
    held = calibrate(first, annotation_items(second, verdicts=True))
    assert (held.tpr, held.corrected, held.balanced_accuracy) == (None, None, None)
    assert held.powered.estimate == pytest.approx(sum((int(other) - 1) / 2 for _, other in pairs) / len(pairs))
    assert "TPR" not in str(held)


def test_what_is_left_out_and_why() -> None:
    report = judged(["yes", "no", "yes", "cannot_assess", "yes", "yes", "no", "no"])
    items = annotation_items(report)
    labels = [
        *labelled(report, ["yes", "", "cannot_assess", "yes"]),
        replace(items[4], label="yes", digest="another"),
        *(replace(items[5], label=word) for word in ("yes", "no")),
        *(replace(items[6], label="no") for _ in range(2)),  # two people of one mind
        replace(items[7], case_id="gone", label="no"),
    ]
    found = calibrate(report, labels)
    assert found.agreement.table == ((1, 0), (0, 1))
    assert found.agreement.left_out == {
        "another answer": 1,
        "cannot assess": 1,
        "disputed": 1,
        "no partner": 1,
        "unlabelled": 1,  # by the judge
    }
    assert "left out   1 another answer, 1 cannot assess, 1 disputed, 1 no partner, 1 unlabelled" in str(found)
    both = agreement(labels, report)
    assert both.left_out == {"another answer": 1, "cannot assess": 1, "disputed": 1, "no partner": 2, "unlabelled": 2}


def test_labels_stay_with_the_answer_they_are_about() -> None:
    labels = labelled(judged(["yes"]), ["yes"])
    later = evaluate([one_turn("another answer", POLITE, case_id="c0")], QUALITY, judge=Scripted({}))
    assert calibrate(later, labels).agreement.left_out == {"another answer": 1}


def test_one_rubric_of_several() -> None:
    cases = [
        one_turn(f"answer {number}", POLITE, GRADE, Rubric("short", "s"), case_id=f"c{number}") for number in range(4)
    ]
    report = evaluate(cases, QUALITY, judge=Scripted(lambda p: "2" if rubric_of(p) == "grade" else "yes"))
    labels = [replace(item, label="2" if item.rubric_id == "grade" else "no") for item in annotation_items(report)]
    with pytest.raises(ConfigError, match=r"the rubrics have different scales .*choose one with rubric="):
        calibrate(report, labels)
    assert calibrate(report, labels, rubric="polite").agreement.table == ((0, 0), (4, 0))
    assert calibrate(report, labels, rubric="grade").agreement.rate.estimate == 1.0


def test_labels_that_name_no_criterion_belong_to_the_one_in_question() -> None:
    report = judged(["yes", "no"])
    labels = [replace(item, label="yes", criterion="", digest="") for item in annotation_items(report)]
    assert calibrate(report, labels).agreement.table == ((1, 1), (0, 0))
    strangers = [replace(item, criterion="another") for item in labels]
    assert calibrate(report, strangers).agreement.table == ((0, 0), (0, 0))


def test_nothing_to_compare() -> None:
    report = judged(["yes", "no"])
    found = calibrate(report, [])
    assert (found.agreement.rate.estimate, found.agreement.kappa.estimate, found.balanced_accuracy) == (
        None,
        None,
        None,
    )
    assert found.powered.estimate is None
    assert agreement([], []).scale == ("yes", "no")


def test_it_prints() -> None:
    report = judged(JUDGE + ["yes"] * 300 + ["no"] * 200)
    assert str(calibrate(report, labelled(report, PEOPLE))).splitlines() == [
        "quality: people in rows, judge in columns",
        "     yes   no",
        "yes   40    5",
        "no    10   45",
        "agreement  0.850 [0.767, 0.907]",
        "kappa      0.700 [0.561, 0.839]",
        "left out   0",
        "TPR                            0.889 [0.765, 0.952]",
        "TNR                            0.818 [0.697, 0.898]",
        "judge says yes                 0.583 [0.543, 0.622]",
        "corrected (Rogan-Gladen)       0.591 [0.479, 0.722]",
        "corrected (prediction-powered) 0.510 [0.435, 0.585]",
    ]


def test_through_a_file(tmp_path: Path) -> None:
    report = judged(JUDGE)
    path = tmp_path / "labels.csv"
    write_annotations(labelled(report, PEOPLE), path)
    assert calibrate(report, read_annotations(path)) == calibrate(report, labelled(report, PEOPLE))
