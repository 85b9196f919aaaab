"""The commands that take reports: ``report FILE``, ``compare A B ...`` and ``gate CURRENT --baseline FILE``.

A report is a file that ``score ... --format json`` wrote, or a baseline file that ``report ... --baseline`` wrote.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from adk_scoring import Comparison, ConfigError, Report, compare, gate, read_baseline, write_baseline
from adk_scoring.render.html import report_html
from adk_scoring.render.markdown import sets_markdown
from adk_scoring.render.text import sets_text
from adk_scoring.report.signature import COMPARED

__all__ = ["add_commands"]


def add_commands(commands: Any) -> None:
    """Add the commands to argparse's subparsers; each sets ``run``, a function of the options that gives a status."""
    report = _command(commands, "report", _report, "show a report again, or write it as JUnit XML, summary or baseline")
    report.epilog = "Exit status: 0 all passed, 1 some did not, 2 bad input."
    report.add_argument("file", metavar="FILE", help="a report: what `score --format json` wrote")
    report.add_argument("--junit", metavar="OUT", help="write JUnit XML")
    report.add_argument("--summary", metavar="OUT", help='append Markdown, e.g. to "$GITHUB_STEP_SUMMARY"')
    report.add_argument("--baseline", metavar="OUT", help="write a baseline file for `gate`")
    report.add_argument(
        "--note", metavar="TEXT", default="", help="what the baseline file says of itself, e.g. a commit"
    )
    report.add_argument("--signatures", action="store_true", help="say of each criterion how its numbers were made")
    _format(report, "text", "markdown", "html", "json")

    comparing = _command(commands, "compare", _compare, "compare reports case by case; the first is the baseline")
    comparing.epilog = "Exit status: 0, whatever is found; 2 bad input. `gate` is for decisions."
    comparing.add_argument("files", metavar="FILE", nargs="+", help="two or more reports")
    comparing.add_argument("--names", metavar="A,B", help="names of the reports; default: the files' names")
    comparing.add_argument("--pairs", choices=("first", "all"), default="first", help="each with the first, or all")
    comparing.add_argument("--level", type=_share, default=0.95, metavar="P", help="confidence level; default: 0.95")
    comparing.add_argument("--layout", choices=("wide", "long"), default="wide", help="of latex")
    for figure in ("radar", "forest", "heatmap"):
        comparing.add_argument(f"--{figure}", metavar="OUT", help=f"draw a {figure} (.png, .svg, .pdf)")
    comparing.add_argument("--label", help="what the heatmap shows; default: the composite")
    _format(comparing, "text", "markdown", "html", "latex", "json")
    _settings(comparing)

    gating = _command(commands, "gate", _gate, "say whether a report is worse than a baseline by more than a margin")
    gating.epilog = "Exit status: 0 PASS, 1 FAIL, 3 INVALID, 2 bad input; INCONCLUSIVE as --inconclusive says."
    gating.add_argument("current", metavar="CURRENT", help="the report in question")
    gating.add_argument("--baseline", metavar="FILE", required=True, help="a report or a baseline file")
    gating.add_argument(
        "--margin",
        action="append",
        metavar="N | LABEL=N",
        help="how much worse is acceptable: for all criteria, or for one; may be repeated; default: 0.05",
    )
    gating.add_argument(
        "--inconclusive", choices=("fail", "pass"), default="fail", help="what INCONCLUSIVE does; default: fail"
    )
    gating.add_argument("--confidence", type=_share, default=0.95, metavar="P", help="one-sided; default: 0.95")
    gating.add_argument(
        "--max-unscored", type=_cap, default=0.0, metavar="P", help="share that may lose its score; default: 0"
    )
    gating.add_argument("--summary", metavar="OUT", help='append Markdown, e.g. to "$GITHUB_STEP_SUMMARY"')
    _format(gating, "text", "markdown")
    _settings(gating)


def _command(commands: Any, name: str, run: Callable[[argparse.Namespace], int], about: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=about, description=f"{about[0].upper()}{about[1:]}."
    )
    parser.set_defaults(run=run)
    return parser


def _format(parser: argparse.ArgumentParser, *forms: str) -> None:
    parser.add_argument("--format", choices=forms, default="text", help="default: text")


def _settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=_seed, default=0, help="of the random sign patterns; default: 0")
    parser.add_argument("--allow", action="append", choices=COMPARED, default=[], help="what of a signature may differ")


def _report(options: argparse.Namespace) -> int:
    report = read_baseline(options.file).report
    if options.junit:
        Path(options.junit).write_text(report.to_junit(), encoding="utf-8")
    if options.summary:
        _append(options.summary, sets_markdown(report))
    if options.baseline:
        write_baseline(report, options.baseline, note=options.note)
    writers = {"text": sets_text, "markdown": sets_markdown, "html": report_html, "json": Report.to_json}
    print(writers[options.format](report).rstrip("\n"))
    if options.signatures:
        for label in report.criteria.labels:
            print(f"{label}: {report.signature(label)}")
    return 0 if report.passed else 1


def _compare(options: argparse.Namespace) -> int:
    names = options.names.split(",") if options.names else _names(options.files)
    if len(names) != len(options.files) or len(set(names)) != len(names):
        raise ConfigError(
            f"{len(options.files)} files and the names {', '.join(names)}; want one for each: --names A,B"
        )
    reports = {name: read_baseline(file).report for name, file in zip(names, options.files, strict=True)}
    found = compare(reports, pairs=options.pairs, level=options.level, seed=options.seed, allow=options.allow)
    for figure in ("radar", "forest", "heatmap"):
        if path := getattr(options, figure):
            _drawn(found, figure, options.label).save(path)
    print(_written(found, options.format, options.layout).rstrip("\n"))
    return 0


def _drawn(found: Comparison, figure: str, label: str | None) -> Any:
    if figure != "heatmap":
        return getattr(found, figure)()
    try:
        return found.heatmap(label)
    except KeyError as error:
        raise ConfigError(f"--label: {error.args[0]}") from None


def _written(found: Comparison, form: str, layout: str) -> str:
    if form == "latex":
        return found.table("long" if layout == "long" else "wide", "latex")
    if form == "json":
        return json.dumps(found.to_records(), indent=1)
    writers: dict[str, Callable[[Comparison], str]] = {
        "text": Comparison.__str__,
        "markdown": Comparison.to_markdown,
        "html": Comparison.to_html,
    }
    return writers[form](found)


def _names(files: Sequence[str]) -> list[str]:
    """Call each report by its file's name, or by its path where two names are equal."""
    stems = [Path(file).stem for file in files]
    return stems if len(set(stems)) == len(stems) else list(files)


def _gate(options: argparse.Namespace) -> int:
    baseline = read_baseline(options.baseline)
    margin = _margins(options.margin or ["0.05"], baseline.report)
    found = gate(
        baseline,
        read_baseline(options.current).report,
        margin,
        confidence=options.confidence,
        max_unscored=options.max_unscored,
        seed=options.seed,
        allow=options.allow,
    )
    if options.summary:
        _append(options.summary, found.to_markdown())
    print((found.to_markdown() if options.format == "markdown" else str(found)).rstrip("\n"))
    return found.exit_status(options.inconclusive)


def _margins(given: Sequence[str], baseline: Report) -> dict[str, float]:
    """Read ``0.05`` as a margin for all criteria, ``label=0.1`` as one for that criterion, which goes first."""
    for_all: dict[str, float] = {}
    for_one: dict[str, float] = {}
    for text in given:
        label, _, value = text.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            raise ConfigError(f"--margin {text}: wanted a number, or LABEL=number") from None
        if label:
            for_one[label] = number
        else:
            for_all = dict.fromkeys(baseline.criteria.labels, number)
    return {**for_all, **for_one}


def _append(path: str, text: str) -> None:
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")


def _share(text: str) -> float:
    if not 0.5 < (share := _cap(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0.5 and 1")
    return share


def _cap(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no share from 0 to 1")
    return share


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 0 up")
    return int(text)
