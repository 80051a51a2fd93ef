"""A small generated set of every family, made once for all tests that look at them."""

import pytest

from data.sets.drafts import Order
from data.sets.generators import FAMILIES
from tests.data.generators_desk import Built, built


@pytest.fixture(scope="session")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Built]:
    """A small set of every family."""
    few = {"needles": 24, "conflicts": 16, "unanswerable": 16, "adversarial": 16}
    return {
        name: built(name, Order(seed=5, questions=few.get(name)), tmp_path_factory.mktemp(name))
        for name in FAMILIES
        if name not in ("mixed", "samples")
    }
