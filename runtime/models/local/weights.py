"""The file behind the name of a local model: a known name, looked up in the models folder, or the path of a GGUF.

The bytes of a known name are checked against the hash that its publisher's file has; what was checked is noted with
size and time of change, so that a gigabyte is not hashed at each start.
"""

import hashlib
import json
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path, user_data_path

from runtime.errors import ModelError

PREFIX = "local/"
FOLDER = "SPANTREE_MODELS"
SUFFIX = ".gguf"
HEADER = struct.Struct("<4sI")
"""A GGUF begins with its name and the version of the format."""
OLDEST_VERSION = 2


@dataclass(frozen=True)
class KnownModel:
    """A model that was tried: docs/local-models.md has the figures."""

    file: str
    size: int
    sha256: str


KNOWN: Mapping[str, KnownModel] = {
    "qwen2.5-coder-1.5b": KnownModel(
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        1_117_320_768,
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
    "qwen2.5-coder-0.5b": KnownModel(
        "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        491_400_064,
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    ),
    "smollm2-135m": KnownModel(
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        98_362_432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
}


def models_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where known names are looked up: SPANTREE_MODELS, else the data folder of this user."""
    chosen = environment.get(FOLDER, "").strip()
    return Path(chosen).expanduser() if chosen else user_data_path("spantree") / "models"


def find_weights(name: str, folder: Path, notes: Path | None = None) -> Path:
    """The checked file for `name`, with or without its prefix.

    Raises ModelError when it is missing, is no GGUF, or does not have the bytes that its name promises. `notes`: the
    file that remembers what was checked.
    """
    asked = name.removeprefix(PREFIX).strip()
    known = KNOWN.get(asked)
    if known is None:
        return _given(asked)
    path = folder / known.file
    if not path.is_file():
        raise ModelError(
            f"the model {asked} is not in {folder}",
            hint=f"put {known.file} there, or set {FOLDER} to the folder that has it",
        )
    check_format(path)
    _check_bytes(path, known, notes or user_cache_path("spantree") / "weights.json")
    return path


def check_format(path: Path) -> None:
    """Raise ModelError unless the file begins as a GGUF does."""
    try:
        with path.open("rb") as file:
            head = file.read(HEADER.size)
    except OSError as error:
        raise ModelError(
            f"cannot read {path}: {error.strerror}", hint="check its permissions"
        ) from error
    magic, version = HEADER.unpack(head) if len(head) == HEADER.size else (head, 0)
    if magic != b"GGUF" or not OLDEST_VERSION <= version < 1 << 16:
        raise ModelError(f"{path} is not a GGUF file", hint="download it again, or give another")


def _given(asked: str) -> Path:
    path = Path(asked).expanduser()
    if path.is_file():
        check_format(path)
        return path.resolve()
    if path.suffix == SUFFIX or (asked and path.is_dir()):
        raise ModelError(f"there is no model file {path}", hint="local/PATH names a GGUF file")
    raise ModelError(
        f"no local model is named {asked!r}",
        hint=f"known: {', '.join(KNOWN)}; or give the path of a GGUF file: local/./models/x.gguf",
    )


def _check_bytes(path: Path, known: KnownModel, notes: Path) -> None:
    seen = path.stat()
    key = f"{path.resolve()}:{seen.st_size}:{seen.st_mtime_ns}"
    checked = _read(notes)
    if checked.get(key) == known.sha256:
        return
    if seen.st_size != known.size or _digest(path) != known.sha256:
        raise ModelError(
            f"{path} is not the file that its name promises",
            hint=f"download it again, or use it as it is by its path: {PREFIX}{path}",
        )
    _write(notes, {**checked, key: known.sha256})


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(notes: Path) -> dict[str, str]:
    """What was checked before; a note that cannot be read only costs another check."""
    try:
        found = json.loads(notes.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(notes: Path, checked: Mapping[str, str]) -> None:
    notes.parent.mkdir(parents=True, exist_ok=True)
    draft = notes.with_name(f"{notes.name}.{os.getpid()}")
    draft.write_text(json.dumps(checked, indent=1), encoding="utf-8")
    draft.replace(notes)
