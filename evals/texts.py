"""The texts that citations are held against: of an opened corpus, or plain strings."""

from collections.abc import Mapping

from data.corpus import Corpus
from runtime.errors import NotFound


class CorpusTexts:
    """The texts of a corpus, read slice by slice. A source that could not be read has no text."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def characters(self, source: str) -> int | None:
        """The length of a text, or None."""
        try:
            found = self._corpus.source(source)
        except NotFound:
            return None
        return found.characters if found.readable else None

    def slice(self, source: str, start: int, end: int) -> str:
        """The text of a range."""
        return self._corpus.slice(source, start, end)


class PlainTexts:
    """Texts by source id."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def characters(self, source: str) -> int | None:
        """The length of a text, or None."""
        text = self._texts.get(source)
        return None if text is None else len(text)

    def slice(self, source: str, start: int, end: int) -> str:
        """The text of a range."""
        return self._texts[source][start:end]
