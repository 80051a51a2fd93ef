"""Model names: the embedded engines, anything that DSPy takes, and what is said about the rest."""

import json
from pathlib import Path

import dspy
import pytest

from runtime.errors import ModelError
from runtime.models.make import make_lm
from runtime.models.price import FREE, price_of


def test_the_embedded_default_needs_nothing() -> None:
    lm = make_lm("extractive")
    assert (lm.model, lm.num_retries, lm.cache) == ("spantree/extractive", 0, False)
    assert price_of(lm) == FREE


def test_the_simulated_model_takes_its_weaknesses_from_the_name() -> None:
    for name in ("simulated", "simulated:recall=0.8,seed=3"):
        assert make_lm(name).model == f"spantree/{name}"
    with pytest.raises(ModelError, match="charm"):
        make_lm("simulated:charm=1")


def test_the_scripted_model_reads_a_file_and_names_itself_a_stand_in(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    path.write_text(json.dumps([{"answer": "x"}]), encoding="utf-8")
    lm = make_lm(f"scripted:{path}")
    assert lm.model == f"spantree/scripted:{path}"  # so that a record says how to make it again
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter(), trace=None):
        assert dspy.Predict("question -> answer")(question="q").answer == "x"


@pytest.mark.parametrize("name", ["scripted:", "scripted", "scripted:absent.json"])
def test_a_script_that_is_not_there(name: str) -> None:
    with pytest.raises(ModelError, match="script"):
        make_lm(name)


@pytest.mark.parametrize("name", ["", "  ", "openai/", "no-such-model"])
def test_an_unknown_model_is_named_with_a_way_out(name: str) -> None:
    with pytest.raises(ModelError) as unknown:
        make_lm(name)
    assert "extractive" in unknown.value.hint


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("openai/gpt-4o-mini", "OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
    ],
)
def test_missing_credentials_are_found_before_the_first_call(
    name: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelError) as missing:
        make_lm(name)
    assert key in missing.value.hint
    assert make_lm(name, api_key="given").kwargs["api_key"] == "given"
    monkeypatch.setenv(key, "in the environment")
    assert make_lm(name).model == name


@pytest.mark.parametrize("address", ["", "localhost:8000", "notaurl", "ftp://host/v1", "http://"])
def test_an_address_that_is_no_url_is_found_before_the_first_call(address: str) -> None:
    with pytest.raises(ModelError, match="is not a URL") as refused:
        make_lm("openai/own-model", api_base=address)
    assert "http://" in refused.value.hint


def test_a_local_server_needs_no_key() -> None:
    assert make_lm("ollama_chat/llama3.2").model == "ollama_chat/llama3.2"
    lm = make_lm(
        "openai/own-model",
        api_base="http://127.0.0.1:9/v1",
        temperature=0.2,
        max_tokens=100,
        cache=True,
    )
    assert lm.kwargs["api_base"] == "http://127.0.0.1:9/v1"
    assert (lm.kwargs["temperature"], lm.kwargs["max_tokens"], lm.cache, lm.num_retries) == (
        0.2,
        100,
        True,
        0,
    )


def test_the_key_of_the_environment_is_left_to_be_read_by_dspy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert "api_key" not in make_lm("openai/own-model", api_base="http://127.0.0.1:9/v1").kwargs


def test_settings_that_a_model_does_not_take_are_refused() -> None:
    with pytest.raises(ModelError, match="reasoning"):
        make_lm("openai/gpt-5-mini", api_key="k", temperature=0.2)


def test_prices_are_known_unknown_or_nothing() -> None:
    known = price_of(make_lm("openai/gpt-4o-mini", api_key="k"))
    assert known is not None
    assert 0 < known.input < known.output < 1e-4
    assert price_of(make_lm("openai/own-model", api_key="k")) is None
