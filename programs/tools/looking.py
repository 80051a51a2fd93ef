"""Tools that look at what there is: the sources, the partitions of one, and the budget."""

from collections.abc import Iterator, Sequence
from typing import Any

from data.source import Source
from data.span import Partition
from programs.observing import counted, success
from programs.tools.arguments import Arguments, Budget, ListSources
from programs.tools.output import Item, Page, Room, View, clipped, words
from programs.tools.tool import Use, part_of
from runtime.errors import NotFound
from runtime.events import Taken, TakenAction
from runtime.observations import BudgetTold, Observation, Payload, SourcesListed

_LABEL = 120
_REASON = 200


class ListSourcesTool:
    """`list_sources`: the sources of the corpus with what cannot be read at the end, or the partitions of one."""

    form: type[Arguments] = ListSources
    action: TakenAction = "look"

    def taken(self, use: Use) -> Taken:
        return use.taken("look", targets=use.place(use.arguments.source))

    def observed(self, use: Use) -> Observation:
        listing = _listing(use)
        page, following = _page(use, listing)
        ids = tuple(listing.ids[use.arguments.cursor :][: len(page.items)])
        payload = SourcesListed(
            sources=() if use.arguments.source else ids,
            partitions=ids if use.arguments.source else (),
            next_cursor=following,
        )
        noun = "partition" if use.arguments.source else "source"
        return success(f"{counted(len(ids), noun)} listed", payload)

    def view(self, use: Use, payload: Payload | None) -> View:
        listed: SourcesListed = part_of(payload, SourcesListed)
        listing = _listing(use)
        page, _ = _page(use, listing)
        cut = words(_rest(use, listing, len(page.items)), _shortened(page))
        return View({**listing.output(page.entries), "next_cursor": listed.next_cursor, "cut": cut})


class _Sources:
    """The sources in the part of a frame; those without text come last."""

    def __init__(self, use: Use) -> None:
        inside = use.inside()
        cut = use.workspace.partitioning
        within = [
            (source, [p for p in cut.by_source(source.id) if inside is None or p.id in inside])
            for source in use.workspace.corpus.sources
        ]
        self._read = [(source, parts) for source, parts in within if source.readable and parts]
        self._unread = [s for s, _ in within if not s.readable and inside is None]
        self.ids = [s.id for s, _ in self._read] + [s.id for s in self._unread]
        self.head: dict[str, Any] = {"sources": [], "not_readable": [], "next_cursor": None}

    def items(self, cursor: int) -> Iterator[Item]:
        yield from (_source(*each) for each in self._read[cursor:])
        yield from (_unread(each) for each in self._unread[max(0, cursor - len(self._read)) :])

    def output(self, entries: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "sources": [each for each in entries if "why" not in each],
            "not_readable": [each for each in entries if "why" in each],
        }


class _Partitions:
    """The partitions of one source, or of the part of it that a frame has."""

    def __init__(self, use: Use) -> None:
        name, inside = use.arguments.source, use.inside()
        workspace = use.workspace
        if name in workspace.partition_rank:
            name = workspace.partitioning.partition(name).source
        found = workspace.partitioning.by_source(name)
        self._parts = [each for each in found if inside is None or each.id in inside]
        if not self._parts:
            raise NotFound(f"outside the part of this task: {name}")
        source = workspace.corpus.source(name)
        self.head = {
            "source": name,
            "lines": source.lines,
            "characters": source.characters,
            "partitions": [],
            "next_cursor": None,
        }
        self.ids = [each.id for each in self._parts]

    def items(self, cursor: int) -> Iterator[Item]:
        return (_partition(each) for each in self._parts[cursor:])

    def output(self, entries: list[dict[str, Any]]) -> dict[str, Any]:
        return {**self.head, "partitions": entries}


def _listing(use: Use) -> _Sources | _Partitions:
    return _Partitions(use) if use.arguments.source else _Sources(use)


def _page(use: Use, listing: _Sources | _Partitions) -> tuple[Page, int | None]:
    """One page, and where the next one begins."""
    cursor = use.arguments.cursor
    page = Room.of(use.limit, listing.head).page(listing.items(cursor))
    following = cursor + len(page.items)
    return page, following if following < len(listing.ids) else None


def _rest(use: Use, listing: _Sources | _Partitions, shown: int) -> str:
    total, cursor = len(listing.ids), use.arguments.cursor
    if cursor and cursor >= total:
        return f"cursor {cursor} is beyond the {total} there are"
    rest = total - cursor - shown
    return f"{rest} of {total} more: go on with cursor={cursor + shown}" if rest else ""


def _shortened(page: Page) -> str:
    return "an entry is cut" if page.shortened else ""


def _source(source: Source, parts: Sequence[Partition]) -> Item:
    starts = [each.time_start for each in parts if each.time_start]
    ends = [each.time_end for each in parts if each.time_end]
    return Item(
        {
            "source": source.id,
            "lines": source.lines,
            "characters": source.characters,
            "partitions": len(parts),
            "from": min(starts, default=""),
            "to": max(ends, default=""),
        }
    )


def _unread(source: Source) -> Item:
    why = clipped(f"{source.parse_status} {source.reason}".strip(), _REASON)
    return Item({"source": source.id, "why": why}, text="why")


def _partition(part: Partition) -> Item:
    return Item(
        {
            "id": part.id,
            "label": clipped(part.label, _LABEL),
            "first_line": part.first_line,
            "last_line": part.last_line,
            "characters": part.end - part.start,
        },
        text="label",
    )


class BudgetTool:
    """`budget`: what is left, as it was when it was asked for."""

    form: type[Arguments] = Budget
    action: TakenAction = "look"

    def taken(self, use: Use) -> Taken:
        return use.taken("look")

    def observed(self, use: Use) -> Observation:
        text = use.run.ledger.describe()
        return success(text, BudgetTold(text=text))

    def view(self, use: Use, payload: Payload | None) -> View:
        told: BudgetTold = part_of(payload, BudgetTold)
        return View({"left": told.text, "cut": ""})
