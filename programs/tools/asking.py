"""The tool that asks readers: a leaf analysis of spans, partitions or sources, or a frame of its own for much text."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from data.span import Span
from programs.coverage import payloads_of
from programs.inputs import claims_of
from programs.observing import counted
from programs.planner import depth_left, read_in_place
from programs.readings import Reading, Selection, Targets, partitions_in
from programs.tools.arguments import Arguments, Subcall
from programs.tools.output import LEAST, Item, Room, View, clipped, fitting, words
from programs.tools.tool import Use, inside
from programs.workspace import Workspace
from runtime.claims import Claim
from runtime.errors import MissingInput, NotFound
from runtime.events import FramePushed, Place, Taken, TakenAction
from runtime.frames import Frame, RunState, Step
from runtime.observations import Analyzed, Observation, Payload, Returned, Scanned
from signatures import PlannedStep

MANY = 24
"""Readings that one call looks at in place; more become a frame of their own, if there is depth left."""
_QUOTES = 3
_QUOTE = 300
_UNKNOWNS = 8
"""The share of an output that open ends may take: an eighth."""
_UNKNOWN = 200


def selection_of(workspace: Workspace, frame: Frame, step: PlannedStep) -> Selection:
    """What readers are given: whole partitions and sources, and loose spans; everything for no ids.

    Raises NotFound for an id that does not exist, or when all of them lie outside of the frame's part.
    """
    ids = [each for each in step.targets if frame.step(each) is None]
    return _selected(workspace, frame, ids)


def _selected(workspace: Workspace, frame: Frame, ids: Sequence[str]) -> Selection:
    targets = Targets(workspace, frame)
    places = [each for each in dict.fromkeys(ids) if workspace.known(each)]
    spans = [_span(workspace, each) for each in dict.fromkeys(ids) if not workspace.known(each)]
    if not spans:
        return targets.selection(places)
    own = inside(workspace, frame)
    held = [each for each in spans if own is None or workspace.partition_of(each) in own]
    if not held and not places:
        raise NotFound(f"outside the part of this task: {', '.join(ids)}")
    whole = _complete(workspace, held)
    return targets.loose(held, [*places, *whole])


def _span(workspace: Workspace, id: str) -> Span:
    try:
        return workspace.partitioning.span(id)
    except NotFound as error:
        raise NotFound(
            f"there is no span, partition or source {id!r}: use ids that a tool returned, or [] for everything"
        ) from error


def _complete(workspace: Workspace, spans: Iterable[Span]) -> list[str]:
    """The partitions of which all spans are given: they are read as the wholes that they are."""
    given = {each.id for each in spans}
    touched = dict.fromkeys(workspace.partitioning.partition_of(each) for each in given)
    return [each.id for each in touched if given.issuperset(each.span_ids)]


class SubcallTool:
    """`subcall`. It is carried out by the toolbox: here is what it becomes, and how its result is shown."""

    form: type[Arguments] = Subcall
    action: TakenAction = "analyze"

    def taken(self, use: Use) -> Taken:
        arguments: Subcall = use.arguments
        if arguments.cursor:
            return use.taken("look", query=arguments.question, targets=[self._before(use).id])
        for each in arguments.span_ids:
            if each in use.workspace.source_rank:
                use.place(each)
        selection = _selected(use.workspace, use.frame, arguments.span_ids)
        many = len(selection.readings) > MANY and depth_left(use.run, use.frame) > 0
        named = [] if many else _searches(use, selection)
        return use.taken(
            "subtask" if many else "analyze",
            query=arguments.question,
            targets=[*named, *dict.fromkeys(arguments.span_ids)],
        )

    @staticmethod
    def _before(use: Use) -> Step:
        """The call of which another page is asked for."""
        question, ids = use.arguments.question, list(dict.fromkeys(use.arguments.span_ids))
        for step in reversed(use.frame.steps):
            asked = step.planned.action in ("analyze", "subtask") and step.ended
            own = [each for each in step.planned.targets if use.frame.step(each) is None]
            if asked and step.planned.query == question and own == ids:
                return step
        raise MissingInput("there is no earlier subcall with this question and span_ids to go on")

    @staticmethod
    def pushed(use: Use) -> FramePushed:
        """The frame that takes the call over."""
        frame, ids = use.frame, list(use.arguments.span_ids)
        if all(map(use.workspace.known, ids)):
            targets = Targets(use.workspace, frame).places(ids)
        else:
            targets = partitions_in(_selected(use.workspace, frame, ids).readings)
        return FramePushed(
            frame_id=f"{frame.id}.{use.step_id}",
            parent_id=frame.id,
            parent_step=use.step_id,
            depth=frame.depth + 1,
            task=use.arguments.question,
            targets=targets,
            goal_chain=(*frame.goal_chain, frame.task),
        )

    def observed(self, use: Use) -> Observation:
        """Another page of an earlier call: nobody is asked again, and nothing is kept twice."""
        text = f"more of {use.step.planned.targets[0]}"
        return Observation(
            success=True, error_class="", error="", summary=text, payload=None, result_hash=""
        )

    def view(self, use: Use, payload: Payload | None) -> View:
        step = use.step
        if payload is None:  # another page of the call that it was then
            step = use.frame.step(step.planned.targets[0]) or step
        seen = step.observation
        found = seen.payload if seen else None
        claims = list(claims_of([found]))
        cursor = use.arguments.cursor
        given = found.unknowns if isinstance(found, Analyzed | Returned) and not cursor else ()
        most = max(use.limit, LEAST) // _UNKNOWNS
        unknowns, left_out = fitting((clipped(each, _UNKNOWN) for each in given), most)
        head: dict[str, Any] = {
            "claims": [],
            "partitions": _partitions(use.run.state, found),
            "unknowns": unknowns,
        }
        room = Room.of(use.limit, head)
        page = room.page(_claim(each, room.left // 8) for each in claims[cursor:])
        following = cursor + len(page.items)
        rest = len(claims) - following
        more = f"{rest} more claims: repeat the call with cursor={following}" if rest > 0 else ""
        stopped = seen.error if seen and seen.success and seen.error_class == "limit" else ""
        output = {
            **head,
            "claims": page.entries,
            "next_cursor": following if rest > 0 else None,
            "cut": words(
                stopped,
                more,
                f"{counted(left_out, 'unknown')} left out" if left_out else "",
                _failures(found),
                "a claim is cut" if page.shortened else "",
                _quotes_cut(page.entries),
                _left_out(use),
            ),
        }
        quotes = page.places
        if not isinstance(found, Analyzed) or payload is None:
            return View(output, 0, quotes)
        read = _read_by(selection_of(use.workspace, use.frame, step.planned), found)
        places = tuple(_place(span) for reading in read for span in reading.spans)
        return View(output, sum(each.end - each.start for each in places), (*places, *quotes))


def too_deep(use: Use) -> list[tuple[str, str]]:
    """A warning, if a call reads in place what should have a frame of its own."""
    readings = selection_of(use.workspace, use.frame, use.step.planned).readings
    return [read_in_place(use.run, use.frame, use.step_id)] if len(readings) > MANY else []


def _searches(use: Use, selection: Selection) -> list[str]:
    """The searches of the frame all whose lines are among what is read: then nothing that they excluded can matter."""
    read = {span.id for reading in selection.readings for span in reading.spans}
    return [step.id for step in use.frame.steps if selection.scope == "selection"
            and step.planned.action == "scan" and _covered(use, step, read)]  # fmt: skip


def _covered(use: Use, step: Step, read: set[str]) -> bool:
    found = step.observation.payload if step.observation else None
    if not isinstance(found, Scanned) or not found.hits or found.total > len(found.hits):
        return False
    at = use.workspace.partitioning.span_at
    return all(at(hit.source, hit.start).id in read for hit in found.hits)


def _read_by(selection: Selection, found: Analyzed) -> list[Reading]:
    """The readings that were put before a reader."""
    unread = set(found.unread)
    return [each for each in selection.readings if not unread.issuperset(each.partitions)]


def _place(span: Span) -> Place:
    return Place(source=span.source, start=span.start, end=span.end)


def _partitions(state: RunState, found: Payload | None) -> dict[str, int]:
    """What became of the partitions; of a frame, what became of them in all its calls."""
    results = list(_analyzed(state, found))
    done = {each for result in results for each in result.done}
    failed = {each.partition_id for result in results for each in result.failed} - done
    unread = {each for result in results for each in result.unread} - done - failed
    return {"read": len(done), "failed": len(failed), "unread": len(unread)}


def _analyzed(state: RunState, found: Payload | None) -> Iterator[Analyzed]:
    if isinstance(found, Analyzed):
        yield found
    elif isinstance(found, Returned) and found.frame_id in state.frames:
        for payload in payloads_of(state.frames[found.frame_id]):
            yield from _analyzed(state, payload)


def _failures(found: Payload | None) -> str:
    """Why partitions could not be read, by the classes of the errors."""
    failed = found.failed if isinstance(found, Analyzed) else ()
    classes = ", ".join(dict.fromkeys(each.error_class for each in failed))
    return f"{counted(len(failed), 'partition')} failed ({classes})" if failed else ""


def _claim(claim: Claim, quote: int) -> Item:
    """A claim with its first quotes, the text cut where a quote is long."""
    most = max(40, min(_QUOTE, quote))
    quotes, places = [], []
    for each in claim.citations[:_QUOTES]:
        text = each.quote[:most]
        quotes.append({"source": each.source, "line": each.line_start, "quote": text})
        places.append(Place(source=each.source, start=each.start, end=each.start + len(text)))
    entry: dict[str, Any] = {
        "claim_id": claim.id,
        "text": claim.text,
        "status": claim.status,
        "time": claim.time,
        "quotes": quotes,
    }
    if len(claim.citations) > _QUOTES:
        entry["more_quotes"] = len(claim.citations) - _QUOTES
    return Item(entry, "text", others=tuple(places))


def _quotes_cut(entries: Iterable[dict[str, Any]]) -> str:
    return (
        "of some claims the first quotes are shown"
        if any("more_quotes" in each for each in entries)
        else ""
    )


def _left_out(use: Use) -> str:
    """How many of the spans asked for lie outside of the frame's part."""
    known, own = use.workspace.known, use.inside()
    if own is None:
        return ""
    spans = [_span(use.workspace, each) for each in use.arguments.span_ids if not known(each)]
    out = sum(use.workspace.partition_of(each) not in own for each in spans)
    return f"{counted(out, 'span')} outside the part of this task left out" if out else ""
