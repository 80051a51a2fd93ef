"""The base of the programs: one asynchronous core behind `forward` and `aforward`, and the making of runs."""

import asyncio
import contextvars
import copy
import secrets
from abc import ABCMeta, abstractmethod
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue
from typing import Any, Self, TypeVar

import dspy

from data.corpus import Corpus
from programs.answer import Answer
from programs.progress import Listener
from programs.run import Run
from programs.workspace import LEAF_CHARACTERS, Workspace
from runtime.calls import Caller
from runtime.errors import CorpusError, LimitsError, QuestionError, RunError, UserError
from runtime.events import Finished
from runtime.frames import fold
from runtime.journal import Journal, Lease, RunRecord
from runtime.ledger import Ledger, Usage
from runtime.limits import Limits
from runtime.models.facts import shown_name

T = TypeVar("T")
MIN_STEPS = 2
"""Steps of a frame without which nothing but a conclusion could be run."""
LEAST_LEAF = 1_200
"""The least leaf size: a span may be as long, and is never cut."""
_CLOSING_TOKENS = 4_000
_HANDLES = frozenset(("main_lm", "leaf_lm", "journal", "progress"))


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also inside a running event loop (a notebook), with the caller's context."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _run_beside(work)


def _run_beside(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a thread of its own. An interrupt of this thread cancels it and waits for its end."""
    started: Queue[tuple[asyncio.AbstractEventLoop, asyncio.Task[T] | None]] = Queue()

    async def announced() -> T:
        started.put((asyncio.get_running_loop(), asyncio.current_task()))
        return await work

    context = contextvars.copy_context()
    with ThreadPoolExecutor(1, thread_name_prefix="spantree") as pool:
        future = pool.submit(context.run, asyncio.run, announced())
        try:
            return future.result()
        except BaseException:
            if not future.done():
                loop, task = started.get()
                with suppress(RuntimeError):  # it has just come to its end
                    loop.call_soon_threadsafe(task.cancel if task else loop.stop)
            raise


def new_run_id() -> str:
    """A sortable id: date, time and six random hex digits."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def asked(question: str) -> str:
    """The question without surrounding white space; QuestionError when nothing is left of it."""
    text = question.strip()
    if not text:
        raise QuestionError("the question is empty", hint='ask one: spantree ask "QUESTION" PATH')
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        raise QuestionError(
            "the question contains lone surrogates", hint="pass it as valid UTF-8 text"
        )
    return text


def checked_limits(limits: Limits, min_calls: int) -> Limits:
    """The limits, if a run can start within them and makes `min_calls`; LimitsError otherwise."""
    limits.check_start()
    if limits.calls is not None and limits.calls < min_calls:
        raise LimitsError(
            f"a question needs at least {min_calls} calls: {limits.calls} is too few to start",
            hint=f"allow more, for example --max-calls {min_calls * 5}, or leave the limit out",
        )
    if limits.depth < 1:
        raise LimitsError("the depth must be at least 1", hint="leave --max-depth out")
    if limits.steps_per_frame < MIN_STEPS:
        raise LimitsError(
            f"a frame needs at least {MIN_STEPS} steps, the last one to conclude: {limits.steps_per_frame} is too few",
            hint="allow more steps per frame, or leave the limit out",
        )
    return limits


def working_limits(limits: Limits, spent: Usage, elapsed: float) -> Limits:
    """The limits of everything but the closing step, for which a little is kept back, less what is spent."""
    tokens = spent.input_tokens + spent.output_tokens
    used = {
        "tokens": tokens,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
    }
    caps: dict[str, float | None] = {}
    if limits.calls is not None:
        caps["calls"] = max(0, limits.calls - 1 - spent.calls)
    for name, already in used.items():
        cap = getattr(limits, name)
        if cap is not None:
            caps[name] = max(0, cap - min(_CLOSING_TOKENS, cap // 5) - already)
    if limits.wall_seconds is not None:
        caps["wall_seconds"] = max(0.0, limits.wall_seconds * 0.95 - elapsed)
    return limits.narrowed(**caps)


class AbstractModule(ABCMeta, type(dspy.Module)):
    """The metaclass of a module that cannot be made before its abstract methods are there."""


class Program(dspy.Module, metaclass=AbstractModule):
    """A program over a corpus. It holds predictors and configuration; each call makes a fresh run.

    `lm` serves all calls and `leaf_lm` the many cheap ones; without them the LM of DSPy's settings does.
    `leaf_characters` is the leaf size: how many characters of evidence one of these is shown at most.
    `journal` is a Journal, a path, or None: then runs are kept in memory and cannot be resumed.
    """

    name = "program"
    version = 1
    bundle = ""
    """The id of the bundle that it was loaded from, and its folder; empty for none."""
    bundle_folder = ""
    min_calls = 4
    """Calls without which it can answer no question: of most, to classify, plan, read and conclude."""

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        partitioner: str = "auto",
        leaf_characters: int = LEAF_CHARACTERS,
        lm: dspy.BaseLM | None = None,
        leaf_lm: dspy.BaseLM | None = None,
        journal: Journal | Path | None = None,
        progress: Listener | None = None,
    ) -> None:
        super().__init__()
        if leaf_characters < LEAST_LEAF:
            raise LimitsError(
                f"a leaf size of {leaf_characters} characters is too small: a span may be longer, and is never cut",
                hint=f"use {LEAST_LEAF} or more",
            )
        self.limits = limits or Limits()
        self.partitioner = partitioner
        self.leaf_characters = leaf_characters
        self.main_lm = lm
        self.leaf_lm = leaf_lm
        self.journal = journal
        self.progress = progress

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy with predictors of its own. Models, journal and listener are handles: they are shared."""
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        for name, value in vars(self).items():
            vars(made)[name] = value if name in _HANDLES else copy.deepcopy(value, memo)
        return made

    def forward(
        self, question: str, corpus: Corpus, limits: Limits | None = None
    ) -> dspy.Prediction:
        """Answer a question over a corpus; `prediction.answer` is an Answer."""
        return run_sync(self.aforward(question, corpus, limits))

    async def aforward(
        self, question: str, corpus: Corpus, limits: Limits | None = None
    ) -> dspy.Prediction:
        """The same, within an event loop. `limits` can only narrow those of the program."""
        text = asked(question)
        caps = limits.model_dump(exclude_unset=True) if limits else {}
        used = checked_limits(self.limits.narrowed(**caps), self.min_calls)
        # In a thread: what is recorded about a model may have to be looked up.
        record = await asyncio.to_thread(self._record, text, corpus, used)
        journal, owned = self._opened()
        try:
            workspace = await asyncio.to_thread(
                Workspace, corpus, self.partitioner, self.leaf_characters
            )
            journal.admit(record)
            try:
                with journal.lease(record.run_id) as lease:
                    run = self._run(record, workspace, journal, lease, used)
                    return await self._carried_out(run)
            except UserError:
                if not journal.calls(record.run_id):
                    journal.delete(
                        record.run_id
                    )  # refused before it began: there is nothing to resume
                raise
        finally:
            if owned:
                journal.close()

    def resume(self, run_id: str, corpus: Corpus) -> dspy.Prediction:
        """Go on with an unfinished run: no new plan, no completed call again. A finished one returns its answer.

        Raises CorpusError when the corpus is not of the version that the run began with (see `load_corpus`), and
        RunError when there is no such run, another process holds it, or it is of another program.
        """
        return run_sync(self.aresume(run_id, corpus))

    async def aresume(self, run_id: str, corpus: Corpus) -> dspy.Prediction:
        """The same, within an event loop."""
        journal, owned = self._opened()
        try:
            record = journal.run(run_id).record
            finished = fold(journal.events(record.run_id)).finished
            if finished is not None:
                return predicted(finished)
            self._check_resumable(record, corpus)
            limits = Limits.model_validate(record.config["limits"])
            partitioner = record.config["partitioner"]
            leaf = int(record.config.get("leaf_characters", LEAF_CHARACTERS))
            workspace = await asyncio.to_thread(Workspace, corpus, partitioner, leaf)
            with journal.lease(record.run_id) as lease:
                return await self._carried_out(self._run(record, workspace, journal, lease, limits))
        finally:
            if owned:
                journal.close()

    async def _carried_out(self, run: Run) -> dspy.Prediction:
        """Work a run to its end; whatever interrupts it, it can be resumed, as it was begun."""
        if run.state.finished is None:
            beat = asyncio.create_task(_heartbeat(run))
            try:
                await self.work(run)
            except BaseException:
                _leave(run)
                raise
            finally:
                beat.cancel()
                await asyncio.gather(beat, return_exceptions=True)
        finished = run.state.finished
        assert finished is not None
        return predicted(finished)

    @abstractmethod
    async def work(self, run: Run) -> None:
        """Move a run until it has finished, from whatever state it is in."""

    def _check_resumable(self, record: RunRecord, corpus: Corpus) -> None:
        """Refuse to go on with a run as something that it was not begun as."""
        begun, mine = (record.program, record.program_version), (self.name, self.version)
        if begun != mine:
            raise RunError(
                f"run {record.run_id} is of the program {begun[0]} {begun[1]}, and this is {mine[0]} {mine[1]}",
                hint="resume it with the program that began it, or ask again",
            )
        loaded = record.config.get("bundle", "")
        if loaded != self.bundle:
            raise RunError(
                f"run {record.run_id} was begun with {_told_bundle(loaded)}, and this is {_told_bundle(self.bundle)}",
                hint="resume it with the bundle that began it, or ask again",
            )
        if corpus.version != record.corpus_version:
            raise CorpusError(
                f"the corpus is of version {corpus.version}, and run {record.run_id} is over {record.corpus_version}",
                hint="load the version of the run from the store, or ask again over the new text",
            )

    def configuration(self, limits: Limits) -> dict[str, Any]:
        """What is recorded about a run so that it can be resumed the same way."""
        lm = self.main_lm or dspy.settings.lm
        leaf = self.leaf_lm or lm
        return {
            "model": shown_name(lm),
            "leaf_model": shown_name(leaf),
            "api_base": str(lm.kwargs.get("api_base") or "") if lm is not None else "",
            "partitioner": self.partitioner,
            "leaf_characters": self.leaf_characters,
            "limits": limits.model_dump(mode="json"),
        }

    def _opened(self) -> tuple[Journal, bool]:
        """The journal of a call, and whether it is this call's to close."""
        if isinstance(self.journal, Journal):
            return self.journal, False
        return Journal.open(self.journal), True

    def _record(self, question: str, corpus: Corpus, limits: Limits) -> RunRecord:
        return RunRecord(
            run_id=new_run_id(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            program=self.name,
            program_version=self.version,
            question=question,
            corpus_version=corpus.version,
            corpus_paths=tuple(str(each) for each in corpus.roots),
            store=str(corpus.store),
            config={**self.configuration(limits), **self._loaded_from()},
        )

    def _loaded_from(self) -> dict[str, str]:
        if not self.bundle:
            return {}
        return {"bundle": self.bundle, "bundle_folder": self.bundle_folder}

    def _run(
        self,
        record: RunRecord,
        workspace: Workspace,
        journal: Journal,
        lease: Lease,
        limits: Limits,
    ) -> Run:
        """A run over what the journal knows of it: nothing for a new one."""
        ledger = Ledger(
            limits, spent=journal.usage(record.run_id), elapsed=journal.elapsed(record.run_id)
        )
        log = journal.call_log(lease)

        def caller(of: Ledger) -> Caller:
            return Caller(of, log, limits=limits, lm=self.main_lm, leaf_lm=self.leaf_lm)

        return Run(
            record=record,
            workspace=workspace,
            journal=journal,
            lease=lease,
            ledger=ledger,
            caller=caller(ledger.child(working_limits(limits, ledger.spent, ledger.elapsed))),
            closing_caller=caller(ledger),
            limits=limits,
            state=fold(journal.events(record.run_id)),
            listener=self.progress,
        )


def _told_bundle(id: str) -> str:
    return f"the bundle {id}" if id else "no bundle"


def _leave(run: Run) -> None:
    """Give a run up for now. That must not hide why, so a journal that cannot be written is no error here."""
    run.ledger.cancel()
    if run.state.finished is None:
        with suppress(RunError):  # a run that nobody holds counts as interrupted all the same
            run.commit(status="interrupted")


async def _heartbeat(run: Run) -> None:
    """Keep the lease of a run during long calls."""
    while True:
        await asyncio.sleep(run.lease_seconds / 3)
        with suppress(RunError):  # if it is lost for good, the next call says so before it starts
            run.renew()


def predicted(finished: Finished) -> dspy.Prediction:
    """What a program returns for a run that has ended."""
    answer = Answer.model_validate(finished.answer)
    return dspy.Prediction(answer=answer, outcome=answer.outcome, run_id=answer.run_id)
