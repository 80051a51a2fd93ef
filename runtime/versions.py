"""Versions of this Python and of libraries, as they are noted beside results and bundles."""

import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version


def installed_versions(libraries: Iterable[str]) -> dict[str, str]:
    """The versions by name, Python first; `not installed` where a library is not."""
    return {"python": platform.python_version()} | {each: _version(each) for each in libraries}


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"
