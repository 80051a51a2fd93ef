"""The rules of the pupil: which words of an instruction put an end to which error, and which do not."""

import dspy
import pytest
from dspy import lm15
from hypothesis import given
from hypothesis import strategies as st

import signatures
from runtime.models.coach.advice import ADVICE, Advice, with_advice
from runtime.models.pupil.lesson import instructions_of
from runtime.models.pupil.rules import RULES, heeded
from runtime.models.request import PromptRequest
from tests.runtime.pupil_desk import ADAPTERS, ERRORS

SIGNATURES = [
    each
    for each in (getattr(signatures, name) for name in signatures.__all__)
    if isinstance(each, type) and issubclass(each, dspy.Signature)
]
PREVENTS = {
    "claims without evidence": "drop",
    "missed facts": "skip",
    "quotes that differ": "garble",
    "evidence that is not needed": "overcite",
    "claims where nothing answers": "guess",
}


def test_there_is_one_rule_for_every_error() -> None:
    assert sorted(rule.error for rule in RULES) == sorted(ERRORS)


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda each: each.__name__)
def test_no_instruction_that_the_suite_ships_prevents_an_error(
    signature: type[dspy.Signature],
) -> None:
    """So that there is something to be learned."""
    assert heeded(signature.instructions) == frozenset()


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda each: each.__name__)
def test_only_the_instructions_are_read(signature: type[dspy.Signature], adapter: str) -> None:
    """The descriptions of fields and types say "verbatim" and the like: they teach nothing."""
    rendered = ADAPTERS[adapter].format_system_message(signature)
    request = lm15.Request(
        model="m", messages=(lm15.Message.user("Never guess. Be brief."),), system=rendered
    )
    assert heeded(instructions_of(PromptRequest.parse(request))) == frozenset()


@pytest.mark.parametrize("advice", ADVICE, ids=lambda each: each.failure)
def test_each_advice_of_the_coach_puts_an_end_to_its_error_and_to_no_other(advice: Advice) -> None:
    error = PREVENTS[advice.failure]
    assert heeded(advice.sentence) == {error}
    assert heeded(f"{signatures.AnalyzeLeaf.instructions}\n\n{advice.sentence}") == {error}


@given(st.sets(st.sampled_from(ADVICE)), st.sampled_from(SIGNATURES))
def test_advice_adds_up(some: set[Advice], signature: type[dspy.Signature]) -> None:
    chosen = [each for each in ADVICE if each in some]
    text = with_advice(signature.instructions, chosen)
    assert heeded(text) == {PREVENTS[each.failure] for each in chosen}
    assert with_advice(text, chosen) == text


@pytest.mark.parametrize(
    ("sentence", "error"),
    [
        ("Cite every claim.", "drop"),
        ("Give a verbose reason, and a quote for each claim that you make.", "drop"),
        ("All claims must be backed by a span.", "drop"),
        ("Do not return a claim without a supporting quote.", "drop"),
        ("Don't forget to quote.", "drop"),
        ("Always include the evidence of what you say.", "drop"),
        ("Quotes are copied word for word.", "garble"),
        ("Do not paraphrase the text.", "garble"),
        ("Use the exact wording.", "garble"),
        ("Be concise.", "overcite"),
        ("Use as few quotes as you can.", "overcite"),
        ("Return one quote per claim.", "overcite"),
        ("Do not cite neighboring spans.", "overcite"),
        ("When in doubt, leave the claims empty.", "guess"),
        ("Do not speculate!", "guess"),
        (
            "An empty answer is better than to guess, so report nothing unless a span says it.",
            "guess",
        ),
        ("Check each span.", "skip"),
        ("Read the text line by line.", "skip"),
        ("Never stop after the first hit.", "skip"),
        ("`Be`\n   EXHAUSTIVE", "skip"),
    ],
)
def test_there_are_many_ways_to_say_it(sentence: str, error: str) -> None:
    """Words that a model which reflects would write; white space, case and marks of code do not matter."""
    assert heeded(sentence) == {error}


@pytest.mark.parametrize(
    "sentence",
    [
        "There is no need to quote every claim.",
        "It is not necessary to be brief.",
        "The reader must not be thorough.",
        "Do not copy verbatim.",
        "Answer the question.",
        "",
    ],
)
def test_what_is_denied_in_the_same_sentence_does_not_count(sentence: str) -> None:
    assert heeded(sentence) == frozenset()
    assert heeded(f"{sentence} Be brief.") == {"overcite"}
