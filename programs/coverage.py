"""Coverage: which partitions an answer needed, computed from the journal, never from what a model says.

Counts, existence, lists, timelines and contradictions need every partition. A partition counts as completed
when readers judged it, or when an exhaustive search for the question's own strings shows that nothing in it can
match. Other questions need what was selected for reading; when nothing was found, they needed everything.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from programs.answer import Coverage, Search
from programs.observing import counted, listed
from programs.workspace import Workspace
from runtime.frames import Frame, RunState
from runtime.observations import Analyzed, ComputedResult, Payload, Ranked, Scanned

UNPARSED = ("failed", "skipped")


@dataclass(frozen=True, slots=True)
class Reached:
    """What the steps of a run reached: partition ids by what became of them."""

    done: frozenset[str]
    failed: frozenset[str]
    unread: frozenset[str]
    touched: frozenset[str]


def coverage(state: RunState, workspace: Workspace, found: bool) -> Coverage:
    """The coverage of a run so far. `found` says whether the answer states anything."""
    frames = list(state.frames.values())
    payloads = [payload for frame in frames for payload in payloads_of(frame)]
    reached = _reached(payloads)
    needs_all = (state.classified is not None and state.classified.requires_all) or not found
    excluded = _searched(state, workspace, payloads)
    root = state.frames.get("root")
    scope = workspace.partitions_of(root.targets if root else ())
    required = (
        tuple(each.id for each in scope) if needs_all else _in_order(workspace, reached.touched)
    )
    done = reached.done | excluded
    completed = tuple(each for each in required if each in done)
    failed = tuple(each for each in required if each in reached.failed - done)
    missed = {*completed, *failed}
    return Coverage(
        required=required,
        completed=completed,
        failed=failed,
        unread=tuple(each for each in required if each not in missed),
        unparsed=unparsed(workspace),
        searches=tuple(_searches(payloads)),
        truncations=tuple(_truncations(workspace, payloads)),
        partitions=len(workspace.partition_ids),
    )


def payloads_of(frame: Frame) -> list[Payload]:
    """The results of a frame's own steps."""
    return [
        step.observation.payload
        for step in frame.steps
        if step.observation is not None and step.observation.payload is not None
    ]


def unparsed(workspace: Workspace) -> tuple[str, ...]:
    """Sources that could hold an answer and could not be read: not those that are left out on purpose."""
    return tuple(
        source.id
        for source in workspace.corpus.sources
        if source.parse_status == "failed"
        or (source.parse_status == "skipped" and source.reason.startswith("format"))
    )


def undecodable(workspace: Workspace) -> tuple[str, ...]:
    """Sources of which a part could not be decoded."""
    return tuple(
        source.id
        for source in workspace.corpus.sources
        if source.parse_status == "degraded" and "byte" in source.reason
    )


def _in_order(workspace: Workspace, ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(ids, key=workspace.partition_rank.__getitem__))


def _reached(payloads: Iterable[Payload]) -> Reached:
    done: set[str] = set()
    failed: set[str] = set()
    unread: set[str] = set()
    touched: set[str] = set()
    for payload in payloads:
        if isinstance(payload, Analyzed):
            broken = {each.partition_id for each in payload.failed}
            failed |= broken
            unread |= set(payload.unread)
            touched |= {*payload.done, *broken, *payload.unread}
            done |= set(payload.done)
    return Reached(*(frozenset(each) for each in (done, failed, unread, touched)))


def _searched(state: RunState, workspace: Workspace, payloads: list[Payload]) -> frozenset[str]:
    """Partitions that exhaustive searches for the question's own strings settled.

    A search settles a partition when it found nothing there, or when what it found is in a computed result. It
    must ask for no more than the question does: an extra string would leave matching lines out.
    """
    classified = state.classified
    if classified is None:
        return frozenset()
    counts = any(isinstance(each, ComputedResult) and each.operation.startswith(
        ("count", "earliest", "latest")) for each in payloads)  # fmt: skip
    settled: set[str] = set()
    for scan in payloads:
        if not isinstance(scan, Scanned):
            continue
        counted_here = counts and classified.question_kind == "count"
        own = bool(scan.patterns) and set(scan.patterns) <= set(classified.patterns)
        if own or counted_here:
            settled |= _settled_by(scan, workspace, counts)
    return frozenset(settled)


def _settled_by(scan: Scanned, workspace: Workspace, counts: bool) -> set[str]:
    searched = set(scan.sources)
    inside = {each.id for each in workspace.partitioning.partitions if each.source in searched}
    if counts:
        return inside
    if scan.total > len(scan.hits):
        hit_sources = {source for source, count in scan.by_source if count}
        return {
            each.id
            for each in workspace.partitioning.partitions
            if each.source in searched - hit_sources
        }
    partitioning = workspace.partitioning
    hit = {
        partitioning.partition_of(partitioning.span_at(each.source, each.start).id).id
        for each in scan.hits
    }
    return inside - hit


def _searches(payloads: Iterable[Payload]) -> Iterable[Search]:
    for payload in payloads:
        if isinstance(payload, Scanned):
            yield Search(
                method="scan",
                query=" and ".join(payload.patterns),
                total=payload.total,
                sources=len(payload.sources),
                exhaustive=True,
            )
        elif isinstance(payload, Ranked):
            yield Search(
                method="rank",
                query=payload.query,
                total=len(payload.span_ids),
                sources=0,
                exhaustive=False,
            )


def _truncations(workspace: Workspace, payloads: Iterable[Payload]) -> Iterable[str]:
    for payload in payloads:
        if isinstance(payload, Scanned) and payload.total > len(payload.hits):
            what = " and ".join(payload.patterns)
            yield f"{len(payload.hits)} of {payload.total} lines that match {what} were kept"
    broken = undecodable(workspace)
    if broken:
        yield f"{counted(len(broken), 'source')} could not be decoded completely: {listed(broken)}"


def described(coverage: Coverage) -> str:
    """Coverage in one line, for a prompt."""
    parts = [
        f"{len(coverage.completed)} of {counted(len(coverage.required), 'required partition')}"
    ]
    for name in ("failed", "unread", "unparsed"):
        items = getattr(coverage, name)
        if items:
            parts.append(f"{len(items)} {name}")
    return ", ".join(parts)
