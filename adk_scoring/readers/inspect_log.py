"""Logs of inspect-ai, ``.json`` and zipped ``.eval`` -> one case a sample, an epoch being a trial.

The target is the expected answer of the last turn, several targets are alternatives. Scores of the log's scorers are
recorded ones: C, P, I and N count 1, 0.5, 0 and 0, as inspect counts them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..model import Case, Invocation, RecordedScore, Turn, Usage
from ._declared import total
from ._reading import Reading, at, number, the_list, the_object, the_text
from ._said import said_all, turns_of

__all__ = ["cases", "recognises"]

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_VERDICTS = {"C": "passed", "I": "failed", "N": "failed"}
_KNOWN = frozenset(
    {
        "id",
        "epoch",
        "input",
        "target",
        "messages",
        "output",
        "scores",
        "score",
        "metadata",
        "store",
        "events",
        "message_pool",
        "call_pool",
        "model_usage",
        "attachments",
        "error",
        "error_retries",
        "total_time",
        "working_time",
        "started_at",
        "completed_at",
        "timelines",
        "events_data",
    }
)
_DEEPEST = 40


def recognises(document: Any) -> bool:
    """A log with the evaluation it is of, or one sample out of a zipped one."""
    if not isinstance(document, dict):
        return False
    if document.keys() == {"header", "sample"}:
        return True
    return isinstance(document.get("eval"), dict) and "task" in document["eval"] and "status" in document


def cases(document: Any, reading: Reading, where: str) -> Iterator[Case]:
    """The samples of a log."""
    record = the_object(document, where)
    zipped = record.keys() == {"header", "sample"}
    header = record["header"] if zipped else record
    samples = [(where, record["sample"])] if zipped else _samples(record, where)
    if not samples or (zipped and record["sample"] is None):
        status = header.get("status") if isinstance(header, dict) else None
        reading.warn(f"a log without samples (its status is {the_text(status) or 'unknown'}), nothing of it is read")
        return
    task = header.get("eval") if isinstance(header, dict) else None
    set_id = the_text(task.get("task")) if isinstance(task, dict) else ""
    for place, sample in samples:
        named = the_text(sample.get("id")) if isinstance(sample, dict) else ""

        def build(sample: Any = sample, place: str = place) -> Case:
            return _case(sample, set_id, reading, place)

        yield reading.case(build, case_id=named or place, set_id=set_id, where=place)


def _samples(record: dict[str, Any], where: str) -> list[tuple[str, Any]]:
    place = at(where, "samples")
    return [(f"{place}[{i}]", sample) for i, sample in enumerate(the_list(record.get("samples"), place))]


def _case(sample: Any, set_id: str, reading: Reading, where: str) -> Case:
    record = the_object(sample, where)
    found = record.get("attachments")
    attachments = found if isinstance(found, dict) else {}
    place = at(where, "messages")
    listed = the_list(record.get("messages"), place)
    messages = [
        (f"{place}[{i}]", said)
        for i, item in enumerate(listed)
        for said in said_all(_attached(the_object(item, f"{place}[{i}]"), attachments, 0))
    ]
    turns = turns_of(messages, reading)
    problem = _problem(record.get("error"))
    if not turns and isinstance(record.get("input"), str):
        turns = [Invocation(_attached(record["input"], attachments, 0), ())]
    if turns:
        if not any(turn.user_text for turn in turns) and isinstance(record.get("input"), str):
            turns[0] = replace(turns[0], user_text=_attached(record["input"], attachments, 0))
        turns[-1] = replace(turns[-1], error=problem)
        if len(turns) == 1:
            turns[0] = replace(turns[0], usage=_usage(record), duration=number(record.get("total_time")))
    epoch = record.get("epoch")
    metadata = record.get("metadata")
    return Case(
        the_text(record.get("id")) or where,
        tuple([Turn(turn, _targets(record, turn) if i == len(turns) - 1 else ()) for i, turn in enumerate(turns)]),
        set_id=set_id,
        trial=epoch - 1 if isinstance(epoch, int) and epoch > 0 else 0,
        recorded=tuple(_scores(record, where)),
        instructions=next((said.text for _, said in messages if said.role == "system" and said.text), ""),
        error=problem if not turns else None,
        metadata=(metadata if isinstance(metadata, dict) else {}) | reading.rest(record, _KNOWN, where),
    )


def _attached(value: Any, attachments: dict[str, Any], depth: int) -> Any:
    """Put back long texts that a log keeps aside."""
    if isinstance(value, str):
        if value.startswith("attachment://"):
            return attachments.get(value.removeprefix("attachment://"), value)
        return value
    if depth > _DEEPEST or not attachments:
        return value
    if isinstance(value, dict):
        return {key: _attached(each, attachments, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_attached(each, attachments, depth + 1) for each in value]
    return value


def _problem(error: Any) -> str | None:
    if not error:
        return None
    return the_text(error.get("message") or error) if isinstance(error, dict) else the_text(error)


def _targets(record: dict[str, Any], turn: Invocation) -> tuple[Invocation, ...]:
    target = record.get("target")
    targets = target if isinstance(target, list) else [target]
    return tuple([Invocation(turn.user_text, None, the_text(each)) for each in targets if the_text(each)])


def _usage(record: dict[str, Any]) -> Usage | None:
    found = record.get("model_usage")
    usages = [u for u in found.values() if isinstance(u, dict)] if isinstance(found, dict) else []
    if not usages:
        return None

    cached = total(usages, "input_tokens_cache_read")
    read = total(usages, "input_tokens")
    return Usage(
        # inspect counts cached input apart from the rest of it
        input_tokens=read if cached is None or read is None else read + cached,
        output_tokens=total(usages, "output_tokens"),
        cached_tokens=cached,
        reasoning_tokens=total(usages, "reasoning_tokens"),
    )


def _scores(record: dict[str, Any], where: str) -> Iterator[RecordedScore]:
    scores = record.get("scores") or {}
    if not scores and isinstance(record.get("score"), dict):  # version 1
        scores = {"score": record["score"]}
    for name, score in the_object(scores, at(where, "scores")).items():
        body = score if isinstance(score, dict) else {"value": score}
        value, reason = body.get("value"), the_text(body.get("explanation"))
        for key, each in value.items() if isinstance(value, dict) else [("", value)]:
            label = the_text(each) if isinstance(each, str) else ""
            grade = _GRADES.get(label, float(each) if isinstance(each, bool) else number(each))
            yield RecordedScore(
                f"{name}/{key}" if key else name,
                grade,
                verdict=_VERDICTS.get(label),
                reason=reason or (label if grade is None else ""),
            )
