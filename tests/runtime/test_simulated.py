"""The simulated engine: it fails as often as it is told to, in the same places every time."""

import asyncio
import json
from typing import Any

import dspy
import pytest
from dspy import lm15

from runtime.errors import ModelError
from runtime.models.request import PromptRequest, respond
from runtime.models.simulated import SimulatedEngine, Weaknesses
from signatures import Act, AnalyzeLeaf, EvidenceSpan, TurnShown

SPANS = 20


class EchoReader:
    """Finds one claim in every span."""

    def complete(self, request: lm15.Request) -> lm15.Response:
        prompt = PromptRequest.parse(request)
        spans = prompt.value("spans")
        claims = [
            {"claim_id": f"c{n}", "text": "t", "status": "direct", "time": ""}
            for n, _ in enumerate(spans)
        ]
        evidence = [
            {"claim_id": f"c{n}", "span_id": span["span_id"], "quote": span["text"]}
            for n, span in enumerate(spans)
        ]
        found = [{"claim_id": f"c{n}", "name": "n", "value": "v"} for n, _ in enumerate(spans)]
        values: dict[str, Any] = {
            "claims": claims,
            "evidence": evidence,
            "fields_found": found,
            "unknowns": [],
        }
        return respond(request, prompt.reply({**values, "claim_count": len(claims)}))


def engine(**weaknesses: Any) -> SimulatedEngine:
    return SimulatedEngine(EchoReader(), Weaknesses(**weaknesses))


def leaf_inputs(question: str = "q", text: str = "text") -> dict[str, Any]:
    spans = [
        EvidenceSpan(
            span_id=f"s{n}",
            source="s",
            first_line=n,
            margin_before="",
            text=f"{text} {n}",
            margin_after="",
        )
        for n in range(SPANS)
    ]
    return {
        "question": question,
        "kind": "lookup",
        "patterns": [],
        "spans": spans,
        "term_statistics": [],
    }


def leaf(
    simulated: SimulatedEngine, question: str = "q", text: str = "text", lm: dspy.LM | None = None
) -> dspy.Prediction:
    with dspy.context(lm=lm or simulated.lm(), adapter=dspy.JSONAdapter(), trace=None):
        return dspy.Predict(AnalyzeLeaf)(**leaf_inputs(question, text))


def found(simulated: SimulatedEngine, questions: int = 40, **arguments: Any) -> list[int]:
    """Indexes of the spans whose claim was found, over many questions."""
    replies = [leaf(simulated, f"q{n}", **arguments) for n in range(questions)]
    return [int(item.span_id[1:]) for reply in replies for item in reply.evidence]


def test_without_weaknesses_the_reply_is_the_readers() -> None:
    assert len(leaf(engine()).claims) == SPANS


def test_recall_is_what_was_dialled_in_and_the_reply_stays_consistent() -> None:
    reply = leaf(engine(recall=0.5, seed=1))
    assert (
        reply.claim_count
        == len(reply.claims)
        == len(reply.evidence)
        == len(reply.fields_found)
        < SPANS
    )
    assert len(found(engine(recall=0.6))) == pytest.approx(40 * SPANS * 0.6, rel=0.1)


def test_the_weaknesses_do_not_depend_on_the_format_of_the_reply() -> None:
    claims = []
    for adapter in (dspy.JSONAdapter(), dspy.ChatAdapter()):
        with dspy.context(lm=engine(recall=0.5).lm(), adapter=adapter, trace=None):
            reply = dspy.ChainOfThought(AnalyzeLeaf)(**leaf_inputs())
        claims.append(len(reply.claims))
        assert reply.claim_count == len(reply.claims) == len(reply.evidence)
    assert all(SPANS * 0.2 < found < SPANS * 0.8 for found in claims)


def test_recall_halves_with_the_length_of_the_prompt() -> None:
    short = len(found(engine(half_length=8000)))
    long = len(found(engine(half_length=8000), text="x" * 400))
    assert long == pytest.approx(short / 2, rel=0.15)


def test_the_middle_is_lost_first() -> None:
    places = found(engine(middle=0.9))
    ends = sum(place in (0, 1, SPANS - 2, SPANS - 1) for place in places) / 4
    middle = sum(8 <= place < 12 for place in places) / 4
    assert middle < ends / 2


def test_a_short_prompt_has_no_middle_to_be_lost_in() -> None:
    """Recall that decays with length is lost in the middle the more, the longer the prompt (Liu et al., 2023)."""

    def in_the_middle(**prompt: Any) -> float:
        places = found(engine(half_length=16_000, middle=0.9), questions=60, **prompt)
        ends = sum(place in (0, 1, SPANS - 2, SPANS - 1) for place in places)
        return sum(8 <= place < 12 for place in places) / ends

    assert in_the_middle(text="x" * 800) < 0.5 < 0.8 < in_the_middle()


class LineReader:
    """Finds one claim in every line of the only span that it is shown."""

    def complete(self, request: lm15.Request) -> lm15.Response:
        prompt = PromptRequest.parse(request)
        (span,) = prompt.value("spans")
        lines = dict(enumerate(span["text"].splitlines()))
        claims = [{"claim_id": f"c{n}", "text": "t", "status": "direct", "time": ""} for n in lines]
        evidence = [
            {"claim_id": f"c{n}", "span_id": span["span_id"], "quote": line}
            for n, line in lines.items()
        ]
        values = {"claims": claims, "evidence": evidence, "fields_found": [], "unknowns": []}
        return respond(request, prompt.reply({**values, "claim_count": len(claims)}))


@pytest.mark.parametrize("adapter", [dspy.JSONAdapter(), dspy.ChatAdapter()])
def test_one_long_span_has_a_middle_by_its_characters(adapter: dspy.Adapter) -> None:
    """A whole text that is read as one span: what is in its middle is not at its start."""
    lines = [f'{n}: "größe" of {n}' for n in range(900)]
    span = EvidenceSpan(
        span_id="s0",
        source="s",
        first_line=1,
        margin_before="",
        text="\n".join(lines),
        margin_after="",
    )
    reader = SimulatedEngine(LineReader(), Weaknesses(middle=0.9))
    with dspy.context(lm=reader.lm(), adapter=adapter, trace=None):
        reply = dspy.Predict(AnalyzeLeaf)(**{**leaf_inputs(), "spans": [span]})
    places = [lines.index(item.quote) for item in reply.evidence]
    third = [sum(n * 300 <= place < (n + 1) * 300 for place in places) for n in range(3)]
    assert third[1] < min(third[0], third[2]) / 2


class Submitter:
    """Submits what the only turn shows: a claim for each of its lines, by quote or by the id of a reader's claim."""

    def __init__(self, *, quotes: bool) -> None:
        self._quotes = quotes

    def complete(self, request: lm15.Request) -> lm15.Response:
        prompt = PromptRequest.parse(request)
        (turn,) = prompt.value("turns")
        lines = json.loads(turn["output"])
        claims = [
            {"claim_id": f"c{n}", "text": line, "status": "direct", "time": ""}
            for n, line in enumerate(lines)
        ]
        evidence = [
            {"claim_id": f"c{n}", "span_id": f"s{n}", "quote": line if self._quotes else ""}
            for n, line in enumerate(lines)
        ]
        call = {"tool": "submit", "pattern": "", "ignore_case": False, "source": ""}
        call |= {"first_line": 0, "last_line": 0, "by": "", "query": "", "k": 0, "ids": []}
        values: dict[str, Any] = {"think": "So it is.", "call": call | {"cursor": 0}}
        values |= {"answer": "all", "claims": claims, "evidence": evidence}
        return respond(request, prompt.reply(values | {"claim_count": len(claims)}))


def submitted(weak: Weaknesses, adapter: dspy.Adapter, *, quotes: bool) -> dspy.Prediction:
    output = json.dumps([f'"{n}" is größer' for n in range(100)], ensure_ascii=False)
    turns = [TurnShown(turn=1, call="search", output=output)]
    inputs: dict[str, Any] = dict.fromkeys(("question", "kind", "overview", "budget"), "")
    inputs |= {"patterns": [], "goal_chain": [], "turns": turns, "turns_left": 3}
    lm = SimulatedEngine(Submitter(quotes=quotes), weak).lm()
    with dspy.context(lm=lm, adapter=adapter, trace=None):
        return dspy.Predict(Act)(**inputs)


@pytest.mark.parametrize("adapter", [dspy.JSONAdapter(), dspy.ChatAdapter()])
def test_a_driving_model_overlooks_what_it_would_quote(adapter: dspy.Adapter) -> None:
    """What it takes from a reader's claims, by their ids, was read by the reader."""
    weak = Weaknesses(middle=1.0, seed=2)
    reply = submitted(weak, adapter, quotes=True)
    assert 10 < reply.claim_count == len(reply.claims) == len(reply.evidence) < 60
    assert not {f"s{n}" for n in range(46, 54)} & {item.span_id for item in reply.evidence}
    assert (reply.think, reply.answer) == ("So it is.", "all")
    assert submitted(weak, adapter, quotes=False).claim_count == 100
    assert submitted(Weaknesses(recall=0.0), adapter, quotes=True).answer == ""


def test_the_same_seed_and_request_fail_in_the_same_way_in_any_order() -> None:
    def claims(simulated: SimulatedEngine, order: list[int]) -> dict[int, list[str]]:
        return {n: [claim.claim_id for claim in leaf(simulated, f"q{n}").claims] for n in order}

    one = claims(engine(recall=0.5, seed=3), [0, 1, 2, 3])
    assert one == claims(engine(recall=0.5, seed=3), [3, 1, 0, 2])
    assert one != claims(engine(recall=0.5, seed=4), [0, 1, 2, 3])


def test_malformed_replies_cannot_be_parsed() -> None:
    with pytest.raises(dspy.AdapterParseError):
        leaf(engine(malformed=1.0))
    failures = 0
    for number in range(60):
        try:
            leaf(engine(malformed=0.3), f"q{number}")
        except dspy.AdapterParseError:
            failures += 1
    assert 8 <= failures <= 30


def test_a_truncated_reply_says_so() -> None:
    complete, cut = engine().lm(), engine(truncated=1.0).lm()
    leaf(engine(), lm=complete)
    with pytest.raises(dspy.AdapterParseError):
        leaf(engine(), lm=cut)
    whole, part = complete.history[-1], cut.history[-1]
    assert (whole["response"].finish_reason, part["response"].finish_reason) == ("stop", "length")
    assert whole["outputs"][0].startswith(part["outputs"][0])


def test_an_invented_citation_names_a_span_that_was_not_shown() -> None:
    reply = leaf(engine(invented=1.0))
    shown = {f"s{n}" for n in range(SPANS)}
    assert sum(item.span_id not in shown for item in reply.evidence) == 1


@pytest.mark.parametrize(
    ("weakness", "error"), [("rate_limit", dspy.LMRateLimitError), ("timeout", dspy.LMTimeoutError)]
)
def test_faults_of_the_service_pass_when_the_call_is_made_again(
    weakness: str, error: type[Exception]
) -> None:
    simulated = engine(**{weakness: 0.5}, seed=5)
    outcomes = []
    for _ in range(30):
        try:
            leaf(simulated)
            outcomes.append("ok")
        except error:
            outcomes.append("fault")
    assert {"ok", "fault"} == set(outcomes)


def test_the_asynchronous_side_answers_the_same() -> None:
    async def call(simulated: SimulatedEngine) -> Any:
        with dspy.context(lm=simulated.lm(), adapter=dspy.JSONAdapter(), trace=None):
            fields = {
                "question": "q",
                "kind": "k",
                "patterns": [],
                "spans": [],
                "term_statistics": [],
            }
            return await dspy.Predict(AnalyzeLeaf).acall(**fields)

    assert asyncio.run(call(engine(latency=0.001))).claim_count == 0


def test_weaknesses_are_read_from_a_name() -> None:
    assert Weaknesses.parse("recall=0.8, seed=3,half_length=9000") == Weaknesses(
        recall=0.8, seed=3, half_length=9000
    )
    assert Weaknesses.parse("") == Weaknesses()


@pytest.mark.parametrize(
    "text", ["memory=1", "recall=2", "recall=-1", "recall=much", "seed=0.5", "latency=nan"]
)
def test_a_weakness_that_does_not_exist_or_makes_no_sense(text: str) -> None:
    with pytest.raises(ModelError) as refused:
        Weaknesses.parse(text)
    assert refused.value.hint
