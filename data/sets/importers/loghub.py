"""loghub: logs whose lines are labeled by a table, which says level, component and event of each.

The table is the ground truth of counts, firsts, lasts and distinct values. A count has one fact, with every counted
line as an alternative; a set has such a fact for each of its values. What a reader of the log cannot know is not
asked: templates that match other lines than the table says, and components that are not written in the line.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from random import Random

from pydantic import ConfigDict, Field

from data.questions import GoldSpan, Question, QuestionSet, TypedAnswer
from data.sets.importers.answers import NO_ANSWER
from data.sets.importers.draft import Draft
from data.sets.importers.labeled_log import Facet, LabeledLog, matcher
from data.sets.importers.records import Record, data_files, read_file
from data.timestamp import NO_YEAR

TABLE = "_structured.csv"
VALUES_ASKED = 8
"""How many components and events of a log are asked about, drawn by the seed."""

ABSENT_ASKED = 2
"""How many events of other logs each log is asked about in vain."""


class _Row(Record):
    model_config = ConfigDict(frozen=True, extra="allow")

    line: int = Field(alias="LineId")
    content: str = Field(alias="Content")
    event: str = Field(alias="EventId")
    template: str = Field(alias="EventTemplate")

    @property
    def columns(self) -> dict[str, str]:
        """What else the table of this log has."""
        return {name: str(value) for name, value in (self.model_extra or {}).items()}


def import_loghub(
    source: Path,
    folder: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
    store: Path | None = None,
) -> QuestionSet:
    """The questions about every log with a table: a corpus a log."""
    draft = Draft("loghub")
    logs: list[LabeledLog] = []
    for table in data_files(source, f"*{TABLE}"):
        path = table.with_name(table.name.removesuffix(TABLE))
        if not path.is_file():
            draft.leave_out("tables without their log")
            continue
        rows = list(read_file(table, _Row))
        raw = path.read_bytes()
        labeled = LabeledLog(
            draft.document(path.stem, path.name, raw),
            raw,
            [(row.line, row.content, row.event, row.template, row.columns) for row in rows],
        )
        if labeled.agrees:
            logs.append(labeled)
        else:
            draft.leave_out("logs that their table does not fit")
    for log in logs:
        random = Random(f"{seed} {log.source}")
        questions = [
            *_about_values(log, random, draft),
            *_about_facets(log),
            *_in_vain(log, logs, random),
        ]
        for number, question in enumerate(questions, 1):
            name = Path(log.source).stem
            draft.ask(question.model_copy(update={"id": f"loghub-{name}-{number:03}"}))
    return draft.finish(folder, limit=limit, seed=seed, store=store)


def _about_values(log: LabeledLog, random: Random, draft: Draft) -> Iterator[Question]:
    """How many lines have a value of a facet, and when the first and the last of them was written."""
    for facet in log.facets():
        values = list(facet.lines)
        random.shuffle(values)
        asked = 0
        for value in values:
            if facet.name != "level" and asked == VALUES_ASKED:
                break
            if not log.shows(facet, value):
                draft.leave_out(f"lines of one {facet.name} that the log itself does not tell")
                continue
            asked += 1
            yield _count(log, facet, value)
            yield from _extremes(log, facet, value)


def _count(log: LabeledLog, facet: Facet, value: str) -> Question:
    lines = facet.lines[value]
    return _asked(
        log,
        f"How many lines of {log.source} {facet.told(value)}?",
        TypedAnswer(type="integer", values=(str(len(lines)),)),
        [[log.spans[at] for at in lines]],
        ("count", facet.name),
    )


def _extremes(log: LabeledLog, facet: Facet, value: str) -> Iterator[Question]:
    lines = facet.lines[value]
    for name, at in (("first", lines[0]), ("last", lines[-1])):
        written = log.time(at)
        if written and len(lines) > 1:
            yield _asked(
                log,
                f"Of the lines of {log.source} that {facet.told(value)}, which time does "
                f"the {name} one in the file bear?",
                _time(written, log.time_read(at)),
                [[log.spans[at]]],
                (name, facet.name),
            )


def _time(written: str, read: datetime | None) -> TypedAnswer:
    """A time as a date, or as the words of a log that names no year."""
    if read is None or read.year == NO_YEAR:
        return TypedAnswer(type="string", values=(written,))
    return TypedAnswer(type="date", values=(read.isoformat(),), accepted=(written,))


def _about_facets(log: LabeledLog) -> Iterator[Question]:
    """Which values there are."""
    for facet in log.facets():
        if facet.name == "event" or not all(log.shows(facet, value) for value in facet.lines):
            continue
        yield _asked(
            log,
            f"Which {facet.name}s occur in {log.source}?",
            TypedAnswer(type="set", values=tuple(facet.lines)),
            [[log.spans[at] for at in lines] for lines in facet.lines.values()],
            ("distinct", facet.name),
        )


def _in_vain(log: LabeledLog, logs: Sequence[LabeledLog], random: Random) -> Iterator[Question]:
    """When something was logged that only other logs have."""
    templates = sorted(
        {each for other in logs if other is not log for each in other.templates} - log.templates
    )
    random.shuffle(templates)
    absent = (each for each in templates if not log.matches(matcher(each)))
    for template, _ in zip(absent, range(ABSENT_ASKED), strict=False):
        yield _asked(
            log,
            f"When does {log.source} first have a message of the form `{template}` "
            "(<*> stands for any text)?",
            NO_ANSWER,
            [],
            ("absent", "event"),
        )


def _asked(
    log: LabeledLog,
    words: str,
    answer: TypedAnswer,
    facts: Sequence[Sequence[GoldSpan]],
    tags: tuple[str, ...],
) -> Question:
    """A question, without its id yet; each fact by the lines that show it."""
    return Question(
        id="",
        question=words,
        corpus=Path(log.source).stem,
        kind="aggregate" if facts else "unanswerable",
        gold=tuple(tuple((span,) for span in lines) for lines in facts),
        answer=answer,
        answerable=bool(facts),
        documents=(log.source,),
        tags=tags,
    )
