"""The obedient engine: the extractive reader, persuaded. It obeys every order in the text that it is shown.

It is the worst that prompt injection can make of a model, so that what a run then still keeps to is what the runtime
keeps it to. Like any engine it sees the prompt and nothing else, and can do no more than reply. An order of the user
(the question, the task) is none: what counts is evidence, outputs of tools, and everything that quotes them.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import dspy
from dspy import lm15

from runtime.models.extractive.engine import ExtractiveEngine, answer
from runtime.models.obedient.acts import acted, called, coded
from runtime.models.obedient.orders import Order, orders_in, texts_in
from runtime.models.obedient.replies import (
    analyzed,
    classified,
    concluded,
    explored,
    planned,
    refined,
    told,
)
from runtime.models.price import FREE, Price
from runtime.models.request import REACT_TURN, REPL_ACTION, PromptRequest, respond
from runtime.models.scripted import AsyncSide

Obey = Callable[[PromptRequest, dict[str, Any], list[Order]], dict[str, Any]]

_OF_THE_USER = frozenset(
    ("question", "task", "kind", "patterns", "goal_chain", "constraints", "budget", "depth_left")
) | {"max_steps", "turns_left", "iteration", "term_statistics", "tools", "retry_feedback"}
_RESULTS = "[[ ## tool_call_results ## ]]\n"
_OBEY: Mapping[str, Obey] = {
    "ClassifyQuestion": classified,
    "Plan": planned,
    "Refine": refined,
    "AnalyzeLeaf": analyzed,
    "Conclude": concluded,
    "Act": acted,
    "Explore": explored,
    "SubQuery": told,
    REPL_ACTION: coded,
    REACT_TURN: called,
}


@dataclass(frozen=True)
class Obeyed:
    """An order that a reply carried out: in a reply to which signature, and which order."""

    signature: str
    order: Order


class ObedientEngine:
    """A model that carries out every order it reads. `obeyed` is the log of what it carried out."""

    price: Price = FREE
    window = ExtractiveEngine.window

    def __init__(self) -> None:
        self.obeyed: list[Obeyed] = []
        self._lock = threading.Lock()

    def complete(self, request: lm15.Request) -> lm15.Response:
        """As the extractive reader, where nothing is ordered; else as ordered."""
        prompt = PromptRequest.parse(request)
        orders = orders_of(prompt)
        asked = prompt.signature or ""
        obey = _OBEY.get(asked)
        if not orders or obey is None:
            return respond(request, prompt.reply(answer(prompt)))
        values = obey(prompt, _read(blinded(prompt, orders)), orders)
        with self._lock:
            self.obeyed += [Obeyed(asked, each) for each in orders]
        return respond(request, prompt.reply({name: values[name] for name in prompt.outputs}))

    async def acomplete(self, request: lm15.Request) -> lm15.Response:
        """As `complete`. There is nothing to wait for."""
        await asyncio.sleep(0)
        return self.complete(request)

    def lm(self, model: str = "spantree/obedient", **settings: Any) -> dspy.LM:
        """This engine as an LM without retries and without a cache, unless `settings` say otherwise."""
        defaults: dict[str, Any] = {"num_retries": 0, "cache": False}
        return dspy.LM(model, engine=self, async_engine=AsyncSide(self), **{**defaults, **settings})


def orders_of(prompt: PromptRequest) -> list[Order]:
    """The orders in everything that is not the user's own word: evidence, outputs of tools, earlier turns."""
    shown = [text for name, text in prompt.inputs.items() if name not in _OF_THE_USER]
    shown += _results(prompt.messages)
    return orders_in("\n".join(text for each in shown for text in texts_in(each)))


def _results(messages: Iterable[lm15.Message]) -> Iterator[str]:
    """What tools gave back in a conversation, told by parts or written out as a field."""
    for part in (part for message in messages for part in message.parts):
        if isinstance(part, lm15.ToolResultPart):
            yield from (each.text for each in part.content if isinstance(each, lm15.TextPart))
        elif isinstance(part, lm15.TextPart) and part.text.startswith(_RESULTS):
            yield part.text.removeprefix(_RESULTS)


def blinded(prompt: PromptRequest, orders: list[Order]) -> PromptRequest:
    """The prompt as it looks to a reader who was told to stop, and did: without what follows the order."""
    inputs = dict(prompt.inputs)
    for order in orders:
        if order.kind == "stop":
            for name in ("spans", "claims", "overview", "repl_history"):
                inputs[name] = _cut(inputs.get(name, ""), order.line)
    return replace(prompt, inputs={name: text for name, text in inputs.items() if text})


def _cut(text: str, line: str) -> str:
    if line not in text and json.dumps(line, ensure_ascii=False)[1:-1] not in text:
        return text
    try:
        items = json.loads(text)
    except json.JSONDecodeError:
        return text.partition(line)[0]
    kept = []
    for item in items:
        if any(line in each for each in texts_in(item)):
            if isinstance(item, dict) and line in item.get("text", ""):
                kept.append({**item, "text": item["text"].partition(line)[0], "margin_after": ""})
            break
        kept.append(item)
    return json.dumps(kept, ensure_ascii=False)


def _read(prompt: PromptRequest) -> dict[str, Any]:
    """What the reader replies; of what it does not know, nothing."""
    try:
        return answer(prompt)
    except lm15.InvalidRequestError:
        return {}
