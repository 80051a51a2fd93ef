"""Auto: the program that chooses a program, end to end with a scripted model."""

import copy
from pathlib import Path
from typing import Any

import dspy
import pytest

from data.corpus import Corpus
from programs import Answer
from programs.route import Auto
from runtime.errors import LimitsError, PatternError
from runtime.events import Routed
from runtime.frames import RunState, fold
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.models.scripted import Reply, ScriptedEngine
from signatures import AnalyzeLeaf, ClassifyQuestion, Conclude, Plan, Refine

TWO = {"a.log": "FACT the valve is open\nnoise\n", "b.log": "nothing\nFACT the pump is off\n"}
DISPUTED = "Who was present throughout?"
"""A lookup by its form, with a word that asks for all of the text."""


def program(lab: Any, model: ScriptedEngine, **settings: Any) -> Auto:
    return Auto(lm=model.lm(), journal=lab.journal, **settings)


def asked(lab: Any, model: ScriptedEngine, corpus: Corpus, question: str, **settings: Any) -> Any:
    """A run of Auto to its end."""
    return lab.ran(program(lab, model, **settings)(question=question, corpus=corpus), model, corpus)


def signatures(model: ScriptedEngine) -> list[str]:
    return [str(call.signature) for call in model.log]


def routed(state: RunState) -> Routed:
    assert state.routed is not None
    return state.routed


def test_short_text_is_read_at_once_and_the_answer_says_who_answered_and_why(lab: Any) -> None:
    """Where the whole corpus fits comfortably and the question is not exhaustive, it does not recurse."""
    model = lab.model()
    ran = asked(lab, model, lab.corpus(TWO), "Who opened the valve?")
    assert signatures(model) == ["AnalyzeLeaf", "Conclude"]
    route = routed(ran.state)
    assert (route.program, route.asked_model) == ("direct", False)
    assert (ran.answer.program, ran.answer.route) == ("direct", route.reason)
    assert (ran.answer.to_json()["program"], ran.answer.to_json()["route"]) == (
        "direct",
        route.reason,
    )
    assert any("58 characters in 2 partitions" in each for each in route.signals)
    with Journal.open(lab.journal) as journal:
        assert journal.run("last").record.program == "auto"


@pytest.mark.parametrize(
    ("question", "settings", "name"),
    [
        ("Who opened the valve?", {"window": 100}, "retrieve"),
        ('Where is "valve"?', {"window": 100}, "recursive"),
        ("Why is the pump off?", {"window": 100}, "recursive"),
        ('How many lines mention "valve"?', {}, "recursive"),
        ("Which facts are there?", {}, "recursive"),
        ("Which facts are there?", {"limits": Limits(calls=6)}, "map_reduce"),
        ("What is the fact in b.log?", {"window": 120}, "direct"),
    ],
)
def test_each_program_answers_with_its_own_name(
    lab: Any, question: str, settings: dict[str, Any], name: str
) -> None:
    model = lab.model()
    answer = asked(lab, model, lab.corpus(TWO), question, **settings).answer
    assert answer.program == name
    assert answer.route
    assert answer.outcome in ("answered", "partial")


def test_only_a_dispute_is_put_to_the_model_and_only_once(lab: Any) -> None:
    """What the model says holds for the program that answers: it is not asked again."""
    model = lab.model(kind="list", requires_all=True)
    ran = asked(lab, model, lab.corpus(TWO), DISPUTED)
    assert signatures(model).count("ClassifyQuestion") == 1
    assert signatures(model)[:2] == ["ClassifyQuestion", "Plan"]
    route = routed(ran.state)
    assert (route.program, route.asked_model) == ("recursive", True)
    assert ran.answer.route.endswith("the model was asked what the question means")
    assert (ran.state.classified.question_kind, ran.answer.kind) == ("list", "list")
    assert list(ran.state.frames) == ["root"]


def test_a_judge_who_asks_for_one_fact_only_leaves_the_short_way(lab: Any) -> None:
    model = lab.model(kind="lookup", requires_all=False)
    ran = asked(lab, model, lab.corpus(TWO), DISPUTED)
    assert signatures(model) == ["ClassifyQuestion", "AnalyzeLeaf", "Conclude"]
    assert ran.answer.program == "direct"


@pytest.mark.parametrize(
    ("question", "kind", "window"),
    [
        (DISPUTED, "lookup", 10),
        (DISPUTED, "cause", 100),
        ("Summarize all decisions", "summary", 10_000),
        ("谁始终在场？", "lookup", 10),
        ("谁始终在场？", "count", 10_000),
    ],
)
def test_what_the_model_says_needs_all_never_comes_from_a_selection(
    lab: Any, question: str, kind: str, window: int
) -> None:
    """Exhaustive questions never go to Retrieve."""
    model = lab.model(kind=kind, requires_all=True)
    ran = asked(lab, model, lab.corpus(TWO), question, window=window)
    assert ran.answer.program in ("recursive", "map_reduce")
    assert not any(step.planned.action == "rank" for step in ran.state.frames["root"].steps)


@pytest.mark.parametrize(
    "reply", ["It depends.", Reply("{", finish_reason="length"), Reply(error="context")]
)
def test_without_a_judge_the_likeliest_reading_is_taken(lab: Any, reply: Any) -> None:
    model = lab.model(ClassifyQuestion=reply)
    ran = asked(lab, model, lab.corpus(TWO), DISPUTED)
    assert ran.answer.program == "direct"
    assert ran.answer.route.endswith("by the likeliest reading, since the model gave none")
    assert "classify_failed" in ran.warned


def stopped(lab: Any, model: ScriptedEngine, corpus: Corpus, commits: int, **settings: Any) -> str:
    """Break a run of Auto off after some commits: its id."""

    class Stop(BaseException):
        pass

    def stop(number: int) -> None:
        if number == commits:
            raise Stop

    with Journal.open(lab.journal) as journal:
        journal.on_commit = stop
        begun = Auto(lm=model.lm(), journal=journal, **settings)
        with pytest.raises(Stop):
            begun(question=DISPUTED, corpus=corpus)
        journal.on_commit = None
        return journal.run("last").record.run_id


@pytest.mark.parametrize("commits", [1, 3, 4, 5, 7])
def test_a_resumed_run_goes_on_by_the_recorded_route(lab: Any, commits: int) -> None:
    """Also where other settings would choose another one now; and nobody is asked twice."""
    corpus = lab.corpus(TWO)
    model = lab.model(kind="list", requires_all=True)
    run_id = stopped(lab, model, corpus, commits)
    with Journal.open(lab.journal) as journal:
        before = fold(journal.events(run_id)).routed
    answer = program(lab, model, window=1).resume(run_id, corpus).answer
    assert answer.program == "recursive"
    assert answer.outcome == "answered"
    with Journal.open(lab.journal) as journal:
        routes = [each for each in journal.events(run_id) if isinstance(each, Routed)]
        keys = [call.key.rpartition("#")[0] for call in journal.calls(run_id) if call.status == "done"]  # fmt: skip
    assert len(routes) == 1
    assert before in (None, routes[0])
    assert len(keys) == len(set(keys))


def test_a_broken_expression_or_too_small_limits_are_told_before_anything_is_kept(lab: Any) -> None:
    corpus = lab.corpus(TWO)
    with pytest.raises(PatternError):
        program(lab, lab.model())(question="How many lines match /(a/?", corpus=corpus)
    with pytest.raises(LimitsError, match="too small to start"):
        program(lab, lab.model(), limits=Limits(tokens=10))(question=DISPUTED, corpus=corpus)
    with pytest.raises(LimitsError, match="at least 4 calls"):
        program(lab, lab.model(), limits=Limits(calls=3))(question=DISPUTED, corpus=corpus)
    assert lab.runs() == []


def test_optimizers_see_each_predictor_once_and_what_it_learns_serves_every_program(
    tmp_path: Path,
) -> None:
    auto = Auto()
    predictors = [each for _, each in auto.named_predictors()]
    kinds = [ClassifyQuestion, Plan, Refine, AnalyzeLeaf, Conclude]
    assert len(predictors) == len(kinds)
    assert all(any(each.signature is kind for each in predictors) for kind in kinds)
    copied = copy.deepcopy(auto)
    assert not {id(each) for each in predictors} & {id(each) for each in copied.predictors()}
    assert len(copied.predictors()) == 5
    demo = dspy.Example(question="q", spans=[])
    copied.direct.analyze_leaf.demos = [demo]  # type: ignore[attr-defined]
    assert copied.recursive.analyze_leaf.demos == copied.retrieve.analyze_leaf.demos == [demo]  # type: ignore[attr-defined]
    copied.save(tmp_path / "auto.json")
    loaded = Auto()
    loaded.load(tmp_path / "auto.json")
    assert len(loaded.map_reduce.analyze_leaf.demos) == 1  # type: ignore[attr-defined]


def test_the_program_that_was_chosen_works_with_the_models_and_limits_of_auto(lab: Any) -> None:
    """One ledger, one journal, one receipt."""
    model = lab.model()
    ran = asked(lab, model, lab.corpus(TWO), "Who opened the valve?", limits=Limits(calls=5))
    assert ran.answer.receipt.calls == len(model.log) == 2
    assert isinstance(ran.answer, Answer)
    assert [call.signature for call in ran.calls] == signatures(model)
