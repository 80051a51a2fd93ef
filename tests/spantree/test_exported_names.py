"""The public names: sorted, all there, each the one of its room."""

import subprocess
import sys

import pytest

import spantree


def test_names_are_sorted_and_unique() -> None:
    """Abbreviations first, as the linter sorts them."""
    assert spantree.__all__ == sorted(
        set(spantree.__all__), key=lambda name: (not name.isupper(), name)
    )


@pytest.mark.parametrize("name", spantree.__all__)
def test_every_name_is_there_and_documented(name: str) -> None:
    value = getattr(spantree, name)
    assert getattr(value, "__name__", name) == name
    assert name in dir(spantree)


def test_there_is_no_other_name() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        spantree.nothing  # noqa: B018


def test_the_help_starts_without_the_heavy_imports() -> None:
    program = (
        "import sys; from spantree.cli.app import build; build()\n"
        "print([name for name in ('dspy', 'pyarrow', 'bm25s') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
