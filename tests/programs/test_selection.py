"""Selection: an answer from the passages that rank best does not look complete where its question asks for more."""

from typing import Any

import pytest

from programs import Direct, MapReduce, Recursive, Retrieve
from programs.selection import RANKED_ONLY

MANY = {
    f"{n}.log": f"FACT pump {n} failed: total 7{n} kWh, highest load {n}\nidle\n"
    for n in range(1, 5)
}
ONE = {**MANY, "5.log": "FACT the grand total of the pump is 290 kWh\n"}


def retrieved(lab: Any, question: str, files: dict[str, str], k: int) -> Any:
    return lab.ask(lab.model(), lab.corpus(files), question, of=Retrieve, k=k).answer


@pytest.mark.parametrize(
    "question",
    [
        "What are the pump facts?",
        "Show me the failed pumps.",
        "What pump facts were reported?",
        "Who attended the pump failed FACT?",
        "pump FACT: 谁参加了？",
        "What is the total kWh of the pump FACT?",
        "What was the highest load of a pump FACT?",
    ],
)
def test_what_may_be_more_than_ranks_best_is_partial_and_says_so(lab: Any, question: str) -> None:
    """S1: two of four passages are two facts, and no total of all."""
    answer = retrieved(lab, question, MANY, k=2)
    assert answer.claims
    assert answer.outcome == "partial"
    assert answer.warnings[0].startswith(RANKED_ONLY)


@pytest.mark.parametrize(
    "question",
    [
        "What is the pump FACT?",
        "Who reported the failed pump FACT?",
        "Name two pump facts that failed.",
        "Is it true that a pump failed, as a FACT?",
        "哪里有 pump FACT？",
    ],
)
def test_a_fact_that_is_found_is_an_answer_wherever_it_stood(lab: Any, question: str) -> None:
    answer = retrieved(lab, question, MANY, k=2)
    assert (answer.outcome, answer.warnings) == ("answered", ())
    assert answer.coverage.ratio == 1.0


def test_a_total_that_one_passage_states_is_an_answer(lab: Any) -> None:
    """Several passages with a total are parts that nobody has added up; one that states it is the answer."""
    question = "What is the grand total of the pump FACT?"
    assert retrieved(lab, question, ONE, k=1).outcome == "answered"
    assert retrieved(lab, question, ONE, k=3).outcome == "partial"


@pytest.mark.parametrize(("said", "warned"), [("No, it was always on.", 1), ("It was off.", 0)])
def test_a_no_from_a_ranking_is_told_to_be_one(lab: Any, say: Any, said: str, warned: int) -> None:
    """One place is enough for a yes; a passage that was not read may turn a no into one."""

    def concluded(request: Any) -> dict[str, Any]:
        return say.conclude((said, [each["claim_id"] for each in request.value("claims", [])]))

    model = lab.model(Conclude=concluded)
    question = "Has the pump of the FACT been off?"
    answer = lab.ask(model, lab.corpus(MANY), question, of=Retrieve, k=2).answer
    assert answer.outcome == "answered"
    assert len(answer.warnings) == warned
    assert all("is not one from all of the text" in each for each in answer.warnings)


@pytest.mark.parametrize("program", [Direct, MapReduce, Recursive])
def test_what_was_read_whole_is_complete(lab: Any, program: Any) -> None:
    ran = lab.ask(lab.model(), lab.corpus(MANY), "What are the pump facts?", of=program)
    assert (ran.answer.outcome, ran.answer.warnings) == ("answered", ())
    assert len(ran.answer.claims) == 4


def test_a_ranking_that_holds_all_of_the_text_is_no_selection(lab: Any) -> None:
    files = {name: text.replace("idle\n", "") for name, text in MANY.items()}
    assert retrieved(lab, "What are the pump facts?", files, k=4).outcome == "answered"
    assert retrieved(lab, "What are the pump facts?", files, k=3).outcome == "partial"
