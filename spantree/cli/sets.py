"""The verb `sets`: question sets are built, listed, checked and shown."""

from pathlib import Path
from typing import Annotated, Any

import typer

from runtime.errors import QuestionSetError
from spantree.cli import options
from spantree.cli.output import page_width, print_json, print_page, standard_output
from spantree.cli.page import Page
from spantree.cli.set_pages import (
    list_page,
    problems_page,
    question_page,
    set_json,
    set_page,
)
from spantree.cli.store import store_folder

FOUND_FAULTS = 1
"""Exit status of `lint` where there are faults."""

Name = Annotated[
    str,
    typer.Argument(
        metavar="SET", help="A set by name (spantree sets list), or its folder.", show_default=False
    ),
]
Family = Annotated[
    str,
    typer.Argument(
        metavar="FAMILY", help="What to build (spantree sets list).", show_default=False
    ),
]
QuestionId = Annotated[
    str | None, typer.Argument(metavar="QUESTION", help="Id of one question.", show_default=False)
]
Over = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="PATH", help="Your own files, in place of generated text; may be repeated."
    ),
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="PATH", help="Where the public data lies that is imported."),
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder of the set.", show_default="sets/FAMILY in the store"),
]
Seed = Annotated[int, typer.Option(metavar="N", help="The same seed builds the same set.")]
Questions = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="About how many questions.")
]
Characters = Annotated[
    int | None, typer.Option(metavar="N", min=8_000, help="Characters of each corpus.")
]
Split = Annotated[
    str | None,
    typer.Option(
        metavar="A/B/C", help="Shares of train, validation and test, by document, as 60/20/20."
    ),
]
Parquet = Annotated[bool, typer.Option("--parquet", help="Keep the questions as Parquet.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace the set that is there.")]


def build() -> typer.Typer:
    """The verb with its own verbs."""
    app = typer.Typer(
        name="sets",
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_sets)
    for name, verb in (("build", build_set), ("list", list_sets), ("lint", lint), ("show", show)):
        app.command(name)(verb)
    return app


def _sets() -> None:
    """Build, list, check and show question sets.

    \b
    Example:
      spantree sets build mixed
    """


def build_set(
    family: Family,
    over: Over = None,
    source: From = None,
    out: Out = None,
    seed: Seed = 0,
    questions: Questions = None,
    characters: Characters = None,
    split: Split = None,
    parquet: Parquet = False,
    replace: Replace = False,
    store: options.Store = None,
    json: options.Json = False,
) -> None:
    """Build a question set, and check its gold.

    \b
    Examples:
      spantree sets build mixed --seed 7 --split 60/20/20
      spantree sets build aggregation --over logs/ --out my-set
      spantree sets build hotpotqa --from hotpot_dev.json --questions 100
    """
    from data.sets.making import Wanted, make_set

    folder = store_folder(store)
    wanted = Wanted(
        family=family,
        seed=seed,
        questions=questions,
        characters=characters,
        over=tuple(over or ()),
        source=source,
        split=split,
        form="parquet" if parquet else "jsonl",
    )
    target = (out or folder / "sets" / family).expanduser()
    made = make_set(wanted, target, store=folder, replace=replace or out is None)
    _print(set_json(made, target), set_page(made, target, _width()), json)


def list_sets(store: options.Store = None, json: options.Json = False) -> None:
    """List the sets that there are, and what can be built.

    \b
    Example:
      spantree sets list
    """
    from data.sets.generators import FAMILIES
    from data.sets.importers import IMPORTERS
    from data.sets.shipped import known_sets

    known = known_sets(store_folder(store))
    if json:
        print_json(
            {
                "sets": [
                    {
                        "name": each.name,
                        "made_by": each.made_by,
                        "folder": str(each.folder) if each.folder else None,
                    }
                    for each in known
                ],
                "families": [{"name": n, "does": each.does} for n, each in FAMILIES.items()],
                "importers": list(IMPORTERS),
            }
        )
        return
    list_page(known, list(FAMILIES.values()), list(IMPORTERS), standard_output())


def lint(name: Name, store: options.Store = None, json: options.Json = False) -> None:
    """Check the gold of a set; exit 1 if there are faults.

    \b
    Examples:
      spantree sets lint mixed
      spantree sets lint my-set --json
    """
    from data.sets.lint import lint_folder
    from data.sets.shipped import find_set
    from data.sets.storage import load_set

    chosen = store_folder(store)
    folder = find_set(name, store=chosen)
    made = load_set(folder)
    problems = lint_folder(made, folder, store=chosen)
    value = {
        "set": made.name,
        "version": made.version,
        "questions": len(made.questions),
        "problems": [
            {"question": each.question, "code": each.code, "message": each.message}
            for each in problems
        ],
    }
    _print(value, problems_page(made, problems, _width()), json)
    if problems:
        raise typer.Exit(FOUND_FAULTS)


def show(
    name: Name,
    question: QuestionId = None,
    store: options.Store = None,
    json: options.Json = False,
) -> None:
    """Show what a set holds, or one of its questions with its gold.

    \b
    Examples:
      spantree sets show mixed
      spantree sets show mixed needles-000-0
    """
    from data.sets.shipped import find_set
    from data.sets.storage import load_set

    folder = find_set(name, store=store_folder(store))
    made = load_set(folder)
    if question is None:
        _print(set_json(made, folder), set_page(made, folder, _width()), json)
        return
    found = next((each for each in made.questions if each.id == question), None)
    if found is None:
        near = [each.id for each in made.questions if each.id.startswith(question)][:5]
        ids = near or [each.id for each in made.questions[:3]]
        raise QuestionSetError(
            f"the set {made.name} has no question {question!r}", f"as: {', '.join(ids)}"
        )
    _print(found.model_dump(mode="json"), question_page(found, _width()), json)


def _width() -> int:
    return page_width(standard_output())


def _print(value: dict[str, Any], page: Page, json: bool) -> None:
    if json:
        print_json(value)
    else:
        print_page(page, standard_output())
