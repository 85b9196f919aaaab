"""Lines of a CSV table -> its rows, each an object by column name, read one by one."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import ReadError

__all__ = ["columns_of", "rows_of"]

_LONGEST_CELL = 2**31 - 1


def columns_of(line: bytes) -> list[str] | None:
    """The column names, if a line can be the head of a table: at least two cells, and well quoted.

    A name that comes again gets a number.

    >>> columns_of(b'Question,"Expected, if any",Question')
    ['Question', 'Expected, if any', 'Question#2']
    """
    try:
        cells = next(csv.reader([line.strip().decode()], strict=True), [])
    except (csv.Error, UnicodeDecodeError):
        return None
    if len(cells) < 2 or cells[0].lstrip()[:1] in ("{", "["):
        return None
    seen: Counter[str] = Counter()
    names = []
    for cell in cells:
        name = cell.strip()
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return names


def rows_of(lines: Iterable[bytes], columns: list[str], number: int) -> Iterator[tuple[str, Any]]:
    """Each row by column name, or the error that it is; a short row lacks its last columns.

    Args:
        lines: what follows the head.
        columns: the names in it.
        number: the number of its line.
    """
    rows = csv.reader(map(bytes.decode, lines), strict=True)  # a map goes on after an error
    while True:
        where = f"line {number + rows.line_num + 1}"
        limit = csv.field_size_limit(_LONGEST_CELL)  # the limit belongs to the module, so it is put back
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield where, ReadError(f"not CSV: {error}")
            continue
        except UnicodeDecodeError as error:
            number += 1  # the reader has not counted this line
            found = f"byte 0x{error.object[error.start]:02x} is not valid UTF-8"
            yield where, ReadError(f"{found}; save the file as UTF-8")
            continue
        finally:
            csv.field_size_limit(limit)
        if len(row) > len(columns):
            yield where, ReadError(f"found {len(row)} cells, wanted at most {len(columns)} as in the head of the table")
        elif any(cell.strip() for cell in row):
            yield where, dict(zip(columns, row, strict=False))
