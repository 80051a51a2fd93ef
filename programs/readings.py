"""Readings: what one leaf call is shown, a group of spans no longer than the leaf size (`leaf_characters`).

Targets of a step become readings: whole partitions, the spans around the hits of a search, or a ranked selection. A
partition longer than the leaf size is read in pieces, cut at the borders of spans; where the leaf size is larger than
usual, neighboring partitions are read together.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from data.span import Partition, Span
from programs.pieces import joined, pieces
from programs.routing import has_result
from programs.workspace import LEAF_CHARACTERS, Workspace
from runtime.claims import Claim
from runtime.errors import NotFound
from runtime.frames import Frame, Step
from runtime.observations import (
    Analyzed,
    ComputedResult,
    Ranked,
    ReadSpans,
    Returned,
    Scanned,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """Spans for one leaf call, and the partitions that they stand for."""

    spans: tuple[Span, ...]
    partitions: tuple[str, ...]

    @property
    def key(self) -> str:
        """A short hash over the spans: the identity of the reading."""
        joined = ",".join(span.id for span in self.spans)
        return hashlib.sha256(joined.encode()).hexdigest()[:12]

    def halves(self) -> "tuple[Reading, Reading] | None":
        """The reading cut in two at a span; None when it is a single span."""
        if len(self.spans) < 2:
            return None
        middle = len(self.spans) // 2
        return (
            Reading(self.spans[:middle], self.partitions),
            Reading(self.spans[middle:], self.partitions),
        )


@dataclass(frozen=True, slots=True)
class Selection:
    """What the targets of a step come to: whole partitions, or spans picked by earlier steps (`ranked`: by
    relevance). `left_out` are partitions that were meant and do not fit, or only in part."""

    readings: tuple[Reading, ...]
    scope: Literal["partitions", "selection"]
    ranked: bool = False
    left_out: tuple[str, ...] = ()


class Targets:
    """Resolves the targets of a step within one frame."""

    def __init__(self, workspace: Workspace, frame: Frame) -> None:
        self._workspace = workspace
        self._frame = frame

    def steps(self, names: Iterable[str]) -> tuple[Step, ...]:
        """The steps with a result among the targets, in the order in which they are named."""
        found = (self._frame.step(each) for each in dict.fromkeys(names))
        return tuple(each for each in found if each is not None and has_result(each))

    def places(self, names: Iterable[str]) -> tuple[str, ...]:
        """The sources and partitions among the targets, kept within the frame's own."""
        wanted = [each for each in names if self._frame.step(each) is None]
        allowed = self._frame.targets
        if not wanted:
            return allowed
        chosen = self._workspace.partitions_of(wanted)
        if not allowed:
            return tuple(wanted)
        inside = {each.id for each in self._workspace.partitions_of(allowed)}
        kept = tuple(each.id for each in chosen if each.id in inside)
        if not kept:
            raise NotFound(f"outside the part of this task: {', '.join(wanted)}")
        return kept

    def sources(self, names: Iterable[str]) -> set[str] | None:
        """The sources to search, or None for all."""
        places = self.places(names)
        return self._workspace.sources_of(places) if places else None

    def parts(self, names: Iterable[str]) -> frozenset[str] | None:
        """The partitions to keep to, or None where they make up whole sources."""
        places = self.places(names)
        if not places:
            return None
        chosen = self._workspace.partitions_of(places)
        sources = {each.source for each in chosen}
        whole = sum(len(self._workspace.partitioning.by_source(each)) for each in sources)
        return None if whole == len(chosen) else frozenset(each.id for each in chosen)

    def selection(self, names: Sequence[str]) -> Selection:
        """The readings that the targets come to: none when the steps found nothing to read."""
        named = [each for each in names if self._frame.step(each) is not None]
        if not named:
            return Selection(self._whole(names), "partitions")
        spans: dict[str, Span] = {}
        ranked = True
        for step in self.steps(named):
            found, is_ranked = self._spans(step)
            ranked = ranked and is_ranked
            spans.update((span.id, span) for span in found)
        beside = [each for each in names if each not in named]
        whole = self._whole(beside) if beside else ()
        chosen = self._picked(spans, whole)
        if not chosen:
            return Selection(whole, "selection")
        if not ranked:
            rank = self._workspace.source_rank
            chosen.sort(key=lambda span: (rank[span.source], span.start))
        return Selection((*self._packed(chosen, together=ranked), *whole), "selection", ranked)

    def loose(self, spans: Iterable[Span], names: Sequence[str] = ()) -> Selection:
        """The readings of single spans, judged together in the order given, and beside them named partitions."""
        whole = self._whole(names) if names else ()
        chosen = self._picked({span.id: span for span in spans}, whole)
        if not chosen:
            return Selection(whole, "partitions")
        return Selection((*self._packed(chosen, together=True), *whole), "selection", ranked=True)

    def _whole(self, names: Iterable[str]) -> tuple[Reading, ...]:
        """The readings of the partitions that some names mean."""
        return whole(self._workspace, self._workspace.partitions_of(self.places(names)))

    @staticmethod
    def _picked(spans: Mapping[str, Span], whole: Iterable[Reading]) -> list[Span]:
        """The spans that are not read with their whole partition."""
        read = {span.id for reading in whole for span in reading.spans}
        return [span for span in spans.values() if span.id not in read]

    def _spans(self, step: Step) -> tuple[list[Span], bool]:
        """The spans that a step's result names, and whether their order is one of relevance."""
        payload = step.observation.payload if step.observation else None
        partitioning = self._workspace.partitioning
        match payload:
            case Scanned(hits=hits):
                return [partitioning.span_at(hit.source, hit.start) for hit in hits], False
            case Ranked(span_ids=ids):
                return [partitioning.span(each) for each in ids], True
            case ReadSpans(span_ids=ids):
                return [partitioning.span(each) for each in ids], False
            case Analyzed(claims=claims) | Returned(claims=claims) | ComputedResult(claims=claims):
                return self._cited(claims), False
            case _:
                return [], False

    def _cited(self, claims: Iterable[Claim]) -> list[Span]:
        partitioning = self._workspace.partitioning
        return [partitioning.span(cite.span_id) for claim in claims for cite in claim.citations]

    def _packed(self, spans: Sequence[Span], *, together: bool) -> tuple[Reading, ...]:
        """Spans packed into readings within the leaf size; by source unless they are judged together."""
        most = self._workspace.leaf_characters
        readings: list[Reading] = []
        group: list[Span] = []
        size = 0
        for span in spans:
            length = span.end - span.start
            apart = bool(group) and not together and group[-1].source != span.source
            if group and (size + length > most or apart):
                readings.append(_reading(self._workspace, group))
                group, size = [], 0
            group.append(span)
            size += length
        return (*readings, _reading(self._workspace, group))

    def partition_targets(self, names: Sequence[str]) -> tuple[str, ...]:
        """The targets of a child frame: sources and partitions, with results of steps as their partitions."""
        named = [each for each in names if self._frame.step(each) is not None]
        if not named:
            return self.places(names)
        beside = [each for each in names if each not in named]
        whole = self._workspace.partitions_of(self.places(beside)) if beside else ()
        found = {each.id for each in whole} | {
            self._workspace.partition_of(span)
            for step in self.steps(named)
            for span in self._spans(step)[0]
        }
        if not found:
            raise NotFound("the steps that it is limited to found nothing")
        return tuple(sorted(found, key=self._workspace.partition_rank.__getitem__))


def whole(workspace: Workspace, partitions: Iterable[Partition]) -> tuple[Reading, ...]:
    """Partitions as they are read: each at once, or in pieces where it is longer than the leaf size."""
    most, spans = workspace.leaf_characters, workspace.partitioning.spans
    if most > LEAF_CHARACTERS:
        groups = joined((spans(each.id) for each in partitions), most)
        return tuple(
            _reading(workspace, [span for part in each for span in part]) for each in groups
        )
    return tuple(
        Reading(piece, (each.id,)) for each in partitions for piece in pieces(spans(each.id), most)
    )


def _reading(workspace: Workspace, spans: Sequence[Span]) -> Reading:
    partitions = dict.fromkeys(workspace.partition_of(span) for span in spans)
    return Reading(tuple(spans), tuple(partitions))


def partitions_in(readings: Collection[Reading]) -> tuple[str, ...]:
    """The partitions of some readings, each once, in order."""
    return tuple(dict.fromkeys(each for reading in readings for each in reading.partitions))
