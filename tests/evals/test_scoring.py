"""Scoring: logs whose scores were not computed alike are never compared without a word."""

from pathlib import Path

import pytest

from evals.compare import compare
from evals.contenders import contenders
from evals.log import SAMPLES, EvalLog, JudgeName, Scoring, read_log
from evals.measures import measure
from evals.results import results
from evals.scoring import scoring_of
from runtime.errors import RunError
from tests.evals.duel import duel, numbered, rescored


@pytest.fixture
def pair(tmp_path: Path) -> tuple[EvalLog, EvalLog]:
    told = {"a": numbered(*[1] * 10)}
    return duel(tmp_path / "one", told), duel(tmp_path / "two", told)


def test_another_tau_is_refused_with_the_command_that_mends_it(
    pair: tuple[EvalLog, EvalLog],
) -> None:
    one, two = pair
    with pytest.raises(RunError, match=r"not computed alike.*tau 0\.9") as refused:
        contenders([rescored(one, tau=0.9), two])
    assert refused.value.hint == f"spantree rescore {two.folder} --tau 0.9"
    assert scoring_of([read_log(one.folder), rescored(two, tau=0.9)]) == Scoring(0.9, "v1")
    contenders([read_log(one.folder), read_log(two.folder)])


@pytest.mark.parametrize(
    ("judge", "words"),
    [
        (JudgeName(model="spantree/extractive", version="0"), "--judge extractive"),
        (JudgeName(model="local/x.gguf", version="0"), "--judge local/x.gguf --judge-by words"),
        (
            JudgeName(model="local/x.gguf", version="0", threshold=0.123456789),
            "--judge local/x.gguf --judge-by likelihood --judge-threshold 0.123456789",
        ),
    ],
)
def test_the_command_asks_the_same_judge_in_the_same_way(
    pair: tuple[EvalLog, EvalLog], judge: JudgeName, words: str
) -> None:
    one, two = pair
    with pytest.raises(RunError) as refused:
        contenders([rescored(one, tau=0.9), rescored(two, judge=judge)])
    assert refused.value.hint == f"spantree rescore {two.folder} --tau 0.9 {words}"


def test_mended_gold_is_refused_until_both_have_it(pair: tuple[EvalLog, EvalLog]) -> None:
    one, two = pair
    mended = rescored(one, set_version="v2")
    with pytest.raises(RunError, match=r"set v2.*set v1") as refused:
        contenders([mended, two])
    for log in pair:
        assert f"spantree rescore {log.folder} --set SET --tau 0.5" in (refused.value.hint or "")
    before, after = contenders([mended, rescored(two, set_version="v2")])
    assert compare(before, after, [measure("evidence_recall")]).of("evidence_recall").delta == 0


def test_logs_of_two_versions_are_compared_by_the_gold_that_both_were_rescored_with(
    tmp_path: Path,
) -> None:
    one = duel(tmp_path / "one", {"a": numbered(1, 0)})
    two = duel(tmp_path / "two", {"a": numbered(1, 0)}, set_version="v2")
    with pytest.raises(RunError, match="different question sets"):
        contenders([one, two])
    assert len(contenders([rescored(one, set_version="v2"), two])) == 2


def test_a_log_that_was_rescored_and_then_went_on_is_refused(pair: tuple[EvalLog, EvalLog]) -> None:
    """Its old samples are scored at tau 0.9 and its new ones at 0.5: no table is made of both."""
    mixed = rescored(pair[0], tau=0.9, only=6)
    assert mixed.scorings == (Scoring(0.9, "v1"), Scoring(0.5, "v1"))
    for work in (lambda: contenders([mixed]), lambda: results(mixed)):
        with pytest.raises(RunError) as refused:
            work()
        assert refused.value.hint == f"spantree rescore {mixed.folder} --tau 0.9"


def test_scores_without_a_version_are_by_the_set_of_their_log(
    pair: tuple[EvalLog, EvalLog],
) -> None:
    assert rescored(pair[0]).scorings == (Scoring(0.5, "v1"),)
    (pair[1].folder / SAMPLES).write_bytes(b"")
    assert read_log(pair[1].folder).scorings == ()
