"""How a number was made: a metric (and a judge) goes in, a `Signature` that can be printed and compared comes out.

Two numbers may be compared when their signatures agree; `Signature.differences` says in words where they do not.
The other half is `content_hash`: whether two reports asked the same of a case.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from .. import __version__
from ..metrics.base import Metric, Reply
from ..model import Case, Invocation, Rubric, ToolCall, Turn

__all__ = ["SCORES_SINCE", "Signature", "content_hash"]

SCORES_SINCE: Final = "0.1.0"
"""The oldest release that gives the same numbers as this one; a change under **Scores** in the changelog moves it."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a score depends on besides the case.

    Attributes:
        metric: the metric's name.
        parameters: its fields, as a configuration file would write them.
        scores_since: the oldest release of the library that gives the same numbers.
        judge: the judge's name, with what shapes its answers; ``""`` where nobody was asked.
        prompts: hash of what the metric asks a judge about a fixed case; ``""`` where it asks nobody.
        version: the release that made it. For people: it is not compared, `scores_since` is.

    >>> from adk_scoring import METRICS
    >>> print(Signature.of(METRICS["response_rouge1"]()))  # doctest: +ELLIPSIS
    metric:response_rouge1|...|numbers:0.1.0|version:...
    """

    metric: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    scores_since: str = SCORES_SINCE
    judge: str = ""
    prompts: str = ""
    version: str = __version__

    @classmethod
    def of(cls, metric: Metric, *, judge: str = "") -> Signature:
        """Return the signature of a metric as this installation computes it.

        Args:
            metric: the metric.
            judge: who was asked; dropped for a metric that asks nobody.
        """
        from .codec import metric_parameters

        parameters = {key: _lasting(value) for key, value in metric_parameters(metric).items()}
        if "judge" not in metric.needs:
            return cls(metric.name, parameters)
        return cls(metric.name, parameters, judge=judge, prompts=_prompts_hash(metric))

    def differences(self, other: Signature, *, allow: Collection[str] = ()) -> tuple[str, ...]:
        """Say in words what differs; nothing means that the two numbers may be compared.

        Args:
            other: the signature of the other number.
            allow: names of fields that may differ, e.g. ``("judge",)``.

        >>> Signature("f1").differences(Signature("f1", {"match": {"args": "ignore"}}))
        ("parameters: {} and {'match': {'args': 'ignore'}}",)
        """
        return tuple(
            f"{name}: {mine!r} and {others!r}"
            for name in COMPARED
            if name not in allow and (mine := getattr(self, name)) != (others := getattr(other, name))
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object; ``Signature(**that)`` gives it back."""
        return {name: getattr(self, name) for name in (*COMPARED, "version")}

    def __str__(self) -> str:
        shown = {key: value for key, value in self.parameters.items() if value not in (None, {}, [], "")}
        fields = {
            "metric": self.metric,
            **{key: value if isinstance(value, str) else _json(value) for key, value in shown.items()},
            "judge": self.judge,
            "prompts": self.prompts,
            "numbers": self.scores_since,
            "version": self.version,
        }
        return "|".join(f"{key}:{value}" for key, value in fields.items() if value)


COMPARED: Final = ("metric", "parameters", "scores_since", "judge", "prompts")
"""The fields of a signature that must agree."""


def content_hash(case: Case) -> str:
    """Return a hash of what was asked and expected, so that a changed case is never compared with its old self.

    Two runs of one case have the same hash: what the agent did, its instructions and its tools are left out. Where
    nothing is expected the first thing that the user said counts; what a simulated user says later is up to the run.

    >>> wanted = Invocation("hi", (ToolCall("greet"),))
    >>> ran, again = (Case("a", (Turn(Invocation("hi", response=said), (wanted,)),)) for said in ("Hello", "Bye"))
    >>> content_hash(ran) == content_hash(again)
    True
    """
    asked: Any = [[_expectation(side) for side in turn.expected] for turn in case.turns]
    if not any(asked):
        asked = next((_words(turn.actual.user_text) for turn in case.turns if turn.actual), "")
    state = case.session.state if case.session else {}
    rubrics = [_rubric(rubric) for rubric in case.rubrics]
    return _hash([asked, rubrics, _words(case.context), state])


def _expectation(side: Invocation) -> list[Any]:
    calls = None
    if side.tool_calls is not None:
        calls = [[call.name, call.args, call.optional, call.group] for call in side.tool_calls]
    return [_words(side.user_text), calls, side.response, [_rubric(rubric) for rubric in side.rubrics]]


def _rubric(rubric: Rubric) -> list[Any]:
    return [rubric.rubric_id, rubric.text, rubric.weight, rubric.levels]


def _words(text: str) -> str:
    return " ".join(text.split())


_EXAMPLE: Final = Case(
    "example",
    (
        Turn(
            Invocation("Weather in Paris?", (ToolCall("weather", {"city": "Paris"}, response="20 C"),), "It is 20 C."),
            (Invocation("Weather in Paris?", (ToolCall("weather", {"city": "Paris"}),), "It is 20 degrees."),),
        ),
    ),
    rubrics=(Rubric("polite", "The answer is polite."),),
    tools=(),
    context="Paris: 20 C",
)


_SPLIT: Final = Reply('{"sentences": ["It is 20 C."]}')


def _prompts_hash(metric: Metric) -> str:
    """Hash what a metric first asks about the example: its wording, its rubrics, the form of material and reply."""
    try:
        prompts = metric.prompts(_EXAMPLE)
    except Exception:  # a caller's metric may ask about cases of another kind only
        return "unknown"
    asked = list(prompts)
    with suppress(Exception):  # a second round, of a metric that first lets the answer be split
        asked += metric.prompts(_EXAMPLE, [_SPLIT] * len(asked))
    return _hash([[prompt.system, prompt.content, prompt.schema, prompt.sample] for prompt in asked])


def _hash(value: Any) -> str:
    return hashlib.sha256(_json(value).encode("ascii")).hexdigest()[:16]


def _json(value: Any) -> str:
    # ASCII escapes carry lone surrogates; a value that JSON cannot hold is told by its repr.
    return json.dumps(value, sort_keys=True, default=lambda strange: _lasting(repr(strange)), separators=(",", ":"))


def _lasting(value: Any) -> Any:
    """Take the address out of a repr, which is another one in every process."""
    if isinstance(value, str):
        return re.sub(r" at 0x[0-9a-fA-F]+", "", value)
    if isinstance(value, Mapping):
        return {key: _lasting(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_lasting(item) for item in value]
    return value
