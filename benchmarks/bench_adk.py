"""Reading and scoring an eval set: this library against google-adk's own evaluator, ratios from one run.

    python benchmarks/bench_adk.py [--cases 100 10000] [--repeats 3] [--out FILE]

Needs the `bench` extra (``pip install '.[bench]'``). Both sides start from the same JSON files: ADK's eval set and the
actual invocations, ours an evaluation result that holds both. The scores are compared before any time is printed.
Times are the minimum of the repeats, the two sides in turn, the garbage collector left on for both.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import adk_scoring as ads

CRITERIA = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}
ANSWER = (
    "The flight AF123 to {city} leaves at nine, arrives before noon and has {n} seats left; "
    "I have put one of them on hold for you until six this evening and sent the details to your address."
)


def invocation(case: int, *, actual: bool) -> dict[str, Any]:
    """One turn in ADK's own form; every third run differs in an argument, every fifth in its answer."""
    city = ("Paris", "Rome", "Oslo", "北京")[case % 4]
    off = actual and case % 3 == 0
    calls = [
        {"name": "search_flights", "args": {"to": city, "day": "2026-05-04", "seats": 1 + off}},
        {"name": "hold_seat", "args": {"flight": "AF123", "seat": {"row": case % 30, "letter": "A"}}},
        {"name": "send_mail", "args": {"to": "ana@example.org", "about": f"flight to {city}"}},
    ]
    answer = "No flight was found." if actual and case % 5 == 0 else ANSWER.format(city=city, n=case % 9)
    return {
        "invocation_id": f"i{case}",
        "user_content": {"role": "user", "parts": [{"text": f"Find me a flight to {city}, case {case}."}]},
        "final_response": {"role": "model", "parts": [{"text": answer}]},
        "intermediate_data": {"tool_uses": calls},
    }


def write_files(folder: Path, cases: int) -> tuple[Path, Path, Path]:
    """Write the eval set, the actual invocations, and a result that holds both sides."""
    app = folder / "app"
    app.mkdir(exist_ok=True)
    expected = [invocation(case, actual=False) for case in range(cases)]
    actual = [invocation(case, actual=True) for case in range(cases)]
    ids = [f"case{case}" for case in range(cases)]
    evalset, runs, result = app / f"set{cases}.evalset.json", app / f"runs{cases}.json", app / f"result{cases}.json"
    evalset.write_text(
        json.dumps(
            {
                "eval_set_id": f"set{cases}",
                "eval_cases": [{"eval_id": i, "conversation": [e]} for i, e in zip(ids, expected, strict=True)],
            }
        )
    )
    runs.write_text(json.dumps(dict(zip(ids, actual, strict=True))))
    result.write_text(
        json.dumps(
            {
                "eval_set_result_id": "r",
                "eval_set_id": f"set{cases}",
                "eval_case_results": [
                    {
                        "eval_id": i,
                        "final_eval_status": 3,
                        "overall_eval_metric_results": [],
                        "eval_metric_result_per_invocation": [
                            {"actual_invocation": a, "expected_invocation": e, "eval_metric_results": []}
                        ],
                    }
                    for i, a, e in zip(ids, actual, expected, strict=True)
                ],
            }
        )
    )
    return evalset, runs, result


def ours(result: Path) -> dict[str, list[float | None]]:
    """Read and score with this library."""
    report = ads.evaluate(ads.read(result), CRITERIA)
    return {label: [score.value for score in column] for label, column in zip(CRITERIA, report.columns, strict=True)}


def adk(evalset: Path, runs: Path, *, file_backed: bool) -> dict[str, list[float | None]]:
    """Read and score with google-adk's LocalEvalService."""
    from google.adk.agents import Agent
    from google.adk.evaluation.base_eval_service import (
        EvaluateConfig,
        EvaluateRequest,
        InferenceResult,
        InferenceStatus,
    )
    from google.adk.evaluation.eval_case import Invocation
    from google.adk.evaluation.eval_metrics import EvalMetric
    from google.adk.evaluation.eval_set import EvalSet
    from google.adk.evaluation.in_memory_eval_sets_manager import InMemoryEvalSetsManager
    from google.adk.evaluation.local_eval_service import LocalEvalService
    from google.adk.evaluation.local_eval_sets_manager import LocalEvalSetsManager

    set_id = evalset.name.partition(".")[0]
    manager: Any
    if file_backed:
        manager = LocalEvalSetsManager(agents_dir=str(evalset.parent.parent))
    else:
        manager = InMemoryEvalSetsManager()
        parsed = EvalSet.model_validate_json(evalset.read_text())
        manager.create_eval_set("app", set_id)
        for case in parsed.eval_cases:
            manager.add_eval_case("app", set_id, case)
    inferences = [
        InferenceResult(
            app_name="app",
            eval_set_id=set_id,
            eval_case_id=case_id,
            inferences=[Invocation.model_validate(run)],
            session_id=case_id,
            status=InferenceStatus.SUCCESS,
        )
        for case_id, run in json.loads(runs.read_text()).items()
    ]
    service = LocalEvalService(root_agent=Agent(name="app", model="none"), eval_sets_manager=manager)
    metrics = [EvalMetric(metric_name=name, threshold=threshold) for name, threshold in CRITERIA.items()]
    request = EvaluateRequest(inference_results=inferences, evaluate_config=EvaluateConfig(eval_metrics=metrics))

    async def run() -> dict[str, dict[str, float | None]]:
        found: dict[str, dict[str, float | None]] = {}
        async for case in service.evaluate(request):
            found[case.eval_id] = {r.metric_name: r.score for r in case.overall_eval_metric_results}
        return found

    found = asyncio.run(run())
    return {name: [found[f"case{i}"][name] for i in range(len(found))] for name in CRITERIA}


def best(repeats: int, *sides: Callable[[], object]) -> list[float]:
    """Return the least seconds of each side, the sides in turn."""
    least = [float("inf")] * len(sides)
    for _ in range(repeats):
        for index, side in enumerate(sides):
            gc.collect()
            start = time.perf_counter()
            side()
            least[index] = min(least[index], time.perf_counter() - start)
    return least


def main() -> int:
    """Print the table; status 1 if a score differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--cases", type=int, nargs=2, default=(100, 10_000), metavar=("FILE_BACKED", "IN_MEMORY"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    try:
        warnings.simplefilter("ignore")  # google-adk marks what it is made of as experimental
        import google.adk.evaluation  # noqa: F401
    except ImportError:
        print("google-adk is not installed: pip install '.[bench]'", file=sys.stderr)
        return 2
    lines = [f"{'what':44} {'google-adk':>12} {'adk_scoring':>12} {'ratio':>7}"]
    with tempfile.TemporaryDirectory() as folder:
        for cases, file_backed in zip(options.cases, (True, False), strict=True):
            evalset, runs, result = write_files(Path(folder), cases)
            theirs = adk(evalset, runs, file_backed=file_backed)
            if ours(result) != theirs:
                print("the scores differ", file=sys.stderr)
                return 1
            repeats = options.repeats if cases <= 1000 else 1
            slow, fast = best(
                repeats,
                lambda e=evalset, r=runs, f=file_backed: adk(e, r, file_backed=f),  # type: ignore[misc]
                lambda r=result: ours(r),  # type: ignore[misc]
            )
            how = "file-backed" if file_backed else "in memory, parsing included"
            lines.append(f"{f'{cases} cases, {how}':44} {slow * 1e3:9.1f} ms {fast * 1e3:9.1f} ms {slow / fast:6.1f}x")
    lines.append("the scores agree, bit for bit")
    print("\n".join(lines))
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
