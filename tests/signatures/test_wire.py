"""What a model is asked: flat, complete, ids as references; and told what it must know to answer in that form."""

from typing import Any, get_args, get_origin

import dspy
import pytest
from pydantic import BaseModel

import signatures
from signatures import (
    AffirmSupport,
    AnalyzeLeaf,
    ClassifyQuestion,
    Conclude,
    JudgeSupport,
    Plan,
    Refine,
)

ALL = [ClassifyQuestion, Plan, Refine, AnalyzeLeaf, Conclude, JudgeSupport, AffirmSupport]


def models_of(signature: type[dspy.Signature]) -> list[type[BaseModel]]:
    """The models in the lists of the outputs."""
    found = []
    for field in signature.output_fields.values():
        for each in get_args(field.annotation):
            if isinstance(each, type) and issubclass(each, BaseModel):
                found.append(each)
    return found


@pytest.mark.parametrize("signature", ALL)
def test_outputs_are_flat_and_required(signature: type[dspy.Signature]) -> None:
    """25: a default hides an omission, a dict disables structured output, nesting is refused by providers."""
    for name, field in signature.output_fields.items():
        assert field.is_required(), name
        assert get_origin(field.annotation) is not dict, name
    for model in models_of(signature):
        assert model.model_config.get("extra") == "forbid"
        assert model.model_config.get("frozen")
        for name, field in model.model_fields.items():
            assert field.is_required(), f"{model.__name__}.{name}"
            inner: Any = get_args(field.annotation) or (field.annotation,)
            assert not any(isinstance(each, type) and issubclass(each, BaseModel) for each in inner)


@pytest.mark.parametrize("signature", ALL)
def test_no_model_is_used_twice_in_the_outputs(signature: type[dspy.Signature]) -> None:
    used = models_of(signature)
    assert len(used) == len(set(used))


@pytest.mark.parametrize("signature", [Plan, Refine, AnalyzeLeaf, Conclude])
def test_every_list_of_models_is_counted(signature: type[dspy.Signature]) -> None:
    """A reply that was cut parses as a valid shorter list: the count tells."""
    assert any(name.endswith("_count") for name in signature.output_fields)


@pytest.mark.parametrize("signature", ALL)
def test_what_comes_from_the_corpus_is_said_to_be_data(signature: type[dspy.Signature]) -> None:
    """S15: in the instructions or at the field."""
    described = [
        str((field.json_schema_extra or {}).get("desc", ""))  # type: ignore[union-attr]
        for field in signature.input_fields.values()
    ]
    said = " ".join([signature.instructions, *described])
    assert "data" in said
    assert "instructions" in said or "orders" in said


def test_a_plan_is_asked_for_in_executable_steps() -> None:
    """32, 38, 39, 40, 41: one ordered list of concrete steps that start with a verb, as few as possible."""
    told = " ".join(Plan.instructions.split())
    assert "starts with a verb" in told
    assert "concrete" in told
    assert "as few steps as possible" in told
    assert "never more than `max_steps`" in told
    assert "earlier results are later inputs" in told
    assert [name for name in Plan.output_fields if name == "steps"] == ["steps"]


def test_refinement_branches_by_class_of_error() -> None:
    """26 to 29, 84: each class has its own answer; missing data and unexpected results are reasons to replan."""
    told = " ".join(Refine.instructions.split())
    for name in ("success", "timeout", "permission", "missing_input", "not_found", "truncated"):
        assert f"{name}" in told
    assert "retry the original action" in told


def test_what_is_exported_is_what_is_named() -> None:
    public = {name for name in vars(signatures) if not name.startswith("_")}
    modules = {"act", "claims", "classify", "conclude", "judge", "leaf", "plan", "refine"}
    assert public - modules == set(signatures.__all__)
