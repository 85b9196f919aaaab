"""pytest plugin: a test for each case of a file, its failure shown as the alignment of its calls.

::

    @pytest.mark.adk_scoring(cases="runs/", expected="weather.evalset.json", config="eval_config.json")
    def test_weather(adk_case):
        adk_case.check()

    @pytest.mark.adk_scoring(cases="weather.evalset.json")
    def test_weather_live(adk_case, my_agent):
        adk_case.run(my_agent).check()

``adk_case`` is a `ScoredCase`; a test that only takes it is checked too. ``--adk-scoring-report=FILE`` writes a report
of all cases, as JUnit XML where the name ends in ``.xml``, else as JSON that ``Report.from_json`` reads.

pytest imports this at every start, so what it does stands in modules of its own, imported when it is used.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .pytest_cases import ScoredCase

__all__ = ["adk_case"]

_MARKER = (
    "adk_scoring(cases, *, expected=None, config=None, criteria=None, judge=None): run the test once for each case; "
    "cases, expected: files, folders or lists of cases, config: a file of criteria, all relative to the test's file"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--adk-scoring-report``."""
    parser.getgroup("adk_scoring").addoption(
        "--adk-scoring-report",
        metavar="FILE",
        help="write the report of all adk_scoring cases to FILE: JSON, or JUnit XML if it ends in .xml",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker; gather what is scored if a report is wanted."""
    config.addinivalue_line("markers", _MARKER)
    if config.getoption("adk_scoring_report"):
        from .pytest_report import ReportFile

        config.pluginmanager.register(ReportFile(config), "adk_scoring_report")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test for each case that a marker names."""
    if metafunc.definition.get_closest_marker("adk_scoring") is not None:
        from .pytest_cases import parametrize

        parametrize(metafunc)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Check a case that a test took and did not look at; a test that forgot to is no pass."""
    result = yield
    case: Any = pyfuncitem.funcargs.get("adk_case")
    if hasattr(case, "check_unless_used"):  # a test may have a fixture of its own under this name
        case.check_unless_used()
    return result


@pytest.fixture
def adk_case(request: pytest.FixtureRequest) -> ScoredCase:
    """The case of this test, by the marker ``adk_scoring``."""
    from .pytest_cases import case_of

    return case_of(request)
