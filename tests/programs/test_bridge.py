"""The bridge between code in a sandbox and its run: many runs in one loop, and what is open when a run is given up."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from programs.rlm import RLM
from runtime.journal import Journal
from runtime.models.scripted import Reply
from tests.programs.acting import cell, cells

FILES = {"gate.log": "09:00 ERROR gate 7 was left open by Mara\n"}
ASKED = "Who left gate 7 open?"
LOOK = cell('hits = search("gate 7")["hits"]\nprint(hits)')
SUBMIT = cell(
    'SUBMIT(answer="", claims=[{"text": "Mara left gate 7 open.", '
    '"evidence": [{"span_id": hits[0]["span_id"], "quote": "gate 7 was left open by Mara"}]}])'
)
MANY = 12
"""More runs than the loop's own executor is made to have threads here."""


def test_more_runs_than_threads_of_the_loop_come_to_their_ends(lab: Any) -> None:
    """Each run's code waits in a thread for calls and searches, which need threads too."""
    corpus = lab.corpus(FILES)
    model = lab.model(ReplAction=cells(LOOK, SUBMIT))

    async def all_of_them() -> list[Any]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
        made = [RLM(action_space="repl", lm=model.lm()) for _ in range(MANY)]
        asks = (each.aforward(question=ASKED, corpus=corpus) for each in made)
        return await asyncio.wait_for(asyncio.gather(*asks), 60)

    assert {each.outcome for each in asyncio.run(all_of_them())} == {"answered"}


def test_a_cancelled_run_settles_the_calls_that_were_open(lab: Any) -> None:
    corpus = lab.corpus(FILES)
    began: list[float] = []

    def slow(_request: Any) -> Reply:
        began.append(time.monotonic())
        time.sleep(0.5)
        return Reply({"reply": "well"})

    batch = cell("print(llm_query_batched([str(n) for n in range(30)]))")
    model = lab.model(ReplAction=cells(batch), SubQuery=slow)

    async def cancelled() -> None:
        rlm = RLM(action_space="repl", lm=model.lm(), journal=lab.journal)
        task = asyncio.create_task(rlm.aforward(question=ASKED, corpus=corpus))
        while not began:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    with Journal.open(lab.journal) as journal:
        run = journal.run("last")
        calls = journal.calls(run.record.run_id)
    assert run.status == "interrupted"
    assert "intent" not in {each.status for each in calls}
