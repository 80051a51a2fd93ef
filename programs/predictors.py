"""Predictors: the five questions that the recursive program asks a model, each created once."""

from dataclasses import dataclass

import dspy


@dataclass(frozen=True, slots=True)
class Predictors:
    """The predictors of a program, for the parts of its loop."""

    classify: dspy.Predict
    plan: dspy.Predict
    refine: dspy.Predict
    analyze_leaf: dspy.Predict
    conclude: dspy.Predict
