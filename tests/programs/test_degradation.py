"""Degradation: each cause of a degraded answer in its own words."""

from typing import Any

import pytest

from programs import Recursive
from programs.rlm import RLM

FILES = {"a.txt": "FACT one\n", "b.txt": "FACT two\n"}
PROSE = "What a lovely day."


def test_a_plan_that_cannot_be_read_is_replaced_by_one_of_its_kind(lab: Any) -> None:
    ran = lab.ask(lab.model(Plan=PROSE), lab.corpus(FILES), of=Recursive)
    assert ran.answer.degraded
    assert ran.answer.degraded_by == ("a plan by kind of question stands in for one of the model",)


def test_a_conclusion_that_cannot_be_read_leaves_the_findings_as_they_are(lab: Any) -> None:
    ran = lab.ask(lab.model(Conclude=PROSE), lab.corpus(FILES), of=Recursive)
    assert ran.answer.degraded_by == (
        "there is no usable conclusion: what was found is given as it is",
    )


def test_a_plan_and_a_conclusion_are_two_causes(lab: Any) -> None:
    ran = lab.ask(lab.model(Plan=PROSE, Conclude=PROSE), lab.corpus(FILES), of=Recursive)
    assert len(ran.answer.degraded_by) == 2
    assert ran.answer.to_json()["degraded_by"] == list(ran.answer.degraded_by)


@pytest.mark.parametrize("action_space", ["tools", "repl"])
def test_a_model_that_does_not_submit_has_no_plan_to_blame(lab: Any, action_space: str) -> None:
    """rlm#37: RLM plans nothing; what it lacks is a submission."""
    engine = lab.model(Act=PROSE, ReplAction=PROSE)
    ran = lab.ask(engine, lab.corpus(FILES), of=RLM, action_space=action_space, max_turns=2)
    assert ran.answer.degraded
    assert ran.answer.degraded_by == (
        "the model did not submit an answer: what was found is given as it is",
    )


def test_an_answer_as_the_model_made_it_is_not_degraded(lab: Any) -> None:
    ran = lab.ask(lab.model(), lab.corpus(FILES), of=Recursive)
    assert (ran.answer.degraded, ran.answer.degraded_by) == (False, ())
