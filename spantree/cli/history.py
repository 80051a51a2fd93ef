"""Everything the journal knows about one run, as a page and as JSON."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from runtime.calls import CallRecord
from runtime.frames import RunState, fold
from runtime.journal import Journal, RunSummary
from runtime.view import RefinementRow, progress, refinement_log, stack_view, step_table
from spantree.cli.output import page_width, print_json, print_page, standard_output
from spantree.cli.page import Page
from spantree.cli.render import cost_words, outcome_title, receipt_parts
from spantree.cli.runs import local_time, state_words
from spantree.cli.stack import add_stack
from spantree.cli.store import journal_of_runs, store_folder
from spantree.cli.stored import stored_answer
from spantree.cli.terminal import count


def show_run(run: str, store: Path | None, *, json: bool) -> None:
    """Print a run."""
    journal = journal_of_runs(store_folder(store), run)
    summary = journal.run(run)
    state = fold(journal.events(summary.record.run_id))
    if json:
        print_json(run_json(summary, state, journal))
        return
    console = standard_output()
    print_page(_page(summary, state, journal, page_width(console)), console)


def _page(summary: RunSummary, state: RunState, journal: Journal, width: int) -> Page:
    page = Page(width)
    _head(page, summary)
    add_stack(page, state)
    _refinements(page, refinement_log(state))
    if state.warnings:
        page.heading("Warnings")
        for warning in state.warnings:
            page.item(f"{warning.code}: {warning.message}")
    calls = journal.calls(summary.record.run_id)
    if calls:
        page.heading("Calls")
        for line in call_words(calls):
            page.item(line)
    _end(page, summary, state, journal)
    return page


def _head(page: Page, summary: RunSummary) -> None:
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
    page.heading(f"Run {record.run_id}")
    for name, value in facts.items():
        page.item(value, lead=f"{name:<9} ", lines=4)


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


def call_words(calls: Iterable[CallRecord]) -> list[str]:
    """The calls by signature: how many, how long, and why some failed."""
    groups: dict[str, list[CallRecord]] = {}
    for call in calls:
        groups.setdefault(call.signature, []).append(call)
    return [_group_words(name, group) for name, group in groups.items()]


def _group_words(name: str, group: list[CallRecord]) -> str:
    seconds = sorted(call.seconds for call in group)
    tokens = sum(call.usage.input_tokens + call.usage.output_tokens for call in group)
    time = f"{seconds[len(seconds) // 2]:.2f} s"
    words = f"{name}: {count(len(group), 'call')}, {count(tokens, 'token')}, median {time}"
    reasons: dict[str, int] = {}
    for call in group:
        if call.status == "failed":
            reasons[call.error_class or "error"] = reasons.get(call.error_class or "error", 0) + 1
    lost = sum(call.status == "intent" for call in group)
    failures = [f"{count} {reason}" for reason, count in reasons.items()]
    failures += [f"{lost} never ended"] if lost else []
    return words + (f"; failed: {', '.join(failures)}" if failures else "")


def _end(page: Page, summary: RunSummary, state: RunState, journal: Journal) -> None:
    """The answer in short and the receipt, or what was used so far and how to go on."""
    run_id = summary.record.run_id
    answer = stored_answer(state)
    if answer is not None:
        page.heading(outcome_title(answer))
        page.paragraphs(answer.text)
        page.parts(receipt_parts(answer.receipt, run_id), style="dim")
        return
    used = journal.usage(run_id)
    cost = None if used.unknown_cost_calls else used.cost_usd
    tokens = used.input_tokens + used.output_tokens
    seconds = f"{journal.elapsed(run_id):.1f} s"
    page.parts(
        (f"so far {count(used.calls, 'call')}", count(tokens, "token"), cost_words(cost), seconds),
        style="dim",
    )
    if summary.held_by is None:
        page.item(f"go on: spantree resume {run_id}", lead="", indent="")


def run_json(summary: RunSummary, state: RunState, journal: Journal) -> dict[str, Any]:
    """The JSON of `spantree show --json`."""
    run_id = summary.record.run_id
    return {
        **summary.model_dump(mode="json"),
        "progress": progress(state)._asdict(),
        "stack": stack_view(state, width=200).splitlines(),
        "open_frames": list(state.stack),
        "steps": [asdict(row) for row in step_table(state)],
        "refinements": [asdict(row) for row in refinement_log(state)],
        "warnings": [each.model_dump(mode="json") for each in state.warnings],
        "usage": journal.usage(run_id).model_dump(mode="json"),
        "elapsed_seconds": journal.elapsed(run_id),
        "call_log": [
            each.model_dump(mode="json", exclude={"outputs", "reply"})
            for each in journal.calls(run_id)
        ],
        "answer": state.finished.answer if state.finished else None,
    }
