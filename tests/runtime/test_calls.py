"""Metered calls: paid before, settled after, retried by class of error, never made twice."""

import asyncio
import random
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

import dspy
import pytest
from dspy.clients import base_lm
from dspy.utils import DummyLM
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.calls import Caller, CallRecord, MemoryCallLog
from runtime.errors import (
    ContextOverflow,
    LimitReached,
    LimitsError,
    ModelError,
    ParseFailure,
    RateLimited,
    RunCancelled,
    SpantreeError,
    StepError,
    TimeoutFailure,
    TruncatedReply,
    Unavailable,
)
from runtime.fanout import fan_out
from runtime.ledger import Ledger, Usage
from runtime.limits import Limits
from runtime.models.price import Price
from runtime.models.request import PromptRequest
from runtime.models.scripted import Reply, Rule, ScriptedEngine
from signatures import AnalyzeLeaf, EvidenceSpan, LeafClaim

R = TypeVar("R")
QUESTION = {"question": "why?"}
EMPTY_LEAF = {"claims": [], "evidence": [], "fields_found": [], "unknowns": [], "claim_count": 0}


class QA(dspy.Signature):
    """Answer."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


@dataclass
class Bench:
    """A caller over a scripted engine, with everything that a test looks at."""

    engine: ScriptedEngine
    limits: Limits = field(default_factory=Limits)
    lm: Any = None
    adapter: Any = None
    slept: list[float] = field(default_factory=list)
    log: MemoryCallLog = field(default_factory=MemoryCallLog)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.limits)
        self.predictor = dspy.Predict(QA)
        self.caller = self.another_caller()

    def another_caller(self, **settings: Any) -> Caller:
        return Caller(
            self.ledger,
            self.log,
            **{
                "limits": self.limits,
                "lm": self.lm or self.engine.lm(),
                "adapter": self.adapter,
                "sleep": self.sleep,
                **settings,
            },
        )

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def call(self, key: str = "k", **arguments: Any) -> dspy.Prediction:
        return asyncio.run(self.caller.call(self.predictor, QUESTION, key=key, **arguments))

    def engine_usage(self) -> Usage:
        return usage_of(self.engine)


def usage_of(engine: ScriptedEngine) -> Usage:
    """What the engine itself has logged."""
    return Usage(
        calls=len(engine.log),
        failed_calls=sum(call.state != "replied" for call in engine.log),
        input_tokens=sum(call.input_tokens for call in engine.log),
        output_tokens=sum(call.output_tokens for call in engine.log),
    )


def comparable(usage: Usage) -> Usage:
    return usage.model_copy(update={"retries": 0, "cost_usd": 0.0, "unknown_cost_calls": 0, "cached_calls": 0})


def answers(*replies: Any) -> Bench:
    return Bench(ScriptedEngine(replies=replies))


def run(work: Coroutine[Any, Any, R]) -> R:
    return asyncio.run(work)


# What one call leaves behind


def test_a_call_is_settled_with_what_the_engine_reports() -> None:
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


def test_the_intent_is_logged_and_paid_before_the_engine_is_called() -> None:
    seen: list[Any] = []
    bench = answers()

    def respond(request: PromptRequest) -> dict[str, Any]:
        seen.append((bench.log.records["k#1"].status, bench.ledger.reserved.calls))
        return {"answer": "x"}

    bench.engine.respond = respond
    bench.call()
    assert seen == [("intent", 1)]


def test_a_call_that_is_done_is_not_made_again() -> None:
    bench = answers({"answer": "once"})
    first = bench.call()
    again = bench.call()
    assert again.answer == first.answer == "once"
    assert len(bench.engine.log) == 1
    assert bench.ledger.spent.calls == 1


def test_a_call_that_failed_is_made_again_by_the_next_execution() -> None:
    bench = answers(Reply(error="context"), {"answer": "now"})
    with pytest.raises(ContextOverflow):
        bench.call()
    assert bench.call().answer == "now"


def test_a_stored_prediction_comes_back_with_its_types() -> None:
    claim = {"claim_id": "c1", "text": "It was Tom.", "status": "direct", "time": ""}
    bench = answers({**EMPTY_LEAF, "claims": [claim], "claim_count": 1})
    leaf = dspy.ChainOfThought(AnalyzeLeaf)
    span = EvidenceSpan(span_id="a" * 12, source="s", first_line=1, margin_before="", text="t", margin_after="")
    inputs = {"question": "who?", "kind": "lookup", "patterns": [], "spans": [span], "term_statistics": []}
    first = run(bench.caller.call(leaf, inputs, key="leaf"))
    stored = CallRecord.model_validate_json(bench.log.records["leaf#1"].model_dump_json())
    bench.log.records["leaf#1"] = stored
    again = run(bench.caller.call(leaf, inputs, key="leaf"))
    assert again.claims == first.claims == [LeafClaim.model_validate(claim)]
    assert again.claim_count == 1
    assert again.completions.claims == [again.claims]
    assert stored.signature == "AnalyzeLeaf"


def test_no_prompt_is_kept_by_any_history_of_dspy() -> None:
    bench = answers({"answer": "x"})
    lm = bench.lm = bench.engine.lm()
    bench.caller = bench.another_caller()
    bench.call()
    assert bench.predictor.history == [] == lm.history
    assert base_lm.GLOBAL_HISTORY == []


def test_it_works_where_histories_are_switched_off() -> None:
    bench = answers({"answer": "x"})
    with dspy.context(disable_history=True, max_history_size=0):
        bench.call()
    assert bench.ledger.spent.calls == 1


def test_the_trace_holds_what_was_accepted_if_the_caller_keeps_one() -> None:
    bench = answers("prose", {"answer": "good"})
    with dspy.context(trace=[]):
        bench.call()
        bench.call()
        trace = list(dspy.settings.trace)
    assert [(predictor, inputs, made.answer) for predictor, inputs, made in trace] == [
        (bench.predictor, QUESTION, "good"),
        (bench.predictor, QUESTION, "good"),
    ]


def test_no_trace_is_kept_where_none_is_wanted() -> None:
    bench = answers({"answer": "x"})
    with dspy.context(trace=None):
        bench.call()


def test_the_usage_tracker_of_dspy_counts_as_ever() -> None:
    bench = answers(Reply("prose", input_tokens=5, output_tokens=1), Reply({"answer": "x"}, input_tokens=7))
    with dspy.track_usage() as tracker:
        bench.call()
    assert tracker.get_total_tokens()["spantree/scripted"]["prompt_tokens"] == 12


# Retries, by class of error


def test_a_timeout_is_followed_by_the_original_call() -> None:
    bench = answers(Reply(error="timeout"), Reply(error="timeout"), {"answer": "third"})
    assert bench.call().answer == "third"
    prompts = {call.prompt for call in bench.engine.log}
    assert len(prompts) == 1
    assert bench.ledger.spent.calls == 3
    assert bench.ledger.spent.failed_calls == 2
    assert bench.ledger.spent.retries == 2
    assert [record.status for record in bench.log.records.values()] == ["failed", "failed", "done"]
    assert bench.log.records["k#1"].error_class == "timeout"


def test_retries_are_bounded() -> None:
    bench = Bench(ScriptedEngine(rules=[Rule(error="timeout")]), Limits(retries=1))
    with pytest.raises(TimeoutFailure):
        bench.call()
    assert len(bench.engine.log) == 2


def test_a_rate_limit_is_waited_out_as_long_as_it_asks() -> None:
    bench = answers(Reply(error="rate_limit", retry_after=7.5), Reply(error="rate_limit"), {"answer": "x"})
    bench.call()
    assert bench.slept == [7.5, 2.0]


def test_a_rate_limit_longer_than_the_run_is_not_waited_for() -> None:
    bench = Bench(ScriptedEngine(rules=[Rule(error="rate_limit", retry_after=50)]), Limits(wall_seconds=40))
    with pytest.raises(RateLimited) as limited:
        bench.call()
    assert limited.value.retry_after == 50
    assert bench.slept == []


@pytest.mark.parametrize("fault", ["server", "transport"])
def test_a_service_that_failed_is_tried_again_with_pauses(fault: Any) -> None:
    bench = answers(Reply(error=fault), Reply(error=fault), Reply(error=fault))
    with pytest.raises(Unavailable):
        bench.call()
    assert len(bench.engine.log) == 3
    assert bench.slept == [1.0, 2.0]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("context", ContextOverflow),
        ("invalid", Unavailable),
        ("auth", ModelError),
        ("billing", ModelError),
        ("unknown_model", ModelError),
    ],
)
def test_what_no_second_try_can_mend_is_raised_at_once(fault: Any, error: type[SpantreeError]) -> None:
    bench = answers(Reply(error=fault))
    with pytest.raises(error) as raised:
        bench.call()
    assert len(bench.engine.log) == 1
    assert bench.ledger.spent.calls == 1
    if isinstance(raised.value, ModelError):
        assert raised.value.hint


def test_a_parse_failure_is_told_to_the_model_once() -> None:
    bench = answers("I think it was Tom.", {"answer": "Tom"})
    assert bench.call().answer == "Tom"
    first, second = bench.engine.log
    assert "retry_feedback" not in first.prompt
    assert "cannot be serialized to a JSON object. Expected fields: answer" in second.prompt
    assert list(bench.predictor.signature.input_fields) == ["question"]
    assert bench.ledger.spent.input_tokens == first.input_tokens + second.input_tokens
    assert bench.ledger.spent.failed_calls == 0, "the engine did reply, and its tokens are paid"


def test_a_second_parse_failure_is_final() -> None:
    bench = answers("prose", "prose again", {"answer": "too late"})
    with pytest.raises(ParseFailure) as failure:
        bench.call()
    assert failure.value.reply == "prose again"
    assert len(bench.engine.log) == 2
    assert bench.log.records["k#2"].reply == "prose again"


def test_a_parse_failure_does_not_use_up_the_retries_of_a_timeout() -> None:
    bench = answers("prose", Reply(error="timeout"), {"answer": "x"})
    assert bench.call().answer == "x"
    assert "retry_feedback" in bench.engine.log[2].prompt


def test_a_check_makes_a_reply_that_parses_a_parse_failure() -> None:
    bench = answers({"answer": "one"}, {"answer": "two"})

    def check(prediction: dspy.Prediction) -> None:
        if prediction.answer == "one":
            raise ParseFailure("3 claims were declared, 2 are there")

    assert bench.call(check=check).answer == "two"
    assert "3 claims were declared, 2 are there" in bench.engine.log[1].prompt


def test_a_bug_in_a_check_is_a_bug() -> None:
    bench = answers({"answer": "one"})

    def check(prediction: dspy.Prediction) -> None:
        raise KeyError("bug")

    with pytest.raises(KeyError):
        bench.call(check=check)
    assert bench.ledger.spent.calls == 1
    assert bench.ledger.reserved == Usage()


@pytest.mark.parametrize("text", ['{"answer": "a valid but shorter li', '{"answer": "complete"}'])
def test_a_reply_cut_at_its_length_is_an_error_even_if_it_parses(text: str) -> None:
    bench = answers(Reply(text, finish_reason="length"))
    with pytest.raises(TruncatedReply):
        bench.call()
    assert len(bench.engine.log) == 1
    assert bench.log.records["k#1"].finish_reason == "length"


def test_the_chat_adapter_makes_no_hidden_second_call() -> None:
    bench = Bench(ScriptedEngine(replies=["prose", {"answer": "x"}]), adapter=dspy.ChatAdapter())
    assert bench.call().answer == "x"
    assert len(bench.engine.log) == 2 == bench.ledger.spent.calls


def test_a_retry_passes_by_the_cache_that_holds_the_bad_reply() -> None:
    engine = ScriptedEngine(replies=["prose", "prose", {"answer": "x"}, "unused"])
    bench = Bench(engine, lm=engine.lm(cache=True, temperature=0.7))
    with pytest.raises(ParseFailure):
        bench.call("a")
    with pytest.raises(ParseFailure):
        bench.call("b")
    assert len(engine.log) == 2
    assert bench.ledger.spent.cached_calls == 2


def test_a_cached_reply_costs_no_call() -> None:
    engine = ScriptedEngine(replies=[{"answer": "x"}])
    bench = Bench(engine, lm=engine.lm(cache=True))
    bench.call("a")
    assert bench.call("b").answer == "x"
    assert bench.ledger.spent.calls == 1
    assert bench.ledger.spent.cached_calls == 1
    assert comparable(bench.ledger.spent) == bench.engine_usage()


def test_at_temperature_zero_the_retry_raises_no_warning() -> None:
    engine = ScriptedEngine(replies=["prose", {"answer": "x"}])
    bench = Bench(engine, lm=engine.lm(temperature=0.0))
    assert bench.call().answer == "x"


# Bugs, timeouts, cancellation


def test_a_bug_of_an_engine_is_raised_as_it_is_and_paid() -> None:
    bench = answers()

    def respond(request: PromptRequest) -> str:
        raise ZeroDivisionError("bug")

    bench.engine.respond = respond
    with pytest.raises(ZeroDivisionError):
        bench.call()
    assert bench.ledger.spent == Usage(calls=1, failed_calls=1)
    assert bench.log.records["k#1"].error_class == "ZeroDivisionError"


def test_running_out_of_replies_names_the_request() -> None:
    bench = answers()
    with pytest.raises(ModelError, match=r"no reply for call 1.*why\?"):
        bench.call()


def test_a_call_is_given_up_after_its_time_and_made_again() -> None:
    engine = ScriptedEngine(replies=[Reply({"answer": "late"}, latency=60), {"answer": "in time"}])
    bench = Bench(engine, Limits(call_seconds=0.2))
    assert bench.call().answer == "in time"
    assert comparable(bench.ledger.spent) == bench.engine_usage()
    assert bench.log.records["k#1"].error_class == "timeout"


def test_a_call_is_cut_where_the_run_ends() -> None:
    engine = ScriptedEngine(rules=[Rule(reply={"answer": "late"}, latency=60)])
    bench = Bench(engine, Limits(wall_seconds=0.2))
    with pytest.raises(LimitReached, match="wall_seconds"):
        bench.call()
    assert bench.ledger.spent.calls == len(engine.log) == 1


def test_no_call_starts_after_cancel() -> None:
    bench = answers({"answer": "x"})
    bench.ledger.cancel()
    with pytest.raises(RunCancelled):
        bench.call()
    bench.caller = Bench(bench.engine).another_caller(cancelled=lambda: True)
    with pytest.raises(RunCancelled):
        bench.call()
    assert bench.engine.log == []


def test_a_call_cancelled_in_the_engine_is_one_failed_call() -> None:
    engine = ScriptedEngine(rules=[Rule(reply={"answer": "late"}, latency=60)])
    bench = Bench(engine)

    async def main() -> None:
        task = asyncio.create_task(bench.caller.call(bench.predictor, QUESTION, key="k"))
        while not engine.log:
            await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        run(main())
    assert bench.ledger.spent == Usage(calls=1, failed_calls=1)
    assert bench.ledger.reserved == Usage()
    assert bench.log.records["k#1"].error_class == "cancelled"


def test_a_call_cancelled_before_the_engine_was_asked_is_refunded() -> None:
    bench = answers({"answer": "never"})

    async def main() -> None:
        task = asyncio.create_task(bench.caller.call(bench.predictor, QUESTION, key="k"))
        await asyncio.sleep(0)
        assert bench.ledger.reserved.calls == 1
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        run(main())
    assert bench.engine.log == []
    assert (bench.ledger.spent, bench.ledger.reserved) == (Usage(), Usage())


def test_a_log_that_cannot_be_written_stops_the_call() -> None:
    class Full(MemoryCallLog):
        def intent(self, record: CallRecord) -> None:
            raise OSError("disk full")

    bench = answers({"answer": "never"})
    bench.log = Full()
    bench.caller = bench.another_caller()
    with pytest.raises(OSError, match="disk full"):
        bench.call()
    assert bench.engine.log == []
    assert bench.ledger.reserved == Usage()


# Limits


def test_a_limit_is_reached_before_the_call() -> None:
    bench = Bench(ScriptedEngine(rules=[Rule(reply={"answer": "x"})]), Limits(calls=2))
    bench.call("a")
    bench.call("b")
    with pytest.raises(LimitReached, match="calls"):
        bench.call("c")
    assert len(bench.engine.log) == 2


def test_a_prompt_that_does_not_fit_the_tokens_left_is_not_sent() -> None:
    bench = Bench(ScriptedEngine(rules=[Rule(reply={"answer": "x"})]), Limits(input_tokens=500))
    with pytest.raises(LimitReached, match="input_tokens"):
        run(bench.caller.call(bench.predictor, {"question": "x" * 4000}, key="k"))
    assert bench.engine.log == []


def test_the_estimate_is_near_the_prompt() -> None:
    bench = answers({"answer": "x"})
    run(bench.caller.call(bench.predictor, {"question": "word " * 2000}, key="k"))
    prompt = len(bench.engine.log[0].prompt)
    estimates: list[int] = []
    reserve = bench.ledger.reserve

    def spy(**asked: Any) -> Any:
        estimates.append(asked["input_tokens"])
        return reserve(**asked)

    bench.ledger.reserve = spy  # type: ignore[method-assign]
    bench.engine.respond = lambda request: {"answer": "x"}
    run(bench.caller.call(bench.predictor, {"question": "word " * 2000}, key="other"))
    assert prompt / 3.5 * 0.9 < estimates[0] < prompt / 3.5 * 1.1


def test_a_call_waits_for_tokens_that_are_only_reserved() -> None:
    """What does not fit beside its siblings still fits after them."""
    engine = ScriptedEngine(rules=[Rule(reply={"answer": "x"}, input_tokens=10, output_tokens=10)])
    bench = Bench(engine, Limits(tokens=1500), lm=engine.lm(max_tokens=1000))

    async def work(index: int, item: int) -> str:
        prediction = await bench.caller.call(bench.predictor, QUESTION, key=f"k{item}")
        return prediction.answer

    outcomes = run(fan_out(range(6), work, in_flight=6, stop=lambda error: True))
    assert [outcome.state for outcome in outcomes] == ["done"] * 6
    assert bench.ledger.spent.calls == 6


def test_the_last_call_of_a_budget_is_used_whoever_comes_first() -> None:
    bench = Bench(ScriptedEngine(rules=[Rule(reply={"answer": "x"})]), Limits(calls=5))

    async def work(index: int, item: int) -> str:
        return (await bench.caller.call(bench.predictor, QUESTION, key=f"k{item}")).answer

    outcomes = run(fan_out(range(9), work, in_flight=4, stop=lambda error: isinstance(error, LimitReached)))
    states = Counter(outcome.state for outcome in outcomes)
    assert states["done"] == 5 == len(bench.engine.log)
    assert bench.ledger.reserved == Usage()


def test_a_known_price_is_reserved_and_summed() -> None:
    engine = ScriptedEngine(rules=[Rule(reply={"answer": "x"}, input_tokens=100, output_tokens=50)])
    engine.price = Price(input=0.001, output=0.002)
    bench = Bench(engine, Limits(cost_usd=2.0), lm=engine.lm(max_tokens=50))
    bench.call("a")
    assert bench.ledger.spent.cost_usd == pytest.approx(0.2)
    assert bench.ledger.spent.unknown_cost_calls == 0
    with pytest.raises(LimitReached, match="cost_usd"):
        for number in range(20):
            bench.call(f"b{number}")
    assert bench.ledger.spent.cost_usd <= 2.0


def test_an_unknown_price_is_counted_and_refused_under_a_cost_limit() -> None:
    engine = ScriptedEngine(rules=[Rule(reply={"answer": "x"})], price=None)
    bench = Bench(engine)
    bench.call()
    assert bench.ledger.spent.unknown_cost_calls == 1
    assert bench.ledger.spent.cost_usd == 0.0
    limited = Bench(engine, Limits(cost_usd=1.0))
    with pytest.raises(LimitsError, match="price"):
        limited.call("other")
    assert len(engine.log) == 1


# Which model


def test_the_lm_of_the_predictor_comes_first_then_the_leaf_lm_then_the_lm_then_the_settings() -> None:
    def engine(name: str) -> ScriptedEngine:
        return ScriptedEngine(rules=[Rule(reply={"answer": name})])

    bench = Bench(engine("run"))
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


def test_no_model_at_all_is_a_mistake_with_a_hint() -> None:
    bench = answers()
    bench.caller = bench.another_caller(lm=None)
    with pytest.raises(ModelError) as missing:
        bench.call()
    assert "--model" in missing.value.hint


def test_an_engine_without_an_asynchronous_side_is_called_in_a_thread() -> None:
    engine = ScriptedEngine(replies=[Reply(error="timeout"), {"answer": "x"}])
    bench = Bench(engine, lm=dspy.LM("own/model", engine=engine, num_retries=5, cache=False))
    assert bench.call().answer == "x"
    assert comparable(bench.ledger.spent) == bench.engine_usage()


def test_the_dummy_of_dspy_works_too() -> None:
    bench = answers()
    bench.caller = bench.another_caller(lm=DummyLM([{"answer": "dummy"}]), adapter=dspy.ChatAdapter())
    assert bench.call().answer == "dummy"
    assert bench.ledger.spent.calls == 1


# Exactness


FAULTS: tuple[Any, ...] = ("ok", "ok", "ok", "prose", "timeout", "rate_limit", "server", "cut", "context", "bad_check")


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.sampled_from(FAULTS), min_size=4, max_size=4), min_size=1, max_size=12),
    st.integers(1, 6),
    st.none() | st.integers(1, 20),
    st.none() | st.integers(0, 120),
    st.randoms(use_true_random=False),
)
def test_the_ledger_equals_the_log_of_the_engine(
    schedule: list[list[str]], in_flight: int, calls: int | None, cancel_after: int | None, chance: random.Random
) -> None:
    """Under concurrency, failure, limits and cancellation: calls, failures and tokens, exactly."""
    made: Counter[str] = Counter()
    pauses = [chance.random() * 0.002 for _ in range(200)]

    def respond(request: PromptRequest) -> Reply:
        item = request.inputs["question"]
        what = schedule[int(item)][made[item]]
        made[item] += 1
        latency = pauses[(int(item) * 7 + made[item]) % len(pauses)]
        if what in ("timeout", "rate_limit", "server", "context"):
            return Reply(error=what, latency=latency)  # type: ignore[arg-type]
        if what == "cut":
            return Reply('{"answer": "cut', finish_reason="length", latency=latency)
        return Reply("prose" if what == "prose" else {"answer": what}, latency=latency)

    def check(prediction: dspy.Prediction) -> None:
        if prediction.answer == "bad_check":
            raise ParseFailure("not what was declared")

    engine = ScriptedEngine(respond=respond)
    bench = Bench(engine, Limits(calls=calls, retries=3))

    async def work(index: int, item: int) -> str:
        inputs = {"question": str(item)}
        prediction = await bench.caller.call(bench.predictor, inputs, key=f"k{item}", check=check)
        return prediction.answer

    async def main() -> list[Any] | None:
        fan = asyncio.create_task(
            fan_out(range(len(schedule)), work, in_flight=in_flight, stop=lambda e: isinstance(e, LimitReached))
        )
        if cancel_after is not None:
            for _ in range(cancel_after):
                await asyncio.sleep(0)
            fan.cancel()
        try:
            return await fan
        except asyncio.CancelledError:
            return None

    outcomes = asyncio.run(main())
    assert comparable(bench.ledger.spent) == usage_of(engine)
    assert bench.ledger.reserved == Usage()
    assert calls is None or bench.ledger.spent.calls <= calls
    logged = sum((record.usage for record in bench.log.records.values()), Usage())
    assert logged == bench.ledger.spent
    assert all(record.status != "intent" for record in bench.log.records.values())
    for outcome in outcomes or ():
        if outcome.state == "failed":
            assert isinstance(outcome.error, StepError | LimitReached)
        if outcome.state == "done":
            assert outcome.value == "ok"
