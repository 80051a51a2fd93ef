"""Unanswerable twins: a corpus that answers a question, and the same one without the partition that does.

In place of the partition the whole document may be made unreadable; and a log is asked for what never happened in it.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from data.corpus import open_corpus
from data.sets.assembly import Needs, write_documents
from data.sets.drafts import NOTHING, Document, Draft, DraftQuestion, Order
from data.sets.generators.chance import Chance
from data.sets.generators.logs import RARE, log
from data.sets.generators.needles import SIZES, needle_draft
from data.sets.generators.wording import worded
from data.sets.splits import TWIN

_ASKED = 24
_LEAST = 2
"""Documents that a corpus needs if one of them is to be made unreadable."""


class Unanswerable:
    """The family of twins: each corpus of needles, answerable, and then once for each of two needles without it."""

    name = "unanswerable"
    does = "twins whose partition with the answer is gone, or unreadable"
    takes_files = True

    def drafts(self, order: Order) -> Iterator[Draft]:
        """Needle corpora with their twins; half as many questions are answerable as are not."""
        asked = order.questions or _ASKED
        for number in range(-(-asked // 4)):
            language = "zh" if number % 4 == 3 else "en"
            size = SIZES[1 + number % (len(SIZES) - 1)]
            made = needle_draft(order, f"twins-{number:03}", size, language)
            pair = (made.questions[0], made.questions[3])
            drafts = [made.with_questions(pair), *twins(order, made.with_questions(pair))]
            yield from drafts[: 1 + asked - 4 * number]


def twins(order: Order, draft: Draft) -> Iterator[Draft]:
    """For each question of a draft the corpus without its gold: by turns a partition removed, a file unreadable."""
    for number, question in enumerate(draft.questions):
        unreadable = number % 2 == 1 and len(draft.documents) >= _LEAST
        documents = _scrambled(draft, question) if unreadable else _removed(order, draft, question)
        asked = replace(
            question,
            id=f"{question.id}-without",
            kind="unanswerable",
            answer=NOTHING,
            gold=(),
            needed=None,
            tags=(
                *question.tags,
                f"{TWIN}{question.id}",
                f"unanswerable:{'unreadable' if unreadable else 'removed'}",
            ),
        )
        yield Draft(f"{draft.name}-without-{number}", documents, (asked,))


def absent_events(order: Order, name: str, size: int) -> Draft:
    """A log that is asked for the time of events that it does not have."""
    chance = Chance(order.seed, name)
    made = log(chance, order.characters or size)
    present = made.records.fields["event"].among(made.records.everything())
    questions: list[DraftQuestion] = []
    for each in RARE:
        if each.name in present:
            continue
        text, language = worded(chance, chance.pick(("first", "last")), each.name)
        tags = ("unanswerable:absent", f"language:{language}")
        asked = DraftQuestion(f"{name}-{len(questions)}", text, "unanswerable", NOTHING, tags=tags)
        questions.append(asked)
    return Draft(name, made.documents, tuple(questions))


def _removed(order: Order, draft: Draft, question: DraftQuestion) -> tuple[Document, ...]:
    """The documents without the partitions that hold the gold."""
    with tempfile.TemporaryDirectory(prefix="spantree-twin-") as name:
        write_documents(draft.documents, Path(name))
        corpus = open_corpus([name], store=order.store)
    ids = frozenset(Needs(corpus).of(question.places))
    cut = [each for each in corpus.partitions().partitions if each.id in ids]
    documents: list[Document] = []
    for document in draft.documents:
        text = str(document.content)
        for each in reversed(cut):
            if each.source == document.name:
                text = text[: each.start] + text[each.end :]
        if text.strip():
            documents.append(Document(document.name, text))
    return tuple(documents)


def _scrambled(draft: Draft, question: DraftQuestion) -> tuple[Document, ...]:
    """The documents, those with gold as files of a format that cannot be read."""
    hidden = {source for source, _, _ in question.places}
    return tuple(
        Document(f"{each.name}.pdf", _bytes(str(each.content))) if each.name in hidden else each
        for each in draft.documents
    )


def _bytes(text: str) -> bytes:
    return b"%PDF-1.7\n" + bytes(byte ^ 0xA5 for byte in text.encode())
