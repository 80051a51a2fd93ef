"""What the tests of the journal share: the record of a run, calls, events, and a journal with one run."""

from pathlib import Path

from runtime.calls import CallRecord
from runtime.events import Finished, Warned
from runtime.journal import Journal, RunRecord
from runtime.ledger import Usage

LONG = "a long reply " * 100


def record(run_id: str = "run-1", question: str = "why?") -> RunRecord:
    return RunRecord(
        run_id=run_id,
        created="2026-03-02T08:00:00+00:00",
        program="recursive",
        program_version=1,
        question=question,
        corpus_version="0123456789abcdef",
        corpus_paths=("logs",),
        store="store",
        config={"model": "scripted", "limits": {"calls": 3}},
    )


def call(key: str = "k", attempt: int = 1, **changes: object) -> CallRecord:
    plain = {
        "key": f"{key}#{attempt}",
        "signature": "Plan",
        "attempt": attempt,
        "model": "scripted",
        "input_hash": "0",
        "started": 1.5,
    }
    return CallRecord.model_validate({**plain, **changes})


def done(intent: CallRecord, **changes: object) -> CallRecord:
    usage = Usage(calls=1, input_tokens=10, output_tokens=2, cost_usd=0.25)
    return intent.model_copy(update={"status": "done", "usage": usage, **changes})


def warned(message: str) -> Warned:
    return Warned(frame_id="f", code="test", message=message)


def finished(outcome: str = "answered") -> Finished:
    return Finished(outcome=outcome, answer={"answer": "because", "value": [1, None, 2.5]})


def started(path: Path | None) -> Journal:
    journal = Journal.open(path)
    journal.admit(record())
    return journal
