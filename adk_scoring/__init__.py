"""Scores for AI agents: was the right thing called, in the right order, and was the right thing said?

The path of the data::

    read(source)           a file of any supported format -> [Case]            (readers)
    pair(actual, expected) runs x expectations -> Pairing, and what did not pair
    align(actual, expected) tool calls x tool calls -> Alignment: n, m, k, l   (under a Match)
    Metric.score(case)     a formula of the alignment, a text, or a judge's replies -> Score
    Criteria               label -> metric and threshold, from a dict or an ADK config
    evaluate(cases, criteria) -> Report: rows, verdicts, coverage, reasons
    compare, gate          reports x reports -> differences with intervals, PASS / FAIL / INCONCLUSIVE
    render                 a Report, Comparison or Alignment -> text, Markdown, HTML

Names are loaded when they are first used, so importing this package costs almost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import comparators as comparators
    from . import stats as stats
    from . import text as text
    from .alignment import Alignment as Alignment
    from .alignment import align as align
    from .calibration import Agreement as Agreement
    from .calibration import Calibration as Calibration
    from .calibration import agreement as agreement
    from .calibration import calibrate as calibrate
    from .calibration.annotations import Annotation as Annotation
    from .calibration.annotations import annotation_items as annotation_items
    from .calibration.annotations import read_annotations as read_annotations
    from .calibration.annotations import write_annotations as write_annotations
    from .calibration.pairs import OrderAgreement as OrderAgreement
    from .calibration.pairs import Pair as Pair
    from .calibration.pairs import Preference as Preference
    from .calibration.pairs import judge_pairs as judge_pairs
    from .calibration.pairs import order_agreement as order_agreement
    from .comparison import Comparison as Comparison
    from .comparison import compare as compare
    from .comparison.baseline import Baseline as Baseline
    from .comparison.baseline import read_baseline as read_baseline
    from .comparison.baseline import write_baseline as write_baseline
    from .comparison.gating import Gate as Gate
    from .comparison.gating import gate as gate
    from .comparison.thresholds import suggest_threshold as suggest_threshold
    from .criteria import Criteria as Criteria
    from .criteria import Criterion as Criterion
    from .errors import ConfigError as ConfigError
    from .errors import JudgeError as JudgeError
    from .errors import MatchError as MatchError
    from .errors import ReadError as ReadError
    from .errors import ReadWarning as ReadWarning
    from .errors import ScoringError as ScoringError
    from .evaluation import evaluate as evaluate
    from .evaluation import evaluate_async as evaluate_async
    from .evaluation import rejudge as rejudge
    from .evaluation import rescore as rescore
    from .harness import as_evaluator as as_evaluator
    from .judges import GeminiJudge as GeminiJudge
    from .judges import Judge as Judge
    from .judges import Panel as Panel
    from .judges import Progress as Progress
    from .judges import VerdictStore as VerdictStore
    from .judges import judge_from as judge_from
    from .linting import Finding as Finding
    from .linting import Findings as Findings
    from .linting import lint as lint
    from .matching import ADK_FRAMEWORK_TOOLS as ADK_FRAMEWORK_TOOLS
    from .matching import Match as Match
    from .metrics import METRICS as METRICS
    from .metrics.arguments import tool_args_score as tool_args_score
    from .metrics.base import Metric as Metric
    from .metrics.base import Prompt as Prompt
    from .metrics.base import Reply as Reply
    from .metrics.base import Score as Score
    from .metrics.conduct import forbidden_tools as forbidden_tools
    from .metrics.conduct import read_only_compliance as read_only_compliance
    from .metrics.formulas import call_count_match as call_count_match
    from .metrics.formulas import trajectory_any_order_match as trajectory_any_order_match
    from .metrics.formulas import trajectory_edit_similarity as trajectory_edit_similarity
    from .metrics.formulas import trajectory_exact_match as trajectory_exact_match
    from .metrics.formulas import trajectory_f1 as trajectory_f1
    from .metrics.formulas import trajectory_in_order_match as trajectory_in_order_match
    from .metrics.formulas import trajectory_ordered_subset as trajectory_ordered_subset
    from .metrics.formulas import trajectory_precision as trajectory_precision
    from .metrics.formulas import trajectory_recall as trajectory_recall
    from .metrics.formulas import trajectory_set_match as trajectory_set_match
    from .metrics.formulas import trajectory_single_tool_use as trajectory_single_tool_use
    from .metrics.formulas import trajectory_unordered_match as trajectory_unordered_match
    from .metrics.precedence import trajectory_precedence as trajectory_precedence
    from .metrics.repetition import loops as loops
    from .metrics.repetition import redundant_calls as redundant_calls
    from .metrics.validity import failed_calls as failed_calls
    from .metrics.validity import tool_schema_validity as tool_schema_validity
    from .model import Case as Case
    from .model import Invocation as Invocation
    from .model import RecordedScore as RecordedScore
    from .model import Rubric as Rubric
    from .model import Session as Session
    from .model import Tool as Tool
    from .model import ToolCall as ToolCall
    from .model import Turn as Turn
    from .model import Usage as Usage
    from .pairing import Pairing as Pairing
    from .pairing import pair as pair
    from .promotion import promote as promote
    from .readers import READERS as READERS
    from .readers import iter_cases as iter_cases
    from .readers import read as read
    from .report import Report as Report
    from .report import Row as Row
    from .report.signature import Signature as Signature
    from .runner import collect as collect
    from .runner import collect_async as collect_async
    from .runner.calling import Agent as Agent
    from .runner.files import evaluate_directory as evaluate_directory
    from .runner.files import evaluate_file as evaluate_file
    from .text.diff import show_text as show_text
    from .text.rouge import rouge as rouge
    from .text.similarity import jaccard as jaccard
    from .text.similarity import levenshtein as levenshtein
    from .writers import write_agents_cli as write_agents_cli
    from .writers import write_evalset as write_evalset
    from .writers import write_jsonl as write_jsonl

__version__ = "0.1.0"

_HOME = {
    "alignment": "Alignment align",
    "comparison.baseline": "Baseline read_baseline write_baseline",
    "runner.calling": "Agent",
    "comparison": "Comparison compare",
    "calibration.annotations": "Annotation annotation_items read_annotations write_annotations",
    "calibration": "Agreement Calibration agreement calibrate",
    "criteria": "Criteria Criterion",
    "errors": "ConfigError JudgeError MatchError ReadError ReadWarning ScoringError",
    "runner.files": "evaluate_directory evaluate_file",
    "evaluation": "evaluate evaluate_async rejudge rescore",
    "comparison.gating": "Gate gate",
    "harness": "as_evaluator",
    "judges": "GeminiJudge Judge Panel Progress VerdictStore judge_from",
    "linting": "Finding Findings lint",
    "matching": "ADK_FRAMEWORK_TOOLS Match",
    "metrics": "METRICS",
    "metrics.arguments": "tool_args_score",
    "metrics.base": "Metric Prompt Reply Score",
    "metrics.conduct": "forbidden_tools read_only_compliance",
    "metrics.formulas": "call_count_match trajectory_any_order_match trajectory_edit_similarity "
    "trajectory_exact_match trajectory_f1 trajectory_in_order_match trajectory_ordered_subset trajectory_precision "
    "trajectory_recall trajectory_set_match trajectory_single_tool_use trajectory_unordered_match",
    "metrics.precedence": "trajectory_precedence",
    "metrics.repetition": "loops redundant_calls",
    "metrics.validity": "failed_calls tool_schema_validity",
    "model": "Case Invocation RecordedScore Rubric Session Tool ToolCall Turn Usage",
    "pairing": "Pairing pair",
    "promotion": "promote",
    "calibration.pairs": "OrderAgreement Pair Preference judge_pairs order_agreement",
    "readers": "READERS iter_cases read",
    "report": "Report Row",
    "runner": "collect collect_async",
    "report.signature": "Signature",
    "text.similarity": "jaccard levenshtein",
    "text.diff": "show_text",
    "text.rouge": "rouge",
    "comparison.thresholds": "suggest_threshold",
    "writers": "write_agents_cli write_evalset write_jsonl",
}
_MODULES = ("comparators", "stats", "text")
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = [*sorted((*_MODULE_OF, *_MODULES)), "__version__"]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    try:
        module = _MODULE_OF[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
