"""Pages about question sets: what can be built, what a set holds, a question with its gold, the faults of a set."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from spantree.cli.output import page_width
from spantree.cli.page import Page
from spantree.cli.tables import Column, print_table
from spantree.cli.terminal import count

if TYPE_CHECKING:
    from data.questions import Question, QuestionSet
    from data.sets.generators import Family
    from data.sets.lint import Problem
    from data.sets.shipped import Known

_FAULTS_SHOWN = 50
_ALTERNATIVES_SHOWN = 3


def list_page(
    known: "Sequence[Known]",
    families: "Sequence[Family]",
    importers: Sequence[str],
    console: Console,
) -> None:
    """Print the sets, the families and the importers."""
    width = page_width(console)
    rows = [(e.name, "yes" if e.folder else "when asked for", e.made_by) for e in known]
    print_table((Column("set"), Column("built"), Column("made by", share=1)), rows, console, width)
    console.print()
    does = [(each.name, each.does) for each in families]
    print_table((Column("family"), Column("what it makes", share=1)), does, console, width)
    page = Page(width)
    page.heading("import (--from PATH)")
    page.item(", ".join(importers), lead="")
    console.print()
    page.print(console)
    console.file.flush()


def set_json(made: "QuestionSet", folder: Path) -> dict[str, Any]:
    """The JSON of a set: what it holds, in numbers."""
    return {
        "name": made.name,
        "made_by": made.made_by,
        "version": made.version,
        "folder": str(folder),
        "questions": len(made.questions),
        "answerable": sum(each.answerable for each in made.questions),
        **{name: dict(counts) for name, counts in _counts(made).items()},
        "corpora": [each.model_dump(mode="json") for each in made.corpora],
    }


def set_page(made: "QuestionSet", folder: Path, width: int) -> Page:
    """What a set holds."""
    page = Page(width)
    page.heading(made.name, made.made_by)
    answerable = sum(each.answerable for each in made.questions)
    numbers = f"{count(len(made.questions), 'question')}, {answerable:,} answerable; "
    corpora = f"{len(made.corpora):,} {'corpus' if len(made.corpora) == 1 else 'corpora'}"
    page.item(numbers + corpora, lead="")
    for name, counts in _counts(made).items():
        told = ", ".join(f"{value} {times:,}" for value, times in counts.items())
        page.item(told, lead=f"{name}: ")
    page.item(made.version, lead="version: ")
    page.unbroken(str(folder), lead="folder: ")
    return page


def question_page(question: "Question", width: int) -> Page:
    """A question with its gold."""
    page = Page(width)
    page.heading(question.id, question.question)
    values = ", ".join(question.answer.values)
    page.item(f"{question.answer.type} {values}".rstrip(), lead="answer: ")
    page.item(question.kind, lead="kind: ")
    page.item(question.corpus, lead="corpus: ")
    page.item(question.split, lead="split: ")
    page.item(count(len(question.required_partitions), "partition"), lead="required: ")
    if question.tags:
        page.item(", ".join(question.tags), lead="tags: ")
    for number, fact in enumerate(question.gold, 1):
        page.heading(f"Fact {number}", count(len(fact), "alternative"))
        for alternative in fact[:_ALTERNATIVES_SHOWN]:
            for at, each in enumerate(alternative):
                place = f"{each.source}:{each.start}-{each.end}"
                lead = "- " if at == 0 else "  and "
                page.item(f'{place}  "{each.quote}"', lead=lead, lines=3)
        if len(fact) > _ALTERNATIVES_SHOWN:
            page.item(f"{len(fact) - _ALTERNATIVES_SHOWN:,} more", lead="")
    return page


def problems_page(made: "QuestionSet", problems: "Sequence[Problem]", width: int) -> Page:
    """The faults of a set, by question."""
    page = Page(width)
    checked = count(len(made.questions), "question")
    if not problems:
        page.heading(made.name, f"{checked} checked, no fault")
        return page
    page.heading(made.name, f"{count(len(problems), 'fault')} in {checked}")
    for each in problems[:_FAULTS_SHOWN]:
        where = f"{each.question}: " if each.question else ""
        page.item(f"{where}{each.code}: {each.message}", lines=3)
    if len(problems) > _FAULTS_SHOWN:
        page.item(f"and {len(problems) - _FAULTS_SHOWN:,} more (all of them with --json)", lead="")
    return page


def _counts(made: "QuestionSet") -> dict[str, Counter[str]]:
    return {
        "kinds": Counter(each.kind for each in made.questions),
        "answers": Counter(each.answer.type for each in made.questions),
        "splits": Counter(each.split for each in made.questions),
    }
