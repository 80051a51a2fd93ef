"""Coverage: which partitions an answer needed, computed from the journal, never from what a model says.

Counts, existence, lists, timelines and contradictions need every partition. A partition counts as completed
when readers judged all of it, or when an exhaustive search for strings of the question itself settles it: what matched
was read or computed with, and nothing else can match. Passages that were picked by relevance, or by strings that a
model thought of, settle nothing. Other questions need what was selected for reading; when nothing was found, they
needed everything.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from data.pattern import Pattern
from programs.answer import Coverage, Search
from programs.observing import counted, listed
from programs.readings import Targets
from programs.routing import has_result
from programs.workspace import Workspace
from runtime.errors import StepError
from runtime.frames import Frame, RunState, Step
from runtime.observations import Analyzed, ComputedResult, Payload, Ranked, ReadSpans, Scanned
from runtime.questions.classifier import classify
from runtime.questions.mentions import demands

_SETTLING = ("count", "earliest", "latest", "difference")
"""Operations that take all matching lines into account, also those beyond the page that was kept."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What the steps of a run reached: partition ids by what became of them.

    `whole` was judged completely, `selected` as far as it was picked for reading or computing; `unread` was picked
    and not reached.
    """

    whole: frozenset[str] = frozenset()
    selected: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()

    def __or__(self, other: "Reached") -> "Reached":
        return Reached(
            self.whole | other.whole,
            self.selected | other.selected,
            self.failed | other.failed,
            self.unread | other.unread,
        )


def coverage(state: RunState, workspace: Workspace, found: bool) -> Coverage:
    """The coverage of a run so far. `found` says whether the answer states anything."""
    payloads = [payload for frame in state.frames.values() for payload in payloads_of(frame)]
    reached = _reached(state, workspace)
    needs_all = (state.classified is not None and state.classified.requires_all) or not found
    root = state.frames.get("root")
    scope = tuple(each.id for each in workspace.partitions_of(root.targets if root else ()))
    touched = reached.selected | reached.failed | reached.unread
    required = scope if needs_all else _in_order(workspace, touched)
    done = reached.whole if needs_all else reached.whole | reached.selected
    completed = tuple(each for each in required if each in done)
    failed = tuple(each for each in required if each in reached.failed - done)
    missed = {*completed, *failed}
    return Coverage(
        required=required,
        completed=completed,
        failed=failed,
        unread=tuple(each for each in required if each not in missed),
        unparsed=unparsed(workspace, root.targets if root else ()),
        searches=tuple(dict.fromkeys(_searches(payloads))),
        truncations=tuple(dict.fromkeys(_truncations(workspace, payloads))),
        partitions=len(workspace.partition_ids),
    )


def payloads_of(frame: Frame) -> list[Payload]:
    """The results of a frame's own steps."""
    return [
        step.observation.payload
        for step in frame.steps
        if step.observation is not None and step.observation.payload is not None
    ]


def unparsed(workspace: Workspace, scope: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Sources that could hold an answer and could not be read: not those that are left out on purpose.

    A question that names its sources (`scope`) needs no others.
    """
    return tuple(
        source.id
        for source in workspace.corpus.sources
        if (not scope or source.id in scope)
        and (source.text_expected or source.parse_status == "failed")
    )


def undecodable(workspace: Workspace) -> tuple[str, ...]:
    """Sources of which a part could not be decoded."""
    return tuple(
        source.id for source in workspace.corpus.sources if source.readable and source.undecodable
    )


def _in_order(workspace: Workspace, ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(ids, key=workspace.partition_rank.__getitem__))


def _reached(state: RunState, workspace: Workspace) -> Reached:
    """What is settled. Strings of separate clauses may be searched for together, or each by itself."""
    own = own_patterns(state, workspace)
    reached = _reached_for(own, state, workspace)
    clauses = demands(state.frames["root"].task) if "root" in state.frames else []
    if not clauses:
        return reached
    each = [_reached_for(own | _rendered(clause), state, workspace) for clause in clauses]
    whole = frozenset[str].intersection(*(one.whole for one in each))
    return replace(reached, whole=reached.whole | whole)


def _reached_for(own: frozenset[str], state: RunState, workspace: Workspace) -> Reached:
    quoted = {each for each in own if each.startswith('"')}
    reached = Reached()
    for frame in state.frames.values():
        computed = _computed_from(frame)
        for step in frame.steps:
            payload = step.observation.payload if step.observation else None
            if isinstance(payload, Analyzed):
                reached |= _read(payload, _is_exhaustive(frame, step, own))
            elif isinstance(payload, Scanned):
                counts = step.id in computed and _counts(state) and quoted <= set(payload.patterns)
                settles = counts or set(payload.patterns) <= own
                inside = _inside(frame, step, payload, workspace) if settles else frozenset()
                reached |= _found(inside, _hit(workspace, payload), step.id in computed)
    return reached


def _read(payload: Analyzed, exhaustive: bool) -> Reached:
    """What readers judged. A selection is the whole only if nothing else can matter."""
    done = frozenset(payload.done)
    failed = frozenset(each.partition_id for each in payload.failed)
    whole = done if payload.scope == "partitions" or exhaustive else frozenset()
    return Reached(whole, done, failed, frozenset(payload.unread))


def _found(inside: frozenset[str], hits: frozenset[str], computed: bool) -> Reached:
    """What a search settled: all it went through if its hits were computed with, else what it excluded."""
    return Reached(inside, hits) if computed else Reached(inside - hits)


def own_patterns(state: RunState, workspace: Workspace) -> frozenset[str]:
    """The strings that code sees in the question, as searches write them: a matching line contains all of them.

    What a model thought of may help to find something; that it finds nothing says nothing about the question.
    """
    root = state.frames.get("root")
    if root is None:
        return frozenset()
    notations = classify(root.task, workspace.overview()).patterns
    return _rendered(notations)


def _rendered(notations: Iterable[str]) -> frozenset[str]:
    return frozenset(Pattern.parse(each).render() for each in notations)


def _counts(state: RunState) -> bool:
    return state.classified is not None and state.classified.question_kind == "count"


def _computed_from(frame: Frame) -> frozenset[str]:
    """The ids of the steps whose complete result went into a computation."""
    complete = {each.id for each in frame.steps if _is_kept_whole(each)}
    found: set[str] = set()
    for step in frame.steps:
        payload = step.observation.payload if step.observation else None
        if isinstance(payload, ComputedResult):
            named = set(step.planned.targets or step.planned.depends_on)
            used = named or {each.id for each in frame.steps if has_result(each)}
            found |= used if payload.operation.startswith(_SETTLING) else used & complete
    return frozenset(found)


def _is_kept_whole(step: Step) -> bool:
    """Whether all hits of a search were kept."""
    payload = step.observation.payload if step.observation else None
    return isinstance(payload, Scanned) and payload.total == len(payload.hits)


def _is_exhaustive(frame: Frame, step: Step, own: frozenset[str]) -> bool:
    """Whether what a step read is all that an exhaustive search for the question's own strings found."""
    for name in step.planned.targets:
        source = frame.step(name)
        payload = source.observation.payload if source and source.observation else None
        match payload:
            case Scanned(patterns=patterns) if source is not None:
                if set(patterns) <= own and _is_kept_whole(source):
                    return True
            case ReadSpans() if source is not None and source.id != step.id:
                if _is_exhaustive(frame, source, own):
                    return True
            case _:
                pass
    return False


def _inside(frame: Frame, step: Step, scan: Scanned, workspace: Workspace) -> frozenset[str]:
    """The partitions that a search went through."""
    try:
        places = Targets(workspace, frame).places(step.planned.targets)
    except StepError:
        return frozenset()
    searched = set(scan.sources)
    inside = (each for each in workspace.partitions_of(places) if each.source in searched)
    return frozenset(each.id for each in inside)


def _hit(workspace: Workspace, scan: Scanned) -> frozenset[str]:
    """The partitions in which a search found something, all of a source where not all hits were kept."""
    partitioning = workspace.partitioning
    if scan.total > len(scan.hits):
        hit_sources = {source for source, count in scan.by_source if count}
        inside = (each for each in partitioning.partitions if each.source in hit_sources)
        return frozenset(each.id for each in inside)
    spans = (partitioning.span_at(each.source, each.start) for each in scan.hits)
    return frozenset(partitioning.partition_of(span.id).id for span in spans)


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
            yield f"only {len(payload.hits)} of {payload.total} lines that match {what} were kept"
    broken = undecodable(workspace)
    if broken:
        yield f"some bytes of {listed(broken)} could not be decoded"


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
