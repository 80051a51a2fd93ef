"""An adapter for questions that are answered in one word: a plain prompt, and the word alone as the reply.

A small model knows better which word it means where no JSON stands around it, and the probability of the word says how
well (`benchmarks/judge.py`). Each value stands on one line, so that nothing within it can pose as another part.
"""

from typing import Any, get_args

import dspy
from dspy.utils.exceptions import AdapterParseError

_AROUND = " \t\r\n\"'`*.,:;!\u2581\u0120"
"""What may stand around a word: punctuation, and what tokenizers write for a space."""


class OneWordAdapter(dspy.Adapter):
    """For signatures with one output, a `Literal` of words. What it asks is in the description of that output.

    A reply is its first word, in any case: it may be cut off after it. Raises AdapterParseError for any other one.
    """

    reads_cut_replies = True

    def format_system_message(self, signature: Any) -> str:
        return signature.instructions

    def format_user_message_content(
        self,
        signature: Any,
        inputs: dict[str, Any],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,
    ) -> str:
        _, output = _output(signature)
        parts = [_part(name, inputs[name]) for name in signature.input_fields if name in inputs]
        return "\n\n".join(filter(None, [prefix, *parts, output.json_schema_extra["desc"], suffix]))

    def format_assistant_message_content(
        self, signature: Any, outputs: dict[str, Any], missing_field_message: Any = None
    ) -> str:
        return str(outputs.get(_output(signature)[0], missing_field_message))

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        name, output = _output(signature)
        words = get_args(output.annotation)
        word = first_word(completion)
        if word not in words:
            raise AdapterParseError(
                adapter_name=type(self).__name__,
                signature=signature,
                lm_response=completion,
                message=f"Answer with one word alone: {' or '.join(words)}",
            )
        return {name: word}


def first_word(text: str) -> str:
    """The first word of a reply or of a token, in lower case, without what stands around it; empty without one."""
    return "".join(text.strip(_AROUND).split(maxsplit=1)[:1]).strip(_AROUND).casefold()


def _output(signature: Any) -> tuple[str, Any]:
    ((name, field),) = signature.output_fields.items()
    return name, field


def _part(name: str, value: Any) -> str:
    title = name.replace("_", " ").capitalize()
    if isinstance(value, list):
        return "\n".join([f"{title}:", *(f"- {_line(each)}" for each in value)])
    return f"{title}: {_line(value)}"


def _line(value: Any) -> str:
    return " ".join(str(value).split())
