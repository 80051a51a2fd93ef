"""The pupil: a reader that errs unless its instructions or its demos keep it from erring. A stand-in."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import dspy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.errors import ModelError
from runtime.models.coach.advice import ADVICE
from runtime.models.make import make_lm
from runtime.models.price import FREE, price_of
from signatures import Act, AnalyzeLeaf, ClassifyQuestion, Conclude
from tests.runtime.pupil_desk import (
    ADAPTERS,
    DISKS,
    ERRORS,
    QUESTION,
    UNANSWERED,
    act_inputs,
    acted,
    conclude_inputs,
    concluded,
    demo,
    leaf_inputs,
    pupil,
    read,
    spans,
    told,
)

EVERYTHING = " ".join(each.sentence for each in ADVICE)


def proofs(reply: dspy.Prediction) -> Counter[str]:
    """How many proofs each claim of a reply has, by its text."""
    if "statements" in reply:
        return Counter({each.text: len(each.claim_ids) for each in reply.statements})
    said = {each.claim_id: each.text for each in reply.claims}
    found = Counter(dict.fromkeys(said.values(), 0))
    found.update(said[each.claim_id] for each in reply.evidence)
    return found


def test_it_is_a_stand_in_that_costs_nothing_and_takes_its_dials_from_the_name() -> None:
    lm = make_lm("pupil:seed=3,drop=0.5")
    assert (lm.model, lm.num_retries, lm.cache) == ("spantree/pupil:seed=3,drop=0.5", 0, False)
    assert price_of(lm) == FREE
    assert make_lm("pupil").model == "spantree/pupil"
    for name in ("pupil:charm=1", "pupil:drop=2", "pupil:seed=0.5", "pupil:drop=nan"):
        with pytest.raises(ModelError, match="pupil") as refused:
            make_lm(name)
        assert refused.value.hint


@pytest.mark.parametrize("ask", [read, concluded, acted])
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_with_no_error_it_is_the_extractive_reader(ask: Callable[..., Any], adapter: str) -> None:
    for lm, more in ((pupil(), ""), (make_lm("pupil"), EVERYTHING)):
        reply = ask(lm, more=more, adapter=adapter)
        assert reply.toDict() == ask(make_lm("extractive"), adapter=adapter).toDict()
        assert proofs(reply) == dict.fromkeys(proofs(reply), 1)
        assert len(proofs(reply)) == DISKS


@pytest.mark.parametrize("ask", [read, concluded, acted])
@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("error", ["drop", "overcite", "skip"])
def test_claims_lose_their_evidence_gain_more_or_get_lost(
    error: str, adapter: str, ask: Callable[..., Any]
) -> None:
    """With the instructions of the suite it errs; with the advice against this one error it does not."""
    lm = pupil(**{error: 0.5})
    counts = proofs(ask(lm, adapter=adapter))
    expected = {"drop": {0, 1}, "overcite": {1, 2}, "skip": {1}}[error]
    assert set(counts.values()) == expected
    assert (len(counts) < DISKS) == (error == "skip")
    assert ask(lm, adapter=adapter, more=EVERYTHING).toDict() == ask(pupil(), adapter=adapter).toDict()  # fmt: skip


@pytest.mark.parametrize("ask", [read, acted])
def test_quotes_are_shortened_and_ids_stay(ask: Callable[..., Any]) -> None:
    shown = {each.span_id: each.text for each in spans()}
    altered = ask(pupil(garble=1.0)).evidence
    assert len(altered) == DISKS
    if ask is read:
        assert all("[...]" in each.quote for each in altered)
        assert not any(each.quote in shown[each.span_id] for each in altered)
    else:
        assert all(each.quote == "" and each.span_id.startswith("t1.") for each in altered)
    assert ask(pupil(garble=1.0), more="Copy verbatim.").toDict() == ask(pupil()).toDict()


def test_it_claims_something_where_nothing_answers() -> None:
    """With a quote that stands there, so that a program cannot tell by its form."""
    lm = pupil(guess=1.0)
    reply = read(lm, UNANSWERED)
    shown = {each.span_id: each.text for each in spans()}
    assert reply.claim_count == len(reply.claims) == len(reply.evidence) == 1
    assert reply.evidence[0].quote in shown[reply.evidence[0].span_id]
    assert read(lm, UNANSWERED, more="Never guess.").claims == []
    assert read(lm, UNANSWERED, shown=[]).claims == []
    assert read(lm).toDict() == read(pupil()).toDict()


def test_a_conclusion_states_something_where_no_claim_answers() -> None:
    inputs = {**conclude_inputs("What contradictions are there?"), "kind": "conflict"}
    lm = pupil(guess=1.0)
    assert told(pupil(), Conclude, inputs).statements == []
    made = told(lm, Conclude, inputs)
    assert made.statement_count == len(made.statements) == 1
    assert made.statements[0].claim_ids[0] in {each.claim_id for each in inputs["claims"]}
    assert told(lm, Conclude, inputs, more="Abstain when in doubt.").statements == []


def test_a_turn_that_does_not_submit_is_the_readers() -> None:
    lm = pupil(drop=1.0, skip=1.0, guess=1.0)
    looking = told(lm, Act, {**act_inputs(left=5), "turns": []})
    assert looking.call.tool != "submit"
    assert looking.claims == []


def test_other_signatures_are_answered_as_the_reader_does() -> None:
    inputs = {"question": QUESTION, "overview": ""}
    replies = [
        told(make_lm(name), ClassifyQuestion, inputs).toDict() for name in ("pupil", "extractive")
    ]
    assert replies[0] == replies[1]


def test_the_rates_are_those_that_were_dialled() -> None:
    lm = pupil(drop=0.3, seed=5)
    bare = sum(
        count == 0
        for n in range(20)
        for count in proofs(read(lm, shown=spans(DISKS, f"disk {n}"))).values()
    )
    assert bare == pytest.approx(20 * DISKS * 0.3, rel=0.25)


def test_the_same_request_errs_in_the_same_way_whatever_the_instructions() -> None:
    """What another error is prevented does not move the dice of this one: candidates are compared on equal terms."""
    lm = pupil(drop=0.5, overcite=0.5)
    first = {text for text, count in proofs(read(lm)).items() if count == 0}
    brief = read(lm, more="Be brief.")
    assert read(lm).toDict() == read(lm).toDict()
    assert first == {text for text, count in proofs(brief).items() if count == 0}
    assert first != {
        text for text, count in proofs(read(pupil(drop=0.5, seed=1))).items() if count == 0
    }


def test_a_sample_errs_as_its_seed_says() -> None:
    """`dspy.LM.copy(rollout_id=..., temperature=1.0)` alone reaches no engine; the seed does."""
    lm = pupil(drop=0.5)
    sampled = [
        str(read(lm.copy(rollout_id=n, temperature=1.0, seed=n)).toDict()) for n in (1, 2, 1)
    ]
    assert sampled[0] == sampled[2] != sampled[1]
    assert str(read(lm.copy(temperature=0.0, seed=1)).toDict()) == str(read(lm).toDict())
    assert str(read(lm.copy(rollout_id=1, temperature=1.0)).toDict()) == str(read(lm).toDict())
    assert {"seed", "temperature"} <= set(getattr(lm.engine, "supported_params", ()))


@pytest.mark.parametrize("name", ["extractive", "simulated", "obedient"])
def test_other_embedded_models_take_the_settings_of_a_sample_and_ignore_them(name: str) -> None:
    lm = make_lm(name)
    sample = lm.copy(rollout_id=1, temperature=1.0, seed=1)
    assert read(sample).toDict() == read(lm).toDict()


# Demos


def test_it_quotes_as_often_as_the_demos_do() -> None:
    lm = pupil(drop=1.0)
    assert set(proofs(read(lm)).values()) == {0}
    assert set(proofs(read(lm, demos=[demo()])).values()) == {1}
    half = proofs(read(lm, demos=[demo(), demo(evidence=[])]))
    assert set(half.values()) == {0, 1}
    assert set(proofs(read(lm, demos=[demo(evidence=[])])).values()) == {0}


def test_it_gives_as_many_quotes_as_the_demos_do() -> None:
    lm = pupil(overcite=1.0)
    assert set(proofs(read(lm, demos=[demo(quotes=1)])).values()) == {1}
    assert set(proofs(read(lm, demos=[demo(quotes=2)])).values()) == {2}
    mixed = proofs(read(lm, demos=[demo(quotes=1), demo(quotes=2, claims=1)]))
    assert set(mixed.values()) == {1, 2}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_it_copies_as_exactly_as_the_demos_do(adapter: str) -> None:
    lm = pupil(garble=1.0)
    exact = read(lm, demos=[demo()], adapter=adapter)
    assert exact.evidence == read(pupil(), adapter=adapter).evidence
    inexact = demo()
    inexact = inexact.copy(evidence=[{**inexact.evidence[0], "quote": "ERROR [...] rack"}])
    assert all("[...]" in e.quote for e in read(lm, demos=[inexact], adapter=adapter).evidence)


def test_it_abstains_as_the_demos_do() -> None:
    """A demo without claims halves how often it guesses; with none but such it keeps silent where it should speak."""
    lm = pupil(guess=1.0)
    quiet = [demo(claims=0)]
    guesses = [
        sum(
            bool(read(lm, UNANSWERED, shown=spans(4, f"disk {n}"), demos=quiet * times).claims)
            for n in range(40)
        )
        for times in (0, 1, 3)
    ]
    assert guesses[0] == 40 > guesses[1] > guesses[2]
    silent = pupil(silence=1.0)
    assert read(silent, demos=quiet).claims == []
    assert len(read(silent, demos=[*quiet, demo()]).claims) == DISKS


def test_several_claims_in_a_demo_show_that_more_than_one_is_wanted() -> None:
    lm = pupil(skip=1.0)
    assert read(lm).claims == []
    assert read(lm, demos=[demo(claims=3)]).claims


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_demos_in_another_form_spoil_the_form(adapter: str) -> None:
    """An output that a demo lacks, or has as prose: DSPy shows both without complaint."""
    lm = pupil(malformed=1.0)
    lacking = demo()
    del lacking["claim_count"]
    prose = demo().copy(claims="a pump failed", evidence="see above")
    assert len(read(lm, demos=[demo()], adapter=adapter).claims) == DISKS
    for broken in (lacking, prose):
        with pytest.raises(dspy.utils.exceptions.AdapterParseError):
            read(lm, demos=[broken], adapter=adapter)


def test_turns_that_do_not_submit_teach_nothing_about_claims() -> None:
    inputs = {**act_inputs(left=5), "turns": []}
    looking = told(pupil(), Act, inputs)
    example = dspy.Example(**inputs, **looking.toDict(), augmented=True)
    lm = pupil(silence=1.0, malformed=1.0)
    assert len(acted(lm, demos=[example] * 3).claims) == DISKS
    submitted = acted(pupil())
    shown = dspy.Example(**act_inputs(), **submitted.toDict(), augmented=True)
    assert set(proofs(acted(pupil(drop=1.0), demos=[example, shown])).values()) == {1}


@settings(max_examples=25, deadline=None)
@given(
    dials=st.dictionaries(st.sampled_from(ERRORS), st.sampled_from((0.0, 0.4, 1.0))),
    seed=st.integers(0, 5),
    advice=st.sets(st.sampled_from(ADVICE)),
    question=st.sampled_from((QUESTION, UNANSWERED)),
)
def test_whatever_the_errors_a_reply_holds_together(
    dials: dict[str, float], seed: int, advice: set[Any], question: str
) -> None:
    """The counts are right, evidence belongs to claims and names what is shown: a program survives every error."""
    more = " ".join(each.sentence for each in advice)
    reply = read(pupil(**dials, seed=seed), question, more=more)
    assert reply.claim_count == len(reply.claims)
    assert {each.claim_id for each in reply.evidence} <= {each.claim_id for each in reply.claims}
    assert {each.span_id for each in reply.evidence} <= {each.span_id for each in spans()}


def test_the_default_dials_leave_room_for_learning() -> None:
    """With the prompts of the suite, less than two thirds of the claims are proved rightly."""
    lm, right = make_lm("pupil"), 0
    for n in range(10):
        shown = spans(DISKS, f"disk {n}")
        reply = told(lm, AnalyzeLeaf, leaf_inputs(shown=shown))
        texts = {each.span_id: each.text for each in shown}
        good = Counter(e.claim_id for e in reply.evidence if e.quote in texts[e.span_id])
        right += sum(count == 1 for count in good.values())
    assert 0.2 < right / (10 * DISKS) < 0.67
