"""The options of the verbs, each with its help."""

from pathlib import Path
from typing import Annotated

import typer

Question = Annotated[
    str, typer.Argument(metavar="QUESTION", help="The question, in quotes.", show_default=False)
]
Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH", help="Files and folders; - is standard input.", show_default=False
    ),
]
Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN", help="Id of a run, the beginning of one, or last.", show_default=False
    ),
]
Program = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Which program answers (spantree programs lists them); auto chooses one.",
    ),
]
Model = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        envvar="SPANTREE_MODEL",
        help="Any name that DSPy takes, or extractive: the embedded reader.",
    ),
]
LeafModel = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The model of the many small calls that read the text.",
        show_default="the same model",
    ),
]
ApiBase = Annotated[
    str | None, typer.Option(metavar="URL", help="Address of an OpenAI-compatible server.")
]
Partitioner = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="What is judged together: auto, size, time, heading, turn, symbol."
    ),
]
Bundle = Annotated[
    str | None,
    typer.Option(
        metavar="BUNDLE",
        help="A program as an optimization left it: its folder. With it: its program, its models, its limits.",
        show_default=False,
    ),
]
Refine = Annotated[
    str | None,
    typer.Option(
        metavar="WHEN",
        help="When the rest of the plan is rewritten: always (after every step), on_change, on_failure, never.",
        show_default="always",
    ),
]
ActionSpace = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How rlm looks into the text: tools (one call a turn) or repl (code in a sandbox).",
        show_default="tools",
    ),
]
Sandbox = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Where the code of rlm runs: monty or deno.",
        show_default="monty",
    ),
]
MaxTurns = Annotated[
    int | None, typer.Option(metavar="N", help="Most turns of rlm and react in one task.")
]
Window = Annotated[
    int | None,
    typer.Option(
        metavar="CHARS",
        help="How much text direct and cot show the model at once.",
        show_default="what the model holds",
    ),
]
LeafCharacters = Annotated[
    int | None,
    typer.Option(
        metavar="CHARS",
        help="How much text one reader of a part is shown at most.",
        show_default="16000",
    ),
]
TopK = Annotated[
    int | None, typer.Option(metavar="N", help="How many passages retrieve reads, the best first.")
]
MaxCalls = Annotated[int | None, typer.Option(metavar="N", help="Most calls to a model.")]
MaxTokens = Annotated[int | None, typer.Option(metavar="N", help="Most tokens, in and out.")]
MaxCost = Annotated[float | None, typer.Option(metavar="USD", help="Most US dollars.")]
MaxSeconds = Annotated[float | None, typer.Option(metavar="S", help="Most seconds of wall time.")]
MaxDepth = Annotated[int, typer.Option(metavar="N", help="Greatest depth of the tree of tasks.")]
Concurrency = Annotated[int, typer.Option(metavar="N", help="Calls in flight at the same time.")]
Store = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Where corpora and runs are kept.",
        envvar="SPANTREE_STORE",
        show_default="the user's cache folder",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else on standard output.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="No progress and no banner on standard error.")
]
ShowStack = Annotated[
    bool, typer.Option("--show-stack", help="Print the tree of tasks and steps on standard error.")
]
StoredText = Annotated[
    bool,
    typer.Option("--stored-text", help="Go on with the stored text though the files have changed."),
]
PartitionList = Annotated[bool, typer.Option("--partitions", help="List the partitions, too.")]
Limit = Annotated[int, typer.Option(metavar="N", min=1, help="How many runs to list.")]
