"""The trainee: a program as the optimizers of DSPy are given it.

It answers a question of a set by its id, and gives its rollout in place of an answer alone. What optimizers put into
demos and reflection prompts is the trace, and the trace holds excerpts. Every rollout is counted and recorded.
"""

import asyncio
import copy
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import dspy

from data.questions import Question
from evals.call_facts import call_facts
from evals.excerpts import excerpt, excerpt_outputs
from evals.executor import Executor, Sample
from evals.optimization.board import TEACHER
from evals.optimization.candidates import State
from evals.optimization.halt import Halt, no_exceptions
from evals.optimization.purse import Purse
from evals.optimization.rollouts import Call, Rollout, RolloutLog
from evals.run import Corpora
from evals.score import score
from programs.base import Program, run_sync
from programs.program_state import predictors_of, state_hash, state_of
from runtime.errors import RunError
from runtime.predictions import append_to_trace, plain_outputs

TOLERATED, TOLERATED_SHARE = 3, 0.2
"""Rollouts that may end in errors, and which share of all of them where that is more."""
_TRACE = 10_000


class Training:
    """What all copies of a trainee share: the questions, the log of rollouts, and what is left of the budget."""

    def __init__(
        self,
        questions: Mapping[str, Question],
        corpora: Corpora,
        log: RolloutLog,
        keep: Callable[[str, State], None],
        *,
        executor: Executor | None = None,
        told: Callable[[Rollout], None] = lambda _: None,
    ) -> None:
        """`keep` is given a candidate and its state before its first rollout; `told` of each."""
        self.questions = questions
        self.corpora = corpora
        self.log = log
        self.purse = Purse(len(log))
        self._keep = keep
        self._told = told
        self._executor = executor or Executor()
        self._asked = 0
        self._changed = threading.Condition()

    def rest(self) -> None:
        """Wait for the rollouts in flight: DSPy leaves its threads to themselves when it is stopped."""
        with self._changed:
            self._changed.wait_for(lambda: not self._asked)

    @contextmanager
    def _in_flight(self) -> Iterator[None]:
        with self._changed:
            self._asked += 1
        try:
            yield
        finally:
            with self._changed:
                self._asked -= 1
                self._changed.notify_all()

    def rollout(
        self,
        program: Program,
        question_id: str,
        variation: Mapping[str, Any],
        *,
        searches: bool = False,
    ) -> Rollout:
        """The rollout of a program on a question, made unless there is one; perhaps for the optimizer's search.

        What is no record of the sample (a mistake of the user, a bug in scoring) halts everything.
        """
        state = state_of(program)
        named = ", ".join(f"{name} {value}" for name, value in variation.items())
        key = state_hash(state), question_id, named

        def make() -> Rollout:
            self._keep(key[0], state)
            return self._made(program, key, variation, searches)

        with self._in_flight():
            made = self.log.once(key, make)
        self._check_errors()
        self._told(made)
        return made

    def _check_errors(self) -> None:
        """Halt when so many rollouts end in errors that their zeros would be taken for scores."""
        failed = [each for each in self.log if each.failed]
        if len(failed) <= max(TOLERATED, TOLERATED_SHARE * len(self.log)):
            return
        classes = Counter(each.record.error_class for each in failed)
        told = ", ".join(f"{number} {name}" for name, number in classes.most_common(3))
        first = failed[-1].record
        error = RunError(
            f"{len(failed)} of {len(self.log)} rollouts ended in errors ({told}); the last one: {first.error}",
            hint="see rollouts.jsonl; when it is mended, go on with --retry-errors",
        )
        raise Halt("error", error)

    def _made(
        self,
        program: Program,
        key: tuple[str, str, str],
        variation: Mapping[str, Any],
        searches: bool,
    ) -> Rollout:
        self.purse.take(searches=searches)
        try:
            with no_exceptions():
                return self._executed(_varied(program, variation), *key)
        except asyncio.CancelledError as error:
            raise Halt("interrupted") from error

    def _executed(
        self, program: Program, candidate: str, question_id: str, variation: str
    ) -> Rollout:
        question = self.questions[question_id]
        corpus = self.corpora(question.corpus)
        sample = Sample(program.name, question, 1)
        trace: list[Any] = []
        with dspy.context(trace=trace, max_trace_size=_TRACE):
            record = run_sync(
                self.purse.watched(lambda: self._executor.run(sample, lambda: program, corpus))
            )
        if record.answer is not None:
            record = record.model_copy(update={"score": score(question, record.answer, corpus)})
        names = {id(each): name for name, each in predictors_of(program).items()}
        calls = [
            _call(names[id(predictor)], inputs, outputs, question, corpus)
            for predictor, inputs, outputs in trace
            if id(predictor) in names
        ]
        return Rollout(
            candidate=candidate,
            question_id=question_id,
            variation=variation,
            record=record,
            calls=tuple(_ordered(calls)),
        )


class Trainee(dspy.Module):
    """A program that optimizers may copy, change and run. `training` is shared by all copies."""

    def __init__(self, program: Program, training: Training, *, teacher: str = "") -> None:
        """`teacher` names whose rollouts they are, where they are not those of the program that is optimized."""
        super().__init__()
        self.program = program
        self.searches = False
        """Whether it is an optimizer's, whose rollouts end with its search."""
        self._training = training
        self._variation: dict[str, Any] = {TEACHER: teacher} if teacher else {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        for name, value in vars(self).items():
            vars(made)[name] = value if name == "_training" else copy.deepcopy(value, memo)
        return made

    def set_lm(self, lm: dspy.BaseLM) -> None:
        """Sample under other settings: an optimizer's copy of the main model says which, for the leaf model too."""
        self._variation |= self._variation_of(lm)

    def get_lm(self) -> dspy.BaseLM | None:
        """The main model of the program."""
        return self.program.main_lm or dspy.settings.lm

    def _variation_of(self, lm: dspy.BaseLM | None) -> dict[str, Any]:
        """The settings by which an optimizer asks for another sample; nothing where they are the program's own."""
        rollout, own = (
            getattr(each, "kwargs", {}).get("rollout_id") for each in (lm, self.program.main_lm)
        )
        if lm is None or rollout in (None, own):
            return {}
        return {"rollout": rollout, "temperature": lm.kwargs.get("temperature")}

    def forward(self, question_id: str, question: str) -> dspy.Prediction:
        """The rollout on a question, its calls appended to the trace of the caller."""
        variation = self._variation_of(dspy.settings.lm) | self._variation
        # A full disk, a listener that raises: no optimizer takes it for a score of 0.
        with no_exceptions():
            rollout = self._training.rollout(
                self.program, question_id, variation, searches=self.searches
            )
            predictors = predictors_of(self.program)
            for call in rollout.calls:
                prediction = dspy.Prediction(**copy.deepcopy(call.outputs))
                append_to_trace(predictors[call.predictor], copy.deepcopy(call.inputs), prediction)
        answer = rollout.record.answer or {}
        return dspy.Prediction(
            rollout=rollout, answer=answer.get("text", ""), outcome=answer.get("outcome", "error")
        )


def _varied(program: Program, variation: Mapping[str, Any]) -> Program:
    """The program with its models set to sample: the same predictors, other settings."""
    if "rollout" not in variation:
        return program
    made = copy.copy(program)
    main = program.main_lm or dspy.settings.lm
    made.main_lm = _sampling(main, variation)
    made.leaf_lm = _sampling(program.leaf_lm, variation) if program.leaf_lm else None
    return made


def _sampling(lm: Any, variation: Mapping[str, Any]) -> dspy.BaseLM:
    settings = {"rollout_id": variation["rollout"], "temperature": variation["temperature"]}
    engine = getattr(lm, "engine", None)
    if "seed" in getattr(engine, "supported_params", ()):
        settings["seed"] = variation["rollout"]  # an engine of ours is not sent the id of a rollout
    return lm.copy(**settings)


def _call(
    name: str, inputs: dict[str, Any], prediction: Any, question: Question, corpus: Any
) -> Call:
    outputs = plain_outputs(prediction, prediction.keys())
    facts = call_facts(name, inputs, outputs, question, corpus)
    return Call(
        predictor=name,
        inputs=excerpt(name, inputs, outputs, facts),
        outputs=excerpt_outputs(name, inputs, outputs, facts),
        facts=facts,
    )


def _ordered(calls: list[Call]) -> list[Call]:
    """Calls by predictor, as each first came, and by what they were shown: not by which of many at once ended first."""
    first = {}
    for each in calls:
        first.setdefault(each.predictor, len(first))
    return sorted(calls, key=lambda each: (first[each.predictor], each.model_dump_json()))
