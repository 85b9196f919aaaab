"""The command line: ``python -m adk_scoring score ACTUAL [--expected FILE] [--config FILE]``.

Exit status: 0 all passed, 1 some did not, 2 bad input (one line on standard error).
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence

from adk_scoring import Case, Criteria, Report, ScoringError, evaluate, pair, read

PASSED, NOT_PASSED, BAD_INPUT = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        # A report holds texts in any script; a console that cannot show a character shows its escape.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _show_warning
    try:
        return int(options.run(options))
    except ScoringError as error:
        print(f"adk_scoring: {' '.join(str(error).split())}", file=sys.stderr)
        return BAD_INPUT
    except OSError as error:
        print(f"adk_scoring: {error.filename or ''}: {error.strerror or error}", file=sys.stderr)
        return BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m adk_scoring", description="Scores for AI agents.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    score = commands.add_parser(
        "score",
        help="score recorded runs and print the report",
        description="Score recorded runs. Exit status: 0 all passed, 1 some did not, 2 bad input.",
    )
    score.add_argument(
        "actual", metavar="ACTUAL", help="a file with runs (it may hold both sides), or a folder of them"
    )
    score.add_argument("--expected", metavar="FILE", help="a file or folder with what was expected")
    score.add_argument(
        "--config", metavar="FILE", help="criteria; default: test_config.json or eval_config.json beside the data"
    )
    score.add_argument("--format", choices=("text", "json", "markdown"), default="text", help="default: text")
    score.add_argument("--case", metavar="ID", help="show this case alone, call by call")
    score.set_defaults(run=_score)
    return parser


def _score(options: argparse.Namespace) -> int:
    actual = read(options.actual)
    expected = read(options.expected) if options.expected else None
    config = options.config
    criteria = Criteria.from_file(config) if config else Criteria.discover(options.expected or options.actual)
    report = evaluate(pair(actual=actual, expected=expected) if expected is not None else _scorable(actual), criteria)
    if options.case:
        try:
            report.case(options.case).show()
        except KeyError as error:
            raise ScoringError(str(error.args[0])) from None
    elif options.format == "json":
        print(report.to_json())
    else:
        _print_by_set(report, options.format)
    return PASSED if report.passed else NOT_PASSED


def _scorable(cases: list[Case]) -> list[Case]:
    """Refuse a source without any run: that is the wrong file, not an agent that did nothing."""
    if all(turn.actual is None for case in cases for turn in case.turns) and not any(case.error for case in cases):
        raise ScoringError(
            f"{cases[0].source[0]}: holds expectations and no run; "
            "give the recorded runs as ACTUAL and this file as --expected"
        )
    return cases


def _print_by_set(report: Report, form: str) -> None:
    """Print a table for each set, and a total behind them where there are several."""
    sets = report.by("set_id")
    for name, part in sets.items():
        if len(sets) > 1:
            print(f"## {name or '(no set)'}\n" if form == "markdown" else f"=== {name or '(no set)'}")
        print(part.to_markdown() if form == "markdown" else str(part))
        print()
    if len(sets) > 1:
        summary = report.summary
        outcome = "PASSED" if report.passed else "NOT PASSED"
        print(f"total: {outcome}: {summary.passed} of {summary.total} cases passed in {len(sets)} sets")


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"warning: {' '.join(str(message).split())}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
