"""The refiner: what an observation means for the remaining steps, by class of error."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from runtime.models.extractive.planner import Draft, step_of_plan
from runtime.models.extractive.task import Task, next_number
from runtime.questions.notation import Outcome, read_observation
from signatures import Decision, PlannedStep

_MAX_RETRIES = 2
_THINK_CHARS = 400
_LATEST = re.compile(r"\s*Latest: .*$", re.DOTALL)
_RETRY = re.compile(r"^(?P<base>.+?)r(?P<attempt>\d{1,3})$")
_REPEATED = re.compile(r"^\s*(?:warning|repeat(?:ed)?)\b[^\n]{0,40}\brepeat\w*", re.M | re.I)
_WIDENED = "The search has been widened once."
_RANKED = re.compile(r"\b(s\d{1,6}(?:r\d{1,3})?) \(rank\)")
_WIDENABLE = frozenset(("lookup", "cause", "summary"))
_RETRYABLE = frozenset(("timeout", "rate_limit", "unavailable", "sandbox"))
_BLOCKING = frozenset(("permission", "missing_input"))


@dataclass(frozen=True)
class Situation:
    """The inputs of `Refine`, read."""

    task: Task
    think: str
    completed: str
    observation: str
    error_class: str
    remaining: tuple[PlannedStep, ...]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What the observation says of each step that was executed."""
        return read_observation(self.observation)

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """The steps that the class of error is about: those that say so, else the first."""
        outcomes = self.outcomes
        return tuple(each for each in outcomes if each.failed) or outcomes[:1]

    @property
    def repeated(self) -> bool:
        """Whether the runtime warns that the same action returned the same result."""
        warned = self.error_class.startswith("repeat") or _REPEATED.search(self.observation)
        return bool(warned) or self.outcomes[0].text.lower().startswith("repeat")


@dataclass(frozen=True)
class Refinement:
    """What `Refine` asks for. `steps` is empty unless the decision is to revise."""

    think: str
    decision: Decision
    reason: str
    steps: tuple[PlannedStep, ...] = ()


def refine(situation: Situation) -> Refinement:
    """Keep, revise or finish."""
    decision, reason, steps, note = _decide(situation)
    return Refinement(_think(situation, note), decision, reason, tuple(steps))


_Verdict = tuple[Decision, str, Sequence[PlannedStep], str]


def _decide(situation: Situation) -> _Verdict:
    if situation.repeated:
        return (
            "finish",
            "The same action returned the same result, so more of it is useless.",
            (),
            "",
        )
    error = situation.error_class.strip().lower()
    if error in _RETRYABLE:
        return _retry(situation)
    if error in _BLOCKING:
        return _block(situation)
    return _BY_CLASS.get(error, _keep)(situation)


def _keep(situation: Situation) -> _Verdict:
    error = situation.error_class.strip().lower()
    if error in ("", "success", "ok"):
        return "keep", "The step succeeded; the plan stands.", (), ""
    return (
        "keep",
        f"The plan stands after {error}: the remaining steps do not need another form.",
        (),
        "",
    )


def _split_by_runtime(situation: Situation) -> _Verdict:
    reason = (
        f"After {situation.error_class} the work has been split and retried; what failed is listed."
    )
    return "keep", reason, (), ""


def _retry(situation: Situation) -> _Verdict:
    """The original actions again, first, under new ids; the steps that used them use the new ones."""
    again: list[PlannedStep] = []
    names: dict[str, str] = {}
    for failed in situation.failed:
        step = _second_attempt(situation, failed)
        if step is not None:
            again.append(step)
            names |= {failed.step_id: step.id, _attempt(failed.step_id)[0]: step.id}
    if not again:
        return (
            "keep",
            f"After {situation.error_class}: tried often enough, not tried again.",
            (),
            "",
        )
    rest = (_rename(step, names) for step in situation.remaining)
    steps = _within_cap([*again, *rest], situation.task.max_steps)
    return "revise", f"After {situation.error_class} the original action is tried again.", steps, ""


def _second_attempt(situation: Situation, failed: Outcome) -> PlannedStep | None:
    """The failed action under the next id; None when it was tried often enough, is due already or is unknown."""
    base, attempt = _attempt(failed.step_id)
    original = _original(situation, base, failed.action)
    again_id = f"{base}r{attempt + 1}"
    due = any(step.id == again_id for step in situation.remaining)
    if attempt >= _MAX_RETRIES or original is None or due:
        return None
    step = _rename(original, _latest_ids(situation, original))
    return step.model_copy(update={"id": again_id})


def _original(situation: Situation, step_id: str, action: str) -> PlannedStep | None:
    """The failed action as it was planned: plans are reproducible, so it is planned again."""
    if _WIDENED not in situation.think or action not in ("rank", "analyze"):
        return step_of_plan(situation.task, step_id, action)
    widened = replace(situation.task, kind="lookup", patterns=())
    step = step_of_plan(widened, step_id, action)
    ranked: list[str] = _RANKED.findall(situation.completed)
    if step is None or not step.depends_on:
        return step
    return _rename(step, _all_to(ranked[-1], step.depends_on)) if ranked else None


def _all_to(name: str, names: Sequence[str]) -> dict[str, str]:
    return dict.fromkeys(names, name)


def _attempt(step_id: str) -> tuple[str, int]:
    found = _RETRY.match(step_id)
    return (found["base"], int(found["attempt"])) if found else (step_id, 0)


def _latest_ids(situation: Situation, original: PlannedStep) -> dict[str, str]:
    """Under which ids the inputs of a step were finally obtained: a retried input bears its last id."""
    names: dict[str, str] = {}
    for target in original.depends_on:
        last = max(
            (
                int(n)
                for n in re.findall(rf"\b{re.escape(target)}r(\d{{1,3}})\b", situation.completed)
            ),
            default=0,
        )
        if last:
            names[target] = f"{target}r{last}"
    return names


def _references(step: PlannedStep, names: dict[str, str]) -> dict[str, list[str]]:
    return {
        "targets": [names.get(each, each) for each in step.targets],
        "depends_on": [names.get(each, each) for each in step.depends_on],
    }


def _rename(step: PlannedStep, names: dict[str, str]) -> PlannedStep:
    return step.model_copy(update=_references(step, names))


def _block(situation: Situation) -> _Verdict:
    """Drop the steps that cannot run without the failed one, directly or indirectly; the rest goes on."""
    lost = {failed.step_id for failed in situation.failed if failed.step_id}
    kept: list[PlannedStep] = []
    for step in situation.remaining:
        narrowed = _without(step, lost)
        if narrowed is None:
            lost.add(step.id)
        else:
            kept.append(narrowed)
    if kept == list(situation.remaining):
        return (
            "keep",
            f"No remaining step depends on the one that lacks {_lacking(situation)}.",
            (),
            "",
        )
    reason = f"The step lacks {_lacking(situation)}; only the steps that depend on it are given up."
    return "revise", reason, kept, ""


def _lacking(situation: Situation) -> str:
    return "a permission" if situation.error_class.strip().lower() == "permission" else "an input"


def _without(step: PlannedStep, lost: set[str]) -> PlannedStep | None:
    """The step without the lost ones among its inputs; None if nothing is left for it to work on.

    A step over several results goes on with those that remain; the closing step always goes on.
    """
    targets = [each for each in step.targets if each not in lost]
    depends_on = [each for each in step.depends_on if each not in lost]
    if targets == step.targets and depends_on == step.depends_on:
        return step
    if step.action != "conclude" and not targets:
        return None
    return step.model_copy(update={"targets": targets, "depends_on": depends_on})


def _not_found(situation: Situation) -> _Verdict:
    """Widen the search once where a near match helps; elsewhere the absence is the answer."""
    if situation.failed[0].action != "scan":
        return "keep", "Nothing was found; the absence stands.", (), ""
    if situation.task.kind not in _WIDENABLE:
        return (
            "keep",
            "The exhaustive search found nothing, and that is what the question asks.",
            (),
            "",
        )
    if _WIDENED in situation.think or _RANKED.search(situation.completed):
        return "keep", "The search has been widened already; the absence is accepted.", (), ""
    first = next_number(
        situation.completed, situation.observation, " ".join(s.id for s in situation.remaining)
    )
    draft = Draft(replace(situation.task, first_number=first))
    draft.analyze(draft.rank())
    steps = _within_cap(draft.conclude(), situation.task.max_steps)
    reason = (
        "No line holds the exact strings, so the most relevant passages are read instead, once."
    )
    return "revise", reason, steps, _WIDENED


def _within_cap(steps: Sequence[PlannedStep], cap: int) -> list[PlannedStep]:
    """At most `cap` steps; the closing step is never the one that is cut."""
    if len(steps) <= cap:
        return list(steps)
    return [*steps[: max(0, cap - 1)], steps[-1]]


def _think(situation: Situation, note: str) -> str:
    """The thinking so far, cut short, and the latest outcome: it does not grow from step to step."""
    before = _LATEST.sub("", situation.think).strip()
    marked = _WIDENED in before or bool(note)
    before = before.replace(_WIDENED, "").strip()[:_THINK_CHARS]
    head = situation.outcomes[0]
    outcome = head.text[:200] or situation.error_class or "no outcome"
    step = f"{head.step_id} ({head.action}): " if head.step_id else ""
    return " ".join(filter(None, (before, _WIDENED if marked else "", f"Latest: {step}{outcome}")))


_BY_CLASS: dict[str, Callable[[Situation], _Verdict]] = {
    "not_found": _not_found,
    "parse_failure": _split_by_runtime,
    "context_overflow": _split_by_runtime,
    "truncated": _split_by_runtime,
}
