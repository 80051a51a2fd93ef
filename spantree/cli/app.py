"""The command line: its verbs, and the way in."""

import os
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from spantree.cli.ask import ask
from spantree.cli.bundle import build as build_bundle
from spantree.cli.compare import compare
from spantree.cli.corpus import corpus
from spantree.cli.doctor import doctor
from spantree.cli.eval import evaluate
from spantree.cli.exits import ReportingGroup
from spantree.cli.gate import gate
from spantree.cli.optimize import build as build_optimize
from spantree.cli.programs import programs
from spantree.cli.report import report
from spantree.cli.rescore import rescore
from spantree.cli.resume import resume
from spantree.cli.run import run
from spantree.cli.runs import runs
from spantree.cli.sets import build as build_sets
from spantree.cli.show import show
from spantree.cli.sweep import sweep

VERBS = (ask, programs, corpus, runs, show, resume, doctor)


def build() -> typer.Typer:
    """The application with all its verbs."""
    app = typer.Typer(
        name="spantree",
        cls=ReportingGroup,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for verb in VERBS:
        app.command()(verb)
    app.command("eval")(evaluate)
    for verb in (rescore, compare, gate, report, sweep, run):
        app.command()(verb)
    app.add_typer(build_sets())
    app.add_typer(build_optimize())
    app.add_typer(build_bundle())
    return app


def main() -> None:
    """Entry point: run the command line and exit."""
    # Else DSPy fetches its list of models from the network at the first call, and waits for it where there is none.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")
    build()(prog_name="spantree")


def _version() -> str:
    try:
        return version("spantree")
    except PackageNotFoundError:
        return "of a checkout that is not installed"


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"spantree {_version()}")
        raise typer.Exit


def _root(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Answer questions over long text, with every statement traced to lines of the original files.

    \b
    Example:
      spantree ask 'How many lines mention "Failed password"?' sshd.log
    """
