"""Aggregation: counts, extremes, rankings and differences over logs, generated or one's own."""

from collections.abc import Iterator, Sequence

from data.sets.drafts import Draft, DraftQuestion, Order
from data.sets.generators.chance import Chance
from data.sets.generators.counting import SORTS
from data.sets.generators.haystack import haystack
from data.sets.generators.logs import Log, log
from data.sets.generators.own_lines import own_questions

SIZES = (8_000, 16_000, 32_000, 64_000)
_ASKED = 33
_TRIES = 8
_SERVICES = 3


class Aggregation:
    """The family of aggregation questions."""

    name = "aggregation"
    does = "counts, extremes, rankings and differences over logs"
    takes_files = True

    def drafts(self, order: Order) -> Iterator[Draft]:
        """A question of every sort for each corpus: one of a size that was asked for, or as many as questions take.

        One's own files are one corpus.
        """
        if order.over:
            yield _own(order)
            return
        left = order.questions or (len(SORTS) if order.characters else _ASKED)
        number = 0
        while left > 0:
            made = log_draft(order, f"logs-{number:03}", SIZES[number % len(SIZES)])
            yield made.with_questions(made.questions[:left])
            left -= len(made.questions)
            number += 1


def log_draft(order: Order, name: str, size: int) -> Draft:
    """A generated log, and what can be asked of it."""
    chance = Chance(order.seed, name)
    made = log(chance, order.characters or size, _SERVICES)
    return Draft(name, made.documents, tuple(questions_about(made, name, chance, list(SORTS))))


def questions_about(
    made: Log, name: str, chance: Chance, sorts: Sequence[str]
) -> Iterator[DraftQuestion]:
    """A question of each sort, where the log has a clear answer; none twice."""
    asked: set[str] = set()
    for sort in sorts:
        for _ in range(_TRIES):
            question = SORTS[sort](made, chance)
            if question is not None and question.question not in asked:
                asked.add(question.question)
                size = f"size:{sum(len(each.content) for each in made.documents)}"
                yield question.draft(f"{name}-{sort}", (size,))
                break


def _own(order: Order) -> Draft:
    chance = Chance(order.seed, "own")
    documents = tuple(haystack(order, chance, 0, "en"))
    found = own_questions(documents, chance, order.questions or _ASKED)
    return Draft("own", documents, tuple(each.draft(f"own-{n:03}") for n, each in enumerate(found)))
