"""The verb `resume`: go on with a run that was interrupted or killed."""

import typer

from spantree.cli import options


def resume(
    run: options.Run,
    stored_text: options.StoredText = False,
    store: options.Store = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    show_stack: options.ShowStack = False,
) -> None:
    """Go on with a run; a finished one prints its answer.

    Nothing is planned anew, and no completed step is repeated.

    \b
    Examples:
      spantree resume last
      spantree resume 20260310-0904 --json

    \b
    Exit status: as for ask.
    """
    from spantree.cli.answering import resume_run
    from spantree.cli.display import Display

    display = Display(store=store, json=json, quiet=quiet, show_stack=show_stack)
    raise typer.Exit(resume_run(run, display, stored_text=stored_text))
