"""Adapters under the optimizers of DSPy, as they are: what their models are shown, and what demos are made of."""

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.propose import GroundedProposer

from evals.optimization.trainee import Trainee
from runtime.models.request import PromptRequest
from runtime.models.scripted import ScriptedEngine
from tests.evals.adapted import example, metric_of, misses_venue, reflections, trained
from tests.evals.meetings import (
    BUDGET,
    FORGED,
    Meetings,
    leaf,
    meetings,
    reads_decisions,
    reads_everything,
    rollout_of,
    scripted,
    written,
)


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Meetings]:
    made = meetings(tmp_path)
    yield made
    made.close()


# GEPA, as it is


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
