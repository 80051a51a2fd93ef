"""MapReduce: read every partition, merge what the readers say by code, conclude, in groups where there is much."""

from programs.baselines.fixed import FixedPlan
from programs.planning import conclusion, step
from programs.run import Run
from signatures import Operation, PlannedStep

_REDUCED: dict[str, tuple[str, Operation]] = {
    "count": ("Count the statements of the readers", "count"),
    "timeline": ("Put the statements in the order of time", "timeline"),
    "conflict": ("Compare the statements", "conflicts"),
}
"""By kind of question, what is computed from all statements; claims of other kinds are merged and that is all."""


class MapReduce(FixedPlan):
    """Answers from a reading of every partition. A count is one of what readers report, and told as one: no search is
    made that could confirm it."""

    name = "map_reduce"

    def steps(self, run: Run) -> tuple[str, list[PlannedStep]]:
        """Read everything, compute where the kind of question asks for it, conclude."""
        read = step("s1", "Read every partition", "analyze", query=run.question)
        steps = [read]
        if run.kind in _REDUCED:
            description, operation = _REDUCED[run.kind]
            steps.append(step("s2", description, "compute", targets=["s1"], operation=operation))
        return "Every partition is read.", [*steps, conclusion(f"s{len(steps) + 1}")]
