"""The record of a call, and the log that keeps it: the seam between calls and the journal."""

from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from runtime.ledger import Usage


class CallRecord(BaseModel):
    """One attempt, as it is logged: first as an intent, then done or failed.

    `key` is the key of the call followed by `#` and the attempt, from 1. `outputs` is the JSON of the output
    fields, `reply` the raw text, `started` seconds since the epoch. `prompt_version` is a hash over instructions and
    demos; `span_ids` names the evidence that was shown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    signature: str
    status: Literal["intent", "done", "failed"] = "intent"
    attempt: int
    model: str
    usage: Usage = Usage()
    finish_reason: str = ""
    outputs: dict[str, Any] = {}
    error_class: str = ""
    error: str = ""
    reply: str = ""
    input_hash: str
    prompt_version: str = ""
    span_ids: tuple[str, ...] = ()
    started: float
    seconds: float = 0.0
    frame_id: str = ""
    step_id: str = ""


class CallLog(Protocol):
    """Where calls are recorded. `completed` takes the key of the call, without an attempt."""

    def completed(self, key: str) -> CallRecord | None: ...

    def intent(self, record: CallRecord) -> None: ...

    def settled(self, record: CallRecord) -> None: ...


class MemoryCallLog:
    """A log that lives as long as the object. `records` holds the last state of every attempt."""

    def __init__(self) -> None:
        self.records: dict[str, CallRecord] = {}

    def completed(self, key: str) -> CallRecord | None:
        attempts = (
            record for name, record in self.records.items() if name.rpartition("#")[0] == key
        )
        return next((record for record in attempts if record.status == "done"), None)

    def intent(self, record: CallRecord) -> None:
        self.records[record.key] = record

    def settled(self, record: CallRecord) -> None:
        self.records[record.key] = record
