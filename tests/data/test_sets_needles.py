"""Needles: where they are planted, in what text, and how little an oblique one shares with its question."""

import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.sets.drafts import Order
from data.sets.generators.chance import Chance
from data.sets.generators.facts import TOPICS, tell
from data.sets.generators.haystack import Piece, planted
from data.sets.generators.names import Names
from data.sets.generators.needles import Needles
from tests.data.generators_desk import Built, each_question, tagged

_PIECES = st.lists(
    st.builds(Piece, depth=st.floats(0, 1), text=st.text("xyz", min_size=1, max_size=9)), max_size=5
)
_LINES = st.lists(st.text("ab 。", max_size=12), max_size=12)


@given(lines=_LINES, newline=st.sampled_from(["\n", "\r\n", "\n\n"]), pieces=_PIECES)
def test_planting_keeps_the_text_and_knows_the_places(
    lines: list[str], newline: str, pieces: list[Piece]
) -> None:
    text = newline.join(lines)
    whole, starts = planted(text, pieces)
    for piece, start in zip(pieces, starts, strict=True):
        assert whole[start : start + len(piece.text)] == piece.text
        assert whole[:start].endswith(("\n", "\r")) or start == 0
    left = re.sub("[xyz]", "", whole)
    assert re.sub(r"[\r\n]", "", left) == re.sub(r"[\r\n]", "", text)


def test_needles_are_at_their_depth(sets: dict[str, Built]) -> None:
    found: Counter[str] = Counter()
    for question, corpus in each_question(sets["needles"]):
        ((span,),) = question.gold[0]
        depth = span.start / len(corpus.text(span.source))
        assert abs(depth - float(tagged(question, "depth"))) < 0.2
        found[tagged(question, "overlap")] += 1
    assert found == {"yes": 12, "name": 4, "no": 8}


def test_depths_and_lengths_can_be_chosen() -> None:
    family = Needles(depths=(0.5,), lengths=(9,))
    for draft in family.drafts(Order(questions=12, characters=9_000)):
        for question in draft.questions:
            assert {"depth:0.5", "length:9"} <= set(question.tags)
            ((source, start, _),) = question.places
            (text,) = (str(d.content) for d in draft.documents if d.name == source)
            assert 0.3 < start / len(text) < 0.7
            paragraph = text[: text.index("\n\n", start)].rpartition("\n\n")[2]
            assert len(re.findall(r"[.;?。](?:\s|$|(?=[^\s.]))", paragraph)) >= 10


@pytest.mark.parametrize("topic", TOPICS, ids=[each.name for each in TOPICS])
def test_an_oblique_needle_shares_no_word_with_its_question(topic) -> None:
    """Neither a word nor its stem; in Chinese no two characters in a row."""
    told = tell(topic, Chance(1), Names(Chance(1)), said="oblique")
    assert not pieces_of(told.statement) & pieces_of(told.question)
    plain = tell(topic, Chance(1), Names(Chance(1)))
    assert pieces_of(plain.statement) & pieces_of(plain.question)


_COMMON = frozenset(
    re.findall(
        r"\w+", "what is the of who which how for to in by on at i my do we our when where it a"
    )
)


def pieces_of(text: str) -> set[str]:
    """Words by their first five letters; pairs of Chinese characters."""
    words = {w[:5] for w in re.findall(r"[a-z]+", text.lower()) if w not in _COMMON}
    return words | {a + b for a, b in pairwise(text) if min(a, b) > "一"}
