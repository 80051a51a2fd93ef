"""Outcome: how a run ended, decided from typed facts. A limit, a failure or a gap never looks like success."""

from collections.abc import Sequence

from programs.answer import Coverage, Outcome
from runtime.claims import Claim


def outcome(
    statements: Sequence[Claim],
    coverage: Coverage,
    *,
    value_known: bool,
    requires_all: bool,
    limited: bool,
    undecodable: bool,
    working: bool,
    withheld: bool = False,
    estimated: bool = False,
    selected: bool = False,
) -> Outcome:
    """The outcome of a run.

    `value_known` says that code computed the asked value, even if it is 0; `requires_all` that the answer is only
    right if everything was examined; `limited` that a limit kept the run from something; `undecodable` that a part of
    a source could not be read; `working` that at least one step did what it should; `withheld` that
    something was found of which nothing was stated: then nobody can say that it is not there; `estimated` that a
    number is asked for and code has not counted it; `selected` that more is asked for than the passages that rank best
    can tell.
    """
    supported = [claim for claim in statements if claim.status != "insufficient"]
    whole = not coverage.failed and not coverage.unread and bool(coverage.required)
    seen = whole and not coverage.unparsed and not undecodable
    if not working:
        return "partial" if limited else "failed"
    if supported or value_known:
        complete = seen if requires_all else whole
        short = limited or estimated or selected
        return "answered" if complete and not short else "partial"
    if limited:
        return "partial"
    if coverage.failed and not coverage.completed:
        return "failed"
    return "not_found" if seen and not withheld else "not_found_in_covered"
