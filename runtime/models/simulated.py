"""The simulated engine: the extractive reader with the weaknesses of real models dialled in.

Everything it does wrong follows from the seed and the request alone, whatever the order of the calls: the
same request fails in the same way. Only the faults of a service (rate limits, timeouts) depend on how often the
request was made before, since a real one passes when the call is made again.
"""

import asyncio
import json
import re
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any, Protocol

import dspy
from dspy import lm15

from runtime.models.dials import chance, dialled, digest
from runtime.models.price import FREE, Price
from runtime.models.request import PromptRequest, respond
from runtime.models.scripted import AsyncSide

_EVIDENCE = {"AnalyzeLeaf": "spans", "Act": "turns"}
"""Signatures whose replies cite what they were shown, and the input that shows it, as JSON."""
_TEXTS = frozenset(("reasoning", "think", "answer"))
"""Their outputs that are text; the others are JSON."""
_NESTED = 2
"""Times that a quote may be escaped: the output of a turn is JSON inside of JSON."""


@dataclass(frozen=True)
class Weaknesses:
    """How the model fails. Probabilities are from 0 to 1.

    recall: that a claim is found at all, in a short prompt.
    half_length: characters of a prompt at which recall has halved; 0: it does not decay with length.
    middle: how much of the recall is lost for evidence in the middle of what is shown, and not at its ends, by its
    characters. With a `half_length`, the loss grows with the prompt and is whole at that length, since a short prompt
    has no middle to be lost in: the shape of the curves in Liu et al., "Lost in the Middle", 2023.
    malformed, truncated, invented: of replies that cannot be parsed, that are cut off, that cite
    something which was not shown. rate_limit, timeout: of calls that fail in that way.
    latency: seconds a call.
    """

    seed: int = 0
    recall: float = 1.0
    half_length: int = 0
    middle: float = 0.0
    malformed: float = 0.0
    truncated: float = 0.0
    invented: float = 0.0
    rate_limit: float = 0.0
    timeout: float = 0.0
    latency: float = 0.0

    @classmethod
    def parse(cls, text: str) -> "Weaknesses":
        """From `name=value,...`. Raises ModelError for an unknown name or a value out of range."""
        return dialled(cls, text, "simulated")


class Reader(Protocol):
    """The engine whose replies are spoilt."""

    def complete(self, request: lm15.Request) -> lm15.Response: ...


class SimulatedEngine:
    """A reader whose replies are spoilt as `weaknesses` say."""

    price: Price = FREE

    def __init__(self, reader: Reader, weaknesses: Weaknesses) -> None:
        self._reader = reader
        self._weak = weaknesses
        self._made: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def window(self) -> int | None:
        """Characters of evidence in one prompt: those of the reader."""
        return getattr(self._reader, "window", None)

    def complete(self, request: lm15.Request) -> lm15.Response:
        time.sleep(self._weak.latency)
        return self._answer(request)

    async def acomplete(self, request: lm15.Request) -> lm15.Response:
        await asyncio.sleep(self._weak.latency)
        return self._answer(request)

    def lm(self, model: str = "spantree/simulated", **settings: Any) -> dspy.LM:
        """This engine as an LM without retries and without a cache, unless `settings` say otherwise."""
        defaults: dict[str, Any] = {"num_retries": 0, "cache": False}
        return dspy.LM(model, engine=self, async_engine=AsyncSide(self), **{**defaults, **settings})

    def _answer(self, request: lm15.Request) -> lm15.Response:
        prompt = PromptRequest.parse(request)
        with self._lock:
            self._made[prompt.prompt] += 1
            times = self._made[prompt.prompt]
        if self._falls("rate_limit", prompt.prompt, times):
            raise lm15.RateLimitError("simulated rate limit", provider="simulated", retry_after=0.0)
        if self._falls("timeout", prompt.prompt, times):
            raise lm15.TimeoutError("simulated timeout", provider="simulated")
        reply = self._reader.complete(request)
        return self._spoilt(request, prompt, reply)

    def _spoilt(
        self, request: lm15.Request, prompt: PromptRequest, reply: lm15.Response
    ) -> lm15.Response:
        text = reply.message.text or ""
        if prompt.signature in _EVIDENCE:
            text = prompt.reply(self._weakened(prompt, _values(prompt, text)))
        if self._falls("malformed", prompt.prompt):
            return respond(
                request, f"Here is what I found: {text[: len(text) // 3]}".replace("{", "(")
            )
        if self._falls("truncated", prompt.prompt):
            return respond(request, text[: max(1, len(text) * 3 // 5)], finish_reason="length")
        return respond(request, text)

    def _weakened(self, prompt: PromptRequest, values: dict[str, Any]) -> dict[str, Any]:
        """The claims that this model would have found, one of them perhaps with an invented citation."""
        evidence = values["evidence"]
        kept = [claim for claim in values["claims"] if self._finds(prompt, claim, evidence)]
        ids = {claim["claim_id"] for claim in kept}
        evidence = [item for item in evidence if item["claim_id"] in ids]
        if evidence and self._falls("invented", prompt.prompt):
            evidence[0] = {**evidence[0], "span_id": digest(self._weak.seed, prompt.prompt)[:12]}
        spoilt = {"claims": kept, "evidence": evidence, "claim_count": len(kept)}
        if "fields_found" in values:
            spoilt["fields_found"] = [e for e in values["fields_found"] if e["claim_id"] in ids]
        if "answer" in values and values["claims"] and not kept:
            spoilt["answer"] = ""  # nobody says what he has not seen
        return {**values, **spoilt}

    def _finds(
        self, prompt: PromptRequest, claim: dict[str, Any], evidence: list[dict[str, Any]]
    ) -> bool:
        quoted = [item for item in evidence if item["claim_id"] == claim["claim_id"]]
        if prompt.signature == "Act" and not any(item["quote"] for item in quoted):
            return True  # it restates what a reader has found, as a conclusion does
        weak, place = self._weak, _place_of(quoted, prompt)
        recall, middle = weak.recall, weak.middle
        if weak.half_length:
            length = len(prompt.user) / weak.half_length
            recall *= 0.5**length
            middle *= min(1.0, length)
        recall *= 1 - middle * 4 * place * (1 - place)
        return chance(weak.seed, "recall", prompt.prompt, claim["claim_id"]) < recall

    def _falls(self, weakness: str, text: str, times: int = 0) -> bool:
        return chance(self._weak.seed, weakness, text, times) < getattr(self._weak, weakness)


def _values(prompt: PromptRequest, text: str) -> dict[str, Any]:
    """The output fields of a reply: the inverse of `PromptRequest.reply`."""
    if prompt.format == "json":
        return json.loads(text)
    _, *parts = re.split(r"^\[\[ ## (\w+) ## \]\]\n?", text, flags=re.MULTILINE)
    fields = {name: value.strip("\n") for name, value in zip(parts[::2], parts[1::2], strict=True)}
    return {
        name: fields[name] if name in _TEXTS else json.loads(fields[name])
        for name in prompt.outputs
    }


def _place_of(quoted: list[dict[str, Any]], prompt: PromptRequest) -> float:
    """Where quotes stand in what is shown, from 0 to 1 by characters: their mean."""
    shown = prompt.inputs.get(_EVIDENCE.get(prompt.signature or "", ""), "")
    places = [_place(item, shown) for item in quoted]
    return sum(places) / len(places) if places else 0.0


def _place(item: dict[str, Any], shown: str) -> float:
    """The middle of the quote; of its span's id where the quote is not found in the text as it is shown."""
    span_id, quote = item["span_id"], item["quote"]
    start = max(shown.find(span_id), 0)
    for _ in range(_NESTED):
        quote = json.dumps(quote, ensure_ascii=False)[1:-1]
        at = shown.find(quote, start)
        if at >= 0:
            return (at + len(quote) / 2) / max(len(shown), 1)
    return (start + len(span_id) / 2) / max(len(shown), 1)
