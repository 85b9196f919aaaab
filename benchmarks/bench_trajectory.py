"""Trajectory metrics: time against google-adk, linearity, memory, import; ratios from one run.

    python benchmarks/bench_trajectory.py [--repeats 5] [--out FILE]

The rows against google-adk need the `bench` extra and are left out without it. Times are the minimum of the repeats,
alternatives in turn, the garbage collector on for both sides.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import adk_scoring as ads

METRICS: dict[str, None] = dict.fromkeys(
    (
        "trajectory_exact_match",
        "trajectory_in_order_match",
        "trajectory_any_order_match",
        "trajectory_unordered_match",
        "trajectory_ordered_subset",
        "trajectory_precision",
        "trajectory_recall",
        "trajectory_f1",
    )
)


def calls(case: int, *, actual: bool) -> list[dict[str, Any]]:
    """Five expected calls of three arguments, one nested; six made, one of them extra, every third run with a slip."""
    listed = []
    for i in range(5):
        count = 99 if actual and case % 3 == 0 and i == 3 else i
        args = {"id": f"r-{case}-{i}", "count": count, "where": {"city": "Paris", "row": case % 30}}
        listed.append({"name": f"tool_{i % 4}", "args": args})
    if actual:
        listed.insert(2, {"name": "look", "args": {"query": f"case {case}"}})
    return listed


def make_cases(count: int) -> list[ads.Case]:
    """Build the cases of one turn."""
    made = []
    for case in range(count):
        sides = [
            ads.Invocation("q", tuple(ads.ToolCall(c["name"], c["args"]) for c in calls(case, actual=actual)))
            for actual in (True, False)
        ]
        made.append(ads.Case(f"case{case}", (ads.Turn(sides[0], (sides[1],)),)))
    return made


def least(repeats: int, *sides: Callable[[], object]) -> list[float]:
    """Return the least seconds of each side, the sides in turn."""
    best = [float("inf")] * len(sides)
    for _ in range(repeats):
        for index, side in enumerate(sides):
            gc.collect()
            start = time.perf_counter()
            side()
            best[index] = min(best[index], time.perf_counter() - start)
    return best


def adk_evaluators(count: int) -> Callable[[], list[list[float]]] | None:
    """Return google-adk's three evaluators over its own objects, ready to run; ``None`` if it is not installed."""
    try:
        from google.adk.evaluation.eval_case import Invocation
        from google.adk.evaluation.eval_metrics import EvalMetric, ToolTrajectoryCriterion
        from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator
    except ImportError:
        return None
    sides = [
        [
            Invocation.model_validate(
                {
                    "user_content": {"role": "user", "parts": [{"text": "q"}]},
                    "intermediate_data": {"tool_uses": calls(case, actual=actual)},
                }
            )
            for case in range(count)
        ]
        for actual in (True, False)
    ]
    evaluators = []
    for match_type in ("EXACT", "IN_ORDER", "ANY_ORDER"):
        kind = ToolTrajectoryCriterion.MatchType[match_type]
        criterion = ToolTrajectoryCriterion(threshold=1.0, match_type=kind)
        metric = EvalMetric(metric_name="tool_trajectory_avg_score", threshold=1.0, criterion=criterion)
        evaluators.append(TrajectoryEvaluator(eval_metric=metric))

    def run() -> list[list[float]]:
        return [
            [e.evaluate_invocations([a], [x]).overall_score for a, x in zip(*sides, strict=True)] for e in evaluators
        ]

    return run


def import_seconds(code: str, repeats: int) -> float:
    """Return the least seconds a fresh interpreter takes for the code, its own start taken off."""
    times = []
    for program in ("pass", code):
        best = float("inf")
        for _ in range(repeats):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True)
            best = min(best, time.perf_counter() - start)
        times.append(best)
    return times[1] - times[0]


def kept_bytes(make: Callable[[], object], count: int) -> float:
    """Return the bytes that what `make` returns keeps, divided by the count."""
    gc.collect()
    tracemalloc.start()
    kept = make()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del kept
    return size / count


def main() -> int:
    """Print the table; status 1 if a score differs from google-adk's."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # google-adk marks what it is made of as experimental
    lines = []
    cases = make_cases(2000)
    theirs = adk_evaluators(2000)
    if theirs is None:
        lines.append("google-adk is not installed: rows against it not run")
    else:
        mine = ads.evaluate(cases, {name: METRICS[name] for name in list(METRICS)[:3]})
        if [[score.value for score in column] for column in mine.columns] != theirs():
            print("the scores differ", file=sys.stderr)
            return 1
        slow, fast = least(options.repeats, theirs, lambda: ads.evaluate(cases, METRICS))
        per_case = f"{fast / 2000 * 1e6:.1f} against {slow / 2000 * 1e6:.1f} us"
        lines.append(
            f"8 trajectory metrics of a case into a Report, against google-adk's 3: {fast / slow:.2f}x ({per_case})"
        )
        lines.append("the three scores that both give agree, bit for bit")
    few, many = cases[:100], make_cases(10_000)
    short, long = least(
        options.repeats, lambda: [ads.evaluate(few, METRICS) for _ in range(20)], lambda: ads.evaluate(many, METRICS)
    )
    lines.append(f"time a case at 10,000 cases against 100: {long / 10_000 / (short / 2000):.2f}x")
    lines.append(
        f"memory of a report with 8 scores: {kept_bytes(lambda: ads.evaluate(many, METRICS), 10_000):.0f} bytes a case"
    )
    loose = ads.Match(args="subset")
    made = [("f", {"a": i % 20, "b": i}) for i in range(200)]
    wanted = [("f", {"a": i % 20}) for i in range(200)]
    (seconds,) = least(options.repeats, lambda: ads.align(made, wanted, match=loose))
    lines.append(f"200 against 200 calls, subset arguments: {seconds * 1e3:.1f} ms")
    base = import_seconds("import numpy, pydantic, rapidfuzz", options.repeats)
    alone = import_seconds("import adk_scoring", options.repeats)
    first = import_seconds("import adk_scoring; adk_scoring.trajectory_f1(['a'], ['a'])", options.repeats)
    lines.append(
        f"import adk_scoring, against numpy, pydantic and rapidfuzz ({base * 1e3:.0f} ms): {alone / base:.2f}x"
    )
    lines.append(f"up to the first trajectory score: {first / base:.2f}x")
    print("\n".join(lines))
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
