"""Python text in a log (``{'city': 'Paris'}``, ``find(q='tea')``) -> its parsed form; nothing of it is ever run."""

from __future__ import annotations

import ast
import warnings
from typing import Any

__all__ = ["expression", "literal", "value_of"]

_LONGEST = 100_000
_DEEPEST = 500
_FALLS = (ValueError, SyntaxError, TypeError, RecursionError, MemoryError)


def expression(text: str) -> ast.expr | None:
    """Parse one expression; ``None`` if the text is none, is too long or nested too deeply."""
    if len(text) > _LONGEST or max(map(text.count, "([{-+~")) > _DEEPEST:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about escapes in somebody else's text
        try:
            return ast.parse(text.strip(), mode="eval").body
        except _FALLS:
            return None


def value_of(node: ast.expr) -> Any:
    """The value of an expression made of constants, lists, tuples and objects, as JSON has them.

    Raises:
        ValueError: it is made of anything else.
    """
    try:
        return _as_json(ast.literal_eval(node))
    except _FALLS as error:
        raise ValueError(str(error)) from None


def _as_json(value: Any) -> Any:
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _as_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(each) for each in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise ValueError(f"JSON has no {type(value).__name__} like this")


def literal(value: Any) -> Any:
    """`value`, or the object in it if it is text in which Python shows one, as LangChain's tracers write arguments.

    >>> literal("{'city': 'Paris', 'days': 2}"), literal("open('x')")
    ({'city': 'Paris', 'days': 2}, "open('x')")
    """
    if not isinstance(value, str) or not value.startswith("{"):
        return value
    node = expression(value)
    try:
        return value_of(node) if isinstance(node, ast.Dict) else value
    except ValueError:
        return value
