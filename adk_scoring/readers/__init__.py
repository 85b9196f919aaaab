"""Any supported file -> cases.

`read` finds out from the content what a source is; `READERS` lists the formats with an example of each. One module a
format: ``recognises(document)`` says whether a parsed document is its own, ``cases(document, reading, where)``
yields its cases. A format of lines is given one record at a time if it recognises a record, else all as a list.
"""

from __future__ import annotations

import difflib
import gc
import importlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from ..errors import ReadError
from ..model import Case
from ._document import Document
from ._reading import Reading, kind_of
from ._sources import Item, items_of, opened

__all__ = ["READERS", "Reader", "iter_cases", "read"]


@dataclass(frozen=True, slots=True)
class Reader:
    """One format.

    Attributes:
        module: its module in this package, loaded on first use.
        about: what it is, in a line.
        keys: keys that tell it apart, for messages.
        example: a small document in it, as text.
        together: records of it that come line by line belong together and are given as one list.
    """

    module: str
    about: str
    keys: tuple[str, ...]
    example: str
    together: bool = False

    def recognises(self, document: Any) -> bool:
        """Whether a parsed document is of this format."""
        return bool(self._loaded().recognises(document))

    def cases(self, document: Any, reading: Reading, where: str) -> Iterator[Case]:
        """The cases of a document of this format."""
        found: Iterator[Case] = self._loaded().cases(document, reading, where)
        return found

    def _loaded(self) -> Any:
        return importlib.import_module(f"{__name__}.{self.module}")


# The first that recognises a document reads it.
READERS: dict[str, Reader] = {
    "adk_rust": Reader(
        "adk_rust",
        "adk-rust *.test.json, eval sets, optimizer cases, scripted runs",
        ("test_files", "scripted_model"),
        '{"eval_set_id": "weather", "name": "Weather", "eval_cases": [{"eval_id": "paris", "tags": ["smoke"], '
        '"conversation": [{"invocation_id": "1", "user_content": {"parts": [{"text": "Weather in Paris?"}]}, '
        '"final_response": {"parts": [{"text": "It is 20C."}], "role": "model"}, "intermediate_data": '
        '{"tool_uses": [{"name": "get_weather", "args": {"city": "Paris"}, "expected_response": {"c": 20}}]}}]}]}',
    ),
    "adk_evalset": Reader(
        "adk_evalset",
        "ADK eval set or eval case: *.evalset.json, *.test.json",
        ("eval_cases", "conversation"),
        '{"eval_set_id": "weather", "eval_cases": [{"eval_id": "paris", "conversation": [{'
        '"user_content": {"parts": [{"text": "Weather in Paris?"}]}, '
        '"final_response": {"parts": [{"text": "It is 20C."}]}, '
        '"intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": "Paris"}}]}}]}]}',
    ),
    "agents_cli": Reader(
        "agents_cli",
        "agents-cli datasets, traces and grade results",
        ("eval_cases", "agent_data"),
        '{"eval_cases": [{"eval_case_id": "paris", "prompt": {"parts": [{"text": "Weather in Paris?"}]}, '
        '"responses": [{"response": {"parts": [{"text": "It is 20C."}]}}], '
        '"reference_trajectory": [{"tool_name": "get_weather", "tool_input": {"city": "Paris"}}]}]}',
    ),
    "adk_result": Reader(
        "adk_result",
        "ADK evaluation result: *.evalset_result.json",
        ("eval_case_results",),
        '{"eval_set_id": "weather", "eval_case_results": [{"eval_id": "paris", "final_eval_status": 1, '
        '"eval_metric_result_per_invocation": [{"actual_invocation": {'
        '"user_content": {"parts": [{"text": "Weather in Paris?"}]}, '
        '"final_response": {"parts": [{"text": "It is 20C."}]}}, "expected_invocation": null}]}]}',
    ),
    "adk_events": Reader(
        "adk_events",
        "ADK session export, /run array or /run_sse stream",
        ("events",),
        '{"id": "s1", "appName": "weather", "userId": "u", "events": ['
        '{"invocationId": "e-1", "author": "user", "content": {"parts": [{"text": "Weather in Paris?"}]}}, '
        '{"invocationId": "e-1", "author": "root", "content": {"parts": [{"text": "It is 20C."}]}}]}',
    ),
    "adk_legacy": Reader(
        "adk_legacy",
        "ADK's oldest test files: lists of query, expected_tool_use, reference",
        ("query", "expected_tool_use"),
        '[{"query": "Weather in Paris?", "expected_tool_use": [{"tool_name": "get_weather", '
        '"tool_input": {"city": "Paris"}}], "reference": "It is 20C."}]',
    ),
    "otel": Reader(
        "otel",
        "OpenTelemetry traces: OTLP, Jaeger or Tempo JSON, or lists of spans",
        ("resourceSpans", "batches", "spans"),
        '{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t1", "spanId": "s1", "name": "invoke_agent root", '
        '"attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}}, '
        '{"key": "gen_ai.input.messages", "value": {"stringValue": "[{\\"role\\": \\"user\\", \\"parts\\": '
        '[{\\"type\\": \\"text\\", \\"content\\": \\"Weather in Paris?\\"}]}]"}}, '
        '{"key": "gen_ai.output.messages", "value": {"stringValue": "[{\\"role\\": \\"assistant\\", \\"parts\\": '
        '[{\\"type\\": \\"text\\", \\"content\\": \\"It is 20C.\\"}]}]"}}]}]}]}]}',
        together=True,
    ),
    "langfuse": Reader(
        "langfuse",
        "Langfuse traces with their observations",
        ("observations",),
        '{"trace": {"id": "t1", "input": "Weather in Paris?", "output": "It is 20C."}, "observations": [{"id": "o1", '
        '"traceId": "t1", "type": "TOOL", "name": "get_weather", "startTime": "2026-01-05T10:00:00Z", '
        '"input": {"city": "Paris"}, "output": "20C"}]}',
        together=True,
    ),
    "langsmith": Reader(
        "langsmith",
        "LangSmith runs, nested or flat",
        ("run_type", "child_runs"),
        '{"id": "r1", "run_type": "chain", "name": "agent", "inputs": {"input": "Weather in Paris?"}, '
        '"outputs": {"output": "It is 20C."}, "child_runs": [{"id": "r2", "run_type": "tool", "name": "get_weather", '
        '"inputs": {"city": "Paris"}, "outputs": {"output": "20C"}}]}',
        together=True,
    ),
    "bigquery": Reader(
        "bigquery",
        "rows of ADK's BigQuery Agent Analytics table agent_events",
        ("event_type",),
        '[{"timestamp": "2026-01-05T10:00:00Z", "event_id": "e1", "event_type": "USER_MESSAGE_RECEIVED", '
        '"session_id": "s1", "invocation_id": "i1", "content": {"text_summary": "Weather in Paris?"}}, '
        '{"timestamp": "2026-01-05T10:00:01Z", "event_id": "e2", "event_type": "TOOL_STARTING", "session_id": "s1", '
        '"invocation_id": "i1", "content": {"tool": "get_weather", "args": {"city": "Paris"}}}, '
        '{"timestamp": "2026-01-05T10:00:02Z", "event_id": "e3", "event_type": "AGENT_RESPONSE", "session_id": "s1", '
        '"invocation_id": "i1", "content": {"response": "text: \'It is 20C.\'"}}]',
    ),
    "inspect_log": Reader(
        "inspect_log",
        "inspect-ai logs: .json and zipped .eval",
        ("samples",),
        '{"version": 2, "status": "success", "eval": {"task": "weather"}, "samples": [{"id": 1, "epoch": 1, '
        '"target": "20", "messages": [{"role": "user", "content": "Weather in Paris?"}, '
        '{"role": "assistant", "content": "It is 20C."}], "scores": {"includes": {"value": "C"}}}]}',
    ),
    "atif": Reader(
        "atif",
        "ATIF trajectories (Harbor), v1.0 to v1.8",
        ("schema_version", "steps"),
        '{"schema_version": "ATIF-v1.6", "session_id": "s1", "agent": {"name": "a", "version": "1"}, "steps": ['
        '{"step_id": 1, "source": "user", "message": "Weather in Paris?"}, '
        '{"step_id": 2, "source": "agent", "message": "It is 20C."}]}',
    ),
    "tau": Reader(
        "tau",
        "tau-bench and tau2-bench results and tasks",
        ("traj", "simulations"),
        '[{"task_id": 0, "trial": 0, "reward": 1.0, "info": {"task": {"actions": []}}, "traj": ['
        '{"role": "user", "content": "Weather in Paris?"}, {"role": "assistant", "content": "It is 20C."}]}]',
    ),
    "bfcl": Reader(
        "bfcl",
        "Berkeley Function-Calling Leaderboard: answers, results, scores, questions",
        ("ground_truth",),
        '{"id": "simple_0", "question": [[{"role": "user", "content": "Weather in Paris?"}]], "function": [], '
        '"ground_truth": [{"get_weather": {"city": ["Paris"]}}], "result": "It is 20C."}',
    ),
    "rows": Reader(
        "rows",
        "rows of deepeval, ragas, mlflow and Azure AI Evaluation",
        ("actual_output", "user_input", "expectations", "query"),
        '{"input": "Weather in Paris?", "actual_output": "It is 20C.", "tools_called": [{"name": "get_weather", '
        '"input_parameters": {"city": "Paris"}}], "expected_tools": [{"name": "get_weather"}]}',
    ),
    "adeval": Reader(
        "adeval",
        "ADEval experiments and CSV tables",
        ("testCases", "expectedTools"),
        '{"id": "exp_1", "name": "weather", "testCases": [{"appName": "weather", "q": "Weather in Paris?", '
        '"expectedTools": "get_weather(city=\\"Paris\\")", "actualTools": "None", "actualAnswer": "It is 20C."}]}',
    ),
    "vertex_rows": Reader(
        "vertex_rows",
        "rows or columns of a Vertex evaluation dataset or result",
        ("predicted_trajectory", "reference_trajectory"),
        '[{"prompt": "Weather in Paris?", "response": "It is 20C.", "predicted_trajectory": [], '
        '"reference_trajectory": [{"tool_name": "get_weather", "tool_input": {"city": "Paris"}}]}]',
    ),
    "messages": Reader(
        "messages",
        "chat messages of OpenAI, LangChain, Anthropic, Bedrock, Gemini",
        ("messages", "role"),
        '[{"role": "user", "content": "Weather in Paris?"}, {"role": "assistant", "content": null, "tool_calls": [{'
        '"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}]}, '
        '{"role": "tool", "tool_call_id": "c1", "content": "20"}, {"role": "assistant", "content": "It is 20C."}]',
    ),
    "records": Reader(
        "records",
        "this library's own JSON Lines: one case a line",
        ("turns",),
        '{"case_id": "paris", "turns": [{"user": "Weather in Paris?", "calls": ["get_weather"], '
        '"response": "It is 20C.", "expected_calls": [{"name": "get_weather", "args": {}}]}]}',
    ),
}
_CONFIG_KEYS = frozenset({"criteria", "metrics_to_run", "custom_metrics", "evaluators", "eval_metrics", "thresholds"})
_Unit = tuple[Reader | None, Any, str]


def read(source: Any, *, format: str | None = None, match_nothing_as_empty: bool = False) -> list[Case]:  # noqa: A002
    """Read the cases of any supported source.

    Args:
        source: a path; a folder (searched recursively, in sorted order); a glob pattern; several of them in a list;
            bytes; JSON text; parsed JSON; a file object; an iterable of records.
        format: a name in `READERS`; ``None`` recognises the format by the content.
        match_nothing_as_empty: an ADK expectation that says nothing about calls means that none are expected, as ADK
            has it; else it means that calls are not checked.

    Returns:
        At least one case, in the order of the source. A case that could not be read has its `Case.error`.

    Raises:
        ReadError: nothing can be read from it; names the file, the place, what was found and what was wanted.

    Warns:
        ReadWarning: something is not used, was read with a tolerance, or is no evaluation file (in a folder).

    >>> case, = read(READERS["adk_evalset"].example)
    >>> case.case_id, case.turns[0].expected[0].tool_calls
    ('paris', (ToolCall(name='get_weather', args={'city': 'Paris'}),))
    """
    with _collector_paused():
        return list(iter_cases(source, format=format, match_nothing_as_empty=match_nothing_as_empty))


def iter_cases(source: Any, *, format: str | None = None, match_nothing_as_empty: bool = False) -> Iterator[Case]:  # noqa: A002
    """Yield the cases of any supported source one by one; JSON Lines are never held in memory whole.

    Takes, raises and warns what `read` does, while the cases are taken.

    >>> [case.case_id for case in iter_cases(READERS["records"].example)]
    ['paris']
    """
    forced = _forced(format)
    trials: Counter[tuple[str, str]] = Counter()
    items, searched = items_of(source)
    skipped: list[str] = []
    found = False
    for item in items:
        reading = Reading(item.path, match_nothing_as_empty, trials)
        try:
            for case in _read_item(item, forced, reading):
                found = True
                yield case
        except ReadError as error:
            if not searched:
                raise ReadError(error.message, path=item.path, location=error.location) from error.__cause__
            if isinstance(error, _NoCasesError) or not _meant_for_us(item):
                skipped.append(str(ReadError(error.message, path=item.path, location=error.location)))
            else:
                found = True
                yield reading.error_case(error, case_id=reading.stem, where=error.location)
    if skipped:
        message = f"{len(skipped)} of {len(items)} files hold no cases: {'; '.join(skipped)}"
        if not found:
            raise ReadError(message, path=str(source))
        Reading(str(source)).warn(message)


class _NoCasesError(ReadError):
    """It is JSON and fine, but holds no cases; among other files it is passed over. Never leaves this module."""


def _forced(name: str | None) -> Reader | None:
    if name is None or name in READERS:
        return READERS[name] if name else None
    near = difflib.get_close_matches(name, READERS, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ReadError(f"unknown format {name!r}, wanted one of {', '.join(READERS)}{hint}")


def _read_item(item: Item, forced: Reader | None, reading: Reading) -> Iterator[Case]:
    """The cases of one item, ids that come again renamed, its notes reported at the end."""
    seen: dict[int, int] = {}
    try:
        with opened(item) as document:
            for reader, value, where in _units(document, forced):
                if reader is None:
                    yield reading.error_case(value, case_id=where, where=where)
                    seen[0] = 1
                    continue
                for case in reader.cases(value, reading, where):
                    # Hashes keep a file of a million ids small.
                    key = hash((case.set_id, case.case_id, case.trial))
                    seen[key] = count = seen.get(key, 0) + 1
                    if count > 1:
                        place = f"{case.case_id!r} at {case.source[1]}"
                        reading.note("a case id that comes again, the later one renamed with '#2' and so on", place)
                        case = replace(case, case_id=f"{case.case_id}#{count}")
                    yield case
    except RecursionError:
        raise ReadError("the values are nested too deeply") from None
    if not seen:
        raise _NoCasesError("holds no cases")
    reading.report()


def _units(document: Document, forced: Reader | None) -> Iterator[_Unit]:
    """What is to be read by which reader: the document, each of its records, or all of them as one list."""
    if document.records is None:
        value = document.value
        reader = forced or _recognised(value)
        if reader:
            return iter([(reader, value, "")])
        if not isinstance(value, list) or not any(map(_recognised, value[:1])):
            raise _NoCasesError(_unsupported(value))
        records: Iterator[tuple[str, Any]] = ((f"[{i}]", each) for i, each in enumerate(value))
        return _each_record(forced, records)
    broken = []
    for where, first in document.records:
        if not isinstance(first, ReadError):
            break
        broken.append((where, first))
    else:
        raise broken[0][1] if broken else ReadError("the file is empty; wanted records")
    start = [*broken, (where, first)]
    reader = (forced if forced.recognises(first) else None) if forced else _recognised(first)
    if reader and not reader.together:
        return _each_record(forced, chain(start, document.records))
    everything = [each for _, each in chain(start, document.records)]
    reader = forced or reader or _recognised(everything)
    if reader is None:
        raise _NoCasesError(_unsupported(first), location=where)
    return iter([(reader, everything, "")])


def _each_record(forced: Reader | None, records: Iterable[tuple[str, Any]]) -> Iterator[_Unit]:
    """Each record with its reader; to one with the keys of that before it, the same reader is asked first."""
    reader, keys = forced, None
    for where, value in records:
        if isinstance(value, ReadError):
            yield None, value, where
            continue
        if forced is None:
            found = value.keys() if isinstance(value, dict) else None
            if reader is None or found is None or found != keys or not reader.recognises(value):
                reader, keys = _recognised(value), found
        yield (reader, value, where) if reader else (None, ReadError(_unsupported(value)), where)


def _recognised(document: Any) -> Reader | None:
    return next((reader for reader in READERS.values() if reader.recognises(document)), None)


def _unsupported(value: Any) -> str:
    """Say what was found, what was wanted, and which found key comes near."""
    wanted = dict.fromkeys(key for reader in READERS.values() for key in reader.keys)
    formats = ", ".join(f"{name} ({reader.keys[0]})" for name, reader in READERS.items())
    record, found = value, ""
    if isinstance(value, list):
        record = next((item for item in value if isinstance(item, dict)), None)
        found = f"a list of {len(value)} items, " if value else "an empty list, "
    if not isinstance(record, dict):
        return f"not a supported evaluation file: found {found}{kind_of(value)}; wanted one of the formats {formats}"
    keys = [str(key) for key in record][:20]
    found += f"keys [{', '.join(keys)}]"
    message = f"not a supported evaluation file: found {found}; wanted one of the formats {formats}"
    if record is value and _CONFIG_KEYS & record.keys():
        return f"{message}. This looks like a criteria config, which is read by Criteria.from_file"
    for key in keys:
        snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower()
        if snake in wanted:
            inside = record[key]
            first = inside[0] if isinstance(inside, list) and inside else None
            if isinstance(first, dict):
                return f"{message}. {key!r} is right, but its items have the keys [{', '.join(map(str, first))}]"
        near = difflib.get_close_matches(snake, wanted, n=1, cutoff=0.75)
        if near and near[0] != snake:
            return f"{message}. Did you mean {near[0]!r} where {key!r} stands?"
    return message


def _meant_for_us(item: Item) -> bool:
    """Whether a broken file was to be one of ours: then it must not be lost among unrelated ones."""
    keys = [key.replace("_", "").encode() for reader in READERS.values() for key in reader.keys]
    try:
        with item.content.open("rb") as file:
            head = file.read(1 << 20).replace(b"_", b"")
    except OSError:
        return True
    return re.search(rb'"(' + b"|".join(keys) + rb')\\?"\s*:', head, re.IGNORECASE) is not None


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Building many objects that all stay makes the garbage collector walk them again and again for nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
