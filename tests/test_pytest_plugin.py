"""The pytest plugin, in test runs of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import adk_scoring
from adk_scoring import Case, Invocation, Report, Turn, write_evalset, write_jsonl
from tests.build import said

pytest_plugins = ["pytester"]

# Whether or not it is installed, it is loaded once.
PLUGIN = ("-p", "no:adk_scoring", "-p", "adk_scoring.integrations.pytest_plugin", "-p", "no:cacheprovider")
CRITERIA = {"trajectory_exact_match": 1.0}
MARKED = """
    import pytest

    @pytest.mark.adk_scoring(cases="runs.jsonl", config="eval_config.json")
    def test_agent(adk_case):
        adk_case.check()
"""


def five() -> list[Case]:
    """Three that pass, one that fails, one that expects nothing."""
    good = Turn(said("q", "search"), (said("q", "search"),))
    bad = Turn(said("q", ("look", {"at": 1})), (said("q", ("search", {"for": "Oslo"})),))
    return [Case(f"good{i}", (good,)) for i in range(3)] + [
        Case("bad", (bad,)),
        Case("nothing", (Turn(said("q", "search")),)),
    ]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTHONPATH", str(Path(adk_scoring.__file__).parents[1]))  # for runs in a process of their own
    write_jsonl(five(), pytester.path / "runs.jsonl")
    (pytester.path / "eval_config.json").write_text(json.dumps({"criteria": CRITERIA}))
    return pytester


def test_a_test_for_each_case(project: pytest.Pytester) -> None:
    project.makepyfile(MARKED)
    result = project.runpytest_inprocess(*PLUGIN, "-v", "-rs")
    result.assert_outcomes(passed=3, failed=1, skipped=1)
    result.stdout.fnmatch_lines(["*::test_agent[[]good0[]] PASSED*", "*::test_agent[[]bad[]] FAILED*"])
    result.stdout.fnmatch_lines(["*not evaluated: trajectory_exact_match: *no expected calls*"])


def test_a_failure_shows_the_alignment_and_no_traceback(project: pytest.Pytester) -> None:
    project.makepyfile(MARKED)
    shown = str(project.runpytest_inprocess(*PLUGIN, "-k", "bad").stdout)
    assert "bad: FAILED" in shown
    assert 'search(for="Oslo")' in shown
    assert "look(at=1)" in shown
    assert "pytest_cases.py" not in shown


def test_a_case_that_a_test_forgot_is_checked(project: pytest.Pytester) -> None:
    project.makepyfile(MARKED.replace("adk_case.check()", "pass"))
    project.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=3, failed=1, skipped=1)


def test_a_test_may_assert_something_of_its_own(project: pytest.Pytester) -> None:
    project.makepyfile(MARKED.replace("adk_case.check()", "assert adk_case.report.rows[0].score.value in (0, 1, None)"))
    project.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=5)


def test_runs_and_expectations_in_two_files(project: pytest.Pytester) -> None:
    runs = [Case(case.case_id, tuple(Turn(turn.actual) for turn in case.turns)) for case in five()]
    write_jsonl([*runs[1:], Case("stranger", (Turn(said("who?")),))], project.path / "runs.jsonl")
    expected = [Case(case.case_id, tuple(Turn(None, turn.expected) for turn in case.turns)) for case in five()[:4]]
    (project.path / "expected").mkdir()
    write_evalset(expected, project.path / "expected" / "agent.evalset.json")
    (project.path / "eval_config.json").rename(project.path / "expected" / "eval_config.json")
    project.makepyfile(MARKED.replace('config="eval_config.json"', 'expected="expected/agent.evalset.json"'))
    result = project.runpytest_subprocess(*PLUGIN, "-rA")
    result.assert_outcomes(passed=2, failed=2, warnings=2)  # the two runs that nothing is expected of
    result.stdout.fnmatch_lines(["*there is no run of this case*"])
    strict = project.runpytest_subprocess(*PLUGIN, "-Werror")
    strict.assert_outcomes(errors=1)
    strict.stdout.fnmatch_lines(["*: a run without an expected case"])


def test_an_agent_is_run_in_the_test(project: pytest.Pytester) -> None:
    write_evalset(
        [Case(text, (Turn(None, (Invocation(text, (), text.upper()),)),)) for text in ("a", "b")],
        project.path / "shout.evalset.json",
    )
    project.makepyfile(
        """
        import pytest
        from adk_scoring import Invocation

        @pytest.fixture
        def agent():
            return lambda text, *, session: Invocation(text, (), "A")

        @pytest.mark.adk_scoring("shout.evalset.json", criteria={"response_exact_match": 1.0})
        def test_agent(adk_case, agent):
            adk_case.run(agent).check()
            assert adk_case.case.turns[0].actual.response == "A"
        """
    )
    project.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=1, failed=1)


def test_cases_from_code(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest
        from adk_scoring import Case, Invocation, ToolCall, Turn

        side = Invocation("q", (ToolCall("search"),))
        CASES = [Case("a", (Turn(side, (side,)),), set_id=s, trial=t) for s in ("x", "y") for t in (0, 1)]

        @pytest.mark.adk_scoring(CASES, criteria={"trajectory_f1": 1.0})
        def test_agent(adk_case):
            adk_case.check()
        """
    )
    result = project.runpytest_inprocess(*PLUGIN, "-v")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*[[]x/a[]]*", "*[[]x/a-trial1[]]*", "*[[]y/a[]]*"])


@pytest.mark.parametrize(
    ("marker", "said_so"),
    [
        ('cases="nowhere.jsonl"', "nowhere.jsonl"),
        ('cases="runs.jsonl", criteria={"trajectory_f2": 1}', "unknown metric 'trajectory_f2'"),
        ('cases="runs.jsonl", criterion={}', "criterion"),
        ('cases="runs.jsonl", config="eval_config.json", criteria={"trajectory_f1": 1}', "give one"),
        ("cases=[]", "need criteria"),
    ],
)
def test_a_marker_that_cannot_be_used_says_why(project: pytest.Pytester, marker: str, said_so: str) -> None:
    project.makepyfile(MARKED.replace('cases="runs.jsonl", config="eval_config.json"', marker))
    result = project.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(errors=1)
    assert said_so in str(result.stdout)
    assert "pytest_cases.py" not in str(result.stdout)


def test_the_marker_wants_the_fixture_and_the_fixture_the_marker(project: pytest.Pytester) -> None:
    project.makepyfile(test_a=MARKED.replace("(adk_case)", "()"))
    assert "has to take the fixture adk_case" in str(project.runpytest_inprocess(*PLUGIN, "test_a.py").stdout)
    project.makepyfile(test_b="def test_b(adk_case): pass")
    result = project.runpytest_inprocess(*PLUGIN, "test_b.py")
    result.assert_outcomes(errors=1)
    assert "@pytest.mark.adk_scoring(cases=FILE)" in str(result.stdout)


def test_other_tests_are_left_alone(project: pytest.Pytester) -> None:
    project.makepyfile("def test_a(): pass\ndef test_b(tmp_path): assert not tmp_path")
    project.runpytest_inprocess(*PLUGIN, "--strict-markers").assert_outcomes(passed=1, failed=1)


def test_a_fixture_of_the_same_name_is_left_alone(project: pytest.Pytester) -> None:
    project.makepyfile(
        "import pytest\n@pytest.fixture\ndef adk_case(): return 3\ndef test_a(adk_case): assert adk_case"
    )
    project.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=1)


def ids_and_verdicts(path: Path) -> dict[str, str]:
    report = Report.from_json(path.read_text(encoding="utf-8"))
    return {case.case_id: verdict for case, verdict in zip(report.cases, report.case_verdicts, strict=True)}


FIVE = {"good0": "passed", "good1": "passed", "good2": "passed", "bad": "failed", "nothing": "not_evaluated"}


@pytest.mark.parametrize("spread", [(), ("-n2",)], ids=["one process", "xdist"])
def test_the_report_has_every_case(project: pytest.Pytester, spread: tuple[str, ...]) -> None:
    pytest.importorskip("xdist")
    project.makepyfile(MARKED)
    path = project.path / "out" / "report.json"
    run = project.runpytest_subprocess if spread else project.runpytest_inprocess
    run(*PLUGIN, *spread, f"--adk-scoring-report={path}").assert_outcomes(passed=3, failed=1, skipped=1)
    assert list(ids_and_verdicts(path).items()) == list(FIVE.items())  # in the order of the file


def test_the_report_as_junit(project: pytest.Pytester) -> None:
    project.makepyfile(MARKED)
    path = project.path / "report.xml"
    project.runpytest_inprocess(*PLUGIN, f"--adk-scoring-report={path}")
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314  # written by this test
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "1",
        "errors": "0",
        "skipped": "1",
    }


def test_the_report_has_cases_whose_test_did_not_begin(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.fixture
        def agent():
            raise RuntimeError("no agent today")

        @pytest.mark.adk_scoring(cases="runs.jsonl", config="eval_config.json")
        def test_agent(adk_case, agent):
            adk_case.check()
        """
    )
    path = project.path / "report.json"
    project.runpytest_inprocess(*PLUGIN, f"--adk-scoring-report={path}").assert_outcomes(errors=5)
    assert ids_and_verdicts(path) == FIVE


def test_tests_with_different_criteria_are_in_one_report(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.adk_scoring(cases="runs.jsonl", criteria={"trajectory_f1": 1.0})
        def test_a(adk_case): pass

        @pytest.mark.adk_scoring(cases="runs.jsonl", criteria={"trajectory_f1": 0.0, "trajectory_recall": 0.0})
        def test_b(adk_case): pass
        """
    )
    path = project.path / "report.json"
    project.runpytest_inprocess(*PLUGIN, f"--adk-scoring-report={path}")
    report = Report.from_json(path.read_text(encoding="utf-8"))
    assert report.criteria.labels == ("trajectory_f1", "trajectory_f1#2", "trajectory_recall")
    assert len(report.cases) == 10


def test_no_case_leaves_no_old_report(project: pytest.Pytester) -> None:
    project.makepyfile("def test_a(): pass")
    path = project.path / "report.json"
    path.write_text("of an earlier run")
    project.runpytest_inprocess(*PLUGIN, f"--adk-scoring-report={path}").assert_outcomes(passed=1)
    assert not path.exists()


def modules_after(code: str) -> set[str]:
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*(m for m in sys.modules if m.startswith('adk_scoring')))"],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(shown.stdout.split())


def test_the_plugin_costs_nothing_where_it_is_not_used() -> None:
    tiny = {"adk_scoring", "adk_scoring.integrations", "adk_scoring.integrations.pytest_plugin"}
    assert modules_after("import pytest, adk_scoring.integrations.pytest_plugin") == tiny


def test_a_whole_run_without_it_loads_nothing_more(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import sys

        def test_a(tmp_path):
            ours = {name for name in sys.modules if name.startswith("adk_scoring")}
            assert ours == {"adk_scoring", "adk_scoring.integrations", "adk_scoring.integrations.pytest_plugin"}
            assert not {"numpy", "pydantic", "rapidfuzz"} & set(sys.modules)
        """
    )
    project.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)
