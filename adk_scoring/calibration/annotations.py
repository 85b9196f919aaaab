"""Verdicts as a table for people: a report goes in, a file to be labelled comes out, and the labels come back.

Each row is one question that a judge was asked, or is to be asked: a rubric about a turn. The judge's own verdict is
left out, so that whoever labels is not led by it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from ..errors import ConfigError, ReadError
from ..metrics.hallucination import Hallucination
from ..metrics.inquiries import material
from ..metrics.judged import JudgedMetric
from ..metrics.questions import CANNOT_ASSESS, visible
from ..model import Case, Rubric
from ..report import Report

__all__ = ["Annotation", "annotation_items", "judged_criterion", "read_annotations", "write_annotations"]

Key = tuple[str, str, int, int | None, str, str]


@dataclass(frozen=True, slots=True)
class Annotation:
    """One question and the verdict on it, a person's or a judge's.

    Attributes:
        case_id: the case.
        turn: the turn, from 1; ``None``: the conversation as a whole.
        rubric_id: names the rubric; of a hallucination metric, the sentence.
        rubric: the property that holds or does not.
        user: what the user said.
        response: what the agent answered; of a conversation, all that was said.
        reference: the expected answers.
        calls: the tool calls, as JSON.
        label: ``"yes"``, ``"no"``, a level, ``"cannot_assess"``; ``""``: not labelled.
        scale: the labels there are, e.g. ``"yes/no/cannot_assess"``.
        set_id: the set of the case.
        trial: the repeat of the case.
        criterion: the criterion's label.
        digest: hash of what is judged, so that a label is never used for another answer.
    """

    case_id: str
    turn: int | None
    rubric_id: str
    rubric: str = ""
    user: str = ""
    response: str = ""
    reference: str = ""
    calls: str = ""
    label: str = ""
    scale: str = "yes/no/cannot_assess"
    set_id: str = ""
    trial: int = 0
    criterion: str = ""
    digest: str = ""

    @property
    def key(self) -> Key:
        """What it is about."""
        return self.set_id, self.case_id, self.trial, self.turn, self.criterion, self.rubric_id


def judged_criterion(report: Report, criterion: str | None) -> str:
    """Return the label of the judged criterion that is meant.

    Args:
        report: the report.
        criterion: its label; ``None``: the only one there is.

    Raises:
        ConfigError: there is no such criterion, or several and none was named.
    """
    judged = [c.label for c in report.criteria if isinstance(c.metric, JudgedMetric | Hallucination)]
    if criterion is None and len(judged) == 1:
        return judged[0]
    if criterion not in judged:
        found = ", ".join(judged) or "none"
        raise ConfigError(f"criterion {criterion!r}; wanted a judged criterion of the report; there are: {found}")
    return criterion


def annotation_items(report: Report, criterion: str | None = None, *, verdicts: bool = False) -> list[Annotation]:
    """List what is to be labelled: each rubric of each turn that a judge was or would be asked about.

    Args:
        report: a report; made without a judge it will do, except for hallucination, whose sentences a judge finds.
        criterion: the label of a judged criterion; needed where there are several.
        verdicts: label them with the judge's verdicts; what it did not score has none.

    Raises:
        ConfigError: the criterion is not a judged one of the report, or a case has rubrics that clash.

    >>> from adk_scoring import Case, Invocation, Turn, evaluate
    >>> report = evaluate([Case("a", (Turn(Invocation("hi", (), "Hello!")),))], {"safety": 1.0})
    >>> [(one.case_id, one.turn, one.rubric_id, one.label) for one in annotation_items(report)]
    [('a', 1, 'harmless', '')]
    """
    label = judged_criterion(report, criterion)
    index = report.criteria.labels.index(label)
    metric, column = report.criteria[label].metric, report.columns[index]
    listed = []
    for case, score in zip(report.cases, column, strict=True):
        for turn, rubric, part in metric.verdicts(case, score):  # type: ignore[attr-defined]  # judged_criterion saw to it
            given = part.value if verdicts and part is not None else None
            words = "" if given is None else _word(rubric, given)
            listed.append(replace(_question(case, turn, rubric), criterion=label, label=words))
    return listed


def _word(rubric: Rubric, value: float) -> str:
    """Write a verdict as a label; the mean of several levels as the level next to it."""
    if rubric.levels is None:
        return "yes" if value == 1 else "no"
    low, high = rubric.levels[0], rubric.levels[-1]
    return str(min(rubric.levels, key=lambda level: abs(level - (low + value * (high - low)))))


def _question(case: Case, turn: int | None, rubric: Rubric) -> Annotation:
    if turn is None:
        shown = material(case, None, ("conversation",))
        user, response, calls, references = "", _json(shown["conversation"]), "", []
    else:
        shown = material(case, turn, ("user", "calls", "response", "references"))
        user, response, calls = shown["user"], shown["response"], _json(shown["calls"]) if shown["calls"] else ""
        references = shown["references"]
    words = ["yes", "no"] if rubric.levels is None else [str(level) for level in rubric.levels]
    return Annotation(
        case.case_id,
        None if turn is None else turn + 1,
        rubric.rubric_id,
        visible(rubric.text),
        visible(user),
        visible(response),
        visible("\n\n".join(references)),
        visible(calls),
        scale="/".join((*words, CANNOT_ASSESS)),
        set_id=case.set_id,
        trial=case.trial,
        digest=hashlib.sha256(json.dumps([user, calls, response]).encode("ascii")).hexdigest()[:12],
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)


_COLUMNS: Final = tuple(f.name for f in fields(Annotation))
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would run; an agent's answer must not be."""


def write_annotations(items: Iterable[Annotation], path: str | os.PathLike[str]) -> int:
    """Write questions to a file that people can label: JSON Lines, or CSV for a spreadsheet.

    Args:
        items: the questions.
        path: ``.jsonl`` or ``.csv``.

    Returns:
        How many were written.

    Raises:
        ConfigError: the file's name ends in something else.
        OSError: the file cannot be written.
    """
    listed = list(items)
    if _is_csv(path):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for item in listed:
            writer.writerow([_cell(getattr(item, name)) for name in _COLUMNS])
        # The mark tells a spreadsheet the encoding.
        Path(path).write_bytes(("\ufeff" + text.getvalue()).encode("utf-8", "backslashreplace"))
    else:
        from ..readers.records import record_to_line

        lines = [record_to_line({name: getattr(item, name) for name in _COLUMNS}) + "\n" for item in listed]
        Path(path).write_text("".join(lines), encoding="utf-8", newline="\n")
    return len(listed)


def read_annotations(path: str | os.PathLike[str]) -> list[Annotation]:
    """Read what people labelled: a file that `write_annotations` wrote, the label filled in.

    Columns and keys beyond those are ignored; only ``case_id`` and ``rubric_id`` must be there. A label may be ``yes``,
    ``no``, ``true``, ``false``, ``pass``, ``fail``, ``1``, ``0``, ``cannot_assess``, or a level of the scale; empty
    means not labelled.

    Args:
        path: ``.jsonl`` or ``.csv`` (comma, semicolon or tab).

    Raises:
        ReadError: a row is not such a question, or its label is not on its scale.
        ConfigError: the file's name ends in something else.
        OSError: the file cannot be read.
    """
    content = Path(path).read_bytes()
    where = os.fspath(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(f"not UTF-8: {error}; save it as UTF-8", path=where) from None
    if _is_csv(path):
        head = text.partition("\n")[0]
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
        return [_annotation_of(_unescaped(row), where, f"line {rows.line_num}") for row in rows]
    items = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ReadError(f"not JSON: {error}", path=where, location=f"line {number}") from None
        if not isinstance(record, Mapping):
            raise ReadError(f"found {type(record).__name__}, wanted an object", path=where, location=f"line {number}")
        items.append(_annotation_of(record, where, f"line {number}"))
    return items


def _is_csv(path: str | os.PathLike[str]) -> bool:
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".jsonl"):
        raise ConfigError(f"{os.fspath(path)}: wanted a file that ends in .jsonl or .csv")
    return suffix == ".csv"


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith((*_FORMULA, "'")) else text


def _unescaped(row: Mapping[str | None, Any]) -> dict[str, Any]:
    """Take the apostrophes off that `_cell` put on."""
    escaped = (*_FORMULA, "'")
    cells = {name: cell for name, cell in row.items() if isinstance(name, str) and isinstance(cell, str)}
    return {
        name: cell[1:] if cell[:1] == "'" and cell[1:].startswith(escaped) else cell for name, cell in cells.items()
    }


_SAME: Final = {"true": "yes", "pass": "yes", "1": "yes", "y": "yes", "false": "no", "fail": "no", "0": "no", "n": "no"}


def _annotation_of(record: Mapping[str, Any], path: str, location: str) -> Annotation:
    for name in ("case_id", "rubric_id"):
        if not isinstance(record.get(name), str) or not record[name]:
            raise ReadError(f"no {name}; wanted the columns of write_annotations", path=path, location=location)
    given = {name: record[name] for name in _COLUMNS if record.get(name) not in (None, "")}
    try:
        turn = None if "turn" not in given else int(given["turn"])
        trial = int(given.get("trial", 0))
    except (TypeError, ValueError) as error:
        raise ReadError(f"turn and trial are whole numbers: {error}", path=path, location=location) from None
    texts = {name: str(value) for name, value in given.items() if name not in ("turn", "trial")}
    item = Annotation(**{"turn": turn, "trial": trial, **texts})  # type: ignore[arg-type]  # the texts are texts
    label = item.label.strip().lower()
    scale = item.scale.split("/")
    if label not in scale and "yes" in scale:
        label = _SAME.get(label, label)
    if label and label not in scale:
        wanted = ", ".join(scale)
        raise ReadError(f"label {item.label!r:.60}; wanted {wanted}, or nothing", path=path, location=location)
    return replace(item, label=label)
