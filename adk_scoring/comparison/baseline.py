"""Baseline files: a report with where it is from, written once and read by every later gate."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from .. import __version__
from ..errors import ReadError
from ..report import Report

__all__ = ["Baseline", "read_baseline", "write_baseline"]

FORMAT: Final = "adk_scoring.comparison.baseline"
VERSION: Final = 1
_WRITTEN_BY: Final = "`python -m adk_scoring score ... --format json` writes a report"


@dataclass(frozen=True, slots=True)
class Baseline:
    """A report to hold others against.

    Attributes:
        report: the report.
        source: the file.
        created: when it was written, ISO 8601 in UTC; ``""`` for a report that was saved without it.
        note: what its writer said about it, e.g. a commit.
        made_with: the releases of this library and of Python that wrote it.
    """

    report: Report
    source: str = ""
    created: str = ""
    note: str = ""
    made_with: str = ""

    def __str__(self) -> str:
        written = f"written {self.created} by {self.made_with}" if self.created else "a report, not known from when"
        return ", ".join(filter(None, (f"{self.source}: {len(self.report.cases)} runs", written, self.note)))


def write_baseline(report: Report, path: str | Path, *, note: str = "", now: datetime | None = None) -> None:
    """Write a report as a baseline file.

    Args:
        report: the report.
        path: the file; one that exists is replaced.
        note: what to remember of it, e.g. a commit or a release.
        now: when it is written; default: now.

    Raises:
        OSError: it cannot be written.
    """
    content = json.loads(report.to_json())
    document = {
        "format": FORMAT,
        "version": VERSION,
        "created": (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds"),
        "note": note,
        "made_with": f"adk_scoring {__version__}, Python {'.'.join(map(str, sys.version_info[:3]))}",
        "sha256": _digest(content),
        "report": content,
    }
    Path(path).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def read_baseline(path: str | Path) -> Baseline:
    """Read a baseline file, or a report that was saved as JSON.

    Raises:
        ReadError: the file cannot be read, is neither, or was changed after it was written.
    """
    where = str(path)
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8-sig"))
        if not isinstance(document, dict) or "format" not in document:
            raise ReadError(f"neither a report nor a baseline; {_WRITTEN_BY}")
        if document["format"] != FORMAT:
            return Baseline(Report.from_json(json.dumps(document)), source=where)
        if document["version"] != VERSION:
            raise ReadError(f"version {document['version']!r}; this library reads {VERSION}")
        if _digest(document["report"]) != document["sha256"]:
            raise ReadError("the report in it was changed after it was written; write it again")
        report = Report.from_json(json.dumps(document["report"]))
        return Baseline(report, where, document["created"], document["note"], document["made_with"])
    except ReadError as error:
        raise ReadError(error.message, path=where, location=error.location) from None
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror or error}", path=where) from None
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise ReadError(
            f"neither a report nor a baseline ({type(error).__name__}: {error}); {_WRITTEN_BY}",
            path=where,
        ) from None


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()
