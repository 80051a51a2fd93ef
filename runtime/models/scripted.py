"""The scripted engine: given replies instead of a model, for tests and studies. A stand-in, and named so.

Replies come in order, or from the first rule that matches and is not used up, or from a function. Every call is
logged, in memory and, if asked, in a file that survives the process. Running out is an error.
"""

import asyncio
import json
import math
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import dspy
from dspy import lm15

from runtime.errors import ModelError
from runtime.models.price import FREE, Price
from runtime.models.request import PromptRequest, measured_usage, respond

Fault = Literal[
    "timeout",
    "rate_limit",
    "server",
    "transport",
    "auth",
    "billing",
    "context",
    "invalid",
    "unknown_model",
]

_FAULTS: dict[str, type[lm15.LM15Error]] = {
    "timeout": lm15.TimeoutError,
    "rate_limit": lm15.RateLimitError,
    "server": lm15.ServerError,
    "transport": lm15.TransportError,
    "auth": lm15.AuthError,
    "billing": lm15.BillingError,
    "context": lm15.ContextLengthError,
    "invalid": lm15.InvalidRequestError,
    "unknown_model": lm15.UnsupportedModelError,
}


class ScriptExhausted(ModelError):
    """Raised when the script has no reply for a request."""


@dataclass(frozen=True)
class Reply:
    """What the engine does with one request: text (a dict becomes the format asked), or an error.

    `latency` is in seconds. Tokens are counted from the characters unless they are given. `likelihoods` are those of
    the words that could stand in place of the reply, told where they are asked for; `message` is what an error says.
    """

    reply: dict[str, Any] | str = ""
    finish_reason: lm15.FinishReason = "stop"
    error: Fault | None = None
    latency: float = 0.0
    retry_after: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    likelihoods: Mapping[str, float] | None = None
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class Rule(Reply):
    """A reply for the requests of a signature, or that contain all of some strings, `times` times at most."""

    signature: str | None = None
    contains: str | Sequence[str] = ()
    times: int | None = None

    def matches(self, request: PromptRequest) -> bool:
        wanted = (self.contains,) if isinstance(self.contains, str) else self.contains
        return self.signature in (None, request.signature) and all(
            text in request.user for text in wanted
        )


@dataclass(frozen=True)
class EngineCall:
    """One call as the engine saw it. `state` is `started` until it replied or failed."""

    number: int
    signature: str | None
    prompt: str
    state: Literal["started", "replied", "failed"] = "started"
    reply: str = ""
    error: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


Respond = Callable[[PromptRequest], Reply | dict[str, Any] | str]


@dataclass
class ScriptedEngine:
    """Replies by script. `log` holds every call, in the order in which they started.

    `price` is what the engine declares to cost, and `window` how many characters of evidence a prompt of it holds; None
    makes it unknown. `log_file` gets one JSON line when a
    call starts and one when it ends, written through to the disk.
    """

    supported_params: ClassVar = frozenset(("logprobs", "top_logprobs"))

    replies: Sequence[Reply | dict[str, Any] | str] = ()
    rules: Sequence[Rule] = ()
    respond: Respond | None = None
    price: Price | None = FREE
    window: int | None = None
    log_file: Path | None = None
    log: list[EngineCall] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._queue = iter(self.replies)
        self._uses = [0] * len(self.rules)

    def complete(self, request: lm15.Request) -> lm15.Response:
        prompt, call, reply = self._begin(request)
        time.sleep(reply.latency)
        return self._end(request, prompt, call, reply)

    async def acomplete(self, request: lm15.Request) -> lm15.Response:
        prompt, call, reply = self._begin(request)
        await asyncio.sleep(reply.latency)
        return self._end(request, prompt, call, reply)

    def lm(self, model: str = "spantree/scripted", **settings: Any) -> dspy.LM:
        """This engine as an LM without retries and without a cache, unless `settings` say otherwise."""
        defaults: dict[str, Any] = {"num_retries": 0, "cache": False}
        return dspy.LM(model, engine=self, async_engine=AsyncSide(self), **{**defaults, **settings})

    def _begin(self, request: lm15.Request) -> tuple[PromptRequest, EngineCall, Reply]:
        prompt = PromptRequest.parse(request)
        with self._lock:
            call = EngineCall(len(self.log), prompt.signature, prompt.prompt)
            self.log.append(call)
            self._write(call)
            reply = self._choose(prompt)
        if reply is None:
            self._finish(replace(call, state="failed", error="exhausted"))
            raise ScriptExhausted(
                f"the script has no reply for call {call.number + 1}, signature {prompt.signature}: "
                f"{prompt.user[:200]!r}",
                hint="add a reply or a rule to the script",
            )
        return prompt, call, reply

    def _end(
        self, request: lm15.Request, prompt: PromptRequest, call: EngineCall, reply: Reply
    ) -> lm15.Response:
        if reply.error:
            self._finish(replace(call, state="failed", error=reply.error))
            raise _fault(reply)
        text = reply.reply if isinstance(reply.reply, str) else prompt.reply(reply.reply)
        counted = measured_usage(request, text)
        usage = lm15.Usage(
            input_tokens=counted.input_tokens if reply.input_tokens is None else reply.input_tokens,
            output_tokens=counted.output_tokens
            if reply.output_tokens is None
            else reply.output_tokens,
        )
        response = respond(
            request,
            text,
            finish_reason=reply.finish_reason,
            usage=usage,
            logprobs=_logprobs(request, reply, text),
        )
        tokens = {
            "input_tokens": usage.input_tokens or 0,
            "output_tokens": usage.output_tokens or 0,
        }
        self._finish(replace(call, state="replied", reply=text, **tokens))
        return response

    def _choose(self, prompt: PromptRequest) -> Reply | None:
        for index, rule in enumerate(self.rules):
            if (rule.times is None or self._uses[index] < rule.times) and rule.matches(prompt):
                self._uses[index] += 1
                return rule
        if self.respond:
            return _reply(self.respond(prompt))
        following = next(self._queue, None)
        return None if following is None else _reply(following)

    def _finish(self, call: EngineCall) -> None:
        with self._lock:
            self.log[call.number] = call
            self._write(call)

    def _write(self, call: EngineCall) -> None:
        if self.log_file is None:
            return
        line = json.dumps(asdict(call), ensure_ascii=False) + "\n"
        with self.log_file.open("ab", buffering=0) as file:  # one write: a line stays in one piece
            file.write(line.encode())
            os.fsync(file.fileno())


@dataclass(frozen=True)
class AsyncSide:
    """The asynchronous counterpart of an engine that has `acomplete`."""

    engine: Any

    async def complete(self, request: lm15.Request) -> lm15.Response:
        return await self.engine.acomplete(request)


def read_log(path: Path) -> list[EngineCall]:
    """The calls of a log file, each in its last known state, in the order in which they started.

    Calls of several processes that appended to one file are told apart by their `started` line. The last line is left
    out while it is being written. A prompt may hold any line separator of Unicode: only a newline ends a line.
    """
    calls: list[EngineCall] = []
    for line in path.read_bytes().split(b"\n")[:-1]:
        call = EngineCall(**json.loads(line))
        if call.state == "started":
            calls.append(call)
        else:
            last = max(index for index, known in enumerate(calls) if known.number == call.number)
            calls[last] = call
    return calls


def load_script(path: Path) -> ScriptedEngine:
    """An engine from a JSON file: a list of replies, or an object with `replies`, `rules` and `log_file`.

    A reply is a string, an object of output fields, or an object with `reply` and the other fields of Reply.
    Raises ModelError when the file is missing or is not a script.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        script: dict[str, Any] = (
            {"replies": content} if isinstance(content, list) else dict(content)
        )
        unknown = script.keys() - {"replies", "rules", "log_file"}
        if unknown:
            raise ValueError(f"unknown entries: {', '.join(sorted(unknown))}")
        return ScriptedEngine(
            replies=[_reply(entry) for entry in script.get("replies", [])],
            rules=[Rule(**rule) for rule in script.get("rules", [])],
            log_file=Path(script["log_file"]) if "log_file" in script else None,
        )
    except OSError as error:
        raise ModelError(
            f"cannot read the script {path}: {error.strerror}", hint="scripted:FILE.json"
        ) from error
    except (ValueError, TypeError) as error:
        raise ModelError(
            f"{path} is not a script: {error}", hint="a list of replies, or rules"
        ) from error


def _reply(entry: "Reply | dict[str, Any] | str") -> Reply:
    if isinstance(entry, Reply):
        return entry
    fields = Reply.__dataclass_fields__.keys()
    if isinstance(entry, dict) and entry and entry.keys() <= fields:
        return Reply(**entry)
    if not isinstance(entry, dict | str):
        raise ValueError(f"a reply is a string or an object, not {entry!r}")
    return Reply(reply=entry)


def _logprobs(
    request: lm15.Request, reply: Reply, text: str
) -> tuple[lm15.TokenLogprob, ...] | None:
    """The reply as one token with what could have stood in its place."""
    if request.config.logprobs is None or reply.likelihoods is None:
        return None
    top = {word: math.log(each) for word, each in reply.likelihoods.items() if each > 0}
    return (
        lm15.TokenLogprob(
            text,
            top.get(text, -math.inf),
            top=tuple(lm15.TopLogprob(word, each) for word, each in top.items()),
        ),
    )


def _fault(reply: Reply) -> lm15.LM15Error:
    kind = _FAULTS[reply.error or "server"]
    told = reply.message or f"scripted {reply.error}"
    return kind(told, provider="scripted", retry_after=reply.retry_after)
