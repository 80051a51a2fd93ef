"""Every promise of the conformance suite holds for Monty."""

from pathlib import Path

import pytest

from runtime.sandbox import sandbox_factory
from runtime.sandbox.conformance import PROBES
from runtime.sandbox.probe import LIMITS, Probe


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name.replace(" ", "_"))
def test_monty_keeps_what_is_promised(probe: Probe, tmp_path: Path) -> None:
    verdict = probe.run(sandbox_factory("monty", LIMITS), tmp_path)
    assert verdict.holds, verdict.detail


def test_a_probe_can_fail(tmp_path: Path) -> None:
    """A suite that nothing fails proves nothing: a raised limit is noticed."""
    lax = sandbox_factory("monty", LIMITS.model_copy(update={"sandbox_memory_mb": 4096}))
    memory = next(probe for probe in PROBES if probe.name == "a memory bomb is held")
    verdict = memory.run(lax, tmp_path)
    assert not verdict.holds
    assert "1024 MB given where 256 are allowed" in str(verdict)
