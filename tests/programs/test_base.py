"""The interface of the programs: a DSPy module, callable from anywhere, that holds predictors and configuration."""

import asyncio
import copy
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dspy
import pytest

from programs import Recursive
from programs.base import Program
from programs.baselines.fixed import FixedPlan
from runtime.errors import ModelError
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.models.scripted import Rule

TWO = {"a.txt": "FACT the valve is open\nnoise\n", "b.txt": "nothing\nFACT the pump is off\n"}
QUESTION = "What are the facts?"
PREDICTORS = ["classify", "plan", "refine", "analyze_leaf", "conclude"]


def test_a_prediction_has_an_answer_an_outcome_and_a_run(lab: Any) -> None:
    engine, corpus = lab.model(), lab.corpus(TWO)
    prediction = lab.program(engine)(question=f"  {QUESTION}\n", corpus=corpus)
    assert prediction.outcome == prediction.answer.outcome == "answered"
    assert prediction.run_id == prediction.answer.run_id
    assert prediction.answer.question == QUESTION
    assert prediction.answer.corpus_version == corpus.version
    assert json.loads(json.dumps(prediction.answer.to_json()))["receipt"]["calls"] == len(
        engine.log
    )


def test_the_asynchronous_call_does_the_same(lab: Any) -> None:
    engine, corpus = lab.model(), lab.corpus(TWO)
    program = lab.program(engine)
    first = program(question=QUESTION, corpus=corpus).answer
    second = asyncio.run(program.acall(question=QUESTION, corpus=corpus)).answer
    assert (first.text, first.coverage) == (second.text, second.coverage)


def test_it_can_be_called_inside_a_running_loop(lab: Any) -> None:
    """DESIGN 3: a notebook; settings and trace are those of the caller."""
    engine, corpus = lab.model(), lab.corpus(TWO)

    async def cell() -> tuple[Any, int]:
        with dspy.context(lm=engine.lm(), trace=[]):
            program = Recursive(journal=lab.journal)
            made = program(question=QUESTION, corpus=corpus)
            return made.answer, len(dspy.settings.trace)

    answer, traced = asyncio.run(cell())
    assert answer.outcome == "answered"
    assert traced == len(engine.log)


def test_several_can_be_awaited_in_one_loop(lab: Any) -> None:
    engine, corpus = lab.model(), lab.corpus(TWO)
    program = lab.program(engine)

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(
            *(program.acall(question=f"{QUESTION} {n}", corpus=corpus) for n in range(4))
        )

    made = asyncio.run(all_of_them())
    assert [each.answer.question for each in made] == [f"{QUESTION} {n}" for n in range(4)]
    assert sum(each.answer.receipt.calls for each in made) == len(engine.log)
    assert len({each.run_id for each in made}) == 4


def test_threads_keep_their_own_settings(lab: Any) -> None:
    """DESIGN 3: an optimizer's threads; each thread's LM and trace are its own."""
    engines = [lab.model() for _ in range(4)]
    corpus = lab.corpus(TWO)
    program = Recursive(journal=lab.journal)
    barrier = threading.Barrier(4)

    def work(n: int) -> tuple[Any, int]:
        with dspy.context(lm=engines[n].lm(), trace=[]):
            barrier.wait()
            answer = program(question=f"{QUESTION} {n}", corpus=corpus).answer
            return answer, len(dspy.settings.trace)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(4)))
    for n, (answer, traced) in enumerate(results):
        assert answer.question == f"{QUESTION} {n}"
        assert answer.receipt.calls == traced == len(engines[n].log)


def test_it_runs_under_dspys_own_parallel(lab: Any) -> None:
    engine, corpus = lab.model(), lab.corpus(TWO)
    program = Recursive(journal=lab.journal)
    with dspy.context(lm=engine.lm()):
        made = dspy.Parallel(num_threads=2, disable_progress_bar=True)(
            [(program, {"question": f"{QUESTION} {n}", "corpus": corpus}) for n in range(3)]
        )
    assert [each.answer.question for each in made] == [f"{QUESTION} {n}" for n in range(3)]


def test_usage_that_dspy_tracks_is_that_of_the_receipt(lab: Any) -> None:
    """DESIGN 2, 3: one truth about tokens, also with a retry in it."""
    engine, corpus = lab.model(), lab.corpus(TWO)
    with dspy.track_usage() as tracker:
        receipt = lab.program(engine)(question=QUESTION, corpus=corpus).answer.receipt
    totals = tracker.get_total_tokens()["spantree/scripted"]
    assert totals["prompt_tokens"] == receipt.input_tokens
    assert totals["completion_tokens"] == receipt.output_tokens


def test_the_trace_has_every_accepted_call_by_its_predictor(lab: Any) -> None:
    engine, corpus = lab.model(), lab.corpus(TWO)
    program = lab.program(engine)
    with dspy.context(trace=[]):
        program(question=QUESTION, corpus=corpus)
        traced = list(dspy.settings.trace)
    names = {id(predictor): name for name, predictor in program.named_predictors()}
    assert [names[id(predictor)] for predictor, _, _ in traced] == [
        "classify",
        "plan",
        "analyze_leaf",
        "analyze_leaf",
        "refine",
        "conclude",
    ]
    inputs = next(inputs for predictor, inputs, _ in traced if names[id(predictor)] == "plan")
    assert inputs["task"] == QUESTION


def test_predictors_are_few_and_the_same_before_and_after(lab: Any) -> None:
    """DESIGN 3: created once; optimizers see all of them, and no run adds one."""
    program = lab.program(lab.model())
    before = program.named_predictors()
    program(question=QUESTION, corpus=lab.corpus(TWO))
    after = program.named_predictors()
    assert [name for name, _ in before] == PREDICTORS
    assert [id(each) for _, each in before] == [id(each) for _, each in after]


def test_a_call_leaves_nothing_in_the_module(lab: Any) -> None:
    """DESIGN 3: each call makes a fresh run."""
    program = lab.program(lab.model())
    before = dict(vars(program))
    first = program(question=QUESTION, corpus=lab.corpus(TWO))
    second = program(question=QUESTION, corpus=lab.corpus(TWO))
    kept = {name: value for name, value in vars(program).items() if name != "history"}
    assert kept == {name: value for name, value in before.items() if name != "history"}
    assert first.run_id != second.run_id


def test_state_is_saved_as_json_and_loaded_again(lab: Any, tmp_path: Path) -> None:
    """Field report 51: no pickle; prompts and demos come back; no document text in it."""
    program: Any = lab.program(lab.model())
    program.conclude.signature = program.conclude.signature.with_instructions("Be brief.")
    program.plan.demos = [dspy.Example(task="t", think="th")]
    program(question=QUESTION, corpus=lab.corpus(TWO))
    path = tmp_path / "program.json"
    program.save(path)
    saved = path.read_text(encoding="utf-8")
    assert "valve" not in saved
    assert sorted(json.loads(saved)) == sorted([*PREDICTORS, "metadata"])

    fresh = lab.program(lab.model())
    fresh.load(path)
    assert fresh.conclude.signature.instructions == "Be brief."
    assert fresh.plan.demos[0]["think"] == "th"
    assert fresh.dump_state() == program.dump_state()


@pytest.mark.parametrize("how", ["deepcopy", "method", "reset_copy"])
def test_a_copy_is_independent_and_uses_the_same_journal_and_model(
    lab: Any, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    """DESIGN 3: an optimizer copies the program many times; a journal and an engine are handles, not state."""
    engine, corpus = lab.model(), lab.corpus(TWO)
    with Journal.open(lab.journal) as journal:
        program: Any = Recursive(lm=engine.lm(), journal=journal, limits=Limits(calls=50))
        program.plan.demos = [dspy.Example(task="t")]
        copied: Any = {
            "deepcopy": lambda: copy.deepcopy(program),
            "method": program.deepcopy,
            "reset_copy": program.reset_copy,
        }[how]()
        assert "falling back" not in caplog.text
        copied.conclude.signature = copied.conclude.signature.with_instructions("Be brief.")
        assert program.conclude.signature.instructions != "Be brief."
        assert copied.journal is journal
        assert copied.limits == program.limits
        assert len(copied.plan.demos) == (0 if how == "reset_copy" else 1)
        answer = copied(question=QUESTION, corpus=corpus).answer
        assert answer.receipt.calls == len(engine.log) > 0
        assert journal.run(answer.run_id).status == "finished"


def test_rewritten_instructions_reach_the_prompt(lab: Any) -> None:
    engine = lab.model()
    program = lab.program(engine)
    program.plan.signature = program.plan.signature.with_instructions("Plan like a pirate.")
    program(question=QUESTION, corpus=lab.corpus(TWO))
    asked = {call.signature: call.prompt for call in engine.log}
    assert "Plan like a pirate." in asked["Plan"]
    assert "Plan like a pirate." not in asked["Conclude"]


def test_leaves_can_have_a_model_of_their_own(lab: Any) -> None:
    main, leaf, corpus = lab.model(), lab.model(), lab.corpus(TWO)
    program = Recursive(lm=main.lm("spantree/main"), leaf_lm=leaf.lm("spantree/leaf"))
    receipt = program(question=QUESTION, corpus=corpus).answer.receipt
    assert {call.signature for call in leaf.log} == {"AnalyzeLeaf"}
    assert "AnalyzeLeaf" not in {call.signature for call in main.log}
    assert (receipt.model, receipt.leaf_model) == ("main", "leaf")
    assert receipt.calls == len(main.log) + len(leaf.log)


def test_the_chat_adapter_works_as_well(lab: Any) -> None:
    engine, corpus = lab.model(), lab.corpus(TWO)
    with dspy.context(adapter=dspy.ChatAdapter()):
        ran = lab.ask(engine, corpus)
    assert ran.answer.outcome == "answered"
    assert len(ran.answer.claims) == 2


def test_without_a_model_the_user_is_told_and_no_run_is_left(lab: Any) -> None:
    """DESIGN 7."""
    with pytest.raises(ModelError) as refused:
        Recursive(journal=lab.journal)(question=QUESTION, corpus=lab.corpus(TWO))
    assert "--model" in refused.value.hint
    assert lab.runs() == []


@pytest.mark.parametrize("fault", ["auth", "billing", "unknown_model"])
def test_a_mistake_of_the_user_ends_the_run_so_that_it_can_be_resumed(lab: Any, fault: Any) -> None:
    """DESIGN 7: credentials are no outcome that a plan could react to."""
    engine, corpus = lab.model(Rule(signature="AnalyzeLeaf", error=fault)), lab.corpus(TWO)
    with pytest.raises(ModelError) as refused:
        lab.program(engine)(question=QUESTION, corpus=corpus)
    assert refused.value.hint
    assert lab.runs() == ["interrupted"]


def test_a_bug_is_raised_and_is_no_observation(lab: Any) -> None:
    """DESIGN 4: an internal bug is never caught on the way up; the run can be resumed."""

    def broken(request: Any) -> Any:
        raise ZeroDivisionError("a bug of the engine")

    engine, corpus = lab.model(AnalyzeLeaf=broken), lab.corpus(TWO)
    with pytest.raises(ZeroDivisionError):
        lab.program(engine)(question=QUESTION, corpus=corpus)
    assert lab.runs() == ["interrupted"]


@pytest.mark.parametrize(("base", "lacks"), [(Program, "work"), (FixedPlan, "steps")])
def test_a_program_that_does_not_say_how_it_works_cannot_be_made(
    base: type[Program], lacks: str
) -> None:
    with pytest.raises(TypeError, match=lacks):
        base()
