"""Reports as JUnit XML, which CI systems show: a suite for each eval set, a test case for each case and trial."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from .text import case_text
from .words import never_scored_words

if TYPE_CHECKING:
    from ..report import CaseReport, Report

__all__ = ["report_junit"]

_CRITERIA: Final = "criteria"
# What XML 1.0 cannot hold, not even escaped: control characters, lone surrogates, two non-characters.
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def report_junit(report: Report) -> str:
    """Write a report as JUnit XML.

    A case that failed has one ``failure``, one that is an error one ``error``, one where nothing was scored is
    ``skipped``; its scores are its properties, how they were made are properties of the suite. A criterion that was
    scored in no case is an error of its own, so that the file is not green where the report is not passed.
    """
    root = Element("testsuites", name="adk_scoring")
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for set_id, part in report.by("set_id").items():
        suite = SubElement(root, "testsuite", name=_xml(set_id or "cases"))
        _properties(suite, {c.label: str(s) for c, s in zip(part.criteria, part.signatures, strict=True)})
        counts = dict.fromkeys(totals, 0)
        for index in range(len(part.cases)):
            _case(suite, part.case_at(index), counts)
        _finish(suite, counts, totals)
    if never := report.summary.never_scored:
        suite = SubElement(root, "testsuite", name=_CRITERIA)
        for label, why in zip(never, never_scored_words(report), strict=True):
            test = SubElement(suite, "testcase", classname=_CRITERIA, name=_xml(label))
            SubElement(test, "error", message=_xml(why), type="never scored")
        _finish(suite, {"tests": len(never), "failures": 0, "errors": len(never), "skipped": 0}, totals)
    for name, count in totals.items():
        root.set(name, str(count))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _case(suite: Element, case: CaseReport, counts: dict[str, int]) -> None:
    what = case.case
    name = what.case_id + (f" (trial {what.trial})" if what.trial else "")
    test = SubElement(suite, "testcase", classname=_xml(what.set_id or "cases"), name=_xml(name))
    durations = [turn.actual.duration for turn in what.turns if turn.actual]
    known = [seconds for seconds in durations if seconds is not None]
    if known and len(known) == len(durations):
        test.set("time", f"{sum(known):.3f}")
    scores = {row.label: row.score.status if row.score.value is None else repr(row.score.value) for row in case.rows}
    _properties(test, scores)
    counts["tests"] += 1
    if case.verdict == "passed":
        return
    told = [
        row for row in case.rows if row.verdict == "failed" or (row.threshold is not None and row.score.value is None)
    ]
    blamed = [row for row in told if row.verdict == "failed"] if case.verdict == "failed" else told
    message = "; ".join(f"{row.label}: {row.score.reason or row.score.status}" for row in blamed)
    if case.verdict == "not_evaluated":
        SubElement(test, "skipped", message=_xml(message or "no criterion has a threshold"))
        counts["skipped"] += 1
        return
    tag = "failure" if case.verdict == "failed" else "error"
    kind = ", ".join(row.label for row in blamed)
    SubElement(test, tag, message=_xml(message), type=_xml(kind)).text = _xml(case_text(case))
    counts[f"{tag}s"] += 1


def _properties(parent: Element, values: dict[str, str]) -> None:
    properties = SubElement(parent, "properties")
    for name, value in values.items():
        SubElement(properties, "property", name=_xml(name), value=_xml(value))


def _finish(suite: Element, counts: dict[str, int], totals: dict[str, int]) -> None:
    for name, count in counts.items():
        suite.set(name, str(count))
        totals[name] += count


def _xml(text: str) -> str:
    """Show what XML cannot hold as an escape."""
    return _FORBIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
