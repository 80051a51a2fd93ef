"""Needles: facts planted in a haystack at chosen depths and lengths, asked for with and without its words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from data.sets.drafts import Document, Draft, DraftQuestion, Order, any_of, span
from data.sets.generators.chance import Chance
from data.sets.generators.facts import TOPICS, Telling, as_people_ask, resident, tell
from data.sets.generators.haystack import Piece, haystack, planted
from data.sets.generators.names import Names
from data.sets.generators.prose import sentence

DEPTHS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
LENGTHS = (0, 2, 6)
"""Sentences of filling around the one that states the fact, in the same paragraph."""

SIZES = (8_000, 16_000, 32_000, 64_000)
_ASKED = 30
_A_CORPUS = 6
"""Needles in one corpus."""


@dataclass(frozen=True, slots=True)
class Needle:
    """A fact with its place: the document, the depth in it, and how much is said around it.

    `overlap` is what question and text have in common: yes (their words), name (the subject alone), or no.
    """

    told: Telling
    overlap: str
    document: int
    depth: float
    length: int


@dataclass(frozen=True, slots=True)
class Needles:
    """The family of needles, at the depths and with the lengths that are chosen."""

    depths: tuple[float, ...] = DEPTHS
    lengths: tuple[int, ...] = LENGTHS

    name: str = field(default="needles", init=False)
    does: str = field(
        default="facts at chosen depths and lengths, with or without word overlap", init=False
    )
    takes_files: bool = field(default=True, init=False)

    def drafts(self, order: Order) -> Iterator[Draft]:
        """Corpora of six needles each; one in four is in Chinese."""
        asked = order.questions or _ASKED
        for number in range(-(-asked // _A_CORPUS)):
            language = "zh" if number % 4 == 3 else "en"
            size = SIZES[number % len(SIZES)]
            made = needle_draft(
                order,
                f"needles-{number:03}",
                size,
                language,
                depths=self.depths,
                lengths=self.lengths,
            )
            yield made.with_questions(made.questions[: asked - number * _A_CORPUS])


def needle_draft(
    order: Order,
    name: str,
    size: int,
    language: str,
    *,
    depths: Sequence[float] = DEPTHS,
    lengths: Sequence[int] = LENGTHS,
) -> Draft:
    """One corpus with its needles."""
    chance = Chance(order.seed, name)
    documents = haystack(order, chance, size, language)
    needles = [
        Needle(told, overlap, chance.below(len(documents)), depth, chance.pick(lengths))
        for (told, overlap), depth in zip(
            _facts(chance, language), _spread(chance, depths), strict=True
        )
    ]
    return bury(name, documents, needles, chance)


def bury(
    name: str, documents: Sequence[Document], needles: Sequence[Needle], chance: Chance
) -> Draft:
    """Plant the needles in the documents, and ask for each."""
    buried: list[Document] = []
    questions: dict[int, DraftQuestion] = {}
    for at, document in enumerate(documents):
        mine = [number for number, needle in enumerate(needles) if needle.document == at]
        paragraphs = [_paragraph(chance, needles[number]) for number in mine]
        pieces = [
            Piece(needles[number].depth, text)
            for number, (text, _) in zip(mine, paragraphs, strict=True)
        ]
        text, starts = planted(str(document.content), pieces)
        buried.append(Document(document.name, text))
        for number, start, (_, inside) in zip(mine, starts, paragraphs, strict=True):
            questions[number] = _question(
                f"{name}-{number}", needles[number], document.name, start + inside, chance
            )
    return Draft(name, tuple(buried), tuple(questions[number] for number in sorted(questions)))


def _facts(chance: Chance, language: str) -> list[tuple[Telling, str]]:
    """Three facts in the words of their questions, one by its name alone, two in other words; each with its overlap."""
    names = Names(chance)
    topics = chance.draw([each for each in TOPICS if each.language == language], 5)
    told = [(tell(topic, chance, names), "yes") for topic in topics[:3]]
    told.append((tell(topics[3], chance, names, said="named"), "name"))
    told.append((tell(topics[4], chance, names, said="oblique"), "no"))
    told.append((resident(chance, names, language), "no"))
    return told


def _spread(chance: Chance, depths: Sequence[float]) -> list[float]:
    """A depth for every needle, each as often as the others."""
    return (chance.shuffled(depths) * _A_CORPUS)[:_A_CORPUS]


def _paragraph(chance: Chance, needle: Needle) -> tuple[str, int]:
    """The paragraph of a needle, and where in it the fact begins."""
    language = needle.told.language
    gap = "" if language == "zh" else " "
    around = [sentence(chance, language) for _ in range(needle.length)]
    before = "".join(each + gap for each in around[: needle.length // 2])
    after = "".join(gap + each for each in around[needle.length // 2 :])
    return before + needle.told.statement + after, len(before)


def _question(
    identifier: str, needle: Needle, source: str, start: int, chance: Chance
) -> DraftQuestion:
    told = needle.told
    gold = span(source, start, told.statement)
    return DraftQuestion(
        id=identifier,
        question=as_people_ask(chance, told.question, told.language),
        kind="lookup" if needle.overlap == "yes" else "local",
        answer=told.answer,
        gold=(any_of([gold]),),
        needed=((source, gold.start, gold.end),),
        tags=(
            f"topic:{told.topic}",
            f"language:{told.language}",
            f"depth:{needle.depth:g}",
            f"length:{needle.length}",
            f"overlap:{needle.overlap}",
        ),
    )
