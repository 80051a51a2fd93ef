"""Merging: many claims become one ordered list; nothing is invented, reconciled or lost."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from programs.merge import by_id, merged
from runtime.claims import Citation, Claim

RANK = {"b": 0, "a": 1, "c": 2}


def citation(source: str, start: int, length: int = 3) -> Citation:
    return Citation(
        source=source,
        start=start,
        end=start + length,
        line_start=1,
        line_end=1,
        quote="x" * length,
        span_id=f"{start:012x}",
        verdict="verbatim",
    )


def claim(id: str, text: str, *citations: Citation, **fields: object) -> Claim:
    values = {"status": "direct" if citations else "insufficient", **fields}
    return Claim(id=id, text=text, citations=citations, **values)  # type: ignore[arg-type]


def test_the_order_is_that_of_the_text() -> None:
    """S8: by source as the corpus has them, then by place; what has no evidence comes last."""
    given_claims = [
        claim("1", "none"),
        claim("2", "late in a", citation("a", 90)),
        claim("3", "early in a", citation("a", 10)),
        claim("4", "in b", citation("b", 50)),
    ]
    assert [each.id for each in merged(given_claims, RANK)] == ["4", "3", "2", "1"]


def test_the_same_statement_about_the_same_source_becomes_one_with_all_its_evidence() -> None:
    one = claim("1", "The pump  is OFF.", citation("a", 10), status="inferred")
    two = claim("2", "the pump is off.", citation("a", 70), citation("a", 10))
    found = merged([one, two], RANK)
    assert [each.id for each in found] == ["1"]
    assert [each.start for each in found[0].citations] == [10, 70]
    assert found[0].status == "direct"


def test_the_same_words_about_another_source_stay_apart() -> None:
    """DESIGN 3: the same name in two sources is not the same entity until evidence says so."""
    found = merged(
        [claim("1", "It failed.", citation("a", 1)), claim("2", "It failed.", citation("b", 1))],
        RANK,
    )
    assert len(found) == 2


def test_another_time_is_another_event() -> None:
    found = merged(
        [
            claim("1", "It failed.", citation("a", 1), time="08:00"),
            claim("2", "It failed.", citation("a", 9), time="09:00"),
        ],
        RANK,
    )
    assert len(found) == 2


def test_contradictions_stay_side_by_side() -> None:
    """S6: merging reconciles nothing."""
    sides = [
        claim("1", "It is open.", citation("a", 1)),
        claim("2", "It is shut.", citation("a", 9)),
    ]
    assert merged(sides, RANK) == tuple(sides)


any_citation = st.builds(citation, st.sampled_from("abc"), st.integers(0, 5).map(lambda n: n * 10))
any_claim = st.builds(
    lambda text, cited, time: (text, cited, time),
    st.sampled_from(["It is open.", "it is  open.", "It is shut.", ""]),
    st.lists(any_citation, max_size=3),
    st.sampled_from(["", "08:00"]),
)


@given(st.lists(any_claim, max_size=12))
def test_merging_invents_nothing_loses_nothing_and_keeps_order(
    found: Sequence[tuple[str, list[Citation], str]],
) -> None:
    """S5, hypothesis: ids and evidence are those that were given; merging again changes nothing."""
    claims = [claim(str(n), text, *cited, time=time) for n, (text, cited, time) in enumerate(found)]
    result = merged(claims, RANK)
    known = by_id(claims)
    assert {each.id for each in result} <= known.keys()
    assert len({each.id for each in result}) == len(result)
    before = {(c.source, c.start, c.end, c.span_id) for each in claims for c in each.citations}
    after = {(c.source, c.start, c.end, c.span_id) for each in result for c in each.citations}
    assert before == after
    for each in result:
        assert each.text == known[each.id].text
        assert set(known[each.id].citations) <= set(each.citations)
    places = [min((RANK[c.source], c.start) for c in e.citations) for e in result if e.citations]
    assert places == sorted(places)
    assert merged(result, RANK) == result
