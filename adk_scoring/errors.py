"""What this library raises.

::

    ScoringError
    ├── ReadError      a file or record cannot be read: path, location in it, found, wanted
    ├── ConfigError    a criterion, metric name or parameter is not usable
    ├── MatchError     two tool calls cannot be compared
    └── JudgeError     a judge could not be asked or did not answer usably
    ReadWarning        (a UserWarning) something in a file is not used or was read with a tolerance

Every message says where (file and place in it), what was found, what was wanted, and what to do.
"""

from __future__ import annotations

__all__ = ["ConfigError", "JudgeError", "MatchError", "ReadError", "ReadWarning", "ScoringError"]


class ScoringError(Exception):
    """Base of every error this library raises on purpose."""


class ReadError(ScoringError, ValueError):
    """A source cannot be read as cases.

    Args:
        message: what was found, what was wanted, what to do.
        path: the file, or a name for what was given instead of one.
        location: the place in it, e.g. ``eval_cases[3].conversation[0].user_content`` or ``line 12``.
    """

    def __init__(self, message: str, *, path: str = "", location: str = "") -> None:
        super().__init__(message, path, location)
        self.message, self.path, self.location = message, path, location

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_read_error, (self.message, self.path, self.location)

    def __str__(self) -> str:
        return ": ".join(part for part in (self.path, self.location, self.message) if part)


def _rebuild_read_error(message: str, path: str, location: str) -> ReadError:
    """Keyword-only arguments do not survive the default way an exception is pickled."""
    return ReadError(message, path=path, location=location)


class ConfigError(ScoringError, ValueError):
    """A criterion, a metric's name or one of its parameters is not usable."""


class MatchError(ScoringError, ValueError):
    """Two tool calls cannot be compared, or something given as a tool call is not one."""


class JudgeError(ScoringError, RuntimeError):
    """A judge could not be asked, or what it answered cannot be used."""


class ReadWarning(UserWarning):
    """Something in a file is not used, or was read with a documented tolerance."""
