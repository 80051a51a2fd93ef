"""The plan of an optimization: which optimizer, how much of it, towards what, and on which questions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from evals.objective import Objective
from runtime.errors import LimitsError, ModelError, UserError

OptimizerName = Literal["gepa", "mipro", "bootstrap", "bootstrap-rs", "simba"]
OPTIMIZERS: tuple[OptimizerName, ...] = get_args(OptimizerName)
Effort = Literal["light", "medium", "heavy"]
EFFORTS: Mapping[Effort, int] = {"light": 6, "medium": 12, "heavy": 18}
"""How many candidates each is meant for: the numbers of DSPy."""
REFLECTING: frozenset[OptimizerName] = frozenset(("gepa", "mipro", "simba"))
"""Those that have instructions written by a model."""
TAUGHT: frozenset[OptimizerName] = frozenset(("mipro", "bootstrap", "bootstrap-rs"))
"""Those whose demos may come from a teacher."""
DEMOS_ALONE: frozenset[OptimizerName] = frozenset(("bootstrap", "bootstrap-rs"))
"""Those that change demos and nothing else."""
UNVALIDATED: frozenset[OptimizerName] = frozenset(("bootstrap", "simba"))
"""Those that do not run what they prefer on all validation questions themselves."""
MINIBATCH = 3
"""Questions on which GEPA compares a candidate with its parent before it runs it on all."""
SIMBA_BATCH = 8
"""Train questions of one step of SIMBA, where no other number is asked for."""


@dataclass(frozen=True)
class Plan:
    """What is asked of an optimization.

    budget: rollouts (executions of a program on a question) on train and validation questions, those of the program as
    it was given among them; without one, `auto` says for how many candidates it is meant ("light" without either).
    threshold: the score from which a rollout is good enough to become a demo. threads: rollouts at the same time; with
    more than one, which rollouts are made may depend on which end first. shares: of train, validation and test
    questions, where the set has no splits of its own. Limits draw that many questions of a split by the seed.
    max_demos: of each predictor. options: of the optimizer, as DSPy names them.
    """

    optimizer: OptimizerName
    objective: Objective
    budget: int | None = None
    auto: Effort | None = None
    threshold: float = 0.5
    seed: int = 0
    threads: int = 1
    shares: tuple[float, float, float] = (40, 20, 40)
    train_limit: int | None = None
    validation_limit: int | None = None
    test_limit: int | None = None
    max_demos: int = 4
    options: Mapping[str, Any] = field(default_factory=dict)

    def check(self, *, reflects: bool, taught: bool) -> None:
        """Raise UserError for what can be seen to be wrong before anything is read.

        `reflects`: there is a model that writes instructions; `taught`: there is a teacher.
        """
        if self.optimizer not in OPTIMIZERS:
            raise UserError(
                f"there is no optimizer {self.optimizer!r}", hint=f"one of: {', '.join(OPTIMIZERS)}"
            )
        if self.auto is not None and self.auto not in EFFORTS:
            raise UserError(
                f"there is no effort {self.auto!r}", hint=f"one of: {', '.join(EFFORTS)}"
            )
        if self.budget is not None and self.auto is not None:
            raise UserError(
                "a number of metric calls and an effort are both given",
                hint="give --max-metric-calls or --auto",
            )
        if self.optimizer in REFLECTING and not reflects:
            raise ModelError(
                f"{self.optimizer} needs a model that writes instructions",
                hint="name one: --reflection-model NAME",
            )
        if taught and self.optimizer not in TAUGHT:
            raise UserError(
                f"{self.optimizer} takes no teacher", hint=f"these do: {', '.join(sorted(TAUGHT))}"
            )
        if self.max_demos < 1 and self.optimizer in DEMOS_ALONE:
            raise UserError(
                f"{self.optimizer} changes demos and nothing else, and none are allowed",
                hint="allow one or more: --max-demos N",
            )
        least = {
            "threads": (self.threads, 1),
            "max_demos": (self.max_demos, 0),
            "train_limit": (self.train_limit, 1),
            "validation_limit": (self.validation_limit, 1),
            "test_limit": (self.test_limit, 1),
        }
        for name, (value, lowest) in least.items():
            if value is not None and value < lowest:
                raise UserError(f"{name} is {value}: it must be at least {lowest}", hint="raise it")
        if not 0 < self.threshold <= 1:
            raise UserError(
                f"the threshold is {self.threshold}: it must be above 0 and at most 1",
                hint="0 would make a demo of every rollout",
            )

    @property
    def candidates(self) -> int:
        """How many candidates the effort is meant for."""
        return EFFORTS[self.auto or "light"]

    def rollouts(self, train: int, validation: int) -> int:
        """The budget in rollouts, for this many questions. Raises LimitsError if it is too small to try anything.

        A budget that is too small for one candidate ends in the program as it was given, and looks like success
        (gepa#375).
        """
        least = self.least(train, validation)
        if self.budget is None:
            return max(least, self._estimate(train, validation))
        if self.budget < least:
            raise LimitsError(
                f"{self.optimizer} needs at least {least} metric calls for {train} train and {validation} validation"
                f" questions to try one candidate: {self.budget} is too few",
                hint=f"allow more (--max-metric-calls {least}), or draw fewer questions (--validation-limit)",
            )
        return self.budget

    def kept_back(self, validation: int) -> int:
        """Rollouts of the budget that the optimizer is not given: those of its winner on the validation questions."""
        return validation if self.optimizer in UNVALIDATED else 0

    def least(self, train: int, validation: int) -> int:
        """Rollouts that it takes to try one candidate: the program as it was given, what the candidate is made from,
        and the candidate."""
        tried = {
            "gepa": 2 * min(MINIBATCH, train),
            "mipro": 1,
            "bootstrap": 1,
            "bootstrap-rs": 1,
            "simba": 1,
        }
        return 2 * validation + tried[self.optimizer]

    def _estimate(self, train: int, validation: int) -> int:
        each = {
            "gepa": 2 * min(MINIBATCH, train) + validation,
            "mipro": validation + train // self.candidates,
            "bootstrap": (train + validation) // self.candidates + 1,
            "bootstrap-rs": validation + train // self.candidates,
            "simba": 2 * min(SIMBA_BATCH, train) + validation // 2,
        }
        return validation + self.candidates * each[self.optimizer] + validation
