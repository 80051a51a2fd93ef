"""A desk for tests of local models: a server that streams given replies as the bindings do, and prompts of readers."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dspy
from dspy import lm15

from runtime.models.local.engine import LocalEngine
from runtime.models.local.pool import Pool
from runtime.models.local.settings import Settings
from signatures import AnalyzeLeaf, EvidenceSpan

OVERFLOW = {"code": 400, "type": "exceed_context_size_error", "message": "request exceeds it"}


class FakeServer:
    """Streams `replies` in order, the last one for ever. `bodies` holds what it was asked.

    A reply is a text, a tuple of tokens with their log probabilities, a dict (an error of the server), or a function
    that is given the body and the callback.
    """

    def __init__(self, replies: Sequence[Any] = ("{}",), finish: str = "stop") -> None:
        self.replies = list(replies)
        self.finish = finish
        self.bodies: list[dict[str, Any]] = []
        self.open = 0
        self.most_open = 0
        self._lock = threading.Lock()

    def handle_chat_completions(
        self, body: dict[str, Any], callback: Callable[[dict[str, Any]], bool]
    ) -> Any:
        with self._lock:
            self.bodies.append(body)
            self.open += 1
            self.most_open = max(self.open, self.most_open)
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        try:
            return reply(body, callback) if callable(reply) else self._stream(reply, callback)
        finally:
            self.open -= 1

    def _stream(self, reply: Any, callback: Callable[[dict[str, Any]], bool]) -> Any:
        if isinstance(reply, dict):
            return {"error": reply}
        if isinstance(reply, tuple):  # of tokens as they are told with their probabilities
            for token in reply:
                told = {"delta": {"content": token["token"]}, "logprobs": {"content": [token]}}
                callback({"choices": [told]})
            reply = ""
        callback({"choices": [{"delta": {"role": "assistant", "content": None}}]})
        for at in range(0, len(reply), 7):
            if callback({"choices": [{"delta": {"content": reply[at : at + 7]}}]}):
                return None
        callback({"choices": [{"delta": {}, "finish_reason": self.finish}]})
        usage = {
            "prompt_tokens": 120,
            "completion_tokens": 30,
            "prompt_tokens_details": {"cached_tokens": 100},
        }
        callback({"choices": [], "usage": usage})
        return None


def fake_engine(
    replies: Sequence[Any] = ("{}",),
    finish: str = "stop",
    settings: Settings | None = None,
    name: str = "",
) -> tuple[LocalEngine, FakeServer]:
    """An engine over a fake server, and the server."""
    server = FakeServer(replies, finish)
    pool = Pool(lambda weights, settings: server)
    model = pool.model(Path("/models/x.gguf"), settings or Settings())
    return LocalEngine(model, name), server


def span(text: str, span_id: str = "0a1b2c3d4e5f") -> EvidenceSpan:
    return EvidenceSpan(
        span_id=span_id, source="a.log", first_line=1, margin_before="", text=text, margin_after=""
    )


def leaf_inputs(spans: Sequence[EvidenceSpan], question: str = "What failed?") -> dict[str, Any]:
    return {
        "question": question,
        "kind": "list",
        "patterns": [],
        "spans": list(spans),
        "term_statistics": [],
    }


class _Seen(Exception):
    """Ends a call once its request was seen."""


def request_of(
    inputs: dict[str, Any], signature: Any = AnalyzeLeaf, module: Any = dspy.Predict
) -> lm15.Request:
    """The request that DSPy makes of a call to a model which takes a schema."""

    class Seeing:
        supports_response_schema = LocalEngine.supports_response_schema
        supported_params = LocalEngine.supported_params
        request: lm15.Request

        def complete(self, request: lm15.Request) -> lm15.Response:
            self.request = request
            raise _Seen

    engine = Seeing()
    lm = dspy.LM("local/x", engine=engine, num_retries=0, cache=False)
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter(), trace=None):
        try:
            module(signature)(**inputs)
        except dspy.LMError as error:
            if not isinstance(error.__cause__, _Seen):
                raise
    return engine.request
