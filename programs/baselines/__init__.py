"""Baselines: the usual ways to answer over a text, as programs, so that a comparison compares control flow."""

from programs.baselines.cot import ChainOfThought
from programs.baselines.direct import Direct
from programs.baselines.map_reduce import MapReduce
from programs.baselines.plan_execute import PlanExecute
from programs.baselines.react import ReAct
from programs.baselines.retrieve import Retrieve

__all__ = ["ChainOfThought", "Direct", "MapReduce", "PlanExecute", "ReAct", "Retrieve"]
