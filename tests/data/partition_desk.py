"""What the tests of partitionings share: a corpus of texts by name, one text cut up, and what came of it."""

from dataclasses import dataclass

from data.partition import Partitioning, build_partitioning
from data.source import Source


@dataclass(frozen=True)
class Texts:
    """A corpus of some texts by name."""

    texts: dict[str, str]
    version: str = "0123456789abcdef"

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(_source(name, text) for name, text in self.texts.items())

    def text(self, source_id: str) -> str:
        return self.texts[source_id]


def _source(name: str, text: str) -> Source:
    kinds = {"md": "text/markdown", "py": "text/x-python", "log": "text/x-log"}
    return Source(
        id=name,
        sha256="",
        media_type=kinds.get(name.rpartition(".")[2], "text/plain"),
        parser="text",
        parser_version=1,
        encoding="utf-8",
        bom=False,
        bytes=0,
        characters=len(text),
        lines=0,
        parse_status="ok" if text else "empty",
        reason="",
    )


def cut(
    text: str, name: str = "auto", file: str = "a.txt", *, chars: int = 800, span: int = 200
) -> Partitioning:
    return build_partitioning(Texts({file: text}), name, chars, span)


def pieces(text: str, found: Partitioning) -> list[str]:
    return [text[part.start : part.end] for part in found.partitions]


def labels(found: Partitioning) -> list[str]:
    return [part.label for part in found.partitions]
