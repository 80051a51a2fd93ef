"""The calls in a journal: what a call gave is known to a later execution, and what it used is counted for good."""

from pathlib import Path

import pytest

from runtime.journal import Journal
from runtime.ledger import Usage
from tests.runtime.journal_desk import LONG, call, done, started


def test_a_completed_call_is_known_to_a_later_execution(path: Path) -> None:
    """Checklist 62, 64, 70: an interrupted execution's calls are found by their key, whatever the attempt was."""
    with started(path) as journal, journal.lease("run-1") as lease:
        log = journal.call_log(lease)
        log.intent(call("a", 1))
        log.settled(call("a", 1, status="failed", error_class="timeout"))
        log.intent(call("a", 2))
        log.settled(done(call("a", 2), outputs={"steps": [1]}, reply=LONG))
        log.intent(call("b"))
    with Journal.open(path) as journal, journal.lease("run-1") as lease:
        log = journal.call_log(lease)
        known = log.completed("a")
        assert known is not None
        assert (known.attempt, known.outputs, known.reply) == (2, {"steps": [1]}, LONG)
        assert log.completed("b") is None
        assert log.completed("a#2") is None


def test_usage_is_the_sum_over_all_executions() -> None:
    """A call that never ended may have been billed: it counts, its cost is unknown. Nothing is overwritten."""
    with started(None) as journal:
        with journal.lease("run-1") as lease:
            log = journal.call_log(lease)
            log.intent(call("a"))
            log.settled(done(call("a")))
            log.intent(call("b"))  # the process dies here
        with journal.lease("run-1") as lease:
            log = journal.call_log(lease)
            log.intent(call("b"))
            log.settled(done(call("b")))
        assert [each.status for each in journal.calls("run-1")] == ["done", "intent", "done"]
        assert journal.usage("run-1") == Usage(
            calls=3,
            failed_calls=1,
            input_tokens=20,
            output_tokens=4,
            cost_usd=0.5,
            unknown_cost_calls=1,
        )
        assert journal.run("run-1").calls == 3


def test_a_step_that_is_tried_again_keeps_its_earlier_attempts() -> None:
    with started(None) as journal, journal.lease("run-1") as lease:
        log = journal.call_log(lease)
        for status in ("failed", "done"):
            log.intent(call("a"))
            log.settled(call("a", status=status))
        assert [each.status for each in journal.calls("run-1")] == ["failed", "done"]


def test_a_call_ends_once_and_only_after_its_intent() -> None:
    with started(None) as journal, journal.lease("run-1") as lease:
        log = journal.call_log(lease)
        with pytest.raises(ValueError, match="not started"):
            log.settled(done(call("a")))
        log.intent(call("a"))
        log.settled(done(call("a")))
        with pytest.raises(ValueError, match="ended already"):
            log.settled(done(call("a")))
