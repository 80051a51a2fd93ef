"""The prompt as a small model is shown it: the same in fewer tokens.

DSPy shows the JSON schema of each output in full, and demos over many lines. A grammar holds the reply to the schema
anyway: the shape of each output is shown in one line, as an example would be, and demos are on one line, as the reply
will be. Everything else is sent as it is.
"""

import json
from typing import Any

from dspy import lm15

from runtime.models.request import text_of

_OPENING = "Outputs will be a JSON object with the following fields.\n\n"
_CLOSING = "\nIn adhering to this structure"
_SCHEMA_NOTE = "# note: the value you produce must adhere to the JSON schema: "
DEEPEST = 4
"""Levels of a shape that are shown; a schema may refer to itself."""


def messages(request: lm15.Request) -> list[dict[str, str]]:
    """The messages of a request as llama.cpp takes them."""
    system = text_of(request.system)
    told = [{"role": "system", "content": shortened(system)}] if system else []
    return [*told, *(_message(each) for each in request.messages)]


def shortened(system: str) -> str:
    """A system prompt with the shapes of the outputs in place of their schemas; any other text as it is."""
    before, opening, rest = system.partition(_OPENING)
    layout, closing, after = rest.partition(_CLOSING)
    fields = _object(layout)
    if not (closing and fields):
        return system
    shown = ", ".join(f'"{name}": {_value(told)}' for name, told in fields.items())
    return f"{before}{opening}{{{shown}}}{closing}{after}"


def shape(schema: Any, definitions: Any = None, depth: int = 0) -> str:
    """A JSON schema as one line: `[{"name": string, "status": "open" | "done"}, ...]`."""
    known = definitions or schema.get("$defs") or {}
    if "$ref" in schema:
        target = known.get(str(schema["$ref"]).rpartition("/")[2], {})
        return shape(target, known, depth + 1) if depth < DEEPEST else "..."
    if "enum" in schema:
        return " | ".join(json.dumps(each, ensure_ascii=False) for each in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(shape(each, known, depth) for each in schema["anyOf"])
    if schema.get("type") == "array":
        return f"[{shape(schema.get('items', {}), known, depth)}, ...]"
    if schema.get("properties"):
        parts = (f'"{name}": {shape(part, known, depth)}' for name, part in _ordered(schema))
        return f"{{{', '.join(parts)}}}"
    return str(schema.get("type", "any"))


def _ordered(schema: Any) -> list[tuple[str, Any]]:
    """The properties in the order in which they are asked: `required` keeps it where DSPy sorts by name."""
    properties = schema["properties"]
    names = [*filter(properties.__contains__, schema.get("required", ())), *properties]
    return [(name, properties[name]) for name in dict.fromkeys(names)]


def _value(told: Any) -> str:
    text = str(told)
    _, note, schema = text.partition(_SCHEMA_NOTE)
    found = _object(schema) if note else None
    return shape(found) if found else json.dumps(text, ensure_ascii=False)


def _message(message: lm15.Message) -> dict[str, str]:
    text = text_of(message.parts)
    if message.role != "assistant":
        return {"role": "user", "content": text}
    reply = _object(text)
    return {
        "role": "assistant",
        "content": json.dumps(reply, ensure_ascii=False) if reply is not None else text,
    }


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object that the text is, or None."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
