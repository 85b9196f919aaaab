"""Verdicts kept in a SQLite file: what a judge answered goes in, and comes out again instead of a request.

A verdict is found by everything that may change it (`verdict_key`) and by nothing else: a changed weight or
threshold finds the same verdicts. Failures are never kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

from ..errors import ConfigError, JudgeError
from ..metrics.base import Prompt, Reply

__all__ = ["VerdictStore", "verdict_key"]

_VERSION: Final = 1
"""Version of the key and of the record; a change of either makes every earlier verdict a miss."""
_WAIT: Final = 30.0
"""Seconds to wait for another process that is writing."""
_AT_ONCE: Final = 500
"""Keys looked up by one statement; SQLite allows 999 and more."""
_PUT: Final = "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?)"


def verdict_key(judge: str, sampling: Mapping[str, object], prompt: Prompt) -> str:
    """Return the key of a verdict: a hash of the judge, its sampling parameters, and all that it is asked.

    >>> twice = [verdict_key("j", {}, Prompt(key, "Polite?", "{}")) for key in ("turn 1", "turn 2")]
    >>> twice[0] == twice[1]
    True
    """
    parts = (_VERSION, judge, dict(sampling), prompt.system, prompt.schema, prompt.content, prompt.sample)
    # ASCII escapes carry lone surrogates, which UTF-8 cannot.
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=repr).encode("ascii")).hexdigest()


class VerdictStore:
    """A file of verdicts. Several processes may use one at once; a killed process loses and breaks nothing.

    Args:
        path: the SQLite file, made if it does not exist. ``":memory:"`` keeps the verdicts only as long as the object.
        mode: ``"resume"``: ask what is not in the store, and keep the answers. ``"replay"``: never ask; a question
            that is not in the store is an error. The file is only read then, and must exist.

    Raises:
        JudgeError: the file cannot be opened, or is no verdict store; from every method.

    >>> with VerdictStore(":memory:") as store:
    ...     question = Prompt("turn 1", "Polite?", '{"response": "Hello!"}')
    ...     key = verdict_key("some-model", {}, question)
    ...     store.put(key, Reply("yes"), judge="some-model", sampling={}, prompt=question)
    ...     store.get([key, "another"])[key].text, len(store)
    ('yes', 1)
    """

    def __init__(self, path: str | os.PathLike[str], *, mode: Literal["resume", "replay"] = "resume") -> None:
        if mode not in ("resume", "replay"):
            raise ConfigError(f"mode is 'resume' or 'replay', not {mode!r}")
        self.path = os.fspath(path)
        self.mode = mode
        self._lock = threading.Lock()
        with self._explained():
            self._connection = self._open()
        self._close = weakref.finalize(self, self._connection.close)

    def __repr__(self) -> str:
        return f"<verdict store {self.path!r}, mode {self.mode!r}>"

    def __enter__(self) -> VerdictStore:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. It is also closed when the object goes away."""
        self._close()

    def __len__(self) -> int:
        [(count,)] = self._execute("SELECT count(*) FROM verdicts")
        return int(count)

    def get(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Look up verdicts.

        Returns:
            The replies by key. What is not in the store, or cannot be read any more, is left out.
        """
        found: dict[str, Reply] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            for key, record in self._execute(f"SELECT key, record FROM verdicts WHERE key IN ({marks})", some):  # noqa: S608  # only question marks
                reply = _reply_of(record)
                if reply is not None:
                    found[key] = reply
        return found

    def put(self, key: str, reply: Reply, *, judge: str, sampling: Mapping[str, object], prompt: Prompt) -> None:
        """Keep a verdict; it is on its way to the disk when this returns.

        Raises:
            ValueError: the reply is an error.
        """
        if reply.error is not None:
            raise ValueError(f"only good verdicts are kept, not the error {reply.error!r}")
        record = {
            "sampling": dict(sampling),
            "question": prompt.key,
            "sample": prompt.sample,
            "text": reply.text,
            "usage": None if reply.usage is None else dict(reply.usage),
            "model_version": reply.model_version,
            "finish_reason": reply.finish_reason,
        }
        self._execute(_PUT, (key, judge, time.time(), json.dumps(record, default=repr)))

    def prune(self, *, older_than: timedelta | None = None, judge: str | None = None) -> int:
        """Delete verdicts and give their space back.

        Args:
            older_than: only those kept longer ago than this.
            judge: only those of this judge.

        Returns:
            How many were deleted.

        Raises:
            ConfigError: neither is given; delete the file to delete everything.
        """
        if older_than is None and judge is None:
            raise ConfigError("prune needs older_than or judge; to delete every verdict delete the file")
        before = float("inf") if older_than is None else time.time() - older_than.total_seconds()
        with self._explained(), self._lock:
            deleted = self._connection.execute(
                "DELETE FROM verdicts WHERE created < ?1 AND (?2 IS NULL OR judge = ?2)", (before, judge)
            ).rowcount
            self._connection.execute("VACUUM")
        return deleted

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write the verdicts as JSON Lines sorted by key, to be read, compared and put under version control.

        Returns:
            How many were written.

        Raises:
            OSError: the file cannot be written.
        """
        rows = self._execute("SELECT key, judge, created, record FROM verdicts ORDER BY key")
        lines = [_line_of(*row) for row in rows if _reply_of(row[-1]) is not None]
        target = Path(path)
        partial = target.with_name(f"{target.name}.{os.getpid()}.tmp")  # nobody ever sees half a file
        partial.write_text("".join(lines), encoding="utf-8", newline="\n")
        partial.replace(target)
        return len(lines)

    def load(self, path: str | os.PathLike[str]) -> int:
        """Add the verdicts of a file that `export` wrote; those that are there already stay as they are.

        Returns:
            How many the file has.

        Raises:
            JudgeError: a line is not a verdict; nothing was added then.
            OSError: the file cannot be read.
        """
        with open(path, encoding="utf-8") as file:
            rows = [_row_of(line, f"{os.fspath(path)}: line {n}") for n, line in enumerate(file, 1) if line.strip()]
        with self._explained(), self._lock, self._connection:
            self._connection.execute("BEGIN")
            self._connection.executemany(_PUT.replace("REPLACE", "IGNORE"), rows)
        return len(rows)

    def _open(self) -> sqlite3.Connection:
        """Open the file. The connection is used by whichever thread runs the event loop, one statement at a time."""
        if self.mode == "replay" and self.path != ":memory:":
            file = Path(self.path).resolve()
            if not file.exists():
                raise JudgeError(f"{self.path}: there is no such file to replay; run once with mode='resume'")
            # A file in a folder that cannot be written to can only be opened as one that nobody changes.
            frozen = "" if os.access(file.parent, os.W_OK) else "&immutable=1"
            uri = f"{file.as_uri()}?mode=ro{frozen}"
            connection = sqlite3.connect(uri, uri=True, timeout=_WAIT, isolation_level=None, check_same_thread=False)
        else:
            connection = sqlite3.connect(self.path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if self.mode == "resume":
            _switch_to_wal(connection)
            connection.execute(
                "PRAGMA synchronous=NORMAL"
            )  # survives a killed process; not each commit waits for the disk
        if self.mode == "resume" or self.path == ":memory:":
            connection.execute(
                "CREATE TABLE IF NOT EXISTS verdicts"
                " (key TEXT PRIMARY KEY, judge TEXT NOT NULL, created REAL NOT NULL, record TEXT NOT NULL)"
            )
        connection.execute("SELECT key, judge, created, record FROM verdicts LIMIT 1").fetchall()

    def _execute(self, statement: str, values: Iterable[object] = ()) -> list[Any]:
        with self._explained(), self._lock:
            return self._connection.execute(statement, tuple(values)).fetchall()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise JudgeError(
                f"{self.path}: the verdict store cannot be used: {error}; "
                "look whether it is a verdict store, and whether the file, its folder and the disk can be written to"
            ) from error


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work at once. SQLite does not wait for other processes in this one statement."""
    until = time.monotonic() + _WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _reply_of(record: str) -> Reply | None:
    try:
        fields = json.loads(record)
        reply = Reply(fields["text"], fields["usage"], fields["model_version"], fields["finish_reason"])
    except (ValueError, KeyError, TypeError):
        return None  # a broken entry is a miss: it is asked again and replaced
    return reply if isinstance(reply.text, str) else None


def _line_of(key: str, judge: str, created: float, record: str) -> str:
    kept = datetime.fromtimestamp(created, UTC).isoformat(timespec="seconds")
    return json.dumps({"key": key, "judge": judge, "created": kept, **json.loads(record)}) + "\n"


def _row_of(line: str, where: str) -> tuple[str, str, float, str]:
    try:
        fields = json.loads(line)
        key, judge, created = (fields.pop(name) for name in ("key", "judge", "created"))
        row = str(key), str(judge), datetime.fromisoformat(created).timestamp(), json.dumps(fields)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise JudgeError(f"{where}: not a verdict that export wrote: {type(error).__name__}: {error}") from None
    if _reply_of(row[-1]) is None:
        raise JudgeError(f"{where}: not a verdict that export wrote: it has no text")
    return row
