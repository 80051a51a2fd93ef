"""One metered call of a predictor: reserved, logged, timed, checked, retried by class of error, settled.

An attempt is paid from the ledger and written to the log before the engine is called, and settled with what the
engine really did, whatever came of it. A call that the log knows as done is not made again.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

import dspy
from pydantic_core import to_json

from runtime.attempts import Attempt, Check, Job
from runtime.call_log import CallLog, CallRecord, MemoryCallLog
from runtime.errors import (
    LimitReached,
    ModelError,
    ParseFailure,
    RateLimited,
    RunCancelled,
    StepError,
    TimeoutFailure,
    TruncatedReply,
)
from runtime.ledger import Ledger, Reservation
from runtime.limits import Limits
from runtime.models.adapters import prepared
from runtime.models.failures import Failure, first_line, translated
from runtime.models.meter import Meter, estimated_tokens
from runtime.models.own_server import OwnServer
from runtime.models.price import Price, declared_price, price_of
from runtime.models.request import signature_name
from runtime.predictions import append_to_trace, plain_outputs, rebuilt
from runtime.untrusted import neutralize

__all__ = ["CallLog", "CallRecord", "Caller", "MemoryCallLog"]

UNKNOWN_REPLY_TOKENS = 256
"""Reserved for a reply when the model has no declared maximum."""
LONGEST_BACK_OFF = 60.0


class Caller:
    """Makes the calls of one run. One event loop at a time; any number of tasks.

    `lm` (and `leaf_lm` for the calls marked `leaf`) serve predictors that have no LM of their own; without them, the
    LM of DSPy's settings does. The adapter is the one given, else the one of the settings, else JSON.
    """

    def __init__(
        self,
        ledger: Ledger,
        log: CallLog,
        *,
        limits: Limits,
        lm: dspy.BaseLM | None = None,
        leaf_lm: dspy.BaseLM | None = None,
        adapter: dspy.Adapter | None = None,
        cancelled: Callable[[], bool] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._ledger = ledger
        self._log = log
        self._limits = limits
        self._lm = lm
        self._leaf_lm = leaf_lm
        self._adapter = adapter
        self._default_adapter = dspy.JSONAdapter()
        self._cancelled = cancelled or (lambda: False)
        self._sleep = sleep
        self._open = 0
        self._waiters: list[asyncio.Future[None]] = []
        self._prices: dict[str, Price | None] = {}
        self._turns: dict[int, asyncio.Semaphore] = {}
        self._prepared: tuple[Any, Any] | None = None

    async def call(
        self,
        predictor: dspy.Module,
        inputs: dict[str, Any],
        *,
        key: str,
        leaf: bool = False,
        frame_id: str = "",
        step_id: str = "",
        span_ids: Sequence[str] = (),
        check: Check | None = None,
        signature: Any = None,
    ) -> dspy.Prediction:
        """Call `predictor` (a `dspy.Predict`, or a `dspy.ChainOfThought`) once, within the limits.

        `signature` takes the place of the predictor's own for this call. `check` may raise ParseFailure for a
        prediction that parses and is wrong all the same. Raises the StepError of the last attempt, LimitReached,
        RunCancelled or ModelError.
        """
        predict: Any = getattr(predictor, "predict", predictor)
        wanted = signature or predict.signature
        done = self._log.completed(key)
        if done is not None and done.status == "done":
            prediction = rebuilt(wanted, done.outputs)
            append_to_trace(predict, inputs, prediction)
            return prediction
        lm: Any = predict.lm or (self._leaf_lm if leaf else None) or self._lm or dspy.settings.lm
        if lm is None:
            raise ModelError("no model is chosen", hint="pass --model NAME, or set SPANTREE_MODEL")
        rendered = to_json(inputs, fallback=str)
        price = await self._price(lm)
        settings = {**lm.kwargs, **predict.config}
        job = Job(
            predictor=predictor,
            signature=wanted,
            inputs=inputs,
            lm=lm,
            key=key,
            frame_id=frame_id,
            step_id=step_id,
            check=check,
            input_hash=hashlib.sha256(rendered).hexdigest(),
            prompt_version=_prompt_version(predict),
            span_ids=tuple(span_ids),
            settings=settings,
            own_signature=signature is not None,
            asked=self._asked(predict, settings, len(rendered), price),
            price=price,
        )
        return await self._attempts(job)

    async def _attempts(self, job: Job) -> dspy.Prediction:
        feedback = ""
        for number in range(1, self._limits.retries + 2):
            failure = await self._attempt(job, number, feedback)
            if isinstance(failure, dspy.Prediction):
                return failure
            if failure.schema_refused and isinstance(job.lm, OwnServer):
                job.lm.give_up_schema()
            again = number <= self._limits.retries and self._again(job, failure, feedback)
            if not again:
                raise _unreachable(job.lm, failure) if failure.unreachable else failure.error
            if isinstance(failure.error, ParseFailure):
                feedback = str(failure.error)
            elif failure.transient and not isinstance(failure.error, TimeoutFailure):
                await self._back_off(failure.error, number)
        raise AssertionError("the last attempt returns or raises")

    def _again(self, job: Job, failure: Failure, feedback: str) -> bool:
        if isinstance(failure.error, ParseFailure):
            return not feedback
        return failure.transient or (failure.schema_refused and isinstance(job.lm, OwnServer))

    async def _attempt(self, job: Job, number: int, feedback: str) -> "dspy.Prediction | Failure":
        async with self._turn(job.lm):
            return await self._made(job, number, feedback)

    def _turn(self, lm: Any) -> AbstractAsyncContextManager[Any]:
        """The turn of a call at an engine that takes few `at_once`: it would queue there within its own time."""
        engine = getattr(lm, "engine", None)
        few = getattr(engine, "at_once", None)
        if not few:
            return nullcontext()
        return self._turns.setdefault(id(engine), asyncio.Semaphore(few))

    async def _made(self, job: Job, number: int, feedback: str) -> "dspy.Prediction | Failure":
        attempt = await self._opened(job, number, feedback)
        try:
            prediction = await self._predicted(job, attempt)
            outputs = plain_outputs(prediction, job.signature.output_fields)
        except BaseException as raised:
            failure = _failure(raised, attempt.meter)
            self._close(
                attempt, _failed(attempt.record, failure.error), lost=_is_lost(failure.error)
            )
            if isinstance(failure.error, StepError):
                failure.error.__cause__ = (
                    raised if failure.error is not raised else raised.__cause__
                )
                return failure
            if failure.error is raised:
                raise
            raise failure.error from raised
        done = {"status": "done", "outputs": outputs}
        self._close(attempt, attempt.record.model_copy(update=done))
        return prediction

    async def _opened(self, job: Job, number: int, feedback: str) -> Attempt:
        if self._cancelled():
            raise RunCancelled("the run was cancelled: no call starts any more")
        reservation = await self._reserved(job.asked)
        record = CallRecord.model_construct(
            key=f"{job.key}#{number}",
            signature=signature_name(job.signature),
            attempt=number,
            model=job.lm.model,
            input_hash=job.input_hash,
            prompt_version=job.prompt_version,
            span_ids=job.span_ids,
            started=time.time(),
            frame_id=job.frame_id,
            step_id=job.step_id,
        )
        try:
            meter = Meter(job.lm, estimate=job.asked["input_tokens"], price=job.price)
            self._log.intent(record)
        except BaseException:
            self._ledger.refund(reservation)
            self._released()
            raise
        return Attempt(number, feedback, meter, reservation, record)

    async def _reserved(self, asked: dict[str, Any]) -> Reservation:
        """A reservation, once fewer calls than `in_flight` are open, whichever steps they are of.

        One that only fails because of what is in flight waits for it to settle.
        """
        while True:
            if self._open < self._limits.in_flight:
                try:
                    reservation = self._ledger.reserve(**asked)
                except LimitReached:
                    if not self._open or not self._ledger.fits(**asked):
                        raise
                else:
                    self._open += 1
                    return reservation
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    def _released(self) -> None:
        self._open -= 1
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def _predicted(self, job: Job, attempt: Attempt) -> dspy.Prediction:
        arguments = {**job.inputs, "lm": attempt.meter.lm, "config": _config(job, attempt)}
        if job.own_signature:
            arguments["signature"] = job.signature
        if attempt.feedback:
            # It may quote the reply, and that the corpus.
            arguments["retry_feedback"] = neutralize(attempt.feedback)
            arguments["signature"] = job.signature.append(
                "retry_feedback", _FEEDBACK_FIELD, type_=str
            )
        trace: list[Any] | None = None if dspy.settings.trace is None else []
        with dspy.context(
            lm=attempt.meter.lm, adapter=self._used_adapter(), trace=trace, disable_history=False
        ):
            prediction = await self._timed(job.predictor.acall(**arguments))
        if attempt.meter.finish_reason == "length" and not self._reads_cut_replies():
            raise TruncatedReply("the reply stopped at its length limit")
        if job.check:
            job.check(prediction)
        # Only what was accepted, and with the inputs as they were: no rejected attempt, no feedback.
        for predict, _, made in trace or ():
            append_to_trace(predict, job.inputs, made)
        return prediction

    async def _timed(self, work: Awaitable[dspy.Prediction]) -> dspy.Prediction:
        left = self._ledger.remaining.get("wall_seconds", self._limits.call_seconds)
        seconds = min(self._limits.call_seconds, left)
        scope = asyncio.timeout(seconds)
        try:
            async with scope:
                return await work
        except TimeoutError as error:
            if not scope.expired():
                raise
            if left < self._limits.call_seconds:
                cap = self._ledger.limits.wall_seconds or 0.0
                raise LimitReached("wall_seconds", self._ledger.elapsed, cap) from error
            raise TimeoutFailure(f"no reply within {seconds:g} s") from error

    def _close(self, attempt: Attempt, record: CallRecord, *, lost: bool = False) -> None:
        meter = attempt.meter
        usage = meter.usage(attempt=attempt.number, lost=lost)
        if meter.touched:
            self._ledger.settle(attempt.reservation, usage)
        else:
            self._ledger.refund(attempt.reservation)
        self._released()
        update = {
            "usage": usage,
            "finish_reason": meter.finish_reason,
            "reply": meter.reply,
            "seconds": time.monotonic() - attempt.begun,
        }
        self._log.settled(record.model_copy(update=update))

    async def _back_off(self, error: BaseException, attempt: int) -> None:
        """Wait as the service asks, else 1, 2, 4 ... seconds; not beyond the time that the run has."""
        asked = error.retry_after if isinstance(error, RateLimited) else None
        seconds = min(2.0 ** (attempt - 1), LONGEST_BACK_OFF) if asked is None else asked
        left = self._ledger.remaining.get("wall_seconds", self._limits.call_seconds)
        if seconds > min(left, self._limits.call_seconds):
            raise error
        await self._sleep(seconds)

    def _asked(
        self, predict: Any, settings: dict[str, Any], size: int, price: Price | None
    ) -> dict[str, Any]:
        demos = (
            len(to_json([dict(demo) for demo in predict.demos], fallback=str))
            if predict.demos
            else 0
        )
        inputs = estimated_tokens(
            size + demos + len(self._used_adapter().format_system_message(predict.signature))
        )
        declared = settings.get("max_tokens") or settings.get("max_completion_tokens")
        outputs = int(declared or UNKNOWN_REPLY_TOKENS)
        cost = price.of(inputs, outputs) if price else None
        limited = self._ledger.limits.cost_usd is not None
        return {"input_tokens": inputs, "output_tokens": outputs, "cost": cost if limited else 0.0}

    async def _price(self, lm: dspy.BaseLM) -> Price | None:
        """The price of the model, looked up only where money is limited."""
        engine = getattr(lm, "engine", None)
        if not isinstance(engine, str):
            return declared_price(lm.model, engine)
        if self._ledger.limits.cost_usd is None:
            return None
        if lm.model not in self._prices:
            self._prices[lm.model] = await asyncio.to_thread(price_of, lm)
        return self._prices[lm.model]

    def _reads_cut_replies(self) -> bool:
        """Whether what an adapter has read of a reply is whole, however the reply goes on."""
        return getattr(self._used_adapter(), "reads_cut_replies", False)

    def _used_adapter(self) -> Any:
        chosen = self._adapter or dspy.settings.adapter or self._default_adapter
        if self._prepared is None or self._prepared[0] is not chosen:
            self._prepared = chosen, prepared(chosen)
        return self._prepared[1]


def _prompt_version(predict: Any) -> str:
    """A hash over what an optimizer may change of a predictor: its instructions and its demos."""
    demos = to_json([dict(demo) for demo in predict.demos], fallback=str)
    instructions = predict.signature.instructions.encode()
    return hashlib.sha256(instructions + demos).hexdigest()[:12]


_FEEDBACK_FIELD = dspy.InputField(desc="what was wrong with your previous reply; mend it")


def _failure(raised: BaseException, meter: Meter) -> Failure:
    if isinstance(raised, dspy.LMConfigurationError | dspy.LMUnsupportedFeatureError):
        meter.unsent()
    if isinstance(raised, TimeoutFailure):
        return Failure(raised, transient=True)
    if isinstance(raised, dspy.AdapterParseError) and meter.finish_reason == "length":
        return Failure(TruncatedReply("the reply stopped at its length limit"))
    failure = translated(raised, custom_engine=meter.custom_engine)
    if failure.unreachable:
        meter.unsent()
    return failure


def _unreachable(lm: dspy.BaseLM, failure: Failure) -> ModelError:
    """A model that cannot be asked at all is not an observation: the run stops, and can go on when it is back."""
    where = lm.kwargs.get("api_base") or lm.model
    error = ModelError(
        f"the model at {where} cannot be reached: {first_line(failure.error)}",
        hint="start the server, or check --api-base and the network",
    )
    error.__cause__ = failure.error
    return error


def _failed(record: CallRecord, error: BaseException) -> CallRecord:
    if isinstance(error, asyncio.CancelledError):
        error_class = "cancelled"
    else:
        error_class = getattr(error, "error_class", type(error).__name__)
    return record.model_copy(
        update={"status": "failed", "error_class": error_class, "error": first_line(error)}
    )


def _is_lost(error: BaseException) -> bool:
    """Whether the engine may have gone on working, and billing, without us."""
    return isinstance(error, TimeoutFailure | LimitReached | asyncio.CancelledError)


def _config(job: Job, attempt: Attempt) -> dict[str, Any]:
    """A new rollout id passes by DSPy's cache, which would return the same bad reply for ever.

    At temperature 0 DSPy warns about it, and the feedback in the prompt is enough.
    """
    if not attempt.feedback or job.settings.get("temperature") == 0:
        return {}
    return {"rollout_id": attempt.number}
