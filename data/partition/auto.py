"""AutoPartitioner: chooses by kind of file and by what the text looks like."""

from dataclasses import dataclass
from typing import ClassVar

from data.partition.heading import HeadingPartitioner, headings
from data.partition.lines import line_starts
from data.partition.partitioner import Partitioner, Segment
from data.partition.size import SizePartitioner
from data.partition.symbol import SymbolPartitioner
from data.partition.turn import TurnPartitioner, looks_like_transcript
from data.partition.window import TimePartitioner, reader_of
from data.source import Source

_PYTHON = (".py", ".pyi")
_MARKDOWN = (".md", ".markdown", ".mdx")
_PROSE = ("text/plain", "text/x-rst", "text/asciidoc", "text/org", "text/x-tex")


@dataclass(frozen=True, slots=True)
class AutoPartitioner:
    """Python code by symbol, Markdown by heading, logs by time, transcripts by turn, the rest by size."""

    name: ClassVar[str] = "auto"

    max_chars: int

    def cut(self, text: str, source: Source) -> list[Segment]:
        """What the partitioner chosen for the text cuts."""
        return self.choose(text, source).cut(text, source)

    def choose(self, text: str, source: Source) -> Partitioner:
        """The partitioner that fits the text; by size if none does."""
        if source.id.lower().endswith(_PYTHON) or "python" in source.media_type:
            return SymbolPartitioner(self.max_chars)
        markdown = source.id.lower().endswith(_MARKDOWN) or "markdown" in source.media_type
        if markdown and headings(text):
            return HeadingPartitioner(self.max_chars)
        if reader_of(text, line_starts(text)):
            return TimePartitioner(self.max_chars)
        if markdown or source.media_type in _PROSE:
            return self._for_prose(text)
        return SizePartitioner(self.max_chars)

    def _for_prose(self, text: str) -> Partitioner:
        if looks_like_transcript(text):
            return TurnPartitioner(self.max_chars)
        if len(headings(text)) > 1:
            return HeadingPartitioner(self.max_chars)
        return SizePartitioner(self.max_chars)
