"""Corpus: exact text, versions, and what happens when files change or cannot be read."""

import copy
import os
import pickle
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from data.corpus import Corpus, load_corpus, open_corpus, open_corpus_text
from data.lines import split_lines
from data.segment import SCHEMA
from data.text import SourceText
from runtime.errors import CorpusError, NotFound

TEXTS = st.text(st.sampled_from("ab\n\r\f\v\x85\u2028 é中😀\u0301"), max_size=60)
TRICKY = "a\r\nb\rc\n\n\f中文\u2028日志\r\n😀😀x\x85end"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def source_text(text: str) -> SourceText:
    table = split_lines(text.encode())
    times = pa.nulls(len(table), pa.timestamp("us"))
    columns = [table.text, pa.array(table.end), pa.array(table.start), times]
    return SourceText("x", pa.RecordBatch.from_arrays(columns, schema=SCHEMA), table.characters)


@given(TEXTS, st.data())
@example(TRICKY, None)
def test_slices_lines_and_offsets_are_exact(text: str, data: st.DataObject | None) -> None:
    reader = source_text(text)
    bounds = range(len(text) + 1)
    if data is not None:
        bounds = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    for start in bounds:
        for end in bounds:
            if start <= end:
                passage = reader.passage(start, end)
                assert passage.text == text[start:end]
                assert passage.first_line == reader.line_of(start)
    whole = [reader.line_range(line, line) for line in range(1, reader.lines + 1)]
    assert "".join(reader.slice(*line) for line in whole) == text
    for number, (start, end) in enumerate(whole, 1):
        assert {reader.line_of(offset) for offset in range(start, end)} == {number}


def test_many_lines_are_joined_exactly() -> None:
    text = "é\r\n中\r\n\n😀 line\rx\n" * 500
    reader = source_text(text)
    assert reader.slice(0, len(text)) == text
    assert reader.slice(3, len(text) - 5) == text[3:-5]


@pytest.mark.parametrize("unit", ["x", "é", "中x", "😀"])
def test_a_long_line_is_cut_exactly(unit: str) -> None:
    text = "first\r\n" + unit * 100_000 + "\r\nlast"
    reader = source_text(text)
    for start in [0, 6, 7, 8, 16_384, 50_001, len(text) - 7, len(text) - 5]:
        for length in [0, 1, 2, 17, 40_000]:
            end = min(len(text), start + length)
            assert reader.slice(start, end) == text[start:end]
    assert reader.line_of(50_000) == 2


def test_one_line_of_50_megabytes(folder: Path, store: Path) -> None:
    unit = "0123456789中😀"
    write(folder / "big.txt", unit * (50_000_000 // len(unit.encode())))
    corpus = open_corpus([folder], store=store)
    source = corpus.source("big.txt")
    assert (source.lines, source.characters % len(unit)) == (1, 0)
    middle = source.characters // len(unit) // 2 * len(unit)
    assert corpus.slice("big.txt", middle, middle + 24) == unit * 2
    assert corpus.slice("big.txt", source.characters - 3, source.characters) == "9中😀"
    assert corpus.scan(['"中😀0"']).total == 1


def test_text_is_never_normalized(folder: Path, store: Path) -> None:
    write(folder / "tricky.txt", "\ufeff" + TRICKY)
    corpus = open_corpus([folder / "tricky.txt"], store=store)
    source = corpus.source("tricky.txt")
    assert corpus.text("tricky.txt") == TRICKY
    assert (source.bom, source.encoding, source.characters) == (True, "utf-8", len(TRICKY))
    assert corpus.lines("tricky.txt", 5, 5).text == "\f中文\u2028日志\r\n"
    assert corpus.lines("tricky.txt", 1, source.lines).text == TRICKY


def test_ranges_outside_a_source_are_not_found(folder: Path, store: Path) -> None:
    write(folder / "a.txt", "one\ntwo")
    write(folder / "empty.txt", "")
    write(folder / "p.pdf", "%PDF")
    corpus = open_corpus([folder], store=store)
    for start, end in [(-1, 2), (0, 8), (3, 2)]:
        with pytest.raises(NotFound, match="has no characters"):
            corpus.slice("a.txt", start, end)
    for first, last in [(0, 1), (1, 3), (2, 1)]:
        with pytest.raises(NotFound, match=r"has no lines .* it has 2 lines"):
            corpus.lines("a.txt", first, last)
    with pytest.raises(NotFound, match=r"no source 'b.txt'"):
        corpus.source("b.txt")
    with pytest.raises(NotFound, match="has no text: skipped, PDF"):
        corpus.text("p.pdf")
    assert (corpus.text("empty.txt"), corpus.line_of("empty.txt", 0)) == ("", 1)
    assert (corpus.line_of("a.txt", 7), corpus.read("a.txt", 7, 7).text) == (2, "")


def test_everything_is_listed_with_its_status(folder: Path, store: Path) -> None:
    write(folder / "a.log", "2026-03-02 08:00:01 started\n2026-03-02 08:00:02 done\n")
    write(folder / "b.json", "{")
    write(folder / "c.md", "")
    write(folder / "d.png", "")
    write(folder / ".env", "secret")
    (folder / "e.txt").write_bytes(bytes(range(128, 256)) * 4)
    (folder / "f.txt").write_bytes("编码".encode("utf-16"))
    corpus = open_corpus([folder], store=store)
    assert [(s.id, s.parse_status, s.parser) for s in corpus.sources] == [
        (".env", "skipped", ""),
        ("a.log", "ok", "log"),
        ("b.json", "degraded", "json"),
        ("c.md", "empty", "markdown"),
        ("d.png", "skipped", ""),
        ("e.txt", "failed", "text"),
        ("f.txt", "ok", "text"),
    ]
    assert all(s.reason for s in corpus.sources if s.parse_status not in ("ok", "empty"))
    assert corpus.source("f.txt").encoding == "utf-16-le"
    assert corpus.roots == (str(folder),)


def test_a_file_that_cannot_be_read_is_failed_with_the_reason(store: Path) -> None:
    unreadable = Path("/proc/self/mem")
    if not unreadable.exists():
        pytest.skip("needs /proc/self/mem, which nobody can read from its start")
    with pytest.raises(CorpusError, match="mem: failed input/output error"):
        open_corpus([unreadable], store=store)


def test_a_corpus_without_text_says_why(folder: Path, store: Path) -> None:
    with pytest.raises(CorpusError, match="the folder is empty"):
        open_corpus([folder], store=store)
    write(folder / "a.pdf", "%PDF")
    write(folder / "b.txt", "")
    with pytest.raises(CorpusError) as raised:
        open_corpus([folder], store=store)
    assert "a.pdf: skipped PDF: this format is not supported yet" in raised.value.message
    assert "b.txt: empty" in raised.value.message
    assert raised.value.hint


def test_only_what_changed_gets_a_new_version(folder: Path, store: Path) -> None:
    write(folder / "a.txt", "alpha")
    write(folder / "b.txt", "beta")
    first = open_corpus([folder], store=store)
    assert open_corpus([folder], store=store).version == first.version
    assert first.changed() == []
    write(folder / "b.txt", "BETA")
    assert first.changed() == ["b.txt"]
    second = open_corpus([folder], store=store)
    assert second.version != first.version
    assert (second.text("b.txt"), first.text("b.txt")) == ("BETA", "beta")
    write(folder / "b.txt", "beta")
    assert first.changed() == []
    assert open_corpus([folder], store=store).version == first.version
    (folder / "b.txt").unlink()
    assert first.changed() == ["b.txt"]


def test_the_same_size_and_time_do_not_hide_a_change_just_made(folder: Path, store: Path) -> None:
    write(folder / "a.txt", "one")
    before = (folder / "a.txt").stat()
    open_corpus([folder], store=store)
    write(folder / "a.txt", "two")
    os.utime(folder / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert open_corpus([folder], store=store).text("a.txt") == "two"


def test_a_stored_version_needs_no_files(folder: Path, store: Path) -> None:
    write(folder / "a.txt", TRICKY)
    version = open_corpus([folder], store=store).version
    (folder / "a.txt").unlink()
    corpus = load_corpus(version, store=store)
    assert corpus.text("a.txt") == TRICKY
    for clone in [pickle.loads(pickle.dumps(corpus)), copy.deepcopy(corpus), copy.copy(corpus)]:
        assert (clone.version, clone.text("a.txt")) == (version, TRICKY)
    assert "alpha" not in repr(corpus)


@pytest.mark.parametrize("version", ["0123456789abcdef", "../../etc", "", "XYZ"])
def test_a_version_that_is_not_stored(version: str, store: Path) -> None:
    with pytest.raises(CorpusError) as raised:
        load_corpus(version, store=store)
    assert raised.value.hint


def test_standard_input_is_kept_too(store: Path) -> None:
    raw = "2026-03-02 08:00:01 erste Zeile\r\n".encode("utf-16")
    corpus = open_corpus_text("stdin", raw, store=store)
    assert corpus.text("stdin") == "2026-03-02 08:00:01 erste Zeile\r\n"
    assert corpus.changed() == []
    again = load_corpus(corpus.version, store=store)
    assert again.text("stdin") == corpus.text("stdin")
    with pytest.raises(CorpusError, match="stdin: skipped binary"):
        open_corpus_text("stdin", b"\x00\x01\x02" * 100, store=store)


def test_progress_counts_every_source(folder: Path, store: Path) -> None:
    for name in "abc":
        write(folder / f"{name}.txt", name)
    seen: list[tuple[int, int, str]] = []
    open_corpus([folder], store=store, progress=lambda *event: seen.append(event))
    assert seen == [(1, 3, "a.txt"), (2, 3, "b.txt"), (3, 3, "c.txt")]


def test_a_copy_of_a_folder_is_the_same_version(folder: Path, store: Path, tmp_path: Path) -> None:
    other = tmp_path / "copy"
    other.mkdir()
    for place in [folder, other]:
        write(place / "a.txt", "alpha\n")
        write(place / "b.txt", "alpha\n")
    corpora: list[Corpus] = [open_corpus([place], store=store) for place in [folder, other]]
    assert corpora[0].version == corpora[1].version
    assert corpora[1].scan(["alpha"]).by_source == {"a.txt": 1, "b.txt": 1}


def test_partitions_are_kept_with_the_version(folder: Path, store: Path) -> None:
    write(folder / "a.txt", "One sentence. Another one.\n" * 300)
    corpus = open_corpus([folder], store=store)
    built = corpus.partitions("size", max_chars=2000)
    assert corpus.partitions("size", max_chars=2000) is built
    again = load_corpus(corpus.version, store=store).partitions("size", max_chars=2000)
    assert [p.id for p in again.partitions] == [p.id for p in built.partitions]
    assert list((corpus.folder / "partitions").iterdir())
