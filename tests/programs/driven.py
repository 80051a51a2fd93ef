"""A question over two files, and what a model that calls tools says to it."""

from typing import Any

from programs.rlm import RLM
from tests.programs.acting import output, submit, turns

LOG = "".join(f"2026-03-02 08:{minute:02d}:00 INFO heartbeat {minute}\n" for minute in range(40))


FILES = {
    "gate.log": LOG + "2026-03-02 09:00:00 ERROR gate 7 was left open by Mara\n",
    "notes.md": "# Notes\n\nThe gate is closed at night.\n",
}


ASKED = "Who left gate 7 open?"


def found(request: Any) -> dict[str, Any]:
    """Submit the first hit of the last search."""
    hit = output(request)["hits"][0]
    quote = "gate 7 was left open by Mara"
    return submit("Mara left gate 7 open.", ("Mara left gate 7 open.", hit["span_id"], quote))


def asked(lab: Any, *said: Any, files: Any = FILES, question: str = ASKED, **settings: Any) -> Any:
    model = lab.model(Act=turns(*said))
    return lab.ask(model, lab.corpus(files), question, of=RLM, **settings)
