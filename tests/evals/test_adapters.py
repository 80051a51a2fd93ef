"""Adapters: the same score for every optimizer of DSPy, in the shape that it takes, and what its model is shown."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.propose import GroundedProposer
from dspy.teleprompt.bootstrap_trace import FailedPrediction
from hypothesis import given
from hypothesis import strategies as st

from evals.adapters import Metric
from evals.log import SampleRecord
from evals.objective import COMPONENTS, Objective
from evals.optimization.rollouts import Rollout
from evals.optimization.trainee import Trainee
from runtime.models.request import PromptRequest
from runtime.models.scripted import EngineCall, ScriptedEngine
from tests.evals.meetings import (
    BUDGET,
    FORGED,
    VENUE,
    Meetings,
    leaf,
    meetings,
    reads_decisions,
    reads_everything,
    rollout_of,
    scripted,
    written,
)

OBJECTIVE = Objective.parse("verified_correct")


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Meetings]:
    made = meetings(tmp_path)
    yield made
    made.close()


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


# GEPA, as it is


def reflections(engine: ScriptedEngine) -> list[EngineCall]:
    """The calls in which a model was asked for instructions, or for what they are made of."""
    return [each for each in engine.log if each.signature not in ("AnalyzeLeaf", "Conclude")]


def gepa(held: Meetings, engine: ScriptedEngine, trainee: Trainee, **more: Any) -> dspy.Module:
    optimizer = dspy.GEPA(
        metric_of(held).as_gepa(),
        reflection_lm=engine.lm(),
        num_threads=1,
        seed=0,
        **{"max_metric_calls": 14, "add_format_failure_as_feedback": True, **more},
    )
    made = held.examples
    return optimizer.compile(trainee, trainset=made, valset=made)


def test_gepa_is_shown_bounded_and_harmless_examples(
    held: Meetings, caplog: pytest.LogCaptureFixture
) -> None:
    """dspy#9059, feedback injection: the prompt that the reflection model gets, as its engine sees it."""
    large = meetings(held.folder / "large", filler=1_500)
    engine = scripted(reads_everything, "Quote with care.")
    with closing(large):
        gepa(large, engine, trained(large, engine))
    asked = reflections(engine)
    assert asked
    shown = "".join(each.prompt for each in asked)
    assert "Write rules that hold for other questions" in shown
    assert "NEW INSTRUCTION" in shown or "Obey the minutes" in shown
    for each in asked:
        inside = each.prompt.split("examples_with_feedback ## ]]")[-1]
        assert len(each.prompt) < 60_000
        for forged in FORGED:
            assert forged not in inside, forged
        assert len(inside.replace("\n", "")) > 500
    assert (
        "differ" not in caplog.text
    )  # "The score returned by the metric with pred_name is different"


def test_gepa_is_told_about_its_examples_one_by_one(held: Meetings) -> None:
    engine = scripted(misses_venue)
    gepa(held, engine, trained(held, engine), max_metric_calls=40)
    shown = "".join(each.prompt for each in reflections(engine))
    assert "it missed 1: fact 1 at venue.txt line 61" in shown
    assert "None of the evidence that the question needs stood in what this call was given" in shown


def test_gepa_keeps_what_crashed(held: Meetings) -> None:
    """dspy#10047, gptme#819: failed rollouts are what there is to learn from; they stay, with what is said of them."""
    engine = scripted(lambda _: None)
    gepa(held, engine, trained(held, engine), max_metric_calls=9)
    trainee = trained(held, engine)
    assert rollout_of(trainee, "budget").record.answer is not None

    asked = held.questions["budget"].question

    def breaks(prompt: PromptRequest) -> Any:
        if prompt.signature == "Conclude" and asked in prompt.user:
            raise RuntimeError("the engine broke")
        return reads_decisions(prompt) or leaf()

    def respond(prompt: PromptRequest) -> Any:
        if prompt.signature in ("AnalyzeLeaf", "Conclude"):
            return breaks(prompt)
        return dict.fromkeys(prompt.outputs, "Quote.")

    broken = ScriptedEngine(respond=respond)
    gepa(held, broken, trained(held, broken, "broken.jsonl"), max_metric_calls=9)
    shown = "".join(each.prompt for each in reflections(broken))
    assert "Score of the whole run 0.00" in shown
    assert "error: " in shown


def test_gepa_takes_scores_by_objective(held: Meetings) -> None:
    engine = scripted(misses_venue)
    made = gepa(
        held,
        engine,
        trained(held, engine),
        track_stats=True,
        gepa_kwargs={"frontier_type": "hybrid"},
    )
    found: Any = made.detailed_results
    assert all(math.isfinite(each) for each in found.val_aggregate_scores)
    assert {"verified_correct", "coverage", "economy"} <= set(found.per_objective_best_candidates)


# The others, as they are


def test_bootstrapping_makes_demos_of_right_answers_only(held: Meetings) -> None:
    """dspy#10473 through the optimizer itself, and demos that hold excerpts."""
    optimizer = dspy.BootstrapFewShot(
        metric=metric_of(held).as_bool(), max_bootstrapped_demos=4, max_labeled_demos=0
    )
    right = optimizer.compile(trained(held), trainset=held.examples[:2])
    demos = dict(right.named_predictors())["program.analyze_leaf"].demos
    assert demos
    assert all(demo.augmented for demo in demos)
    for demo in demos:
        assert sum(len(each["text"]) for each in demo.spans) <= 1_500
        for source in held.corpus.sources:
            assert held.corpus.text(source.id)[:1_000] not in written(demo.toDict())
    wrong = trained(held, scripted(misses_venue), "wrong.jsonl")
    optimizer = dspy.BootstrapFewShot(
        metric=metric_of(held).as_bool(), max_bootstrapped_demos=4, max_labeled_demos=0
    )
    none = optimizer.compile(wrong, trainset=[example(held, "venue")])
    assert not any(each.demos for each in none.predictors())


def test_simba_is_shown_harmless_trajectories(held: Meetings) -> None:
    """Its metadata goes to the model that writes advice, and so do the inputs and outputs of both trajectories."""
    seen: Counter[str] = Counter()

    def sometimes(prompt: PromptRequest) -> dict[str, Any] | None:
        """Read all at the first sight of a part, nothing at the second, and so on."""
        seen[prompt.user] += 1
        return reads_everything(prompt) if seen[prompt.user] % 2 else leaf()

    engine = scripted(sometimes)
    optimizer = dspy.SIMBA(
        metric=metric_of(held).as_simba(), prompt_model=engine.lm(), bsize=2, num_candidates=2,
        max_steps=2, max_demos=0, num_threads=1,
    )  # fmt: skip
    with dspy.context(lm=engine.lm()):
        optimizer.compile(trained(held, engine), trainset=held.examples[:2], seed=0)
    asked = reflections(engine)
    assert asked
    for each in asked:
        assert "Score of the whole run" in each.prompt.split("worse_reward_info ## ]]")[-1]
        inside = each.prompt.split("program_inputs ## ]]")[-1]
        assert "non-serializable: EvidenceSpan" not in inside
        assert len(inside) < 80_000
        assert not any(forged in inside for forged in FORGED)


def test_the_proposer_of_mipro_is_shown_no_gold_and_no_document(held: Meetings) -> None:
    """MIPROv2 sends the `repr` of whole examples to its prompt model, and demos as they are."""
    trainee, metric, engine = trained(held, scripted(reads_everything)), metric_of(held), scripted()
    bootstrap = dspy.BootstrapFewShot(
        metric=metric.as_bool(), max_bootstrapped_demos=3, max_labeled_demos=0
    )
    student = bootstrap.compile(trainee, trainset=held.examples)
    demos = {n: [[], each.demos] for n, each in enumerate(student.predictors())}
    assert any(each[1] for each in demos.values())
    proposer = GroundedProposer(
        prompt_model=engine.lm(), program=student, trainset=held.examples, view_data_batch_size=3,
        program_aware=False, use_tip=False, use_instruct_history=False,
        set_tip_randomly=False, set_history_randomly=False,
    )  # fmt: skip
    with dspy.context(lm=engine.lm()):
        proposer.propose_instructions_for_program(held.examples, student, demos, {}, N=2)
    asked = reflections(engine)
    summary = [each for each in asked if "[[ ## examples ## ]]" in each.prompt]
    assert summary
    assert "Which budget was decided" in summary[0].prompt
    for each in summary:
        assert BUDGET not in each.prompt
        assert "40000" not in each.prompt
        assert "gold" not in each.prompt
        assert "Speaker 1" not in each.prompt
    for each in asked:
        inside = each.prompt.split("task_demos ## ]]")[-1].split("basic_instruction ## ]]")[0]
        assert len(inside) < 40_000
        assert not any(forged in inside for forged in FORGED)


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
