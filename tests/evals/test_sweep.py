"""A sweep: the grid and draws from it, one log of all configurations, and what they come to beside the default."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.corpus import Corpus
from evals.compare import compare
from evals.contenders import contenders
from evals.log import EvalLog
from evals.report.sweep_page import cautions, fronts, sweep_html, verdicts
from evals.run import Conduct, Plan
from evals.sweep import Configuration, Make, Space, Value, configurations, sweep
from evals.trials import COSTS, trials
from runtime.errors import RunError
from tests.evals.small_set import TOLERANT, Does, SmallSet, Told, answer, number_of, small_set

values = st.lists(st.integers(0, 50), min_size=1, max_size=4, unique=True)
spaces = st.dictionaries(st.sampled_from(["a", "b", "c"]), values, max_size=3).map(
    lambda vary: Space("told", vary)
)
SIZES = (2_000, 4_000, 8_000)


def made_by(does: Callable[[Mapping[str, Value]], Does], asked: list[str] | None = None) -> Make:
    """Told programs whose leaf size is what is chosen, and which do something by it."""

    def make(choices: Mapping[str, Value]) -> Any:
        settings: dict[str, Any] = {
            name: choices[name] for name in ("leaf_characters",) if name in choices
        }
        return lambda: Told(does(choices), asked, **settings)

    return make


def spending(choices: Mapping[str, Value]) -> Does:
    """The smaller the leaves, the more tokens and calls, and the more lines are found; the default finds them all."""
    size = int(choices.get("leaf_characters", 16_000))
    missed = {2_000: 0, 4_000: 4, 8_000: 2}.get(size, 0)

    def does(question: str, corpus: Corpus) -> Any:
        number = number_of(question)
        said = answer(question, corpus, input_tokens=1_000_000 // size, calls=16_000 // size)
        if number >= missed:
            return said
        other = answer(question.replace(f"train {number} ", f"train {number + 1} "), corpus)
        return said.model_copy(update={"claims": other.claims})

    return does


def swept(
    trains: SmallSet, out: Path, make: Make, sizes: tuple[int, ...] = SIZES, **given: Any
) -> tuple[EvalLog, tuple[Configuration, ...]]:
    chosen = configurations(Space("told", {"leaf_characters": sizes}), make)
    conduct = Conduct(concurrency=1, tolerance=TOLERANT)
    work = sweep(chosen, make, trains.made, trains.corpora, out, conduct=conduct, **given)
    return asyncio.run(work), chosen


@given(spaces)
def test_a_grid_has_every_combination_once_and_the_first_parameter_varies_slowest(
    space: Space,
) -> None:
    points = [each.choices for each in space.grid()]
    assert len(points) == len(set(points)) == space.size
    places = [[space.vary[name].index(value) for name, value in each] for each in points]
    assert places == sorted(places)
    assert all([name for name, _ in each] == list(space.vary) for each in points)


@given(spaces, st.integers(0, 5))
def test_a_draw_is_from_the_grid_without_repeats_and_the_same_for_a_seed(
    space: Space, seed: int
) -> None:
    drawn = list(space.shuffled(seed))
    assert drawn == list(space.shuffled(seed))
    assert sorted(each.choices for each in drawn) == sorted(each.choices for each in space.grid())


def test_a_draw_from_a_grid_that_nobody_could_list_takes_no_time() -> None:
    space = Space("told", {str(name): range(10) for name in range(12)})
    assert space.size == 10**12
    assert len({each.name for each in space.shuffled(0)}) == 10_000


def test_other_seeds_draw_other_configurations() -> None:
    space = Space("told", {"leaf_characters": [*range(2_000, 10_000, 100)]})
    make = made_by(spending)
    first, other = (configurations(space, make, number=5, seed=seed) for seed in (1, 2))
    assert [len(first), len(other)] == [6, 6]
    assert first[0] == other[0] == Configuration("told")
    assert set(first[1:]) != set(other[1:])


def test_the_default_is_among_them_once_also_where_the_grid_comes_to_it() -> None:
    space = Space("told", {"leaf_characters": (4_000, 16_000, 4_000)})
    found = configurations(space, made_by(spending))
    assert [each.name for each in found] == ["told", "told[leaf_characters=4000]"]
    assert [each.label for each in found] == ["the default", "leaf_characters=4000"]


def test_all_configurations_are_programs_of_one_log(trains: SmallSet, tmp_path: Path) -> None:
    asked: list[str] = []
    log, chosen = swept(trains, tmp_path / "log", made_by(spending, asked))
    assert log.programs == tuple(each.name for each in chosen)
    assert not log.missing
    assert len(asked) == len(trains.made.questions) * 4
    recorded = log.manifest.programs["told[leaf_characters=2000]"].configuration
    assert recorded["leaf_characters"] == 2_000


def test_a_sweep_goes_on_where_it_stopped_and_another_one_is_refused(
    trains: SmallSet, tmp_path: Path
) -> None:
    asked: list[str] = []

    class Stop(BaseException):
        pass

    def stopping(choices: Mapping[str, Value]) -> Does:
        def does(question: str, corpus: Corpus) -> Any:
            if len(asked) == 7:
                raise Stop
            return spending(choices)(question, corpus)

        return does

    with pytest.raises(Stop):
        swept(trains, tmp_path / "log", made_by(stopping, asked))
    log, chosen = swept(trains, tmp_path / "log", made_by(spending, asked))
    assert not log.missing
    assert len(asked) == log.manifest.total + 1
    whole, _ = swept(trains, tmp_path / "whole", made_by(spending))
    assert trials(log, chosen).digest == trials(whole, chosen).digest
    with pytest.raises(RunError):
        swept(trains, tmp_path / "log", made_by(spending), sizes=(2_000,))
    with pytest.raises(RunError):
        swept(trains, tmp_path / "log", made_by(spending), plan=Plan(seed=1))


def test_trials_have_means_fronts_and_paired_differences(trains: SmallSet, tmp_path: Path) -> None:
    """The default finds everything for the fewest tokens: nothing beats it, and it beats all."""
    log, chosen = swept(trains, tmp_path / "log", made_by(spending))
    found = trials(log, chosen)
    assert found.complete
    assert [each.means["evidence_recall"].mean for each in found.trials] == pytest.approx(
        [1, 1, 2 / 6, 4 / 6]
    )
    assert [each.means["calls"].mean for each in found.trials] == [1, 8, 4, 2]
    assert [each.fronts["tokens"] for each in found.trials] == [True, False, False, False]
    assert [each.shortfalls["tokens"] for each in found.trials] == pytest.approx(
        [0, 0, 4 / 6, 2 / 6]
    )
    default, other = contenders([log])[:2]
    told = compare(default, other).of("tokens")
    gain = found.trials[1].gains["tokens"]
    assert (gain.delta, gain.pairs, gain.worse) == (told.delta, told.pairs, len(told.lost))
    assert found.default.gains == {}
    assert "the default is on the front" in verdicts(found)[0]


def test_a_default_that_is_behind_is_told_so_with_what_is_ahead(
    trains: SmallSet, tmp_path: Path
) -> None:
    def does(choices: Mapping[str, Value]) -> Does:
        better = spending({"leaf_characters": 2_000})
        worse = spending({"leaf_characters": 4_000})
        cheaper = choices.get("leaf_characters") == 2_000

        def reply(question: str, corpus: Corpus) -> Any:
            said = (better if cheaper else worse)(question, corpus)
            used = {"calls": 3, "input_tokens": 100}
            return said.model_copy(update={"receipt": said.receipt.model_copy(update=used)})

        return reply

    log, chosen = swept(trains, tmp_path / "log", made_by(does))
    found = trials(log, chosen)
    assert not found.default.fronts["tokens"]
    assert found.default.shortfalls["tokens"] == pytest.approx(4 / 6)
    assert (
        "evidence recall against tokens: the default is behind 1: evidence recall +0.67,"
        in verdicts(found)[0]
    )


def test_p_values_are_adjusted_for_the_number_of_configurations(
    tmp_path: Path,
) -> None:
    log, chosen = swept(small_set(tmp_path, 10), tmp_path / "log", made_by(spending))
    found = trials(log, chosen)
    by_chance = [each.gains["evidence_recall"] for each in found.trials[1:]]
    assert all(each.p is not None and each.p_holm is not None for each in by_chance)
    assert all((each.p_holm or 0) >= (each.p or 0) for each in by_chance)
    assert min(each.p_holm or 0 for each in by_chance) == pytest.approx(
        min(1.0, 3 * min(each.p or 0 for each in by_chance))
    )


def test_errors_are_in_no_mean_and_told(trains: SmallSet, tmp_path: Path) -> None:
    def does(choices: Mapping[str, Value]) -> Does:
        def reply(question: str, corpus: Corpus) -> Any:
            if choices and number_of(question) == 3:
                return ValueError("no")
            return answer(question, corpus)

        return reply

    log, chosen = swept(trains, tmp_path / "log", made_by(does), sizes=(2_000,))
    found = trials(log, chosen)
    assert [each.errors for each in found.trials] == [0, 1]
    assert [each.means["evidence_recall"].questions for each in found.trials] == [6, 5]
    assert found.trials[1].gains["evidence_recall"].pairs == 5
    told = " ".join(cautions(found))
    assert "1: 1 sample ended in an error" in told
    assert "rest on 5 to 6 questions" in told


def test_the_front_can_be_about_another_quality(trains: SmallSet, tmp_path: Path) -> None:
    log, chosen = swept(trains, tmp_path / "log", made_by(spending))
    found = trials(log, chosen, "verified_correct")
    assert found.quality == "verified_correct"
    assert found.trials[1].gains["verified_correct"].p_holm is not None
    assert found.trials[1].gains["evidence_recall"].p_holm is None
    assert "verified correct against tokens" in verdicts(found)[0]


def test_a_log_without_a_configuration_is_refused(trains: SmallSet, tmp_path: Path) -> None:
    log, chosen = swept(trains, tmp_path / "log", made_by(spending))
    with pytest.raises(RunError, match="no log has"):
        trials(log, [*chosen, Configuration("told", (("depth", 1),))])


def test_the_page_has_a_front_for_each_cost_and_every_configuration(
    trains: SmallSet, tmp_path: Path
) -> None:
    log, chosen = swept(trains, tmp_path / "log", made_by(spending))
    found = trials(log, chosen)
    drawn = fronts(found)
    page = sweep_html(found, log, drawn)
    assert tuple(drawn) == COSTS
    for cost in COSTS:
        assert f'aria-label="evidence recall against {cost} a question"' in page
    for each in chosen[1:]:
        assert each.label in page
    assert "<script" not in page
    assert "default-src &#39;none&#39;" in page
    assert "http:" not in page.replace("http://www.w3.org", "")


def test_programs_of_a_sweep_are_of_the_family_of_their_program(
    trains: SmallSet, tmp_path: Path
) -> None:
    """Also where a value is a name with a colon."""
    log, _ = swept(trains, tmp_path / "log", made_by(spending))
    assert {each.family for each in contenders([log])} == {"told"}
    named = Configuration("rlm:repl", (("leaf_model", "simulated:recall=0.8"),))
    assert named.name == "rlm:repl[leaf_model=simulated:recall=0.8]"
