"""Tools that search: every line that contains a pattern, how many there are, and the passages that rank best."""

from collections.abc import Iterator
from typing import Any

from data.pattern import Pattern
from data.span import Span
from programs.actions import rank, scan
from programs.compute import compute
from programs.observing import listed
from programs.readings import Targets
from programs.search import LineSearch
from programs.tools.arguments import Arguments, Count, Rank, Search
from programs.tools.notation import patterns_in
from programs.tools.output import LEAST, Item, Page, Room, View, clipped, size, words
from programs.tools.tool import Use, part_of
from runtime.events import Place, Taken, TakenAction
from runtime.observations import (
    ComputedResult,
    HitRef,
    Observation,
    Payload,
    Ranked,
    Scanned,
)

_SMALLEST_HIT = 60
"""Characters of JSON that a hit has at least: it bounds how many a page can hold."""
_PATTERN = 300
_QUERY = 200
_ECHOED = 10
"""The share of an output that an argument may take which is told again: a tenth."""
_LABELS = 4
"""The share of an output that the counts by source may take: a quarter."""


class SearchTool:
    """`search`: all lines that match, page by page."""

    form: type[Arguments] = Search
    action: TakenAction = "scan"

    def taken(self, use: Use) -> Taken:
        return _scan_step(use)

    def observed(self, use: Use) -> Observation:
        return scan(use.workspace, use.frame, use.step.planned)

    def view(self, use: Use, payload: Payload | None) -> View:
        found: Scanned = part_of(payload, Scanned)
        cursor = use.arguments.cursor
        by_source, counts_cut = _counts(found.by_source, "source", use.limit)
        head: dict[str, Any] = {
            "pattern": _pattern(use, found),
            "total": found.total,
            "by_source": by_source,
        }
        page = Room.of(use.limit, head).page(_hit_items(use, found))
        following = cursor + len(page.items)
        more = following < found.total and bool(page.items)
        cut = words(_rest(found.total, cursor, len(page.items)), counts_cut, _line_cut(page))
        output = {
            **head,
            "hits": [_without_note(each) for each in page.entries],
            "next_cursor": following if more else None,
            "cut": cut,
        }
        return View(output, _characters(use, found), page.places)


class CountTool:
    """`count`: how many lines match, by code. Its step is the search; the computation follows as a step of its own."""

    form: type[Arguments] = Count
    action: TakenAction = "scan"

    def taken(self, use: Use) -> Taken:
        return _scan_step(use)

    def observed(self, use: Use) -> Observation:
        return scan(use.workspace, use.frame, use.step.planned)

    def view(self, use: Use, payload: Payload | None) -> View:
        """The output of the search alone, as long as nothing is computed from it."""
        found: Scanned = part_of(payload, Scanned)
        step = use.frame.step(computing_id(use.step_id))
        computed = step.observation.payload if step and step.observation else None
        output: dict[str, Any] = {"pattern": _pattern(use, found), "total": found.total}
        by, cut, claim_id = [], "", ""
        if isinstance(computed, ComputedResult):
            claim_id = computed.claims[0].id if computed.claims else ""
            if isinstance(computed.value, list):
                pairs = ((each["label"], each["count"]) for each in computed.value)
                by, cut = _counts(tuple(pairs), "label", use.limit - 2 * _PATTERN, share=1)
        output |= {"by": by, "claim_id": claim_id, "cut": cut}
        return View(output, _characters(use, found))

    @staticmethod
    def following(use: Use, found: Scanned) -> Taken:
        """The step that computes from the search."""
        by = use.arguments.by if found.total else ""
        id = computing_id(use.step_id)
        step = use.taken(
            "compute",
            operation=f"count_by_{by}" if by else "count",
            targets=[use.step_id],
            depends_on=[use.step_id],
        )
        words = f"Count what {use.step_id} found{f' by {by}' if by else ''}"
        return step.model_copy(update={"id": id, "description": words})

    @staticmethod
    def computed(use: Use, step: Taken) -> Observation:
        """The count itself."""
        return compute(use.workspace, use.frame, step)


def computing_id(step_id: str) -> str:
    """The id of the step by which a count is computed from its search."""
    return f"{step_id}.count"


class RankTool:
    """`rank`: the passages that are most relevant to a query. Never exhaustive."""

    form: type[Arguments] = Rank
    action: TakenAction = "rank"

    def taken(self, use: Use) -> Taken:
        return use.taken("rank", query=use.arguments.query)

    def observed(self, use: Use) -> Observation:
        return rank(use.workspace, use.frame, use.step.planned, use.arguments.k)

    def view(self, use: Use, payload: Payload | None) -> View:
        found: Ranked = part_of(payload, Ranked)
        head: dict[str, Any] = {
            "query": clipped(found.query, min(_QUERY, max(use.limit, LEAST) // _ECHOED)),
            "passages": [],
            "exhaustive": False,
        }
        spans = [use.workspace.partitioning.span(each) for each in found.span_ids]
        page = Room.of(use.limit, head).page(_passage(use, span) for span in spans)
        rest = found.span_ids[len(page.items) :]
        left = f"{len(rest)} more do not fit, read_span shows them: {listed(rest, 12)}"
        cut = words(left if rest else "", _line_cut(page))
        output = {**head, "passages": page.entries, "cut": cut}
        ranked = Targets(use.workspace, use.frame).sources([])
        sources = [s.id for s in use.workspace.corpus.sources if s.readable]
        chosen = sources if ranked is None else ranked
        read = sum(use.workspace.corpus.source(each).characters for each in chosen)
        return View(output, read, page.places)


def _scan_step(use: Use) -> Taken:
    arguments = use.arguments
    patterns = patterns_in(
        arguments.pattern, ignore_case=arguments.ignore_case, asked=use.run.patterns
    )
    return use.taken("scan", patterns=patterns, targets=use.place(arguments.source))


def _pattern(use: Use, found: Scanned) -> str:
    """What was searched for, as the suite writes it; a long one is cut, the model knows it."""
    return clipped("\n".join(found.patterns), min(_PATTERN, max(use.limit, LEAST) // _ECHOED))


def _characters(use: Use, found: Scanned) -> int:
    """The characters of the sources that a search went through."""
    return sum(use.workspace.corpus.source(each).characters for each in found.sources)


def _counts(
    counts: tuple[tuple[str, int], ...], label: str, limit: int, share: int = _LABELS
) -> tuple[list[dict[str, Any]], str]:
    """Counts by label, as many as fit in their share of the output, and what was cut in words."""
    left, entries = max(limit, 400) // share, []
    for name, count in counts:
        entry = {label: name, "count": count}
        left -= size(entry) + 2
        if left < 0 and entries:
            text = f"counts of {len(entries)} of {len(counts)} are given: name a source for others"
            return entries, text
        entries.append(entry)
    return entries, ""


def _hit_items(use: Use, found: Scanned) -> Iterator[Item]:
    patterns = [Pattern.parse(each) for each in found.patterns]
    return (_hit(use, hit, patterns) for hit in _hits(use, found))


def _hits(use: Use, found: Scanned) -> tuple[HitRef, ...]:
    """The hits of a page and a few more: those that were kept, else those of another search."""
    cursor, most = use.arguments.cursor, use.limit // _SMALLEST_HIT + 1
    kept = len(found.hits)
    if kept == found.total or cursor + most <= kept:
        return found.hits[cursor : cursor + most]
    if cursor >= found.total:
        return ()
    search = LineSearch.of(use.workspace, use.frame, use.step.planned)
    return search.page(most, cursor).hits


def _hit(use: Use, hit: HitRef, patterns: list[Pattern]) -> Item:
    """A matching line; of one that is longer than a span, the span with the first match."""
    corpus, cut = use.workspace.corpus, use.workspace.partitioning
    span = cut.span_at(hit.source, hit.start)
    whole = hit.end <= span.end
    if not whole:
        line = corpus.slice(hit.source, hit.start, hit.end)
        at = max(each.first_in(line) for each in patterns)
        span = cut.span_at(hit.source, hit.start + at)
    start, end = max(hit.start, span.start), min(hit.end, span.end)
    entry = {
        "span_id": span.id,
        "source": hit.source,
        "line": hit.line,
        "text": corpus.slice(hit.source, start, end),
    }
    if not whole:
        entry[_NOTE] = True
    return Item(entry, "text", Place(source=hit.source, start=start, end=end))


_NOTE = "_long"


def _without_note(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != _NOTE}


def _line_cut(page: Page) -> str:
    long = sum(_NOTE in each for each in page.entries) or page.shortened
    return "long lines are shown in part: read_span shows them" if long else ""


def _rest(total: int, cursor: int, shown: int) -> str:
    if cursor and cursor >= total:
        return f"cursor {cursor} is beyond the {total} hits"
    rest = total - cursor - shown
    return f"{rest} more hits of {total}: go on with cursor={cursor + shown}" if rest else ""


def _passage(use: Use, span: Span) -> Item:
    text = use.workspace.corpus.slice(span.source, span.start, span.end)
    entry = {
        "span_id": span.id,
        "source": span.source,
        "first_line": span.first_line,
        "text": text,
    }
    return Item(entry, "text", Place(source=span.source, start=span.start, end=span.end))
