"""Bundles: what is saved comes back as the same program, and holds nothing that it must not."""

import json
from pathlib import Path
from typing import Any

import dspy
import pytest

import spantree
from data.samples import samples_path
from programs import Direct, Program, Recursive, Retrieve
from programs.bundles import Origin, load, read_bundle, save_bundle, shipped_bundles
from programs.catalog import PROGRAMS
from programs.program_state import predictors_of, state_of
from runtime.errors import BundleError, ModelError
from runtime.limits import Limits
from runtime.models.make import make_lm
from signatures import EvidenceSpan

ORIGIN = Origin(
    optimizer="gepa",
    options={"max_metric_calls": 100},
    objective={"name": "verified_correct"},
    set_name="mixed",
    set_version="0" * 16,
    corpora={"a": "1" * 16},
    splits={"train": ("q1",), "validation": ("q2",), "test": ("q3",)},
    seed=7,
    reports={"validation": {"before": {"correct": 0.5}, "after": {"correct": 0.75}}, "test": None},
    parent="2" * 16,
    created="2026-12-01T00:00:00+00:00",
)
DEMO = {
    "augmented": True,
    "question": "日志 in which it rained?",
    "kind": "lookup",
    "spans": [
        {
            "span_id": "a" * 12,
            "source": "a.txt",
            "first_line": 1,
            "margin_before": "",
            "text": "It rained.",
            "margin_after": "",
        }
    ],
    "claims": [{"claim_id": "c1", "text": "It rained.", "status": "direct", "time": ""}],
    "evidence": [{"claim_id": "c1", "span_id": "a" * 12, "quote": "It rained."}],
    "claim_count": 1,
}


def taught(program: Program) -> Program:
    reader: Any = next(
        each for name, each in predictors_of(program).items() if "analyze_leaf" in name
    )
    reader.signature = reader.signature.with_instructions("Quote.\nBe brief. 引用。")
    reader.demos = [dspy.Example({**DEMO, "spans": [EvidenceSpan(**DEMO["spans"][0])]})]
    return program


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {}) for name in PROGRAMS),
        ("rlm", {"action_space": "repl", "max_turns": 5}),
        ("recursive", {"refine": "on_failure", "window": None}),
        ("retrieve", {"top_k": 3}),
        ("direct", {"window": 4_000}),
    ],
)
def test_a_loaded_program_is_the_one_that_was_saved(
    tmp_path: Path, name: str, options: dict[str, Any]
) -> None:
    limits = Limits(calls=40, wall_seconds=60.5)
    program = PROGRAMS[name].build(
        options, limits=limits, partitioner="size", lm=make_lm("extractive")
    )
    made = save_bundle(taught(program), name, tmp_path / "b", origin=ORIGIN, settings=options)
    loaded = load(tmp_path / "b")
    assert type(loaded) is type(program)
    assert state_of(loaded) == state_of(program)
    assert loaded.configuration(loaded.limits) == program.configuration(program.limits)
    bundle = read_bundle(tmp_path / "b")
    assert bundle.facts.origin == ORIGIN
    assert (bundle.id, bundle.facts, bundle.state) == (made.id, made.facts, made.state)
    assert bundle.misfits() == []


def test_a_loaded_program_answers_with_a_verified_citation(tmp_path: Path) -> None:
    save_bundle(taught(Retrieve(lm=make_lm("extractive"))), "retrieve", tmp_path / "b")
    program = spantree.load(tmp_path / "b")
    corpus = spantree.open_corpus(samples_path("minutes"))
    answer = program(question="How long are audit logs kept?", corpus=corpus).answer
    (first, *_) = [each for claim in answer.claims for each in claim.citations]
    assert corpus.slice(first.source, first.start, first.end) == first.quote


def test_a_model_is_shown_what_was_learned(tmp_path: Path) -> None:
    """dspy#1644, dspy#1045: what was loaded asked with the instructions from before the optimization."""
    from runtime.models.scripted import ScriptedEngine

    engine = ScriptedEngine(respond=lambda request: "{}")
    save_bundle(taught(Direct(lm=engine.lm())), "direct", tmp_path / "b")
    program = load(tmp_path / "b", lm=engine.lm(), limits=Limits(retries=0))
    program(question="Did it rain?", corpus=spantree.open_corpus(samples_path("minutes")))
    prompt = engine.log[0].prompt
    assert "Be brief. 引用。" in prompt
    assert "It rained." in prompt


def test_the_files_are_json_that_a_person_can_read(tmp_path: Path) -> None:
    save_bundle(taught(Recursive(lm=make_lm("extractive"))), "recursive", tmp_path / "b")
    assert sorted(each.name for each in (tmp_path / "b").iterdir()) == [
        "bundle.json",
        "program.json",
    ]
    text = (tmp_path / "b" / "program.json").read_text(encoding="utf-8")
    assert "引用。" in text
    assert set(json.loads(text)["predictors"]) == set(state_of(Recursive()))


def test_no_key_and_no_address_is_kept(tmp_path: Path) -> None:
    """`dump_state` of DSPy holds the settings of an LM, keys among them."""
    lm = make_lm(
        "openai/tiny", api_base="http://10.1.2.3:8000/v1", api_key="sk-secret", temperature=0.5
    )
    save_bundle(taught(Recursive(lm=lm)), "recursive", tmp_path / "b")
    text = "".join(each.read_text(encoding="utf-8") for each in (tmp_path / "b").iterdir())
    assert "sk-secret" not in text
    assert "10.1.2.3" not in text
    with pytest.raises(BundleError, match="server of its own") as caught:
        load(tmp_path / "b")
    assert "lm=make_lm" in caught.value.hint
    assert load(tmp_path / "b", lm=lm).main_lm is lm


def test_models_are_made_by_name_with_their_parameters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = make_lm("openai/gpt-4.1-mini", api_key="sk-1", temperature=0.5, max_tokens=900)
    leaf = make_lm("extractive")
    save_bundle(Recursive(lm=lm, leaf_lm=leaf), "recursive", tmp_path / "b")
    with pytest.raises(ModelError, match="no API key"):
        load(tmp_path / "b")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-2")
    loaded: Any = load(tmp_path / "b")
    assert loaded.main_lm.model == lm.model
    assert (loaded.main_lm.kwargs["temperature"], loaded.main_lm.kwargs["max_tokens"]) == (0.5, 900)
    assert loaded.leaf_lm.model == leaf.model
    other = make_lm("extractive")
    assert load(tmp_path / "b", lm=other).main_lm is other


def test_a_model_that_its_name_does_not_make_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-2")
    lm = dspy.LM("openai/gpt-4.1-mini", top_p=0.5, cache=False)
    save_bundle(Recursive(lm=lm), "recursive", tmp_path / "b")
    with pytest.raises(BundleError, match="its name alone does not make that"):
        load(tmp_path / "b")
    assert load(tmp_path / "b", lm=lm).main_lm is lm


def test_the_longest_reply_of_a_reasoning_model_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DSPy calls it by another name there: it was taken for a secret, and the model came back without it."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-2")
    lm = make_lm("openai/gpt-5-mini", temperature=1.0, max_tokens=20_000)
    save_bundle(Recursive(lm=lm), "recursive", tmp_path / "b")
    loaded: Any = load(tmp_path / "b").main_lm
    assert loaded.kwargs["max_completion_tokens"] == 20_000


def test_what_is_set_on_a_model_and_is_no_scalar_is_not_lost_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-2")
    lm = dspy.LM("openai/gpt-4.1-mini", stop=["END"], extra_body={"pass": "p-1"}, cache=False)
    save_bundle(Recursive(lm=lm), "recursive", tmp_path / "b")
    assert "p-1" not in (tmp_path / "b" / "bundle.json").read_text(encoding="utf-8")
    with pytest.raises(BundleError, match="its name alone does not make that"):
        load(tmp_path / "b")
    assert load(tmp_path / "b", lm=lm).main_lm is lm


def test_models_by_name_have_the_parameters_of_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One name in both places, with other parameters; and a server of its own, whose address is given again."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-2")
    name = "openai/gpt-4.1-mini"
    lm, leaf = (make_lm(name, max_tokens=most) for most in (500, 900))
    kept = save_bundle(Recursive(lm=lm, leaf_lm=leaf), "recursive", tmp_path / "b")
    assert [each.kwargs["max_tokens"] for each in kept.models(name, name)] == [500, 900]
    address = "http://127.0.0.1:8000/v1"
    own = make_lm("openai/tiny", api_base=address, temperature=0.5, max_tokens=300)
    kept = save_bundle(Recursive(lm=own), "recursive", tmp_path / "own")
    made, same = kept.models("openai/tiny", "openai/tiny", address)
    assert made is same
    assert (made.kwargs["temperature"], made.kwargs["max_tokens"]) == (0.5, 300)
    assert made.kwargs["api_base"] == address


def test_limits_of_the_application_take_the_place_of_those_of_the_bundle(tmp_path: Path) -> None:
    program = Recursive(lm=make_lm("extractive"), limits=Limits(calls=9))
    save_bundle(program, "recursive", tmp_path / "b")
    assert load(tmp_path / "b").limits.calls == 9
    assert load(tmp_path / "b", limits=Limits(calls=50)).limits.calls == 50


def test_the_id_follows_everything_that_is_in_it(tmp_path: Path) -> None:
    def saved(program: Program, origin: Origin) -> str:
        return save_bundle(program, "recursive", tmp_path / "b", origin=origin).id

    lm = make_lm("extractive")
    first = saved(Recursive(lm=lm), ORIGIN)
    assert saved(Recursive(lm=lm), ORIGIN) == first
    assert saved(taught(Recursive(lm=lm)), ORIGIN) != first
    assert saved(Recursive(lm=lm), ORIGIN.model_copy(update={"seed": 8})) != first
    assert saved(Recursive(lm=lm, limits=Limits(calls=5)), ORIGIN) != first


def test_when_it_was_made_is_noted(tmp_path: Path) -> None:
    made = save_bundle(Recursive(), "recursive", tmp_path / "b")
    assert made.facts.origin.created.startswith("20")
    assert made.facts.lm is None
    assert load(tmp_path / "b").main_lm is None


@pytest.mark.parametrize(
    ("program", "name", "settings", "reason"),
    [
        (lambda: Retrieve(k=3), "retrieve", {}, "differs in k"),
        (lambda: Retrieve(), "retrieve", {"k": 3}, "no option 'k'"),
        (lambda: Retrieve(), "direct", {}, "differs in k, window"),
        (lambda: PROGRAMS["map_reduce"].build({}), "plan_execute", {}, "another class"),
        (lambda: Retrieve(), "nothing", {}, "there is no program"),
        (lambda: Retrieve(), "retrieve", {"top_k": "many"}, "make no retrieve"),
    ],
)
def test_what_name_and_settings_do_not_make_is_not_saved(
    tmp_path: Path, program: Any, name: str, settings: dict[str, Any], reason: str
) -> None:
    with pytest.raises(BundleError, match=reason):
        save_bundle(program(), name, tmp_path / "b", settings=settings)
    assert list(tmp_path.iterdir()) == []


def test_settings_of_a_predictor_are_not_lost_in_silence(tmp_path: Path) -> None:
    """`Predict.config` is in no state that DSPy saves; a model of its own would come with its key."""
    program = Recursive()
    program.plan.config = {"temperature": 1.0}
    with pytest.raises(BundleError, match="plan has a config of its own"):
        save_bundle(program, "recursive", tmp_path / "b")
    program = Recursive()
    program.plan.lm = make_lm("extractive")
    with pytest.raises(BundleError, match="plan has a lm of its own"):
        save_bundle(program, "recursive", tmp_path / "b")


def test_a_bundle_is_replaced_and_other_files_are_not(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "b"
    first = save_bundle(Recursive(), "recursive", place)
    second = save_bundle(taught(Recursive()), "recursive", place)
    assert read_bundle(place).id == second.id != first.id
    assert [each.name for each in place.parent.iterdir()] == ["b"]
    (place / "notes.txt").write_text("mine")
    with pytest.raises(BundleError, match=r"holds other files: notes\.txt"):
        save_bundle(Recursive(), "recursive", place)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BundleError, match="cannot be written"):
        save_bundle(Recursive(), "recursive", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    "origin", [Origin(options={"x": object()}), Origin(reports={"test": {"score": float("nan")}})]
)
def test_an_origin_that_json_cannot_hold_is_refused(tmp_path: Path, origin: Origin) -> None:
    with pytest.raises(BundleError, match="not JSON"):
        save_bundle(Recursive(), "recursive", tmp_path / "b", origin=origin)
    assert list(tmp_path.iterdir()) == []


def test_what_ships_loads() -> None:
    """With models of one's own: those that it was made with may not be here."""
    assert shipped_bundles()
    for name in shipped_bundles():
        program = load(name, lm=make_lm("extractive"), leaf_lm=make_lm("extractive"))
        assert state_of(program) == read_bundle(name).state
        assert program.bundle == read_bundle(name).id


def test_an_unknown_name_is_told_with_those_that_ship(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="no bundle 'nowhere'") as caught:
        load("nowhere")
    assert "one that ships" in caught.value.hint
    with pytest.raises(BundleError, match=r"has no bundle\.json"):
        load(tmp_path)
