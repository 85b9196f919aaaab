"""Figures: what is drawn is what was compared; what a report lacks is absent, not 0."""

from __future__ import annotations

import math
import random
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib", reason="figures need the extra plot")

from adk_scoring import Comparison, ConfigError, ScoringError, compare
from adk_scoring.render import figures
from tests.made_reports import Milliseconds, Share, Value, report_of

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def _fresh_warning() -> Iterator[None]:
    figures._warned.cache_clear()
    yield
    figures._warned.cache_clear()


def compared(
    *, names: tuple[str, ...] = ("base", "tuned"), labels: int = 4, cases: int = 12, seed: int = 1
) -> Comparison:
    rng = random.Random(seed)

    def made() -> dict[str, list[Value]]:
        return {f"label_{i}": [round(rng.random(), 3) for _ in range(cases)] for i in range(labels)}

    return compare({name: report_of(made()) for name in names}, resamples=2000)


def lines_of(found: Comparison) -> dict[str, list[float]]:
    (axes,) = found.radar().figure.axes
    return {str(line.get_label()): at(line.get_ydata()) for line in axes.lines}


def at(places: Any) -> list[float]:
    return [float(place) for place in places]


def test_a_radar_shows_each_report_at_its_share_of_the_range() -> None:
    old = report_of({"m": [0.5, 0.7], "n": [0.2, 0.4], Share("bad"): [0.1, 0.3]})
    new = report_of({"m": [1.0, 0.8], "n": [0.5, 0.5], Share("bad"): [0.0, 0.0]})
    drawn = lines_of(compare({"old": old, "new": new}))
    assert drawn["old"] == pytest.approx([0.6, 0.3, 0.8, 0.6])  # closed: the first stands at the end again
    assert drawn["new"] == pytest.approx([0.9, 0.5, 1.0, 0.9])
    (axes,) = compare({"old": old, "new": new}).radar().figure.axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["m", "n", "bad (lower is\nbetter)"]


def test_a_missing_axis_is_a_gap_not_a_zero() -> None:
    old = report_of({"m": [0.5], "n": [0.2], "o": [0.1], "p": [None]})
    new = report_of({"m": [1.0], "n": [0.5], "p": [None]})
    found = compare({"old": old, "new": new})
    drawn = lines_of(found)
    assert drawn["old"] == pytest.approx([0.5, 0.2, 0.1, 0.5])
    assert math.isnan(drawn["new"][2])
    assert 0.0 not in drawn["new"]
    assert len(drawn["new"]) == 4  # p, which nobody scored, is no axis


def test_metrics_without_an_end_are_no_axis() -> None:
    report = report_of({Milliseconds("ms"): [3.0, 5.0]})
    found = compare({"a": report, "b": report})
    with pytest.raises(ScoringError, match="no axis to draw"):
        found.radar()


def test_a_forest_turns_each_difference_so_that_better_is_right() -> None:
    old = report_of({"m": [0.0] * 8, Milliseconds("ms"): [float(900 + i) for i in range(8)]})
    new = report_of({"m": [1.0] * 8, Milliseconds("ms"): [float(800 + 2 * i) for i in range(8)]})
    found = compare({"old": old, "new": new})
    panels = found.forest().figure.axes
    assert len(panels) == 2  # shares and milliseconds have an axis each
    for axes, label in zip(panels, ("m", "ms"), strict=True):
        turned = found.difference(label).improvement
        interval, point = axes.lines[:2]
        assert at(interval.get_xdata()) == [turned.low, turned.high]
        assert at(point.get_xdata()) == [turned.estimate]
        assert turned.estimate is not None
        assert turned.estimate > 0
    assert panels[1].get_yticklabels()[0].get_text() == "ms (lower is better)"
    assert panels[0].get_xlabel() == "improvement of new on old (95% interval; better to the right)"


def test_a_forest_without_an_interval_shows_the_point() -> None:
    found = compare({"a": report_of({Milliseconds("ms"): [3]}), "b": report_of({Milliseconds("ms"): [2]})})
    (axes,) = found.forest().figure.axes
    assert [at(line.get_xdata()) for line in axes.lines if at(line.get_ydata()) == [0]] == [[1.0]]
    nothing = compare({"a": report_of({"m": [1, None]}), "b": report_of({"m": [None, 1]})})
    with pytest.raises(ScoringError, match="no difference to draw"):
        nothing.forest()


def test_a_forest_of_several_reports_names_the_pair() -> None:
    (axes,) = compared(names=("a", "b", "c"), labels=1).forest().figure.axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["b", "c"]
    assert axes.get_xlabel().startswith("improvement in label_0 on a (95%")
    (axes,) = compared(names=("a", "b", "c"), labels=2).forest().figure.axes
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names == [f"{label}\n{name}" for name in "bc" for label in ("label_0", "label_1", "composite")]
    reports = {name: report_of({"m": [0.0, i / 2]}) for i, name in enumerate("abc")}
    (axes,) = compare(reports, pairs="all").forest().figure.axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["b - a", "c - a", "c - b"]
    assert axes.get_xlabel().startswith("improvement in m (95%")


def grid_of(figure: Any) -> list[list[float]]:
    return [[float(value) for value in row] for row in figure.axes[0].images[0].get_array().filled(math.nan)]


def test_a_heat_map_has_a_row_for_each_case_sorted_by_value() -> None:
    old = report_of({"m": [0.1, 0.9, None]}, ids=["low", "high", "bare"])
    new = report_of({"m": [0.2, 0.3, 0.4]}, ids=["low", "high", "bare"])
    figure = compare({"old": old, "new": new}).heatmap().figure
    grid = grid_of(figure)
    assert grid[:2] == [[0.9, 0.3], [0.1, 0.2]]
    assert math.isnan(grid[2][0])
    assert grid[2][1] == 0.4
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["high", "low", "bare"]
    assert len(figure.axes[0].patches) == 1  # the hatched one
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["not scored"]


def test_a_heat_map_of_what() -> None:
    found = compared(labels=3)
    assert found.heatmap().figure.axes[1].get_ylabel() == "composite"
    assert found.heatmap("label_2").figure.axes[1].get_ylabel() == "label_2"
    with pytest.raises(KeyError, match="no 'x'"):
        found.heatmap("x")
    ms = compare({"a": report_of({Milliseconds("ms"): [3, 9]}), "b": report_of({Milliseconds("ms"): [2, 7]})})
    image = ms.heatmap().figure.axes[0].images[0]
    assert image.get_clim() == (2, 9)


@pytest.mark.parametrize(("labels", "cases"), [(1, 1), (1, 12), (2, 12), (12, 200)])
@pytest.mark.parametrize("figure", ["radar", "forest", "heatmap"])
def test_from_one_criterion_and_case_to_many(figure: str, labels: int, cases: int, tmp_path: Path) -> None:
    drawing = getattr(compared(labels=labels, cases=cases), figure)()
    drawing.save(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(PNG)
    if figure == "heatmap" and cases == 200:
        assert drawing.figure.axes[0].get_ylabel() == "200 cases, sorted by their values"


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_the_same_comparison_gives_the_same_bytes(form: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        compared().radar().save(tmp_path / f"{name}.{form}")
    first, second = (tmp_path / f"{name}.{form}" for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()


def test_a_notebook_shows_a_drawing() -> None:
    assert compared().forest()._repr_png_().startswith(PNG)


def test_a_form_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"figure\.gif: a figure is written to a file that ends in"):
        compared().radar().save(tmp_path / "figure.gif")


def test_labels_are_shown_as_they_are() -> None:
    nasty = ("$x$ costs $y", "a\nb\x1b[31m", "x" * 200)
    report = report_of({name: [1.0, 0.0] for name in nasty})
    found = compare({"$a$": report, "b": report})
    (axes,) = found.radar().figure.axes
    shown = [tick.get_text().replace("\n", "") for tick in axes.get_xticklabels()]
    assert shown[0].replace(" ", "") == "$x$costs$y"
    assert shown[1].replace(" ", "") == "ab\\x1b[31m"
    assert len(shown[2]) <= 60
    assert all(drawing._repr_png_() for drawing in (found.radar(), found.forest(), found.heatmap()))


def test_a_character_that_no_font_has_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "_characters", lambda path: frozenset(range(0x250)))
    report = report_of({"北京": [1.0, 0.0]})
    found = compare({"a": report, "b": report})
    with pytest.warns(UserWarning, match="no installed font has '京北'") as told:
        drawing = found.radar()
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawing._repr_png_()  # matplotlib's own word on each glyph is not needed
        found.forest()._repr_png_()


def test_a_font_that_has_the_characters_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    held = {
        "DejaVu Sans": "ab ",
        "Noto Sans CJK SC": "北京",
        "Emoji": "\U0001f600",
        "Other": "北",
        "Last Resort": "京ก",
    }
    entries = [type("Entry", (), {"name": name, "fname": name})() for name in held]
    from matplotlib import font_manager

    monkeypatch.setattr(font_manager.fontManager, "ttflist", entries)
    monkeypatch.setattr(font_manager, "findfont", lambda name: name)
    monkeypatch.setattr(figures, "_characters", lambda name: frozenset(map(ord, held[name])))
    assert figures._families("ab") == ("DejaVu Sans",)
    assert figures._families("a北京") == ("DejaVu Sans", "Noto Sans CJK SC")
    with pytest.warns(UserWarning, match="no installed font has 'ก'"):
        assert figures._families("京ก") == ("DejaVu Sans", "Noto Sans CJK SC")
    assert figures._families("a北\U0001f600") == ("DejaVu Sans", "Noto Sans CJK SC", "Emoji")


def test_a_font_that_matplotlib_cannot_draw_has_no_characters(tmp_path: Path) -> None:
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    assert figures._characters(str(tmp_path / "broken.ttf")) == frozenset()
    assert figures._characters(str(tmp_path / "absent.ttf")) == frozenset()


def test_without_matplotlib_the_message_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from tests.made_reports import report_of\n"
        "from adk_scoring import ScoringError, compare\n"
        "r = report_of({'m': [1.0, 0.0]})\n"
        "found = compare({'a': r, 'b': r})\n"
        "for draw in (found.radar, found.forest, found.heatmap):\n"
        "    try: draw()\n"
        "    except ScoringError as error: print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["figures need matplotlib: pip install 'adk_scoring[plot]'"] * 3


def test_comparing_loads_no_matplotlib() -> None:
    code = (
        "from tests.made_reports import report_of\nfrom adk_scoring import compare\nimport sys\n"
        "r = report_of({'m': [1.0, 0.0]})\nstr(compare({'a': r, 'b': r}))\nprint('matplotlib' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
