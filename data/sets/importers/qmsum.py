"""QMSum: meetings turn by turn, with questions about a part of one, and about the whole of it.

A turn is a line, `Speaker: words`. A specific question has the ranges of turns that matter, both ends included: a fact
each. A general question has none; what the whole of a meeting is made of are its topics, so each topic is a fact. The
answers are summaries, which nothing can compare: they are left out.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import Field

from data.questions import Fact, GoldSpan, Question, QuestionSet
from data.sets.importers.answers import NO_ANSWER
from data.sets.importers.draft import Draft, span_of
from data.sets.importers.records import Record, read_records

Ranges = list[tuple[int, int]]


class _Topic(Record):
    relevant_text_span: Ranges


class _General(Record):
    query: str


class _Specific(Record):
    query: str
    relevant_text_span: Ranges


class _Turn(Record):
    speaker: str
    content: str


class _Row(Record):
    topic_list: tuple[_Topic, ...] = ()
    general_query_list: tuple[_General, ...] = ()
    specific_query_list: tuple[_Specific, ...] = ()
    meeting_transcripts: list[_Turn] = Field(min_length=1)


class _Meeting:
    """A meeting as a text, with the place of every turn."""

    def __init__(self, draft: Draft, row: _Row) -> None:
        lines = [_line(turn) for turn in row.meeting_transcripts]
        # Named by its content: the place of a meeting in the data is no name that lasts.
        digest = hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:8]
        self.name = f"meeting-{digest}"
        self._written = draft.pieces(self.name, self.name, lines, between="\n", after="\n")
        self.source = self._written.source

    def facts(self, ranges: Iterable[tuple[int, int]]) -> tuple[Fact, ...]:
        """Ranges of turns as facts of one span each; an empty fact for a range that the meeting does not have."""
        return tuple(
            dict.fromkeys(((span,),) if (span := self._span(each)) else () for each in ranges)
        )

    def _span(self, turns: tuple[int, int]) -> GoldSpan | None:
        first, last = turns
        places = self._written.spans
        if not 0 <= first <= last < len(places):
            return None
        return span_of(self.source, self._written.text, places[first].start, places[last].end)


def import_qmsum(
    source: Path,
    folder: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
    store: Path | None = None,
) -> QuestionSet:
    """The questions about every meeting: a corpus a meeting."""
    draft = Draft("qmsum")
    for row in read_records(source, _Row, "*.jsonl"):
        _ask(draft, _Meeting(draft, row), row)
    return draft.finish(folder, limit=limit, seed=seed, store=store)


def _ask(draft: Draft, meeting: _Meeting, row: _Row) -> None:
    topics = [each for topic in row.topic_list for each in topic.relevant_text_span]
    asked: Sequence[tuple[str, str, Ranges]] = (
        *(("specific", each.query, each.relevant_text_span) for each in row.specific_query_list),
        *(("general", each.query, topics) for each in row.general_query_list),
    )
    for number, (form, query, ranges) in enumerate(asked, 1):
        if form == "specific" and not ranges:
            draft.leave_out("questions without a range of turns")
            continue
        draft.ask(
            Question(
                id=f"qmsum-{meeting.name.removeprefix('meeting-')}-{number:02}",
                question=query,
                corpus=meeting.name,
                kind="local" if form == "specific" else "aggregate",
                gold=meeting.facts(ranges),
                answer=NO_ANSWER,
                answerable=True,
                documents=(meeting.source,),
                tags=(form,),
            )
        )


def _line(turn: _Turn) -> str:
    """A turn as one line, whatever breaks it has."""
    return " ".join(f"{turn.speaker}: {turn.content}".splitlines()).rstrip()
