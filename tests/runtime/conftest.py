"""A caller over a scripted engine, for the tests of calls; and where the tests of the journal have its file."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dspy
import pytest

from runtime.calls import Caller, MemoryCallLog
from runtime.ledger import Ledger, Usage
from runtime.limits import Limits
from runtime.models.scripted import ScriptedEngine


class QA(dspy.Signature):
    """Answer."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


@dataclass
class Bench:
    """The caller, and everything that a test looks at."""

    engine: ScriptedEngine
    limits: Limits = field(default_factory=Limits)
    lm: Any = None
    adapter: Any = None
    slept: list[float] = field(default_factory=list)
    log: MemoryCallLog = field(default_factory=MemoryCallLog)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.limits)
        self.predictor = dspy.Predict(QA)
        self.caller = self.another_caller()

    def another_caller(self, **settings: Any) -> Caller:
        defaults = {
            "limits": self.limits,
            "lm": self.lm or self.engine.lm(),
            "adapter": self.adapter,
            "sleep": self.sleep,
        }
        return Caller(self.ledger, self.log, **{**defaults, **settings})

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def acall(
        self, key: str = "k", question: str = "why?", **arguments: Any
    ) -> dspy.Prediction:
        return await self.caller.call(self.predictor, {"question": question}, key=key, **arguments)

    def call(self, key: str = "k", **arguments: Any) -> dspy.Prediction:
        return asyncio.run(self.acall(key, **arguments))

    def engine_usage(self) -> Usage:
        """What the engine itself has logged."""
        log = self.engine.log
        return Usage(
            calls=len(log),
            failed_calls=sum(call.state != "replied" for call in log),
            input_tokens=sum(call.input_tokens for call in log),
            output_tokens=sum(call.output_tokens for call in log),
        )

    def metered_usage(self) -> Usage:
        """What the ledger says about the same."""
        only_ours = {"retries": 0, "cost_usd": 0.0, "unknown_cost_calls": 0, "cached_calls": 0}
        return self.ledger.spent.model_copy(update=only_ours)


@pytest.fixture(scope="session")
def bench_of() -> type[Bench]:
    return Bench


@pytest.fixture(scope="session")
def answers() -> Callable[..., Bench]:
    """A bench whose engine gives these replies in order."""

    def make(*replies: Any) -> Bench:
        return Bench(ScriptedEngine(replies=replies))

    return make


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of a journal that is not there yet."""
    return tmp_path / "state" / "journal.db"
