"""Leaves: one short document a question, a part of a log or of some minutes, no longer than what a leaf call is shown.

They are for reading alone, without search or plan: to train and to measure the reader of a leaf, also a small model on
a slow machine. Every document has lines that look like the answer and are not.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from data.questions import TypedAnswer
from data.sets.drafts import (
    NOTHING,
    Document,
    Draft,
    DraftQuestion,
    Order,
    any_of,
    many,
    span,
    string,
)
from data.sets.generators.chance import Chance
from data.sets.generators.facts import TOPICS, Telling, tell
from data.sets.generators.logs import EVENTS, SERVICES, USERS
from data.sets.generators.names import Names
from data.sets.generators.prose import sentence

_ASKED = 60
_LINES = 8
_FILLING = 4
_PERIOD, _SILENT = 8, (3, 6)
"""Of so many questions, these ask for what their document does not say: one of a log, one of minutes."""

_MONITORED = (
    ("payment declined", "For which user was the payment of order {n} declined?"),
    ("slow query", "How many milliseconds did the slow query of request {n} take?"),
    ("coupon rejected", "Which user's coupon was rejected in order {n}?"),
    ("stock below minimum", "Which article was below its minimum stock in order {n}?"),
)
"""Events of which one is asked for by its number, with the question."""


class Leaves:
    """The family of single readings: a log and a page of minutes by turns, with one question each."""

    name = "leaves"
    does = "one short log or page of minutes each, to train readers on"
    takes_files = False

    def drafts(self, order: Order) -> Iterator[Draft]:
        """A corpus a question; one in four has no answer."""
        for number in range(order.questions or _ASKED):
            name = f"leaf-{number:03}"
            chance = Chance(order.seed, name)
            answerable = number % _PERIOD not in _SILENT
            make = _MAKERS[(number // 2) % len(_MAKERS)] if number % 2 else _minutes
            yield make(chance, name, answerable)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a log as it is made: what it is an event of, its user and its number."""

    event: str
    user: str
    number: str
    small: str
    text: str


def _numbered(chance: Chance, name: str, answerable: bool) -> Draft:
    """What a log says of one number."""
    event, asked = chance.pick(_MONITORED)
    lines = _lines(chance, [event] * 3)
    meant = chance.pick([each for each in lines if each.event == event])
    number = meant.number if answerable else str(int(meant.number) + 17)
    given = meant.small if event in ("slow query", "stock below minimum") else meant.user
    return _log(name, lines, asked.format(n=number), string(given), [meant] if answerable else [])


def _listed(chance: Chance, name: str, answerable: bool) -> Draft:
    """The users of one kind of event in a log: two or three, or none."""
    lines = _lines(chance, ["login failed"] * (chance.between(2, 3) if answerable else 0))
    meant = [each for each in lines if each.event == "login failed"]
    users = many(dict.fromkeys(each.user for each in meant))
    return _log(name, lines, "For which users did a login fail? Name all of them.", users, meant)


def _lines(chance: Chance, planted: list[str]) -> list[_Line]:
    """Lines of a log with some planted events, and no other event of their kind."""
    events = {each.name: each for each in EVENTS}
    kept_out = {*planted, "login failed"}
    others = [each for each in events if each not in kept_out]
    chosen = chance.shuffled(planted + [chance.pick(others) for _ in range(_LINES - len(planted))])
    service, second = chance.pick(SERVICES), chance.between(0, 9) * 60
    made = []
    for each in chosen:
        second += chance.between(1, 40)
        user, number = chance.pick(USERS), str(chance.between(1_000_000, 9_999_000))
        small = str(chance.between(100, 2999))
        said = events[each].message.format(u=user, n=number, m=small)
        stamp = f"2026-03-02 09:{second // 60:02}:{second % 60:02}"
        text = f"{stamp} {events[each].level:5} [{service}] {said}"
        made.append(_Line(each, user, number, small, text))
    return made


def _log(
    name: str, lines: list[_Line], question: str, answer: TypedAnswer, meant: list[_Line]
) -> Draft:
    source, starts, at = f"{name}.log", {}, 0
    for each in lines:
        starts[each.text] = at
        at += len(each.text) + 1
    gold = tuple(any_of([span(source, starts[each.text], each.text)]) for each in meant)
    asked = DraftQuestion(
        id=name,
        question=question,
        kind="local" if meant else "unanswerable",
        answer=answer if meant else NOTHING,
        gold=gold,
        documents=(source,),
        tags=("form:log",),
    )
    text = "".join(f"{each.text}\n" for each in lines)
    return Draft(name, (Document(source, text),), (asked,))


def _minutes(chance: Chance, name: str, answerable: bool) -> Draft:
    """What some minutes say of one subject; others of its kind are spoken of too."""
    names, source = Names(chance), f"{name}.md"
    topics = [each for each in TOPICS if each.language == "en"]
    topic = chance.pick(topics)
    same = [tell(topic, chance, names) for _ in range(2)]
    other = tell(chance.pick([each for each in topics if each is not topic]), chance, names)
    missing = tell(topic, chance, names)
    told = chance.shuffled([*same, other])
    paragraphs = chance.shuffled([*told, *(None for _ in range(_FILLING))])
    text, place = f"# Minutes of the {names.place()} committee\n\n", 0
    for number, each in enumerate(paragraphs, start=1):
        text += f"{number}. "
        place = len(text) if each is same[0] else place
        text += f"{each.statement if isinstance(each, Telling) else sentence(chance, 'en')}\n"
    fact = span(source, place, same[0].statement)
    asked = DraftQuestion(
        id=name,
        question=(same[0] if answerable else missing).question,
        kind="local" if answerable else "unanswerable",
        answer=same[0].answer if answerable else NOTHING,
        gold=(any_of([fact]),) if answerable else (),
        documents=(source,),
        tags=("form:minutes", f"topic:{topic.name}"),
    )
    return Draft(name, (Document(source, text),), (asked,))


_MAKERS: tuple[Callable[[Chance, str, bool], Draft], ...] = (_numbered, _listed, _numbered)
