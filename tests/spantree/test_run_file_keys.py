"""The keys of experiment files: those of the verbs, with their defaults and bounds; a mistake is told with its line."""

import inspect
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from spantree.cli.experiment import APART, VERBS
from spantree.cli.experiment_file import line_of
from spantree.cli.experiment_keys import KEYS, KINDS, Kind, SetKeys
from spantree.cli.sets import build_set
from tests.evals.small_set import small_set
from tests.spantree.run_file_desk import RETRIEVE, caught, refused, spantree, written

NAMES: dict[Kind, str] = {"evaluation": "eval", "sweep": "sweep", "optimization": "optimize"}
LEAST: dict[Kind, dict[str, Any]] = {
    "evaluation": {"set": "set"},
    "sweep": {"set": "set", "vary": {"leaf_characters": [2000, 4000]}},
    "optimization": {"set": "set", "program": "retrieve", "optimizer": "bootstrap"},
}
"""What must be said, by kind."""
COMMON: dict[str, Any] = {
    "set": "set",
    "model": "simulated:recall=0.9",
    "leaf_model": "extractive",
    "api_base": "http://127.0.0.1:1/v1",
    "partition": "size",
    "leaf_characters": 4000,
    "seed": 5,
    "max_calls": 500,
    "max_tokens": 900_000,
    "max_cost": 0.5,
    "max_seconds": 60.0,
    "max_depth": 2,
}
SAMPLES: dict[str, Any] = {
    **COMMON,
    "epochs": 2,
    "limit": 4,
    "split": "train",
    "concurrency": 3,
    "max_errors": "7",
    "retries": 1,
}
ALL: dict[Kind, dict[str, Any]] = {
    "evaluation": {**SAMPLES, "program": "recursive:never,map_reduce"},
    "sweep": {
        **SAMPLES,
        "program": "map_reduce",
        "vary": {"leaf_characters": [2000, 4000], "model": ["extractive", "obedient"]},
        "random": 2,
        "quality": "verified_correct",
    },
    "optimization": {
        **COMMON,
        "program": "map_reduce",
        "optimizer": "mipro",
        "reflection_model": "coach",
        "reflection_api_base": "http://127.0.0.1:2/v1",
        "teacher_model": "obedient",
        "teacher_leaf_model": "extractive",
        "teacher_api_base": "http://127.0.0.1:3/v1",
        "max_metric_calls": 90,
        "auto": None,
        "objective": None,
        "weights": "correct=2,evidence_recall=1",
        "cost_weight": 0.1,
        "cost_tokens": 5000,
        "threshold": 0.7,
        "threads": 2,
        "max_demos": 3,
        "split_shares": "50/25/25",
        "train_limit": 9,
        "validation_limit": 8,
        "test_limit": 7,
        "option": {"reflection_minibatch_size": 5, "candidate_selection_strategy": "pareto"},
    },
}
"""A value other than the default for every key; None for those that another one excludes."""


@pytest.fixture(autouse=True)
def _with_a_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    small_set(tmp_path, 4)


def toml(kind: Kind, values: dict[str, Any]) -> str:
    """A file with these values, written as a person would."""
    plain = [f"{name} = {_value(each)}" for name, each in values.items() if each is not None]
    return "\n".join([f'kind = "{kind}"', *plain, ""])


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_value(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def words(kind: Kind, values: dict[str, Any]) -> list[str]:
    """The same as it is typed."""
    found = [NAMES[kind]]
    for name, value in values.items():
        flag = "--" + name.replace("_", "-")
        if name == "vary":
            given = [f"{each}={','.join(map(str, many))}" for each, many in value.items()]
        elif name == "option":
            given = [f"{each}={one}" for each, one in value.items()]
        else:
            given = [str(tmp_set()) if name == "set" else str(value)] if value is not None else []
        found += [word for each in given for word in (flag, each)]
    return found


def tmp_set() -> Path:
    return Path("set").absolute()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values", [LEAST, ALL], ids=["no options", "all options"])
def test_a_file_asks_for_what_the_verb_asks_for(
    kind: Kind, values: dict[Kind, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Defaults stand in one place: a file without optional keys is the verb without options."""
    with caught(monkeypatch) as asked:
        filed = spantree("run", written(tmp_path, toml(kind, values[kind])))
        assert filed.exit_code == 0, filed.output
        by_file = asked()
        typed = spantree(*words(kind, values[kind]))
        assert typed.exit_code == 0, typed.output
        assert by_file == asked()


@pytest.mark.parametrize("kind", KINDS)
def test_keys_are_the_options_of_the_verb(kind: Kind) -> None:
    verb = set(inspect.signature(VERBS[kind]).parameters) - set(APART)
    assert names_of(KEYS[kind]) == verb | {"kind"}
    assert set(ALL[kind]) == verb


def test_keys_of_a_set_are_the_options_of_sets_build() -> None:
    options = set(inspect.signature(build_set).parameters)
    assert names_of(SetKeys) - {"name", "from"} == options - {
        "source", "out", "parquet", "replace", "store", "json",
    }  # fmt: skip


def names_of(keys: type[BaseModel]) -> set[str]:
    return {each.alias or name for name, each in keys.model_fields.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_have_the_bounds_of_the_verb(kind: Kind, tmp_path: Path) -> None:
    parameters = inspect.signature(VERBS[kind]).parameters.values()
    options = {
        each.name: getattr(each.annotation, "__metadata__", [None])[0] for each in parameters
    }
    bounded = {name: getattr(each, "min", None) for name, each in options.items()}
    bounded = {name: least for name, least in bounded.items() if least is not None}
    assert len(bounded) > 3
    for name, least in bounded.items():
        text = toml(kind, {**LEAST[kind], name: int(least) - 1})
        told = refused(spantree("run", written(tmp_path, text), "--check"))
        assert f"{name} must be at least {int(least)}" in told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RETRIEVE + "\nmodle = 'extractive'", "trial.toml, line 6: there is no key 'modle'"),
        (RETRIEVE + "\nmodle = 'x'", "next: did you mean 'model'? keys: kind, set, model, "),
        (RETRIEVE + "store = 'x'", "line 5: there is no key 'store'"),
        ('kind = "evaluation"\n[set]\nfamly = "leaves"', "line 3: there is no key 'set.famly'"),
        ('kind = "evaluation"\n[set]\nfamly = "x"', "did you mean 'family'? keys of set: name, "),
        ('kind = "evaluation"', "trial.toml: the key 'set' is missing"),
        ('kind = "benchmark"\nset = "x"', "line 1: there is no kind of experiment 'benchmark'"),
        ("kind = ['sweep']", "there is no kind of experiment ['sweep']"),
        ('set = "samples"', "trial.toml does not say its kind"),
        ('set = "samples"', 'one of: kind = "evaluation", kind = "sweep", kind = "optimization"'),
        ('kind = "evaluation', "trial.toml is not TOML: "),
        ('kind = "evaluation', "Unterminated string"),
        (RETRIEVE + "seed = 1\nseed = 2", "is not TOML: Cannot overwrite a value"),
        (RETRIEVE + "epochs = '2'", "line 5: epochs must be a whole number"),
        (RETRIEVE + "epochs = true", "line 5: epochs must be a whole number"),
        (RETRIEVE + "epochs = 1.5", "line 5: epochs must be a whole number"),
        (RETRIEVE + "max_cost = nan", "line 5: max_cost must be a number"),
        (RETRIEVE + "model = 3", "line 5: model must be a text in quotes"),
        ('kind = "evaluation"\nset = 5', "line 2: set must be a table"),
        (
            RETRIEVE + "epochs = 0\nlimt = 3\nmax_calls = [\n 1,\n]",
            "has 3 mistakes: line 5: epochs must be at least 1 line 6: there is no key 'limt'"
            " line 7: max_calls must be a whole number",
        ),
        (RETRIEVE.replace('"retrieve"', '"magic"'), "trial.toml: there is no program named"),
        (RETRIEVE.replace('"retrieve"', '["direct", "direct"]'), "names direct more than once"),
        (RETRIEVE + "max_calls = -1", "trial.toml: --max-calls is -1"),
        (RETRIEVE + "split = 'magic'", "trial.toml: there is no split 'magic'"),
        (RETRIEVE + "model = 'magic'", "trial.toml: no provider is known"),
        (RETRIEVE + "model = 'openai/gpt-4.1-mini'", "OPENAI_API_KEY"),
        ('kind = "evaluation"\nset = {seed = 1}', "names neither a set nor a family"),
        ('kind = "evaluation"\nset = {name = "a", family = "b"}', "names both a set and a family"),
        ('kind = "evaluation"\nset = {name = "a", seed = 1}', "seed would have no use"),
        ('kind = "evaluation"\nset = {family = "magic"}', "trial.toml: there is no family of questions named"),
        ('kind = "evaluation"\nset = {family = "leaves", split = "1/2"}', "'1/2' are not shares of"),
        ('kind = "sweep"\nset = "set"', "the key 'vary' is missing"),
        ('kind = "sweep"\nset = "set"\nvary = {depth = [[1]]}', "values are texts or numbers"),
        ('kind = "sweep"\nset = "set"\nvary = {depth = [0]}', "depth=0: it must be at least 1"),
        ('kind = "sweep"\nset = "set"\nvary = {depht = [1]}', "no parameter named 'depht'"),
        ('kind = "optimization"\nset = "set"', "has 2 mistakes: the key 'optimizer' is missing"),
        (
            'kind = "optimization"\nset = "set"\nprogram = "retrieve"\noptimizer = "gepa"',
            "gepa needs a model that writes instructions",
        ),
    ],
)  # fmt: skip
def test_a_mistake_is_one_message_and_nothing_is_written(
    tmp_path: Path, text: str, message: str
) -> None:
    file = written(tmp_path, text)
    for words in ((), ("--check",)):
        assert message in refused(spantree("run", file, *words))
    assert not (tmp_path / "trial").exists()


@pytest.mark.parametrize(
    "line",
    [
        'api_key = "hunter2"',
        'OPENAI_API_KEY = "hunter2"',
        'reflection_api_key = "hunter2"',
        'option = {apiKey = "hunter2"}',
        'option = {headers = [{Authorization = "hunter2"}]}',
        'password = "hunter2"',
        'auth-token = "hunter2"',
        'api_base = "https://me:hunter2@example.org/v1"',
        'api_base = "https://hunter2@example.org/v1"',
        'api_base = "https://example.org/v1?api_key=hunter2"',
        'model = "openai/sk-hunter2hunter2hunter2"',
        'model = "gemini/AIzahunter2hunter2hunter2"',
        'model = "huggingface/hf_hunter2hunter2hunter2"',
    ],
)
def test_no_secret_may_stand_in_a_file(tmp_path: Path, line: str) -> None:
    """It is neither shown nor kept."""
    told = refused(spantree("run", written(tmp_path, RETRIEVE + line)))
    assert "line 5: " in told
    assert "looks like a secret, which must not stand in an experiment file" in told
    assert "set it in the environment" in told
    assert "hunter2" not in told
    assert not (tmp_path / "trial").exists()


def test_a_file_that_is_none_is_told(tmp_path: Path) -> None:
    assert "there is no file" in refused(spantree("run", "nowhere.toml"))
    assert "does not end in .toml" in refused(spantree("run", written(tmp_path, "", "trial")))
    (tmp_path / "folder.toml").mkdir()
    assert "cannot read folder.toml" in refused(spantree("run", "folder.toml"))
    (tmp_path / "latin.toml").write_bytes('model = "é"'.encode("latin-1"))
    assert "latin.toml is not UTF-8" in refused(spantree("run", "latin.toml"))


def test_a_byte_order_mark_and_other_line_ends_are_no_mistake(tmp_path: Path) -> None:
    raw = b"\xef\xbb\xbf" + RETRIEVE.replace("\n", "\r\n").encode()
    (tmp_path / "trial.toml").write_bytes(raw)
    assert spantree("run", "trial.toml").exit_code == 0
    assert spantree("run", "trial.toml").exit_code == 0
    (tmp_path / "trial.toml").write_bytes(raw + b"modle = 1\r\n")
    assert "line 5: there is no key 'modle'" in refused(spantree("run", "trial.toml"))


def test_the_environment_does_not_change_what_a_file_asks_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SPANTREE_MODEL", "obedient")
    with caught(monkeypatch) as asked:
        assert spantree("run", written(tmp_path, RETRIEVE)).exit_code == 0
        assert asked()["common"]["model"] == "extractive"


@pytest.mark.parametrize("kind", KINDS)
def test_errors_are_tried_again_where_the_run_says_so(
    kind: Kind, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is no part of the experiment: the file stays as it is."""
    file = written(tmp_path, toml(kind, LEAST[kind]))
    with caught(monkeypatch) as asked:
        for words, wanted in (((), False), (("--retry-errors",), True)):
            result = spantree("run", file, *words)
            assert result.exit_code == 0, result.output
            told = asked()
            assert told.get("evaluation", told)["retry_errors"] is wanted


def test_lines_are_found_however_a_key_is_written() -> None:
    text = '# a = 1\na = """\nb = 1\n"""\n\nc.d = 1\n[t]\n"b" = [\n 1,\n]\n\n[[l]]\nx = 1\n'
    places = {("a",): 2, ("c", "d"): 6, ("t",): 7, ("t", "b"): 8, ("l",): 12, ("b",): None}
    assert {where: line_of(text, where) for where in places} == places
