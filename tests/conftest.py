"""What holds for every test: no network but loopback, DSPy as if freshly imported, no traces in the user's home."""

import copy
import importlib
import ipaddress
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dspy
import hypothesis
import pytest
from dspy.clients import base_lm

hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")

MEMORY = Path("/dev/shm")
ROOM = 2 << 30  # bytes; the suite writes less than half of it


def pytest_configure() -> None:
    """Temporary files lie in memory where there is room, and Ctrl-C works.

    Every commit of a run waits for the disk, and the suite makes some hundred thousand. Tests kill processes, not
    machines: what a process has written to memory outlives it just as well. PYTEST_DEBUG_TEMPROOT names another place.

    A shell starts what runs in the background with SIGINT ignored: the processes that tests interrupt would inherit it.
    """
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    connect, connect_ex, getaddrinfo = (
        socket.socket.connect,
        socket.socket.connect_ex,
        socket.getaddrinfo,
    )

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _check(self, address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _check(self, address)
        return connect_ex(self, address)

    def guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host is not None and not _is_loopback(host):
            raise AssertionError(f"a test looked up {host!r}: no test reaches a network")
        return getaddrinfo(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)


def _check(connecting: socket.socket, address: Any) -> None:
    if connecting.family != socket.AF_UNIX and not _is_loopback(address[0]):
        raise AssertionError(f"a test connected to {address!r}: no test reaches a network")


def _is_loopback(host: str | bytes) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


@pytest.fixture(autouse=True)
def _fresh_dspy() -> Iterator[None]:
    # By name: the package has an attribute `settings` too, which is not the module.
    dspy_settings = importlib.import_module("dspy.dsp.utils.settings")
    dspy.configure_cache(enable_disk_cache=False)
    yield
    dspy_settings.main_thread_config.clear()
    dspy_settings.main_thread_config.update(copy.deepcopy(dspy_settings.DEFAULT_CONFIG))
    vars(dspy_settings).update(config_owner_thread_id=None, config_owner_async_task=None)
    base_lm.GLOBAL_HISTORY.clear()


@pytest.fixture(scope="session")
def _stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stores")


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, _stores: Path) -> None:
    """No keys and no settings of the developer; a store of the test's own; price tables from the package."""
    for name in list(os.environ):
        if name.startswith("SPANTREE_") or name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SPANTREE_STORE", tempfile.mkdtemp(dir=_stores))
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "true")
