"""Everything the journal knows about one run, as a page and as JSON."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.cells import cell_len

from runtime.calls import CallRecord
from runtime.columns import one_line
from runtime.frames import RunState, fold
from runtime.journal import RunSummary
from runtime.ledger import Usage
from runtime.trajectory import Move, trajectory
from runtime.view import (
    CallMetrics,
    RefinementRow,
    call_metrics,
    progress,
    refinement_log,
    stack_view,
    step_table,
)
from spantree.cli.output import page_width, print_json, print_page, standard_output
from spantree.cli.page import Page
from spantree.cli.render import cost_words, outcome_title, receipt_parts
from spantree.cli.runs import local_time, state_words
from spantree.cli.stack import add_stack
from spantree.cli.store import journal_of_runs, resume_command, store_folder
from spantree.cli.stored import stored_answer
from spantree.cli.terminal import count


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run as the journal has it; `store` is the store that was chosen, if any."""

    summary: RunSummary
    state: RunState
    calls: list[CallRecord]
    used: Usage
    seconds: float
    store: Path | None

    @classmethod
    def find(cls, run: str, store: Path | None) -> "Recorded":
        """The run of an id, a prefix of one, or `last`. Raises RunError."""
        with journal_of_runs(store_folder(store), run) as journal:
            summary = journal.run(run)
            run_id = summary.record.run_id
            return cls(
                summary=summary,
                state=fold(journal.events(run_id)),
                calls=journal.calls(run_id),
                used=journal.usage(run_id),
                seconds=journal.elapsed(run_id),
                store=store,
            )


def show_run(run: str, store: Path | None, *, json: bool) -> None:
    """Print a run."""
    recorded = Recorded.find(run, store)
    if json:
        print_json(run_json(recorded))
        return
    console = standard_output()
    print_page(run_page(recorded, page_width(console)), console)


def run_page(recorded: Recorded, width: int) -> Page:
    """A run as a page: head, stack, refinements, warnings, calls, and its end or how to go on."""
    page = Page(width)
    _head(page, recorded)
    add_stack(page, recorded.state)
    _trajectory(page, trajectory(recorded.state))
    _refinements(page, refinement_log(recorded.state))
    if recorded.state.warnings:
        page.heading("Warnings")
        for warning in recorded.state.warnings:
            page.item(f"{warning.code}: {warning.message}")
    if recorded.calls:
        page.heading("Calls")
        for row in call_metrics(recorded.calls):
            page.item(call_words(row))
    _end(page, recorded)
    return page


def _head(page: Page, recorded: Recorded) -> None:
    summary, routed = recorded.summary, recorded.state.routed
    record = summary.record
    config = record.config
    model, leaf = config.get("model"), config.get("leaf_model")
    facts = {
        "question": record.question,
        "state": state_words(summary)
        + (f" (held by {summary.held_by})" if summary.held_by else ""),
        "started": local_time(record.created),
        "corpus": f"{', '.join(record.corpus_paths)} (version {record.corpus_version})",
        "program": f"{record.program} {record.program_version}",
        "model": str(model) + (f", leaves: {leaf}" if leaf and leaf != model else ""),
    }
    if routed is not None:
        facts["route"] = f"{routed.program}: {routed.reason}"
    page.heading(f"Run {record.run_id}")
    for name, value in facts.items():
        page.item(value, lead=f"{name:<9} ", lines=4)


def _trajectory(page: Page, moves: Iterable[Move]) -> None:
    """What a model that drives did: the thought, the call, and what it came to."""
    moves = list(moves)
    if not moves:
        return
    page.heading("Trajectory")
    thought = ""
    for move in moves:
        lead = f"{move.frame_id} {move.turn}: "
        if move.think and move.think != thought:
            thought = move.think
            page.item(one_line(thought), lead=lead, lines=2, style="dim")
            lead = " " * cell_len(lead)
        page.item(move.call, lead=lead, lines=2)
        page.item(move.result or move.status, lead=" " * (cell_len(lead) - 2) + "= ", lines=2)


def _refinements(page: Page, rows: Iterable[RefinementRow]) -> None:
    rows = list(rows)
    if not rows:
        return
    page.heading("Refinements")
    for row in rows:
        changes = [
            f"{mark}{', '.join(ids)}"
            for mark, ids in (("+", row.added), ("-", row.removed), ("~", row.changed))
            if ids
        ]
        by = "" if row.called_model else " (by rule)"
        flag = " (degraded)" if row.degraded else ""
        after = ", ".join(row.after) or "the start"
        note = f" [{' '.join(changes)}]" if changes else ""
        page.item(
            f"{row.frame_id} after {after}: {row.decision}{by}{flag}{note}: {row.reason}", lines=4
        )


def call_words(row: CallMetrics) -> str:
    """The calls of one signature: how many, how long, and why some failed."""
    tokens = count(row.input_tokens + row.output_tokens, "token")
    words = f"{row.signature}: {count(row.calls, 'call')}, {tokens}"
    if row.median_seconds is not None:
        words += f", median {row.median_seconds:.2f} s"
    failures = [f"{number} {reason}" for reason, number in row.reasons]
    failures += [f"{row.unfinished} never ended"] if row.unfinished else []
    return words + (f"; failed: {', '.join(failures)}" if failures else "")


def _end(page: Page, recorded: Recorded) -> None:
    """The answer in short and the receipt, or what was used so far and how to go on."""
    run_id = recorded.summary.record.run_id
    answer = stored_answer(recorded.state)
    if answer is not None:
        page.heading(outcome_title(answer))
        page.paragraphs(answer.text)
        page.parts(receipt_parts(answer.receipt, run_id), style="dim")
        return
    used = recorded.used
    cost = None if used.unknown_cost_calls else used.cost_usd
    tokens = count(used.input_tokens + used.output_tokens, "token")
    seconds = f"{recorded.seconds:.1f} s"
    calls = f"so far {count(used.calls, 'call')}"
    page.parts((calls, tokens, cost_words(cost), seconds), style="dim")
    if recorded.summary.held_by is None:
        page.item(f"go on: {resume_command(run_id, recorded.store)}", lead="", indent="")


def run_json(recorded: Recorded) -> dict[str, Any]:
    """The JSON of `spantree show --json`."""
    state = recorded.state
    answer = stored_answer(state)
    return {
        **recorded.summary.model_dump(mode="json"),
        "progress": progress(state)._asdict(),
        "stack": stack_view(state, width=200).splitlines(),
        "open_frames": list(state.stack),
        "steps": [asdict(row) for row in step_table(state)],
        "route": state.routed.model_dump(mode="json", exclude={"kind"}) if state.routed else None,
        "trajectory": [asdict(move) for move in trajectory(state)],
        "refinements": [asdict(row) for row in refinement_log(state)],
        "warnings": [each.model_dump(mode="json") for each in state.warnings],
        "usage": recorded.used.model_dump(mode="json"),
        "elapsed_seconds": recorded.seconds,
        "call_log": [
            each.model_dump(mode="json", exclude={"outputs", "reply"}) for each in recorded.calls
        ],
        "answer": answer.to_json() if answer else None,
    }
