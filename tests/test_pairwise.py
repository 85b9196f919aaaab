"""Pairs in both orders, and the published statistics of LLMBar."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adk_scoring import Pair, Preference, Prompt, Reply, VerdictStore, judge_pairs, order_agreement

from .corpus import corpus
from .judging import Scripted, shown


def said(word: object, reason: str = "because") -> Reply:
    return Reply(json.dumps({"reason": reason, "verdict": word}))


PAIR = Pair("2 + 2?", "4", "5", "Which is {right}?")


def test_both_orders_are_asked_with_the_answers_in_the_data_slot() -> None:
    in_order, swapped = PAIR.prompts()
    assert (shown(in_order), shown(swapped)) == (
        {"user": "2 + 2?", "a": "4", "b": "5"},
        {"user": "2 + 2?", "a": "5", "b": "4"},
    )
    assert (in_order.system, in_order.schema) == (swapped.system, swapped.schema)
    assert "Which is {right}?" in in_order.system
    assert json.loads(in_order.schema)["properties"]["verdict"]["enum"] == ["a", "b", "tie"]


@pytest.mark.parametrize(
    ("in_order", "swapped", "winner"),
    [
        ("a", "b", "first"),
        ("b", "a", "second"),
        ("a", "a", "tie"),  # the first place won
        ("b", "b", "tie"),
        ("tie", "tie", "tie"),
        ("a", "tie", "tie"),
        ("tie", "b", "tie"),
    ],
)
def test_where_the_orders_disagree_it_is_a_tie(in_order: str, swapped: str, winner: str) -> None:
    preference = PAIR.settle([said(in_order), said(swapped)])
    assert preference.winner == winner
    decided = preference.in_order != preference.swapped
    assert preference.reason == ("the order decided: because" if decided else "because")


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply("", error="unavailable: 503"), "unavailable: 503"),
        (Reply("a"), "not one JSON object"),
        (said("first"), "verdict 'first'; wanted a, b or tie"),
        (said(None), "verdict None"),
        (said(["a"]), "verdict ['a']"),
    ],
)
def test_a_missing_verdict_is_no_tie(reply: Reply, told: str) -> None:
    for replies in ([reply, said("b")], [said("a"), reply]):
        preference = PAIR.settle(replies)
        assert preference.winner is None
        assert told in preference.reason
        assert {preference.in_order, preference.swapped} == {None, "first"}


def test_asking_a_judge() -> None:
    def judge(prompt: Prompt) -> Reply:
        seen = shown(prompt)
        if "?" in seen["a"]:
            return Reply("I like a")
        return said("a" if len(seen["a"]) < len(seen["b"]) else "b")

    pairs = [Pair("q", "short", "much longer"), Pair("q", "much longer", "short"), Pair("q", "?", "!!")]
    scripted = Scripted(judge)
    with VerdictStore(":memory:") as store:
        found = judge_pairs(pairs, scripted, store=store)
        assert [one.winner for one in found] == ["first", "second", None]
        assert "parse_error" in found[2].reason
        asked = len(scripted.asked)
        assert judge_pairs(pairs[:2], scripted, store=store) == found[:2]
        assert len(scripted.asked) == asked
    assert judge_pairs([], scripted) == []


def test_agreement_of_the_orders() -> None:
    listed = [PAIR.settle([said(one), said(other)]) for one, other in ("ab", "ab", "ba", "aa")] + [
        Preference(None, "first", None)
    ]
    found = order_agreement(listed, ["first", "second", "second", "first", "first"])
    assert (found.same.estimate, found.same.n, found.unscored) == (3 / 5, 5, 1)
    assert found.right_in_order is not None
    assert found.right_swapped is not None
    assert found.right_both is not None
    assert (found.right_in_order.estimate, found.right_swapped.estimate, found.right_both.estimate) == (
        4 / 5,
        2 / 5,
        2 / 5,
    )
    bare = order_agreement(listed)
    assert (bare.right_in_order, bare.right_swapped, bare.right_both) == (None, None, None)
    assert order_agreement([]).same.estimate is None
    with pytest.raises(ValueError, match="5 preferences and 1 labels"):
        order_agreement(listed, ["first"])


RUNS = ["Natural+ChatGPT+Vanilla", "Natural+GPT-4+Vanilla_NoRules", "Adversarial+Neighbor+ChatGPT+Vanilla"]


@pytest.mark.parametrize("run", RUNS)
def test_llmbar_as_published(run: str) -> None:
    """Accuracy in both orders, order agreement and its kappa. The files' kappa_True and kappa_False are left out: they
    do not follow from the files' own verdicts by Cohen's formula."""
    folder: Path = corpus("llmbar")
    rows = json.loads((folder / f"{run}+result.json").read_text())
    published = json.loads((folder / f"{run}+statistics.json").read_text())
    names = {"1": "a", "2": "b"}
    swapped_names = {"1": "b", "2": "a"}  # swapped, the first answer is shown as b
    preferences, labels = [], []
    for row in rows:
        [result] = row["results"]
        pair = Pair(row["input"], row["output_1"], row["output_2"])
        in_order, swapped = result["swap = False"]["winner"], result["swap = True"]["winner"]
        preferences.append(pair.settle([said(names.get(in_order)), said(swapped_names.get(swapped))]))
        labels.append("first" if row["label"] == 1 else "second")
    found = order_agreement(preferences, labels)  # type: ignore[arg-type]  # two of the winners there are

    def counts(key: str) -> tuple[int, int]:
        right, _, rest = published[key].partition(" / ")
        return int(right), int(rest.partition(" = ")[0])

    for interval, key in (
        (found.right_in_order, "correct_False"),
        (found.right_swapped, "correct_True"),
        (found.right_both, "correct_both"),
        (found.same, "equal"),
    ):
        right, n = counts(key)
        assert interval is not None
        assert interval.n == n
        assert interval.estimate == pytest.approx(right / n, abs=1e-12)
    assert found.unscored == 0
    assert found.kappa.estimate == pytest.approx(published["kappa_agreement"], abs=1e-9)
