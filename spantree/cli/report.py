"""The verb `report`: one HTML file with everything that some logs show."""

from pathlib import Path
from typing import Annotated

import typer

from runtime.errors import UserError
from spantree.cli import logs, options
from spantree.cli.output import standard_error
from spantree.cli.store import store_folder


def report(
    log: logs.Logs,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="The file to write; one that exists is replaced.")
    ] = Path("report.html"),
    set_: Annotated[
        str | None,
        typer.Option(
            "--set",
            metavar="SET",
            help="The question set: a name or a folder.",
            show_default="the one of the log",
        ),
    ] = None,
    program: logs.Only = None,
    seed: logs.Seed = 0,
    store: options.Store = None,
    quiet: options.Quiet = False,
) -> None:
    """Write a report: tables, charts, and a page for every sample.

    It is one file that needs no network and sends nothing anywhere. Quotes are shown in the text around them, so that
    whoever gets the file gets these stretches of the corpora.

    \b
    Examples:
      spantree report runs/today
      spantree report runs/before runs/after --program recursive --out compared.html
    """
    from data.store import write_atomically
    from evals.report import rendered, report_of

    folder = store_folder(store)
    place = out.expanduser()
    if place.is_dir() or not place.absolute().parent.is_dir():
        raise UserError(
            f"{out} cannot be written", hint="give a file in a folder that exists: --out FILE"
        )
    read = logs.read_logs(log)
    opened = logs.set_of(read[0], set_, folder)
    page, samples = report_of(read, opened.made, opened.corpus, only=program or (), seed=seed)
    try:
        write_atomically(place, rendered(page, samples).encode())
    except OSError as error:
        raise UserError(f"{out} cannot be written: {error.strerror or error}") from error
    if not quiet:
        standard_error().print(f"{len(samples):,} samples in {place}", soft_wrap=True)
