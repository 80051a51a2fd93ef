"""The meter: what one attempt asked of an engine, and what came back.

It holds a copy of the LM with no retries of its own and a history of its own, so that one attempt is read
exactly: how many calls, how many tokens, at what cost, why the reply ended. A custom engine is watched at
its own door, which stays exact when a call is cancelled; a hosted one is read from the history entry.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback

from runtime.ledger import Usage
from runtime.models.price import Price, declared_price

BYTES_PER_TOKEN = 3.5
"""Used where a server does not report its usage, and before a call."""


@dataclass
class EngineCall:
    """One call of an engine. Tokens are None until a reply came, or if none were reported."""

    replied: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None


class Meter:
    """The LM for one attempt (`lm`) and what it did. `estimate` is the expected number of input tokens."""

    def __init__(self, lm: dspy.BaseLM, *, estimate: int, price: Price | None = None) -> None:
        self.model = lm.model
        self.custom_engine = not isinstance(getattr(lm, "engine", ""), str)
        self._calls: list[EngineCall] = []
        self._entries: list[dict[str, Any]] = []
        self._estimate = estimate
        self._price = (
            declared_price(lm.model, getattr(lm, "engine", None)) if self.custom_engine else price
        )
        self._cache = lm.cache
        self._started = False
        self.lm = self._copy(lm)

    @property
    def touched(self) -> bool:
        """Whether an engine was called, or a reply was found in the cache."""
        return bool(self._calls or self._entries or self._started)

    @property
    def finish_reason(self) -> str:
        return _finish_reason(self._entries[-1].get("response")) if self._entries else ""

    @property
    def reply(self) -> str:
        outputs = self._entries[-1].get("outputs") if self._entries else None
        first = outputs[0] if outputs else ""
        return str((first.get("text") if isinstance(first, dict) else first) or "")

    def unsent(self) -> None:
        """Take back the note that a hosted model was asked: the call was refused before it was sent."""
        self._started = False

    def usage(self, *, attempt: int, lost: bool = False) -> Usage:
        """What the attempt used. `lost`: it was cut off, so that a call without a reply may have been billed."""
        cached = [entry for entry in self._entries if self._is_cached(entry)]
        calls = self._engine_calls(len(cached))
        known, unknown = self._cost(calls, lost)
        return Usage(
            calls=len(calls),
            cached_calls=len(cached),
            failed_calls=sum(not call.replied for call in calls),
            retries=int(attempt > 1 and bool(calls)),
            input_tokens=sum(
                self._tokens(call.input_tokens, call, self._estimate) for call in calls
            ),
            output_tokens=sum(
                self._tokens(call.output_tokens, call, self._reply_estimate) for call in calls
            ),
            cost_usd=known,
            unknown_cost_calls=unknown,
        )

    def _copy(self, lm: dspy.BaseLM) -> dspy.BaseLM:
        settings: dict[str, Any] = {"num_retries": 0}
        engine: Any = getattr(lm, "engine", None)
        watched = self.custom_engine and not hasattr(engine, "complete_legacy")
        if watched:
            asynchronous = getattr(lm, "_async_engine_spec", None)
            settings["engine"] = _Watched(engine, self._calls)
            settings["async_engine"] = _AsyncWatched(engine, asynchronous, self._calls)
        copied = lm.copy(**settings)
        # One list for this attempt: the histories of DSPy keep whole prompts, ten thousand of them.
        copied.update_history = self._entries.append  # type: ignore[method-assign]
        if not watched:
            copied.callbacks.append(_Started(self))
        return copied

    def _is_cached(self, entry: dict[str, Any]) -> bool:
        if self._calls:
            return False
        return not entry.get("usage") and self._cache and getattr(self.lm, "_cache_responses", True)

    def _engine_calls(self, cached: int) -> list[EngineCall]:
        if self._calls or cached:
            return self._calls
        if self._entries:
            return [_call_of(entry) for entry in self._entries]
        return [EngineCall()] if self._started else []

    def _tokens(self, reported: int | None, call: EngineCall, estimate: int) -> int:
        if reported is not None:
            return reported
        return estimate if call.replied else 0

    @property
    def _reply_estimate(self) -> int:
        return estimated_tokens(len(self.reply.encode()))

    def _cost(self, calls: list[EngineCall], lost: bool) -> tuple[float, int]:
        reported = [entry["cost"] for entry in self._entries if not self._is_cached(entry)]
        known = [cost for cost in reported if cost is not None]
        if len(known) == len(reported) and known:
            return sum(known), 0
        if self._price is not None:
            billed = sum(
                self._price.of(call.input_tokens or 0, call.output_tokens or 0) for call in calls
            )
            return billed, int(lost and self._price.input > 0)
        return 0.0, sum(call.replied or lost for call in calls)


def estimated_tokens(size: int) -> int:
    """Tokens of a text of `size` UTF-8 bytes, about."""
    return int(size / BYTES_PER_TOKEN) + 1


class _Watched:
    """A custom engine, with a note of each call. Its capability hints are the engine's own."""

    def __init__(self, engine: Any, calls: list[EngineCall]) -> None:
        self._engine = engine
        self._calls = calls

    def complete(self, request: dspy.lm15.Request) -> dspy.lm15.Response:
        call = self._note()
        return _replied(call, self._engine.complete(request))

    def _note(self) -> EngineCall:
        call = EngineCall()
        self._calls.append(call)
        return call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


class _AsyncWatched(_Watched):
    """The asynchronous side. An engine that has none is called in a thread."""

    def __init__(self, engine: Any, asynchronous: Any, calls: list[EngineCall]) -> None:
        super().__init__(asynchronous or engine, calls)
        self._threaded = asynchronous is None

    async def complete(self, request: dspy.lm15.Request) -> dspy.lm15.Response:  # type: ignore[override]
        call = self._note()
        if self._threaded:
            return _replied(call, await asyncio.to_thread(self._engine.complete, request))
        return _replied(call, await self._engine.complete(request))


class _Started(BaseCallback):
    """Notes that the LM was asked at all: a call that fails leaves no history entry."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self._meter._started = True


def _replied(call: EngineCall, response: dspy.lm15.Response) -> dspy.lm15.Response:
    call.replied = True
    call.input_tokens = response.usage.input_tokens
    call.output_tokens = response.usage.output_tokens
    return response


def _call_of(entry: dict[str, Any]) -> EngineCall:
    usage = entry.get("usage") or {}
    return EngineCall(True, usage.get("prompt_tokens"), usage.get("completion_tokens"))


def _finish_reason(response: Any) -> str:
    """From the canonical response, or from the first choice of an OpenAI-shaped one."""
    reason = getattr(response, "finish_reason", None)
    if reason is None:
        choices = getattr(response, "choices", None) or [None]
        reason = getattr(choices[0], "finish_reason", None)
    return str(reason or "")
