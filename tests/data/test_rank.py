"""Ranking of spans."""

from pathlib import Path

import pytest

from data.corpus import Corpus, open_corpus
from data.rank import Ranker
from runtime.errors import NotFound

TEXTS = {
    "a.md": "# Pools\n\nThe connection pool of order-service was exhausted at noon.\n",
    "b.md": "# Weather\n\nIt rained all day long, and nobody went out.\n",
    "c.md": "# 会议\n\n数据库连接池耗尽，我们决定推迟发布。\n",
    "d.md": "# Pools\n\nAnother pool, of payments, was never used.\n",
    "e.md": "same words here\n",
    "f.md": "same words here\n",
    "ids.log": "INFO user getUserName blk_38865049064139660\nINFO host 10.0.0.12\n",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return open_corpus([tmp_path], store=tmp_path / "store")


def ranker(corpus: Corpus) -> Ranker:
    return Ranker(corpus, corpus.partitions())


def sources(corpus: Corpus, query: str, k: int = 10) -> list[str]:
    return [hit.span.source for hit in ranker(corpus).rank(query, k)]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Was the pool exhausting connections?", "a.md"),
        ("order service", "a.md"),
        ("连接池", "c.md"),
        ("为什么推迟发布？", "c.md"),
        ("blk_38865049064139660", "ids.log"),
        ("user name", "ids.log"),
        ("10.0.0.12", "ids.log"),
        ("raining", "b.md"),
    ],
)
def test_the_span_that_holds_the_words_comes_first(corpus: Corpus, query: str, first: str) -> None:
    assert sources(corpus, query)[0] == first


def test_only_spans_with_a_word_of_the_query_are_ranked(corpus: Corpus) -> None:
    hits = ranker(corpus).rank("pool", 10)
    assert {hit.span.source for hit in hits} == {"a.md", "d.md"}
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


@pytest.mark.parametrize("query", ["", "the of and", "zyxwv", "?!"])
def test_without_a_known_word_nothing_is_ranked(corpus: Corpus, query: str) -> None:
    assert ranker(corpus).rank(query, 10) == []


def test_equal_scores_come_in_order_of_the_text(corpus: Corpus) -> None:
    assert sources(corpus, "same words") == ["e.md", "f.md"]
    assert sources(corpus, "same words", k=1) == ["e.md"]
    assert sources(corpus, "same words", k=0) == []


def test_the_search_can_be_limited_to_sources(corpus: Corpus) -> None:
    ranked = ranker(corpus)
    assert [hit.span.source for hit in ranked.rank("pool", 10, sources=["d.md"])] == ["d.md"]
    assert ranked.rank("pool", 10, sources=["b.md"]) == []
    assert ranked.rank("pool", 10, sources=[]) == []
    with pytest.raises(NotFound):
        ranked.rank("pool", 10, sources=["nowhere.md"])


def test_the_index_is_kept_and_gives_the_same(corpus: Corpus) -> None:
    first = ranker(corpus).rank("pool exhausted", 10)
    kept = [path.stat().st_mtime_ns for path in sorted(corpus.folder.rglob("rank/*/*"))]
    assert kept
    assert ranker(corpus).rank("exhausted pool", 10) == first
    assert [path.stat().st_mtime_ns for path in sorted(corpus.folder.rglob("rank/*/*"))] == kept


def test_two_rankers_that_build_at_once_do_not_disturb_each_other(corpus: Corpus) -> None:
    one, other = ranker(corpus), ranker(corpus)
    assert one.rank("pool", 5) == other.rank("pool", 5)
    assert not list(corpus.folder.rglob("rank/*.tmp"))


def test_term_statistics_count_spans_by_stem_rare_first(corpus: Corpus) -> None:
    found = ranker(corpus).term_statistics("Which pools were exhausted by the unicorns' pool?")
    assert [(one.term, one.spans) for one in found] == [
        ("unicorns", 0),
        ("exhausted", 1),
        ("pools", 2),
    ]
    assert {one.of for one in found} == {corpus.partitions().span_count}


def test_a_corpus_without_a_word_ranks_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("--- the ---\n")
    corpus = open_corpus([tmp_path], store=tmp_path / "store")
    assert ranker(corpus).rank("pool", 5) == []
    assert [one.spans for one in ranker(corpus).term_statistics("pool")] == [0]
