"""The picture of an alignment: what is joined, marked and drawn, as text and as HTML."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_scoring import ToolCall, align
from adk_scoring.render.html import alignment_html
from adk_scoring.render.text import alignment_text
from adk_scoring.render.words import call_pieces, call_words, picture

MARKED = re.compile("<mark[^>]*>(.*?)</mark>")
LINE = re.compile(
    r'<line x1="4" y1="([\d.]+)" x2="60" y2="([\d.]+)" stroke="(\S+)" stroke-width="2"( stroke-dasharray)?'
)


def test_a_line_joins_the_halves_of_a_call_that_is_out_of_order() -> None:
    leave = ("update_leave", {"id": 7})
    assert alignment_text(align([leave, "get_leave", "log"], ["get_leave", leave, "log"])) == "\n".join(
        (
            "3 calls made, 3 expected: 3 match, 2 of them in order",
            "      expected            made",
            "  ╭!                      update_leave(id=7)  out of order, expected as call 2",
            "  │=  get_leave()         get_leave()",
            "  ╰!  update_leave(id=7)                      made out of order, as call 1",
            "   =  log()               log()",
        )
    )


def test_lines_inside_each_other_and_lines_that_cross() -> None:
    nested = alignment_text(align([*"dcba"], [*"abcd"])).splitlines()[2:]
    assert [line[2:6] for line in nested] == ["╭──!", "│╭─!", "││╭!", "│││=", "││╰!", "│╰─!", "╰──!"]
    crossing = alignment_text(align([*"abcde"], [*"cdeab"])).splitlines()[2:]
    assert [line[2:5] for line in crossing] == [" ╭!", "╭┼!", "││=", "││=", "││=", "│╰!", "╰─!"]


def test_lines_beside_each_other_share_a_column() -> None:
    lines = alignment_text(align([*"bacfde"], [*"abcdef"])).splitlines()[2:]
    assert {line[3] for line in lines} <= set("!=")
    assert [line[2] for line in lines].count("╭") == 2


def test_lines_go_on_beside_what_stands_on_a_line_of_its_own() -> None:
    long = {"id": 7, "reason": "because " * 20, "note": "n" * 40}
    for more in ({}, {"again": "y" * 40, "and": "z" * 60}):
        call = ("update_leave_of_absence", long | more)
        text = alignment_text(align([call, "get", ("f", {"a": 1})], ["get", call, ("f", {"a": 2})]))
        lines = text.splitlines()
        top, bottom = (next(i for i, line in enumerate(lines) if corner in line) for corner in "╭╰")
        assert all(line[2] == "│" for line in lines[top + 1 : bottom])
        assert "out of order, expected as call 2" in lines[top + 1]
        assert any(line.startswith("   ") and line.endswith("a: expected 2, got 1") for line in lines)


@given(st.permutations([*"abcdef"]))
def test_every_call_out_of_order_has_one_line(calls: list[str]) -> None:
    alignment = align(calls, [*"abcdef"])
    text = alignment_text(alignment)
    late = alignment.m - len(alignment.in_order_pairs)
    assert (text.count("╭"), text.count("╰")) == (late, late)
    rows = picture(alignment)
    assert all(row.other is None or rows[row.other].other == index for index, row in enumerate(rows))
    starts = sorted((float(a) // 26, float(b) // 26) for a, b, colour, _ in LINE.findall(alignment_html(alignment)))
    ends = [(i, i if row.other is None else row.other) for i, row in enumerate(rows) if row.expected]
    assert starts == [(float(a), float(b)) for a, b in ends]


def test_html_joins_what_matched_and_marks_what_differs() -> None:
    made = ["get", ("book", {"to": {"zip": "75001"}, "seat": "3A", "extra": True})]
    alignment = align(made, ["get", ("book", {"to": {"zip": "75002"}, "seat": "3A"})])
    page = alignment_html(alignment)
    assert LINE.findall(page) == [("13", "13", "#2e7d32", ""), ("39", "39", "#f9a825", " stroke-dasharray")]
    assert MARKED.findall(page) == [
        "to={&quot;zip&quot;: &quot;75002&quot;}",
        "to={&quot;zip&quot;: &quot;75001&quot;}",
        "extra=true",
    ]
    assert 'rowspan="2"' in page
    assert "svg" not in alignment_html(align([], []))


def test_html_draws_nothing_to_a_call_that_has_no_other_side() -> None:
    assert LINE.findall(alignment_html(align(["a"], ["b"]))) == []


def test_the_closest_call_is_marked_where_it_stands_elsewhere() -> None:
    page = alignment_html(align([("f", {"a": 1}), "x"], ["x", ("f", {"a": 2})]))
    assert MARKED.findall(page) == ["a=2"]


@pytest.mark.parametrize("width", [10, 20, 60])
def test_the_words_of_a_call_are_its_pieces(width: int) -> None:
    calls = [
        ToolCall("f"),
        ToolCall("", None),
        ToolCall("book", {"seat": "3A", "paid": True, "note": "x" * 25, "more": [1, 2, 3], "last": "z"}),
    ]
    for call in calls:
        pieces = call_pieces(call, {"paid"}, width)
        words = call_words(call, width)
        assert "".join(text for text, _ in pieces) == words
        assert all(text.startswith(("paid=t", "…")) for text, is_marked in pieces if is_marked)
    arguments = 'seat="3A", paid=true, note="xxxxxxxxxxxxxxxxxxxxxxxxx", more=[1, 2, 3], last="z"'
    assert call_words(calls[2], width) == f"book({arguments[: width - 1]}…)"
    assert call_words(calls[2], 100) == f"book({arguments})"


def test_a_great_muddle_stays_within_a_terminal() -> None:
    calls = [("f", {"a": number}) for number in range(300)]
    shown = str(align(calls, calls[::-1]))
    assert max(map(len, shown.splitlines())) < 120
    assert shown.count("out of order, expected as call") == 299
