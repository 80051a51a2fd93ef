"""Every optimizer on every kind of program, through the command line."""

from pathlib import Path

import pytest

from evals.optimization import OPTIMIZERS, read_optimization
from evals.optimization.plan import REFLECTING
from programs.bundles import read_bundle
from tests.spantree.optimize_desk import Desk, desk

INSTRUCTIONS, DEMOS = "instructions", "demos"
CHANGES = {
    "gepa": {INSTRUCTIONS},
    "mipro": {INSTRUCTIONS, DEMOS},
    "bootstrap": {DEMOS},
    "bootstrap-rs": {DEMOS},
    "simba": {INSTRUCTIONS, DEMOS},
}
FEW = ("--train-limit", "4", "--validation-limit", "3", "--test-limit", "1", "--max-demos", "2")
BUDGET = {"simba": 50}
"""Rollouts, where 26 are too few."""


@pytest.fixture(scope="module")
def leaves(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return desk(tmp_path_factory.mktemp("matrix"))


@pytest.mark.parametrize("program", ["recursive", "rlm:tools", "retrieve"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_an_optimizer_runs_to_a_bundle_and_changes_what_it_should(
    leaves: Desk, tmp_path: Path, optimizer: str, program: str
) -> None:
    """It stays within its budget; new candidates differ in what it may change; the best is a bundle."""
    out = tmp_path / "out"
    words = [
        "--program",
        program,
        "--optimizer",
        optimizer,
        "--max-metric-calls",
        str(BUDGET.get(optimizer, 26)),
    ]
    words += ["--objective", "balanced", *FEW]
    words += ["--reflection-model", "coach"] if optimizer in REFLECTING else []
    words += ["--option", "bsize=3", "--option", "num_candidates=2"] * (optimizer == "simba")
    result = leaves.optimize(out, *words)
    assert result.exit_code == 0, result.output
    found = read_optimization(out)
    first = found.candidates[0].state
    changed = {
        part
        for each in found.candidates[1:]
        for name, before in first.items()
        for part in (INSTRUCTIONS, DEMOS)
        if each.state[name][part] != before[part]
    }
    assert set() < changed <= CHANGES[optimizer]
    assert found.rollouts <= BUDGET.get(optimizer, 26)
    assert found.best is not None
    assert found.bundle is not None, found.unbundled
    assert dict(read_bundle(found.bundle).state) == found.best.state
