"""Answering: a run from its question to its printed answer, whether it begins or goes on."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from data.corpus import Corpus, load_corpus
from programs.answer import Answer
from runtime.errors import CorpusError
from runtime.frames import fold
from runtime.journal import Journal, RunRecord
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
    with ExitStack() as stack:
        with display.watching() as watcher:
            models = settings.models()
            corpus = read_corpus(paths, folder, watcher.parsed)
            journal = stack.enter_context(open_journal(folder))
            program = settings.build(models, journal, watcher.ran)
            with untraced(), display.resumable(watcher):
                answer = program(question=question, corpus=corpus).answer
        display.finish(answer, journal)
    return STATUSES[answer.outcome]


def resume_run(run: str, display: Display, *, stored_text: bool) -> int:
    """Go on with a run, or print the answer of a finished one. Returns the exit status."""
    with journal_of_runs(store_folder(display.store), run) as journal:
        record = journal.run(run).record
        state = fold(journal.events(record.run_id))
        answer = stored_answer(state)
        if answer is not None:
            display.say(f"run {record.run_id} is finished; this is its answer")
        else:
            display.so_far(state)
            answer = _resumed(record, journal, display, stored_text=stored_text)
        display.finish(answer, journal)
    return STATUSES[answer.outcome]


def _resumed(record: RunRecord, journal: Journal, display: Display, *, stored_text: bool) -> Answer:
    settings = Settings.of(record)
    settings.check()
    display.banner(settings)
    models = settings.models()
    corpus = stored_corpus(record, stored_text=stored_text)
    with display.watching() as watcher:
        watcher.run_id = record.run_id
        program = settings.build(models, journal, watcher.ran)
        with untraced(), display.resumable(watcher):
            return program.resume(record.run_id, corpus).answer


def untraced() -> AbstractContextManager[None]:
    """A context in which DSPy keeps no trace: it would hold the text of every prompt until the run ends."""
    import dspy

    return dspy.context(trace=None)


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
