"""The models that this process has in memory, each file once, whichever LMs ask it.

The memory of a process is one for all that runs in it, so there is one pool for a process (`process_pool`). It holds
nothing by itself: a model goes when the last LM that uses it does, or at `close`.
"""

import threading
from functools import cache
from pathlib import Path
from weakref import WeakValueDictionary

from runtime.models.local.server import LocalModel, Start
from runtime.models.local.settings import Settings


class Pool:
    """Models by file and settings."""

    def __init__(self, start: Start | None = None) -> None:
        self._start = start
        self._lock = threading.Lock()
        self._models: WeakValueDictionary[tuple[Path, Settings], LocalModel] = WeakValueDictionary()

    def model(self, weights: Path, settings: Settings) -> LocalModel:
        """The model of a file. It is not loaded before it is asked."""
        with self._lock:
            model = self._models.get((weights, settings))
            if model is None:
                model = LocalModel(weights, settings, self._start)
                self._models[weights, settings] = model
            return model

    def close(self) -> None:
        """Free all memory. LMs of these models cannot be asked again; new ones load anew."""
        with self._lock:
            models = list(self._models.values())
            self._models.clear()
        for model in models:
            model.close()


@cache
def process_pool() -> Pool:
    """The pool of this process."""
    return Pool()
