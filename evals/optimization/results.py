"""Results: what an optimization came to, read from its folder alone.

DIR/manifest.json     what is optimized, how, and on what
DIR/rollouts.jsonl    every execution of a candidate on a question
DIR/proposals.jsonl   every reply of the model that reflects
DIR/candidates/       the state of each candidate
DIR/outcome.json      how the last execution ended
DIR/optimizer.log     what the optimizer said
DIR/test/ID/          the evaluation log of the program before and after, for the candidate ID
DIR/bundle/           the best candidate, as spantree.load takes it
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from data.store import write_atomically
from evals.log import EvalLog, read_log
from evals.manifest import MANIFEST as LOG_MANIFEST
from evals.optimization.candidates import Candidate, best, candidates
from evals.optimization.manifest import OptimizationManifest, read_manifest
from evals.optimization.progress import Spent, spent
from evals.optimization.proposals import PROPOSALS, Proposal, read_proposals
from evals.optimization.rollouts import ROLLOUTS, latest, read_all

Stopped = Literal["finished", "budget", "interrupted"]
OUTCOME = "outcome.json"
TEST = "test"
BUNDLE = "bundle"


@dataclass(frozen=True)
class Outcome:
    """How an execution ended: outcome.json. `bundled` is the candidate in the bundle, `unbundled` why there is none."""

    stopped: Stopped = "interrupted"
    bundled: str = ""
    unbundled: str = ""


@dataclass(frozen=True, repr=False)
class Optimized:
    """An optimization as read. `seed` is the program as it was given; `best` is None before a candidate is complete.

    `stopped` is how the last execution ended: "interrupted" also for one that was killed. `bundle` is where the best
    candidate can be loaded from; None where there is none, and `unbundled` says why one was refused. `test` compares
    before and after, None where that was not done.
    """

    folder: Path
    manifest: OptimizationManifest
    candidates: tuple[Candidate, ...]
    best: Candidate | None
    proposals: tuple[Proposal, ...]
    rollouts: int
    spent: Spent
    stopped: Stopped
    bundle: Path | None
    unbundled: str
    test: EvalLog | None

    def __repr__(self) -> str:
        return f"<Optimized {self.folder}: {len(self.candidates)} candidates>"

    @property
    def seed(self) -> Candidate | None:
        """The program as it was given, None before its first rollout."""
        return self.candidates[0] if self.candidates else None

    def candidate(self, id: str) -> Candidate | None:
        """The candidate of an id, or of its beginning if that is enough to tell it."""
        found = [each for each in self.candidates if each.id.startswith(id)]
        return found[0] if len(found) == 1 else None


def read_optimization(folder: Path) -> Optimized:
    """The optimization in a folder. Raises RunError when there is none, or it is damaged."""
    manifest = read_manifest(folder)
    made = read_all(folder / ROLLOUTS)
    rollouts = latest(made)
    proposals = read_proposals(folder / PROPOSALS)
    found = candidates(folder, rollouts, manifest.splits.validation, manifest.objective)
    chosen, outcome = best(found), _outcome(folder)
    return Optimized(
        folder=folder,
        manifest=manifest,
        candidates=found,
        best=chosen,
        proposals=tuple(proposals),
        rollouts=len(rollouts),
        spent=spent(made, (each.usage for each in proposals)),
        stopped=outcome.stopped,
        bundle=folder / BUNDLE if chosen and outcome.bundled == chosen.id else None,
        unbundled=outcome.unbundled,
        test=read_test(folder, chosen.id) if chosen else None,
    )


def read_test(folder: Path, candidate: str) -> EvalLog | None:
    """The comparison of a candidate with the program as it was given, None where it was not made."""
    place = tested_folder(folder, candidate)
    return read_log(place) if (place / LOG_MANIFEST).exists() else None


def tested_folder(folder: Path, candidate: str) -> Path:
    """Where a candidate is compared with the program as it was given."""
    return folder / TEST / candidate


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """Note how an execution ended."""
    write_atomically(folder / OUTCOME, json.dumps(asdict(outcome)).encode() + b"\n")


def _outcome(folder: Path) -> Outcome:
    try:
        return Outcome(**json.loads((folder / OUTCOME).read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return Outcome()
