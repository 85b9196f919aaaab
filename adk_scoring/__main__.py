"""The command line: ``python -m adk_scoring score ACTUAL [--expected FILE] [--config FILE]``, and reports of it.

Exit status: 0 all passed, 1 some did not, 2 bad input (one line on standard error), 130 interrupted, 141 nobody reads.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from adk_scoring import (
    Case,
    ConfigError,
    Criteria,
    GeminiJudge,
    ReadWarning,
    Report,
    ScoringError,
    VerdictStore,
    evaluate,
    lint,
    pair,
    read,
)
from adk_scoring.render.markdown import sets_markdown
from adk_scoring.render.text import sets_text
from adk_scoring.render.words import plain
from adk_scoring.report_commands import add_commands
from adk_scoring.tools import read_tools

PASSED, NOT_PASSED, BAD_INPUT, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        # A report holds texts in any script; a console that cannot show a character shows its escape.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.simplefilter("default", ReadWarning)
        warnings.showwarning = _show_warning
        try:
            status = int(options.run(options))
            sys.stdout.flush()
        except ScoringError as error:
            return _refuse(str(error))
        except KeyboardInterrupt:
            return INTERRUPTED
        except BrokenPipeError:  # whoever reads, such as `head`, has seen enough
            # What is still buffered would be written, and fail again, when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return PIPE_CLOSED
        except OSError as error:
            return _refuse(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
    return status


def _refuse(why: str) -> int:
    print(f"adk_scoring: {plain(' '.join(why.split()))}", file=sys.stderr)
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
    score.add_argument("--case", metavar="ID", help="this case alone, call by call in text")
    score.add_argument("--judge", metavar="MODEL", help="the Gemini model that judged criteria ask")
    score.add_argument("--store", metavar="FILE", help="where verdicts are kept, so that none is paid for twice")
    score.add_argument("--replay", action="store_true", help="take verdicts from the store alone, and ask nobody")
    score.set_defaults(run=_score)
    linter = commands.add_parser(
        "lint",
        help="look for what is wrong with expectations",
        description="Look for what is wrong with expectations. Exit status: 0 no error, 1 errors, 2 bad input.",
    )
    linter.add_argument("paths", metavar="PATH", nargs="+", help="files or folders with what is expected")
    linter.add_argument("--tools", metavar="FILE", help="JSON of the declared tools; default: those of each case")
    linter.add_argument("--config", metavar="FILE", help="the criteria that the cases will be scored by")
    linter.add_argument("--strict", action="store_true", help="status 1 for warnings too")
    linter.set_defaults(run=_lint)
    add_commands(commands)
    return parser


def _score(options: argparse.Namespace) -> int:
    if options.expected and _same_file(options.actual, options.expected):
        raise ScoringError(f"{options.actual} is ACTUAL and --expected; a file that holds both sides is given once")
    actual = read(options.actual)
    expected = read(options.expected) if options.expected else None
    if expected is not None:
        _expects(expected)
    config = options.config
    criteria = Criteria.from_file(config) if config else Criteria.discover(options.expected or options.actual)
    judge, store = _judge(options)
    cases = pair(actual=actual, expected=expected) if expected is not None else _scorable(actual)
    bar = judge is not None and sys.stderr.isatty() and find_spec("tqdm") is not None
    report = evaluate(cases, criteria, judge=judge, store=store, progress=bar)
    if expected is None and report.summary.never_scored and not any(t.expected for c in actual for t in c.turns):
        warnings.warn(
            f"{options.actual}: holds no expectations; give them with --expected FILE", ReadWarning, stacklevel=1
        )
    if options.case is not None:
        report = _only(report, options.case)
    if options.format == "json":
        print(_OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", report.to_json()))
    elif options.format == "markdown":
        print(sets_markdown(report), end="")
    elif options.case is not None:
        chosen = [report.case(case.case_id, trial=case.trial, set_id=case.set_id) for case in report.cases]
        print("\n\n".join(map(str, chosen)))
    else:
        print(sets_text(report))
    return PASSED if report.passed else NOT_PASSED


# What a terminal obeys and JSON allows unescaped: controls and marks that turn the direction of text.
_OBEYED = re.compile("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _judge(options: argparse.Namespace) -> tuple[GeminiJudge | None, VerdictStore | None]:
    if options.judge is None and options.store:
        raise ScoringError("--store needs --judge: verdicts are kept under the judge's name")
    if options.replay and not options.store:
        raise ScoringError("--replay needs --store FILE, the verdicts to replay")
    judge = None if options.judge is None else GeminiJudge(options.judge)
    return judge, VerdictStore(options.store, mode="replay" if options.replay else "resume") if options.store else None


def _lint(options: argparse.Namespace) -> int:
    tools = criteria = None
    if options.tools:
        try:
            tools = json.loads(Path(options.tools).read_text(encoding="utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise ScoringError(f"{options.tools}: not JSON: {error}") from None
        try:
            tools = read_tools(tools)
        except ConfigError as error:
            raise ScoringError(f"{options.tools}: {error}") from None
    if options.config:
        criteria = Criteria.from_file(options.config)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadWarning)  # what they say, the findings say case by case
        cases = [case for path in options.paths for case in read(path)]
    findings = lint(cases, tools, criteria=criteria)
    print(findings)
    return PASSED if findings.ok and not (options.strict and findings) else NOT_PASSED


def _same_file(actual: str, expected: str) -> bool:
    return os.path.exists(actual) and os.path.exists(expected) and os.path.samefile(actual, expected)


def _only(report: Report, case_id: str) -> Report:
    """Keep each trial of one case, in each set that has it."""
    indices = [index for index, case in enumerate(report.cases) if case.case_id == case_id]
    if not indices:
        try:
            report.case(case_id)
        except KeyError as error:
            raise ScoringError(error.args[0]) from None
    return report.select(indices)


def _scorable(cases: list[Case]) -> list[Case]:
    """Refuse a source without any run: that is the wrong file, not an agent that did nothing."""
    if all(turn.actual is None for case in cases for turn in case.turns) and not any(case.error for case in cases):
        raise ScoringError(
            f"{cases[0].source[0]}: holds expectations and no run; "
            "give the recorded runs as ACTUAL and this file as --expected"
        )
    return cases


def _expects(cases: list[Case]) -> None:
    """Refuse runs where expectations are due: the files were swapped."""
    turns = [turn for case in cases for turn in case.turns]
    if any(turn.actual is not None for turn in turns) and not any(turn.expected for turn in turns):
        raise ScoringError(
            f"{cases[0].source[0]}: holds runs and no expectations; "
            "give the recorded runs as ACTUAL and what was expected as --expected"
        )


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"warning: {plain(' '.join(str(message).split()))}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
