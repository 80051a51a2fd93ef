"""The options of the verb `optimize` and of its own verbs, each with its help."""

from pathlib import Path
from typing import Annotated

import typer

from spantree.cli.eval_options import SET

SHARES = "40/20/40"
THRESHOLD = 0.5
MAX_DEMOS = 4

Program = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The program that is optimized; NAME:CHOICE for one of its choices: rlm:tools.",
        show_default=False,
    ),
]
Bundle = Annotated[
    str | None,
    typer.Option(
        metavar="BUNDLE",
        help="In its place a bundle to go on from: its folder, or the name of one that ships.",
        show_default=False,
    ),
]
Set = Annotated[str | None, SET]
Optimizer = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="gepa, mipro (instructions and demos), bootstrap, bootstrap-rs (demos), or simba (rules and demos).",
        show_default=False,
    ),
]
ReflectionModel = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The model that writes instructions, for gepa, mipro and simba: any name that --model takes.",
        show_default=False,
    ),
]
TeacherModel = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A better model, by which mipro, bootstrap and bootstrap-rs have demos made.",
        show_default="the models of the program",
    ),
]
TeacherLeafModel = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The teacher's model of the many small calls.",
        show_default="the teacher model",
    ),
]
ItsApiBase = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="Address of its OpenAI-compatible server.", show_default="its provider"
    ),
]
MaxMetricCalls = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="The budget: runs of the program on train and validation questions, all of them counted.",
        show_default="by --auto",
    ),
]
Auto = Annotated[
    str | None,
    typer.Option(
        metavar="EFFORT",
        help="A budget for about 6, 12 or 18 candidates: light, medium or heavy.",
        show_default="light",
    ),
]
Objective = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What is to be high: verified_correct, correct, evidence_recall, citation_precision, supported, balanced.",
        show_default="verified_correct",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=W,...",
        help="In its place a mean of several: correct=2,evidence_recall=1.",
        show_default=False,
    ),
]
CostWeight = Annotated[
    float | None,
    typer.Option(
        metavar="W", help="What a question loses that uses --cost-tokens.", show_default="0.05"
    ),
]
CostTokens = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Tokens of a question that are worth all of it.",
        show_default="20000",
    ),
]
Threshold = Annotated[
    float,
    typer.Option(metavar="X", help="The score from which a run is good enough to become a demo."),
]
Seed = Annotated[int, typer.Option(metavar="S", help="Of the splits and of the optimizer.")]
Threads = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        help="Questions at the same time. With more than 1, a seed need not give the same result.",
    ),
]
MaxDemos = Annotated[int, typer.Option(metavar="N", min=0, help="Most demos of each predictor.")]
SplitShares = Annotated[
    str,
    typer.Option(
        metavar="A/B/C",
        help="Shares of train, validation and test, by document, where the set has no splits of its own.",
    ),
]
TrainLimit = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Only N train questions.", show_default="all"),
]
ValidationLimit = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Only N validation questions.", show_default="all"),
]
TestLimit = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Only N test questions.", show_default="all"),
]
OptimizerOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="An option of the optimizer as DSPy names it, its value as JSON; may be repeated.",
        show_default=False,
    ),
]
RetryErrors = Annotated[
    bool,
    typer.Option(
        "--retry-errors",
        help="Make those runs again that ended in errors earlier; too many of them stop the search.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="The folder of the optimization. What is recorded there is used again.",
        show_default="optimizations/SET-PROGRAM-OPTIMIZER-HASH",
    ),
]
Folder = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="The folder of an optimization.", show_default=False),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", help="The file to write.", show_default="DIR/report.html"
    ),
]
BundleOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="BUNDLE",
        help="The folder of the bundle; it must not exist.",
        show_default="DIR/bundles/ID",
    ),
]
PickCost = Annotated[
    float | None, typer.Option("--max-cost", metavar="USD", help="Most US dollars a question.")
]
PickCalls = Annotated[
    float | None, typer.Option("--max-calls", metavar="N", help="Most calls a question.")
]
PickTokens = Annotated[
    float | None, typer.Option("--max-tokens", metavar="N", help="Most tokens a question.")
]
PickSeconds = Annotated[
    float | None, typer.Option("--max-seconds", metavar="S", help="Most seconds a question.")
]
PickObjective = Annotated[
    str | None,
    typer.Option(
        "--objective",
        metavar="NAME",
        help="What is to be high: score, verified_correct, correct, evidence_recall, citation_precision, coverage ...",
        show_default="score: what was optimized",
    ),
]
Within = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        min=0.0,
        help="Take the cheapest that is at most X below the best.",
        show_default="the best",
    ),
]
Cheapest = Annotated[
    str,
    typer.Option("--by", metavar="COST", help="What cheap means: tokens, calls, cost or seconds."),
]
CandidateId = Annotated[
    str | None,
    typer.Option(
        "--candidate",
        metavar="ID",
        help="This candidate, by its id or the beginning of one.",
        show_default=False,
    ),
]
