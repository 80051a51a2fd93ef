"""Choice of a parser for a file, by its name and its first bytes, or the reason why there is none."""

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from data.decode import decode, is_utf8, obvious_utf16
from data.parsers.document import Parser
from data.parsers.json import JsonLinesParser, JsonParser
from data.parsers.plain import CodeParser, LogParser, MarkdownParser, TextParser
from data.parsers.table import CsvParser, TsvParser
from data.timestamp import TimestampReader

HEAD_BYTES = 1 << 16
"""How much of a file the choice looks at."""

CHOICE_VERSION = 2
"""Raised whenever another parser, or none, is chosen for the same file."""

_LOG = LogParser()
_TEXT = TextParser()

PARSERS: tuple[Parser, ...] = (
    MarkdownParser(),
    CsvParser(),
    TsvParser(),
    JsonLinesParser(),
    JsonParser(),
    CodeParser(),
    _LOG,
    _TEXT,
)

_UNSUPPORTED = {
    suffix: kind
    for kind, suffixes in {
        "PDF": ".pdf",
        "HTML": ".html .htm .xhtml .mhtml",
        "office document": ".doc .docx .odt .rtf .xls .xlsx .ods .ppt .pptx .odp .pages .numbers .key .epub",
        "archive": ".zip .gz .tgz .bz2 .xz .zst .7z .rar .tar .jar .whl .egg .deb .rpm .iso .dmg",
        "image": ".png .jpg .jpeg .gif .bmp .tif .tiff .webp .ico .svg .heic .psd",
        "audio or video": ".mp3 .wav .flac .ogg .m4a .mp4 .mkv .mov .avi .webm",
        "font": ".ttf .otf .woff .woff2",
        "database": ".sqlite .sqlite3 .db .mdb",
        "data in a binary format": ".parquet .arrow .feather .npy .npz .pkl .pickle .h5 .pt .onnx .safetensors",
        "compiled code": ".pyc .pyo .class .o .a .so .dll .dylib .exe .wasm .bin",
    }.items()
    for suffix in suffixes.split()
}
_UNSUPPORTED_REASON = "{kind}: this format is not supported yet"
_DOCUMENTS = tuple(
    _UNSUPPORTED_REASON.format(kind=kind)
    for kind in ("PDF", "HTML", "office document", "archive or office document")
)
_SIGNATURES = (
    (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "archive or office document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "office document"),
    (b"{\\rtf", "office document"),
    (b"\x1f\x8b", "archive"),
    (b"BZh", "archive"),
    (b"\xfd7zXZ\x00", "archive"),
    (b"\x28\xb5\x2f\xfd", "archive"),
    (b"7z\xbc\xaf\x27\x1c", "archive"),
    (b"\x89PNG", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF8", "image"),
    (b"SQLite format 3\x00", "database"),
    (b"PAR1", "data in a binary format"),
    (b"ARROW1", "data in a binary format"),
    (b"\x7fELF", "compiled code"),
    (b"\xca\xfe\xba\xbe", "compiled code"),
)
_HTML_STARTS = (b"<!doctype html", b"<html")
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
_CONTROLS = bytes({*range(32), 127} - {*b"\t\n\r\f\v\b\x1b"})
_MAX_CONTROLS = 0.02
_FEW_CONTROLS = 4
_MAX_ZEROS = 0.1


@dataclass(frozen=True, slots=True)
class Choice:
    """The parser, or None and the reason."""

    parser: Parser | None
    reason: str = ""


def choose_parser(path: PurePosixPath, head: bytes, parsers: Iterable[Parser] = PARSERS) -> Choice:
    """The parser for a file; `head` is its first HEAD_BYTES bytes.

    A parser of a binary format is taken at its word, so that one for PDF, say, only has to be added to
    `parsers`. Files with a suffix that no parser knows are read if they look like text.
    """
    accepting = next((parser for parser in parsers if parser.accepts(path, head)), None)
    if accepting is not None and accepting.binary:
        return Choice(accepting)
    kind = _unsupported(path, head)
    if kind:
        return Choice(None, _UNSUPPORTED_REASON.format(kind=kind))
    if accepting is not None:
        binary = _is_binary(head, _MAX_ZEROS)
        return Choice(None, "binary") if binary else Choice(accepting)
    if _is_binary(head, 0) or not _has_encoding(head):
        return Choice(None, "binary")
    return Choice(_LOG if _has_timestamps(head) else _TEXT)


def is_document(reason: str) -> bool:
    """Whether the reason of a choice says that the file is a document, with text that is not read yet."""
    return reason in _DOCUMENTS


def _unsupported(path: PurePosixPath, head: bytes) -> str:
    """The kind of a format that has no parser yet; empty for others."""
    by_suffix = _UNSUPPORTED.get(path.suffix.lower(), "")
    if by_suffix:
        return by_suffix
    start = head[:256].lstrip().lower()
    if not path.suffix and start.startswith(_HTML_STARTS):
        return "HTML"
    return next((kind for signature, kind in _SIGNATURES if head.startswith(signature)), "")


def _is_binary(head: bytes, max_zeros: float) -> bool:
    """Whether there are more zero bytes, or control characters, than a text has. A short one may ring the bell."""
    if head.startswith(_WIDE_MARKS) or obvious_utf16(head):
        return False
    zeros = head.count(0)
    if zeros > max_zeros * len(head):
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS)) - zeros
    return controls >= _FEW_CONTROLS and controls > _MAX_CONTROLS * len(head)


def _has_encoding(head: bytes) -> bool:
    """Whether all bytes can be decoded; the last character may be cut."""
    if any(is_utf8(head[: len(head) - cut]) for cut in range(min(4, len(head) + 1))):
        return True
    decoded = decode(head[:4096])
    return decoded.utf8 is not None and decoded.undecodable <= 1


def _has_timestamps(head: bytes) -> bool:
    lines = decode(head[: head.rfind(b"\n") + 1] or head).text.splitlines()
    return len(lines) > 1 and TimestampReader.detect(lines) is not None
