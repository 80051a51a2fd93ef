"""Log of an evaluation: a folder in which every finished sample is one line.

LOG/manifest.json   what was evaluated (see evals/manifest.py)
LOG/samples.jsonl   one SampleRecord a line, in the order in which samples ended; only ever appended to
LOG/scores.jsonl    where somebody rescored: scores that stand in for those of the samples

The last line of a sample counts: one that failed may have been tried again later. A line that a kill cut in half has no
line break at its end and is left out.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from evals.lines import Row, parsed_row
from evals.manifest import Manifest, read_manifest
from evals.score import SampleScore

SAMPLES = "samples.jsonl"
SCORES = "scores.jsonl"

SampleKey = tuple[str, str, int]
"""A sample: program, id of the question, epoch."""


class LogRow(BaseModel):
    """Base of what a log holds: frozen, strict about unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Spent(LogRow):
    """What the calls of a failed attempt used: it has no receipt. `cost_usd` is None when a price is unknown."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


class Failure(LogRow):
    """An attempt at a sample that ended in an error: what was raised, and where (innermost frame last).

    `spent` is None where nobody knows: the program kept a journal of its own, or the log is of an older version.
    """

    attempt: int
    error_class: str
    error: str
    traceback: tuple[str, ...] = ()
    spent: Spent | None = None
    seconds: float
    started: str


class SampleRecord(LogRow):
    """What became of one sample: an answer with its score, or an error, which is a state and never a zero.

    `answer` is an Answer as JSON. `score` is None for an error, and where an answer was not scored yet. `epoch` and
    `attempt` count from 1. `retries` are the attempts before this one; `cached`: replies came from a cache, so that
    the seconds say nothing. `seconds` is wall time, `started` ISO 8601 in UTC.
    """

    program: str
    question_id: str
    epoch: int
    attempt: int = 1
    state: Literal["done", "error"]
    answer: dict[str, Any] | None = None
    score: SampleScore | None = None
    error_class: str = ""
    error: str = ""
    traceback: tuple[str, ...] = ()
    spent: Spent | None = None
    seconds: float
    started: str
    cached: bool = False
    retries: tuple[Failure, ...] = ()

    @property
    def key(self) -> SampleKey:
        """Which sample this is."""
        return self.program, self.question_id, self.epoch

    @property
    def failures(self) -> tuple["Failure | SampleRecord", ...]:
        """All attempts that ended in an error, with this one if it did."""
        return (*self.retries, self) if self.state == "error" else self.retries

    @property
    def failed(self) -> bool:
        """Whether it has an answer, which says that the program failed: no error of this sample, and no success."""
        return self.answer is not None and self.answer.get("outcome") == "failed"


class JudgeName(LogRow):
    """Which support judge it was: its model, and a hash over what else its verdicts depend on.

    `threshold`: the likelihood of support that makes a claim a supported one; None where it says so in words.
    """

    model: str
    version: str
    threshold: float | None = None

    def __str__(self) -> str:
        how = "" if self.threshold is None else f", by a likelihood of {self.threshold:g}"
        return f"{self.model}, version {self.version}{how}"


class ScoreRow(LogRow):
    """A line of scores.jsonl: the score that stands in for that of a sample's attempt.

    `judge` is the support judge whose verdicts it rests on, None without one. `set_version` is the version of the set
    by whose gold it was scored; empty: that of the manifest.
    """

    program: str
    question_id: str
    epoch: int
    attempt: int
    score: SampleScore
    judge: JudgeName | None = None
    set_version: str = ""


class Scoring(NamedTuple):
    """By what a score was computed: the share of a stretch that counts as cited, and the gold of which set."""

    tau: float
    set_version: str

    def __str__(self) -> str:
        return f"tau {self.tau:g} and set {self.set_version}"


@dataclass(frozen=True, repr=False)
class EvalLog:
    """A log as read: one record a sample, in the order of the plan. `cut`: its last line was cut in half.

    `rescored`: scores of scores.jsonl stand in for those of the samples, and `judge` is the support judge of these.
    `set_versions`: by the gold of which set these were scored, by sample.
    """

    folder: Path
    manifest: Manifest
    records: tuple[SampleRecord, ...]
    cut: bool = False
    rescored: bool = False
    judge: JudgeName | None = None
    set_versions: Mapping[SampleKey, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        # Short: asyncio.run formats what its coroutine returned, which may be ten thousand answers.
        return f"<EvalLog {self.folder}: {len(self.records)} of {self.manifest.total} samples>"

    @cached_property
    def by_key(self) -> dict[SampleKey, SampleRecord]:
        """The records by sample."""
        return {record.key: record for record in self.records}

    @property
    def programs(self) -> tuple[str, ...]:
        """The names of the programs, in the order in which they were named."""
        return tuple(self.manifest.programs)

    @property
    def missing(self) -> tuple[SampleKey, ...]:
        """The samples that were not evaluated yet."""
        return tuple(key for key in planned(self.manifest) if key not in self.by_key)

    @cached_property
    def scorings(self) -> tuple[Scoring, ...]:
        """By what its scores were computed; several where it was rescored and then went on."""
        own = self.manifest.question_set.version
        found = (
            Scoring(record.score.tau, self.set_versions.get(record.key) or own)
            for record in self.records
            if record.score is not None
        )
        return tuple(dict.fromkeys(found))

    @property
    def errors(self) -> tuple[SampleRecord, ...]:
        """The samples that ended in an error."""
        return tuple(record for record in self.records if record.state == "error")

    @property
    def error_classes(self) -> Counter[str]:
        """How often each class of error ended a sample."""
        return Counter(record.error_class for record in self.errors)

    def of(self, program: str) -> tuple[SampleRecord, ...]:
        """The records of one program."""
        return tuple(record for record in self.records if record.program == program)


def planned(manifest: Manifest) -> Iterator[SampleKey]:
    """The samples of an evaluation, in their order: all programs on a question before the next question."""
    for epoch in range(1, manifest.epochs + 1):
        for question_id in manifest.questions:
            for program in manifest.programs:
                yield program, question_id, epoch


def read_log(folder: Path) -> EvalLog:
    """The log in a folder. Raises RunError when there is none, or it is damaged."""
    manifest = read_manifest(folder)
    rows, cut = read_samples(folder / SAMPLES)
    again = read_scores(folder / SCORES)
    scores = {((row.program, row.question_id, row.epoch), row.attempt): row for row in again}
    latest = {record.key: _rescored(record, scores) for record in rows}
    versions = {
        key: row.set_version
        for key, record in latest.items()
        if (row := scores.get((key, record.attempt))) is not None
    }
    ordered = (latest[key] for key in planned(manifest) if key in latest)
    judge = again[0].judge if again else None
    return EvalLog(
        folder,
        manifest,
        tuple(ordered),
        cut=cut,
        rescored=bool(scores),
        judge=judge,
        set_versions=versions,
    )


def read_samples(path: Path) -> tuple[list[SampleRecord], bool]:
    """All lines of samples.jsonl, and whether the last one was cut in half."""
    raw = path.read_bytes() if path.exists() else b""
    lines = raw.split(b"\n")
    return [
        _row(SampleRecord, line, path, number) for number, line in enumerate(lines[:-1], start=1)
    ], bool(lines[-1])


def read_scores(path: Path) -> list[ScoreRow]:
    """The scores that stand in; they were all written by one rescoring."""
    if not path.exists():
        return []
    lines = path.read_bytes().splitlines()
    return [_row(ScoreRow, line, path, number) for number, line in enumerate(lines, start=1)]


def line_of(row: LogRow) -> bytes:
    """A row as one line of JSON. A lone surrogate of a source comes out as its escape; JSON has no NaN."""
    text = json.dumps(row.model_dump(mode="json"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def stable(record: SampleRecord) -> dict[str, Any]:
    """A record without what differs between two runs of the same evaluation: clocks and run ids."""
    made = record.model_dump(exclude={"seconds", "started", "retries"})
    made["retries"] = [each.model_dump(exclude={"seconds", "started"}) for each in record.retries]
    if record.answer is not None:
        receipt = {**record.answer["receipt"], "wall_seconds": None, "sandbox_seconds": None}
        made["answer"] = {**record.answer, "run_id": None, "receipt": receipt}
    if record.score is not None:
        made["score"]["seconds"] = None
    return made


def _rescored(
    record: SampleRecord, scores: Mapping[tuple[SampleKey, int], ScoreRow]
) -> SampleRecord:
    row = scores.get((record.key, record.attempt))
    return record if row is None else record.model_copy(update={"score": row.score})


def _row(of: type[Row], line: bytes, path: Path, number: int) -> Row:
    return parsed_row(line, of, path, number, of.__name__, "its sample evaluated again")
