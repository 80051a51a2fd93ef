"""Exploration: which tool is called next on the way to a goal.

A way is a generator of calls that is sent what came of each. It depends on its goal and on those outputs alone, so it
holds no state between turns: the turns of a prompt are gone through again, and where they end the next call is due.
"""

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runtime.models.extractive.findings import Findings, dicts, shown_line, text
from runtime.models.extractive.goal import Goal, Way
from runtime.models.extractive.match import all_match
from signatures import EvidenceSpan, ToolName

PASSAGES = 12
_PAGES = 2
_LAST_PAGES = 4
_CLAIM_PAGES = 3
"""As many outputs of full size are what a prompt still shows."""
_MOST_IDS = 1_000
_MOST_SOURCES = 6
_COMPLETE = frozenset(("list", "timeline"))
_MANY = 10_000


@dataclass(frozen=True)
class Call:
    """A call of a tool: its arguments by the names of the tool, and why it is made."""

    tool: ToolName
    arguments: Mapping[str, Any]
    think: str


@dataclass(frozen=True)
class Turn:
    """A turn of the prompt: the tool, and its output; empty where the prompt no longer shows it."""

    tool: str
    output: Mapping[str, Any]


@dataclass(frozen=True)
class _Seen:
    """What came of a call, and how many more may follow it."""

    output: Mapping[str, Any]
    left: int

    @property
    def failed(self) -> bool:
        return "error" in self.output

    @property
    def cursor(self) -> int | None:
        value = self.output.get("next_cursor")
        return value if isinstance(value, int) else None


_Calls = Generator[Call, _Seen, None]
_Searched = Generator[Call, _Seen, _Seen]


def output_of(shown: str) -> Mapping[str, Any]:
    """The output of a tool as a prompt shows it: empty where it was cut, an error where it is no JSON at all."""
    try:
        value = json.loads(shown)
    except ValueError:
        return {} if shown.lstrip().startswith("{") else {"error": shown[:200]}
    return value if isinstance(value, dict) else {"error": str(value)[:200]}


def explored(
    goals: Sequence[Goal], turns: Sequence[Turn], left: int = _MANY
) -> tuple[Call | None, list[Findings]]:
    """The next call, None when it is time to submit; and what was found. `left`: calls that may still be made.

    A turn that is not the one that was due (another model took it, or it was refused) is passed over.
    """
    found = [Findings(goal) for goal in goals]
    calls = _all_ways(found)
    due = next(calls, None)
    for number, turn in enumerate(turns, 1):
        if due is None:
            break
        if turn.tool == due.tool:
            due = _sent(calls, _Seen(turn.output, left + len(turns) - number))
    return (due if left > 0 else None), found


def _sent(calls: _Calls, seen: _Seen) -> Call | None:
    try:
        return calls.send(seen)
    except StopIteration:
        return None


def _all_ways(found: Sequence[Findings]) -> _Calls:
    for each in found:
        yield from _WAYS[each.goal.way](each)
        if each.goal.kind == "conflict":
            yield from _contexts(each)


def _contexts(found: Findings) -> _Calls:
    """The lines of what seems to be at odds: the next sentence may say that it replaces the other."""
    think = "Claims differ: what stands around them may say that one replaces the other."
    for claim_id, source, line in found.disputed():
        arguments = {"source": source, "first_line": line, "last_line": line + 1}
        seen = yield Call("read_span", arguments, think)
        found.add_context(claim_id, seen.output)


def _count(found: Findings) -> _Calls:
    goal = found.goal
    think = "A count is made by code, over every line."
    arguments = {"pattern": goal.pattern, "source": goal.source}
    seen = yield Call("count", {**arguments, "by": goal.by}, think)
    if seen.failed and goal.by == "time":
        # Lines without times cannot be counted by them; how many they are is still known.
        seen = yield Call("count", {**arguments, "by": ""}, think)
    found.add_count(seen.output)


def _search(found: Findings) -> _Calls:
    seen, ids = yield from _pages(found)
    if seen.failed and not ids:
        yield from _rank(found)
    elif not seen.output and not ids:
        yield from _read(found, list(found.goal.sources), "What the search found is out of sight.")
    elif seen.cursor is not None and found.goal.kind in _COMPLETE:
        sources = [text(each, "source") for each in dicts(seen.output, "by_source")]
        wanted = [each for each in sources if each in (found.goal.sources or sources)]
        yield from _read(found, wanted or ids, "There are too many hits to name: all is read.")
    elif ids:
        yield from _read(found, ids, "The lines with the strings of the question are read.")
    elif found.goal.widens:
        yield from _rank(found)


def _pages(found: Findings) -> Generator[Call, _Seen, tuple[_Seen, list[str]]]:
    """The first pages of a search, and the spans with hits."""
    ids: dict[str, None] = {}
    seen = yield _look(found.goal, found.goal.source, 0)
    page = 1
    while True:
        ids |= dict.fromkeys(found.add_lines(dicts(seen.output, "hits")))
        if seen.cursor is None or page == _PAGES or seen.left < 2:
            return seen, list(ids)
        seen = yield _look(found.goal, found.goal.source, seen.cursor)
        page += 1


def _look(goal: Goal, source: str, cursor: int) -> Call:
    arguments = {"pattern": goal.pattern, "source": source, "cursor": cursor}
    return Call("search", arguments, "The question names exact strings: every line is searched.")


def _extreme(found: Findings) -> _Calls:
    """The first or last of the matching lines. In a source, lines stand in the order of time."""
    goal = found.goal
    first = seen = yield _look(goal, goal.source, 0)
    if not first.output:
        first = seen = yield _look(goal, goal.source, 0)
    found.add_lines(dicts(seen.output, "hits"))
    if first.cursor is not None:
        for source, start in _ends(goal, first):
            seen = yield from _from(found, source, start, seen)
    found.tell_extreme()
    if found.told is None:
        if first.failed:
            yield from _rank(found)
        return
    arguments = {"span_id": found.told.span_id}
    seen = yield Call("read_span", arguments, "The line that is asked for is read in full.")
    found.told = _verbatim(found.told, goal, seen.output)


def _ends(goal: Goal, first: _Seen) -> Iterator[tuple[str, int]]:
    """From where to look in each source that has hits: from its beginning, or from its last page."""
    shown = len(dicts(first.output, "hits"))
    by_offset = first.cursor == shown
    counts = dicts(first.output, "by_source")[:_MOST_SOURCES]
    for each in counts:
        source, total = text(each, "source"), each.get("count")
        if goal.sources and source not in goal.sources:
            continue
        if goal.latest and by_offset and isinstance(total, int):
            yield source, max(0, total - shown)
        elif goal.latest or len(counts) > 1:
            yield source, 0


def _from(found: Findings, source: str, start: int, before: _Seen) -> _Searched:
    """The hits of a source from a place on: a page, or all the way to the last line."""
    cursor: int | None = start
    pages = _LAST_PAGES if found.goal.latest else 1
    seen = before
    while cursor is not None and pages and seen.left > 2:
        seen = yield _look(found.goal, source, cursor)
        found.add_lines(dicts(seen.output, "hits"))
        cursor, pages = seen.cursor, pages - 1
    return seen


def _verbatim(told: EvidenceSpan, goal: Goal, output: Mapping[str, Any]) -> EvidenceSpan:
    """The line as its span has it; as the search showed it where the span is not to be had.

    Another span than the one that was settled on was settled on when more outputs were in sight: its line it is.
    """
    for span in map(shown_line, dicts(output, "spans")):
        rows = [row.rstrip("\r") for row in span.text.split("\n")]
        number = told.first_line - span.first_line
        if span.span_id != told.span_id:
            held = all_match(goal.patterns, rows)
            rows, number = [row for row, match in zip(rows, held, strict=True) if match], 0
        elif told.text in span.text:
            return told
        if 0 <= number < len(rows):
            return span.model_copy(update={"text": rows[number]})
    return told


def _rank(found: Findings) -> _Calls:
    arguments = {"query": found.goal.query, "k": PASSAGES}
    seen = yield Call("rank", arguments, "The passages that are most relevant are looked for.")
    ids = found.add_lines(dicts(seen.output, "passages"))
    if ids:
        yield from _read(found, ids, "The most relevant passages are read.")
    elif seen.failed or not seen.output:
        yield from _everything(found)


def _everything(found: Findings) -> _Calls:
    think = "Nothing less than everything in scope answers this: it is read."
    parts = [[part] for part in found.goal.parts]
    for ids in parts or [list(found.goal.sources)]:
        yield from _read(found, ids, think)


def _read(found: Findings, ids: Sequence[str], think: str) -> _Calls:
    """Let readers answer; where that fails, let them answer from less."""
    asked = _asking(found.goal, list(ids), think)
    seen = yield asked
    if seen.failed:
        fewer = list(ids)[:PASSAGES]
        if not found.lines:
            arguments = {"query": found.goal.query, "k": PASSAGES}
            ranked = yield Call("rank", arguments, "Everything cannot be read: a part of it can.")
            fewer = found.add_lines(dicts(ranked.output, "passages"))
        if not fewer or fewer == list(ids):
            return
        asked = _asking(found.goal, fewer, "Less is read.")
        seen = yield asked
    yield from _claims(found, asked, seen)


def _claims(found: Findings, asked: Call, seen: _Seen) -> _Calls:
    """The claims of a reading, page by page."""
    pages = 1
    most = _CLAIM_PAGES - (found.goal.kind == "conflict")
    while found.add_claims(seen.output) and seen.cursor is not None and pages < most:
        arguments = {**asked.arguments, "cursor": seen.cursor}
        seen = yield Call("subcall", arguments, "There are more claims.")
        pages += 1


def _asking(goal: Goal, ids: list[str], think: str) -> Call:
    return Call("subcall", {"question": goal.query, "span_ids": ids[:_MOST_IDS]}, think)


_WAYS: Mapping[Way, Callable[[Findings], _Calls]] = {
    "count": _count,
    "extreme": _extreme,
    "search": _search,
    "rank": _rank,
    "all": _everything,
}
