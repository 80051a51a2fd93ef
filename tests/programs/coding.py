"""A question over one log, and what a model that writes code says to it."""

from typing import Any

from programs.rlm import RLM
from runtime.models.scripted import Reply
from runtime.observations import CellRan
from tests.programs.acting import cell, cells

LOG = "".join(f"2026-03-02 08:{minute:02d}:00 INFO heartbeat {minute}\n" for minute in range(40))


FILES = {"gate.log": LOG + "2026-03-02 09:00:00 ERROR gate 7 was left open by Mara\n"}


ASKED = "Who left gate 7 open?"


LOOK = cell('hits = search("gate 7")["hits"]\nprint(hits)')


SUBMIT = cell(
    'SUBMIT(answer="Mara left gate 7 open.", claims=[{"text": "Mara left gate 7 open.", '
    '"evidence": [{"span_id": hits[0]["span_id"], "quote": "gate 7 was left open by Mara"}]}])'
)


def program(lab: Any, model: Any, **settings: Any) -> RLM:
    return lab.program(model, of=RLM, action_space="repl", **settings)


def asked(
    lab: Any,
    *said: Any,
    files: Any = FILES,
    question: str = ASKED,
    engine: Any = None,
    **settings: Any,
) -> Any:
    model = engine or lab.model(ReplAction=cells(*said), SubQuery=Reply({"reply": "a reply"}))
    settings = {"action_space": "repl", **settings}
    return lab.ask(model, lab.corpus(files), question, of=RLM, **settings)


def cells_of(ran: Any) -> list[CellRan]:
    payloads = (each.observation.payload for each in ran.state.frames["root"].steps)
    return [each for each in payloads if isinstance(each, CellRan)]
