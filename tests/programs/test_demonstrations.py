"""Four demonstrations over the samples that ship, each proving one property with the model that users get (98, 100)."""

import asyncio
from pathlib import Path

import pytest

from data.corpus import Corpus, open_corpus
from data.samples import samples_path
from programs import Answer, Progress, Recursive
from runtime.frames import fold
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.models.make import make_lm
from runtime.view import progress

QUESTION = "Which decisions about audit logs contradict each other?"


@pytest.fixture
def minutes(tmp_path: Path) -> Corpus:
    return open_corpus([samples_path("minutes")], store=tmp_path / "store")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal.open(tmp_path / "runs.db")


def ask(program: Recursive, corpus: Corpus) -> Answer:
    return program(question=QUESTION, corpus=corpus).answer


def test_a_basic_run_ends_in_a_cited_answer(minutes: Corpus, journal: Journal) -> None:
    """98 (basic run), 100: by the model that the receipt names, with nothing in its place."""
    answer = ask(Recursive(lm=make_lm("extractive"), journal=journal), minutes)
    assert answer.outcome == "answered"
    assert answer.receipt.model == "extractive"
    assert not answer.degraded
    assert {call.model for call in journal.calls(answer.run_id)} == {"spantree/extractive"}
    quotes = [citation.quote for claim in answer.claims for citation in claim.citations]
    assert any("90 days" in quote for quote in quotes)
    assert any("30 days" in quote for quote in quotes)


@pytest.mark.parametrize(("steps", "cut"), [(2, True), (3, False)])
def test_a_step_limit_keeps_the_closing_step(
    minutes: Corpus, journal: Journal, steps: int, cut: bool
) -> None:
    """98 (step limit), 99: the limit is reported if and only if it was met."""
    limits = Limits(steps_per_frame=steps)
    answer = ask(Recursive(lm=make_lm("extractive"), journal=journal, limits=limits), minutes)
    state = fold(journal.events(answer.run_id))
    planned = state.frames["root"].steps
    assert len(planned) <= steps
    assert planned[-1].planned.action == "conclude"
    assert planned[-1].status == "completed"
    if not cut:
        assert answer.outcome == "answered"
        assert not answer.warnings


def test_progress_grows_and_ends_at_the_whole(minutes: Corpus, journal: Journal) -> None:
    """98 (progress), 92: i of n, never backwards, and 100 % only at the end."""
    seen: list[Progress] = []
    answer = ask(
        Recursive(lm=make_lm("extractive"), journal=journal, progress=seen.append), minutes
    )
    calls = [each.calls for each in seen]
    read = [each.done for each in seen if each.phase == "analyze"]
    assert calls == sorted(calls)
    assert read == list(range(1, len(read) + 1))
    assert len(read) == answer.coverage.partitions
    assert progress(fold(journal.events(answer.run_id)))[2] == 100


def test_an_interrupted_run_is_resumed_without_a_repeated_call(
    minutes: Corpus, journal: Journal
) -> None:
    """98 (interrupt and resume), 99, 100: the interruption happened, and the answer is that of an undisturbed run."""
    undisturbed = ask(Recursive(lm=make_lm("extractive"), journal=journal), minutes)

    async def interrupted() -> str:
        met = asyncio.Event()
        run_id = ""

        def listen(moment: Progress) -> None:
            nonlocal run_id
            if moment.phase == "analyze" and moment.done == 7:
                run_id = moment.run_id
                met.set()

        program = Recursive(lm=make_lm("extractive"), journal=journal, progress=listen)
        task = asyncio.create_task(program.aforward(question=QUESTION, corpus=minutes))
        await met.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return run_id

    run_id = asyncio.run(interrupted())
    before = journal.run(run_id)
    done = {call.key for call in journal.calls(run_id) if call.status == "done"}
    assert before.status == "interrupted"
    assert before.outcome is None
    assert 0 < len(done) < undisturbed.receipt.calls

    answer = Recursive(lm=make_lm("extractive"), journal=journal).resume(run_id, minutes).answer
    made = [call.key for call in journal.calls(run_id) if call.status == "done"]
    assert len(made) == len(set(made))
    assert done <= set(made)
    assert (answer.text, answer.value, answer.outcome) == (
        undisturbed.text,
        undisturbed.value,
        undisturbed.outcome,
    )
    assert [claim.citations for claim in answer.claims] == [
        claim.citations for claim in undisturbed.claims
    ]
