"""A report as JSON text and back, without loss: cases, criteria, every score with its reason and parts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import partial
from typing import Any, Final

from ..criteria import Criteria, Criterion
from ..errors import ConfigError, ReadError, ScoringError
from ..evidence import Evidence
from ..matching import Match
from ..metrics import METRICS, Metric, Reply, Score, Scores
from ..model import Case
from . import Report
from .signature import Signature

__all__ = ["report_from_json", "report_to_json"]

FORMAT: Final = "adk_scoring.report"
VERSION: Final = 1


@dataclass(frozen=True)
class RecordedMetric(Metric):
    """A metric that a report was made with and that this installation does not know; it cannot score again.

    Attributes:
        metric_name: its name in the report.
        bounds: its range.
        rising: whether higher is better.
        recorded_needs: what it needs of a case.
        parameters: its parameters as recorded.
    """

    metric_name: str
    bounds: tuple[float, float]
    rising: bool
    recorded_needs: frozenset[str] = frozenset()
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """The recorded name."""
        return self.metric_name

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]  # here a property of the record, not of a class
        """The recorded range."""
        return self.bounds

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]  # likewise
        """The recorded direction."""
        return self.rising

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]  # likewise
        """The recorded needs."""
        return self.recorded_needs

    def score(self, evidence: Evidence | Case, replies: Sequence[Reply] = ()) -> Score:
        """Refuse: only its name is known.

        Raises:
            ScoringError: always.
        """
        raise ScoringError(f"{self.metric_name} is known from a report only; import the code that defines it")


def report_to_json(report: Report) -> str:
    """Write a report as JSON text; the same report gives the same text.

    Raises:
        ReadError: a case holds something that is no JSON, such as a date.
        ScoringError: a value is nested too deeply.
    """
    from ..readers.records import case_to_record, record_to_line

    try:
        document = {
            "format": FORMAT,
            "version": VERSION,
            "passed": report.passed,
            "criteria": {
                "source": report.criteria.source,
                "ignored": list(report.criteria.ignored),
                "items": [
                    {**_criterion_out(criterion), "signature": signature.to_json()}
                    for criterion, signature in zip(report.criteria, report.signatures, strict=True)
                ],
            },
            "notes": list(report.notes),
            "cases": [
                {
                    "case": {**case_to_record(case), "source": list(case.source)},
                    "verdict": verdict,
                    "scores": {
                        criterion.label: _score_out(column[index])
                        for criterion, column in zip(report.criteria, report.columns, strict=True)
                    },
                }
                for index, (case, verdict) in enumerate(zip(report.cases, report.case_verdicts, strict=True))
            ],
        }
        return record_to_line(document)
    except RecursionError:
        raise ScoringError("a case holds a value that is nested too deeply to be written as JSON") from None


def report_from_json(text: str | bytes) -> Report:
    """Read a report.

    Raises:
        ReadError: the text is not a report of this library, or of a newer version of it.
    """
    from ..readers.records import case_from_record

    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReadError(f"not JSON: {error}", path="report") from None
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        keys = f"keys [{', '.join(map(str, document))[:200]}]" if isinstance(document, Mapping) else ""
        raise ReadError(
            f"not a report: found {keys or type(document).__name__}; wanted 'format': {FORMAT!r}", path="report"
        )
    if document.get("version") != VERSION:
        raise ReadError(f"version {document.get('version')!r}; this library reads {VERSION}", path="report")
    where = "criteria"
    try:
        items = tuple(_criterion_in(item) for item in document["criteria"]["items"])
        ignored = tuple(_text(words, "ignored") for words in document["criteria"]["ignored"])
        criteria = Criteria(items, _text(document["criteria"]["source"], "source"), ignored)
        signatures = [Signature(**item["signature"]) for item in document["criteria"]["items"]]
        cases: list[Case] = []
        columns = [Scores(criterion.metric) for criterion in criteria]
        for index, entry in enumerate(document["cases"]):
            where = f"cases[{index}]"
            record = dict(entry["case"])
            path, location = record.pop("source")
            source = _text(path, "source"), _text(location, "source")
            cases.append(case_from_record(record, source=source, where=where))
            for criterion, column in zip(criteria, columns, strict=True):
                column.append(_score_in(criterion.metric.name, entry["scores"][criterion.label]))
        where = "notes"
        notes = [_text(note, "notes") for note in document["notes"]]
        return Report(cases, criteria, columns, notes=notes, signatures=signatures)
    except ReadError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ReadError(f"damaged: {type(error).__name__}: {error}", path="report", location=where) from None


def _criterion_out(criterion: Criterion) -> dict[str, Any]:
    metric = criterion.metric
    return {
        "label": criterion.label,
        "metric": metric.name,
        "parameters": metric_parameters(metric),
        "threshold": criterion.threshold,
        "per": criterion.per,
        "range": [bound if abs(bound) != float("inf") else None for bound in metric.range],
        "higher_is_better": metric.higher_is_better,
        "needs": sorted(metric.needs),
    }


def _criterion_in(item: Mapping[str, Any]) -> Criterion:
    make = METRICS.get(item["metric"])
    metric: Metric | None = None
    if make is not None:
        parameters = dict(item["parameters"])
        try:
            if "match" in parameters:
                parameters["match"] = Match.of(parameters["match"])
            metric = make(**parameters)
        except (ConfigError, TypeError):  # a parameter that JSON cannot hold, such as a caller's function
            metric = None
    if metric is None:
        low, high = item["range"]
        bounds = (float("-inf") if low is None else low, float("inf") if high is None else high)
        needs = frozenset(item.get("needs", ()))
        metric = RecordedMetric(item["metric"], bounds, item["higher_is_better"], needs, item["parameters"])
    return Criterion(item["label"], metric, item["threshold"], item["per"])


def metric_parameters(metric: Metric) -> dict[str, Any]:
    """Return a metric's parameters as a configuration file would write them."""
    if isinstance(metric, RecordedMetric):
        return dict(metric.parameters)
    if not is_dataclass(metric):
        return {}
    named = [f.name for f in fields(metric) if f.init]
    make = METRICS.get(metric.name)
    # What its row in METRICS already says, the metric's name says.
    bound = {*named[: len(make.args)], *make.keywords} if isinstance(make, partial) else set()
    return {name: _plain(getattr(metric, name)) for name in named if name not in bound}


def _plain(value: Any) -> Any:
    """Return a parameter as JSON; what JSON cannot hold is written as its repr, for people."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Match):
        try:
            return value.to_json()
        except ConfigError:  # a caller's function is a comparator
            return repr(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value), key=repr)
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value) if getattr(value, f.name) != _default(f)}
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return repr(value)


def _default(f: Field[Any]) -> Any:
    return f.default_factory() if f.default_factory is not MISSING else f.default


def _score_out(score: Score) -> dict[str, Any]:
    written: dict[str, Any] = {"value": score.value, "status": score.status, "reason": score.reason}
    if score.label:
        written["label"] = score.label
    if score.counts:
        written["counts"] = dict(score.counts)
    if score.bounds:
        written["bounds"] = list(score.bounds)
    if score.parts:
        written["parts"] = [{"metric": part.metric, **_score_out(part)} for part in score.parts]
    return written


def _score_in(metric: str, item: Mapping[str, Any]) -> Score:
    bounds = item.get("bounds")
    return Score(
        metric,
        _number(item["value"], "value") if item["value"] is not None else None,
        item["status"],
        _text(item["reason"], "reason"),
        {_text(name, "counts"): _number(count, name) for name, count in item.get("counts", {}).items()},
        tuple(_score_in(_text(part["metric"], "metric"), part) for part in item.get("parts", ())),
        _text(item.get("label", ""), "label"),
        (_number(bounds[0], "bounds"), _number(bounds[1], "bounds")) if bounds else None,
    )


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{what} is {value!r:.40}, not a number")
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{what} is {value!r:.40}, not text")
    return value
