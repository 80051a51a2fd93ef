"""The engine of local models, over a server that streams as the bindings do: what is asked, counted and said."""

import asyncio
import copy
import threading
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy import lm15

from data.corpus import open_corpus_text
from programs.baselines import MapReduce
from runtime.calls import Caller, MemoryCallLog
from runtime.ledger import Ledger
from runtime.limits import Limits
from runtime.models.local.engine import REPLY_TOKENS, LocalEngine
from runtime.models.local.pool import Pool, process_pool
from runtime.models.local.settings import Settings
from runtime.models.make import make_lm
from runtime.models.price import FREE, price_of
from runtime.models.window import window_characters
from tests.runtime.local_desk import (
    OVERFLOW,
    FakeServer,
    fake_engine,
    leaf_inputs,
    request_of,
    span,
)


def _asked(**config: Any) -> lm15.Request:
    return lm15.Request("local/x", (lm15.Message.user("q"),), config=lm15.Config(**config))


def test_a_request_becomes_a_request_to_the_server() -> None:
    engine, server = fake_engine(["yes"])
    engine.complete(_asked(max_tokens=7, temperature=0.5, seed=3, top_p=0.9, stop=("END",)))
    engine.complete(_asked())
    first, second = server.bodies
    assert first["messages"] == [{"role": "user", "content": "q"}]
    sent = {"max_tokens": 7, "temperature": 0.5, "seed": 3, "top_p": 0.9, "stop": ["END"]}
    assert first.items() >= {**sent, "stream": True, "cache_prompt": True}.items()
    assert (second["max_tokens"], second["temperature"]) == (REPLY_TOKENS, 0.0)
    assert not {"seed", "top_p", "stop", "grammar"} & second.keys()


def test_the_form_goes_with_the_request() -> None:
    engine, server = fake_engine(["{}"])
    engine.complete(request_of(leaf_inputs([span("disk full")])))
    assert '"disk"' in server.bodies[0]["grammar"]


def test_the_reply_is_counted_by_the_server() -> None:
    engine, _ = fake_engine(["some reply of several chunks"])
    response = engine.complete(_asked())
    assert response.message.text == "some reply of several chunks"
    assert response.finish_reason == "stop"
    usage = response.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (120, 30, 100)


def test_how_likely_the_words_were_is_told_where_it_is_asked() -> None:
    top = [{"token": "yes", "logprob": -0.5}, {"token": "no", "logprob": -1.0}]
    engine, server = fake_engine([({"token": "yes", "logprob": -0.5, "top_logprobs": top},)])
    response = engine.complete(_asked(logprobs=2))
    assert response.message.text == "yes"
    assert response.logprobs is not None
    (token,) = response.logprobs
    assert (token.token, token.logprob) == ("yes", -0.5)
    assert [(each.token, each.logprob) for each in token.top] == [("yes", -0.5), ("no", -1.0)]
    assert server.bodies[0].items() >= {"logprobs": True, "top_logprobs": 2}.items()
    thought = {"token": "", "logprob": -0.1}
    thinking, _ = fake_engine([(thought, {"token": "yes", "logprob": -0.5, "top_logprobs": top})])
    assert len(thinking.complete(_asked(logprobs=2)).logprobs or ()) == 1, "of what is said alone"
    silent, other = fake_engine(["yes"])
    assert silent.complete(_asked()).logprobs is None
    assert not {"logprobs", "top_logprobs"} & other.bodies[0].keys()


def test_a_reply_that_was_cut_off_says_so() -> None:
    engine, _ = fake_engine(["cut of"], finish="length")
    assert engine.complete(_asked()).finish_reason == "length"


def test_what_costs_nothing_is_free_and_the_window_is_known() -> None:
    engine, _ = fake_engine(settings=Settings(context=4096))
    lm = engine.lm()
    assert price_of(lm) == FREE
    assert window_characters(lm) == engine.window == (4096 - 1024 - 2000) * 2


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (OVERFLOW, lm15.ContextLengthError),
        ({"type": "invalid_request_error", "message": "no"}, lm15.InvalidRequestError),
    ],
)
def test_errors_of_the_server(error: dict[str, Any], raised: type[Exception]) -> None:
    engine, _ = fake_engine([error])
    with pytest.raises(raised):
        engine.complete(_asked())
    with pytest.raises(raised):
        asyncio.run(engine.acomplete(_asked()))


def test_a_reading_that_does_not_fit_is_halved(tmp_path: Path) -> None:
    nothing = '{"claims": [], "evidence": [], "fields_found": [], "unknowns": [], "claim_count": 0}'
    engine, server = fake_engine([OVERFLOW, nothing])
    lines = "".join(f"line {number} says nothing\n" for number in range(400))
    corpus = open_corpus_text("a.log", lines.encode(), store=tmp_path)
    program = MapReduce(lm=make_lm("extractive"), leaf_lm=engine.lm())
    answer = program(question="Which lines say something?", corpus=corpus).answer
    assert len(server.bodies) >= 3
    assert answer.coverage.failed == ()


def test_calls_of_a_run_take_their_turns_outside_of_their_time() -> None:
    """Eight calls at once would wait for each other within the time that each has for its reply."""
    engine, server = fake_engine(['{"answer": "x"}'])
    lm = engine.lm()
    started: list[int] = []
    log = MemoryCallLog()
    caller = Caller(Ledger(Limits()), log, limits=Limits(in_flight=8), lm=lm)

    async def calls() -> None:
        predict = dspy.Predict("question -> answer")
        work = (caller.call(predict, {"question": str(n)}, key=str(n)) for n in range(5))
        await asyncio.gather(*work)

    def slow(body: dict[str, Any], callback: Any) -> Any:
        started.append(sum(each.status == "started" for each in log.records.values()))
        return server._stream('{"answer": "x"}', callback)

    server.replies = [slow]
    asyncio.run(calls())
    assert len(server.bodies) == 5
    assert server.most_open == 1
    assert max(started) <= 1


def test_threads_share_a_model_one_at_a_time() -> None:
    engine, server = fake_engine(["yes"])
    threads = [threading.Thread(target=engine.complete, args=(_asked(),)) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert (len(server.bodies), server.most_open) == (6, 1)


def test_a_call_that_nobody_waits_for_ends_and_leaves_the_next_one_whole() -> None:
    reached, stopped = threading.Event(), threading.Event()

    def endless(body: dict[str, Any], callback: Any) -> Any:
        while not callback({"choices": [{"delta": {"content": "word "}}]}):
            reached.set()
        stopped.set()

    engine, server = fake_engine([endless, "the next one"])

    async def cancelled() -> str | None:
        first = asyncio.create_task(engine.acomplete(_asked()))
        queued = asyncio.create_task(engine.acomplete(_asked()))
        await asyncio.to_thread(reached.wait)
        queued.cancel()
        first.cancel()
        await asyncio.gather(first, queued, return_exceptions=True)
        return (await engine.acomplete(_asked())).message.text

    assert asyncio.run(cancelled()) == "the next one"
    assert stopped.is_set()
    assert len(server.bodies) == 2  # the queued one was never sent


def test_copies_share_the_model_and_it_is_freed_with_the_last() -> None:
    starts: list[Path] = []

    def start(weights: Path, settings: Settings) -> FakeServer:
        starts.append(weights)
        return FakeServer(["yes"])

    pool = Pool(start)
    first = LocalEngine(pool.model(Path("/m/x.gguf"), Settings()))
    second = LocalEngine(pool.model(Path("/m/x.gguf"), Settings()))
    other = LocalEngine(pool.model(Path("/m/y.gguf"), Settings()))
    assert not starts  # nothing is loaded before it is asked
    for engine in (first, second, copy.deepcopy(first), other):
        engine.complete(_asked())
    assert starts == [Path("/m/x.gguf"), Path("/m/y.gguf")]
    del first, second, engine, other
    LocalEngine(pool.model(Path("/m/x.gguf"), Settings())).complete(_asked())
    assert len(starts) == 3


def test_a_closed_pool_frees_its_models() -> None:
    pool = Pool(lambda weights, settings: FakeServer(["yes"]))
    engine = LocalEngine(pool.model(Path("/m/x.gguf"), Settings()))
    engine.complete(_asked())
    pool.close()
    with pytest.raises(RuntimeError):
        engine.complete(_asked())
    assert process_pool() is process_pool()


def test_a_program_that_holds_the_lm_can_be_copied() -> None:
    engine, _ = fake_engine(['{"answer": "x"}'])
    program = dspy.Predict("question -> answer")
    program.set_lm(engine.lm())
    copied = program.deepcopy()
    assert copied.lm is not None
    assert getattr(copied.lm, "engine") is engine  # noqa: B009
