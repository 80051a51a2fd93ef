"""Experimentation: from an experiment file to what its verb leaves in the folder of the experiment."""

from pathlib import Path

from spantree.cli import evaluation, optimization, sweeping
from spantree.cli.command_words import joined
from spantree.cli.exits import OK
from spantree.cli.experiment import Experiment
from spantree.cli.experiment_folder import build_set, held, log_of, set_named
from spantree.cli.experiment_plan import plan_page, planned
from spantree.cli.experiment_request import Asked, Call, FiledEvaluation, FiledSweep
from spantree.cli.output import page_width, print_json, print_page, standard_output
from spantree.cli.store import store_folder


def carry_out(
    file: Path,
    out: Path | None,
    *,
    check: bool,
    retry_errors: bool,
    store: Path | None,
    json: bool,
    quiet: bool,
) -> int:
    """Check everything that can be checked, then do what the file says, or say what it is. Returns the exit status."""
    experiment = Experiment.read(file)
    folder = (out or experiment.folder).expanduser()
    place = store_folder(store)
    call = Call(
        question_set=set_named(experiment, folder),
        log=log_of(experiment, folder),
        again=_command(file, out, store),
        store=store,
        retry_errors=retry_errors,
        json=json,
        quiet=quiet,
    )
    if check:
        plan = planned(experiment, folder, call, place)
        if json:
            print_json(plan)
        else:
            console = standard_output()
            print_page(plan_page(plan, page_width(console)), console)
        return OK
    asked = experiment.asked(call)
    with held(experiment, folder):
        build_set(experiment, folder, place)
        return _done(asked)


def _done(asked: Asked) -> int:
    if isinstance(asked, FiledEvaluation):
        return evaluation.carry_out(asked)
    if isinstance(asked, FiledSweep):
        return sweeping.carry_out(asked)
    return optimization.carry_out(asked)


def _command(file: Path, out: Path | None, store: Path | None) -> str:
    given = {"--out": out, "--store": store}
    options = [word for name, each in given.items() if each for word in (name, str(each))]
    return joined("run", {}, str(file), *options)
