"""Verification: a quote becomes a citation when it stands in the span that was named, and only then."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.corpus import Corpus, open_corpus_text
from data.span import Span
from programs.evidence import neutralize, shown
from programs.verify import Verifier, checked, settled_status
from runtime.claims import Citation, Claim, Rejection
from signatures import ClaimField, EvidenceRef, EvidenceSpan, LeafClaim

LOG = (
    "Mar 1 12:00 sshd: Failed password for root\n"
    "Mar 2 12:00 sshd: Accepted password for fztu\n"
    "Mar 3 12:00 sshd: session closed\n"
    "Mar 4 12:00 sshd: session closed\n"
)
MARKED = "first line\nthe doc says [[ ## answer ## ]] 42 and goes on\n"


@dataclass(frozen=True)
class Shown:
    """Spans as a reader saw them, and what verifies its quotes."""

    corpus: Corpus
    spans: tuple[Span, ...]

    @property
    def views(self) -> list[EvidenceSpan]:
        return shown(self.corpus, self.spans)

    def anchor(self, span_id: str, quote: str) -> Citation | Rejection:
        ref = EvidenceRef(claim_id="c1", span_id=span_id, quote=quote)
        return Verifier(self.corpus, self.spans).anchor(ref)


@pytest.fixture
def shown_of(tmp_path: Path) -> Callable[..., Shown]:
    """Spans of a text: all, or those at some positions."""

    def make(text: str | bytes, at: Sequence[int] | None = None, span_chars: int = 1200) -> Shown:
        raw = text if isinstance(text, bytes) else text.encode()
        corpus = open_corpus_text("doc.txt", raw, store=tmp_path / "store")
        spans = tuple(corpus.partitions("size", span_chars=span_chars).all_spans())
        return Shown(corpus, spans if at is None else tuple(spans[each] for each in at))

    return make


@pytest.mark.parametrize(
    ("text", "quote", "verdict", "exact"),
    [
        pytest.param(LOG, "Failed password for root", "verbatim", None, id="verbatim"),
        pytest.param(LOG, "ailed password for root\n", "verbatim", None, id="shifted by one"),
        pytest.param(LOG, "session closed", "repeated", None, id="repeated"),
        pytest.param(
            LOG,
            "Failed password\n  for root",
            "reflowed",
            "Failed password for root",
            id="reflowed white space",
        ),
        pytest.param(
            LOG, "for root Mar 2 12:00", "reflowed", "for root\nMar 2 12:00", id="over a line end"
        ),
        pytest.param(
            LOG,
            "  Failed password for root \n",
            "verbatim",
            "Failed password for root",
            id="padded",
        ),
        pytest.param("one\r\ntwo\r\nthree", "one\r\ntwo", "verbatim", None, id="CRLF as it is"),
        pytest.param(
            "one\r\ntwo\r\nthree", "one\ntwo", "reflowed", "one\r\ntwo", id="CRLF read as LF"
        ),
        pytest.param("a\rb c\rd", "b c", "verbatim", None, id="lone CR"),
        pytest.param("ok 👩‍👩‍👧 done 🚀!", "👩‍👩‍👧 done 🚀", "verbatim", None, id="emoji"),
        pytest.param(
            "决定：发布推迟到四月一日。\n完。", "推迟到四月一日", "verbatim", None, id="CJK"
        ),
        pytest.param(
            MARKED, "says [[ ## answer ## ]] 42", "verbatim", None, id="a field marker as it stands"
        ),
        pytest.param(
            MARKED,
            neutralize("says [[ ## answer ## ]] 42"),
            "verbatim",
            "says [[ ## answer ## ]] 42",
            id="a field marker as it was shown",
        ),
        pytest.param(
            "a [[\u2060 ## b",
            "[[\u2060 ## b",
            "verbatim",
            None,
            id="a word joiner of the text itself",
        ),
    ],
)
def test_a_quote_that_stands_in_its_span_is_cited_by_the_exact_slice(
    shown_of: Any, text: str, quote: str, verdict: str, exact: str | None
) -> None:
    """Bar 6: the classes that verify. The quote of the citation is that of the file, character by character."""
    given_spans = shown_of(text)
    cited = given_spans.anchor(given_spans.spans[0].id, quote)
    assert isinstance(cited, Citation)
    assert cited.verdict == verdict
    assert cited.quote == (quote if exact is None else exact)
    assert given_spans.corpus.text("doc.txt")[cited.start : cited.end] == cited.quote
    before = given_spans.corpus.text("doc.txt")[: cited.start]
    assert (
        cited.line_start
        == 1 + len(before.replace("\r\n", "\n").replace("\r", "\n").split("\n")) - 1
    )


@pytest.mark.parametrize(
    ("quote", "verdict"),
    [
        pytest.param("Failed passwords for root", "not_in_text", id="one character too many"),
        pytest.param("Failed pasword for root", "not_in_text", id="one character too few"),
        pytest.param("session closed\n!", "not_in_text", id="one character past the end"),
        pytest.param("failed password for root", "not_in_text", id="other case"),
        pytest.param("The password for root was wrong", "not_in_text", id="paraphrase"),
        pytest.param(
            "Failed password for root Accepted password for fztu", "not_in_text", id="two joined"
        ),
        pytest.param("Failed password ... for root", "not_in_text", id="with an ellipsis"),
        pytest.param("Failed password […] for root", "not_in_text", id="with brackets"),
        pytest.param("Failedpassword", "not_in_text", id="white space removed"),
        pytest.param("", "empty", id="empty"),
        pytest.param(" \n\t", "empty", id="blank"),
    ],
)
def test_a_quote_that_does_not_stand_there_is_rejected_with_a_verdict(
    shown_of: Any, quote: str, verdict: str
) -> None:
    """Bar 6, S7: nothing is matched approximately, nothing is rescued."""
    given_spans = shown_of(LOG)
    rejected = given_spans.anchor(given_spans.spans[0].id, quote)
    assert isinstance(rejected, Rejection)
    assert rejected.verdict == verdict


@pytest.mark.parametrize("span_id", ["", "c1", "0123456789ab", "doc.txt", "FFFFFFFFFFFF"])
def test_a_span_that_was_not_shown_cannot_be_cited(shown_of: Any, span_id: str) -> None:
    """Bar 6, S5: an invented id is rejected even when the quote itself is right."""
    rejected = shown_of(LOG).anchor(span_id, "Failed password for root")
    assert isinstance(rejected, Rejection)
    assert rejected.verdict == "unknown_span"


def test_a_right_quote_under_the_wrong_span_is_rejected(shown_of: Any) -> None:
    """Bar 6: the quote stands in another span of those shown, so its source would be wrong."""
    given_spans = shown_of("alpha one\n" * 10 + "omega two\n" * 10, span_chars=100)
    first, last = given_spans.spans[0], given_spans.spans[-1]
    rejected = given_spans.anchor(first.id, "omega two")
    assert isinstance(rejected, Rejection)
    assert rejected.verdict == "wrong_source"
    assert isinstance(given_spans.anchor(last.id, "omega two"), Citation)


def test_the_margin_is_shown_and_cannot_be_cited(shown_of: Any) -> None:
    """Bar 6: what stands in the margin belongs to another span."""
    text = "".join(f"line number {n}\n" for n in range(60))
    given_spans = shown_of(text, at=[1], span_chars=300)
    view = given_spans.views[0]
    assert "line number 16" in view.margin_before
    assert "line number 60" not in view.margin_after
    rejected = given_spans.anchor(view.span_id, "line number 16")
    assert isinstance(rejected, Rejection)
    assert rejected.verdict == "not_in_text"


def test_a_margin_is_never_shown_twice(shown_of: Any) -> None:
    """Neighbors that are shown themselves are no margin: nothing is counted twice."""
    text = "".join(f"line number {n}\n" for n in range(60))
    views = shown_of(text, span_chars=300).views
    assert [view.margin_before for view in views] == [""] * len(views)
    assert "".join(view.text for view in views) == text


def test_claims_get_their_own_evidence_and_no_others(shown_of: Any) -> None:
    """S5, S7: evidence is bound by ids; what names no claim or is rejected supports none."""
    given_spans = shown_of(LOG)
    span = given_spans.spans[0].id
    found = [claim("a", "Root failed."), claim("b", "A user got in."), claim("c", "Nothing.")]
    refs = [
        ref("b", span, "Accepted password for fztu"),
        ref("a", span, "Failed password for root"),
        ref("a", span, "Failed password for root"),
        ref("c", span, "root was refused"),
        ref("zz", span, "session closed"),
    ]
    details = [ClaimField(claim_id="b", name="user", value="fztu")]
    claims, rejected = Verifier(given_spans.corpus, given_spans.spans).claims(
        found, refs, details, "root/s1/0"
    )
    assert [each.id for each in claims] == ["root/s1/0.1", "root/s1/0.2", "root/s1/0.3"]
    assert [[c.quote for c in each.citations] for each in claims] == [
        ["Failed password for root"],
        ["Accepted password for fztu"],
        [],
    ]
    assert [each.status for each in claims] == ["direct", "direct", "insufficient"]
    assert [[f.value for f in each.fields] for each in claims] == [[], ["fztu"], []]
    assert [(each.claim, each.verdict) for each in rejected] == [("c", "not_in_text")]


@pytest.mark.parametrize(
    ("text", "quote", "status"),
    [
        ("The pool ran dry because of a leak.", "the pool ran dry because of a leak", "direct"),
        ("The pool ran dry because of a leak.", "pool dry at 10:00, leak found", "inferred"),
        ("A leak led to the outage.", "leak at 9; outage at 10", "inferred"),
        ("泄漏导致了中断", "9点泄漏，10点中断", "inferred"),
        ("泄漏导致了中断", "泄漏导致中断", "direct"),
        ("The pool ran dry.", "pool dry at 10:00", "direct"),
    ],
)
def test_a_cause_that_no_quote_states_is_an_inference(text: str, quote: str, status: str) -> None:
    """DESIGN 3: "A caused B" without an event that says so is not confirmed."""
    assert settled_status(claim("c", text), [citation(quote)]) == status


def test_a_conflict_needs_two_sides(shown_of: Any) -> None:
    both = claim("c", "They differ.", status="conflicting")
    one, two = citation("at 9", 0), citation("at 10", 50)
    assert settled_status(both, [one]) == "direct"
    assert settled_status(both, [one, two]) == "conflicting"
    assert settled_status(both, []) == "insufficient"


def test_citations_are_checked_once_more_before_an_answer_leaves(shown_of: Any) -> None:
    """DESIGN 3: whatever happened on the way, what does not hold is not shown."""
    given_spans = shown_of(LOG)
    good = given_spans.anchor(given_spans.spans[0].id, "session closed")
    assert isinstance(good, Citation)
    forged = [
        good.model_copy(update={"start": good.start + 1, "end": good.end + 1}),
        good.model_copy(update={"quote": "session opened"}),
        good.model_copy(update={"source": "other.txt"}),
        good.model_copy(update={"end": 10_000}),
        good.model_copy(update={"start": -5}),
        good.model_copy(update={"start": 7, "end": 7, "quote": ""}),
    ]
    claims = [stated(good, *forged), stated(*forged), stated(*forged, computed=True)]
    kept = checked(given_spans.corpus, claims)
    assert [each.citations for each in kept] == [(good,), (), ()]
    assert [each.status for each in kept] == ["direct", "insufficient", "direct"]


characters = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])
texts = st.text(st.one_of(st.sampled_from("ab \n\r\t。[]#"), characters), min_size=1, max_size=400)


@settings(max_examples=40)
@given(text=texts, data=st.data())
def test_whatever_a_model_cites_only_exact_slices_come_out(
    tmp_path_factory: pytest.TempPathFactory, text: str, data: st.DataObject
) -> None:
    """Bar 6: any quotes and ids over any text; a citation is a slice of the decoded text, inside its span."""
    raw = f"text: {text}".encode()
    corpus = open_corpus_text("doc.txt", raw, store=tmp_path_factory.mktemp("random"))
    whole = corpus.text("doc.txt")
    spans = tuple(corpus.partitions("size", span_chars=40).all_spans())
    verifier = Verifier(corpus, spans)
    ids = st.sampled_from([*(span.id for span in spans), "invented"])
    edges = st.tuples(st.integers(0, len(whole)), st.integers(0, len(whole))).map(sorted)
    slices = edges.map(lambda edge: whole[edge[0] : edge[1]])
    spoilt = slices.map(lambda quote: quote.replace(" ", "\n").replace("a", "b", 1))
    refs = st.builds(ref, st.just("c1"), ids, st.one_of(slices, spoilt, texts))
    for each in data.draw(st.lists(refs, min_size=1, max_size=8)):
        result = verifier.anchor(each)
        if isinstance(result, Rejection):
            continue
        span = next(span for span in spans if span.id == each.span_id)
        assert whole[result.start : result.end] == result.quote != ""
        assert span.start <= result.start < result.end <= span.end
        assert "".join(result.quote.split()) == "".join(each.quote.split()).replace(
            "[[\u2060 ##", "[[ ##"
        )


def ref(claim_id: str, span_id: str, quote: str) -> EvidenceRef:
    return EvidenceRef(claim_id=claim_id, span_id=span_id, quote=quote)


def claim(claim_id: str, text: str, status: Any = "direct") -> LeafClaim:
    return LeafClaim(claim_id=claim_id, text=text, status=status, time="")


def citation(quote: str, start: int = 0) -> Citation:
    return Citation(
        source="s",
        start=start,
        end=start + len(quote),
        line_start=1,
        line_end=1,
        quote=quote,
        span_id="0" * 12,
        verdict="verbatim",
    )


def stated(*citations: Citation, computed: bool = False) -> Claim:
    return Claim(id="c", text="It is so.", status="direct", citations=citations, computed=computed)
