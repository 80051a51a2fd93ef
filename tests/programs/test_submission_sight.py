"""Submitted quotes of spans that were shown in part: what nobody saw of them cannot be cited."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.stretches import Stretches
from runtime.limits import Limits
from tests.programs.by_hand import Hand, play

TWELVE = [f"line {n} says value {7 * n}" for n in range(12)]
TEXT = "\n".join(TWELVE)
"""One span."""


def test_what_nobody_saw_of_a_span_that_was_shown_in_part_cannot_be_cited(lab: Any) -> None:
    """Field reports 29: a right quote is a guess. To have seen a line of the span is not to have seen the span."""

    async def script(hand: Hand) -> None:
        id = (await hand("search", pattern="line 1 says"))["hits"][0]["span_id"]
        for quote in (TWELVE[9], "value 7\nline 2", f"{TWELVE[0]}\n{TWELVE[1]}"):
            made, _ = hand.submit("", ("It says so", [(id, quote)]))
            assert [each.status for each in made.statements] == ["insufficient"]
            assert [each.verdict for each in made.rejected] == ["not_shown"]
        await hand("read_span", source="a.txt", first_line=10, last_line=10)
        made, _ = hand.submit("", ("Line 9 says value 63", [(id, TWELVE[9])]))
        assert [each.status for each in made.statements] == ["direct"]

    play(lab, lab.corpus({"a.txt": TEXT}), script)


def test_the_end_of_a_line_need_not_be_shown(lab: Any) -> None:
    """A search shows lines without their ends: a quote over two of them, or with its line end, is as good."""

    async def script(hand: Hand) -> None:
        id = (await hand("search", pattern="/line [1-3] /"))["hits"][0]["span_id"]
        quotes = ["\n".join(TWELVE[1:4]), "value 7 line 2", f"{TWELVE[3]}\n"]
        made, _ = hand.submit("", ("They say so", [(id, each) for each in quotes]))
        (one,) = made.statements
        assert [(each.line_start, each.line_end) for each in one.citations] == [
            (2, 4),
            (2, 3),
            (4, 4),
        ]
        assert made.rejected == ()

    play(lab, lab.corpus({"a.txt": TEXT}), script)


def test_of_a_line_that_was_clipped_what_was_shown_can_be_cited(lab: Any) -> None:
    line = "needle " + "".join(f"word{n} " for n in range(140))

    async def script(hand: Hand) -> None:
        found = await hand("search", pattern="needle")
        (hit,) = found["hits"]
        assert "in part" in found["cut"]
        made, _ = hand.submit(
            "",
            ("It begins", [(hit["span_id"], hit["text"])]),
            ("It goes on", [(hit["span_id"], "word139")]),
        )
        assert [each.status for each in made.statements] == ["direct", "insufficient"]
        assert [each.verdict for each in made.rejected] == ["not_shown"]

    play(lab, lab.corpus({"a.txt": f"{line}\n"}), script, limits=Limits(tool_output_chars=900))


@pytest.mark.parametrize("quote", ["value is 7", "value  is 7", "\tvalue is 7 "])
def test_a_quote_that_stands_in_many_places_is_cited_where_it_was_shown(
    lab: Any, quote: str
) -> None:
    """The first place where the words stand need not be the one that the model means."""
    text = "a: value is 7\nb: value is 7\nc: value is 7\n"

    async def script(hand: Hand) -> None:
        id = (await hand("search", pattern="b:"))["hits"][0]["span_id"]
        made, _ = hand.submit("", ("The value is 7", [(id, quote)]))
        (cited,) = made.statements[0].citations
        assert (cited.line_start, cited.quote) == (2, "value is 7")
        assert cited.verdict == ("reflowed" if "  " in quote else "repeated")

    play(lab, lab.corpus({"a.txt": text}), script)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seen=st.lists(st.integers(0, 11), min_size=1, max_size=3),
    edges=st.lists(st.tuples(st.integers(0, 290), st.integers(1, 40)), min_size=1, max_size=8),
)
def test_no_citation_holds_a_character_that_was_not_shown(
    lab: Any, seen: list[int], edges: list[tuple[int, int]]
) -> None:
    """Hypothesis: any slices of a span of which a few lines were shown; all that was shown is accepted."""
    lines = dict(enumerate(_numbers()))

    async def script(hand: Hand) -> None:
        for each in seen:
            await hand("search", pattern=f"line {each} says")
        id = hand.run.workspace.partitioning.span_at("a.txt", 0).id
        quotes = [TEXT[start : start + size] for start, size in edges]
        made, _ = hand.submit("", ("It says so", [(id, each) for each in quotes if each.strip()]))
        shown = {at for at, number in lines.items() if number in seen}
        cited = Stretches.of(
            (each.source, each.start, each.end) for one in made.statements for each in one.citations
        )
        points = {at for _, start, end in cited for at in range(start, end)}
        assert all(TEXT[at].isspace() for at in points - shown)
        refused = {each.quote for each in made.rejected}
        for start, size in edges:
            if TEXT[start : start + size].strip() and shown.issuperset(range(start, start + size)):
                assert TEXT[start : start + size] not in refused

    play(lab, lab.corpus({"a.txt": TEXT}), script)


def _numbers() -> list[int]:
    """The number of its line for each character; line ends belong to none."""
    count, numbers = 0, []
    for each in TEXT:
        numbers.append(-1 if each == "\n" else count)
        count += each == "\n"
    return numbers
