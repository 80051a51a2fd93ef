"""A metric and trainees over the minutes of meetings, as the tests of adapters hand them to optimizers."""

from typing import Any

import dspy

from evals.adapters import Metric
from evals.objective import Objective
from evals.optimization.trainee import Trainee
from runtime.models.request import PromptRequest
from runtime.models.scripted import EngineCall, ScriptedEngine
from tests.evals.meetings import VENUE, Meetings, leaf, reads_decisions, scripted

OBJECTIVE = Objective.parse("verified_correct")


def metric_of(held: Meetings, **fields: Any) -> Metric:
    return Metric(held.questions, OBJECTIVE, **fields)


def trained(
    held: Meetings, engine: ScriptedEngine | None = None, name: str = "rollouts.jsonl"
) -> Trainee:
    return held.trainee((engine or scripted()).lm(), name)


def example(held: Meetings, id: str) -> dspy.Example:
    return next(each for each in held.examples if each.question_id == id)


def predicted(trainee: Trainee, id: str) -> tuple[dspy.Prediction, list[Any]]:
    """The prediction on a question, and the trace of its calls."""
    with dspy.context(trace=[]):
        return trainee(question_id=id, question=""), list(dspy.settings.trace)


def misses_venue(prompt: PromptRequest) -> dict[str, Any]:
    """A reader that passes over the venue, and invents a quote for the budget."""
    found = reads_decisions(prompt) or leaf()
    quotes = [each["quote"] for each in found["evidence"]]
    ids = [each["span_id"] for each in found["evidence"]]
    kept = [
        (quote, id, quote.replace("40000", "50000"))
        for quote, id in zip(quotes, ids, strict=True)
        if quote != VENUE
    ]
    return leaf(*kept)


def reflections(engine: ScriptedEngine) -> list[EngineCall]:
    """The calls in which a model was asked for instructions, or for what they are made of."""
    return [each for each in engine.log if each.signature not in ("AnalyzeLeaf", "Conclude")]
