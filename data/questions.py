"""Questions with gold evidence: the schema of a question set, and a set with its corpora.

Gold is a list of facts. A fact is a list of alternatives, any one of which suffices; an alternative is a list of spans,
all of which are needed. Offsets are half-open code points of the decoded text of one corpus version.
"""

import hashlib
from typing import Literal

from pydantic import BaseModel, ConfigDict

Kind = Literal["lookup", "local", "aggregate", "conflict", "unanswerable", "adversarial"]
"""What a question takes: one fact with a name to search for, one place, every partition, sides that contradict each
other, an absence, or an answer in spite of an attack."""

AnswerType = Literal["integer", "date", "string", "set", "boolean", "none"]
Split = Literal["train", "validation", "test"]


class Row(BaseModel):
    """Base of the parts of a question: frozen, strict about unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class GoldSpan(Row):
    """A stretch of gold: half-open code points of the decoded text, and its verbatim text."""

    source: str
    start: int
    end: int
    quote: str


Alternative = tuple[GoldSpan, ...]
Fact = tuple[Alternative, ...]


class TypedAnswer(Row):
    """The right answer as typed text. `values` has one item, for a set all of them, for `none` nothing.

    An integer and a date (ISO 8601) are written as text, a boolean as "true" or "false". `accepted` are other wordings
    that count as right.
    """

    type: AnswerType
    values: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()


class Question(Row):
    """One question of a set. `corpus` names a corpus of the set; `documents` are the sources that it rests on.

    `allowed` is extra evidence that may be cited and need not be. `required_partitions` are ids under the partitioner
    `auto`; empty where nobody says which are needed.
    """

    id: str
    question: str
    corpus: str
    kind: Kind
    gold: tuple[Fact, ...]
    answer: TypedAnswer
    answerable: bool
    required_partitions: tuple[str, ...] = ()
    allowed: tuple[GoldSpan, ...] = ()
    documents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    split: Split = "test"


class CorpusEntry(Row):
    """A corpus of a set: its paths, relative to the folder of the set, and the version that the gold was made for."""

    name: str
    paths: tuple[str, ...]
    version: str


class QuestionSet(Row):
    """Questions with their corpora. `made_by` says how it was made (a generator with its seed, an importer)."""

    name: str
    made_by: str
    corpora: tuple[CorpusEntry, ...]
    questions: tuple[Question, ...]

    @property
    def version(self) -> str:
        """16 hex digits over the questions and the versions of the corpora."""
        digest = hashlib.sha256()
        for each in (*self.corpora, *self.questions):
            digest.update(each.model_dump_json().encode("utf-8", "surrogatepass") + b"\n")
        return digest.hexdigest()[:16]

    def corpus(self, name: str) -> CorpusEntry:
        """The corpus of this name. Raises KeyError."""
        return {each.name: each for each in self.corpora}[name]
