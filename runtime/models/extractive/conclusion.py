"""The conclusion: the statements of an answer, from verified claims and computed values alone."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from runtime.models.extractive.chronicle import Happening, body_of, choose, in_order, shown_times
from runtime.models.extractive.material import Material
from runtime.models.extractive.relevance import shares
from runtime.models.extractive.valuation import COUNTS, is_value, repeats, values_stated
from runtime.models.extractive.wording import Wording
from runtime.questions.classifier import counts_different
from runtime.questions.mentions import demands, names, without_quotes
from runtime.questions.notation import unique
from runtime.questions.ranking import ranks_values, states_rank
from signatures import ClaimDigest, ClaimStatus, ComputedValue, Statement

_MAX_STATEMENTS = 8
_MAX_LISTED = 60
_MAX_MERGED_CHARS = 600
_WEAK = 0.35
_SIDE = re.compile(r"^(?P<claim>[^=\s]+)\s*=\s*(?P<value>.*)$", re.DOTALL)
_CONFLICT_FRAME = re.compile(
    r"\b(?:contradict\w*|conflict\w*|inconsisten\w*|disagree\w*|differ\w*|decisions?|decided|statements?|minutes"
    r"|meetings?|documents?|reports?|sources?|figures?|earlier|later|previous|say\w*|said|one|other|another)\b"
    r"|互相|相互|前后|矛盾|冲突|不一致|决议|决定|会议|纪要|文件|说法|哪些|什么|之间|存在",
    re.IGNORECASE,
)
_SPREAD = re.compile(r"^\[(?P<times>\d+) times until (?P<until>[^\]\n]*)\] ?")


@dataclass(frozen=True)
class Conclusion:
    """What `Conclude` asks for."""

    statements: list[Statement]
    unknowns: list[str]


def conclude(material: Material) -> Conclusion:
    """The statements that answer the question, and what stays open."""
    frame, words = without_quotes(material.asked), material.wording
    ranked = ranks_values(frame)
    different = material.kind == "list" and counts_different(frame)
    own = _ranked if ranked else _distinct if different else None
    statements = (own or _RECIPES.get(material.kind, _stated))(material)
    if own and not statements:
        return Conclusion([], [words.no_ranking if ranked else words.no_distinct])
    return Conclusion(statements, [] if statements else _open(material))


def _open(material: Material) -> list[str]:
    """What was asked and not found, and where it was looked for."""
    words = material.wording
    if material.kind == "conflict":
        unknowns = [words.no_conflict]
    elif material.kind == "count":
        unknowns = [words.not_computed.format(question=material.asked)]
    else:
        unknowns = [words.nothing.format(question=material.asked)]
    if any(claim.status == "insufficient" for claim in material.claims):
        unknowns.append(words.weak_only)
    if material.coverage.strip():
        unknowns.append(words.nothing_in.format(coverage=" ".join(material.coverage.split())))
    return unknowns


def _counted(material: Material) -> list[Statement]:
    """The counts; where another clause of the question asks for more, also the claims that were not counted."""
    values = values_stated(material, lambda value: value.name in COUNTS)
    if not values or not demands(material.asked):
        return values
    counted = {each for value in material.computed for each in value.claim_ids}
    rest = tuple(claim for claim in material.claims if claim.claim_id not in counted)
    return values + _sayings(replace(material, claims=rest), _MAX_STATEMENTS)


def _ranked(material: Material) -> list[Statement]:
    """Which value occurs most: what code counted by source or time, or the text says itself; a line shows nothing."""
    counts = values_stated(material, lambda value: value.name.startswith("count_by_"))
    said = tuple(claim for claim in material.claims if states_rank(_told(claim)))
    return counts or _sayings(replace(material, claims=said), _MAX_STATEMENTS)


def _distinct(material: Material) -> list[Statement]:
    """How many different things there are: the values that code told apart; lines that mention them are no number."""
    said = {" ".join(claim.text.split()) for claim in material.claims}
    return values_stated(
        material, lambda value: value.name == "distinct" and not repeats(value, said)
    )


def _stated(material: Material) -> list[Statement]:
    """Computed values first; where a value answers the question, the claims behind it need no repetition."""
    values = values_stated(material, is_value)
    return values or _sayings(material, _MAX_STATEMENTS)


def _existing(material: Material) -> list[Statement]:
    return _sayings(material, _MAX_STATEMENTS)


def _listed(material: Material) -> list[Statement]:
    """The distinct values, then each claim: a list is not cut by relevance, only by the names it is asked for."""
    said = {" ".join(claim.text.split()) for claim in material.claims}
    values = values_stated(material, lambda value: is_value(value) and not repeats(value, said))
    return values + _each(_bearing_a_name(material), _MAX_LISTED)


def _bearing_a_name(material: Material) -> list[ClaimDigest]:
    """The claims with one of the question's proper names; all, where no claim has one."""
    wanted = [name.casefold() for name in names(material.asked)]
    kept = [c for c in material.usable if any(name in _told(c).casefold() for name in wanted)]
    return kept or material.usable


def _sayings(material: Material, cap: int) -> list[Statement]:
    """The claims that answer best, best first; neighbors of one source become one statement."""
    claims = material.usable
    scores = _relevance(material.asked, claims)
    best = max(scores, default=0.0)
    kept = [i for i, score in enumerate(scores) if score >= _WEAK * best]
    kept = sorted(sorted(kept, key=lambda i: (-scores[i], i))[: 3 * cap])
    groups = _neighbors(claims, kept)
    groups.sort(key=lambda group: (-max(scores[i] for i in group), group[0]))
    return [_merged([claims[i] for i in group]) for group in groups[:cap]]


def _relevance(question: str, claims: Sequence[ClaimDigest]) -> list[float]:
    return shares(question, [_told(claim) for claim in claims])


def _told(claim: ClaimDigest) -> str:
    """The text of a claim with those of its quotes that say more."""
    return " ".join((claim.text, *(quote for quote in claim.quotes if quote not in claim.text)))


def _neighbors(claims: Sequence[ClaimDigest], kept: Sequence[int]) -> list[list[int]]:
    """Runs of kept claims that follow each other in one source and have one status."""
    groups: list[list[int]] = []
    size = 0
    for i in kept:
        last = groups[-1][-1] if groups else -2
        together = (
            i == last + 1
            and claims[i].sources == claims[last].sources
            and claims[i].status == claims[last].status
            and size + len(claims[i].text) <= _MAX_MERGED_CHARS
        )
        size = size + len(claims[i].text) if together else len(claims[i].text)
        if together:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _merged(claims: Sequence[ClaimDigest]) -> Statement:
    texts = dict.fromkeys(" ".join(claim.text.split()) for claim in claims)
    return Statement(
        text=" ".join(texts),
        status=claims[0].status,
        claim_ids=[claim.claim_id for claim in claims],
    )


def _each(claims: Sequence[ClaimDigest], cap: int) -> list[Statement]:
    """One statement for each different text; those beyond the cap are gathered in the last one."""
    same: dict[tuple[str, ClaimStatus], list[ClaimDigest]] = {}
    for claim in claims:
        same.setdefault((" ".join(claim.text.split()), claim.status), []).append(claim)
    groups = list(same.values())
    if len(groups) > cap:
        groups = [*groups[: cap - 1], [claim for group in groups[cap - 1 :] for claim in group]]
    return [_merged(group) for group in groups]


def _chronicle(material: Material) -> list[Statement]:
    """The course of events, in the order that code computed."""
    chosen = choose(_ordered(material), without_quotes(material.asked))
    known = material.by_id
    clocks = shown_times(time for each in chosen for time in (each.time, each.until))
    return [
        Statement(
            text=_event_text(each, clocks, material.wording),
            status=known[each.claim_id].status,
            claim_ids=[each.claim_id],
        )
        for each in chosen
    ]


def _ordered(material: Material) -> list[Happening]:
    """The claims in the order of the computed timeline, or by their own times where it names none of them."""
    usable = {claim.claim_id: claim for claim in material.usable}
    timelines = [value for value in material.computed if value.name == "timeline"]
    widest = max(timelines, key=lambda value: len(value.claim_ids), default=None)
    found: dict[str, Happening] = {}
    for line in widest.value.splitlines() if widest else ():
        happening = _timeline_entry(line, usable)
        if happening:
            found.setdefault(happening.claim_id, happening)
    return list(found.values()) or in_order([_happening(each) for each in usable.values()])


def _timeline_entry(line: str, known: Mapping[str, ClaimDigest]) -> Happening | None:
    """A line "time claim_id text", with or without bars between; a time may hold spaces, so the id is looked for."""
    tokens = line.split(" ", 10)
    for index, token in enumerate(tokens):
        if token in known:
            time = " ".join(tokens[:index]).strip(" |")
            rest = " ".join(tokens[index + 1 :]).lstrip(" |")
            spread = _SPREAD.match(rest)
            return _happening(
                known[token],
                "" if time == "-" else time,
                int(spread["times"]) if spread else 1,
                spread["until"] if spread else "",
            )
    return None


def _happening(claim: ClaimDigest, time: str = "", times: int = 1, until: str = "") -> Happening:
    return Happening(
        claim_id=claim.claim_id,
        time=time or claim.time,
        text=" ".join(claim.text.split()),
        source=claim.sources[0] if claim.sources else "",
        occurrences=times,
        until=until,
    )


def _event_text(happening: Happening, clocks: Mapping[str, str], words: Wording) -> str:
    """Time, source and what is said, like "09:41:07 order-service: ERROR ..."."""
    name = PurePosixPath(happening.source).stem
    body = body_of(happening)
    head = clocks.get(happening.time, happening.time)
    label = "" if not name or body.startswith(name) else f"{name}:"
    until = clocks.get(happening.until, happening.until)
    spread = words.spread.format(times=happening.occurrences, until=until)
    return " ".join(filter(None, (head, label, body, spread if happening.until else "")))


def _contradictions(material: Material) -> list[Statement]:
    """A statement for each contradiction that concerns the question, with both sides."""
    known = material.by_id
    found = [
        statement
        for topic, sides in _topics(material.computed)
        if (statement := _contradiction(topic, sides, known, material.wording))
    ]
    found = _concerning(material.asked, found)
    said = {claim_id for statement in found for claim_id in statement.claim_ids}
    marked = [c for c in material.usable if c.status == "conflicting" and c.claim_id not in said]
    return found + _each(marked, _MAX_STATEMENTS)


def _topics(computed: Iterable[ComputedValue]) -> Iterator[tuple[str, list[str]]]:
    """What contradicts itself, with sides "claim = value": one topic a value, or one a line after its key."""
    for value in computed:
        if value.name.startswith("conflict:"):
            yield value.name.partition(":")[2].strip(), value.value.splitlines()
        elif value.name == "conflicts":
            for line in value.value.splitlines():
                topic, _, rest = line.partition(": ")
                yield topic.strip(), rest.split(" | ")


def _concerning(question: str, statements: Sequence[Statement]) -> list[Statement]:
    """The contradictions about what the question names; all, where it names nothing but contradictions."""
    topic = _CONFLICT_FRAME.sub(" ", question)
    scores = shares(topic, [statement.text for statement in statements])
    best = max(scores, default=0.0)
    return [s for s, score in zip(statements, scores, strict=True) if score >= _WEAK * best]


def _contradiction(
    topic: str, lines: Sequence[str], known: Mapping[str, ClaimDigest], words: Wording
) -> Statement | None:
    """Both sides of a contradiction, each in the words of its claim."""
    found = [_SIDE.match(line.strip()) for line in lines]
    by_value: dict[str, list[str]] = {}
    for side in found:
        if side and side["claim"] in known:
            by_value.setdefault(side["value"].strip(), []).append(side["claim"])
    if len(by_value) < 2:
        return None
    told = (
        _side_text(value, [known[each] for each in ids], words) for value, ids in by_value.items()
    )
    return Statement(
        text=words.conflict.format(key=topic, sides=words.versus.join(told)),
        status="conflicting",
        claim_ids=unique(claim_id for ids in by_value.values() for claim_id in ids),
    )


def _side_text(value: str, claims: Sequence[ClaimDigest], words: Wording) -> str:
    told = dict.fromkeys(
        f"{', '.join(claim.sources)}: {' '.join(claim.text.split()).rstrip('.。')}"
        for claim in claims
    )
    return f'"{value}" ({words.also.join(told)})'


_RECIPES: dict[str, Callable[[Material], list[Statement]]] = {
    "count": _counted,
    "existence": _existing,
    "list": _listed,
    "timeline": _chronicle,
    "conflict": _contradictions,
}
