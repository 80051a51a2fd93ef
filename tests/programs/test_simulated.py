"""Simulated runs: the embedded reader with measured weaknesses; each run ends in an outcome that is true."""

from dataclasses import fields
from typing import Any

import dspy
import pytest

from runtime.limits import Limits
from runtime.models.extractive.engine import ExtractiveEngine
from runtime.models.request import PromptRequest
from runtime.models.scripted import AsyncSide
from runtime.models.simulated import SimulatedEngine, Weaknesses

LOG = "".join(
    f"2026-03-02 08:{n // 60:02}:{n % 60:02} {'ERROR disk sda failed' if n % 40 == 7 else 'INFO all is well'} {n}\n"
    for n in range(240)
)
FILES = {
    "app.log": LOG,
    "db.log": LOG.replace("sda", "sdb"),
    "net.log": LOG.replace("disk sda", "link eth0"),
}
QUESTIONS = {
    "count": 'How many lines mention "disk sda failed"?',
    "existence": 'Is there any line that mentions "kernel panic"?',
    "list": "List all links that failed.",
    "lookup": "Which disk failed in app.log?",
    "timeline": "How did the disk failures evolve from start to end?",
}


class Recorded:
    """An engine with a log of its own, so that the receipt can be compared with what really happened."""

    def __init__(self, weaknesses: Weaknesses) -> None:
        self.inner = SimulatedEngine(ExtractiveEngine(), weaknesses)
        self.fell: list[str] = []
        self.log: list[Any] = []
        self.price = self.inner.price

    async def acomplete(self, request: Any) -> Any:
        known = len(self.log)
        self.log.append(None)
        try:
            response = await self.inner.acomplete(request)
        except Exception as error:
            self.fell.append(type(error).__name__)
            self.log[known] = (0, 0, True)
            raise
        self._judge(request, response)
        self.log[known] = (response.usage.input_tokens, response.usage.output_tokens, False)
        return response

    def lm(self) -> dspy.LM:
        settings: dict[str, Any] = {"num_retries": 0, "cache": False}
        return dspy.LM(
            "spantree/simulated", engine=self.inner, async_engine=AsyncSide(self), **settings
        )

    def _judge(self, request: Any, response: Any) -> None:
        clean = ExtractiveEngine().complete(request)
        if response.finish_reason == "length":
            self.fell.append("truncated")
        elif (response.message.text or "").startswith("Here is what I found"):
            self.fell.append("malformed")
        elif response.message.text != clean.message.text:
            self.fell.append("weakened")
        assert PromptRequest.parse(request).signature


GRID: list[Any] = [
    pytest.param({"recall": 0.4}, {"weakened"}, id="recall"),
    pytest.param({"half_length": 4000}, {"weakened"}, id="long prompts"),
    pytest.param({"middle": 0.9}, {"weakened"}, id="lost in the middle"),
    pytest.param({"invented": 0.8}, {"weakened"}, id="invented"),
    pytest.param({"malformed": 0.5}, {"malformed"}, id="malformed"),
    pytest.param({"truncated": 0.5}, {"truncated"}, id="truncated"),
    pytest.param({"rate_limit": 0.4}, {"RateLimitError"}, id="rate limited"),
    pytest.param({"timeout": 0.4}, {"TimeoutError"}, id="timeouts"),
    pytest.param(
        {"recall": 0.7, "invented": 0.3, "malformed": 0.2, "truncated": 0.2, "timeout": 0.2},
        {"malformed", "truncated", "weakened"},
        id="all at once",
    ),
]


@pytest.mark.parametrize(("weak", "expected"), GRID)
def test_a_weak_model_ends_every_question_in_an_outcome_that_is_true(
    lab: Any, weak: dict[str, Any], expected: set[str]
) -> None:
    """95 to 97, 99: faults are injected and seeded; one that never fires proves nothing, so that is an error."""
    corpus = lab.corpus(FILES)
    fell: set[str] = set()
    for kind, question in QUESTIONS.items():
        engine = Recorded(Weaknesses(seed=7, **weak))
        program = lab.program(lab.model(), limits=Limits(calls=120))
        program.main_lm = engine.lm()
        answer = program(question=question, corpus=corpus).answer
        fell |= set(engine.fell)
        check_truth(kind, answer, corpus)
        assert answer.receipt.calls == len(engine.log) <= 120
        assert answer.receipt.input_tokens == sum(each[0] for each in engine.log)
        assert answer.receipt.output_tokens == sum(each[1] for each in engine.log)
        assert answer.receipt.failed_calls == sum(each[2] for each in engine.log)
    assert expected <= fell, f"a fault never fired: {expected - fell}"


def check_truth(kind: str, answer: Any, corpus: Any) -> None:
    """Nothing that is said is false, whatever the model did: it may only be less."""
    for claim in answer.claims:
        for cited in claim.citations:
            assert corpus.slice(cited.source, cited.start, cited.end) == cited.quote
    reach = answer.coverage
    if kind == "count":
        assert answer.value == LOG.count("disk sda failed")
        assert answer.outcome in ("answered", "partial")
    if kind == "existence":
        assert answer.outcome in ("not_found", "not_found_in_covered", "partial")
        assert answer.claims == () or all(claim.computed for claim in answer.claims)
    if answer.outcome == "not_found":
        assert reach.ratio == 1.0
    if answer.outcome == "answered":
        assert not reach.failed
        assert not reach.unread


def test_without_weaknesses_the_same_questions_are_answered(lab: Any) -> None:
    """97: the parts that are simulated are proved one by one against the whole."""
    corpus = lab.corpus(FILES)
    outcomes = {}
    for kind, question in QUESTIONS.items():
        program = lab.program(lab.model())
        program.main_lm = SimulatedEngine(ExtractiveEngine(), Weaknesses()).lm()
        outcomes[kind] = program(question=question, corpus=corpus).answer.outcome
    assert outcomes == {
        "count": "answered",
        "existence": "not_found",
        "list": "answered",
        "lookup": "answered",
        "timeline": "answered",
    }


def test_the_same_seed_gives_the_same_run(lab: Any) -> None:
    """96: controllable; what failed once fails again in the same place."""
    corpus = lab.corpus(FILES)

    def run(seed: int) -> list[Any]:
        program = lab.program(lab.model(), limits=Limits(in_flight=1))
        weak = Weaknesses(seed=seed, recall=0.5, malformed=0.3)
        program.main_lm = SimulatedEngine(ExtractiveEngine(), weak).lm()
        answer = program(question=QUESTIONS["list"], corpus=corpus).answer
        return [answer.text, answer.coverage, [step.status for step in answer.steps]]

    assert run(3) == run(3)


def test_every_weakness_is_in_the_grid() -> None:
    """99: a new weakness needs a run that shows it."""
    shown = {name for case in GRID for name in case.values[0]}
    assert shown == {field.name for field in fields(Weaknesses)} - {"seed", "latency"}
