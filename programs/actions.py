"""Primitive actions over the corpus that need no model: scan, rank and read."""

from data.corpus import Corpus
from data.span import Span
from programs.observing import absent, counted, listed, success
from programs.readings import Targets
from programs.search import LineSearch
from programs.workspace import Workspace
from runtime.errors import MissingInput
from runtime.frames import Frame
from runtime.observations import Observation, Ranked, ReadSpans
from signatures import PlannedStep

HITS = 1_000
"""Hits kept of a search; the total is always exact."""
RANKED = 12
"""Spans that a ranking hands on."""


def scan(workspace: Workspace, frame: Frame, step: PlannedStep) -> Observation:
    """Find every line that contains all patterns, over the whole scope of the step."""
    if not step.patterns:
        raise MissingInput("a scan needs at least one pattern")
    found = LineSearch.of(workspace, frame, step).page(HITS)
    what = " and ".join(found.patterns)
    if not found.total:
        return absent(f"no line matches {what}", found)
    where = listed(f"{source} ({count})" for source, count in found.by_source if count)
    return success(f"{counted(found.total, 'line')} match {what}: {where}", found)


def rank(workspace: Workspace, frame: Frame, step: PlannedStep, most: int = RANKED) -> Observation:
    """Find the spans that are most relevant to the query, `most` of them. Never exhaustive."""
    query = step.query or frame.task
    targets = Targets(workspace, frame)
    parts = targets.parts(step.targets)
    asked = most if parts is None else workspace.partitioning.span_count
    found = workspace.ranker.rank(query, asked, sources=targets.sources(step.targets))
    if parts is not None:
        found = [hit for hit in found if workspace.partition_of(hit.span) in parts][:most]
    payload = Ranked(query=query, span_ids=tuple(hit.span.id for hit in found))
    if not found:
        return absent("no passage shares a word with the query", payload)
    where = listed(dict.fromkeys(hit.span.source for hit in found))
    return success(f"{counted(len(found), 'passage')} ranked, in {where}", payload)


def read(workspace: Workspace, frame: Frame, step: PlannedStep) -> Observation:
    """Fetch the spans that the targets name, each with its neighbors."""
    selection = Targets(workspace, frame).selection(step.targets)
    spans: dict[str, Span] = {}
    for reading in selection.readings:
        for span in reading.spans:
            spans.update((each.id, each) for each in _around(workspace, span))
    rank = workspace.source_rank
    ordered = sorted(spans.values(), key=lambda span: (rank[span.source], span.start))
    payload = ReadSpans(span_ids=tuple(span.id for span in ordered))
    return success(f"{counted(len(ordered), 'span')} fetched", payload)


def _around(workspace: Workspace, span: Span) -> list[Span]:
    """A span with the one before and the one after it."""
    partitioning, size = workspace.partitioning, _size(workspace.corpus, span.source)
    before = partitioning.span_at(span.source, span.start - 1) if span.start > 0 else None
    after = partitioning.span_at(span.source, span.end) if span.end < size else None
    return [each for each in (before, span, after) if each is not None]


def _size(corpus: Corpus, source: str) -> int:
    return corpus.source(source).characters
