"""A sub-query: the reply to a prompt that code wrote, from the sentences of the prompt itself."""

import re
from collections.abc import Sequence

from runtime.models.extractive.score import focus_of
from runtime.models.extractive.select import supporting
from runtime.models.extractive.shown import Shown, shown_units
from runtime.questions.mentions import quoted_patterns
from signatures import EvidenceSpan

NOTHING = "nothing in the prompt answers it"
_LABELED = re.compile(r"^\s*(?:question|query|task|问题|提问)\s*[:：]\s*(?P<asked>\S.*)$", re.I)
_ASKS = ("?", "？")


def reply_to(prompt: str) -> str:
    """The sentences that answer the question in the prompt, word for word; or that there are none."""
    span = EvidenceSpan(
        span_id="prompt",
        source="prompt",
        first_line=1,
        margin_before="",
        text=prompt,
        margin_after="",
    )
    units = shown_units([span])
    at = _asking(units)
    if at is None:
        return NOTHING
    labeled = _LABELED.match(units[at].text)
    question = labeled["asked"] if labeled else units[at].text
    rest = [unit for i, unit in enumerate(units) if i != at and not unit.text.endswith(_ASKS)]
    wanted = [each for each in quoted_patterns(question) if each]
    chosen = supporting("lookup", wanted, focus_of(question, [], rest), rest)
    return "\n".join(rest[i].text for i in chosen) or NOTHING


def _asking(units: Sequence[Shown]) -> int | None:
    """The unit that asks: one that is labeled as the question, the last or first with a question mark, the first."""
    labeled = (i for i, unit in enumerate(units) if _LABELED.match(unit.text))
    ends = [i for i in (0, len(units) - 1) if units and units[i].text.endswith(_ASKS)]
    asking = (i for i, unit in enumerate(units) if unit.text.endswith(_ASKS))
    at = next(labeled, None)
    if at is None:
        at = next(iter(ends), None)
    if at is None:
        at = next(asking, None)
    return at if at is not None or not units else 0
