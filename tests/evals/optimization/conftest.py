"""The classroom of the tests of optimization, built once."""

import pytest

from tests.evals.optimization.classroom import Classroom, classroom


@pytest.fixture(scope="session")
def room(tmp_path_factory: pytest.TempPathFactory) -> Classroom:
    return classroom(tmp_path_factory.mktemp("classroom"))
