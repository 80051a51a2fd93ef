"""Command words: a command as it would be typed, from what was asked for."""

import shlex
from collections.abc import Mapping
from typing import Any

from spantree.cli.flags import FLAGS, QUESTION_LIMITS
from spantree.cli.settings import DEFAULT_LIMITS, Settings


def joined(verb: str, given: Mapping[str, Any], *more: str) -> str:
    """A command of its options, without those that are None."""
    words = [
        word for name, value in given.items() if value is not None for word in (name, str(value))
    ]
    return shlex.join(["spantree", *verb.split(), *words, *more])


def model_options(common: Settings) -> dict[str, Any]:
    """The options by which models and the reading of text were chosen; None for what is the default."""
    return {
        "--model": common.model,
        "--leaf-model": None if common.leaf_model == common.model else common.leaf_model,
        "--api-base": common.api_base,
        "--partition": None if common.partitioner == "auto" else common.partitioner,
        "--leaf-characters": common.leaf_characters,
    }


def limit_options(common: Settings) -> dict[str, Any]:
    """The options of those limits that are not the default."""
    return {
        FLAGS[name]: getattr(common.limits, name)
        for name in QUESTION_LIMITS
        if getattr(common.limits, name) != getattr(DEFAULT_LIMITS, name)
    }
