"""Proposals: the calls by which an optimizer has new instructions written, each recorded before it is answered.

DIR/proposals.jsonl has one Proposal a line. An optimizer that is run again is given the recorded replies, in the order
in which the same request was made before.
"""

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import dspy
from dspy import lm15
from dspy.clients.backend_selection import CLIENT_KEYS
from pydantic_core import to_jsonable_python

from evals.lines import LineFile, read_rows
from evals.log import LogRow, line_of
from evals.optimization.halt import Halt, no_exceptions
from runtime.errors import ModelError, StepError
from runtime.ledger import Usage
from runtime.models.facts import shown_name
from runtime.models.failures import translated
from runtime.models.meter import Meter, estimated_tokens
from runtime.models.request import PromptRequest, respond

PROPOSALS = "proposals.jsonl"
ATTEMPTS = 3
"""Times that one reply is asked for, where the failures of the service are passing ones."""
_OF_DSPY = ("n", "rollout_id", "prompt_cache")
"""Settings of an LM that are none of a request."""


class Proposal(LogRow):
    """One reply of the model that reflects: to which request (16 hex digits over it), for the how manyth time.

    `prompt` is what it was shown, `usage` what it used, counted at its engine.
    """

    request: str
    time: int
    prompt: str
    reply: str
    finish_reason: lm15.FinishReason = "stop"
    usage: Usage
    seconds: float


class ReflectionEngine:
    """An engine that asks another model, and records what it is asked and answers.

    `before` is called before each call that is really made: it may raise to stop the optimizer.
    """

    supports_response_schema = False

    def __init__(
        self, lm: dspy.BaseLM, path: Path, before: Callable[[], None], *, pause: float = 1.0
    ) -> None:
        """`pause` is how many seconds the first wait for a service takes. Raises RunError if the file is damaged."""
        self._lm = lm
        self._pause = pause
        self._before = before
        self._file = LineFile(path)
        try:
            self._kept = {(each.request, each.time): each for each in read_proposals(path)}
        except BaseException:
            self._file.close()
            raise
        self._times: Counter[str] = Counter()
        self._lock = threading.RLock()

    @property
    def proposals(self) -> list[Proposal]:
        """All that were made, in earlier executions too."""
        return list(self._kept.values())

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Reply as before, or ask. One call at a time, so that they are recorded in the order in which they began."""
        with self._lock, no_exceptions():
            digest = _digest(request)
            self._times[digest] += 1
            key = digest, self._times[digest]
            made = self._kept.get(key) or self._asked(request, key)
        usage = lm15.Usage(
            input_tokens=made.usage.input_tokens, output_tokens=made.usage.output_tokens
        )
        return respond(request, made.reply, finish_reason=made.finish_reason, usage=usage)

    def lm(self) -> dspy.LM:
        """This engine as an LM that optimizers take, with the settings of the model that is asked."""
        settings = {
            name: value
            for name, value in self._lm.kwargs.items()
            if value is not None and name not in (*CLIENT_KEYS, *_OF_DSPY)
        }
        if "max_completion_tokens" in settings:  # what DSPy makes of max_tokens for some models
            settings["max_tokens"] = settings.pop("max_completion_tokens")
        return dspy.LM(
            f"spantree/reflection/{shown_name(self._lm)}",
            engine=self,
            num_retries=0,
            cache=False,
            **settings,
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _asked(self, request: lm15.Request, key: tuple[str, int]) -> Proposal:
        prompt = PromptRequest.parse(request).prompt
        begun = time.monotonic()
        response, usage = self._reply(request, estimated_tokens(len(prompt.encode())))
        digest, number = key
        made = Proposal(
            request=digest,
            time=number,
            prompt=prompt,
            reply=response.message.text or "",
            finish_reason=response.finish_reason,
            usage=usage,
            seconds=time.monotonic() - begun,
        )
        self._file.append(line_of(made))
        self._kept[key] = made
        return made

    def _reply(self, request: lm15.Request, estimate: int) -> tuple[lm15.Response, Usage]:
        """What the model replies, and what that used; tried again where the service may have recovered.

        A model that cannot be asked ends the optimization: an optimizer would go on without proposals.
        """
        usage = Usage()
        for attempt in range(1, ATTEMPTS + 1):
            self._before()
            meter = Meter(self._lm, estimate=estimate)
            try:
                response: Any = meter.lm(replace(request, model=self._lm.model))
            except Exception as error:
                usage += meter.usage(attempt=attempt)
                failure = translated(error, custom_engine=meter.custom_engine)
                if attempt == ATTEMPTS or not failure.transient:
                    raise Halt("error", _told(self._lm.model, failure.error)) from error
                time.sleep(self._pause * 2 ** (attempt - 1))
            else:
                return response, usage + meter.usage(attempt=attempt)
        raise AssertionError("the last attempt returns or raises")


def _told(model: str, error: BaseException) -> BaseException:
    if not isinstance(error, StepError):
        return error
    return ModelError(
        f"the model that reflects, {model.removeprefix('spantree/')}, failed: {error}",
        hint="nothing is lost: the same command goes on when it is back",
    )


def read_proposals(path: Path) -> list[Proposal]:
    """All whole lines of a file. Raises RunError if one is damaged."""
    return read_rows(path, Proposal, "proposal", "the model asked again")


def _digest(request: lm15.Request) -> str:
    asked = {**asdict(request), "model": ""}
    plain = json.dumps(to_jsonable_python(asked, fallback=str), sort_keys=True)
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:16]
