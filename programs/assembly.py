"""Assembly: the Answer of a run, put together from its state, its ledger and nothing else."""

from collections.abc import Iterable, Sequence, Set
from typing import Any

from programs.answer import Answer, Conflict, Coverage, Outcome, Receipt, StepLine
from programs.compute import entry
from programs.coverage import coverage, is_ranked_only, own_patterns, payloads_of, undecodable
from programs.degradation import degradations
from programs.outcome import outcome
from programs.reach import characters
from programs.readings import Targets
from programs.run import Run
from programs.search import LineSearch
from programs.selection import Shortfall, shortfall
from programs.tally import (
    NOT_BY_CODE,
    by_code,
    counted_by_code,
    counted_lines,
    only_child,
    stated,
)
from programs.verify import checked
from runtime.claims import Claim, Computed
from runtime.events import Taken
from runtime.frames import Frame, RunState
from runtime.lexicon import stems
from runtime.observations import (
    Analyzed,
    CellRan,
    ComputedResult,
    Concluded,
    Observation,
    Returned,
    Scanned,
)
from runtime.questions.framing import unframed

_CONFLICT = "conflict: "
_CUTS = ("limit", "limit_steps", "limit_turns", "limit_act", "plan_cut")
"""Codes of the warnings after which an answer is not the whole one."""
_VALUED = ("count", "count_by_source", "count_by_time", "distinct", "timeline", "earliest",
           "latest", "minimum", "maximum", "sort", "difference", "conflicts")  # fmt: skip


def assemble(run: Run) -> Answer:
    """The answer that the committed state of a run comes to."""
    state = run.state
    root = state.frames["root"]
    concluded = next((each for each in payloads_of(root) if isinstance(each, Concluded)), None)
    statements = checked(run.workspace.corpus, concluded.statements if concluded else ())
    shown = [claim for claim in statements if claim.status != "insufficient"]
    counts = run.kind == "count"
    exact = counts and counted_by_code(root)
    found = [claim for claim in shown if claim.citations or exact]
    reach = coverage(state, run.workspace, found=bool(found))
    value = _value(root, shown, counts)
    estimated = counts and not exact and bool(run.patterns or not stated(found))
    requires_all = state.classified is not None and state.classified.requires_all
    short = Shortfall() if requires_all else _shortfall(run, found)
    result = outcome(
        found,
        reach,
        value_known=exact,
        requires_all=requires_all,
        limited=was_cut(state),
        undecodable=bool(undecodable(run.workspace)),
        working=_working(state),
        withheld=not found and (_withheld(state) or _stands_there(run)),
        estimated=estimated,
        selected=short.partial,
    )
    degraded_by = degradations(state, concluded, driven=_is_driven(root))
    tally = counted_lines(root) if counts or not _is_driven(root) else ""
    return Answer(
        text=_text(shown, result, reach, tally),
        value=value,
        outcome=result,
        claims=statements,
        conflicts=tuple(_conflicts(root, statements)),
        unknowns=_unknowns(run, concluded, statements),
        warnings=_warnings(state, NOT_BY_CODE if found and estimated else "", short.words),
        coverage=reach.model_copy(
            update={"characters": characters(state, run.workspace, run.calls(), statements)}
        ),
        receipt=receipt(run),
        steps=tuple(_lines(state)),
        degraded=bool(degraded_by),
        degraded_by=degraded_by,
        run_id=run.id,
        corpus_version=run.workspace.corpus.version,
        question=run.question,
        kind=run.kind,
        program=state.routed.program if state.routed else run.record.program,
        route=state.routed.reason if state.routed else "",
    )


def _warnings(state: RunState, *told: str) -> tuple[str, ...]:
    """The messages of a run, each once, and what is `told` about the answer itself."""
    messages = [each.message for each in state.warnings]
    return tuple(dict.fromkeys([*messages, *filter(None, told)]))


def _shortfall(run: Run, found: Sequence[Claim]) -> Shortfall:
    """What an answer that states something leaves open, if it rests on a ranking alone."""
    if not found or not is_ranked_only(run.state, run.workspace):
        return Shortfall()
    return shortfall(run.question, found)


def _withheld(state: RunState) -> bool:
    """Whether readers found something, or a search found the question's own strings."""
    own = set(state.classified.patterns) if state.classified else set()
    for frame in state.frames.values():
        for payload in payloads_of(frame):
            if isinstance(payload, Analyzed) and any(each.citations for each in payload.claims):
                return True
            if isinstance(payload, Scanned) and payload.total and set(payload.patterns) <= own:
                return True
    return False


def _stands_there(run: Run) -> bool:
    """Whether one line has the question's own strings, or all of its words where it has none.

    A reader that reports nothing may have been told to. Where code can look, its silence is no absence.
    """
    own = own_patterns(run.state, run.workspace) or _word_starts(run.question)
    if not own:
        return False
    targets = Targets(run.workspace, run.state.frames["root"])
    sources = targets.sources(())
    inside = None if sources is None else frozenset(sources)
    return LineSearch(run.workspace, tuple(own), inside, targets.parts(())).page(1).total > 0


def _word_starts(question: str) -> frozenset[str]:
    """The beginnings of the words that a question is about: "polic" for "policy" and "policies"."""
    found = (
        stem[:-1] if len(stem) > 3 and stem.endswith("i") else stem
        for stem in stems(unframed(question)) or stems(question)
    )
    return frozenset(found)


def is_limited(state: RunState) -> bool:
    """Whether the run reached a limit of its own: nothing more is asked of a model then, but to conclude."""
    return any(each.code == "limit" for each in state.warnings)


def was_cut(state: RunState) -> bool:
    """Whether a limit kept the run from something that was planned."""
    return any(each.code in _CUTS for each in state.warnings)


def _working(state: RunState) -> bool:
    return any(
        step.status == "completed" and step.planned.action != "conclude"
        for frame in state.frames.values()
        for step in frame.steps
    )


def _computed(frame: Frame) -> list[ComputedResult]:
    return [each for each in payloads_of(frame) if isinstance(each, ComputedResult)]


def _is_driven(frame: Frame) -> bool:
    """Whether a model took the steps one by one: then it may have counted what nobody asked for."""
    return any(isinstance(step.planned, Taken) for step in frame.steps)


def _valued(root: Frame, stated: Set[str], counts: bool) -> list[ComputedResult]:
    """The computations that may be the value: of a driven frame those that the answer names, or that are asked for."""
    computed = _computed(root)
    if not _is_driven(root):
        return computed
    named = [each for each in computed if any(claim.id in stated for claim in each.claims)]
    return named or (computed if counts else [])


def _value(root: Frame, shown: Sequence[Claim], counts: bool) -> Any:
    """The typed value of the last computation of the root frame; null when nothing is answered by it.

    Of a timeline, the entries that the answer states.
    """
    stated = {premise for claim in shown for premise in claim.premises}
    for payload in reversed(_valued(root, stated | {claim.id for claim in shown}, counts)):
        if payload.operation == "timeline" and stated:
            return [entry(claim) for claim in payload.claims if claim.id in stated]
        if payload.operation.startswith("count") and not by_code(payload.computed):
            continue
        if payload.operation in _VALUED and (shown or payload.operation.startswith("count")):
            return payload.value
    if _is_driven(root) and not counts:
        return None
    for child in only_child(root) if not _computed(root) else ():
        if (shown or counted_lines(root)) and by_code(child.computed):
            return child.value
    return None


def _text(shown: list[Claim], result: Outcome, reach: Coverage, count: str) -> str:
    """The statements as one text; without any, what was counted, or what was and was not found."""
    if shown:
        return "\n".join(claim.text for claim in shown)
    if count and result in ("answered", "partial"):
        return count
    if result == "not_found":
        return "Not found: every partition that the question needs was examined."
    if result == "not_found_in_covered":
        done, required = len(reach.completed), len(reach.required)
        if done == required and not reach.unparsed:
            return "No answer: something was found, but nothing was stated from it."
        return f"Not found in what was examined ({done} of {required} partitions)."
    if result == "partial":
        return "No answer within the limits of this run."
    return "No answer: no step of the run did what it should."


def _conflicts(root: Frame, statements: Iterable[Claim]) -> Iterable[Conflict]:
    """Conflicts that code computed, by the statements that show them; others as the statements have them."""
    by_premise: dict[str, list[str]] = {}
    for claim in statements:
        for premise in claim.premises:
            by_premise.setdefault(premise, []).append(claim.id)
    seen: set[str] = set()
    for each in _computed_conflicts(root):
        ids = dict.fromkeys(id for premise in each.claim_ids for id in by_premise.get(premise, ()))
        if ids:
            seen.update(ids)
            values = tuple(line.partition(" = ")[2] for line in each.lines)
            topic = each.name.removeprefix(_CONFLICT)
            yield Conflict(topic=topic, claim_ids=tuple(ids), values=values)
    for claim in statements:
        if claim.status == "conflicting" and claim.id not in seen:
            values = tuple(citation.quote for citation in claim.citations)
            yield Conflict(topic=claim.text, claim_ids=(claim.id,), values=values)


def _computed_conflicts(root: Frame) -> Iterable[Computed]:
    """What computations of the root and of its children found to contradict each other."""
    found = [each for each in payloads_of(root) if isinstance(each, ComputedResult | Returned)]
    values = dict.fromkeys(value for each in found for value in each.computed)
    return (value for value in values if value.name.startswith(_CONFLICT))


def _unknowns(
    run: Run, concluded: Concluded | None, statements: Iterable[Claim]
) -> tuple[str, ...]:
    found = list(concluded.unknowns) if concluded else []
    found += [f"without evidence: {c.text}" for c in statements if c.status == "insufficient"]
    for frame in run.state.frames.values():
        for payload in payloads_of(frame):
            if isinstance(payload, Returned) and payload.error_classes:
                classes = ", ".join(payload.error_classes)
                found.append(f"part {payload.frame_id} met errors: {classes}")
        found += [f"not permitted: {seen.error}" for seen in _failures(frame, "permission")]
    return tuple(dict.fromkeys(found))


def _failures(frame: Frame, error_class: str) -> Iterable[Observation]:
    for step in frame.steps:
        if step.observation is not None and step.observation.error_class == error_class:
            yield step.observation


def _lines(state: RunState) -> Iterable[StepLine]:
    for frame in state.frames.values():
        for step in frame.steps:
            yield StepLine(
                frame_id=frame.id,
                id=step.id,
                description=step.planned.description,
                status=step.status,
            )


def receipt(run: Run) -> Receipt:
    """What the run has used, as its ledger says."""
    spent = run.ledger.spent
    return Receipt(
        model=run.record.config.get("model", ""),
        leaf_model=run.record.config.get("leaf_model", ""),
        calls=spent.calls,
        cached_calls=spent.cached_calls,
        failed_calls=spent.failed_calls,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        cost_usd=None if spent.unknown_cost_calls else round(spent.cost_usd, 8),
        wall_seconds=round(run.ledger.elapsed, 3),
        max_depth=max((frame.depth for frame in run.state.frames.values()), default=0),
        retries=spent.retries,
        sandbox_seconds=round(_sandbox_seconds(run.state), 3),
    )


def _sandbox_seconds(state: RunState) -> float:
    """Seconds that code ran in the sandbox."""
    payloads = (each for frame in state.frames.values() for each in payloads_of(frame))
    return sum(each.seconds for each in payloads if isinstance(each, CellRan))
