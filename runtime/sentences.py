"""The sentences of a text, as offsets: what a reader quotes.

A unit is a sentence of prose, or a whole line where lines stand for themselves (log, table, heading, list item, code).
Units are in order, do not overlap, and leave out nothing but white space.
"""

import re
from collections.abc import Iterator

Range = tuple[int, int]

MAX_UNIT = 1000
"""Characters; a longer unit (a page without a full stop, a dump) is cut at a clause or at white space."""

MIN_WRAP, MAX_WRAP = 40, 200
"""Prose with lines of such a width is taken to be wrapped by hand or by an editor."""

_LINE = re.compile(r"[^\n\r\f\v\x1c-\x1e\x85\u2028\u2029]+")
_ONE_BREAK = re.compile(r"\r\n|[^\S \t]")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_CLOCK = r"\d\d[:.]\d\d[:.]\d\d\b"
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE)\b"
_LOG = re.compile(
    rf"\W{{0,3}}(?:\S{{1,60}}\s+){{0,3}}?(?:\S{{0,24}}{_CLOCK}|\d{{10,13}}\b|\d{{6}} \d{{6}}\b|\[?{_LEVEL}[\s:\]])"
)
_ALONE = re.compile(
    r"\s{0,3}#{1,6}\s"  # heading
    r"|\s*=+ .+ =+\s*$"  # wiki heading
    r"|\s*[=\-~*_+#]{3,}\s*$"  # rule or underline
    r"|\s*\|"  # table row
    r"|\s*第[一二三四五六七八九十百千零〇两\d]+[章节節篇部回卷]"
)
_CODE = re.compile(
    r".*[{}]\s*$|.*[()=].*;\s*$"
    r"|\s*(?:(?:async )?def \w+\(|class \w+[(:]|from \S+ import|import [\w.]+\s*$|#include|@\w+\()"
)
_STARTS = re.compile(
    r"\s*(?:[-*+•–]\s|\d{1,3}[.)]\s|[a-z][.)]\s|[A-Z]\)\s|[(（][0-9a-zA-Z一二三四五六七八九十]{1,3}[)）]"
    r"|[一二三四五六七八九十]{1,3}、|>\s"
    r"|(?:\[[\d:., ]+\]\s*)?(?:\*\*)?[A-Z][\w.'’-]*(?: [A-Z0-9][\w.'’-]*){0,3}(?:\*\*)?\s?[:：](?:\*\*)?\s"
    r"|[\u4e00-\u9fff·]{1,8}："
    r"|\"[^\"]{1,120}\"\s?:\s?\S)"  # a member of a JSON object
)
_MARK = re.compile(r"(?:[.!?]+|…+|[。！？]+[.!?…]*)[\"'”’»」』）)\]*_]*(?:\[\d+(?:[,–-]\d+)*\])*")
_OPENING = " \t\r\n\"'“‘«「『（([*_—–-"
_WORD_BEFORE = re.compile(r"(\S+) ?$")
_WORD_AFTER = re.compile(r"\w+")
_MARKER = re.compile(r"\s*[(（]?(?:\d{1,3}|[A-Za-z]|[ivx]{1,4}|[IVX]{1,4})$")
_CLAUSES = (re.compile(r"[;；]\s*"), re.compile(r"[,，、]\s*"), re.compile(r"\s+"))


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_NEVER_LAST = _words(
    """
    mr mrs ms messrs dr prof st mt ft gen col lt maj capt cmdr sgt gov sen rep rev hon pres e.g i.e eg ie cf viz
    vs v fig figs eq eqs sec sect ch chap vol pp ed eds approx ca al resp incl excl dept lit
    """
)
_BEFORE_NUMBER = _words(
    """
    no nos nr p art ref refs tab jan feb mar apr jun jul aug sep sept oct nov dec
    """
)
_MAYBE_LAST = _words(
    """
    jr sr inc ltd co corp llc bros etc a.m p.m am pm ph.d m.d b.a m.a u.s u.k u.n e.u d.c est univ
    """
)
_STARTERS = _words(
    """
    the a an in it he she they we i this that these those but and or however on at as for if when while after
    before there his her its our their you your my what why how where who which to with since although though by
    from some most many several one two three no not so then also once during because both each all any such many
    more thus therefore moreover furthermore meanwhile today now later another other under over within without
    despite
    """
)


def sentences(text: str) -> list[Range]:
    """(start, end) of each sentence or line unit; white space around a unit belongs to none."""
    units: list[Range] = []
    for start, end, whole in _blocks(text):
        for unit in [(start, end)] if whole else _split(text, start, end):
            units.extend(_shortened(text, *unit))
    return units


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Stretches of lines that belong to one flow of prose, and lines that stand alone (True)."""
    fenced = False
    for run in _runs(text):
        width = max(
            (end - start for start, end in run if not _LOG.match(text, start, end)), default=0
        )
        open_start = -1
        for i, (start, end) in enumerate(run):
            fence = _FENCE.match(text, start, end) is not None
            if fence:
                fenced = not fenced
            if fenced or fence or _is_whole(text, start, end):
                yield start, end, True
                continue
            open_start = start if open_start < 0 else open_start
            follows = run[i + 1] if i + 1 < len(run) else None
            if follows is None or not _flows(text, (start, end), follows, width):
                yield open_start, end, False
                open_start = -1


def _runs(text: str) -> Iterator[list[Range]]:
    """Lines that are not blank, grouped where nothing but one line break is between them."""
    run: list[Range] = []
    for match in _LINE.finditer(text):
        if match[0].isspace():
            continue
        if run and not _ONE_BREAK.fullmatch(text, run[-1][1], match.start()):
            yield run
            run = []
        run.append(match.span())
    if run:
        yield run


def _is_whole(text: str, start: int, end: int) -> bool:
    return bool(_LOG.match(text, start, end) or _ALONE.match(text, start, end))


def _flows(text: str, line: Range, following: Range, width: int) -> bool:
    """Whether the line break between two lines is only a wrap.

    A wrapped line has no room for the first word of the next; a quarter of the width is allowed for ragged wrapping.
    """
    if not MIN_WRAP <= width <= MAX_WRAP and not (width <= MAX_WRAP and _wide(text[line[1] - 1])):
        return False
    if (
        _is_whole(text, *following)
        or _STARTS.match(text, *following)
        or _FENCE.match(text, *following)
    ):
        return False
    if _CODE.match(text, *line) or _CODE.match(text, *following):
        return False
    word = text[slice(*following)].split(maxsplit=1)[0]
    room = 1 if _wide(word[0]) else 1 + len(word)
    return line[1] - line[0] + room >= (0.9 if _wide(word[0]) else 0.75) * width


def _wide(ch: str) -> bool:
    """Whether the character is East Asian, script or punctuation."""
    return "\u2e80" <= ch <= "\uffdf" or ch >= "\U00020000"


def _split(text: str, start: int, end: int) -> Iterator[Range]:
    """The sentences of one block."""
    cased = any(ch.isupper() for ch in text[start:end])
    first = start
    for match in _MARK.finditer(text, start, end):
        if match.end() < end and _is_end(text, match, first, end, cased):
            yield first, match.end()
            first = match.end()
    if text[first:end].strip():
        yield first, end


def _is_end(text: str, match: re.Match[str], first: int, end: int, cased: bool) -> bool:
    """Whether a mark ends a sentence; `first` is where the sentence began."""
    mark, following = match[0], text[match.end() : min(end, match.end() + 40)]
    before = text[match.start() - 1] if match.start() > first else ""
    if mark[0] in "。！？":
        return True
    if not following[:1].isspace():
        return mark[0] in "!?…" and (_wide(following[0]) or _wide(before or "a"))
    after = following.lstrip(_OPENING)
    if mark[0] == "." and not mark.startswith(".."):
        sentence = text[max(first, match.start() - 40) : match.start()]
        return _is_full_stop(sentence, after, cased, before.isspace())
    if after[:1].islower() and cased:
        return mark[0] in "!?" and mark[-1] in "!?" and not mark.startswith("..")
    return bool(after)


def _is_full_stop(sentence: str, after: str, cased: bool, spaced: bool) -> bool:
    """Whether a full stop ends a sentence, rather than an abbreviation, an initial or a list number.

    `sentence` is the end of what is before the full stop.
    """
    if _MARKER.match(sentence):
        return False
    found = _WORD_BEFORE.search(sentence)
    word = found[1].lstrip("\"'“‘«([*_") if found else ""
    low = word.lower()
    if low in _NEVER_LAST or (low in _BEFORE_NUMBER and after[:1].isdigit()):
        return False
    if (
        low in _MAYBE_LAST
        or (len(word) == 1 and word.isupper())
        or re.fullmatch(r"(?:[A-Za-z]\.)+[A-Za-z]", word)
    ):
        follower = _WORD_AFTER.match(after)
        return (
            follower is not None and follower[0][0].isupper() and follower[0].lower() in _STARTERS
        )
    return not (after[:1].islower() and cased and not spaced)


def _shortened(text: str, start: int, end: int) -> Iterator[Range]:
    """The unit without the white space around it, in pieces of at most MAX_UNIT characters."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > MAX_UNIT:
        cut = _clause_end(text, start + MAX_UNIT // 2, start + MAX_UNIT)
        yield from _shortened(text, start, cut)
        start = cut
        while text[start].isspace():
            start += 1
    if start < end:
        yield start, end


def _clause_end(text: str, low: int, high: int) -> int:
    """The last clause end, or white space, between the two offsets; else the second."""
    for pattern in _CLAUSES:
        ends = [match.end() for match in pattern.finditer(text, low, high)]
        if ends:
            return ends[-1]
    return high
