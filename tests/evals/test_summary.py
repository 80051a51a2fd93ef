"""Many scores as a table: nothing undefined is averaged, nothing is lost, and silence does not win."""

import json
import random

import pytest

from data.questions import Kind
from evals.metrics import UNDEFINED, Ratio
from evals.score import SampleScore
from evals.summary import METRICS, Summary, mean, summary, total
from tests.evals.samples import judged


def sample(id: str, **fields: object) -> SampleScore:
    """A right answer to a lookup, but for what a test says."""
    made = judged("integer", ["7"], "7")
    return made.model_copy(update={"question_id": id, "answered_without_citation": False, **fields})


def test_the_mean_of_nothing_is_undefined() -> None:
    """ragas#794, #733, #580, #1309: NaN on refusals; openagent-eval#76: 0.0 in one layer, 1.0 in another."""
    empty = summary([])
    assert empty.questions == 0
    assert all(empty.means[name].mean is None for name in METRICS)
    assert empty.micro["unsupported"] == UNDEFINED
    assert "NaN" not in empty.model_dump_json()


def test_an_undefined_row_does_not_change_the_others() -> None:
    """ranx#31: an empty result row changed the precision of the others."""
    rows = [
        sample("a", citation_precision=Ratio(1, 2)),
        sample("b", citation_precision=Ratio(1, 1)),
    ]
    silent = sample("c", citation_precision=UNDEFINED)
    before, after = summary(rows), summary([*rows, silent])
    assert before.means["citation_precision"].mean == after.means["citation_precision"].mean == 0.75
    assert (
        before.means["citation_precision"].undefined,
        after.means["citation_precision"].undefined,
    ) == (0, 1)
    assert after.means["citation_precision"].scored == 2


def test_what_failed_is_no_success_of_all() -> None:
    """A program cannot hide behind errors and answers that nobody can read: `of_all` counts every sample."""
    rows = [sample("a"), sample("b", correct=UNDEFINED, correctness="error", state="error")]
    rows.append(sample("c", correct=UNDEFINED, correctness="unparsed"))
    found = summary(rows)
    assert (found.means["correct"].mean, found.means["correct"].scored) == (1.0, 1)
    assert found.of_all["correct"] == Ratio(1, 3)
    assert found.correctness == {"correct": 1, "error": 1, "unparsed": 1}
    assert found.states == {"answer": 2, "error": 1}


def test_crashed_samples_are_no_success_of_all() -> None:
    """Nine errors and one right answer are 1 of 10, also of their kind where it is known."""
    found = summary([sample("a")], errors=["lookup"] * 4 + ["conflict", None, None, None, None])
    assert found.of_all == {"verified_correct": Ratio(0, 10), "correct": Ratio(1, 10)}
    assert (found.samples, found.errors, found.means["correct"].mean) == (1, 9, 1.0)
    of_kind = {kind: each.of_all["correct"] for kind, each in found.by_kind.items()}
    assert of_kind == {"lookup": Ratio(1, 5), "conflict": Ratio(0, 1)}


def test_rates_over_all_claims_are_sums() -> None:
    """Not a mean of ratios: the answer with many claims weighs more."""
    rows = [sample("a", unsupported=Ratio(1, 1), unjudged=2), sample("b", unsupported=Ratio(0, 9))]
    found = summary(rows)
    assert found.micro["unsupported"] == Ratio(1, 10)
    assert found.means["unsupported"].mean == 0.5
    assert found.unjudged == 2
    assert total([]) == UNDEFINED


def test_silence_is_counted_beside_the_unsupported_claims() -> None:
    rows = [
        sample("a"),
        sample("b", empty_answer=True),
        sample("c", answered_without_citation=True),
    ]
    rows.append(sample("d", state="abstain"))
    found = summary(rows)
    assert found.empty_answers == Ratio(1, 3)
    assert found.answered_without_citation == Ratio(1, 3)


def test_epochs_are_averaged_within_a_question_first() -> None:
    """lm-evaluation-harness#3357, #1645: results drift between runs. Questions whose epochs differ are counted."""
    rows = [sample("a"), sample("a", correct=Ratio(0, 1)), sample("b"), sample("b")]
    rows.append(sample("c", correct=Ratio(0, 1)))
    found = summary(rows, epochs=2).means["correct"]
    assert found.mean == pytest.approx((0.5 + 1 + 0) / 3)
    assert (found.scored, found.repeated, found.unstable) == (3, 2, 1)
    assert mean([("a", Ratio(1, 1)), ("a", UNDEFINED)]).mean == 1


def test_a_question_that_comes_twice_is_refused() -> None:
    """sgl-eval#39: duplicate ids stood for one row, and 0.5 became 1.0."""
    with pytest.raises(ValueError, match="a has 2 scores in 1 epochs"):
        summary([sample("a"), sample("a", correct=Ratio(0, 1))])


def test_cached_samples_do_not_count_as_fast() -> None:
    """promptfoo#945, #980, #10595: cached latency was replayed, zero or left out. Here: left out, counted."""
    rows = [sample(str(n), seconds=float(n)) for n in range(1, 21)]
    rows += [sample(f"cached{n}", seconds=0.001, cached_calls=1) for n in range(5)]
    costs = summary(rows).costs
    assert (costs.timed, costs.cached) == (20, 5)
    assert (costs.seconds_median, costs.seconds_p95) == (10.0, 19.0)


def test_unknown_costs_are_counted_and_not_zero() -> None:
    costs = summary([sample("a", cost_usd=0.5), sample("b", cost_usd=None)]).costs
    assert (costs.cost_usd, costs.cost_unknown) == (0.5, 1)


def test_the_table_of_abstention_is_by_state() -> None:
    rows = [sample("a", state="answer"), sample("b", state="abstain"), sample("c", state="error")]
    rows += [
        sample("d", answerable=False, state="abstain"),
        sample("e", answerable=False, state="partial"),
    ]
    found = summary(rows).abstention
    assert (found.recall, found.precision) == (Ratio(1, 2), Ratio(1, 2))
    assert (found.false_abstention, found.answered_unanswerable) == (Ratio(1, 3), Ratio(0, 2))
    assert found.macro_f1 == pytest.approx((0.5 + 0.5) / 2)


def test_kinds_have_tables_of_their_own() -> None:
    kinds: list[Kind] = ["lookup", "conflict", "lookup"]
    found = summary(sample(str(n), kind=kind) for n, kind in enumerate(kinds))
    assert {kind: each.questions for kind, each in found.by_kind.items()} == {
        "conflict": 1,
        "lookup": 2,
    }
    assert not found.by_kind["lookup"].by_kind


def test_the_order_of_scores_has_no_influence() -> None:
    rows = [sample(str(n), evidence_recall=Ratio(n % 7, 7), seconds=n / 7) for n in range(50)]
    first = summary(rows).model_dump_json()
    random.Random(2).shuffle(rows)
    assert summary(rows).model_dump_json() == first
    assert Summary.model_validate(json.loads(first)).model_dump_json() == first


def test_what_gold_cannot_grade_is_no_failure() -> None:
    """Data without answers: their questions are counted, and are in no rate of right answers."""
    ungraded = sample("b", correctness="ungraded", correct=UNDEFINED, verified_correct=UNDEFINED)
    found = summary([sample("a"), ungraded])
    assert found.of_all["correct"] == Ratio(1, 1)
    assert found.means["correct"].undefined == 1
