"""The metrics are those of the reference definitions, on any texts, citations and gold."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals import metrics
from evals.abstention import abstention
from evals.metrics import UNDEFINED, Ratio, Support, checked
from evals.texts import PlainTexts
from tests.evals.oracle import needs_oracle, oracle
from tests.evals.samples import Cite

TEXTS = {"a": "0123456789" * 4, "b": "日本語テキスト😀" * 3, "é": "x"}
KNOWN = PlainTexts(TEXTS)
TAUS = st.sampled_from([0.25, 0.5, 0.75, 1.0])


@st.composite
def spans(draw: st.DrawFn) -> Cite:
    """A stretch of gold, within a text."""
    source = draw(st.sampled_from(["a", "b"]))
    start = draw(st.integers(0, len(TEXTS[source]) - 1))
    end = draw(st.integers(start + 1, len(TEXTS[source])))
    return Cite(source, start, end)


@st.composite
def citations(draw: st.DrawFn) -> Cite:
    """A citation of any kind: real ones, with and without a quote, invented sources, ranges and quotes."""
    source = draw(st.sampled_from(["a", "a", "b", "b", "é", "e\u0301", "nowhere", ""]))
    start = draw(st.integers(-2, 45))
    end = draw(st.integers(-2, 45))
    slice_ = TEXTS.get(source, "")[max(0, start) : max(0, end)]
    return Cite(source, start, end, draw(st.sampled_from([None, slice_, slice_, slice_[1:], "no"])))


facts = st.lists(
    st.lists(st.lists(spans(), max_size=3), min_size=0, max_size=3), min_size=0, max_size=4
)
cited = st.lists(citations() | spans(), max_size=8)
consistent = st.lists(
    citations() | spans(), max_size=8, unique_by=lambda each: (each.source, each.start, each.end)
).flatmap(lambda each: st.permutations(each + each[:2]))


def gold_of(facts: Any, allowed: Sequence[Cite] = ()) -> Any:
    groups = [
        [[(s.source, s.start, s.end) for s in alternative] for alternative in fact]
        for fact in facts
    ]
    return oracle().Gold(groups, True, [(s.source, s.start, s.end) for s in allowed])


def cits_of(cited: Sequence[Cite]) -> list[Any]:
    return [oracle().Cit(each.source, each.start, each.end, each.quote) for each in cited]


def same(found: Ratio, expected: tuple[float, float, float | None]) -> None:
    assert found.num == pytest.approx(expected[0])
    assert found.den == expected[1]
    assert (
        found.value == pytest.approx(expected[2]) if expected[2] is not None else found == UNDEFINED
    )


@needs_oracle
@given(cited)
def test_validity_is_that_of_the_reference(cited: list[Cite]) -> None:
    found = checked(cited, KNOWN)
    same(metrics.citation_validity(found), oracle().citation_validity(cits_of(cited), TEXTS))
    classes = ("unknown_source", "bad_range", "quote_mismatch")
    failed = sum(metrics.failures(found, each) for each in classes)
    assert failed == len(found) - metrics.citation_validity(found).num


@needs_oracle
@given(cited, facts, TAUS)
def test_recall_is_that_of_the_reference(cited: list[Cite], facts: Any, tau: float) -> None:
    found, gold = checked(cited, KNOWN), gold_of(facts)
    same(
        metrics.evidence_recall(found, facts),
        oracle().evidence_recall_char(cits_of(cited), gold, TEXTS),
    )
    same(
        metrics.evidence_hit(found, facts, tau=tau),
        oracle().evidence_recall_hit(cits_of(cited), gold, TEXTS, tau),
    )


@needs_oracle
@given(consistent, facts, st.lists(spans(), max_size=2), TAUS)
def test_precision_is_that_of_the_reference(
    cited: list[Cite], facts: Any, allowed: list[Cite], tau: float
) -> None:
    found = metrics.citation_precision(checked(cited, KNOWN), facts, allowed, tau=tau)
    expected = oracle().citation_precision_gold(cits_of(cited), gold_of(facts, allowed), TEXTS, tau)
    same(found, expected)


@needs_oracle
def test_of_two_quotes_for_one_place_both_must_stand_there() -> None:
    """The reference lets the last one decide, so that the order of citations matters: here it does not."""
    right, wrong = Cite("a", 0, 3, "012"), Cite("a", 0, 3, "0l2")
    gold = [[[Cite("a", 0, 3)]]]
    precise = oracle().citation_precision_gold
    assert precise(cits_of([right, wrong]), gold_of(gold), TEXTS)[2] == 0
    assert precise(cits_of([wrong, right]), gold_of(gold), TEXTS)[2] == 1
    for order in ([right, wrong], [wrong, right]):
        assert metrics.citation_precision(checked(order, KNOWN), gold) == Ratio(0, 1)


def test_a_share_of_tau_is_enough_whatever_floats_say() -> None:
    """0.55 * 20 is 11.000000000000002: of 20 characters 11 are 55 %."""
    gold = [[[Cite("a", 0, 20)]]]
    assert metrics.evidence_hit(checked([Cite("a", 0, 11)], KNOWN), gold, tau=0.55).value == 1


@given(cited, facts)
def test_all_ratios_are_shares(cited: list[Cite], facts: Any) -> None:
    """Whatever is cited and how often: between 0 and 1, or undefined."""
    found = checked(cited * 2, KNOWN)
    assert found == checked(cited, KNOWN)
    for each in (
        metrics.citation_validity(found),
        metrics.quote_validity(found),
        metrics.evidence_recall(found, facts),
        metrics.evidence_hit(found, facts),
        metrics.citation_precision(found, facts),
        metrics.source_coverage(found, TEXTS),
    ):
        assert each.value is None or 0 <= each.value <= 1


@needs_oracle
@given(
    st.lists(st.builds(Support, st.booleans(), st.sampled_from([True, False, None]), st.booleans()))
)
def test_unsupported_claims_are_those_of_the_reference(claims: list[Support]) -> None:
    reference = [
        oracle().Claim("x", [1] if each.cited else [], each.supported, each.needs_citation)
        for each in claims
    ]
    num, den, value, unjudged = oracle().unsupported_rate(reference)
    rate, left = metrics.unsupported_rate(claims)
    same(rate, (num, den, value))
    assert left == unjudged


def test_what_was_derived_is_not_judged_by_a_citation() -> None:
    """A count is proved by counting again: without that it is not judged, and never supported for its form."""
    assert metrics.unsupported_rate([Support(False, derived=True)]) == (UNDEFINED, 1)
    assert metrics.unsupported_rate([Support(True, False, derived=True)]) == (Ratio(1, 1), 0)


@needs_oracle
@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)))
def test_partition_coverage_is_that_of_the_reference(required: list[int], done: list[int]) -> None:
    found = metrics.partition_coverage(map(str, required), [str(each) for each in done])
    same(found, oracle().partition_coverage(required, done))


@needs_oracle
@given(st.lists(spans() | citations()))
def test_character_coverage_is_that_of_the_reference(read: list[Cite]) -> None:
    sizes = {source: len(text) for source, text in TEXTS.items()}
    places = [(each.source, each.start, each.end) for each in read]
    same(metrics.character_coverage(places, sizes), oracle().char_coverage(places, sizes))


@needs_oracle
@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from(["answer", "partial", "abstain", "error"])))
)
def test_abstention_is_that_of_the_reference(rows: list[tuple[bool, str]]) -> None:
    found, expected = abstention(rows), oracle().abstention(rows)
    same(found.recall, expected["abstain_recall"])
    same(found.precision, expected["abstain_precision"])
    same(found.false_abstention, expected["false_abstain"])
    same(found.answered_unanswerable, expected["answered_unanswerable"])
    short = {"answerable": "A", "unanswerable": "U"}
    counts = {
        f"{short[name]}:{state}": number
        for name, states in found.counts.items()
        for state, number in states.items()
    }
    assert counts == {name: number for name, number in expected["counts"].items() if number}


@pytest.mark.parametrize("tau", [0, -0.5, 1.5, float("nan")])
def test_a_tau_that_is_no_share_is_refused(tau: float) -> None:
    """With tau 0 nothing cited would be a hit."""
    for metric in (metrics.evidence_hit, metrics.citation_precision):
        with pytest.raises(ValueError, match="tau"):
            metric((), [], tau=tau)


@pytest.mark.parametrize("parts", [(float("nan"), 1), (1, float("inf")), (1, -1)])
def test_a_ratio_is_never_nan(parts: tuple[float, float]) -> None:
    """inspect_ai#4491: NaN became null, and null was scored as 0."""
    with pytest.raises(ValueError, match="not a ratio"):
        Ratio(*parts)
