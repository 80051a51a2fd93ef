"""Counting: questions that only all of a log answers, with the truth computed from the records.

Each sort of question is a function from the records to a question, or to None where the log gives no clear answer: a
tie at the edge of a ranking, an empty difference.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from data.questions import Fact, TypedAnswer
from data.sets.drafts import DraftQuestion, any_of, integer, many, string
from data.sets.generators.chance import Chance
from data.sets.generators.logs import RARE, Log
from data.sets.generators.records import Mask, Records
from data.sets.generators.wording import worded
from data.stretches import Stretch

BY_USER = ("login failed", "payment declined", "coupon rejected")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its truth. `needed` None: every partition of the corpus."""

    sort: str
    question: str
    language: str
    answer: TypedAnswer
    gold: tuple[Fact, ...]
    needed: tuple[Stretch, ...] | None = None

    def draft(self, identifier: str, tags: Sequence[str] = ()) -> DraftQuestion:
        """The question under an id."""
        own = (f"aggregate:{self.sort}", f"language:{self.language}")
        return DraftQuestion(
            id=identifier,
            question=self.question,
            kind="aggregate",
            answer=self.answer,
            gold=self.gold,
            needed=self.needed,
            documents=tuple(dict.fromkeys(source for source, _, _ in self.needed or ())),
            tags=(*own, *tags),
        )


Sort = Callable[[Log, Chance], Asked | None]


def _count(made: Log, chance: Chance) -> Asked | None:
    rows = _event(made.records, made.spread)
    question, language = worded(chance, "count", made.spread)
    return Asked("count", question, language, integer(_total(rows)), _one(made.records, rows))


def _level(made: Log, chance: Chance) -> Asked | None:
    records = made.records
    source = chance.pick(records.sources)
    level = chance.pick(("WARN", "ERROR"))
    rows = records.fields["level"].equals(level) & records.within([source])
    if not rows.any():
        return None
    service = source.removesuffix(".log")
    question, language = worded(chance, "level", level=level, service=service, source=source)
    needed = _whole(made, [source])
    return Asked("level", question, language, integer(_total(rows)), _one(records, rows), needed)


def _hour(made: Log, chance: Chance) -> Asked | None:
    records = made.records
    event = chance.pick(("upstream timeout", "slow query", *BY_USER))
    hour, inside = _an_hour(records, chance)
    rows = _event(records, event) & inside
    if not rows.any():
        return None
    question, language = worded(chance, "hour", event, **_clock(hour))
    needed = _stretch(records, inside)
    return Asked("hour", question, language, integer(_total(rows)), _one(records, rows), needed)


def _first(made: Log, chance: Chance) -> Asked | None:
    return _moment(made, chance, "first")


def _last(made: Log, chance: Chance) -> Asked | None:
    return _moment(made, chance, "last")


def _moment(made: Log, chance: Chance, sort: str) -> Asked | None:
    records = made.records
    present = [each.name for each in RARE if _event(records, each.name).any()]
    event = chance.pick((*present, "coupon rejected"))
    rows = _event(records, event)
    if not rows.any():
        return None
    moment, then = records.first(rows, last=sort == "last")
    question, language = worded(chance, sort, event)
    answer = TypedAnswer(type="date", values=(moment,), accepted=(moment.replace("T", " "),))
    return Asked(sort, question, language, answer, _one(records, then))


def _distinct(made: Log, chance: Chance) -> Asked | None:
    found = _users(made, chance)
    if found is None:
        return None
    event, hour, inside, rows = found
    users = made.records.fields["user"].among(rows)
    question, language = worded(chance, "distinct", event, **_clock(hour))
    gold = _each(made.records, rows, "user", users)
    return Asked("distinct", question, language, many(users), gold, _stretch(made.records, inside))


def _distinct_count(made: Log, chance: Chance) -> Asked | None:
    found = _users(made, chance)
    if found is None:
        return None
    event, hour, inside, rows = found
    users = made.records.fields["user"].among(rows)
    question, language = worded(chance, "distinct_count", event, **_clock(hour))
    gold = _each(made.records, rows, "user", users)
    needed = _stretch(made.records, inside)
    return Asked("distinct_count", question, language, integer(len(users)), gold, needed)


def _top(made: Log, chance: Chance) -> Asked | None:
    event = chance.pick(BY_USER)
    rows = _event(made.records, event)
    ranked = _leading(made.records.fields["user"].counts(rows), (3, 2, 1, 4, 5))
    if len(ranked) < 2:
        return None
    question, language = worded(chance, "top", event, n=str(len(ranked)))
    gold = _each(made.records, rows, "user", ranked)
    return Asked("top", question, language, many(ranked), gold)


def _service(made: Log, chance: Chance) -> Asked | None:
    records = made.records
    event = chance.pick(("upstream timeout", "stock below minimum", *BY_USER))
    rows = _event(records, event)
    totals = {each: _total(rows & records.within([each])) for each in records.sources}
    ranked = _leading(dict(sorted(totals.items(), key=lambda pair: -pair[1])), (1,))
    if not ranked:
        return None
    question, language = worded(chance, "service", event)
    answer = string(ranked[0].removesuffix(".log"), ranked[0])
    gold = _one(records, rows & records.within(ranked))
    return Asked("service", question, language, answer, gold)


def _busiest(made: Log, chance: Chance) -> Asked | None:
    records = made.records
    event = chance.pick(("upstream timeout", "slow query", *BY_USER))
    rows = _event(records, event)
    ranked = _leading(records.hour.counts(rows), (1,))
    if not ranked:
        return None
    hour = ranked[0]
    question, language = worded(chance, "busiest", event)
    spoken = (f"{hour}:00", f"{int(hour)}", f"{hour}:00-{int(hour) + 1:02}:00")
    gold = _one(records, rows & records.hour.equals(hour))
    return Asked("busiest", question, language, string(hour, *spoken), gold)


def _difference(made: Log, chance: Chance) -> Asked | None:
    records = made.records
    event, other = chance.draw(BY_USER, 2)
    hour, inside = _an_hour(records, chance)
    users = records.fields["user"]
    rows = _event(records, event) & inside
    without = frozenset(users.among(_event(records, other) & inside))
    left = [each for each in users.among(rows) if each not in without]
    if not left:
        return None
    question, language = worded(chance, "difference", event, other, **_clock(hour))
    gold = _each(records, rows, "user", left)
    return Asked("difference", question, language, many(left), gold, _stretch(records, inside))


SORTS: dict[str, Sort] = {
    "count": _count,
    "level": _level,
    "hour": _hour,
    "first": _first,
    "last": _last,
    "distinct": _distinct,
    "distinct_count": _distinct_count,
    "top": _top,
    "service": _service,
    "busiest": _busiest,
    "difference": _difference,
}
"""The sorts of questions, by name."""


def _event(records: Records, event: str) -> Mask:
    return records.fields["event"].equals(event)


def _users(made: Log, chance: Chance) -> tuple[str, str, Mask, Mask] | None:
    """An event, an hour, its lines, and those of them with the event; None if there are none."""
    event = chance.pick(BY_USER)
    hour, inside = _an_hour(made.records, chance)
    rows = _event(made.records, event) & inside
    return (event, hour, inside, rows) if rows.any() else None


def _an_hour(records: Records, chance: Chance) -> tuple[str, Mask]:
    hours = records.hour
    hour = chance.pick(hours.among(records.everything()))
    return hour, hours.equals(hour)


def _clock(hour: str) -> dict[str, str]:
    return {"hour": hour, "next": f"{int(hour) + 1:02}"}


def _total(rows: Mask) -> int:
    return int(rows.sum())


def _leading(counts: dict[str, int], wanted: Sequence[int]) -> list[str]:
    """The first values of a ranking, as many as the first of `wanted` at which nothing is tied; none if all are."""
    names, times = list(counts), [*counts.values(), 0]
    for number in wanted:
        if number < len(times) and times[number - 1] > times[number]:
            return names[:number]
    return []


def _one(records: Records, rows: Mask) -> tuple[Fact, ...]:
    """One fact, which every line proves."""
    return (any_of(records.spans(rows)),)


def _each(records: Records, rows: Mask, field: str, values: Sequence[str]) -> tuple[Fact, ...]:
    """One fact a value, which every line with that value proves."""
    column = records.fields[field]
    return tuple(any_of(records.spans(rows & column.equals(value))) for value in values)


def _whole(made: Log, sources: Sequence[str]) -> tuple[Stretch, ...]:
    return tuple((d.name, 0, len(d.content)) for d in made.documents if d.name in sources)


def _stretch(records: Records, rows: Mask) -> tuple[Stretch, ...]:
    """From the first to the last of some lines, source by source."""
    found: list[Stretch] = []
    for code, source in enumerate(records.sources):
        at = np.flatnonzero(rows & (records.source == code))
        if len(at):
            last = int(at[-1])
            end = int(records.start[last]) + len(records.text[last].as_py())
            found.append((source, int(records.start[at[0]]), end))
    return tuple(found)
