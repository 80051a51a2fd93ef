"""Builder: from the files of a walk to the entries of a manifest, parsing only what the store does not have yet."""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from data.catalog import Catalog, Content, KnownFile
from data.lines import split_lines
from data.manifest import Entry
from data.parsers import HEAD_BYTES, PARSERS, Choice, Parser, choose_parser
from data.parsers.choice import CHOICE_VERSION, is_document
from data.segment import Location, SegmentWriter, segment_path
from data.source import Source
from data.store import Store
from data.times import line_times
from data.walk import Found

Progress = Callable[[int, int, str], None]
"""Called with the number of files done, the number of all, and the source just done."""

_SEGMENT_BYTES = 256 << 20
_NOWHERE = Location("", 0, 0, 0)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of one file: known by now, or left out."""

    found: Found
    known: KnownFile | None


class Builder:
    """Turns files into entries. What it has parsed is kept in the store from time to time, always whole."""

    def __init__(self, store: Store, catalog: Catalog) -> None:
        self._store = store
        self._catalog = catalog
        self._parsers: dict[str, Parser] = {parser.name: parser for parser in PARSERS}
        self._writer: SegmentWriter | None = None
        self._contents: dict[tuple[str, str, int], Content] = {}
        self._unkept: set[tuple[str, str, int]] = set()
        self._files: dict[Path, KnownFile] = {}
        self._segments: dict[str, bool] = {}

    def build(self, found: Sequence[Found], progress: Progress) -> tuple[Entry, ...]:
        """Entries of the files, in their order."""
        known = self._catalog.files(item.path for item in found if not item.reason)
        outcomes = []
        try:
            for done, item in enumerate(found, 1):
                outcomes.append(self._file(item, known.get(item.path)))
                progress(done, len(found), item.id)
            self._keep()
        finally:
            self._discard()
        return tuple(self._entry(outcome) for outcome in outcomes)

    def build_text(self, name: str, raw: bytes) -> Entry:
        """The entry of a text that has no file."""
        found = Found(name, Path(name), len(raw))
        choice = choose_parser(PurePosixPath(name), raw[:HEAD_BYTES])
        try:
            known = self._known(found, choice, raw)
            self._keep()
        finally:
            self._discard()
        return replace(self._entry(_Outcome(found, known)), path="")

    def _file(self, found: Found, known: KnownFile | None) -> _Outcome:
        if found.reason:
            return _Outcome(found, None)
        if known is not None and self._holds(known, found):
            return _Outcome(found, known)
        try:
            with found.path.open("rb") as file:
                head = file.read(HEAD_BYTES)
                choice = choose_parser(PurePosixPath(found.path), head)
                raw = head + file.read() if choice.parser else b""
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            return _Outcome(replace(found, reason=reason, failed=True), None)
        fresh = self._files[found.path] = self._known(found, choice, raw)
        return _Outcome(found, fresh)

    def _holds(self, known: KnownFile, found: Found) -> bool:
        """Whether what is known about a file is still true and its content is in the store."""
        if not known.is_current(found.size, found.mtime_ns) or known.choice != CHOICE_VERSION:
            return False
        if not known.parser:
            return True
        parser = self._parsers.get(known.parser)
        current = parser is not None and parser.version == known.parser_version
        return (
            current
            and self._content((known.sha256, known.parser, known.parser_version)) is not None
        )

    def _known(self, found: Found, choice: Choice, raw: bytes) -> KnownFile:
        """Note what a file is, and parse its content unless the store has it."""
        seen = (found.size, found.mtime_ns, time.time_ns())
        if choice.parser is None:
            return KnownFile(*seen, "", "", 0, choice.reason, CHOICE_VERSION)
        key = (hashlib.sha256(raw).hexdigest(), choice.parser.name, choice.parser.version)
        if self._content(key) is None:
            self._parse(key, choice.parser, raw)
        return KnownFile(*seen, *key, "", CHOICE_VERSION)

    def _content(self, key: tuple[str, str, int]) -> Content | None:
        """A content that is being built or that the store has, segment and all."""
        if key not in self._contents:
            content = self._catalog.content(*key)
            if content is None or not self._has_segment(content.location.segment):
                return None
            self._contents[key] = content
        return self._contents[key]

    def _has_segment(self, name: str) -> bool:
        if name not in self._segments:
            self._segments[name] = not name or segment_path(self._store.segments, name).exists()
        return self._segments[name]

    def _parse(self, key: tuple[str, str, int], parser: Parser, raw: bytes) -> None:
        document = parser.parse(raw)
        lines = split_lines(document.utf8)
        location = _NOWHERE
        if len(lines):
            self._writer = self._writer or SegmentWriter(self._store.segments)
            times = line_times(lines.text, timed=parser.timed)
            batch, row = self._writer.add("\t".join(map(str, key)), lines, times)
            location = Location("", batch, row, len(lines))
        self._contents[key] = Content(
            *key, document.encoding, document.bom, len(raw), lines.characters, document.status,
            document.reason, document.undecodable, location,
        )  # fmt: skip
        self._unkept.add(key)
        if self._writer is not None and self._writer.bytes >= _SEGMENT_BYTES:
            self._keep()

    def _keep(self) -> None:
        """Finish the segment, and only then write down what lies in it."""
        segment = self._writer.finish() if self._writer is not None else ""
        self._writer = None
        for key in self._unkept:
            content = self._contents[key]
            if content.location.rows:
                location = replace(content.location, segment=segment)
                self._contents[key] = replace(content, location=location)
        self._catalog.remember(self._files, [self._contents[key] for key in self._unkept])
        self._unkept.clear()
        self._files.clear()

    def _discard(self) -> None:
        if self._writer is not None:
            self._writer.discard()
            self._writer = None

    def _entry(self, outcome: _Outcome) -> Entry:
        found, known = outcome.found, outcome.known
        if known is None or not known.parser:
            location, source = _NOWHERE, _left_out(found, known)
        else:
            content = self._contents[known.sha256, known.parser, known.parser_version]
            location, source = content.location, self._source(found, content)
        return Entry(source, str(found.path), found.size, found.mtime_ns, location)

    def _source(self, found: Found, content: Content) -> Source:
        return Source(
            id=found.id,
            sha256=content.sha256,
            media_type=self._parsers[content.parser].media_type(PurePosixPath(found.path)),
            parser=content.parser,
            parser_version=content.parser_version,
            encoding=content.encoding,
            bom=content.bom,
            bytes=content.bytes,
            characters=content.characters,
            lines=content.location.rows,
            parse_status=content.status,
            reason=content.reason,
            undecodable=content.undecodable,
        )


def _left_out(found: Found, known: KnownFile | None) -> Source:
    reason = known.reason if known is not None else found.reason
    return Source(
        id=found.id,
        sha256="",
        media_type="application/octet-stream",
        parser="",
        parser_version=0,
        encoding="",
        bom=False,
        bytes=found.size,
        characters=0,
        lines=0,
        parse_status="failed" if found.failed else "skipped",
        reason=reason,
        text_expected=found.failed or is_document(reason),
    )
