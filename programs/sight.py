"""Sight: what tools put before a model that drives, stretch by stretch, over a whole run.

What readers were given on its behalf is no part of it: that is in the results of their readings. Nor is what went into
code in a sandbox taken for something that the model has looked at.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from data.stretches import Stretches
from runtime.events import Accessed
from runtime.frames import RunState

_READERS = "subcall"


@dataclass(frozen=True, slots=True)
class Sight:
    """What was shown, as a set of characters in which places can be looked up."""

    stretches: Stretches

    @classmethod
    def of(cls, state: RunState) -> "Sight":
        """Everything that the tools of a run have shown so far, to whomever."""
        return cls.over(state.accessed)

    @classmethod
    def returned(cls, state: RunState) -> "Sight":
        """What tools returned to the models that drive, or to their code."""
        return cls.over(each for each in state.accessed if each.tool != _READERS)

    @classmethod
    def looked_at(cls, state: RunState) -> "Sight":
        """What the models that drive have looked at themselves."""
        return cls.over(each for each in _before_models(state) if each.tool != _READERS)

    @classmethod
    def of_models(cls, state: RunState) -> "Sight":
        """What tools certainly put before a model, one that drives or a reader: what code prints is not known."""
        return cls.over(_before_models(state))

    @classmethod
    def over(cls, events: Iterable[Accessed]) -> "Sight":
        """What some accesses have shown."""
        places = (place for each in events for place in each.shown)
        return cls(Stretches.of((place.source, place.start, place.end) for place in places))

    def touches(self, source: str, start: int, end: int) -> bool:
        """Whether something of a stretch was shown."""
        own = self.stretches.by_source.get(source, ())
        at = bisect_right(own, end - 1, key=lambda each: each[0]) - 1
        return at >= 0 and own[at][1] > start

    def holds(self, source: str, start: int, end: int) -> bool:
        """Whether all of a stretch was shown."""
        own = self.stretches.by_source.get(source, ())
        at = bisect_right(own, start, key=lambda each: each[0]) - 1
        return at >= 0 and own[at][1] >= end

    def gaps(self, source: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The parts of a stretch that were not shown, in order."""
        own = self.stretches.by_source.get(source, ())
        at = max(0, bisect_right(own, start, key=lambda each: each[0]) - 1)
        while at < len(own) and own[at][0] < end:
            if start < own[at][0]:
                yield start, own[at][0]
            start = max(start, own[at][1])
            at += 1
        if start < end:
            yield start, end


def _before_models(state: RunState) -> Iterator[Accessed]:
    """The accesses of which a model saw what they showed: all but those whose result went into code."""
    coding = {
        frame.id
        for frame in state.frames.values()
        if any(step.planned.action == "code" for step in frame.steps)
    }
    return (each for each in state.accessed if each.tool == _READERS or each.frame_id not in coding)
