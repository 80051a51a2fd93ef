"""A laboratory for programs: real files, a real journal, and a model that does what a test tells it to."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy
import pytest

from data.corpus import Corpus, open_corpus
from programs import Answer, Program, Recursive
from runtime.calls import CallRecord
from runtime.errors import LimitsError
from runtime.events import Event
from runtime.frames import RunState, Step, fold
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.models.request import PromptRequest
from runtime.models.scripted import EngineCall, Reply, Rule, ScriptedEngine

FACT = "FACT"
"""The word by which the scripted reader knows what to report."""

Handler = Callable[[PromptRequest], Reply | dict[str, Any] | str]


class Words:
    """What a model says, as values of its signatures. Fields that a test does not care about are filled in."""

    @staticmethod
    def step(id: str, action: str, **fields: Any) -> dict[str, Any]:
        """A planned step; it depends on those targets that are steps by their name (s1, s2 ...)."""
        targets = list(fields.pop("targets", ()))
        values = {
            "id": id,
            "description": f"Do {action} as {id}",
            "action": action,
            "patterns": [],
            "query": "",
            "targets": targets,
            "operation": "",
            "depends_on": [each for each in targets if each[:1] == "s" and each[1:].isdigit()],
        }
        return {**values, **fields}

    @staticmethod
    def plan(
        *steps: dict[str, Any], think: str = "Thought of it.", **fields: Any
    ) -> dict[str, Any]:
        return {"think": think, "steps": list(steps), "step_count": len(steps), **fields}

    @staticmethod
    def refine(decision: str = "keep", *steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
        values = {
            "think_next": "As before.",
            "decision": decision,
            "reason": f"Because of {decision}.",
            "steps": list(steps),
            "step_count": len(steps),
        }
        return {**values, **fields}

    @staticmethod
    def leaf(*found: tuple[str, str, str], **fields: Any) -> dict[str, Any]:
        """Claims from (text, span id, quote); claims of one text are one claim."""
        ids: dict[str, str] = {}
        for text, _, _ in found:
            ids.setdefault(text, f"c{len(ids) + 1}")
        claims = [
            {"claim_id": i, "text": t, "status": "direct", "time": ""} for t, i in ids.items()
        ]
        evidence = [{"claim_id": ids[t], "span_id": s, "quote": q} for t, s, q in found]
        values = {"claims": claims, "evidence": evidence, "fields_found": [], "unknowns": []}
        return {**values, "claim_count": len(claims), **fields}

    @staticmethod
    def conclude(*statements: tuple[str, Sequence[str]], **fields: Any) -> dict[str, Any]:
        """Statements from (text, claim ids)."""
        made = [{"text": t, "status": "direct", "claim_ids": list(ids)} for t, ids in statements]
        return {"statements": made, "unknowns": [], "statement_count": len(made), **fields}

    @staticmethod
    def classify(kind: str = "lookup", **fields: Any) -> dict[str, Any]:
        values = {"kind": kind, "requires_all": False, "patterns": [], "reason": "It says so."}
        return {**values, **fields}


@dataclass(frozen=True)
class Ran:
    """A finished run, and everything that is known about it."""

    answer: Answer
    engine: ScriptedEngine
    corpus: Corpus
    events: tuple[Event, ...]
    calls: tuple[CallRecord, ...]

    @property
    def state(self) -> RunState:
        return fold(self.events)

    def asked(self, signature: str) -> list[EngineCall]:
        """The calls of one signature that reached the engine."""
        return [call for call in self.engine.log if call.signature == signature]

    def step(self, name: str) -> Step:
        """A step by `frame/step`, or by its id in the root frame."""
        frame, _, id = name.rpartition("/")
        found = self.state.frames[frame or "root"].step(id)
        assert found is not None, f"no step {name}"
        return found

    def statuses(self, frame: str = "root") -> dict[str, str]:
        return {step.id: step.status for step in self.state.frames[frame].steps}

    @property
    def warned(self) -> list[str]:
        """The codes of the warnings."""
        return [warning.code for warning in self.state.warnings]


@dataclass
class Lab:
    """Corpora in a temporary folder, scripted models, and runs over them: of the recursive program, or `of` another."""

    folder: Path
    say: type[Words] = Words
    corpora: int = 0

    @staticmethod
    def facts(request: PromptRequest) -> dict[str, Any]:
        """A faithful reader: every line with the word FACT, quoted as it stands."""
        found = [
            (f"It says: {line.strip()}", span["span_id"], line.strip())
            for span in request.value("spans", [])
            for line in span["text"].splitlines()
            if FACT in line
        ]
        return Words.leaf(*found)

    @staticmethod
    def restated(request: PromptRequest) -> dict[str, Any]:
        """A faithful writer: one statement a claim."""
        claims = request.value("claims", [])
        return Words.conclude(*((claim["text"], [claim["claim_id"]]) for claim in claims))

    @property
    def journal(self) -> Path:
        return self.folder / "runs.db"

    def corpus(self, files: Mapping[str, str | bytes]) -> Corpus:
        """A corpus of these files."""
        self.corpora += 1
        root = self.folder / f"corpus{self.corpora}"
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return open_corpus([root], store=self.folder / "store")

    def model(
        self,
        *rules: Rule,
        steps: Sequence[dict[str, Any]] | None = None,
        kind: str = "lookup",
        patterns: Sequence[str] = (),
        requires_all: bool = False,
        **handlers: Handler | Reply | dict[str, Any] | str,
    ) -> ScriptedEngine:
        """A model that answers each signature by its handler; by default it reads and writes faithfully."""
        say = self.say
        planned = (
            steps if steps is not None else [say.step("s1", "analyze"), say.step("s2", "conclude")]
        )
        answers: dict[str, Handler | Reply | dict[str, Any] | str] = {
            "ClassifyQuestion": say.classify(
                kind, patterns=list(patterns), requires_all=requires_all
            ),
            "Plan": say.plan(*planned),
            "Refine": say.refine(),
            "AnalyzeLeaf": self.facts,
            "Conclude": self.restated,
            **handlers,
        }

        def respond(request: PromptRequest) -> Reply | dict[str, Any] | str:
            answer = answers[str(request.signature)]
            return answer(request) if callable(answer) else answer

        return ScriptedEngine(rules=rules, respond=respond)

    def program(
        self, engine: ScriptedEngine, *, of: type[Program] = Recursive, **settings: Any
    ) -> Any:
        return of(lm=engine.lm(), journal=self.journal, **settings)

    def ask(
        self,
        engine: ScriptedEngine,
        corpus: Corpus,
        question: str = "What are the facts?",
        **settings: Any,
    ) -> Ran:
        """Run to the end, and check what holds for every run whatever the model does."""
        seen = len(engine.log)
        prediction = self.program(engine, **settings)(question=question, corpus=corpus)
        ran = self.ran(prediction, engine, corpus)
        check_citations(ran.answer, corpus)
        check_receipt(ran.answer, engine.log[seen:])
        check_limits(ran, settings.get("limits") or Limits())
        assert ran.state.stack == ()
        return ran

    def ran(self, prediction: dspy.Prediction, engine: ScriptedEngine, corpus: Corpus) -> Ran:
        """What the journal knows of a run."""
        with Journal.open(self.journal) as journal:
            run_id = prediction.answer.run_id
            assert journal.run(run_id).status == "finished"
            events, calls = journal.events(run_id), journal.calls(run_id)
        return Ran(prediction.answer, engine, corpus, tuple(events), tuple(calls))

    def runs(self) -> list[str]:
        """The statuses of all runs in the journal."""
        with Journal.open(self.journal) as journal:
            return [run.status for run in journal.runs()]

    def refused(self, engine: ScriptedEngine, corpus: Corpus, **settings: Any) -> LimitsError:
        """Why limits are too small to start: no call is made, and no run is left behind."""
        with pytest.raises(LimitsError) as refused:
            self.program(engine, **settings)(question="What are the facts?", corpus=corpus)
        assert refused.value.hint
        assert engine.log == []
        assert self.runs() == []
        return refused.value


def check_citations(answer: Answer, corpus: Corpus) -> None:
    """No unverified citation in any answer, and no claim that stands without one."""
    for claim in answer.claims:
        for cited in claim.citations:
            assert cited.verified
            assert corpus.slice(cited.source, cited.start, cited.end) == cited.quote
            assert cited.verdict in ("verbatim", "reflowed", "repeated")
            assert corpus.line_of(cited.source, cited.start) == cited.line_start
        assert claim.citations or claim.computed or claim.status == "insufficient"


def check_receipt(answer: Answer, log: Iterable[EngineCall]) -> None:
    """The receipt is what the engine itself has seen."""
    calls = list(log)
    receipt = answer.receipt
    assert receipt.calls == len(calls)
    assert receipt.failed_calls == sum(call.state == "failed" for call in calls)
    assert receipt.input_tokens == sum(call.input_tokens for call in calls)
    assert receipt.output_tokens == sum(call.output_tokens for call in calls)


def check_limits(ran: Ran, limits: Limits) -> None:
    """The shape of a run is within its limits."""
    frames = ran.state.frames.values()
    assert len(frames) <= limits.frames
    assert max(frame.depth for frame in frames) <= limits.depth
    for frame in frames:
        executed = [step for step in frame.steps if step.status not in ("skipped", "pending")]
        assert len(executed) <= limits.steps_per_frame
        asked = sum(refined.called_model for refined in frame.refinements)
        assert asked <= limits.refinements_per_frame
    if limits.calls is not None:
        assert ran.answer.receipt.calls <= limits.calls


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


@pytest.fixture
def say() -> type[Words]:
    return Words
