"""The verb `bundle`: saved programs are shown and compared."""

from typing import Annotated

import typer

from spantree.cli import options
from spantree.cli.output import page_width, print_json, print_page, standard_output

Name = Annotated[
    str,
    typer.Argument(
        metavar="BUNDLE",
        help="The folder of a bundle, or the name of one that ships.",
        show_default=False,
    ),
]
Other = Annotated[
    str | None,
    typer.Argument(
        metavar="LATER",
        help="A later one. Without it: what BUNDLE changed of its program.",
        show_default=False,
    ),
]


def build() -> typer.Typer:
    """The verb with its own verbs."""
    app = typer.Typer(
        name="bundle",
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_bundle)
    app.command("show")(show)
    app.command("diff")(diff)
    return app


def _bundle() -> None:
    """Show and compare bundles: programs as an optimization left them. In Python: spantree.load(BUNDLE).

    \b
    Example:
      spantree bundle show runs/mine/bundle
    """


def show(name: Name, json: options.Json = False) -> None:
    """Show what a bundle is: its program, where it comes from, what was measured, whether it fits.

    \b
    Examples:
      spantree bundle show runs/mine/bundle
      spantree bundle show runs/mine/bundle --json

    \b
    Exit status:
      0    it was read, whether it fits or not
      2    there is no such bundle, or it is damaged
    """
    from programs.bundles import read_bundle
    from spantree.cli.bundle_pages import bundle_json, bundle_page, print_reports

    bundle = read_bundle(name)
    if json:
        print_json(bundle_json(bundle))
        return
    console = standard_output()
    width = page_width(console)
    print_page(bundle_page(bundle, width), console)
    print_reports(bundle, console, width)


def diff(name: Name, later: Other = None, json: options.Json = False) -> None:
    """Show what an optimizer changed, as a diff of instructions and demos; or what differs between two bundles.

    \b
    Examples:
      spantree bundle diff runs/mine/bundle
      spantree bundle diff runs/first/bundle runs/second/bundle

    \b
    Exit status:
      0    compared, whether they differ or not
      2    there is no such bundle, it is damaged, or there is no such program
    """
    from programs.bundles import read_bundle
    from spantree.cli.bundle_diff import Comparison, diff_json, diff_page

    first = read_bundle(name)
    compared = Comparison.of(first, read_bundle(later) if later is not None else None)
    if json:
        print_json(diff_json(compared))
        return
    console = standard_output()
    print_page(diff_page(compared, page_width(console)), console)
