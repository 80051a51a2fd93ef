"""Sets by name: those that ship, those that were built, and where they lie."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from data.corpus import Corpus
from data.questions import QuestionSet, Split
from data.sets.assembly import assemble
from data.sets.drafts import Order
from data.sets.generators import FAMILIES, GENERATORS_VERSION
from data.sets.hub import HUB, fetched
from data.sets.lint import lint_folder
from data.sets.splits import assign_splits
from data.sets.storage import SET_FILE, Form, load_header, open_set_corpus, save_set
from data.store import Store, temporary_name
from runtime.errors import QuestionSetError

SHIPPED = ("samples", "mixed")
"""Sets that need not be built: they are when they are first asked for."""

Shares = Mapping[Split, float]
Make = Callable[[Path], QuestionSet]
"""Writes the corpora of a set into a folder, and gives the set."""


@dataclass(frozen=True, slots=True)
class Known:
    """A set that can be named. `folder` is None while it has not been built."""

    name: str
    made_by: str
    folder: Path | None


def sets_folder(store: Path | None = None) -> Path:
    """Where built sets are kept."""
    return Store.prepare(store).root / "sets"


def known_sets(store: Path | None = None) -> list[Known]:
    """The sets of the store, and those that ship."""
    place = sets_folder(store)
    found = sorted(path.parent for path in place.glob(f"*/{SET_FILE}"))
    built = [path for path in found if path.suffix != ".tmp"]
    kept = {path.name: Known(path.name, load_header(path).made_by, path) for path in built}
    shipped = {each: Known(each, _made_by(each, Order()), None) for each in SHIPPED}
    return [*(shipped | kept).values()]


def find_set(name: str | Path, *, store: Path | None = None) -> Path:
    """The folder of a set: a path, a set of the store, one of the hub, or one that ships, built if need be.

    Raises QuestionSetError, which names the sets that there are.
    """
    if str(name).startswith(HUB):
        return fetched(str(name), store=store)
    path = Path(name).expanduser()
    if (path / SET_FILE).is_file():
        return path
    if path.exists():
        load_header(path)
    kept = sets_folder(store) / str(name)
    if str(name) in SHIPPED:
        if not _is_current(kept, str(name)):
            build_family(str(name), Order(store=store), kept, replace=True)
        return kept
    if path.name == str(name) and (kept / SET_FILE).is_file():
        return kept
    names = ", ".join(each.name for each in known_sets(store))
    raise QuestionSetError(
        f"there is no question set {str(name)!r}",
        f"one of: {names}; or a folder with {SET_FILE}; spantree sets build makes one",
    )


def build_family(
    family: str,
    order: Order,
    folder: Path,
    *,
    shares: Shares | None = None,
    form: Form = "jsonl",
    replace: bool = False,
) -> QuestionSet:
    """Build a set of a family. Raises QuestionSetError for an unknown one, or a folder that is taken."""
    if family not in FAMILIES:
        raise QuestionSetError(
            f"there is no family of questions {family!r}", f"one of: {', '.join(FAMILIES)}"
        )

    def make(place: Path) -> QuestionSet:
        drafts = FAMILIES[family].drafts(order)
        by = _made_by(family, order)
        made = assemble(drafts, place, name=folder.name, made_by=by, store=order.store)
        return _split(made, place, shares, order) if shares else made

    return build(make, folder, store=order.store, form=form, replace=replace)


def build(
    make: Make,
    folder: Path,
    *,
    store: Path | None = None,
    form: Form = "jsonl",
    replace: bool = False,
) -> QuestionSet:
    """Make a set beside its folder, check it, and put it there whole. A set that is there already may be replaced."""
    _check_free(folder, replace=replace)
    folder.parent.mkdir(parents=True, exist_ok=True)
    place = temporary_name(folder)
    try:
        made = make(place)
        _check(made, place, store)
        save_set(made, place, form=form)
        if folder.exists():
            shutil.rmtree(folder)
        place.rename(folder)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return made


def _check_free(folder: Path, *, replace: bool) -> None:
    """Raise QuestionSetError if the folder has anything but a set that may be replaced."""
    if folder.is_file():
        raise QuestionSetError(f"{folder} is a file", "give another folder with --out DIR")
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not (folder / SET_FILE).is_file():
        raise QuestionSetError(
            f"{folder} has files, and is not a question set", "give another folder with --out DIR"
        )
    if not replace:
        raise QuestionSetError(
            f"{folder} has a question set already",
            "replace it with --replace, or give another --out DIR",
        )


def _check(made: QuestionSet, place: Path, store: Path | None) -> None:
    """Raise QuestionSetError if what was made has no questions, or gold that does not hold."""
    if not made.questions:
        raise QuestionSetError(
            "no question came of it", "give more text, or ask for more questions"
        )
    problems = lint_folder(made, place, store=store)
    if problems:
        first = problems[0]
        raise QuestionSetError(
            f"{len(problems)} faults in what was made, as {first.question}: {first.code}: {first.message}",
            "other files, or another seed, may do; a fault without files of your own is a bug",
        )


def _split(made: QuestionSet, place: Path, shares: Shares, order: Order) -> QuestionSet:
    corpora: dict[str, Corpus] = {
        each.name: open_set_corpus(made, place, each.name, store=order.store)
        for each in made.corpora
    }
    return assign_splits(made, corpora, shares, seed=order.seed)


def _made_by(family: str, order: Order) -> str:
    parts = [f"{family} {GENERATORS_VERSION}", f"seed {order.seed}"]
    if order.questions is not None:
        parts.append(f"questions {order.questions}")
    if order.characters is not None:
        parts.append(f"characters {order.characters}")
    if order.over:
        parts.append(f"over {', '.join(path.name for path in order.over)}")
    return "; ".join(parts)


def _is_current(folder: Path, family: str) -> bool:
    """Whether a set of the store was built by these generators."""
    if not (folder / SET_FILE).is_file():
        return False
    return load_header(folder).made_by.startswith(f"{family} {GENERATORS_VERSION};")
