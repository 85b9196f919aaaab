"""Comparing reports: paired by case, named tests, hand-worked numbers, and nothing compared that should not be."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from statistics import variance

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from adk_scoring import Comparison, Report, ScoringError, compare
from adk_scoring.comparison import COMPOSITE, PASSED
from adk_scoring.stats import mcnemar_exact, mde, newcombe, sign_flip
from tests.made_reports import Milliseconds, Share, Value, report_of

ONES, ZEROS = [1.0], [0.0]


def binary(both: int, only_new: int, only_old: int, neither: int) -> Comparison:
    """Compare two reports on 0/1 scores with the given table of outcomes."""
    old = ONES * both + ZEROS * only_new + ONES * only_old + ZEROS * neither
    new = ONES * both + ONES * only_new + ZEROS * only_old + ZEROS * neither
    return compare({"old": report_of({"match": old}), "new": report_of({"match": new})})


def test_binary_scores_get_mcnemar_and_newcombe() -> None:
    # Newcombe 1998, table II: (36, 12, 2, 0) -> .2000 [.0569, .3404].
    found = binary(36, 12, 2, 0).difference("match")
    assert found.interval.method == "newcombe paired"
    interval = found.interval.estimate, found.interval.low, found.interval.high
    assert interval == pytest.approx((0.2, 0.0569, 0.3404), abs=5e-5)
    assert found.test is not None
    assert (found.test.method, found.test.p) == ("McNemar, exact", mcnemar_exact(12, 2).p)
    assert (found.wins, found.ties, found.losses, found.n) == (12, 36, 2, 50)
    assert (found.baseline_mean, found.other_mean) == (38 / 50, 48 / 50)
    # (z.975 + z.80) * sqrt(psi / n) with psi = 14/50.
    assert found.detectable == pytest.approx((1.9599639845 + 0.8416212336) * math.sqrt(14 / 50 / 50))
    assert found.verdict == "better"


def test_graded_scores_get_sign_flip_and_paired_t() -> None:
    old, new = [0.2, 0.5, 0.4, 0.1, 0.6], [0.5, 0.6, 0.6, 0.5, 0.5]
    found = compare({"old": report_of({"f1": old}), "new": report_of({"f1": new})}).difference("f1")
    # Differences .3 .1 .2 .4 -.1: sign-flip p = .1875.
    assert found.test is not None
    assert found.test.p == pytest.approx(0.1875)
    assert found.test.method == "sign-flip, exact"
    expected = scipy_stats.ttest_rel(new, old).confidence_interval(0.95)
    assert found.interval.method == "paired t"
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert (found.wins, found.ties, found.losses) == (4, 0, 1)


def test_values_that_differ_by_rounding_are_ties() -> None:
    found = compare({"a": report_of({"f": [0.1 + 0.2, 0.5]}), "b": report_of({"f": [0.3, 0.5]})}).difference("f")
    assert (found.wins, found.ties, found.losses) == (0, 2, 0)


def test_fewer_than_six_differing_cases_cannot_be_significant() -> None:
    five, six = binary(5, 5, 0, 0).difference("match"), binary(5, 6, 0, 0).difference("match")
    assert five.p == 0.0625
    assert five.notes == ("cannot be significant: 5 cases differ, and it takes at least 6",)
    assert six.p == 0.03125
    assert six.notes == ()
    assert (five.verdict, six.verdict) == ("unclear", "better")


def test_how_many_it_takes_follows_the_level() -> None:
    old, new = report_of({"m": [0.0] * 7}), report_of({"m": [1.0] * 7})
    found = compare({"old": old, "new": new}, level=0.99).difference("m")
    # 2^(1-7) = .0156 > .01 >= 2^(1-8).
    assert found.notes == ("cannot be significant: 7 cases differ, and it takes at least 8",)


def test_trials_are_averaged_by_case_first() -> None:
    ids, trials = ["a", "a", "b", "b", "c", "c"], [0, 1] * 3
    old = report_of({"m": [0, 1, 0, 0, 1, 1]}, ids=ids, trials=trials)
    new = report_of({"m": [1, 1, 0, 1, 1, 1]}, ids=ids, trials=trials)
    found = compare({"old": old, "new": new}).difference("m")
    assert found.n == 3
    assert (found.baseline_mean, found.other_mean) == pytest.approx((0.5, 5 / 6))
    assert found.test is not None
    assert (found.test.method, found.test.p) == ("sign-flip, exact", sign_flip([0.5, 0.5, 0.0]).p)
    assert "trials:averaged by case" in found.signature


def test_direction_of_the_metric_decides_what_a_win_is() -> None:
    old, new = (
        report_of({Milliseconds("ms"): [900.0] * 8}),
        report_of({Milliseconds("ms"): [float(800 + i) for i in range(8)]}),
    )
    found = compare({"old": old, "new": new}).difference("ms")
    assert (found.wins, found.losses, found.verdict) == (8, 0, "better")
    assert found.interval.estimate == pytest.approx(-96.5)
    turned = found.improvement
    assert turned.estimate == pytest.approx(96.5)
    assert (turned.low, turned.high) == pytest.approx((-(found.interval.high or 0), -(found.interval.low or 0)))
    back = compare({"old": new, "new": old}).difference("ms")
    assert (back.wins, back.losses, back.verdict) == (0, 8, "worse")


def test_holm_is_over_criteria_and_reports_but_not_over_what_repeats_them() -> None:
    old = report_of({"a": [0.0] * 8, "b": [0.0] * 8}, threshold=0.5)
    new = report_of({"a": [1.0] * 6 + [0.0] * 2, "b": [1.0] * 8}, threshold=0.5)
    found = compare({"old": old, "new": new})
    a, b, both = found.difference("a"), found.difference("b"), found.difference(PASSED)
    assert (a.test and a.test.p, b.test and b.test.p) == (0.03125, 0.0078125)
    assert (a.adjusted, b.adjusted, both.adjusted) == (0.03125, 0.015625, None)
    assert a.signature.endswith("holm:2")
    three = compare({"old": old, "new": new, "same": old})
    assert three.difference("b", other="new").adjusted == 0.0078125 * 4
    assert len(compare({"old": old, "new": new, "same": old}, pairs="all").differences) == 4 * 3


def test_p_is_never_zero() -> None:
    many = binary(0, 1200, 0, 0).difference("match")
    assert many.test is not None
    assert 0 < many.test.p < 1e-300
    graded = [0.5 + i / 1000 for i in range(300)]
    found = compare({"a": report_of({"g": [0.1] * 300}), "b": report_of({"g": graded})}, resamples=2000).difference("g")
    assert found.test is not None
    assert found.test.p == 1 / 2001


def test_same_seed_same_bits() -> None:
    rng = random.Random(5)
    old, new = (report_of({"g": [rng.random() for _ in range(60)]}) for _ in range(2))
    first, again, other = (compare({"o": old, "n": new}, seed=seed, resamples=2000) for seed in (7, 7, 8))
    assert first.differences == again.differences
    assert first.difference("g").p != other.difference("g").p
    assert "2000 random sign patterns, seed 7" in first.difference("g").signature


def test_missing_changed_and_added_cases_are_told_and_not_compared() -> None:
    old = report_of({"m": [1, 1, 0, 1]}, ids=["a", "b", "c", "d"], asked=["A", "B", "C", "D"])
    new = report_of({"m": [1, 1, 1, 1]}, ids=["e", "d", "c", "a"], asked=["E", "D", "other", "A"])
    found = compare({"old": old, "new": new})
    assert found.cohort.cases == ("a", "d")
    assert found.cohort.missing == {"old": ("e",), "new": ("b",)}
    assert found.cohort.changed == ("c",)
    assert found.difference("m").n == 2
    for shown in (str(found), found.to_markdown(), found.to_html()):
        for words in (
            "new lacks 1 case: b",
            "old lacks 1 case: e",
            "asked or expected something else, so not compared",
        ):
            assert words in shown


def test_the_order_of_the_cases_does_not_matter() -> None:
    ids, values = ["a", "b", "c"], [0.1, 0.5, 0.9]
    old = report_of({"m": values}, ids=ids)
    new = report_of({"m": values[::-1]}, ids=ids[::-1])
    found = compare({"old": old, "new": new})
    assert found.difference("m").ties == 3
    assert found.values("m") == {"old": (0.1, 0.5, 0.9), "new": (0.1, 0.5, 0.9)}


def test_cases_of_two_sets_do_not_pair() -> None:
    with pytest.raises(ScoringError, match="no id is in all"):
        compare({"a": report_of({"m": [1]}, set_id="x"), "b": report_of({"m": [1]}, set_id="y")})
    with pytest.raises(ScoringError, match="all 1 asked or expected something else"):
        compare({"a": report_of({"m": [1]}, asked=["x"]), "b": report_of({"m": [1]}, asked=["y"])})


def test_several_sets_are_named_with_their_cases() -> None:
    one, two = report_of({"m": [1]}, set_id="x"), report_of({"m": [0]}, set_id="y")
    both = Report([*one.cases, *two.cases], one.criteria, [_joined(one, two)])
    assert compare({"a": both, "b": both}).cohort.cases == ("x/case 0", "y/case 0")


def _joined(one: Report, two: Report):  # type: ignore[no-untyped-def]  # a column
    column = one.columns[0].select([0])
    column.extend(two.columns[0])
    return column


def test_a_criterion_made_differently_is_not_compared_unless_allowed() -> None:
    old, new = report_of({"m": [1, 0], "n": [1, 1]}), report_of({"m": [1, 1], "n": [1, 1]})
    changed = [replace(new.signatures[0], judge="other"), new.signatures[1]]
    judged = Report(new.cases, new.criteria, new.columns, signatures=changed)
    found = compare({"old": old, "new": judged})
    assert found.not_compared == {("m", "old", "new"): "made differently: judge: '' and 'other'"}
    assert found.axes == ("n",)
    with pytest.raises(KeyError, match="made differently: judge"):
        found.difference("m")
    assert "not compared: m (new - old): made differently: judge" in str(found)
    allowed = compare({"old": old, "new": judged}, allow=["judge"]).difference("m")
    assert allowed.notes[0] == "made differently: judge: '' and 'other'"
    with pytest.raises(ValueError, match="allow holds"):
        compare({"old": old, "new": judged}, allow=["jugde"])


def test_a_criterion_that_one_report_lacks_is_absent_not_zero() -> None:
    old, new = report_of({"m": [1, 0], "extra": [1, 1]}), report_of({"m": [1, 1]})
    found = compare({"old": old, "new": new})
    assert found.not_compared == {("extra", "old", "new"): "the other report does not have it"}
    assert found.standing("extra", "new") is None
    assert set(found.values("extra")) == {"old"}
    assert compare({"new": new, "old": old}).not_compared == {("extra", "new", "old"): "the baseline does not have it"}


def test_cases_passed_is_compared_only_under_the_same_thresholds() -> None:
    columns: dict[str, list[Value]] = {"m": [1, 0.6, 0.2]}
    old, new = report_of(columns, threshold=0.5), report_of(columns, threshold=0.9)
    found = compare({"old": old, "new": new})
    assert found.not_compared == {(PASSED, "old", "new"): "other thresholds: m"}
    assert [s.interval.estimate for s in found.standings if s.label == PASSED] == [
        pytest.approx(2 / 3),
        pytest.approx(1 / 3),
    ]
    changed = Report(old.cases, old.criteria, old.columns, signatures=[replace(old.signatures[0], prompts="x")])
    assert "m: made differently: prompts" in compare({"old": old, "new": changed}).not_compared[PASSED, "old", "new"]
    allowed = compare({"old": old, "new": changed}, allow=["prompts"]).difference(PASSED)
    assert allowed.notes[0].startswith("m: made differently: prompts")


def test_without_thresholds_no_case_passes_or_fails() -> None:
    found = compare({"a": report_of({"m": [1]}), "b": report_of({"m": [1]})})
    assert found.labels == ("m",)


def test_unscored_is_not_zero() -> None:
    old, new = report_of({"m": [1, 1, "broken", None]}), report_of({"m": [None, 1, 1, None]})
    found = compare({"old": old, "new": new})
    difference = found.difference("m")
    assert (difference.n, difference.unscored, difference.interval.estimate) == (1, 2, 0.0)
    assert found.values("m")["old"] == (1.0, 1.0, None, None)
    standing = found.standing("m", "old")
    assert standing is not None
    assert (standing.interval.estimate, standing.coverage) == (1.0, "2/4")


def test_nothing_scored_is_undefined() -> None:
    found = compare({"old": report_of({"m": [None, 1]}), "new": report_of({"m": [1, None]})}).difference("m")
    assert (found.n, found.interval.estimate, found.interval.low, found.test, found.p) == (0, None, None, None, None)
    assert (found.baseline_mean, found.other_mean, found.detectable, found.verdict) == (None, None, None, "unclear")
    assert "no case was scored in both reports" in found.notes
    assert found.improvement.estimate is None


def test_one_case_has_no_interval_for_graded_scores() -> None:
    found = compare({"a": report_of({Milliseconds("t"): [2]}), "b": report_of({Milliseconds("t"): [3]})}).difference(
        "t"
    )
    assert (found.interval.estimate, found.interval.low, found.improvement.low) == (1.0, None, None)
    assert found.improvement.estimate == -1.0


def test_composite_is_over_the_axes_that_all_have() -> None:
    def made(m: list[Value], bad: list[Value], ms: list[Value], **more: list[Value]) -> Report:
        return report_of({"m": m, Share("bad"): bad, Milliseconds("ms"): ms, **more})

    old = made([1, 0.5, None], [0.25, 1, 0.5], [9, 9, 9], only=[0, 0, 0])
    new = made([0, 1, 1], [0.75, None, 0.0], [1, 1, 1])
    found = compare({"old": old, "new": new})
    # No end to ms, `only` is in one: m and bad stay, bad turned. Case 1 lacks bad in new, case 2 lacks m in old.
    assert found.axes == ("m", "bad")
    assert found.values(COMPOSITE) == {"old": (0.875, 0.5, 0.5), "new": (0.125, 1.0, 1.0)}
    assert found.difference(COMPOSITE).interval.estimate == pytest.approx((-0.75 + 0.5 + 0.5) / 3)
    assert "composite: mean of m, bad, each on 0 to 1" in str(found)


def test_a_case_without_a_common_axis_has_no_composite() -> None:
    old, new = report_of({"m": [1, 1], "n": [None, 1]}), report_of({"m": [None, 1], "n": [1, 1]})
    assert compare({"old": old, "new": new}).values(COMPOSITE) == {"old": (None, 1.0), "new": (None, 1.0)}


def test_one_axis_makes_no_composite() -> None:
    old, new = report_of({"m": [1], "n": [None]}), report_of({"m": [1], "n": [1]})
    found = compare({"old": old, "new": new})
    assert found.axes == ("m",)
    assert COMPOSITE not in found.labels


def test_what_cannot_be_compared_is_refused() -> None:
    report = report_of({"m": [1]})
    with pytest.raises(ScoringError, match="two or more"):
        compare({"one": report})
    with pytest.raises(ValueError, match="pairs is 'some'"):
        compare({"a": report, "b": report}, pairs="some")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="level"):
        compare({"a": report, "b": report}, level=95)
    found = compare({"a": report, "b": report})
    with pytest.raises(KeyError, match="no 'n'; there are m"):
        found.values("n")
    with pytest.raises(KeyError, match="there are m"):
        found.difference("n")


TABLES = st.tuples(*[st.integers(0, 15)] * 4).filter(lambda table: sum(table) > 0)


@settings(max_examples=40, deadline=None)
@given(TABLES)
def test_any_table_of_outcomes(table: tuple[int, int, int, int]) -> None:
    both, ups, downs, neither = table
    found = binary(*table).difference("match")
    assert found.interval == newcombe(both, ups, downs, neither)
    assert found.test == mcnemar_exact(ups, downs)
    back = compare(
        {
            "new": report_of({"match": ONES * both + ONES * ups + ZEROS * downs + ZEROS * neither}),
            "old": report_of({"match": ONES * both + ZEROS * ups + ONES * downs + ZEROS * neither}),
        }
    ).difference("match")
    assert (back.wins, back.losses) == (found.losses, found.wins)
    assert back.p == found.p


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.none() | st.floats(0, 1), st.none() | st.floats(0, 1)), min_size=1, max_size=12))
def test_any_graded_scores(pairs: list[tuple[float | None, float | None]]) -> None:
    old, new = [a for a, _ in pairs], [b for _, b in pairs]
    found = compare({"o": report_of({"m": old}), "n": report_of({"m": new})}).difference("m")
    scored = [(a, b) for a, b in pairs if a is not None and b is not None]
    assert found.n == len(scored) == found.wins + found.ties + found.losses
    if scored:
        assert found.interval.estimate == pytest.approx(math.fsum(b - a for a, b in scored) / len(scored), abs=1e-12)
        assert found.test is not None
        assert 0 < found.test.p <= 1


def test_tables_in_every_form() -> None:
    old = report_of({"a_b": [1, 0, 1, 0], Milliseconds("<ms> & $"): [1, 2, 3, 4]}, threshold=0.5)
    new = report_of({"a_b": [1, 1, 1, None], Milliseconds("<ms> & $"): [1, 2, 3, 5]}, threshold=0.5)
    found = compare({"old": old, "new|x": new})
    wide, long = found.table(), found.table("long")
    assert wide.splitlines()[0].split() == ["criterion", "old", "new|x"]
    assert "1.000 [0.439, 1.000] (3/4)" in wide
    assert "3 (1 in one only)" in long
    assert "<ms> & $ (lower is better)" in long
    latex = found.table("long", "latex")
    assert latex.startswith("\\begin{tabular}{llllllllll}\n\\toprule\n")
    assert r"\textless{}ms\textgreater{} \& \$ (lower is better)" in latex
    assert latex.count(r"\\") == 1 + len(found.differences)
    markdown = found.table("wide", "markdown")
    assert r"new\|x" in markdown.splitlines()[0]
    assert {line.count(" | ") for line in markdown.splitlines()} == {2}
    html = found.table("wide", "html")
    assert "&lt;ms&gt; &amp; $" in html
    assert "<ms>" not in html
    with pytest.raises(ValueError, match="layout is 'tall'"):
        found.table("tall")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="form is 'rtf'"):
        found.table("wide", "rtf")  # type: ignore[arg-type]


def test_a_comparison_shows_itself() -> None:
    found = binary(36, 12, 2, 0)
    assert str(found).startswith("old / new: 50 cases compared\n")
    assert found._repr_html_() == found.to_html()
    assert "background:#2e7d3233" in found.to_html()
    assert repr(found) == "<Comparison of old, new over 50 cases>"
    assert found.to_markdown().startswith("**old / new: 50 cases compared**\n")
    assert binary(0, 1, 0, 0).to_markdown().startswith("**old / new: 1 case compared**\n")
    record = found.to_records()[0]
    assert record["p"] == mcnemar_exact(12, 2).p
    assert record["test"] == "McNemar, exact"
    assert record["difference"] == pytest.approx(0.2)
    assert record["verdict"] == "better"


def test_long_lists_of_cases_are_cut() -> None:
    old, new = report_of({"m": [1.0] * 30}), report_of({"m": [1.0] * 2})
    assert "new lacks 28 cases: case 2, case 3," in str(compare({"old": old, "new": new}))
    assert "… (18 more)" in str(compare({"old": old, "new": new}))


def test_reports_from_files_compare_like_fresh_ones() -> None:
    old, new = report_of({"m": [1, 0, 1]}, threshold=0.5), report_of({"m": [1, 1, 1]}, threshold=0.5)
    fresh = compare({"old": old, "new": new})
    read = compare({"old": Report.from_json(old.to_json()), "new": new})
    assert read.differences == fresh.differences


def test_zeros_and_ones_of_a_metric_without_an_upper_end_are_no_passes() -> None:
    old, new = report_of({Milliseconds("calls"): [0, 1, 1, 0]}), report_of({Milliseconds("calls"): [1, 1, 0, 0]})
    found = compare({"old": old, "new": new})
    assert found.difference("calls").interval.method == "paired t"
    standing = found.standing("calls", "old")
    assert standing is not None
    assert standing.interval.method == "t"


@pytest.mark.parametrize("values", [([0.0] * 4 + [1.0] * 6, [1.0] * 10), ([0.2, 0.4, 0.6, 0.8], [0.3, 0.4, 0.9, 0.6])])
def test_the_level_is_that_of_everything(values: tuple[list[float], list[float]]) -> None:
    old, new = values
    reports = {"old": report_of({"m": old}), "new": report_of({"m": new})}
    found = compare(reports, level=0.8)
    changes = [b - a for a, b in zip(old, new, strict=True)]
    spread = sum(map(abs, changes)) / len(old) if set(old) == {0.0, 1.0} else variance(changes)
    difference, standing = found.difference("m"), found.standing("m", "old")
    assert difference.detectable == pytest.approx(mde(len(old), spread, level=0.8))
    assert standing is not None
    assert standing.interval.level == difference.interval.level == 0.8
    assert standing.share == pytest.approx(sum(old) / len(old))


def test_cases_passed_has_a_p_of_its_own_and_more_is_better() -> None:
    old, new = [0.0] * 8 + [1.0] * 2, [1.0] * 9 + [0.0]
    found = compare({"old": report_of({"m": old}, threshold=1.0), "new": report_of({"m": new}, threshold=1.0)})
    passed = found.difference(PASSED)
    assert (passed.wins, passed.ties, passed.losses) == (8, 1, 1)
    assert (passed.range, passed.higher_is_better, passed.adjusted) == ((0.0, 1.0), True, None)
    # 8 against 1: 2 * (1 + 9) / 2**9.
    assert passed.p == 20 / 512
    assert passed.verdict == "better"


def test_a_difference_is_found_by_both_its_reports() -> None:
    reports = {name: report_of({"m": [value] * 3}) for name, value in (("a", 0.1), ("b", 0.2), ("c", 0.4))}
    found = compare(reports, pairs="all")
    difference = found.difference("m", other="c", baseline="b")
    assert (difference.baseline, difference.other) == ("b", "c")
    assert difference.interval.estimate == pytest.approx(0.2)


def test_a_standing_says_how_many_rows_it_covers() -> None:
    columns: dict[str, list[Value]] = {"m": [1.0, None, 0.5], "n": [1.0, None, 0.0]}
    found = compare({"a": report_of(columns), "b": report_of(columns)})
    covered = {each.label: each.coverage for each in found.standings if each.report == "a"}
    assert (covered["m"], covered[COMPOSITE]) == ("2/3", "2/3")
    whole = found.standing(COMPOSITE, "a")
    assert whole is not None
    assert whole.interval.estimate == 0.625


def test_one_case_with_trials_makes_the_whole_comparison_one_of_averages() -> None:
    old = report_of({"m": [1.0, 0.0, 1.0]}, ids=["a", "a", "b"], trials=[0, 1, 0])
    new = report_of({"m": [1.0, 1.0, 1.0]}, ids=["a", "a", "b"], trials=[0, 1, 0])
    difference = compare({"old": old, "new": new}).difference("m")
    assert difference.interval.estimate == 0.25
    assert "trials:averaged by case" in difference.signature
