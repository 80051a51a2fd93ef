"""The verb `programs`: the programs that can answer, and when to use which."""

from programs.catalog import PROGRAMS
from spantree.cli import options
from spantree.cli.flags import OPTIONS
from spantree.cli.output import page_width, print_json, standard_output
from spantree.cli.tables import Column, print_table


def programs(json: options.Json = False) -> None:
    """List the programs and when to use which.

    \b
    Examples:
      spantree programs
      spantree ask 'Who signed the contract?' letters/ --program retrieve
    """
    if json:
        print_json(
            [
                {
                    "name": name,
                    "does": entry.does,
                    "use_for": entry.use_for,
                    "options": [OPTIONS[each] for each in entry.keywords],
                }
                for name, entry in PROGRAMS.items()
            ]
        )
        return
    console = standard_output()
    rows = [(name, entry.use_for) for name, entry in PROGRAMS.items()]
    print_table(_COLUMNS, rows, console, page_width(console))


_COLUMNS = (Column("program"), Column("use it for", share=1))
