"""The tool that reads: a span or a partition by its id, or lines of a source, page by page and exactly."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from data.span import Span
from programs.observing import counted, success
from programs.tools.arguments import Arguments, ReadSpan
from programs.tools.output import Item, Page, Room, View, words
from programs.tools.tool import Use, part_of
from runtime.errors import MissingInput, NotFound
from runtime.events import Place, Taken, TakenAction
from runtime.observations import Observation, Payload, ReadSpans


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is to be read: half-open code points of one source."""

    source: str
    start: int
    end: int


class ReadSpanTool:
    """`read_span`: exact text. A page ends with a line wherever one fits; `next_cursor` is an offset in the source."""

    form: type[Arguments] = ReadSpan
    action: TakenAction = "read"

    def taken(self, use: Use) -> Taken:
        arguments: ReadSpan = use.arguments
        lines = arguments.first_line or arguments.last_line
        if not (arguments.span_id or arguments.source) or (arguments.span_id and lines):
            raise MissingInput("give either a span_id, or a source with first_line and last_line")
        if arguments.span_id in use.workspace.partition_rank:
            return use.taken("read", targets=[arguments.span_id])
        return use.taken("read", targets=[] if arguments.span_id else use.place(arguments.source))

    def observed(self, use: Use) -> Observation:
        page, _ = _page(use, _stretch(use))
        ids = tuple(dict.fromkeys(each.entry["span_id"] for each in page.items))
        if not ids:
            raise NotFound("outside the part of this task: the lines asked for")
        return success(f"{counted(len(ids), 'span')} read", ReadSpans(span_ids=ids))

    def view(self, use: Use, payload: Payload | None) -> View:
        part_of(payload, ReadSpans)
        stretch = _stretch(use)
        page, following = _page(use, stretch)
        starts_line = following is not None and _starts_line(use, stretch.source, following)
        left = "" if following is None else _left(stretch, following)
        skipped = _skipped(stretch, page, following)
        output: dict[str, Any] = {
            "spans": page.entries,
            "next_line": use.workspace.corpus.line_of(stretch.source, following)
            if following is not None and starts_line
            else None,
            "next_cursor": following,
            "cut": words(left, skipped),
        }
        shown = sum(place.end - place.start for place in page.places)
        return View(output, shown, page.places)


def _stretch(use: Use) -> Stretch:
    """The stretch that a call means. Raises NotFound with what to do, or MissingInput."""
    arguments: ReadSpan = use.arguments
    stretch = _by_id(use, arguments.span_id) if arguments.span_id else _lines(use, arguments)
    if arguments.cursor and not stretch.start <= arguments.cursor < stretch.end:
        raise MissingInput(
            f"cursor {arguments.cursor} is outside of what is to be read: repeat the arguments of the page before"
        )
    return stretch


def _by_id(use: Use, id: str) -> Stretch:
    partitioning = use.workspace.partitioning
    try:
        known = id in use.workspace.partition_rank
        found = partitioning.partition(id) if known else partitioning.span(id)
    except NotFound as error:
        raise NotFound(
            f"there is no span or partition {id!r}: use ids that a tool returned, or a source with lines"
        ) from error
    return Stretch(found.source, found.start, found.end)


def _lines(use: Use, arguments: ReadSpan) -> Stretch:
    source = arguments.source
    if source in use.workspace.partition_rank:
        return _by_id(use, source)
    lines = use.workspace.corpus.source(source).lines
    first, last = arguments.first_line or 1, arguments.last_line or lines
    if first > last and arguments.last_line:
        raise MissingInput(f"first_line {first} is behind last_line {last}")
    if first > lines:
        raise NotFound(f"{source} has {lines} lines, there is no line {first}")
    passage = use.workspace.corpus.lines(source, first, min(last, lines))
    return Stretch(source, passage.start, passage.end)


def _page(use: Use, stretch: Stretch) -> tuple[Page, int | None]:
    """The spans that fit, and the offset at which the next page begins."""
    cursor = use.arguments.cursor or stretch.start
    head = {"spans": [], "next_line": stretch.end, "next_cursor": stretch.end}
    page = Room.of(use.limit, head).page(_pieces(use, stretch, cursor))
    if page.shortened:
        page = Page((_whole_lines(page.items[0]),), shortened=True)
    if not page.items:
        return page, None
    end = page.places[-1].end
    rest = next(_pieces(use, stretch, end), None)
    return page, rest.place.start if rest and rest.place else None


def _pieces(use: Use, stretch: Stretch, cursor: int) -> Iterator[Item]:
    """The spans from an offset on, cut to the stretch, as far as they are in the part of the frame."""
    inside, at = use.inside(), cursor
    while at < stretch.end:
        span = use.workspace.partitioning.span_at(stretch.source, at)
        if inside is None or use.workspace.partition_of(span) in inside:
            yield _piece(use, span, at, min(span.end, stretch.end))
        at = span.end


def _piece(use: Use, span: Span, start: int, end: int) -> Item:
    corpus = use.workspace.corpus
    entry = {
        "span_id": span.id,
        "source": span.source,
        "first_line": corpus.line_of(span.source, start),
        "text": corpus.slice(span.source, start, end),
    }
    return Item(entry, "text", Place(source=span.source, start=start, end=end))


def _whole_lines(item: Item) -> Item:
    """A shortened piece that ends with a line, if it holds a whole one."""
    text: str = item.entry["text"]
    length = text.rfind("\n") + 1 or len(text)
    place = item.place and item.place.model_copy(update={"end": item.place.start + length})
    return Item({**item.entry, "text": text[:length]}, "text", place)


def _starts_line(use: Use, source: str, offset: int) -> bool:
    line = use.workspace.corpus.line_of(source, offset)
    return int(use.workspace.corpus.line_starts(source)[line - 1]) == offset


def _left(stretch: Stretch, following: int) -> str:
    rest = stretch.end - following
    return (
        f"{counted(rest, 'character')} more: go on with the same arguments and cursor={following}"
    )


def _skipped(stretch: Stretch, page: Page, following: int | None) -> str:
    """Whether a stretch holds what the frame may not read."""
    first = page.places[0].start if page.places else stretch.start
    shown = sum(place.end - place.start for place in page.places)
    end = following if following is not None else stretch.end
    return "what is outside the part of this task is left out" if shown < end - first else ""
