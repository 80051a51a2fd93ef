"""Generators: the families of questions that can be built, by name. Another one is added to FAMILIES."""

from collections.abc import Iterator
from typing import Protocol

from data.sets.drafts import Draft, Order
from data.sets.generators.adversarial import Adversarial
from data.sets.generators.aggregation import Aggregation
from data.sets.generators.conflicts import Conflicts
from data.sets.generators.leaves import Leaves
from data.sets.generators.mixed import Mixed
from data.sets.generators.needles import Needles
from data.sets.generators.pairwise import Pairwise
from data.sets.generators.samples import Samples
from data.sets.generators.unanswerable import Unanswerable

GENERATORS_VERSION = 1
"""Raised when the same order gives other questions: sets in the store are built anew."""


class Family(Protocol):
    """A family of questions: what it is called, what it makes, and the corpora that it drafts for an order."""

    @property
    def name(self) -> str:
        """The name at the command line."""
        ...

    @property
    def does(self) -> str:
        """One line for the list of sets."""
        ...

    @property
    def takes_files(self) -> bool:
        """Whether files of one's own can stand in for its text."""
        ...

    def drafts(self, order: Order) -> Iterator[Draft]:
        """The corpora with their questions, the same for the same order."""
        ...


FAMILIES: dict[str, Family] = {
    each.name: each
    for each in (
        Mixed(),
        Samples(),
        Needles(),
        Aggregation(),
        Leaves(),
        Pairwise(),
        Conflicts(),
        Unanswerable(),
        Adversarial(),
    )
}

__all__ = ["FAMILIES", "GENERATORS_VERSION", "Family"]
