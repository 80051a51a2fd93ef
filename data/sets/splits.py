"""Splits by document: questions that share a document are in one split, so that nothing is learned by heart.

A document is the same wherever its bytes are the same: a copy of it in another corpus counts as the document itself.
So does what a twin was made of: a question with the tag `twin:ID` stays with the question of that id.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from data.corpus import Corpus
from data.questions import Question, QuestionSet, Split

TWIN = "twin:"
"""Begins a tag that names the question of which this one is a twin."""

SPLITS: tuple[Split, ...] = ("train", "validation", "test")


@dataclass(frozen=True, slots=True)
class Leak:
    """A document that is in more than one split. `questions` has one of each."""

    document: str
    questions: tuple[str, ...]
    message: str


def documents_of(question: Question) -> tuple[str, ...]:
    """The sources that a question rests on: those that it lists, and those of its gold."""
    gold = (span.source for fact in question.gold for each in fact for span in each)
    return tuple(dict.fromkeys((*question.documents, *gold)))


def _ties(question: Question, hashes: Mapping[tuple[str, str], str]) -> Iterator[tuple[str, str]]:
    """What ties a question to others, as a key and as a name to be read."""
    for source in documents_of(question):
        yield _key(question.corpus, source, hashes), f"{question.corpus}/{source}"
    twins = [tag.removeprefix(TWIN) for tag in question.tags if tag.startswith(TWIN)]
    for each in (question.id, *twins):
        yield f"twin\0{each}", f"the text of {each}"


def leaks(questions: Iterable[Question], corpora: Mapping[str, Corpus]) -> list[Leak]:
    """The documents that are in more than one split."""
    hashes = _hashes(corpora)
    seen: dict[str, dict[Split, str]] = defaultdict(dict)
    names: dict[str, str] = {}
    for question in questions:
        for key, name in _ties(question, hashes):
            names.setdefault(key, name)
            seen[key].setdefault(question.split, question.id)
    return [
        Leak(names[key], tuple(found.values()), _told(names[key], found))
        for key, found in seen.items()
        if len(found) > 1
    ]


def assign_splits(
    made: QuestionSet,
    corpora: Mapping[str, Corpus],
    shares: Mapping[Split, float],
    *,
    seed: int,
    by_corpus: bool = False,
) -> QuestionSet:
    """The set with its questions in splits of about these shares, no document in two of them; `by_corpus`: no corpus.

    Groups of questions that hang together by documents are drawn in an order of the seed, and each goes to the split
    that lacks most. Raises ValueError for shares that are negative, or that are all zero.
    """
    if min(shares.values()) < 0 or not sum(shares.values()):
        raise ValueError(f"shares of splits must be positive: {dict(shares)}")
    groups = _groups(made.questions, _hashes(corpora), by_corpus=by_corpus)
    random.Random(seed).shuffle(groups)
    groups.sort(key=len, reverse=True)
    total = len(made.questions) / sum(shares.values())
    lacking: dict[Split, float] = {
        name: shares.get(name, 0) * total for name in SPLITS if shares.get(name, 0)
    }
    chosen: dict[int, Split] = {}
    for group in groups:
        split = max(lacking, key=lambda name: lacking[name])
        lacking[split] -= len(group)
        for at in group:
            chosen[at] = split
    questions = tuple(
        each.model_copy(update={"split": chosen[at]}) for at, each in enumerate(made.questions)
    )
    return made.model_copy(update={"questions": questions})


def _groups(
    questions: Sequence[Question], hashes: Mapping[tuple[str, str], str], *, by_corpus: bool
) -> list[list[int]]:
    """The positions of questions that hang together by documents, or by corpora too, in order."""
    parent = list(range(len(questions)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    first: dict[str, int] = {}
    for at, question in enumerate(questions):
        ties = [key for key, _ in _ties(question, hashes)]
        for key in (*ties, *([f"corpus\0{question.corpus}"] if by_corpus else [])):
            other = first.setdefault(key, at)
            parent[root(at)] = root(other)
    groups: dict[int, list[int]] = defaultdict(list)
    for at in range(len(questions)):
        groups[root(at)].append(at)
    return sorted(groups.values())


def _hashes(corpora: Mapping[str, Corpus]) -> dict[tuple[str, str], str]:
    return {
        (name, source.id): source.sha256
        for name, corpus in corpora.items()
        for source in corpus.sources
        if source.characters
    }


def _key(corpus: str, source: str, hashes: Mapping[tuple[str, str], str]) -> str:
    return hashes.get((corpus, source)) or f"{corpus}\0{source}"


def _told(document: str, found: Mapping[Split, str]) -> str:
    return f"{document} is in " + ", ".join(f"{split} ({id_})" for split, id_ in found.items())
