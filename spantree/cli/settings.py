"""Settings of a run: what was chosen at the command line, and what a resumed run was started with."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, cast

from runtime.errors import UserError
from runtime.limits import Limits

if TYPE_CHECKING:
    import dspy

    from data.corpus import Corpus
    from programs.progress import Listener
    from programs.refinement import RefinePolicy
    from runtime.journal import Journal, RunRecord

    Models = tuple[dspy.LM, dspy.LM]

REFINE = ("always", "on_change", "on_failure", "never")

DEFAULT_MODEL = "extractive"
DEFAULT_LIMITS = Limits()


class Program(Protocol):
    """A program as the command line uses it."""

    def __call__(self, *, question: str, corpus: "Corpus") -> "dspy.Prediction":
        """Answer a question; the prediction has `answer`."""
        ...

    def resume(self, run_id: str, corpus: "Corpus") -> "dspy.Prediction":
        """Go on with a run of the journal."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that makes a program, besides the question and the corpus."""

    program: str = "recursive"
    model: str = DEFAULT_MODEL
    leaf_model: str = DEFAULT_MODEL
    api_base: str | None = None
    partitioner: str = "auto"
    refine: str = "always"
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def of(cls, record: "RunRecord") -> "Settings":
        """The settings with which a recorded run was started."""
        config = record.config
        model = config.get("model") or DEFAULT_MODEL
        return cls(
            program=record.program,
            model=model,
            leaf_model=config.get("leaf_model") or model,
            api_base=config.get("api_base") or None,
            partitioner=config.get("partitioner") or "auto",
            refine=config.get("refine") or "always",
            limits=Limits.model_validate(config.get("limits") or {}),
        )

    def check(self) -> None:
        """Raise UserError for what can be seen to be wrong before anything is read or written."""
        _known("program", self.program, PROGRAMS)
        known_partitioner(self.partitioner)
        _known("refinement policy", self.refine, REFINE)
        self.limits.check_start()

    def models(self) -> "Models":
        """The model of the few large calls and that of the leaves. Raises ModelError."""
        from runtime.models.make import make_lm

        lm = make_lm(self.model, api_base=self.api_base)
        same = self.leaf_model == self.model
        return lm, lm if same else make_lm(self.leaf_model, api_base=self.api_base)

    def build(self, models: "Models", journal: "Journal", listener: "Listener") -> Program:
        """The program, ready to be called."""
        return PROGRAMS[self.program](self, models, journal, listener)


def _recursive(
    settings: Settings, models: "Models", journal: "Journal", listener: "Listener"
) -> Program:
    from programs.recursive import Recursive

    lm, leaf_lm = models
    return Recursive(
        limits=settings.limits,
        refine=cast("RefinePolicy", settings.refine),
        partitioner=settings.partitioner,
        lm=lm,
        leaf_lm=leaf_lm,
        journal=journal,
        progress=listener,
    )


PROGRAMS: dict[str, Callable[..., Program]] = {"recursive": _recursive}
"""The programs by name. Another one is added here."""


def known_partitioner(name: str) -> None:
    """Raise UserError if there is no partitioner of this name."""
    from data.partition import PARTITIONERS

    _known("partitioner", name, PARTITIONERS)


def _known(what: str, name: str, names: Iterable[str]) -> None:
    names = list(names)
    if name not in names:
        raise UserError(f"there is no {what} named {name!r}", hint=f"one of: {', '.join(names)}")
