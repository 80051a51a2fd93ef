"""Submission: the statements of a final answer, each with the claims, counts or lines that prove it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from runtime.models.extractive.conclusion import conclude
from runtime.models.extractive.findings import Findings
from runtime.models.extractive.material import Material
from runtime.models.extractive.reader import read_leaf
from runtime.models.extractive.times import leading_time
from signatures import ClaimStatus, EvidenceSpan

_MOST_LINES = 8


@dataclass(frozen=True)
class Submitted:
    """One statement. `evidence`: span ids with quotes, or ids of claims and counts with empty quotes."""

    text: str
    status: ClaimStatus
    time: str
    evidence: tuple[tuple[str, str], ...]


def submission(findings: Iterable[Findings]) -> list[Submitted]:
    """What the findings come to, goal by goal: the statements that a conclusion from them would have."""
    return [each for found in findings for each in _statements(found)]


def answer_text(submitted: Iterable[Submitted]) -> str:
    """The answer: what the statements say, and nothing else."""
    return "\n".join(each.text for each in submitted)


def _statements(found: Findings) -> Iterator[Submitted]:
    if found.told is not None:
        yield from _quoted(found.told)
    elif found.claims:
        yield from _concluded(found)
    elif not found.was_read:
        yield from _from_lines(found)


def _quoted(line: EvidenceSpan) -> Iterator[Submitted]:
    if line.text.strip():
        text = " ".join(line.text.split())
        yield Submitted(text, "direct", leading_time(line.text), ((line.span_id, line.text),))


def _concluded(found: Findings) -> Iterator[Submitted]:
    computed = list(found.computed)
    if found.goal.kind == "conflict":
        computed += found.contradictions
    known = {claim.claim_id: claim for claim in found.claims}
    material = Material(
        question=_asked(found),
        kind=found.goal.kind,
        claims=tuple(found.claims),
        computed=tuple(computed),
        coverage="",
    )
    for statement in conclude(material).statements:
        if statement.claim_ids:
            time = known[statement.claim_ids[0]].time if len(statement.claim_ids) == 1 else ""
            evidence = tuple((claim_id, "") for claim_id in statement.claim_ids)
            yield Submitted(statement.text, statement.status, time, evidence)


def _asked(found: Findings) -> str:
    """The question; of a count without the sources that it names, for they are no strings that lines contain."""
    asked = found.goal.question
    if found.goal.way == "count":
        for source in found.goal.sources:
            for name in (source, PurePosixPath(source).name):
                asked = asked.replace(name, " ")
    return asked


def _from_lines(found: Findings) -> Iterator[Submitted]:
    """Where no reader could be asked: what the lines say that a tool has shown, read here."""
    goal = found.goal
    reading = read_leaf(goal.question, goal.kind, list(goal.patterns), found.lines, [])
    for claim in reading.claims[:_MOST_LINES]:
        evidence = tuple(
            (each.span_id, each.quote)
            for each in reading.evidence
            if each.claim_id == claim.claim_id
        )
        yield Submitted(claim.text, claim.status, claim.time, evidence)
