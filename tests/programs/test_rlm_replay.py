"""RLM in code that was stopped: it is replayed from recorded replies and results, and takes the same way again."""

from typing import Any

import pytest

from programs.rlm import RLM
from runtime.errors import RunError
from runtime.events import Acted
from runtime.journal import Journal
from runtime.models.scripted import Reply
from tests.programs.acting import cell, cells
from tests.programs.coding import ASKED, FILES, LOOK, SUBMIT, program


class Broken(Exception):
    """A process that dies, as far as a test can tell."""


FACTS = {f"{n}.txt": f"FACT {n}\n" for n in range(3)}


READ = cell(
    'import random\nimport time\nfound = subcall("What are the facts?", [])\n'
    "print([c['text'] for c in found['claims']], random.random(), time.time())"
)


ASK = cell("print(llm_query_batched(['one', 'two', 'one']))")


ALL = cell(
    'SUBMIT(answer="", claims=[{"text": c["text"], "evidence": [{"span_id": c["claim_id"], "quote": ""}]} '
    'for c in found["claims"]])'
)


def test_a_replay_calls_no_model_again_whatever_call_it_died_in(lab: Any) -> None:
    """langgraph#8039: a run of 8 calls is broken off at each; nothing that was answered is asked again."""
    corpus = lab.corpus(FACTS)
    script = cells(READ, ASK, ALL)
    whole = lab.model(ReplAction=script, SubQuery=Reply({"reply": "well"}))
    expected = asked_with(lab, whole, corpus)
    assert len(whole.log) == 9
    for stop in range(len(whole.log)):
        made = 0

        def dying(request: Any, stop: int = stop) -> Any:
            nonlocal made
            made += 1
            if made == stop + 1:
                raise Broken
            if request.signature == "ReplAction":
                return script(request)
            return (
                Reply({"reply": "well"}) if request.signature == "SubQuery" else lab.facts(request)
            )

        model = lab.model(ReplAction=dying, SubQuery=dying, AnalyzeLeaf=dying)
        with pytest.raises(Broken):
            program(lab, model)(question="List all facts.", corpus=corpus)
        with Journal.open(lab.journal) as journal:
            run_id = journal.run("last").record.run_id
        going_on = lab.model(ReplAction=script, SubQuery=Reply({"reply": "well"}))
        prediction = program(lab, going_on).resume(run_id, corpus)
        ran = lab.ran(prediction, going_on, corpus)
        assert ran.answer.text == expected.answer.text
        answered = [each.key.rpartition("#")[0] for each in ran.calls if each.status == "done"]
        assert len(answered) == len(set(answered)) == len(whole.log)
        acts = [(each.frame_id, each.step.id) for each in ran.events if isinstance(each, Acted)]
        assert len(acts) == len(set(acts))


def asked_with(lab: Any, model: Any, corpus: Any) -> Any:
    return lab.ask(model, corpus, "List all facts.", of=RLM, action_space="repl")


def broken_at(lab: Any, script: Any, number: int, corpus: Any, question: str, **models: Any) -> str:
    """The id of a run whose process died when it asked for this cell."""

    def dying(request: Any) -> Any:
        if int(request.inputs["iteration"].split("/")[0]) == number:
            raise Broken
        return script(request)

    with pytest.raises(Broken):
        program(lab, lab.model(ReplAction=dying, **models))(question=question, corpus=corpus)
    with Journal.open(lab.journal) as journal:
        return journal.run("last").record.run_id


def test_a_sub_query_that_failed_is_not_asked_again_by_a_replay(lab: Any) -> None:
    """What code has seen it sees again: another reply could lead it another way."""
    corpus = lab.corpus(FILES)
    batch = cell(
        "rs = llm_query_batched(['one', 'two'])\nif any('ERROR' in r for r in rs):\n    print(budget())"
    )
    script = cells(batch, LOOK, SUBMIT)

    def one_of_them(request: Any) -> Reply:
        failing = "two" in request.inputs["prompt"]
        return Reply(error="invalid") if failing else Reply({"reply": "fine"})

    run_id = broken_at(lab, script, 2, corpus, ASKED, SubQuery=one_of_them)
    going_on = lab.model(ReplAction=script, SubQuery=Reply({"reply": "well"}))
    prediction = program(lab, going_on).resume(run_id, corpus)
    assert prediction.answer.outcome == "answered"
    assert [each.signature for each in going_on.log] == ["ReplAction", "ReplAction"]


def test_an_answer_that_was_given_back_is_given_back_by_a_replay(lab: Any) -> None:
    """A replay knows what was shown later; it must not accept what was refused before that."""
    corpus = lab.corpus({"a.txt": "alpha one\n", "b.txt": "beta two\n"})
    span = corpus.partitions().span_at("b.txt", 0).id

    def saying(text: str) -> dict[str, Any]:
        return cell(
            f'SUBMIT(answer="", claims=[{{"text": "{text}", '
            f'"evidence": [{{"span_id": "{span}", "quote": "beta two"}}]}}])'
        )

    look, later = cell('print(search("beta"))'), cell('print(search("nothing"))')
    early, late = saying("beta is two"), saying("beta two it is")
    script = cells(cell('print(search("alpha"))'), early, look, later, late)
    run_id = broken_at(lab, script, 4, corpus, "What is beta?")
    prediction = program(lab, lab.model(ReplAction=script)).resume(run_id, corpus)
    assert [claim.text for claim in prediction.answer.claims] == ["beta two it is"]


def test_a_run_is_resumed_as_it_was_begun_or_not_at_all(lab: Any) -> None:
    corpus = lab.corpus(FILES)
    run_id = broken_at(lab, cells(LOOK, SUBMIT), 2, corpus, ASKED)
    other = lab.model()
    with pytest.raises(RunError) as refused:
        RLM(lm=other.lm(), journal=lab.journal).resume(run_id, corpus)
    assert "repl" in str(refused.value)
    assert refused.value.hint
    assert other.log == []
