"""Content and parts, as google-genai and its relatives write them -> text, calls and answers, usage, rubrics, tools.

snake_case and camelCase, explicit nulls, bare strings, ``{"role", "content": "text"}``, absent roles.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..errors import ReadError
from ..model import Rubric, Tool, Usage
from ._calls import CallLog
from ._reading import Reading, get, json_text, kind_of, number, show, the_list, the_object, the_text

__all__ = ["Content", "UsageSum", "log_content", "parts_of", "rubrics_of", "text_of", "tools_of"]


def parts_of(content: Any, where: str) -> list[Any] | tuple[Any, ...]:
    """The parts of a content in any of its shapes; none if it is null."""
    if isinstance(content, dict):
        for key in ("parts", "content", "text"):
            body = content.get(key)
            if body is not None:
                break
        else:
            return ()
    else:
        body = content
    if body is None:
        return ()
    if isinstance(body, list | tuple):
        return body
    if isinstance(body, str | dict):
        return (body,)
    raise ReadError(
        f"found {kind_of(body)}, wanted a content like {{'role', 'parts': [{{'text'}}]}}: {show(body)}", location=where
    )


def text_of(content: Any, reading: Reading, where: str) -> str | None:
    """The text parts that are not thoughts, concatenated; ``None`` if there is no such part.

    >>> text_of({"parts": [{"text": "hm", "thought": True}, {"text": "It is "}, {"text": "20C."}]}, Reading(""), "")
    'It is 20C.'
    """
    texts = []
    for part in parts_of(content, where):
        text = _part_text(part, reading, where)
        if text is not None:
            texts.append(text)
    return "".join(texts) if texts else None


def _part_text(part: Any, reading: Reading, where: str) -> str | None:
    if isinstance(part, dict):
        text = part.get("text")
        if text is None or part.get("thought"):
            return None
        if isinstance(text, str):
            return text
        reading.note(f"'text' is {kind_of(text)}, read as its JSON text", where)
        return json_text(text)
    if part is None or isinstance(part, str):
        return part
    raise ReadError(f"found {kind_of(part)}, wanted a part like {{'text'}}: {show(part)}", location=where)


class Content(NamedTuple):
    """What one content held: its text, how many calls and answers, and whether it ends in a code execution's result."""

    text: str | None
    calls: int
    answers: tuple[Any, ...]
    ends_in_code_result: bool


def log_content(content: Any, log: CallLog, reading: Reading, where: str, *, author: str | None, step: int) -> Content:
    """Add the calls of a content to `log` under one step; return the rest of it, answers for the caller to place."""
    texts: list[str] = []
    answers: list[Any] = []
    before = len(log)
    part: Any = None
    for part in parts_of(content, where):
        text = _part_text(part, reading, where)
        if text is not None:
            texts.append(text)
        if isinstance(part, dict):
            call = get(part, "function_call")
            if call is not None:
                log.call(call, author=author, step=step, where=where)
            answer = get(part, "function_response")
            if answer is not None:
                answers.append(answer)
    ends_in_code = isinstance(part, dict) and get(part, "code_execution_result") is not None
    return Content("".join(texts) if texts else None, len(log) - before, tuple(answers), ends_in_code)


class UsageSum:
    """Adds up the usage metadata of model events; `total` is ``None`` if none was seen."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen: list[dict[str, Any]] = []

    def add(self, usage: Any) -> None:
        """Add one model event's ``usage_metadata``; anything but an object is nothing."""
        if isinstance(usage, dict) and usage:
            self._seen.append(usage)

    def total(self) -> Usage | None:
        """The sums; a count that no event had is ``None``."""
        if not self._seen:
            return None
        return Usage(
            input_tokens=self._sum("prompt_token_count", "tool_use_prompt_token_count"),
            output_tokens=self._sum("candidates_token_count", "thoughts_token_count"),
            cached_tokens=self._sum("cached_content_token_count"),
            reasoning_tokens=self._sum("thoughts_token_count"),
            model_calls=len(self._seen),
        )

    def _sum(self, *keys: str) -> int | None:
        counts = [count for usage in self._seen for key in keys if (count := number(get(usage, key))) is not None]
        finite = [int(count) for count in counts if abs(count) < 2**63]
        return sum(finite) if finite else None


def rubrics_of(items: Any, reading: Reading, where: str) -> tuple[Rubric, ...]:
    """Rubrics as ADK (``rubric_id``, ``rubric_content.text_property``) or trpc (``id``, ``content.text``)."""
    rubrics = []
    for i, item in enumerate(the_list(items, where)):
        place = f"{where}[{i}]"
        record = the_object(item, place)
        content = get(record, "rubric_content") or record.get("content") or {}
        text = (get(content, "text_property") or content.get("text")) if isinstance(content, dict) else content
        text = text or record.get("text") or record.get("description")
        if not text:
            reading.note("a rubric without a text, left out", place)
            continue
        weight = number(record.get("weight"))
        rubrics.append(
            Rubric(
                the_text(get(record, "rubric_id") or record.get("id")) or f"rubric_{i}",
                the_text(text),
                1.0 if weight is None else weight,
                type=record.get("type") if isinstance(record.get("type"), str) else None,
            )
        )
    return tuple(rubrics)


def tools_of(app_details: Iterable[Any], where: str) -> tuple[tuple[Tool, ...] | None, str]:
    """The declared tools and the instructions in ADK's ``app_details``; ``(None, "")`` if there are none.

    Args:
        app_details: those of every turn; a tool or an agent that comes again counts once.
        where: the location, for errors.

    Returns:
        The tools, and the instructions: of a single agent as they are, of several each under its agent's name.
    """
    tools: dict[tuple[str, str], Tool] = {}
    instructions: dict[str, str] = {}
    declared = False
    for details in app_details:
        if details is None:
            continue
        agents = get(the_object(details, where), "agent_details") or {}
        for key, agent in the_object(agents, where).items():
            agent = the_object(agent, where)
            name = the_text(agent.get("name") or key)
            if isinstance(agent.get("instructions"), str) and agent["instructions"]:
                instructions[name] = agent["instructions"]
            for group in the_list(get(agent, "tool_declarations"), where):
                declared = True
                for tool in the_list(get(the_object(group, where), "function_declarations"), where):
                    made = _tool(the_object(tool, where), name)
                    tools.setdefault((name, made.name), made)
    texts = list(instructions.values())
    if len(texts) > 1:
        texts = [f"[{name}]\n{text}" for name, text in instructions.items()]
    return (tuple(tools.values()) if declared else None), "\n\n".join(texts)


def _tool(record: dict[str, Any], agent: str) -> Tool:
    schema = get(record, "parameters_json_schema")
    if schema is None and isinstance(record.get("parameters"), dict):
        schema = _json_schema(record["parameters"])
    annotations = record.get("annotations")
    return Tool(
        the_text(record.get("name")),
        the_text(record.get("description")),
        schema if isinstance(schema, dict) else None,
        annotations if isinstance(annotations, dict) else {},
        agent=agent,
    )


_SCHEMA_KEYS = {
    "any_of": "anyOf",
    "max_items": "maxItems",
    "min_items": "minItems",
    "max_length": "maxLength",
    "min_length": "minLength",
    "max_properties": "maxProperties",
    "min_properties": "minProperties",
    "additional_properties": "additionalProperties",
}


def _json_schema(schema: Any) -> Any:
    """A google-genai Schema (``"type": "OBJECT"``, ``any_of``, ``nullable``) as the JSON Schema it means."""
    if not isinstance(schema, dict):
        return schema
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if value is None or key in ("nullable", "property_ordering", "propertyOrdering"):
            continue
        name = str(_SCHEMA_KEYS.get(key, key))
        if name == "type" and isinstance(value, str):
            out["type"] = value.lower()
        elif name == "properties" and isinstance(value, dict):
            out["properties"] = {k: _json_schema(v) for k, v in value.items()}
        elif name == "anyOf" and isinstance(value, list):
            out["anyOf"] = [_json_schema(v) for v in value]
        elif name in ("items", "additionalProperties"):
            out[name] = _json_schema(value)
        else:
            out[name] = value
    if schema.get("nullable") is True and isinstance(out.get("type"), str):
        out["type"] = [out["type"], "null"]
    return out
