"""Demos as the pupil sees them: what earlier replies of the conversation look like, and the habits that they show."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from runtime.models.request import PromptRequest, text_of

_MISSING = "Not supplied for this particular example."
_SECTION = re.compile(r"^\[\[ ## (\w+) ## \]\]\n?", re.MULTILINE)


@dataclass(frozen=True)
class Demo:
    """One example: the text of what was shown, and the reply as values; None where it does not have the form asked."""

    shown: str
    values: dict[str, Any] | None

    @property
    def quotes(self) -> list[list[str]]:
        """For each claim the quotes that it rests on; an empty one for each that is an id alone."""
        values = self.values or {}
        if "statements" in values:
            return [["" for _ in each.get("claim_ids", [])] for each in values["statements"]]
        found: dict[str, list[str]] = {str(each.get("claim_id")): [] for each in values["claims"]}
        for each in values["evidence"]:
            found.get(str(each.get("claim_id")), []).append(str(each.get("quote", "")))
        return list(found.values())


@dataclass(frozen=True)
class Habits:
    """What the demos have in common. Shares are from 0 to 1, and 1 where no demo shows anything of the kind.

    broken: of demos that have not the form asked. silent, several: demos without a claim, with more than one; `of` all
    that have the form. bare: share of claims without evidence. altered: of quotes that do not stand in what the demo
    shows. extra: quotes a claim beyond the first, at most 1.
    """

    broken: float = 0.0
    silent: int = 0
    several: int = 0
    of: int = 0
    bare: float = 1.0
    altered: float = 1.0
    extra: float = 1.0


def demos_of(prompt: PromptRequest) -> list[Demo]:
    """The examples in a conversation: pairs of a message and its reply before the last message.

    Of `Act`, those that submit: the others say nothing about claims.
    """
    pairs = zip(prompt.messages, prompt.messages[1:], strict=False)
    found = [
        Demo(text_of(asked.parts), _values(text_of(reply.parts), prompt))
        for asked, reply in pairs
        if asked.role == "user" and reply.role == "assistant"
    ]
    return [each for each in found if _submits(each.values)]


def habits_of(demos: Sequence[Demo]) -> Habits:
    """The habits that demos show; without demos none."""
    whole = [each for each in demos if each.values is not None]
    claims = [(each, quotes) for each in whole for quotes in each.quotes]
    quoted = [(each, quotes) for each, quotes in claims if quotes]
    quotes = [_stands(quote, demo.shown) for demo, each in quoted for quote in each]
    counts = Counter(min(len(each.quotes), 2) for each in whole)
    return Habits(
        broken=1 - len(whole) / len(demos) if demos else 0.0,
        silent=counts[0],
        several=counts[2],
        of=len(whole),
        bare=1 - len(quoted) / len(claims) if claims else 1.0,
        altered=1 - sum(quotes) / len(quotes) if quotes else 1.0,
        extra=min(1.0, len(quotes) / len(quoted) - 1) if quoted else 1.0,
    )


def _values(text: str, prompt: PromptRequest) -> dict[str, Any] | None:
    """The outputs of a reply; None where one is missing, or the lists are none."""
    try:
        values = _read(text, prompt)
        lists = [values[name] for name in ("claims", "evidence", "statements") if name in values]
        whole = all(isinstance(each, dict) for items in lists for each in items)
    except (ValueError, TypeError, AttributeError):
        return None
    if _MISSING in text or not whole or any(isinstance(items, str) for items in lists):
        return None
    return values if all(name in values for name in prompt.outputs) else None


def _read(text: str, prompt: PromptRequest) -> dict[str, Any]:
    if prompt.format == "json":
        return dict(json.loads(text).items())
    _, *parts = _SECTION.split(text)
    named = zip(parts[::2], parts[1::2], strict=True)
    return dict(_section(name, value.strip()) for name, value in named)


def _section(name: str, value: str) -> tuple[str, Any]:
    structured = value.startswith(("[", "{"))
    return name, json.loads(value) if structured else value


def _submits(values: dict[str, Any] | None) -> bool:
    call = (values or {}).get("call")
    return not isinstance(call, dict) or call.get("tool") == "submit"


def _stands(quote: str, shown: str) -> bool:
    """Whether a quote stands in what is shown, where text stands in JSON, perhaps within JSON."""
    return any(each in shown for each in _escaped(quote))


def _escaped(quote: str) -> Iterator[str]:
    for _ in range(3):
        yield quote
        quote = json.dumps(quote, ensure_ascii=False)[1:-1]
