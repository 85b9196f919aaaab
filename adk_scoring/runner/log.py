"""What an agent did so far, as JSON Lines: recorded cases in as they come, and out again when a run goes on.

Each line is one of our own records with one key more, ``run_of``: a hash of what was put to the agent. `read` takes
the file as any other.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from ..errors import ReadError
from ..model import Case, Invocation, Session, Turn
from ..readers.records import case_from_record, case_to_record, record_to_line

__all__ = ["RunLog", "fingerprint"]

_KEY = "run_of"


def fingerprint(case: Case) -> str:
    """Return a hash of what a case puts to an agent: its names, session and user texts, nothing expected.

    Raises:
        ReadError: the session's state holds something that is no JSON.
    """
    session = case.session or Session()
    asked = Case(
        case.case_id,
        tuple(Turn(Invocation(text)) for text in user_texts(case)),
        set_id=case.set_id,
        trial=case.trial,
        session=Session(session.app_name, session.user_id, session.state),
    )
    text = json.dumps(case_to_record(asked), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def user_texts(case: Case) -> list[str]:
    """Return what the user says in each turn: by the expectation, else by the recorded run."""
    sides = ((*turn.expected, *([turn.actual] if turn.actual else ())) for turn in case.turns)
    return [next((side.user_text for side in turn if side.user_text), "") for turn in sides]


class RunLog:
    """The file of a run, open for what is still to come.

    A last line that was only half written is dropped, and so is a case of this run that was put differently then.

    Args:
        path: the file; made if it is not there.
        cases: every case of this run.
        run_again: says of a recorded case that it is to be run once more; its line is dropped too.

    Raises:
        ReadError: the file is there and holds something else; it is left as it is.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        cases: Sequence[Case],
        *,
        run_again: Callable[[Case], bool] | None = None,
    ) -> None:
        self.path = Path(path)
        self._marks = {id(case): fingerprint(case) for case in cases}
        names = {(case.set_id, case.case_id, case.trial) for case in cases}
        wanted = set(self._marks.values())
        self._found: dict[str, list[Case]] = {}
        kept = []
        content = self._content()
        lines = content.split(b"\n")
        for number, line in enumerate(lines[:-1], 1):
            mark, case = self._parsed(line, number)
            if mark in wanted:
                if run_again is not None and run_again(case):
                    continue
                self._found.setdefault(mark, []).append(case)
            elif (case.set_id, case.case_id, case.trial) in names:
                continue  # it was put differently then
            kept.append(line + b"\n")
        if (whole := b"".join(kept)) != content:
            beside = self.path.with_name(self.path.name + ".part")
            beside.write_bytes(whole)
            os.replace(beside, self.path)
        self._file: BinaryIO = self.path.open("ab")

    def __enter__(self) -> RunLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def take(self, case: Case) -> Case | None:
        """Return the run of a case that the file holds; each is given once."""
        found = self._found.get(self._marks[id(case)])
        return found.pop(0) if found else None

    def add(self, case: Case, recorded: Case) -> None:
        """Write the run of a case; it is in the file when this returns, whatever happens to the process then."""
        line = record_to_line({**case_to_record(recorded), _KEY: self._marks[id(case)]})
        self._file.write(line.encode() + b"\n")
        self._file.flush()

    def _content(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""

    def _parsed(self, line: bytes, number: int) -> tuple[str, Case]:
        try:
            record = json.loads(line)
            mark = record.pop(_KEY)
            return str(mark), case_from_record(record)
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
            raise ReadError(
                f"not a line of a recorded run ({type(error).__name__}: {error}); "
                "give `resume` a new file, or one that an earlier run wrote",
                path=str(self.path),
                location=f"line {number}",
            ) from None
