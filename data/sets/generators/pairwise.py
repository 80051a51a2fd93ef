"""Pairwise: questions about pairs of guests of a register, in the manner of OOLONG-Pairs.

Every entry counts: which pairs there are is known only when all of the register has been read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from data.questions import Fact, GoldSpan
from data.sets.drafts import Document, Draft, DraftQuestion, Order, integer, many, span
from data.sets.generators.chance import Chance

SIZES = (8_000, 16_000, 32_000)
_ASKED = 12
_AVERAGE = 52
_VOLUME = 16_000
"""Characters of one file of the register, about."""

_USUAL = ("tea", "coffee", "water", "juice", "soup", "bread")
_RARE = ("a telescope", "a sewing kit", "a chess set", "an umbrella", "a violin", "a map")
_GUESTS = tuple(f"G-{number:03}" for number in range(104, 900, 13))
_HOLDERS = (3, 4, 5)
_TIMES = 2
"""Entries at most in which a guest borrows the same rare thing."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: a guest borrows or orders something on a day."""

    guest: str
    thing: str


class Pairwise:
    """The family of questions about pairs."""

    name = "pairwise"
    does = "all pairs of guests of a register, as in OOLONG-Pairs"
    takes_files = False

    def drafts(self, order: Order) -> Iterator[Draft]:
        """Registers of four questions each."""
        asked = order.questions or _ASKED
        for number in range(-(-asked // 4)):
            name = f"pairs-{number:03}"
            made = _register(order, name, SIZES[number % len(SIZES)])
            yield made.with_questions(made.questions[: asked - 4 * number])


def _register(order: Order, name: str, size: int) -> Draft:
    chance = Chance(order.seed, name)
    things = chance.draw(_RARE, 3)
    holders = {each: chance.draw(_GUESTS, chance.pick(_HOLDERS)) for each in things}
    entries = [
        Entry(guest, thing)
        for thing, guests in holders.items()
        for guest in guests
        for _ in range(chance.between(1, _TIMES))
    ]
    lines = max((order.characters or size) // _AVERAGE, 2 * len(entries))
    usual = [Entry(chance.pick(_GUESTS), chance.pick(_USUAL)) for _ in range(lines - len(entries))]
    documents, spans = _written(chance, _scattered(chance, usual, entries))
    made = _Register(name, holders, spans, chance)
    return Draft(name, documents, tuple(made.questions()))


def _scattered(chance: Chance, usual: Sequence[Entry], rare: Sequence[Entry]) -> list[Entry]:
    """The rare entries at places of chance among the usual ones."""
    places: dict[int, list[Entry]] = {}
    for each in rare:
        places.setdefault(chance.below(len(usual) + 1), []).append(each)
    mixed: list[Entry] = []
    for at in range(len(usual) + 1):
        mixed += places.get(at, ())
        mixed += usual[at : at + 1]
    return mixed


Spans = Mapping[tuple[str, str], list[GoldSpan]]


def _written(
    chance: Chance, entries: Sequence[Entry]
) -> tuple[tuple[Document, ...], dict[tuple[str, str], list[GoldSpan]]]:
    """The files of the register, and where each guest has each thing."""
    documents: list[Document] = []
    spans: dict[tuple[str, str], list[GoldSpan]] = {}
    lines: list[str] = []
    offset = 0
    for number, each in enumerate(entries):
        name = f"register-{len(documents) + 1:03}.txt"
        day = 1 + number * 28 // len(entries)
        room = f"{chance.pick('ABCD')}{chance.between(10, 39)}"
        line = f"{day} March 2026 | guest {each.guest} | received {each.thing} | room {room}"
        spans.setdefault((each.guest, each.thing), []).append(span(name, offset, line))
        lines.append(line)
        offset += len(line) + 1
        if offset > _VOLUME or number == len(entries) - 1:
            documents.append(Document(name, "\n".join(lines) + "\n"))
            lines, offset = [], 0
    return tuple(documents), spans


@dataclass(frozen=True, slots=True)
class _Register:
    """Who had which rare thing, and where it says so."""

    name: str
    holders: Mapping[str, Sequence[str]]
    spans: Spans
    chance: Chance

    def questions(self) -> Iterator[DraftQuestion]:
        """All pairs with the same thing, with two things, and how many."""
        first, second, third = self.holders
        yield self._asked(
            "both",
            f"List all pairs of guests who both received {first} at least once.",
            self._same(first),
        )
        yield self._asked(
            "one_each",
            f"Which pairs of guests are there of whom one received {first} and the other {second}? List every pair.",
            self._crossed(first, second),
        )
        yield self._counted(
            "count",
            f"How many pairs of guests are there in which both received {third}?",
            self._same(third),
        )
        yield self._asked(
            "zh",
            f"请列出所有两人都领过 {second} 的客人组合。",
            self._same(second),
        )

    def _same(self, thing: str) -> dict[str, Fact]:
        return {
            _pair(a, b): self._fact(((a, thing), (b, thing)))
            for a, b in combinations(sorted(self.holders[thing]), 2)
        }

    def _crossed(self, one: str, other: str) -> dict[str, Fact]:
        """Pairs of which one guest has one thing and the other guest the other thing; who has both pairs with both."""
        found: dict[str, Fact] = {}
        for a in sorted(self.holders[one]):
            for b in sorted(self.holders[other]):
                if a != b:
                    fact = self._fact(((a, one), (b, other)))
                    found[_pair(a, b)] = found.get(_pair(a, b), ()) + fact
        return found

    def _fact(self, who: tuple[tuple[str, str], tuple[str, str]]) -> Fact:
        return tuple((a, b) for a in self.spans[who[0]] for b in self.spans[who[1]])

    def _asked(self, sort: str, question: str, pairs: Mapping[str, Fact]) -> DraftQuestion:
        return DraftQuestion(
            f"{self.name}-{sort}",
            question,
            "aggregate",
            many(pairs),
            tuple(pairs.values()),
            tags=("aggregate:pairs", f"language:{'zh' if sort == 'zh' else 'en'}"),
        )

    def _counted(self, sort: str, question: str, pairs: Mapping[str, Fact]) -> DraftQuestion:
        return DraftQuestion(
            f"{self.name}-{sort}",
            question,
            "aggregate",
            integer(len(pairs)),
            tuple(pairs.values()),
            tags=("aggregate:pair_count", "language:en"),
        )


def _pair(one: str, other: str) -> str:
    return " & ".join(sorted((one, other)))
