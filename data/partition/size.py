"""SizePartitioner: no structure but length. What every other partitioner falls back to."""

from dataclasses import dataclass
from typing import ClassVar

from data.partition.partitioner import Segment
from data.source import Source


@dataclass(frozen=True, slots=True)
class SizePartitioner:
    """One segment without a name; it is cut to size like any other."""

    name: ClassVar[str] = "size"

    max_chars: int

    def cut(self, text: str, source: Source) -> list[Segment]:
        """The whole text."""
        return [Segment(0, len(text), "")] if text else []
