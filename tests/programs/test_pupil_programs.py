"""The pupil in programs: with the prompts of the suite it errs, with the advice of the coach it answers as the reader.

What an optimizer can gain with this stand-in is thus known before it is run.
"""

from typing import Any

import pytest

from programs import Program, Recursive
from programs.baselines import MapReduce, Retrieve
from programs.rlm import RLM
from runtime.models.coach.advice import ADVICE, with_advice
from runtime.models.make import make_lm

PLACES = ("Graz", "Linz", "Wels", "Lienz", "Bregenz", "Eisenstadt")
FILES = {
    f"{name}.log": "".join(
        f"2026-03-02 09:{n:02}:00 INFO {name} pump {n} starts\n"
        f"2026-03-02 09:{n:02}:30 ERROR {name} valve broke at {place} after {n + 3} hours\n"
        for n, place in enumerate(PLACES)
    )
    for name in ("east", "west")
}
QUESTIONS = (
    *(f"When did the east valve break at {place}?" for place in PLACES[:4]),
    "List all valves that broke in the west.",
    'Is there any line that mentions "zeppelin"?',
)
PROGRAMS: dict[str, tuple[type[Program], dict[str, Any]]] = {
    "recursive": (Recursive, {}),
    "rlm:tools": (RLM, {"action_space": "tools"}),
    "retrieve": (Retrieve, {}),
    "map_reduce": (MapReduce, {}),
}


def cited(lab: Any, corpus: Any, name: str, model: str, *, advised: bool = False) -> list[set[Any]]:
    """The places that the answer to each question cites."""
    of, chosen = PROGRAMS[name]
    program = of(lm=make_lm(model), journal=lab.journal, **chosen)
    predictors: list[tuple[str, Any]] = program.named_predictors() if advised else []
    for _, predictor in predictors:
        told = with_advice(predictor.signature.instructions, ADVICE)
        predictor.signature = predictor.signature.with_instructions(told)
    answers = [program(question=each, corpus=corpus).answer for each in QUESTIONS]
    assert all(answer.outcome != "failed" for answer in answers)
    return [
        {
            (each.source, each.start, each.end)
            for claim in answer.claims
            if claim.status != "insufficient"
            for each in claim.citations
        }
        for answer in answers
    ]


def agreement(found: list[set[Any]], right: list[set[Any]]) -> float:
    """The mean F1 of the places cited; two empty answers agree."""
    scores = [
        2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0
        for one, other in zip(found, right, strict=True)
    ]
    return sum(scores) / len(scores)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_prompts_of_the_suite_leave_room_and_good_ones_use_it_up(lab: Any, name: str) -> None:
    corpus = lab.corpus(FILES)
    right = cited(lab, corpus, name, "extractive")
    assert sum(map(bool, right)) == 5
    assert agreement(cited(lab, corpus, name, "pupil:seed=2"), right) < 0.6
    assert agreement(cited(lab, corpus, name, "pupil:seed=2", advised=True), right) == 1.0
