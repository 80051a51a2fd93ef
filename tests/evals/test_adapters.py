"""Adapters: the same score for every optimizer of DSPy, in the shape that it takes, and feedback on the very call."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.teleprompt.bootstrap_trace import FailedPrediction
from hypothesis import given
from hypothesis import strategies as st

from evals.adapters import Metric
from evals.log import SampleRecord
from evals.objective import COMPONENTS
from evals.optimization.rollouts import Rollout
from runtime.models.request import PromptRequest
from tests.evals.adapted import OBJECTIVE, example, metric_of, misses_venue, predicted, trained
from tests.evals.meetings import Meetings, meetings, reads_decisions, scripted


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Meetings]:
    made = meetings(tmp_path)
    yield made
    made.close()


# One score in every shape


def test_the_same_score_whoever_asks(held: Meetings) -> None:
    """dspy#8703: a score that differs with the name of a predictor. Here both are computed from the same rollout."""
    trainee, metric = trained(held), metric_of(held)
    for each in held.examples:
        pred, trace = predicted(trainee, each.question_id)
        value = metric.as_evaluate()(each, pred)
        assert isinstance(value, float)
        assert 0 <= value <= 1
        assert metric.as_evaluate()(each, pred, trace) == value
        assert metric.as_simba()(each, pred).score == value
        plain = metric.as_gepa()(each, pred)
        assert plain.score == value
        for step in trace:
            for name in ("program.analyze_leaf", "program.conclude"):
                shown = metric.as_gepa()(each, pred, trace, name, [step])
                assert shown.score == value
                assert shown.objective_scores == plain.objective_scores


def test_a_right_answer_passes_and_a_wrong_one_is_falsy(held: Meetings) -> None:
    """dspy#10473: `Prediction(score=0)` is truthy, and rejected traces were kept as demos."""
    metric = metric_of(held)
    right, _ = predicted(trained(held), "budget")
    wrong, _ = predicted(trained(held, scripted(misses_venue), "other.jsonl"), "venue")
    asked = example(held, "budget")
    assert metric.as_bool()(asked, right) is True
    assert metric.as_bool()(asked, right, []) is True
    assert metric.as_evaluate()(asked, right) > 0.9
    assert metric.as_bool()(asked, wrong) is False
    value = metric.as_evaluate()(asked, wrong)
    assert value == 0.0
    assert isinstance(value, float)
    assert not value
    assert bool(dspy.Prediction(score=0.0)), "if DSPy mends this, an adapter may say so"


def test_a_threshold_of_zero_still_takes_no_zero(held: Meetings) -> None:
    wrong, _ = predicted(trained(held, scripted(misses_venue)), "venue")
    assert metric_of(held, threshold=0.0).as_bool()(example(held, "venue"), wrong) is False
    right, _ = predicted(trained(held, name="right.jsonl"), "venue")
    assert metric_of(held, threshold=0.999).as_bool()(example(held, "venue"), right) is False


@pytest.mark.parametrize(
    "pred",
    [
        None,
        FailedPrediction(completion_text="```\n# Example 2\nnot JSON", format_reward=0.5),
        dspy.Prediction(answer="x"),
        {},
    ],
)
def test_what_carries_no_rollout_scores_zero_and_breaks_nothing(held: Meetings, pred: Any) -> None:
    """dspy PR #10338, #9109: a reply that parsed in part ended in a TypeError, and the example was dropped."""
    metric, asked = metric_of(held), example(held, "budget")
    assert metric.as_evaluate()(asked, pred) == 0.0
    assert metric.as_bool()(asked, pred) is False
    for found in (
        metric.as_gepa()(asked, pred, None, "program.analyze_leaf", [(None, {}, pred)]),
        metric.as_simba()(asked, pred),
    ):
        assert found.score == 0.0
        assert found.feedback.startswith("Score 0.00")
        assert "```" not in found.feedback
    said = metric.as_gepa()(asked, pred).feedback
    assert ("could not be parsed" in said) == isinstance(pred, FailedPrediction)


def test_an_error_has_a_score_and_a_feedback(held: Meetings) -> None:
    broken = SampleRecord(
        program="p", question_id="budget", epoch=1, state="error", error_class="ValueError",
        error="it broke", seconds=1.0, started="now",
    )  # fmt: skip
    pred = dspy.Prediction(
        rollout=Rollout(candidate="c", question_id="budget", record=broken), answer=""
    )
    found = metric_of(held).as_gepa()(example(held, "budget"), pred)
    assert found.score == 0.0
    assert "error: ValueError" in found.feedback
    assert set(found.objective_scores) == {*COMPONENTS, "coverage", "economy"}


def test_evaluate_takes_the_score(held: Meetings) -> None:
    """A dict as the score of a sample ends `dspy.Evaluate` in a TypeError after all the work; NaN makes it all NaN."""
    evaluate = dspy.Evaluate(
        devset=held.examples, metric=metric_of(held).as_evaluate(), num_threads=1
    )
    found = evaluate(trained(held))
    assert math.isfinite(found.score)
    assert 0 < found.score <= 100
    assert all(isinstance(each[2], float) for each in found.results)


# The very call


def test_feedback_is_about_the_call_that_is_shown(held: Meetings) -> None:
    """GEPA shows one of many calls of a predictor: what is said must be about that one."""
    pred, trace = predicted(trained(held, scripted(misses_venue)), "venue")
    metric, asked = metric_of(held), example(held, "venue")
    said = {}
    for step in trace:
        source = step[1]["spans"][0]["source"] if "spans" in step[1] else "conclude"
        found = metric.as_gepa()(asked, pred, trace, "program.analyze_leaf", [step])
        said[source] = found.feedback
    assert "it missed 1: fact 1 at venue.txt line 61" in said["venue.txt"]
    assert "None of the evidence" in said["budget.txt"]
    assert "the quote differs from the text of that span" in said["budget.txt"]
    assert len(set(said.values())) == len(said)


def test_the_call_is_found_by_what_it_was_shown_and_replied(held: Meetings) -> None:
    """Optimizers copy inputs, and may turn JSON into other values that say the same."""
    pred, trace = predicted(trained(held, scripted(misses_venue)), "venue")
    metric, asked = metric_of(held), example(held, "venue")
    predictor, inputs, outputs = next(
        step for step in trace if step[1].get("spans", [{}])[0].get("source") == "venue.txt"
    )
    wanted = metric.as_gepa()(asked, pred, trace, "analyze_leaf", [(predictor, inputs, outputs)])
    copied = json.loads(json.dumps({**inputs, "kind": inputs["kind"]}))
    reordered = dict(reversed(copied.items()))
    for step in ((predictor, reordered, outputs), (predictor, copied, dict(outputs))):
        again = metric.as_gepa()(asked, pred, trace, "program.analyze_leaf", [step])
        assert again.feedback == wanted.feedback
    unknown = metric.as_gepa()(
        asked, pred, trace, "program.analyze_leaf", [(predictor, {**inputs, "kind": "?"}, outputs)]
    )
    assert "analyze_leaf was called" in unknown.feedback


def test_a_reply_that_does_not_parse_costs_a_partition_and_not_the_rollout(
    held: Meetings,
) -> None:
    def unreadable(prompt: PromptRequest) -> dict[str, Any] | None:
        return None if "Minutes of May" in prompt.user else reads_decisions(prompt)

    pred, trace = predicted(trained(held, scripted(unreadable)), "budget")
    assert pred.rollout.record.state == "done"
    assert pred.rollout.record.answer["coverage"]["failed"]
    found = metric_of(held).as_gepa()(example(held, "budget"), pred, trace, "analyze_leaf", None)
    assert 0 < found.objective_scores["coverage"] < 1


# Any rollout


@given(st.sampled_from([0.0, 0.2, 0.5, 1.0]), st.booleans())
def test_a_bool_is_a_bool_and_agrees_with_the_score(threshold: float, answered: bool) -> None:
    record = SampleRecord(
        program="p", question_id="q", epoch=1, state="done" if answered else "error",
        answer=None, seconds=1.0, started="now",
    )  # fmt: skip
    pred = dspy.Prediction(rollout=Rollout(candidate="c", question_id="q", record=record))
    metric = Metric({}, OBJECTIVE, threshold)
    value = metric.as_evaluate()(None, pred)
    assert math.isfinite(value)
    assert metric.as_bool()(None, pred) is (value > 0 and value >= threshold)
