"""The verb `corpus`: what the sources of some paths are, and how well they could be read."""

import sys
from typing import TYPE_CHECKING, Any

from rich.text import Text

from spantree.cli import options
from spantree.cli.output import page_width, print_json, print_page, standard_output
from spantree.cli.page import Page
from spantree.cli.progress import watcher
from spantree.cli.reading import read_corpus
from spantree.cli.settings import known_partitioner
from spantree.cli.store import store_folder
from spantree.cli.tables import Column, print_table
from spantree.cli.terminal import count

if TYPE_CHECKING:
    from data.corpus import Corpus
    from data.partition import Partitioning
    from data.source import Source


def corpus(
    paths: options.Paths,
    partition: options.Partitioner = "auto",
    partitions: options.PartitionList = False,
    store: options.Store = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the sources of a corpus, and what could not be read.

    \b
    Examples:
      spantree corpus logs/
      spantree corpus minutes/ --partition heading --partitions
    """
    known_partitioner(partition)
    folder = store_folder(store)
    with watcher(sys.stderr, quiet=quiet) as watching:
        opened = read_corpus(paths, folder, watching.parsed)
        cut = opened.partitions(partition)
    if json:
        print_json(corpus_json(opened, cut, partitions=partitions))
        return
    console = standard_output()
    width = page_width(console)
    print_table(
        _SOURCE_COLUMNS, [_source_row(each, cut) for each in opened.sources], console, width
    )
    if partitions:
        console.print()
        print_table(_PARTITION_COLUMNS, _partition_rows(cut), console, width)
    print_page(_notes(opened, cut, width), console)


_SOURCE_COLUMNS = (
    Column("source", share=1, path=True),
    Column("type"),
    Column("encoding"),
    Column("lines", right=True),
    Column("characters", right=True),
    Column("parts", right=True),
    Column("status"),
)

_PARTITION_COLUMNS = (
    Column("partition"),
    Column("source", share=2, path=True),
    Column("lines"),
    Column("spans", right=True),
    Column("what", share=3),
)


def _source_row(source: "Source", cut: "Partitioning") -> tuple[str, ...]:
    return (
        source.id,
        source.media_type.removeprefix("text/").removeprefix("application/"),
        source.encoding or "-",
        f"{source.lines:,}",
        f"{source.characters:,}",
        f"{len(cut.by_source(source.id)):,}",
        source.parse_status,
    )


def _partition_rows(cut: "Partitioning") -> list[tuple[str, ...]]:
    return [
        (
            each.id,
            each.source,
            f"{each.first_line}-{each.last_line}",
            f"{len(each.span_ids):,}",
            each.label,
        )
        for each in cut.partitions
    ]


def _notes(opened: "Corpus", cut: "Partitioning", width: int) -> Page:
    """Why sources were not read, or not well; then the totals."""
    page = Page(width)
    reasons = [each for each in opened.sources if each.reason]
    if reasons:
        page.lines.append(Text())
        page.lines.append(Text("Notes", style="bold"))
        for each in reasons:
            page.item(f"{each.id}: {each.parse_status}: {each.reason}")
    page.lines.append(Text())
    for line in _totals(opened, cut):
        page.item(line, lead="", indent="")
    return page


def _totals(opened: "Corpus", cut: "Partitioning") -> list[str]:
    sources = opened.sources
    unread = sum(not each.readable for each in sources)
    return [
        f"{count(len(sources), 'source')}, {count(sum(each.lines for each in sources), 'line')}, "
        f"{count(sum(each.characters for each in sources), 'character')}"
        + (f"; {unread:,} not readable" if unread else ""),
        f"{count(len(cut.partitions), 'partition')} ({cut.name}), {count(cut.span_count, 'span')}",
        f"version {opened.version}",
    ]


def corpus_json(opened: "Corpus", cut: "Partitioning", *, partitions: bool) -> dict[str, Any]:
    """The JSON of `spantree corpus --json`."""
    value: dict[str, Any] = {
        "version": opened.version,
        "sources": [
            {**each.model_dump(mode="json"), "partitions": len(cut.by_source(each.id))}
            for each in opened.sources
        ],
        "partitioner": cut.name,
        "partition_count": len(cut.partitions),
        "span_count": cut.span_count,
    }
    if partitions:
        value["partitions"] = [
            {
                "id": each.id,
                "source": each.source,
                "label": each.label,
                "start": each.start,
                "end": each.end,
                "line_start": each.first_line,
                "line_end": each.last_line,
                "time_start": each.time_start,
                "time_end": each.time_end,
                "spans": len(each.span_ids),
            }
            for each in cut.partitions
        ]
    return value
