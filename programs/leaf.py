"""Leaf analysis: readers look at groups of spans, many at a time, and return verified claims.

A reading that fails is tried again as its class of error asks, then halved, and at last its partition is `failed` and
appears in the coverage. A failed reading never costs its siblings their results.
"""

from collections.abc import Callable
from dataclasses import dataclass

import dspy

from programs.evidence import shown
from programs.merge import merged
from programs.observing import counted, failure, success
from programs.readings import Reading, Selection, Targets, partitions_in
from programs.run import Run
from programs.verify import Verifier
from programs.workspace import Workspace
from runtime.claims import Claim, Rejection
from runtime.errors import (
    ContextOverflow,
    LimitReached,
    ParseFailure,
    RunCancelled,
    StepError,
    TruncatedReply,
    UserError,
)
from runtime.fanout import Outcome, fan_out
from runtime.frames import Frame
from runtime.observations import Analyzed, Observation, PartitionFailure
from signatures import PlannedStep, TermStatistic


@dataclass(frozen=True, slots=True)
class Leaf:
    """What one reading brought. `error` is why a part of it could not be read."""

    claims: tuple[Claim, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    unknowns: tuple[str, ...] = ()
    error: StepError | LimitReached | None = None

    def __add__(self, other: "Leaf") -> "Leaf":
        return Leaf(
            self.claims + other.claims,
            self.rejected + other.rejected,
            self.unknowns + other.unknowns,
            self.error or other.error,
        )


@dataclass(frozen=True, slots=True)
class Asking:
    """What all readings of a step have in common."""

    question: str
    terms: list[TermStatistic]
    frame: Frame
    step: PlannedStep


Select = Callable[[Workspace, Frame, PlannedStep], Selection]
"""What a step lets readers read."""


def selected(workspace: Workspace, frame: Frame, step: PlannedStep) -> Selection:
    """The readings that the targets of a step come to."""
    return Targets(workspace, frame).selection(step.targets)


class LeafAnalysis:
    """The analyze action: fans a predictor out over the readings of a step.

    `together`: what a reading holds is meant for one call, by the model of the few large calls, and never halved.
    """

    def __init__(
        self,
        run: Run,
        predictor: dspy.Module,
        select: Select = selected,
        *,
        together: bool = False,
    ) -> None:
        self._run = run
        self._predictor = predictor
        self._select = select
        self._together = together

    async def __call__(self, frame: Frame, step: PlannedStep) -> Observation:
        run = self._run
        selection = self._select(run.workspace, frame, step)
        question = step.query or frame.task
        terms = run.workspace.ranker.term_statistics(question) if selection.ranked else []
        asking = Asking(question, terms, frame, step)

        async def work(index: int, reading: Reading) -> Leaf:
            return await self._read(asking, reading, f"{frame.id}/{step.id}/{index}")

        outcomes = await fan_out(
            selection.readings,
            work,
            in_flight=run.limits.in_flight,
            stop=lambda error: isinstance(error, LimitReached | RunCancelled | UserError),
            progress=lambda done, total: run.tell("analyze", done, total, step.description),
        )
        return self._observed(selection, outcomes)

    async def _read(self, asking: Asking, reading: Reading, key: str) -> Leaf:
        """Claims of one reading; halves it when it is too much for the reader."""
        try:
            return await self._call(asking, reading, key)
        except (ContextOverflow, TruncatedReply):
            halves = None if self._together else reading.halves()
            if halves is None:
                raise
            first = await self._half(asking, halves[0], f"{key}a")
            if isinstance(first.error, LimitReached):
                return first
            return first + await self._half(asking, halves[1], f"{key}b")

    async def _half(self, asking: Asking, reading: Reading, key: str) -> Leaf:
        """One half; when it cannot be read, the other one keeps its claims."""
        try:
            return await self._read(asking, reading, key)
        except (StepError, LimitReached) as error:
            return Leaf(error=error)

    async def _call(self, asking: Asking, reading: Reading, key: str) -> Leaf:
        run = self._run
        inputs = {
            "question": asking.question,
            "kind": run.kind,
            "patterns": list(run.patterns),
            "spans": shown(run.workspace.corpus, reading.spans),
            "term_statistics": asking.terms,
        }
        reply = await run.ask(
            self._predictor,
            inputs,
            key=f"{key}:{reading.key}",
            leaf=not self._together,
            frame_id=asking.frame.id,
            step_id=asking.step.id,
            span_ids=[span.id for span in reading.spans],
            check=check_leaf,
        )
        claims, rejected = Verifier(run.workspace.corpus, reading.spans).claims(
            reply.claims, reply.evidence, reply.fields_found, key
        )
        return Leaf(claims, rejected, tuple(each for each in reply.unknowns if each.strip()))

    def _observed(self, selection: Selection, outcomes: list[Outcome[Leaf]]) -> Observation:
        for outcome in outcomes:
            if isinstance(outcome.error, UserError | RunCancelled):
                raise outcome.error  # not of a partition, but of the run
        done: list[Leaf] = [each.value for each in outcomes if each.value is not None]
        failed = _failures(selection, outcomes)
        unread = {
            each
            for reading, outcome in zip(selection.readings, outcomes, strict=True)
            if _unread(outcome)
            for each in reading.partitions
        }
        unread.update(selection.left_out)
        broken = {each.partition_id for each in failed} | unread
        whole = tuple(dict.fromkeys((*partitions_in(selection.readings), *selection.left_out)))
        claims = merged(
            (claim for leaf in done for claim in leaf.claims), self._run.workspace.source_rank
        )
        payload = Analyzed(
            scope=selection.scope,
            claims=tuple(claim for claim in claims if claim.citations),
            rejected=tuple(each for leaf in done for each in leaf.rejected),
            done=tuple(each for each in whole if each not in broken),
            failed=failed,
            unread=tuple(each for each in whole if each in unread),
            unknowns=tuple(dict.fromkeys(each for leaf in done for each in leaf.unknowns)),
        )
        errors = (_error(each) for each in outcomes)
        stopped = next((each for each in errors if isinstance(each, LimitReached)), None)
        return _summarized(payload, len(whole), self._run.told_limit(stopped) if stopped else "")


def check_leaf(reply: dspy.Prediction) -> None:
    """Refuse a reply whose claims are not as many as it says: a cut list parses as a valid shorter one."""
    if reply.claim_count != len(reply.claims):
        raise ParseFailure(
            f"claim_count is {reply.claim_count}, but there are {len(reply.claims)} claims"
        )
    if len({each.claim_id for each in reply.claims}) < len(reply.claims):
        raise ParseFailure("two claims have the same claim_id: evidence cannot be told apart")


def _error(outcome: Outcome[Leaf]) -> BaseException | None:
    """Why a reading, or a part of it, failed."""
    return outcome.value.error if outcome.value is not None else outcome.error


def _unread(outcome: Outcome[Leaf]) -> bool:
    return outcome.state == "not_started" or isinstance(_error(outcome), LimitReached)


def _failures(selection: Selection, outcomes: list[Outcome[Leaf]]) -> tuple[PartitionFailure, ...]:
    found = {}
    for reading, outcome in zip(selection.readings, outcomes, strict=True):
        error = _error(outcome)
        if isinstance(error, StepError):
            for each in reading.partitions:
                found[each] = PartitionFailure(
                    partition_id=each, error_class=error.error_class, error=str(error)[:400]
                )
    return tuple(found.values())


def _summarized(payload: Analyzed, total: int, stopped: str) -> Observation:
    """The observation: a failure only when nothing at all could be read."""
    claims = counted(len(payload.claims), "claim")
    text = f"{claims} from {len(payload.done)} of {counted(total, 'partition')}"
    if payload.rejected:
        text += f"; {counted(len(payload.rejected), 'quote')} rejected"
    if payload.unread:
        text += f"; {len(payload.unread)} not read"
    if payload.failed:
        first = payload.failed[0]
        text += f"; {len(payload.failed)} failed ({first.error_class})"
        if not payload.done and not payload.claims and not stopped:
            return failure(first.error_class, first.error, payload)
    if stopped and not payload.done and not payload.claims:
        return failure("limit", stopped, payload)
    seen = success(text, payload)
    if stopped:
        return seen.model_copy(update={"error_class": "limit", "error": stopped})
    return seen
