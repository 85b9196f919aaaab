"""tau-bench and tau2-bench: trials, rewards, expected actions, whose calls count, public files, what is broken."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from adk_scoring.errors import ReadError, ReadWarning
from adk_scoring.model import Case, Invocation, RecordedScore, ToolCall, Usage
from adk_scoring.readers import READERS, iter_cases, read
from adk_scoring.stats import pass_k_table
from tests.corpus import corpus

DATA = Path(__file__).parent / "data/tau"


def run(**keys: Any) -> dict[str, Any]:
    return {"task_id": 1, "reward": 1.0, "trial": 0, "info": {}, "traj": [{"role": "user", "content": "hi"}]} | keys


class TestTauBench:
    def test_golden_runs(self) -> None:
        first, second, third = read(DATA / "tau_bench.json")
        assert [(case.case_id, case.trial) for case in (first, second, third)] == [("3", 0), ("3", 1), ("4", 0)]
        (turn,) = first.turns
        asked = "Cancel R1 please.\n\nYes.\n\n###STOP###"
        assert turn.actual == Invocation(
            asked,
            (
                ToolCall("cancel", {"id": "R1"}, call_id="c1", step=0, response="ok"),
                ToolCall(
                    "refund",
                    {"id": "R1", "amount": 5},
                    call_id="c2",
                    step=1,
                    response="Error: card expired",
                    error="Error: card expired",
                ),
            ),
            "Done, 5.",
            intermediate_responses=(("", "Sure?"),),
        )
        wanted = (ToolCall("cancel", {"id": "R1"}), ToolCall("refund", {"id": "R1", "amount": 5}))
        assert turn.expected == (Invocation(asked, wanted),)
        assert first.recorded == (RecordedScore("reward", 1.0, verdict="passed"), RecordedScore("r_actions", 1.0))
        assert (first.instructions, first.metadata["outputs"]) == ("Policy.", ["5"])
        assert second.recorded[0] == RecordedScore("reward", 0.0, verdict="failed")
        assert second.turns[0].expected[0].tool_calls == wanted

    def test_without_expected_actions_it_is_split_at_what_the_user_says(self) -> None:
        case = read(DATA / "tau_bench.json")[-1]
        assert [(turn.actual and turn.actual.user_text, turn.expected) for turn in case.turns] == [
            ("Hi", ()),
            ("Bye", ()),
        ]

    def test_no_expected_actions_are_not_an_absent_expectation(self) -> None:
        (case,) = read([run(info={"task": {"actions": []}})])
        assert case.turns[0].expected[0].tool_calls == ()

    def test_a_run_that_failed_before_its_first_message(self) -> None:
        (case,) = read([run(traj=[], info={"error": "no key"})])
        assert case.error == "no key"
        (case,) = read([run(traj=[], info={"task": {"actions": []}})])
        assert case.turns[0].actual is None

    def test_one_broken_run_among_good_ones(self) -> None:
        first, second, third = read([run(), run(traj=[5], task_id=2), "x"])
        assert (first.error, second.error) == (None, "[1].traj[0]: found a number, wanted an object: 5")
        assert third.error == "[2]: found text, wanted an object: 'x'"
        (case,) = read([run(info={"task": {"actions": [5]}})])
        assert case.error == "[0].info.task.actions[0]: found a number, wanted an object: 5"
        (case,) = read([run(reward="high", trial="first")])
        assert (case.recorded[0].value, case.recorded[0].verdict, case.trial) == (None, None, 0)

    def test_line_by_line(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.jsonl"
        path.write_text("\n".join(json.dumps(run(trial=n)) for n in range(3)))
        assert [(case.trial, case.source[1]) for case in iter_cases(path)] == [(n, f"line {n + 1}") for n in range(3)]


class TestTau2:
    def test_golden_simulation(self) -> None:
        with pytest.warns(ReadWarning, match=r"only some arguments .* Match\(args='subset'\)"):
            (case,) = read(DATA / "tau2.json")
        assert (case.case_id, case.set_id, case.trial, case.instructions) == ("t1", "phone", 2, "Be kind.")
        (turn,) = case.turns
        assert turn.actual == Invocation(
            "No signal.\n\nStill none.",
            # The simulated user toggled something itself: no call of the agent.
            (ToolCall("reboot", {"line": "L1", "note": "now"}, call_id="c1", step=0, response="down", error="down"),),
            "I am sorry.",
            intermediate_responses=(("", "Hi! How can I help?"),),
            usage=Usage(input_tokens=7, output_tokens=2, model_calls=1),
            duration=3.5,
        )
        assert turn.expected[0].tool_calls == (ToolCall("reboot", {"line": "L1"}),)
        assert case.recorded == (
            RecordedScore("reward", 1.0, verdict="passed"),
            RecordedScore("DB", 1.0),
            RecordedScore("action_checks", 1.0, rubric_id="a0"),
            RecordedScore("nl_assertions", 0.0, rubric_id="nl_assertions[0]", reason="curt"),
        )
        assert case.metadata == {"termination_reason": "user_stop", "nl_assertions": ["Agent is kind."]}

    def test_a_greeting_is_no_answer(self) -> None:
        messages = [{"role": "assistant", "content": "Hi!"}, {"role": "user", "content": "Help."}]
        (case,) = read({"info": {}, "simulations": [{"task_id": "t", "messages": messages}]})
        assert case.turns[0].actual == Invocation("Help.", (), None, intermediate_responses=(("", "Hi!"),))

    def test_one_broken_simulation_among_good_ones(self) -> None:
        good = {"task_id": "t", "messages": [], "reward_info": {"reward": 1}}
        checks = {"task_id": "u", "messages": [], "reward_info": {"action_checks": [1]}}
        cases = read({"tasks": [1, {"id": "t"}], "simulations": [good, 5, checks]})
        assert [case.error for case in cases] == [
            None,
            "simulations[1]: found a number, wanted an object: 5",
            "simulations[2].reward_info.action_checks[0]: found a number, wanted an object: 1",
        ]

    def test_results_without_simulations(self) -> None:
        document = {"tasks": [], "info": {"environment_info": {}}}
        with pytest.warns(ReadWarning, match="without simulations"), pytest.raises(ReadError, match="holds no cases"):
            read(document)


def direct_count(path: Path) -> tuple[int, int, int]:
    """Cases, agent's calls, expected actions of the agent; counted without the library."""
    whole = json.loads(path.read_text())
    if isinstance(whole, list) and "traj" in whole[0]:
        return (
            len(whole),
            sum(len(message.get("tool_calls") or ()) for each in whole for message in each["traj"]),
            sum(len(each["info"]["task"]["actions"]) for each in whole),
        )
    tasks = {task["id"]: task for task in (whole if isinstance(whole, list) else whole["tasks"])}
    wanted = {
        key: sum(a.get("requestor") != "user" for a in (task.get("evaluation_criteria") or {}).get("actions") or ())
        for key, task in tasks.items()
    }
    if isinstance(whole, list):
        return len(whole), 0, sum(wanted.values())
    simulations = whole["simulations"]
    calls = sum(
        len(message.get("tool_calls") or ())
        for simulation in simulations
        for message in simulation["messages"]
        if message["role"] == "assistant"
    )
    return len(simulations), calls, sum(wanted[simulation["task_id"]] for simulation in simulations)


def counted(cases: list[Case]) -> tuple[int, int, int]:
    turns = [turn for case in cases for turn in case.turns]
    return (
        len(cases),
        sum(len(turn.actual.tool_calls or ()) for turn in turns if turn.actual),
        sum(len(side.tool_calls or ()) for turn in turns for side in turn.expected),
    )


@pytest.mark.filterwarnings("ignore:.*only some arguments:adk_scoring.errors.ReadWarning")
def test_public_files() -> None:
    files = [*corpus("tau2").glob("*.json"), *corpus("tau_bench").glob("*.json")]
    assert len(files) == 8
    for path in sorted(files):
        document = json.loads(path.read_text())
        assert [name for name, reader in READERS.items() if reader.recognises(document)] == ["tau"]
        if path.name == "sierra-research+tau2-bench+1.json":
            with pytest.warns(ReadWarning, match="without simulations"), pytest.raises(ReadError):
                read(path)
            continue
        cases = read(path)
        assert counted(cases) == direct_count(path), path.name
        assert all(len(case.turns) == 1 for case in cases)
        assert not [case.error for case in cases if case.error]


def test_rewards_of_the_public_runs_give_the_published_table() -> None:
    (path,) = corpus("tau_bench").glob("*.json")
    cases = read(path)
    trials = Counter(case.case_id for case in cases)
    passed = Counter(case.case_id for case in cases if case.recorded[0].verdict == "passed")
    assert {(case.case_id, case.trial) for case in cases} == {(str(task), n) for task in range(50) for n in range(4)}
    # The README of tau-bench: TC (gpt-4o), airline: pass^1..4 = 0.420, 0.273, 0.220, 0.200.
    table = pass_k_table((trials[task], passed[task]) for task in trials)
    assert [round(row.pass_hat.estimate or 0, 3) for row in table] == [0.420, 0.273, 0.220, 0.200]


def test_action_checks_of_the_public_simulations() -> None:
    """What tau2 recorded of each expected action is whether an equal call was made anywhere."""
    path = Path(__file__).parent / "data/vectors/tau2_action_checks.jsonl"
    checked = 0
    for line in path.read_text().splitlines():
        vector = json.loads(line)
        (case,) = read(corpus() / vector["file"])
        (turn,) = case.turns
        assert turn.actual is not None
        assert (case.case_id, case.trial, case.recorded[0].value) == (
            vector["task_id"],
            vector["trial"],
            vector["reward"],
        )
        made = [(call.name, call.args) for call in turn.actual.tool_calls or ()]
        assert made == [(call["name"], call["arguments"]) for call in vector["actual"]]
        wanted = turn.expected[0].tool_calls or ()
        recorded = [score.value for score in case.recorded if score.metric == "action_checks"]
        assert [float((call.name, call.args) in made) for call in wanted] == recorded
        assert recorded == [float(call["recorded_match"]) for call in vector["expected"]]
        checked += len(recorded)
    assert checked > 0
