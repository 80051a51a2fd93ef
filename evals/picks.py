"""Picks: which candidate of an optimization to take, from the front of quality against what a question costs.

Only candidates that were run on all validation questions can be picked: a mean over fewer is of other questions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evals.objective import NOTHING
from evals.optimization.candidates import Candidate
from evals.pareto import Point, front
from runtime.errors import LimitsError, RunError, UserError

SCORE = "score"
"""The name of what was optimized, beside those of its objectives."""
_QUALITIES = (SCORE, *NOTHING)
"""What a candidate can be picked by."""
COSTS = ("tokens", "calls", "cost_usd", "seconds")
"""Means a question, by which candidates of equal quality are told apart: the first one first."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of a candidate. `caps` are the most of each of COSTS that a question may take.

    within: quality that may be given up for a lower cost; None for none. by: the cost that is then to be low.
    """

    objective: str = SCORE
    caps: Mapping[str, float] = field(default_factory=dict)
    within: float | None = None
    by: str = "tokens"

    def check(self) -> None:
        """Raise UserError for what can be seen to be wrong before anything is read."""
        if self.objective not in _QUALITIES:
            raise UserError(
                f"there is no objective {self.objective!r}", hint=f"one of: {', '.join(_QUALITIES)}"
            )
        if self.by not in COSTS:
            raise UserError(f"there is no cost {self.by!r}", hint=f"one of: {', '.join(COSTS)}")


@dataclass(frozen=True, slots=True)
class Pick:
    """The candidate that was picked, its quality, and why it is this one."""

    candidate: Candidate
    quality: float | None
    why: str


def quality_of(candidate: Candidate, objective: str = SCORE) -> float | None:
    """The quality of a candidate by an objective, None where it is undefined."""
    return candidate.score if objective == SCORE else candidate.scores.get(objective)


def cost_of(candidate: Candidate, name: str) -> float | None:
    """A cost of a candidate a question, None where it is not known."""
    return getattr(candidate, name)


def on_front(
    found: Iterable[Candidate], objective: str = SCORE, by: Sequence[str] = COSTS
) -> frozenset[str]:
    """The ids of the complete candidates that no other one beats."""
    points = [
        Point(each.id, quality_of(each, objective), {name: cost_of(each, name) for name in by})
        for each in found
        if each.complete
    ]
    return frozenset(each.name for each in front(points))


def pick(found: Sequence[Candidate], wish: Wish) -> Pick:
    """The candidate that fits a wish. Raises RunError, LimitsError or UserError where there is none."""
    wish.check()
    complete = [each for each in found if each.complete]
    if not complete:
        raise RunError(
            "no candidate was run on all validation questions yet",
            hint="go on with the optimization",
        )
    rated = [each for each in complete if quality_of(each, wish.objective) is not None]
    if not rated:
        raise UserError(
            f"{wish.objective} is undefined for every candidate", hint="choose another --objective"
        )
    _check_known(rated, (*wish.caps, *([wish.by] if wish.within is not None else [])))
    fit = [each for each in rated if _fits(each, wish.caps)]
    if not fit:
        raise LimitsError(f"no candidate stays within {_caps(wish.caps)}", hint=_least(rated, wish))
    top = max(_quality(each, wish) for each in fit)
    least = top if wish.within is None else top - wish.within
    # A sum of rounded numbers: 0.6 - 0.02 is not 0.58.
    good = [each for each in fit if _quality(each, wish) >= least - 1e-9]
    chosen = min(good, key=lambda each: (*_costs(each, wish), -_quality(each, wish), each.order))
    return Pick(chosen, quality_of(chosen, wish.objective), _why(chosen, top, fit, complete, wish))


def _check_known(rated: Sequence[Candidate], names: Iterable[str]) -> None:
    for name in names:
        unknown = sum(cost_of(each, name) is None for each in rated)
        if unknown:
            told = "the price of its model is not known" if name == "cost_usd" else "nothing says"
            raise LimitsError(
                f"what a question costs in {_named(name)} is not known of {unknown} of {len(rated)} candidates: {told}",
                hint="an unknown cost is not 0: cap calls or tokens instead (--max-calls, --max-tokens)",
            )


def _fits(candidate: Candidate, caps: Mapping[str, float]) -> bool:
    return all((cost_of(candidate, name) or 0) <= cap for name, cap in caps.items())


def _quality(candidate: Candidate, wish: Wish) -> float:
    return quality_of(candidate, wish.objective) or 0.0


def _costs(candidate: Candidate, wish: Wish) -> tuple[float, ...]:
    """The costs by which the lower of two is taken; what is not known counts as the highest there is."""
    names = [wish.by, *(name for name in COSTS if name != wish.by)]
    known = (cost_of(candidate, name) for name in names)
    return tuple(float("inf") if each is None else each for each in known)


def _why(
    chosen: Candidate,
    top: float,
    fit: Sequence[Candidate],
    complete: Sequence[Candidate],
    wish: Wish,
) -> str:
    among = f"{len(fit):,} of {len(complete):,} complete candidates"
    if wish.caps:
        among += f" within {_caps(wish.caps)}"
    what = wish.objective.replace("_", " ")
    if wish.within is None:
        return f"the best {what}, {top:.3f}, among {among}; of equals the one of fewer {wish.by}"
    lost = top - _quality(chosen, wish)
    return (
        f"the lowest {_named(wish.by)} among {among} whose {what} is at most {wish.within:g} below the best"
        f" ({top:.3f}); it gives up {max(0.0, lost):.3f}"
    )


def _caps(caps: Mapping[str, float]) -> str:
    return ", ".join(f"{cap:,g} {_named(name)}" for name, cap in caps.items()) + " a question"


def _least(rated: Sequence[Candidate], wish: Wish) -> str:
    lowest = {name: min(cost_of(each, name) or 0 for each in rated) for name in wish.caps}
    told = ", ".join(f"{value:,.4g} {_named(name)}" for name, value in lowest.items())
    return f"the least that candidates take is {told}"


def _named(name: str) -> str:
    return {"cost_usd": "USD"}.get(name, name)
