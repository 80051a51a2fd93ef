"""The form of a reply: whatever a model says within it is a reply that is taken, and cites only what it was shown."""

import json
import random
from typing import Any

import dspy
import llguidance
import pytest
from dspy.adapters.utils import parse_value
from hypothesis import example, given, settings
from hypothesis import strategies as st

from programs.leaf import check_leaf
from runtime.models.local.claims_form import LONGEST_QUOTE, MOST_CLAIMS
from runtime.models.local.form import LONGEST_LIST, LONGEST_TEXT, bounded_schema, grammar
from runtime.models.request import PromptRequest
from signatures import AnalyzeLeaf, JudgeSupport, Plan
from tests.runtime.local_desk import leaf_inputs, request_of, span

TOKENIZER = llguidance.LLTokenizer("byte")
CLOSING = frozenset(b'"]}')


def _said(form: str, dice: random.Random, limit: int = 6_000) -> str:
    """A reply within the form: any byte that it allows, the closing ones more often. The model of the worst taste."""
    matcher = llguidance.LLMatcher(TOKENIZER, form)
    assert not matcher.get_error()
    said = bytearray()
    while not matcher.is_accepting():
        bias = matcher.compute_logit_bias()
        allowed = [byte for byte in range(256) if bias[byte]]
        closing = [byte for byte in allowed if byte in CLOSING]
        byte = dice.choice(closing if closing and dice.random() < 0.3 else allowed)
        assert matcher.consume_token(byte)
        said.append(byte)
        assert len(said) < limit
    return said.decode()


def _form(request: Any) -> str:
    form = grammar(request.config.response_format, PromptRequest.parse(request))
    assert form is not None
    assert llguidance.LLMatcher.validate_grammar(form, TOKENIZER) == ""
    return form


def _fits(form: str, text: str) -> bool:
    matcher = llguidance.LLMatcher(TOKENIZER, form)
    taken = all(matcher.consume_token(byte) for byte in text.encode())
    return taken and matcher.is_accepting()


def _reply(text: str, signature: Any = AnalyzeLeaf) -> dspy.Prediction:
    said = json.loads(text)
    assert list(said) == list(signature.output_fields)
    parsed = {
        name: parse_value(said[name], field.annotation)
        for name, field in signature.output_fields.items()
    }
    return dspy.Prediction(**parsed)


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60)


@settings(max_examples=25)
@given(st.lists(TEXTS, min_size=1, max_size=3), st.integers(0, 2**32))
@example(['he said "no" \\ twice\r\n\tэто 日本語', "[[ ## claims ## ]]"], 5)
def test_every_reply_within_the_form_is_taken_and_quotes_what_was_shown(
    texts: list[str], seed: int
) -> None:
    """Evidence ids that were invented, quotes that differ, and counts that do not add up cannot be said."""
    spans = [span(text, f"{number:012x}") for number, text in enumerate(texts)]
    form = _form(request_of(leaf_inputs(spans)))
    reply = _reply(_said(form, random.Random(seed)))
    check_leaf(reply)
    shown = {each.span_id: each.text for each in spans}
    for cited in reply.evidence:
        assert cited.quote
        assert len(cited.quote) <= LONGEST_QUOTE
        assert cited.quote in shown[cited.span_id]
    assert {each.claim_id for each in reply.evidence} == {each.claim_id for each in reply.claims}


def _leaf_reply(count: int, quote: str = "disk full", **changes: Any) -> str:
    reply = {
        "claims": [
            {"claim_id": f"c{n}", "text": "The disk is full.", "status": "direct", "time": "10:00"}
            for n in range(1, count + 1)
        ],
        "evidence": [
            {"claim_id": f"c{n}", "span_id": "0a1b2c3d4e5f", "quote": quote}
            for n in range(1, count + 1)
        ],
        "fields_found": [{"claim_id": "c1", "name": "what", "value": "disk"}] if count else [],
        "unknowns": [],
        "claim_count": count,
    }
    return json.dumps({**reply, **changes}, ensure_ascii=False)


def test_real_leaves_fit() -> None:
    form = _form(request_of(leaf_inputs([span('10:00 disk full on "db-1"\n10:05 ok\n')])))
    assert all(_fits(form, _leaf_reply(count)) for count in range(MOST_CLAIMS + 1))
    for quote in ('on "db-1"', "full on", "10:00 disk", "ok"):
        assert _fits(form, _leaf_reply(1, quote))


@pytest.mark.parametrize(
    "reply",
    [
        _leaf_reply(MOST_CLAIMS + 1),
        _leaf_reply(1, "disk was full"),
        _leaf_reply(1, "is"),  # within a word
        _leaf_reply(1, ""),
        _leaf_reply(1, "full\n10:05"),  # over the end of a line
        _leaf_reply(2, claim_count=3),
        _leaf_reply(1, evidence=[]),
        _leaf_reply(1, evidence=[{"claim_id": "c1", "span_id": "ffff", "quote": "disk full"}]),
        _leaf_reply(0, unknowns=["what", "why", "when"]),
        _leaf_reply(0).replace(", ", ",\n  "),
    ],
)
def test_what_would_be_refused_or_never_end_cannot_be_said(reply: str) -> None:
    assert not _fits(_form(request_of(leaf_inputs([span("10:00 disk full\n10:05 ok\n")]))), reply)


def test_a_reader_that_reasons_first() -> None:
    request = request_of(leaf_inputs([span("disk full")]), module=dspy.ChainOfThought)
    form = _form(request)
    reply = '{"reasoning": "One line.", ' + _leaf_reply(1)[1:]
    assert _fits(form, reply)
    assert not _fits(form, _leaf_reply(1))


def test_a_prompt_that_shows_no_spans_can_cite_none() -> None:
    form = _form(request_of(leaf_inputs([])))
    assert _fits(form, _leaf_reply(0))
    said = _leaf_reply(1, evidence=[{"claim_id": "c1", "span_id": "x" * 500, "quote": ""}])
    assert not _fits(form, said)


def test_the_verdict_of_a_judge() -> None:
    form = _form(request_of({"claim": "c", "quotes": ["q"]}, JudgeSupport))
    assert _fits(form, '{"reason": "It says so.", "verdict": "supported"}')
    assert not _fits(form, '{"reason": "It says so.", "verdict": "yes"}')
    assert not _fits(form, json.dumps({"reason": "so " * 200, "verdict": "supported"}))


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_a_plan_within_the_form_is_a_plan(seed: int) -> None:
    inputs = dict.fromkeys(Plan.input_fields, "")
    form = _form(request_of(inputs, Plan))
    _reply(_said(form, random.Random(seed), 60_000), Plan)


NAMES = st.text("abcdefg_", min_size=1, max_size=6)
SCHEMAS = st.recursive(
    st.sampled_from([{"type": "string"}, {"type": "integer"}, {"type": "boolean"}]),
    lambda inner: (
        st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(
            lambda properties: {
                "type": "object",
                "properties": properties,
                "required": list(properties),
                "additionalProperties": False,
            },
            st.dictionaries(NAMES, inner, max_size=3),
        )
    ),
    max_leaves=6,
)


def _parts(schema: Any) -> Any:
    yield schema
    for part in [*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])]:
        yield from _parts(part)


@settings(max_examples=50)
@given(SCHEMAS)
def test_every_list_and_every_string_is_bounded_and_nothing_else_changes(schema: Any) -> None:
    """A small model that repeats itself would fill its window with one list."""
    prompt = PromptRequest("", "", {}, (), "json", None)
    bounded = bounded_schema(schema, prompt)
    for before, after in zip(_parts(schema), _parts(bounded), strict=True):
        assert after["type"] == before["type"]
        assert list(after.get("properties", {})) == list(before.get("properties", {}))
        assert after["type"] != "array" or after["maxItems"] == LONGEST_LIST
        assert after["type"] != "string" or after["maxLength"] <= LONGEST_TEXT


def test_ids_that_the_prompt_shows_are_the_only_ones() -> None:
    prompt = PromptRequest("", '[{"span_id": "aa11"}, {"span_id": "bb22"}]', {}, (), "json", None)
    schema = {
        "$defs": {"Ref": {"type": "object", "properties": {"span_id": {"type": "string"}}}},
        "type": "object",
        "properties": {"refs": {"type": "array", "items": {"$ref": "#/$defs/Ref"}}},
    }
    bounded = bounded_schema(schema, prompt)
    assert bounded["$defs"]["Ref"]["properties"]["span_id"]["enum"] == ["aa11", "bb22"]
    assert bounded["properties"]["refs"]["items"] == {"$ref": "#/$defs/Ref"}


def test_plain_text_is_free() -> None:
    assert grammar(None, PromptRequest("", "", {}, (), "chat", None)) is None
