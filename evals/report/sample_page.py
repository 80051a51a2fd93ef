"""The page of one sample: question, answer, claims with their quotes in the text, gold beside them, run, receipt."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from data.questions import Alternative, Fact, Question
from data.stretches import Stretches
from evals import metrics
from evals.log import SampleRecord
from evals.metrics import Checked, Place, Texts
from evals.numerals import plural
from evals.report.run_facts import Pairs, StepItem, coverage, receipt, scores, steps
from evals.report.surroundings import Piece, Quote, Tag, pieces
from evals.report.text import cut, shown
from evals.report.verdict import TONES, outcome_of, verdict_of
from evals.score import TAU
from runtime.claims import Citation, Claim

_CLAIMS = 25
_QUOTES = 6
_FACTS = 25
_ALTERNATIVES = 2
_COMPARED = 1000
_WORDS = 2000
_FAILURES = {
    "unknown_source": "no such source",
    "bad_range": "not in the text",
    "quote_mismatch": "the text says something else",
}


@dataclass(frozen=True, slots=True)
class Link:
    """A link to the page of another program on the same question."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """What ended a sample that has no answer."""

    name: str
    text: str
    traceback: str


@dataclass(frozen=True, slots=True)
class ClaimItem:
    """A claim with its citations. `left_out` says what of them is not shown."""

    text: str
    tags: tuple[Tag, ...]
    quotes: tuple[Quote, ...]
    left_out: str


@dataclass(frozen=True, slots=True)
class FactItem:
    """A fact of gold: whether it was found, and its best alternatives in the text."""

    name: str
    found: str
    tone: str
    quotes: tuple[Quote, ...]
    left_out: str


@dataclass(frozen=True, slots=True)
class SamplePage:
    """Everything that the page of a sample shows."""

    id: str
    question: str
    tags: tuple[Tag, ...]
    tone: str
    error: Trouble | None
    answer: str | None
    given: Pairs
    claims: tuple[ClaimItem, ...]
    claims_left_out: str
    remarks: tuple[str, ...]
    expected: Pairs
    facts: tuple[FactItem, ...]
    facts_left_out: str
    scores: Pairs
    coverage: Pairs
    steps: tuple[StepItem, ...]
    steps_left_out: str
    receipt: Pairs
    others: tuple[Link, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class _View:
    """What an answer cites and what gold is, over the text. `tau` is the share that counts as gold."""

    texts: Texts
    question: Question
    checked: tuple[Checked, ...]
    cited: Stretches
    gold: Stretches
    tau: float

    @property
    def judged(self) -> bool:
        """Whether anybody says what may be cited."""
        return bool(self.question.gold or self.question.allowed) or not self.question.answerable


def sample_page(
    id: str, label: str, question: Question, record: SampleRecord, texts: Texts
) -> SamplePage:
    """The page of a record. `label` names the program, `texts` are those of the question's corpus."""
    answer: Mapping[str, Any] = record.answer or {}
    claims = [Claim.model_validate(each) for each in answer.get("claims", ())]
    view = _view(question, record, claims, texts)
    verdict = verdict_of(record)
    ran, left_out = steps(answer)
    return SamplePage(
        id=id,
        question=shown(question.question),
        tags=_tags(label, question, record),
        tone=TONES[verdict],
        error=_trouble(record),
        answer=cut(answer["text"], _WORDS) if answer else None,
        given=_given(answer, record),
        claims=tuple(_claim(each, view) for each in claims[:_CLAIMS]),
        claims_left_out=_more(len(claims) - _CLAIMS, "claim"),
        remarks=_remarks(answer),
        expected=_expected(question),
        facts=tuple(
            _fact(number, fact, view) for number, fact in enumerate(question.gold[:_FACTS], 1)
        ),
        facts_left_out=_more(len(question.gold) - _FACTS, "fact"),
        scores=scores(record.score),
        coverage=coverage(answer),
        steps=ran,
        steps_left_out=left_out,
        receipt=receipt(record),
    )


def _view(question: Question, record: SampleRecord, claims: Sequence[Claim], texts: Texts) -> _View:
    counted = [
        each for claim in claims if claim.status != "insufficient" for each in claim.citations
    ]
    checked = metrics.checked(counted, texts)
    spans = [span for fact in question.gold for alternative in fact for span in alternative]
    gold = Stretches.of((each.source, each.start, each.end) for each in (*spans, *question.allowed))
    tau = record.score.tau if record.score else TAU
    return _View(texts, question, checked, metrics.resolved(checked), gold, tau)


def _tags(label: str, question: Question, record: SampleRecord) -> tuple[Tag, ...]:
    verdict = verdict_of(record)
    tags = [(label, ""), (question.kind, ""), (outcome_of(record), ""), (verdict, TONES[verdict])]
    tags.append((f"{question.id} · epoch {record.epoch}", ""))
    if record.answer and record.answer["degraded"]:
        tags.append(("a fallback was used", "warn"))
    return tuple((shown(text), tone) for text, tone in tags)


def _trouble(record: SampleRecord) -> Trouble | None:
    if record.state != "error":
        return None
    where = "".join(f"{line.rstrip()}\n" for line in record.traceback)
    return Trouble(shown(record.error_class), cut(record.error, _WORDS), cut(where, _WORDS))


def _given(answer: Mapping[str, Any], record: SampleRecord) -> Pairs:
    found: list[tuple[str, str]] = []
    if answer and answer["value"] is not None:
        found.append(("typed value", cut(str(answer["value"]), 600)))
    if record.score and record.score.read:
        found.append(
            ("read as", f"{cut(record.score.read, 600)} (from its {record.score.read_from})")
        )
    return tuple(found)


def _expected(question: Question) -> Pairs:
    values = "; ".join(question.answer.values) or "nothing: the text does not say"
    found = [(f"answer ({question.answer.type})", cut(values, 800))]
    if question.answer.accepted:
        found.append(("also right", cut("; ".join(question.answer.accepted), 400)))
    if question.required_partitions:
        found.append(("must be examined", plural(len(question.required_partitions), "partition")))
    if not question.gold:
        found.append(("evidence", "none: there is nothing to cite"))
    return tuple(found)


def _claim(claim: Claim, view: _View) -> ClaimItem:
    tags: list[Tag] = [(claim.status, "warn" if claim.status != "direct" else "")]
    if claim.computed:
        tags.append(("computed by code", ""))
    if not claim.citations:
        tags.append(("no citation", "" if claim.computed or claim.premises else "bad"))
    return ClaimItem(
        text=cut(claim.text, _WORDS),
        tags=tuple(tags),
        quotes=tuple(_citation(each, view) for each in claim.citations[:_QUOTES]),
        left_out=_more(len(claim.citations) - _QUOTES, "citation"),
    )


def _citation(citation: Citation, view: _View) -> Quote:
    (checked,) = metrics.checked([citation], view.texts)
    lines = f"{citation.line_start}"
    if citation.line_end > citation.line_start:
        lines += f"-{citation.line_end}"
    place = shown(f"{citation.source}:{lines}")
    if checked.failure:
        tags = ((_FAILURES[checked.failure], "bad"),)
        claimed = Piece(f"cited as: {cut(citation.quote, 240)}\n", "")
        found = pieces(view.texts, checked.place, Stretches.of([checked.place]), view.gold)
        return Quote(place, tags, (claimed, *found))
    here = Stretches.of([checked.place])
    return Quote(
        place, _standing(checked, view), pieces(view.texts, checked.place, here, view.gold)
    )


def _standing(checked: Checked, view: _View) -> tuple[Tag, ...]:
    """Whether a citation that resolves is of gold."""
    if not view.judged:
        return (("not judged", ""),)
    asked = view.question
    good = metrics.citation_precision([checked], asked.gold, asked.allowed, tau=view.tau)
    return (("gold", "good"),) if good.value else (("wrong: not gold", "bad"),)


def _fact(number: int, fact: Fact, view: _View) -> FactItem:
    recall = metrics.evidence_recall(view.checked, [fact]).value or 0.0
    if metrics.evidence_hit(view.checked, [fact], tau=view.tau).value:
        found, tone = "found", "good"
    elif recall:
        found, tone = f"cited in part ({recall:.0%})", "warn"
    else:
        found, tone = "missed", "bad"
    ordered = sorted(fact[:_COMPARED], key=lambda each: -_overlap(each, view.cited))
    spans = [span for alternative in ordered[:_ALTERNATIVES] for span in alternative]
    return FactItem(
        name=f"Fact {number}",
        found=found,
        tone=tone,
        quotes=tuple(_gold(span, view) for span in spans[:_QUOTES]),
        left_out=_alternatives(len(fact) - _ALTERNATIVES, len(spans) - _QUOTES),
    )


def _gold(span: Place, view: _View) -> Quote:
    here = Stretches.of([(span.source, span.start, span.end)])
    share = len(here & view.cited) / max(1, len(here))
    tag = ("cited", "good") if share >= view.tau else ("cited in part", "warn") if share else None
    place = shown(f"{span.source}, characters {span.start:,} to {span.end:,}")
    return Quote(
        place,
        (tag,) if tag else (("not cited", ""),),
        pieces(view.texts, (span.source, span.start, span.end), view.cited, here),
    )


def _overlap(alternative: Alternative, cited: Stretches) -> int:
    """How many spans of an alternative something cited touches."""
    return sum(_touched(span, cited.by_source.get(span.source, ())) for span in alternative)


def _touched(span: Place, intervals: Sequence[tuple[int, int]]) -> bool:
    at = bisect_left(intervals, (span.end,)) - 1
    return at >= 0 and intervals[at][1] > span.start


def _alternatives(alternatives: int, spans: int) -> str:
    told = []
    if spans > 0:
        told.append(plural(spans, "more span"))
    if alternatives > 0:
        told.append(f"{plural(alternatives, 'other alternative')} would do as well")
    return "; ".join(told)


def _remarks(answer: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(_remarks_of(answer)) if answer else ()


def _remarks_of(answer: Mapping[str, Any]) -> Iterator[str]:
    for name, values in (("not known", answer["unknowns"]), ("warning", answer["warnings"])):
        yield from (f"{name}: {cut(each, 400)}" for each in values[:10])
    if answer["route"]:
        yield f"answered by {shown(answer['program'])}: {cut(answer['route'], 400)}"


def _more(count: int, what: str) -> str:
    return f"{plural(count, f'more {what}')} not shown here; the log has all" if count > 0 else ""
