"""Corpus: an ordered set of sources at one version, opened from a store, searched and cut exactly.

A corpus is immutable. It holds no text: its sources are mapped from the store and decoded slice by slice.
Copying or pickling one gives a handle to the same stored version.
"""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from threading import RLock

import numpy as np
import pyarrow as pa

from data.build import Builder, Progress
from data.catalog import Catalog
from data.changes import has_changed
from data.lines import Ints
from data.manifest import Entry, Manifest, load_manifest, save_manifest
from data.partition import Partitioning, build_partitioning, load_partitioning, save_partitioning
from data.pattern import Pattern, as_patterns
from data.scan import Columns, ScanResult, scan
from data.segment import SCHEMA, Location, SegmentReader, empty_rows
from data.source import Source
from data.store import Store
from data.text import Passage, SourceText
from data.walk import source_id as printable_id
from data.walk import walk
from runtime.errors import CorpusError, NotFound

_REASONS_SHOWN = 10


def open_corpus(
    paths: str | Path | Sequence[str | Path],
    *,
    store: Path | None = None,
    progress: Progress | None = None,
) -> "Corpus":
    """The corpus of some files and folders, as they are now; only what changed is parsed.

    `progress` is called with files done, files in all, and the source just done. Raises CorpusError when a path
    does not exist or nothing in them can be read.
    """
    place = Store.prepare(store)
    found = walk([paths] if isinstance(paths, str | Path) else paths, without=place.root)
    with place.writing(), Catalog.open(place.catalog) as catalog:
        entries = Builder(place, catalog).build(found.found, progress or _no_progress)
        return _kept(place, Manifest(tuple(str(root) for root in found.roots), entries))


def open_corpus_text(name: str, raw: bytes, *, store: Path | None = None) -> "Corpus":
    """The corpus of one text that has no file, such as standard input."""
    place = Store.prepare(store)
    with place.writing(), Catalog.open(place.catalog) as catalog:
        entry = Builder(place, catalog).build_text(printable_id(name), raw)
        return _kept(place, Manifest((), (entry,)))


def load_corpus(version: str, *, store: Path | None = None) -> "Corpus":
    """A stored version, whatever became of its files. Raises CorpusError when the store does not have it."""
    place = Store.prepare(store)
    return Corpus(place, load_manifest(place, version))


class Corpus:
    """One version of a corpus. Offsets are half-open code points; lines count from 1."""

    def __init__(self, store: Store, manifest: Manifest) -> None:
        self._store = store
        self._manifest = manifest
        self._entries = {entry.source.id: entry for entry in manifest.entries}
        self.version = manifest.version
        self.sources: tuple[Source, ...] = tuple(entry.source for entry in manifest.entries)
        self.roots = manifest.roots
        self.store = store.root
        self.folder = store.version(self.version)
        names = {entry.location.segment for entry in manifest.entries} - {""}
        self._segments = {name: _segment(store, name) for name in sorted(names)}
        self._texts: dict[str, SourceText] = {}
        self._columns: Columns | None = None
        self._partitionings: dict[tuple[str, int, int], Partitioning] = {}
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"<Corpus {self.version}: {len(self.sources)} sources>"

    def __copy__(self) -> "Corpus":
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> "Corpus":
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _reopened, (self.version, self.store)

    def source(self, source_id: str) -> Source:
        """One source. Raises NotFound."""
        return self._entry(source_id).source

    def slice(self, source_id: str, start: int, end: int) -> str:
        """The exact text from `start` to `end`. Raises NotFound for a range that is not within the source."""
        return self._text(source_id).slice(start, end)

    def text(self, source_id: str) -> str:
        """The whole text of a source."""
        text = self._text(source_id)
        return text.slice(0, text.characters)

    def read(self, source_id: str, start: int, end: int) -> Passage:
        """The exact text from `start` to `end`, with its line numbers."""
        return self._text(source_id).passage(start, end)

    def lines(self, source_id: str, first: int, last: int) -> Passage:
        """The lines `first` to `last`, both included, with their line ends. Raises NotFound if there are none."""
        text = self._text(source_id)
        return text.passage(*text.line_range(first, last))

    def line_of(self, source_id: str, offset: int) -> int:
        """The line that an offset lies on; the end of the text counts to the last line."""
        return self._text(source_id).line_of(offset)

    def line_starts(self, source_id: str) -> Ints:
        """The offset of the first code point of every line."""
        return self._text(source_id).starts

    def scan(
        self,
        patterns: Sequence[str | Pattern],
        *,
        sources: Collection[str] | None = None,
        cursor: int = 0,
        page: int = 1000,
        bucket: str = "auto",
    ) -> ScanResult:
        """Every line that contains all patterns: counts of all, and the hits `cursor` to `cursor + page`.

        `sources` limits the search to some sources; `bucket` is auto, minute, hour or day. Raises PatternError
        for a pattern that is not valid, NotFound for an unknown source.
        """
        checked = as_patterns(patterns)
        chosen = self._chosen(sources)
        unreadable = tuple(s.id for s in chosen if s.parse_status in ("failed", "skipped"))
        columns = self._all_columns() if sources is None else self._gather(chosen)
        return scan(
            columns, checked, unreadable=unreadable, cursor=cursor, page=page, bucket=bucket
        )

    def partitions(
        self, partitioner: str = "auto", *, max_chars: int = 12_000, span_chars: int = 1_200
    ) -> Partitioning:
        """The sources cut into spans, and these grouped; computed once and kept in the store."""
        key = (partitioner, max_chars, span_chars)
        with self._lock:
            if key not in self._partitionings:
                self._partitionings[key] = self._partitioning(*key)
            return self._partitionings[key]

    def changed(self) -> list[str]:
        """Ids of the sources whose files are no longer what this version holds."""
        return [entry.source.id for entry in self._manifest.entries if has_changed(entry)]

    def _partitioning(self, name: str, max_chars: int, span_chars: int) -> Partitioning:
        folder = self.folder / "partitions"
        stored = load_partitioning(self, folder, name, max_chars, span_chars)
        if stored is None:
            stored = build_partitioning(self, name, max_chars, span_chars)
            save_partitioning(stored, folder)
        return stored

    def _entry(self, source_id: str) -> Entry:
        if source_id not in self._entries:
            raise NotFound(f"the corpus has no source {source_id!r}")
        return self._entries[source_id]

    def _text(self, source_id: str) -> SourceText:
        if source_id not in self._texts:
            entry = self._entry(source_id)
            source = entry.source
            if source.parse_status in ("failed", "skipped"):
                raise NotFound(f"{source_id} has no text: {source.parse_status}, {source.reason}")
            rows = self._rows(entry.location)
            self._texts[source_id] = SourceText(source_id, rows, source.characters)
        return self._texts[source_id]

    def _rows(self, location: Location) -> pa.RecordBatch:
        if not location.segment:
            return empty_rows()
        batch = self._segments[location.segment].batch(location.batch)
        return batch.slice(location.row, location.rows)

    def _chosen(self, sources: Collection[str] | None) -> tuple[Source, ...]:
        if sources is None:
            return self.sources
        for source_id in sources:
            self._entry(source_id)
        wanted = frozenset(sources)
        return tuple(source for source in self.sources if source.id in wanted)

    def _all_columns(self) -> Columns:
        with self._lock:
            if self._columns is None:
                self._columns = self._gather(self.sources)
            return self._columns

    def _gather(self, sources: Sequence[Source]) -> Columns:
        """The lines of some sources as columns. Neighbours in a batch stay one chunk: few chunks scan faster."""
        readable = [s.id for s in sources if s.parse_status not in ("failed", "skipped")]
        texts = tuple(self._text(source_id) for source_id in readable)
        runs = _runs(self._entries[source_id].location for source_id in readable)
        table = pa.Table.from_batches([self._rows(run) for run in runs], schema=SCHEMA)
        ends = np.cumsum([text.lines for text in texts], dtype=np.int64)
        return Columns(texts, ends, table.column("text"), table.column("time"))


def _runs(locations: Iterator[Location]) -> list[Location]:
    """Locations, with those that follow each other in one batch joined."""
    runs: list[Location] = []
    for at in locations:
        last = runs[-1] if runs else None
        if last and (last.segment, last.batch, last.row + last.rows) == (
            at.segment,
            at.batch,
            at.row,
        ):
            runs[-1] = Location(at.segment, at.batch, last.row, last.rows + at.rows)
        elif at.rows:
            runs.append(at)
    return runs


def _kept(store: Store, manifest: Manifest) -> Corpus:
    """The corpus of a new manifest, which is stored. Raises CorpusError when nothing in it can be read."""
    sources = [entry.source for entry in manifest.entries]
    if not any(source.readable for source in sources):
        raise CorpusError(_why_empty(sources), "Name files or folders that hold text.")
    save_manifest(store, manifest)
    return Corpus(store, manifest)


def _why_empty(sources: Sequence[Source]) -> str:
    if not sources:
        return "there is nothing to read: the folder is empty"
    shown = [f"  {s.id}: {s.parse_status} {s.reason}".rstrip() for s in sources[:_REASONS_SHOWN]]
    more = len(sources) - len(shown)
    return "\n".join(
        ["there is nothing to read:", *shown, *([f"  and {more} more"] if more else [])]
    )


def _segment(store: Store, name: str) -> SegmentReader:
    try:
        return SegmentReader(store.segments, name)
    except (OSError, pa.ArrowInvalid) as error:
        raise CorpusError(
            f"the store {store.root} lacks a part of this corpus, or it is damaged: {error}",
            "Delete that folder and open the files again.",
        ) from error


def _reopened(version: str, store: Path) -> Corpus:
    return load_corpus(version, store=store)


def _no_progress(done: int, total: int, source_id: str) -> None:
    """Progress that nobody watches."""
