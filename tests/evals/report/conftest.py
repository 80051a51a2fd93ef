"""One evaluation of the hostile set for all tests of the report, and a browser where there is one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.evals.report.chromium import NAMES, Tab, browser, chromium_path
from tests.evals.report.hostile import Evaluated, hostile


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    return hostile(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="session")
def page(evaluated: Evaluated, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report as a file."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(evaluated.html(), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def new_tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Tab]]:
    path = chromium_path()
    if path is None:
        pytest.skip(f"no browser is installed ({', '.join(NAMES)})")
    with browser(path, tmp_path_factory.mktemp("profile")) as opened:
        yield opened
