"""A real browser, driven over the DevTools protocol through two pipes. What it asks for and complains of is kept."""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 60.0


def chromium_path() -> str | None:
    """Where a browser is, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Tab:
    """One page of the browser."""

    def __init__(self, write: int, read: int) -> None:
        self._write = write
        self._read = read
        self._buffer = b""
        self._sent = 0
        self._session = ""
        self.requests: list[str] = []
        self.complaints: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and wait for its result."""
        self._sent += 1
        message: dict[str, Any] = {"id": self._sent, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == self._sent:
                assert "error" not in told, told
                return told["result"]

    def open(self, address: str) -> None:
        """Load a page and wait until it is there."""
        self.call("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete'")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        asked = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        found = self.call("Runtime.evaluate", **asked)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until an expression holds in the page."""
        until = time.monotonic() + PATIENCE
        while not self.evaluate(expression):
            assert time.monotonic() < until, f"never came true: {expression}"
            time.sleep(0.02)

    def follow(self, fragment: str) -> None:
        """Go to a place of the page, as a link does, and wait until the page has reacted."""
        self.evaluate(
            "new Promise((done) => {"
            f" const to = {json.dumps(fragment)};"
            " if (location.hash === to) return done();"
            " addEventListener('hashchange', () => setTimeout(done), { once: true });"
            " location.hash = to; })"
        )

    def press(self, key: str) -> None:
        """Press a key."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27}
        for kind in ("rawKeyDown", "char", "keyUp"):
            if kind == "char" and key != "Enter":
                continue
            text = {"text": "\r"} if key == "Enter" and kind != "keyUp" else {}
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=codes[key],
                **text,
            )

    def look(self, *, width: int, height: int, dark: bool = False, phone: bool = False) -> None:
        """Take on a size and a color scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, path: Path) -> None:
        """Save what is to be seen."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def _next(self) -> dict[str, Any]:
        """The next message; events are taken down."""
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], PATIENCE)
            assert ready, "the browser does not answer"
            piece = os.read(self._read, 1 << 20)
            assert piece, "the browser is gone"
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\0")
        told = json.loads(line)
        self._take_down(told.get("method", ""), told.get("params", {}))
        return told

    def _take_down(self, method: str, about: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif method == "Log.entryAdded":
            self.complaints.append(about["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str([each.get("value") for each in about["args"]]))
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(about["exceptionDetails"]))


@contextmanager
def browser(path: str, profile: Path) -> Iterator[Callable[[], Tab]]:
    """A browser without a window; each call opens a tab and is used until the next one is opened."""
    (its_read, our_write), (our_read, its_write) = os.pipe(), os.pipe()
    # Clear of 3 and 4, which the browser is about to get.
    high = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 20) for each in (its_read, its_write)]
    for each in (its_read, its_write):
        os.close(each)
    arguments = [
        path,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--hide-scrollbars",
        "--remote-debugging-pipe",
        f"--user-data-dir={profile}",
    ]
    quiet = os.open(os.devnull, os.O_RDWR)
    pid = os.posix_spawn(
        path,
        arguments,
        {**os.environ, "HOME": str(profile)},
        file_actions=[
            (os.POSIX_SPAWN_DUP2, quiet, 1),
            (os.POSIX_SPAWN_DUP2, quiet, 2),
            (os.POSIX_SPAWN_DUP2, high[0], 3),
            (os.POSIX_SPAWN_DUP2, high[1], 4),
        ],
        setpgroup=0,
    )
    for each in (*high, quiet):
        os.close(each)
    try:
        yield lambda: Tab(our_write, our_read)
    finally:
        os.close(our_write)
        os.close(our_read)
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
