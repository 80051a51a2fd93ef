"""Feedback: what the prompts of optimizers say about earlier replies. Inputs and outputs are data, not feedback."""

import json
import re
from collections.abc import Iterator
from typing import Any

_HEADING = re.compile(r"^(#{1,2}) +(.*)$", re.MULTILINE)
_FENCED = re.compile(r"```\n(.*?)\n```", re.DOTALL)


def feedback_in(examples: Any) -> list[str]:
    """The feedback of reflective examples: dicts with the key "Feedback"."""
    listed = examples if isinstance(examples, list) else []
    return [
        str(each["Feedback"]) for each in listed if isinstance(each, dict) and "Feedback" in each
    ]


def feedback_written(text: str) -> list[str]:
    """The feedback of examples that are written out under headings, as GEPA's own template does."""
    return list(_sections(text, "feedback"))


def fenced(text: str) -> str | None:
    """The first block between fences: the current instruction in GEPA's own template."""
    found = _FENCED.search(text)
    return found[1] if found else None


def texts_in(info: str) -> list[str]:
    """The texts within a JSON object, or the text itself: what SIMBA says about a reward."""
    try:
        return list(_texts(json.loads(info)))
    except json.JSONDecodeError:
        return [info]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def _sections(text: str, wanted: str) -> Iterator[str]:
    headings = list(_HEADING.finditer(text))
    ends = [each.start() for each in headings[1:]] + [len(text)]
    for heading, end in zip(headings, ends, strict=True):
        if heading[2].strip().lower() == wanted:
            yield text[heading.end() : end].strip()
