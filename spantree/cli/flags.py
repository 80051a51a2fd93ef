"""Flags: which option of the command line sets which limit, or which setting that only some programs have."""

from runtime.errors import LimitsError, UserError

FLAGS = {
    "calls": "--max-calls",
    "tokens": "--max-tokens",
    "cost_usd": "--max-cost",
    "wall_seconds": "--max-seconds",
    "depth": "--max-depth",
    "in_flight": "--concurrency",
}
QUESTION_LIMITS = tuple(name for name in FLAGS if name != "in_flight")
"""Limits that every verb takes which puts questions: to some, --concurrency is how many at the same time."""

OPTIONS = {
    "refine": "--refine",
    "action_space": "--action-space",
    "sandbox": "--sandbox",
    "max_turns": "--max-turns",
    "window": "--window",
    "top_k": "--top-k",
    "leaf_characters": "--leaf-characters",
}
"""Settings that only some programs have, each with its option."""


def parameter(flag: str) -> str:
    """The parameter of a verb that an option gives, which is a key of an experiment file, too."""
    return flag.removeprefix("--").replace("-", "_")


def told(error: UserError) -> str:
    """The message of an error, with a limit under the name of its option: nobody types `wall_seconds`."""
    if isinstance(error, LimitsError) and error.limit in FLAGS:
        return error.message.replace(f"the limit {error.limit}", FLAGS[error.limit])
    return error.message
