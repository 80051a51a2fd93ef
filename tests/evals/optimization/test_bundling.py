"""What comes out of an optimization is a bundle that loads and answers, and that holds nothing it must not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import spantree
from evals.optimization import read_optimization
from evals.optimization.bundling import bundle_of
from evals.optimization.candidates import Candidate
from programs.baselines import MapReduce
from programs.bundles import read_bundle
from programs.program_state import state_of
from runtime.errors import BundleError, RunError
from runtime.models.make import make_lm
from tests.evals.optimization.classroom import Classroom


def test_the_best_candidate_is_a_bundle_that_loads_and_answers(
    room: Classroom, tmp_path: Path
) -> None:
    """It says where it comes from: optimizer, set, splits, reports on validation and on the untouched test split."""
    found = room.optimize(room.plan("bootstrap"), tmp_path / "out")
    assert found.bundle is not None
    assert found.best is not None
    bundle = read_bundle(found.bundle)
    assert dict(bundle.state) == found.best.state
    origin = bundle.facts.origin
    assert (origin.optimizer, origin.seed, origin.set_name) == ("bootstrap", 0, room.made.name)
    assert origin.splits == found.manifest.splits.model_dump()
    assert set(origin.reports["validation"] or {}) == {"before", "after"}
    assert set(origin.reports["test"] or {}) == {"before", "after"}
    program = spantree.load(found.bundle)
    assert state_of(program) == found.best.state
    question = room.made.questions[0]
    answer = program(question=question.question, corpus=room.corpora(question.corpus)).answer
    assert answer.claims


def test_a_program_that_was_optimized_before_is_the_parent(room: Classroom, tmp_path: Path) -> None:
    """An optimization of a bundle goes on from its instructions and demos, and names it."""
    first = room.optimize(room.plan("gepa", test_limit=1, budget=30), tmp_path / "first")
    assert first.bundle is not None
    again: Any = spantree.load(first.bundle)
    second = room.optimize(room.plan("bootstrap", test_limit=1), tmp_path / "second", program=again)
    assert second.seed is not None
    assert first.best is not None
    assert second.seed.state == first.best.state
    assert second.bundle is not None
    assert read_bundle(second.bundle).facts.origin.parent == read_bundle(first.bundle).id


def test_a_candidate_with_gold_of_the_test_split_is_no_bundle(
    room: Classroom, tmp_path: Path
) -> None:
    """gepa#261 and kin: instructions that tell an answer of a test question are refused, with the place."""
    found = room.optimize(room.plan("bootstrap"), tmp_path / "out")
    assert found.best is not None
    questions = {each.id: each for each in room.made.questions}
    gold = next(
        span.quote
        for each in found.manifest.splits.test
        for fact in questions[each].gold
        for one in fact
        for span in one
    )
    state = {name: dict(each) for name, each in found.best.state.items()}
    state["analyze_leaf"]["instructions"] += f" Remember: {gold}"
    told = Candidate(**{**vars(found.best), "state": state})
    with pytest.raises(BundleError, match="gold quote of the test question"):
        bundle_of(
            found,
            told,
            tmp_path / "bundle",
            program=MapReduce(),
            made=room.made,
            corpora=room.corpora,
        )
    assert not (tmp_path / "bundle").exists()


def test_a_program_without_a_place_in_the_catalog_is_optimized_and_not_bundled(
    room: Classroom, tmp_path: Path
) -> None:
    """The result stands; that there is no bundle is said, with why."""

    class Own(MapReduce):
        """A program of somebody's own."""

        name = "own"

    found = room.optimize(
        room.plan("bootstrap", test_limit=1), tmp_path / "out", program=Own(lm=make_lm("pupil"))
    )
    assert found.best is not None
    assert found.bundle is None
    assert "no program of the catalog" in found.unbundled
    assert read_optimization(tmp_path / "out").unbundled == found.unbundled


def test_a_picked_candidate_keeps_the_settings_of_its_model(
    room: Classroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made from the folder alone: temperature and length of a reply are those it was optimized with; what cannot be
    given again is told."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    found = room.optimize(room.plan("bootstrap", test_limit=1), tmp_path / "out")
    assert found.best is not None

    def with_model(**settings: Any) -> Any:
        kept = found.manifest.program
        named = {**kept.configuration, "model": "openai/gpt-4.1-nano"}
        named |= {"leaf_model": "openai/gpt-4.1-nano"}
        program = kept.model_copy(
            update={
                "configuration": named,
                "parameters": {"model": settings, "leaf_model": settings},
            }
        )
        manifest = found.manifest.model_copy(update={"program": program})
        return replace(found, manifest=manifest)

    made = {"made": room.made, "corpora": room.corpora}
    kept = with_model(temperature=0.3, max_tokens=77, rollout_id=None)
    bundle = bundle_of(kept, found.best, tmp_path / "bundle", **made)
    assert bundle.facts.lm is not None
    assert bundle.facts.lm.parameters["temperature"] == 0.3
    assert bundle.facts.lm.parameters["max_tokens"] == 77
    with pytest.raises(RunError, match="was used with top_p"):
        bundle_of(with_model(top_p=0.5), found.best, tmp_path / "other", **made)
