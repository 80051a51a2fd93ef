"""Pieces: a partition cut for readers who are shown less than it, and neighbors joined for those who are shown more."""

from collections.abc import Iterable, Sequence

from data.span import Span


def pieces(spans: Sequence[Span], most: int) -> tuple[tuple[Span, ...], ...]:
    """Spans in order, in groups of about equal length and of at most `most` characters; a longer span is one alone."""
    length = characters(spans)
    if length <= most:
        return (tuple(spans),)
    target = length / -(-length // most)
    groups: list[list[Span]] = []
    size = 0
    for span in spans:
        own = span.end - span.start
        if not groups or size >= target or size + own > most:
            groups.append([])
            size = 0
        groups[-1].append(span)
        size += own
    return tuple(tuple(group) for group in groups)


def joined(
    groups: Iterable[tuple[Span, ...]], most: int
) -> tuple[tuple[tuple[Span, ...], ...], ...]:
    """Neighboring groups of one source, as many together as have at most `most` characters."""
    found: list[list[tuple[Span, ...]]] = []
    size = 0
    for group in groups:
        own = characters(group)
        if not found or size + own > most or not _neighbors(found[-1][-1], group):
            found.append([])
            size = 0
        found[-1].append(group)
        size += own
    return tuple(tuple(each) for each in found)


def characters(spans: Iterable[Span]) -> int:
    """Characters of some spans."""
    return sum(span.end - span.start for span in spans)


def _neighbors(one: Sequence[Span], other: Sequence[Span]) -> bool:
    return one[-1].source == other[0].source and one[-1].end == other[0].start
