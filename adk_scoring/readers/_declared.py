"""Small things that many logs have in common: declared tools, counts of tokens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..model import Tool
from ._reading import number, the_text

__all__ = ["declared_tools", "total", "whole"]

_SCHEMAS = ("parameters", "parameters_json_schema", "parametersJsonSchema", "input_schema", "inputSchema")


def declared_tools(items: Any) -> tuple[Tool, ...] | None:
    """The tools that were declared to a model, bare or as OpenAI wraps them; ``None`` if `items` is no list.

    >>> declared_tools([{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}])
    (Tool(name='find', description='', parameters={'type': 'object'}, annotations={}),)
    """
    if not isinstance(items, list):
        return None
    tools = []
    for item in items:
        body = item.get("function", item) if isinstance(item, dict) else None
        if isinstance(body, dict) and isinstance(body.get("name"), str) and body["name"]:
            schema = next((body[key] for key in _SCHEMAS if isinstance(body.get(key), dict)), None)
            tools.append(Tool(body["name"], the_text(body.get("description")), schema))
    return tuple(tools)


def whole(value: Any) -> int | None:
    """A count as a whole number, written as a number or as digits; ``None`` if it is none."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 19:
        return int(value)
    count = number(value)
    return int(count) if count is not None and abs(count) < 2**63 else None


def total(records: Iterable[dict[str, Any]], key: str) -> int | None:
    """The sum of a count over records; ``None`` if none of them has it.

    >>> total([{"tokens": 3}, {}, {"tokens": "4"}], "tokens")
    7
    """
    counts = [count for record in records if (count := whole(record.get(key))) is not None]
    return sum(counts) if counts else None
