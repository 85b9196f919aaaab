"""Comparisons as figures: radar, forest of intervals, heat map by case; PNG, SVG or PDF. Needs the extra ``plot``.

Nothing here computes a number: positions on an axis are all that is worked out.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..errors import ConfigError, ScoringError
from .text import one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..comparison import Comparison
    from ..comparison.differences import Difference

__all__ = ["Drawing", "forest", "heatmap", "radar"]

# Okabe and Ito's palette, told apart by those who do not see hues; the markers and lines differ too.
_COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LINES: Final = ("-", "--", "-.", ":")
_MARKS: Final = ("o", "s", "^", "D", "v", "P", "X")
_VERDICTS: Final = {"better": ("#0072B2", "^"), "worse": ("#D55E00", "v"), "unclear": ("#767676", "o")}
_FORMATS: Final = ("png", "svg", "pdf")
# Fonts that hold Chinese, Japanese or Korean, in the order of preference; others are looked through after them.
_WIDE_FONTS: Final = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Noto Sans CJK JP",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "SimHei",
    "Malgun Gothic",
    "Arial Unicode MS",
)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure. A notebook shows it; `save` writes it; `figure` is matplotlib's, to change what you like."""

    figure: Figure

    def save(self, path: str | Path) -> None:
        """Write it to a file; the same comparison gives the same bytes.

        Args:
            path: ends in .png, .svg or .pdf.

        Raises:
            ConfigError: it ends in something else.
            OSError: it cannot be written.
        """
        form = Path(path).suffix.removeprefix(".").lower()
        if form not in _FORMATS:
            raise ConfigError(f"{path}: a figure is written to a file that ends in .png, .svg or .pdf")
        Path(path).write_bytes(self._bytes(form))

    def _bytes(self, form: str, dpi: int = 150) -> bytes:
        buffer = io.BytesIO()
        # Without a date and with fixed ids inside.
        undated = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[form]
        with _style(), _without_glyph_warnings():
            self.figure.savefig(buffer, format=form, metadata=undated, dpi=dpi, bbox_inches="tight")
        return buffer.getvalue()

    def _repr_png_(self) -> bytes:
        return self._bytes("png", 90)


def radar(comparison: Comparison) -> Drawing:
    """Draw each report over the criteria of a finite range; an axis that a report lacks is left out of its line."""
    labels = [
        label
        for label in comparison.labels
        if any(s.label == label and s.kind == "criterion" and s.share is not None for s in comparison.standings)
    ]
    if not labels:
        raise ScoringError("no criterion with a finite range was scored, so there is no axis to draw")
    with _drawing((*labels, *comparison.names)) as figure:
        figure.set_size_inches(7.5, 6.5)
        axes = figure.add_subplot(projection="polar")
        axes.set_theta_offset(math.pi / 2)
        axes.set_theta_direction(-1)
        angles = [2 * math.pi * index / len(labels) for index in range(len(labels))]
        axes.set_xticks(angles, [_wrapped(_name(comparison, label)) for label in labels], fontsize=9)
        for tick, angle in zip(axes.get_xticklabels(), angles, strict=True):
            side = math.sin(angle)
            tick.set_horizontalalignment("center" if abs(side) < 0.1 else "left" if side > 0 else "right")
        axes.set_ylim(0, 1)
        axes.set_yticks([0.25, 0.5, 0.75, 1.0], ["0.25", "0.5", "0.75", "1"], fontsize=7, color="#767676")
        axes.set_rlabel_position(180 / len(labels) if len(labels) > 1 else 45)
        for index, report in enumerate(comparison.names):
            found = [standing.share if (standing := comparison.standing(label, report)) else None for label in labels]
            # A gap is a gap: the line is broken where there is no value, never drawn through 0.
            radii = [math.nan if share is None else share for share in found]
            closed = len(labels) > 2
            axes.plot(
                angles + angles[:1] if closed else angles,
                radii + radii[:1] if closed else radii,
                color=_COLOURS[index % len(_COLOURS)],
                linestyle=_LINES[index % len(_LINES)] if closed else "none",
                marker=_MARKS[index % len(_MARKS)],
                markersize=5,
                linewidth=1.8,
                label=one_line(report, 40),
                clip_on=False,
            )
            if closed and None not in found:
                axes.fill(angles, radii, color=_COLOURS[index % len(_COLOURS)], alpha=0.07)
        figure.legend(loc="outside lower center", ncols=min(3, len(comparison.names)), frameon=False, fontsize=9)
    return Drawing(figure)


def forest(comparison: Comparison) -> Drawing:
    """Draw the interval of each difference, better to the right; each range of values has an axis of its own."""
    shown = [each for each in comparison.differences if each.interval.estimate is not None]
    if not shown:
        raise ScoringError("nothing was scored in two reports, so there is no difference to draw")
    panels: dict[tuple[float, float] | str, list[Difference]] = {}
    for each in shown:
        finite = all(map(math.isfinite, each.range))
        panels.setdefault(each.range if finite else each.label, []).append(each)
    # What all rows share stands once, below the axis.
    shared = {name: len({getattr(each, name) for each in shown}) == 1 for name in ("label", "other", "baseline")}
    names = [name for each in shown for name in (each.label, each.other, each.baseline)]
    with _drawing(names) as figure:
        figure.set_size_inches(8, 1.1 * len(panels) + 0.36 * len(shown) + 0.4)
        heights = [len(rows) + 1.2 for rows in panels.values()]
        for axes, rows in zip(
            figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0], panels.values(), strict=True
        ):
            _forest_panel(axes, rows, shared, comparison.level)
        handles = [
            axes.plot([], [], color=colour, marker=mark, linestyle="-", label=word)[0]
            for word, (colour, mark) in _VERDICTS.items()
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return Drawing(figure)


def _forest_panel(axes: Any, rows: Sequence[Difference], shared: Mapping[str, bool], level: float) -> None:
    for place, each in enumerate(rows):
        colour, mark = _VERDICTS[each.verdict]
        turned = each.improvement
        if turned.low is not None and turned.high is not None:
            axes.plot([turned.low, turned.high], [place, place], color=colour, linewidth=2, solid_capstyle="butt")
        axes.plot([turned.estimate], [place], color=colour, marker=mark, markersize=7, linestyle="none")
    axes.axvline(0, color="#767676", linewidth=1, linestyle=":")
    axes.margins(x=0.06)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    words = [_row_name(each, shared) for each in rows]
    axes.set_yticks(range(len(rows)), words, fontsize=8 if any("\n" in word for word in words) else 9)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    one = rows[0]
    what = f" in {_criterion(one)}" if shared["label"] and not shared["other"] else ""
    who = f" of {one_line(one.other, 30)}" if shared["other"] else ""
    on = f" on {one_line(one.baseline, 30)}" if shared["baseline"] else ""
    axes.set_xlabel(f"improvement{what}{who}{on} ({level:.0%} interval; better to the right)", fontsize=9)


def _row_name(each: Difference, shared: Mapping[str, bool]) -> str:
    versus = (
        one_line(each.other, 30)
        if shared["baseline"]
        else f"{one_line(each.other, 24)} - {one_line(each.baseline, 24)}"
    )
    if shared["other"] and shared["baseline"]:
        return _criterion(each)
    return versus if shared["label"] else f"{_criterion(each)}\n{versus}"


def _criterion(each: Difference) -> str:
    return one_line(each.label, 40) + ("" if each.higher_is_better else " (lower is better)")


def heatmap(comparison: Comparison, label: str | None) -> Drawing:
    """Draw the value of each case under each report; a case that a report did not score is hatched."""
    if label is None:
        label = "composite" if "composite" in comparison.labels else comparison.labels[0]
    values = comparison.values(label)
    names, cases = list(values), comparison.cohort.cases
    measure = next(d for d in (*comparison.differences, None) if d is None or d.label == label)
    low, high = measure.range if measure and all(map(math.isfinite, measure.range)) else (None, None)
    # Cases with the same values stand together: the first report's best on top.
    order = sorted(
        range(len(cases)), key=lambda case: [(v is None, -(v or 0.0)) for v in (values[n][case] for n in names)]
    )
    labelled = len(cases) <= 60
    with _drawing((*names, label, *(cases if labelled else ()))) as figure:
        from matplotlib.patches import Patch, Rectangle

        figure.set_size_inches(max(4.5, 2.6 + 0.9 * len(names)), 1.6 + (0.19 * len(cases) if labelled else 9))
        axes = figure.add_subplot()
        grid = [[math.nan if (v := values[name][case]) is None else v for name in names] for case in order]
        image = axes.imshow(grid, aspect="auto", cmap="cividis", vmin=low, vmax=high, interpolation="nearest")
        gaps = [(x, y) for y, row in enumerate(grid) for x, value in enumerate(row) if math.isnan(value)]
        for x, y in gaps:
            axes.add_patch(
                Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor="white", edgecolor="#999999", hatch="////", lw=0)
            )
        steep = max(map(len, names)) > 10
        axes.set_xticks(
            range(len(names)),
            [one_line(name, 40) for name in names],
            rotation=35 if steep else 0,
            ha="left" if steep else "center",
            fontsize=9,
        )
        axes.xaxis.tick_top()
        if labelled:
            axes.set_yticks(range(len(cases)), [one_line(cases[case], 40) for case in order], fontsize=7)
        else:
            axes.set_ylabel(f"{len(cases)} cases, sorted by their values")
        axes.set_xticks([x + 0.5 for x in range(len(names) - 1)], minor=True)
        axes.grid(which="minor", color="white", linewidth=2)
        axes.tick_params(which="both", length=0)
        bar = figure.colorbar(image, ax=axes, shrink=min(1.0, 0.5 + 3 / (len(cases) + 5)))
        bar.set_label(one_line(_name(comparison, label), 60), fontsize=9)
        if gaps:
            hatched = Patch(facecolor="white", edgecolor="#999999", hatch="////", label="not scored")
            figure.legend(handles=[hatched], loc="outside lower center", frameon=False, fontsize=9)
    return Drawing(figure)


def _name(comparison: Comparison, label: str) -> str:
    lower = any(each.label == label and not each.higher_is_better for each in comparison.differences)
    return f"{label} (lower is better)" if lower else label


def _wrapped(label: str) -> str:
    """Break a long label at its underscores and blanks, since an axis of a radar has little room."""
    lines = [""]
    for piece in one_line(label, 60).replace("_", "_\0").replace(" ", " \0").split("\0"):
        if len(lines[-1]) + len(piece) > 18 and lines[-1]:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


@contextmanager
def _drawing(texts: Sequence[str]) -> Iterator[Any]:
    """Give a figure whose fonts can show the texts."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ScoringError("figures need matplotlib: pip install 'adk_scoring[plot]'") from None
    with _style(_families("".join(one_line(text, 60) for text in texts))):
        yield Figure(layout="constrained")


@contextmanager
def _style(families: Sequence[str] = ()) -> Iterator[None]:
    import matplotlib as mpl

    # A label is shown as it is: $ starts no formula.
    settings: Any = {"text.parse_math": False, "svg.hashsalt": "adk_scoring", "hatch.linewidth": 0.5}
    if families:
        settings["font.family"] = list(families)
    with mpl.rc_context(settings):
        yield


@contextmanager
def _without_glyph_warnings() -> Iterator[None]:
    """Keep matplotlib from saying for each character what `_families` says once."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from")
        yield


def _families(text: str) -> tuple[str, ...]:
    """Return installed fonts that together hold every character, matplotlib's own first; warn once if none do."""
    from matplotlib import font_manager

    chosen, found = ["DejaVu Sans"], _characters(font_manager.findfont("DejaVu Sans"))
    missing = {ord(c) for c in text if not c.isspace()} - found
    # "Last Resort" has a box for every character there is.
    installed = font_manager.fontManager.ttflist
    fonts = {entry.name: entry.fname for entry in installed if not entry.name.startswith("Last Resort")}
    for name in (*_WIDE_FONTS, *sorted(fonts)) if missing else ():
        if name in fonts and missing & (held := _characters(fonts[name])):
            chosen.append(name)
            missing -= held
        if not missing:
            break
    if missing:
        _warn_once("".join(map(chr, sorted(missing)[:10])))
    return tuple(chosen)


@lru_cache
def _characters(path: str) -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(FT2Font(path).get_charmap())
    except (OSError, RuntimeError):  # a font in colours, say, which matplotlib cannot draw
        return frozenset()


@lru_cache(maxsize=1)
def _warned() -> list[str]:
    return []


def _warn_once(characters: str) -> None:
    if not _warned():
        _warned().append(characters)
        warnings.warn(
            f"no installed font has {characters!r}, which figures show as boxes; "
            "install one that has, e.g. Noto Sans CJK",
            UserWarning,
            stacklevel=7,
        )
