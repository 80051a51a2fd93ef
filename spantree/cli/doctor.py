"""The verb `doctor`: whether everything that a run stands on is in order."""

import typer

from spantree.cli import options
from spantree.cli.settings import DEFAULT_MODEL


def doctor(
    model: options.Model = DEFAULT_MODEL,
    api_base: options.ApiBase = None,
    store: options.Store = None,
    json: options.Json = False,
) -> None:
    """Check Python, store, journal, model, sandbox, and a rehearsal.

    The rehearsal runs the recursive program over a few lines in a temporary folder with stand-ins for a model: it
    shows that plans fall back, caps hold, steps are committed, an interrupted run resumes, and bugs are not hidden.
    No model of yours is called.

    \b
    Examples:
      spantree doctor
      spantree doctor --model openai/gpt-4.1-mini --json

    \b
    Exit status:
      0  everything is in order, warnings aside
      1  something is wrong
    """
    from spantree.cli.examination import examine, print_findings

    findings = examine(model, api_base, store)
    print_findings(findings, json=json)
    raise typer.Exit(any(each.status == "failed" for each in findings))
