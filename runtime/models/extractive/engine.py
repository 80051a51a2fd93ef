"""The extractive engines: they read a prompt like any model and answer each signature of the suite.

The reply depends on the prompt and on nothing else. An engine holds no state, so one serves any number of threads.
The prompts of two programs of DSPy itself are answered as well: the cells of `dspy.RLM`, the turns of `dspy.ReActV2`.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from dspy import lm15
from pydantic import TypeAdapter, ValidationError

from runtime import support
from runtime.models.extractive.actor import act
from runtime.models.extractive.coder import next_cell
from runtime.models.extractive.conclusion import conclude
from runtime.models.extractive.goal import Goal, goals_of
from runtime.models.extractive.material import Material
from runtime.models.extractive.planner import plan
from runtime.models.extractive.reactor import react
from runtime.models.extractive.reader import read_leaf
from runtime.models.extractive.refiner import Situation, refine
from runtime.models.extractive.subquery import reply_to
from runtime.models.extractive.task import task_from
from runtime.models.request import (
    REACT_TURN,
    REPL_ACTION,
    PromptRequest,
    render_reply,
    respond,
)
from runtime.questions.classifier import classify
from signatures import (
    ClaimDigest,
    ComputedValue,
    EvidenceSpan,
    PlannedStep,
    TermStatistic,
    TurnShown,
)

_V = TypeVar("_V")
_STRINGS = TypeAdapter(list[str])
_CLAIMS = TypeAdapter(list[ClaimDigest])
_COMPUTED = TypeAdapter(list[ComputedValue])
_SPANS = TypeAdapter(list[EvidenceSpan])
_STEPS = TypeAdapter(list[PlannedStep])
_TERMS = TypeAdapter(list[TermStatistic])
_TURNS = TypeAdapter(list[TurnShown])


class ExtractiveEngine:
    """A deterministic model for `dspy.LM(..., engine=...)`: lexical and structural evidence alone.

    `window`: characters of evidence that it is given at once; no bound of the reader, but of the memory and the time
    that it takes.
    """

    window = 400_000

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Answer a prompt of the suite.

        Raises `lm15.InvalidRequestError` for a prompt of another signature, or whose inputs cannot be read.
        """
        return _respond(request)


class AsyncExtractiveEngine:
    """The same model for `dspy.LM(..., async_engine=...)`."""

    async def complete(self, request: lm15.Request) -> lm15.Response:
        """As `ExtractiveEngine.complete`. There is nothing to wait for."""
        return _respond(request)


def answer(prompt: PromptRequest) -> dict[str, Any]:
    """The output fields of a prompt, in the order in which it asks for them."""
    reply = _ANSWERS.get(prompt.signature or "")
    if reply is None:
        asked = ", ".join(prompt.outputs) or "no output fields"
        known = ", ".join(_ANSWERS)
        raise lm15.InvalidRequestError(
            f"the extractive model answers {known}; this prompt asks for: {asked}"
        )
    values = reply(prompt)
    thought = next(
        (values[name] for name in ("think", "think_next", "reason") if name in values), ""
    )
    values.setdefault("reasoning", thought or "Lexical and structural evidence alone.")
    return {name: values[name] for name in prompt.outputs}


def _respond(request: lm15.Request) -> lm15.Response:
    prompt = PromptRequest.parse(request)
    return respond(request, render_reply(answer(prompt), prompt.format))


def _text(prompt: PromptRequest, name: str) -> str:
    return prompt.inputs.get(name, "")


def _number(prompt: PromptRequest, name: str, default: int) -> int:
    value = prompt.value(name, default)
    return value if isinstance(value, int) else default


def _listed(prompt: PromptRequest, name: str, adapter: TypeAdapter[list[_V]]) -> list[_V]:
    """A list input. One that is absent is empty; one that has another form is refused, never skipped."""
    text = _text(prompt, name).strip()
    if not text:
        return []
    try:
        return adapter.validate_python(json.loads(text))
    except (json.JSONDecodeError, ValidationError) as problem:
        first = str(problem).splitlines()[0]
        raise lm15.InvalidRequestError(f"the input {name!r} cannot be read: {first}") from problem


def _classify(prompt: PromptRequest) -> dict[str, Any]:
    found = classify(_text(prompt, "question"), _text(prompt, "overview"))
    return {
        "kind": found.kind,
        "requires_all": found.requires_all,
        "patterns": found.patterns,
        "reason": found.reason,
    }


def _plan(prompt: PromptRequest) -> dict[str, Any]:
    task = task_from(
        text=_text(prompt, "task"),
        kind=_text(prompt, "kind"),
        patterns=_listed(prompt, "patterns", _STRINGS),
        overview=_text(prompt, "overview"),
        constraints=_text(prompt, "constraints"),
        goal_chain=_listed(prompt, "goal_chain", _STRINGS),
        history=_text(prompt, "history"),
        depth_left=_number(prompt, "depth_left", 0),
        max_steps=_number(prompt, "max_steps", 12),
    )
    think, steps = plan(task)
    return {"think": think, "steps": steps, "step_count": len(steps)}


def _refine(prompt: PromptRequest) -> dict[str, Any]:
    task = task_from(
        text=_text(prompt, "task"),
        kind=_text(prompt, "kind"),
        patterns=_listed(prompt, "patterns", _STRINGS),
        overview=_text(prompt, "overview"),
        depth_left=_number(prompt, "depth_left", 0),
        max_steps=_number(prompt, "max_steps", 12),
    )
    refined = refine(
        Situation(
            task=task,
            think=_text(prompt, "think"),
            completed=_text(prompt, "completed"),
            observation=_text(prompt, "observation"),
            error_class=_text(prompt, "error_class"),
            remaining=tuple(_listed(prompt, "remaining", _STEPS)),
        )
    )
    return {
        "think_next": refined.think,
        "decision": refined.decision,
        "reason": refined.reason,
        "steps": list(refined.steps),
        "step_count": len(refined.steps),
    }


def _analyze(prompt: PromptRequest) -> dict[str, Any]:
    reading = read_leaf(
        _text(prompt, "question"),
        _text(prompt, "kind"),
        _listed(prompt, "patterns", _STRINGS),
        _listed(prompt, "spans", _SPANS),
        _listed(prompt, "term_statistics", _TERMS),
    )
    return {
        "claims": reading.claims,
        "evidence": reading.evidence,
        "fields_found": reading.fields,
        "unknowns": reading.unknowns,
        "claim_count": len(reading.claims),
    }


def _conclude(prompt: PromptRequest) -> dict[str, Any]:
    concluded = conclude(
        Material(
            question=_text(prompt, "question"),
            kind=_text(prompt, "kind").strip(),
            claims=tuple(_listed(prompt, "claims", _CLAIMS)),
            computed=tuple(_listed(prompt, "computed", _COMPUTED)),
            coverage=_text(prompt, "coverage"),
        )
    )
    return {
        "statements": concluded.statements,
        "unknowns": concluded.unknowns,
        "statement_count": len(concluded.statements),
    }


def _goals(prompt: PromptRequest) -> list[Goal]:
    return goals_of(
        _text(prompt, "question"),
        _text(prompt, "kind"),
        _listed(prompt, "patterns", _STRINGS),
        _text(prompt, "overview"),
        child=bool(_listed(prompt, "goal_chain", _STRINGS)),
    )


def _act(prompt: PromptRequest) -> dict[str, Any]:
    return act(_goals(prompt), _listed(prompt, "turns", _TURNS), _number(prompt, "turns_left", 0))


def _react(prompt: PromptRequest) -> dict[str, Any]:
    return react(_goals(prompt), prompt.messages, prompt.system)


def _code(prompt: PromptRequest) -> dict[str, Any]:
    return next_cell(
        _text(prompt, "variables_info"), _text(prompt, "repl_history"), _text(prompt, "iteration")
    )


def _judge(prompt: PromptRequest) -> dict[str, Any]:
    verdict, reason = support.verdict(_text(prompt, "claim"), _listed(prompt, "quotes", _STRINGS))
    return {"reason": reason, "verdict": verdict}


def _reply(prompt: PromptRequest) -> dict[str, Any]:
    return {"reply": reply_to(_text(prompt, "prompt"))}


_ANSWERS: Mapping[str, Callable[[PromptRequest], dict[str, Any]]] = {
    "ClassifyQuestion": _classify,
    "Plan": _plan,
    "Refine": _refine,
    "AnalyzeLeaf": _analyze,
    "Conclude": _conclude,
    "Act": _act,
    "SubQuery": _reply,
    "JudgeSupport": _judge,
    REPL_ACTION: _code,
    REACT_TURN: _react,
}
