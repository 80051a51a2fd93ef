"""The conformance suite: what a sandbox promises, as probes that run on any interpreter.

The attacks are finite: they show a missing limit without taking the machine with them.
"""

import os
import signal
import time

from runtime.errors import LimitReached
from runtime.sandbox import wall
from runtime.sandbox.guarded import guarded
from runtime.sandbox.probe import (
    TOLERANCE_MB,
    TOLERANCE_SECONDS,
    Bench,
    Broken,
    Probe,
    submitted,
)


def _infinite_loop(bench: Bench) -> str:
    return bench.check_failed_in_time("while True: pass")


def _long_operation(bench: Bench) -> str:
    return bench.check_failed_in_time("n = 10 ** 10 ** 8")


def _regex(bench: Bench) -> str:
    told = []
    allowed = bench.limits.sandbox_seconds + TOLERANCE_SECONDS
    for pattern, length in ((r"(a+)+$", 40), (r"(?=(a+))(\1)+$", 100_000)):
        bench.run(f"import re\nre.search({pattern!r}, 'a' * {length} + 'b')")
        used, ending = bench.last.seconds_in_sandbox, "stopped" if bench.last.error else "done"
        bench.check(used <= allowed, f"{used:.1f} s")
        bench.check_next_cell()
        told.append(f"{ending} after {used:.2f} s")
    return ", ".join(told)


def _waiting(bench: Bench) -> str:
    bench.tool(slow=lambda: time.sleep(bench.limits.sandbox_seconds + 0.5))
    result = bench.run("slow()\nprint('awake')")
    bench.check("awake" in str(result), f"{result!r:.80}")
    used = bench.last.seconds_in_sandbox
    bench.check(used < bench.limits.sandbox_seconds, f"{used:.2f} s counted")
    return f"{used:.2f} s counted"


def _memory_bomb(bench: Bench) -> str:
    cap = bench.limits.sandbox_memory_mb
    with bench.host_memory_within(TOLERANCE_MB):
        result = bench.run(
            f"kept = []\nfor _ in range({4 * cap}): kept.append(bytes(1 << 20))\nprint('taken whole')"
        )
    bench.check("taken whole" not in str(result), f"{4 * cap} MB given where {cap} are allowed")
    ending = "reset" if bench.last.reset else "an error, state kept"
    bench.check_next_cell()
    return ending


def _output_bomb(bench: Bench) -> str:
    with bench.host_memory_within(TOLERANCE_MB):
        result = bench.run("for _ in range(300): print('x' * 1_000_000)")
    cap = bench.limits.sandbox_output_chars
    bench.check(len(str(result)) <= cap + 500, f"{len(str(result)):,} characters came back")
    bench.check_next_cell()
    return f"{bench.cells[-2].seconds_in_sandbox:.2f} s"


def _value_bomb(bench: Bench) -> str:
    """A value that is small inside and has 2**40 leaves when it is written out."""
    bench.tool(take=lambda value: None)
    grow = "x = ['leaf']\nfor _ in range(40): x = [x, x]\n"
    with bench.host_memory_within(TOLERANCE_MB):
        for use in ("x", "take(value=x)", "SUBMIT(answer=x)", "raise ValueError(str(x))"):
            bench.run(grow + use)
            over = bench.last.seconds_in_sandbox - bench.limits.sandbox_seconds
            bench.check(over <= TOLERANCE_SECONDS, f"{use}: {over:.1f} s over the limit")
            bench.check_next_cell()
    return ""


def _recursion(bench: Bench) -> str:
    result = bench.run(
        "import sys\n"
        "try: sys.setrecursionlimit(10 ** 9)\n"
        "except Exception: pass\n"
        "def down(n): return down(n + 1)\n"
        "down(0)"
    )
    bench.check(bench.last.error != "", f"{result!r:.80}")
    bench.check_next_cell()
    return "reset" if bench.cells[-2].reset else "an error, state kept"


def _call_flood(bench: Bench) -> str:
    made: list[int] = []
    bench.tool(tick=lambda: made.append(1))
    cap = bench.limits.sandbox_suspensions
    bench.run(f"for _ in range({3 * cap}):\n  try: tick()\n  except Exception as e: why = str(e)")
    bench.check(len(made) <= cap, f"{len(made)} calls reached the host")
    bench.check_next_cell()
    return f"{len(made)} of {3 * cap}"


_ODD_ERRORS = (
    "x = {}\nx[:3]",
    "raise ValueError({1, 2}, b'\\xff')",
    "b'\\xff'.decode()",
    "{}[b'k']",
    "raise KeyError(float('nan'))",
    "raise ValueError(object)",
)


def _odd_errors(bench: Bench) -> str:
    for code in _ODD_ERRORS:
        result = bench.run(f"keep = 5\n{code}")
        bench.check(bench.last.error != "", f"{code!r} gave {result!r:.60}")
        lost = bench.last.reset
        bench.check_next_cell()
        bench.check(not lost, f"{code!r} costs the session (told; the next cell works)")
    return ""


def _state(bench: Bench) -> str:
    bench.run("kept = 5\ndef double(n): return 2 * n\n1 / 0")
    bench.check("ZeroDivision" in bench.last.error, bench.last.error)
    result = bench.run("print(double(kept))")
    bench.check(str(result).strip() == "10", f"{result!r:.80}")
    return ""


def _surrogates(bench: Bench) -> str:
    bench.tool(give=lambda: "t\udc80", take=lambda text: text.encode() and None)
    for code in ("print(text, len(text))", "print('\ud800')", "print('\\ud800')", "print(give())"):
        result = bench.run(code, text="a\ud800b")
        str(result).encode()
        bench.last.error.encode()
        bench.check_next_cell()
    bench.run("take(text='\\ud800' + text)", text="\udfff")
    result = bench.run("SUBMIT(answer='\\ud800')")
    str(getattr(result, "output", result)).encode()
    bench.check_next_cell()
    return "replaced by U+FFFD"


def _text(bench: Bench) -> str:
    text = "nul \x00 crlf \r\n cr \r ff \f ls \u2028 nel \x85 bom \ufeff astral \U0001f600 end"
    heard: list[str] = []
    bench.tool(take=heard.append, give=lambda: text)
    bench.sandbox.tools["take"] = lambda text: heard.append(text)
    bench.run("take(text=text)\ntake(text=give())", text=text)
    bench.check(heard == [text, text], f"{heard!r:.100}")
    result = bench.run("print(len(text), text == give())\nprint('<' + text + '>')", text=text)
    bench.check(f"{len(text)} True\n<{text}>" in str(result), f"output {result!r:.100}")
    final = bench.run("SUBMIT(answer=text)", text=text)
    bench.check(submitted(final) and final.output == {"answer": text}, f"answer {final!r:.100}")
    return ""


def _redefined_submit(bench: Bench) -> str:
    bench.run("def SUBMIT(*args, **kwargs): return 'mine'")
    result = bench.run("SUBMIT(answer='x')")
    bench.check(submitted(result), f"a later SUBMIT gives {result!r:.60}")
    return ""


def _inputs(bench: Bench) -> str:
    bench.run("text = text[:1]\nprint(text)", text="whole")
    result = bench.run("print(text)", text="whole")
    bench.check(str(result).strip() == "whole", f"{result!r:.60}")
    return ""


def _unseen(bench: Bench) -> str:
    bench.tool(look=lambda: "found")
    for code in (
        "x = look()\nSUBMIT(answer=x)",
        "print(1)\nSUBMIT(answer='a')",
        "show = print\nshow(1)\nSUBMIT(answer='a')",
    ):
        result = bench.run(code)
        bench.check(not submitted(result), f"accepted: {code!r}")
    bench.check(submitted(bench.run("SUBMIT(answer='a')")), "the cell of its own is not accepted")
    return ""


def _dead_worker(bench: Bench) -> str:
    pid = bench.sandbox.worker_pid
    if pid is None:
        raise Broken("it does not say which process is its worker")
    os.kill(pid, signal.SIGKILL)
    time.sleep(0.05)
    bench.run("print('lost')")
    bench.check(bench.last.reset, "the loss went unnoticed")
    bench.check_next_cell()
    return ""


def _repeatable(bench: Bench) -> str:
    code = (
        "import random, time, datetime\n"
        "print(random.random(), time.time(), datetime.datetime.now(), list({'a', 'b', 'c', 'd'}), hash('a'))"
    )
    other = guarded(bench.factory, bench.limits)()
    try:
        first, second = bench.run(code), other.execute(code)
    finally:
        other.shutdown()
    bench.check(bool(first) and first == second, "another sandbox gives another result")
    return ""


def _end_of_the_run(bench: Bench) -> str:
    def spend() -> None:
        raise LimitReached("calls", 1, 1)

    bench.tool(spend=spend)
    try:
        result = bench.run("try: spend()\nexcept BaseException: pass\nprint('went on')")
    except LimitReached:
        bench.check_next_cell()
        return ""
    bench.check(False, f"hidden by the code: {result!r:.60}")
    return ""


def _sub_agents(bench: Bench) -> str:
    result = bench.run("import dspy\nprint(dspy.Predict)")
    bench.check(bench.last.error != "", f"{result!r:.60}")
    return ""


PROBES = (
    Probe(
        "an infinite loop ends",
        "at its limit plus 1 s at most; the next cell works",
        _infinite_loop,
    ),
    Probe(
        "one long operation ends",
        "at its limit plus 1 s at most; the next cell works",
        _long_operation,
    ),
    Probe(
        "a catastrophic regex ends",
        "at the limit plus 1 s at most, if it is not simply fast",
        _regex,
    ),
    Probe(
        "waiting for a tool costs no time", "the time of a tool is not time of the cell", _waiting
    ),
    Probe("a memory bomb is held", "within the cap; the host grows by 64 MB at most", _memory_bomb),
    Probe(
        "an output bomb is held", "300 MB printed; the host grows by 64 MB at most", _output_bomb
    ),
    Probe(
        "a value bomb is held",
        "2**40 leaves as a value, an argument, an answer, an error",
        _value_bomb,
    ),
    Probe("deep recursion is an error", "and the next cell works", _recursion),
    Probe(
        "a flood of calls is held",
        "no more calls a cell than the limit reach the host",
        _call_flood,
    ),
    Probe(
        "odd exceptions are observations", "arguments that are not JSON cost no state", _odd_errors
    ),
    Probe("an exception costs no state", "what was defined before it is kept", _state),
    Probe(
        "lone surrogates do no harm",
        "in code, inputs, results, arguments, output, answer",
        _surrogates,
    ),
    Probe("text is exact both ways", "NUL, CRLF, CR, U+2028, BOM and astral characters", _text),
    Probe("no network", "not even a port of the same machine", wall.network),
    Probe("no host files", "neither read nor written", wall.files),
    Probe("no environment", "no variable of the host is seen", wall.environment),
    Probe("no subprocess", "no program of the host is run", wall.subprocess),
    Probe(
        "no way out through a tool's result", "objects of the host do not cross", wall.tool_results
    ),
    Probe(
        "SUBMIT cannot be redefined for later",
        "a later cell submits all the same",
        _redefined_submit,
    ),
    Probe("inputs cannot be overwritten", "each cell sees them as they were given", _inputs),
    Probe(
        "no answer with unseen output", "a final cell that printed or called is refused", _unseen
    ),
    Probe("a dead worker is replaced", "the loss is told, and the next cell works", _dead_worker),
    Probe(
        "the same cell, the same result",
        "clock, randomness and order are pinned, for replay",
        _repeatable,
    ),
    Probe(
        "the end of a run is not hidden",
        "no except in the code hides a reached limit",
        _end_of_the_run,
    ),
    Probe("no dspy sub-agents", "nothing in the sandbox spends outside the budget", _sub_agents),
)
