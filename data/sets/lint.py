"""Lint: everything that makes the gold of a set wrong, found before anything is measured with it."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from data.corpus import Corpus
from data.questions import Alternative, GoldSpan, Question, QuestionSet, TypedAnswer
from data.sets.splits import leaks
from data.sets.storage import open_set_corpus
from runtime.errors import CorpusError

CODES = {
    "no_questions": "a set without a question",
    "duplicate_id": "two questions have the same id",
    "id_form": "two ids differ only in their Unicode form, or an id is not in NFC",
    "duplicate_question": "the same question is asked twice of one corpus",
    "duplicate_corpus": "two corpora have the same name",
    "empty": "an id, question, quote, value, document or tag without text; a fact without alternative",
    "unknown_corpus": "a corpus that the set does not have",
    "corpus_changed": "the files of a corpus are not those that the gold was made for",
    "unknown_source": "a source that the corpus does not have, or that has no text",
    "span_range": "a span that is empty or leaves the text of its source",
    "quote": "a quote that is not the text between its offsets",
    "overlap": "two spans of an alternative that overlap: characters would count twice",
    "duplicate_alternative": "the same alternative twice in a fact",
    "duplicate_fact": "the same fact twice in a question: it would weigh double",
    "unanswerable_gold": "an unanswerable question with gold or with an answer",
    "kind": "an answerable question of the kind unanswerable",
    "no_gold": "an answerable question, not an aggregate, without gold",
    "answer": "an answer that is not of its type",
    "unknown_partition": "a required partition that the corpus does not have",
    "unlisted_document": "gold in a source that is not among the documents of the question",
    "split_leak": "a document that is in two splits",
}
"""What is looked for, by code."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault. `question` is its id, or empty for a fault of the set."""

    question: str
    code: str
    message: str


def lint(made: QuestionSet, corpora: Mapping[str, Corpus]) -> list[Problem]:
    """The faults of a set, question by question; empty if it holds. Every corpus of the set has to be opened."""
    return [
        *_of_corpora(made, corpora),
        *_of_questions(made, corpora.get),
        *_of_splits(made, corpora),
    ]


def lint_selected(
    made: QuestionSet, questions: Sequence[Question], corpora: Callable[[str], Corpus]
) -> list[Problem]:
    """The faults of some questions of a set. Only the corpora that these are about are opened, one after the other.

    What ties splits together is left out: it is of the whole set, and makes no gold wrong.
    """
    chosen = made.model_copy(update={"questions": tuple(questions)})
    named = {each.name for each in made.corpora}
    return [*_of_questions(chosen, lambda name: corpora(name) if name in named else None)]


def lint_folder(made: QuestionSet, folder: Path, *, store: Path | None = None) -> list[Problem]:
    """The faults of a set on disk; a corpus that cannot be opened, or has changed, is one of them."""
    corpora: dict[str, Corpus] = {}
    unopened: list[Problem] = []
    for entry in made.corpora:
        try:
            corpora[entry.name] = open_set_corpus(made, folder, entry.name, store=store)
        except CorpusError as error:
            unopened.append(Problem("", "corpus_changed", error.message))
    return [*unopened, *_of_questions(made, corpora.get), *_of_splits(made, corpora)]


def _of_corpora(made: QuestionSet, corpora: Mapping[str, Corpus]) -> Iterator[Problem]:
    """Corpora that were not opened, or are of another version."""
    for entry in made.corpora:
        corpus = corpora.get(entry.name)
        if corpus is None:
            yield Problem("", "unknown_corpus", f"corpus {entry.name} was not opened")
        elif corpus.version != entry.version:
            what = f"corpus {entry.name} has version {corpus.version}, the set has {entry.version}"
            yield Problem("", "corpus_changed", what)


def _of_questions(made: QuestionSet, opened: Callable[[str], Corpus | None]) -> Iterator[Problem]:
    if not made.questions:
        yield Problem("", "no_questions", f"the set {made.name} has no questions")
    yield from _of_names(made)
    known = {entry.name for entry in made.corpora}
    for name, questions in _by_corpus(made.questions).items():
        corpus = opened(name)
        checker = _Checker(corpus) if corpus is not None else None
        for each in questions:
            if name not in known:
                yield Problem(each.id, "unknown_corpus", f"the set has no corpus {name!r}")
            yield from _alone(each)
            yield from checker.problems(each) if checker else ()


def _of_splits(made: QuestionSet, corpora: Mapping[str, Corpus]) -> Iterator[Problem]:
    for leak in leaks(made.questions, corpora):
        yield Problem(leak.questions[0], "split_leak", leak.message)


def _by_corpus(questions: Iterable[Question]) -> dict[str, list[Question]]:
    grouped: dict[str, list[Question]] = defaultdict(list)
    for each in questions:
        grouped[each.corpus].append(each)
    return grouped


def _of_names(made: QuestionSet) -> Iterator[Problem]:
    """Ids, names and questions that occur twice."""
    for name, times in Counter(each.name for each in made.corpora).items():
        if times > 1:
            yield Problem("", "duplicate_corpus", f"{times} corpora are named {name!r}")
    ids = Counter(each.id for each in made.questions)
    forms: dict[str, str] = {}
    for id_, times in ids.items():
        if times > 1:
            yield Problem(id_, "duplicate_id", f"{times} questions have the id {id_!r}")
        form = unicodedata.normalize("NFC", id_)
        if form in forms:
            yield Problem(id_, "id_form", f"the id is the same as {forms[form]!r} but for its form")
        elif form != id_:
            yield Problem(id_, "id_form", "the id is not in NFC")
        forms.setdefault(form, id_)
    asked: dict[tuple[str, str], str] = {}
    for each in made.questions:
        key = (each.corpus, unicodedata.normalize("NFC", " ".join(each.question.split())))
        if key in asked:
            yield Problem(each.id, "duplicate_question", f"{asked[key]} asks the same")
        asked.setdefault(key, each.id)


def _alone(question: Question) -> Iterator[Problem]:
    """What can be seen without the corpus."""
    for what, texts in (
        ("id", [question.id]),
        ("question", [question.question]),
        ("value of the answer", [*question.answer.values, *question.answer.accepted]),
        ("document", question.documents),
        ("tag", question.tags),
    ):
        if not all(text.strip() for text in texts):
            yield Problem(question.id, "empty", f"{what} without text")
    yield from _promises(question)
    if (fault := _answer_fault(question.answer)) and question.answerable:
        yield Problem(question.id, "answer", fault)
    yield from _of_facts(question)


def _of_facts(question: Question) -> Iterator[Problem]:
    first: dict[frozenset[frozenset[GoldSpan]], int] = {}
    for number, fact in enumerate(question.gold, 1):
        if not fact or not all(fact):
            yield Problem(
                question.id, "empty", f"fact {number}: no alternative, or one without span"
            )
        alternatives = frozenset(map(frozenset, fact))
        if len(alternatives) < len(fact):
            yield Problem(question.id, "duplicate_alternative", f"fact {number}")
        same = first.setdefault(alternatives, number)
        if same != number and fact:
            yield Problem(question.id, "duplicate_fact", f"fact {number} is fact {same} again")
        for alternative in fact:
            yield from _overlaps(question.id, alternative)


def _promises(question: Question) -> Iterator[Problem]:
    """Whether answerable, kind, gold and answer go together."""
    if not question.answerable and (question.gold or question.answer.type != "none"):
        yield Problem(
            question.id, "unanswerable_gold", "unanswerable, and it has gold or an answer"
        )
    if question.answerable and question.kind == "unanswerable":
        yield Problem(question.id, "kind", "of the kind unanswerable, and answerable")
    if question.answerable and not question.gold and question.kind != "aggregate":
        yield Problem(question.id, "no_gold", "answerable, and no gold says where")


def _overlaps(question: str, alternative: Alternative) -> Iterator[Problem]:
    if len(alternative) < 2:
        return
    spans = sorted(alternative, key=lambda each: (each.source, each.start, each.end))
    for before, after in pairwise(spans):
        if before.source == after.source and after.start < before.end:
            where = f"{before.source}: {before.start}-{before.end} and {after.start}-{after.end}"
            yield Problem(question, "overlap", where)


def _answer_fault(answer: TypedAnswer) -> str:
    """Why an answer is not of its type; empty if it is."""
    values = answer.values
    if answer.type == "none":
        return "the answer is none, and it has values" if values else ""
    if answer.type == "set":
        return "" if len(set(values)) == len(values) else "a value occurs twice in the set"
    if len(values) != 1:
        return f"{answer.type}: {len(values)} values, not one"
    fits = _FORMS.get(answer.type)
    return "" if fits is None or fits(values[0]) else f"{values[0]!r} is not of type {answer.type}"


_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d|$)")


def _is_integer(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").isdigit()


def _is_date(text: str) -> bool:
    if not _DATE.match(text):
        return False  # what else is ISO 8601, as weeks and dates without hyphens, is not read in answers
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


_FORMS: dict[str, Callable[[str], bool]] = {
    "integer": _is_integer,
    "date": _is_date,
    "boolean": lambda text: text in ("true", "false"),
}


class _Checker:
    """Gold against the text of one corpus. Texts are held while it lives."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._sources = {each.id: each for each in corpus.sources}
        self._texts: dict[str, str] = {}
        self._partitions: frozenset[str] | None = None

    def problems(self, question: Question) -> Iterator[Problem]:
        """What is wrong with a question's spans, documents and partitions."""
        documents = frozenset(question.documents)
        for each in sorted(documents - self._sources.keys()):
            yield Problem(question.id, "unknown_source", f"document {each!r}")
        gold = [span for fact in question.gold for each in fact for span in each]
        for span in (*gold, *question.allowed):
            fault = self._fault(span)
            if fault is not None:
                yield Problem(question.id, *fault)
        unlisted = sorted({each.source for each in gold} - documents) if documents else ()
        for each in unlisted:
            yield Problem(question.id, "unlisted_document", each)
        yield from self._of_partitions(question)

    def _fault(self, span: GoldSpan) -> tuple[str, str] | None:
        """Code and message of what is wrong with a span."""
        source = self._sources.get(span.source)
        if source is None or not source.readable:
            why = "there is no such source" if source is None else "the source has no text"
            return "unknown_source", f"{span.source}: {why}"
        if not span.quote.strip():
            return "empty", f"{span.source} {span.start}-{span.end}: quote without text"
        text = self._text(span.source)
        if not 0 <= span.start < span.end <= len(text):
            where = f"{span.source} {span.start}-{span.end}"
            return "span_range", f"{where}: the source has {len(text)} characters"
        if text[span.start : span.end] != span.quote:
            where = f"{span.source} {span.start}-{span.end}"
            shown = text[span.start : span.end][:60]
            return "quote", f"{where}: {span.quote[:60]!r}, and the text is {shown!r}"
        return None

    def _text(self, source: str) -> str:
        if source not in self._texts:
            self._texts[source] = self._corpus.text(source)
        return self._texts[source]

    def _of_partitions(self, question: Question) -> Iterator[Problem]:
        if not question.required_partitions:
            return
        if self._partitions is None:
            table = self._corpus.partitions().partition_table
            self._partitions = frozenset(table.column("id").to_pylist())
        unknown = [p for p in question.required_partitions if p not in self._partitions]
        if unknown:
            what = f"{len(unknown)} of {len(question.required_partitions)}, as {unknown[0]}"
            yield Problem(question.id, "unknown_partition", what)
