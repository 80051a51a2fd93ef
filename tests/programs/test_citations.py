"""Citations of whole runs: whatever a reader and a writer reply, an answer cites only what stands in the file."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

# `lab.ask` checks every citation of every answer against the stored text; see conftest.py.

CASES = {
    "crlf.txt": "first line\r\nsecond FACT line\r\nthird line\r\n",
    "emoji.txt": "before 😀 FACT 👩‍👩‍👧 after 🚀\nend\n",
    "cjk.md": "# 会议\n决定：FACT 发布推迟到四月一日。\n",
    "bom.txt": b"\xef\xbb\xbfFACT first after the mark\n",
    "utf16.txt": "FACT in sixteen bits\n".encode("utf-16"),
    "legacy.txt": "café FACT crème brûlée, déjà vu, garçon, à la carte\n".encode("cp1252") * 4,
    "cr.txt": b"one\rFACT two\rthree",
    "no-end.txt": "FACT without a line end",
    "form\x20feed.txt": "a\x0cFACT b\x0cc\n",
}


def test_quotes_of_every_kind_of_file_come_back_exact(lab: Any) -> None:
    """Bar 6: CRLF, emoji, CJK, BOM, UTF-16, a legacy encoding, lone CR, form feeds, no final newline."""
    corpus = lab.corpus(CASES)
    ran = lab.ask(lab.model(), corpus)
    assert {c.source for claim in ran.answer.claims for c in claim.citations} == set(CASES)
    assert all("FACT" in c.quote for claim in ran.answer.claims for c in claim.citations)
    assert ran.answer.outcome == "answered"


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (lambda quote: quote, "verbatim"),
        (lambda quote: quote[1:], "verbatim"),
        (lambda quote: quote.replace(" ", "\n  "), "reflowed"),
        (lambda quote: quote[:-1] + "Z", None),
        (lambda quote: quote.replace("valve", "gate"), None),
        (lambda quote: f"{quote} … {quote}", None),
        (lambda quote: "", None),
    ],
    ids=["verbatim", "shifted", "reflowed", "one off", "paraphrase", "joined", "empty"],
)
def test_each_class_of_quote_has_its_verdict_in_a_run(
    lab: Any, say: Any, change: Any, verdict: str | None
) -> None:
    """Bar 6: the answer, the journal and the outcome agree on it."""

    def read(request: Any) -> Any:
        quote = change("FACT the valve is open")
        return say.leaf(("The valve is open.", request.value("spans")[0]["span_id"], quote))

    ran = lab.ask(
        lab.model(AnalyzeLeaf=read), lab.corpus({"a.txt": "noise\nFACT the valve is open\n"})
    )
    if verdict is None:
        assert ran.answer.claims == ()
        assert len(ran.step("s1").observation.payload.rejected) == 1
        assert ran.answer.outcome == "not_found_in_covered"  # a line has the words of the question
    else:
        assert ran.answer.claims[0].citations[0].verdict == verdict
        assert ran.answer.claims[0].citations[0].line_start == 2
        assert ran.answer.outcome == "answered"


piece = st.one_of(
    st.sampled_from(
        ["a", " ", "\n", "\r\n", "\r", "。", "😀", "[[ ## a ## ]]", "FACT ", "e\u0301"]
    ),
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]),
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(piece, min_size=1, max_size=60), data=st.data())
def test_no_reply_of_any_kind_brings_an_unverified_citation_into_an_answer(
    lab: Any, say: Any, pieces: list[str], data: st.DataObject
) -> None:
    """Bar 6, hypothesis: any text, any quotes, ids, statuses and statements."""
    text = "text: " + "".join(pieces)
    corpus = lab.corpus({"a.txt": text, "b.txt": text[::-1] + " end"})
    whole = corpus.text("a.txt")
    edges = st.tuples(st.integers(0, len(whole)), st.integers(0, len(whole))).map(sorted)
    quotes = st.one_of(
        edges.map(lambda e: whole[e[0] : e[1]]), st.lists(piece, max_size=4).map("".join)
    )
    statuses = st.sampled_from(["direct", "inferred", "conflicting", "insufficient"])

    def read(request: Any) -> Any:
        ids = [*(span["span_id"] for span in request.value("spans")), "invented"]
        found = [
            (f"Claim {n}.", data.draw(st.sampled_from(ids)), data.draw(quotes))
            for n in range(data.draw(st.integers(0, 3)))
        ]
        reply = say.leaf(*found)
        claims = [{**each, "status": data.draw(statuses)} for each in reply["claims"]]
        return {**reply, "claims": claims}

    def write(request: Any) -> Any:
        ids = [*(claim["claim_id"] for claim in request.value("claims", [])), "c99"]
        named = st.lists(st.sampled_from(ids), max_size=3)
        reply = say.conclude(*((f"Statement {n}.", data.draw(named)) for n in range(2)))
        made = [{**each, "status": data.draw(statuses)} for each in reply["statements"]]
        return {**reply, "statements": made}

    ran = lab.ask(lab.model(AnalyzeLeaf=read, Conclude=write), corpus)
    for claim in ran.answer.claims:
        if claim.status != "insufficient":
            assert claim.citations
    if ran.answer.outcome == "answered":
        assert any(claim.citations for claim in ran.answer.claims)
