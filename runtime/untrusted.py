"""Untrusted text as it may stand in a prompt: what could pose as a part of its structure is made harmless.

The adapters insert text verbatim, so a text that contains `[[ ## answer ## ]]` could pose as a field of the prompt, or
`</spans>` end one where fields are XML. And what stands between the marks of DSPy's custom types
(`<<CUSTOM-TYPE-START-IDENTIFIER>>`) becomes a part of the message of its own: an image, which the provider of the model
then fetches from where a document says. Servers of open models read the tokens of their chat templates
(`<|im_end|>`, `[INST]`) in any text: a document could end its own turn and begin one of the model. A word joiner inside
a marker takes its force away and can be taken out again, so that a quote still verifies. Nothing else is touched: with
anything in between (a space, zero-width or bidirectional characters) it is no marker to anybody.
"""

import re
from collections.abc import Callable
from typing import Any, TypeVar

from dspy import Signature
from pydantic import BaseModel

import signatures

T = TypeVar("T")
MARKER = "[[ ##"
NEUTRAL = "[[\u2060 ##"
_DRIVEN = ("history", "tools", "next_thought", "tool_calls", "reasoning", "code")
_DRIVEN += ("repl_history", "variables_info", "iteration", "retry_feedback", "tool_call_results")
"""Fields that DSPy's own modules, and a retry, add to those of the suite's signatures."""


def _field_names() -> list[str]:
    exported = (getattr(signatures, name) for name in signatures.__all__)
    asked = [each for each in exported if isinstance(each, type) and issubclass(each, Signature)]
    return sorted({*_DRIVEN, *(name for each in asked for name in each.fields)})


_NAMES = "|".join(_field_names())
_TURNS = "s|bos|eos|pad|unk|start_of_turn|end_of_turn|tool_call|tool_response"
_TOOLS = "INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS"
_AFTER = {
    "<": rf"/?(?:{_NAMES}|{_TURNS})>|<CUSTOM-TYPE-|[|｜][^\s<>]{{1,64}}[|｜]>|</?SYS>>",
    r"\[": rf"/?(?:{_TOOLS})\]",
}
"""What makes a marker of the character before it."""
_OPENING = re.compile("|".join(f"{mark}(?={rest})" for mark, rest in _AFTER.items()))
_NEUTRAL_OPENING = re.compile("|".join(f"{mark}\u2060(?={rest})" for mark, rest in _AFTER.items()))


def neutralize(text: str) -> str:
    """The text with its markers made harmless."""
    return _OPENING.sub(lambda found: found[0] + "\u2060", text.replace(MARKER, NEUTRAL))


def restore(text: str) -> str:
    """The text as it was before `neutralize`."""
    return _NEUTRAL_OPENING.sub(lambda found: found[0][0], text.replace(NEUTRAL, MARKER))


def neutralized(value: Any) -> Any:
    """A value of a prompt with the markers in all its texts made harmless."""
    return _mapped(neutralize, value)


def restored(value: T) -> T:
    """A value of a reply with the texts as they were before `neutralized`."""
    return _mapped(restore, value)


def _mapped(change: Callable[[str], str], value: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(_mapped(change, each) for each in value)
    if isinstance(value, dict):
        return {_mapped(change, name): _mapped(change, each) for name, each in value.items()}
    if isinstance(value, BaseModel):
        # Not by iteration, which some models (the history of a REPL) define over something else.
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        return value.model_copy(
            update={name: _mapped(change, each) for name, each in fields.items()}
        )
    return value
