"""The small set over a log of trains, which the tests of evaluations run their programs on."""

from pathlib import Path

import pytest

from tests.evals.small_set import SmallSet, small_set


@pytest.fixture
def trains(tmp_path: Path) -> SmallSet:
    return small_set(tmp_path)
