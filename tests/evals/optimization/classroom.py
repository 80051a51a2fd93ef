"""A classroom: a small set of single readings, models whose engines count what they are asked, and an optimization."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import dspy
from dspy import lm15

from data.corpus import Corpus
from data.questions import QuestionSet, Split
from data.sets.drafts import Order
from data.sets.shipped import build_family
from data.sets.storage import open_set_corpus
from evals.objective import Objective
from evals.optimization import Listener, Optimized, Plan, optimize
from programs.base import Program
from programs.baselines import MapReduce
from runtime.models.make import make_lm
from runtime.models.request import PromptRequest
from runtime.models.scripted import AsyncSide

BALANCED = Objective.parse("balanced", None)
SHARES: Mapping[Split, float] = {"train": 40, "validation": 30, "test": 30}


class Counting:
    """An engine that counts and keeps what another one is asked. `before` is called with each request."""

    def __init__(self, engine: Any, before: Callable[[lm15.Request], None] | None = None) -> None:
        self._engine = engine
        self._before = before
        self._lock = threading.Lock()
        self.prompts: list[str] = []

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Count, and pass on."""
        with self._lock:
            self.prompts.append(PromptRequest.parse(request).prompt)
        if self._before is not None:
            self._before(request)
        return self._engine.complete(request)

    async def acomplete(self, request: lm15.Request) -> lm15.Response:
        """The same, within an event loop."""
        return self.complete(request)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @property
    def calls(self) -> int:
        """How often it was asked."""
        return len(self.prompts)


def counted(
    name: str, before: Callable[[lm15.Request], None] | None = None
) -> tuple[dspy.LM, Counting]:
    """A model by its name, whose engine counts."""
    lm = make_lm(name)
    engine = Counting(lm.engine, before)
    made = dspy.LM(
        lm.model, engine=engine, async_engine=AsyncSide(engine), num_retries=0, cache=False
    )
    return made, engine


@dataclass
class Classroom:
    """A set of single readings in `folder`, and optimizations on it."""

    folder: Path
    store: Path
    made: QuestionSet

    def __post_init__(self) -> None:
        self.corpora = cache(self._open)

    def _open(self, name: str) -> Corpus:
        return open_set_corpus(self.made, self.folder, name, store=self.store)

    def plan(self, optimizer: str, **settings: Any) -> Plan:
        """A small plan."""
        given: dict[str, Any] = {
            "objective": BALANCED,
            "train_limit": 6,
            "validation_limit": 4,
            "test_limit": 3,
            "budget": 40,
            "max_demos": 2,
        }
        if optimizer == "simba":
            given |= {"options": {"bsize": 3, "num_candidates": 2}}
        return Plan(optimizer, **(given | settings))  # type: ignore[arg-type]

    def optimize(
        self,
        plan: Plan,
        out: Path,
        *,
        program: Program | None = None,
        reflection: str | dspy.LM = "coach",
        listener: Listener | None = None,
        retry_errors: bool = False,
    ) -> Optimized:
        """An optimization of MapReduce with the pupil, unless another program is given."""
        lm = make_lm(reflection) if isinstance(reflection, str) else reflection
        return optimize(
            program or MapReduce(lm=make_lm("pupil")),
            self.made,
            self.corpora,
            out,
            plan,
            reflection_lm=lm,
            listener=listener,
            retry_errors=retry_errors,
        )


def classroom(folder: Path, questions: int = 40) -> Classroom:
    """A classroom in a folder."""
    store = folder / "store"
    made = build_family(
        "leaves", Order(questions=questions, store=store), folder / "set", shares=SHARES
    )
    return Classroom(folder / "set", store, made)


def told(found: Optimized) -> list[Any]:
    """Everything about an optimization that does not come from clocks and random ids."""
    return [
        found.stopped,
        found.spent,
        [(each.request, each.time, each.reply) for each in found.proposals],
        [
            (each.id, each.state, each.rollouts, each.score, dict(each.scores), each.tokens)
            for each in found.candidates
        ],
        found.best.id if found.best else None,
    ]
