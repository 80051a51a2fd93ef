"""Store: only what changed is parsed, and nothing half-written is ever opened."""

import errno
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from data.corpus import load_corpus, open_corpus
from data.store import Store, default_store, write_atomically
from runtime.errors import CorpusError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.txt").write_text(f"text of {name}\n" * 10)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def segments(store: Path) -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in store.rglob("*.arrow")}


def test_unchanged_files_are_not_parsed_again(folder: Path, store: Path) -> None:
    open_corpus([folder], store=store)
    before = segments(store)
    assert len(before) == 1
    open_corpus([folder], store=store)
    assert segments(store) == before


def test_old_files_are_not_even_read_again(folder: Path, store: Path) -> None:
    for path in folder.iterdir():
        os.utime(path, (1e9, 1e9))
    first = open_corpus([folder], store=store)
    (folder / "a.txt").write_text("TEXT OF A\n" * 10)
    os.utime(folder / "a.txt", (1e9, 1e9))
    assert open_corpus([folder], store=store).version == first.version


def test_only_the_changed_file_goes_into_a_new_segment(folder: Path, store: Path) -> None:
    open_corpus([folder], store=store)
    before = segments(store)
    (folder / "b.txt").write_text("changed\n")
    corpus = open_corpus([folder], store=store)
    after = segments(store)
    assert set(before) < set(after)
    assert len(after) == 2
    assert corpus.scan(["text"]).by_source == {"a.txt": 10, "c.txt": 10}
    hits = corpus.scan(["/^(changed|text of [ac])$/"]).hits
    assert [hit.source for hit in hits] == ["a.txt"] * 10 + ["b.txt"] + ["c.txt"] * 10


def test_undecodable_bytes_are_a_fact_of_the_source_that_is_kept(
    tmp_path: Path, store: Path
) -> None:
    (tmp_path / "torn.txt").write_bytes("一行日志 ".encode() + b"\xff\xfe\n")
    (tmp_path / "torn.json").write_text("{ 7 bytes")
    opened = [open_corpus([tmp_path], store=store) for _ in range(2)]
    for corpus in (*opened, load_corpus(opened[0].version, store=store)):
        counts = {source.id: source.undecodable for source in corpus.sources if source.readable}
        assert counts == {"torn.json": 0, "torn.txt": 2}


def test_a_content_is_kept_once(folder: Path, store: Path) -> None:
    (folder / "copy-of-a.txt").write_text((folder / "a.txt").read_text())
    open_corpus([folder], store=store)
    before = segments(store)
    open_corpus([folder / "a.txt"], store=store)
    open_corpus([folder / "b.txt", folder / "c.txt"], store=store)
    assert segments(store) == before


def test_a_lost_segment_is_built_again(folder: Path, store: Path) -> None:
    version = open_corpus([folder], store=store).version
    for path in store.rglob("segments/*.arrow"):
        path.unlink()
    with pytest.raises(CorpusError, match="lacks a part of this corpus"):
        load_corpus(version, store=store)
    assert open_corpus([folder], store=store).text("a.txt").startswith("text of a")


def test_a_damaged_segment_is_not_opened(folder: Path, store: Path) -> None:
    version = open_corpus([folder], store=store).version
    for path in store.rglob("segments/*.arrow"):
        path.write_bytes(b"ARROW1 and no more")
    with pytest.raises(CorpusError, match="damaged"):
        load_corpus(version, store=store)


def test_a_damaged_catalog_gets_one_clear_message(folder: Path, store: Path) -> None:
    open_corpus([folder], store=store)
    (catalog,) = store.rglob("catalog.sqlite")
    catalog.write_bytes(b"no database at all" * 100)
    with pytest.raises(CorpusError, match="catalog of the store cannot be used") as raised:
        open_corpus([folder], store=store)
    assert "delete" in raised.value.hint
    catalog.unlink()
    assert open_corpus([folder], store=store).text("a.txt")


def test_an_interrupted_build_leaves_nothing(folder: Path, store: Path) -> None:
    def interrupt(done: int, total: int, source_id: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_corpus([folder], store=store, progress=interrupt)
    assert not list(store.rglob("*.arrow"))
    assert not list(store.rglob("*.tmp"))
    assert not list(store.rglob("manifest.json"))
    assert open_corpus([folder], store=store).scan(["text"]).total == 30


KILLED = """
import os, signal, sys
from pathlib import Path
from data.corpus import open_corpus
def kill(done, total, source_id):
    if done == 2: os.kill(os.getpid(), signal.SIGKILL)
open_corpus([sys.argv[1]], store=Path(sys.argv[2]), progress=kill)
"""


def test_a_killed_build_leaves_nothing_that_would_be_opened(folder: Path, store: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder), str(store)], check=False, env=_env()
    )
    assert run.returncode == -9
    leftovers = list(store.rglob("*.tmp"))
    assert len(leftovers) == 1
    assert not list(store.rglob("*.arrow"))
    assert open_corpus([folder], store=store).scan(["text"]).total == 30
    assert leftovers[0].exists(), "another builder may still be writing it"
    os.utime(leftovers[0], (0, time.time() - 100_000))
    open_corpus([folder], store=store)
    assert not leftovers[0].exists()


def test_builders_at_the_same_time_agree(folder: Path, store: Path) -> None:
    for number in range(20):
        (folder / f"{number}.log").write_text(f"line {number}\n" * 2000)
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        results = pool.starmap(_version_and_hits, [(folder, store)] * 2)
    assert set(results) == {(open_corpus([folder], store=store).version, 40_000)}
    assert not list(store.rglob("*.tmp"))


def _version_and_hits(folder: Path, store: Path) -> tuple[str, int]:
    corpus = open_corpus([folder], store=store)
    return corpus.version, corpus.scan(["line"]).total


def _env() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "file"
    write_atomically(path, b"one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert [item.name for item in path.parent.iterdir()] == ["file"]


def test_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(CorpusError, match="cannot be written") as raised:
        Store.prepare(tmp_path / "file" / "store")
    assert "--store" in raised.value.hint


def test_a_full_disk_gets_one_clear_message_and_leaves_nothing(
    folder: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CorpusError, match="cannot be written: No space left"):
        open_corpus([folder], store=store)
    monkeypatch.undo()
    assert not list(store.rglob("*.arrow"))
    assert open_corpus([folder], store=store).scan(["text"]).total == 30


def test_the_default_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPANTREE_STORE", str(tmp_path))
    assert default_store() == tmp_path
    monkeypatch.delenv("SPANTREE_STORE")
    assert default_store().name == "spantree"
