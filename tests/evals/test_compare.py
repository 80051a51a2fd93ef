"""Comparisons: paired by question, with the tests that fit; what is no pair is counted, not guessed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.clusters import clusters
from evals.compare import Comparison, compare
from evals.contenders import contenders
from evals.intervals import difference_interval
from evals.log import EvalLog, read_log
from evals.measures import MEASURES, PRIMARY, measure
from evals.metrics import Ratio
from evals.rivals import regret, rivals
from evals.stats import mcnemar_exact
from runtime.errors import RunError, UserError
from tests.evals.duel import ERROR, Told, duel, numbered


def compared(log: EvalLog, *names: str) -> Comparison:
    """The second program of a log held against the first."""
    before, after = contenders([log])
    return compare(before, after, [measure(name) for name in names or ["verified_correct"]])


def test_right_and_wrong_are_compared_by_exact_mcnemar(tmp_path: Path) -> None:
    before = numbered(*[1] * 10, *[0] * 10)
    after = numbered(*[0] * 2, *[1] * 16, *[0] * 2)
    found = compared(duel(tmp_path / "log", {"a": before, "b": after})).of("verified_correct")
    assert found.test == "mcnemar"
    assert found.pairs == 20
    assert (found.before, found.after) == (0.5, 0.8)
    assert found.delta == pytest.approx(0.3)
    assert found.p == mcnemar_exact(8, 2)
    assert found.gained == tuple(f"q{n:03}" for n in range(10, 18))
    assert found.lost == ("q000", "q001")


def test_scores_are_compared_by_sign_flips_and_ordered_by_size(tmp_path: Path) -> None:
    before, after = numbered(0.5, 0.5, 0.5, 0.5), numbered(0.75, 1, 0.25, 0.5)
    found = compared(duel(tmp_path / "log", {"a": before, "b": after})).of("verified_correct")
    assert found.test == "sign-flip"
    assert found.gained == ("q001", "q000")
    assert found.lost == ("q002",)


def test_epochs_are_averaged_within_a_question_first(tmp_path: Path) -> None:
    """A question that is asked three times is one pair and not three."""
    told: dict[str, dict[str, Told | list[Told]]] = {
        "a": {"q0": [1, 0, None], "q1": [0, 0, 0]},
        "b": {"q0": [1, 1, 1], "q1": [0, 0, 0]},
    }
    found = compared(duel(tmp_path / "log", told)).of("verified_correct")
    assert (found.pairs, found.before, found.after) == (2, 0.25, 0.5)


def test_an_error_is_no_zero_and_is_told_from_what_is_undefined(tmp_path: Path) -> None:
    told = {"a": numbered(1, 1, 1, 1), "b": numbered(1, 0, ERROR, None)}
    found = compared(duel(tmp_path / "log", told)).of("verified_correct")
    assert found.pairs == 2
    assert (found.before, found.after) == (1.0, 0.5)
    assert found.failed == ("q002",)
    assert found.undefined == ("q003",)


def test_one_epoch_that_became_an_error_is_counted_and_told(tmp_path: Path) -> None:
    told: dict[str, dict[str, Told | list[Told]]] = {
        "a": {"q0": [1, 1], "q1": [1, 1], "q2": [ERROR, ERROR]},
        "b": {"q0": [1, ERROR], "q1": [1, 1], "q2": [1, 1]},
    }
    found = compared(duel(tmp_path / "log", told)).of("verified_correct")
    assert found.pairs == 2
    assert found.errors == (2, 1)
    assert found.failed == ("q0", "q2")
    assert found.thinned == ("q0",)
    assert found.undefined == ()


def test_a_question_in_one_log_alone_is_counted(tmp_path: Path) -> None:
    one = duel(tmp_path / "one", {"a": numbered(1, 1)})
    two = duel(tmp_path / "two", {"a": numbered(1, 0, 1)})
    before, after = contenders([one, two])
    assert (before.label, after.label) == ("a (one)", "a (two)")
    found = compare(before, after, [measure("verified_correct")]).of("verified_correct")
    assert found.unpaired == ("q002",)
    assert found.pairs == 2


def test_only_the_primary_metrics_are_adjusted_as_a_family(tmp_path: Path) -> None:
    told = {"a": numbered(*[1] * 12), "b": numbered(*[0] * 7, *[1] * 5)}
    log = duel(tmp_path / "log", told, evidence_recall=Ratio(1, 1), citation_precision=Ratio(1, 1))
    found = compared(log, *MEASURES)
    assert {d.measure for d in found.differences if d.p_holm is not None} == set(PRIMARY)
    verified = found.of("verified_correct")
    assert verified.p is not None
    assert verified.p_holm == pytest.approx(3 * verified.p)


def test_questions_on_one_document_are_resampled_together(tmp_path: Path) -> None:
    """40 questions on two documents are no 40 independent ones."""
    before = numbered(*[1] * 40)
    after = numbered(*[1] * 20, *[0] * 20)
    apart = duel(tmp_path / "apart", {"a": before, "b": after})
    joined = duel(
        tmp_path / "joined", {"a": before, "b": after}, document=lambda q: f"d{int(q[1:]) // 20}"
    )
    alone = duel(tmp_path / "alone", {"a": before, "b": after}, document=lambda q: "d")
    narrow, wide, none = (
        compared(each).of("verified_correct").interval for each in (apart, joined, alone)
    )
    assert narrow is not None
    assert wide is not None
    assert wide.low == -1
    assert wide.high == 0
    assert wide.low < narrow.low < -0.5 < narrow.high < wide.high
    assert none is None


@given(
    st.dictionaries(st.text(min_size=1, max_size=3), st.sampled_from([-1.0, 0.0, 1.0]), min_size=1)
)
def test_an_interval_holds_the_mean_and_never_has_width_zero(deltas: dict[str, float]) -> None:
    found = difference_interval(deltas, {each: each for each in deltas}, bounded=True)
    if len(deltas) < 2:
        assert found is None
    else:
        assert found is not None
        assert -1 <= found.low < found.high <= 1
        # Percentiles of resamples may lie beside the mean by one resample's worth.
        slack = 1 / len(deltas)
        assert found.low - slack <= sum(deltas.values()) / len(deltas) <= found.high + slack


def test_no_flip_in_n_pairs_is_as_wide_as_the_rule_of_three(tmp_path: Path) -> None:
    same = numbered(*[1] * 100)
    found = compared(duel(tmp_path / "log", {"a": same, "b": same})).of("verified_correct")
    assert found.p == 1
    assert found.interval == pytest.approx((-0.0362, 0.0362), abs=1e-4)


def test_few_pairs_come_with_a_warning(tmp_path: Path) -> None:
    told = {"a": numbered(1, 0, 1), "b": numbered(1, 1, 1)}
    few = compared(duel(tmp_path / "few", told)).of("verified_correct")
    assert "3 pairs are too few" in few.power


def test_the_same_logs_give_the_same_comparison(tmp_path: Path) -> None:
    told = {"a": numbered(*[1, 0] * 15), "b": numbered(*[1, 1, 0] * 10)}
    log = duel(tmp_path / "log", told)
    assert compared(log, *MEASURES) == compared(read_log(log.folder), *MEASURES)


def test_logs_of_different_sets_are_refused(tmp_path: Path) -> None:
    one = duel(tmp_path / "one", {"a": numbered(1)})
    other = duel(tmp_path / "other", {"a": numbered(1)}, set_version="v2")
    with pytest.raises(RunError, match="different question sets"):
        contenders([one, other])
    with pytest.raises(RunError, match="named twice"):
        contenders([one, one])
    with pytest.raises(RunError, match="no log has b"):
        contenders([one], ["b"])
    with pytest.raises(UserError, match="no metric"):
        measure("goodness")


def test_a_rival_that_is_better_or_as_good_is_named(tmp_path: Path) -> None:
    """Baselines are honest: one that does as well is told, and not left to be found."""
    told = {
        "recursive": numbered(*[0] * 10, *[1] * 90),
        "better": numbered(*[1] * 100),
        "equal": numbered(*[0] * 9, *[1] * 90, 0),
        "worse": numbered(*[0] * 40, *[1] * 60),
    }
    log = duel(tmp_path / "log", told)
    program, *others = contenders([log])
    found = rivals(program, others, {"all": log.manifest.questions})
    assert {each.rival: each.standing for each in found} == {
        "better": "better",
        "equal": "as good",
        "worse": "worse",
    }
    assert all(each.costs == 1 for each in found)


def test_one_lucky_win_of_six_does_not_make_a_rival_as_good(tmp_path: Path) -> None:
    told = {"recursive": numbered(0, 1, 1, 0, 0, 0), "direct": numbered(1, 1, 1, 0, 0, 0)}
    log = duel(tmp_path / "log", told)
    program, other = contenders([log])
    (found,) = rivals(program, [other], {"all": log.manifest.questions})
    assert found.standing == "open"


@pytest.mark.parametrize("documents", [7, 70])
def test_a_rival_on_few_documents_is_open(tmp_path: Path, documents: int) -> None:
    told = {"recursive": numbered(*[0] * 70), "direct": numbered(*[1] * 70)}
    log = duel(tmp_path / "log", told, document=lambda q: f"d{int(q[1:]) % documents}")
    program, other = contenders([log])
    (found,) = rivals(program, [other], {"all": log.manifest.questions})
    assert found.standing == ("better" if documents == 70 else "open")


def test_few_questions_show_nothing_about_a_rival(tmp_path: Path) -> None:
    told = {"recursive": numbered(1, 1, 0, 1), "direct": numbered(1, 0, 1, 1)}
    program, other = contenders([duel(tmp_path / "log", told)])
    (found,) = rivals(program, [other], {"all": ["q000", "q001", "q002", "q003"]})
    assert found.standing == "open"


def test_regret_is_what_the_best_program_of_each_question_had_more(tmp_path: Path) -> None:
    """Baselines are honest: a program that chooses is held against the best that it could have chosen."""
    told = {
        "auto": numbered(1, 0, 0, 1, ERROR),
        "a": numbered(1, 1, 0, 0, 1),
        "b": numbered(0, 0, 0, None, 1),
    }
    chooser, *others = contenders([duel(tmp_path / "log", told)])
    found = regret(chooser, others)
    assert found.questions == 4
    assert found.mean == 0.25
    assert found.worst == ("q001",)
    assert (found.best, found.gap) == ("a", 0.0)


def test_regret_of_fewer_calls_counts_calls(tmp_path: Path) -> None:
    log = duel(tmp_path / "log", {"auto": numbered(1, 1), "a": numbered(1, 1)}, calls=3)
    chooser, *others = contenders([log])
    assert regret(chooser, others, MEASURES["calls"]).mean == 0


def test_clusters_are_named_for_every_question_of_a_comparison(tmp_path: Path) -> None:
    log = duel(tmp_path / "log", {"a": numbered(1, 1)}, document=lambda q: "d")
    scores = [record.score for record in log.records if record.score]
    assert len(set(clusters(scores).values())) == 1
