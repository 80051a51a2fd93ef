"""The score of one sample: everything that is measured of one answer to one question of a set.

Every metric is a Ratio or a typed state; what is undefined is 0 of 0, and JSON has no NaN. It is computed from the
question, the answer with its receipt and the corpus alone, so a stored log can be scored again without a model.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from data.corpus import Corpus
from data.questions import Kind, Question
from evals import metrics
from evals.correctness import Given, Judged, judged
from evals.metrics import UNDEFINED, Checked, Ratio, Support
from evals.texts import CorpusTexts
from programs.answer import Answer, Outcome
from runtime.claims import Claim
from runtime.errors import NotFound

TAU = 0.5
"""The share of a stretch that must be covered to count as covered."""
State = Literal["answer", "partial", "abstain", "error"]
"""What an answer is, by its outcome and never by its wording."""
Correctness = Literal[
    "correct", "incorrect", "abstained", "no_answer", "unparsed", "error", "ungraded"
]
"""`abstained` and `no_answer` (a partial answer without a statement) are not right where there is an answer;
`unparsed` and `error` are neither right nor wrong, nor is an answer where gold does not say what is (`ungraded`)."""
UNKNOWN: frozenset[Correctness] = frozenset(("unparsed", "error", "ungraded"))

STATES: Mapping[Outcome, State] = {
    "answered": "answer",
    "partial": "partial",
    "not_found": "abstain",
    "not_found_in_covered": "abstain",
    "escalated": "abstain",
    "failed": "error",
}


class SampleScore(BaseModel):
    """One sample, measured. `covered`: all that had to be examined was. Costs are of this run; unknown is None."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    question_id: str
    kind: Kind
    corpus: str
    documents: tuple[str, ...]
    answerable: bool
    tau: float

    outcome: Outcome
    state: State
    covered: bool
    correctness: Correctness
    read: str
    read_from: str
    correct: Ratio
    set_f1: Ratio
    verified_correct: Ratio

    citation_validity: Ratio
    unknown_sources: int
    bad_ranges: int
    quote_mismatches: int
    quote_validity: Ratio
    evidence_recall: Ratio
    evidence_hit: Ratio
    citation_precision: Ratio
    answered_without_citation: bool
    empty_answer: bool

    target_coverage: Ratio
    partition_coverage: Ratio
    characters_read: Ratio
    characters_shown: Ratio
    source_coverage: Ratio
    unsupported: Ratio
    unjudged: int

    calls: int
    cached_calls: int
    failed_calls: int
    retries: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    seconds: float
    degraded: bool


def score(
    question: Question,
    answer: Answer | Mapping[str, Any],
    corpus: Corpus,
    *,
    tau: float = TAU,
    verdicts: Mapping[str, bool | None] | None = None,
) -> SampleScore:
    """The score of an answer (an Answer, or its `model_dump`) to a question over a corpus.

    `verdicts` are those of a support judge by claim id; without them a claim with a citation is unjudged.
    """
    given = answer if isinstance(answer, Answer) else Answer.model_validate(answer)
    shown = [claim for claim in given.claims if claim.status != "insufficient"]
    texts = CorpusTexts(corpus)
    cited = metrics.checked((each for claim in shown for each in claim.citations), texts)
    target = _target_coverage(question, given, corpus)
    covered = _is_covered(given, target)
    state = STATES[given.outcome]
    given_one, empty = state in ("answer", "partial"), not shown and given.value is None
    correctness, found = _correctness(question, given, shown, covered)
    evidence = _evidence(question, cited, tau)
    correct = _ratio(None if correctness in UNKNOWN else correctness == "correct")
    unsupported, unjudged = _support(question, shown, cited, covered, verdicts or {})
    return SampleScore(
        question_id=question.id,
        kind=question.kind,
        corpus=question.corpus,
        documents=question.documents,
        answerable=question.answerable,
        tau=tau,
        outcome=given.outcome,
        state=state,
        covered=covered,
        correctness=correctness,
        read=found.read if found else "",
        read_from=found.source if found else "",
        correct=correct,
        set_f1=found.f1 if found else _no_f1(question, correctness),
        verified_correct=_verified(question, correctness, evidence, covered, tau),
        **evidence,
        unknown_sources=metrics.failures(cited, "unknown_source"),
        bad_ranges=metrics.failures(cited, "bad_range"),
        quote_mismatches=metrics.failures(cited, "quote_mismatch"),
        answered_without_citation=given_one and not empty and not cited,
        empty_answer=given_one and empty,
        target_coverage=target,
        **_reach(given, cited, corpus),
        unsupported=unsupported,
        unjudged=unjudged,
        **_costs(given),
    )


def _correctness(
    question: Question, answer: Answer, shown: Sequence[Claim], covered: bool
) -> tuple[Correctness, Judged | None]:
    """Whether the answer is right, and how it was read where it had to be.

    "Not found" is right only if all that had to be examined was.
    """
    state = STATES[answer.outcome]
    if state == "error":
        return "error", None
    if question.answerable and question.answer.type == "none":
        return "ungraded", None
    if not question.answerable:
        return ("correct" if state == "abstain" and covered else "incorrect"), None
    if state == "abstain":
        return "abstained", None
    if not shown and answer.value is None:
        return "no_answer", None
    given = Given(answer.value, tuple(claim.text for claim in shown), answer.kind)
    found = judged(question.answer, given)
    names: dict[bool | None, Correctness] = {True: "correct", False: "incorrect", None: "unparsed"}
    return names[found.correct], found


def _no_f1(question: Question, correctness: Correctness) -> Ratio:
    """The F1 of a set that was not given: 0, unless the run failed or no set was asked for."""
    if question.answer.type != "set" or not question.answerable or correctness == "error":
        return UNDEFINED
    return Ratio(0, len(question.answer.values))


def _evidence(question: Question, cited: Sequence[Checked], tau: float) -> dict[str, Ratio]:
    """The metrics that hold citations against the text and against gold."""
    judgeable = bool(question.gold or question.allowed) or not question.answerable
    return {
        "citation_validity": metrics.citation_validity(cited),
        "quote_validity": metrics.quote_validity(cited),
        "evidence_recall": metrics.evidence_recall(cited, question.gold),
        "evidence_hit": metrics.evidence_hit(cited, question.gold, tau=tau),
        "citation_precision": metrics.citation_precision(
            cited, question.gold, question.allowed, tau=tau
        )
        if judgeable
        else UNDEFINED,
    }


def _verified(
    question: Question,
    correctness: Correctness,
    evidence: Mapping[str, Ratio],
    covered: bool,
    tau: float,
) -> Ratio:
    """Right, enough of the evidence cited, and every citation valid; what cannot be read is not verified.

    An abstention that is right has nothing to cite. Where gold has no facts (a count of 0), the required partitions
    prove an answer; where nobody says which those are, it cannot be verified.
    """
    if correctness in ("error", "ungraded"):
        return UNDEFINED
    recall = evidence["evidence_recall"].value
    validity = evidence["citation_validity"].value
    proved: bool | None = True
    if question.answerable and recall is not None:
        proved = recall >= tau and validity is not None
    elif question.answerable:
        proved = covered if question.required_partitions else None
    parts = (correctness == "correct", proved, validity in (None, 1.0))
    if False in parts:
        return _ratio(False)
    return _ratio(None if None in parts else True)


def _ratio(holds: bool | None) -> Ratio:
    return UNDEFINED if holds is None else Ratio(int(holds), 1)


def _target_coverage(question: Question, answer: Answer, corpus: Corpus) -> Ratio:
    """The share of the partitions that gold requires that was examined.

    They are partitions of `auto`: undefined for an answer over text that was cut in another way.
    """
    if not question.required_partitions:
        return UNDEFINED
    reach = answer.coverage
    told = {*reach.required, *reach.completed, *reach.failed, *reach.unread}
    if not _are_known(told - set(question.required_partitions), corpus):
        return UNDEFINED
    return metrics.partition_coverage(question.required_partitions, reach.completed)


def _are_known(partitions: Iterable[str], corpus: Corpus) -> bool:
    known = corpus.partitions()
    try:
        for each in partitions:
            known.partition(each)
    except NotFound:
        return False
    return True


def _is_covered(answer: Answer, target: Ratio) -> bool:
    """Whether all that had to be examined was: what the program required, and what gold requires.

    What says that it is not there must have been able to read everything.
    """
    reach = answer.coverage
    if answer.outcome == "not_found" and reach.unparsed:
        return False
    return reach.ratio == 1 and not reach.failed and target.value in (None, 1.0)


def _reach(answer: Answer, cited: Sequence[Checked], corpus: Corpus) -> dict[str, Ratio]:
    reach = answer.coverage
    characters = reach.characters
    return {
        "partition_coverage": Ratio(len(reach.completed), len(reach.required)),
        "characters_read": Ratio(characters.read, characters.total) if characters else UNDEFINED,
        "characters_shown": Ratio(characters.shown, characters.total) if characters else UNDEFINED,
        "source_coverage": metrics.source_coverage(
            cited, (each.id for each in corpus.sources if each.readable)
        ),
    }


def _support(
    question: Question,
    shown: Sequence[Claim],
    cited: Sequence[Checked],
    covered: bool,
    verdicts: Mapping[str, bool | None],
) -> tuple[Ratio, int]:
    """The rate of unsupported claims. What was computed over a part of what an aggregate needs is unsupported."""
    resolved = {(*each.place, each.quote) for each in cited if each.failure is None}
    partial = question.kind == "aggregate" and not covered
    return metrics.unsupported_rate(
        Support(
            cited=any((c.source, c.start, c.end, c.quote) in resolved for c in claim.citations),
            supported=False if claim.computed and partial else verdicts.get(claim.id),
            derived=claim.computed,
        )
        for claim in shown
    )


def _costs(answer: Answer) -> dict[str, Any]:
    receipt = answer.receipt
    return {
        "calls": receipt.calls,
        "cached_calls": receipt.cached_calls,
        "failed_calls": receipt.failed_calls,
        "retries": receipt.retries,
        "input_tokens": receipt.input_tokens,
        "output_tokens": receipt.output_tokens,
        "cost_usd": receipt.cost_usd,
        "seconds": receipt.wall_seconds,
        "degraded": answer.degraded,
    }
