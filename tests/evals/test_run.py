"""Evaluations: every sample is evaluated once, what was done is never done again, and the seed decides the rest."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from data.corpus import Corpus
from data.questions import QuestionSet
from evals.log import read_log, stable
from evals.progress import Moment
from evals.run import Conduct, Plan, evaluate
from programs.baselines import Direct
from runtime.errors import (
    QuestionSetError,
)
from runtime.models.make import make_lm
from tests.evals.small_set import TOLERANT, SmallSet, Told, answer, evaluated, failing, number_of


def test_every_question_is_asked_once_of_every_program_in_every_epoch(
    trains: SmallSet, tmp_path: Path
) -> None:
    """dspy#9574: dspy.Evaluate runs its last, slow samples more than once."""
    calls: dict[str, list[str]] = {"one": [], "other": []}
    programs = {name: (lambda said=said: Told(answer, said)) for name, said in calls.items()}
    work = evaluate(programs, trains.made, trains.corpora, tmp_path / "log", plan=Plan(epochs=2))
    log = asyncio.run(work)
    asked = Counter(each.question for each in trains.made.questions for _ in range(2))
    assert {name: Counter(said) for name, said in calls.items()} == {"one": asked, "other": asked}
    assert len(log.records) == log.manifest.total == 24
    assert len({record.key for record in log.records}) == 24
    assert log.missing == ()
    assert {(r.state, r.attempt, r.cached) for r in log.records} == {("done", 1, False)}
    first = log.records[0]
    assert first.score is not None
    assert first.score.verified_correct.value == 1.0
    assert read_log(tmp_path / "log").records == log.records


def test_a_finished_evaluation_is_not_done_again(trains: SmallSet, tmp_path: Path) -> None:
    calls: list[str] = []
    first = evaluated(trains, tmp_path / "log", calls=calls)
    raw = (tmp_path / "log" / "samples.jsonl").read_bytes()
    again = evaluated(trains, tmp_path / "log", calls=calls)
    assert len(calls) == 6
    assert again.records == first.records
    assert (tmp_path / "log" / "samples.jsonl").read_bytes() == raw


def test_what_came_from_a_cache_is_marked(trains: SmallSet, tmp_path: Path) -> None:
    """promptfoo#980, #945, #10595: the seconds of a cached sample say nothing."""

    def does(question: str, corpus: Corpus) -> Any:
        return answer(question, corpus, cached_calls=number_of(question) % 2)

    log = evaluated(trains, tmp_path / "log", does)
    assert [record.cached for record in log.records] == [False, True] * 3


def test_a_limit_draws_questions_by_seed_and_keeps_their_order(
    trains: SmallSet, tmp_path: Path
) -> None:
    def drawn(seed: int) -> tuple[str, ...]:
        plan = Plan(limit=3, seed=seed)
        return evaluated(trains, tmp_path / f"log{seed}", plan=plan).manifest.questions

    assert drawn(1) == drawn(1)
    assert len({drawn(seed) for seed in range(5)}) > 1
    assert all(list(drawn(seed)) == sorted(drawn(seed)) for seed in range(5))
    log = evaluated(trains, tmp_path / "split", plan=Plan(split="train"))
    assert log.manifest.questions == ("q1", "q3", "q5")
    with pytest.raises(QuestionSetError, match="no questions of the split validation"):
        evaluated(trains, tmp_path / "none", plan=Plan(split="validation"))


def test_questions_of_the_same_id_are_refused(trains: SmallSet, tmp_path: Path) -> None:
    """sgl-eval#39: duplicate ids alias rows."""
    twice = QuestionSet(
        **{**dict(trains.made), "questions": (*trains.made.questions, trains.made.questions[0])}
    )
    with pytest.raises(QuestionSetError, match="same id: q0"):
        asyncio.run(evaluate({"told": Told}, twice, trains.corpora, tmp_path / "log"))
    assert not (tmp_path / "log").exists()


def test_progress_tells_metrics_so_far(trains: SmallSet, tmp_path: Path) -> None:
    moments: list[Moment] = []
    does = failing(n1=OSError("x"))
    conduct = Conduct(concurrency=1, tolerance=TOLERANT)
    evaluated(trains, tmp_path / "log", does, listener=moments.append, conduct=conduct)
    assert [each.done for each in moments] == list(range(7))
    last = moments[-1]
    assert (last.total, last.errors, last.kept) == (6, 1, 0)
    assert (last.verified, last.recall) == (1.0, 1.0)
    assert (last.calls, last.tokens) == (15, 550)
    evaluated(trains, tmp_path / "log", does, listener=moments.append, conduct=conduct)
    assert (moments[-1].done, moments[-1].kept) == (6, 6)


def test_no_more_samples_run_at_once_than_allowed(trains: SmallSet, tmp_path: Path) -> None:
    running, most = 0, 0

    async def slowly(question: str, corpus: Corpus) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return answer(question, corpus)

    conduct = Conduct(concurrency=3)
    log = evaluated(trains, tmp_path / "log", slowly, conduct=conduct)
    assert len(log.records) == 6
    assert most == 3


def test_two_evaluations_agree_but_for_clocks_and_run_ids(trains: SmallSet, tmp_path: Path) -> None:
    def build() -> Direct:
        return Direct(lm=make_lm("simulated:recall=0.5,malformed=0.2,timeout=0.3,seed=3"))

    def found(name: str, concurrency: int) -> list[dict[str, Any]]:
        work = evaluate(
            {"direct": build},
            trains.made,
            trains.corpora,
            tmp_path / name,
            plan=Plan(epochs=2),
            conduct=Conduct(concurrency),
        )
        return [stable(record) for record in asyncio.run(work).records]

    first = found("one", 1)
    assert first == found("other", 5)
    assert all("started" not in each for each in first)
