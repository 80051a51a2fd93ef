"""What is no bundle, was changed, or does not fit is refused by one message that says why and what to do."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from programs import Recursive
from programs.bundle_files import write_files
from programs.bundles import Bundle, load, read_bundle, save_bundle
from programs.program_state import state_of
from runtime.errors import BundleError
from runtime.models.make import make_lm


@pytest.fixture
def place(tmp_path: Path) -> Path:
    save_bundle(Recursive(lm=make_lm("extractive")), "recursive", tmp_path / "b")
    return tmp_path / "b"


def resealed(place: Path, state: Any = None, **changed: Any) -> Bundle:
    """The bundle as another spantree would have made it: whole, with other facts or another state."""
    bundle = read_bundle(place)
    facts = bundle.facts.model_copy(update=changed)
    write_files(place, facts, bundle.state if state is None else state)
    return bundle


def edited(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    content = json.loads(path.read_bytes())
    change(content)
    path.write_text(json.dumps(content))


@settings(
    max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.data())
def test_no_change_of_a_byte_is_loaded(place: Path, data: st.DataObject) -> None:
    """A changed file is refused, unless it still says the very same."""
    copy = place.parent / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(place, copy)
    name = data.draw(st.sampled_from(["bundle.json", "program.json"]))
    raw = bytearray((copy / name).read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    (copy / name).write_bytes(raw)
    for force in (False, True):
        try:
            load(copy, force=force)
        except BundleError:
            pass
        else:
            assert read_bundle(copy).facts == read_bundle(place).facts
            assert read_bundle(copy).state == read_bundle(place).state


@pytest.mark.parametrize("name", ["bundle.json", "program.json"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "damaged"),
        (b"[]", "damaged"),
        (b"\xff\xfe{}", "damaged"),
        (b'{"schema_version": NaN}', "damaged"),
        (b"[" * 100_000, "damaged"),
        (b"{}", "of which version"),
        (b'{"schema_version": true, "x": 1}', "was changed"),
        (b'{"schema_version": 99}', "version 99"),
        (None, "has no"),
    ],
)
def test_a_damaged_file_is_never_forced(
    place: Path, name: str, content: bytes | None, reason: str
) -> None:
    path = place / name
    path.unlink() if content is None else path.write_bytes(content)
    # What is in program.json is not even looked at once it is not what bundle.json says.
    expected = "was changed" if name == "program.json" and content is not None else reason
    with pytest.raises(BundleError, match=expected) as caught:
        load(place, force=True)
    assert name in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.hint


def test_a_newer_version_is_told_as_one(place: Path) -> None:
    edited(place / "bundle.json", lambda content: content.update(schema_version=2, news=[]))
    with pytest.raises(BundleError, match="version 2, and this spantree reads up to 1") as caught:
        load(place, force=True)
    assert "update spantree" in caught.value.hint


@pytest.mark.parametrize("part", ["", "origin", "limits", "lm"])
def test_an_unknown_key_is_refused(place: Path, part: str) -> None:
    """Also where the id agrees with it."""
    import hashlib

    def add(content: dict[str, Any]) -> None:
        (content[part] if part else content)["factory"] = "os.system"
        del content["id"]
        dumped = json.dumps(content, sort_keys=True)
        content["id"] = hashlib.sha256(dumped.encode()).hexdigest()[:16]

    edited(place / "bundle.json", add)
    with pytest.raises(BundleError, match="factory: Extra inputs are not permitted"):
        load(place, force=True)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"program": "os.system"}, "of a program 'os.system'"),
        ({"program": "programs.route:Auto"}, "of a program 'programs.route:Auto'"),
        ({"partitioner": "../../x"}, "partitioner '../../x'"),
        ({"options": {"interpreter_factory": "x"}}, "no option 'interpreter_factory'"),
    ],
)
def test_only_what_the_catalog_has_is_made(
    place: Path, changed: dict[str, Any], reason: str
) -> None:
    """Nothing that a bundle names is imported or called: a name is looked up in the catalog, or refused."""
    resealed(place, **changed)
    with pytest.raises(BundleError, match=reason):
        load(place, force=True)


def test_pickles_are_no_bundles(tmp_path: Path) -> None:
    (tmp_path / "program.pkl").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(BundleError, match=r"has no bundle\.json"):
        load(tmp_path, force=True)
    with pytest.raises(BundleError, match="cannot be read"):
        load(tmp_path / "program.pkl")


def version_of_dspy(bundle: Bundle, version: str) -> dict[str, Any]:
    return {"versions": {**bundle.facts.versions, "dspy": version}}


def test_another_minor_of_dspy_is_refused_unless_forced(place: Path) -> None:
    bundle = read_bundle(place)
    resealed(place, **version_of_dspy(bundle, "3.3.0"))
    with pytest.raises(BundleError, match=r"made with DSPy 3\.3\.0") as caught:
        load(place)
    assert "force=True" in caught.value.hint
    with pytest.warns(UserWarning, match=r"loaded by force: it was made with DSPy 3\.3\.0"):
        program = load(place, force=True)
    assert state_of(program) == dict(bundle.state)


def test_another_patch_of_dspy_fits(place: Path) -> None:
    bundle = read_bundle(place)
    major, minor, _ = bundle.facts.versions["dspy"].split(".", 2)
    resealed(place, **version_of_dspy(bundle, f"{major}.{minor}.999"))
    assert load(place)


def test_another_version_of_the_program_is_refused_unless_forced(place: Path) -> None:
    resealed(place, program_version=99)
    with pytest.raises(BundleError, match="recursive was of version 99, and is of 1"):
        load(place)
    with pytest.warns(UserWarning, match="by force"):
        assert load(place, force=True)


def test_a_changed_signature_is_refused_unless_forced(place: Path) -> None:
    signatures = {**read_bundle(place).facts.signatures, "plan": "0" * 12}
    resealed(place, signatures=signatures)
    with pytest.raises(BundleError, match="the signature of plan has changed"):
        load(place)
    with pytest.warns(UserWarning, match="by force"):
        assert load(place, force=True)


@pytest.mark.parametrize("change", ["none", "one less", "one more"])
def test_a_bundle_that_does_not_say_what_was_asked_of_each_predictor_is_damaged(
    place: Path, change: str
) -> None:
    """One made by hand: without hashes, no signature could ever have changed."""
    signatures = dict(read_bundle(place).facts.signatures)
    if change == "one less":
        del signatures["plan"]
    other = {**signatures, "judge": "0" * 12} if change == "one more" else signatures
    resealed(place, signatures={} if change == "none" else other)
    with pytest.raises(BundleError, match=r"bundle\.json is damaged: .*signatures"):
        load(place, force=True)


def test_a_predictor_more_or_less_is_refused_and_forced_as_far_as_it_fits(place: Path) -> None:
    """DSPy's load into a program with one predictor more ends in a KeyError, half loaded."""
    state: dict[str, Any] = dict(read_bundle(place).state)
    state["conclude"] = {**state["conclude"], "instructions": "Conclude."}
    state["judge"] = state.pop("refine")
    signatures = dict(read_bundle(place).facts.signatures)
    signatures["judge"] = signatures.pop("refine")
    resealed(place, state, signatures=signatures)
    with pytest.raises(BundleError) as caught:
        load(place)
    assert "the state has no predictor refine" in caught.value.message
    assert "the program has no predictor judge" in caught.value.message
    with pytest.warns(UserWarning, match="judge"):
        forced = state_of(load(place, force=True))
    assert forced["conclude"]["instructions"] == "Conclude."
    assert forced["refine"] == state_of(Recursive())["refine"]


def test_a_demo_that_no_longer_fits_is_told_and_left_out_by_force(place: Path) -> None:
    state: dict[str, Any] = dict(read_bundle(place).state)
    demos = [{"question": "Q", "score": 1}, {"question": "Q", "claim_count": 0}]
    state["analyze_leaf"] = {**state["analyze_leaf"], "demos": demos}
    resealed(place, state)
    with pytest.raises(BundleError, match="demo 1 of analyze_leaf has a field 'score'"):
        load(place)
    with pytest.warns(UserWarning, match="demo 1 of analyze_leaf"):
        forced = state_of(load(place, force=True))
    assert forced["analyze_leaf"]["demos"] == demos[1:]


def test_all_reasons_are_in_one_message(place: Path) -> None:
    bundle = read_bundle(place)
    resealed(place, program_version=99, **version_of_dspy(bundle, "2.6"))
    with pytest.raises(BundleError, match=r"DSPy 2\.6.*; .*version 99"):
        load(place)


def test_force_tells_all_that_it_leaves_out(place: Path) -> None:
    """A demo that was left out was not told of where there was another reason, too."""
    bundle = read_bundle(place)
    state: dict[str, Any] = dict(bundle.state)
    state["analyze_leaf"] = {**state["analyze_leaf"], "demos": [{"question": "Q", "score": 1}]}
    resealed(place, state, **version_of_dspy(bundle, "3.3.0"))
    with pytest.warns(UserWarning, match=r"DSPy 3\.3\.0.*; demo 1 of analyze_leaf"):
        load(place, force=True)


@pytest.mark.parametrize("name", ["x" * 300, "~nobody-has-this-home/b"])
def test_a_name_that_no_folder_can_have_is_a_mistake(name: str) -> None:
    with pytest.raises(BundleError, match="is no bundle"):
        load(name)


def test_what_has_no_end_is_not_read(place: Path) -> None:
    """A pipe in the place of a file: nobody would ever write to it."""
    (place / "program.json").unlink()
    os.mkfifo(place / "program.json")
    with pytest.raises(BundleError, match="no file of a bundle"):
        load(place)


def test_a_file_without_measure_is_not_read(place: Path) -> None:
    with (place / "program.json").open("r+b") as file:
        file.truncate(1 << 40)
    with pytest.raises(BundleError, match="no file of a bundle"):
        load(place)
