"""Variants: programs as an evaluation names them, NAME, NAME:CHOICE or bundle:PATH, and how each is made."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runtime.errors import UserError
from spantree.cli.bundled import BUNDLE, bundled
from spantree.cli.settings import Settings

if TYPE_CHECKING:
    from evals.executor import Factory
    from programs.base import Program
    from spantree.cli.settings import Models

_CHOICES = {
    "tools": "action_space",
    "repl": "action_space",
    "monty": "sandbox",
    "deno": "sandbox",
    "always": "refine",
    "on_change": "refine",
    "on_failure": "refine",
    "never": "refine",
}
"""What may follow a name, and the setting that it is."""
_WITH_MEMORY = "simulated"
"""A model that fails differently when it is asked again begins each sample anew: else the order would matter."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One program of an evaluation, under the name that it has in the log."""

    name: str
    settings: Settings

    def factory(self, models: "Models") -> "Factory":
        """What makes the program for each sample."""
        names = (self.settings.model, self.settings.leaf_model)
        shared = None if any(each.startswith(_WITH_MEMORY) for each in names) else models

        def build() -> "Program":
            return self.settings.build(shared or self.settings.models(), None, None)

        return build


def variants(names: str, common: Settings) -> list[Variant]:
    """The programs that are named, each with the settings common to all. Raises UserError."""
    words = [each.strip() for each in names.split(",")]
    if not all(words):
        raise UserError("--program names no program", hint="for example --program recursive,direct")
    found = [_variant(each, common) for each in words]
    made = [each.name for each in found]
    twice = sorted({each for each in made if made.count(each) > 1})
    if twice:
        raise UserError(
            f"--program names {', '.join(twice)} more than once", hint="name each program once"
        )
    for each in found:
        each.settings.check()
    return found


def _variant(word: str, common: Settings) -> Variant:
    if word.startswith(BUNDLE):
        settings, id = bundled(word.removeprefix(BUNDLE), common)
        return Variant(f"{settings.program}@{id[:8]}", settings)
    name, *choices = word.split(":")
    return Variant(word, replace(common, program=name, **_chosen(word, choices)))


def _chosen(word: str, choices: Sequence[str]) -> dict[str, str]:
    unknown = [each for each in choices if each not in _CHOICES]
    if unknown:
        raise UserError(
            f"{word}: there is no choice {unknown[0]!r}", hint=f"one of: {', '.join(_CHOICES)}"
        )
    return {_CHOICES[each]: each for each in choices}
