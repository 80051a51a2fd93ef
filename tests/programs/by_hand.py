"""A program whose tool calls a test writes down: the toolbox by hand, in real runs over real corpora."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import dspy

from programs.base import Program
from programs.classification import signaled
from programs.ending import begin, end_frame
from programs.run import Run
from programs.tools.submission import submitted
from programs.tools.tool import step_of
from programs.tools.toolbox import Toolbox
from runtime.events import Accessed, Acted, StepCommitted
from runtime.frames import Frame, Step
from runtime.observations import Concluded
from signatures import AnalyzeLeaf, EvidenceRef, LeafClaim

Evidence = Sequence[tuple[str, str]]
"""Span ids with quotes, or claim ids with nothing."""


class Hand:
    """Drives the toolbox in one frame: each call is the next turn."""

    def __init__(self, run: Run, toolbox: Toolbox, frame_id: str = "root") -> None:
        self.run = run
        self.toolbox = toolbox
        self.frame_id = frame_id
        self.turn = 0
        self.outputs: list[Any] = []

    @property
    def frame(self) -> Frame:
        return self.run.state.frames[self.frame_id]

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        """The output of a call; None when a frame was pushed for it."""
        self.turn += 1
        output = await self.toolbox.call(
            self.frame,
            turn=self.turn,
            step_id=f"t{self.turn}",
            think=f"thought {self.turn}",
            tool=tool,
            arguments=arguments,
        )
        self.outputs.append(output)
        return output

    def step(self, id: str = "") -> Step:
        """A step by its id; the one of the last call without."""
        found = self.frame.step(id or f"t{self.turn}")
        assert found is not None
        return found

    @property
    def access(self) -> Accessed:
        """What the last call read and showed."""
        last = self.run.state.accessed[-1]
        assert (last.frame_id, last.step_id) == (self.frame_id, f"t{self.turn}")
        return last

    def below(self) -> "Hand":
        """The hand in the frame that the last call pushed."""
        return Hand(self.run, self.toolbox, f"{self.frame_id}.t{self.turn}")

    def submit(
        self, answer: str = "", *claims: tuple[str, Evidence], **fields: Any
    ) -> tuple[Concluded, list[tuple[str, str]]]:
        """Submit claims with their evidence; returns what was made of it, and the warnings."""
        flat = [
            LeafClaim.model_validate(
                {"claim_id": f"c{n}", "text": text, "status": "direct", "time": "", **fields}
            )
            for n, (text, _) in enumerate(claims, 1)
        ]
        refs = [
            EvidenceRef(claim_id=f"c{n}", span_id=span_id, quote=quote)
            for n, (_, evidence) in enumerate(claims, 1)
            for span_id, quote in evidence
        ]
        return self.submit_as(answer, flat, refs)

    def submit_as(
        self, answer: str, claims: Sequence[LeafClaim], evidence: Sequence[EvidenceRef]
    ) -> tuple[Concluded, list[tuple[str, str]]]:
        """The same, with everything said."""
        self.turn += 1
        id = f"t{self.turn}"
        seen, warnings = submitted(
            self.run,
            self.frame,
            answer=answer,
            claims=claims,
            evidence=evidence,
            key=f"{self.frame_id}/{id}",
        )
        step = step_of(id, "submit", "conclude")
        self.run.commit(
            Acted(frame_id=self.frame_id, turn=self.turn, think="", tool="submit", arguments={}, step=step),
            StepCommitted(frame_id=self.frame_id, step_id=id, status="completed", observation=seen, seconds=0.0),
            *self.run.warn(self.frame_id, warnings),
        )  # fmt: skip
        assert isinstance(seen.payload, Concluded)
        return seen.payload, warnings

    def end(self) -> None:
        """End the frame with what it came to."""
        end_frame(self.run, self.frame)


Script = Callable[[Hand], Awaitable[None]]


class ByHand(Program):
    """Carries out what a script does, then ends the run."""

    name = "by_hand"
    min_calls = 0

    def __init__(self, script: Script, **settings: Any) -> None:
        super().__init__(**settings)
        self.script = script
        self.analyze_leaf = dspy.Predict(AnalyzeLeaf)

    async def work(self, run: Run) -> None:
        if run.state.classified is None:
            begin(run, *await signaled(run))
        hand = Hand(run, Toolbox(run, self.analyze_leaf))
        await self.script(hand)
        for event in run.state.accessed:
            check_access(run, event)
        if run.state.finished is None:
            hand.end()


def play(
    lab: Any, corpus: Any, script: Script, question: str = "What is it?", **settings: Any
) -> Any:
    """A run of a script to its end."""
    engine = settings.pop("engine", None) or lab.model()
    program = ByHand(script, lm=engine.lm(), journal=lab.journal, **settings)
    return lab.ran(program(question=question, corpus=corpus), engine, corpus)


def check_access(run: Run, event: Accessed) -> None:
    """What holds for every access: exact stretches in order, each character once."""
    last = ("", 0)
    for place in event.shown:
        assert (place.source, place.start) >= last
        assert 0 <= place.start < place.end <= run.workspace.corpus.source(place.source).characters
        last = (
            (place.source, place.end + 1) if place.source == last[0] else (place.source, place.end)
        )
    assert event.shown_characters == sum(place.end - place.start for place in event.shown)
    assert event.shown_characters <= event.read_characters or event.tool == "subcall"


def size(output: Any) -> int:
    return len(json.dumps(output, ensure_ascii=False))
