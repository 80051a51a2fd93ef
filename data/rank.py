"""Ranker: BM25 over the spans of a partitioning, kept beside the corpus and memory-mapped.

Words are those of runtime/lexicon.py: English stems, identifiers whole and by their parts, bigrams of Chinese, Japanese
and Korean. The formula is that of Lucene (k1 = 1.5, b = 0.75), by bm25s.
"""

import secrets
import shutil
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import cast

import bm25s
import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc

from data.corpus import Corpus
from data.partition import Partitioning
from data.span import Span
from runtime.lexicon import STOPWORDS, expand, raw_tokens, stem, stems_of
from signatures import TermStatistic

LAYOUT = 1
"""Part of the folder's name; raised whenever the lexicon gives other words, so that no index outlives it."""

_CACHED_TOKENS = 200_000


@dataclass(frozen=True, slots=True)
class RankHit:
    """A span and its BM25 score, above 0."""

    span: Span
    score: float


class Ranker:
    """Ranks the spans of a corpus against a query. The index is built, or opened, when it is first needed."""

    def __init__(self, corpus: Corpus, partitioning: Partitioning) -> None:
        self._corpus = corpus
        self._partitioning = partitioning
        self._opened: _Index | None = None
        self._lock = Lock()

    def rank(self, query: str, k: int, *, sources: Collection[str] | None = None) -> list[RankHit]:
        """The best `k` spans, best first; equal scores in order of the text. Empty when no word is known.

        This is a top-k: what it leaves out may matter as well. Raises NotFound for an unknown source.
        """
        scores = self._scores(query)
        if sources is not None:
            scores = np.where(self._rows_of(sources), scores, 0)
        rows = np.flatnonzero(scores > 0)
        best = rows[np.lexsort((rows, -scores[rows]))][: max(0, k)]
        return [
            RankHit(self._partitioning.span_in_row(row), float(scores[row]))
            for row in best.tolist()
        ]

    def term_statistics(self, query: str) -> list[TermStatistic]:
        """How many spans hold each word of the query, stopwords left out; rare words first.

        `term` is the word as the query has it, in small letters; it is counted by its stem.
        """
        index, of = self._index(), self._partitioning.span_count
        terms: dict[str, str] = {}
        for token in raw_tokens(query):
            for word in expand(token):
                if word not in STOPWORDS:
                    terms.setdefault(stem(word), word)
        found = [
            TermStatistic(term=word, spans=index.frequency(term), of=of)
            for term, word in terms.items()
        ]
        return sorted(found, key=lambda statistic: statistic.spans)

    def _scores(self, query: str) -> np.ndarray:
        terms = {term for token in raw_tokens(query) for term in stems_of(token)}
        return self._index().scores(terms, self._partitioning.span_count)

    def _rows_of(self, sources: Collection[str]) -> np.ndarray:
        wanted = np.zeros(self._partitioning.span_count, dtype=bool)
        for source_id in sources:
            if self._corpus.source(source_id).readable:
                first, end = self._partitioning.span_rows(source_id)
                wanted[first:end] = True
        return wanted

    def _index(self) -> "_Index":
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def _open(self) -> "_Index":
        key = self._partitioning.key
        name = f"{key.name}-{key.max_chars}-{key.span_chars}.v{LAYOUT}"
        folder = self._corpus.folder / "rank" / name
        if not folder.exists():
            _save(folder, *_documents(self._corpus, self._partitioning))
        return _Index(folder)


class _Index:
    """A stored index: scores by term and span, and the sorted vocabulary. Nothing is read before it is used."""

    def __init__(self, folder: Path) -> None:
        table = ipc.open_file(pa.memory_map(str(folder / "vocabulary.arrow"))).read_all()
        self._terms = table.column("term").combine_chunks()
        self._ids = table.column("id").combine_chunks()
        self._bm25 = None
        if len(table):
            self._bm25 = bm25s.BM25.load(folder, mmap=True, load_vocab=False, show_progress=False)

    def scores(self, terms: Iterable[str], spans: int) -> np.ndarray:
        """The score of every span; the order of the terms does not matter."""
        ids = sorted(number for term in terms if (number := self._id(term)) is not None)
        if self._bm25 is None or not ids:
            return np.zeros(spans, dtype=np.float32)
        return self._bm25.get_scores_from_ids(ids)

    def frequency(self, term: str) -> int:
        """The number of spans that hold the term."""
        number = self._id(term)
        if self._bm25 is None or number is None:
            return 0
        columns = self._bm25.scores["indptr"]
        return int(columns[number + 1] - columns[number])

    def _id(self, term: str) -> int | None:
        row = bisect_left(self._terms, term, key=lambda scalar: scalar.as_py())
        found = row < len(self._terms) and self._terms[row].as_py() == term
        return self._ids[row].as_py() if found else None


def _documents(corpus: Corpus, partitioning: Partitioning) -> tuple[list[array], dict[str, int]]:
    """The term ids of every span, and the id of every term."""
    numbering = _Numbering()
    documents: list[array] = []
    for source in corpus.sources:
        if not source.readable:
            continue
        text = corpus.text(source.id)
        for row in range(*partitioning.span_rows(source.id)):
            span = partitioning.span_in_row(row)
            documents.append(numbering.number(text[span.start : span.end]))
    return documents, numbering.vocabulary


class _Numbering:
    """Gives each term a number. Tokens that come again are analyzed once, within reason."""

    def __init__(self) -> None:
        self.vocabulary: dict[str, int] = {}
        self._known: dict[str, tuple[int, ...]] = {}

    def number(self, text: str) -> array:
        """The numbers of the terms of a text, repeated as they are."""
        numbers = array("i")
        known = self._known
        for token in raw_tokens(text):
            found = known.get(token)
            numbers.extend(found if found is not None else self._analyzed(token))
        return numbers

    def _analyzed(self, token: str) -> tuple[int, ...]:
        if len(self._known) >= _CACHED_TOKENS:
            self._known.clear()
        vocabulary = self.vocabulary
        found = tuple(vocabulary.setdefault(term, len(vocabulary)) for term in stems_of(token))
        self._known[token] = found
        return found


def _save(folder: Path, documents: list[array], vocabulary: dict[str, int]) -> None:
    """Write the index beside its place and move it there whole; another process may have been faster.

    The vocabulary of a large log takes some 100 MB: it is written first, and emptied.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = folder.with_name(f"{folder.name}.{secrets.token_hex(4)}.tmp")
    temporary.mkdir()
    try:
        terms = len(vocabulary)
        _write_vocabulary(temporary / "vocabulary.arrow", vocabulary)
        vocabulary.clear()
        if terms:
            bm25 = bm25s.BM25(backend="numpy")
            bm25.scores = bm25.build_index_from_ids(
                list(range(terms)), cast("list[list[int]]", documents), show_progress=False
            )
            bm25.vocab_dict = {}
            bm25.save(temporary, show_progress=False)
        with suppress(OSError):
            temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write_vocabulary(path: Path, vocabulary: dict[str, int]) -> None:
    table = pa.table(
        {
            "term": pa.array(vocabulary.keys(), pa.large_string()),
            "id": pa.array(vocabulary.values(), pa.int32()),
        }
    )
    table = table.sort_by("term")
    with ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
