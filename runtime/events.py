"""Events: what the journal appends. Everything else about a run is derived from them."""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from runtime.claims import Record
from runtime.observations import Observation
from signatures import Decision, PlannedStep, QuestionKind

EVENT_VERSION = 2
"""Version of the event schema. A journal with a newer one is refused."""

TakenAction = Literal[
    "scan", "rank", "read", "analyze", "compute", "conclude", "subtask", "look", "code"
]
"""What a step without a plan can be: besides a planner's actions, a look at what there is, and a cell of code."""

StepStatus = Literal["pending", "running", "completed", "failed", "timed_out", "blocked", "skipped"]


class Taken(PlannedStep):
    """A step that was taken without a plan: a tool call, or a cell of code."""

    action: TakenAction  # type: ignore[assignment]


class Place(Record):
    """A stretch of one source: half-open code points."""

    source: str
    start: int
    end: int


class Classified(Record):
    """The kind of the question, as the run uses it. `signals` names the structural signals that code saw."""

    kind: Literal["classified"] = "classified"
    question_kind: QuestionKind
    requires_all: bool
    patterns: tuple[str, ...]
    signals: tuple[str, ...]
    reason: str


class FramePushed(Record):
    """A task became a frame on the stack."""

    kind: Literal["frame_pushed"] = "frame_pushed"
    frame_id: str
    parent_id: str
    parent_step: str
    depth: int
    task: str
    targets: tuple[str, ...]
    goal_chain: tuple[str, ...]


class Planned(Record):
    """A frame got its steps. `degraded` when the plan is a fallback or was rescued from a malformed reply."""

    kind: Literal["planned"] = "planned"
    frame_id: str
    think: str
    steps: tuple[PlannedStep, ...]
    degraded: bool


class StepStarted(Record):
    """Intent: a step is about to run. `attempt` counts from 1."""

    kind: Literal["step_started"] = "step_started"
    frame_id: str
    step_id: str
    attempt: int


class StepCommitted(Record):
    """A step ended; status, result and cursor change together."""

    kind: Literal["step_committed"] = "step_committed"
    frame_id: str
    step_id: str
    status: StepStatus
    observation: Observation
    seconds: float


class Refined(Record):
    """The remaining steps of a frame after an observation. `steps` replaces the pending ones only."""

    kind: Literal["refined"] = "refined"
    frame_id: str
    after: tuple[str, ...]
    decision: Decision
    reason: str
    think: str
    steps: tuple[PlannedStep, ...]
    degraded: bool
    called_model: bool


class FramePopped(Record):
    """A frame ended. Its result is the observation of the parent's step."""

    kind: Literal["frame_popped"] = "frame_popped"
    frame_id: str
    status: StepStatus
    observation: Observation


class Acted(Record):
    """The model that drives chose the next step of a frame: a tool with its arguments, or a cell of code.

    `turn` counts from 1 in its frame; tool calls made by one cell are of the same turn.
    """

    kind: Literal["acted"] = "acted"
    frame_id: str
    turn: int
    think: str
    tool: str
    arguments: dict[str, Any]
    step: Taken


class Accessed(Record):
    """What a tool did with the text: characters that code went through, and stretches that it put before a model."""

    kind: Literal["accessed"] = "accessed"
    frame_id: str
    step_id: str
    tool: str
    read_characters: int
    shown_characters: int
    shown: tuple[Place, ...]
    cut: str


class Routed(Record):
    """Which program answers, and why. `asked_model` when signals disagreed."""

    kind: Literal["routed"] = "routed"
    program: str
    reason: str
    signals: tuple[str, ...]
    asked_model: bool


class Warned(Record):
    """Something that a reader of the run must know: a fallback plan, a truncation, a limit."""

    kind: Literal["warned"] = "warned"
    frame_id: str
    code: str
    message: str


class Finished(Record):
    """The run ended with an answer (the JSON of an Answer)."""

    kind: Literal["finished"] = "finished"
    outcome: str
    answer: dict[str, Any]


Event = Annotated[
    Classified
    | FramePushed
    | Planned
    | StepStarted
    | StepCommitted
    | Refined
    | FramePopped
    | Acted
    | Accessed
    | Routed
    | Warned
    | Finished,
    Field(discriminator="kind"),
]

EVENTS: TypeAdapter[Event] = TypeAdapter(Event)
"""Reads and writes events as JSON."""
