"""Reach: how many distinct characters of the text code went through, a model was shown, and an answer cites.

What is read, shown or cited twice counts once, so the numbers depend on neither order nor repetition. Everything that
is shown was read, and everything that is cited was read; lines that code counted are cited and were shown to no model.
Not counted as shown: margins, preview lines of the overview, quotes that a writer sees again, and what tools returned
to code in a sandbox. What such code prints, or asks a model about, is not known: there the number is the least that was
shown.
"""

from collections.abc import Iterable, Iterator

from data.stretches import Stretch, Stretches
from programs.answer import Characters
from programs.search import LineSearch
from programs.sight import Sight
from programs.workspace import Workspace
from runtime.calls import CallRecord
from runtime.claims import Claim
from runtime.errors import StepError
from runtime.frames import Frame, RunState, Step
from runtime.observations import Ranked, ReadSpans, Scanned


def characters(
    state: RunState, workspace: Workspace, calls: Iterable[CallRecord], claims: Iterable[Claim]
) -> Characters:
    """The distinct characters of the scope of a question: all, read by code, shown to a model, cited by claims."""
    root = state.frames.get("root")
    parts = workspace.partitions_of(root.targets if root else ())
    scope = Stretches.of((each.source, each.start, each.end) for each in parts)
    shown = Stretches.of([*_asked(workspace, calls), *Sight.of_models(state).stretches])
    told = {(each.frame_id, each.step_id) for each in state.accessed}
    gone_through = Sight.of(state).stretches | Stretches.of(
        place
        for frame in state.frames.values()
        for step in frame.steps
        for place in _gone_through(workspace, frame, step, (frame.id, step.id) in told)
    )
    cited = Stretches.of(
        (each.source, each.start, each.end) for claim in claims for each in claim.citations
    )
    return Characters(
        total=len(scope),
        read=len((gone_through | shown | cited) & scope),
        shown=len(shown & scope),
        cited=len(cited & scope),
    )


def _asked(workspace: Workspace, calls: Iterable[CallRecord]) -> Iterator[Stretch]:
    """The spans of the calls that an engine was asked, or that were answered before. One without an end is in doubt."""
    made = (call for call in calls if call.status == "done" or call.usage.calls)
    return _spans(workspace, (span_id for call in made for span_id in call.span_ids))


def _spans(workspace: Workspace, span_ids: Iterable[str]) -> Iterator[Stretch]:
    for span_id in dict.fromkeys(span_ids):
        span = workspace.partitioning.span(span_id)
        yield span.source, span.start, span.end


def _gone_through(workspace: Workspace, frame: Frame, step: Step, told: bool) -> Iterator[Stretch]:
    """What a step of code went through: what it searched or ranked, or the spans that it fetched.

    A tool may fetch a part of a span: what that was is `told` by its access.
    """
    match step.observation.payload if step.observation else None:
        case Scanned(sources=sources):
            yield from _searched(workspace, frame, step, set(sources))
        case Ranked():
            yield from _searched(workspace, frame, step, set(workspace.source_rank))
        case ReadSpans(span_ids=ids) if not told:
            yield from _spans(workspace, ids)
        case _:
            pass


def _searched(
    workspace: Workspace, frame: Frame, step: Step, sources: set[str]
) -> Iterator[Stretch]:
    """The part of some sources that a search or a ranking was limited to."""
    try:
        search = LineSearch.of(workspace, frame, step.planned)
    except StepError:
        return
    if search.parts is not None:
        for each in map(workspace.partitioning.partition, search.parts):
            if each.source in sources:
                yield each.source, each.start, each.end
        return
    for source in sources if search.sources is None else sources & search.sources:
        yield source, 0, workspace.corpus.source(source).characters
