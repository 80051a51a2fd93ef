"""Run: one execution of a program, with everything that must not be kept in a module.

A run holds the workspace, the ledger, the journal with its lease and the state folded from what was committed.
Programs change the state only through `commit`, so that memory and disk never differ.
"""

from collections.abc import Sequence
from typing import Any

import dspy

from programs.evidence import neutralized
from programs.progress import Listener, Progress
from programs.workspace import Workspace
from runtime.calls import Caller, CallRecord
from runtime.errors import LimitReached
from runtime.events import Event, Warned
from runtime.frames import RunState, apply
from runtime.journal import Journal, Lease, RunRecord, RunStatus
from runtime.ledger import Ledger
from runtime.limits import Limits


class Run:
    """One execution: created fresh by each call of a program, or from the journal to resume."""

    def __init__(
        self,
        record: RunRecord,
        workspace: Workspace,
        journal: Journal,
        lease: Lease,
        ledger: Ledger,
        caller: Caller,
        closing_caller: Caller,
        limits: Limits,
        state: RunState,
        listener: Listener | None = None,
    ) -> None:
        self.record = record
        self.workspace = workspace
        self.ledger = ledger
        self.caller = caller
        self.closing_caller = closing_caller
        self.limits = limits
        self.state = state
        self._journal = journal
        self._lease = lease
        self._listener = listener

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.record.run_id

    @property
    def question(self) -> str:
        """The question that the run answers."""
        return self.record.question

    @property
    def kind(self) -> str:
        """The kind of the question, once it is classified."""
        return self.state.classified.question_kind if self.state.classified else "lookup"

    @property
    def patterns(self) -> tuple[str, ...]:
        """The strings that the question asks for, once it is classified."""
        return self.state.classified.patterns if self.state.classified else ()

    async def ask(
        self,
        predictor: dspy.Module,
        inputs: dict[str, Any],
        *,
        key: str,
        closing: bool = False,
        **settings: Any,
    ) -> dspy.Prediction:
        """One metered call. Whatever its inputs quote from the corpus or from a model, none of it is a field marker.

        `closing` calls may use what is kept back for the conclusion. Raises what Caller.call raises.
        """
        caller = self.closing_caller if closing else self.caller
        data = {name: neutralized(value) for name, value in inputs.items()}
        return await caller.call(predictor, data, key=key, **settings)

    def calls(self) -> list[CallRecord]:
        """All calls of the run so far, those of earlier executions included, in the order in which they started."""
        return self._journal.calls(self.id)

    def renew(self) -> None:
        """Keep the lease during a long wait."""
        self._lease.renew()

    @property
    def lease_seconds(self) -> float:
        """How long the lease lasts without renewal."""
        return self._lease.ttl

    def commit(self, *events: Event, status: RunStatus | None = None) -> None:
        """Write events in one transaction, then bring the state up to them."""
        self._journal.commit(self._lease, events, status=status, elapsed=self.ledger.elapsed)
        for event in events:
            self.state = apply(self.state, event)

    def warn(self, frame_id: str, warnings: Sequence[tuple[str, str]]) -> list[Event]:
        """Warnings as events, to be committed with what they are about."""
        return [Warned(frame_id=frame_id, code=code, message=message) for code, message in warnings]

    def told_limit(self, error: LimitReached) -> str:
        """A limit in the user's terms: the cap that was set, not the part of it that one floor may use."""
        cap = getattr(self.limits, error.limit, None)
        if cap is None or cap == error.cap:
            return str(error)
        return f"limit reached: {error.limit} ({cap:g}, a part of it kept for the conclusion)"

    def tell(self, phase: str, done: int, total: int, message: str = "") -> None:
        """Report progress to the listener, if there is one."""
        if self._listener is None:
            return
        spent = self.ledger.spent
        self._listener(
            Progress(
                run_id=self.id,
                phase=phase,
                done=done,
                total=total,
                calls=spent.calls,
                tokens=spent.input_tokens + spent.output_tokens,
                depth=len(self.state.stack),
                message=message,
            )
        )
