"""Logs with told results, written to the disk as an evaluation writes them: what a question came to, by program."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evals.log import (
    SAMPLES,
    SCORES,
    EvalLog,
    JudgeName,
    SampleRecord,
    ScoreRow,
    line_of,
    read_log,
)
from evals.manifest import Manifest, ProgramIdentity, SetIdentity, write_manifest
from evals.metrics import Ratio
from evals.score import SampleScore
from tests.evals.samples import answer, claim, judged

ERROR = "error"
Told = float | None | str
"""What became of a sample: whether it is verified correct (None: undefined), or ERROR."""

_RIGHT = judged("string", ["7"], "7")


def duel(
    folder: Path,
    told: Mapping[str, Mapping[str, Told | list[Told]]],
    *,
    document: Callable[[str], str] = lambda question: question,
    kind: Callable[[str], str] = lambda question: "lookup",
    set_version: str = "v1",
    **changes: Any,
) -> EvalLog:
    """The log of some programs: by question what came of it, or a list with one entry an epoch.

    `document` of a question is its cluster. `changes` are fields of all scores.
    """
    questions = tuple(dict.fromkeys(each for results in told.values() for each in results))
    epochs = max(len(_epochs(each)) for results in told.values() for each in results.values())
    folder.mkdir(parents=True)
    write_manifest(folder, _manifest(told, questions, epochs, set_version))
    with (folder / SAMPLES).open("wb") as file:
        for program, results in told.items():
            for question, result in results.items():
                for epoch, each in enumerate(_epochs(result), 1):
                    fields = {"documents": (document(question),), "kind": kind(question), **changes}
                    file.write(line_of(_record(program, question, epoch, each, fields)))
    return read_log(folder)


def numbered(*values: Told) -> dict[str, Told]:
    """Results of q000, q001, ..."""
    return {f"q{number:03}": value for number, value in enumerate(values)}


def _epochs(result: Told | list[Told]) -> list[Told]:
    return result if isinstance(result, list) else [result]


def _record(
    program: str, question: str, epoch: int, told: Told, fields: dict[str, Any]
) -> SampleRecord:
    common = {"program": program, "question_id": question, "epoch": epoch}
    common |= {"seconds": 1.0 + epoch, "started": "2026-03-01T00:00:00Z"}
    if told == ERROR:
        return SampleRecord(**common, state="error", error_class="TimeoutError", error="too slow")
    assert not isinstance(told, str)
    ratio = Ratio(0, 0) if told is None else Ratio(told, 1)
    score = _RIGHT.model_copy(update={"question_id": question, "verified_correct": ratio, **fields})
    said = answer(claim(f"{told}"), program=program).model_dump(mode="json")
    checked = SampleScore.model_validate(score.model_dump())
    return SampleRecord(**common, state="done", answer=said, score=checked)


def _manifest(
    told: Mapping[str, Any], questions: tuple[str, ...], epochs: int, set_version: str
) -> Manifest:
    identity = ProgramIdentity(
        type="T", version=1, configuration={}, parameters={}, state="s", signatures="s"
    )
    return Manifest(
        question_set=SetIdentity(name="told", version=set_version, corpora={}),
        programs=dict.fromkeys(told, identity),
        questions=questions,
        epochs=epochs,
        limit=None,
        seed=0,
        versions={},
        code="c",
    )


def rescored(
    log: EvalLog,
    *,
    tau: float = 0.5,
    set_version: str = "",
    only: int = 999,
    judge: JudgeName | None = None,
) -> EvalLog:
    """The log with scores that stand in for those of its first samples."""
    rows = []
    for record in log.records[:only]:
        assert record.score is not None
        score = record.score.model_copy(update={"tau": tau, "evidence_recall": Ratio(0, 1)})
        row = ScoreRow(
            program=record.program,
            question_id=record.question_id,
            epoch=record.epoch,
            attempt=record.attempt,
            score=score,
            judge=judge,
            set_version=set_version,
        )
        rows.append(line_of(row))
    (log.folder / SCORES).write_bytes(b"".join(rows))
    return read_log(log.folder)
