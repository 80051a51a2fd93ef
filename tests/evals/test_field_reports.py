"""What went wrong in other suites and concerns metrics, where no other test of this folder is named after it."""

import random
from pathlib import Path

import pytest

from data.corpus import Corpus, open_corpus
from evals import metrics
from evals.metrics import UNDEFINED, Ratio, checked
from evals.score import score
from evals.summary import summary
from evals.texts import PlainTexts
from tests.evals.samples import Cite, answer, citation, claim, pumps, question, span

A, B, C = "Pump A ran for 7 hours.", "Pump B ran for 12 hours.", "Nobody checked pump C."


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return pumps(tmp_path_factory.mktemp("pumps"))


def test_a_citation_belongs_to_the_claim_that_has_it(corpus: Corpus) -> None:
    """ALCE#26: "... claim. [1]" was bound to the next sentence. Here no text is searched for citations."""
    at = span(corpus, "notes.txt", A)
    asked = question("integer", "7", gold=[[[at]]])
    for text in ("7. [1]", "[1] 7.", "7 [1][1]", "7 [99] [0]"):
        found = score(asked, answer(claim(text, at), value=7), corpus)
        assert (found.unjudged, found.unsupported, found.citation_validity) == (
            1,
            UNDEFINED,
            Ratio(1, 1),
        )
        bare = score(asked, answer(claim(text), value=7), corpus)
        assert (bare.unsupported, bare.citation_validity) == (Ratio(1, 1), UNDEFINED)


def test_numbers_in_brackets_are_no_citations(corpus: Corpus) -> None:
    """BrowseComp-Plus: "[see Section 3, 2019]" was a citation of the documents 3 and 2019."""
    at = span(corpus, "notes.txt", A)
    told = answer(claim("It ran [see Section 3, 2019] for 7 hours.", at), value=7)
    found = score(question("integer", "7", gold=[[[at]]]), told, corpus)
    assert found.citation_precision == Ratio(1, 1)


def test_all_citations_of_a_claim_count(corpus: Corpus) -> None:
    """open-rag-eval#109: only the first citation of a part was scored."""
    first, second = span(corpus, "notes.txt", A), span(corpus, "notes.txt", B)
    asked = question("integer", "19", gold=[[[first]], [[second]]])
    found = score(asked, answer(claim("19", first, second)), corpus)
    assert found.evidence_recall == found.citation_precision == Ratio(2, 2)
    with_wrong = claim(
        "19", first, second, span(corpus, "notes.txt", C), citation(first, source="x")
    )
    assert score(asked, answer(with_wrong), corpus).citation_precision == Ratio(2, 4)


def test_an_invented_citation_costs(corpus: Corpus) -> None:
    """ALCE: one good citation and [99] had precision 100 %, and [0] was the last document; open-rag-eval skips it."""
    at = span(corpus, "notes.txt", A)
    asked = question("integer", "7", gold=[[[at]]])
    for changed in (
        {"source": "99"},
        {"source": ""},
        {"start": -2, "end": -1},
        {"end": at.end + 1},
    ):
        found = score(asked, answer(claim("7", at, citation(at, **changed))), corpus)
        assert found.citation_validity == found.citation_precision == Ratio(1, 2)
    misquoted = citation(at, quote="Pump Z ran for 7 hours.")
    found = score(asked, answer(claim("7", at, misquoted)), corpus)
    assert (found.citation_validity, found.citation_precision) == (Ratio(1, 2), Ratio(0, 1))


def test_an_empty_answer_is_not_left_out(corpus: Corpus) -> None:
    """ALCE skips empty answers: a good one and an empty one were 100 / 100, empty ones alone NaN."""
    at = span(corpus, "notes.txt", A)
    good = score(question("integer", "7", gold=[[[at]]], id="1"), answer(claim("7", at)), corpus)
    empty = score(
        question("integer", "7", gold=[[[at]]], id="2"), answer(outcome="partial"), corpus
    )
    found = summary([good, empty])
    assert found.means["evidence_recall"].mean == 0.5
    assert found.means["verified_correct"].mean == 0.5
    assert found.empty_answers == Ratio(1, 2)
    assert summary([empty]).means["citation_precision"].mean is None


def test_repetition_changes_nothing(corpus: Corpus) -> None:
    """[1][1] was two citations in ALCE, FEVER and QASPER; overlaps count twice in chunking_evaluation."""
    at = span(corpus, "notes.txt", A)
    half = span(corpus, "notes.txt", A[: len(A) // 2 + 1])
    asked = question("integer", "7", gold=[[[at]]])
    once = score(asked, answer(claim("7", half, at)), corpus)
    assert score(asked, answer(claim("7", half, at, half, at, at)), corpus) == once
    assert once.evidence_recall == Ratio(1, 1)


def test_touching_is_not_overlap() -> None:
    """chunking_evaluation: ranges that touch had the intersection (5, 5)."""
    texts = PlainTexts({"a": "0123456789"})
    beside = checked([Cite("a", 5, 10)], texts)
    gold = [[[Cite("a", 0, 5)]]]
    assert metrics.evidence_recall(beside, gold) == Ratio(0, 1)
    assert metrics.citation_precision(beside, gold, tau=0.01) == Ratio(0, 1)


@pytest.mark.parametrize(
    "quote",
    [
        "didn't matter that the server didn't",
        "“curly”",
        "‘single’ and 'straight'",
        "「引用」",
        "«x»",
        '"',
    ],
)
def test_quotation_marks_are_text_like_any_other(quote: str, tmp_path: Path) -> None:
    """ragas quoted_spans took apostrophes for quotation marks and missed curly and CJK ones."""
    (tmp_path / "a.txt").write_text(f"It said {quote} to us", encoding="utf-8")
    corpus = open_corpus([tmp_path], store=tmp_path / "store")
    at = span(corpus, "a.txt", quote)
    found = score(question("string", "x", gold=[[[at]]]), answer(claim("x", at)), corpus)
    assert found.quote_validity == found.evidence_recall == Ratio(1, 1)


@pytest.mark.parametrize(
    "raw",
    [b"one\r\ntwo\r\nthree\r\n", b"one\rtwo\rthree", b"\xef\xbb\xbfone\ntwo\nthree",
     "one\ntwo\nthree".encode("utf-16")],
    ids=["CRLF", "lone CR", "BOM", "UTF-16"],
)  # fmt: skip
def test_line_ends_and_marks_do_not_shift_offsets(raw: bytes, tmp_path: Path) -> None:
    """haystack#403: labels were shifted in files with CRLF."""
    (tmp_path / "a.txt").write_bytes(raw)
    corpus = open_corpus([tmp_path], store=tmp_path / "store")
    at = span(corpus, "a.txt", "three")
    assert corpus.slice("a.txt", at.start, at.end) == "three"
    found = score(question("string", "x", gold=[[[at]]]), answer(claim("x", at)), corpus)
    assert found.verified_correct == Ratio(1, 1)


def test_no_sample_leaks_into_the_next(corpus: Corpus) -> None:
    """L-CiteEval: gold of the item before was used where an item had none; sgl-eval#39 and others alias rows."""
    at, other = span(corpus, "notes.txt", A), span(corpus, "notes.txt", B)
    samples = [
        (question("integer", "7", gold=[[[at]]], id="1"), answer(claim("7", at))),
        (question("none", id="2"), answer()),
        (question("integer", "12", gold=[[[other]]], id="3"), answer(claim("12", at))),
        (question("integer", "0", kind="aggregate", id="4"), answer(value=0, outcome="answered")),
    ]
    alone = {asked.id: score(asked, told, corpus) for asked, told in samples}
    random.Random(1).shuffle(samples)
    assert {asked.id: score(asked, told, corpus) for asked, told in samples} == alone


def test_an_answer_may_not_name_everything(corpus: Corpus) -> None:
    """A citation of the whole file recalls everything, and is not precise: the two are shown together."""
    whole = span(corpus, "notes.txt", corpus.text("notes.txt"))
    at = span(corpus, "notes.txt", A)
    found = score(question("integer", "7", gold=[[[at]]]), answer(claim("7", whole)), corpus)
    assert (found.evidence_recall, found.citation_precision) == (Ratio(1, 1), Ratio(0, 1))
