"""Line search: the exhaustive search of one step, over the sources or the partitions that it means."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from data.scan import Hit
from programs.readings import Targets
from programs.workspace import Workspace
from runtime.frames import Frame
from runtime.observations import HitRef, Scanned
from signatures import PlannedStep

_ALL = 1 << 40


@dataclass(frozen=True, slots=True)
class LineSearch:
    """A search for all of some patterns in a line.

    `sources` is None for all. `parts` are the partitions to search, None where whole sources are searched.
    """

    workspace: Workspace
    patterns: tuple[str, ...]
    sources: frozenset[str] | None
    parts: frozenset[str] | None

    @classmethod
    def of(cls, workspace: Workspace, frame: Frame, step: PlannedStep) -> "LineSearch":
        """The search that a step of a frame asks for. Raises NotFound for a target that does not exist."""
        targets = Targets(workspace, frame)
        sources = targets.sources(step.targets)
        return cls(
            workspace,
            tuple(step.patterns),
            None if sources is None else frozenset(sources),
            targets.parts(step.targets),
        )

    def page(self, size: int, cursor: int = 0) -> Scanned:
        """`size` hits from `cursor` on and the complete counts; those by time only where whole sources are searched."""
        corpus, whole = self.workspace.corpus, self.parts is None
        most, start = (max(size, 1), cursor) if whole else (_ALL, 0)
        found = corpus.scan(self.patterns, sources=self.sources, page=most, cursor=start)
        hits = found.hits if whole else tuple(hit for hit in found.hits if self._holds(hit))
        first = cursor - start
        by_source = found.by_source if whole else Counter(hit.source for hit in hits)
        return Scanned(
            patterns=tuple(found.patterns),
            total=found.total if whole else len(hits),
            by_source=tuple(by_source.items()),
            by_time=tuple((each.label, each.count) for each in found.by_time) if whole else (),
            hits=_references(hits[first : first + size]),
            sources=tuple(found.sources_scanned),
        )

    def every_hit(self, found: Scanned) -> tuple[HitRef, ...]:
        """All hits of a search of which `found` is a page."""
        if found.total == len(found.hits):
            return found.hits
        return self.page(found.total).hits

    def _holds(self, hit: Hit) -> bool:
        span = self.workspace.partitioning.span_at(hit.source, hit.start)
        return self.parts is None or self.workspace.partition_of(span) in self.parts


def _references(hits: Sequence[Hit]) -> tuple[HitRef, ...]:
    return tuple(
        HitRef(source=hit.source, line=hit.line, start=hit.start, end=hit.end) for hit in hits
    )
