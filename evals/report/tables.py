"""Tables of the report: programs by metric, by kind of question, by what they cost and by what they covered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from evals.abstention import abstention
from evals.contenders import Contender
from evals.estimates import Estimate, estimate
from evals.measures import MEASURES, Measure
from evals.metrics import Ratio
from evals.numerals import NONE, number, plural, share
from evals.report.text import shown
from evals.stats import quantile_interval, quantile_nearest
from evals.summary import summary
from evals.support import support

_BARS = 20
QUALITY = (
    "verified_correct",
    "correct",
    "evidence_recall",
    "citation_precision",
    "citation_validity",
)
REACH = ("target_coverage", "partition_coverage", "characters_read", "characters_shown")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its value, what is said below it, where it leads, and the length of its bar in steps of 5 %."""

    text: str
    small: str = ""
    best: bool = False
    width: int | None = None
    link: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table. `series` is the color of its program, or None."""

    name: str
    series: int | None
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first of its columns has the names of the rows."""

    columns: tuple[str, ...]
    rows: tuple[Line, ...]
    caption: str = ""


@dataclass(frozen=True)
class Field:
    """Who is compared on what: programs, clusters of questions, the questions of each kind, and the seed."""

    entered: tuple[Contender, ...]
    cluster_of: Mapping[str, str]
    kinds: Mapping[str, tuple[str, ...]]
    seed: int
    _estimates: dict[tuple[str, str, str | None], Estimate] = field(default_factory=dict)

    def estimate(self, contender: Contender, name: str, kind: str | None = None) -> Estimate:
        """A measure of a program, on one kind of question or on all. Tables and charts share it."""
        key = (contender.label, name, kind)
        if key not in self._estimates:
            within = None if kind is None else self.kinds[kind]
            self._estimates[key] = estimate(
                contender, MEASURES[name], self.cluster_of, within, seed=self.seed
            )
        return self._estimates[key]


def headline(field: Field) -> Table:
    """Programs by the metrics of quality, and by whether they know when there is no answer."""
    rightly, wrongly = zip(*map(_abstention, field.entered), strict=True)
    columns: dict[str, Sequence[Cell]] = {"samples": [_counted(each) for each in field.entered]}
    columns |= {MEASURES[name].title: _measured(field, MEASURES[name]) for name in QUALITY[:1]}
    columns["verified, of all"] = [_of_all(each) for each in field.entered]
    columns |= {MEASURES[name].title: _measured(field, MEASURES[name]) for name in QUALITY[1:]}
    columns["unsupported"] = _supports(field)
    columns |= {"abstained rightly": rightly, "abstained wrongly": wrongly}
    known = {title: each for title, each in columns.items() if any(c.text != NONE for c in each)}
    return _table(field, ["program", *known], [*known.values()])


def spending(field: Field) -> Table:
    """Programs by what they use."""
    columns = [
        _amounts(field, "calls"),
        _amounts(field, "tokens"),
        [_cost(each) for each in field.entered],
        [_seconds(each, 0.5) for each in field.entered],
        [_seconds(each, 0.95) for each in field.entered],
    ]
    titles = [
        "calls a question",
        "tokens a question",
        "cost in all",
        "seconds, median",
        "seconds, P95",
    ]
    return _table(field, ["program", *titles], columns)


def by_kind(field: Field) -> Table:
    """Verified-correct by kind of question; a cell leads to its samples."""
    columns = []
    for kind in field.kinds:
        found = [field.estimate(each, "verified_correct", kind) for each in field.entered]
        links = [
            "#samples&" + urlencode({"program": each.label, "kind": kind}) for each in field.entered
        ]
        columns.append(
            [
                _cell(each, link=link, best=best, bar=True)
                for each, link, best in zip(found, links, _best(found, higher=True), strict=True)
            ]
        )
    return _table(field, ["program", *field.kinds], columns)


def reach(field: Field) -> Table:
    """What was examined: shares of partitions and of characters."""
    titles = [MEASURES[name].title for name in REACH]
    columns = [_measured(field, MEASURES[name], bar=True, rank=False) for name in REACH]
    return _table(field, ["program", *titles], columns)


def _table(field: Field, titles: Sequence[str], columns: Sequence[Sequence[Cell]]) -> Table:
    rows = (
        Line(shown(each.label), at, cells)
        for at, (each, cells) in enumerate(
            zip(field.entered, zip(*columns, strict=True), strict=True)
        )
    )
    return Table(tuple(titles), tuple(rows))


def _measured(
    field: Field, measure: Measure, *, bar: bool = False, rank: bool = True
) -> list[Cell]:
    found = [field.estimate(each, measure.name) for each in field.entered]
    best = _best(found, higher=measure.higher) if rank else [False] * len(found)
    return [_cell(each, best=b, bar=bar) for each, b in zip(found, best, strict=True)]


def _cell(found: Estimate, *, link: str = "", best: bool = False, bar: bool = False) -> Cell:
    width = None if found.mean is None or not bar else round(found.mean * _BARS)
    told = [bounds(found), f"n={found.questions}" if found.undefined else ""]
    return Cell(share(found.mean), "\n".join(filter(None, told)), best, width, link)


def bounds(found: Estimate, write: Callable[[float | None], str] = share) -> str:
    """An interval as it is written; nothing where it does not exist."""
    return "" if found.mean is None else between(*(found.interval or (None, None)), write)


def between(
    low: float | None, high: float | None, write: Callable[[float | None], str] = share
) -> str:
    """The two ends of an interval as they are written; nothing where one does not exist."""
    return "" if low is None or high is None else f"[{write(low)}, {write(high)}]"


def _best(found: Sequence[Estimate], *, higher: bool) -> list[bool]:
    known = [each.mean for each in found if each.mean is not None]
    if len(known) < 2 or len(set(known)) < 2:
        return [False] * len(found)
    top = max(known) if higher else min(known)
    return [each.mean == top for each in found]


def _counted(contender: Contender) -> Cell:
    planned = len(contender.log.manifest.questions) * contender.log.manifest.epochs
    errors = sum(record.state == "error" for record in contender.records)
    missing = planned - len(contender.records)
    told = [plural(errors, "error")] if errors else []
    told += [f"{missing:,} missing"] if missing else []
    return Cell(f"{len(contender.records):,}", ", ".join(told))


def _of_all(contender: Contender) -> Cell:
    """Verified-correct samples of all, where an error or an unreadable answer is no success."""
    measure = MEASURES["verified_correct"]
    right = sum(measure.value(each) == 1 for each in contender.records)
    return _ratio(Ratio(right, len(contender.records)))


def _supports(field: Field) -> list[Cell]:
    """The rates of unsupported statements; the best is marked only among programs with the same judge."""
    found = [
        support(
            [record.score for record in each.records if record.score],
            field.cluster_of,
            seed=field.seed,
        )
        for each in field.entered
    ]
    rates = [each.rate for each in found]
    known = {rate for rate in rates if rate is not None}
    same = all(each.log.judge == field.entered[0].log.judge for each in field.entered)
    cells = []
    for each in found:
        told = [ends] if (ends := between(each.low, each.high)) else []
        told += [f"{each.judged:,} judged"] if each.judged else []
        told += [f"{each.unjudged:,} unjudged"] if each.unjudged else []
        best = same and len(known) > 1 and each.rate == min(known)
        cells.append(Cell(share(each.rate), "\n".join(told), best))
    return cells


def _abstention(contender: Contender) -> tuple[Cell, Cell]:
    scores = [each.score for each in contender.records if each.score]
    found = abstention((each.answerable, each.state) for each in scores)
    return _ratio(found.recall), _ratio(found.false_abstention)


def _ratio(ratio: Ratio) -> Cell:
    if ratio.value is None:
        return Cell(NONE)
    return Cell(share(ratio.value), f"{ratio.num:,.0f} of {ratio.den:,.0f}")


def _amounts(field: Field, name: str) -> list[Cell]:
    found = [field.estimate(each, name) for each in field.entered]
    best = _best(found, higher=False)
    return [
        Cell(number(each.mean), bounds(each, number), b)
        for each, b in zip(found, best, strict=True)
    ]


def _cost(contender: Contender) -> Cell:
    scores = [each.score for each in contender.records if each.score]
    costs = summary(scores, epochs=contender.log.manifest.epochs).costs
    if costs.cost_unknown == len(scores):
        return Cell("not known")
    told = f"{costs.cost_unknown:,} not known" if costs.cost_unknown else ""
    return Cell(f"${costs.cost_usd:.4g}", told)


def _seconds(contender: Contender, quantile: float) -> Cell:
    timed = list(filter(None, map(MEASURES["seconds"].value, contender.records)))
    found = quantile_interval(timed, quantile)
    low, high = (number(each) if each is not None else "unbounded" for each in found)
    cached = sum(each.cached for each in contender.records)
    told = f"[{low}, {high}]" + (f", {cached:,} cached left out" if cached else "")
    return Cell(number(quantile_nearest(timed, quantile)), told if timed else "")
