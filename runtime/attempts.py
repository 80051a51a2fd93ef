"""Attempts: what is asked of a model, and each try at it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import dspy

from runtime.call_log import CallRecord
from runtime.ledger import Reservation
from runtime.models.meter import Meter
from runtime.models.price import Price

Check = Callable[[dspy.Prediction], None]


@dataclass(frozen=True)
class Job:
    """A call that is to be made: the same for all its attempts."""

    predictor: Any
    signature: Any
    inputs: dict[str, Any]
    lm: dspy.BaseLM
    key: str
    frame_id: str
    step_id: str
    check: Check | None
    input_hash: str
    prompt_version: str
    span_ids: tuple[str, ...]
    settings: dict[str, Any]
    asked: dict[str, Any]
    price: Price | None
    own_signature: bool = False


@dataclass
class Attempt:
    """One try at a job. `feedback` says what was wrong with the reply before."""

    number: int
    feedback: str
    meter: Meter
    reservation: Reservation
    record: CallRecord
    begun: float = field(default_factory=time.monotonic)
