"""Several judges as one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adk_scoring import ConfigError, JudgeError, Panel, Prompt, VerdictStore, evaluate, judge_from

from .judging import Scripted, one_turn


class Opened(Scripted):
    """A judge with connections."""

    def __init__(self, *args: Any, fails: bool = False, **more: Any) -> None:
        super().__init__(*args, **more)
        self.fails, self.state = fails, ["new"]
        self.sampling = {"seed": 7}
        self.concurrency = 2

    async def __aenter__(self) -> Opened:
        if self.fails:
            raise OSError("no connection")
        self.state.append("open")
        return self

    async def __aexit__(self, *_: object) -> None:
        self.state.append("closed")


def test_the_majority_of_three_judges_decides() -> None:
    judges = [Scripted({"harmless": word}, name=name) for name, word in [("a", "yes"), ("b", "no"), ("c", "no")]]
    panel = Panel(judges)
    report = evaluate([one_turn("Hi")], {"safety": {"threshold": 1.0, "samples": 3}}, judge=panel)
    score = report.rows[0].score
    assert (score.value, score.parts[0].counts) == (0.0, {"asked": 3, "yes": 1, "no": 2})
    assert [len(judge.asked) for judge in judges] == [1, 1, 1]
    assert "panel of a, b, c" in report.signatures[0].judge


def test_repeats_of_one_judge_are_repeats_to_it() -> None:
    first, second = Scripted({}, name="a"), Scripted({}, name="b")
    evaluate([one_turn("Hi")], {"safety": {"samples": 4}}, judge=Panel([first, second]))
    assert [prompt.sample for prompt in first.asked] == [prompt.sample for prompt in second.asked] == [0, 1]


def test_a_judge_that_fails_costs_its_sample_alone() -> None:
    judges = [Scripted({}, name="a"), Scripted({"harmless": ValueError("x")}, name="b"), Scripted({}, name="c")]
    report = evaluate([one_turn("Hi")], {"safety": {"threshold": 1.0, "samples": 3}}, judge=Panel(judges))
    assert report.rows[0].score.value == 1.0
    judges[1].script = {"harmless": JudgeError("no key")}
    report = evaluate(
        [one_turn("Hi")], {"safety": {"threshold": 1.0, "samples": 3}}, judge=Panel(judges), concurrency=1
    )
    assert "no key" in report.rows[0].score.reason


def test_connections_settings_and_concurrency() -> None:
    opened, plain = Opened({}, name="a"), Scripted({}, name="b")
    panel = Panel([plain, opened, Opened({}, name="c")])
    assert panel.sampling == {"1": {"seed": 7}, "2": {"seed": 7}}
    assert panel.concurrency == 8 + 2 + 2
    assert repr(panel) == "<panel of b, a, c>"
    evaluate([one_turn("Hi")], {"safety": 1.0}, judge=panel)
    assert opened.state == ["new", "open", "closed"]


def test_connections_that_are_open_are_closed_when_a_later_one_fails() -> None:
    first = Opened({}, name="a")
    with pytest.raises(OSError, match="no connection"):
        evaluate([one_turn("Hi")], {"safety": 1.0}, judge=Panel([first, Opened({}, name="b", fails=True)]))
    assert first.state == ["new", "open", "closed"]


def test_verdicts_of_a_panel_are_kept() -> None:
    panel = Panel([Scripted({}, name="a"), Scripted({}, name="b")])
    criteria = {"safety": {"threshold": 1.0, "samples": 2}}
    with VerdictStore(":memory:") as store:
        evaluate([one_turn("Hi")], criteria, judge=panel, store=store)
        asked = [Scripted({}, name="a"), Scripted({}, name="b")]
        assert evaluate([one_turn("Hi")], criteria, judge=Panel(asked), store=store).passed
        assert [judge.asked for judge in asked] == [[], []]


@pytest.mark.parametrize("judges", [[], [Scripted({})], [Scripted({}), "gemini"]])
def test_what_is_no_panel(judges: Any) -> None:
    with pytest.raises(ConfigError, match=r"two judges or more|is not a judge"):
        Panel(judges)


def test_asking_one_question_needs_no_run() -> None:
    panel = Panel([judge_from(lambda _: "a", name="a"), judge_from(lambda _: "b", name="b")])
    assert asyncio.run(panel.ask(Prompt("k", "s", "c", sample=1))).text == "b"
