"""Facts of a call: what one call of a predictor was shown of the gold evidence, and what it made of it.

A reader is called once for every part of the text. What an optimizer should be told about such a call is what that
very part held: gold that no other reader saw, quotes that do not stand there, claims that nothing supports. What kind
of call it was is told by its fields, not by the name of its predictor.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field
from pydantic_core import to_jsonable_python

from data.corpus import Corpus
from data.questions import GoldSpan, Question
from data.stretches import Stretches
from evals.log import LogRow
from evals.score import TAU
from evals.shown_text import flattened, shown_spans, words
from programs.verify import Verifier
from runtime.claims import Citation, Verdict
from runtime.untrusted import restore
from signatures import EvidenceRef

SMALL = 3_000
"""Sources up to this many characters could end up in an excerpt as a whole, and are named for that."""
_KEPT = 24
_SHORTEST = 8
"""Characters that a text must have for its finding elsewhere to mean something."""


class GoldPlace(LogRow):
    """A stretch of gold as a call was shown it. `fact` counts from 1, and so do the lines of the source.

    `within` is the id of the span that holds it, from `start` to `end` of its text, or of the claim that quotes it.
    """

    fact: int
    source: str
    first_line: int
    last_line: int
    within: str = ""
    start: int = 0
    end: int = 0


class FailedRef(LogRow):
    """Evidence of a reply that came to no citation: why, and the first words of its quote."""

    claim_id: str
    within: str
    why: Verdict | Literal["unknown_claim"]
    words: str = ""


class CallFacts(LogRow):
    """What is known of one call by its gold. The defaults are those of a call of which nothing is known.

    `gold`: the gold that it was shown, and `missed`: the facts among it that its reply has no evidence of. `failed`:
    the first of its evidence that does not resolve, of `failures`. `unsupported`: the first words of claims without
    evidence. `citations` resolve; `outside` of them lie where there is no gold. `small` has the length of the sources
    that it was shown and that an excerpt could hold as a whole.
    """

    gold: tuple[GoldPlace, ...] = ()
    missed: tuple[int, ...] = ()
    failed: tuple[FailedRef, ...] = ()
    failures: int = 0
    unsupported: tuple[str, ...] = ()
    claims: int = 0
    citations: int = 0
    outside: int = 0
    spans: int = 0
    characters: int = 0
    small: dict[str, int] = Field(default_factory=dict)

    @property
    def facts(self) -> tuple[int, ...]:
        """The facts of which it was shown something."""
        return tuple(dict.fromkeys(each.fact for each in self.gold))


def call_facts(
    predictor: str,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    question: Question,
    corpus: Corpus,
) -> CallFacts:
    """The facts of a call of a predictor, from what it was given and what came back (typed, or as JSON)."""
    given: dict[str, Any] = to_jsonable_python(dict(inputs), fallback=str)
    reply: dict[str, Any] = to_jsonable_python(dict(outputs), fallback=str)
    if "spans" in given and "evidence" in reply:
        return _of_reading(given, reply, question, corpus)
    if "statements" in reply:
        return _of_conclusion(given, reply, question, corpus)
    return _of_turn(given, reply, question, corpus)


# A reader


def _of_reading(
    given: Mapping[str, Any], reply: Mapping[str, Any], question: Question, corpus: Corpus
) -> CallFacts:
    spans = shown_spans(given["spans"] or (), corpus)
    shown = Stretches.of((each.source, each.start, each.end) for each in spans)
    anchored, failed = _anchored(_refs(reply), Verifier(corpus, spans))
    cited = Stretches.of((each.source, each.start, each.end) for _, each in anchored)
    gold, missed = _gold_in(shown, cited, question)
    places = [
        GoldPlace(
            fact=fact,
            source=span.source,
            first_line=corpus.line_of(span.source, start),
            last_line=corpus.line_of(span.source, max(start, end - 1)),
            within=span.id,
            start=start - span.start,
            end=end - span.start,
        )
        for fact, piece in gold
        for span in spans
        if span.source == piece.source
        and (start := max(span.start, piece.start)) < (end := min(span.end, piece.end))
    ]
    places.sort(key=lambda each: each.fact not in missed)  # what was missed is kept first
    return CallFacts(
        gold=tuple(places[:_KEPT]),
        missed=tuple(missed),
        failed=tuple(failed[:_KEPT]),
        failures=len(failed),
        unsupported=tuple(_unsupported(reply, {claim_id for claim_id, _ in anchored})),
        claims=len(reply.get("claims") or ()),
        citations=len({(each.source, each.start, each.end) for _, each in anchored}),
        outside=_outside([each for _, each in anchored], question),
        spans=len(spans),
        characters=len(shown),
        small=_small({each.source for each in spans}, corpus),
    )


def _refs(reply: Mapping[str, Any]) -> list[EvidenceRef]:
    return [EvidenceRef.model_validate(each) for each in reply.get("evidence") or ()]


def _anchored(
    refs: Iterable[EvidenceRef], verifier: Verifier
) -> tuple[list[tuple[str, Citation]], list[FailedRef]]:
    """The citations that evidence comes to, with their claims, and what fails."""
    anchored, failed = [], []
    for ref in refs:
        found = verifier.anchor(ref)
        if isinstance(found, Citation):
            anchored.append((ref.claim_id, found))
        else:
            failed.append(_failed(ref, found.verdict))
    return anchored, failed


def _failed(ref: EvidenceRef, why: Any) -> FailedRef:
    return FailedRef(
        claim_id=ref.claim_id[:40], within=ref.span_id[:40], why=why, words=words(ref.quote)
    )


def _unsupported(reply: Mapping[str, Any], supported: set[str]) -> list[str]:
    """The first words of the claims that have no evidence, and do not say so."""
    return [
        words(str(each["text"]))
        for each in reply.get("claims") or ()
        if each["claim_id"] not in supported and each["status"] != "insufficient"
    ][:_KEPT]


def _gold_in(
    shown: Stretches, cited: Stretches, question: Question
) -> tuple[list[tuple[int, GoldSpan]], list[int]]:
    """The gold that was shown, with its facts, and the facts that are missed.

    Of a fact that can be told in several ways, the one counts of which the most is cited.
    """
    found, missed = [], []
    for number, fact in enumerate(question.gold, 1):
        best: tuple[float, list[GoldSpan]] | None = None
        for alternative in fact:
            here = [each for each in alternative if _share(each, shown) >= TAU]
            least = min((_share(each, cited) for each in here), default=0.0)
            if here and (best is None or least > best[0]):
                best = least, here
        if best is not None:
            found += [(number, each) for each in best[1]]
            if best[0] < TAU:
                missed.append(number)
    return found, missed


def _outside(citations: Sequence[Citation], question: Question) -> int:
    """How many distinct places are cited of which the most is no gold; none where nobody says what is gold."""
    gold = [span for fact in question.gold for alternative in fact for span in alternative]
    if question.answerable and not gold and not question.allowed:
        return 0
    good = Stretches.of((each.source, each.start, each.end) for each in (*gold, *question.allowed))
    places = {(each.source, each.start, each.end): each for each in citations}
    return sum(_share(each, good) < TAU for each in places.values())


def _share(place: GoldSpan | Citation, of: Stretches) -> float:
    stretch = Stretches.of([(place.source, place.start, place.end)])
    return len(stretch & of) / len(stretch) if len(stretch) else 0.0


# A conclusion


def _of_conclusion(
    given: Mapping[str, Any], reply: Mapping[str, Any], question: Question, corpus: Corpus
) -> CallFacts:
    digests = {str(each["claim_id"]): each for each in given.get("claims") or ()}
    known = {*digests, *(id for each in given.get("computed") or () for id in each["claim_ids"])}
    statements = reply.get("statements") or ()
    named = [(each, str(id)) for each in statements for id in each["claim_ids"]]
    used = {id for each, id in named if each["status"] != "insufficient"}
    places, missed = _quoted_gold(digests, used, question, corpus)
    failed = [
        FailedRef(claim_id="", within=id[:40], why="unknown_claim", words=words(str(each["text"])))
        for each, id in named
        if id not in known
    ]
    bare = [each for each in statements if not known.intersection(map(str, each["claim_ids"]))]
    texts = flattened(given)
    return CallFacts(
        gold=tuple(places[:_KEPT]),
        missed=tuple(missed),
        failed=tuple(failed[:_KEPT]),
        failures=len(failed),
        unsupported=tuple(
            words(str(each["text"])) for each in bare if each["status"] != "insufficient"
        )[:_KEPT],
        claims=len(statements),
        citations=len(used & known),
        spans=len(digests),
        characters=sum(map(len, texts)),
        small=_small(
            {restore(str(one)) for each in digests.values() for one in each["sources"]}, corpus
        ),
    )


def _quoted_gold(
    digests: Mapping[str, Mapping[str, Any]], used: set[str], question: Question, corpus: Corpus
) -> tuple[list[GoldPlace], list[int]]:
    """The gold that the claims quote, and the facts that no statement takes up."""
    places, missed = [], []
    quotes = {id: [_joined(each) for each in digest["quotes"]] for id, digest in digests.items()}
    for number, fact in enumerate(question.gold, 1):
        pieces = [each for alternative in fact for each in alternative]
        holders = [
            (id, piece)
            for piece in pieces
            for id, texts in quotes.items()
            if any(_touch(_joined(piece.quote), text) for text in texts)
        ]
        places += [_quoted(number, id, piece, corpus) for id, piece in holders]
        if holders and not any(id in used for id, _ in holders):
            missed.append(number)
    places.sort(key=lambda each: each.fact not in missed)
    return places, missed


def _quoted(fact: int, within: str, piece: GoldSpan, corpus: Corpus) -> GoldPlace:
    return GoldPlace(
        fact=fact,
        source=piece.source,
        first_line=corpus.line_of(piece.source, piece.start),
        last_line=corpus.line_of(piece.source, max(piece.start, piece.end - 1)),
        within=within,
    )


def _joined(text: str) -> str:
    return " ".join(restore(text).split()).removesuffix("…")


def _touch(gold: str, quote: str) -> bool:
    """Whether one text holds the other, and is no mere scrap of it."""
    shorter, longer = sorted((gold, quote), key=len)
    return shorter == longer or (len(shorter) >= _SHORTEST and shorter in longer)


# A turn, a plan, or anything else


def _of_turn(
    given: Mapping[str, Any], reply: Mapping[str, Any], question: Question, corpus: Corpus
) -> CallFacts:
    """The facts of a call that was shown text in other ways: outputs of tools, observations, an overview."""
    texts = flattened(given)
    text = "\n".join(texts)
    refs = _refs(reply) if reply.get("claims") else []
    quoting = [each for each in refs if each.quote.strip()]
    spans = shown_spans([{"span_id": each.span_id} for each in quoting], corpus)
    anchored, failed = _anchored(quoting, Verifier(corpus, spans))
    unseen = [each for each in quoting if restore(each.quote).strip() not in text]
    failed += [_failed(each, "not_shown") for each in unseen if not _is_in(each, failed)]
    cited = Stretches.of((each.source, each.start, each.end) for _, each in anchored)
    shown = Stretches.of(
        (piece.source, piece.start, piece.end)
        for fact in question.gold
        for alternative in fact
        for piece in alternative
        if len(piece.quote.strip()) >= _SHORTEST and piece.quote.strip() in text
    )
    gold, missed = _gold_in(shown, cited, question)
    return CallFacts(
        gold=tuple(_quoted(fact, "", piece, corpus) for fact, piece in gold)[:_KEPT],
        missed=tuple(missed) if _is_last(reply) else (),
        failed=tuple(failed[:_KEPT]),
        failures=len(failed),
        unsupported=tuple(_unsupported(reply, {each.claim_id for each in refs})),
        claims=len(reply.get("claims") or ()),
        citations=len({(each.source, each.start, each.end) for _, each in anchored}),
        outside=_outside([each for _, each in anchored], question),
        characters=sum(map(len, texts)),
        small=_small({piece.source for _, piece in gold}, corpus),
    )


def _is_in(ref: EvidenceRef, failed: Iterable[FailedRef]) -> bool:
    key = ref.claim_id[:40], ref.span_id[:40], words(ref.quote)
    return any((each.claim_id, each.within, each.words) == key for each in failed)


def _is_last(reply: Mapping[str, Any]) -> bool:
    """Whether the reply ends a run that a model drives."""
    call = reply.get("call")
    return isinstance(call, Mapping) and call.get("tool") == "submit"


def _small(sources: Iterable[str], corpus: Corpus) -> dict[str, int]:
    known = {each.id: each.characters for each in corpus.sources if each.readable}
    return {each: known[each] for each in sorted(sources) if 0 < known.get(each, 0) <= SMALL}
