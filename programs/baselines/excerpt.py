"""Excerpts: as much of a text as fits a window, from both of its ends, and what is left out between them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from data.span import Span
from programs.observing import listed
from programs.pieces import characters
from programs.readings import Reading, Selection, Targets
from programs.workspace import Workspace
from runtime.frames import Frame
from signatures import PlannedStep


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Spans in the order of the text: a head and a tail that are shown, and the middle that is not."""

    head: tuple[Span, ...]
    middle: tuple[Span, ...]
    tail: tuple[Span, ...]

    @classmethod
    def of(cls, spans: Sequence[Span], room: int) -> "Excerpt":
        """All spans if they have no more than `room` characters, else both ends with half of it each, or one span."""
        if characters(spans) <= room:
            return cls(tuple(spans), (), ())
        ahead = max(1, fitting(spans, room // 2))
        left = room - max(room // 2, characters(spans[:ahead]))
        behind = fitting(spans[ahead:][::-1], left)
        end = len(spans) - behind
        return cls(tuple(spans[:ahead]), tuple(spans[ahead:end]), tuple(spans[end:]))

    @property
    def shown(self) -> tuple[Span, ...]:
        """What a reader is shown."""
        return self.head + self.tail

    def selection(self, workspace: Workspace) -> Selection:
        """The excerpt as one reading. Partitions that are not shown whole are left out."""
        if not self.shown:
            return Selection((), "partitions")
        partitions = dict.fromkeys(workspace.partition_of(span) for span in self.shown)
        left_out = dict.fromkeys(workspace.partition_of(span) for span in self.middle)
        reading = Reading(self.shown, tuple(partitions))
        return Selection((reading,), "partitions", left_out=tuple(left_out))

    def told(self, held: str) -> str:
        """What is not shown, in words. `held` says what the model could take."""
        whole = characters(self.shown) + characters(self.middle)
        places = listed(_places(self.middle))
        return (
            f"the text has {whole} characters and {held}: "
            f"the middle ({characters(self.middle)} characters, {places}) was not shown"
        )


def fitting(spans: Sequence[Span], room: int) -> int:
    """How many of the first spans have no more than `room` characters."""
    for count, span in enumerate(spans):
        room -= span.end - span.start
        if room < 0:
            return count
    return len(spans)


def spans_of(workspace: Workspace, frame: Frame, step: PlannedStep) -> tuple[Span, ...]:
    """All spans of what a step names, in the order of the text."""
    places = Targets(workspace, frame).places(step.targets)
    return tuple(
        span
        for partition in workspace.partitions_of(places)
        for span in workspace.partitioning.spans(partition.id)
    )


def _places(spans: Iterable[Span]) -> Iterable[str]:
    for source, group in groupby(spans, key=lambda span: span.source):
        inside = list(group)
        yield f"lines {inside[0].first_line}-{inside[-1].last_line} of {source}"
