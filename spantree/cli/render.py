"""The answer as a page for a terminal: statements, sources, conflicts, what is not covered, steps, receipt."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from programs.answer import Answer, Characters, Conflict, Coverage, Receipt, Search
from programs.selection import RANKED_ONLY
from programs.tally import NOT_BY_CODE
from runtime.claims import Citation, Claim
from spantree.cli.citations import Numbering, location
from spantree.cli.page import INDENT, Page
from spantree.cli.terminal import count, plain, wrap

LISTED = 12
"""Unknowns, sources and truncations that are listed one by one; the others are counted."""

_ABSENT = ("not_found", "not_found_in_covered")

PLACES = 2
"""Places that are named for each side of a conflict."""

_TICKS = {"completed": "✓", "pending": "·", "running": "·", "skipped": "-"}


def render_answer(answer: Answer, width: int) -> Page:
    """Lay out an answer for `width` cells."""
    page = Page(width)
    numbering = Numbering()
    numbering.add(stated(answer))
    _statements(page, answer, numbering)
    _sources(page, numbering)
    _conflicts(page, answer, numbering)
    _not_covered(page, answer)
    _warnings(page, answer)
    _steps(page, answer)
    if answer.route:
        page.lines.append(Text())
        page.item(route_words(answer.program, answer.route), lead="", indent="", style="dim")
    page.parts(receipt_parts(answer.receipt, answer.run_id), style="dim")
    return page


def route_words(program: str, reason: str) -> str:
    """Which program answers, and why it was chosen."""
    return f"answered by {program}: {reason}"


def outcome_words(answer: Answer) -> str:
    """The outcome in plain words."""
    match answer.outcome:
        case "answered":
            return ""
        case "partial":
            limits = [each for each in answer.warnings if each.startswith("limit")]
            gaps = [*limits, *_gaps(answer.coverage), *_short(answer)]
            return (
                "; ".join(gaps or _unsubmitted(answer))
                or "something stands between this and the whole"
            )
        case "not_found":
            return "all that had to be examined was, and it is not there"
        case "not_found_in_covered":
            gaps = _gaps(answer.coverage)
            reason = _UNSTATED if _is_unstated(answer) else "not all of the text was examined"
            return "; ".join(gaps) or reason
        case "escalated":
            return "a person has to decide"
        case "failed":
            return "; ".join(_gaps(answer.coverage)) or "no answer could be made"


def outcome_title(answer: Answer) -> str:
    """The outcome as a title, with what it lacks."""
    words = outcome_words(answer)
    title = "No answer" if words == _UNSTATED else _TITLES[answer.outcome]
    return f"{title}: {words}" if words else title


def _is_unstated(answer: Answer) -> bool:
    """Whether everything was examined, and something found of which nothing was stated."""
    return answer.outcome == "not_found_in_covered" and answer.coverage.ratio == 1.0


_UNSTATED = "something was found, but nothing was stated from it"


_TITLES = {
    "answered": "Answer",
    "partial": "Partial answer",
    "not_found": "Not found",
    "not_found_in_covered": "Not found in what was examined",
    "escalated": "Escalated",
    "failed": "Failed",
}


def _gaps(coverage: Coverage) -> list[str]:
    counted = (
        (len(coverage.failed), "failed"),
        (len(coverage.unread), "not examined"),
    )
    gaps = [f"{count(n, 'partition')} {what}" for n, what in counted if n]
    if coverage.unparsed:
        gaps.append(f"{count(len(coverage.unparsed), 'source')} not readable")
    return [*gaps, *_first_truncation(coverage.truncations)]


def _short(answer: Answer) -> Iterator[str]:
    """What makes an answer a part that has no gap: the warning below says more."""
    for reason, words in ((NOT_BY_CODE, NOT_BY_CODE.partition(":")[0]), (RANKED_ONLY, RANKED_ONLY)):
        if any(each.startswith(reason) for each in answer.warnings):
            yield words


def _unsubmitted(answer: Answer) -> list[str]:
    """Why an answer is a part that lacks nothing else: what it ended without."""
    return [each.partition(":")[0] for each in answer.degraded_by[-1:]]


def _first_truncation(truncations: Sequence[str]) -> Iterator[str]:
    """The first of them, and how many more there are: a title names one, the page below lists them."""
    if truncations:
        more = len(truncations) - 1
        yield truncations[0] + (f" (and {more:,} more)" if more else "")


def _statements(page: Page, answer: Answer, numbering: Numbering) -> None:
    page.heading(outcome_title(answer))
    for reason in answer.degraded_by:
        page.item(f"degraded: {reason}", lead="! ")
    if not _says_the_same(answer) and not (answer.outcome in _ABSENT and not stated(answer)):
        page.paragraphs(answer.text)
    for claim in stated(answer):
        page.item(_statement(claim, numbering))


def stated(answer: Answer) -> list[Claim]:
    """The statements that have evidence. The others are told as open questions."""
    return [claim for claim in answer.claims if claim.status != "insufficient"]


def _says_the_same(answer: Answer) -> bool:
    """Whether the text of the answer is made of its statements, so that it need not be printed twice."""
    rest = answer.text
    for claim in stated(answer):
        rest = rest.replace(claim.text, "", 1)
    return not any(char.isalnum() for char in rest)


def _statement(claim: Claim, numbering: Numbering) -> str:
    when = _when(claim)
    note = "" if claim.status == "direct" else f" ({claim.status})"
    marks = numbering.marks(claim)
    return f"{when}{claim.text}{note}{' ' + marks if marks else ''}"


def _when(claim: Claim) -> str:
    """The time in front of a statement, as far as the statement does not say it itself."""
    if not claim.time or claim.time in claim.text:
        return ""
    date, _, clock = claim.time.replace("T", " ").rpartition(" ")
    if clock and claim.text.startswith(clock):
        return f"{date} " if date else ""
    return f"{claim.time}  "


def _sources(page: Page, numbering: Numbering) -> None:
    if not numbering.entries:
        return
    page.heading("Sources")
    margin = len(str(len(numbering.entries)))
    for number, citation in enumerate(numbering.entries, start=1):
        lead = f"[{number}]".rjust(margin + 2) + " "
        where = plain(location(citation))
        quote = f'"{plain(citation.quote)}"'
        room = page.width - len(INDENT + lead)
        if cell_len(where) > room // 2 or wrap(f"{where}  {quote}", room)[0] == where:
            page.unbroken(where, lead=lead)
            page.item(quote, lead=" " * len(lead), lines=2)
        else:
            page.item(f"{where}  {quote}", lead=lead, lines=2)
        if number in numbering.hidden:
            page.item(f"… and {numbering.hidden[number]:,} more, see --json", lead=" " * len(lead))


def _conflicts(page: Page, answer: Answer, numbering: Numbering) -> None:
    if not answer.conflicts:
        return
    page.heading("Conflicts")
    claims = {claim.id: claim for claim in stated(answer)}
    for conflict in answer.conflicts:
        page.item(conflict.topic)
        sides = [list(side) for side in _sides(conflict, claims, numbering)]
        if 2 <= len(sides) <= 3:
            page.beside(sides)
        else:
            for side in sides:
                page.item("  ".join(side), lead="* ", indent=INDENT * 2)


def _sides(
    conflict: Conflict, claims: dict[str, Claim], numbering: Numbering
) -> Iterator[list[str]]:
    """The lines of each side: its value, and where it stands."""
    known = [claims[each] for each in conflict.claim_ids if each in claims]
    if not conflict.values:
        for claim in known:
            yield [plain(claim.text), *_places(claim.citations, numbering)]
        return
    cited = list(dict.fromkeys(citation for claim in known for citation in claim.citations))
    for i, value in enumerate(conflict.values):
        holding = [each for each in cited if value.casefold() in each.quote.casefold()]
        if not holding and len(cited) == len(conflict.values):
            holding = [cited[i]]
        yield [plain(value), *_places(holding, numbering)]


def _places(citations: Sequence[Citation], numbering: Numbering) -> list[str]:
    """Marks and locations of the first citations."""
    return [plain(f"{numbering.mark(each)}{location(each)}") for each in citations[:PLACES]] + (
        [f"… +{len(citations) - PLACES}"] if len(citations) > PLACES else []
    )


def _not_covered(page: Page, answer: Answer) -> None:
    coverage = answer.coverage
    missing = bool(answer.unknowns or _gaps(coverage))
    page.heading("Not found or not covered" if missing else "Coverage")
    _listed(page, answer.unknowns, "open questions")
    page.item(coverage_words(coverage))
    if coverage.characters:
        page.item(reach_words(coverage.characters))
    if coverage.unparsed:
        page.item("not readable: " + _some(coverage.unparsed))
    _listed(page, coverage.truncations, "gaps")
    _listed(page, [_search(each) for each in coverage.searches], "searches")


def coverage_words(coverage: Coverage) -> str:
    """How much of what had to be read was read, in one sentence."""
    required, completed = len(coverage.required), len(coverage.completed)
    total = f" (the corpus has {coverage.partitions:,})"
    if not required:
        return "no partition was required" + total
    gaps = [f"{len(coverage.failed):,} failed"] if coverage.failed else []
    gaps += [f"{len(coverage.unread):,} not"] if coverage.unread else []
    return f"examined {completed:,} of {count(required, 'required partition')}{total}" + "".join(
        f", {gap}" for gap in gaps
    )


def reach_words(characters: Characters) -> str:
    """How much of the text code read, a model was shown and the answer cites: three different things."""
    return (
        f"of {count(characters.total, 'character')} code read {characters.read:,}, "
        f"a model was shown {characters.shown:,}, the answer cites {characters.cited:,}"
    )


def _search(search: Search) -> str:
    if search.exhaustive:
        where = count(search.sources, "source")
        return f"searched every line of {where} for {search.query}: {count(search.total, 'line')}"
    best = count(search.total, "passage")
    return f"ranked by relevance for {search.query}: the best {best} (not exhaustive)"


def _warnings(page: Page, answer: Answer) -> None:
    if answer.warnings:
        page.heading("Warnings")
        _listed(page, answer.warnings, "warnings")


def _steps(page: Page, answer: Answer) -> None:
    done = sum(step.status == "completed" for step in answer.steps)
    if done == len(answer.steps):
        return
    page.heading("Steps", f"{done} of {len(answer.steps)} done")
    for step in answer.steps:
        note = "" if step.status == "completed" else f" ({step.status.replace('_', ' ')})"
        page.item(
            f"{step.id}  {step.description}{note}", lead=f"{_TICKS.get(step.status, '✗')} ", lines=2
        )


def receipt_parts(receipt: Receipt, run_id: str) -> tuple[str, ...]:
    """What the run used, as the parts of one line."""
    models = dict.fromkeys((receipt.model, receipt.leaf_model))
    cached = f" ({receipt.cached_calls:,} cached)" if receipt.cached_calls else ""
    failed = f", {receipt.failed_calls:,} failed" if receipt.failed_calls else ""
    tokens = receipt.input_tokens + receipt.output_tokens
    return (
        " + ".join(each for each in models if each),
        f"{count(receipt.calls, 'call')}{cached}{failed}",
        count(tokens, "token"),
        cost_words(receipt.cost_usd),
        f"{receipt.wall_seconds:.1f} s",
        f"run {run_id}",
    )


def cost_words(cost: float | None) -> str:
    """A cost in US dollars; an unknown price is not 0."""
    if cost is None:
        return "cost unknown"
    if cost == 0:
        return "no cost"
    return f"${cost:.4f}" if cost < 1 else f"${cost:,.2f}"


def _listed(page: Page, entries: tuple[str, ...] | list[str], what: str) -> None:
    for entry in entries[:LISTED]:
        page.item(entry, lines=4)
    if len(entries) > LISTED:
        page.item(f"… and {len(entries) - LISTED:,} more {what}, see --json")


def _some(names: tuple[str, ...]) -> str:
    rest = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f", … and {rest:,} more" if rest > 0 else "")
