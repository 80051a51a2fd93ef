"""Findings: what the tools have brought to light on the way to a goal, read from their outputs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from runtime.models.extractive.chronicle import seconds
from runtime.models.extractive.contradictions import contradictions
from runtime.models.extractive.fields import replaces
from runtime.models.extractive.goal import Goal
from runtime.models.extractive.times import leading_time
from runtime.questions.notation import unique
from runtime.sentences import sentences
from signatures import ClaimDigest, ClaimStatus, ComputedValue, EvidenceSpan

_MOST_DISPUTED = 8
_STATUSES = frozenset(get_args(ClaimStatus))


@dataclass
class Findings:
    """Claims and counts by their ids, and the lines that tools have shown.

    `told` is the line that a question for the first or last one asks for. `was_read` says that readers have been asked.
    `places` are the source and the line of each claim, `replacing` the claims of which the next sentence says that
    they replace something.
    """

    goal: Goal
    claims: list[ClaimDigest] = field(default_factory=list)
    computed: list[ComputedValue] = field(default_factory=list)
    lines: list[EvidenceSpan] = field(default_factory=list)
    told: EvidenceSpan | None = None
    was_read: bool = False
    places: dict[str, tuple[str, int]] = field(default_factory=dict)
    replacing: set[str] = field(default_factory=set)

    def add_claims(self, output: Mapping[str, Any]) -> bool:
        """Take in what `subcall` returned; whether any of it is new."""
        self.was_read = self.was_read or "error" not in output
        known = {claim.claim_id for claim in self.claims}
        found = [_digest(each) for each in dicts(output, "claims") if each.get("claim_id")]
        fresh = [claim for claim in found if claim.claim_id not in known]
        self.claims += fresh
        for claim in dicts(output, "claims"):
            for quote in dicts(claim, "quotes")[:1]:
                line = quote.get("line")
                if isinstance(line, int):
                    self.places[str(claim.get("claim_id"))] = text(quote, "source"), line
        return bool(fresh)

    def add_count(self, output: Mapping[str, Any]) -> None:
        """Take in what `count` returned."""
        total, claim_id = output.get("total"), text(output, "claim_id")
        if not isinstance(total, int) or not claim_id:
            return
        self.was_read = True
        what = " and ".join(self.goal.patterns)
        said = f"{total} {'line matches' if total == 1 else 'lines match'} {what}."
        wanted = self.goal.sources if self.goal.by == "source" else ()
        groups = [
            f"{text(each, 'label')}: {each.get('count')}"
            for each in dicts(output, "by")
            if not wanted or text(each, "label") in wanted
        ]
        name = f"count_by_{self.goal.by}" if groups and self.goal.by else "count"
        self.claims.append(
            ClaimDigest(
                claim_id=claim_id, text=said, status="direct", time="", sources=[], quotes=[]
            )
        )
        self.computed.append(
            ComputedValue(
                name=name,
                value=said if name == "count" else "\n".join(groups),
                claim_ids=[claim_id],
            )
        )

    @property
    def contradictions(self) -> list[ComputedValue]:
        """What the claims say of one thing differently; nothing that was replaced."""
        return contradictions(c for c in self.claims if c.claim_id not in self.replacing)

    def disputed(self) -> list[tuple[str, str, int]]:
        """The claims that seem to be at odds, with the source and the line of each."""
        ids = unique(each for value in contradictions(self.claims) for each in value.claim_ids)
        return [(each, *self.places[each]) for each in ids if each in self.places][:_MOST_DISPUTED]

    def add_context(self, claim_id: str, output: Mapping[str, Any]) -> None:
        """Take in the lines around a claim: what follows it may say that it replaces the other one."""
        around = "".join(text(span, "text") for span in dicts(output, "spans"))
        said = next((claim for claim in self.claims if claim.claim_id == claim_id), None)
        for quote in [*said.quotes, said.text] if said else []:
            _, found, rest = around.partition(quote)
            line = rest.partition("\n")[0]
            following = next(iter(sentences(line)), (0, 0))
            if found and replaces(line[slice(*following)]):
                self.replacing.add(claim_id)

    def add_lines(self, found: Iterable[Mapping[str, Any]]) -> list[str]:
        """Take in hits of `search` or passages of `rank`; their span ids."""
        wanted = self.goal.sources
        lines = [line for line in map(shown_line, found) if not wanted or line.source in wanted]
        self.lines += lines
        return unique(line.span_id for line in lines)

    def tell_extreme(self) -> None:
        """Settle on the first or last of the lines: by their times, or in the order of the text."""
        if not self.lines:
            return
        times = [seconds(leading_time(line.text)) for line in self.lines]
        known = [(time, i) for i, time in enumerate(times) if time is not None]
        places = known or [(0.0, i) for i in range(len(times))]
        _, at = max(places) if self.goal.latest else min(places)
        self.told = self.lines[at]


def shown_line(hit: Mapping[str, Any]) -> EvidenceSpan:
    """A hit or a passage as what a reader is shown."""
    line = hit.get("line", hit.get("first_line", 0))
    return EvidenceSpan(
        span_id=text(hit, "span_id"),
        source=text(hit, "source"),
        first_line=line if isinstance(line, int) else 0,
        margin_before="",
        text=text(hit, "text"),
        margin_after="",
    )


def dicts(output: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The entries of a list in an output."""
    found = output.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def text(entry: Mapping[str, Any], name: str) -> str:
    """A text in an output; empty if there is none."""
    value = entry.get(name, "")
    return value if isinstance(value, str) else ""


def _digest(claim: Mapping[str, Any]) -> ClaimDigest:
    quotes = dicts(claim, "quotes")
    status: Any = claim.get("status")
    return ClaimDigest(
        claim_id=str(claim["claim_id"]),
        text=text(claim, "text"),
        status=status if status in _STATUSES else "insufficient",
        time=text(claim, "time"),
        sources=unique(text(quote, "source") for quote in quotes),
        quotes=unique(filter(None, (text(quote, "quote") for quote in quotes))),
    )
