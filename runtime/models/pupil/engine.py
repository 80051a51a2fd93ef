"""The pupil's engine: the extractive reader, which errs unless instructions or demos keep it from erring.

A stand-in for studies of optimizers: what can be gained is known, and why. It reads, concludes and submits with errors
(`AnalyzeLeaf`, `Conclude`, and `Act` where it submits); it classifies, plans and writes code as the reader does. The
same request errs in the same way; one that is sampled (a temperature above 0) errs as its seed says.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import dspy
from dspy import lm15

from runtime.models.extractive.engine import ExtractiveEngine, answer
from runtime.models.price import FREE, Price
from runtime.models.pupil.errors import misconcluded, misread, missubmitted
from runtime.models.pupil.lesson import Faults, Lesson
from runtime.models.request import PromptRequest, render_reply, respond
from runtime.models.scripted import AsyncSide

_Spoil = Callable[[dict[str, Any], PromptRequest, Lesson], dict[str, Any]]
_ERRING: Mapping[str, _Spoil] = {
    "AnalyzeLeaf": misread,
    "Conclude": misconcluded,
    "Act": missubmitted,
}


class PupilEngine:
    """A reader whose errors depend on what its prompt teaches. See `lesson` for the rules."""

    price: Price = FREE
    window = ExtractiveEngine.window
    supported_params = frozenset(("temperature", "seed"))

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Answer a prompt of the suite, as `ExtractiveEngine.complete` does."""
        time.sleep(self._faults.latency)
        return self._answer(request)

    async def acomplete(self, request: lm15.Request) -> lm15.Response:
        """As `complete`."""
        await asyncio.sleep(self._faults.latency)
        return self._answer(request)

    def lm(self, model: str = "spantree/pupil", **settings: Any) -> dspy.LM:
        """This engine as an LM without retries and without a cache, unless `settings` say otherwise."""
        defaults: dict[str, Any] = {"num_retries": 0, "cache": False}
        return dspy.LM(model, engine=self, async_engine=AsyncSide(self), **{**defaults, **settings})

    def _answer(self, request: lm15.Request) -> lm15.Response:
        prompt = PromptRequest.parse(request)
        values = answer(prompt)
        spoil = _ERRING.get(prompt.signature or "")
        if spoil is None:
            return respond(request, prompt.reply(values))
        lesson = Lesson.of(prompt, self._faults, variation_of(request))
        spoilt = spoil(json.loads(render_reply(values)), prompt, lesson)
        text = prompt.reply({name: spoilt[name] for name in prompt.outputs})
        if lesson.errs("malformed"):
            text = f"As in the examples: {text[: len(text) // 3]}".replace("{", "(").replace(
                "[[", "("
            )
        return respond(request, text)


def variation_of(request: lm15.Request) -> int | None:
    """The seed of a request that asks for a sample; None where it asks for the one reply."""
    config = request.config
    return config.seed if config.temperature else None
