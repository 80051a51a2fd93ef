"""The coach and the pupil under the optimizers of DSPy themselves: each ends with instructions that prevent errors."""

from typing import Any

import dspy
import pytest
from dspy.teleprompt import GEPA, SIMBA, MIPROv2

from runtime.models.make import make_lm
from runtime.models.pupil.rules import heeded
from signatures import AnalyzeLeaf
from tests.runtime.pupil_desk import leaf_inputs, pupil, spans

DATA = [dspy.Example(number=n).with_inputs("number") for n in range(8)]
SHOWN = 6


class Reader(dspy.Module):
    """Reads one leaf. A rollout of SIMBA is a sample under the seed that is its id, as in the trainee of the suite."""

    def __init__(self) -> None:
        super().__init__()
        self.analyze_leaf = dspy.Predict(AnalyzeLeaf)

    def forward(self, number: int) -> dspy.Prediction:
        lm = dspy.settings.lm
        rollout = lm.kwargs.get("rollout_id")
        sample = lm.copy(seed=rollout) if rollout is not None else lm
        with dspy.context(lm=sample):
            return self.analyze_leaf(**leaf_inputs(shown=spans(SHOWN, f"disk {number}")))


def score(gold: dspy.Example, pred: Any, trace: Any = None) -> float:
    """The share of claims that are found and proved by exactly one quote."""
    proofs = [each.claim_id for each in pred.evidence]
    return sum(proofs.count(each.claim_id) == 1 for each in pred.claims) / SHOWN


def said(pred: Any) -> str:
    proofs = [each.claim_id for each in pred.evidence]
    bare = sum(each.claim_id not in proofs for each in pred.claims)
    missed = SHOWN - len(pred.claims)
    told = [f"{bare} claims are without evidence."] if bare else []
    told += [f"It missed {missed} facts."] if missed else []
    return " ".join(told) or "All is well."


def reflected(
    gold: Any, pred: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None
) -> dspy.Prediction:
    return dspy.Prediction(score=score(gold, pred), feedback=said(pred))


def mean(program: dspy.Module, lm: dspy.LM) -> float:
    with dspy.context(lm=lm):
        return sum(score(each, program(**each.inputs())) for each in DATA) / len(DATA)


def instructions(program: dspy.Module) -> str:
    found: Any = dict(program.named_predictors())
    return found["analyze_leaf"].signature.instructions


@pytest.fixture
def lm() -> dspy.LM:
    return pupil(drop=0.5, skip=0.4)


def test_gepa_finds_what_prevents_the_errors(lm: dspy.LM) -> None:
    found = []
    for _ in range(2):
        optimizer = GEPA(
            metric=reflected,
            reflection_lm=make_lm("coach"),
            max_metric_calls=40,
            num_threads=1,
            seed=1,
            track_stats=False,
        )
        with dspy.context(lm=lm):
            found.append(optimizer.compile(Reader(), trainset=DATA[:4], valset=DATA[4:]))
    assert {"drop", "skip"} <= heeded(instructions(found[0]))
    assert mean(Reader(), lm) < 0.6 < mean(found[0], lm) == 1.0
    assert instructions(found[0]) == instructions(found[1])


def test_miprov2_finds_better_instructions(lm: dspy.LM) -> None:
    optimizer = MIPROv2(
        metric=score,
        prompt_model=make_lm("coach"),
        task_model=lm,
        auto=None,
        num_candidates=6,
        max_bootstrapped_demos=0,
        max_labeled_demos=0,
        num_threads=1,
        seed=3,
    )
    with dspy.context(lm=lm):
        found = optimizer.compile(
            Reader(), trainset=DATA[:4], valset=DATA[4:], num_trials=8, minibatch=False
        )
    assert instructions(found) != AnalyzeLeaf.instructions
    assert heeded(instructions(found)) & {"drop", "skip"}
    assert mean(found, lm) > mean(Reader(), lm)


def test_simba_finds_better_instructions(lm: dspy.LM) -> None:
    """Its rollouts differ, since the seed of a sample moves the dice: without that it would have nothing to compare."""
    metric: Any = reflected
    optimizer = SIMBA(
        metric=metric,
        bsize=4,
        num_candidates=3,
        max_steps=2,
        max_demos=0,
        prompt_model=make_lm("coach"),
        num_threads=1,
    )
    with dspy.context(lm=lm):
        found = optimizer.compile(Reader(), trainset=DATA, seed=2)
    assert heeded(instructions(found)) & {"drop", "skip"}
    assert mean(found, lm) > mean(Reader(), lm)
