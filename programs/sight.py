"""Sight: what tools put before a model that drives, stretch by stretch, over a whole run.

What readers were given on its behalf is no part of it: that is in the results of their readings. Nor is what went into
code in a sandbox taken for something that the model has looked at.
"""

from bisect import bisect_right
from collections.abc import Iterable
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
        coding = {
            frame.id
            for frame in state.frames.values()
            if any(step.planned.action == "code" for step in frame.steps)
        }
        events = (each for each in state.accessed if each.tool != _READERS)
        return cls.over(each for each in events if each.frame_id not in coding)

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
