"""Selection: what an answer lacks that rests on the passages that rank best, judged by what its question asks for.

A fact that is found is found, wherever it stood. Several things may be more than were found; a total, an average or the
highest is one only if a passage says so; a no may be answered by a passage that was not read. Kinds that need all of
the text have their coverage for that. This is for the questions whose form leaves it open.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from runtime.claims import Claim
from runtime.questions.mentions import without_quotes
from runtime.questions.plurality import several, tells_together, together
from runtime.questions.polarity import denies, polar

RANKED_ONLY = "only the passages that rank best were read"
"""How the shortfall begins that makes an answer a partial one."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What a selection leaves open, in words (empty: nothing), and whether the answer is only a part for that."""

    words: str = ""
    partial: bool = False


def shortfall(question: str, statements: Sequence[Claim]) -> Shortfall:
    """What statements from the passages that rank best leave open of a question."""
    frame = without_quotes(question)
    if asked := several(frame):
        return Shortfall(f'{RANKED_ONLY}: "{asked}" asks for several, and there may be more', True)
    if (asked := together(frame)) and not _is_told_once(statements, frame):
        reason = f'{RANKED_ONLY}: "{asked}" takes all of the text, and no single passage states it'
        return Shortfall(reason, True)
    if polar(frame) and any(denies(each.text) for each in statements):
        return Shortfall('a "no" from the passages that rank best is not one from all of the text')
    return Shortfall()


def _is_told_once(statements: Sequence[Claim], frame: str) -> bool:
    """Whether one passage says what all values come to. Several totals are parts that nobody has added up."""
    quotes = {each.quote for claim in statements for each in claim.citations}
    return sum(tells_together(each, frame) for each in quotes) == 1
