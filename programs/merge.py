"""Merging: claims of many leaves become one ordered list, in code.

Nothing is invented and nothing is reconciled: equal claims become one with all their citations, conflicting ones stay
side by side, and the order is that of the text.
"""

from collections.abc import Iterable, Mapping, Sequence

from runtime.claims import Citation, Claim


def merged(claims: Iterable[Claim], rank: Mapping[str, int]) -> tuple[Claim, ...]:
    """Claims without repetition, in the order of sources (`rank`) and offsets; insufficient ones last.

    Two claims are equal when they say the same about the same place: same words and a shared source. The same words
    about another source stay apart, since the same name in two sources is not yet the same thing.
    """
    kept: dict[tuple[str, str, str], Claim] = {}
    for claim in claims:
        source = _first(claim, rank).source if claim.citations else ""
        key = (_normal(claim.text), source, claim.time)
        kept[key] = _joined(kept[key], claim) if key in kept else claim
    return tuple(sorted(kept.values(), key=lambda claim: _place(claim, rank)))


def _normal(text: str) -> str:
    return " ".join(text.split()).casefold()


def _joined(first: Claim, second: Claim) -> Claim:
    places = {(each.source, each.start, each.end): each for each in first.citations}
    for each in second.citations:
        places.setdefault((each.source, each.start, each.end), each)
    statuses = {first.status, second.status}
    status = next(
        each for each in ("conflicting", "direct", "inferred", "insufficient") if each in statuses
    )
    fields = dict.fromkeys((*first.fields, *second.fields))
    return first.model_copy(
        update={
            "citations": tuple(places[key] for key in sorted(places)),
            "status": status,
            "fields": tuple(fields),
        }
    )


def _place(claim: Claim, rank: Mapping[str, int]) -> tuple[int, int, int, str]:
    if not claim.citations:
        return (1, 0, 0, claim.id)
    first = _first(claim, rank)
    return (0, rank.get(first.source, len(rank)), first.start, claim.id)


def _first(claim: Claim, rank: Mapping[str, int]) -> Citation:
    """The citation of a claim that comes first in the order of the text."""
    return min(claim.citations, key=lambda each: (rank.get(each.source, len(rank)), each.start))


def by_id(claims: Sequence[Claim]) -> dict[str, Claim]:
    """Claims by their ids."""
    return {claim.id: claim for claim in claims}
