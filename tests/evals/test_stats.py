"""The statistics are those of the reference definitions; seeded, in any order, undefined where they must be."""

import math
import random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals import power
from evals.clusters import clusters
from evals.metrics import Ratio
from evals.stats import (
    Bounds,
    cluster_bootstrap,
    cluster_bootstrap_ratio,
    holm,
    mcnemar_exact,
    paired,
    paired_signflip,
    quantile_interval,
    quantile_nearest,
    wilson,
)
from tests.evals.oracle import needs_oracle, oracle

scores = st.floats(-1, 1, allow_nan=False).map(lambda each: round(each, 3))


@needs_oracle
@given(st.integers(0, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_the_reference(counts: tuple[int, int]) -> None:
    found, expected = wilson(*counts), oracle().wilson(*counts)
    assert found == pytest.approx(expected) if expected else found is None


def test_wilson_does_not_collapse_near_zero_and_one() -> None:
    """20 of 20 is [0.839, 1]; a bootstrap would say [1, 1]. With no success of n the upper end is about 3 / n."""
    assert wilson(20, 20) == pytest.approx((0.8389, 1.0), abs=1e-4)
    assert wilson(0, 300) == pytest.approx((0.0, 0.0126), abs=1e-4)
    assert wilson(0, 0) is None


@needs_oracle
@given(
    st.dictionaries(
        st.text("abc", min_size=1), st.lists(scores, min_size=1, max_size=4), max_size=6
    ),
    st.integers(0, 5),
)
def test_the_cluster_bootstrap_is_that_of_the_reference(
    units: dict[str, list[float]], seed: int
) -> None:
    """And so is the fast one, for ratios."""
    expected = oracle().cluster_bootstrap(units, fmean, B=100, seed=seed)
    found = cluster_bootstrap(units, fmean, resamples=100, seed=seed)
    assert found == expected
    ratios = {name: [Ratio(value, 1) for value in values] for name, values in units.items()}
    fast = cluster_bootstrap_ratio(ratios, resamples=100, seed=seed)
    assert fast == pytest.approx(expected) if expected else fast is None


def test_the_order_of_samples_has_no_influence() -> None:
    units = {f"doc{n}": [Ratio(n % 3, 2), Ratio(1, 1)] for n in range(30)}
    shuffled = list(units.items())
    random.Random(5).shuffle(shuffled)
    turned = {name: list(reversed(each)) for name, each in shuffled}
    assert cluster_bootstrap_ratio(units, seed=3) == cluster_bootstrap_ratio(turned, seed=3)
    assert cluster_bootstrap_ratio(units, seed=3) != cluster_bootstrap_ratio(units, seed=4)


def test_questions_on_one_document_are_not_as_good_as_independent_ones() -> None:
    """Ten documents of ten questions with the same result each: the interval is that of ten, not of a hundred."""
    together = {f"d{n}": [Ratio(n % 2, 1)] * 10 for n in range(10)}
    apart = {f"d{n}-{m}": [Ratio(n % 2, 1)] for n in range(10) for m in range(10)}
    wide, narrow = cluster_bootstrap_ratio(together), cluster_bootstrap_ratio(apart)
    assert wide is not None
    assert narrow is not None
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


@pytest.mark.parametrize("units", [{}, {"only": [1.0, 0.0]}])
def test_no_interval_of_fewer_than_two_clusters(units: dict[str, list[float]]) -> None:
    """openai/evals#1834 and Inspect: NaN, or an interval of width 0, for n = 1. Here it does not exist."""
    assert cluster_bootstrap(units, fmean) is None
    assert (
        cluster_bootstrap_ratio({k: [Ratio(v, 1) for v in vs] for k, vs in units.items()}) is None
    )


def test_a_bootstrap_draws_as_many_as_there_are_with_replacement() -> None:
    """openai/evals#1834: its "bootstrap" drew half of the samples without replacement."""
    drawn: list[list[int]] = []

    def seen(samples: list[int]) -> float:
        drawn.append(samples)
        return 0.0

    cluster_bootstrap({str(n): [n] for n in range(8)}, seen, resamples=50)
    assert all(len(each) == 8 for each in drawn)
    assert any(len(set(each)) < 8 for each in drawn)


def test_a_statistic_that_is_mostly_undefined_has_no_interval() -> None:
    units = {"a": [Ratio(0, 0)], "b": [Ratio(0, 0)], "c": [Ratio(1, 2)]}
    assert cluster_bootstrap_ratio(units) is None


@needs_oracle
@given(st.lists(scores), st.sampled_from([0.05, 0.5, 0.95]))
def test_quantiles_are_those_of_the_reference(values: list[float], share: float) -> None:
    assert quantile_nearest(values, share) == oracle().quantile_nearest(values, share)
    assert quantile_interval(values, share) == oracle().quantile_ci(values, share)


def test_the_interval_of_p95_is_unbounded_for_few_samples() -> None:
    """A two-sided one exists from 72 samples on, an upper bound at 95 % from 59 on."""
    values = list(map(float, range(1, 73)))
    assert quantile_interval(values[:71], 0.95).high is None
    assert quantile_interval(values, 0.95).high == 72
    assert quantile_interval(values[:58], 0.95, level=0.9).high is None
    assert quantile_interval(values[:59], 0.95, level=0.9).high == 59
    assert quantile_interval([], 0.95) == Bounds(None, None)


def test_the_interval_of_p95_exists_for_ten_thousand_samples() -> None:
    """The reference leaves the range of floats above about a thousand."""
    low, high = quantile_interval(map(float, range(10_000)), 0.95)
    assert low is not None
    assert high is not None
    assert 9_440 < low < 9_500 < high < 9_560


@needs_oracle
@given(st.lists(scores, max_size=10))
def test_sign_flips_are_those_of_the_reference(differences: list[float]) -> None:
    assert paired_signflip(differences) == pytest.approx(oracle().paired_signflip(differences))


@needs_oracle
def test_sampled_sign_flips_agree_with_the_reference() -> None:
    chance = random.Random(0)
    differences = [round(chance.gauss(0.05, 0.3), 3) for _ in range(60)]
    found, expected = paired_signflip(differences), oracle().paired_signflip(differences)
    assert found == pytest.approx(expected, abs=0.02)
    assert found == paired_signflip(differences)
    assert paired_signflip(differences, seed=1) != found


def test_no_difference_is_no_evidence() -> None:
    assert paired_signflip([]) == paired_signflip([0.0, 0.0]) == mcnemar_exact(0, 0) == 1.0
    assert paired_signflip([1.0] * 6) == 2 / 64


@needs_oracle
@given(st.integers(0, 80), st.integers(0, 80))
def test_mcnemar_is_that_of_the_reference(gained: int, lost: int) -> None:
    assert mcnemar_exact(gained, lost) == pytest.approx(oracle().mcnemar_exact(gained, lost))


def test_mcnemar_takes_thousands_of_flips() -> None:
    assert 0.3 < mcnemar_exact(5_000, 5_100) < 0.4


@given(st.dictionaries(st.text("abc", min_size=1), st.floats(0, 1), max_size=6))
def test_holm_rejects_what_stepping_down_rejects(p_values: dict[str, float]) -> None:
    adjusted = holm(p_values)
    rejected = set()
    for left, name in enumerate(sorted(p_values, key=lambda each: (p_values[each], each))):
        if p_values[name] * (len(p_values) - left) > 0.05:
            break
        rejected.add(name)
    assert {name for name, p in adjusted.items() if p <= 0.05} == rejected
    assert all(p_values[name] <= p <= 1 for name, p in adjusted.items())


def test_pairs_are_made_by_id_and_what_has_no_pair_is_told() -> None:
    found = paired(
        {"a": 1.0, "b": None, "c": 0.5, "d": 1.0}, {"c": 1.0, "a": 0.0, "b": 1.0, "e": 1.0}
    )
    assert found.differences == {"a": -1.0, "c": 0.5}
    assert found.undefined == ("b",)
    assert found.unpaired == ("d", "e")


def test_twenty_samples_show_only_large_differences() -> None:
    """A comparison of few samples is told to be one."""
    twenty = power.smallest_flip_difference(20, 0.4)
    hundreds = power.smallest_flip_difference(600, 0.1)
    assert twenty is not None
    assert hundreds is not None
    assert hundreds < 0.05 < 0.3 < twenty
    assert "20 pairs" in power.power_note(20, twenty, "correct")
    assert power.power_note(600, hundreds, "correct") == ""


def test_fewer_than_six_flips_are_never_significant() -> None:
    assert mcnemar_exact(5, 0) > 0.05 > mcnemar_exact(6, 0)
    assert power.smallest_flip_difference(20, 0.25) is None
    assert "too few" in power.power_note(20, None, "correct")
    assert power.smallest_mean_difference(5, 0.1) is None


@pytest.mark.parametrize(("n", "discordant"), [(40, 0.4), (100, 0.3), (400, 0.2)])
def test_the_smallest_difference_is_found_in_four_of_five_tries(n: int, discordant: float) -> None:
    """Simulated with exact McNemar, which is a little weaker than the approximation says."""
    difference = power.smallest_flip_difference(n, discordant)
    assert difference is not None
    chance, found = random.Random(1), 0
    for _ in range(500):
        flips = [chance.random() for _ in range(n)]
        gained = sum(each < (discordant + difference) / 2 for each in flips)
        lost = sum((discordant + difference) / 2 <= each < discordant for each in flips)
        found += mcnemar_exact(gained, lost) <= 0.05
    assert 0.65 < found / 500 < 0.9


def test_scores_need_the_pairs_that_their_spread_asks_for() -> None:
    """Eight deviations squared over the difference squared: (1.96 + 0.84)^2 = 7.85."""
    assert power.smallest_mean_difference(785, 1.0) == pytest.approx(0.1, abs=1e-3)
    assert math.isclose(power.smallest_mean_difference(100, 0.2) or 0, 0.056, abs_tol=1e-3)


def test_questions_that_share_documents_are_one_cluster() -> None:
    """Directly or through others; a question about a whole corpus joins all of that corpus."""
    asked = {
        "1": ("minutes", ("a",)),
        "2": ("minutes", ("b", "a")),
        "3": ("minutes", ("b", "c")),
        "4": ("minutes", ("d",)),
        "5": ("logs", ()),
        "6": ("logs", ("a",)),
    }
    made = [_Asked(*each) for each in ((id, *rest) for id, rest in asked.items())]
    found = clusters(made)
    assert found == clusters(reversed(made))
    assert found["1"] == found["2"] == found["3"] == "minutes/a"
    assert found["4"] == "minutes/d"
    assert found["5"] == found["6"] == "logs"


class _Asked:
    def __init__(self, question_id: str, corpus: str, documents: tuple[str, ...]) -> None:
        self.question_id, self.corpus, self.documents = question_id, corpus, documents
