"""ReAct that was stopped: the conversation is replayed from the journal, whatever kind of tool calls it is made of."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dspy
import pytest
from dspy import lm15

from programs import ReAct
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.models.price import FREE
from runtime.models.request import PromptRequest

FILES = {"a.log": "FACT the valve is open\nnoise\n", "b.log": "nothing\nFACT the pump is off\n"}
ASKED = "What do the logs say as a FACT?"
SAME = ("text", "value", "outcome", "claims", "conflicts", "unknowns", "coverage", "steps")


class Stop(BaseException):
    """Raised in the middle of a run, as an interrupt would be."""


def calls(*made: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """A turn with these calls."""
    listed = [{"name": name, "args": given} for name, given in made]
    return {"next_thought": "So be it.", "tool_calls": {"tool_calls": listed}}


SEARCH = calls(("search", {"pattern": "FACT"}))


def conversation(*turns: dict[str, Any]) -> Callable[[PromptRequest], dict[str, Any]]:
    """A model that takes one turn after the other, then submits each line that the last tool has shown."""

    def respond(request: PromptRequest) -> dict[str, Any]:
        number = sum(message.role == "assistant" for message in request.messages)
        return turns[number] if number < len(turns) else submission(request)

    return respond


def submission(request: PromptRequest) -> dict[str, Any]:
    parts = [part for message in request.messages for part in message.parts]
    last = [part for part in parts if isinstance(part, lm15.ToolResultPart)][-1]
    shown = json.loads("".join(getattr(each, "text", "") for each in last.content))
    claims = [
        {
            "text": f"It says: {hit['text']}",
            "evidence": [{"span_id": hit["span_id"], "quote": hit["text"]}],
            "status": "direct",
            "time": "",
        }
        for hit in shown["hits"]
    ]
    return calls(("submit", {"answer": "", "claims": claims}))


def test_a_run_that_was_stopped_is_replayed_without_asking_again(lab: Any) -> None:
    """At every second commit: typed tool calls and thoughts come back from the journal as they were."""
    corpus = lab.corpus(FILES)
    turns = (
        calls(("count", {"pattern": "FACT"}), ("budget", {})),
        calls(("subcall", {"question": "What is said?", "span_ids": []})),
        SEARCH,
    )
    with Journal.open(None) as journal, ThreadPoolExecutor(1) as thread:

        def made(engine: Any) -> ReAct:
            return ReAct(lm=engine.lm(), journal=journal, limits=Limits(in_flight=1))

        commits: list[int] = []
        journal.on_commit = commits.append
        whole = lab.model(ReactTurn=conversation(*turns))
        expected = made(whole)(question=ASKED, corpus=corpus).answer
        assert expected.outcome == "answered"
        for commit in (1, *range(3, len(commits) + 1, 2)):
            engine = lab.model(ReactTurn=conversation(*turns))
            journal.on_commit = stop_at(journal._database.commits + commit)
            with pytest.raises(Stop):
                made(engine)(question=ASKED, corpus=corpus)
            journal.on_commit = None
            run_id = journal.run("last").record.run_id
            answer = thread.submit(made(engine).resume, run_id, corpus).result().answer
            assert all(getattr(answer, each) == getattr(expected, each) for each in SAME), commit
            assert {each.prompt for each in engine.log} == {each.prompt for each in whole.log}
            assert answer.receipt.calls == journal.usage(run_id).calls
            assert answer.receipt.calls - len(engine.log) in (0, 1)
            keys = [each.key for each in journal.calls(run_id) if each.status == "done"]
            assert len(keys) == len(set(keys))


def stop_at(commit: int) -> Any:
    def stop(number: int) -> None:
        if number == commit:
            raise Stop

    return stop


class Native:
    """An engine that replies by tool calls of its own kind, without a word beside them."""

    supports_function_calling = True
    price = FREE

    def __init__(self, *turns: dict[str, Any]) -> None:
        self.turns = turns
        self.requests: list[Any] = []

    def complete(self, request: Any) -> lm15.Response:
        self.requests.append(request)
        made = conversation(*self.turns)(PromptRequest.parse(request))["tool_calls"]["tool_calls"]
        parts = [
            lm15.ToolCallPart(
                id=f"native{len(self.requests)}.{at}", name=one["name"], input=one["args"]
            )
            for at, one in enumerate(made)
        ]
        message = lm15.Message(role="assistant", parts=tuple(parts))
        usage = lm15.Usage(input_tokens=10, output_tokens=5)
        return lm15.Response(
            id=None, model=request.model, message=message, finish_reason="tool_call", usage=usage
        )


def test_native_tool_calls_are_replayed_too(lab: Any) -> None:
    """Without a thought, which such a reply leaves out: the journal keeps that it was none."""
    corpus = lab.corpus(FILES)
    with Journal.open(None) as journal:

        def made(engine: Native) -> ReAct:
            lm = dspy.LM("spantree/native", engine=engine, cache=False, num_retries=0)
            return ReAct(lm=lm, journal=journal)

        whole = Native(SEARCH)
        commits: list[int] = []
        journal.on_commit = commits.append
        expected = made(whole)(question=ASKED, corpus=corpus).answer
        assert expected.outcome == "answered"
        assert {each.name for each in whole.requests[0].tools} >= {"search", "submit"}
        for commit in range(5, len(commits) + 1, 2):
            engine = Native(SEARCH)
            journal.on_commit = stop_at(journal._database.commits + commit)
            with pytest.raises(Stop):
                made(engine)(question=ASKED, corpus=corpus)
            journal.on_commit = None
            run_id = journal.run("last").record.run_id
            answer = made(engine).resume(run_id, corpus).answer
            assert all(getattr(answer, each) == getattr(expected, each) for each in SAME), commit
            assert answer.receipt.calls - len(engine.requests) in (0, 1)


class Dead(Exception):
    """A process that dies, as far as a test can tell."""


def test_an_answer_that_was_given_back_is_given_back_by_a_replay(lab: Any) -> None:
    """A replay knows what was shown later; it must not accept what was refused before that."""
    corpus = lab.corpus({"a.txt": "alpha one\n", "b.txt": "beta two\n"})
    span = corpus.partitions().span_at("b.txt", 0).id

    def saying(text: str) -> Any:
        evidence = [{"span_id": span, "quote": "beta two"}]
        claim = {"text": text, "evidence": evidence, "status": "direct", "time": ""}
        return calls(("submit", {"answer": "", "claims": [claim]}))

    looks = [calls(("search", {"pattern": each})) for each in ("alpha", "beta", "nothing")]
    script = [looks[0], saying("beta is two"), looks[1], looks[2], saying("beta two it is")]

    def conversation(*, dies: bool) -> Any:
        def respond(request: Any) -> Any:
            number = sum(each.role == "assistant" for each in request.messages)
            if dies and number == 3:
                raise Dead
            return script[number]

        return respond

    with pytest.raises(Dead):
        lab.program(lab.model(ReactTurn=conversation(dies=True)), of=ReAct)(
            question="What is beta?", corpus=corpus
        )
    with Journal.open(lab.journal) as journal:
        run_id = journal.run("last").record.run_id
    going_on = lab.program(lab.model(ReactTurn=conversation(dies=False)), of=ReAct)
    prediction = going_on.resume(run_id, corpus)
    assert [claim.text for claim in prediction.answer.claims] == ["beta two it is"]
