"""Contradictions among claims: different values for one thing, side by side. Nothing decides which one is right."""

from collections.abc import Iterable, Sequence

from runtime.models.extractive.fields import fields_of, replaces
from signatures import ClaimDigest, ComputedValue

_Sides = dict[str, list[str]]


def contradictions(claims: Iterable[ClaimDigest]) -> list[ComputedValue]:
    """A value for each topic on which claims differ. A claim that says it replaces another is not at odds with it."""
    topics: dict[str, _Sides] = {}
    for claim in claims:
        if claim.status == "insufficient" or replaces(claim.text):
            continue
        for each in fields_of(claim.text):
            sides = topics.setdefault(_key(each.name), {})
            sides.setdefault(_key(each.value), []).append(claim.claim_id)
    told: dict[tuple[tuple[str, ...], ...], list[tuple[str, _Sides]]] = {}
    for topic, sides in topics.items():
        if _at_odds(sides):  # told once for the same claims: a weekday and an hour may both differ
            told.setdefault(tuple(map(tuple, sides.values())), []).append((topic, sides))
    return [_computed(between, found) for between, found in told.items()]


def _at_odds(sides: _Sides) -> bool:
    """Whether different claims give different values; two numbers within one claim are not at odds."""
    return len(sides) > 1 and len({each for ids in sides.values() for each in ids}) > 1


def _computed(
    between: Sequence[Sequence[str]], found: Sequence[tuple[str, _Sides]]
) -> ComputedValue:
    values = (", ".join(stated) for stated in zip(*(sides for _, sides in found), strict=True))
    lines = [
        f"{each} = {value}" for value, ids in zip(values, between, strict=True) for each in ids
    ]
    return ComputedValue(
        name=f"conflict: {', '.join(topic for topic, _ in found)}",
        value="\n".join(lines),
        claim_ids=list(dict.fromkeys(each for ids in between for each in ids)),
    )


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()
