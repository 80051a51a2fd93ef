"""Leakage: what instructions and demos hold of documents, and of the gold of the test questions.

A program that is handed on must not carry the text that it was optimized on, and a test result is worth nothing when
the program was told the answers. Nobody else can check it: programs know no questions. So whoever saves a bundle of an
optimization calls `check_leaks` before `save_bundle`.

What stands in `known`, the state of the program before, is no leak; nor is gold of the test split that also stands in a
train question or its documents.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Literal

from data.questions import Question, QuestionSet
from data.sets.splits import documents_of
from evals.run import Corpora
from evals.shared_runs import LEAST, Run, SourceKey, shared_runs
from evals.state_texts import Place, StateText, bare, state_texts
from programs.program_state import State
from runtime.errors import BundleError

LONGEST_RUN = 400
"""Characters on end that one demo, or the instructions of a predictor, may have of one source."""
MOST_TEXT = 2_000
"""Characters of all sources together that one of them may have, in pieces of LEAST and more."""
PASSAGE = 120
"""From this length on, a stretch of a test document is one that may have told something."""
QUOTE = 16
ANSWER = 8
"""Shorter quotes and answers (a number, a yes) stand everywhere."""
_SEAM = 2
"""Characters (a line break) that may be missing between two spans of a demo that follow each other in a source."""
_SHOWN = 5

Kind = Literal["whole", "run", "total", "quote", "answer", "passage"]


@dataclass(frozen=True, slots=True)
class Leak:
    """Something that a state must not hold. `subject` is a source, or the id of a test question."""

    kind: Kind
    place: Place
    subject: str
    message: str


def leaks(
    state: State,
    made: QuestionSet,
    corpora: Corpora,
    splits: Mapping[str, Iterable[str]],
    *,
    known: State | None = None,
) -> list[Leak]:
    """What a state holds of documents and of test gold, in its order; each thing is told once a place.

    `splits` has the ids of the questions by split, `corpora` opens a corpus by its name.
    """
    search = _Search(
        texts=state_texts(state),
        known=[each.text for each in state_texts(known or {})],
        train=_chosen(made, splits.get("train", ())),
        test=_chosen(made, splits.get("test", ())),
        names=_corpora_of(made, [id for ids in splits.values() for id in ids]),
        corpora=corpora,
    )
    found = {
        (e.kind, e.place, e.subject): e for e in reversed([*search.documents(), *search.gold()])
    }
    order = {each.place: number for number, each in reversed(list(enumerate(search.texts)))}
    return sorted(found.values(), key=lambda each: (order[each.place], each.kind, each.subject))


def check_leaks(
    state: State,
    made: QuestionSet,
    corpora: Corpora,
    splits: Mapping[str, Iterable[str]],
    *,
    known: State | None = None,
) -> None:
    """Raise BundleError when there are leaks."""
    found = leaks(state, made, corpora, splits, known=known)
    if not found:
        return
    more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    told = "\n  ".join([*(each.message for each in found[:_SHOWN]), *more])
    raise BundleError(
        f"the program holds what it must not be handed on with:\n  {told}",
        hint="pick another candidate, or optimize with fewer or shorter demos",
    )


@dataclass
class _Search:
    """One search through a state. `texts` are in the order of places and their leaves."""

    texts: Sequence[StateText]
    known: Sequence[str]
    train: Sequence[Question]
    test: Sequence[Question]
    names: Sequence[str]
    corpora: Corpora

    def documents(self) -> Iterator[Leak]:
        """Text of sources: too much of it, or any of a test document."""
        for place, runs in self._runs_by_place().items():
            yield from self._of_sources(place, runs)
            covered = self._covered(runs)
            if covered > MOST_TEXT:
                text = (
                    f"{place} holds {covered:,} characters of documents ({MOST_TEXT:,} are allowed)"
                )
                yield Leak("total", place, "", text)

    def gold(self) -> Iterator[Leak]:
        """Quotes and answers of test questions."""
        quotes = [(e.id, q) for e in self.test for q in _quotes(e) if len(q) >= QUOTE]
        answers = [(e.id, v) for e in self.test for v in _values(e) if len(v) >= ANSWER]
        for (question, quote), place in self._standing(quotes, QUOTE):
            told = f"{place} holds a gold quote of the test question {question}: {_short(quote)}"
            yield Leak("quote", place, question, told)
        for (question, value), place in self._standing(answers, ANSWER):
            told = f"{place} holds an answer of the test question {question}: {_short(value)}"
            yield Leak("answer", place, question, told)

    @cached_property
    def _test_sources(self) -> set[SourceKey]:
        return _sources(self.test)

    @cached_property
    def _train_sources(self) -> set[SourceKey]:
        return _sources(self.train)

    @cached_property
    def _runs(self) -> list[Run]:
        texts = [each.text for each in self.texts]
        known: dict[str, bool] = {}  # a line that a log repeats is the same piece again and again
        found = []
        for run in shared_runs(texts, self._all_sources()):
            piece = texts[run.text][run.at : run.at + run.length]
            if piece not in known:
                known[piece] = self._is_known(piece)
            if not known[piece]:
                found.append(run)
        return found

    def _all_sources(self) -> Iterator[tuple[SourceKey, str]]:
        for name in self.names:
            for source in self.corpora(name).sources:
                if source.readable and source.characters >= LEAST:
                    yield (name, source.id), self._text((name, source.id))

    def _text(self, key: SourceKey) -> str:
        return bare(self.corpora(key[0]).text(key[1]))

    def _is_known(self, piece: str) -> bool:
        return any(piece in each for each in self.known)

    def _runs_by_place(self) -> dict[Place, list[Run]]:
        found: dict[Place, list[Run]] = defaultdict(list)
        for run in sorted(self._runs, key=lambda each: each.text):
            found[self.texts[run.text].place].append(run)
        return found

    def _of_sources(self, place: Place, runs: Sequence[Run]) -> Iterator[Leak]:
        by_source: dict[SourceKey, list[Run]] = defaultdict(list)
        for run in runs:
            by_source[run.source].append(run)
        for key, mine in by_source.items():
            name = "/".join(key)
            whole, longest = self._whole_length(key), self._longest(mine)
            if longest >= whole:
                yield Leak("whole", place, name, f"{place} holds the whole of {name}")
            elif longest > LONGEST_RUN:
                told = f"{place} holds {longest:,} characters on end of {name}"
                yield Leak("run", place, name, f"{told} ({LONGEST_RUN} are allowed)")
            passage = max((e.length for e in mine if self._is_test_only(e)), default=0)
            if passage:
                told = (
                    f"{place} holds a passage of {passage:,} characters of the test document {name}"
                )
                yield Leak("passage", place, name, told)

    def _whole_length(self, key: SourceKey) -> int:
        """Characters of a source without white space at its ends."""
        return max(LEAST, len(self._text(key).strip()))

    def _longest(self, runs: Sequence[Run]) -> int:
        """The longest stretch of one source in a place, also where it goes on from one text of a demo to the next."""
        ends: dict[int, int] = {}
        for _, group in groupby(runs, key=lambda each: self.texts[each.text].leaf):
            new: dict[int, int] = {}
            for run in group:
                before = max(ends.get(run.start - gap, 0) for gap in range(_SEAM + 1))
                new[run.end] = max(new.get(run.end, 0), before + run.length)
            for end, length in new.items():
                ends[end] = max(ends.get(end, 0), length)
        return max(ends.values())

    def _covered(self, runs: Sequence[Run]) -> int:
        """Characters of sources in a place, in the form of each text that has most; what it repeats counts once."""
        pieces: dict[int, list[str]] = {}
        for number, mine in groupby(runs, key=lambda each: each.text):
            found = self._pieces(number, list(mine))
            leaf = self.texts[number].leaf
            if sum(map(len, found)) > sum(map(len, pieces.get(leaf, ()))):
                pieces[leaf] = found
        counted: list[str] = []
        for piece in sorted((e for each in pieces.values() for e in each), key=len, reverse=True):
            if not any(piece in each for each in counted):
                counted.append(piece)
        return sum(map(len, counted))

    def _pieces(self, number: int, runs: Sequence[Run]) -> list[str]:
        """The stretches of a text that are of some source, those that touch joined."""
        text = self.texts[number].text
        joined: list[list[int]] = []
        for run in sorted(runs, key=lambda each: each.at):
            if joined and run.at <= joined[-1][1]:
                joined[-1][1] = max(joined[-1][1], run.at + run.length)
            else:
                joined.append([run.at, run.at + run.length])
        return [text[start:end] for start, end in joined]

    @cached_property
    def _train_reach(self) -> dict[int, list[int]]:
        """By text and position: how far text of a train document reaches that begins there or before."""
        reach: dict[int, list[int]] = {}
        for run in self._runs:
            if run.source in self._train_sources:
                ends = reach.setdefault(run.text, [0] * (len(self.texts[run.text].text) + 1))
                ends[run.at] = max(ends[run.at], run.at + run.length)
        for ends in reach.values():
            for at in range(1, len(ends)):
                ends[at] = max(ends[at], ends[at - 1])
        return reach

    def _is_test_only(self, run: Run) -> bool:
        """Whether a run is a passage of a test document that stands in no train document."""
        if run.source not in self._test_sources or run.length < PASSAGE:
            return False
        ends = self._train_reach.get(run.text)
        return ends is None or ends[run.at] < run.at + run.length

    def _standing(
        self, gold: Sequence[tuple[str, str]], least: int
    ) -> Iterator[tuple[tuple[str, str], Place]]:
        """Gold that stands in a text of the state, and in nothing that a program may have learned it from."""
        begun = {
            each.text[at : at + least]
            for each in self.texts
            for at in range(len(each.text) - least + 1)
        }
        for question, text in gold:
            if text[:least] not in begun or self._is_known(text) or self._is_taught(text):
                continue
            for each in self.texts:
                if text in each.text:
                    yield (question, text), each.place

    def _is_taught(self, text: str) -> bool:
        """Whether a text stands in a train question or in one of its documents."""
        for question in self.train:
            told = (question.question, *_values(question), *_quotes(question))
            if any(text in each for each in told):
                return True
        return any(
            text in self._text(key)
            for key in self._train_sources
            if self.corpora(key[0]).source(key[1]).readable
        )


def _chosen(made: QuestionSet, ids: Iterable[str]) -> list[Question]:
    wanted = set(ids)
    return [each for each in made.questions if each.id in wanted]


def _corpora_of(made: QuestionSet, ids: Iterable[str]) -> list[str]:
    """The names of the corpora of some questions."""
    return list(dict.fromkeys(each.corpus for each in _chosen(made, ids)))


def _sources(questions: Iterable[Question]) -> set[SourceKey]:
    return {(each.corpus, source) for each in questions for source in documents_of(each)}


def _quotes(question: Question) -> Iterator[str]:
    return (bare(span.quote) for fact in question.gold for each in fact for span in each)


def _values(question: Question) -> tuple[str, ...]:
    return tuple(map(bare, (*question.answer.values, *question.answer.accepted)))


def _short(text: str) -> str:
    """The beginning of a text: a message must not leak the rest of it."""
    return repr(text if len(text) <= 24 else text[:20] + "…")
