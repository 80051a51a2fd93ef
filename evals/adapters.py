"""Adapters: one graded rollout in the shape that each optimizer of DSPy takes.

Everything is computed from the rollout that a prediction carries, by code: the score is the same whoever asks, however
often, with or without the name of a predictor (dspy#8703). It is a float or a bool for those that take it for truth: a
`dspy.Prediction` of score 0 is truthy, and kept rejected traces as demos (dspy#10473).
"""

import json
from collections.abc import Mapping
from typing import Any, Protocol

import dspy
from dspy.teleprompt.bootstrap_trace import FailedPrediction
from pydantic_core import to_jsonable_python

from data.questions import Question
from evals.feedback import CallLike, RolloutLike, feedback, unusable
from evals.objective import NOTHING, Grade, Objective, grade

PREFIX = "program."
"""Before the names of a program's predictors, as optimizers see them in what wraps it."""


class Evaluates(Protocol):
    """A metric as `dspy.Evaluate` calls it, and MIPROv2 and bootstrapping."""

    def __call__(self, gold: Any, pred: Any, trace: Any = None) -> float: ...


class Metric:
    """The metric of an optimization: an objective, and the questions by id.

    `gold` is an Example with `question_id`: no gold is in it, since an optimizer may show examples to a model. `pred`
    carries the `rollout`; one without, of a program that raised or of a reply that did not parse, scores 0.
    """

    def __init__(
        self, questions: Mapping[str, Question], objective: Objective, threshold: float = 0.5
    ) -> None:
        self._questions = questions
        self._objective = objective
        self._threshold = threshold

    def as_evaluate(self) -> Evaluates:
        """A score in [0, 1] as a float: 0.0 is falsy."""
        return self._value

    def as_bool(self) -> Evaluates:
        """Whether the score is above 0 and reaches the threshold: what a demo may be made of."""
        return self._passes

    def as_gepa(self) -> Any:
        """Five arguments; a Prediction of `score`, `feedback` and `objective_scores`."""
        return self._reflected

    def as_simba(self) -> Any:
        """A Prediction of `score`, with metadata that SIMBA shows to the model that writes advice."""
        return self._with_metadata

    def graded(self, pred: Any) -> Grade | None:
        """The grade of a prediction's rollout, or None where there is none."""
        rollout = rollout_of(pred)
        return None if rollout is None else grade(rollout.record, self._objective)

    def _value(self, gold: Any, pred: Any, trace: Any = None) -> float:
        found = self.graded(pred)
        return 0.0 if found is None else found.score

    def _passes(self, gold: Any, pred: Any, trace: Any = None) -> bool:
        value = self._value(gold, pred)
        return value > 0 and value >= self._threshold

    def _reflected(
        self, gold: Any, pred: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None
    ) -> dspy.Prediction:
        rollout, found = rollout_of(pred), self.graded(pred)
        if rollout is None or found is None:
            said = unusable(*_problem(pred))
            return dspy.Prediction(score=0.0, feedback=said, objective_scores=dict(NOTHING))
        name = None if pred_name is None else str(pred_name).removeprefix(PREFIX)
        call = None if name is None else _call(rollout, name, pred_trace)
        said = feedback(self._question(rollout), rollout, found, name, call)
        return dspy.Prediction(
            score=found.score, feedback=said, objective_scores=dict(found.objectives)
        )

    def _with_metadata(self, gold: Any, pred: Any) -> dspy.Prediction:
        made = self._reflected(gold, pred)
        return dspy.Prediction(
            score=made.score, feedback=made.feedback, objectives=made.objective_scores
        )

    def _question(self, rollout: RolloutLike) -> Question:
        return self._questions[rollout.question_id]


def rollout_of(pred: Any) -> RolloutLike | None:
    """The rollout that a prediction carries; None for what is no prediction of a trainee."""
    return pred.get("rollout") if isinstance(pred, dspy.Prediction) else None


def _problem(pred: Any) -> tuple[str, str]:
    if isinstance(pred, FailedPrediction):
        return "the reply could not be parsed", str(pred.completion_text)
    return "the program raised an error, and there is no answer", ""


def _call(rollout: RolloutLike, name: str, pred_trace: Any) -> CallLike | None:
    """The call that an optimizer shows: the one of the same inputs, and of the same outputs where several have them."""
    if not pred_trace:
        return None
    _, inputs, outputs = pred_trace[0]
    asked, said = _key(inputs), _key(outputs)
    named = [each for each in rollout.calls if each.predictor == name]
    same = [each for each in named if _key(each.inputs) == asked]
    exact = (each for each in same if _key(each.outputs) == said)
    return next(exact, same[0] if same else None)


def _key(fields: Any) -> str:
    """Inputs or outputs as one text: typed values and their JSON are the same."""
    plain = to_jsonable_python(dict(fields) if hasattr(fields, "items") else fields, fallback=str)
    return json.dumps(plain, sort_keys=True)
