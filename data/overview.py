"""Overview: what a corpus consists of, as text for a planner. It shows names, sizes, times and first lines, no more.

One line a source, always the same for the same corpus:

    corpus: 2 sources, 5013 lines, 471300 characters, 42 partitions (by heading, time), 1 not readable
    source order.log | log | 5012 lines | 471200 chars | 41 partitions | 2026-03-02T08:00:01 .. 2026-03-02T11:59:58
      1: 2026-03-02 08:00:01,123 INFO [order] started
    not readable: img.png (skipped: binary)

Sources come in the order of the corpus; the last field is left out where the text has no times.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from data.corpus import Corpus
from data.partition import Partitioning
from data.source import Source

PREVIEW_CHARS = 160
_LISTED_UNREADABLE = 10
_UNREADABLE = ("failed", "skipped")


@dataclass(frozen=True, slots=True)
class Census:
    """The size of a corpus, or of some of its sources. `methods` are the partitioners that were used."""

    sources: int
    unreadable: int
    lines: int
    characters: int
    partitions: int
    spans: int
    methods: tuple[str, ...]


def corpus_census(
    corpus: Corpus, partitioning: Partitioning, *, sources: Collection[str] | None = None
) -> Census:
    """Counts over the sources; files that failed or were skipped count as unreadable, empty ones do not."""
    chosen = _chosen(corpus, sources)
    read = [source for source in chosen if source.parse_status not in _UNREADABLE]
    partitions = [part for source in read for part in partitioning.by_source(source.id)]
    methods = partitioning.methods
    return Census(
        sources=len(read),
        unreadable=len(chosen) - len(read),
        lines=sum(source.lines for source in read),
        characters=sum(source.characters for source in read),
        partitions=len(partitions),
        spans=sum(len(part.span_ids) for part in partitions),
        methods=tuple(sorted({methods[source.id] for source in read if source.id in methods})),
    )


def overview(
    corpus: Corpus,
    partitioning: Partitioning,
    *,
    max_chars: int = 4000,
    preview_lines: int = 2,
    sources: Collection[str] | None = None,
    list_partitions: int = 0,
) -> str:
    """The overview in at most about `max_chars` characters.

    When it would be longer, first the partitions go (of which `list_partitions` a source are shown), then the
    previews, then the last sources, which are counted.
    """
    chosen = _chosen(corpus, sources)
    read = [source for source in chosen if source.parse_status not in _UNREADABLE]
    head = _head(corpus_census(corpus, partitioning, sources=sources))
    tail = _unreadable([source for source in chosen if source.parse_status in _UNREADABLE])
    room = max_chars - len(head) - len(tail) - 2
    shapes = [(preview_lines, list_partitions)]
    shapes += [(previews, 0) for previews in range(preview_lines, -1, -1)]
    body: list[str] = []
    for previews, parts in shapes:
        body = [_entry(corpus, partitioning, source, previews, parts) for source in read]
        if sum(len(entry) + 1 for entry in body) <= room:
            break
    return "\n".join(filter(None, [head, *_cut(body, read, room), tail]))


def _chosen(corpus: Corpus, sources: Collection[str] | None) -> list[Source]:
    if sources is None:
        return list(corpus.sources)
    wanted = {corpus.source(source_id).id for source_id in sources}
    return [source for source in corpus.sources if source.id in wanted]


def _head(census: Census) -> str:
    by = f" (by {', '.join(census.methods)})" if census.methods else ""
    return (
        f"corpus: {census.sources} sources, {census.lines} lines, {census.characters} characters, "
        f"{census.partitions} partitions{by}, {census.unreadable} not readable"
    )


def _entry(
    corpus: Corpus, partitioning: Partitioning, source: Source, previews: int, parts: int
) -> str:
    """The line of a source, with its first lines that are not blank, and its first partitions."""
    found = partitioning.by_source(source.id)
    fields = [
        f"source {_one_line(source.id)}",
        source.parser,
        f"{source.lines} lines",
        f"{source.characters} chars",
        f"{len(found)} partitions",
    ]
    starts = [part.time_start for part in found if part.time_start]
    ends = [part.time_end for part in found if part.time_end]
    if starts and ends:
        fields.append(f"{_seconds(min(starts))} .. {_seconds(max(ends))}")
    lines = [" | ".join(fields), *_preview(corpus, source, previews)]
    for part in found[:parts]:
        span = f"{_seconds(part.time_start)} .. {_seconds(part.time_end)}"
        times = f" | {span}" if part.time_start else ""
        lines.append(f"  partition {part.id} | {part.label} | {part.end - part.start} chars{times}")
    return "\n".join(lines)


def _preview(corpus: Corpus, source: Source, count: int) -> list[str]:
    if not count or not source.characters:
        return []
    text = corpus.slice(source.id, 0, min(source.characters, 2000))
    numbered = enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1)
    shown = [(number, _one_line(line)) for number, line in numbered if line.strip()]
    return [f"  {number}: {line}" for number, line in shown[:count]]


def _one_line(text: str) -> str:
    """Without control characters, cut to PREVIEW_CHARS."""
    clean = "".join(ch if ch.isprintable() else " " for ch in text[: PREVIEW_CHARS + 1]).rstrip()
    return clean if len(clean) <= PREVIEW_CHARS else clean[: PREVIEW_CHARS - 1] + "…"


def _cut(body: Sequence[str], sources: Sequence[Source], room: int) -> list[str]:
    """The entries that fit, and a line that counts those left out."""
    if sum(len(entry) + 1 for entry in body) <= room:
        return list(body)
    kept, used = 0, 80
    while kept < len(body) and used + len(body[kept]) + 1 <= room:
        used += len(body[kept]) + 1
        kept += 1
    left = sources[kept:]
    lines, characters = sum(s.lines for s in left), sum(s.characters for s in left)
    return [*body[:kept], f"... {len(left)} more sources ({lines} lines, {characters} chars)"]


def _unreadable(sources: Sequence[Source]) -> str:
    if not sources:
        return ""
    listed = [
        f"{_one_line(source.id)} ({source.parse_status}: {_one_line(source.reason)})"
        for source in sources[:_LISTED_UNREADABLE]
    ]
    more = len(sources) - len(listed)
    return "not readable: " + ", ".join(listed) + (f", ... {more} more" if more else "")


def _seconds(time: str) -> str:
    """An ISO 8601 time without its fraction."""
    return time.partition(".")[0]
