"""The inputs of the planning predictors: what a frame may know, and nothing of its siblings."""

import json
from typing import Any

from programs.coverage import payloads_of
from programs.evidence import neutralize
from programs.observing import brief, counted, history, joined
from programs.run import Run
from runtime.frames import Frame, Step
from runtime.observations import Analyzed, Ranked, Scanned


def plan_inputs(run: Run, frame: Frame) -> dict[str, Any]:
    """The inputs of Plan."""
    return {
        "task": frame.task,
        "kind": run.kind,
        "patterns": list(run.patterns),
        "goal_chain": list(frame.goal_chain),
        "constraints": constraints(frame),
        "overview": run.workspace.overview(frame.targets),
        "visited": visited(run),
        "history": history(frame),
        "budget": run.ledger.describe(),
        "depth_left": run.limits.depth - frame.depth,
        "max_steps": run.limits.steps_per_frame,
    }


def refine_inputs(run: Run, frame: Frame, steps: tuple[Step, ...]) -> dict[str, Any]:
    """The inputs of Refine, for the observations of some steps."""
    observation, error_class = joined(steps)
    return {
        "task": frame.task,
        "kind": run.kind,
        "patterns": list(run.patterns),
        "think": brief(frame.think, 600),
        "completed": history(frame),
        "observation": observation,
        "error_class": error_class,
        "remaining": [step.planned for step in frame.remaining],
        "overview": run.workspace.overview(frame.targets),
        "budget": run.ledger.describe(),
        "depth_left": run.limits.depth - frame.depth,
        "max_steps": run.limits.steps_per_frame,
    }


def constraints(frame: Frame) -> str:
    """What a frame is bound to: its part of the corpus, and the kind of result its parent expects."""
    lines = [] if frame.targets or frame.parent_id else ["the whole corpus"]
    if frame.targets:
        shown = json.dumps([neutralize(each) for each in frame.targets], ensure_ascii=False)
        lines.append(f"targets: {shown}")
    if frame.parent_id:
        lines.append("result: claims with evidence, for the task above this one")
    return "\n".join(lines)


def visited(run: Run) -> str:
    """What has been searched and read so far, over all frames, in few words."""
    lines: dict[str, None] = {}
    partitions: set[str] = set()
    for frame in run.state.frames.values():
        for payload in payloads_of(frame):
            match payload:
                case Scanned(patterns=patterns, total=total):
                    lines[
                        f"scanned {brief(' and '.join(patterns), 120)}: {counted(total, 'line')}"
                    ] = None
                case Ranked(query=query):
                    lines[f"ranked {brief(query, 120)}"] = None
                case Analyzed(done=done):
                    partitions.update(done)
    if partitions:
        lines[f"analyzed {counted(len(partitions), 'partition')}"] = None
    return "\n".join(lines) or "nothing yet"
