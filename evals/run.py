"""Run: an evaluation from its programs and questions to its log, whether it begins or goes on.

Samples run in one event loop, a bounded number at a time. What ended is on the disk before the next sample begins in
its place, so that a kill costs the samples in flight and nothing else.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import dspy

from data.corpus import Corpus
from data.questions import Question, QuestionSet
from evals.executor import Executor, Factory, Sample, failure_of
from evals.gold import check_gold
from evals.log import EvalLog, SampleKey, SampleRecord, planned, read_log
from evals.log_writer import LogWriter
from evals.manifest import Manifest, Notes, SetIdentity
from evals.progress import Listener, RunningMetrics
from evals.provenance import code_hash, library_versions, program_identity
from evals.score import score
from evals.selection import selected
from evals.tolerance import Tolerance, TooManyErrors
from runtime.fanout import together

Corpora = Callable[[str], Corpus]
"""Opens a corpus of the set by its name; it is asked often, and from several threads."""


@dataclass(frozen=True)
class Plan:
    """What of a set is evaluated: `limit` questions of a split, drawn by `seed`, each `epochs` times."""

    epochs: int = 1
    limit: int | None = None
    seed: int = 0
    split: str | None = None


@dataclass(frozen=True)
class Conduct:
    """How an evaluation is carried out, which does not change what it finds.

    `concurrency`: samples at the same time. `again`: samples that ended in an error earlier are tried again.
    `by_program`: one program on all questions before the next one, which models that keep the beginning of a prompt are
    quicker with; else all programs on a question before the next question.
    """

    concurrency: int = 4
    tolerance: Tolerance = field(default_factory=Tolerance)
    executor: Executor = field(default_factory=Executor)
    again: bool = False
    by_program: bool = False


async def evaluate(
    programs: Mapping[str, Factory],
    made: QuestionSet,
    corpora: Corpora,
    out: Path,
    *,
    plan: Plan | None = None,
    conduct: Conduct | None = None,
    notes: Notes | None = None,
    listener: Listener | None = None,
) -> EvalLog:
    """Evaluate programs on a question set into the log folder `out`; samples that are there already are kept.

    Raises QuestionSetError where the gold of these questions does not hold (also when the evaluation goes on: it may
    have been changed), UserError for what concerns all samples, RunError (one of them) when `out` holds another
    evaluation or is in use, and TooManyErrors when more samples ended in errors than are tolerated. What ended by then
    is in the log.
    """
    plan = plan or Plan()
    questions = selected(made, split=plan.split, limit=plan.limit, seed=plan.seed)
    place = notes.set_folder if notes else ""
    await asyncio.to_thread(check_gold, made, questions, corpora, place=place)
    manifest = manifest_of(programs, made, questions, plan, notes)
    with LogWriter(out, manifest) as writer, dspy.context(trace=None):
        kept = read_log(out)
        work = _Work(programs, corpora, writer, conduct or Conduct(), listener)
        await work.carry_out({each.id: each for each in questions}, kept)
    return replace(read_log(out), cut=writer.cut)


def manifest_of(
    programs: Mapping[str, Factory],
    made: QuestionSet,
    questions: Sequence[Question],
    plan: Plan,
    notes: Notes | None = None,
) -> Manifest:
    """The manifest of an evaluation that is about to begin."""
    used = dict.fromkeys(each.corpus for each in questions)
    return Manifest(
        question_set=SetIdentity(
            name=made.name,
            version=made.version,
            corpora={each.name: each.version for each in made.corpora if each.name in used},
        ),
        programs={name: program_identity(build()) for name, build in programs.items()},
        questions=tuple(each.id for each in questions),
        epochs=plan.epochs,
        limit=plan.limit,
        seed=plan.seed,
        split=plan.split,
        versions=library_versions(),
        code=code_hash(),
        notes=notes or Notes(),
    )


class _Work:
    """One execution of an evaluation: workers that pull samples until there are none, or too many ended in errors."""

    def __init__(
        self,
        programs: Mapping[str, Factory],
        corpora: Corpora,
        writer: LogWriter,
        conduct: Conduct,
        listener: Listener | None,
    ) -> None:
        self._programs = programs
        self._corpora = corpora
        self._writer = writer
        self._conduct = conduct
        self._listener = listener
        manifest = writer.manifest
        self._metrics = RunningMetrics(manifest.total)
        self._allowed = conduct.tolerance.allowed(manifest.total)
        self._queue: Iterator[Sample] = iter(())
        self._settling: set[asyncio.Task[SampleRecord]] = set()

    async def carry_out(self, questions: Mapping[str, Question], kept: EvalLog) -> None:
        """Evaluate what is missing. Raises TooManyErrors, and UserError for what concerns all samples."""
        for record in kept.records:
            if not self._tried_again(record):
                self._metrics.add(record)
        self._metrics.kept = self._metrics.done
        self._queue = iter(self._samples(questions, kept))
        self._tell()
        try:
            await together(self._pull() for _ in range(max(1, self._conduct.concurrency)))
        finally:
            # What was paid for is written, also when the evaluation is interrupted in between.
            await asyncio.gather(*self._settling, return_exceptions=True)
        if self._too_many:
            raise self._stopped()

    def _tried_again(self, record: SampleRecord) -> bool:
        return self._conduct.again and record.state == "error"

    def _samples(self, questions: Mapping[str, Question], kept: EvalLog) -> Iterator[Sample]:
        plan = list(planned(self._writer.manifest))
        if self._conduct.by_program:
            rank = {name: at for at, name in enumerate(self._writer.manifest.programs)}
            plan.sort(key=lambda key: rank[key[0]])
        for key in plan:
            record = kept.by_key.get(key)
            if record is None or self._tried_again(record):
                yield _sample(key, questions, record)

    @property
    def _too_many(self) -> bool:
        return self._metrics.errors > self._allowed

    def _stopped(self) -> TooManyErrors:
        log = read_log(self._writer.folder)
        return TooManyErrors(log.folder, self._allowed, log.manifest.total, log.error_classes)

    async def _pull(self) -> None:
        while not self._too_many:
            sample = next(self._queue, None)
            if sample is None:
                return
            corpus = await asyncio.to_thread(self._corpora, sample.question.corpus)
            build = self._programs[sample.program]
            record = await self._conduct.executor.run(sample, build, corpus)
            self._metrics.add(await self._settled(record, sample.question, corpus))
            self._tell()

    async def _settled(
        self, record: SampleRecord, question: Question, corpus: Corpus
    ) -> SampleRecord:
        """Score a record and write it, whatever happens meanwhile."""
        work = asyncio.to_thread(_settle, record, question, corpus, self._writer)
        task = asyncio.create_task(work)
        self._settling.add(task)
        task.add_done_callback(self._settling.discard)
        return await asyncio.shield(task)

    def _tell(self) -> None:
        if self._listener is not None:
            self._listener(self._metrics.moment)


def _sample(
    key: SampleKey, questions: Mapping[str, Question], failed: SampleRecord | None
) -> Sample:
    program, question_id, epoch = key
    before = (*failed.retries, failure_of(failed)) if failed else ()
    return Sample(program, questions[question_id], epoch, before)


def _settle(
    record: SampleRecord, question: Question, corpus: Corpus, writer: LogWriter
) -> SampleRecord:
    """Score a record and write it. A bug in scoring is raised, but does not cost the answer: it can be rescored."""
    if record.answer is not None:
        try:
            record = record.model_copy(update={"score": score(question, record.answer, corpus)})
        except Exception:
            writer.append(record)
            raise
    writer.append(record)
    return record
