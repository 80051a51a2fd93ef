"""Auto: the program that lets the question, the text and the budget decide which program answers.

`programs/choice.py` decides in code. The model is asked (as Recursive would ask it) only where the signals of the
question disagree, and what it says holds for the program that answers, too. The route is recorded before anything
else is done, so that a resumed run goes on as it began.
"""

from typing import Any, Unpack

import dspy

from programs.actions import RANKED
from programs.base import Program
from programs.baselines.direct import Direct
from programs.baselines.map_reduce import MapReduce
from programs.baselines.retrieve import Retrieve
from programs.choice import Choice, Reading, Room, Signals, choose, disputed
from programs.classification import classified, scope
from programs.ending import opening, starting
from programs.readings import whole
from programs.recursive import Recursive
from programs.refinement import RefinePolicy
from programs.run import Run
from programs.settings import ProgramSettings
from runtime.events import Event, Routed
from runtime.limits import Limits

_JUDGED = "the model was asked what the question means"


class Auto(Program):
    """Answers a question by the program that suits it: recursive, map_reduce, direct or retrieve.

    `refine` is Recursive's, `window` (characters) that of Direct, `k` that of Retrieve. Predictors that ask the same
    are one predictor, whichever program uses it.
    """

    name = "auto"
    version = 1

    def __init__(
        self,
        *,
        refine: RefinePolicy = "always",
        window: int | None = None,
        k: int = RANKED,
        **settings: Unpack[ProgramSettings],
    ) -> None:
        super().__init__(**settings)
        self.recursive = Recursive(refine=refine, **settings)
        self.map_reduce = MapReduce(**settings)
        self.direct = Direct(window=window, **settings)
        self.retrieve = Retrieve(k=k, **settings)
        _share(self.members())

    def members(self) -> tuple[Program, ...]:
        """The programs that it chooses from."""
        return (self.recursive, self.map_reduce, self.direct, self.retrieve)

    def configuration(self, limits: Limits) -> dict[str, Any]:
        """What is recorded about a run so that it can be resumed the same way: what any of its programs needs."""
        made = super().configuration(limits)
        for member in self.members():
            made = {**member.configuration(limits), **made}
        return made

    async def work(self, run: Run) -> None:
        """Choose a program, unless that is done, and let it answer."""
        if run.state.routed is None:
            run.tell("route", 0, 1)
            await self._route(run)
        routed = run.state.routed
        assert routed is not None
        (chosen,) = (each for each in self.members() if each.name == routed.program)
        await chosen.work(run)

    async def _route(self, run: Run) -> None:
        """Commit the route, with the classification if the model was asked for it."""
        signals = Signals.of(run.question, run.workspace.overview())
        room = _room(run)
        if not disputed(signals, room):
            run.commit(_event(choose(signals.reading, signals, room), signals, room))
            return
        with starting():
            event, warnings = await classified(run, self.recursive.classify)
        reading = Reading(event.question_kind, event.requires_all, event.patterns)
        silent = any(code == "classify_failed" for code, _ in warnings)
        judge = "by the likeliest reading, since the model gave none" if silent else _JUDGED
        choice = choose(reading, signals, room)
        run.commit(_event(choice, signals, room, judge), *opening(run, event, warnings))


def _room(run: Run) -> Room:
    """The text that the question is about, and what there is to read it with."""
    corpus = run.workspace.corpus
    scoped = run.workspace.partitions_of(scope(run.question, corpus))
    sources = {each.source for each in scoped}
    return Room(
        characters=sum(each.characters for each in corpus.sources if each.id in sources),
        partitions=len(scoped),
        window=int(run.record.config["window"]),
        limits=run.limits,
        readings=len(whole(run.workspace, scoped)),
    )


def _event(choice: Choice, signals: Signals, room: Room, judge: str = "") -> Event:
    """The route as it is recorded. `judge` says who settled a dispute."""
    return Routed(
        program=choice.program,
        reason=f"{choice.reason}; signals disagree: {judge}" if judge else choice.reason,
        signals=(*signals.told(), room.told()),
        asked_model=bool(judge),
    )


def _share(programs: tuple[Program, ...]) -> None:
    """One predictor for each signature, so that optimizers see it once and what they learn serves every program."""
    known: dict[tuple[type, Any], dspy.Predict] = {}
    for program in programs:
        for name, value in list(vars(program).items()):
            if isinstance(value, dspy.Predict):
                key = (type(value), value.signature)
                setattr(program, name, known.setdefault(key, value))
