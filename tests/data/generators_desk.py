"""What the tests of generated sets share: a set of a family with its corpora, its questions, and their tags."""

from collections.abc import Iterator
from pathlib import Path

from data.corpus import Corpus
from data.questions import Question, QuestionSet
from data.sets.assembly import assemble
from data.sets.drafts import Order
from data.sets.generators import FAMILIES
from data.sets.storage import open_set_corpus

Built = tuple[QuestionSet, dict[str, Corpus]]


def built(family: str, order: Order, folder: Path) -> Built:
    """A set of a family and its corpora."""
    store = folder / "store"  # a session's fixture is made before a test's own environment is
    drafts = FAMILIES[family].drafts(order)
    made = assemble(drafts, folder, name=family, made_by="test", store=store)
    names = [each.name for each in made.corpora]
    return made, {name: open_set_corpus(made, folder, name, store=store) for name in names}


def each_question(made: Built) -> Iterator[tuple[Question, Corpus]]:
    for question in made[0].questions:
        yield question, made[1][question.corpus]


def tagged(question: Question, name: str) -> str:
    """The value of a tag."""
    return next((t.partition(":")[2] for t in question.tags if t.startswith(f"{name}:")), "")
