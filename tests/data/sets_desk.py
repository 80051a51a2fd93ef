"""What the tests of question sets share: a small corpus on disk, a sound set over it, and how one is broken."""

from pathlib import Path
from typing import Any

from data.corpus import Corpus, open_corpus
from data.questions import CorpusEntry, GoldSpan, Question, QuestionSet, TypedAnswer

RULES = "The lamp is lit at dusk.\nKeys hang in the hall. 🔑 钥匙挂在大厅。\nThe lamp is put out at ten.\n"
DIARY = "2026-03-01 rain\r\n2026-03-02 snow\r\n2026-03-03 rain\r\n"


def gold(source: str, text: str, quote: str, at: int = 0) -> GoldSpan:
    """The span of a quote, the first behind `at`."""
    start = text.index(quote, at)
    return GoldSpan(source=source, start=start, end=start + len(quote), quote=quote)


def write_house(folder: Path) -> Corpus:
    """The corpus `house` of a set that lies in a folder."""
    place = folder / "corpora" / "house"
    place.mkdir(parents=True)
    (place / "rules.txt").write_bytes(RULES.encode())
    (place / "diary.txt").write_bytes(DIARY.encode())
    return open_corpus([place])


def lamp(house: Corpus, **other: Any) -> Question:
    """A sound lookup."""
    span = gold("rules.txt", RULES, "The lamp is lit at dusk.")
    found = {
        "id": "lamp",
        "question": "When is the lamp lit?",
        "corpus": "house",
        "kind": "lookup",
        "gold": (((span,),),),
        "answer": TypedAnswer(type="string", values=("at dusk",)),
        "answerable": True,
        "required_partitions": (house.partitions().by_source("rules.txt")[0].id,),
        "documents": ("rules.txt",),
    }
    return Question(**{**found, **other})


def rain(**other: Any) -> Question:
    """A sound count with two alternatives."""
    first = gold("diary.txt", DIARY, "2026-03-01 rain")
    second = gold("diary.txt", DIARY, "2026-03-03 rain")
    found = {
        "id": "rain",
        "question": "How often did it rain?",
        "corpus": "house",
        "kind": "aggregate",
        "gold": (((first,), (second,)),),
        "answer": TypedAnswer(type="integer", values=("2",)),
        "answerable": True,
        "documents": ("diary.txt",),
    }
    return Question(**{**found, **other})


def house_set(corpus: Corpus, *questions: Question) -> QuestionSet:
    """A set over the house."""
    entry = CorpusEntry(name="house", paths=("corpora/house",), version=corpus.version)
    return QuestionSet(name="house", made_by="hand", corpora=(entry,), questions=questions)
