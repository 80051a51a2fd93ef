"""Names of local models: the file behind them, its bytes, and what is said when it is not there."""

import hashlib
import json
from pathlib import Path

import pytest

from runtime.errors import ModelError
from runtime.models.local import weights
from runtime.models.local.weights import KNOWN, KnownModel, find_weights, models_folder
from runtime.models.make import make_lm

GGUF = b"GGUF\x03\x00\x00\x00" + b"\x00" * 64


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A models folder that holds the file of a known name, `tiny`."""
    tiny = KnownModel("tiny.gguf", len(GGUF), hashlib.sha256(GGUF).hexdigest())
    monkeypatch.setattr(weights, "KNOWN", {"tiny": tiny})
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "tiny.gguf").write_bytes(GGUF)
    return folder


def test_a_path_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(GGUF)
    monkeypatch.chdir(tmp_path)
    for name in (f"local/{path}", "local/./x.gguf", "local/x.gguf"):
        assert find_weights(name, tmp_path / "empty") == path.resolve()


def test_a_known_name_is_looked_up_and_its_bytes_checked(known: Path, tmp_path: Path) -> None:
    assert find_weights("local/tiny", known, tmp_path / "notes.json") == known / "tiny.gguf"


def test_what_was_checked_is_not_read_again_until_it_changes(
    known: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes.json"
    find_weights("local/tiny", known, notes)
    hashed: list[Path] = []
    digest = weights._digest
    monkeypatch.setattr(weights, "_digest", lambda path: hashed.append(path) or digest(path))
    find_weights("local/tiny", known, notes)
    assert not hashed
    (known / "tiny.gguf").write_bytes(GGUF[:-1] + b"\x01")  # as long as before, and another file
    with pytest.raises(ModelError, match="not the file"):
        find_weights("local/tiny", known, notes)
    assert hashed


@pytest.mark.parametrize("broken", ["", "[]", "{", '{"x": 1}'])
def test_notes_that_cannot_be_read_cost_only_another_check(
    known: Path, tmp_path: Path, broken: str
) -> None:
    notes = tmp_path / "notes.json"
    notes.write_text(broken)
    assert find_weights("local/tiny", known, notes).is_file()
    assert json.loads(notes.read_text())


def test_a_file_cut_short_is_refused_with_a_way_out(known: Path, tmp_path: Path) -> None:
    (known / "tiny.gguf").write_bytes(GGUF[:-8])
    with pytest.raises(ModelError, match="not the file") as refused:
        find_weights("local/tiny", known, tmp_path / "notes.json")
    assert "download it again" in refused.value.hint


@pytest.mark.parametrize("content", [b"", b"GGUF", b"PK\x03\x04....", b"GGUF\x01\x00\x00\x00"])
def test_what_is_no_gguf_is_not_given_to_the_bindings(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="not a GGUF"):
        find_weights(f"local/{path}", tmp_path)


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("local/gpt-5", "no local model is named 'gpt-5'", "qwen2.5-coder-1.5b"),
        ("local/", "no local model is named ''", "local/./models/x.gguf"),
        ("local/./absent.gguf", "no model file", "GGUF"),
        ("local/smollm2-135m", "is not in", "SPANTREE_MODELS"),
    ],
)
def test_a_name_that_leads_nowhere(
    name: str, message: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPANTREE_MODELS", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError) as refused:
        make_lm(name)
    assert message in refused.value.message
    assert hint in refused.value.hint


def test_the_models_folder_can_be_chosen(tmp_path: Path) -> None:
    assert models_folder({"SPANTREE_MODELS": str(tmp_path)}) == tmp_path
    assert models_folder({}).name == "models"


def test_the_known_models_are_pinned() -> None:
    assert set(KNOWN) == {"qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "smollm2-135m"}
    assert all(len(each.sha256) == 64 and each.size > 1 << 26 for each in KNOWN.values())
