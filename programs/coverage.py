"""Coverage: which partitions an answer needed, computed from the journal, never from what a model says.

Counts, existence, lists, timelines and contradictions need every partition. A partition counts as completed
when readers or a model that drives judged all of it, or when an exhaustive search for strings of the question itself
settles it: what matched was read, looked at or computed with, and nothing else can match. A search settles the
partitions that it went through and no others, whatever else was read with its matches. Passages that were picked by
relevance, or by strings that a model thought of, settle nothing. Other questions need what was selected for reading;
when nothing was found, they needed everything, and so does the first or last line with a string that was only ranked.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from data.pattern import Pattern
from programs.answer import Coverage, Search
from programs.inputs import claims_of
from programs.observing import counted, listed
from programs.readings import Targets
from programs.routing import has_result
from programs.sight import Sight
from programs.workspace import Workspace
from runtime.errors import StepError
from runtime.frames import Frame, RunState, Step
from runtime.observations import Analyzed, ComputedResult, Payload, Ranked, ReadSpans, Scanned
from runtime.questions.breadth import extreme
from runtime.questions.classifier import classify
from runtime.questions.mentions import demands, without_quotes

_SETTLING = ("count", "earliest", "latest", "difference")
"""Operations that take all matching lines into account, also those beyond the page that was kept."""
_OF_LINES = ("distinct", "sort")
"""Operations that take the matching lines that were kept, where there are no claims to take. A timeline takes both."""

WINDOW_WARNING = "window"
"""Code of the warnings that text was not shown since it did not fit the window of a model."""


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
    root = state.frames.get("root")
    needs_all = (state.classified is not None and state.classified.requires_all) or not found
    needs_all = needs_all or _is_beyond_a_ranking(state, workspace, payloads)
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
        truncations=tuple(dict.fromkeys(_truncations(state, workspace, payloads))),
        partitions=len(workspace.partition_ids),
    )


def is_ranked_only(state: RunState, workspace: Workspace) -> bool:
    """Whether what was judged is what ranks best: nothing was searched for, and not all of the text was looked at."""
    payloads = [each for frame in state.frames.values() for each in payloads_of(frame)]
    root = state.frames.get("root")
    if root is None or not _ranked_alone(payloads):
        return False
    reached = _reached(state, workspace)
    ranked = tuple(id for each in payloads if isinstance(each, Ranked) for id in each.span_ids)
    seen = reached.whole | (_held(ranked, workspace) & reached.selected)
    return not seen.issuperset(each.id for each in workspace.partitions_of(root.targets))


def _ranked_alone(payloads: Iterable[Payload]) -> bool:
    kinds = {type(each) for each in payloads}
    return Ranked in kinds and Scanned not in kinds


def _is_beyond_a_ranking(
    state: RunState, workspace: Workspace, payloads: Iterable[Payload]
) -> bool:
    """Whether the first or the last line with some strings is asked for, and they were ranked and not searched for."""
    if not _ranked_alone(payloads) or "root" not in state.frames:
        return False
    ordered = extreme(without_quotes(state.frames["root"].task))
    return bool(ordered and own_patterns(state, workspace))


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
    looked_at = Sight.looked_at(state)
    reached = _shown(Sight.returned(state), looked_at, workspace)
    for frame in state.frames.values():
        computed = _computed_from(frame)
        for step in frame.steps:
            payload = step.observation.payload if step.observation else None
            if isinstance(payload, Analyzed):
                reached |= _read(payload, _settled(frame, step, own, workspace))
            elif isinstance(payload, Scanned):
                counts = step.id in computed and _counts(state) and quoted <= set(payload.patterns)
                settles = counts or set(payload.patterns) <= own
                inside = _inside(frame, step, payload, workspace) if settles else frozenset()
                used = step.id in computed or _all_shown(step, payload, looked_at)
                reached |= _found(inside, _hit(workspace, payload), used)
    return reached


def _read(payload: Analyzed, settled: frozenset[str]) -> Reached:
    """What readers judged. A selection is the whole only where nothing else can matter: in what is `settled`."""
    done = frozenset(payload.done)
    failed = frozenset(each.partition_id for each in payload.failed)
    whole = done if payload.scope == "partitions" else done & settled
    return Reached(whole, done, failed, frozenset(payload.unread))


def _shown(returned: Sight, looked_at: Sight, workspace: Workspace) -> Reached:
    """What a model that drives was shown: it judged what it looked at as a whole."""
    touched, whole = set(), set()
    at, of = workspace.partitioning.span_at, workspace.partitioning.partition_of
    for source, start, end in returned.stretches:
        while start < end:
            part = of(at(source, start).id)
            touched.add(part.id)
            if looked_at.holds(source, part.start, part.end):
                whole.add(part.id)
            start = part.end
    return Reached(whole=frozenset(whole), selected=frozenset(touched))


def _all_shown(step: Step, scan: Scanned, looked_at: Sight) -> bool:
    """Whether a model that drives has looked at every line that a search found: then it judged them."""
    return _is_kept_whole(step) and all(
        looked_at.touches(hit.source, hit.start, max(hit.end, hit.start + 1)) for hit in scan.hits
    )


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
    found: set[str] = set()
    for at, step in enumerate(frame.steps):
        payload = step.observation.payload if step.observation else None
        if isinstance(payload, ComputedResult):
            named = set(step.planned.targets or step.planned.depends_on)
            above = [each for each in frame.steps[:at] if has_result(each)]
            used = [each for each in above if not named or each.id in named]
            found |= _taken_in(payload.operation, used)
    return frozenset(found)


def _taken_in(operation: str, used: Sequence[Step]) -> set[str]:
    """The ids of the steps that an operation took in with all their lines; comparisons of claims take in no line."""
    if operation.startswith(_SETTLING):
        return {each.id for each in used}
    claims = any(claims_of(each.observation.payload for each in used if each.observation))
    if operation == "timeline" or (operation in _OF_LINES and not claims):
        return {each.id for each in used if _is_kept_whole(each)}
    return set()


def _is_kept_whole(step: Step) -> bool:
    """Whether all hits of a search were kept."""
    payload = step.observation.payload if step.observation else None
    return isinstance(payload, Scanned) and payload.total == len(payload.hits)


def _settled(frame: Frame, step: Step, own: frozenset[str], workspace: Workspace) -> frozenset[str]:
    """The partitions in which nothing but the targets of a step can matter.

    Those that an exhaustive search for the question's own strings went through, if all its hits were kept, and those
    that are read whole beside the hits. A step that came later than the reading did not tell it what to read.
    """
    above = {each.id: each for each in frame.steps[: frame.steps.index(step)]}
    named = [above[name] for name in step.planned.targets if name in above]
    if not named:
        return frozenset()
    found: set[str] = set()
    for each in named:
        payload = each.observation.payload if each.observation else None
        if isinstance(payload, Scanned):
            if set(payload.patterns) <= own and _is_kept_whole(each):
                found |= _inside(frame, each, payload, workspace)
        elif isinstance(payload, ReadSpans):
            found |= _settled(frame, each, own, workspace) | _held(payload.span_ids, workspace)
    beside = [name for name in step.planned.targets if frame.step(name) is None]
    return frozenset(found | _within(frame, beside, workspace) if beside else found)


def _held(span_ids: Iterable[str], workspace: Workspace) -> frozenset[str]:
    """The partitions of which all spans are among the given ones."""
    fetched = set(span_ids)
    touched = {workspace.partitioning.partition_of(each).id for each in fetched}
    return frozenset(
        each
        for each in touched
        if fetched.issuperset(workspace.partitioning.partition(each).span_ids)
    )


def _inside(frame: Frame, step: Step, scan: Scanned, workspace: Workspace) -> frozenset[str]:
    """The partitions that a search went through."""
    searched = set(scan.sources)
    partition = workspace.partitioning.partition
    return frozenset(
        each
        for each in _within(frame, step.planned.targets, workspace)
        if partition(each).source in searched
    )


def _within(frame: Frame, names: Sequence[str], workspace: Workspace) -> frozenset[str]:
    """The partitions of a frame that the places among some targets mean: all of its own where there is none."""
    try:
        places = Targets(workspace, frame).places(names)
        return frozenset(each.id for each in workspace.partitions_of(places))
    except StepError:
        return frozenset()


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


def _truncations(
    state: RunState, workspace: Workspace, payloads: Iterable[Payload]
) -> Iterable[str]:
    yield from (each.message for each in state.warnings if each.code == WINDOW_WARNING)
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
