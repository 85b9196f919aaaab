"""Reports, cases and alignments for people: text that aligns and cannot be broken out of; Markdown and HTML too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_scoring import Case, Criteria, Criterion, Invocation, Match, Report, ToolCall, Turn, align, evaluate
from adk_scoring.render.html import report_html
from adk_scoring.render.markdown import cell, report_markdown, sets_markdown
from adk_scoring.render.text import cells, one_line, report_text, sets_text, table
from adk_scoring.render.words import PictureRow, call_words, difference_words, number, picture, plain
from tests.build import BAD, GOOD, Given, calls, case, report_of, said, texts, turn
from tests.build import given as given_case

EVIL = "<script>alert('x')</script>\"&\x1b[31m\x9b2J\n| **b** `c` \u202e[d](e) \ud800 $x$ ~~s~~"


def evil_report() -> Report:
    """A report in which every text that comes from data is `EVIL`."""
    made = Invocation(EVIL, (ToolCall(EVIL, {EVIL: EVIL}), ToolCall("b", {EVIL: {EVIL: 1}})), EVIL)
    wanted = Invocation(EVIL, (ToolCall(EVIL, {EVIL: 1}), ToolCall("b", {EVIL: {EVIL: 2}})), EVIL + "!")
    more = {"set_id": EVIL, "set_name": EVIL, "source": (EVIL, EVIL), "tags": (EVIL,)}
    broken = Turn(Invocation(EVIL, None, None, error=EVIL), (wanted,))
    some = [
        Case(EVIL, (Turn(made, (wanted,)), Turn(made)), **more),  # type: ignore[arg-type]
        Case(EVIL, (broken,), trial=1, **more),  # type: ignore[arg-type]
        Case("read", (), error=EVIL),
        Case("unknown", (Turn(Invocation(EVIL, (ToolCall(EVIL, None, args_error=EVIL),)), (wanted,)),)),
    ]
    criteria = Criteria.of(
        {
            EVIL: {"metric": "trajectory_f1", "threshold": 1},
            "said": {"metric": "response_exact_match", "threshold": 1},
            EVIL + "2": {"metric": "trajectory_single_tool_use", "tool": EVIL, "threshold": 1},
        },
        where=EVIL,
    )
    report = evaluate(some, Criteria(criteria.items, EVIL, (EVIL,)))
    return Report(report.cases, report.criteria, report.columns, notes=(EVIL,))


def renderings(report: Report) -> dict[str, str]:
    shown = [report.case(c.case_id, trial=c.trial) for c in report.cases]
    alignments = [a for one in shown for i in range(len(one.case.turns)) for a in [aligned(one, i)] if a]
    return {
        "report": str(report),
        "sets": sets_text(report),
        "cases": "\n".join(map(str, shown)),
        "alignments": "\n".join(alignments),
    }


def aligned(shown: object, index: int) -> str:
    from adk_scoring import MatchError

    try:
        _, alignment = shown.expectation(index)  # type: ignore[attr-defined]
    except MatchError:
        return ""
    return str(alignment or "")


# --- text --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["report", "sets", "cases", "alignments"])
def test_nothing_that_a_terminal_obeys_comes_through(kind: str) -> None:
    text = renderings(evil_report())[kind]
    assert text
    assert all(line.isprintable() for line in text.split("\n")), [c for c in text if not c.isprintable() and c != "\n"]
    assert "\\x1b[31m" in text


def test_a_line_break_in_data_cannot_forge_a_line() -> None:
    forged = Case("x\nPASSED: 1 case: 1 passed", (BAD,))
    lines = str(evaluate([forged], {"trajectory_f1": 1})).split("\n")
    assert not [line for line in lines if line.startswith("PASSED")]
    assert "x PASSED: 1 case: 1 passed" in lines


@given(texts)
def test_plain_text_is_one_printable_line_and_plain_text_stays(text: str) -> None:
    shown = plain(text)
    assert all(c.isprintable() or c in "\u200c\u200d" for c in shown)
    assert plain(shown) == shown
    if text.isprintable():
        assert shown == text


def test_joiners_that_scripts_and_emoji_need_stay() -> None:
    assert plain("می\u200cخواهم 👩\u200d💻") == "می\u200cخواهم 👩\u200d💻"


def test_a_text_is_shortened_to_its_width() -> None:
    assert one_line("a  b\n c") == "a b c"
    assert one_line("x" * 200, 10) == "x" * 9 + "…"
    assert one_line("x" * 10, 10) == "x" * 10


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("abc", 3),
        ("北京", 4),
        ("ﾊﾝｶｸ", 4),
        ("한국", 4),
        ("e\u0301", 1),
        ("ที่นี่", 2),
        ("हिन्दी", 5),
        ("a\u200db", 2),
        ("🚀", 2),
        ("", 0),
    ],
)
def test_the_cells_of_a_text_are_counted_as_a_terminal_does(text: str, width: int) -> None:
    # 5 for Hindi: two vowel signs of it are spacing marks, which take a cell each in terminals.
    assert cells(text) == width


def test_columns_align_whatever_the_script() -> None:
    lines = table([("case", "n"), ("北京", "1"), ("Zürich", "22")], right=(1,)).split("\n")
    assert lines == ["case     n", "北京     1", "Zürich  22"]
    assert {cells(line) for line in lines} == {10}


@given(st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=4))
def test_a_column_starts_at_one_cell_in_every_row(rows: list[tuple[str, str, str]]) -> None:
    lines = table([(*row[:2], f"|{row[2]}|") for row in rows], right=(1,)).split("\n")
    assert len(lines) == len(rows)
    starts = {
        cells(line[: line.index(f"|{plain(row[2])}|")])
        for line, row in zip(lines, rows, strict=True)
        if "|" not in "".join(row)
    }
    assert len(starts) <= 1


def test_a_report_of_chinese_cases_aligns() -> None:
    report = evaluate(
        [case(GOOD)], {"调用": {"metric": "trajectory_f1", "threshold": 1}, "f1": {"metric": "trajectory_f1"}}
    )
    header, first, second = (line for line in str(report).split("\n") if line.startswith("  "))
    assert cells(first[: first.index("1/1")]) == cells(second[: second.index("1/1")]) == header.index("scored")


def test_a_long_list_of_failures_is_cut_and_says_where_the_rest_is() -> None:
    report = report_of([0.0] * 60)
    text = str(report)
    assert text.count("FAILED") == 20
    assert "… more failures: report.failures() has all, report.case('case20').show() one" in text
    assert report.to_markdown().count("| 0.000 |") == 50
    assert "more failures than shown here" in report.to_markdown()
    assert report._repr_html_().count("<td") > 250
    assert "… more failures: <code>report.failures()</code>" in report._repr_html_()


def test_a_long_list_of_differences_is_cut_and_says_so() -> None:
    text = str(evaluate([case(turn([], [f"t{i}" for i in range(15)]))], {"trajectory_f1": 1}))
    assert text.count(": missing") == 10
    assert "… 5 more differences" in text


def test_what_was_said_of_a_turn_is_not_said_again() -> None:
    report = evaluate([case(GOOD, BAD), case(BAD, case_id="d")], {"trajectory_f1": 1, "trajectory_recall": 1})
    assert str(report) == (
        "NOT PASSED: 2 cases: 2 failed\n"
        "criteria: given in code\n"
        "\n" + str(report).split("\n\n")[1] + "\n\n"
        "c\n"
        "  FAILED  trajectory_f1 = 0.500: mean of 2 turns: 1, 0; turn 2: 0 matched; precision 0/1, recall 0/1\n"
        "    turn 2 expected: search()\n"
        "    turn 2 actual:   look()\n"
        "      search(): missing\n"
        "      look(): extra\n"
        "  FAILED  trajectory_recall = 0.500: mean of 2 turns: 1, 0; turn 2: 0 of 1 expected calls were made\n"
        "\n"
        "d\n"
        "  FAILED  trajectory_f1 = 0.000: 0 matched; precision 0/1, recall 0/1\n"
        "    expected: search()\n"
        "    actual:   look()\n"
        "      search(): missing\n"
        "      look(): extra\n"
        "  FAILED  trajectory_recall = 0.000: 0 of 1 expected calls were made"
    )


def test_equal_ids_of_two_sets_are_two_headings() -> None:
    some = [case(BAD, case_id="x", set_id="s"), case(BAD, case_id="x", set_id="t", source=("t.json", "cases[0]"))]
    lines = report_text(evaluate(some, {"trajectory_f1": 1})).split("\n")
    assert "x" in lines
    assert "x  at t.json: cases[0]" in lines


def test_several_sets_have_a_table_each_and_a_total() -> None:
    some = [case(GOOD, case_id="a", set_id="s"), case(BAD, case_id="b", set_id="t"), case(GOOD, case_id="n")]
    report = evaluate(some, {"trajectory_f1": 1})
    report = Report(report.cases, report.criteria, report.columns, notes=("mind this",))
    text = sets_text(report)
    assert [line for line in text.split("\n") if line.startswith(("===", "PASSED", "NOT", "note"))] == [
        "=== s",
        "PASSED: 1 case: 1 passed",
        "=== t",
        "NOT PASSED: 1 case: 1 failed",
        "=== (no set)",
        "PASSED: 1 case: 1 passed",
        "=== total of 3 sets",
        "NOT PASSED: 3 cases: 2 passed, 1 failed",
        "note: mind this",
    ]
    markdown = sets_markdown(report)
    assert [line for line in markdown.split("\n") if line.startswith(("#", "**", "- "))] == [
        "## s",
        "**PASSED: 1 case: 1 passed**",
        "## t",
        "**NOT PASSED: 1 case: 1 failed**",
        "## (no set)",
        "**PASSED: 1 case: 1 passed**",
        "## Total of 3 sets",
        "**NOT PASSED: 3 cases: 2 passed, 1 failed**",
        "- mind this",
    ]
    one = report.by("set_id")["s"]
    assert sets_text(one) == report_text(one)
    assert sets_markdown(one) == report_markdown(one) == one.to_markdown()


def test_a_case_shows_verdicts_calls_answers_and_what_failed() -> None:
    sides = [
        Turn(
            Invocation("Book it", calls(("book", {"seat": "3B"})), "Done."),
            (Invocation("Book it", calls(("book", {"seat": "3A"})), "Booked."),),
        ),
        Turn(Invocation("And?", calls("pay"), None, error="timeout")),
        Turn(None, (said("Still?", "x"),)),
    ]
    one = evaluate(
        [Case("c", tuple(sides), trial=1, source=("f.json", "line 3"))],
        {"trajectory_f1": 1, "shown": {"metric": "response_exact_match"}},
    )
    assert str(one.case("c")) == (
        "c (trial 1): ERROR\n"
        "at f.json: line 3\n"
        "  not_evaluated  trajectory_f1      -  wanted >= 1  turn 3: not reached: turn 2 failed\n"
        "  informational  shown          0.000               " + one.rows[1].score.reason + "\n\n"
        "turn 1: Book it\n"
        "  1 call made, 1 expected: 0 match, 0 of them in order\n"
        "       expected         made\n"
        '    ~  book(seat="3A")  book(seat="3B")  seat: expected "3A", got "3B"\n'
        "  expected: Booked.\n"
        "  response: Done.\n"
        "\n"
        "turn 2: And?\n"
        "  the run failed: timeout\n"
        "  calls made, none compared: pay()\n"
        "  response: (none)\n"
        "\n"
        "turn 3: Still?\n"
        "  no run of this turn"
    )
    silent = evaluate([Case("c", (Turn(Invocation("q", ()), (Invocation("q"),)),))], {"trajectory_f1": 1})
    assert str(silent.case("c")).endswith("\n\nturn 1: q\n  response: (none)")


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        (ToolCall("f"), "f()"),
        (ToolCall("f", None), "f(unknown arguments)"),
        (ToolCall("", {"a": None}), "(no name)(a=null)"),
        (ToolCall("查", {"城市": "北京"}), '查(城市="北京")'),
        (ToolCall("f", {"a": "x" * 100, "b": "y" * 100}), None),
    ],
)
def test_a_call_is_written_as_a_person_would(call: ToolCall, shown: str | None) -> None:
    assert call_words(call) == shown if shown is not None else len(call_words(call)) <= 63


@pytest.mark.parametrize(("value", "shown"), [(None, "-"), (0.5, "0.500"), (1, "1.000"), (12345.678, "12346")])
def test_numbers_have_three_decimals(value: float | None, shown: str) -> None:
    assert number(value) == shown


# --- Markdown ----------------------------------------------------------------------------------------------------


@given(texts)
def test_a_cell_cannot_be_broken_out_of(text: str) -> None:
    shown = cell(text)
    assert all(c.isprintable() or c in "\u200c\u200d" for c in shown)
    bare = re.sub(r"\\.", "", shown)
    assert not set(bare) & set("\\|*_`[]~$<")


def test_every_row_of_a_markdown_table_has_its_cells() -> None:
    for text in (evil_report().to_markdown(), sets_markdown(evil_report())):
        rows = [re.sub(r"\\.", "", line) for line in text.split("\n") if line.startswith("|")]
        assert {row.count("|") for row in rows} == {5, 6}
        assert "<script>" not in text
        assert all(line.isprintable() for line in text.split("\n"))


def test_a_cell_shows_its_text() -> None:
    assert cell("a_b|c <i> & `x`") == "a\\_b\\|c &lt;i> &amp; \\`x\\`"


def test_markdown_names_trials_criteria_that_were_never_scored_and_notes() -> None:
    report = report_of([0.0, 1.0], [None, None], trials=[0, 2])
    report = Report(report.cases, report.criteria, report.columns, notes=("mind this",))
    text = report.to_markdown()
    assert "- b was scored in no case, so the report is not passed; case0: nothing given" in text
    assert "| case0 | a | 0.000 | as given |" in text
    assert text.endswith("- mind this\n")
    assert "| case1 (trial 2) | a | 0.000 |" in report_of([1.0, 0.0], trials=[0, 2]).to_markdown()
    assert "| case0 | a | error | broke |" in report_of(["broke"]).to_markdown()


# --- HTML --------------------------------------------------------------------------------------------------------


class Tags(HTMLParser):
    """Collects tags and their attributes, and checks that they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        drawing = {"rowspan", "width", "height", "x1", "x2", "y1", "y2", "stroke", "stroke-width", "stroke-dasharray"}
        assert {name for name, _ in attrs} <= {"class", "style"} | (drawing if tag in ("svg", "line", "td") else set())
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    drawn = {"mark", "svg", "line"}
    assert tags.tags <= drawn | {"div", "p", "b", "br", "small", "span", "table", "tr", "th", "td", "ul", "li", "code"}
    return tags


def test_everything_that_comes_from_data_is_escaped_in_html() -> None:
    report = evil_report()
    shown = [report_html(report), *(report.case(c.case_id, trial=c.trial)._repr_html_() for c in report.cases)]
    for text in shown:
        assert EVIL.split("\x1b")[0] in parsed(text).text
    sides = report.cases[0].turns[0]
    assert sides.actual
    alignment = align(sides.actual.tool_calls or (), sides.expected[0].tool_calls or ())
    assert "script" not in parsed(alignment._repr_html_()).tags


@settings(max_examples=50)
@given(texts, texts, texts)
def test_any_text_is_shown_in_html_and_obeyed_nowhere(case_id: str, tool: str, answer: str) -> None:
    sides = Turn(
        Invocation(answer, (ToolCall(tool, {tool: answer}),), answer), (Invocation(answer, (ToolCall("x"),), tool),)
    )
    criteria = [Criterion(tool, Criteria.of({"trajectory_f1": 1})["trajectory_f1"].metric, 1.0)]
    report = evaluate([Case(case_id, (sides,), source=(tool, answer))], criteria)
    parsed(report._repr_html_())
    parsed(report.case(case_id)._repr_html_())


def test_html_shows_verdicts_errors_and_missing_runs() -> None:
    sides = (GOOD, Turn(said("q", error="timeout"), (said("q", "a", response="ok"),)), turn(None, ["x"]))
    report = evaluate([Case("c", sides)], {"trajectory_f1": 1, "response_contains": 1})
    text = parsed(report.case("c")._repr_html_()).text
    for words in ("error", "the run failed: timeout", "no run of this turn", "turn 2"):
        assert words in text
    assert "response_contains" in parsed(report._repr_html_()).text
    assert "was scored in no case" in parsed(report_of([None])._repr_html_()).text


# --- the picture of an alignment ---------------------------------------------------------------------------------

_calls = st.lists(
    st.builds(ToolCall, st.sampled_from("ab"), st.dictionaries(st.sampled_from("xy"), st.integers(0, 1), max_size=2)),
    max_size=6,
)
_grouped = st.lists(
    st.builds(
        ToolCall,
        st.sampled_from("ab"),
        st.dictionaries(st.sampled_from("x"), st.integers(0, 1), max_size=1),
        step=st.none() | st.integers(0, 1),
        optional=st.booleans(),
        group=st.none() | st.sampled_from("gh"),
    ),
    max_size=5,
)
_rules = st.builds(Match, args=st.sampled_from(["exact", "subset", "superset", "ignore"]), parallel=st.booleans())


@settings(max_examples=500)
@given(_calls | _grouped, _calls | _grouped, _rules)
def test_the_picture_shows_every_call_once_and_in_its_order(
    actual: list[ToolCall], expected: list[ToolCall], match: Match
) -> None:
    alignment = align(actual, expected, match=match)
    rows = picture(alignment)
    assert [row.made for row in rows if row.made] == [call_words(call) for call in alignment.actual]
    assert [row.expected for row in rows if row.expected] == [call_words(call) for call in alignment.expected]
    for row in rows:
        sides = (bool(row.expected), bool(row.made))
        assert (
            sides
            in {
                "=": [(True, True)],
                "~": [(True, True)],
                "-": [(True, False)],
                "+": [(False, True)],
                "!": [(True, False), (False, True)],
            }[row.mark]
        )
        assert bool(row.note) == (row.mark != "=")
    assert sum(row.mark == "=" for row in rows) == len(alignment.in_order_pairs)


@settings(max_examples=500)
@given(_calls, _calls, _rules)
def test_the_rows_out_of_order_name_calls_that_match_each_other(
    actual: list[ToolCall], expected: list[ToolCall], match: Match
) -> None:
    alignment = align(actual, expected, match=match)
    rows = picture(alignment)
    made_at = expected_at = 0
    here: list[tuple[int, int]] = []
    there: list[tuple[int, int]] = []
    left: tuple[set[int], set[int]] = set(), set()
    for row in rows:
        other = re.search(r"as call (\d+)$", row.note)
        if row.mark == "!":
            assert other
            if row.made:
                here.append((made_at, int(other[1]) - 1))
            else:
                there.append((int(other[1]) - 1, expected_at))
        if row.mark in "+~":
            left[0].add(made_at)
        if row.mark in "-~":
            left[1].add(expected_at)
        closest = re.search(r"closest is call (\d+):", row.note)
        if closest:
            near = alignment.actual[int(closest[1]) - 1]
            assert near.name == alignment.expected[expected_at].name
        made_at += bool(row.made)
        expected_at += bool(row.expected)
    assert sorted(here) == sorted(there)  # each half names the other
    assert all(alignment.masks[i] >> j & 1 for i, j in here)
    if match.is_equivalence:
        assert len(here) + sum(row.mark == "=" for row in rows) == alignment.k
    # What is left as missing and as extra does not match each other.
    assert not any(alignment.masks[i] >> j & 1 for i in left[0] for j in left[1])


def test_a_call_made_out_of_order_is_said_on_both_sides_and_once_in_words() -> None:
    alignment = align(["book", "search"], ["search", "book", "pay"])
    assert picture(alignment) == [
        PictureRow("!", "", "book()", "out of order, expected as call 2"),
        PictureRow("=", "search()", "search()"),
        PictureRow("!", "book()", "", "made out of order, as call 1"),
        PictureRow("-", "pay()", "", "missing"),
    ]
    assert difference_words(alignment) == ("book(): out of order, expected as call 2", "pay(): missing")


def test_the_same_call_twice_is_out_of_order_once_and_never_missing_and_extra() -> None:
    marks = [row.mark for row in picture(align(["a", "b", "a"], ["a", "a", "b"]))]
    assert sorted(marks) == ["!", "!", "=", "="]


def test_a_missing_call_that_cannot_stand_beside_the_closest_one_names_it() -> None:
    alignment = align([("f", {"a": 1}), "x"], ["x", ("f", {"a": 2})])
    shown = [(row.mark, row.note) for row in picture(alignment)]
    assert ("-", "missing; closest is call 1: a: expected 2, got 1") in shown
    assert ("+", "extra") in shown


def test_an_alignment_of_nothing_is_one_line() -> None:
    assert str(align([], [])) == "0 calls made, 0 expected: 0 match, 0 of them in order"
    assert str(align(["a"], [])).startswith("1 call made, 0 expected: 0 match")


def test_a_given_case_is_scored_as_given() -> None:
    report = evaluate([given_case(0.25)], [Criterion("x", Given(), 0.5)])
    assert "FAILED  x = 0.250: as given" in str(report)
