"""The probes of the wall: code in a sandbox reaches nothing of the host, tried with a real port, file and marker."""

import contextlib
import os
import socket
import sys
import time

from runtime.sandbox.probe import Bench

_SECRET = "violet-kettle-9041"


def network(bench: Bench) -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        for code in (
            f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 1)",
            f"import urllib.request\nurllib.request.urlopen('http://127.0.0.1:{port}', timeout=1)",
            f"import js\nawait js.fetch('http://127.0.0.1:{port}')",
            f"from pyodide.http import open_url\nopen_url('http://127.0.0.1:{port}')",
        ):
            bench.run(code)
        time.sleep(0.1)
        with contextlib.suppress(BlockingIOError):
            server.accept()[0].close()
            bench.check(False, "it connected to a port of the host")
    return ""


def files(bench: Bench) -> str:
    (bench.folder / "secret").write_text(_SECRET, encoding="utf-8")
    path, new = str(bench.folder / "secret"), bench.folder / "new"
    for code in (
        f"print(open({path!r}).read())",
        f"import pathlib\nprint(pathlib.Path({path!r}).read_text())",
        f"import os\nprint(os.listdir({str(bench.folder)!r}), {_SECRET!r} if os.path.exists({path!r}) else '')",
        f"import js\nprint(js.Deno.readTextFileSync({path!r}))",
        f"print(open('/proc/self/root' + {path!r}).read())",
        f"open({str(new)!r}, 'w').write('x')",
        f"import js\njs.Deno.writeTextFileSync({str(new)!r}, 'x')",
    ):
        bench.check(_SECRET not in str(bench.run(code)), f"read by {code!r:.60}")
    bench.check(not new.exists(), "it wrote a file on the host")
    return ""


def environment(bench: Bench) -> str:
    for code in (
        "import os\nprint(os.environ)",
        "import os\nprint(os.getenv('PATH'))",
        "import js\nprint(js.Deno.env.toObject())",
        "print(open('/proc/self/environ').read())",
    ):
        bench.check(os.environ["PATH"] not in str(bench.run(code)), f"read by {code!r:.60}")
    return ""


def subprocess(bench: Bench) -> str:
    marker = bench.folder / "marker"
    touch = f"open({str(marker)!r}, 'w')"
    for code in (
        f"import os\nos.system({f'touch {marker}'!r})",
        f"import subprocess\nsubprocess.run(['touch', {str(marker)!r}])",
        f"import os\nif os.fork() == 0: {touch}",
        f"import js\njs.Deno.Command.new('touch', {{'args': [{str(marker)!r}]}}).outputSync()",
        f"import multiprocessing\nmultiprocessing.Process(target={touch[:4]}, args=({str(marker)!r}, 'w')).start()",
    ):
        bench.run(code)
        bench.check(not marker.exists(), f"run by {code!r:.60}")
    return ""


class _Host:
    """What a careless tool might return."""

    secret = _SECRET

    def tell(self) -> str:
        return self.secret


def tool_results(bench: Bench) -> str:
    reached: list[str] = []
    given = {
        "object": _Host(),
        "class": _Host,
        "module": sys,
        "function": lambda: reached.append(_SECRET),
    }
    bench.tool(give=lambda what: given[what])
    for what in given:
        bench.run(f"got = give(what={what!r})")
        for use in ("got()", "print(got.secret)", "print(got.tell())", "print(got.modules)"):
            bench.check(_SECRET not in str(bench.run(use)), f"{what}: {use}")
    for use in ("give.__globals__", "give.__wrapped__", "give.__closure__", "give.__self__"):
        bench.check(_SECRET not in str(bench.run(f"print({use})")), use)
    bench.check(not reached, "a function that a tool returned was called on the host")
    bench.check_next_cell()
    return ""
