"""`dspy.RLM` itself, driven by a script, on a guarded sandbox."""

import asyncio
import logging
from typing import Any

import dspy
import pytest

from runtime.errors import LimitReached, RunCancelled
from runtime.limits import Limits
from runtime.models.scripted import ScriptedEngine
from runtime.sandbox import Cell, guarded, quiet_rlm, sandbox_factory

LIMITS = Limits(sandbox_seconds=1)


class Study:
    """An RLM with one tool, `lookup`, and the cells that the script makes it run."""

    def __init__(self, *cells: str, lookup: Any = None, last: str | None = None) -> None:
        script = [*cells, *([last] if last else [])]
        self.engine = ScriptedEngine(
            replies=[{"reasoning": "r", "code": f"```python\n{cell}\n```"} for cell in script]
        )
        self.cells: list[Cell] = []
        self.asked: list[str] = []
        self.rlm = dspy.RLM(
            "question -> answer",
            tools=[dspy.Tool(lookup or self.lookup, name="lookup")],
            interpreter_factory=guarded(
                sandbox_factory("monty", LIMITS), LIMITS, self.cells.append
            ),
        )

    def lookup(self, key: str) -> str:
        """Look a key up."""
        self.asked.append(key)
        return f"value of {key}"

    def answer(self) -> dspy.Prediction:
        with dspy.context(lm=self.engine.lm()), quiet_rlm():
            return self.rlm(question="why?")

    def outputs(self, prediction: dspy.Prediction) -> list[str]:
        return [entry["output"] for entry in prediction.trajectory]


SUBMIT = "SUBMIT(answer=found)"


def test_it_reaches_an_answer_with_a_tool() -> None:
    study = Study("found = lookup(key='a')\nprint(found, question)", SUBMIT)
    prediction = study.answer()
    assert prediction.answer == "value of a"
    assert study.asked == ["a"]
    assert study.outputs(prediction)[0] == "value of a why?"
    first, last = study.cells
    assert (first.tool_calls, first.output_characters, first.reset) == (1, 16, False)
    assert (last.code, last.error) == (SUBMIT, "")


def test_it_asks_a_sub_model_and_counts_that_as_a_call() -> None:
    study = Study("found = llm_query('what?')", SUBMIT)
    sub = ScriptedEngine(respond=lambda request: "a reply")
    study.rlm.sub_lm = sub.lm()
    assert study.answer().answer == "a reply"
    assert study.cells[0].tool_calls == 1
    assert len(sub.log) == 1


@pytest.mark.parametrize(
    "cell",
    [
        "found = lookup(key='a')\nSUBMIT(answer=found)",
        "found = llm_query('what?')\nSUBMIT(answer=found)",
        "found = 'x'\nprint(found)\nSUBMIT(answer=found)",
    ],
)
def test_an_answer_beside_unseen_output_is_given_back(cell: str) -> None:
    study = Study(cell, SUBMIT)
    study.rlm.sub_lm = ScriptedEngine(respond=lambda request: "a reply").lm()
    prediction = study.answer()
    refused = study.outputs(prediction)[0]
    assert "NOT accepted" in refused
    assert "variables are kept" in refused
    assert len(prediction.trajectory) == 2
    assert study.cells[0].error == "answer not accepted"


def test_a_killed_cell_is_told_and_survived() -> None:
    study = Study("found = 'lost'\nwhile True: pass", SUBMIT, "found = 'again'", SUBMIT)
    prediction = study.answer()
    assert prediction.answer == "again"
    killed, forgotten = study.outputs(prediction)[:2]
    assert "more than 1 s" in killed
    assert "variables, functions and imports that you defined are gone" in killed
    assert "NameError" in forgotten
    assert [cell.reset for cell in study.cells] == [True, False, False, False]


def test_sub_agents_are_refused_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    study = Study("import dspy", "SUBMIT(answer='done')")
    dspy_logger = logging.getLogger("dspy")
    dspy_logger.addHandler(caplog.handler)
    try:
        prediction = study.answer()
    finally:
        dspy_logger.removeHandler(caplog.handler)
    assert "ModuleNotFoundError" in study.outputs(prediction)[0]
    assert "sub-agents are unavailable" not in caplog.text
    prompt = study.engine.log[0].prompt
    assert "There are no dspy sub-agents" in prompt
    assert "Sub-agents (dspy)" not in prompt


def test_without_the_block_the_warning_is_there(caplog: pytest.LogCaptureFixture) -> None:
    study = Study("SUBMIT(answer='done')")
    logger = logging.getLogger("dspy.predict.rlm")
    logger.addHandler(caplog.handler)
    try:
        with dspy.context(lm=study.engine.lm()):
            study.rlm(question="why?")
    finally:
        logger.removeHandler(caplog.handler)
    assert "sub-agents are unavailable on Guarded" in caplog.text
    assert logger.filters == []


def test_the_model_is_told_what_it_runs_on() -> None:
    study = Study("SUBMIT(answer='done')")
    study.answer()
    prompt = study.engine.log[0].prompt
    for told in (
        "Monty",
        "1 s of its own",
        "256 MB",
        "are gone then",
        "clock stands still",
    ):
        assert told in prompt


@pytest.mark.parametrize("ending", [LimitReached("calls", 1, 1), RunCancelled("stop")])
def test_code_cannot_hide_the_end_of_the_run(ending: Exception) -> None:
    def lookup(key: str) -> str:
        raise ending

    study = Study("try: lookup(key='a')\nexcept BaseException: pass", SUBMIT, lookup=lookup)
    with pytest.raises(type(ending)):
        study.answer()
    assert len(study.engine.log) == 1


def test_a_failed_tool_is_an_observation() -> None:
    def lookup(key: str) -> str:
        raise LookupError(f"no {key} here")

    study = Study("lookup(key='a')", "SUBMIT(answer='none')", lookup=lookup)
    assert "LookupError: no a here" in study.outputs(study.answer())[0]


def test_an_asynchronous_tool_works_in_the_event_loop() -> None:
    async def lookup(key: str) -> str:
        await asyncio.sleep(0)
        return f"later {key}"

    study = Study("found = lookup(key='a')", SUBMIT, lookup=lookup)

    async def run() -> dspy.Prediction:
        with dspy.context(lm=study.engine.lm()), quiet_rlm():
            return await study.rlm.acall(question="why?")

    assert asyncio.run(run()).answer == "later a"
