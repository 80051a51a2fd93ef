"""Terms of a grammar: texts and JSON schemas as llguidance reads them, each on one line."""

import json
from typing import Any

_ONE_LINE = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""As Python writes JSON, and as the prompts show it: no token is spent on new lines."""


def matching(schema: Any) -> str:
    """The term for any JSON that is of a schema."""
    return f"%json {quoted({**schema, 'x-guidance': _ONE_LINE})}"


def quoted(value: Any) -> str:
    """A value as JSON; of a text, the term for the text itself."""
    return json.dumps(value, ensure_ascii=False)


def inner(text: str) -> str:
    """A text as it stands between the quotation marks of JSON."""
    return quoted(text)[1:-1]
