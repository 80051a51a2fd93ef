"""Tally: the number that a question about a number is answered with, and whether code has counted it.

What readers report can be counted, too. That number is one of statements: a reader sees several lines in one, or none.
It never looks like a count of what stands in the text.
"""

import re
from collections.abc import Collection, Iterable

from programs.coverage import payloads_of
from runtime.claims import Claim, Computed
from runtime.frames import Frame
from runtime.observations import ComputedResult, Returned

OF_STATEMENTS = "count_of_statements"
"""Name of a computed count of what readers reported."""

NOT_BY_CODE = (
    "the number was not counted by code: readers may report several lines in one statement, or none"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def counted_lines(root: Frame) -> str:
    """The last count in words, empty without one: a count answers also when it is 0 and states nothing else."""
    counts = _counts(root)
    lines = [line for value in counts for line in value.lines]
    return "\n".join(lines) or ("Nothing was counted." if counts else "")


def counted_by_code(root: Frame) -> bool:
    """Whether the last count is one of what stands in the text."""
    return by_code(_counts(root))


def by_code(values: Collection[Computed]) -> bool:
    """Whether there are computed values and none is a count of what readers reported."""
    return bool(values) and not any(map(is_of_statements, values))


def is_of_statements(value: Computed) -> bool:
    """Whether a computed value is a count of what readers reported."""
    return value.name == OF_STATEMENTS


def stated(claims: Iterable[Claim]) -> bool:
    """Whether every number of some claims stands in what they quote: then the text gives it, and nobody counted."""
    return all(
        re.search(rf"(?<![\d.,]){re.escape(number)}(?![\d])", "\n".join(_quotes(claim)))
        for claim in claims
        for number in _NUMBER.findall(claim.text)
    )


def only_child(root: Frame) -> list[Returned]:
    """The child frame that computed a value, if only one did: with several, none is the value of the answer."""
    valued = [each for each in payloads_of(root) if isinstance(each, Returned) and each.computed]
    return valued if len(valued) == 1 else []


def _counts(root: Frame) -> tuple[Computed, ...]:
    """What the last count of a frame computed; without one, that of its only child that has a count."""
    own = [
        each.computed
        for each in payloads_of(root)
        if isinstance(each, ComputedResult) and each.operation.startswith("count")
    ]
    handed_up = [
        each.computed
        for each in only_child(root)
        if any(value.name.startswith("count") for value in each.computed)
    ]
    return next(reversed(own or handed_up), ())


def _quotes(claim: Claim) -> list[str]:
    return [each.quote for each in claim.citations]
