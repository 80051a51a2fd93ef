"""Partitions and spans of one text: tiling, where spans end, and the partitioner that is chosen."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.partition import Partitioning
from runtime.errors import CorpusError, NotFound
from tests.data.partition_desk import cut, labels

NAMES = ["auto", "size", "time", "heading", "turn", "symbol"]


def check_tiling(text: str, found: Partitioning, *, chars: int, span: int) -> None:
    at = 0
    for part in found.partitions:
        assert part.start == at
        assert 0 < part.end - part.start <= chars
        assert part.first_line == _line(text, part.start)
        assert part.last_line == _line(text, part.end - 1)
        for one in found.spans(part.id):
            assert one.start == at
            assert 0 < one.end - one.start <= span
            assert (one.first_line, one.last_line) == (_line(text, at), _line(text, one.end - 1))
            assert one.source == part.source
            assert found.span_at(one.source, one.end - 1) == one == found.span(one.id)
            at = one.end
        assert part.end == at
    assert at == len(text)
    ids = [one.id for one in found.all_spans()]
    assert len(ids) == len(set(ids)) == found.span_count


def _line(text: str, offset: int) -> int:
    before = text[:offset]
    count = before.count("\n") + before.count("\r") - before.count("\r\n")
    return count + (0 if before.endswith("\r") and text[offset] == "\n" else 1)


LINES = ["\n", "\r\n", "\r", "\f", "\n\n"]
SNIPPETS = st.one_of(
    st.sampled_from(
        [
            *LINES,
            "# T\n",
            "=====\n",
            "def f():\n  pass\n",
            "A: x\n",
            "```\n",
            "2026-03-02 08:00:01 x\n",
        ]
    ),
    st.sampled_from(["e\u0301", "👩‍👩‍👧", "🇩🇪", "中文。", "𠀀", "a b. C ", "\u200d", "x" * 70]),
    st.text(max_size=20),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(SNIPPETS, max_size=40).map("".join), st.sampled_from(NAMES), st.integers(3, 60))
def test_spans_and_partitions_tile_every_text(text: str, name: str, span: int) -> None:
    """llama_index#22537: ids are unique, and offsets are those of the piece, not of the whole document."""
    found = cut(text, name, "a.py", chars=3 * span, span=span)
    check_tiling(text, found, chars=3 * span, span=span)


@settings(max_examples=100, deadline=None)
@given(st.lists(SNIPPETS, max_size=40).map("".join), st.integers(40, 80))
def test_no_span_begins_within_a_character(text: str, span: int) -> None:
    for one in cut(text, "size", chars=span, span=span).all_spans():
        assert text[max(0, one.start - 1) : one.start + 1] != "\r\n"


def test_an_empty_text_has_no_partition() -> None:
    found = cut("")
    assert found.partitions == ()
    assert found.span_count == 0
    assert found.by_source("a.txt") == ()
    with pytest.raises(NotFound):
        found.span_at("a.txt", 0)


def test_unknown_ids_are_not_found() -> None:
    found = cut("some text")
    for ask in (found.span, found.partition, found.spans, found.partition_of):
        with pytest.raises(NotFound):
            ask("p00000000000")
    with pytest.raises(NotFound):
        found.span_at("a.txt", 9)
    with pytest.raises(NotFound):
        found.span_at("a.txt", -1)


def test_an_unknown_partitioner_names_the_known_ones() -> None:
    with pytest.raises(CorpusError) as caught:
        cut("text", "chapter")
    assert "chapter" in caught.value.message
    assert "heading" in caught.value.hint
    with pytest.raises(CorpusError):
        cut("text", chars=0)


def spans(text: str, size: int) -> list[str]:
    found = cut(text, "size", chars=10_000, span=size)
    return [text[one.start : one.end] for one in found.all_spans()]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_spans_end_at_line_ends(end: str) -> None:
    lines = [f"{n:02} a line of a log{end}" for n in range(20)]
    found = spans("".join(lines), 100)
    assert all(span.endswith(end) for span in found)
    assert len(found) <= 6


def test_a_line_that_fits_into_a_span_is_not_cut() -> None:
    text = "Short.\n" + "X y. Z " * 14 + "\nShort.\n"
    assert spans(text, 100) == ["Short.\n", "X y. Z " * 14 + "\n", "Short.\n"]


def test_a_long_line_is_cut_at_sentences_then_at_white_space_then_hard() -> None:
    assert spans("One is here. Two is there. Three.", 28) == [
        "One is here. Two is there. ",
        "Three.",
    ]
    assert spans("一句话在这里。又一句话在那里。三", 15) == ["一句话在这里。又一句话在那里。", "三"]
    assert spans("one two three four five six", 12) == ["one two ", "three four ", "five six"]
    assert spans("abcdefghij", 4) == ["abcd", "efgh", "ij"]


def test_wrapped_prose_is_cut_between_sentences() -> None:
    text = (
        "The first sentence of this text is here and goes on\n"
        "to the next line where it ends. The second one is on\n"
        "the same line and goes on for a while.\n"
    )
    assert spans(text, 120)[0].endswith("where it ends. ")


def test_visible_characters_stay_whole() -> None:
    for cluster in ("e\u0301", "👩‍👩‍👧", "🇩🇪", "👍🏽", "\r\n"):
        for span in spans(cluster * 20, 10):
            assert len(span) % len(cluster) == 0, cluster


@pytest.mark.parametrize("name", ["time", "heading", "turn", "symbol"])
def test_a_partitioner_that_does_not_apply_falls_back_and_says_so(name: str) -> None:
    text = "Plain prose without any structure.\n" * 50
    found = cut(text, name)
    assert found.methods == {"a.txt": "size"}
    assert all(label.endswith(", by size") for label in labels(found))


@pytest.mark.parametrize(
    ("file", "text", "method"),
    [
        ("a.py", "def f(): pass\n", "symbol"),
        ("a.py", "def f(:\n", "size"),
        ("a.md", "# A\nx\n# B\ny\n", "heading"),
        ("a.md", "plain\n", "size"),
        ("a.log", "2026-03-02 08:00:01 x\n", "time"),
        ("a.log", "no times\n", "size"),
        ("a.txt", "2026-03-02 08:00:01 x\n", "time"),
        ("a.txt", "1.1 One\n\nx\n\n1.2 Two\n\ny\n", "heading"),
        ("a.txt", "Ann: a\nBob: b\nAnn: c\nBob: d\n", "turn"),
    ],
)
def test_auto_chooses_by_file_and_content(file: str, text: str, method: str) -> None:
    assert cut(text, "auto", file).methods == {file: method}
