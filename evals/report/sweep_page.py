"""The page of a sweep: its fronts, its configurations, and their differences to the default, as one HTML file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from evals.log import EvalLog
from evals.measures import MEASURES
from evals.numerals import NONE, changed, compact, number, plural, probability, share, signed
from evals.report.drawings import Drawing
from evals.report.fronts import UNITS, Axis, Mark, front_chart
from evals.report.rendering import still
from evals.report.run_facts import Pairs
from evals.report.tables import Cell, Line, Table, between
from evals.report.text import cut, shown
from evals.trials import COSTS, QUALITIES, Cost, Gain, Trial, Trials

_GROUPS = 8
"""Values of a parameter that are told apart by color at most."""


@dataclass(frozen=True, slots=True)
class SweepPage:
    """What the page shows."""

    title: str
    subtitle: str
    cautions: tuple[str, ...]
    verdicts: tuple[str, ...]
    charts: tuple[Drawing, ...]
    configurations: Table
    gains: Table
    method: tuple[str, ...]
    facts: Pairs


def sweep_html(found: Trials, log: EvalLog, drawn: Mapping[Cost, str]) -> str:
    """The whole file, with the fronts as they are drawn. It needs nothing else and asks for nothing."""
    return still("sweep.html", page=sweep_page(found, log, drawn))


def sweep_page(found: Trials, log: EvalLog, drawn: Mapping[Cost, str]) -> SweepPage:
    """What the page of a sweep shows, from what it came to, its log and its fronts."""
    others = len(found.trials) - 1
    quality = MEASURES[found.quality].title
    return SweepPage(
        title=shown(f"{found.program}: {plural(others, 'configuration')} beside the default"),
        subtitle=shown(_subtitle(found)),
        cautions=tuple(cautions(found)),
        verdicts=tuple(verdicts(found)),
        charts=tuple(
            Drawing(
                Markup(chart),
                f"{quality} against {UNITS[cost]}, means. Numbers are those of the table; filled marks are best for"
                " their cost.",
            )
            for cost, chart in drawn.items()
        ),
        configurations=_configurations(found),
        gains=_gains(found),
        method=_method(found),
        facts=_facts(log),
    )


def fronts(found: Trials) -> dict[Cost, str]:
    """The front of the quality against each cost that is known, as an SVG element."""
    return {cost: _front(found, cost) for cost in COSTS if _known(found, cost)}


def _front(found: Trials, cost: Cost) -> str:
    series, groups = _series(found)
    marks = [
        Mark(str(each.number), series[each.number], spent, reached, ringed=not each.number)
        for each, spent, reached in _known(found, cost)
    ]
    axis = Axis(UNITS[cost], MEASURES[found.quality].title, "the default")
    return front_chart(f"front-{cost}", marks, axis, groups)


def verdicts(found: Trials) -> list[str]:
    """Where the default is, against each cost, in words."""
    return [_verdict(found, cost) for cost in COSTS if _known(found, cost)]


def cautions(found: Trials) -> list[str]:
    """What the means leave out, and what a winner of many is worth."""
    told = []
    if not found.complete:
        told.append("The sweep is not finished: its means are of the samples so far.")
    for each in found.trials:
        if each.errors:
            told.append(
                f"{each.number}: {plural(each.errors, 'sample')} ended in an error, and are in no mean."
            )
    counts = {each.means[found.quality].questions for each in found.trials}
    if len(counts) > 1:
        few, many = min(counts), max(counts)
        told.append(
            f"Means of {MEASURES[found.quality].title} rest on {few:,} to {many:,} questions:"
            " the paired differences are on the same ones."
        )
    if len(found.trials) > 2:
        told.append(
            f"The best of {len(found.trials):,} configurations is the best partly by chance: confirm it on questions"
            " that the sweep has not seen."
        )
    return [shown(each) for each in told]


def _verdict(found: Trials, cost: Cost) -> str:
    default, quality = found.default, MEASURES[found.quality].title
    against = f"{quality} against {cost}"
    if default.means[cost].mean is None:
        return f"{against}: {cost} of the default are not known."
    if default.fronts[cost]:
        return f"{against}: the default is on the front."
    short = default.shortfalls[cost]
    if short is None:
        return f"{against}: {quality} of the default is undefined."
    ahead = _ahead(found, cost)
    quality_gain, cost_gain = ahead.gains[found.quality], ahead.gains[cost]
    chance = "; both may be chance" if _may_be_0(quality_gain) and _may_be_0(cost_gain) else ""
    return (
        f"{against}: the default is behind {ahead.number}: {quality} {_paired(quality_gain, signed)},"
        f" {cost} {_paired(cost_gain, changed)} (paired){chance}."
    )


def _paired(gain: Gain, write: Callable[[float | None], str]) -> str:
    cell = _gained(gain, write)
    return f"{cell.text} {cell.small}".strip()


def _may_be_0(gain: Gain) -> bool:
    return gain.low is None or gain.high is None or gain.low <= 0 <= gain.high


def _ahead(found: Trials, cost: Cost) -> Trial:
    """The best configuration that costs no more than the default, the cheapest of these."""
    known = _known(found, cost)
    (most,) = (spent for each, spent, _ in known if not each.number)
    reached = [
        (-quality, spent, each.number)
        for each, spent, quality in known
        if each.number and spent <= most
    ]
    return found.trials[min(reached)[2]]


def _known(found: Trials, cost: Cost) -> list[tuple[Trial, float, float]]:
    """Trials whose cost and quality are known, with both."""
    known = []
    for each in found.trials:
        spent, reached = each.means[cost].mean, each.means[found.quality].mean
        if spent is not None and reached is not None:
            known.append((each, spent, reached))
    return known


def _series(found: Trials) -> tuple[list[int], list[str]]:
    """The group of each trial by color, and the names of the groups: values of the first parameter that varies."""
    values = {
        name: list(dict.fromkeys(each.choices.get(name) for each in found.trials[1:]))
        for each in found.trials[1:2]
        for name in each.choices
    }
    name = next((name for name, each in values.items() if 1 < len(each) <= _GROUPS), None)
    if name is None:
        return [0, *([1] * (len(found.trials) - 1))], ["", "configurations"]
    groups = ["", *(shown(f"{name}={value}") for value in values[name])]
    at = {value: number for number, value in enumerate(values[name], 1)}
    return [0, *(at[each.choices.get(name)] for each in found.trials[1:])], groups


def _subtitle(found: Trials) -> str:
    split = f", split {found.split}" if found.split else ""
    epochs = f", {found.epochs} epochs" if found.epochs > 1 else ""
    return (
        f"set {found.question_set} {found.set_version}{split}, {plural(found.questions, 'question')}{epochs},"
        f" seed {found.seed}"
    )


def _configurations(found: Trials) -> Table:
    series, _ = _series(found)
    return Table(
        (
            "configuration",
            "samples",
            *(MEASURES[name].title for name in QUALITIES),
            *(UNITS[cost] for cost in COSTS),
            "best for its",
        ),
        tuple(
            Line(
                shown(f"{each.number}  {_label(each)}"),
                series[each.number],
                (
                    Cell(f"{each.samples:,}", f"{each.errors:,} errors" if each.errors else ""),
                    *(_measured(each, name, share) for name in QUALITIES),
                    *(_measured(each, name, compact) for name in COSTS),
                    Cell(_best_for(each) or NONE),
                ),
            )
            for each in found.trials
        ),
    )


def _best_for(trial: Trial) -> str:
    """The costs on whose front a configuration is."""
    return ", ".join(cost for cost in COSTS if trial.fronts[cost])


def _label(trial: Trial) -> str:
    told = ", ".join(f"{name}={value}" for name, value in trial.choices.items())
    return told or f"{trial.name}, the default"


def _measured(trial: Trial, name: str, write: Callable[[float | None], str]) -> Cell:
    found = trial.means[name]
    return Cell(write(found.mean), between(found.low, found.high, write))


def _gains(found: Trials) -> Table:
    names = (*QUALITIES, *COSTS)
    return Table(
        ("configuration", *(MEASURES[name].title for name in names), "p (Holm)", "pairs"),
        tuple(
            Line(
                shown(f"{each.number}  {_label(each)}"),
                None,
                (
                    *(
                        _gained(each.gains[name], signed if name in QUALITIES else changed)
                        for name in names
                    ),
                    Cell(probability(each.gains[found.quality].p_holm)),
                    Cell(number(each.gains[found.quality].pairs)),
                ),
            )
            for each in found.trials[1:]
        ),
        caption="Configuration minus default, paired by question, with 95 % intervals over documents.",
    )


def _gained(gain: Gain, write: Callable[[float | None], str]) -> Cell:
    return Cell(write(gain.delta), between(gain.low, gain.high, write))


def _method(found: Trials) -> tuple[str, ...]:
    quality = MEASURES[found.quality].title
    return (
        f"A configuration is best for its cost where no other one has at least its {quality} for less, or more for as"
        " much. Means over questions; what is undefined or an error is left out.",
        "Seconds are wall time a question. What came from a cache has none.",
        f"P-values are of {quality}, adjusted for the number of configurations (Holm). They take questions as"
        " independent; the intervals resample documents.",
    )


def _facts(log: EvalLog) -> Pairs:
    manifest, notes = log.manifest, log.manifest.notes
    pairs: Sequence[tuple[str, str]] = [
        ("identity", manifest.identity),
        ("code", f"{manifest.code}, commit {notes.commit or 'not known'}"),
        ("versions", ", ".join(f"{name} {each}" for name, each in manifest.versions.items())),
        *((name, str(each.configuration)) for name, each in manifest.programs.items()),
        *([("command", notes.command)] if notes.command else []),
    ]
    return tuple((shown(name), cut(value, 1500)) for name, value in pairs)
