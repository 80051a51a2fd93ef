"""Sweeping: from what was asked at the command line to one log of all configurations, its table and its page."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from runtime.errors import UserError
from spantree.cli.command_words import joined
from spantree.cli.evaluation import Evaluation, evaluated, say_about
from spantree.cli.exits import NO_ANSWER, OK
from spantree.cli.parameters import applied, checked, one_program
from spantree.cli.settings import known
from spantree.cli.sweep_table import print_trials
from spantree.cli.variants import Variant, variants

if TYPE_CHECKING:
    from evals.executor import Factory
    from evals.log import EvalLog
    from evals.results import Shown
    from evals.sweep import Configuration, Make, Value
    from evals.trials import Trials
    from spantree.cli.settings import Models, Settings

_PAGE = "sweep.html"
"""The report in the folder of the log; beside it lies a picture of each front."""
QUALITY = "evidence_recall"
_MOST = 200
"""Configurations that a whole grid may have."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """What was asked for: an evaluation whose one program is varied, and the values of each parameter.

    `random` points are drawn from the grid by the seed, or all are taken. `quality` is what costs are held against.
    """

    evaluation: Evaluation
    vary: "Mapping[str, tuple[Value, ...]]"
    random: int | None = None
    quality: str = QUALITY

    def command(self, out: Path) -> str:
        """The command that goes on with this sweep."""
        asked = self.evaluation
        given: dict[str, Any] = {
            **asked.options(out),
            "--concurrency": None if asked.concurrency == 1 else asked.concurrency,
            "--random": self.random,
            "--quality": None if self.quality == QUALITY else self.quality,
        }
        varied = [
            word
            for name, values in self.vary.items()
            for word in ("--vary", f"{name}={','.join(map(str, values))}")
        ]
        return joined("sweep", given, *varied)

    @property
    def variant(self) -> Variant:
        """The program that is varied. Raises UserError unless it is one."""
        one_program(self.evaluation.programs)
        (found,) = variants(self.evaluation.programs, self.evaluation.common)
        return found

    def check(self) -> None:
        """Raise UserError for what can be seen to be wrong before anything is read."""
        from evals.sweep import Space
        from evals.trials import QUALITIES

        self.evaluation.check()
        known("quality", self.quality, QUALITIES)
        program = self.variant.settings.program
        if not self.vary:
            raise UserError(
                "nothing is varied", hint="for example --vary leaf_characters=4000,8000,16000"
            )
        for name, values in self.vary.items():
            checked(name, values, program)
        size = Space(program, self.vary).size
        if self.random is None and size > _MOST:
            raise UserError(
                f"the grid has {size:,} configurations, and {_MOST} are the most that are all taken",
                hint="draw some of them: --random 30",
            )


def carry_out(asked: Sweep) -> int:
    """Check everything that can be checked, evaluate, and say what is best for its cost. Returns the exit status."""
    from evals.results import latency
    from evals.trials import trials

    asked.check()
    make = _making(asked.variant)
    chosen = _chosen(asked, make)
    evaluation = asked.evaluation
    factories = {each.name: make(dict(each.choices)) for each in chosen}
    log = evaluated(evaluation, factories, command=asked.command)
    if log is None:
        return NO_ANSWER
    found = trials(log, chosen, cast("Shown", asked.quality))
    page = _write_page(found, log)
    if not evaluation.quiet:
        say_about(log, {each.name: latency(log.of(each.name)) for each in chosen})
    print_trials(found, log=log, page=page, json=evaluation.json)
    return OK


def _write_page(found: "Trials", log: "EvalLog") -> Path:
    """Write the page of a sweep and the picture of each front into the folder of its log."""
    from data.store import write_atomically
    from evals.report.rendering import picture
    from evals.report.sweep_page import fronts, sweep_html

    drawn = fronts(found)
    for cost, chart in drawn.items():
        write_atomically(log.folder / f"front-{cost}.svg", picture(chart).encode())
    page = log.folder / _PAGE
    write_atomically(page, sweep_html(found, log, drawn).encode())
    return page


def _chosen(asked: Sweep, make: "Make") -> "tuple[Configuration, ...]":
    from evals.sweep import Space, configurations

    space = Space(asked.variant.name, asked.vary)
    found = configurations(space, make, number=asked.random, seed=asked.evaluation.seed)
    if len(found) == 1:
        raise UserError(
            "every configuration is the default", hint="vary more: give values that differ from it"
        )
    return found


def _making(variant: Variant) -> "Make":
    """What makes a configuration. Models of the same names are made once."""
    made: dict[tuple[str, str], Models] = {}

    def models(settings: "Settings") -> "Models":
        names = settings.model, settings.leaf_model
        if names not in made:
            made[names] = settings.models()
        return made[names]

    def make(choices: "Mapping[str, Value]") -> "Factory":
        settings = applied(variant.settings, choices)
        return Variant(variant.name, settings).factory(models(settings))

    return make
