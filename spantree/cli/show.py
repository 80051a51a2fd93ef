"""The verb `show`: one run, from its journal."""

from spantree.cli import options


def show(run: options.Run, store: options.Store = None, json: options.Json = False) -> None:
    """Show a run: its stack, refinements, calls, receipt.

    Refinements are shown with their reasons; the stack also shows the thinking behind each plan.

    \b
    Examples:
      spantree show last
      spantree show 20260310-0904 --json
    """
    from spantree.cli.history import show_run

    show_run(run, store, json=json)
