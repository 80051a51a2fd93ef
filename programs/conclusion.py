"""Conclusion: statements of the answer from verified claims and computed values.

The model groups and words; it cannot cite. A statement names claims, and gets their citations from code. What it says
without a known claim is not shown as an answer.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import dspy

from programs.evidence import neutralize, restore
from programs.inputs import claims_of
from programs.merge import by_id, merged
from programs.observing import brief, counted, success
from programs.review import Review
from programs.run import Run
from programs.tally import is_of_statements
from programs.verify import MAX_CITATIONS, supports_cause
from runtime.claims import Citation, Claim, Computed
from runtime.errors import ContextOverflow, LimitReached, StepError, TruncatedReply
from runtime.frames import Frame
from runtime.observations import ComputedResult, Concluded, Observation, Returned
from runtime.support import related, touching
from signatures import ClaimDigest, ComputedValue, PlannedStep, Statement
from signatures.claims import ClaimStatus

DIGEST = 80_000
"""Code points of claims shown to one concluding call; more are concluded in groups first."""
_SIZES = (DIGEST, DIGEST // 4, DIGEST // 16)
QUOTE = 600
_NUMBER = re.compile(r"\d[\d,.]*\d|\d")
_WEAKNESS: Mapping[ClaimStatus, int] = {
    "insufficient": 0,
    "inferred": 1,
    "conflicting": 2,
    "direct": 3,
}


def gathered(run: Run, frame: Frame) -> tuple[tuple[Claim, ...], tuple[Computed, ...]]:
    """The claims and computed values of a frame's completed steps.

    A computation that returned claims stands for the steps that it was computed from.
    """
    finished = [step for step in frame.steps if step.observation and step.observation.payload]
    computed: list[Computed] = []
    consumed: set[str] = set()
    for step in finished:
        payload = step.observation.payload if step.observation else None
        if isinstance(payload, ComputedResult | Returned):
            computed.extend(payload.computed)
        if isinstance(payload, ComputedResult) and payload.claims:
            named = step.planned.targets or step.planned.depends_on
            consumed.update(named or [each.id for each in finished if each.id != step.id])
    kept = [step.observation.payload for step in finished
            if step.id not in consumed and step.observation]  # fmt: skip
    claims = merged(claims_of(kept), run.workspace.source_rank)
    return claims, tuple(dict.fromkeys(computed))


class Conclusion:
    """The conclude action of the root frame."""

    def __init__(self, run: Run, predictor: dspy.Module) -> None:
        self._run = run
        self._predictor = predictor

    async def __call__(self, frame: Frame, step: PlannedStep, coverage: str) -> Observation:
        claims, computed = gathered(self._run, frame)
        usable = [claim for claim in claims if claim.status != "insufficient"]
        self._run.tell("conclude", 0, 1, step.description)
        problem = trouble = ""
        if not usable and not computed:  # a model that is given nothing can only make something up
            nothing = Concluded(statements=(), unknowns=(), mechanical=False)
            return success(counted(0, "statement"), nothing)
        try:
            statements, unknowns = await self._fitted(frame, step, usable, computed, coverage)
            if all(each.status == "insufficient" for each in statements):
                statements = [*statements, *counts_as_they_are(usable, computed)]
        except StepError as error:
            problem, trouble = error.error_class, str(error)
            statements, unknowns = as_they_are(usable, computed), [trouble]
        except LimitReached as error:
            problem, trouble = "limit", self._run.told_limit(error)
            statements, unknowns = as_they_are(usable, computed), [trouble]
        payload = Concluded(
            statements=tuple(statements), unknowns=tuple(unknowns), mechanical=bool(problem)
        )
        seen = success(counted(len(statements), "statement"), payload)
        return seen.model_copy(update={"error_class": problem, "error": trouble})

    async def _fitted(
        self,
        frame: Frame,
        step: PlannedStep,
        claims: Sequence[Claim],
        computed: Sequence[Computed],
        coverage: str,
    ) -> tuple[list[Claim], list[str]]:
        """Statements over the claims, in smaller and smaller groups as long as they are too much for the model."""
        for size in _SIZES:
            groups = in_groups(in_order(claims, computed), size)
            try:
                return await self._stated(frame, step, groups, computed, coverage)
            except (ContextOverflow, TruncatedReply):
                if size == _SIZES[-1] or len(claims) < 2:
                    raise
        raise AssertionError("the last size returns or raises")

    async def _stated(
        self,
        frame: Frame,
        step: PlannedStep,
        groups: Sequence[Sequence[Claim]],
        computed: Sequence[Computed],
        coverage: str,
    ) -> tuple[list[Claim], list[str]]:
        """Statements over groups of claims; several groups are concluded one by one, then together.

        Of a timeline the groups are stretches: their statements, one stretch after the other, are the conclusion.
        """
        base = f"{frame.id}/{step.id}"
        if len(groups) == 1:
            return await self._call(frame, step, groups[0], computed, coverage, f"{base}/final")
        partial: list[Claim] = []
        unknowns: list[str] = []
        for number, group in enumerate(groups, 1):
            key = f"{base}/group{number}of{len(groups)}"
            own = about(computed, group)
            made, open_ends = await self._call(frame, step, group, own, coverage, key)
            partial.extend(each for each in made if each.status != "insufficient")
            unknowns.extend(open_ends)
        if any(each.name == "timeline" for each in computed):
            return partial, list(dict.fromkeys(unknowns))
        counted_ones = [each for group in groups for each in group if each.computed]
        known = about(computed, counted_ones)
        key = f"{base}/final{len(groups)}"
        made, open_ends = await self._call(
            frame, step, [*partial, *counted_ones], known, coverage, key
        )
        return made, list(dict.fromkeys([*unknowns, *open_ends]))

    async def _call(
        self,
        frame: Frame,
        step: PlannedStep,
        claims: Sequence[Claim],
        computed: Sequence[Computed],
        coverage: str,
        key: str,
    ) -> tuple[list[Claim], list[str]]:
        run = self._run
        reply = await run.ask(
            self._predictor,
            {
                "question": run.question,
                "kind": run.kind,
                "claims": [digest(claim) for claim in claims],
                "computed": [
                    ComputedValue(
                        name=each.name,
                        value=neutralize("\n".join(each.lines)),
                        claim_ids=list(each.claim_ids),
                    )
                    for each in computed
                ],
                "coverage": coverage,
                "steps_done": [f"{each.id} {each.status}: {brief(each.planned.description)}"
                               for each in frame.steps if each.ended],
            },
            key=key,
            closing=True,
            frame_id=frame.id,
            step_id=step.id,
            check=Review(by_id(claims), computed, run.kind),
        )  # fmt: skip
        known = by_id(claims)
        made = [
            cited(statement, known, computed, f"{key}.{number}")
            for number, statement in enumerate(reply.statements, 1)
            if statement.text.strip()
        ]
        return made, [each for each in reply.unknowns if each.strip()]


def in_order(claims: Sequence[Claim], computed: Sequence[Computed]) -> list[Claim]:
    """Claims in the order of the timeline, if one was computed; else as they are."""
    named = [each.claim_ids for each in computed if each.name == "timeline"]
    place = {claim_id: at for at, claim_id in enumerate(id for ids in named for id in ids)}
    return sorted(claims, key=lambda claim: place.get(claim.id, len(place)))


def about(computed: Sequence[Computed], claims: Sequence[Claim]) -> list[Computed]:
    """The computed values that rest on these claims alone; of a timeline, the entries that do."""
    known = {claim.id for claim in claims}
    kept = []
    for each in computed:
        if each.name == "timeline":
            pairs = zip(each.lines, each.claim_ids, strict=True)
            entries = [(line, id) for line, id in pairs if id in known]
            lines, ids = tuple(line for line, _ in entries), tuple(id for _, id in entries)
            kept.append(each.model_copy(update={"lines": lines, "claim_ids": ids}))
        elif known.issuperset(each.claim_ids):
            kept.append(each)
    return kept


def in_groups(claims: Sequence[Claim], most: int = DIGEST) -> list[list[Claim]]:
    """Claims in groups that one call can be shown: `most` code points of text and quotes."""
    groups: list[list[Claim]] = [[]]
    size = 0
    for claim in claims:
        length = len(claim.text) + sum(min(len(each.quote), QUOTE) for each in claim.citations[:3])
        if groups[-1] and size + length > most:
            groups.append([])
            size = 0
        groups[-1].append(claim)
        size += length
    return groups


def digest(claim: Claim) -> ClaimDigest:
    """A claim as the concluding call sees it: a few quotes, cut, as data."""
    return ClaimDigest(
        claim_id=claim.id,
        text=neutralize(claim.text),
        status=claim.status,
        time=claim.time,
        sources=[neutralize(each) for each in dict.fromkeys(c.source for c in claim.citations)][:5],
        quotes=[neutralize(each.quote[:QUOTE]) for each in claim.citations[:3]],
    )


def cited(
    statement: Statement,
    known: Mapping[str, Claim],
    computed: Sequence[Computed],
    id: str,
) -> Claim:
    """A statement as a claim with the citations of the claims it names; insufficient when it names none known."""
    premises = [known[each] for each in dict.fromkeys(statement.claim_ids) if each in known]
    text = restore(statement.text.strip())
    citations = _citations(premises)
    return Claim(
        id=id,
        text=text,
        status=_status(statement, premises, citations, computed, text),
        time=next((each.time for each in premises if each.time), ""),
        citations=citations,
        fields=tuple(dict.fromkeys(field for each in premises for field in each.fields)),
        premises=tuple(each.id for each in premises),
        computed=bool(premises) and all(each.computed for each in premises),
    )


def _citations(premises: Iterable[Claim]) -> tuple[Citation, ...]:
    unique = {
        (each.source, each.start, each.end): each for claim in premises for each in claim.citations
    }
    return tuple(unique.values())[:MAX_CITATIONS]


def _status(
    statement: Statement,
    premises: Sequence[Claim],
    citations: Sequence[Citation],
    computed: Sequence[Computed],
    text: str,
) -> ClaimStatus:
    """The strongest status that the premises allow.

    A number or a cause that no quote has makes an inference, and so do words that have nothing to do with the premises.
    """
    if all(each.status == "insufficient" for each in premises):
        return "insufficient"
    if statement.status == "conflicting" and len(citations) > 1:
        sides = touching(text, [each.quote for each in citations])
        return "conflicting" if sides > 1 else "inferred"
    stated: ClaimStatus = "direct" if statement.status == "conflicting" else statement.status
    allowed: list[ClaimStatus] = [stated, *(each.status for each in premises)]
    status = min(allowed, key=lambda each: _WEAKNESS[each])
    if status != "direct":
        return status
    known = _known(premises, computed)
    counted_by_code = any(each.computed for each in premises)
    said = supports_cause(text, citations) and _numbers_known(text, known)
    worded = [each.text for each in premises] + [each.quote for each in citations]
    return "direct" if said and (counted_by_code or related(text, worded, known)) else "inferred"


def _known(premises: Iterable[Claim], computed: Iterable[Computed]) -> list[str]:
    """The texts that a statement may rest on: quotes, premises and computed values."""
    known = [line for each in computed if not is_of_statements(each) for line in each.lines]
    for claim in premises:
        known += [claim.time, claim.text, *(field.value for field in claim.fields)]
        for each in claim.citations:
            known += [each.quote, each.source, str(each.line_start), str(each.line_end)]
    return known


def _numbers_known(text: str, known: Iterable[str]) -> bool:
    """Whether every number of a statement stands in one of the texts that it may rest on."""
    haystack = "\n".join(known)
    return all(
        re.search(rf"(?<!\d){re.escape(number)}(?!\d)", haystack)
        for number in _NUMBER.findall(text)
    )


def as_they_are(claims: Sequence[Claim], computed: Sequence[Computed]) -> list[Claim]:
    """The claims as statements, when no model could be asked to word them: computed ones first, then all."""
    named = {claim_id for each in computed for claim_id in each.claim_ids}
    first = [claim for claim in claims if claim.id in named]
    return first or list(claims)


def counts_as_they_are(claims: Sequence[Claim], computed: Sequence[Computed]) -> list[Claim]:
    """The counts as statements: a number that code computed is told, also if the writer left it out."""
    named = {each for value in computed if value.name == "count" for each in value.claim_ids}
    return [claim for claim in claims if claim.computed and claim.id in named]
