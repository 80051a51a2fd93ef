"""Assembly: drafts become a question set on the disk, with the versions and the partitions that only a corpus has."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import numpy as np

from data.corpus import Corpus, open_corpus
from data.questions import CorpusEntry, Question, QuestionSet
from data.sets.drafts import Document, Draft, DraftQuestion
from data.stretches import Stretch
from runtime.errors import QuestionSetError


def assemble(
    drafts: Iterable[Draft], folder: Path, *, name: str, made_by: str, store: Path | None = None
) -> QuestionSet:
    """Write the corpora below the folder, one after the other, and give the set; `save_set` keeps its questions."""
    entries: list[CorpusEntry] = []
    questions: list[Question] = []
    for draft in drafts:
        place = PurePosixPath("corpora", draft.name)
        write_documents(draft.documents, folder / place)
        corpus = open_corpus([folder / place], store=store)
        entries.append(CorpusEntry(name=draft.name, paths=(str(place),), version=corpus.version))
        needs = Needs(corpus)
        questions += (_question(each, draft, needs) for each in draft.questions)
    return QuestionSet(
        name=name, made_by=made_by, corpora=tuple(entries), questions=tuple(questions)
    )


def write_documents(documents: Iterable[Document], folder: Path) -> None:
    """The files of a corpus. Line ends are written as they are."""
    for each in documents:
        path = folder / each.name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise QuestionSetError(f"{each.name!r} leads out of its corpus")
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = each.content if isinstance(each.content, bytes) else each.content.encode()
        path.write_bytes(raw)


class Needs:
    """The partitions of a corpus, looked up by stretch."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        table = corpus.partitions().partition_table
        self._ids: list[str] = table.column("id").to_pylist()
        self._starts = table.column("start").to_numpy()
        sources: list[str] = table.column("source").to_pylist()
        self._rows: dict[str, tuple[int, int]] = {}
        for row, source in enumerate(sources):
            self._rows[source] = (self._rows.get(source, (row, row))[0], row + 1)

    def everything(self) -> tuple[str, ...]:
        """All partitions."""
        return tuple(self._ids)

    def of(self, stretches: Iterable[Stretch]) -> tuple[str, ...]:
        """The partitions that the stretches touch, in order."""
        rows: set[int] = set()
        for source, start, end in stretches:
            if source not in self._rows:
                raise QuestionSetError(f"there is no text in a source {source!r}")
            first, stop = self._rows[source]
            low, high = np.searchsorted(self._starts[first:stop], (start, end - 1), "right")
            rows.update(range(first + int(low) - 1, first + int(high)))
        return tuple(self._ids[row] for row in sorted(rows))


def _question(draft: DraftQuestion, corpus: Draft, needs: Needs) -> Question:
    everything = draft.needed is None
    sources = (source for source, _, _ in draft.places)
    resting = [each.id for each in needs.corpus.sources] if everything else sources
    return Question(
        id=draft.id,
        question=draft.question,
        corpus=corpus.name,
        kind=draft.kind,
        gold=draft.gold,
        answer=draft.answer,
        answerable=draft.answerable,
        required_partitions=needs.everything() if everything else needs.of(draft.needed or ()),
        allowed=draft.allowed,
        documents=draft.documents or tuple(dict.fromkeys(resting)),
        tags=draft.tags,
    )
