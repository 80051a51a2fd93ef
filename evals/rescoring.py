"""Rescoring: the metrics of a stored log, computed anew from its answers. No sample is rewritten.

No model is called either, unless a support judge is to say which statements their quotes support.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from data.corpus import Corpus
from data.questions import Question, QuestionSet
from data.store import replace_atomically, temporary_name
from evals.judging import Judging
from evals.log import SCORES, EvalLog, SampleRecord, ScoreRow, line_of, read_log
from evals.score import TAU, score
from runtime.errors import QuestionSetError

_SHOWN = 3


def rescore(
    folder: Path,
    made: QuestionSet,
    corpora: Callable[[str], Corpus],
    *,
    tau: float = TAU,
    judged: Callable[[Sequence[SampleRecord]], Judging] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> EvalLog:
    """Score every answer of a log again and write LOG/scores.jsonl, whole or not at all.

    The gold of the set may have been mended since; its questions and corpora must be those that were answered.
    `judged` asks a support judge about the answers; without it nobody is asked, and statements are unjudged again.
    Raises QuestionSetError otherwise, RunError when there is no log.
    """
    log = read_log(folder)
    questions = _same(made, log)
    answered = _answered(log)
    judging = judged(answered) if judged else None
    path = folder / SCORES
    temporary = temporary_name(path)
    try:
        with temporary.open("wb") as file:
            for number, record in enumerate(answered, start=1):
                question = questions[record.question_id]
                row = _row(record, question, corpora(question.corpus), tau, judging)
                file.write(line_of(row.model_copy(update={"set_version": made.version})))
                if progress:
                    progress(number, len(answered))
        replace_atomically(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return read_log(folder)


def _answered(log: EvalLog) -> list[SampleRecord]:
    return [record for record in log.records if record.answer is not None]


def _row(
    record: SampleRecord, question: Question, corpus: Corpus, tau: float, judging: Judging | None
) -> ScoreRow:
    assert record.answer is not None
    verdicts = judging.verdicts(record) if judging else None
    return ScoreRow(
        program=record.program,
        question_id=record.question_id,
        epoch=record.epoch,
        attempt=record.attempt,
        score=score(question, record.answer, corpus, tau=tau, verdicts=verdicts),
        judge=judging.judge if judging else None,
    )


def _same(made: QuestionSet, log: EvalLog) -> dict[str, Question]:
    """The questions of the set by id, if they are those that the log answers."""
    questions = {each.id: each for each in made.questions}
    versions = {each.name: each.version for each in made.corpora}
    changed = [
        f"the corpus {name}"
        for name, version in log.manifest.question_set.corpora.items()
        if versions.get(name) != version
    ]
    for record in _answered(log):
        now = questions.get(record.question_id)
        asked = (record.answer or {}).get("question")
        if now is None or now.question.strip() != asked:
            changed.append(f"the question {record.question_id}")
    changed = list(dict.fromkeys(changed))
    if changed:
        more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
        raise QuestionSetError(
            f"the log {log.folder} answers another set: {', '.join(changed[:_SHOWN])}{more}"
            f" changed since, or {'is' if len(changed) == 1 else 'are'} missing",
            hint="name the set that it was made with: --set NAME",
        )
    return questions
