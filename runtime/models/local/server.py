"""llama.cpp in this process: one model, one request at a time, in the order in which they were asked.

The bindings open a door for HTTP as soon as they start, and it cannot be left shut. It is a Unix socket whose name is
removed at once, in a folder that only this user can enter, with a key that nobody is told, and with its pages, metrics
and slots turned off; where there are no Unix sockets it is a port of the loopback, with the key.
"""

import importlib
import importlib.util
import os
import secrets
import shutil
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from runtime.errors import ModelError
from runtime.models.local.settings import Settings

PREFIX_CACHE_MIB = 512
"""Memory for prompts seen before, so that two kinds of prompts do not cost each other their prefix."""
MISSING_HINT = "install the extra: pip install 'spantree[local]'"


class ChatServer(Protocol):
    """The part of the bindings that is used: chunks go to `callback`, which stops the reply by returning True."""

    def handle_chat_completions(
        self, body: dict[str, Any], callback: Callable[[dict[str, Any]], bool]
    ) -> Any: ...


Start = Callable[[Path, Settings], ChatServer]


class Refused(Exception):
    """Raised when the server answers with an error. `kind` is its own name for it."""

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind


class Stopped(Exception):
    """Raised when nobody waits for the reply any more."""


@dataclass(frozen=True)
class Completion:
    """A reply as the server counted it. `cached`: tokens of the prompt that it still knew.

    `logprobs`: of each token, as the server tells them; empty where they were not asked for.
    """

    text: str
    finish_reason: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached: int | None = None
    logprobs: tuple[dict[str, Any], ...] = ()


class LocalModel:
    """The model of one file. It is loaded at the first request, and freed when it is closed or nobody holds it."""

    def __init__(self, weights: Path, settings: Settings, start: Start | None = None) -> None:
        self.weights = weights
        self.settings = settings
        self._start = start or start_server
        self._server: ChatServer | None = None
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="local-model")
        self._finalizer = weakref.finalize(self, self._worker.shutdown, False)

    def submit(self, body: dict[str, Any], stop: threading.Event) -> "Future[Completion]":
        """Queue a request. `stop` ends it within a token, or within a batch of the prompt."""
        return self._worker.submit(self._ask, body, stop)

    def close(self) -> None:
        """Free the memory, after the request that is being answered."""
        self._worker.shutdown(wait=True, cancel_futures=True)
        self._server = None

    def _ask(self, body: dict[str, Any], stop: threading.Event) -> Completion:
        if stop.is_set():
            raise Stopped
        if self._server is None:
            self._server = self._start(self.weights, self.settings)
        reply = _Stream(stop)
        answer = self._server.handle_chat_completions(
            {**body, **_STREAMED, "cache_prompt": True}, reply.take
        )
        return reply.completion(answer)


_STREAMED = {"stream": True, "return_progress": True, "stream_options": {"include_usage": True}}


class _Stream:
    """The chunks of a reply, put together."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._text: list[str] = []
        self._logprobs: list[dict[str, Any]] = []
        self._finish = ""
        self._usage: dict[str, Any] = {}
        self._error: dict[str, Any] | None = None

    def take(self, chunk: dict[str, Any]) -> bool:
        self._error = chunk.get("error") or self._error
        self._usage = chunk.get("usage") or self._usage
        for choice in chunk.get("choices") or ():
            said = choice.get("delta", {}).get("content")
            if said:  # not what it thinks aloud, which comes under another name
                self._text.append(said)
                self._logprobs += (choice.get("logprobs") or {}).get("content") or ()
            self._finish = choice.get("finish_reason") or self._finish
        return self._stop.is_set()

    def completion(self, answer: Any) -> Completion:
        error = self._error or (answer.get("error") if isinstance(answer, dict) else None)
        if error:
            raise Refused(str(error.get("message", error)), str(error.get("type", "")))
        if self._stop.is_set():
            raise Stopped
        details = self._usage.get("prompt_tokens_details") or {}
        return Completion(
            text="".join(self._text),
            finish_reason=self._finish,
            input_tokens=self._usage.get("prompt_tokens"),
            output_tokens=self._usage.get("completion_tokens"),
            cached=details.get("cached_tokens"),
            logprobs=tuple(self._logprobs),
        )


def check_bindings() -> None:
    """Raise ModelError unless the extra is installed. It is not imported."""
    try:
        found = importlib.util.find_spec("xllamacpp")
    except ValueError:  # somebody put None in its place
        found = None
    if found is None:
        raise _no_bindings()


def _no_bindings() -> ModelError:
    return ModelError("local models need bindings for llama.cpp", hint=MISSING_HINT)


def start_server(weights: Path, settings: Settings) -> ChatServer:
    """Load the model. Raises ModelError if the bindings are missing or refuse the file."""
    # Threads that wait for work would otherwise spin, and take the cores from whoever shares them.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        bindings: Any = importlib.import_module("xllamacpp")
    except ImportError as error:
        raise _no_bindings() from error
    folder = Path(tempfile.mkdtemp(prefix="spantree-"))  # only this user can enter it
    try:
        return bindings.Server(_parameters(bindings.CommonParams(), weights, settings, folder))
    except RuntimeError as error:
        raise ModelError(
            f"{weights} cannot be loaded: {error}",
            hint="the file may be cut short, need more memory, or be of a kind that is not known",
        ) from error
    finally:
        shutil.rmtree(folder)  # the socket is bound: without its name nobody can reach it


def _parameters(parameters: Any, weights: Path, settings: Settings, folder: Path) -> Any:
    parameters.model.path = str(weights)
    parameters.n_ctx = settings.context
    parameters.n_parallel = 1
    parameters.n_gpu_layers = 0
    parameters.cpuparams.n_threads = settings.cores
    parameters.cpuparams_batch.n_threads = settings.cores
    parameters.cache_ram_mib = PREFIX_CACHE_MIB
    parameters.warmup = False
    parameters.verbosity = -1
    parameters.api_keys = [secrets.token_hex(16)]
    parameters.cors_origins = ""
    parameters.ui = parameters.endpoint_slots = False
    parameters.endpoint_metrics = parameters.endpoint_props = False
    if sys.platform != "win32":
        parameters.hostnames = [str(folder / "door.sock")]
    return parameters
