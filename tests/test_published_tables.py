"""Tables others have published, recomputed from their own files where these are at hand."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from adk_scoring import Case, Criterion, Metric, Reply, Score, compare, evaluate, read
from adk_scoring.evidence import Evidence
from adk_scoring.stats import clustered, holm, mcnemar_exact, pass_k_table, sign_flip, wilson
from tests.corpus import corpus
from tests.made_reports import report_of

BEST = "gpt-4-1106-preview (functions)"


@pytest.fixture(scope="module")
def airline() -> dict[int, list[float]]:
    """Rewards of gpt-4o's trials by task: sierra-research/tau-bench, airline, 50 tasks x 4 trials."""
    (path,) = corpus("tau_bench").glob("sierra-research+tau-bench+*.json")
    rewards: dict[int, list[float]] = defaultdict(list)
    for run in json.loads(path.read_text(encoding="utf-8")):
        rewards[run["task_id"]].append(float(abs(run["reward"] - 1) <= 1e-6))
    return rewards


def test_tau_bench_airline_gpt_4o(airline: dict[int, list[float]]) -> None:
    # The README of tau-bench: TC (gpt-4o), airline: pass^1..4 = 0.420, 0.273, 0.220, 0.200.
    table = pass_k_table((len(trials), int(sum(trials))) for trials in airline.values())
    assert [round(row.pass_hat.estimate or 0, 3) for row in table] == [0.420, 0.273, 0.220, 0.200]
    assert table[0].pass_hat.se == pytest.approx(0.0522, abs=5e-5)
    assert {(row.tasks, row.excluded) for row in table} == {(50, 0)}


def test_tau_bench_trials_of_a_task_are_not_independent(airline: dict[int, list[float]]) -> None:
    values = [reward for trials in airline.values() for reward in trials]
    tasks = [task for task, trials in airline.items() for _ in trials]
    by_task, naive = clustered(values, tasks, bounds=(0, 1)), clustered(values, range(len(values)))
    assert by_task.se == pytest.approx(0.0522, abs=5e-5)
    assert naive.se == pytest.approx(0.0350, abs=5e-5)
    assert (by_task.se or 0) ** 2 / (naive.se or 1) ** 2 == pytest.approx(2.23, abs=0.005)
    by_wilson, as_if = clustered(values, tasks, method="wilson"), wilson(sum(values), len(values))
    # 200 / 2.227; with the design effect unrounded 89.793.
    assert by_wilson.n_eff == pytest.approx(89.807, abs=0.02)
    assert (by_wilson.low, by_wilson.high) == pytest.approx((0.323265, 0.523298), abs=1e-5)
    rounded = wilson(0.42 * 89.807, 89.807)
    assert (rounded.low, rounded.high) == pytest.approx((0.323265, 0.523298), abs=5.1e-7)
    assert (as_if.low, as_if.high) == pytest.approx((0.353736, 0.489279), abs=5.1e-7)


@pytest.fixture(scope="module")
def tool_use() -> dict[str, list[int]]:
    """Passes of nine models on LangChain's 20 tool-use tasks: sambowyer/bayes_evals."""
    text = (corpus("bayes_evals") / "langchain_tool_use.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return {model: [int(float(row[model])) for row in rows] for model in rows[0]}


def test_bayes_evals_and_what_holm_takes_back(tool_use: dict[str, list[int]]) -> None:
    best = tool_use[BEST]
    assert (sum(best), len(best)) == (18, 20)
    others = [model for model in tool_use if model != BEST]
    discordant = {
        model: (
            sum(a > b for a, b in zip(best, tool_use[model], strict=True)),
            sum(a < b for a, b in zip(best, tool_use[model], strict=True)),
        )
        for model in others
    }
    raw = {model: mcnemar_exact(*discordant[model]).p for model in others}
    adjusted = dict(zip(others, holm(raw.values()), strict=True))
    expected = {
        "mixtral-8x7b-instruct": ((6, 0), 0.03125, 0.0625),
        "gpt-3.5-turbo-0613-openai (functions)": ((8, 0), 0.0078125, 0.0253906),
        "gpt-3.5-turbo-1106 (functions)": ((14, 1), 0.0009766, 0.0048828),
        "gpt-4-0613 (functions)": ((11, 1), 0.0063477, 0.0253906),
        "claude-2.1": ((0, 2), 0.5, 0.5),
    }
    for model, (counts, p, after) in expected.items():
        assert discordant[model] == counts, model
        assert raw[model] == pytest.approx(p, abs=5.1e-8), model
        assert adjusted[model] == pytest.approx(after, abs=5.1e-8), model
    # Alone, mixtral is significantly worse at .05; among eight comparisons it is not.
    assert raw["mixtral-8x7b-instruct"] < 0.05 < adjusted["mixtral-8x7b-instruct"]


def test_bayes_evals_sign_flip_is_mcnemar(tool_use: dict[str, list[int]]) -> None:
    best = tool_use[BEST]
    for model, passes in tool_use.items():
        differences = [a - b for a, b in zip(best, passes, strict=True)]
        exact = mcnemar_exact(differences.count(1), differences.count(-1))
        assert sign_flip(differences).p == exact.p, model


@dataclass(frozen=True)
class Reward(Metric):
    """The reward that tau-bench recorded for a run."""

    name = "reward"

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        recorded = {each.metric: each.value for each in Evidence.of(evidence).case.recorded}
        return Score("reward", recorded["reward"])


def test_tau_bench_through_a_report() -> None:
    report = evaluate(read(corpus("tau_bench")), [Criterion("reward", Reward(), 1.0)])
    table = report.pass_k()
    assert [round(row.pass_hat.estimate or 0, 3) for row in table] == [0.420, 0.273, 0.220, 0.200]
    assert [round(row.pass_hat.se or 0, 6) for row in table] == [0.052216, 0.055484, 0.056532, 0.057143]
    assert [round(row.pass_at.estimate or 0, 6) for row in table] == [0.42, 0.566667, 0.66, 0.72]
    summary = report.summary
    assert (summary.cases, summary.total, summary.passed) == (50, 200, 84)
    # Of 50 tasks 14 never pass and 10 always do.
    assert len(summary.flaky) == 26
    interval = summary.criteria[0].interval
    assert interval.se == pytest.approx(0.0522, abs=5e-5)
    assert interval.n_eff == pytest.approx(89.807, abs=0.02)
    assert "all pass (pass^4) 0.200" in str(report)


def test_bayes_evals_through_compare(tool_use: dict[str, list[int]]) -> None:
    reports = {BEST: report_of({"pass": tool_use[BEST]})}
    reports |= {model: report_of({"pass": passes}) for model, passes in tool_use.items() if model != BEST}
    found = compare(reports)
    expected = {
        "mixtral-8x7b-instruct": ((0, 14, 6), 0.03125, 0.0625, "unclear"),
        "gpt-3.5-turbo-0613-openai (functions)": ((0, 12, 8), 0.0078125, 0.0253906, "worse"),
        "gpt-3.5-turbo-1106 (functions)": ((1, 5, 14), 0.0009766, 0.0048828, "worse"),
        "gpt-4-0613 (functions)": ((1, 8, 11), 0.0063477, 0.0253906, "worse"),
        "claude-2.1": ((2, 18, 0), 0.5, 0.5, "unclear"),
    }
    for model, (counts, p, adjusted, verdict) in expected.items():
        difference = found.difference("pass", other=model)
        assert (difference.wins, difference.ties, difference.losses) == counts, model
        assert difference.test is not None
        assert difference.test.p == pytest.approx(p, abs=5.1e-8), model
        assert difference.adjusted == pytest.approx(adjusted, abs=5.1e-8), model
        assert difference.verdict == verdict, model
    alone = compare({name: reports[name] for name in (BEST, "mixtral-8x7b-instruct")})
    assert alone.difference("pass").verdict == "worse"
