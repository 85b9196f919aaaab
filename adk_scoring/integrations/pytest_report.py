"""The report of all cases of a test run, also of one that pytest-xdist spreads over processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from adk_scoring import Report
from adk_scoring.report.merge import merged

from .pytest_cases import SCORED

__all__ = ["ReportFile"]

_KEY = "adk_scoring_case"


class ReportFile:
    """Gathers what tests scored and writes it when they are done.

    Args:
        config: pytest's configuration; its option names the file.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._path = Path(config.getoption("adk_scoring_report"))
        # A worker's test reports travel to the one process that writes.
        self._writes = not hasattr(config, "workerinput")
        self._found: dict[tuple[str, int], str] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> pytest.TestReport:  # type: ignore[misc]  # a generator
        """Put the case's report, as JSON, on the report of its test."""
        report: pytest.TestReport = yield
        scored = item.stash.get(SCORED, None)
        if scored is not None and (report.when == "call" or (report.when == "setup" and not report.passed)):
            test = item.nodeid.partition("[")[0]
            setattr(report, _KEY, [test, scored.index, scored.whole.to_json()])
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the case's report of a test that is done; of one that ran again, the last."""
        if self._writes and hasattr(report, _KEY):
            test, index, text = getattr(report, _KEY)
            self._found[test, index] = text

    def pytest_sessionfinish(self) -> None:
        """Write the report."""
        if not self._writes:
            return
        if not self._found:
            self._path.unlink(missing_ok=True)  # one of an earlier run would pass for this one's
            return
        whole = merged([Report.from_json(self._found[key]) for key in sorted(self._found)])
        text = whole.to_junit() if self._path.suffix == ".xml" else whole.to_json()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(text, encoding="utf-8")
