"""Quiet: `dspy.RLM` without its warning that sub-agents are unavailable, which a guarded sandbox means on purpose."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

_MESSAGE = "RLM sub-agents are unavailable"


@contextmanager
def quiet_rlm() -> Iterator[None]:
    """Leave out that one message, and only for guarded sandboxes, while the block runs.

    The logger belongs to the whole process; that another thread loses the same message meanwhile is no loss, since the
    filter takes nothing else.
    """
    logger = logging.getLogger("dspy.predict.rlm")
    only_ours = _OnlyOurs()
    logger.addFilter(only_ours)
    try:
        yield
    finally:
        logger.removeFilter(only_ours)


class _OnlyOurs(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        about = record.args[0] if isinstance(record.args, tuple) and record.args else None
        return not (about == "Guarded" and str(record.msg).startswith(_MESSAGE))
