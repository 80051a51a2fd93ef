"""LabeledLog: a log with what a table says of each of its lines, by level, component, label and event."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from data.decode import decode
from data.lines import split_lines
from data.questions import GoldSpan
from data.timestamp import TimestampReader

ANY = "<*>"
"""Stands for any text in a template."""

LEVELS = frozenset(
    {"trace", "debug", "verbose", "info", "notice", "warn", "warning"}
    | {"error", "severe", "critical", "fatal", "alert", "emerg", "failure"}
)
NO_LABEL = "-"
_TIMES = (("Month", "Date", "Time"), ("Date", "Day", "Time"), ("Date", "Time"), ("Time",))
_TOLD = {
    "level": "have the level `{}`",
    "component": "are of the component `{}`",
    "label": "bear the alert label `{}`",
    "event": "have a message of the form `{}`",
}

Labels = tuple[int, str, str, str, Mapping[str, str]]
"""Number of the line, message, event, template, and the other columns."""


@dataclass(frozen=True, slots=True)
class Facet:
    """One thing that the table says: its name, and by value the positions of the lines, in order."""

    name: str
    lines: Mapping[str, tuple[int, ...]]

    def told(self, value: str) -> str:
        """What lines with the value do, as words: `have the level ...`."""
        any_text = f" ({ANY} stands for any text)" if self.name == "event" and ANY in value else ""
        return _TOLD[self.name].format(value) + any_text


class LabeledLog:
    """The lines of a log, with their labels. Positions count from 0."""

    def __init__(self, source: str, raw: bytes, labels: Sequence[Labels]) -> None:
        self.source = source
        self._labels = labels
        table = split_lines(decode(raw).text.encode())
        self.lines: list[str] = table.text.to_pylist()
        self.spans = [
            GoldSpan(source=source, start=start, end=start + len(line), quote=line)
            for start, line in zip(table.start.tolist(), self.lines, strict=True)
        ]
        self._reader = TimestampReader.detect(self.lines)

    @property
    def agrees(self) -> bool:
        """Whether the table has every line, in order, with the message that is in it."""
        return len(self._labels) == len(self.lines) and all(
            number == at and message.strip() in line
            for at, (line, (number, message, *_)) in enumerate(
                zip(self.lines, self._labels, strict=True), 1
            )
        )

    @cached_property
    def templates(self) -> frozenset[str]:
        """The forms of its messages."""
        return frozenset(template for _, _, _, template, _ in self._labels)

    def facets(self) -> list[Facet]:
        """What can be asked about: facets of two values or more."""
        levels = self._column("Level")
        if not {each.lower() for each in levels} <= LEVELS:
            levels = {}
        labels = {k: v for k, v in self._column("Label").items() if k != NO_LABEL}
        facets = (
            Facet("level", levels),
            Facet("component", self._column("Component")),
            Facet("label", labels),
            Facet("event", self._events),
        )
        return [facet for facet in facets if len(facet.lines) > 1]

    def shows(self, facet: Facet, value: str) -> bool:
        """Whether the text of the log tells which lines have the value, so that a reader can know it."""
        if facet.name == "event":
            return self.matches(matcher(value)) == facet.lines[value]
        written = re.compile(rf"(?<![\w.$]){re.escape(value)}(?![\w$])")
        if facet.name == "component":
            naming = (at for at, line in enumerate(self.lines) if written.search(line))
            return tuple(naming) == facet.lines[value]
        return all(written.search(self.lines[at]) for at in facet.lines[value])

    def matches(self, form: re.Pattern[str]) -> tuple[int, ...]:
        """The lines whose message has a form."""
        return tuple(
            at for at, (_, message, *_) in enumerate(self._labels) if form.fullmatch(message)
        )

    def time(self, at: int) -> str:
        """The time of a line as the line has it; empty if it has none."""
        columns = self._labels[at][4]
        written = (
            " ".join(columns[name] for name in names)
            for names in _TIMES
            if all(name in columns for name in names)
        )
        return next((each for each in written if each in self.lines[at]), "")

    def time_read(self, at: int) -> datetime | None:
        """The time of a line as spantree reads it; None if it reads none."""
        return self._reader.read(self.lines[at]) if self._reader else None

    @cached_property
    def _events(self) -> dict[str, tuple[int, ...]]:
        """Lines by template; without the templates that two events share."""
        events = {(event, template) for _, _, event, template, _ in self._labels}
        shared = Counter(template for _, template in events)
        lines = _grouped([template for _, _, _, template, _ in self._labels])
        return {each: at for each, at in lines.items() if shared[each] == 1}

    def _column(self, name: str) -> dict[str, tuple[int, ...]]:
        return _grouped([columns.get(name, "") for *_, columns in self._labels])


def matcher(template: str) -> re.Pattern[str]:
    """Messages of the form of a template."""
    return re.compile(".*?".join(re.escape(part) for part in template.split(ANY)), re.DOTALL)


def _grouped(values: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Positions by value, values in order of their first; without the empty one."""
    groups: dict[str, list[int]] = defaultdict(list)
    for at, value in enumerate(values):
        if value.strip():
            groups[value].append(at)
    return {value: tuple(lines) for value, lines in groups.items()}
