"""Metered calls: paid before, settled after, never made twice; limits, and which model is asked."""

import asyncio
from collections import Counter
from typing import Any

import dspy
import pytest
from dspy.clients import base_lm
from dspy.utils import DummyLM

from runtime.calls import CallRecord
from runtime.errors import (
    ContextOverflow,
    LimitReached,
    LimitsError,
    ModelError,
)
from runtime.fanout import fan_out
from runtime.ledger import Ledger, Usage
from runtime.limits import Limits
from runtime.models.price import Price
from runtime.models.request import PromptRequest
from runtime.models.scripted import Reply, Rule, ScriptedEngine
from signatures import AnalyzeLeaf, EvidenceSpan, LeafClaim

QUESTION = {"question": "why?"}


def test_a_call_is_settled_with_what_the_engine_reports(answers: Any) -> None:
    bench = answers(Reply({"answer": "because"}, input_tokens=120, output_tokens=7))
    assert bench.call(frame_id="f1", step_id="s1").answer == "because"
    assert bench.ledger.spent == Usage(calls=1, input_tokens=120, output_tokens=7)
    assert bench.ledger.reserved == Usage()
    record = bench.log.records["k#1"]
    assert (record.status, record.outputs, record.attempt) == ("done", {"answer": "because"}, 1)
    assert (record.frame_id, record.step_id, record.model) == ("f1", "s1", "spantree/scripted")
    assert record.usage == bench.ledger.spent
    assert record.reply == '{"answer": "because"}'
    assert record.finish_reason == "stop"


def test_the_intent_is_logged_and_paid_before_the_engine_is_called(answers: Any) -> None:
    seen: list[Any] = []
    bench = answers()

    def respond(request: PromptRequest) -> dict[str, Any]:
        seen.append((bench.log.records["k#1"].status, bench.ledger.reserved.calls))
        return {"answer": "x"}

    bench.engine.respond = respond
    bench.call()
    assert seen == [("intent", 1)]


def test_a_call_that_is_done_is_not_made_again(answers: Any) -> None:
    bench = answers({"answer": "once"})
    first = bench.call()
    again = bench.call()
    assert again.answer == first.answer == "once"
    assert len(bench.engine.log) == 1
    assert bench.ledger.spent.calls == 1


def test_a_call_that_failed_is_made_again_by_the_next_execution(answers: Any) -> None:
    bench = answers(Reply(error="context"), {"answer": "now"})
    with pytest.raises(ContextOverflow):
        bench.call()
    assert bench.call().answer == "now"


def test_a_stored_prediction_comes_back_with_its_types(answers: Any) -> None:
    claim = {"claim_id": "c1", "text": "It was Tom.", "status": "direct", "time": ""}
    bench = answers(
        {"claims": [claim], "evidence": [], "fields_found": [], "unknowns": [], "claim_count": 1}
    )
    leaf = dspy.ChainOfThought(AnalyzeLeaf)
    span = EvidenceSpan(
        span_id="a" * 12, source="s", first_line=1, margin_before="", text="t", margin_after=""
    )
    inputs = {
        "question": "who?",
        "kind": "lookup",
        "patterns": [],
        "spans": [span],
        "term_statistics": [],
    }
    first = asyncio.run(bench.caller.call(leaf, inputs, key="leaf"))
    stored = CallRecord.model_validate_json(bench.log.records["leaf#1"].model_dump_json())
    bench.log.records["leaf#1"] = stored
    again = asyncio.run(bench.caller.call(leaf, inputs, key="leaf"))
    assert again.claims == first.claims == [LeafClaim.model_validate(claim)]
    assert again.claim_count == 1
    assert again.completions.claims == [again.claims]
    assert stored.signature == "AnalyzeLeaf"


def test_no_prompt_is_kept_by_any_history_of_dspy(answers: Any) -> None:
    bench = answers({"answer": "x"})
    lm = bench.lm = bench.engine.lm()
    bench.caller = bench.another_caller()
    bench.call()
    assert bench.predictor.history == [] == lm.history
    assert base_lm.GLOBAL_HISTORY == []


def test_it_works_where_histories_are_switched_off(answers: Any) -> None:
    bench = answers({"answer": "x"})
    with dspy.context(disable_history=True, max_history_size=0):
        bench.call()
    assert bench.ledger.spent.calls == 1


def test_the_trace_holds_what_was_accepted_if_the_caller_keeps_one(answers: Any) -> None:
    bench = answers("prose", {"answer": "good"})
    with dspy.context(trace=[]):
        bench.call()
        bench.call()
        trace = list(dspy.settings.trace)
    assert [(predictor, inputs, made.answer) for predictor, inputs, made in trace] == [
        (bench.predictor, QUESTION, "good"),
        (bench.predictor, QUESTION, "good"),
    ]


def test_no_trace_is_kept_where_none_is_wanted(answers: Any) -> None:
    bench = answers({"answer": "x"})
    with dspy.context(trace=None):
        bench.call()


def test_the_usage_tracker_of_dspy_counts_as_ever(answers: Any) -> None:
    bench = answers(
        Reply("prose", input_tokens=5, output_tokens=1), Reply({"answer": "x"}, input_tokens=7)
    )
    with dspy.track_usage() as tracker:
        bench.call()
    assert tracker.get_total_tokens()["spantree/scripted"]["prompt_tokens"] == 12


def test_a_limit_is_reached_before_the_call(bench_of: Any) -> None:
    bench = bench_of(ScriptedEngine(rules=[Rule(reply={"answer": "x"})]), Limits(calls=2))
    bench.call("a")
    bench.call("b")
    with pytest.raises(LimitReached, match="calls"):
        bench.call("c")
    assert len(bench.engine.log) == 2


def test_a_prompt_that_does_not_fit_the_tokens_left_is_not_sent(bench_of: Any) -> None:
    bench = bench_of(ScriptedEngine(rules=[Rule(reply={"answer": "x"})]), Limits(input_tokens=500))
    with pytest.raises(LimitReached, match="input_tokens"):
        bench.call(question="x" * 4000)
    assert bench.engine.log == []


def test_the_estimate_is_near_the_prompt(answers: Any) -> None:
    bench = answers({"answer": "x"})
    bench.call(question="word " * 2000)
    prompt = len(bench.engine.log[0].prompt)
    estimates: list[int] = []
    reserve = bench.ledger.reserve

    def spy(**asked: Any) -> Any:
        estimates.append(asked["input_tokens"])
        return reserve(**asked)

    bench.ledger.reserve = spy  # type: ignore[method-assign]
    bench.engine.respond = lambda request: {"answer": "x"}
    bench.call("other", question="word " * 2000)
    assert prompt / 3.5 * 0.9 < estimates[0] < prompt / 3.5 * 1.1


def test_a_call_waits_for_tokens_that_are_only_reserved(bench_of: Any) -> None:
    """What does not fit beside its siblings still fits after them."""
    engine = ScriptedEngine(rules=[Rule(reply={"answer": "x"}, input_tokens=10, output_tokens=10)])
    bench = bench_of(engine, Limits(tokens=1500), lm=engine.lm(max_tokens=1000))

    async def work(index: int, item: int) -> str:
        return (await bench.acall(f"k{item}")).answer

    outcomes = asyncio.run(fan_out(range(6), work, in_flight=6, stop=lambda error: True))
    assert [outcome.state for outcome in outcomes] == ["done"] * 6
    assert bench.ledger.spent.calls == 6


def test_the_last_call_of_a_budget_is_used_whoever_comes_first(bench_of: Any) -> None:
    bench = bench_of(ScriptedEngine(rules=[Rule(reply={"answer": "x"})]), Limits(calls=5))

    async def work(index: int, item: int) -> str:
        return (await bench.acall(f"k{item}")).answer

    outcomes = asyncio.run(
        fan_out(range(9), work, in_flight=4, stop=lambda error: isinstance(error, LimitReached))
    )
    states = Counter(outcome.state for outcome in outcomes)
    assert states["done"] == 5 == len(bench.engine.log)
    assert bench.ledger.reserved == Usage()


def test_a_known_price_is_reserved_and_summed(bench_of: Any) -> None:
    engine = ScriptedEngine(rules=[Rule(reply={"answer": "x"}, input_tokens=100, output_tokens=50)])
    engine.price = Price(input=0.001, output=0.002)
    bench = bench_of(engine, Limits(cost_usd=2.0), lm=engine.lm(max_tokens=50))
    bench.call("a")
    assert bench.ledger.spent.cost_usd == pytest.approx(0.2)
    assert bench.ledger.spent.unknown_cost_calls == 0
    for number in range(8):
        bench.call(f"b{number}")
    with pytest.raises(LimitReached, match="cost_usd"):
        bench.call("c")
    assert bench.ledger.spent.cost_usd <= 2.0


def test_an_unknown_price_is_counted_and_refused_under_a_cost_limit(bench_of: Any) -> None:
    engine = ScriptedEngine(rules=[Rule(reply={"answer": "x"})], price=None)
    bench = bench_of(engine)
    bench.call()
    assert bench.ledger.spent.unknown_cost_calls == 1
    assert bench.ledger.spent.cost_usd == 0.0
    limited = bench_of(engine, Limits(cost_usd=1.0))
    with pytest.raises(LimitsError, match="price"):
        limited.call("other")
    assert len(engine.log) == 1


def test_the_lm_of_the_predictor_comes_first_then_the_leaf_lm_then_the_lm_then_the_settings(
    bench_of: Any,
) -> None:
    def engine(name: str) -> ScriptedEngine:
        return ScriptedEngine(rules=[Rule(reply={"answer": name})])

    bench = bench_of(engine("run"))
    leaf, own, settings_lm = engine("leaf").lm(), engine("own").lm(), engine("settings").lm()
    bench.caller = bench.another_caller(leaf_lm=leaf)
    assert bench.call("a").answer == "run"
    assert bench.call("b", leaf=True).answer == "leaf"
    bench.predictor.lm = own
    assert bench.call("c", leaf=True).answer == "own"
    bench.predictor.lm = None
    bench.caller = bench.another_caller(lm=None)
    with dspy.context(lm=settings_lm):
        assert bench.call("d").answer == "settings"


def test_no_model_at_all_is_a_mistake_with_a_hint(answers: Any) -> None:
    bench = answers()
    bench.caller = bench.another_caller(lm=None)
    with pytest.raises(ModelError) as missing:
        bench.call()
    assert "--model" in missing.value.hint


def test_an_engine_without_an_asynchronous_side_is_called_in_a_thread(bench_of: Any) -> None:
    engine = ScriptedEngine(replies=[Reply(error="timeout"), {"answer": "x"}])
    bench = bench_of(engine, lm=dspy.LM("own/model", engine=engine, num_retries=5, cache=False))
    assert bench.call().answer == "x"
    assert bench.metered_usage() == bench.engine_usage()


def test_the_dummy_of_dspy_works_too(answers: Any) -> None:
    bench = answers()
    bench.caller = bench.another_caller(
        lm=DummyLM([{"answer": "dummy"}]), adapter=dspy.ChatAdapter()
    )
    assert bench.call().answer == "dummy"
    assert bench.ledger.spent.calls == 1


def test_demonstrations_are_part_of_the_estimate(answers: Any) -> None:
    bench = answers({"answer": "x"})
    bench.limits = Limits(input_tokens=1000)
    bench.ledger = Ledger(bench.limits)
    bench.caller = bench.another_caller()
    bench.predictor.demos = [dspy.Example(question="q" * 4000, answer="a").with_inputs("question")]
    with pytest.raises(LimitReached, match="input_tokens"):
        bench.call()
