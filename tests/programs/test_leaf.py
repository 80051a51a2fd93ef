"""Leaf analysis: readers are shown spans and return claims; what fails is split, retried or listed, never rescued."""

import json
import re
from typing import Any

import pytest

from runtime.limits import Limits
from runtime.models.scripted import Reply, Rule

TWO = {"a.txt": "FACT the valve is open\nnoise\n", "b.txt": "nothing\nFACT the pump is off\n"}
LONG = {"long.txt": "".join(f"FACT number {n} of the long file\n" for n in range(200))}


def analyzed(ran: Any, name: str = "s1") -> Any:
    return ran.step(name).observation.payload


def test_every_partition_is_read_once_and_claims_come_in_the_order_of_the_text(lab: Any) -> None:
    """S8: order is restored, however the replies come in."""
    files = {f"{n:02}.txt": f"FACT {n}\n" for n in range(12)}

    def late(request: Any) -> Any:
        first = "00.txt" in request.inputs["spans"]
        return Reply(lab.facts(request), latency=0.05 if first else 0.0)

    ran = lab.ask(lab.model(AnalyzeLeaf=late), lab.corpus(files))
    assert [claim.citations[0].source for claim in ran.answer.claims] == sorted(files)
    assert len(ran.asked("AnalyzeLeaf")) == 12


def test_a_reader_sees_the_question_the_spans_and_their_ids(lab: Any, say: Any) -> None:
    """51, S4: the prompt of a leaf, and what the journal knows of it."""
    steps = [say.step("s1", "analyze", query="What of the valve?", targets=["a.txt"])]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO))
    prompt = ran.asked("AnalyzeLeaf")[0].prompt
    assert "What of the valve?" in prompt
    assert "pump" not in prompt
    span = next(ran.corpus.partitions().all_spans())
    assert span.id in prompt
    call = next(call for call in ran.calls if call.signature == "AnalyzeLeaf")
    assert (call.span_ids, call.frame_id, call.step_id, call.status) == (
        (span.id,),
        "root",
        "s1",
        "done",
    )
    assert call.usage.input_tokens > 0


def test_prose_is_asked_for_again_once_with_the_error_spelled_out(lab: Any) -> None:
    """S7: one retry, then the partition is failed and listed in the coverage; no rescue by pattern."""
    rule = Rule(signature="AnalyzeLeaf", contains="valve", times=1, reply="I found the valve.")
    ran = lab.ask(lab.model(rule), lab.corpus(TWO))
    assert ran.answer.outcome == "answered"
    again = [call for call in ran.asked("AnalyzeLeaf") if "retry_feedback" in call.prompt]
    assert len(again) == 1
    assert "Expected fields: claims, evidence" in again[0].prompt
    assert ran.answer.receipt.retries == 1

    for_ever = Rule(signature="AnalyzeLeaf", contains="valve", reply="I found the valve.")
    ran = lab.ask(lab.model(for_ever), lab.corpus(TWO))
    assert len([c for c in ran.asked("AnalyzeLeaf") if "valve" in c.prompt]) == 2
    assert len(ran.answer.coverage.failed) == 1


def test_evidence_in_prose_is_never_rescued(lab: Any, say: Any) -> None:
    """S7, 42: the ladder is for plans; a good quote and a good id in prose are still no reply."""

    def told(request: Any) -> str:
        found = lab.facts(request)["evidence"][0]
        return f"- claim c1: it is so (span {found['span_id']}: {found['quote']!r})"

    ran = lab.ask(lab.model(AnalyzeLeaf=told), lab.corpus(TWO))
    assert ran.answer.claims == ()
    assert len(ran.answer.coverage.failed) == 2


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda reply: {**reply, "claim_count": 9}, id="fewer claims than it says"),
        pytest.param(
            lambda reply: {**reply, "claims": reply["claims"] * 2, "claim_count": 2},
            id="one id twice",
        ),
    ],
)
def test_a_reply_that_contradicts_itself_is_refused(lab: Any, spoil: Any) -> None:
    """4: a list that was cut parses as a valid shorter one; evidence of two claims must be told apart."""
    ran = lab.ask(lab.model(AnalyzeLeaf=lambda request: spoil(lab.facts(request))), lab.corpus(TWO))
    assert ran.answer.outcome == "failed"
    assert ran.step("s1").observation.error_class == "parse_failure"


@pytest.mark.parametrize("cut", ["length", "context"])
def test_too_much_for_one_reader_is_halved(lab: Any, cut: str) -> None:
    """Field reports 14, 32: a truncated reply and an overflowing prompt are split, in the order of the text."""

    def limited(request: Any) -> Any:
        spans = request.value("spans")
        if len(spans) <= 2:
            return lab.facts(request)
        if cut == "context":
            return Reply(error="context")
        return Reply(json.dumps(lab.facts(request))[:-40], finish_reason="length")

    ran = lab.ask(lab.model(AnalyzeLeaf=limited), lab.corpus(LONG), limits=Limits(in_flight=1))
    assert ran.answer.outcome == "answered"
    lines = [claim.citations[0].line_start for claim in ran.answer.claims]
    assert lines == list(range(1, 201))


def test_a_truncated_reply_is_refused_even_if_it_parses(lab: Any, say: Any) -> None:
    """4: `finish_reason` decides, not the parser."""

    def cut(request: Any) -> Reply:
        return Reply(lab.facts(request), finish_reason="length")

    ran = lab.ask(lab.model(AnalyzeLeaf=cut), lab.corpus(TWO))
    assert ran.answer.claims == ()
    assert ran.answer.outcome == "failed"
    assert ran.step("s1").observation.error_class == "truncated"


def test_one_half_failing_leaves_the_other_its_claims(lab: Any) -> None:
    """Field report 17: what was paid for and verified is kept; the partition is not complete."""

    def half(request: Any) -> Any:
        spans = request.value("spans")
        if len(spans) > 1:
            return Reply(error="context")
        return "prose" if "number 0 " in request.inputs["spans"] else lab.facts(request)

    ran = lab.ask(lab.model(AnalyzeLeaf=half), lab.corpus(LONG))
    assert ran.answer.outcome == "partial"
    lines = [claim.citations[0].line_start for claim in ran.answer.claims]
    assert lines == list(range(lines[0], 201))
    assert 1 < lines[0] < 60
    assert (len(ran.answer.coverage.completed), len(ran.answer.coverage.failed)) == (0, 1)


@pytest.mark.parametrize("fault", ["timeout", "rate_limit"])
def test_a_fault_of_the_service_that_passes_costs_only_calls(lab: Any, fault: Any) -> None:
    """27, 80, 81, bar 5: twice, and then it works."""
    rule = Rule(signature="AnalyzeLeaf", contains="valve", times=2, error=fault, retry_after=0.0)
    ran = lab.ask(lab.model(rule), lab.corpus(TWO))
    assert ran.answer.outcome == "answered"
    receipt = ran.answer.receipt
    assert (receipt.failed_calls, receipt.retries) == (2, 2)
    assert ran.warned == []


def test_a_fault_that_stays_is_tried_again_as_a_step_and_then_listed(lab: Any) -> None:
    """27, 80: the original action under a new id, as often as allowed, and never unlimited."""
    rule = Rule(signature="AnalyzeLeaf", error="timeout")
    ran = lab.ask(lab.model(rule), lab.corpus(TWO), limits=Limits(retries=1))
    assert ran.statuses() == {"s1": "failed", "s1~1": "failed", "s2": "completed"}
    assert ran.step("s1").observation.error_class == "timeout"
    assert len(ran.asked("AnalyzeLeaf")) == 2 * 2 * 2
    assert ran.answer.outcome == "failed"
    assert len(ran.answer.coverage.failed) == 2


def test_invented_span_ids_support_nothing(lab: Any, say: Any) -> None:
    """S5, bar 5: rejected and recorded; the claim does not reach the answer."""

    def invented(request: Any) -> Any:
        return say.leaf(("The valve is shut.", "abcdefabcdef", "the valve is open"))

    ran = lab.ask(lab.model(AnalyzeLeaf=invented), lab.corpus(TWO))
    assert ran.answer.claims == ()
    assert ran.answer.outcome == "not_found_in_covered"  # a line has the words of the question
    assert {each.verdict for each in analyzed(ran).rejected} == {"unknown_span"}
    assert "2 quotes rejected" in ran.step("s1").observation.summary


def test_a_quote_of_a_document_that_was_not_shown_to_this_reader(lab: Any, say: Any) -> None:
    """Bar 6: right quote, wrong source."""

    def crossed(request: Any) -> Any:
        quote = "the pump is off" if "valve" in request.inputs["spans"] else "the valve is open"
        return say.leaf(("It is so.", request.value("spans")[0]["span_id"], quote))

    ran = lab.ask(lab.model(AnalyzeLeaf=crossed), lab.corpus(TWO))
    assert ran.answer.claims == ()
    assert {each.verdict for each in analyzed(ran).rejected} == {"not_in_text"}


def test_only_as_many_calls_as_allowed_are_in_flight(lab: Any) -> None:
    """S2, S8: a bounded queue."""

    def slow(request: Any) -> Any:
        return Reply(lab.facts(request), latency=0.01)

    now = most = 0
    files = {f"{n:02}.txt": f"FACT {n}\n" for n in range(9)}
    ran = lab.ask(lab.model(AnalyzeLeaf=slow), lab.corpus(files), limits=Limits(in_flight=3))
    edges = sorted(
        edge
        for call in ran.calls
        if call.signature == "AnalyzeLeaf"
        for edge in ((call.started, 1), (call.started + call.seconds, -1))
    )
    for _, change in edges:
        now += change
        most = max(most, now)
    assert most <= 3


def test_term_statistics_are_shown_for_a_ranked_selection_only(lab: Any, say: Any) -> None:
    steps = [
        say.step("s1", "rank", query="valve"),
        say.step("s2", "analyze", targets=["s1"], query="valve?"),
    ]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO))
    shown = ran.asked("AnalyzeLeaf")[0].prompt
    assert re.search(r'"term": "valv\w*", "spans": 1, "of": 2', shown)


def test_steps_and_places_can_be_read_together(lab: Any, say: Any) -> None:
    """What a step names is what is read: the results of a search and a whole source beside them."""
    steps = [
        say.step("s1", "scan", patterns=["valve"]),
        say.step("s2", "analyze", targets=["s1", "b.txt"]),
    ]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO))
    assert [claim.citations[0].source for claim in ran.answer.claims] == ["a.txt", "b.txt"]


def test_an_unknown_target_fails_the_step_and_names_it(lab: Any, say: Any) -> None:
    steps = [say.step("s1", "analyze", targets=["c.txt"]), say.step("s2", "analyze")]
    ran = lab.ask(lab.model(steps=steps), lab.corpus(TWO))
    assert ran.step("s1").observation.error_class == "not_found"
    assert "c.txt" in ran.step("s1").observation.error
    assert ran.answer.outcome == "answered"
