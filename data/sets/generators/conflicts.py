"""Conflicts: dated documents that do not agree, and what holds in the end."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from data.questions import Fact, GoldSpan, TypedAnswer
from data.sets.drafts import (
    Document,
    Draft,
    DraftQuestion,
    Order,
    all_of,
    any_of,
    many,
    span,
)
from data.sets.generators.chance import Chance
from data.sets.generators.facts import TOPICS, Telling, Topic, as_people_ask, retell, tell
from data.sets.generators.haystack import Piece, own_documents, planted
from data.sets.generators.names import Names
from data.sets.generators.prose import document

_ASKED = 24
SIZES = (8_000, 24_000)
_EARLY, _MIDDLE, _LATE = "2026-01-12", "2026-03-02", "2026-05-18"
_WRITTEN = {
    "en": {_EARLY: "12 January 2026", _MIDDLE: "2 March 2026", _LATE: "18 May 2026"},
    "zh": {_EARLY: "2026 年 1 月 12 日", _MIDDLE: "2026 年 3 月 2 日", _LATE: "2026 年 5 月 18 日"},
}
_KINDS = ("note", "letter", "memo")


@dataclass(frozen=True, slots=True)
class Entry:
    """What one document says of the matter."""

    date: str
    said: str


@dataclass(frozen=True, slots=True)
class Case:
    """Documents that disagree: what each says, the question, the answer, and the gold made of the spans."""

    entries: tuple[Entry, ...]
    question: str
    answer: TypedAnswer
    gold: Callable[[Sequence[GoldSpan]], tuple[Fact, ...]]


class Conflicts:
    """The family of conflicts: two dated versions, three sources of which one is stale, a retraction, an open one."""

    name = "conflicts"
    does = "two dated versions, a stale source, a retraction, an open one"
    takes_files = True

    def drafts(self, order: Order) -> Iterator[Draft]:
        """Corpora of four questions each, one of every sort; one in four is in Chinese."""
        asked = order.questions or _ASKED
        for number in range(-(-asked // len(SORTS))):
            made = self._draft(order, number)
            yield made.with_questions(made.questions[: asked - number * len(SORTS)])

    def _draft(self, order: Order, number: int) -> Draft:
        name = f"conflicts-{number:03}"
        chance = Chance(order.seed, name)
        language = "zh" if number % 4 == 3 else "en"
        names = Names(chance)
        topics = [t for t in TOPICS if t.language == language and t.name not in ("keys", "dogs")]
        cases = [
            (sort, topic, make(topic, chance, names))
            for (sort, make), topic in zip(SORTS.items(), chance.draw(topics, 4), strict=True)
        ]
        size = order.characters or SIZES[number % len(SIZES)]
        texts, spans = _written(order, chance, [case for _, _, case in cases], size, language)
        questions = tuple(
            _question(f"{name}-{sort}", sort, topic, case, spans[at], chance)
            for at, (sort, topic, case) in enumerate(cases)
        )
        return Draft(name, texts, questions)


def _two_dates(topic: Topic, chance: Chance, names: Names) -> Case:
    old = tell(topic, chance, names)
    new = retell(old, topic, chance, names)
    entries = (Entry(_EARLY, old.statement), Entry(_LATE, new.statement))
    return Case(entries, old.question, new.answer, lambda spans: (all_of(spans),))


def _one_stale(topic: Topic, chance: Chance, names: Names) -> Case:
    stale = tell(topic, chance, names)
    fresh = retell(stale, topic, chance, names)
    entries = (
        Entry(_EARLY, stale.statement),
        Entry(_MIDDLE, fresh.statement),
        Entry(_LATE, _confirmed(fresh)),
    )
    return Case(
        entries,
        stale.question,
        fresh.answer,
        lambda spans: (any_of(spans[1:]), any_of(spans[:1])),
    )


def _retraction(topic: Topic, chance: Chance, names: Names) -> Case:
    wrong = tell(topic, chance, names)
    right = retell(wrong, topic, chance, names)
    when = _WRITTEN[topic.language][_MIDDLE]
    if topic.language == "zh":
        said = f"更正：{when}关于{wrong.subject}的说法有误，现予撤回。{right.statement}"
    else:
        said = f"Correction: what was said on {when} about {wrong.subject} is withdrawn. {right.statement}"
    entries = (Entry(_MIDDLE, wrong.statement), Entry(_LATE, said))
    return Case(entries, wrong.question, right.answer, lambda spans: (all_of(spans),))


def _open(topic: Topic, chance: Chance, names: Names) -> Case:
    one = tell(topic, chance, names)
    other = retell(one, topic, chance, names)
    entries = (Entry(_MIDDLE, one.statement), Entry(_MIDDLE, other.statement))
    if topic.language == "zh":
        question = f"关于{one.subject}，哪些说法互相矛盾？"
    else:
        question = f"Which statements about {one.subject} contradict each other?"
    values = many([one.value, other.value])
    return Case(entries, question, values, lambda spans: (all_of(spans),))


SORTS: dict[str, Callable[[Topic, Chance, Names], Case]] = {
    "dated": _two_dates,
    "stale": _one_stale,
    "retraction": _retraction,
    "open": _open,
}
"""Ways to disagree. In `open` nothing says which holds, and both are asked for."""


def _confirmed(told: Telling) -> str:
    if told.language == "zh":
        return f"再次确认：{told.statement}"
    return f"Once more, since it was asked: {told.statement}"


def _written(
    order: Order, chance: Chance, cases: Sequence[Case], size: int, language: str
) -> tuple[tuple[Document, ...], list[list[GoldSpan]]]:
    """The documents, and for every case the spans of its entries."""
    texts = own_documents(order) if order.over else []
    placed = [(at, entry) for at, case in enumerate(cases) for entry in case.entries]
    spans: list[list[GoldSpan]] = [[] for _ in cases]
    for number, (at, entry) in enumerate(placed):
        name = f"{entry.date}-{_KINDS[number % len(_KINDS)]}-{number}.md"
        filling = str(document(chance, name, size // len(placed), language).content)
        head = _dated(entry.date, language)
        whole, (start,) = planted(filling, [Piece(chance.between(1, 9) / 10, entry.said)])
        texts.append(Document(name, head + whole))
        spans[at].append(span(name, len(head) + start, entry.said))
    return tuple(texts), spans


def _dated(date: str, language: str) -> str:
    """The first line of a document."""
    return ("日期：" if language == "zh" else "Date: ") + _WRITTEN[language][date] + "\n\n"


def _question(
    identifier: str, sort: str, topic: Topic, case: Case, spans: Sequence[GoldSpan], chance: Chance
) -> DraftQuestion:
    asked = case.question
    if sort != "open":
        asked = _now(asked, topic.language)
    return DraftQuestion(
        id=identifier,
        question=as_people_ask(chance, asked, topic.language),
        kind="conflict",
        answer=case.answer,
        gold=case.gold(spans),
        needed=tuple((each.source, each.start, each.end) for each in spans),
        tags=(f"conflict:{sort}", f"topic:{topic.name}", f"language:{topic.language}"),
    )


def _now(question: str, language: str) -> str:
    if language == "zh":
        return f"按最新的说法，{question}"
    return question[:-1] + ", according to the latest word?" if question.endswith("?") else question
