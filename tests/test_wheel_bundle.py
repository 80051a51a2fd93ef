"""A bundle made here is loaded by an application elsewhere: from the wheel, in an environment that has nothing else."""

import json
import os
import shutil
import subprocess
import sys
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import dspy
import pytest
from packaging.requirements import Requirement

from data.samples import samples_path
from programs import Retrieve
from programs.bundles import Origin, read_bundle, save_bundle
from runtime.models.make import make_lm

ROOT = Path(__file__).resolve().parents[1]
QUESTION = "How long are audit logs kept?"
APPLICATION = """
import spantree
program = spantree.load({bundle!r})
answer = program(question={question!r}, corpus=spantree.open_corpus({text!r})).answer
"""
TOLD = """
import json, sys, data, evals, programs, runtime, signatures
rooms = (spantree, data, evals, programs, runtime, signatures)
cited = [each for claim in answer.claims for each in claim.citations]
print(json.dumps({
    "files": [each.__file__ for each in rooms],
    "path": sys.path,
    "outcome": answer.outcome,
    "model": answer.receipt.model,
    "ids": [program.bundle, spantree.load("shipped-minutes").bundle],
    "instructions": program.analyze_leaf.signature.instructions,
    "demo": type(program.analyze_leaf.demos[0].spans[0]).__name__,
    "cited": [[each.source, each.start, each.end, each.quote] for each in cited],
}))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel of this repository and what it requires, and nothing else.

    What it requires is linked from where it lies: nothing can be downloaded here.
    """
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder / "env")
    (packages,) = (folder / "env" / "lib").glob("python*/site-packages")
    with ZipFile(wheel) as file:
        file.extractall(packages)
    (installed,) = packages.glob("spantree-*.dist-info")
    for each in required(Distribution.at(installed)).values():
        link(each, packages)
    return folder / "env"


def required(wanted: Distribution) -> dict[str, Distribution]:
    """The distributions that one requires, and those that they require, by name."""
    found: dict[str, Distribution] = {}
    asked = [(wanted, frozenset[str]())]
    while asked:
        asking, extras = asked.pop()
        for line in asking.requires or ():
            need = Requirement(line)
            markers = [{"extra": each} for each in ("", *extras)]
            name = need.name.lower().replace("_", "-")
            if need.marker is not None and not any(map(need.marker.evaluate, markers)):
                continue
            if name not in found or need.extras:
                found[name] = distribution(need.name)
                asked.append((found[name], frozenset(need.extras)))
    return found


def link(each: Distribution, packages: Path) -> None:
    """Let the environment have a distribution of this one."""
    parts = {file.parts[0] for file in each.files or () if file.parts[0] not in ("..", "/")}
    for name in parts - {"__pycache__"}:
        if not (packages / name).exists():
            (packages / name).symlink_to(Path(str(each.locate_file(name))))


def run(environment: Path, *words: str, place: Path) -> subprocess.CompletedProcess[str]:
    """The interpreter of the environment, in another folder, with nothing of this process."""
    place.mkdir(exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    own = {"HOME": str(place), "SPANTREE_STORE": str(place / "store")}
    return subprocess.run(
        [str(environment / "bin" / "python"), "-I", *words],
        cwd=place,
        env={**kept, **own, "LITELLM_LOCAL_MODEL_COST_MAP": "true"},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that has learned something."""
    folder = tmp_path_factory.mktemp("bundles") / "minutes"
    program = Retrieve(k=5, lm=make_lm("extractive"))
    reader: Any = program.analyze_leaf
    reader.signature = reader.signature.with_instructions("Quote.")
    span = {"span_id": "a" * 12, "source": "a.md", "first_line": 1, "text": "Kept for a year."}
    shown = [{**span, "margin_before": "", "margin_after": ""}]
    reader.demos = [dspy.Example(question="Kept?", spans=shown, claims=[])]
    save_bundle(program, "retrieve", folder, origin=Origin(seed=1), settings={"top_k": 5})
    return folder


def test_an_application_loads_a_bundle_from_the_wheel(
    environment: Path, bundle: Path, tmp_path: Path
) -> None:
    """In three lines, with typed demos, and a citation that stands in the original file; or by a name that ships."""
    (programs,) = (environment / "lib").glob("python*/site-packages/programs")
    shutil.copytree(bundle, programs / "shipped" / "shipped-minutes")
    text = samples_path("minutes")
    three = APPLICATION.format(bundle=str(bundle), question=QUESTION, text=str(text))
    done = run(environment, "-c", three + TOLD, place=tmp_path / "elsewhere")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert all(Path(each).is_relative_to(environment) for each in told["files"])
    assert not any(Path(each).is_relative_to(ROOT) for each in told["path"] if each)
    assert told["model"] == "extractive"
    assert set(told["ids"]) == {read_bundle(bundle).id}
    assert (told["instructions"], told["demo"]) == ("Quote.", "EvidenceSpan")
    assert told["cited"]
    for source, start, end, quote in told["cited"]:
        original = (text / source).read_text(encoding="utf-8")
        assert original[start:end] == quote


def test_a_changed_bundle_is_refused_there_by_one_message(
    environment: Path, bundle: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for each in bundle.iterdir():
        (copy / each.name).write_bytes(each.read_bytes().replace(b"Quote.", b"Quote!"))
    done = run(
        environment, "-m", "spantree", "bundle", "show", str(copy), place=tmp_path / "elsewhere"
    )
    assert done.returncode == 2
    assert "was changed after the bundle was made" in done.stderr
    assert "Traceback" not in done.stderr
