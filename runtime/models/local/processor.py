"""Whether this machine can run the bindings: their wheels for x86 need AVX2, and die without it on import."""

import platform
from pathlib import Path

from runtime.errors import ModelError

CPUINFO = Path("/proc/cpuinfo")
_X86 = frozenset(("x86_64", "amd64"))


def check_processor(machine: str | None = None, cpuinfo: Path = CPUINFO) -> None:
    """Raise ModelError on an x86 processor without AVX2. Where nothing is known (no such file), nothing is raised."""
    if (machine or platform.machine()).lower() not in _X86 or not cpuinfo.is_file():
        return
    flags = _flags(cpuinfo.read_text(encoding="utf-8", errors="replace"))
    if flags and "avx2" not in flags:
        raise ModelError(
            "this processor has no AVX2, which the bindings of local models need",
            hint="use another machine, or a server of your own: --model openai/NAME --api-base URL",
        )


def _flags(text: str) -> frozenset[str]:
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return frozenset(value.split())
    return frozenset()
