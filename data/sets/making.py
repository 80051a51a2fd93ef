"""Making: a set as it was asked for at the command line, generated or imported."""

from dataclasses import dataclass
from pathlib import Path

from data.questions import QuestionSet
from data.sets.drafts import Order
from data.sets.generators import FAMILIES
from data.sets.importers import IMPORTERS
from data.sets.shipped import Shares, build, build_family
from data.sets.splits import SPLITS
from data.sets.storage import Form
from runtime.errors import QuestionSetError


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for. `source` is where the data of an importer lies; `split` are shares, as 60/20/20."""

    family: str
    seed: int = 0
    questions: int | None = None
    characters: int | None = None
    over: tuple[Path, ...] = ()
    source: str | None = None
    split: str | None = None
    form: Form = "jsonl"


def make_set(wanted: Wanted, folder: Path, *, store: Path, replace: bool = False) -> QuestionSet:
    """Build or import a set. Raises QuestionSetError for what does not go together, before anything is written."""
    shares = shares_of(wanted.split) if wanted.split else None
    if wanted.family in IMPORTERS:
        return _imported(wanted, folder, store, replace=replace)
    if wanted.source:
        raise QuestionSetError(
            f"--from has no use with {wanted.family}: nothing is imported",
            f"importers: {', '.join(IMPORTERS)}; for files of your own: --over PATH",
        )
    _check_over(wanted)
    order = Order(wanted.seed, wanted.questions, wanted.characters, wanted.over, store)
    return build_family(
        wanted.family, order, folder, shares=shares, form=wanted.form, replace=replace
    )


def shares_of(text: str) -> Shares:
    """The shares of the splits in a text like 60/20/20. Raises QuestionSetError."""
    parts = text.split("/")
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if (
        len(numbers) != len(SPLITS)
        or not all(0 <= each < 1e6 for each in numbers)
        or not sum(numbers)
    ):
        raise QuestionSetError(
            f"{text!r} are not shares of {', '.join(SPLITS)}", "give three numbers: 60/20/20"
        )
    return dict(zip(SPLITS, numbers, strict=True))


def _imported(wanted: Wanted, folder: Path, store: Path, *, replace: bool) -> QuestionSet:
    unused = [
        option
        for option, given in (
            ("--over", wanted.over),
            ("--characters", wanted.characters),
            ("--split", wanted.split),
        )
        if given
    ]
    if unused:
        raise QuestionSetError(
            f"{unused[0]} has no use with {wanted.family}, which is imported as it is",
            "leave it out; splits are drawn by --seed",
        )
    if not wanted.source:
        raise QuestionSetError(
            f"{wanted.family} is imported, and nothing says from where", "add --from PATH"
        )
    source = Path(wanted.source).expanduser()

    def make(place: Path) -> QuestionSet:
        importer = IMPORTERS[wanted.family]
        return importer(source, place, limit=wanted.questions, seed=wanted.seed, store=store)

    return build(make, folder, store=store, form=wanted.form, replace=replace)


def _check_over(wanted: Wanted) -> None:
    """Raise QuestionSetError for files of one's own where none are used."""
    if wanted.family in FAMILIES and wanted.over and not FAMILIES[wanted.family].takes_files:
        takers = [name for name, each in FAMILIES.items() if each.takes_files]
        raise QuestionSetError(
            f"--over has no use with {wanted.family}, which brings its own text",
            f"it is an option of: {', '.join(takers)}",
        )
