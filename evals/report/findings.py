"""Findings: in words, where another program is as good as `recursive` or better, and what `auto` loses by choosing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from evals.compare import Comparison, Difference, compare
from evals.contenders import Contender
from evals.intervals import FEWEST_CLUSTERS
from evals.measures import MEASURES, PRIMARY
from evals.numerals import NONE, number, plural, probability, share, signed
from evals.report.tables import Cell, Field, Line, Table
from evals.report.text import shown
from evals.rivals import CHOOSER, MARGIN, Regret, Rival, regret, rivals

PROGRAM = "recursive"
EVERYTHING = "all questions"


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence, with its numbers below it."""

    text: str
    detail: str = ""
    tone: str = ""


def findings(field: Field) -> tuple[list[Finding], Table]:
    """What is found, and the paired table behind it."""
    program = _first(field.entered, PROGRAM)
    others = [e for e in field.entered if e is not program and e.family != CHOOSER]
    found: list[Finding] = []
    table = Table((), ())
    if program is None:
        found.append(
            Finding(
                f"{PROGRAM} is not among these programs: there is nothing to hold them against."
            )
        )
    elif not others:
        found.append(Finding(f"There is no other program to hold {program.label} against."))
    else:
        found.extend(_against(program, others, field))
        table = _paired(program, others, field)
    chooser = _first(field.entered, CHOOSER)
    if chooser is not None:
        rest = [each for each in field.entered if each.family != CHOOSER]
        found.extend(_choice(regret(chooser, rest, seed=field.seed), chooser))
    return found, table


def _first(entered: Sequence[Contender], program: str) -> Contender | None:
    """The program by its plain name, else a variant of it."""
    found = [each for each in entered if each.family == program]
    return min(found, key=lambda each: each.program != program, default=None)


def _against(program: Contender, others: Sequence[Contender], field: Field) -> Iterator[Finding]:
    asked = [question for each in field.kinds.values() for question in each]
    scopes = {
        EVERYTHING: asked,
        **{f"{kind} questions": each for kind, each in field.kinds.items()},
    }
    told = rivals(program, others, scopes, seed=field.seed)
    good = [each for each in told if each.standing in ("better", "as good")]
    for scope, group in groupby(good, key=lambda each: each.scope):
        for each in group:
            tone = "bad" if each.standing == "better" else "warn"
            text = f"On {scope}, {each.rival} is {_words(each)} {program.label}"
            yield Finding(
                shown(text + _price(each, program)), _numbers(each.difference, each.p), tone
            )
    if not good:
        yield Finding(
            f"No other program is shown to be as good as {shown(program.label)} or better, on no kind of question.",
            f"As good: the paired interval stays above -{MARGIN:.2f}. What is not shown may still be so.",
        )
    unclear = [each for each in told if each.standing == "open" and each.scope == EVERYTHING]
    if unclear:
        names = ", ".join(shown(each.rival) for each in unclear)
        told = "; ".join(f"{each.rival} {_numbers(each.difference, each.p)}" for each in unclear)
        few = any(each.difference.clusters < FEWEST_CLUSTERS for each in unclear)
        why = f" There are too few documents: fewer than {FEWEST_CLUSTERS}." if few else ""
        yield Finding(f"Not decided by these samples, on all questions: {names}.{why}", shown(told))


def _words(rival: Rival) -> str:
    return "better than" if rival.standing == "better" else "as good as"


def _price(rival: Rival, program: Contender) -> str:
    if rival.costs is None:
        return "."
    return f", with {rival.costs:.0%} of the tokens of {program.label}."


def _numbers(found: Difference, p: float | None) -> str:
    if found.before is None or found.after is None or found.delta is None:
        return ""
    bounds = (
        f" [{signed(found.interval.low)}, {signed(found.interval.high)}]" if found.interval else ""
    )
    return (
        f"verified correct {share(found.after)} against {share(found.before)}: {signed(found.delta)}{bounds},"
        f" p = {probability(p)} (adjusted), {len(found.gained)} won and {len(found.lost)} lost"
        f" of {plural(found.pairs, 'pair')}"
    )


def _paired(program: Contender, others: Sequence[Contender], field: Field) -> Table:
    measures = [MEASURES[name] for name in PRIMARY]
    rows = []
    for each in others:
        told = compare(program, each, measures, seed=field.seed)
        cells = [_difference(told, name) for name in PRIMARY]
        tokens = compare(program, each, [MEASURES["tokens"]], seed=field.seed).of("tokens")
        cells.append(Cell(number(tokens.delta), "a question"))
        rows.append(Line(shown(each.label), field.entered.index(each), tuple(cells)))
    titles = (*(each.title for each in measures), "tokens")
    caption = f"Differences to {program.label} on the same questions; p adjusted among the three"
    return Table(("program", *titles), tuple(rows), shown(caption))


def _difference(told: Comparison, name: str) -> Cell:
    found = told.of(name)
    if found.delta is None:
        return Cell(NONE)
    bounds = (
        f"[{signed(found.interval.low)}, {signed(found.interval.high)}] " if found.interval else ""
    )
    return Cell(signed(found.delta), f"{bounds}p={probability(found.p_holm)}, n={found.pairs}")


def _choice(found: Regret, chooser: Contender) -> Iterator[Finding]:
    if found.mean is None:
        return
    bounds = (
        f" [{share(found.interval.low)}, {share(found.interval.high)}]" if found.interval else ""
    )
    text = f"The regret of {chooser.label} is {share(found.mean)}{bounds}: so much verified correct it loses"
    text += " against the program that was best for each question."
    gap = found.gap
    detail = f"over {plural(found.questions, 'question')}; "
    if gap is not None:
        how = "ahead of" if gap > 0 else "behind" if gap < 0 else "level with"
        detail += f"always taking {found.best} would be {how} it by {abs(gap):.2f}. "
    detail += "The best for each question is known only afterwards, and luck counts for it too."
    yield Finding(shown(text), shown(detail))
