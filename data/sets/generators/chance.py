"""Chance: seeded choices, the same on every machine and in every version of Python and NumPy."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from data.lines import Ints
from data.samples.logbook import Dice

T = TypeVar("T")

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class Chance(Dice):
    """Choices of one part of a set. Every part has a stream of its own, so that a change in one leaves the others."""

    def __init__(self, seed: int, *part: str | int) -> None:
        self._key = f"{seed}\0" + "\0".join(map(str, part))
        super().__init__(_seed(self._key))

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """All options in another order."""
        left = list(options)
        return [left.pop(self.below(len(left))) for _ in range(len(left))]

    def draw(self, options: Sequence[T], number: int) -> list[T]:
        """Some different options."""
        return self.shuffled(options)[:number]

    def many(self, name: str, number: int) -> "Draws":
        """A column of draws, of a stream with a name of its own."""
        return Draws(_seed(f"{self._key}\0{name}"), number)


class Draws:
    """Uniform 64-bit draws (splitmix64) as a column."""

    def __init__(self, seed: int, number: int) -> None:
        with np.errstate(over="ignore"):
            at = np.arange(1, number + 1, dtype=np.uint64) * _STEP + np.uint64(seed)
            at = (at ^ (at >> np.uint64(30))) * _MIX[0]
            at = (at ^ (at >> np.uint64(27))) * _MIX[1]
        self._bits = at ^ (at >> np.uint64(31))

    def below(self, limit: int) -> Ints:
        """Whole numbers from 0 to `limit` - 1."""
        return (self._bits % np.uint64(limit)).astype(np.int64)

    def weighted(self, weights: Sequence[float]) -> Ints:
        """Positions in `weights`, each as often as its weight says."""
        edges = np.cumsum(np.array(weights) / sum(weights))
        return np.minimum(np.searchsorted(edges, self._unit(), "right"), len(weights) - 1)

    def _unit(self) -> npt.NDArray[np.float64]:
        return (self._bits >> np.uint64(11)).astype(np.float64) / float(1 << 53)


def _seed(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big")
