"""Settings of a run: what was chosen at the command line, and what a resumed run was started with."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from programs.catalog import PROGRAMS, takers
from runtime.errors import UserError
from runtime.limits import Limits
from spantree.cli.flags import OPTIONS

if TYPE_CHECKING:
    import dspy

    from programs.base import Program
    from programs.progress import Listener
    from runtime.journal import Journal, RunRecord

    Models = tuple[dspy.LM, dspy.LM]

_NAMES = {
    "refine": ("refinement policy", ("always", "on_change", "on_failure", "never")),
    "action_space": ("action space", ("tools", "repl")),
    "sandbox": ("sandbox", ("monty", "deno")),
}
LEAST = {"max_turns": 2, "window": 1, "top_k": 1, "leaf_characters": 1_200}
"""The smallest values of settings that are numbers."""

DEFAULT_MODEL = "extractive"
DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that makes a program, besides the question and the corpus.

    What only some programs have is None where the program's own default holds. With a `bundle` (the folder of one) the
    program has its instructions and demos, and everything else is as in it or as was chosen in its place.
    """

    program: str = "auto"
    model: str = DEFAULT_MODEL
    leaf_model: str = DEFAULT_MODEL
    api_base: str | None = None
    partitioner: str = "auto"
    limits: Limits = field(default_factory=Limits)
    refine: str | None = None
    action_space: str | None = None
    sandbox: str | None = None
    max_turns: int | None = None
    window: int | None = None
    top_k: int | None = None
    leaf_characters: int | None = None
    bundle: str | None = None

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
            limits=Limits.model_validate(config.get("limits") or {}),
            bundle=config.get("bundle_folder") or None,
            **_recorded(record.program, config),
        )

    def check(self) -> None:
        """Raise UserError for what can be seen to be wrong before anything is read or written."""
        known("program", self.program, PROGRAMS)
        known_partitioner(self.partitioner)
        chosen = self._chosen()
        for name, value in chosen.items():
            self._check_taken(name)
            if name in _NAMES:
                what, names = _NAMES[name]
                known(what, value, names)
            elif value < LEAST[name]:
                raise UserError(
                    f"{OPTIONS[name]} is {value}: it must be at least {LEAST[name]}",
                    hint="leave it out to use the program's own",
                )
        if "sandbox" in chosen and self.action_space != "repl":
            raise UserError(
                "--sandbox has no use without code: in the action space tools, none runs",
                hint="let the model write code: --action-space repl",
            )
        self.limits.check_start()

    def models(self) -> "Models":
        """The model of the few large calls and that of the leaves. Raises ModelError."""
        from runtime.models.make import make_lm

        if self.bundle is not None:
            from programs.bundles import read_bundle

            return read_bundle(self.bundle).models(self.model, self.leaf_model, self.api_base)
        lm = make_lm(self.model, api_base=self.api_base)
        same = self.leaf_model == self.model
        return lm, lm if same else make_lm(self.leaf_model, api_base=self.api_base)

    def build(
        self, models: "Models", journal: "Journal | None", listener: "Listener | None"
    ) -> "Program":
        """The program, ready to be called. Without a journal its runs are kept in memory."""
        lm, leaf_lm = models
        if self.bundle is not None:
            from programs.bundles import load

            handles = {"journal": journal, "progress": listener}
            return load(self.bundle, lm=lm, leaf_lm=leaf_lm, limits=self.limits, **handles)
        return PROGRAMS[self.program].build(
            self._chosen(),
            limits=self.limits,
            partitioner=self.partitioner,
            lm=lm,
            leaf_lm=leaf_lm,
            journal=journal,
            progress=listener,
        )

    def _chosen(self) -> dict[str, Any]:
        """What was chosen of the options that only some programs have."""
        values = {name: getattr(self, name) for name in OPTIONS}
        return {name: value for name, value in values.items() if value is not None}

    def _check_taken(self, name: str) -> None:
        """Raise UserError for an option that would have no effect on this program."""
        if name not in PROGRAMS[self.program].keywords:
            raise UserError(
                f"{OPTIONS[name]} has no use with the program {self.program}",
                hint=f"it is an option of: {', '.join(takers(name))}",
            )


def common_settings(
    *,
    model: str,
    leaf_model: str | None,
    api_base: str | None,
    partition: str,
    leaf_characters: int | None,
    max_calls: int | None,
    max_tokens: int | None,
    max_cost: float | None,
    max_seconds: float | None,
    max_depth: int,
    concurrency: int = DEFAULT_LIMITS.in_flight,
) -> Settings:
    """The settings that are the same for all programs of a verb, from the parameters of the verb."""
    limits = Limits(
        calls=max_calls,
        tokens=max_tokens,
        cost_usd=max_cost,
        wall_seconds=max_seconds,
        depth=max_depth,
        in_flight=concurrency,
    )
    return Settings(
        model=model,
        leaf_model=leaf_model or model,
        api_base=api_base,
        partitioner=partition,
        leaf_characters=leaf_characters,
        limits=limits,
    )


def _recorded(program: str, config: dict[str, Any]) -> dict[str, Any]:
    """The options of a program as its run was started with them; a sandbox only where code runs in one."""
    keywords = PROGRAMS[program].keywords if program in PROGRAMS else {}
    found = {name: config.get(keyword) for name, keyword in keywords.items()}
    if found.get("action_space") != "repl":
        found.pop("sandbox", None)
    return found


def known_partitioner(name: str) -> None:
    """Raise UserError if there is no partitioner of this name."""
    from data.partition import PARTITIONERS

    known("partitioner", name, PARTITIONERS)


def known(what: str, name: str, names: Iterable[str]) -> None:
    """Raise UserError if there is nothing of this kind and name."""
    names = list(names)
    if name not in names:
        raise UserError(f"there is no {what} named {name!r}", hint=f"one of: {', '.join(names)}")
