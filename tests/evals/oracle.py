"""The reference definitions of the metrics, loaded from beside the repository; tests skip where they are absent."""

import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).parents[2].parent / "shared"
DATA = SHARED / "data"
_FILE = SHARED / "reference_metrics.py"
needs_oracle = pytest.mark.skipif(not _FILE.exists(), reason="no ../shared/reference_metrics.py")


@cache
def oracle() -> Any:
    """The module of the reference definitions."""
    spec = importlib.util.spec_from_file_location("reference_metrics", _FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks its module up while it is made.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
