"""The coach's engine: it answers the prompts by which GEPA, MIPROv2 and SIMBA of DSPy have instructions written.

A stand-in for tests and studies, not a language model: from the feedback it picks sentences of a short table, and
elsewhere it says in a sentence that it has nothing to say. The same request has the same reply, and one that is sampled
(a temperature above 0) depends on its seed, too.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any

import dspy
from dspy import lm15

from runtime.models.coach.advice import ADVICE, Advice, advice_for, failures_in, has, with_advice
from runtime.models.coach.feedback import feedback_in, feedback_written, fenced, texts_in
from runtime.models.dials import chance, digest
from runtime.models.price import FREE, Price
from runtime.models.request import OUTPUTS_HEADER, PromptRequest, respond
from runtime.models.scripted import AsyncSide

AT_ONCE = 2
"""Failures that one proposal of GEPA addresses."""
_MOST = 3
"""Sentences that one proposal of MIPROv2 adds, where no feedback is given."""
_SILENT = "The coach is a stand-in and no language model, and has nothing to say about this."
_TYPED = re.compile(r"^\d+\. `(\w+)` \((.*?)\)(?=:|$)", re.MULTILINE)
_OF_GEPA = "I provided an assistant with the following instructions"
_BETWEEN = "-" * 80
"""What stands between the modules of a program where SIMBA describes them."""
_LIMIT = re.compile(r"[\d,]*\d")


class CoachEngine:
    """A writer of instructions that knows a handful of sentences."""

    price: Price = FREE
    supported_params = frozenset(("temperature", "seed"))

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Answer a prompt of an optimizer.

        Raises `lm15.InvalidRequestError` for a prompt whose outputs are neither known nor texts.
        """
        prompt = PromptRequest.parse(request)
        if not prompt.outputs and _OF_GEPA in prompt.user:
            return respond(request, f"```\n{_rewritten(prompt.user)}\n```")
        reply = _REPLIES.get(tuple(name for name in prompt.outputs if name != "reasoning"), _told)
        config = request.config
        dice = (prompt.prompt, config.seed if config.temperature else "")
        return respond(request, prompt.reply(reply(prompt, dice)))

    async def acomplete(self, request: lm15.Request) -> lm15.Response:
        """As `complete`. There is nothing to wait for."""
        await asyncio.sleep(0)
        return self.complete(request)

    def lm(self, model: str = "spantree/coach", **settings: Any) -> dspy.LM:
        """This engine as an LM without retries and without a cache, unless `settings` say otherwise."""
        defaults: dict[str, Any] = {"num_retries": 0, "cache": False}
        return dspy.LM(model, engine=self, async_engine=AsyncSide(self), **{**defaults, **settings})


_Dice = tuple[Any, ...]
_Reply = Callable[[PromptRequest, _Dice], dict[str, Any]]


def _improved(instruction: str, feedback: list[str]) -> str:
    """The instruction with advice against its most frequent failures, of those that it says nothing about."""
    counts = failures_in(feedback)
    open_ones = [each for each in advice_for(counts) if not has(instruction, each)]
    open_ones.sort(key=lambda each: -counts[each.failure])
    return with_advice(instruction, open_ones[:AT_ONCE])


def _rewritten(text: str) -> str:
    """The same for the template of GEPA itself, which shows everything in one text."""
    return _improved(fenced(text) or "", feedback_written(text))


def _proposed(prompt: PromptRequest, dice: _Dice) -> dict[str, Any]:
    """For GEPA of DSPy: `ProposeInstruction`."""
    feedback = feedback_in(prompt.value("examples_with_feedback", []))
    return {"new_instruction": _improved(prompt.inputs.get("current_instruction", ""), feedback)}


def _shortened(prompt: PromptRequest, dice: _Dice) -> dict[str, Any]:
    """For GEPA of DSPy: `CompressInstruction`. The last lines are kept: they are the advice."""
    limit = _LIMIT.search(prompt.inputs.get("length_limit", ""))
    lines = prompt.inputs.get("instruction", "").splitlines()
    while limit and len(lines) > 1 and len("\n".join(lines)) > int(limit[0].replace(",", "")):
        del lines[0]
    return {"shortened_instruction": "\n".join(lines)}


def _varied(prompt: PromptRequest, dice: _Dice) -> dict[str, Any]:
    """For MIPROv2, which shows no feedback: one to three sentences of the table, by lot."""
    order = sorted(ADVICE, key=lambda each: digest(*dice, each.failure))
    some: list[Advice] = order[: 1 + int(chance(*dice, "how many") * _MOST)]
    basic = prompt.inputs.get("basic_instruction", "")
    return {"proposed_instruction": with_advice(basic, some)}


def _advised(prompt: PromptRequest, dice: _Dice) -> dict[str, Any]:
    """For SIMBA: `OfferFeedback`. Each module is told what the feedback on the worse run asks for, and once."""
    counts = failures_in(texts_in(prompt.inputs.get("worse_reward_info", "")))
    told = ", ".join(counts) or "no failure that the coach knows"
    defined = prompt.inputs.get("modules_defn", "")
    advice: dict[str, str] = {}
    for name in map(str, prompt.value("module_names", [])):
        module = " ".join(defined.partition(f"Module {name}\n")[2].partition(_BETWEEN)[0].split())
        fresh = [each.sentence for each in advice_for(counts) if not has(module, each)]
        if fresh:
            advice[name] = " ".join(fresh)
    return {
        "discussion": f"The feedback on the worse run names: {told}.",
        "module_advice": advice,
    }


def _told(prompt: PromptRequest, dice: _Dice) -> dict[str, Any]:
    """Any other prompt: the one sentence for each output, all of which must be texts."""
    declared = prompt.system.partition(OUTPUTS_HEADER)[2]
    kinds = dict(_TYPED.findall(declared))
    other = [name for name in prompt.outputs if kinds.get(name, "str") != "str"]
    if other or not prompt.outputs:
        asked = ", ".join(other) or "no output fields"
        raise lm15.InvalidRequestError(
            f"the coach answers the prompts of optimizers and texts; this prompt asks for: {asked}"
        )
    return dict.fromkeys(prompt.outputs, _SILENT)


_REPLIES: Mapping[tuple[str, ...], _Reply] = {
    ("new_instruction",): _proposed,
    ("shortened_instruction",): _shortened,
    ("proposed_instruction",): _varied,
    ("discussion", "module_advice"): _advised,
}
