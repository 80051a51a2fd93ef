"""Source: one file or document of a corpus, and how well it could be read."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

ParseStatus = Literal["ok", "degraded", "empty", "failed", "skipped"]


class Source(BaseModel):
    """One file or document. `characters` counts code points of the decoded text; `bytes` is its size on disk.

    `text_expected` says of a source without text that it should have some: a document of an unsupported format,
    a file that could not be read. It could hold an answer; an image or an archive could not, as far as this
    suite reads. `undecodable` counts the bytes, or sequences of bytes, that are shown as U+FFFD.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    sha256: str
    media_type: str
    parser: str
    parser_version: int
    encoding: str
    bom: bool
    bytes: int
    characters: int
    lines: int
    parse_status: ParseStatus
    reason: str
    text_expected: bool = False
    undecodable: int = 0

    @property
    def readable(self) -> bool:
        """Whether the source has text that can be searched and cited."""
        return self.parse_status in ("ok", "degraded") and self.characters > 0
