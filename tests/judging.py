"""Judges of the tests: they answer what a table or a function says, and remember what they were asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from adk_scoring import Case, Invocation, Prompt, Reply, Rubric, Turn

Verdict = Any
"""A verdict word, a `Reply`, or an exception to raise."""


def verdict(rubric_id: str, word: Verdict, reason: str = "because") -> Reply:
    """A well-formed reply."""
    return Reply(json.dumps({"rubric_id": rubric_id, "reason": reason, "verdict": word}), {"output_tokens": 3}, "m-1")


def rubric_of(prompt: Prompt) -> str:
    """The id of the rubric that a prompt asks about."""
    name: str = json.loads(prompt.schema)["properties"]["rubric_id"]["enum"][0]
    return name


def shown(prompt: Prompt) -> dict[str, Any]:
    """The material of a prompt."""
    content: dict[str, Any] = json.loads(prompt.content)
    return content


class Scripted:
    """A judge that answers by rubric id, or as a function of the prompt says; unknown rubrics get ``yes``."""

    def __init__(self, script: Mapping[str, Verdict] | Callable[[Prompt], Verdict], name: str = "scripted") -> None:
        self.script, self.name = script, name
        self.asked: list[Prompt] = []

    async def ask(self, prompt: Prompt) -> Reply:
        self.asked.append(prompt)
        word = self.script(prompt) if callable(self.script) else self.script.get(rubric_of(prompt), "yes")
        if isinstance(word, BaseException):
            raise word
        return word if isinstance(word, Reply) else verdict(rubric_of(prompt), word)


def answered(response: str | None, *, user: str = "q", expected: str | None = None, **more: Any) -> Turn:
    """A turn with an answer, and an expected one where it is given."""
    sides = () if expected is None else (Invocation(user, None, expected),)
    return Turn(Invocation(user, more.pop("calls", ()), response, **more), sides)


def one_turn(response: str | None, *rubrics: Rubric, expected: str | None = None, **more: Any) -> Case:
    """A case of one turn with rubrics."""
    return Case(more.pop("case_id", "c"), (answered(response, expected=expected),), rubrics=rubrics, **more)
