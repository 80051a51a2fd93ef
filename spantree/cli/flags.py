"""Flags: which option of the command line sets which limit."""

from runtime.errors import LimitsError, UserError

FLAGS = {
    "calls": "--max-calls",
    "tokens": "--max-tokens",
    "cost_usd": "--max-cost",
    "wall_seconds": "--max-seconds",
    "depth": "--max-depth",
    "in_flight": "--concurrency",
}


def told(error: UserError) -> str:
    """The message of an error, with a limit under the name of its option: nobody types `wall_seconds`."""
    if isinstance(error, LimitsError) and error.limit in FLAGS:
        return error.message.replace(f"the limit {error.limit}", FLAGS[error.limit])
    return error.message
