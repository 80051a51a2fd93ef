"""Sweep: a search over the parameters of a program, every configuration a program of one evaluation.

The default is always among them. What they came to is in `evals/trials.py`.
"""

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.questions import QuestionSet
from evals.executor import Factory
from evals.log import EvalLog
from evals.manifest import Notes
from evals.progress import Listener
from evals.provenance import program_identity
from evals.run import Conduct, Corpora, Plan, evaluate

Value = str | int | float
"""The value of a parameter."""

Make = Callable[[Mapping[str, Value]], Factory]
"""Gives what makes a program with some parameters chosen, and its own defaults for the others."""

_SHUFFLED = 10_000
"""Configurations of a grid that are drawn from at most; of a larger one, so many at random."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A program with some of its parameters chosen; none are chosen in the default."""

    program: str
    choices: tuple[tuple[str, Value], ...] = ()

    @property
    def name(self) -> str:
        """Its name in the log: `recursive`, or `recursive[depth=1,leaf_characters=4000]`."""
        return f"{self.program}[{self.label}]" if self.choices else self.program

    @property
    def label(self) -> str:
        """What is chosen, in words."""
        return ",".join(f"{name}={value}" for name, value in self.choices) or "the default"


@dataclass(frozen=True, slots=True)
class Space:
    """What is searched: a program, and values by parameter. The first parameter varies slowest."""

    program: str
    vary: Mapping[str, Sequence[Value]]

    @property
    def size(self) -> int:
        """How many points the grid has."""
        return math.prod(map(len, self.vary.values()))

    def grid(self) -> Iterator[Configuration]:
        """All of them."""
        return map(self._at, range(self.size))

    def shuffled(self, seed: int) -> Iterator[Configuration]:
        """The grid in an order drawn by the seed, none twice."""
        chance = random.Random(seed)
        return map(self._at, chance.sample(range(self.size), min(self.size, _SHUFFLED)))

    def _at(self, number: int) -> Configuration:
        choices: list[tuple[str, Value]] = []
        for name, values in reversed(list(self.vary.items())):
            number, at = divmod(number, len(values))
            choices.append((name, values[at]))
        return Configuration(self.program, tuple(reversed(choices)))


def configurations(
    space: Space, make: Make, *, number: int | None = None, seed: int = 0
) -> tuple[Configuration, ...]:
    """The default, then the grid, or `number` of its points drawn by the seed.

    Each makes another program: what comes to the default, or to one that is there already, is left out.
    """
    default = Configuration(space.program)
    points = space.grid() if number is None else space.shuffled(seed)
    found = _distinct(itertools.chain([default], points), make)
    return tuple(found if number is None else itertools.islice(found, number + 1))


def _distinct(points: Iterator[Configuration], make: Make) -> Iterator[Configuration]:
    seen = set()
    for each in points:
        identity = program_identity(make(dict(each.choices))()).model_dump_json()
        if identity not in seen:
            seen.add(identity)
            yield each


async def sweep(
    chosen: Sequence[Configuration],
    make: Make,
    made: QuestionSet,
    corpora: Corpora,
    out: Path,
    *,
    plan: Plan | None = None,
    conduct: Conduct | None = None,
    notes: Notes | None = None,
    listener: Listener | None = None,
) -> EvalLog:
    """Evaluate configurations on a question set into the log folder `out`; samples that are there are kept.

    Seconds say most when samples do not share the machine: `Conduct(concurrency=1)`. Raises what `evaluate` raises.
    """
    return await evaluate(
        {each.name: make(dict(each.choices)) for each in chosen},
        made,
        corpora,
        out,
        plan=plan,
        conduct=conduct,
        notes=notes,
        listener=listener,
    )
