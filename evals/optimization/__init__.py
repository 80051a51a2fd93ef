"""Optimization: better instructions and demos for a program, searched on questions whose gold is known.

`optimize` drives an optimizer of DSPy; `read_optimization` reads what it came to.
"""

from evals.optimization.candidates import Candidate
from evals.optimization.driver import optimize
from evals.optimization.plan import OPTIMIZERS, Plan
from evals.optimization.progress import Listener, Moment, Spent
from evals.optimization.results import Optimized, read_optimization

__all__ = [
    "OPTIMIZERS",
    "Candidate",
    "Listener",
    "Moment",
    "Optimized",
    "Plan",
    "Spent",
    "optimize",
    "read_optimization",
]
