"""The prompt of a local model: shorter than DSPy's, and the same in all that it says."""

import json
from typing import Any

import dspy
import pytest
from dspy import lm15

import signatures
from runtime.models.local.prompt import messages, shape, shortened
from signatures import AnalyzeLeaf
from tests.runtime.local_desk import leaf_inputs, request_of, span


def test_the_shape_of_the_outputs_stands_in_place_of_their_schemas() -> None:
    request = request_of(leaf_inputs([span("disk full")]))
    system, user = messages(request)
    assert '"evidence": [{"claim_id": string, "span_id": string, "quote": string}, ...]' in str(
        system["content"]
    )
    assert '"status": "direct" | "inferred" | "conflicting" | "insufficient"' in system["content"]
    assert "JSON schema" not in system["content"]
    assert AnalyzeLeaf.instructions.splitlines()[-1].strip() in system["content"]
    assert user["content"].startswith("[[ ## question ## ]]\nWhat failed?")


EXPORTED = [getattr(signatures, name) for name in signatures.__all__]
SUITE = [each for each in EXPORTED if isinstance(each, type) and issubclass(each, dspy.Signature)]


@pytest.mark.parametrize("signature", SUITE)
def test_every_signature_of_the_suite_gets_shorter_and_keeps_its_fields(signature: Any) -> None:
    system = dspy.JSONAdapter().format_system_message(signature)
    short = shortened(system)
    assert len(short) <= len(system)
    assert "JSON schema" not in short
    assert all(f'"{field}": ' in short for field in signature.output_fields)


def test_demos_are_shown_in_the_form_of_the_reply() -> None:
    reply = {"claims": [], "é": 1}
    said = lm15.Message.assistant(json.dumps(reply, indent=2))
    request = lm15.Request("m", (lm15.Message.user("q"), said))
    assert messages(request)[1] == {"role": "assistant", "content": '{"claims": [], "é": 1}'}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "You are a critic.",
        "Outputs will be a JSON object with the following fields.\n\nnone",
        "Outputs will be a JSON object with the following fields.\n\n{\nIn adhering to this structure",
    ],
)
def test_another_prompt_is_left_as_it_is(text: str) -> None:
    assert shortened(text) == text


def test_a_schema_that_refers_to_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    shown = shape({"$ref": "#/$defs/Node", "$defs": {"Node": node}})
    assert shown.startswith('{"next": {"next": ')
    assert "..." in shown
