"""Estimates: means with intervals that are neither of width zero nor too narrow near 0 and 1."""

from pathlib import Path

import pytest

from evals.contenders import clusters_of, contenders
from evals.estimates import Estimate, estimate
from evals.measures import measure
from evals.stats import wilson
from tests.evals.duel import Told, duel, numbered


def estimated(folder: Path, *values: Told, documents: int = 1000, name: str = "") -> Estimate:
    told = {"a": numbered(*values)}
    log = duel(folder / "log", told, document=lambda q: f"d{int(q[1:]) % documents}", calls=3)
    (entered,) = contenders([log])
    return estimate(entered, measure(name or "verified_correct"), clusters_of([entered]))


@pytest.mark.parametrize("wrong", [0, 1, 2, 4])
def test_near_one_and_zero_it_is_at_least_as_wide_as_wilsons(tmp_path: Path, wrong: int) -> None:
    """99 of 100 is [0.946, 0.998], where resampling says [0.97, 1]."""
    for told, right in (((1, 0), 100 - wrong), ((0, 1), wrong)):
        often, seldom = told
        folder = tmp_path / str(often)
        found = estimated(folder, *[often] * (100 - wrong), *[seldom] * wrong).interval
        by_counts = wilson(right, 100)
        assert found is not None
        assert by_counts is not None
        assert found.high - found.low >= by_counts.high - by_counts.low
    assert estimated(tmp_path / "n", *[1] * 99, 0).interval == wilson(99, 100)


def test_in_the_middle_documents_are_resampled(tmp_path: Path) -> None:
    """Twenty questions of each of ten documents, all right or all wrong: ten samples and not 200."""
    told = [at % 10 % 2 for at in range(200)]
    found = estimated(tmp_path, *told, documents=10).interval
    by_counts = wilson(100, 200)
    assert found is not None
    assert by_counts is not None
    assert found.high - found.low > 2 * (by_counts.high - by_counts.low)


@pytest.mark.parametrize("values", [[1] * 100, [0] * 100, [1] * 99 + [0], [1, 0] * 50, [0.5] * 9])
def test_one_document_has_no_interval(tmp_path: Path, values: list[float]) -> None:
    assert estimated(tmp_path, *values, documents=1).interval is None


def test_what_nothing_bounds_has_none_where_it_is_all_the_same(tmp_path: Path) -> None:
    assert estimated(tmp_path, *[1] * 20, name="calls").interval is None
