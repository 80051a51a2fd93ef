"""Tables of the decay benchmark: accuracy with intervals, calls and tokens, and where Direct is the better choice."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from typing import Any

from decay_tasks import PLACES, Place

REFERENCE = "direct"
BETTER = "†"
"""Marks a cell where Direct is the better choice: fewer tokens, and not measurably worse over the same tasks."""
_LEVEL = 0.05
_Z = 1.959964


@dataclass(frozen=True)
class Result:
    """What one program made of one task. `right`: the value is in the answer or in a quote. `verified`: a verified
    citation holds it where it stands. `quoted`: characters cited."""

    program: str
    setting: str
    place: Place
    right: bool
    verified: bool
    outcome: str
    calls: int
    tokens: int
    quoted: int
    characters: int
    seconds: float


@dataclass(frozen=True)
class Share:
    """A share of n, with Wilson's 95 % interval."""

    count: int
    n: int

    @classmethod
    def of(cls, hits: Iterable[bool]) -> "Share":
        found = list(hits)
        return cls(sum(found), len(found))

    @property
    def value(self) -> float:
        return self.count / self.n

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson, "Probable inference, the law of succession, and statistical inference", 1927."""
        share, n = self.value, self.n
        spread = _Z * sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
        center = share + _Z**2 / (2 * n)
        scale = 1 + _Z**2 / n
        return max(0.0, (center - spread) / scale), min(1.0, (center + spread) / scale)


@dataclass(frozen=True)
class Cell:
    """A program in a setting: all results, by place in the text."""

    program: str
    setting: str
    results: tuple[Result, ...]

    def verified(self, place: Place | None = None) -> Share | None:
        """Verified-correct answers; None where there is no task."""
        of = [each.verified for each in self.results if place in (None, each.place)]
        return Share.of(of) if of else None

    @property
    def calls(self) -> float:
        return sum(each.calls for each in self.results) / len(self.results)

    @property
    def tokens(self) -> float:
        return sum(each.tokens for each in self.results) / len(self.results)

    def beaten_by(self, other: "Cell | None") -> bool:
        """Whether the other takes fewer tokens over the same tasks, and is not measurably worse."""
        if other is None or other.program == self.program or other.tokens >= self.tokens:
            return False
        pairs = list(zip(self.results, other.results, strict=True))
        mine = sum(a.verified and not b.verified for a, b in pairs)
        theirs = sum(b.verified and not a.verified for a, b in pairs)
        return mine <= theirs or sign_test(mine, theirs) > _LEVEL


def sign_test(first: int, second: int) -> float:
    """The two-sided exact p of so uneven a split of pairs that differ; 1 when none does."""
    n, most = first + second, max(first, second)
    tail = sum(comb(n, k) for k in range(most, n + 1)) / 2**n
    return min(1.0, 2 * tail)


class Table:
    """Results by program and setting."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.programs = tuple(dict.fromkeys(each.program for each in results))
        self.settings = tuple(dict.fromkeys(each.setting for each in results))
        self._cells: dict[tuple[str, str], Cell] = {}
        for program in self.programs:
            for setting in self.settings:
                of = [e for e in results if (e.program, e.setting) == (program, setting)]
                self._cells[program, setting] = Cell(program, setting, tuple(of))

    def cell(self, program: str, setting: str) -> Cell:
        """The results of a program in a setting."""
        return self._cells[program, setting]

    def mark(self, cell: Cell) -> str:
        """The mark of a cell where Direct is the better choice."""
        reference = self._cells.get((REFERENCE, cell.setting))
        return BETTER if cell.beaten_by(reference) else ""

    def lines(self) -> Iterator[str]:
        """The table for a terminal of 80 columns: a block a program, a line a setting."""
        yield (
            f"{'program, text':24}{'n':>4}{'start':>7}{'middle':>7}{'end':>6}{'all':>6}"
            f" {'95 %':<10}{'calls':>6}{'tokens':>9}"
        )
        for program in self.programs:
            yield program
            for setting in self.settings:
                yield self._line(self.cell(program, setting))

    def _line(self, cell: Cell) -> str:
        whole = cell.verified()
        if whole is None:
            return f"  {cell.setting:22}{'-':>4}"
        start, middle, end = (_two(cell.verified(place)) for place in PLACES)
        low, high = whole.interval
        return (
            f"  {cell.setting:22}{whole.n:>4}{start:>7}{middle:>7}{end:>6}{_two(whole):>6}"
            f" {f'{low:.2f}-{high:.2f}':<10}{cell.calls:>6.1f}{cell.tokens:>9,.0f} {self.mark(cell)}"
        )

    def markdown(self) -> Iterator[str]:
        """One row a setting, one column a program: percent (interval) · at start/middle/end · calls · tokens."""
        yield "| text | n | " + " | ".join(f"`{each}`" for each in self.programs) + " |"
        yield "| --- " * (len(self.programs) + 2) + "|"
        for setting in self.settings:
            cells = [self.cell(program, setting) for program in self.programs]
            shown = (_brief(cell) + self.mark(cell) for cell in cells)
            yield f"| {self._size(cells[0])} | {len(cells[0].results)} | {' | '.join(shown)} |"

    def _size(self, cell: Cell) -> str:
        return f"{cell.setting}, {cell.results[0].characters / 1000:,.0f}k"

    def notes(self) -> Iterator[str]:
        """What the table does not show, a line a program."""
        for program in self.programs:
            of = [each for s in self.settings for each in self.cell(program, s).results]
            if not of:
                continue
            right = sum(each.right for each in of)
            placed = sum(each.verified for each in of)
            missed = [each.outcome for each in of if not each.verified]
            quoted = sum(each.quoted for each in of if each.verified) / max(1, placed)
            seconds = sum(each.seconds for each in of)
            yield (
                f"{program}: {right} right, {placed} of them verified at the place, of {len(of)}; of "
                f"the others {_told(missed)}; {quoted:.0f} characters cited; {seconds:.0f} s"
            )

    def plain(self) -> list[dict[str, Any]]:
        """The cells as plain data."""
        return [
            _plain(self.cell(p, s)) | {"direct_better": bool(self.mark(self.cell(p, s)))}
            for p in self.programs
            for s in self.settings
            if self.cell(p, s).results
        ]


def _told(outcomes: Iterable[str]) -> str:
    """Outcomes with their numbers."""
    counts = Counter(outcomes).most_common()
    return ", ".join(f"{count} {outcome}" for outcome, count in counts) or "none"


def _two(share: Share | None) -> str:
    return "-" if share is None else f"{share.value:.2f}"


def _brief(cell: Cell) -> str:
    whole = cell.verified()
    low, high = whole.interval if whole else (0.0, 0.0)
    places = "/".join(_percent(cell.verified(place)) for place in PLACES)
    tokens = f"{cell.tokens / 1000:.0f}k" if cell.tokens >= 1000 else f"{cell.tokens:.0f}"
    return (
        f"{_percent(whole)} ({100 * low:.0f}-{100 * high:.0f}) · {places}"
        f" · {cell.calls:.0f} · {tokens}"
    )


def _percent(share: Share | None) -> str:
    return "-" if share is None else f"{100 * share.value:.0f}"


def _plain(cell: Cell) -> dict[str, Any]:
    shares = {"all": cell.verified(), **{place: cell.verified(place) for place in PLACES}}
    return {
        "program": cell.program,
        "setting": cell.setting,
        "characters": cell.results[0].characters,
        "right": sum(each.right for each in cell.results),
        "outcomes_of_misses": Counter(e.outcome for e in cell.results if not e.verified),
        "calls": cell.calls,
        "tokens": cell.tokens,
        "verified": {
            name: {"count": each.count, "n": each.n, "interval": each.interval}
            for name, each in shares.items()
            if each is not None
        },
    }
