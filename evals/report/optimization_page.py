"""The page of an optimization: before and after, the fronts, the candidates, what changed, and what was proposed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from evals.gains import Gain, gains
from evals.measures import MEASURES
from evals.numerals import NONE, changed, compact, number, plural, probability, share, signed
from evals.objective import COMPONENTS
from evals.optimization.candidates import Candidate
from evals.optimization.proposals import Proposal
from evals.optimization.results import Optimized
from evals.picks import COSTS, cost_of, on_front
from evals.report.changes import Change, changes
from evals.report.drawings import Drawing
from evals.report.fronts import UNITS, Axis, Mark, best_of, front_chart
from evals.report.rendering import still
from evals.report.run_facts import Pairs
from evals.report.tables import Cell, Line, Table, between
from evals.report.text import cut, shown
from evals.results import Estimated

_SHORT = 8
_TEMPLATE = "optimization.html"
_PROPOSALS = 60
_PROMPT = 6_000
_SERIES = ("as it was given", "tried")
_PAIRED = (
    "score",
    "verified_correct",
    "evidence_recall",
    "citation_precision",
    "correct",
    "calls",
    "tokens",
    "seconds",
)


@dataclass(frozen=True, slots=True)
class Proposed:
    """One reply of the model that reflects."""

    name: str
    prompt: str
    reply: str


@dataclass(frozen=True, slots=True)
class OptimizationPage:
    """Everything that the page shows. Its texts are made harmless; their markup is escaped by the template."""

    title: str
    subtitle: str
    verdict: str
    tone: str
    cautions: tuple[str, ...]
    sides: Table
    paired: tuple[Table, ...]
    charts: tuple[Drawing, ...]
    candidates: Table
    changes: tuple[Change, ...]
    proposals: tuple[Proposed, ...]
    proposals_left_out: str
    facts: Pairs


def rendered_optimization(found: Optimized) -> str:
    """The page as one HTML file that needs nothing else."""
    return still(_TEMPLATE, page=optimization_page(found))


def optimization_page(found: Optimized) -> OptimizationPage:
    """The page of an optimization."""
    gained = gains(found)
    told, tone = _verdict(found, gained)
    kept = found.proposals[-_PROPOSALS:]
    left_out = len(found.proposals) - len(kept)
    manifest = found.manifest
    return OptimizationPage(
        title=shown(
            f"{manifest.program_name} on {manifest.question_set.name}, optimized by {manifest.optimizer}"
        ),
        subtitle=shown(_subtitle(found)),
        verdict=told,
        tone=tone,
        cautions=tuple(map(shown, _cautions(found, gained))),
        sides=_sides(gained),
        paired=tuple(_paired(each) for each in gained if each.comparison),
        charts=tuple(_charts(found)),
        candidates=_candidates(found),
        changes=changes(found.seed.state, found.best.state) if found.seed and found.best else (),
        proposals=tuple(_proposed(each, at) for at, each in enumerate(kept, start=left_out + 1)),
        proposals_left_out=_left_out(left_out),
        facts=tuple(_facts(found)),
    )


def _subtitle(found: Optimized) -> str:
    splits = found.manifest.splits
    told = [
        f"{len(splits.train):,} train, {len(splits.validation):,} validation and {len(splits.test):,} test questions",
        plural(len(found.candidates), "candidate"),
        f"{found.rollouts:,} of {plural(found.manifest.budget, 'rollout')}",
        f"seed {found.manifest.seed}",
        {"finished": "finished", "budget": "budget spent", "interrupted": "interrupted"}[
            found.stopped
        ],
    ]
    return ", ".join(told)


def _verdict(found: Optimized, gained: Sequence[Gain]) -> tuple[str, str]:
    if found.best is None or found.seed is None:
        return "No candidate was run on all validation questions yet.", "warn"
    if found.best.id == found.seed.id:
        return (
            "Nothing beat the program as it was given: of the candidates that were run on all validation questions, it"
            " is the best.",
            "warn",
        )
    test = next((each for each in gained if each.split == "test"), None)
    if test is None or test.comparison is None:
        return (
            f"Candidate {found.best.id[:_SHORT]} is the best on the validation questions; it was not tested yet.",
            "warn",
        )
    difference = test.comparison.of("verified_correct")
    if difference.interval is None:
        return (
            f"On the test questions verified-correct went from {share(difference.before)} to {share(difference.after)};"
            " too few documents for an interval.",
            "warn",
        )
    low, high = difference.interval.low, difference.interval.high
    told = (
        f"On {plural(difference.pairs, 'test question')} verified-correct went from {share(difference.before)} to"
        f" {share(difference.after)}: {signed(difference.delta)} [{signed(low)}, {signed(high)}]."
    )
    if low <= 0 <= high:
        return f"{told} The interval holds 0: this may be chance.", "warn"
    return told, "good" if low > 0 else "bad"


def _cautions(found: Optimized, gained: Sequence[Gain]) -> Iterator[str]:
    if found.stopped == "interrupted":
        yield "It was interrupted: this is what was found so far."
    if found.unbundled:
        yield f"The best is no bundle: {found.unbundled}"
    for gain in gained:
        if gain.missing:
            yield f"The comparison on {gain.split} questions lacks {plural(gain.missing, 'sample')}."
        for side in gain.sides:
            if side.result.errors:
                yield (
                    f"{side.name.capitalize()}, {gain.split}: {plural(side.result.errors, 'sample')} ended in an error."
                    " Each scores 0, and is in no other metric."
                )


def _sides(gained: Sequence[Gain]) -> Table:
    columns = (
        "questions",
        "n",
        "score",
        "verified correct",
        "evidence recall",
        "citation precision",
        "calls a question",
        "tokens a question",
    )
    rows = []
    for gain in gained:
        for side in gain.sides:
            result, samples = side.result, max(1, side.result.samples)
            estimates = result.estimates
            cells = (
                Cell(
                    f"{result.samples:,}", plural(result.errors, "error") if result.errors else ""
                ),
                Cell(share(side.score)),
                _estimated(estimates["verified_correct"]),
                _estimated(estimates["evidence_recall"]),
                _estimated(estimates["citation_precision"]),
                Cell(number(result.calls / samples)),
                Cell(compact(result.tokens / samples)),
            )
            rows.append(Line(f"{gain.split}, {side.name}", None, cells))
    return Table(columns, tuple(rows))


def _estimated(found: Estimated) -> Cell:
    return Cell(share(found.mean), between(found.low, found.high))


def _paired(gain: Gain) -> Table:
    assert gain.comparison is not None
    columns = ("measure", "before", "after", "difference", "95 % interval", "p", "Holm", "pairs")
    rows = []
    for name in _PAIRED:
        each = gain.comparison.of(name)
        if not each.pairs:
            continue
        unit = MEASURES[name].unit if name in MEASURES else "share"
        write, change = (share, signed) if unit == "share" else (compact, changed)
        cells = (
            write(each.before),
            write(each.after),
            change(each.delta),
            between(*(each.interval or (None, None)), change) or NONE,
            probability(each.p),
            "" if each.p_holm is None else probability(each.p_holm),
            f"{each.pairs:,}",
        )
        rows.append(Line(name.replace("_", " "), None, tuple(map(Cell, cells))))
    told = {
        "validation": "Validation questions: the best was chosen by these, so that its gain here is too high.",
        "test": "Test questions, which no optimizer has seen.",
    }
    return Table(columns, tuple(rows), told[gain.split])


def _charts(found: Optimized) -> Iterator[Drawing]:
    for name, title in UNITS.items():
        marks = [
            Mark(each.id[:_SHORT], _series(each, found), cost, each.score, each == found.best)
            for each in found.candidates
            if each.complete
            and each.score is not None
            and (cost := cost_of(each, name)) is not None
        ]
        if marks and (name != "cost_usd" or _is_priced(found)):
            axis = Axis(title, "score, validation questions", "best score")
            best = ", ".join(each.label for each in best_of(marks))
            drawn = front_chart(f"front-{name}", marks, axis, _SERIES)
            yield Drawing(Markup(drawn), f"No other candidate beats in both: {best}.")


def _series(each: Candidate, found: Optimized) -> int:
    return 0 if each == found.seed else 1


def _remark(each: Candidate, found: Optimized) -> str:
    told = ["as it was given" if each == found.seed else "", "best" if each == found.best else ""]
    return ", ".join(filter(None, told))


def _is_priced(found: Optimized) -> bool:
    """Whether somebody paid a known price."""
    return any(each.cost_usd for each in found.candidates)


def _candidates(found: Optimized) -> Table:
    objectives = [
        name
        for name in (*COMPONENTS, "coverage")
        if any(name in each.scores for each in found.candidates)
    ]
    titles = [each.replace("_", " ") for each in objectives]
    priced = _is_priced(found)
    prices = ("USD",) if priced else ()
    columns = ("candidate", "run on", "score", *titles, "calls", "tokens", *prices, "seconds")
    costs = [
        name
        for name in COSTS
        if any(cost_of(e, name) is not None for e in found.candidates)
        and (priced or name != "cost_usd")
    ]
    fronts = {name: on_front(found.candidates, by=(name,)) for name in costs}
    ranked = sorted(found.candidates, key=lambda e: (not e.complete, -(e.score or 0), e.order))
    total = len(found.manifest.splits.validation)
    rows = []
    for each in ranked:
        beside = [name.removesuffix("_usd") for name in costs if each.id in fronts[name]]
        price = NONE if not each.validated else "not known"
        cells = (
            Cell(f"{each.validated:,} of {total:,}", _remark(each, found)),
            Cell(share(each.score)),
            *(Cell(share(each.scores.get(name))) for name in objectives),
            Cell(number(each.calls)),
            Cell(compact(each.tokens)),
            *([Cell(price if each.cost_usd is None else number(each.cost_usd))] if priced else []),
            Cell(number(each.seconds)),
            Cell("yes" if beside else NONE, "\n".join(beside)),
        )
        rows.append(Line(each.id, None, cells))
    return Table(
        (*columns, "front"),
        tuple(rows),
        "Means over validation questions. On the front of a cost is what no other complete candidate beats in score and"
        " that cost.",
    )


def _left_out(replies: int) -> str:
    if not replies:
        return ""
    told = "1 earlier reply" if replies == 1 else f"{replies:,} earlier replies"
    return f"{told} are left out: see proposals.jsonl."


def _proposed(each: Proposal, at: int) -> Proposed:
    used = plural(each.usage.input_tokens + each.usage.output_tokens, "token")
    return Proposed(
        name=f"Reply {at:,}: {used}, {number(each.seconds)} seconds",
        prompt=cut(each.prompt, _PROMPT),
        reply=cut(each.reply, _PROMPT),
    )


def _facts(found: Optimized) -> Iterator[tuple[str, str]]:
    manifest, spent = found.manifest, found.spent
    objective = manifest.objective
    weights = ", ".join(f"{name} {weight:g}" for name, weight in objective.weights.items())
    yield "set", shown(f"{manifest.question_set.name} {manifest.question_set.version}")
    yield "corpora", f"{len(manifest.question_set.corpora):,}, their versions are in manifest.json"
    yield (
        "objective",
        f"{objective.name}: {weights}; minus up to {objective.cost_weight:g} at {objective.budget_tokens:,} tokens;"
        " 0 for an error, an invalid citation or a limit that ended the run",
    )
    yield (
        "calls",
        f"{spent.calls:,} of the program's models, {spent.reflection_calls:,} of the model that reflects",
    )
    yield "tokens", f"{spent.tokens:,} and {spent.reflection_tokens:,}"
    yield "cost", "not known" if spent.cost_usd is None else f"${spent.cost_usd:,.4g}"
    yield "model that reflects", shown(manifest.reflection_model or "none")
    configuration = manifest.program.configuration
    yield "program", cut(f"{manifest.program.type} {configuration}", 1500)
    options = ", ".join(f"{name}={value}" for name, value in manifest.options.items())
    yield "options of the optimizer", shown(options or "none")
    yield "threshold of demos", f"{manifest.threshold:g}, at most {manifest.max_demos} each"
    yield "versions", shown(", ".join(f"{name} {each}" for name, each in manifest.versions.items()))
    commit = manifest.notes.commit or "not known"
    yield "code", f"{manifest.code}, metric {manifest.metric}, commit {shown(commit)}"
    if manifest.notes.command:
        yield "command", cut(manifest.notes.command, 1500)
