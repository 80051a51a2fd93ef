"""Direct: the whole text before the model in one call, or its head and its tail when it does not fit the window."""

from collections.abc import Sequence
from typing import Any, Unpack

import dspy

from data.span import Span
from programs.base import Program
from programs.baselines.excerpt import Excerpt, spans_of
from programs.baselines.fixed import FixedPlan
from programs.coverage import WINDOW_WARNING
from programs.executor import Executor
from programs.leaf import LeafAnalysis
from programs.pieces import characters
from programs.planning import conclusion
from programs.planning import step as planned_step
from programs.run import Run
from programs.settings import ProgramSettings
from runtime.errors import LimitsError
from runtime.frames import Frame
from runtime.limits import Limits
from runtime.models.window import window_characters
from runtime.observations import Observation
from signatures import PlannedStep

_TOO_MUCH = frozenset(("context_overflow", "truncated"))


class Direct(FixedPlan):
    """Answers from one reading of the whole text by the model of the few large calls.

    `window` is how many characters of text that model is shown at most; None asks its engine, or the model table. What
    does not fit is cut out of the middle, and reported.
    """

    name = "direct"

    def __init__(self, *, window: int | None = None, **settings: Unpack[ProgramSettings]) -> None:
        super().__init__(**settings)
        if window is not None and window < 1:
            raise LimitsError(
                f"the window is {window} characters: nothing could be shown",
                hint="leave it out to use the window of the model",
            )
        self.window = window

    def configuration(self, limits: Limits) -> dict[str, Any]:
        """What is recorded about a run so that it can be resumed the same way."""
        window = self.window or window_characters(reader_lm(self, self.analyze_leaf))
        return {**super().configuration(limits), "window": window}

    def steps(self, run: Run) -> tuple[str, list[PlannedStep]]:
        """Read everything at once, then conclude."""
        read = planned_step("s1", "Read the text", "analyze", query=run.question)
        return "The text is read at once.", [read, conclusion("s2")]

    def executor(self, run: Run) -> Executor:
        """The executor whose analysis is one reading."""
        window = int(run.record.config["window"])
        analyze = OneReading(run, self.analyze_leaf, window)
        return Executor(run, self.analyze_leaf, self.conclude, analyze=analyze)


class OneReading:
    """The analyze action of Direct: one call over as much as fits.

    What the model refuses, or cannot reply to in full, is cut to half of its size, again from the middle, until one
    span is left.
    """

    def __init__(self, run: Run, predictor: dspy.Module, window: int) -> None:
        self._run = run
        self._predictor = predictor
        self._window = window

    async def __call__(self, frame: Frame, step: PlannedStep) -> Observation:
        """What the model says about the text that it could be shown."""
        spans = spans_of(self._run.workspace, frame, step)
        excerpt = Excerpt.of(spans, self._window)
        while True:
            seen = await self._read(frame, step, excerpt)
            smaller = Excerpt.of(spans, characters(excerpt.shown) // 2)
            if seen.error_class not in _TOO_MUCH or len(excerpt.shown) < 2:
                break
            excerpt = smaller
        if excerpt.middle:
            text = excerpt.told(self._held(spans, excerpt))
            self._run.commit(*self._run.warn(frame.id, [(WINDOW_WARNING, text)]))
        return seen

    async def _read(self, frame: Frame, step: PlannedStep, excerpt: Excerpt) -> Observation:
        selection = excerpt.selection(self._run.workspace)
        analysis = LeafAnalysis(self._run, self._predictor, lambda *_: selection, together=True)
        return await analysis(frame, step)

    def _held(self, spans: Sequence[Span], excerpt: Excerpt) -> str:
        """What the model could take: as was known, or as it turned out."""
        if excerpt == Excerpt.of(spans, self._window):
            return f"the model's window holds {self._window}"
        return f"the model took no more than {characters(excerpt.shown)}"


def reader_lm(program: Program, predictor: Any) -> dspy.BaseLM | None:
    """The model that the predictor of a program calls for its few large calls, or None while there is none."""
    own = getattr(predictor, "predict", predictor).lm
    return own or program.main_lm or dspy.settings.lm
