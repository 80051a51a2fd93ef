"""Partitionings of several sources: order, ids, and what is kept on disk."""

from pathlib import Path

import pytest

from data.partition import build_partitioning, load_partitioning, save_partitioning
from runtime.errors import CorpusError
from tests.data.partition_desk import Texts

LOG = "".join(f"2026-03-02 08:{n // 60:02}:{n % 60:02} INFO message {n}\n" for n in range(300))
TEXTS = Texts(
    {
        "a.log": LOG,
        "empty.txt": "",
        "b.md": "# A\n" + "text. " * 300 + "\n# B\n" + "text. " * 300,
        "c.txt": "the same text\n",
        "d.txt": "the same text\n",
    }
)


def test_partitions_keep_the_order_of_sources_and_belong_to_them() -> None:
    found = build_partitioning(TEXTS, "auto", 1000, 200)
    order = list(dict.fromkeys(part.source for part in found.partitions))
    assert order == ["a.log", "b.md", "c.txt", "d.txt"]
    assert sum((found.by_source(source) for source in order), ()) == found.partitions
    for part in found.partitions:
        assert found.partition(part.id) == part
        assert part.id.startswith("p")
        assert len(part.id) == 12
        for span in found.spans(part.id):
            assert found.partition_of(span.id) == part
    assert len({part.id for part in found.partitions}) == len(found.partitions)


def test_ids_are_stable_between_builds_and_partitioners() -> None:
    once, again = (build_partitioning(TEXTS, "auto", 1000, 200) for _ in range(2))
    assert once.partitions == again.partitions
    by_time = build_partitioning(TEXTS, "time", 1000, 200)
    assert once.by_source("a.log") == by_time.by_source("a.log")


def test_a_stored_partitioning_is_the_same_and_holds_no_text(tmp_path: Path) -> None:
    built = build_partitioning(TEXTS, "auto", 1000, 200)
    save_partitioning(built, tmp_path)
    stored = load_partitioning(TEXTS, tmp_path, "auto", 1000, 200)
    assert stored is not None
    assert stored.partitions == built.partitions
    assert list(stored.all_spans()) == list(built.all_spans())
    assert stored.methods == built.methods
    assert not any(b"message" in path.read_bytes() for path in tmp_path.iterdir())


def test_what_is_not_stored_or_of_another_corpus_is_not_loaded(tmp_path: Path) -> None:
    save_partitioning(build_partitioning(TEXTS, "auto", 1000, 200), tmp_path)
    assert load_partitioning(TEXTS, tmp_path, "auto", 1000, 100) is None
    assert load_partitioning(TEXTS, tmp_path, "size", 1000, 200) is None
    other = Texts(TEXTS.texts, version="f" * 16)
    assert load_partitioning(other, tmp_path, "auto", 1000, 200) is None
    with pytest.raises(CorpusError):
        load_partitioning(TEXTS, tmp_path, "chapter", 1000, 200)


def test_a_damaged_file_is_built_anew(tmp_path: Path) -> None:
    save_partitioning(build_partitioning(TEXTS, "auto", 1000, 200), tmp_path)
    for path in tmp_path.glob("*.spans.arrow"):
        path.write_bytes(path.read_bytes()[:100])
    assert load_partitioning(TEXTS, tmp_path, "auto", 1000, 200) is None


def test_an_empty_corpus_can_be_stored(tmp_path: Path) -> None:
    nothing = Texts({"empty.txt": ""})
    save_partitioning(build_partitioning(nothing, "auto", 1000, 200), tmp_path)
    stored = load_partitioning(nothing, tmp_path, "auto", 1000, 200)
    assert stored is not None
    assert stored.partitions == ()


def test_a_partition_names_its_spans() -> None:
    found = build_partitioning(TEXTS, "auto", 1000, 200)
    part = found.partitions[0]
    assert part.span_ids == tuple(span.id for span in found.spans(part.id))
