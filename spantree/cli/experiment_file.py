"""Experiment file: TOML as somebody wrote it, and what is wrong with it: in which line, and what may stand there.

No secret may stand in one: such a file is shared, and a copy of it is kept with the results.
"""

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from runtime.errors import UserError
from spantree.cli.experiment_keys import KEYS, KINDS, Kind, ProgramKeys

SUFFIX = ".toml"

_SECRET = re.compile(
    r"(api_?keys?|(^|_)(keys?|secrets?|passwords?|passwd|pwd|token|credentials?|auth|authorization|bearer))$"
)
_SECRET_VALUE = re.compile(
    r"://[^/@\s]+@|[?&](api[_-]?)?(key|token|secret)=|\bBearer\s+\S{8,}"
    r"|\b(sk-|xai-|hf_|gh[opsu]_|AIza|AKIA)[\w-]{12,}"
)
_ENVIRONMENT = "take it out, and set it in the environment, as OPENAI_API_KEY"
_MUST_BE = {
    "string_type": "a text in quotes",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a number",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "greater_than_equal": "at least {ge}",
}

Where = Sequence[str]
"""The key of a value: those of its tables, then its own."""


def read_text(path: Path) -> str:
    """The text of an experiment file. Raises UserError if there is none that can be read."""
    if path.suffix != SUFFIX:
        raise UserError(
            f"{path} is no experiment file: its name does not end in {SUFFIX}",
            hint="its results lie in a folder of the same name without it",
        )
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise UserError(
            f"there is no file {path}", hint="name an experiment file, as experiments/x.toml"
        ) from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8", hint="save it as UTF-8") from error


def parsed(text: str, name: Path) -> ProgramKeys:
    """What an experiment file says. Raises UserError that tells the lines that are wrong.

    `name` is what the file is called in it.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(
            f"{name} is not TOML: {error}", hint='for example: kind = "evaluation"'
        ) from error
    _check_secrets(content, text, name)
    keys = KEYS[_kind(content, text, name)]
    try:
        return keys.model_validate(content)
    except ValidationError as error:
        raise _mistakes(error, keys, text, name) from error


def line_of(text: str, where: Where) -> int | None:
    """The line in which a key or table begins, counted from 1; None where it cannot be found.

    It is the line behind the longest beginning of the text that is TOML, and does not have the key yet.
    """
    lines, begins = text.replace("\r\n", "\n").split("\n"), 1
    for number in range(1, len(lines) + 1):
        try:
            found = tomllib.loads("\n".join(lines[:number]))
        except tomllib.TOMLDecodeError:
            continue
        if _has(found, where):
            return begins
        begins = number + 1
    return None


def _has(content: Any, where: Where) -> bool:
    if not where:
        return True
    if isinstance(content, list):
        return any(_has(each, where) for each in content)
    return isinstance(content, dict) and where[0] in content and _has(content[where[0]], where[1:])


def _at(text: str, where: Where, name: Path) -> str:
    line = line_of(text, where)
    return f"{name}, line {line}: " if line else f"{name}: "


def _kind(content: dict[str, Any], text: str, name: Path) -> Kind:
    """The kind that a file says it is. Raises UserError."""
    said = content.get("kind")
    for kind in KINDS:
        if said == kind:
            return kind
    named = _at(text, ("kind",), name) + f"there is no kind of experiment {said!r}"
    kinds = ", ".join(f'kind = "{each}"' for each in KINDS)
    raise UserError(
        f"{name} does not say its kind" if said is None else named, hint=f"one of: {kinds}"
    )


def _check_secrets(content: dict[str, Any], text: str, name: Path) -> None:
    for where, value in _values(content):
        key = where[-1].lower().replace("-", "_")
        if _SECRET.search(key) or (isinstance(value, str) and _SECRET_VALUE.search(value)):
            raise UserError(
                f"{_at(text, where, name)}{'.'.join(where)} looks like a secret,"
                " which must not stand in an experiment file",
                hint=_ENVIRONMENT,
            )


def _values(content: Any, where: Where = ()) -> Iterator[tuple[Where, Any]]:
    """All keys with what they hold, and the items of lists under the key of their list."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield (*where, key), value
            yield from _values(value, (*where, key))
    elif isinstance(content, list):
        for value in content:
            yield where, value
            yield from _values(value, where)


def _mistakes(error: ValidationError, keys: type[ProgramKeys], text: str, name: Path) -> UserError:
    """One message for all that is wrong, in the order of the file."""
    told: list[tuple[int, str]] = []
    hint = ""
    for each in error.errors(include_url=False, include_context=True):
        where = tuple(part for part in each["loc"] if isinstance(part, str))
        line = line_of(text, where)
        told.append((line or 0, _told(each["type"], where, each)))
        if each["type"] in ("extra_forbidden", "missing"):
            hint = hint or _known(where, keys)
    lines = [f"line {line}: {message}" if line else message for line, message in sorted(told)]
    if len(lines) == 1:
        at = ", " if lines[0].startswith("line ") else ": "
        return UserError(f"{name}{at}{lines[0]}", hint=hint)
    return UserError("\n  ".join([f"{name} has {len(lines)} mistakes:", *lines]), hint=hint)


def _told(kind: str, where: Where, error: Mapping[str, Any]) -> str:
    key = ".".join(where)
    if kind == "extra_forbidden":
        return f"there is no key {key!r}"
    if kind == "missing":
        return f"the key {key!r} is missing"
    if kind in _MUST_BE:
        return f"{key} must be {_MUST_BE[kind].format(**error.get('ctx', {}))}"
    return f"{key}: {error['msg']}"


def _known(where: Where, keys: type[ProgramKeys]) -> str:
    """The keys that may stand where one is unknown, and the one that may be meant."""
    table = keys.model_fields["set"].annotation if len(where) > 1 else keys
    names = [field.alias or name for name, field in table.model_fields.items()]  # type: ignore[union-attr]
    near = difflib.get_close_matches(where[-1], names, n=1)
    meant = f"did you mean {near[0]!r}? " if near and near[0] != where[-1] else ""
    of = f"keys of {'.'.join(where[:-1])}" if len(where) > 1 else "keys"
    return f"{meant}{of}: {', '.join(names)}"
