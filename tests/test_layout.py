"""The import names are general words: the ones that are found must be those of this repository."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("spantree", "evals", "programs", "data", "runtime", "signatures")


@pytest.mark.parametrize("name", ROOMS)
def test_an_import_name_is_ours(name: str) -> None:
    found = importlib.import_module(name).__file__
    assert found is not None
    assert Path(found).resolve().parent == ROOT / name


def test_no_folder_of_tests_hides_a_package() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []
