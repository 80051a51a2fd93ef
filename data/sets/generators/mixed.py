"""Mixed: all kinds of questions over many small corpora and a few larger ones, to compare programs with."""

from collections.abc import Iterator
from dataclasses import replace

from data.sets.drafts import Draft, Order
from data.sets.generators.adversarial import Adversarial
from data.sets.generators.aggregation import Aggregation, log_draft
from data.sets.generators.conflicts import Conflicts
from data.sets.generators.needles import Needles
from data.sets.generators.pairwise import Pairwise
from data.sets.generators.samples import Samples
from data.sets.generators.unanswerable import absent_events, twins

_SHARES = (
    (Needles(), 96),
    (Aggregation(), 66),
    (Pairwise(), 12),
    (Conflicts(), 44),
    (Adversarial(), 44),
)
"""Families and how many questions each gives, of _WHOLE."""

_WHOLE = 330
_TWINS = 36
_ABSENT_LOGS = 4
_LARGE = 300_000
_LARGE_QUESTIONS = 4


class Mixed:
    """The family of all families, with the samples."""

    name = "mixed"
    does = "all six kinds over small corpora, to compare programs with"
    takes_files = False

    def drafts(self, order: Order) -> Iterator[Draft]:
        """Every family with its share, twins of the needles, and the samples: of a large one, a few questions."""
        scale = (order.questions or _WHOLE) / _WHOLE
        needles: list[Draft] = []
        for family, share in _SHARES:
            asked = replace(order, questions=max(1, round(share * scale)))
            for draft in family.drafts(asked):
                if isinstance(family, Needles):
                    needles.append(draft)
                yield draft
        left = max(1, round(_TWINS * scale))
        for number, draft in enumerate(needles):
            first = number % len(draft.questions)
            chosen = (*draft.questions[first:], *draft.questions[:first])[: min(2, left)]
            yield from twins(order, draft.with_questions(chosen))
            left -= len(chosen)
            if left <= 0:
                break
        for number in range(max(1, round(_ABSENT_LOGS * scale))):
            yield absent_events(order, f"absent-{number:03}", 16_000)
        made = log_draft(order, "logs-large", _LARGE)
        yield made.with_questions(made.questions[:_LARGE_QUESTIONS])
        for draft in Samples().drafts(replace(order, questions=None)):
            large = sum(len(each.content) for each in draft.documents) > _LARGE
            yield draft.with_questions(draft.questions[1::4]) if large else draft
