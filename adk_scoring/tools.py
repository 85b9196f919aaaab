"""The tools an agent has, read from what is at hand: an MCP server's ``tools/list``, declarations, a plain dict.

In: parsed JSON. Out: `Tool`s, with JSON Schemas and hints where the source has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .errors import ConfigError
from .model import Tool

__all__ = ["read_tools"]

_SCHEMA_KEYS = ("inputSchema", "input_schema", "parameters_json_schema", "parametersJsonSchema", "parameters")


def read_tools(tools: Any) -> tuple[Tool, ...]:
    """Read a list of tools.

    Args:
        tools: the answer of an MCP server to ``tools/list`` (or its ``result``); a list of MCP, OpenAI, Anthropic or
            Gemini declarations, `Tool`s or names; or a dict of names to MCP annotations, where ``True`` stands for
            ``{"readOnlyHint": true}`` and ``False`` for ``{"readOnlyHint": false}``.

    Raises:
        ConfigError: it is none of these; the message says which item.

    >>> read_tools({"get_leave": True, "update_leave": {"readOnlyHint": False, "destructiveHint": False}})[0]
    Tool(name='get_leave', description='', parameters=None, annotations={'readOnlyHint': True})
    >>> read_tools({"tools": [{"name": "find", "inputSchema": {"type": "object"}}]})
    (Tool(name='find', description='', parameters={'type': 'object'}, annotations={}),)
    """
    if isinstance(tools, Mapping):
        if isinstance(tools.get("result"), Mapping):
            tools = tools["result"]
        if isinstance(tools.get("tools"), list | tuple):
            return read_tools(tools["tools"])
        return tuple(Tool(name, annotations=_annotations(hints, f"tools.{name}")) for name, hints in tools.items())
    if not isinstance(tools, Sequence) or isinstance(tools, str | bytes):
        raise ConfigError(f"tools: wanted a list of tools or a tools/list answer, got {tools!r:.80}")
    read: list[Tool] = []
    for index, item in enumerate(tools):
        where = f"tools[{index}]"
        if isinstance(item, Mapping):
            declarations = item.get("function_declarations", item.get("functionDeclarations"))
            if isinstance(declarations, list | tuple):
                read += read_tools(declarations)
            else:
                read.append(_declared(item, where))
        elif isinstance(item, Tool):
            read.append(item)
        elif isinstance(item, str):
            read.append(Tool(item))
        else:
            raise ConfigError(f"{where}: wanted a tool declaration or a name, got {item!r:.80}")
    return tuple(read)


def _declared(item: Mapping[str, Any], where: str) -> Tool:
    body = item["function"] if isinstance(item.get("function"), Mapping) else item
    name = body.get("name")
    if not isinstance(name, str) or not name:
        raise ConfigError(f"{where}: no name in {dict(item)!r:.80}")
    schema = next((body[key] for key in _SCHEMA_KEYS if body.get(key) is not None), None)
    if schema is not None and not isinstance(schema, Mapping):
        raise ConfigError(f"{where}: the schema of {name} is {schema!r:.60}; wanted an object")
    hints = body.get("annotations")
    return Tool(
        name, str(body.get("description") or ""), schema, _annotations(hints if hints is not None else {}, where)
    )


def _annotations(hints: Any, where: str) -> Mapping[str, Any]:
    if isinstance(hints, bool):
        return {"readOnlyHint": hints}
    if not isinstance(hints, Mapping):
        raise ConfigError(f'{where}: wanted annotations such as {{"readOnlyHint": true}}, got {hints!r:.60}')
    return hints
