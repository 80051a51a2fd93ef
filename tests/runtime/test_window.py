"""Windows of models: declared by an engine, known from the model table, or a cautious default; never from a network."""

from typing import Any

import dspy
import pytest

from runtime.models.extractive.engine import ExtractiveEngine
from runtime.models.make import make_lm
from runtime.models.scripted import ScriptedEngine
from runtime.models.simulated import SimulatedEngine, Weaknesses
from runtime.models.window import CHARACTERS_PER_TOKEN, DEFAULT_WINDOW, window_characters


def test_an_engine_declares_its_window() -> None:
    assert window_characters(make_lm("extractive")) == ExtractiveEngine.window
    assert window_characters(make_lm("simulated")) == ExtractiveEngine.window
    assert window_characters(ScriptedEngine(window=1_234).lm()) == 1_234


@pytest.mark.parametrize("window", [None, 0, -5, "many"])
def test_an_engine_that_declares_none_gets_the_default(window: Any) -> None:
    assert window_characters(ScriptedEngine(window=window).lm()) == DEFAULT_WINDOW
    bare = SimulatedEngine(ScriptedEngine(window=window), Weaknesses())
    assert window_characters(bare.lm()) == DEFAULT_WINDOW


def test_no_model_yet_is_no_error() -> None:
    """The call says what is missing, with a hint; the window is not the place for it."""
    assert window_characters(None) == DEFAULT_WINDOW


@pytest.mark.parametrize("name", ["openai/gpt-4o-mini", "deepseek/deepseek-chat"])
def test_a_model_of_the_table_has_room_for_its_reply_and_the_instructions(name: str) -> None:
    window = window_characters(dspy.LM(name, api_key="none"))
    assert 100_000 * CHARACTERS_PER_TOKEN < window < 200_000 * CHARACTERS_PER_TOKEN


def test_what_is_kept_for_the_reply_is_what_the_model_may_reply() -> None:
    short = window_characters(dspy.LM("openai/gpt-4o-mini", api_key="none", max_tokens=100))
    long = window_characters(dspy.LM("openai/gpt-4o-mini", api_key="none", max_tokens=16_000))
    assert short - long == pytest.approx(15_900 * CHARACTERS_PER_TOKEN, abs=2)


def test_a_small_window_is_not_eaten_up_by_what_is_kept() -> None:
    """ollama/llama3 has 8192 tokens: half of them stay for evidence."""
    assert window_characters(dspy.LM("ollama/llama3")) >= 4_096 * CHARACTERS_PER_TOKEN - 1


@pytest.mark.parametrize("name", ["openai/no-such-model", "ollama_chat/nobody-knows"])
def test_an_unknown_model_gets_the_default(name: str) -> None:
    assert window_characters(dspy.LM(name, api_key="none")) == DEFAULT_WINDOW
