"""Draft: a set in the making. Its documents become files, and its gold is checked against the text of these."""

import random
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from data.corpus import Corpus, open_corpus
from data.questions import Alternative, CorpusEntry, Fact, GoldSpan, Question, QuestionSet, Split
from data.sets.splits import assign_splits
from data.store import write_atomically
from runtime.errors import CorpusError, QuestionSetError

SHARES: Mapping[Split, float] = {"train": 0.5, "validation": 0.2, "test": 0.3}
REPORT_FILE = "import.json"
_LONGEST_NAME = 80
_FORBIDDEN = frozenset('/\\:*?"<>|')

Item = TypeVar("Item")


class Report(BaseModel):
    """What became of the data: questions found and kept, gold spans kept, those whose offsets were mended, and by
    reason how much was left out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    found: int
    kept: int
    spans: int
    mended: int
    left_out: dict[str, int]

    def __str__(self) -> str:
        lost = "".join(f"; {times} left out: {why}" for why, times in self.left_out.items())
        mended = f"; {self.mended} offsets mended" if self.mended else ""
        return f"{self.kept} of {self.found} questions, {self.spans} gold spans{mended}{lost}"


def load_report(folder: Path) -> Report:
    """The report of the import into a folder."""
    return Report.model_validate_json((folder / REPORT_FILE).read_bytes())


@dataclass(frozen=True, slots=True)
class Pieces:
    """A document that was put together from pieces: the span of each, with an empty quote where a piece is blank."""

    source: str
    text: str
    spans: tuple[GoldSpan, ...]


class Draft:
    """Documents by corpus and file name, and questions about them."""

    def __init__(self, importer: str) -> None:
        self._importer = importer
        self._documents: dict[str, dict[str, bytes]] = {}
        self._questions: dict[str, Question] = {}
        self._asked: set[tuple[str, str]] = set()
        self._left_out: Counter[str] = Counter()
        self._found = 0

    def document(self, corpus: str, title: str, text: str | bytes) -> str:
        """Add a document to a corpus. Returns its id as a source: its file name, made of the title."""
        documents = self._documents.setdefault(corpus, {})
        name = _file_name(title, documents)
        raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        documents[name] = raw
        return name

    def pieces(
        self,
        corpus: str,
        title: str,
        pieces: Sequence[str],
        *,
        between: str,
        before: str = "",
        after: str = "",
    ) -> "Pieces":
        """Add a document that is put together from pieces."""
        text = before + between.join(pieces) + after
        source = self.document(corpus, title, text)
        spans: list[GoldSpan] = []
        start = len(before)
        for piece in pieces:
            spans.append(span_of(source, text, start, start + len(piece)))
            start += len(piece) + len(between)
        return Pieces(source, text, tuple(spans))

    def sources(self, corpus: str) -> tuple[str, ...]:
        """The documents of a corpus."""
        return tuple(self._documents.get(corpus, ()))

    def ask(self, question: Question) -> None:
        """Add a question; its gold is as the data have it. An id, or a question about a corpus, counts once."""
        self._found += 1
        words = unicodedata.normalize("NFC", " ".join(question.question.split()))
        if not words:
            self._left_out["questions without words"] += 1
        elif question.id in self._questions:
            self._left_out["questions with an id that another has"] += 1
        elif (question.corpus, words) in self._asked:
            self._left_out["questions that are asked twice"] += 1
        else:
            self._questions[question.id] = question
            self._asked.add((question.corpus, words))

    def leave_out(self, why: str) -> None:
        """Count a question that the data do not let us ask."""
        self._found += 1
        self._left_out[why] += 1

    def finish(
        self, folder: Path, *, limit: int | None, seed: int, store: Path | None
    ) -> QuestionSet:
        """Write the documents that are needed, check the gold, split by document, write the report."""
        questions = chosen(list(self._questions.values()), limit, seed)
        corpora: dict[str, Corpus] = {}
        kept: list[Question] = []
        checker = _Checker(self._left_out)
        for name in dict.fromkeys(each.corpus for each in questions):
            about = [each for each in questions if each.corpus == name]
            corpus = self._written(folder, name, store)
            if corpus is None:
                self._left_out["questions about a corpus without text"] += len(about)
                continue
            corpora[name] = corpus
            kept += checker.checked(about, corpus)
        if not kept:
            raise QuestionSetError(
                f"nothing could be imported as {self._importer}: {self._report(0, checker)}",
                "Check that this is the data that the importer is for.",
            )
        report = self._report(len(kept), checker)
        write_atomically(folder / REPORT_FILE, report.model_dump_json(indent=1).encode() + b"\n")
        made = QuestionSet(
            name=self._importer,
            made_by=f"importer {self._importer}, limit {limit}, seed {seed}: {report}",
            corpora=tuple(
                CorpusEntry(name=name, paths=(f"corpora/{name}",), version=corpus.version)
                for name, corpus in corpora.items()
            ),
            questions=tuple(kept),
        )
        return assign_splits(made, corpora, SHARES, seed=seed)

    def _written(self, folder: Path, name: str, store: Path | None) -> Corpus | None:
        """A corpus, its files written; None if nothing in it can be read."""
        place = folder / "corpora" / name
        if place.exists() and any(place.iterdir()):
            raise QuestionSetError(f"{place} has files already", "Choose an empty folder.")
        place.mkdir(parents=True, exist_ok=True)
        for file, raw in self._documents.get(name, {}).items():
            (place / file).write_bytes(raw)
        try:
            return open_corpus([place], store=store)
        except CorpusError:
            return None

    def _report(self, kept: int, checker: "_Checker") -> Report:
        left_out = dict(sorted(self._left_out.items()))
        return Report(
            found=self._found,
            kept=kept,
            spans=checker.spans,
            mended=checker.mended,
            left_out=left_out,
        )


class _Checker:
    """Gold against the text of a corpus, with counts of what holds and what does not."""

    def __init__(self, left_out: Counter[str]) -> None:
        self._left_out = left_out
        self.spans = 0
        self.mended = 0

    def checked(self, questions: Sequence[Question], corpus: Corpus) -> list[Question]:
        """The questions whose gold is in the text: facts without any alternative that is take a question along."""
        texts = {each.id: corpus.text(each.id) for each in corpus.sources if each.readable}
        partitions: list[tuple[str, str]] = []
        if any(each.kind == "aggregate" for each in questions):
            table = corpus.partitions().partition_table
            columns = (table.column(name).to_pylist() for name in ("id", "source"))
            partitions = list(zip(*columns, strict=True))
        kept: list[Question] = []
        for question in questions:
            gold = tuple(self._fact(fact, texts) for fact in question.gold)
            if not all(gold):
                self._left_out["questions whose gold is not in the text"] += 1
                continue
            self.spans += sum(len(each) for fact in gold for each in fact)
            allowed = self._alternative(question.allowed, texts, partly=True)
            required = question.required_partitions
            if question.kind == "aggregate":
                required = tuple(id_ for id_, at in partitions if at in question.documents)
            kept.append(
                question.model_copy(
                    update={"gold": gold, "allowed": allowed, "required_partitions": required}
                )
            )
        return kept

    def _fact(self, fact: Fact, texts: Mapping[str, str]) -> Fact:
        found = (self._alternative(each, texts) for each in fact)
        return tuple(dict.fromkeys(each for each in found if each))

    def _alternative(
        self, spans: Alternative, texts: Mapping[str, str], *, partly: bool = False
    ) -> Alternative:
        """The spans as they are in the text; nothing if one is not, or with `partly` the others."""
        found = [self._span(each, texts) for each in dict.fromkeys(spans)]
        lost = found.count(None)
        self._left_out.update({"spans that are not in the text": lost} if lost else {})
        return () if lost and not partly else tuple(each for each in found if each)

    def _span(self, span: GoldSpan, texts: Mapping[str, str]) -> GoldSpan | None:
        """The span where the text has its quote: at its offsets, or at the one other place."""
        text = texts.get(span.source, "")
        if not span.quote.strip():
            return None
        if span.start >= 0 and text[span.start : span.end] == span.quote:
            return span
        at = text.find(span.quote)
        if at < 0 or text.find(span.quote, at + 1) >= 0:
            return None
        self.mended += 1
        return span.model_copy(update={"start": at, "end": at + len(span.quote)})


def chosen(items: Sequence[Item], limit: int | None, seed: int) -> list[Item]:
    """At most `limit` items, drawn by `seed`, in their order."""
    if limit is None or limit >= len(items):
        return list(items)
    return [items[at] for at in sorted(random.Random(seed).sample(range(len(items)), limit))]


def span_of(source: str, text: str, start: int, end: int) -> GoldSpan:
    """The stretch of a text as gold, without the blanks around it."""
    quote = text[start:end]
    start += len(quote) - len(quote.lstrip())
    quote = quote.strip()
    return GoldSpan(source=source, start=start, end=start + len(quote), quote=quote)


def _file_name(title: str, taken: Collection[str]) -> str:
    """A name for a file that any system can have, another than those taken; .txt unless the title says otherwise."""
    clean = "".join(
        c if c.isprintable() and c not in _FORBIDDEN else "_"
        for c in unicodedata.normalize("NFC", title)
    )
    stem, dot, suffix = clean.strip(" .").rpartition(".")
    if not (stem and dot and suffix in ("txt", "md", "log")):
        stem, suffix = clean.strip(" ."), "txt"
    while len(stem.encode()) > _LONGEST_NAME:
        stem = stem[:-1]
    known = {each.casefold() for each in taken}
    stem = stem.strip() or "document"
    names = (f"{stem}{f' {n}' if n > 1 else ''}.{suffix}" for n in count(1))
    return next(name for name in names if name.casefold() not in known)
