"""Any supported file -> cases.

`read` finds out from the content what a source is; `READERS` lists the formats with an example of each. One module a
format: ``recognises(document)`` says whether a parsed document is its own, ``cases(document, reading, where)``
yields its cases. A format of lines is given one record at a time if it recognises a record, else all as a list.
"""

from __future__ import annotations

import difflib
import gc
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import Any

from ..errors import ReadError
from ..model import Case
from ._document import Document
from ._formats import READERS, Reader
from ._reading import Reading, kind_of
from ._sources import Item, items_of, opened

__all__ = ["READERS", "Reader", "iter_cases", "read"]


_CONFIG_KEYS = frozenset({"criteria", "metrics_to_run", "custom_metrics", "evaluators", "eval_metrics", "thresholds"})
_CONFIG_HINT = "This looks like a criteria config, which is read by Criteria.from_file"
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
    configs: list[str] = []
    found = False
    for item in items:
        reading = Reading(item.path, match_nothing_as_empty, trials)
        try:
            for case in _read_item(item, forced, reading):
                found = True
                if len(items) > 1 and case.case_id == case.source[1]:
                    # Named by its place alone, it would be taken for a trial of what stands there in another file.
                    case = replace(case, case_id=f"{reading.stem} {case.case_id}")
                yield case
        except ReadError as error:
            if not searched:
                raise ReadError(error.message, path=item.path, location=error.location) from error.__cause__
            if isinstance(error, _NoCasesError) or not _meant_for_us(item):
                # A configuration beside the data is where it belongs; it is told of only if there is nothing else.
                (configs if _CONFIG_HINT in error.message else skipped).append(
                    str(ReadError(error.message, path=item.path, location=error.location))
                )
            else:
                found = True
                yield reading.error_case(error, case_id=reading.stem, where=error.location)
    if not found and (nothing := skipped + configs):
        raise ReadError(_without_cases(nothing, len(items)), path=str(source))
    if skipped:
        Reading(str(source)).warn(_without_cases(skipped, len(items)))


def _without_cases(messages: list[str], total: int) -> str:
    shown = "; ".join(messages[:5]) + (f"; and {len(messages) - 5} more" if len(messages) > 5 else "")
    return f"{len(messages)} of {total} files hold no cases: {shown}"


class _NoCasesError(ReadError):
    """It is JSON and fine, but holds no cases; among other files it is passed over. Never leaves this module."""


def _forced(name: str | None) -> Reader | None:
    if name is None or name in READERS:
        return READERS[name] if name is not None else None
    near = difflib.get_close_matches(str(name), READERS, n=1)
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
        found = f"a list of {len(value)} items, " if value else "an empty list"
    if not isinstance(record, dict):
        if not isinstance(value, list):
            found = kind_of(value)
        elif value:
            found += f"the first {kind_of(value[0])}"
        return f"not a supported evaluation file: found {found}; wanted one of the formats {formats}"
    keys = [str(key) for key in record][:20]
    found += f"keys [{', '.join(keys)}]"
    message = f"not a supported evaluation file: found {found}; wanted one of the formats {formats}"
    if record is value and _CONFIG_KEYS & record.keys():
        return f"{message}. {_CONFIG_HINT}"
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
