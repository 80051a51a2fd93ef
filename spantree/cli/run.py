"""The verb `run`: an experiment that stands in a file."""

from pathlib import Path
from typing import Annotated

import typer

from spantree.cli import eval_options, options

_File = Annotated[
    Path, typer.Argument(metavar="FILE", help="An experiment file (TOML).", show_default=False)
]
_Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="The folder of the experiment.",
        show_default="beside the file, of its name without .toml",
    ),
]
_Check = Annotated[
    bool, typer.Option("--check", help="Only check the file, and say what it would do.")
]


def run(
    file: _File,
    out: _Out = None,
    check: _Check = False,
    retry_errors: eval_options.RetryErrors = False,
    store: options.Store = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Carry out an experiment that stands in a file: an evaluation, a sweep or an optimization.

    The file has the options of eval, sweep or optimize, without their dashes, and means what they mean. The same
    command goes on with what was interrupted, and does nothing again. A folder that was begun by a file that said
    something else is refused; FOLDER/experiment.toml is the file as it was begun.

    \b
    Example, experiments/readers.toml:
      kind = "evaluation"
      program = ["recursive", "direct"]
      set = "samples"
      max_calls = 200

    \b
      spantree run experiments/readers.toml --check
      spantree run experiments/readers.toml

    \b
    Exit status:
      0    it is done
      1    more samples ended in errors than are tolerated (max_errors)
      2    a mistake in the file, a folder of something else, or an optimization with
           too many runs that end in errors
      130  interrupted; the same command goes on
    """
    from spantree.cli.experimentation import carry_out

    raise typer.Exit(
        carry_out(
            file, out, check=check, retry_errors=retry_errors, store=store, json=json, quiet=quiet
        )
    )
