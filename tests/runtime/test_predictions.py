"""Predictions in the journal: what comes back is what a later turn of a conversation needs."""

from typing import Any

import dspy
import pytest
from pydantic_core import from_json, to_json

from runtime.predictions import plain_outputs, rebuilt


def look(pattern: str) -> str:
    """Look for a pattern."""
    return pattern


SIGNATURE: Any = dspy.ReActV2(
    dspy.Signature("question -> answer"),  # type: ignore[arg-type]
    tools=[look],
).react.signature
CALLS = [{"name": "look", "args": {"pattern": 'a "b"\n'}}, {"name": "submit", "args": {}}]


@pytest.mark.parametrize("thought", [dspy.Reasoning(content="Because."), None])
def test_tool_calls_and_thoughts_come_back_typed(thought: dspy.Reasoning | None) -> None:
    """A service that replies by native tool calls leaves the thought out: None stays None."""
    made = dspy.Prediction(next_thought=thought, tool_calls=dspy.ToolCalls.from_dict_list(CALLS))
    kept = from_json(to_json(plain_outputs(made, SIGNATURE.output_fields)))
    again = rebuilt(SIGNATURE, kept)
    assert isinstance(again.tool_calls, dspy.ToolCalls)
    assert [(each.name, each.args) for each in again.tool_calls.tool_calls] == [
        (each["name"], each["args"]) for each in CALLS
    ]
    assert again.next_thought == thought
    assert isinstance(again.next_thought, type(thought))
