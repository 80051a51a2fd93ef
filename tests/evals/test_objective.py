"""Objective: what a sample is worth to an optimizer. Always a finite number from 0 to 1, and 0 where a gate is shut."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.log import SampleRecord
from evals.metrics import Ratio
from evals.objective import COMPONENTS, OBJECTIVES, Grade, Objective, grade
from evals.score import SampleScore, score
from programs.answer import Answer
from runtime.errors import UserError
from tests.evals.samples import answer, citation, claim, pumps, question, span

PLAIN = Objective(name="plain", weights={"verified_correct": 1.0}, cost_weight=0.0)


def sample(
    found: SampleScore | None, said: Answer | dict[str, Any] | None = None, **fields: Any
) -> SampleRecord:
    """The record of a sample with a score."""
    plain = said.model_dump(mode="json") if isinstance(said, Answer) else said
    made = {"program": "p", "question_id": "q1", "epoch": 1, "seconds": 1.0, "started": "now"}
    state = "error" if found is None and plain is None else "done"
    return SampleRecord.model_validate(
        {**made, "state": state, "answer": plain, "score": found, **fields}
    )


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> tuple[SampleScore, Answer]:
    """A right answer that cites its evidence."""
    corpus = pumps(tmp_path_factory.mktemp("right"))
    at = span(corpus, "notes.txt", "Pump A ran for 7 hours.")
    asked = question("integer", "7", gold=[[[at]]])
    said = answer(claim("Pump A ran for 7 hours.", at), value=7)
    return score(asked, said, corpus), said


def changed(found: SampleScore, **fields: Any) -> SampleScore:
    return found.model_copy(update=fields)


# The grade


def test_a_right_answer_is_worth_everything_but_what_it_cost(
    right: tuple[SampleScore, Answer],
) -> None:
    found = grade(sample(*right), Objective.parse("verified_correct", budget_tokens=220))
    assert found.score == pytest.approx(1 - 0.05 * 110 / 220)
    assert found.objectives["economy"] == pytest.approx(0.5)
    assert (found.tokens, found.budget_tokens, found.gates) == (110, 220, ())


def test_what_costs_more_than_the_budget_costs_no_more_than_the_weight(
    right: tuple[SampleScore, Answer],
) -> None:
    objective = Objective.parse("verified_correct", budget_tokens=1, cost_weight=0.2)
    found = grade(sample(*right), objective)
    assert found.score == pytest.approx(0.8) == objective.highest
    assert found.objectives["economy"] == 0


def test_a_wrong_answer_that_cost_something_is_worth_zero_and_not_less(
    right: tuple[SampleScore, Answer],
) -> None:
    wrong = changed(right[0], verified_correct=Ratio(0, 1))
    found = grade(sample(wrong, right[1]), Objective.parse("verified_correct"))
    assert found.score == 0
    assert not found.score
    assert found.gates == ()


def test_the_mean_is_weighted_over_what_is_defined(right: tuple[SampleScore, Answer]) -> None:
    """A component that could not be measured is left out, and its weight with it: it is no 0."""
    objective = Objective(
        name="x", weights={"correct": 3, "evidence_recall": 1, "supported": 4}, cost_weight=0
    )
    half = changed(right[0], evidence_recall=Ratio(1, 2), unsupported=Ratio(0, 0))
    found = grade(sample(half, right[1]), objective)
    assert found.score == pytest.approx((3 * 1 + 1 * 0.5) / 4)
    assert "supported" not in found.objectives
    bad = changed(half, unsupported=Ratio(1, 4))
    assert grade(sample(bad, right[1]), objective).score == pytest.approx((3 + 0.5 + 3) / 8)


def test_where_nothing_is_defined_nothing_was_shown(right: tuple[SampleScore, Answer]) -> None:
    unknown = changed(right[0], verified_correct=Ratio(0, 0))
    found = grade(sample(unknown, right[1]), PLAIN)
    assert found.score == 0
    assert found.gates == ()


# Gates


def test_an_error_is_worth_zero_in_every_respect() -> None:
    """Were it left out of the objectives, a candidate would gain by failing on what is hard."""
    found = grade(sample(None, error_class="ModelError"), PLAIN)
    assert found.score == 0
    assert found.gates == ("error: ModelError",)
    assert set(found.objectives) == {*COMPONENTS, "coverage", "economy"}
    assert not any(found.objectives.values())


def test_a_failed_program_is_worth_zero(right: tuple[SampleScore, Answer]) -> None:
    failed = changed(right[0], state="error", outcome="failed")
    assert grade(sample(failed, right[1]), PLAIN).gates == ("the program failed",)
    unscored = sample(None, right[1])
    assert grade(unscored, PLAIN).gates == ("no score",)


def test_one_invalid_citation_shuts_the_gate(tmp_path: Path) -> None:
    corpus = pumps(tmp_path)
    at = span(corpus, "notes.txt", "Pump A ran for 7 hours.")
    asked = question("integer", "7", gold=[[[at]]])
    said = answer(claim("Pump A ran for 7 hours.", at, citation(at, start=at.start + 1)), value=7)
    found = grade(sample(score(asked, said, corpus), said), Objective.parse("correct"))
    assert found.score == 0
    assert found.gates == ("1 invalid citation",)
    assert found.objectives["correct"] == 1


@pytest.mark.parametrize(
    "limit", ["calls", "tokens", "input_tokens", "output_tokens", "cost_usd", "wall_seconds"]
)
def test_a_broken_hard_limit_shuts_the_gate(right: tuple[SampleScore, Answer], limit: str) -> None:
    for words in (f"limit reached: {limit} (4 of 4)", f"limit reached: {limit} (9, a part of it)"):
        said = right[1].model_copy(update={"outcome": "partial", "warnings": (words,)})
        found = grade(sample(right[0], said), PLAIN)
        assert found.score == 0
        assert found.gates == (f"the limit of {limit} ended the run",)


def test_a_limit_of_shape_and_one_that_ended_nothing_shut_no_gate(
    right: tuple[SampleScore, Answer],
) -> None:
    for outcome, words in (
        ("partial", "the frame has run its 12 steps"),
        ("partial", "limit reached: depth (3 of 3)"),
        ("partial", 'a reader wrote "limit reached: calls"'),
        ("answered", "limit reached: calls (4 of 4)"),
    ):
        said = right[1].model_copy(update={"outcome": outcome, "warnings": (words,)})
        assert grade(sample(right[0], said), PLAIN).score == 1


# Any record


def ratios(top: float = 1.0) -> st.SearchStrategy[Ratio]:
    return st.one_of(
        st.just(Ratio(0, 0)),
        st.builds(
            lambda den, share: Ratio(den * share * top, den),
            st.floats(0.001, 1e9),
            st.floats(0, 1),
        ),
    )


@st.composite
def records(draw: st.DrawFn, found: SampleScore, said: Answer) -> SampleRecord:
    if draw(st.integers(0, 9)) == 0:
        return sample(None, error_class="X")
    measured = {
        name: draw(ratios())
        for name in (
            "correct",
            "verified_correct",
            "evidence_recall",
            "citation_precision",
            "citation_validity",
            "unsupported",
            "target_coverage",
            "partition_coverage",
        )
    }
    if draw(st.booleans()):
        measured["citation_validity"] = Ratio(1, 1)
    tokens = {name: draw(st.integers(0, 10**12)) for name in ("input_tokens", "output_tokens")}
    state = draw(st.sampled_from(["answer", "partial", "abstain", "error"]))
    outcome = draw(st.sampled_from(["answered", "partial", "not_found", "failed"]))
    words = draw(st.sampled_from([(), ("limit reached: calls (1 of 1)",), ("other",)]))
    answered = said.model_copy(update={"outcome": outcome, "warnings": words})
    return sample(changed(found, **measured, **tokens, state=state), answered)


weights = st.dictionaries(st.sampled_from(COMPONENTS), st.floats(0, 1.7e308), min_size=1).filter(
    lambda each: any(each.values())
)


@given(st.data())
def test_every_score_is_finite_and_from_0_to_1(
    right: tuple[SampleScore, Answer], data: st.DataObject
) -> None:
    """NaN scores (dspy, GEPA): one of them poisons the best candidate of GEPA for good."""
    objective = Objective(
        name="any",
        weights=data.draw(weights),
        cost_weight=data.draw(st.floats(0, 0.999)),
        budget_tokens=data.draw(st.integers(1, 10**9)),
    )
    record = data.draw(records(*right))
    found = grade(record, objective)
    for value in (found.score, *found.objectives.values()):
        assert isinstance(value, float)
        assert math.isfinite(value)
        assert 0 <= value <= 1
    assert bool(found.score) == (found.score > 0)
    assert found == grade(record, objective)
    if found.gates:
        assert found.score == 0


@given(st.data())
def test_every_objective_is_better_when_higher(
    right: tuple[SampleScore, Answer], data: st.DataObject
) -> None:
    """More tokens, more unsupported claims and less of everything else never raise an objective or the score."""
    objective = Objective(name="any", weights=data.draw(weights))
    good = right[0]
    share = data.draw(st.floats(0, 1))
    worse = changed(
        good,
        input_tokens=good.input_tokens + data.draw(st.integers(0, 10**6)),
        unsupported=Ratio(1 - share, 1),
        citation_precision=Ratio(share, 1),
        evidence_recall=Ratio(share, 1),
    )
    best = grade(sample(changed(good, unsupported=Ratio(0, 1)), right[1]), objective)
    found = grade(sample(worse, right[1]), objective)
    assert found.score <= best.score + 1e-12
    assert all(found.objectives[name] <= value for name, value in best.objectives.items())


def test_a_grade_that_is_no_number_cannot_be_made() -> None:
    for value in (math.nan, math.inf, -0.1, 1.1):
        with pytest.raises(ValueError, match="score"):
            Grade(score=value, objectives={})
    with pytest.raises(ValueError, match="finite"):
        Grade(score=0.5, objectives={"correct": math.nan})


# Names and weights


def test_objectives_have_names() -> None:
    assert Objective.parse("verified_correct").weights == {"verified_correct": 1.0}
    assert set(OBJECTIVES) == {*COMPONENTS, "balanced"}
    assert math.fsum(Objective.parse("balanced").weights.values()) == pytest.approx(1)


def test_weights_stand_in_for_a_name() -> None:
    found = Objective.parse("verified_correct", "correct=2, evidence_recall=0.5,supported")
    assert found.name == "weighted"
    assert found.weights == {"correct": 2.0, "evidence_recall": 0.5, "supported": 1.0}


@pytest.mark.parametrize(
    ("name", "given_weights", "settings", "words"),
    [
        ("f2", None, {}, "no objective 'f2'"),
        ("correct", "speed=1", {}, "'speed' in the weights is no component"),
        ("correct", "correct=1,correct=2", {}, "is named twice"),
        ("correct", "correct=much", {}, "the weight of correct is 'much'"),
        ("correct", "correct=nan", {}, "finite"),
        ("correct", "correct=-1", {}, "0 or more"),
        ("correct", "correct=0", {}, "above 0"),
        ("correct", " , ", {}, "no weights"),
        ("correct", None, {"cost_weight": 1.5}, "cost_weight"),
        ("correct", None, {"cost_weight": math.nan}, "cost_weight"),
        ("correct", None, {"budget_tokens": 0}, "budget_tokens"),
    ],
)
def test_what_is_no_objective_is_refused_with_what_to_do(
    name: str, given_weights: str | None, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError, match=words) as raised:
        Objective.parse(name, given_weights, **settings)
    assert raised.value.hint
