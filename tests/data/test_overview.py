"""The overview that a planner sees."""

import re
from pathlib import Path

import pytest

from data.corpus import Corpus, open_corpus
from data.overview import Census, corpus_census, overview
from runtime.errors import NotFound

LOG = "".join(f"2026-03-02 08:00:{n:02},123 INFO [order] message {n}\n" for n in range(60))


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    root = tmp_path / "texts"
    root.mkdir()
    (root / "order.log").write_text(LOG)
    (root / "notes.md").write_text("\r\n# Notes\r\n\r\n" + "x" * 300 + "\x07\r\n", newline="")
    (root / "empty.txt").write_text("")
    (root / "img.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    return open_corpus([root], store=tmp_path / "store")


def test_the_whole(corpus: Corpus) -> None:
    lines = overview(corpus, corpus.partitions()).split("\n")
    characters = len(LOG) + 316
    assert lines[0] == (
        f"corpus: 3 sources, 64 lines, {characters} characters, 2 partitions (by heading, time), "
        "1 not readable"
    )
    assert lines[1:6] == [
        "source empty.txt | text | 0 lines | 0 chars | 0 partitions",
        "source notes.md | markdown | 4 lines | 316 chars | 1 partitions",
        "  2: # Notes",
        f"  4: {'x' * 159}…",
        f"source order.log | log | 60 lines | {len(LOG)} chars | 1 partitions"
        " | 2026-03-02T08:00:00 .. 2026-03-02T08:00:59",
    ]
    assert lines[6] == "  1: 2026-03-02 08:00:00,123 INFO [order] message 0"
    assert re.fullmatch(r"not readable: img\.png \(skipped: .+\)", lines[-1])


def test_previews_can_be_left_out_and_partitions_listed(corpus: Corpus) -> None:
    partitioning = corpus.partitions()
    text = overview(corpus, partitioning, preview_lines=0, list_partitions=1)
    part = partitioning.by_source("order.log")[0]
    assert (
        f"  partition {part.id} | {part.label} | {len(LOG)} chars | 2026-03-02T08:00:00 .." in text
    )
    assert "  1: " not in text


def test_it_can_be_limited_to_sources(corpus: Corpus) -> None:
    text = overview(corpus, corpus.partitions(), sources=["order.log"])
    assert text.startswith("corpus: 1 sources, 60 lines")
    assert "notes.md" not in text
    assert "img.png" not in text
    with pytest.raises(NotFound):
        overview(corpus, corpus.partitions(), sources=["nowhere"])


def test_the_census(corpus: Corpus) -> None:
    partitioning = corpus.partitions()
    assert corpus_census(corpus, partitioning) == Census(
        sources=3,
        unreadable=1,
        lines=64,
        characters=len(LOG) + 316,
        partitions=2,
        spans=partitioning.span_count,
        methods=("heading", "time"),
    )


def test_a_large_corpus_is_cut_and_says_so(tmp_path: Path) -> None:
    root = tmp_path / "texts"
    root.mkdir()
    for n in range(100):
        (root / f"file{n:03}.txt").write_text("one line\n")
    corpus = open_corpus([root], store=tmp_path / "store")
    text = overview(corpus, corpus.partitions(), max_chars=1500)
    assert len(text) <= 1500
    shown = text.count("\nsource ")
    assert 10 < shown < 100
    assert text.endswith(
        f"... {100 - shown} more sources ({100 - shown} lines, {9 * (100 - shown)} chars)"
    )
    assert overview(corpus, corpus.partitions(), max_chars=1500) == text
    assert "more sources" not in overview(corpus, corpus.partitions(), max_chars=20_000)
