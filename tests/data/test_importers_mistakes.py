"""What a user of an importer gets wrong: the path, the data, the row or the folder is named, and nothing is written."""

from pathlib import Path

import pytest

from data.sets.importers import IMPORTERS
from runtime.errors import QuestionSetError
from tests.data.importers_desk import hotpot, written


@pytest.mark.parametrize("name", IMPORTERS)
def test_a_path_that_does_not_exist(tmp_path: Path, name: str) -> None:
    with pytest.raises(QuestionSetError, match="no such path") as raised:
        IMPORTERS[name](tmp_path / "nowhere", tmp_path / "set")
    assert raised.value.hint


@pytest.mark.parametrize("name", IMPORTERS)
def test_a_folder_of_something_else(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(QuestionSetError) as raised:
        IMPORTERS[name](tmp_path, tmp_path / "set")
    assert raised.value.hint
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize("name", ["qmsum", "hotpotqa", "ramdocs", "key_value"])
def test_malformed_rows_are_told_by_number(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.jsonl").write_text("\n{nothing\n")
    with pytest.raises(QuestionSetError, match="line 2: not JSON"):
        IMPORTERS[name](tmp_path / "a.jsonl", tmp_path / "set")
    with pytest.raises(QuestionSetError, match=r"row 1: .*Field required"):
        IMPORTERS[name](written(tmp_path / "b.jsonl", [{"colour": "red"}]), tmp_path / "set")


def test_a_folder_that_is_taken_is_not_written_over(tmp_path: Path) -> None:
    source = written(tmp_path / "h.jsonl", [hotpot("x")])
    IMPORTERS["hotpotqa"](source, tmp_path / "set")
    with pytest.raises(QuestionSetError, match="has files already"):
        IMPORTERS["hotpotqa"](source, tmp_path / "set")
