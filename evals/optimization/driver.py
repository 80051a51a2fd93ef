"""Driver: an optimization from a program and a question set to its best candidate, whether it begins or goes on.

First the program as it was given is run on the validation questions; then an optimizer of DSPy proposes candidates;
then those that it prefers are run on all validation questions. The best one is chosen by code, on those alone, and
compared with the program as it was given on the test questions, which no optimizer has seen. A second execution does
the same from the start, and is given every rollout and every proposal that is recorded.
"""

import contextvars
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import dspy

from data.questions import QuestionSet
from data.sets.splits import SPLITS
from evals.adapters import Metric
from evals.gold import check_gold
from evals.lines import locked, prepared
from evals.manifest import MANIFEST, Notes, SetIdentity
from evals.optimization.board import Board
from evals.optimization.bundling import bundle_of
from evals.optimization.candidates import Candidate, read_state, write_state
from evals.optimization.halt import Halt
from evals.optimization.manifest import OptimizationManifest, agreed, metric_hash, versions
from evals.optimization.optimizers import Lesson, check_options, compiled
from evals.optimization.plan import Plan
from evals.optimization.progress import Listener, Moment, Phase
from evals.optimization.proposals import PROPOSALS, ReflectionEngine
from evals.optimization.quiet import told_to
from evals.optimization.results import (
    BUNDLE,
    Optimized,
    Outcome,
    Stopped,
    read_optimization,
    tested_folder,
    write_outcome,
)
from evals.optimization.rollouts import ROLLOUTS, Rollout, RolloutLog
from evals.optimization.splits import shared_corpora, split
from evals.optimization.trainee import Trainee, Training
from evals.provenance import code_hash, model_parameters, program_identity
from evals.run import Conduct, Corpora, evaluate
from evals.run import Plan as EvaluationPlan
from evals.tolerance import Tolerance
from programs.base import Program, run_sync
from programs.program_state import apply_state
from runtime.errors import BundleError, ModelError, RunCancelled
from runtime.models.facts import shown_name

_LOG = "optimizer.log"


def optimize(
    program: Program,
    made: QuestionSet,
    corpora: Corpora,
    out: Path,
    plan: Plan,
    *,
    name: str = "",
    reflection_lm: dspy.BaseLM | None = None,
    teacher: Program | None = None,
    retry_errors: bool = False,
    notes: Notes | None = None,
    listener: Listener | None = None,
) -> Optimized:
    """Optimize a program on a question set into the folder `out`; what is recorded there is kept and used.

    `program` is not changed. `teacher` is the same program with other models, better ones: demos are made from its
    rollouts, where the program's own are seldom good enough. `name` is what it is called in the catalog of programs
    (its own by default). With `retry_errors`, rollouts that ended in errors earlier are made again.

    Raises QuestionSetError where gold does not hold or a split is empty, RunError when `out` holds another optimization
    or is in use, or too many rollouts end in errors, LimitsError when the budget is too small to try anything, and
    UserError for what concerns all rollouts. KeyboardInterrupt stops it: the result then says so, and holds the best
    candidate so far.
    """
    plan.check(reflects=reflection_lm is not None, taught=teacher is not None)
    check_options(plan)
    made, splits = split(made, corpora, plan)
    questions = {each.id: each for each in made.questions}
    chosen = [questions[each] for name in SPLITS for each in getattr(splits, name)]
    check_gold(made, chosen, corpora, place=notes.set_folder if notes else "")
    budget = plan.rollouts(len(splits.train), len(splits.validation))
    used = dict.fromkeys(each.corpus for each in chosen)
    asked = OptimizationManifest(
        optimizer=plan.optimizer,
        options=dict(plan.options),
        objective=plan.objective,
        threshold=plan.threshold,
        max_demos=plan.max_demos,
        seed=plan.seed,
        question_set=SetIdentity(
            name=made.name,
            version=made.version,
            corpora={each.name: each.version for each in made.corpora if each.name in used},
        ),
        splits=splits,
        shared_corpora=shared_corpora(made, splits),
        program_name=name or program.name,
        program=program_identity(program),
        teacher=program_identity(teacher) if teacher else None,
        parent=program.bundle,
        reflection_model=shown_name(reflection_lm),
        reflection_parameters=model_parameters(reflection_lm),
        versions=versions(),
        code=code_hash(),
        metric=metric_hash(),
        notes=notes or Notes(),
        budget=budget,
    )
    prepared(out, MANIFEST, "optimization")
    lock = locked(out, "optimized")
    try:
        manifest = agreed(out, asked)
        work = _Work(program, teacher, made, corpora, out, plan, manifest, listener)
        return work.carry_out(reflection_lm, retry_errors=retry_errors)
    finally:
        lock.close()


class _Work:
    """One execution of an optimization."""

    def __init__(
        self,
        program: Program,
        teacher: Program | None,
        made: QuestionSet,
        corpora: Corpora,
        out: Path,
        plan: Plan,
        manifest: OptimizationManifest,
        listener: Listener | None,
    ) -> None:
        self._program = program
        self._teacher = teacher
        self._made = made
        self._questions = {each.id: each for each in made.questions}
        self._corpora = corpora
        self._out = out
        self._plan = plan
        self._manifest = manifest
        self._listener = listener
        self._retry_errors = False
        self._phase: Phase = "baseline"
        self._board = Board(plan.objective, manifest.splits.validation)
        self._reflection: ReflectionEngine | None = None

    def carry_out(self, reflection_lm: dspy.BaseLM | None, *, retry_errors: bool) -> Optimized:
        """Search, and compare before and after unless interrupted."""
        write_outcome(self._out, Outcome())  # what a kill leaves behind
        self._retry_errors = retry_errors
        with ExitStack() as stack:
            log = RolloutLog(self._out / ROLLOUTS, errors=not retry_errors)
            stack.callback(log.close)
            self._board.also_spent(log.superseded)
            self._training = Training(
                self._questions,
                self._corpora,
                log,
                lambda candidate, state: write_state(self._out, candidate, state),
                told=self._count,
            )
            stack.callback(self._training.rest)
            if reflection_lm is not None:
                path, check = self._out / PROPOSALS, self._training.purse.check
                self._reflection = ReflectionEngine(reflection_lm, path, check)
                stack.callback(self._reflection.close)
            stopped = self._searched()
            found = read_optimization(self._out)
            if stopped != "interrupted" and found.best is not None and found.seed is not None:
                try:
                    self._test(found.seed, found.best)
                except (KeyboardInterrupt, RunCancelled):
                    stopped = "interrupted"
        write_outcome(self._out, self._bundled(stopped))
        return read_optimization(self._out)

    def _bundled(self, stopped: Stopped) -> Outcome:
        """Write the best candidate as a bundle. One that must not be handed on is kept here, and it is said why."""
        found = read_optimization(self._out)
        if found.best is None:
            return Outcome(stopped)
        try:
            bundle_of(
                found,
                found.best,
                self._out / BUNDLE,
                program=self._program,
                made=self._made,
                corpora=self._corpora,
            )
        except BundleError as error:
            return Outcome(stopped, unbundled=f"{error.message}\n{error.hint}")
        return Outcome(stopped, bundled=found.best.id)

    def _searched(self) -> Stopped:
        """Baseline, search and validation, in a thread: DSPy takes interrupts of the main one for itself."""
        context = contextvars.copy_context()
        with ThreadPoolExecutor(1, thread_name_prefix="optimizer") as pool:
            future = pool.submit(context.run, self._guarded)
            try:
                return future.result()
            except KeyboardInterrupt:
                self._training.purse.stop()
                future.result()
                return "interrupted"  # also if it had just ended: nothing else begins

    def _guarded(self) -> Stopped:
        lm = self._program.main_lm or dspy.settings.lm
        trainee = Trainee(self._program.deepcopy(), self._training)
        try:
            with told_to(self._out / _LOG), dspy.context(lm=lm, trace=None):
                return self._phases(trainee)
        except Halt as halt:
            if halt.error is not None:
                raise halt.error from halt
            return "interrupted"
        except dspy.AdapterParseError as error:
            first = str(error).strip().splitlines()[0]
            raise ModelError(
                f"a reply of the model that reflects could not be used: {first}",
                hint="choose another --reflection-model, and another folder: this one keeps the reply",
            ) from error

    def _phases(self, trainee: Trainee) -> Stopped:
        plan, splits, purse = self._plan, self._manifest.splits, self._training.purse
        validation = self._examples(splits.validation)
        purse.limit(self._manifest.budget)
        self._run(trainee, validation)
        kept = plan.kept_back(len(validation))
        self._enter("search")
        purse.limit(self._manifest.budget - kept)
        searching = trainee.deepcopy()
        searching.searches = True
        lesson = Lesson(
            trainee=searching,
            teacher=self._taught_by(),
            train=self._examples(splits.train),
            validation=validation,
            metric=Metric(self._questions, plan.objective, plan.threshold),
            reflection_lm=self._reflection.lm() if self._reflection else None,
            plan=plan,
            rollouts=self._manifest.budget - kept - len(validation),
        )
        stopped, winners = _search(lesson)
        purse.end_search()
        self._training.rest()
        self._enter("validation")
        purse.limit(self._manifest.budget)
        for each in winners:
            each.searches = False
        try:
            for each in winners or self._promising(trainee):
                self._run(each, validation)
        except Halt as halt:
            if halt.reason != "budget":
                raise
            return "budget"
        return stopped

    def _taught_by(self) -> Trainee | None:
        if self._teacher is None:
            return None
        main = self._teacher.main_lm or dspy.settings.lm
        lms = dict.fromkeys((main, self._teacher.leaf_lm or main))
        named = " and ".join(map(shown_name, lms))
        made = Trainee(self._teacher.deepcopy(), self._training, teacher=named)
        made.searches = True
        return made

    def _promising(self, trainee: Trainee) -> list[Trainee]:
        """The candidate that did best on what it was run on so far, of an optimizer that was cut off."""
        found = {each.candidate: None for each in self._training.log}
        first = max(found, key=self._board.promise)
        made = trainee.deepcopy()
        apply_state(made.program, read_state(self._out, first))
        return [made]

    def _run(self, trainee: Trainee, examples: Sequence[dspy.Example]) -> None:
        """Run a candidate on questions, as many at the same time as the plan says."""
        if self._plan.threads == 1:
            for example in examples:
                trainee(**example.inputs())
            return
        with ThreadPoolExecutor(self._plan.threads, thread_name_prefix="validation") as pool:
            contexts = [(contextvars.copy_context(), each) for each in examples]
            done = [pool.submit(of.run, _called, trainee, each) for of, each in contexts]
            for each in done:
                each.result()

    def _examples(self, ids: Sequence[str]) -> list[dspy.Example]:
        """Questions as DSPy has them: an id and what is asked. No gold, no text: demos and prompts may quote them."""
        return [
            dspy.Example(question_id=each, question=self._questions[each].question).with_inputs(
                "question_id", "question"
            )
            for each in ids
        ]

    def _test(self, before: Candidate, after: Candidate) -> None:
        """Compare the program as it was given with the best candidate, on questions that no optimizer has seen."""
        self._enter("test")
        chosen = {"before": before} | ({"after": after} if after.id != before.id else {})
        ids = self._manifest.splits.test
        tested = self._made.model_copy(
            update={"questions": tuple(self._questions[each] for each in ids)}
        )
        work = evaluate(
            {name: partial(self._built, each) for name, each in chosen.items()},
            tested,
            self._corpora,
            tested_folder(self._out, after.id),
            plan=EvaluationPlan(seed=self._plan.seed),
            conduct=Conduct(
                concurrency=self._plan.threads,
                tolerance=Tolerance.parse("100%"),
                again=self._retry_errors,
                by_program=True,
            ),
            notes=self._manifest.notes,
            listener=lambda moment: self._tell(moment.done, moment.total),
        )
        run_sync(work)

    def _built(self, candidate: Candidate) -> Program:
        made = self._program.deepcopy()
        apply_state(made, candidate.state)
        return made

    def _enter(self, phase: Phase) -> None:
        self._phase = phase
        self._tell()

    def _count(self, rollout: Rollout) -> None:
        self._board.add(rollout)
        self._tell()

    def _tell(self, tested: int = 0, to_test: int = 0) -> None:
        if self._listener is None:
            return
        proposals = self._reflection.proposals if self._reflection else ()
        self._listener(
            Moment(
                phase=self._phase,
                rollouts=self._board.rollouts,
                budget=self._manifest.budget,
                candidates=self._board.candidates,
                seed_score=self._board.seed_score,
                best=self._board.best,
                spent=self._board.spent(each.usage for each in proposals),
                tested=tested,
                to_test=to_test,
            )
        )


def _called(trainee: Trainee, example: dspy.Example) -> None:
    trainee(**example.inputs())


def _search(lesson: Lesson) -> tuple[Stopped, list[Trainee]]:
    try:
        return "finished", compiled(lesson)
    except Halt as halt:
        if halt.reason != "budget":
            raise
        return "budget", []
