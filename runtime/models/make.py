"""The LM behind a model name: an embedded engine, or anything that DSPy takes.

What can be known before the first call is checked here: a name that leads to no provider, credentials that are
missing. Both are mistakes of the user, with a hint.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dspy
from dspy import lm15
from dspy.clients._litellm import get_litellm
from dspy.clients.backend_selection import select_backend
from dspy.clients.engines.lm15_engine import LM15Engine

from runtime.errors import ModelError
from runtime.models.failures import first_line
from runtime.models.local.weights import PREFIX as LOCAL_PREFIX
from runtime.models.own_server import OwnServer
from runtime.models.scripted import load_script
from runtime.models.simulated import SimulatedEngine, Weaknesses

NAMES_HINT = "extractive (needs nothing), or a name such as openai/gpt-5-mini, anthropic/..., ollama_chat/llama3.2"
_ADDRESS = re.compile(r"https?://[^\s/]", re.IGNORECASE)
NO_KEY = "none"
"""Sent to a server of one's own that asks for no key."""


def make_lm(
    name: str,
    *,
    api_base: str | None = None,
    api_key: str | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    cache: bool = False,
) -> dspy.LM:
    """An LM for `name`, with no retries of its own: those are decided, paid and logged by the caller.

    `extractive` is embedded and takes no other setting. So do stand-ins for studies: `scripted:FILE.json`,
    `simulated[:weakness=value,...]`, `obedient`, which does whatever the text tells it to,
    `pupil[:weakness=value,...]`, whose errors depend on its instructions and demos, and `coach`, which writes
    instructions for an optimizer.
    Raises ModelError for an unknown name, an address that is no URL, missing credentials or settings that the model
    does not take.
    """
    embedded = _embedded(name.strip())
    if embedded is not None:
        return embedded
    if name.strip().startswith(LOCAL_PREFIX):
        return _local(name.strip(), temperature=temperature, max_tokens=max_tokens, cache=cache)
    if api_base is not None and not _ADDRESS.match(api_base):
        raise ModelError(
            f"the address {api_base!r} is not a URL",
            hint="for example --api-base http://127.0.0.1:8000/v1",
        )
    given = {"api_base": api_base, "api_key": api_key}
    settings: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    own = bool(api_base) and name.strip().startswith("openai/")
    if own and not api_key and not os.environ.get("OPENAI_API_KEY"):
        settings["api_key"] = NO_KEY
    try:
        lm = (OwnServer if own else dspy.LM)(
            name.strip(),
            temperature=temperature,
            max_tokens=max_tokens,
            cache=cache,
            num_retries=0,
            **settings,
        )
    except (ValueError, dspy.LMError) as error:
        raise ModelError(first_line(error), hint=NAMES_HINT) from error
    _check_route(lm)
    return lm


def _embedded(name: str) -> dspy.LM | None:
    kind, _, argument = name.partition(":")
    if name == "extractive":
        return _extractive()
    if kind == "scripted":
        return load_script(Path(argument)).lm(f"spantree/{name}")
    if kind == "simulated":
        # The reader is loaded here because only the names that are built on it need it.
        from runtime.models.extractive.engine import ExtractiveEngine

        return SimulatedEngine(ExtractiveEngine(), Weaknesses.parse(argument)).lm(
            f"spantree/{name}"
        )
    return _taught(kind, argument, name)


def _taught(kind: str, argument: str, name: str) -> dspy.LM | None:
    """The stand-ins that follow what they read: a text, or instructions."""
    if name == "obedient":
        from runtime.models.obedient.engine import ObedientEngine

        return ObedientEngine().lm()
    if kind == "pupil":
        from runtime.models.pupil.engine import PupilEngine
        from runtime.models.pupil.lesson import Faults

        return PupilEngine(Faults.parse(argument)).lm(f"spantree/{name}")
    if name == "coach":
        from runtime.models.coach.engine import CoachEngine

        return CoachEngine().lm()
    return None


def _local(name: str, **settings: Any) -> dspy.LM:
    from runtime.models.local.engine import local_engine

    return local_engine(name).lm(**settings)


def _extractive() -> dspy.LM:
    from runtime.models.extractive.engine import AsyncExtractiveEngine, ExtractiveEngine

    engine, asynchronous = ExtractiveEngine(), AsyncExtractiveEngine()
    return dspy.LM(
        "spantree/extractive", engine=engine, async_engine=asynchronous, num_retries=0, cache=False
    )


def _check_route(lm: dspy.LM) -> None:
    """Raise ModelError if no provider can be inferred from the name, or its key is missing."""
    selection = select_backend(lm)
    if selection.native:
        _check_native(lm, selection.resolution, selection.clients)
    elif selection.resolution is None:
        _check_litellm(lm)


def _check_native(lm: dspy.LM, resolution: Any, clients: dict[str, Any]) -> None:
    keys = {resolution.provider: clients["api_key"]} if "api_key" in clients else None
    engine = LM15Engine(lm15.RouterConfig(api_keys=keys), model_type=lm.model_type)
    try:
        engine.router.lm(f"{resolution.provider}:{resolution.model}")
    except lm15.NotConfiguredError as error:
        raise _no_key(lm.model, error.env_keys) from error
    finally:
        engine.close()


def _check_litellm(lm: dspy.LM) -> None:
    if "/" not in lm.model:
        raise ModelError(f"no provider is known for the model {lm.model!r}", hint=NAMES_HINT)
    litellm = get_litellm(feature="dspy.LM")
    try:
        litellm.get_llm_provider(model=lm.model, api_base=lm.kwargs.get("api_base"))
    except litellm.exceptions.BadRequestError as error:
        raise ModelError(
            f"no provider is known for the model {lm.model!r}", hint=NAMES_HINT
        ) from error
    if lm.kwargs.get("api_key") or lm.kwargs.get("api_base"):
        return
    missing = litellm.validate_environment(lm.model)["missing_keys"]
    if keys := [key for key in missing if key.endswith("_API_KEY")]:
        raise _no_key(lm.model, keys)


def _no_key(model: str, keys: Sequence[str]) -> ModelError:
    names = " or ".join(keys) or "the API key of the provider"
    return ModelError(
        f"no API key for the model {model}", hint=f"set {names}, or use --model extractive"
    )
