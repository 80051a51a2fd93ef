"""The options of the verbs that evaluate, each with its help."""

from pathlib import Path
from typing import Annotated

import typer

Programs = Annotated[
    str,
    typer.Option(
        "--program",
        metavar="NAME,...",
        help="The programs, with commas between; NAME:CHOICE for one of its choices: rlm:repl, recursive:on_failure.",
    ),
]
Bundles = Annotated[
    str | None,
    typer.Option(
        "--bundle",
        metavar="BUNDLE,...",
        help="Folders of bundles, with commas between, under the same model and limits; also --program bundle:BUNDLE.",
        show_default=False,
    ),
]
SET = typer.Option(
    "--set",
    metavar="NAME",
    help="A question set: a name (spantree sets list) or a folder.",
    show_default=False,
)
Set = Annotated[str, SET]
SetOfLog = Annotated[
    str | None,
    typer.Option(
        "--set",
        metavar="NAME",
        help="The question set, where it moved or its gold was mended.",
        show_default="where it was",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="LOG",
        help="The folder of the log. Samples that it has are kept.",
        show_default="logs/SET-MODEL-HASH",
    ),
]
Epochs = Annotated[int, typer.Option(metavar="N", min=1, help="How often each question is asked.")]
Limit = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="Only N questions, drawn by the seed.", show_default="all"
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Only train, validation or test questions.", show_default="all"
    ),
]
Seed = Annotated[
    int, typer.Option(metavar="S", help="Draws questions, and the samples of intervals.")
]
Concurrency = Annotated[
    int, typer.Option(metavar="N", min=1, help="Questions that are answered at the same time.")
]
MaxErrors = Annotated[
    str,
    typer.Option(
        metavar="N|SHARE",
        help="More samples than this that end in errors stop the evaluation: 12, 0.05 or 5%.",
    ),
]
Retries = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="How often a sample that ends in an error is tried again; it shifts what is measured, and is listed.",
    ),
]
RetryErrors = Annotated[
    bool, typer.Option("--retry-errors", help="Try samples again that ended in errors earlier.")
]
Log = Annotated[
    Path, typer.Argument(metavar="LOG", help="The folder of a log.", show_default=False)
]
Judge = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL",
        help="A model that is asked whether quotes support what is said: any name that --model of eval takes.",
        show_default="nobody is asked",
    ),
]
JudgeBy = Annotated[
    str | None,
    typer.Option(
        metavar="WAY",
        help="How it is asked: words (a reason, a verdict) or likelihood (of a yes: small models know it better).",
        show_default="likelihood for local/..., else words",
    ),
]
JudgeThreshold = Annotated[
    float | None,
    typer.Option(
        metavar="P",
        min=0.0,
        max=1.0,
        help="From which likelihood on a statement counts as supported.",
        show_default="as calibrated, else 0.5",
    ),
]
JudgeCache = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Where its verdicts are kept, so that nothing is asked twice.",
        show_default="LOG/verdicts.db",
    ),
]
InFlight = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        metavar="N",
        min=1,
        help="Statements that are judged at the same time.",
        show_default="8",
    ),
]
Tau = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        min=0.0,
        max=1.0,
        help="Share of a stretch of evidence that must be cited to count.",
    ),
]
