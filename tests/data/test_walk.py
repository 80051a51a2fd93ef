"""Walk: what is found, in which order, and why the rest is left out."""

import os
from pathlib import Path

import pytest

from data.walk import source_id, walk
from runtime.errors import CorpusError


def found(root: Path) -> dict[str, str]:
    return {item.id: item.reason for item in walk([root]).found}


def write(path: Path, text: str = "x\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_files_are_ordered_by_their_path_below_the_root(tmp_path: Path) -> None:
    for name in ["b.txt", "a/z.txt", "a/b/c.txt", "a.txt", "中文/日志.log"]:
        write(tmp_path / name)
    assert list(found(tmp_path)) == ["a.txt", "a/b/c.txt", "a/z.txt", "b.txt", "中文/日志.log"]


def test_ids_are_relative_to_what_the_paths_have_in_common(tmp_path: Path) -> None:
    one, other = write(tmp_path / "logs/a/x.log"), write(tmp_path / "logs/b/x.log")
    assert [item.id for item in walk([one]).found] == ["x.log"]
    assert [item.id for item in walk([one, other]).found] == ["a/x.log", "b/x.log"]
    assert [item.id for item in walk([one.parent, other]).found] == ["a/x.log", "b/x.log"]


def test_a_file_that_is_named_twice_is_found_once(tmp_path: Path) -> None:
    file = write(tmp_path / "x.log")
    assert [item.id for item in walk([tmp_path, file, file]).found] == ["x.log"]


def test_hidden_entries_are_left_out_unless_they_are_named(tmp_path: Path) -> None:
    hidden = write(tmp_path / ".git/config")
    write(tmp_path / ".env")
    assert found(tmp_path) == {".env": "hidden", ".git/": "hidden"}
    assert [item.reason for item in walk([hidden]).found] == [""]


def test_links_are_followed_only_where_that_adds_something(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(tmp_path / "outside/secret.txt")
    write(root / "real/a.log")
    write(root / "..data/mounted.conf")
    (root / "out.txt").symlink_to(tmp_path / "outside/secret.txt")
    (root / "outside").symlink_to(tmp_path / "outside")
    (root / "current.log").symlink_to("real/a.log")
    (root / "again").symlink_to("real")
    (root / "mounted.conf").symlink_to("..data/mounted.conf")
    (root / "second.conf").symlink_to("..data/mounted.conf")
    (root / "lost").symlink_to("nowhere")
    (root / "real/up").symlink_to("..")
    (root / "real/me").symlink_to("me")
    assert found(root) == {
        "..data/": "hidden",
        "again": "a symbolic link to real, which is listed itself",
        "current.log": "a symbolic link to real/a.log, which is listed itself",
        "lost": "a symbolic link that leads nowhere",
        "mounted.conf": "",
        "out.txt": "a symbolic link that leads out of the folder",
        "outside": "a symbolic link that leads out of the folder",
        "real/a.log": "",
        "real/me": "a symbolic link that leads nowhere",
        "real/up": "a symbolic link to what is read already",
        "second.conf": "a symbolic link to what is read already",
    }


def test_a_link_to_a_hidden_folder_around_itself_is_no_loop(tmp_path: Path) -> None:
    write(tmp_path / ".hidden/x.txt")
    (tmp_path / ".hidden/loop").symlink_to(".")
    (tmp_path / "shown").symlink_to(".hidden")
    assert found(tmp_path) == {
        ".hidden/": "hidden",
        "shown/loop": "a symbolic link to what is read already",
        "shown/x.txt": "",
    }


def test_a_pipe_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert found(tmp_path) == {"pipe": "not a regular file"}
    with pytest.raises(CorpusError, match="neither a file nor a folder"):
        walk([tmp_path / "pipe"])


def test_the_store_is_not_part_of_the_corpus_around_it(tmp_path: Path) -> None:
    write(tmp_path / "store/corpora/manifest.json")
    write(tmp_path / "x.txt")
    reasons = {item.id: item.reason for item in walk([tmp_path], without=tmp_path / "store").found}
    assert reasons == {"store/": "the store of spantree", "x.txt": ""}


def test_names_that_cannot_be_shown_are_escaped(tmp_path: Path) -> None:
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\n\\.txt"))).write_text("x")
    assert list(found(tmp_path)) == [r"\xff\n\\.txt"]
    assert source_id("a b/日志 é.log") == "a b/日志 é.log"


def test_what_may_not_be_read_is_listed_as_failed(tmp_path: Path) -> None:
    write(tmp_path / "closed/x.txt")
    write(tmp_path / "listed/x.txt")
    write(tmp_path / "ok.txt")
    (tmp_path / "closed").chmod(0)
    if os.access(tmp_path / "closed", os.R_OK):
        pytest.skip("this user may read everything")
    (tmp_path / "listed").chmod(0o444)
    try:
        items = {item.id: (item.reason, item.failed) for item in walk([tmp_path]).found}
    finally:
        for name in ["closed", "listed"]:
            (tmp_path / name).chmod(0o755)
    denied = ("permission denied", True)
    assert items == {"closed/": denied, "listed/x.txt": denied, "ok.txt": ("", False)}


def test_a_path_that_does_not_exist_gets_a_hint(tmp_path: Path) -> None:
    write(tmp_path / "access.log")
    with pytest.raises(CorpusError, match="no such path") as raised:
        walk([tmp_path / "acces.log"])
    assert raised.value.hint == f"Did you mean {tmp_path / 'access.log'}?"
    with pytest.raises(CorpusError, match="no path was given"):
        walk([])
