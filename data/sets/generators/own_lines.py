"""Own lines: what can be counted in files of one's own, read here with means of their own.

The search that programs use is not asked: lines are split, and their times, levels and words found, by this module.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from data.questions import TypedAnswer
from data.sets.drafts import Document, any_of, integer
from data.sets.generators.chance import Chance
from data.sets.generators.counting import Asked
from data.sets.generators.records import Mask, Records
from data.sets.generators.wording import worded

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_TIME = re.compile(r"\[?(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)")
_WORD = re.compile(r"[A-Za-z]{5,20}")
_MOST = 5_000
"""Gold lines of one question at most: of what is more frequent, nothing is asked."""

_NO_TIME = np.datetime64("NaT", "s")


def own_questions(documents: Sequence[Document], chance: Chance, number: int) -> list[Asked]:
    """Counts of lines with a word, and the first and last of them where the lines bear times."""
    records = _read(documents)
    lines: list[str] = records.text.to_pylist()
    words = _words(lines, chance, number)
    return [each for word in words for each in _about(word, lines, records, chance)][:number]


def _about(word: str, lines: Sequence[str], records: Records, chance: Chance) -> Iterator[Asked]:
    rows = np.fromiter((word in line for line in lines), np.bool_, len(lines))
    question, language = worded(chance, "mention", word)
    gold = (any_of(records.spans(rows)),)
    yield Asked("count", question, language, integer(int(rows.sum())), gold)
    if np.isnat(records.time[rows]).any():
        return
    for sort in ("first", "last"):
        yield _moment(sort, word, rows, records, chance)


def _moment(sort: str, word: str, rows: Mask, records: Records, chance: Chance) -> Asked:
    moment, then = records.first(rows, last=sort == "last")
    question, language = worded(chance, sort, word)
    answer = TypedAnswer(type="date", values=(moment,), accepted=(moment.replace("T", " "),))
    return Asked(sort, question, language, answer, (any_of(records.spans(then)),))


def _words(lines: Sequence[str], chance: Chance, number: int) -> list[str]:
    """Words that some lines have, and few enough for gold."""
    counts = Counter(word for line in lines for word in set(_WORD.findall(line)))
    fitting = sorted(
        word for word, times in counts.items() if 2 <= times <= min(_MOST, len(lines) // 2)
    )
    whole = [word for word in chance.draw(fitting, 4 * number) if _times(word, lines) <= _MOST]
    return whole[:number]


def _times(word: str, lines: Sequence[str]) -> int:
    return sum(word in line for line in lines)


def _read(documents: Sequence[Document]) -> Records:
    texts: list[str] = []
    starts: list[int] = []
    sources: list[int] = []
    times: list[np.datetime64] = []
    for number, document in enumerate(documents):
        time = _NO_TIME
        for match in _LINE.finditer(str(document.content)):
            if not match[0]:
                continue
            line = match[0].rstrip("\r\n")
            stamp = _TIME.match(line)
            time = np.datetime64(f"{stamp[1]}T{stamp[2]}", "s") if stamp else time
            texts.append(line)
            starts.append(match.start())
            sources.append(number)
            times.append(time)
    return Records(
        tuple(each.name for each in documents),
        np.array(sources, dtype=np.int64),
        np.array(starts, dtype=np.int64),
        pa.array(texts, pa.large_string()),
        np.array(times, dtype="datetime64[s]"),
        {},
    )
