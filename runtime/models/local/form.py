"""The form of a reply: a grammar that a local model is held to, token by token.

It is made from the schema that the request carries and from the text that the request shows. Lists and strings are
bounded, since a small model that repeats itself fills its window with one list; ids of spans are those shown, so that
none is invented; and nothing is spent on white space. The model's choice is narrowed, never made.
"""

import re
from collections.abc import Mapping
from typing import Any

from runtime.models.local.claims_form import claims_rules, makes_claims, shown_spans
from runtime.models.local.terms import matching
from runtime.models.request import PromptRequest

LONGEST_LIST = 24
LONGEST_TEXT = 4_000
"""Characters of a string at the top of a reply, such as an answer."""
LONGEST_NESTED = 400
"""Characters of a string within a list."""
LONGEST: Mapping[str, int] = {"reasoning": 600, "reason": 300}
"""Characters of those at the top that are asked to be short, and are not by a small model."""
_HEADER = "%llguidance {}\n"
_SPAN_ID = re.compile(r'"span_id": ?"([^"\\]{1,64})"')


def grammar(response_format: Any, prompt: PromptRequest) -> str | None:
    """The grammar for a reply, or None where the request asks for plain text."""
    if not response_format:
        return None
    schema = response_format.get("schema") or {"type": "object"}
    spans = shown_spans(prompt)
    outputs = tuple(schema.get("properties") or ())
    if spans is not None and makes_claims(outputs):
        reasoning = {"type": "string", "maxLength": LONGEST["reasoning"]}
        first = matching(reasoning) if outputs[0] == "reasoning" else None
        return _HEADER + claims_rules(spans, first)
    return f"{_HEADER}start: {matching(bounded_schema(schema, prompt))}\n"


def bounded_schema(schema: Any, prompt: PromptRequest) -> Any:
    """The schema with bounds for lists and strings, and with the ids that the prompt shows."""
    ids = list(dict.fromkeys(_SPAN_ID.findall(prompt.user)))
    defs = {name: _bounded(part, ids, 1) for name, part in (schema.get("$defs") or {}).items()}
    bounded = _bounded({key: part for key, part in schema.items() if key != "$defs"}, ids, 0)
    return {**bounded, "$defs": defs} if defs else bounded


def _bounded(schema: Any, ids: list[str], depth: int) -> Any:
    if isinstance(schema, list):
        return [_bounded(part, ids, depth) for part in schema]
    if not isinstance(schema, dict):
        return schema
    bounded = {key: _bounded(part, ids, depth) for key, part in schema.items() if key not in _KEPT}
    bounded |= {key: schema[key] for key in _KEPT & schema.keys()}
    if "properties" in schema:
        bounded["properties"] = {
            name: _property(name, part, ids, depth) for name, part in schema["properties"].items()
        }
    if schema.get("type") == "array":
        bounded["items"] = _bounded(schema.get("items", {}), ids, depth + 1)
        bounded["maxItems"] = min(schema.get("maxItems", LONGEST_LIST), LONGEST_LIST)
    if (
        schema.get("type") == "string"
        and not {"enum", "const", "pattern", "format"} & schema.keys()
    ):
        longest = LONGEST_NESTED if depth else LONGEST_TEXT
        bounded["maxLength"] = min(schema.get("maxLength", longest), longest)
    return bounded


_KEPT = frozenset(("properties", "enum", "const", "required", "default", "title", "description"))
"""Keys whose values are names or data, not schemas."""


def _property(name: str, schema: Any, ids: list[str], depth: int) -> Any:
    if name == "span_id" and ids:
        return {"type": "string", "enum": ids}
    if not depth and name in LONGEST and schema.get("type") == "string":
        return {**schema, "maxLength": LONGEST[name]}
    return _bounded(schema, ids, depth)
