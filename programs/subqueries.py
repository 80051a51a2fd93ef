"""Sub-queries: prompts that code writes to a model, each paid, recorded, bounded in size, and alone in its failure."""

import hashlib
from collections import Counter

import dspy

from programs.run import Run
from runtime.errors import ContextOverflow, LimitReached, StepError
from runtime.frames import Frame

PROMPT = 200_000
"""Characters of one sub-prompt; a longer one is refused before it is sent."""


class SubQueries:
    """The sub-queries of one frame.

    A failure is raised as an error of DSPy's own, since `dspy.RLM` keeps the other results of a batch only then.
    """

    def __init__(self, run: Run, frame: Frame, predictor: dspy.Predict, most: int = PROMPT) -> None:
        self._run = run
        self._frame = frame
        self._predictor = predictor
        self._most = most
        self._asked: Counter[str] = Counter()

    async def reply(self, prompt: str) -> str:
        """The reply to a prompt. Raises dspy.LMError."""
        if len(prompt) > self._most:
            raise dspy.ContextWindowExceededError(
                message=f"the prompt has {len(prompt):,} characters and the limit of one is {self._most:,}:"
                " nothing was sent; split it, or let `subcall` read the spans"
            )
        digest = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()[:16]
        self._asked[digest] += 1
        try:
            found = await self._run.ask(
                self._predictor,
                {"prompt": prompt},
                key=f"{self._frame.id}/query/{digest}/{self._asked[digest]}",
                leaf=True,
                frame_id=self._frame.id,
            )
        except ContextOverflow as error:
            raise dspy.ContextWindowExceededError(message=f"{error}: split the prompt") from error
        except (StepError, LimitReached) as error:
            raise dspy.LMUnexpectedError(str(error)) from error
        return found.reply
