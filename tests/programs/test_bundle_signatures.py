"""The hash of a signature follows what a model is asked for, and not the words in which it is asked."""

from typing import Any, Literal

import dspy
import pytest
from pydantic import create_model

from programs.bundle_signatures import signature_hashes
from programs.catalog import PROGRAMS


def hashed(signature: Any) -> str:
    module = dspy.Module()
    module.ask = dspy.Predict(signature)  # type: ignore[attr-defined]
    return signature_hashes(module)["ask"]


def asked(output: Any, desc: str = "what it is") -> Any:
    fields = {"text": (str, dspy.InputField()), "found": (output, dspy.OutputField(desc=desc))}
    return dspy.Signature(fields, "Find it.")  # type: ignore[arg-type]


ITEM = create_model("Item", name=(str, ...))
BASE = hashed(asked(list[ITEM]))


def test_instructions_make_no_difference() -> None:
    assert hashed(asked(list[ITEM]).with_instructions("Look for it.")) == BASE


@pytest.mark.parametrize(
    "other",
    [
        asked(list[ITEM], desc="something else"),
        asked(list[create_model("Item", name=(int, ...))]),
        asked(list[create_model("Item", name=(str, ...), more=(str, ...))]),
        asked(list[create_model("Other", name=(str, ...))]),
        asked(ITEM),
        asked(list[ITEM] | None),
        asked(Literal["a", "b"]),
        asked(list[ITEM]).append("more", dspy.OutputField(), str),
        asked(list[ITEM]).delete("text").append("text", dspy.OutputField(), str),
    ],
)
def test_fields_types_and_descriptions_make_one(other: Any) -> None:
    """Also a field that is added to a model within a list: the name of the type is the same then."""
    assert hashed(other) != BASE


@pytest.mark.parametrize("name", PROGRAMS)
def test_hashes_do_not_depend_on_the_instance(name: str) -> None:
    first, second = (signature_hashes(PROGRAMS[name].build({})) for _ in range(2))
    assert first == second
    assert "0x" not in str(first)
