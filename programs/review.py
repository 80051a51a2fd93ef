"""Review of a conclusion: a reply that breaks the rules goes back once, with what is wrong spelled out.

The second reply is taken as far as it holds: what names no known claim is not shown, whatever the reviewer
thought of it.
"""

from collections.abc import Collection, Sequence

import dspy

from runtime.claims import Computed
from runtime.errors import ParseFailure


class Review:
    """The reviewer of one concluding call."""

    def __init__(self, known: Collection[str], computed: Sequence[Computed], kind: str) -> None:
        self._known = frozenset(known)
        self._counts = (
            [each for each in computed if each.name == "count"] if kind == "count" else []
        )
        self._returned = False

    def __call__(self, reply: dspy.Prediction) -> None:
        """Raise ParseFailure for a reply that must go back."""
        if reply.statement_count != len(reply.statements):
            self._returned = True
            raise ParseFailure(
                f"statement_count is {reply.statement_count}, "
                f"but there are {len(reply.statements)} statements"
            )
        faults = [] if self._returned else list(self._faults(reply))
        if faults:
            self._returned = True
            raise ParseFailure("; ".join(faults))

    def _faults(self, reply: dspy.Prediction) -> list[str]:
        found = []
        for number, statement in enumerate(reply.statements, 1):
            unknown = [each for each in statement.claim_ids if each not in self._known]
            if unknown:
                found.append(f"statement {number} names unknown claims: {', '.join(unknown)}")
            elif not statement.claim_ids:
                found.append(f"statement {number} names no claim")
        for each in self._counts:
            number = each.lines[0].split(" ", 1)[0] if each.lines else ""
            if reply.statements and not any(number in one.text for one in reply.statements):
                found.append(f"no statement gives the computed count, {number}")
        return found
