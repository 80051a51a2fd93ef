"""Runs that are stopped by an error, refused, or finished, and what resuming makes of them."""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from data.corpus import Corpus, load_corpus, open_corpus
from programs import Answer, Progress, Recursive
from runtime.errors import CorpusError, ModelError, RunError
from runtime.events import Finished
from runtime.frames import fold
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.models.request import PromptRequest
from runtime.models.scripted import Rule, ScriptedEngine
from runtime.view import progress as steps_done
from spantree.cli.app import build

SAME = (
    "text",
    "value",
    "outcome",
    "claims",
    "conflicts",
    "unknowns",
    "coverage",
    "steps",
    "warnings",
)
ASKED = "What are the facts?"
THREE = {"a.log": "FACT one\n", "b.log": "FACT two\n", "c.log": "FACT three\n"}


class Stop(BaseException):
    """Raised in the middle of a run, as an interrupt would be."""


def stop_at(commit: int) -> Callable[[int], None]:
    def stop(number: int) -> None:
        if number == commit:
            raise Stop

    return stop


def unfinished(
    lab: Any, engine: ScriptedEngine, corpus: Corpus, *, refused: type[BaseException]
) -> str:
    """The id of a run that stopped with an error."""
    with pytest.raises(refused):
        lab.program(engine)(question=ASKED, corpus=corpus)
    with Journal.open(lab.journal) as journal:
        run = journal.run("last")
        assert run.status == "interrupted"
        assert run.held_by is None
        assert fold(journal.events(run.record.run_id)).finished is None
    return run.record.run_id


def keys(lab: Any, status: str) -> list[str]:
    with Journal.open(lab.journal) as journal:
        run_id = journal.run("last").record.run_id
        return [call.key for call in journal.calls(run_id) if call.status == status]


def same(answer: Answer, other: Answer) -> bool:
    return all(getattr(answer, part) == getattr(other, part) for part in SAME)


def test_a_run_that_was_stopped_goes_on_in_another_thread(lab: Any, say: Any) -> None:
    """Within one process, at every commit: the same journal and program, and a thread after the other."""
    corpus = lab.corpus(THREE)
    scans = [
        say.step(f"s{at}", "scan", patterns=[word]) for at, word in enumerate(("one", "two", "six"))
    ]
    steps = [*scans, say.step("s3", "analyze"), say.step("s4", "conclude")]
    with Journal.open(None) as journal, ThreadPoolExecutor(1) as thread:

        def program(engine: ScriptedEngine) -> Recursive:
            return Recursive(lm=engine.lm(), journal=journal, limits=Limits(in_flight=2))

        commits: list[int] = []
        journal.on_commit = commits.append
        whole = lab.model(steps=steps)
        expected = program(whole)(question=ASKED, corpus=corpus).answer
        for commit in (1, *range(3, len(commits) + 1)):  # the second one takes the lease
            engine = lab.model(steps=steps)
            journal.on_commit = stop_at(journal._database.commits + commit)
            with pytest.raises(Stop):
                program(engine)(question=ASKED, corpus=corpus)
            journal.on_commit = None
            run_id = journal.run("last").record.run_id
            answer = thread.submit(program(engine).resume, run_id, corpus).result().answer
            assert same(answer, expected), commit
            assert {c.prompt for c in engine.log} == {c.prompt for c in whole.log}, commit
            assert answer.receipt.calls == journal.usage(run_id).calls
            assert answer.receipt.calls - len(engine.log) in (0, 1)


def test_limits_hold_over_all_the_executions_of_a_run(lab: Any) -> None:
    corpus = lab.corpus(THREE)
    limits = Limits(calls=6, in_flight=2)
    with Journal.open(None) as journal:
        for commit in range(4, 22, 3):
            engine = lab.model()
            program = Recursive(lm=engine.lm(), journal=journal, limits=limits)
            journal.on_commit = stop_at(journal._database.commits + commit)
            with pytest.raises(Stop):
                program(question=ASKED, corpus=corpus)
            journal.on_commit = None
            wide = Recursive(lm=engine.lm(), journal=journal, limits=Limits(calls=100))
            answer = wide.resume(journal.run("last").record.run_id, corpus).answer
            assert answer.outcome == "partial", commit
            assert len(engine.log) <= answer.receipt.calls <= 6, commit


def test_a_finished_run_returns_its_stored_answer(lab: Any) -> None:
    ran = lab.ask(lab.model(), lab.corpus(THREE))
    silent = ScriptedEngine()
    again = lab.program(silent).resume(ran.answer.run_id, ran.corpus)
    assert again.answer == ran.answer
    assert again.outcome == "answered"
    assert silent.log == []
    elsewhere = lab.program(silent).resume(ran.answer.run_id, lab.corpus({"x.log": "other\n"}))
    assert elsewhere.answer == ran.answer


def test_a_run_that_somebody_holds_is_refused(lab: Any) -> None:
    corpus = lab.corpus(THREE)
    broken = lab.model(Rule(signature="Plan", error="auth"))
    run_id = unfinished(lab, broken, corpus, refused=ModelError)
    silent = ScriptedEngine()
    with (
        Journal.open(lab.journal) as journal,
        journal.lease(run_id),
        pytest.raises(RunError, match="is held by another process") as refused,
    ):
        lab.program(silent).resume(run_id, corpus)
    assert refused.value.hint
    assert silent.log == []
    assert lab.program(lab.model()).resume(run_id, corpus).outcome == "answered"


def test_a_key_that_is_mended_lets_the_run_go_on(lab: Any) -> None:
    """Nothing of what the siblings of the refused call brought is lost, or asked again."""
    corpus = lab.corpus(THREE)
    whole = lab.ask(lab.model(), corpus).answer
    broken = lab.model(Rule(signature="AnalyzeLeaf", contains="FACT two", error="auth"))
    run_id = unfinished(lab, broken, corpus, refused=ModelError)
    done = keys(lab, "done")
    assert len([key for key in done if "/s1/" in key]) == 2
    mended = lab.model()
    answer = lab.program(mended).resume(run_id, corpus).answer
    assert same(answer, whole)
    assert sorted(keys(lab, "done")) == sorted({*keys(lab, "done")})
    assert [c.signature for c in mended.log if c.signature in ("Plan", "AnalyzeLeaf")] == [
        "AnalyzeLeaf"
    ]
    assert answer.receipt.calls == len(broken.log) + len(mended.log)
    assert answer.receipt.failed_calls == 1


def test_a_refused_call_stops_the_steps_beside_it(lab: Any, say: Any) -> None:
    """Two steps run at once; what one of them had not read when the other was refused is read later."""
    corpus = lab.corpus({**THREE, "d.log": "FACT four\n"})
    steps = [
        say.step("s1", "analyze", targets=["a.log"]),
        say.step("s2", "analyze", query="And these?", targets=["b.log", "c.log", "d.log"]),
        say.step("s3", "conclude"),
    ]
    broken = lab.model(
        Rule(signature="AnalyzeLeaf", contains="FACT one", error="auth", latency=0.01),
        Rule(signature="AnalyzeLeaf", contains="FACT two", reply=say.leaf()),
        Rule(signature="AnalyzeLeaf", reply=say.leaf(), latency=0.02),
        steps=steps,
    )

    async def refused() -> str:
        """In a loop that goes on afterwards, as that of a service does."""
        with pytest.raises(ModelError):
            await lab.program(broken).aforward(ASKED, corpus)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        with Journal.open(lab.journal) as journal:
            return journal.run("last").record.run_id

    run_id = asyncio.run(refused())
    with Journal.open(lab.journal) as journal:
        frame = fold(journal.events(run_id)).frames["root"]
    assert [step.status for step in frame.steps] == ["running", "running", "pending"]
    rest = lab.model(steps=steps)
    answer = lab.program(rest).resume(run_id, corpus).answer
    assert answer.outcome == "answered"
    assert len(answer.coverage.completed) == 4
    assert answer.receipt.calls == len(broken.log) + len(rest.log)


def test_a_run_that_was_taken_over_makes_no_further_call(lab: Any) -> None:
    """A process that slept too long finds its run in other hands: it writes nothing, and asks for nothing."""
    corpus = lab.corpus(THREE)
    now = [1_000_000.0]
    other = lab.model()

    def overslept(request: PromptRequest) -> dict[str, Any]:
        now[0] += 3_600.0
        with (
            Journal.open(lab.journal, clock=lambda: now[0]) as journal,
            ThreadPoolExecutor(1) as thread,
        ):
            program = Recursive(lm=other.lm(), journal=journal)
            run_id = journal.run("last").record.run_id
            assert thread.submit(program.resume, run_id, corpus).result().outcome == "answered"
        return lab.facts(request)

    sleeper = lab.model(AnalyzeLeaf=overslept)
    with Journal.open(lab.journal, clock=lambda: now[0]) as journal:
        program = Recursive(lm=sleeper.lm(), journal=journal, limits=Limits(in_flight=1))
        with pytest.raises(RunError, match="is no longer held by this process"):
            program(question=ASKED, corpus=corpus)
        run = journal.run("last")
        events = journal.events(run.record.run_id)
    assert [call.signature for call in sleeper.log] == ["ClassifyQuestion", "Plan", "AnalyzeLeaf"]
    assert [call.signature for call in other.log].count("AnalyzeLeaf") == 3
    assert (run.status, run.outcome) == ("finished", "answered")
    assert sum(isinstance(event, Finished) for event in events) == 1


def test_a_bug_is_raised_and_leaves_a_run_that_can_go_on(lab: Any) -> None:
    """56: exceptions of the model's side that are no known failure are not swallowed."""
    corpus = lab.corpus(THREE)
    whole = lab.ask(lab.model(), corpus).answer

    def buggy(request: PromptRequest) -> dict[str, Any]:
        if "FACT three" in request.user:
            raise ZeroDivisionError("on purpose")
        return lab.facts(request)

    for signature in ("ClassifyQuestion", "Plan", "AnalyzeLeaf", "Refine", "Conclude"):
        broken = lab.model(**{signature: buggy if signature == "AnalyzeLeaf" else lambda _: 1 // 0})
        run_id = unfinished(lab, broken, corpus, refused=ZeroDivisionError)
        mended = lab.model()
        answer = lab.program(mended).resume(run_id, corpus).answer
        assert same(answer, whole), signature
        assert answer.receipt.calls == len(broken.log) + len(mended.log)


def test_progress_goes_on_where_it_was(lab: Any) -> None:
    """Checklist 65, 92: the steps and the calls that are shown after a stop are those from before it."""
    corpus = lab.corpus(THREE)
    broken = lab.model(Rule(signature="Conclude", error="auth"))
    before: list[Progress] = []
    with pytest.raises(ModelError):
        lab.program(broken, progress=before.append)(question=ASKED, corpus=corpus)
    with Journal.open(lab.journal) as journal:
        run_id = journal.run("last").record.run_id
        shown = steps_done(fold(journal.events(run_id)))
        assert (shown.done, shown.total) == (1, 2)
    after: list[Progress] = []
    lab.program(lab.model(), progress=after.append).resume(run_id, corpus)
    assert after[0].phase == before[-1].phase == "conclude"
    assert after[0].calls == len(broken.log)
    assert after[0].run_id == before[0].run_id == run_id
    calls = [each.calls for each in before + after]
    assert calls == sorted(calls)


def test_a_corpus_that_changed_under_a_run(lab: Any) -> None:
    """The new text is refused; the stored one still verifies."""
    corpus = lab.corpus(THREE)
    broken = lab.model(Rule(signature="Conclude", error="auth"))
    run_id = unfinished(lab, broken, corpus, refused=ModelError)
    (Path(corpus.roots[0]) / "b.log").write_text("nothing like it\n")
    changed = open_corpus(corpus.roots, store=corpus.store)
    with pytest.raises(CorpusError, match="is over") as refused:
        lab.program(lab.model()).resume(run_id, changed)
    assert refused.value.hint
    stored = load_corpus(corpus.version, store=corpus.store)
    answer = lab.program(lab.model()).resume(run_id, stored).answer
    assert answer.outcome == "answered"
    assert answer.corpus_version == corpus.version
    cited = [cite for claim in answer.claims for cite in claim.citations]
    assert {cite.quote for cite in cited} == {"FACT one", "FACT two", "FACT three"}
    assert all(stored.slice(cite.source, cite.start, cite.end) == cite.quote for cite in cited)


def test_a_partial_answer_stays_what_it_is(lab: Any) -> None:
    """A limit ends a run: resuming it asks for nothing more."""
    ran = lab.ask(lab.model(), lab.corpus(THREE), limits=Limits(calls=4))
    assert ran.answer.outcome == "partial"
    silent = ScriptedEngine()
    again = lab.program(silent, limits=Limits(calls=100)).resume(ran.answer.run_id, ran.corpus)
    assert again.answer == ran.answer
    assert silent.log == []


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("PRAGMA user_version = 99", "newer than this program"),
        ("UPDATE events SET version = 99", "written by a newer version"),
        ("UPDATE calls SET version = 99", "written by a newer version"),
    ],
)
def test_a_journal_of_a_newer_version_is_refused(lab: Any, statement: str, message: str) -> None:
    corpus = lab.corpus(THREE)
    broken = lab.model(Rule(signature="Conclude", error="auth"))
    run_id = unfinished(lab, broken, corpus, refused=ModelError)
    with closing(sqlite3.connect(lab.journal)) as database, database:
        database.execute(statement)
    silent = ScriptedEngine()
    with pytest.raises(RunError, match=message):
        lab.program(silent).resume(run_id, corpus)
    assert silent.log == []


def test_a_run_goes_on_as_what_it_began(lab: Any) -> None:
    """The refine policy is that of its beginning; another program is refused."""

    class Another(Recursive):
        name = "another"

    corpus = lab.corpus(THREE)
    broken = lab.model(Rule(signature="AnalyzeLeaf", error="auth"))
    run_id = unfinished(lab, broken, corpus, refused=ModelError)
    with pytest.raises(RunError, match="is of the program recursive 1, and this is another 1"):
        Another(lm=broken.lm(), journal=lab.journal).resume(run_id, corpus)
    with closing(sqlite3.connect(lab.journal)) as database, database:
        database.execute("UPDATE runs SET record = replace(record, 'recursive', 'another')")
    typed = CliRunner().invoke(build(), ["resume", run_id, "--store", str(lab.folder)])
    assert (typed.exit_code, typed.stdout) == (2, "")
    assert "there is no program named 'another'" in typed.stderr
    with closing(sqlite3.connect(lab.journal)) as database, database:
        database.execute("UPDATE runs SET record = replace(record, 'another', 'recursive')")
    engine = lab.model()
    lab.program(engine, refine="on_failure").resume(run_id, corpus)
    assert "Refine" in [call.signature for call in engine.log]
    with pytest.raises(RunError, match="there is no run"):
        lab.program(engine).resume("never", corpus)
