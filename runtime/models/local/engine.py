"""The engine of local models: what a request asks becomes a request to llama.cpp, and its reply a response."""

import asyncio
import os
import threading
from typing import Any

import dspy
from dspy import lm15

from runtime.models.local.form import grammar
from runtime.models.local.pool import process_pool
from runtime.models.local.processor import check_processor
from runtime.models.local.prompt import messages
from runtime.models.local.server import Completion, LocalModel, Refused, check_bindings
from runtime.models.local.settings import Settings
from runtime.models.local.weights import PREFIX, find_weights, models_folder
from runtime.models.price import FREE, Price
from runtime.models.request import PromptRequest, respond
from runtime.models.scripted import AsyncSide

REPLY_TOKENS = 1_024
"""For a request that declares no maximum; never more than a quarter of the context."""
INSTRUCTION_TOKENS = 2_000
"""Kept for everything in a prompt that is not evidence: those of a reader, with the schema, take some 1,300."""
CHARACTERS_PER_TOKEN = 2.0
"""Of evidence. Logs are dense: the tokenizers of small models take a token for each digit."""
_OVERFLOW = "exceed_context_size_error"


class LocalEngine:
    """The engine over a model. Copies of an LM share it: it has no state of its own."""

    supports_response_schema = True
    supported_params = frozenset(
        (
            *("response_format", "temperature", "top_p", "top_k", "max_tokens", "seed", "stop"),
            *("logprobs", "top_logprobs"),
        )
    )
    price: Price = FREE
    at_once = 1
    """Requests: a second one would only share the cores, and wait within its time for a reply."""

    def __init__(self, model: LocalModel, name: str = "") -> None:
        self._model = model
        self._name = name or f"{PREFIX}{model.weights}"

    @property
    def window(self) -> int:
        """Characters of evidence that a prompt holds."""
        context = self._model.settings.context
        left = context - min(REPLY_TOKENS, context // 4) - min(INSTRUCTION_TOKENS, context // 2)
        return int(left * CHARACTERS_PER_TOKEN)

    def complete(self, request: lm15.Request) -> lm15.Response:
        stop = threading.Event()
        future = self._model.submit(self._body(request), stop)
        try:
            return _response(request, _asked(future.result))
        except BaseException:
            stop.set()  # an interrupt: what nobody waits for is not worth a core
            raise

    async def acomplete(self, request: lm15.Request) -> lm15.Response:
        stop = threading.Event()
        future = self._model.submit(self._body(request), stop)
        try:
            completion = await asyncio.wrap_future(future)
        except Refused as refused:
            raise _error(refused) from refused
        finally:
            stop.set()  # also when this task is cancelled
        return _response(request, completion)

    def lm(self, **settings: Any) -> dspy.LM:
        """This engine as an LM without retries and without a cache, unless `settings` say otherwise."""
        defaults: dict[str, Any] = {"num_retries": 0, "cache": False}
        return dspy.LM(
            self._name, engine=self, async_engine=AsyncSide(self), **{**defaults, **settings}
        )

    def __deepcopy__(self, memo: Any) -> "LocalEngine":
        return self  # optimizers copy programs with their LMs, never a gigabyte

    def _body(self, request: lm15.Request) -> dict[str, Any]:
        prompt = PromptRequest.parse(request)
        config = request.config
        most = min(REPLY_TOKENS, self._model.settings.context // 4)
        body: dict[str, Any] = {
            "messages": messages(request),
            "max_tokens": config.max_tokens or most,
            # Without a wish the likeliest token: the same prompt has the same reply.
            "temperature": config.temperature or 0.0,
        }
        given = {
            "top_p": config.top_p,
            "top_k": config.top_k,
            "seed": config.seed,
            "stop": list(config.stop) or None,
            "grammar": grammar(config.response_format, prompt),
            "logprobs": None if config.logprobs is None else True,
            "top_logprobs": config.logprobs,
        }
        return body | {name: value for name, value in given.items() if value is not None}


def _asked(result: Any) -> Completion:
    try:
        return result()
    except Refused as refused:
        raise _error(refused) from refused


def _error(refused: Refused) -> lm15.LM15Error:
    if refused.kind == _OVERFLOW:
        return lm15.ContextLengthError(str(refused), provider="local")
    return lm15.InvalidRequestError(str(refused), provider="local")


def _response(request: lm15.Request, reply: Completion) -> lm15.Response:
    usage = lm15.Usage(
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cache_read_tokens=reply.cached,
    )
    finish = "length" if reply.finish_reason == "length" else "stop"
    logprobs = tuple(_logprob(each) for each in reply.logprobs) or None
    return respond(request, reply.text, finish_reason=finish, usage=usage, logprobs=logprobs)


def _logprob(told: dict[str, Any]) -> lm15.TokenLogprob:
    top = (lm15.TopLogprob(each["token"], each["logprob"]) for each in told.get("top_logprobs", ()))
    return lm15.TokenLogprob(told["token"], told["logprob"], top=tuple(top))


def local_engine(name: str) -> LocalEngine:
    """The engine for `local/NAME-OR-PATH`. Raises ModelError for what can be known before it is loaded."""
    weights = find_weights(name, models_folder())
    check_bindings()
    check_processor()
    return LocalEngine(process_pool().model(weights, Settings.of(os.environ)), name)
