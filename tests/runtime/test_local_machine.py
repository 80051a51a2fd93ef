"""The machine under a local model: its processor, its cores, and the extra that is perhaps not installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from runtime.errors import ModelError
from runtime.models.local.processor import check_processor
from runtime.models.local.server import check_bindings, start_server
from runtime.models.local.settings import Settings, usable_cores


def _cpuinfo(folder: Path, flags: str) -> Path:
    path = folder / "cpuinfo"
    path.write_text(f"processor\t: 0\nflags\t\t: {flags}\n\nprocessor\t: 1\nflags\t\t: {flags}\n")
    return path


def test_without_avx2_it_is_said_before_the_bindings_die_of_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="AVX2") as refused:
        check_processor("x86_64", _cpuinfo(tmp_path, "fpu sse4_2 avx"))
    assert "--api-base" in refused.value.hint


@pytest.mark.parametrize(
    ("machine", "flags"), [("x86_64", "fpu avx avx2"), ("aarch64", "fp asimd"), ("AMD64", "")]
)
def test_other_processors_pass(machine: str, flags: str, tmp_path: Path) -> None:
    check_processor(machine, _cpuinfo(tmp_path, flags))


def test_a_system_that_does_not_tell_passes(tmp_path: Path) -> None:
    check_processor("x86_64", tmp_path / "absent")


def test_the_extra_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    for attempt in (check_bindings, lambda: start_server(Path("x.gguf"), Settings())):
        with pytest.raises(ModelError, match="bindings") as missing:
            attempt()
        assert "spantree[local]" in missing.value.hint


def test_a_model_name_imports_no_bindings() -> None:
    """A start of `spantree ask` that asks no local model pays nothing for it."""
    code = "import runtime.models.local.engine, sys; sys.exit('xllamacpp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_settings_come_from_the_environment() -> None:
    chosen = Settings.of({"SPANTREE_LOCAL_CONTEXT": "4096", "SPANTREE_LOCAL_THREADS": " 3 "})
    assert (chosen.context, chosen.threads, chosen.cores) == (4096, 3, 3)
    assert Settings.of({}).cores == usable_cores()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SPANTREE_LOCAL_CONTEXT", "many"),
        ("SPANTREE_LOCAL_CONTEXT", "100"),
        ("SPANTREE_LOCAL_THREADS", "0"),
        ("SPANTREE_LOCAL_THREADS", "-1"),
    ],
)
def test_settings_that_make_no_sense(name: str, value: str) -> None:
    with pytest.raises(ModelError, match=name):
        Settings.of({name: value})
