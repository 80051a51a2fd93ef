"""The real network path of DSPy, against an OpenAI-compatible server on loopback."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import dspy
import pytest

from runtime.calls import Caller, MemoryCallLog
from runtime.errors import (
    ContextOverflow,
    LimitsError,
    ModelError,
    RateLimited,
    TimeoutFailure,
    TruncatedReply,
    Unavailable,
)
from runtime.ledger import Ledger, Usage
from runtime.limits import Limits
from runtime.models.make import make_lm
from runtime.models.own_server import LONGEST_LIST


class Server(ThreadingHTTPServer):
    """Answers each request with the next (status, body, headers) of `script`; None: it never answers."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[tuple[int, dict[str, Any], dict[str, str]] | None] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server  # type: ignore[assignment]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(json.loads(body))
        self.server.keys.append(self.headers.get("Authorization", ""))
        answer = self.server.script.pop(0)
        if answer is None:
            self.server.closing.wait(30)
            return
        status, content, headers = answer
        data = json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.closing.set()
        running.shutdown()
        thread.join()


def reply(
    content: str, finish_reason: str = "stop", usage: bool = True
) -> tuple[int, dict[str, Any], dict[str, str]]:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content},
        "finish_reason": finish_reason,
    }
    body: dict[str, Any] = {
        "id": "r1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }
    if usage:
        body["usage"] = {"prompt_tokens": 111, "completion_tokens": 22, "total_tokens": 133}
    return 200, body, {}


def failure(
    status: int, message: str, code: str = "", **headers: str
) -> tuple[int, dict[str, Any], dict[str, str]]:
    return status, {"error": {"message": message, "type": "error", "code": code}}, headers


class Bench:
    """One caller of `openai/own-model` at the server."""

    def __init__(self, server: Server, model: str = "openai/own-model", **limits: Any) -> None:
        self.limits = Limits(**limits)
        self.ledger = Ledger(self.limits)
        self.log = MemoryCallLog()
        self.slept: list[float] = []
        self.lm = make_lm(model, api_base=server.url)
        self.caller = Caller(
            self.ledger, self.log, limits=self.limits, lm=self.lm, sleep=self.sleep
        )

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def ask(self) -> str:
        async def call() -> str:
            try:
                predictor = dspy.Predict("question -> answer")
                return (await self.caller.call(predictor, {"question": "why?"}, key="k")).answer
            finally:
                await self.lm.aclose()

        return asyncio.run(call())


GOOD = reply('{"answer": "because"}')


def test_a_reply_and_its_usage(server: Server) -> None:
    server.script = [GOOD]
    bench = Bench(server)
    assert bench.ask() == "because"
    assert bench.ledger.spent == Usage(
        calls=1, input_tokens=111, output_tokens=22, unknown_cost_calls=1
    )
    assert server.requests[0]["model"] == "own-model"
    assert "why?" in server.requests[0]["messages"][-1]["content"]
    assert server.keys == ["Bearer none"], "a server of one's own needs no key"
    record = bench.log.records["k#1"]
    assert (record.model, record.finish_reason, record.status) == (
        "openai/own-model",
        "stop",
        "done",
    )


def test_a_server_that_reports_no_usage_is_estimated(server: Server) -> None:
    server.script = [reply('{"answer": "because"}', usage=False)]
    bench = Bench(server)
    bench.ask()
    spent = bench.ledger.spent
    assert (spent.calls, spent.cached_calls) == (1, 0)
    assert spent.input_tokens > 50
    assert spent.output_tokens > 2


def test_the_cost_of_a_model_with_a_known_price(server: Server) -> None:
    server.script = [GOOD]
    bench = Bench(server, model="openai/gpt-4o-mini", cost_usd=1.0)
    assert bench.ask() == "because"
    spent = bench.ledger.spent
    assert (spent.calls, spent.unknown_cost_calls) == (1, 0)
    assert 1e-6 < spent.cost_usd < 1e-3


def test_a_cost_limit_and_an_unknown_price(server: Server) -> None:
    with pytest.raises(LimitsError, match="price"):
        Bench(server, cost_usd=1.0).ask()
    assert server.requests == []


def test_a_rate_limit_then_success(server: Server) -> None:
    server.script = [failure(429, "slow down", **{"Retry-After": "3"}), GOOD]
    bench = Bench(server)
    assert bench.ask() == "because"
    assert bench.slept == [3.0]
    assert bench.ledger.spent.calls == len(server.requests) == 2
    assert bench.ledger.spent.failed_calls == 1


def test_a_rate_limit_that_lasts(server: Server) -> None:
    server.script = [failure(429, "slow down")] * 3
    bench = Bench(server)
    with pytest.raises(RateLimited):
        bench.ask()
    assert bench.ledger.spent.calls == len(server.requests) == 3


def test_a_server_error_is_tried_again_and_then_unavailable(server: Server) -> None:
    server.script = [failure(500, "oops"), failure(503, "oops"), failure(500, "oops")]
    bench = Bench(server)
    with pytest.raises(Unavailable, match="oops"):
        bench.ask()
    assert len(server.requests) == 3


def test_a_refused_key_is_a_mistake_of_the_user(server: Server) -> None:
    server.script = [failure(401, "Incorrect API key provided", "invalid_api_key")]
    bench = Bench(server)
    with pytest.raises(ModelError, match="Incorrect API key") as refused:
        bench.ask()
    assert "OPENAI_API_KEY" in refused.value.hint
    assert len(server.requests) == 1


def test_a_model_that_the_server_does_not_have(server: Server) -> None:
    server.script = [failure(404, "The model `own-model` does not exist", "model_not_found")]
    with pytest.raises(ModelError, match="does not exist"):
        Bench(server).ask()


def test_a_server_that_never_answers(server: Server) -> None:
    server.script = [None, None]
    bench = Bench(server, call_seconds=0.3, retries=1)
    with pytest.raises(TimeoutFailure):
        bench.ask()
    assert bench.ledger.spent.calls == 2
    assert bench.ledger.spent.failed_calls == 2
    assert bench.ledger.spent.unknown_cost_calls == 2, "what was cut off may have been billed"


@pytest.mark.parametrize("code", ["context_length_exceeded", ""])
def test_a_prompt_that_is_too_long(server: Server, code: str) -> None:
    server.script = [failure(400, "This model's maximum context length is 8192 tokens", code)]
    bench = Bench(server)
    with pytest.raises(ContextOverflow):
        bench.ask()
    assert len(server.requests) == 1


def test_a_request_that_the_server_does_not_take(server: Server) -> None:
    server.script = [failure(400, "unknown parameter")]
    with pytest.raises(Unavailable, match="unknown parameter"):
        Bench(server).ask()
    assert len(server.requests) == 1


def test_a_server_of_ones_own_is_asked_for_a_form(server: Server) -> None:
    """No catalog knows the model; without a schema a small one often replies in no form at all."""
    server.script = [GOOD]
    Bench(server).ask()
    form = server.requests[0]["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"]["required"] == ["answer"]


def test_a_list_in_a_reply_has_an_end(server: Server) -> None:
    """A small model that repeats itself would fill its whole window with one list."""
    bench = Bench(server)
    server.script = [reply('{"items": [], "pairs": []}')]

    async def call() -> None:
        signature = "question -> items: list[str], pairs: list[list[int]]"
        await bench.caller.call(dspy.Predict(signature), {"question": "why?"}, key="k")
        await bench.lm.aclose()

    asyncio.run(call())
    fields = server.requests[0]["response_format"]["json_schema"]["schema"]["properties"]
    bounds = [fields["items"], fields["pairs"], fields["pairs"]["items"]]
    assert [each["maxItems"] for each in bounds] == [LONGEST_LIST] * 3


def test_a_server_that_takes_no_schema_is_asked_in_words_from_then_on(server: Server) -> None:
    server.script = [failure(400, "response_format is not supported"), GOOD, GOOD]
    bench = Bench(server)
    assert bench.ask() == "because"
    assert bench.slept == []
    assert bench.ledger.spent.calls == 2
    bench.log.records.clear()
    assert bench.ask() == "because"
    asked = ["response_format" in request for request in server.requests]
    assert asked == [True, False, False]


def test_a_schema_is_refused_only_so_often(server: Server) -> None:
    server.script = [failure(400, "invalid grammar")] * 3
    with pytest.raises(Unavailable, match="grammar"):
        Bench(server, retries=2).ask()
    assert len(server.requests) == 3


def test_a_reply_cut_at_its_length(server: Server) -> None:
    server.script = [reply('{"answer": "beca', finish_reason="length")]
    bench = Bench(server)
    with pytest.raises(TruncatedReply):
        bench.ask()
    assert bench.ledger.spent.output_tokens == 22


def test_prose_is_told_back_once(server: Server) -> None:
    server.script = [reply("It was Tom."), GOOD]
    bench = Bench(server)
    assert bench.ask() == "because"
    assert "Expected fields: answer" in server.requests[1]["messages"][-1]["content"]
    assert bench.ledger.spent.input_tokens == 222


def test_nobody_listens(server: Server) -> None:
    """The run stops as at any other mistake, so that it can go on when the server is back; nothing is spent on it."""
    bench = Bench(server, retries=1)
    server.shutdown()  # else a connection may still be taken while the socket is being closed
    server.shutdown()  # a loop that still waits for it would keep the socket open
    server.server_close()
    with pytest.raises(ModelError, match=f"{server.url} cannot be reached") as gone:
        bench.ask()
    assert "start the server" in gone.value.hint
    assert len(bench.slept) == 1
    assert bench.ledger.spent == Usage()


def test_what_reaches_the_server_under_cancellation_is_counted(server: Server) -> None:
    server.script = [None]
    bench = Bench(server)

    async def main() -> None:
        predictor = dspy.Predict("question -> answer")
        task = asyncio.create_task(bench.caller.call(predictor, {"question": "why?"}, key="k"))
        deadline = time.monotonic() + 30
        while not server.requests and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        task.cancel()
        try:
            await task
        finally:
            await bench.lm.aclose()

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    assert bench.ledger.spent.calls == len(server.requests) == 1
    assert bench.ledger.reserved == Usage()
