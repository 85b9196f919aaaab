"""Text scores against the libraries people use for them: ratios of processor time, agreement checked in the same run.

    python -m pip install "adk_scoring[bench]" && python benchmarks/bench_text.py [--out FILE]

English is prose of the standard library's docstrings, Chinese is common words drawn by frequency; the answer is the
reference with words left out, replaced and added. Each figure is the least of several repeats, alternatives
interleaved, garbage collector off, one thread.
"""

from __future__ import annotations

import os

os.environ["RAYON_NUM_THREADS"] = "1"  # read by rouge-score-rs when it is first used

import argparse
import ast
import gc
import platform
import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from adk_scoring.text import tokenize
from adk_scoring.text.pairs import jaccard_many, levenshtein_many, rouge_many
from adk_scoring.text.rouge import rouge
from adk_scoring.text.similarity import jaccard

Texts: TypeAlias = tuple[list[str], list[str]]

TYPES = ("rouge1", "rouge2", "rougeL")
PACKAGES = ("numpy", "rapidfuzz", "rouge-score", "nltk", "rouge-score-rs", "polyleven", "jellyfish", "google-adk")
HEADER = (
    "| work | against | ours, us/pair | theirs | ratio | to reach | same bits |",
    "|---|---|---:|---:|---:|---|---|",
)
_CHINESE = (
    "的 是 在 了 和 有 我 你 他 我们 不 这 个 人 一个 上 也 到 说 要 就 会 对 中国 可以 没有 自己 这个 问题 "
    "什么 进行 工作 他们 发展 已经 时间 社会 现在 如果 因为 公司 北京 今天 天气 温度 明天 下雨 城市 需要 使用 "
    "工具 查询 结果 返回 接口 数据 系统 用户 信息 服务 航班 酒店 预订 价格 订单 支付 成功 失败 重新 提供 帮助 "
    "确认 地址 电话 上海 东京 飞机 火车 出发 到达 座位 早上 下午 晚上 星期一 周末 一共 大约 分钟 小时 便宜 推荐"
)
CHINESE = _CHINESE.split()


@dataclass(frozen=True)
class Way:
    """One way to the numbers: of which package, how, on how many of the pairs, and how to read its result."""

    package: str
    run: Callable[[int], Any]
    pairs: int
    view: Callable[[Any], Any] = list  # not timed
    target: float | None = None


@dataclass(frozen=True)
class Work:
    """A line of work: our way, on as many pairs as any rival, and the rivals'."""

    name: str
    ours: Way
    rivals: tuple[Way, ...]


def english_words() -> list[str]:
    words: list[str] = []
    library = Path(os.__file__).parent
    for path in sorted(library.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8", "replace"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                words += [word for word in (ast.get_docstring(node) or "").split() if word.isascii()]
    return words


def noisy_pairs(words: list[str], length: int, n: int, separator: str, *, drawn: bool = False) -> Texts:
    rng = random.Random(length)
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    actuals, expecteds = [], []
    for _ in range(n):
        start = rng.randrange(max(len(words) - length, 1))
        reference = rng.choices(words, weights, k=length) if drawn else words[start : start + length]
        answer = []
        for word in reference:
            fate = rng.random()
            if fate > 0.1:
                answer.append(word if fate > 0.25 else rng.choice(words))
            if fate > 0.9:
                answer.append(rng.choice(words))
        actuals.append(separator.join(answer))
        expecteds.append(separator.join(reference))
    return actuals, expecteds


def by_type(rows: Iterable[Any]) -> list[Any]:
    """Rows of name -> (precision, recall, f1) as columns of those, one per type."""
    kept = list(rows)
    return [[tuple(row[name]) for row in kept] for name in TYPES]


def rouge_work(
    name: str, texts: Texts, pairs: int, few: int, *, stemmer: bool, one_call: bool = False, chinese: bool = False,
    targets: tuple[float | None, float | None] = (None, None),
) -> Work:  # fmt: skip
    from rouge_score import rouge_scorer

    actuals, expecteds = texts

    def bulk(count: int) -> list[Any]:
        many = rouge_many(actuals[:count], expecteds[:count], stemmer=stemmer)
        return [(c.precision, c.recall, c.f1) for c in (many.rouge1, many.rouge2, many.rougeL)]

    def each(count: int) -> list[Any]:
        scores = (rouge(*pair, stemmer=stemmer) for pair in zip(actuals[:count], expecteds, strict=False))
        three = ((score.rouge1, score.rouge2, score.rougeL) for score in scores)
        return [[(s.precision, s.recall, s.f1) for s in row] for row in three]

    def transposed(rows: Any) -> list[Any]:
        return [list(column) for column in zip(*rows, strict=True)]

    def zipped(columns: Any) -> list[Any]:
        return [list(zip(*(values.tolist() for values in column), strict=True)) for column in columns]

    class Tokenizer:
        def tokenize(self, text: str) -> list[str]:
            return tokenize(text)

    python: Any = rouge_scorer.RougeScorer(TYPES, use_stemmer=stemmer, tokenizer=Tokenizer() if chinese else None)
    rivals = [
        Way(
            "rouge-score with our tokenizer" if chinese else "rouge-score",
            lambda count: [python.score(e, a) for a, e in zip(actuals[:count], expecteds, strict=False)],
            few, by_type, targets[0],
        )
    ]  # fmt: skip
    if find_spec("rouge_score_rs"):
        from rouge_score_rs import rouge_scorer as native
        from rouge_score_rs.tokenizers import UnicodeTokenizer

        make: Any = native.RougeScorer
        rust = make(list(TYPES), use_stemmer=stemmer, tokenizer=UnicodeTokenizer() if chinese else None)

        def rust_each(count: int) -> list[Any]:
            return [rust.score(e, a) for a, e in zip(actuals[:count], expecteds, strict=False)]

        def rust_bulk(count: int) -> Any:
            return rust.score_batch(expecteds[:count], actuals[:count])

        rivals.append(Way("rouge-score-rs", rust_each if one_call else rust_bulk, pairs, by_type, targets[1]))
    ours = Way("ours", each, pairs, transposed) if one_call else Way("ours", bulk, pairs, zipped)
    return Work(name, ours, tuple(rivals))


def adk_work(name: str, texts: Texts, pairs: int, few: int, target: float) -> Work:
    actuals, expecteds = texts
    rivals: tuple[Way, ...] = ()
    if find_spec("google") and find_spec("google.adk"):
        from google.adk.evaluation.eval_case import Invocation
        from google.adk.evaluation.eval_metrics import EvalMetric
        from google.adk.evaluation.final_response_match_v1 import RougeEvaluator
        from google.genai.types import Content, Part

        def invocations(answers: list[str]) -> list[Any]:
            user = Content(parts=[Part(text="question")])
            return [Invocation(user_content=user, final_response=Content(parts=[Part(text=text)])) for text in answers]

        evaluator = RougeEvaluator(EvalMetric(metric_name="response_match_score", threshold=0.5))
        made, wanted = invocations(actuals[:few]), invocations(expecteds[:few])
        rivals = (
            Way(
                "google-adk",
                lambda count: evaluator.evaluate_invocations(made[:count], wanted[:count]),
                few,
                lambda result: [row.score for row in result.per_invocation_results],
                target,
            ),
        )

    def bulk(count: int) -> Any:
        return rouge_many(actuals[:count], expecteds[:count], stemmer=True, tokenizer="adk").rouge1.f1

    return Work(f"response_match_score, {name}, bulk", Way("ours", bulk, pairs), rivals)


def levenshtein_work(name: str, texts: Texts, pairs: int) -> Work:
    from rapidfuzz.distance import Levenshtein

    actuals, expecteds = texts

    def similarities(distance: Callable[[str, str], int]) -> Callable[[int], list[float]]:
        def run(count: int) -> list[float]:
            both = zip(actuals[:count], expecteds, strict=False)
            return [1 - distance(a, e) / max(len(a), len(e)) for a, e in both]

        return run

    rivals = [
        Way("rapidfuzz in a loop", lambda count: list(
            map(Levenshtein.normalized_similarity, actuals[:count], expecteds)), pairs)
    ]  # fmt: skip
    for package, function, count in (
        ("polyleven", "levenshtein", pairs),
        ("jellyfish", "levenshtein_distance", pairs // 10),
    ):
        if find_spec(package):
            rivals.append(Way(package, similarities(getattr(import_module(package), function)), count))
    return Work(
        f"Levenshtein, {name}, 60 words, bulk",
        Way("ours", lambda count: levenshtein_many(actuals[:count], expecteds[:count], normalizer=None), pairs),
        tuple(rivals),
    )


def jaccard_work(texts: Texts, pairs: int) -> Work:
    actuals, expecteds = texts

    def sets(count: int) -> list[float]:
        both = ((set(tokenize(a)), set(tokenize(e))) for a, e in zip(actuals[:count], expecteds, strict=False))
        return [len(left & right) / len(left | right) for left, right in both]

    return Work(
        "Jaccard, 60 words, bulk",
        Way("ours", lambda count: jaccard_many(actuals[:count], expecteds[:count]), pairs),
        (
            Way("sets of our tokens", sets, pairs),
            Way("our jaccard(), one call", lambda count: list(map(jaccard, actuals[:count], expecteds)), pairs),
        ),
    )


def works(scale: float) -> Iterator[Work]:
    words = english_words()
    many, few, long_texts, rare = (max(int(n * scale), 20) for n in (4000, 200, 1000, 30))
    short = noisy_pairs(words, 60, many, " ")
    long = noisy_pairs(words, 300, long_texts, " ")
    chinese = noisy_pairs(CHINESE, 60, many, "", drawn=True)
    name = "ROUGE-1/2/L,"
    yield rouge_work(
        f"{name} stemmer, 60 words, one call", short, many, few, stemmer=True, one_call=True, targets=(30, None)
    )
    yield rouge_work(f"{name} stemmer, 60 words, bulk", short, many, few, stemmer=True, targets=(60, 1))
    yield rouge_work(f"{name} stemmer, 300 words, bulk", long, long_texts, rare, stemmer=True, targets=(150, 1))
    yield rouge_work(f"{name} no stemmer, 60 words, bulk", short, many, few, stemmer=False)
    yield rouge_work(
        f"{name} Chinese, 60 words, bulk", chinese, many, few, stemmer=False, chinese=True, targets=(None, 1)
    )
    yield adk_work("English", short, many, few, 40)
    yield adk_work("Chinese", chinese, many, few, 8)
    yield levenshtein_work("English", short, many)
    yield levenshtein_work("Chinese", chinese, many)
    yield jaccard_work(short, many)


def measure(work: Work, repeats: int) -> Iterator[str]:
    """Run all ways in turn, the collector off; give a line per rival."""
    ways = (work.ours, *work.rivals)
    best = [float("inf")] * len(ways)
    results: list[Any] = [None] * len(ways)
    for _ in range(repeats):
        for index, way in enumerate(ways):
            gc.collect()
            gc.disable()
            start = time.process_time()
            results[index] = way.run(way.pairs)
            best[index] = min(best[index], (time.process_time() - start) / way.pairs * 1e6)
            gc.enable()
    ours = work.ours.view(results[0])
    if not work.rivals:
        yield f"| {work.name} | not installed: row not run | {best[0]:.1f} | | | | |"
    for way, microseconds, result in zip(work.rivals, best[1:], results[1:], strict=True):
        agree = "yes" if same(ours, way.view(result)) else "NO"
        target = f">= {way.target:g}x" if way.target else ""
        times = f"{best[0]:.1f} | {microseconds:.1f} | {microseconds / best[0]:.2f}x"
        yield f"| {work.name} | {way.package} | {times} | {target} | {agree} |"


def same(ours: list[Any], theirs: list[Any]) -> bool:
    """Whether a rival's numbers are, to the last bit, ours for the pairs it was given."""
    if ours and isinstance(ours[0], list):
        return all(same(left, right) for left, right in zip(ours, theirs, strict=True))
    return bool(theirs) and ours[: len(theirs)] == theirs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the pairs to use, for a quick look")
    options = parser.parse_args()
    about = f"{platform.machine()}, Python {platform.python_version()}, load {os.getloadavg()[0]:.2f}"
    lines = [", ".join((about, *map(installed, PACKAGES))), "", *HEADER]
    print("\n".join(lines), flush=True)
    for work in works(options.scale):
        for line in measure(work, options.repeats):
            print(line, flush=True)
            lines.append(line)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", "utf-8")


def installed(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"


if __name__ == "__main__":
    main()
