"""Answering: a run from its question to its printed answer, whether it begins or goes on."""

from collections.abc import Sequence
from pathlib import Path

from data.corpus import Corpus, load_corpus
from runtime.errors import CorpusError
from runtime.frames import fold
from runtime.journal import RunRecord
from spantree.cli.display import Display
from spantree.cli.exits import STATUSES
from spantree.cli.reading import checked_paths, checked_question, read_corpus
from spantree.cli.settings import Settings
from spantree.cli.store import journal_of_runs, open_journal, store_folder
from spantree.cli.stored import stored_answer


def answer_question(
    question: str, paths: Sequence[str], settings: Settings, display: Display
) -> int:
    """Check everything that can be checked, then read, then admit the run. Returns the exit status."""
    question = checked_question(question)
    checked_paths(paths)
    settings.check()
    folder = store_folder(display.store)
    display.banner(settings)
    with display.watching() as watcher:
        models = settings.models()
        corpus = read_corpus(paths, folder, watcher.parsed)
        journal = open_journal(folder)
        program = settings.build(models, journal, watcher.ran)
        with display.resumable(watcher):
            answer = program(question=question, corpus=corpus).answer
    display.finish(answer, journal)
    return STATUSES[answer.outcome]


def resume_run(run: str, display: Display, *, stored_text: bool) -> int:
    """Go on with a run, or print the answer of a finished one. Returns the exit status."""
    journal = journal_of_runs(store_folder(display.store), run)
    record = journal.run(run).record
    state = fold(journal.events(record.run_id))
    answer = stored_answer(state)
    if answer is not None:
        display.say(f"run {record.run_id} is finished; this is its answer")
    else:
        settings = Settings.of(record)
        display.banner(settings)
        display.so_far(state)
        corpus = stored_corpus(record, stored_text=stored_text)
        with display.watching() as watcher:
            watcher.run_id = record.run_id
            program = settings.build(settings.models(), journal, watcher.ran)
            with display.resumable(watcher):
                answer = program.resume(record.run_id, corpus).answer
    display.finish(answer, journal)
    return STATUSES[answer.outcome]


def stored_corpus(record: RunRecord, *, stored_text: bool) -> Corpus:
    """The corpus of a run at the version of the run. Raises CorpusError if files have changed since."""
    corpus = load_corpus(record.corpus_version, store=Path(record.store))
    changed = [] if stored_text else corpus.changed()
    if changed:
        some = ", ".join(changed[:5]) + (", ..." if len(changed) > 5 else "")
        raise CorpusError(
            f"{len(changed)} of the files changed since the run began: {some}",
            hint="ask again over the new text, or go on with the stored text: --stored-text",
        )
    return corpus
