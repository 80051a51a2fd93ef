"""Excerpt of a reading: the few lines of the spans shown that a reader cited or should have cited.

The text of a window is the exact text of its span, so that a quote stays a quote; the margins say what was left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.call_facts import CallFacts
from evals.cuts import cut
from evals.harmless import harmless
from programs.verify import places
from runtime.untrusted import restore

TEXT = 1_500
"""Characters of the text of a corpus in one excerpt."""
_CLAIMS = 6
_REFS = 2
_GOLD = 4
_QUOTE = 160
_CLAIM = 300
_ID = 40
_BESIDE = 80
"""Characters to a side by which a window is widened to whole lines."""
_HEADS = 3
_HEAD = 200
_FIELDS = 12

Interval = tuple[int, int]


@dataclass(frozen=True)
class ReadingExcerpt:
    """The spans, and the outputs that agree with them: `claims`, `evidence` and `fields_found`."""

    spans: list[dict[str, Any]]
    reply: dict[str, Any]

    @classmethod
    def of(
        cls, spans: Sequence[Mapping[str, Any]], reply: Mapping[str, Any], facts: CallFacts
    ) -> "ReadingExcerpt":
        """The excerpt of what a reader was shown and replied."""
        claims, refs = _kept(reply)
        windows = _Windows(spans, facts)
        quotes = [windows.quoted(each) for each in refs]
        evidence = [
            {**each, "quote": quote}
            for each, quote in zip(refs, quotes, strict=True)
            if quote is not None
        ]
        for each in facts.gold[:_GOLD]:
            windows.add_at(each.within, each.start, min(each.end, each.start + _QUOTE))
        windows.widen()
        windows.fill()
        shown = windows.shown()
        evidence = [each for each in evidence if not _is_torn(each, shown)]
        left = {str(each["claim_id"]) for each in refs}
        left -= {str(each["claim_id"]) for each in evidence}
        claims = [each for each in claims if str(each["claim_id"]) not in left]
        ids = {str(each["claim_id"]) for each in claims}
        fields = [each for each in reply.get("fields_found") or () if str(each["claim_id"]) in ids]
        kept = {"claims": claims, "evidence": evidence, "fields_found": fields[:_FIELDS]}
        return cls(shown, {name: each for name, each in kept.items() if name in reply})


def _is_torn(ref: Mapping[str, Any], shown: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a quote stands in its span and would not any more: it begins or ends within a mark that is broken up."""
    texts = [str(each["text"]) for each in shown if each["span_id"] == ref["span_id"]]
    quote = str(ref["quote"])
    return any(quote in text for text in texts) and not any(
        harmless(quote) in harmless(text) for text in texts
    )


def _kept(reply: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The first claims, those with evidence before others, and their evidence."""
    claims, refs = reply.get("claims") or (), reply.get("evidence") or ()
    proved = {str(each["claim_id"]) for each in refs}
    order = sorted(range(len(claims)), key=lambda at: str(claims[at]["claim_id"]) not in proved)
    kept = [
        {**claims[at], "text": cut(str(claims[at]["text"]), _CLAIM)}
        for at in sorted(order[:_CLAIMS])
    ]
    found: dict[str, list[dict[str, Any]]] = {str(each["claim_id"]): [] for each in kept}
    for each in refs:
        mine = found.get(str(each["claim_id"]))
        if mine is not None and len(mine) < _REFS:
            mine.append({**each, "span_id": str(each["span_id"])[:_ID]})
    return kept, [each for mine in found.values() for each in mine]


class _Windows:
    """Stretches of the spans shown, as long as there is room: in all, and in each short source."""

    def __init__(self, spans: Sequence[Mapping[str, Any]], facts: CallFacts) -> None:
        self._spans = [dict(each) for each in spans]
        self._texts = [restore(str(each["text"])) for each in spans]
        self._sources = [restore(str(each["source"])) for each in spans]
        self._at = {str(each["span_id"]): at for at, each in enumerate(spans)}
        self._found: list[list[Interval]] = [[] for _ in spans]
        self._room = TEXT
        self._rooms = {source: length * 3 // 4 for source, length in facts.small.items()}
        self._unknown = min([_QUOTE, *(each for each in self._rooms.values())])

    def quoted(self, ref: Mapping[str, Any]) -> str | None:
        """The quote of a piece of evidence as far as it is shown; None where there is no room for the most of it."""
        quote = str(ref["quote"])
        at = self._at.get(str(ref["span_id"]))
        place = None if at is None else next(places(quote, self._texts[at]), None)
        if at is None or place is None:
            return quote[: self._unknown]
        start, end, _ = place
        meant = min(end, start + _QUOTE)
        stop = self._add(at, start, meant)
        if 2 * (stop - start) < meant - start:
            return None
        return self._texts[at][start:stop]

    def add_at(self, span_id: str, start: int, end: int) -> None:
        """Show a stretch of a span, if there is one of this id."""
        at = self._at.get(span_id)
        if at is not None:
            self._add(at, start, end)

    def widen(self) -> None:
        """Show the lines around what is shown, where they are not too long."""
        for at, text in enumerate(self._texts):
            for start, end in list(self._found[at]):
                first = text.rfind("\n", max(0, start - _BESIDE), start) + 1 or (
                    0 if start <= _BESIDE else start
                )
                following = text.find("\n", end, end + _BESIDE)
                rest = len(text) if len(text) - end <= _BESIDE else end
                last = following + 1 if following >= 0 else rest
                self._add(at, end, last)
                if self._free(at) >= start - first:
                    self._add(at, first, start)

    def fill(self) -> None:
        """Show the heads of the first spans where nothing else is shown: what a reader passes over has to be seen."""
        for at, text in enumerate(self._texts[:_HEADS]):
            if not any(self._found):
                self._add(at, 0, min(len(text), _HEAD))
            elif not self._found[at] and self._free(at) > _HEAD:
                self._add(at, 0, min(len(text), _HEAD // 2))

    def shown(self) -> list[dict[str, Any]]:
        """The windows as spans. Several of one span have its id, and their own first lines."""
        made = [each for at in range(len(self._spans)) for each in self._of_span(at)]
        left = sum(not each for each in self._found)
        if made and left:
            last = made[-1]
            mark = f"[{left} more span{'s' if left > 1 else ''} left out]"
            made[-1] = {**last, "margin_after": f"{last['margin_after']} {mark}".strip()}
        return made

    def _of_span(self, at: int) -> Iterator[dict[str, Any]]:
        span, text = self._spans[at], self._texts[at]
        before = 0
        intervals = sorted(self._found[at])
        for number, (start, end) in enumerate(intervals):
            is_last = number == len(intervals) - 1
            after = len(text) - end if is_last else 0
            yield {
                **span,
                "first_line": int(span["first_line"]) + text.count("\n", 0, start),
                "margin_before": _left_out(start - before),
                "text": text[start:end],
                "margin_after": _left_out(after),
            }
            before = end

    def _free(self, at: int) -> int:
        return min(self._room, self._rooms.get(self._sources[at], self._room))

    def _add(self, at: int, start: int, end: int) -> int:
        """Show a stretch as far as there is room. Returns where the part of it that is shown ends."""
        known = self._found[at]
        covered = _covered(known, start, end)
        room = self._free(at)
        while end > start and (end - start) - covered > room:
            end -= max(1, (end - start) - covered - room)
            covered = _covered(known, start, end)
        grown = (end - start) - covered
        if grown > 0:
            self._found[at] = _merged([*known, (start, end)])
            self._room -= grown
            if self._sources[at] in self._rooms:
                self._rooms[self._sources[at]] -= grown
        return end


def _covered(intervals: Iterable[Interval], start: int, end: int) -> int:
    return sum(max(0, min(end, last) - max(start, first)) for first, last in intervals)


def _merged(intervals: Iterable[Interval]) -> list[Interval]:
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _left_out(characters: int) -> str:
    return f"[{characters} characters left out]" if characters > 0 else ""
