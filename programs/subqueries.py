"""Sub-queries: prompts that code writes to a model, each paid, recorded, bounded in size, and alone in its failure."""

import hashlib
from collections import Counter
from collections.abc import Callable

import dspy

from programs.run import Run
from runtime.errors import ContextOverflow, LimitReached, StepError

PROMPT = 200_000
"""Characters of one sub-prompt; a longer one is refused before it is sent."""


class SubQueries:
    """The sub-queries of one frame.

    A failure is raised as an error of DSPy's own, since `dspy.RLM` keeps the other results of a batch only then.
    `replayed` says whether the cell that asks has run to its end before: then nothing is asked, also not what failed.
    """

    def __init__(
        self,
        run: Run,
        frame_id: str,
        predictor: dspy.Predict,
        replayed: Callable[[], bool],
        most: int = PROMPT,
    ) -> None:
        self._run = run
        self._frame_id = frame_id
        self._predictor = predictor
        self._replayed = replayed
        self._most = most
        self._asked: Counter[str] = Counter()

    async def reply(self, prompt: str) -> str:
        """The reply to a prompt. Raises dspy.LMError."""
        if len(prompt) > self._most:
            raise dspy.ContextWindowExceededError(
                message=f"the prompt has {len(prompt):,} characters and the limit of one is {self._most:,}:"
                " nothing was sent; split it, or let `subcall` read the spans"
            )
        key = self._key(prompt)
        if self._replayed():
            self._check_answered(key)
        try:
            found = await self._run.ask(
                self._predictor, {"prompt": prompt}, key=key, leaf=True, frame_id=self._frame_id
            )
        except ContextOverflow as error:
            raise dspy.ContextWindowExceededError(message=f"{error}: split the prompt") from error
        except StepError as error:
            raise dspy.LMUnexpectedError(str(error)) from error
        except LimitReached as error:
            told = self._run.told_limit(error)
            self._run.commit(*self._run.warn(self._frame_id, [("limit", told)]))
            raise dspy.LMUnexpectedError(told) from error
        return found.reply

    def _key(self, prompt: str) -> str:
        """The same prompt for the n-th time: an order that threads cannot change."""
        digest = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()[:16]
        self._asked[digest] += 1
        return f"{self._frame_id}/query/{digest}/{self._asked[digest]}"

    def _check_answered(self, key: str) -> None:
        """Raise again what a query came to that had no reply when its cell ran."""
        made = [each for each in self._run.calls() if each.key.rpartition("#")[0] == key]
        if any(each.status == "done" for each in made):
            return
        error = made[-1].error if made else "it was not sent: a limit was reached"
        raise dspy.LMUnexpectedError(error)
