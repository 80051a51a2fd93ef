"""The reactor: the next tool call of a conversation, as `dspy.ReActV2` asks for it, and at last `submit`.

The conversation tells earlier turns either by parts for calls and results or, where the adapter writes them out, as
the text of a field. How many turns are left is not told, only when there are none.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dspy import lm15

from runtime.models.extractive.exploration import Turn, explored, output_of
from runtime.models.extractive.goal import Goal
from runtime.models.extractive.submission import Submitted, answer_text, submission

_NOW = "No turn is left"
_RESULTS = "[[ ## tool_call_results ## ]]\n"


def react(
    goals: Sequence[Goal], messages: Iterable[lm15.Message], instructions: str
) -> dict[str, Any]:
    """The next call; once nothing is left to be looked up, or no turn, the call that submits."""
    turns = list(_turns(messages))
    call, found = explored(goals, turns, 0) if _NOW in instructions else explored(goals, turns)
    if call is not None:
        return _calling(call.think, call.tool, call.arguments)
    submitted = submission(found)
    arguments = {
        "answer": answer_text(submitted),
        "claims": [as_submitted(each) for each in submitted],
    }
    return _calling("What the tools have shown is submitted.", "submit", arguments)


def as_submitted(statement: Submitted) -> dict[str, Any]:
    """A statement as plain data in the form of `SubmittedClaim`."""
    return {
        "text": statement.text,
        "status": statement.status,
        "time": statement.time,
        "evidence": [{"span_id": id, "quote": quote} for id, quote in statement.evidence],
    }


def _calling(thought: str, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "next_thought": thought,
        "tool_calls": {"tool_calls": [{"name": tool, "args": dict(arguments)}]},
    }


def _turns(messages: Iterable[lm15.Message]) -> Iterator[Turn]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, lm15.ToolResultPart):
                shown = "".join(
                    each.text for each in part.content if isinstance(each, lm15.TextPart)
                )
                yield Turn(part.name or "", output_of(shown))
            elif message.role == "user" and isinstance(part, lm15.TextPart):
                yield from _written_out(part.text)


def _written_out(text: str) -> Iterator[Turn]:
    """The results in the text of a message that has nothing but them."""
    if not text.startswith(_RESULTS):
        return
    try:
        results = json.loads(text.removeprefix(_RESULTS))["tool_call_results"]
    except (ValueError, KeyError, TypeError):
        return
    for each in results:
        value = each.get("value")
        output = value if isinstance(value, dict) else {"error": str(value)[:200]}
        yield Turn(str(each.get("name", "")), output)
