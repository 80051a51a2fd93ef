"""Inputs of a computation: the searches and the claims that earlier steps of a frame came to."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from data.timestamp import parse_time, render
from programs.merge import merged
from programs.readings import Targets
from programs.routing import has_result
from programs.search import LineSearch
from programs.verify import cite
from programs.workspace import Workspace
from runtime.claims import Citation, Claim
from runtime.errors import MissingInput
from runtime.frames import Frame, Step
from runtime.observations import (
    Analyzed,
    ComputedResult,
    HitRef,
    Payload,
    Ranked,
    Returned,
    Scanned,
)
from signatures import PlannedStep


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a computation works on: searches, each once, and claims merged in the order of the text."""

    payloads: tuple[Payload, ...]
    searches: tuple[tuple[Scanned, LineSearch], ...]
    claims: tuple[Claim, ...]
    ranked: bool
    prefix: str
    workspace: Workspace

    @classmethod
    def of(cls, workspace: Workspace, frame: Frame, step: PlannedStep) -> "Inputs":
        """The results that a step names, else those of all steps. Raises MissingInput when there are none."""
        named = step.targets or step.depends_on
        steps = Targets(workspace, frame).steps(named or [each.id for each in frame.steps])
        results = [(each, each.observation.payload) for each in steps if each.observation]
        if not results:
            raise MissingInput(
                f"step {step.id} has no finished step to compute from: its targets must be ids of earlier steps"
            )
        payloads = tuple(payload for _, payload in results if payload is not None)
        searches = {
            payload: LineSearch.of(workspace, frame, each.planned)
            for each, payload in results
            if isinstance(payload, Scanned)
        }
        return cls(
            payloads=payloads,
            searches=tuple(searches.items()),
            claims=merged(claims_of(payloads), workspace.source_rank),
            ranked=any(is_ranked(frame, each) for each in steps),
            prefix=f"{frame.id}/{step.id}",
            workspace=workspace,
        )

    @property
    def scans(self) -> tuple[Scanned, ...]:
        """The searches, as far as they were kept."""
        return tuple(found for found, _ in self.searches)

    def hits(self) -> tuple[HitRef, ...]:
        """The matching lines that were kept, each once, in order."""
        return self._in_order(hit for found in self.scans for hit in found.hits)

    def every_hit(self) -> tuple[HitRef, ...]:
        """All matching lines, each once, in order."""
        return self._in_order(
            hit for found, search in self.searches for hit in search.every_hit(found)
        )

    def _in_order(self, hits: Iterable[HitRef]) -> tuple[HitRef, ...]:
        rank = self.workspace.source_rank
        unique = {(rank[hit.source], hit.start): hit for hit in hits}
        return tuple(unique[place] for place in sorted(unique))

    def citation(self, hit: HitRef) -> Citation:
        """The citation of a matching line."""
        span = self.workspace.partitioning.span_at(hit.source, hit.start)
        return cite(self.workspace.corpus, span, hit.start, min(hit.end, span.end), "verbatim")

    def citations(self, most: int) -> tuple[Citation, ...]:
        """The citations of the first matching lines; a blank line has nothing to quote."""
        hits = (hit for hit in self.hits() if hit.start < hit.end)
        return tuple(self.citation(hit) for hit, _ in zip(hits, range(most), strict=False))

    def line_claim(self, hit: HitRef) -> Claim:
        """A claim that quotes one line."""
        citation = self.citation(hit)
        time = parse_time(citation.quote)
        return Claim(
            id=f"{self.prefix}.{self.workspace.source_rank[hit.source]}:{hit.line}",
            text=" ".join(citation.quote.split()),
            status="direct",
            time=render(time) if time else "",
            citations=(citation,),
        )


def claims_of(payloads: Iterable[Payload | None]) -> Iterator[Claim]:
    """The claims that some results carry, each once; the later one wins, since a computation enriches claims."""
    found: dict[str, Claim] = {}
    for payload in payloads:
        if isinstance(payload, Analyzed | Returned | ComputedResult):
            found.update((claim.id, claim) for claim in payload.claims)
    yield from found.values()


def is_ranked(frame: Frame, step: Step) -> bool:
    """Whether a step rests on a ranking, which is never exhaustive."""
    if step.observation is not None and isinstance(step.observation.payload, Ranked):
        return True
    above = frame.steps[: frame.steps.index(step)]
    return any(
        is_ranked(frame, each)
        for each in above
        if each.id in step.planned.targets and has_result(each)
    )
