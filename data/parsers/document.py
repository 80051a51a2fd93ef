"""Document and parser: the seam between the bytes of a file and its text."""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import ClassVar, Protocol

from data.decode import Decoded, decode
from data.source import ParseStatus


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a file as UTF-8, never normalized, and how well it could be read.

    `reason` tells what is wrong; `undecodable` counts the bytes, or sequences of bytes, that were replaced.
    """

    utf8: bytes | memoryview
    encoding: str
    bom: bool
    status: ParseStatus
    reason: str
    undecodable: int = 0


class Parser(Protocol):
    """A format. `timed`: its lines may start with timestamps. `binary`: its files are not text themselves."""

    name: str
    version: int
    timed: bool
    binary: bool

    def accepts(self, path: PurePosixPath, head: bytes) -> bool:
        """Whether this parser is for the file, by its name and first bytes."""
        ...

    def media_type(self, path: PurePosixPath) -> str:
        """The media type of an accepted file."""
        ...

    def parse(self, raw: bytes) -> Document:
        """The text of the file. Never raises for bad content: that is a status with a reason."""
        ...


def text_document(decoded: Decoded, complaint: str = "") -> Document:
    """The document of a format whose text is the file's own. `complaint`: what breaks the rules of the format."""
    if decoded.utf8 is None:
        return Document(b"", "", decoded.bom, "failed", decoded.reason, decoded.undecodable)
    reason = "; ".join(part for part in (decoded.reason, complaint) if part)
    status: ParseStatus = "degraded" if reason else "ok" if len(decoded.utf8) else "empty"
    return Document(
        decoded.utf8, decoded.encoding, decoded.bom, status, reason, decoded.undecodable
    )


class PlainParser:
    """Base of the parsers that take a file by its suffix and its text as it is."""

    name: str
    version: int = 1
    timed: bool = False
    binary: bool = False
    media_types: ClassVar[dict[str, str]] = {}

    def accepts(self, path: PurePosixPath, head: bytes) -> bool:
        """By the suffix."""
        return path.suffix.lower() in self.media_types

    def media_type(self, path: PurePosixPath) -> str:
        """By the suffix."""
        return self.media_types.get(path.suffix.lower(), "text/plain")

    def parse(self, raw: bytes) -> Document:
        """Decode and check."""
        decoded = decode(raw)
        zeros = bytes(decoded.utf8 or b"").count(0)
        return text_document(decoded, f"NUL characters: {zeros}" if zeros else self.check(decoded))

    def check(self, decoded: Decoded) -> str:
        """What breaks the rules of the format; empty if nothing does."""
        return ""
