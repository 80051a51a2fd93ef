"""Notations: the small written forms in a prompt that carry structure, and how they are read and written.

The overview of the corpus, the first line of an observation, the scope in the constraints of a task, the task of
a child, and search patterns. What is not in one of these forms is prose, and is not interpreted.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

_SOURCE = re.compile(
    r"^source (?P<id>.+?) \| (?P<format>[^|\n]*?) \| (?P<lines>[\d,]+) lines?"
    r" \| (?P<chars>[\d,]+) char(?:acter)?s? \| (?P<partitions>[\d,]+) partitions?"
    r"(?: \| (?P<times>\S[^\n]*))?[ \t]*$",
    re.MULTILINE,
)
_CORPUS = re.compile(r"^corpus: (?P<sources>[\d,]+) sources?\b", re.MULTILINE)
_CORPUS_PARTITIONS = re.compile(r"^corpus: [^\n]*?([\d,]+) partitions?\b", re.MULTILINE)
_CUT = re.compile(r"^\.\.\. [\d,]+ more sources?\b", re.MULTILINE)
_DOCUMENTS = frozenset(("markdown", "html", "pdf"))
_DOCUMENT_SUFFIXES = frozenset((".md", ".markdown", ".rst", ".html", ".pdf", ".docx"))
_PLAIN = frozenset(("text", "txt", "plain", "prose"))

_HEAD = re.compile(r"^ *step (?P<id>\S+) \((?P<action>\w+)\): *(?P<outcome>[^\n]*)", re.MULTILINE)
_FAILED = re.compile(r"(?:failed|timed_out)\b")
_TARGETS = re.compile(r"^[ \t]*(?:targets?|scope|limited to):[ \t]*(\S[^\n]*)$", re.M | re.I)
_TIMELINE_OF = re.compile(r"^(?:Timeline of|梳理) (?P<source>\S.*?) (?:for|的时间线)[:：] *", re.S)
_BETWEEN_SLASHES = re.compile(r"/(.*)/i?", re.DOTALL)
_SPECIAL = re.compile(r"([\\.+*?()|\[\]{}^$/])")


@dataclass(frozen=True)
class SourceLine:
    """One source as an overview shows it. `timed` says that its lines bear times."""

    id: str
    format: str
    characters: int
    partitions: int
    timed: bool

    @property
    def is_prose(self) -> bool:
        """Whether it is running text, where a line means nothing."""
        form = self.format.lower()
        if form in _DOCUMENTS or PurePosixPath(self.id).suffix.lower() in _DOCUMENT_SUFFIXES:
            return True
        return form in _PLAIN and not self.timed


@dataclass(frozen=True)
class Overview:
    """What an overview says about the corpus. `complete` is false when it does not list every source."""

    sources: tuple[SourceLine, ...]
    partitions: int
    complete: bool

    @property
    def is_prose(self) -> bool:
        """Whether the corpus is known to be running text only."""
        return bool(self.sources) and all(source.is_prose for source in self.sources)

    @property
    def readable(self) -> tuple[SourceLine, ...]:
        """The sources that have any text."""
        return tuple(source for source in self.sources if source.characters and source.partitions)

    def named_in(self, text: str) -> tuple[str, ...]:
        """Ids of the sources that a text names, by path or by file name."""
        folded = text.casefold()
        return tuple(s.id for s in self.sources if any(n in folded for n in names_of(s.id)))


def names_of(source_id: str) -> tuple[str, ...]:
    """The names under which a text may mention a source, in folded case."""
    path = PurePosixPath(source_id)
    names = (source_id, path.name) if path.suffix else (source_id,)
    return tuple(name.casefold() for name in names if len(name) > 2)


def read_overview(text: str) -> Overview:
    """The overview in a prompt, as far as it has the known form."""
    sources = tuple(
        SourceLine(
            id=found["id"],
            format=found["format"],
            characters=_number(found["chars"]),
            partitions=_number(found["partitions"]),
            timed=" .. " in (found["times"] or ""),
        )
        for found in _SOURCE.finditer(text)
    )
    whole = _CORPUS_PARTITIONS.search(text)
    listed = sum(source.partitions for source in sources)
    return Overview(
        sources=sources,
        partitions=_number(whole[1]) if whole else listed,
        complete=bool(_CORPUS.search(text)) and not _CUT.search(text),
    )


def _number(digits: str) -> int:
    return int(digits.replace(",", ""))


@dataclass(frozen=True)
class Outcome:
    """One line of an observation: which step it is about, and how it ended."""

    step_id: str
    action: str
    text: str

    @property
    def failed(self) -> bool:
        """Whether the line says that the step failed."""
        return bool(_FAILED.match(self.text))


def read_observation(text: str) -> tuple[Outcome, ...]:
    """The outcomes that an observation tells, one for each step; the first line alone if it has another form."""
    told = tuple(
        Outcome(found["id"], found["action"], found["outcome"].strip())
        for found in _HEAD.finditer(text)
    )
    return told or (Outcome("", "", text.strip().partition("\n")[0]),)


def read_targets(constraints: str) -> tuple[str, ...]:
    """The targets that constraints limit a task to: a JSON list, or ids separated by commas."""
    found = _TARGETS.search(constraints)
    if not found:
        return ()
    listed = _json_list(found[1])
    names = listed if listed is not None else found[1].split(", ")
    wanted = (name.strip().strip("\"'`") for name in names)
    return tuple(
        name for name in wanted if name and name.lower() not in ("all", "the whole corpus")
    )


def _json_list(text: str) -> list[str] | None:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return None
    return [str(item) for item in value] if isinstance(value, list) else None


def timeline_task(source: str, question: str, chinese: bool) -> str:
    """The task of a child that looks at one source on behalf of a question."""
    if chinese:
        return f"梳理 {source} 的时间线：{question}"
    return f"Timeline of {source} for: {question}"


def question_of(task: str) -> str:
    """The question behind a task: what a child's task was made for, or the task itself."""
    found = _TIMELINE_OF.match(task)
    return task[found.end() :] if found else task


def source_of(task: str) -> str:
    """The source that a child's task looks at; empty for any other task."""
    found = _TIMELINE_OF.match(task)
    return found["source"] if found else ""


def exact(text: str) -> str:
    """A pattern that is matched as it is written, case included."""
    return f'"{text}"'


def any_of(patterns: Sequence[str]) -> str:
    """A pattern that matches where any one of some exact patterns or expressions does."""
    return "/" + "|".join(map(_expression, patterns)) + "/"


def absent(pattern: str) -> str:
    """A pattern that is true of the lines that do not match the given one."""
    marked = pattern.startswith('"') or _BETWEEN_SLASHES.fullmatch(pattern)
    return f"not {pattern}" if marked else f"not /{_whole_numbers(pattern)}/i"


def loose(pattern: str) -> str:
    """A pattern that every search takes as the suite does: a bare text ignores case, and says so by its form."""
    marked = pattern.startswith(('"', "not ")) or _BETWEEN_SLASHES.fullmatch(pattern)
    return pattern if marked else f"/{_whole_numbers(pattern)}/i"


def _expression(pattern: str) -> str:
    expression = _BETWEEN_SLASHES.fullmatch(pattern)
    if expression is None:
        return _escaped(pattern[1:-1])
    return f"(?i:{expression[1]})" if pattern.endswith("/i") else expression[1]


def _whole_numbers(text: str) -> str:
    """The expression of a bare text: a number at its ends is no part of a longer one."""
    before = "(?:^|[^0-9])" if text[:1].isdigit() else ""
    after = "(?:[^0-9]|$)" if text[-1:].isdigit() else ""
    return before + _escaped(text) + after


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def unique(items: Iterable[str]) -> list[str]:
    """The items without repetition, in order."""
    return list(dict.fromkeys(items))
