"""A rehearsal: small runs in a temporary folder that show the promises of the program by what the journal holds.

The points are the pre-launch list of the planning article that the program descends from. The models are stand-ins: the
embedded reader, and engines that misbehave on purpose.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy

from data.corpus import Corpus, open_corpus
from programs.answer import Answer
from programs.recursive import Recursive
from runtime.errors import SpantreeError
from runtime.events import Planned, StepCommitted, StepStarted
from runtime.frames import ENDED, fold
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.models.make import make_lm
from runtime.models.scripted import ScriptedEngine
from runtime.view import step_table
from spantree.cli.finding import Finding, verdict

QUESTION = 'How many lines mention "late"?'
TEXT = "07:00 train 4 on time\n07:10 train 5 late\n07:20 train 6 late\n"
STEPS_CAP = 3


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the rehearsal takes place."""

    folder: Path
    corpus: Corpus

    def journal(self, name: str) -> Journal:
        """A journal on disk."""
        return Journal.open(self.folder / f"{name}.db")


def rehearse() -> Iterator[Finding]:
    """Run the rehearsal and tell what it showed."""
    with tempfile.TemporaryDirectory(prefix="spantree-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "trains.log"
        path.write_text(TEXT, encoding="utf-8")
        stage = Stage(Path(folder), open_corpus([path], store=Path(folder) / "store"))
        yield from _ordinary(stage)
        yield _prose(stage)
        yield _interrupted(stage)
        yield _bug(stage)
    yield Finding(
        "confirmation", "ok", "no action changes anything outside the store, so none asks"
    )


def _ordinary(stage: Stage) -> Iterator[Finding]:
    """An ordinary run: structured plan, one commit a step, results, times, and what is not done."""
    with stage.journal("ordinary") as journal:
        answer = _asked(Recursive(lm=make_lm("extractive"), journal=journal), stage)
        events = journal.events(answer.run_id)
        calls = journal.calls(answer.run_id)
    plans = [event for event in events if isinstance(event, Planned)]
    counted = answer.value == 2 and answer.outcome == "answered"
    yield verdict(
        "answer", counted, f"a count over {len(TEXT.splitlines())} lines is {answer.value}"
    )
    structured = bool(plans) and not any(plan.degraded for plan in plans)
    yield verdict("plan", structured, f"{sum(len(plan.steps) for plan in plans)} structured steps")
    yield _one_commit_a_step(events)
    rows = step_table(fold(events))
    settled = all(row.status in ENDED and row.result for row in rows)
    yield verdict("steps", settled, f"{len(rows)} steps, each with a status and a result")
    half = fold(events[: len(events) // 2])
    before = repr(half)
    fold(events)
    yield verdict("state", repr(half) == before, "no state is changed in place")
    told = [line.status for line in answer.steps] == [row.status for row in rows]
    yield verdict("conclusion", told, "the answer lists what is done and what is not")
    timed = bool(calls) and all(call.seconds > 0 for call in calls)
    yield verdict("metrics", timed, f"{len(calls)} calls recorded with time, tokens and failures")
    with stage.journal("ordinary") as journal:
        kept = journal.durable and journal.events(answer.run_id) == events
    yield verdict("journal", kept, "a run is on disk under a stable id, and reads back the same")


def _one_commit_a_step(events: list[Any]) -> Finding:
    started = Counter((e.frame_id, e.step_id) for e in events if isinstance(e, StepStarted))
    ended = Counter((e.frame_id, e.step_id) for e in events if isinstance(e, StepCommitted))
    single = (
        bool(ended)
        and all(count == 1 for count in ended.values())
        and started.keys() == ended.keys()
    )
    return verdict("commits", single, f"{len(ended)} steps, each begun and committed by itself")


def _prose(stage: Stage) -> Finding:
    """A model that never gives what it is asked for: a flagged fallback within the caps, and no success."""
    lm = ScriptedEngine(respond=lambda _: "I would rather talk about the weather.").lm()
    with stage.journal("prose") as journal:
        program = Recursive(
            lm=lm, journal=journal, limits=Limits(steps_per_frame=STEPS_CAP, retries=0)
        )
        answer = _asked(program, stage, "Which train was punctual?")
        frames = fold(journal.events(answer.run_id)).frames.values()
    capped = all(len(frame.steps) <= STEPS_CAP for frame in frames)
    holds = capped and answer.degraded and answer.outcome not in ("answered", "not_found")
    detail = (
        f"prose instead of plans ends as {answer.outcome}, degraded, in at most {STEPS_CAP} steps"
    )
    return verdict("fallback", holds, detail)


class _Stop(BaseException):
    """Raised in the middle of a run, as an interrupt would be."""


def _interrupted(stage: Stage) -> Finding:
    """A run that stops in the middle goes on with the same plan and without repeating a call."""
    with stage.journal("interrupted") as journal:
        program = Recursive(lm=make_lm("extractive"), journal=journal)
        journal.on_commit = _stop_after(8)
        try:
            _asked(program, stage)
        except _Stop:
            pass
        else:
            return verdict("resume", False, "the interrupt never came: nothing was shown")
        journal.on_commit = None
        run_id = journal.run("last").record.run_id
        answer = program.resume(run_id, stage.corpus).answer
        done = [
            call.key.rpartition("#")[0] for call in journal.calls(run_id) if call.status == "done"
        ]
        plans = [event.frame_id for event in journal.events(run_id) if isinstance(event, Planned)]
    once = len(done) == len(set(done)) and len(plans) == len(set(plans))
    holds = answer.value == 2 and answer.outcome == "answered" and once
    return verdict(
        "resume", holds, "an interrupted run ends with the same answer, and no call twice"
    )


def _stop_after(commits: int) -> Any:
    def stop(number: int) -> None:
        if number == commits:
            raise _Stop

    return stop


def _bug(stage: Stage) -> Finding:
    """A bug is raised: it is neither an observation nor swallowed."""

    def broken(_: object) -> str:
        raise ZeroDivisionError("on purpose")

    with stage.journal("bug") as journal:
        try:
            answer = _asked(
                Recursive(lm=ScriptedEngine(respond=broken).lm(), journal=journal), stage
            )
        except SpantreeError as error:
            return verdict("bugs", False, f"a bug became {type(error).__name__}")
        except ZeroDivisionError:
            return verdict("bugs", True, "a bug is raised, not swallowed")
    return verdict("bugs", False, f"a bug was swallowed: the run ended as {answer.outcome}")


def _asked(program: Recursive, stage: Stage, question: str = QUESTION) -> Answer:
    prediction: dspy.Prediction = program(question=question, corpus=stage.corpus)
    return prediction.answer
