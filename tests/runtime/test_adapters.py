"""Prepared adapters: the same messages, written once, and no second call."""

from typing import Any

import dspy
import pytest

from runtime.models.adapters import prepared
from signatures import AnalyzeLeaf, Plan

ADAPTERS = (dspy.JSONAdapter(), dspy.ChatAdapter(), dspy.XMLAdapter())


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: type(adapter).__name__)
def test_the_messages_are_the_same(adapter: dspy.Adapter) -> None:
    inputs = dict.fromkeys(Plan.input_fields, "x")
    assert prepared(adapter).format(Plan, [], inputs) == adapter.format(Plan, [], inputs)
    assert type(prepared(adapter)) is type(adapter)


def test_the_system_message_is_written_once_for_a_signature() -> None:
    class Counting(dspy.JSONAdapter):
        written = 0

        def format_system_message(self, signature: type[dspy.Signature]) -> str:
            Counting.written += 1
            return super().format_system_message(signature)

    adapter = prepared(Counting())
    messages = [
        adapter.format_system_message(signature)
        for signature in (Plan, AnalyzeLeaf, Plan, AnalyzeLeaf)
    ]
    assert Counting.written == 2
    assert messages[0] == messages[2] != messages[1]


def test_instructions_that_change_are_seen() -> None:
    signature: Any = Plan.with_instructions("Old.")
    adapter = prepared(dspy.JSONAdapter())
    assert "Old." in adapter.format_system_message(signature)
    signature.instructions = "New."
    assert "New." in adapter.format_system_message(signature)


def test_the_adapter_of_the_user_is_left_as_it_was() -> None:
    adapter = dspy.ChatAdapter()
    assert not prepared(adapter).use_json_adapter_fallback  # type: ignore[attr-defined]
    assert adapter.use_json_adapter_fallback
    assert "format_system_message" not in vars(adapter)
