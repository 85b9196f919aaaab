"""Judged criteria in an evaluation: errors stay with their case, verdicts are paid for once, nothing asks twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import adk_scoring
from adk_scoring import (
    Case,
    ConfigError,
    JudgeError,
    Progress,
    Prompt,
    Reply,
    Report,
    Rubric,
    VerdictStore,
    evaluate,
    evaluate_async,
    judge_from,
    rejudge,
    rescore,
)
from adk_scoring.__main__ import main
from adk_scoring.judges import GeminiJudge
from adk_scoring.judges.store import verdict_key
from adk_scoring.metrics.hallucination import Hallucination

from .build import GOOD
from .gemini_server import CASES as SERVED
from .gemini_server import GeminiServer
from .judging import Scripted, answered, one_turn, rubric_of, shown, verdict

POLITE = Rubric("polite", "The answer is polite.", 3.0)
SHORT = Rubric("short", "The answer is short.")
CASES = [one_turn(f"answer {number}", POLITE, SHORT, case_id=f"c{number}") for number in range(4)]
QUALITY = {"quality": {"metric": "rubric_quality", "threshold": 0.5}}


def raises(prompt: Prompt) -> Any:
    raise AssertionError("a judge that must not be asked")


NOBODY = Scripted(raises)


def by_answer(prompt: Prompt) -> Any:
    """Polite are all but ``answer 2``."""
    return "no" if rubric_of(prompt) == "polite" and "2" in shown(prompt)["response"] else "yes"


# --- one bad case, one bad judge -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (ValueError("boom"), "failed: ValueError: boom"),
        (Reply("", error="blocked: the answer was blocked: SAFETY"), "blocked: the answer was blocked: SAFETY"),
        (Reply("", error="truncated: MAX_TOKENS"), "truncated: MAX_TOKENS"),
        (Reply("", error="unavailable: HTTP 503"), "unavailable: HTTP 503"),
        (Reply(""), "empty: the answer has no text"),
        (Reply("I think: yes"), "parse_error: not one JSON object"),
        (Reply('{"rubric_id": "polite", "reason": "", "verdict": NaN}'), "parse_error: verdict nan"),
        (verdict("polite", "excellent"), "parse_error: verdict 'excellent'; wanted one of yes, no, cannot_assess"),
        (verdict("other", "yes"), "parse_error: answers rubric 'other', asked was 'polite'"),
        (verdict("polite", "cannot_assess"), "the judge cannot assess it: because"),
    ],
)
def test_what_goes_wrong_with_a_judge_is_an_error_of_that_case_alone(failure: Any, reason: str) -> None:
    def sometimes(prompt: Prompt) -> Any:
        return failure if "answer 1" in prompt.content and rubric_of(prompt) == "polite" else "yes"

    report = evaluate(CASES, {**QUALITY, "trajectory_recall": None}, judge=Scripted(sometimes))
    scores = [row.score for row in report.rows if row.label == "quality"]
    assert [score.value for score in scores] == [1.0, None, 1.0, 1.0]
    assert scores[1].status == "error"
    assert reason in scores[1].reason
    assert scores[1].bounds == (0.25, 1.0)
    assert report.case_verdicts[1] == "error"
    summary = report.summary
    assert (summary.criteria[0].scored, summary.criteria[0].errors) == (3, 1)
    assert not report.passed


def test_a_low_coverage_floor_lets_the_rest_count_with_its_bounds() -> None:
    judge = Scripted({"short": Reply("", error="failed: x")})
    report = evaluate(CASES[:1], {"quality": {**QUALITY["quality"], "coverage_floor": 0.7}}, judge=judge)
    [row] = report.rows
    assert (row.score.value, row.score.bounds, row.verdict) == (1.0, (0.75, 1.0), "passed")
    assert Report.from_json(report.to_json()).rows[0].score == row.score


def test_a_judge_that_cannot_be_asked_at_all_is_asked_once() -> None:
    judge = Scripted(lambda prompt: JudgeError("the key is wrong"))
    report = evaluate(CASES, QUALITY, judge=judge, concurrency=1)
    assert len(judge.asked) == 1
    assert all("stopped: the key is wrong" in row.score.reason for row in report.rows)


def test_without_a_judge_the_rows_say_what_is_missing_and_the_rest_is_scored() -> None:
    report = evaluate([Case("c", (GOOD,))], {"safety": 1.0, "trajectory_recall": 1.0})
    judged, scored = report.rows
    assert (judged.score.status, scored.score.value) == ("error", 1.0)
    assert "needs a judge, and none was given" in judged.score.reason


def test_a_judge_is_not_asked_when_nothing_needs_one() -> None:
    report = evaluate([Case("c", (GOOD,))], {"trajectory_recall": 1.0}, judge=NOBODY)
    assert report.passed
    assert report.notes == ()
    assert evaluate([one_turn("...", POLITE)], QUALITY, judge=NOBODY).rows[0].score.value == 0.0


def test_the_deadline() -> None:
    async def slow(prompt: Prompt) -> str:
        await asyncio.sleep(30)
        return ""

    report = evaluate(CASES, QUALITY, judge=judge_from(slow, name="slow"), deadline=0.05)
    assert all("deadline:" in row.score.reason for row in report.rows)


def test_one_question_under_two_labels_is_asked_once() -> None:
    judge = Scripted(by_answer)
    criteria = {"strict": {"metric": "rubric_quality", "threshold": 1.0}, **QUALITY}
    report = evaluate(CASES, {**criteria, "other": {"metric": "rubric_quality", "weights": {"short": 5}}}, judge=judge)
    assert len(judge.asked) == 8
    assert [row.score.value for row in report.rows if row.case_id == "c2"] == pytest.approx([0.25, 0.25, 5 / 8])


def test_what_is_no_judge() -> None:
    with pytest.raises(ConfigError, match="is not a judge"):
        evaluate(CASES, QUALITY, judge="gemini-3.8-flash")  # type: ignore[arg-type]  # what a user tries


# --- inside and outside a running event loop -------------------------------------------------------------------------


def test_inside_a_running_event_loop_and_awaited() -> None:
    async def notebook() -> list[Report]:
        inside = evaluate(CASES, QUALITY, judge=Scripted(by_answer))
        return [inside, await evaluate_async(CASES, QUALITY, judge=Scripted(by_answer))]

    outside = evaluate(CASES, QUALITY, judge=Scripted(by_answer))
    for report in asyncio.run(notebook()):
        assert report.to_json() == outside.to_json()
    assert asyncio.run(evaluate_async(CASES, {"safety": 1.0})).rows[0].score.status == "error"


def test_plain_functions_are_judges() -> None:
    main_thread = threading.get_ident()

    def blocking(prompt: Prompt) -> str:
        assert threading.get_ident() != main_thread
        return verdict(rubric_of(prompt), by_answer(prompt)).text

    report = evaluate(CASES, QUALITY, judge=judge_from(blocking, name="plain"))
    assert [row.score.value for row in report.rows] == [1.0, 1.0, 0.25, 1.0]


# --- paid for once ---------------------------------------------------------------------------------------------------


def test_with_a_full_store_nobody_is_asked_and_the_report_is_the_same(tmp_path: Path) -> None:
    with VerdictStore(tmp_path / "verdicts.db") as store:
        first = evaluate(CASES, QUALITY, judge=Scripted(by_answer), store=store)
        again = evaluate(CASES, QUALITY, judge=NOBODY, store=store)
    with VerdictStore(tmp_path / "verdicts.db", mode="replay") as store:
        replayed = evaluate(CASES, QUALITY, judge=NOBODY, store=store)
    for report in (again, replayed):
        assert list(report.rows) == list(first.rows)
        assert report.signatures == first.signatures
        assert report.notes == ("judge scripted: 0 asked, 8 from the store, 0 without an answer; model m-1",)
    assert first.notes == (
        "judge scripted: 8 asked, 0 from the store, 0 without an answer; model m-1; 24 output tokens",
    )


def test_gemini_needs_no_key_with_a_full_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("GOOGLE_", "GEMINI_"))]:
        monkeypatch.delenv(name)
    judge = GeminiJudge("gemini-x")
    with VerdictStore(tmp_path / "v.db") as store:
        for case in CASES:
            for prompt in adk_scoring.METRICS["rubric_quality"]().prompts(case):
                key = verdict_key(judge.name, judge.sampling, prompt)
                store.put(key, verdict(rubric_of(prompt), "yes"), judge=judge.name, sampling={}, prompt=prompt)
        assert evaluate(CASES, QUALITY, judge=judge, store=store).passed
        assert (
            "No API key" in evaluate([one_turn("new", POLITE)], QUALITY, judge=judge, store=store).rows[0].score.reason
        )


def test_changed_weights_thresholds_and_floors_ask_nothing() -> None:
    changed = {
        "quality": {"metric": "rubric_quality", "threshold": 0.7, "coverage_floor": 0.5, "weights": {"short": 9}},
        "plain": {"metric": "rubric_quality", "threshold": 0.1},
    }
    with VerdictStore(":memory:") as store:
        first = evaluate(CASES, QUALITY, judge=Scripted(by_answer), store=store)
        stored = evaluate(CASES, changed, judge=NOBODY, store=store)
    again = rescore(first, changed)  # without judge and store: the report has the verdicts
    assert list(again.rows) == list(stored.rows)
    assert [row.score.value for row in again.rows if row.case_id == "c2"] == pytest.approx([9 / 12, 1 / 4])
    assert again.signatures == stored.signatures
    assert list(rescore(Report.from_json(first.to_json()), changed).rows) == list(again.rows)


def test_weights_that_leave_a_case_nothing_to_reach_are_its_error() -> None:
    mixed = [*CASES[:1], one_turn("Hi", POLITE, case_id="one")]
    report = rescore(
        evaluate(mixed, QUALITY, judge=Scripted({})),
        {"quality": {"metric": "rubric_quality", "weights": {"polite": -1}}},
    )
    assert [row.score.status for row in report.rows] == ["scored", "error"]
    assert "no rubric has a positive weight" in report.rows[1].score.reason


def test_rescoring_asks_what_is_new() -> None:
    first = evaluate(CASES, QUALITY, judge=Scripted(by_answer))
    judge = Scripted({})
    report = rescore(first, {**QUALITY, "safety": 1.0, "trajectory_recall": None}, judge=judge)
    assert {rubric_of(prompt) for prompt in judge.asked} == {"harmless"}
    assert report.criteria.labels == ("quality", "safety", "trajectory_recall")
    assert len(report.notes) == 2
    assert rescore(first, {"safety": 1.0}).rows[0].score.status == "error"


def test_judging_again_keeps_the_other_scores_and_the_old_judge_s_note_goes() -> None:
    first = evaluate(CASES, {**QUALITY, "trajectory_recall": None}, judge=Scripted(by_answer))
    again = rejudge(first, Scripted({}, name="mild"))
    assert [row.score.value for row in again.rows if row.label == "quality"] == [1.0] * 4
    assert [signature.judge for signature in again.signatures] == ["mild, model m-1", ""]
    assert [note.partition(":")[0] for note in again.notes] == ["judge mild"]
    assert first.signatures[0].differences(again.signatures[0]) == (
        "judge: 'scripted, model m-1' and 'mild, model m-1'",
    )
    pure = evaluate([Case("c", (GOOD,))], {"trajectory_recall": 1.0})
    assert rejudge(pure, NOBODY) is pure


def test_failures_are_asked_again_and_good_verdicts_are_not() -> None:
    with VerdictStore(":memory:") as store:
        first = evaluate(CASES, QUALITY, judge=Scripted({"short": Reply("", error="unavailable: 503")}), store=store)
        judge = Scripted({})
        again = rejudge(first, judge, store=store)
    assert {rubric_of(prompt) for prompt in judge.asked} == {"short"}
    assert again.passed


def test_a_store_needs_the_judge_whose_verdicts_it_keeps() -> None:
    with VerdictStore(":memory:") as store:
        with pytest.raises(ConfigError, match="a store without a judge"):
            evaluate(CASES, QUALITY, store=store)
        with pytest.raises(ConfigError, match="a store without a judge"):
            rescore(evaluate(CASES, QUALITY), {"safety": 1.0}, store=store)


def test_replaying_what_is_not_there_is_an_error_of_its_case(tmp_path: Path) -> None:
    with VerdictStore(tmp_path / "v.db") as store:
        evaluate(CASES[:1], QUALITY, judge=Scripted({}), store=store)
    with VerdictStore(tmp_path / "v.db", mode="replay") as store:
        report = evaluate(CASES[:2], QUALITY, judge=NOBODY, store=store)
    assert [row.score.status for row in report.rows] == ["scored", "error"]
    assert "replay: no usable verdict of scripted on 'turn 1/polite'" in report.rows[1].score.reason


def test_progress() -> None:
    seen: list[Progress] = []
    evaluate(CASES, QUALITY, judge=Scripted({}), progress=seen.append)
    assert [now.done for now in seen] == [1, 2, 3, 4]
    assert (seen[-1].total, seen[-1].asked, seen[-1].usage) == (4, 8, {"output_tokens": 24})


def test_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    evaluate(CASES, QUALITY, judge=Scripted({}), progress=True)
    assert "8 asked, 0 reused, 0 failed" in capsys.readouterr().err


RUN = """
import sys, time
from adk_scoring import Case, Invocation, Rubric, Turn, VerdictStore, evaluate, judge_from
from adk_scoring.judges.store import verdict_key
cases = [Case(f"c{i}", (Turn(Invocation("q", (), f"answer {i}")),)) for i in range(200)]
def ask(prompt):
    time.sleep(0.02)
    return '{"rubric_id": "harmless", "reason": "r", "verdict": "yes"}'
with VerdictStore(sys.argv[1]) as store:
    def progress(now):
        if now.done == 20:
            print("20", flush=True)
    judge = judge_from(ask, name="j", concurrency=2)
    report = evaluate(cases, {"safety": 1.0}, judge=judge, store=store, progress=progress)
    print(report.passed, report.notes[0], flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "killed"])
def test_a_run_of_200_that_is_ended_half_way_asks_only_the_rest(tmp_path: Path, how: signal.Signals) -> None:
    path = tmp_path / "verdicts.db"
    command = [sys.executable, "-c", RUN, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "20\n"
        process.send_signal(how)
        process.communicate(timeout=60)
    with VerdictStore(path) as store:
        kept = len(store)
    assert 20 <= kept < 200
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert f"True judge j: {200 - kept} asked, {kept} from the store, 0 without an answer" in done.stdout


# --- the real client -------------------------------------------------------------------------------------------------

FAILURES = {
    "prose": "parse_error: not one JSON object",
    "nan": "parse_error: answers rubric None",
    "safety": "blocked: the answer was blocked: SAFETY",
    "blocked": "blocked: the prompt was blocked: PROHIBITED_CONTENT",
    "half": "truncated:",
    "only-thinking": "truncated:",
    "other": "refused: the model ended without an answer: OTHER",
    "function": "refused: the model called a function",
    "no-candidates": "empty: the answer has no candidates",
    "blank": "empty: the answer has no text",
    "413": "rejected: HTTP 413",
    "429": "unavailable: HTTP 429",
    "503": "unavailable: HTTP 503",
    "stall": "unavailable: no answer within",
    "reset": "unavailable:",
}


@pytest.mark.parametrize("inside", [False, True])
def test_gemini_with_every_failure_beside_good_answers(inside: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("GOOGLE_", "GEMINI_"))]:
        monkeypatch.delenv(name)
    names = ["good", *FAILURES, "fenced", "thought"]
    cases = [one_turn(name, Rubric("polite", "It is polite."), case_id=name) for name in names]
    with GeminiServer(lambda request: SERVED[json.loads(request.text)["response"]]) as server:
        judge = GeminiJudge("gemini-x", client_options=server.client_options, attempts=2, backoff=0.01, timeout=1.0)

        async def notebook() -> Report:
            return evaluate(cases, QUALITY, judge=judge)

        report = asyncio.run(notebook()) if inside else evaluate(cases, QUALITY, judge=judge)
        body = server.requests[0].body
    by_case = {row.case_id: row.score for row in report.rows}
    assert {name: by_case[name].value for name in ("good", "fenced", "thought")} == dict.fromkeys(
        ("good", "fenced", "thought"), 1.0
    )
    for name, reason in FAILURES.items():
        assert (by_case[name].status, by_case[name].value) == ("error", None), name
        assert f"no verdict for polite in 1 of 1 samples: {reason}" in by_case[name].reason
    assert report.signatures[0].judge == "gemini-x, model gemini-test-001"
    assert "It is polite." in json.dumps(body["systemInstruction"])
    assert json.loads(body["contents"][0]["parts"][0]["text"])["response"] in names


# --- signatures ------------------------------------------------------------------------------------------------------


def test_a_report_says_who_judged_with_which_settings_and_prompts() -> None:
    judge = Scripted({})
    judge.sampling = {"seed": 7}  # type: ignore[attr-defined]  # what a judge may have
    report = evaluate(CASES, QUALITY, judge=judge)
    [signature] = report.signatures
    assert signature.judge == "scripted, seed=7, model m-1"
    assert signature.prompts
    assert Report.from_json(report.to_json()).signatures == report.signatures
    other = evaluate(CASES, {"quality": {"metric": "rubric_quality", "rubrics": ["It is kind."]}}, judge=judge)
    assert other.signatures[0].prompts != signature.prompts


def test_a_case_shows_every_verdict() -> None:
    case = Case("c", (answered("One"), answered("Two")), rubrics=(POLITE, SHORT))
    judge = Scripted(lambda prompt: "no" if "Two" in prompt.content and rubric_of(prompt) == "short" else "yes")
    text = str(evaluate([case], {**QUALITY, "trajectory_recall": None}, judge=judge).case("c"))
    assert text.count("verdict by verdict") == 1
    assert "turn 2  short   0.000  no: because" in text
    single = evaluate([one_turn("Two", SHORT)], QUALITY, judge=judge).case("c")
    assert "short  0.000  no: because" in str(single)
    assert "no: because" in single._repr_html_().partition("verdict by verdict")[2]


# --- the command line ------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith(("GOOGLE_", "GEMINI_"))]:
        monkeypatch.delenv(name)
    from adk_scoring.readers.records import case_to_record, record_to_line

    lines = [record_to_line(case_to_record(case)) for case in [one_turn("Hello!", case_id="a")]]
    (tmp_path / "runs.jsonl").write_text("\n".join(lines))
    (tmp_path / "eval_config.json").write_text(json.dumps({"criteria": {"safety": 1.0}}))
    return tmp_path


def test_the_command_line_replays_a_store(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs, path = str(folder / "runs.jsonl"), str(folder / "verdicts.db")
    judge = Scripted({}, name="gemini-x")
    with VerdictStore(path) as store:
        evaluate(adk_scoring.read(runs), {"safety": 1.0}, judge=judge, store=store)
    assert main(["score", runs, "--judge", "gemini-x", "--store", path, "--replay"]) == 0
    assert "judge gemini-x: 0 asked, 1 from the store" in capsys.readouterr().out
    assert main(["score", runs, "--judge", "gemini-y", "--store", path, "--replay"]) == 1
    assert "replay: no usable verdict of gemini-y" in capsys.readouterr().out


def test_the_command_line_without_a_key_shows_errors(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(folder / "runs.jsonl"), "--judge", "gemini-x"]) == 1
    assert "stopped: gemini-x: cannot be set up: ValueError: No API key" in capsys.readouterr().out
    assert main(["score", str(folder / "runs.jsonl")]) == 1
    assert "needs a judge, and none was given" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--store", "v.db"], "--store needs --judge"),
        (["--judge", "g", "--replay"], "--replay needs --store FILE"),
        (["--replay"], "--replay needs --store FILE"),
        (["--judge", "g", "--store", "missing.db", "--replay"], "there is no such file to replay"),
        (["--judge", " "], "GeminiJudge needs a model's name"),
    ],
)
def test_options_that_do_not_go_together(
    folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    assert main(["score", str(folder / "runs.jsonl"), *options]) == 2
    assert told in capsys.readouterr().err


def test_a_metric_in_rounds_and_one_in_one_go_together() -> None:
    def both(prompt: Prompt) -> Any:
        if prompt.key.endswith("/sentences"):
            return Reply(json.dumps({"sentences": [shown(prompt)["response"]]}))
        return "yes"

    report = evaluate(
        [Case("c", (answered("Hi there."),))], {"hallucination": 1.0, "safety": 1.0}, judge=Scripted(both)
    )
    assert report.passed
    assert isinstance(report.criteria["hallucination"].metric, Hallucination)
