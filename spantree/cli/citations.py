"""Citation numbers: which quotes an answer prints, and under which number."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from runtime.claims import Citation, Claim

SHOWN = 8
"""Citations of one statement that are printed. The others are counted; `--json` has them all."""


@dataclass
class Numbering:
    """Numbers citations in the order in which they are first shown. The same place has one number."""

    numbers: dict[tuple[str, int, int], int] = field(default_factory=dict)
    entries: list[Citation] = field(default_factory=list)
    hidden: dict[int, int] = field(default_factory=dict)

    def add(self, claims: Iterable[Claim]) -> None:
        """Number the first citations of each claim; remember how many stay hidden after the last of them."""
        for claim in claims:
            for citation in claim.citations[:SHOWN]:
                self._number(citation)
            rest = len(claim.citations) - SHOWN
            if rest > 0:
                self.hidden[self.of(claim.citations[SHOWN - 1])] = rest

    def of(self, citation: Citation) -> int:
        """The number of a citation that was added."""
        return self.numbers[_place(citation)]

    def mark(self, citation: Citation) -> str:
        """The mark of a citation with a space behind it, or nothing if it is not printed."""
        number = self.numbers.get(_place(citation))
        return f"[{number}] " if number else ""

    def marks(self, claim: Claim) -> str:
        """The marks behind a statement: `[1][2]`, and `+515` for those that are not shown."""
        known = [each for each in claim.citations if _place(each) in self.numbers]
        marks = "".join(f"[{self.of(each)}]" for each in known[:SHOWN])
        rest = len(claim.citations) - min(len(known), SHOWN)
        return f"{marks} +{rest}" if marks and rest > 0 else marks

    def _number(self, citation: Citation) -> None:
        place = _place(citation)
        if place not in self.numbers:
            self.entries.append(citation)
            self.numbers[place] = len(self.entries)


def location(citation: Citation) -> str:
    """Where a citation stands: `file:line`, or `file:first-last`."""
    lines = str(citation.line_start)
    if citation.line_end > citation.line_start:
        lines += f"-{citation.line_end}"
    return f"{citation.source}:{lines}"


def _place(citation: Citation) -> tuple[str, int, int]:
    return (citation.source, citation.start, citation.end)
