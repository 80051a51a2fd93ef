"""A prompt taken apart, and a reply put together: what every embedded engine shares.

An engine is given a `dspy.lm15.Request`, the same text that a hosted model would be given. This
module reads that text and nothing else: the declared input and output fields, the values between
the field markers, and the format that the reply must have. The JSON and the chat prompts of DSPy
are understood, and two of its own programs are told by what they ask for: `dspy.RLM`, which wants the
next cell of code, and `dspy.ReActV2`, which wants the next tool call and tells earlier ones as a conversation.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from dspy import Signature, lm15
from pydantic import BaseModel

import signatures

ReplyFormat = Literal["json", "chat"]

CHARACTERS_PER_TOKEN = 4

_FIELD = re.compile(r"^\d+\. `(\w+)`", re.MULTILINE)
OUTPUTS_HEADER = "Your output fields are:"
_LAYOUT_HEADER = "All interactions will be structured"
_JSON_TAIL = "Respond with a JSON object in the following order of fields:"
_CHAT_TAIL = "Respond with the corresponding output fields, starting with the field"
REPL_ACTION = "ReplAction"
REACT_TURN = "ReactTurn"
_FOREIGN = {("reasoning", "code"): REPL_ACTION, ("next_thought", "tool_calls"): REACT_TURN}
"""Names for the prompts of DSPy's own programs, by their outputs."""


@dataclass(frozen=True)
class PromptRequest:
    """One request as an engine reads it. `inputs` maps field names to the text shown for them.

    `signature` names the signature of the suite that asks for exactly these outputs (a leading
    `reasoning` is allowed) or the program of DSPy that does, or is None. `messages` holds the conversation; its last
    message of a user is `user`. A conversation gives its inputs once, at its beginning.
    """

    system: str
    user: str
    inputs: Mapping[str, str]
    outputs: tuple[str, ...]
    format: ReplyFormat
    signature: str | None
    messages: tuple[lm15.Message, ...] = ()

    @classmethod
    def parse(cls, request: lm15.Request) -> "PromptRequest":
        system = text_of(request.system)
        asked = [text_of(each.parts) for each in request.messages if each.role == "user"]
        user = asked[-1] if asked else ""
        input_names, outputs = _declared_fields(system)
        signature = _signature_of(outputs)
        inputs: dict[str, str] = {}
        for text in reversed(asked if signature == REACT_TURN else asked[-1:]):
            inputs = {**_values(text, input_names), **inputs}
        return cls(
            system=system,
            user=user,
            inputs=inputs,
            outputs=outputs,
            format="chat" if user.rfind(_CHAT_TAIL) > user.rfind(_JSON_TAIL) else "json",
            signature=signature,
            messages=tuple(request.messages),
        )

    def value(self, name: str, default: Any = None) -> Any:
        """The value of an input that is shown as JSON (a list, a number), or `default`."""
        try:
            return json.loads(self.inputs[name])
        except (KeyError, json.JSONDecodeError):
            return default

    def reply(self, values: Mapping[str, Any]) -> str:
        """The reply text for `values`, in the format asked; a `reasoning` not given stays empty."""
        reasoning = {"reasoning": ""} if self.outputs[:1] == ("reasoning",) else {}
        return render_reply({**reasoning, **values}, self.format)

    @property
    def prompt(self) -> str:
        """Everything that the model is shown, as one text."""
        return "\n\n".join([self.system, *(text_of(each.parts) for each in self.messages)])


def render_reply(values: Mapping[str, Any], format: ReplyFormat = "json") -> str:
    """The reply text for output `values` (plain data or pydantic models)."""
    plain = {name: _plain(value) for name, value in values.items()}
    if format == "json":
        return json.dumps(plain, ensure_ascii=False)
    sections = [f"[[ ## {name} ## ]]\n{_chat_value(value)}" for name, value in plain.items()]
    return "\n\n".join([*sections, "[[ ## completed ## ]]"])


def respond(
    request: lm15.Request,
    text: str,
    model: str = "",
    finish_reason: lm15.FinishReason = "stop",
    usage: lm15.Usage | None = None,
    logprobs: tuple[lm15.TokenLogprob, ...] | None = None,
) -> lm15.Response:
    """A response with usage counted as one token for four characters, rounded up, unless it is given."""
    return lm15.Response(
        id=None,
        model=model or request.model,
        message=lm15.Message.assistant(text or " "),
        finish_reason=finish_reason,
        usage=usage or measured_usage(request, text),
        logprobs=logprobs,
    )


def measured_usage(request: lm15.Request, text: str) -> lm15.Usage:
    """Token usage of a request and its reply, estimated from their characters."""
    shown = text_of(request.system), *(text_of(message.parts) for message in request.messages)
    shown = sum(len(text) for text in shown)
    return lm15.Usage(input_tokens=_tokens(shown), output_tokens=_tokens(len(text)))


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


def text_of(parts: Any) -> str:
    """The text of the parts of a message, or of a system prompt."""
    if parts is None or isinstance(parts, str):
        return parts or ""
    return "\n".join(filter(None, map(_part_text, parts)))


def _part_text(part: Any) -> str:
    """The text of a part; of a tool call its name and arguments, of a tool result its content."""
    if isinstance(part, lm15.ToolCallPart):
        return f"{part.name} {json.dumps(part.input, ensure_ascii=False, default=str)}"
    if isinstance(part, lm15.ToolResultPart):
        return text_of(part.content)
    return part.text if isinstance(part, lm15.TextPart) else ""


def _declared_fields(system: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    declared = system.partition(_LAYOUT_HEADER)[0]
    inputs, _, outputs = declared.partition(OUTPUTS_HEADER)
    return tuple(_FIELD.findall(inputs)), tuple(_FIELD.findall(outputs))


def _values(user: str, names: tuple[str, ...]) -> dict[str, str]:
    """The text between the markers; one counts at the start of a line, in the declared order."""
    tail = max(user.rfind(_JSON_TAIL), user.rfind(_CHAT_TAIL))
    body = user if tail < 0 else user[:tail]
    found: list[tuple[str, int, int]] = []
    position = 0
    for name in names:
        marker = _marker(name).search(body, position)
        if marker:
            found.append((name, marker.start(), marker.end()))
            position = marker.end()
    ends = [start for _, start, _ in found[1:]] + [len(body)]
    pairs = zip(found, ends, strict=True) if found else ()
    return {name: body[begin:end].strip("\n") for (name, _, begin), end in pairs}


@cache
def _marker(name: str) -> re.Pattern[str]:
    return re.compile(rf"^\[\[ ## {name} ## \]\](?:\n|\Z)", re.MULTILINE)


def signature_name(signature: Any) -> str:
    """The name of a signature of the suite, also when its instructions were rewritten."""
    return _signature_of(tuple(signature.output_fields)) or signature.__name__


@cache
def _known_outputs() -> dict[tuple[str, ...], str]:
    exported = (getattr(signatures, name) for name in signatures.__all__)
    known = [item for item in exported if isinstance(item, type) and issubclass(item, Signature)]
    return {tuple(item.output_fields): item.__name__ for item in known} | _FOREIGN


def _signature_of(outputs: tuple[str, ...]) -> str | None:
    known = _known_outputs()
    return known.get(outputs) or known.get(outputs[1:] if outputs[:1] == ("reasoning",) else ())


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _chat_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
