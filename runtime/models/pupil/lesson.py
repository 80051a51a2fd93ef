"""A lesson: what the instructions and demos of one prompt teach the pupil, as the rates of its errors.

| error | rate is a dial times | 0 where the instructions say so |
|---|---|---|
| drop | the share of the demos' claims that have no evidence | yes |
| garble | the share of the demos' quotes that do not stand in what they show | yes |
| overcite | the demos' quotes a claim beyond the first, at most 1 | yes |
| guess | one half for each demo without a claim | yes |
| skip | one half for each demo with more than one claim | yes |
| silence | how far the demos without a claim outnumber those with one, of all | |
| malformed | the share of demos that have not the form asked | |

Without demos the factor is 1 for the first five errors, and 0 for the last two, which demos alone can teach.
"""

from dataclasses import dataclass

from runtime.models.dials import chance, dialled, digest
from runtime.models.pupil.demos import demos_of, habits_of
from runtime.models.pupil.rules import heeded
from runtime.models.request import PromptRequest

_OBJECTIVE = "your objective is:"


@dataclass(frozen=True)
class Faults:
    """The dials of the pupil: how often it errs with nothing to guide it. Probabilities; `latency` is in seconds.

    drop, garble, overcite and skip are of claims (or statements), guess of replies that should hold none; silence and
    malformed of replies, under demos that teach them.
    """

    seed: int = 0
    drop: float = 0.3
    garble: float = 0.2
    overcite: float = 0.4
    guess: float = 0.3
    skip: float = 0.15
    silence: float = 0.5
    malformed: float = 0.9
    latency: float = 0.0

    @classmethod
    def parse(cls, text: str) -> "Faults":
        """From `name=value,...`. Raises ModelError for an unknown name or a value out of range."""
        return dialled(cls, text, "pupil")


@dataclass(frozen=True)
class Lesson:
    """The rates that hold for one prompt, and the dice, which depend on a seed and on what is asked in the prompt.

    They do not depend on the instructions: the same claim is lost until something prevents it.
    """

    rates: dict[str, float]
    _dice: tuple[str | int, ...]

    @classmethod
    def of(cls, prompt: PromptRequest, faults: Faults, variation: int | None) -> "Lesson":
        """The lesson of a prompt. `variation`: the seed of a request that asks for another sample."""
        told = heeded(instructions_of(prompt))
        habits = habits_of(demos_of(prompt))
        silent = (2 * habits.silent - habits.of) / habits.of if habits.of else 0.0
        rates = {
            "drop": faults.drop * habits.bare,
            "garble": faults.garble * habits.altered,
            "overcite": faults.overcite * habits.extra,
            "guess": faults.guess * 0.5**habits.silent,
            "skip": faults.skip * 0.5**habits.several,
        }
        rates = {error: 0.0 if error in told else rate for error, rate in rates.items()}
        rates |= {
            "silence": faults.silence * max(0.0, silent),
            "malformed": faults.malformed * habits.broken,
        }
        dice = (faults.seed, prompt.user, "" if variation is None else variation)
        return cls(rates, dice)

    def errs(self, error: str, about: str = "") -> bool:
        """Whether an error is made, in the reply or about one claim of it."""
        return chance(*self._dice, error, about) < self.rates[error]

    def pick(self, among: int, about: str) -> int:
        """One of so many, always the same."""
        return int(digest(*self._dice, "pick", about)[:8], 16) % among


def instructions_of(prompt: PromptRequest) -> str:
    """The instructions of a prompt: its system message without the fields and their descriptions."""
    return prompt.system.partition(_OBJECTIVE)[2]
