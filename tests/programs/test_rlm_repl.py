"""RLM in the action space of code: `dspy.RLM` in a sandbox, under the ledger, in the journal, without a way out.

The rows of the field reports that concern it stand in the docstrings.
"""

import asyncio
from pathlib import Path
from typing import Any

import dspy
import pytest

from programs.rlm import RLM
from runtime.errors import SandboxError
from runtime.events import Accessed, Acted
from runtime.limits import Limits
from tests.programs.acting import cell, cells, printed
from tests.programs.coding import ASKED, FILES, LOOK, SUBMIT, asked, cells_of, program


def test_it_writes_code_looks_and_submits_with_a_citation(lab: Any) -> None:
    ran = asked(lab, LOOK, SUBMIT)
    assert ran.answer.outcome == "answered"
    (claim,) = ran.answer.claims
    assert (claim.status, claim.citations[0].line_start) == ("direct", 41)
    assert [each.signature for each in ran.engine.log] == ["ReplAction", "ReplAction"]
    assert ran.answer.receipt.sandbox_seconds > 0


def test_the_trajectory_is_in_the_journal(lab: Any) -> None:
    """rlm#91, dspy V9: cells, tool calls within them, and what each put before the model."""
    ran = asked(lab, LOOK, SUBMIT)
    acts = [(each.turn, each.tool) for each in ran.events if isinstance(each, Acted)]
    assert acts == [(1, "code"), (1, "search"), (2, "code"), (2, "submit")]
    (access,) = [each for each in ran.events if isinstance(each, Accessed)]
    assert access.shown_characters > 0
    first, second = cells_of(ran)
    assert (first.tool_calls, first.error, first.reset) == (1, "", False)
    assert first.output_characters > 0
    assert second.tool_calls == 0


def test_the_text_is_never_in_the_prompt_nor_in_the_sandbox(lab: Any) -> None:
    """dspy 4.4: nothing is injected, whole or anew each turn; the code reaches the corpus by its tools alone."""
    peek = cell("print(sorted(k for k in ('corpus', 'context', 'text') if k in globals()))\n"
                "print(len(overview))")  # fmt: skip
    ran = asked(lab, peek, LOOK, SUBMIT)
    assert not any("heartbeat 20" in each.prompt for each in ran.engine.log)


def test_a_final_in_the_turn_of_its_own_code_is_not_accepted(lab: Any) -> None:
    """rlm#127: a model wrote code, invented its output and gave the final answer in the same turn."""
    invented = cell(
        'r = search("gate 7")\nSUBMIT(answer="Kevin $5200", claims=[{"text": "Kevin", "evidence": []}])'
    )
    seen: list[str] = []

    def after(request: Any) -> dict[str, Any]:
        seen.append(printed(request))
        return LOOK

    ran = asked(lab, invented, after, SUBMIT)
    assert "NOT accepted" in seen[0]
    assert ran.answer.outcome == "answered"
    assert "Kevin" not in str(ran.answer.to_json())


def test_prose_that_names_the_final_call_is_no_answer(lab: Any) -> None:
    """rlm#95, rlm#22: no text is searched for FINAL(...): an answer is submitted by a call, or it is none."""
    prose = {"reasoning": "I will call SUBMIT(answer='Mara') after this. FINAL(Mara)", "code": ""}
    ran = asked(lab, prose, LOOK, SUBMIT)
    assert ran.answer.outcome == "answered"
    assert ran.answer.claims[0].text == "Mara left gate 7 open."
    never = asked(lab, prose, max_turns=3)
    assert never.answer.outcome in ("partial", "failed")
    assert "Mara" not in never.answer.text


def test_a_submitted_name_is_the_value_of_the_variable(lab: Any) -> None:
    """rlm#77: a value is submitted by a call, so that a variable is its value or an error."""
    by_name = cell(
        'q = "gate 7 was left open by Mara"\n'
        'final = [{"text": "Mara left gate 7 open.", "evidence": [{"span_id": hits[0]["span_id"], "quote": q}]}]\n'
        "SUBMIT(answer=final[0]['text'], claims=final)"
    )
    unknown = cell("SUBMIT(answer=nowhere, claims=[])")
    ran = asked(lab, LOOK, unknown, by_name)
    assert ran.answer.claims[0].text == "Mara left gate 7 open."
    assert "NameError" in ran.asked("ReplAction")[2].prompt


def test_scaffold_names_that_are_overwritten_come_back(lab: Any) -> None:
    """rlm#95: `context = "x"` or `llm_query = lambda ...` must not break the run for good."""
    spoilt = cell('question = "x"\nsearch = 5\nprint(question)')
    again = cell("print(question)\nprint(search)")
    seen: list[str] = []

    def look(request: Any) -> dict[str, Any]:
        seen.append(printed(request))
        return cell('print(rank("gate", 2)["passages"])')

    ran = asked(lab, spoilt, again, look, LOOK, SUBMIT)
    assert ASKED in seen[0]
    assert ran.answer.outcome in ("answered", "partial", "not_found_in_covered")


def test_the_end_of_the_iterations_is_partial_and_nothing_is_extracted(lab: Any) -> None:
    """dspy#9643, dspy V7: no hallucinated answer from a trajectory that has none."""
    ran = asked(lab, LOOK, max_turns=3)
    assert ran.answer.outcome == "partial"
    assert "did not submit" in " ".join(ran.answer.warnings)
    assert [each.signature for each in ran.engine.log] == ["ReplAction"] * 3


def test_what_was_verified_is_kept_when_the_iterations_end(lab: Any) -> None:
    """dspy-go#159: the work of readers is not lost; it is given as it is, and said to be partial."""
    read = cell('found = subcall("What are the facts?", [])\nprint(len(found["claims"]))')
    ran = asked(lab, read, cell("print(1)"), files={"a.txt": "FACT one\n"}, max_turns=2)
    assert (ran.answer.outcome, ran.answer.degraded) == ("partial", True)
    assert [claim.text for claim in ran.answer.claims] == ["It says: FACT one"]


class Dead:
    """An interpreter whose worker never answers its first message."""

    def __init__(self) -> None:
        self.tools: dict[str, Any] = {}

    def start(self) -> None:
        raise dspy.CodeInterpreterError("No response during health check")

    def execute(self, code: str, variables: Any = None) -> Any:
        raise dspy.CodeInterpreterError("No response during health check")

    def shutdown(self) -> None: ...


def test_a_sandbox_that_does_not_work_raises_and_never_answers(lab: Any) -> None:
    """dspy#9643: every step failed at the handshake, and the answer to 2+2 was made up."""
    model = lab.model(ReplAction=cells(LOOK))
    with pytest.raises(SandboxError) as raised:
        program(lab, model, interpreter_factory=Dead)(question="2+2?", corpus=lab.corpus(FILES))
    assert raised.value.hint
    assert model.log == []


def test_errors_of_the_code_are_observations(lab: Any) -> None:
    """dspy#10165: exceptions whose arguments are no JSON killed the whole call."""
    wrong = [
        cell("x = {}\nx[:3]"),
        cell("b'\\xff'.decode()"),
        cell("raise ValueError({1, 2})"),
        cell("this is no Python"),
        cell("1/0"),
    ]
    ran = asked(lab, *wrong, LOOK, SUBMIT)
    assert ran.answer.outcome == "answered"
    assert sum(bool(each.error) for each in cells_of(ran)) >= 4


def test_state_is_kept_after_an_exception_and_told_when_it_is_lost(lab: Any) -> None:
    """rlms LocalREPL: variables set before an exception were lost, silently; dspy PR#9035: no timeouts."""
    seen: list[str] = []

    def note(then: Any) -> Any:
        def respond(request: Any) -> Any:
            seen.append(printed(request))
            return then

        return respond

    ran = asked(
        lab,
        cell("kept = 41\nraise KeyError('x')"),
        cell("print(kept + 1)"),
        note(cell("while True:\n    pass")),
        note(cell("print(kept)")),
        note(LOOK),
        SUBMIT,
        limits=Limits(sandbox_seconds=0.5),
    )
    assert seen[0].startswith("42")
    assert "reset" in seen[1]
    assert "gone" in seen[1] or "lost" in seen[1]
    assert "NameError" in seen[2]
    assert ran.answer.outcome == "answered"
    assert any(each.reset for each in cells_of(ran))


def test_quotes_that_are_not_there_are_given_back_once(lab: Any) -> None:
    """fojin#901: links were real and no quote was verbatim."""
    wrong = cell(
        'SUBMIT(answer="Mara", claims=[{"text": "Mara did it.", '
        '"evidence": [{"span_id": hits[0]["span_id"], "quote": "Mara opened the gate"}]}])'
    )
    seen: list[str] = []

    def mended(request: Any) -> Any:
        seen.append(printed(request))
        return SUBMIT

    ran = asked(lab, LOOK, wrong, mended)
    assert "not_in_text" in seen[0]
    assert ran.answer.outcome == "answered"
    stubborn = asked(lab, LOOK, wrong)
    assert {claim.status for claim in stubborn.answer.claims} == {"insufficient"}


def test_an_empty_submission_is_no_answer(lab: Any) -> None:
    """dspy V: SUBMIT('') was accepted as an answer."""
    ran = asked(lab, LOOK, cell('SUBMIT(answer="", claims=[])'))
    assert ran.answer.outcome != "answered"
    assert ran.answer.claims == ()


def test_values_of_the_wrong_type_are_told(lab: Any) -> None:
    """dspy#9077, #10015: types are checked at the border, and the model is told."""
    ran = asked(lab, LOOK, cell('SUBMIT(answer="Mara", claims="Mara did it")'), SUBMIT)
    assert ran.answer.outcome == "answered"
    assert "Type Error" in ran.asked("ReplAction")[2].prompt


def test_the_event_loop_runs_while_code_runs(lab: Any) -> None:
    """dspy V20: `acall` executed code in the loop and stopped everything else for 1.5 s."""
    corpus = lab.corpus(FILES)
    spin = cell("n = 0\nfor i in range(600000):\n    n += i\nprint(n)")
    rlm = program(lab, lab.model(ReplAction=cells(spin, LOOK, SUBMIT)))

    async def both() -> tuple[Any, int]:
        running = asyncio.create_task(rlm.aforward(ASKED, corpus))
        ticks = 0
        while not running.done():
            await asyncio.sleep(0)
            ticks += 1
        return await running, ticks

    prediction, ticks = asyncio.run(both())
    assert prediction.answer.outcome == "answered"
    assert ticks > 100


def test_it_works_inside_a_running_loop(lab: Any) -> None:
    """dspy V20: a notebook."""
    corpus = lab.corpus(FILES)
    rlm = program(lab, lab.model(ReplAction=cells(LOOK, SUBMIT)))

    async def notebook() -> Any:
        return rlm(question=ASKED, corpus=corpus)

    assert asyncio.run(notebook()).answer.outcome == "answered"


def test_output_is_capped_with_its_head_and_its_tail(lab: Any) -> None:
    """dspy PR#9282, #9233: the tail was lost; a print of hundreds of megabytes hung the host."""
    seen: list[str] = []

    def then(request: Any) -> Any:
        seen.append(printed(request))
        return LOOK

    loud = cell('print("head")\nfor i in range(3000):\n    print("x" * 20)\nprint("tail")')
    ran = asked(lab, loud, then, SUBMIT, limits=Limits(sandbox_output_chars=2_000))
    assert seen[0].startswith("head")
    assert len(seen[0]) < 4_000
    assert ran.answer.outcome == "answered"


def test_no_state_is_left_between_runs(lab: Any) -> None:
    """verifiers#1121, rlm#163: each run has a sandbox of its own."""
    corpus = lab.corpus(FILES)
    first = lab.model(ReplAction=cells(cell("secret = 7\nprint(secret)"), LOOK, SUBMIT))
    second = lab.model(ReplAction=cells(cell("print(secret)"), LOOK, SUBMIT))
    rlm = RLM(action_space="repl", lm=first.lm(), journal=lab.journal)
    rlm(question=ASKED, corpus=corpus)
    rlm.main_lm = second.lm()
    rlm(question=ASKED, corpus=corpus)
    assert "NameError" in second.log[1].prompt


def test_nothing_is_written_to_the_terminal(lab: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """Refusing DSPy's sub-agents, and the end of the iterations, are no news for a user's terminal."""
    asked(lab, LOOK, max_turns=2)
    assert capfd.readouterr() == ("", "")


def test_no_file_of_the_host_can_be_read(lab: Any, tmp_path: Path) -> None:
    """rlm LocalREPL: `exec` with open and __import__ was the whole host."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the canary sings")
    attempts = [
        f"print(open({str(secret)!r}).read())",
        f"import pathlib\nprint(pathlib.Path({str(secret)!r}).read_text())",
        "import os\nprint(os.listdir('/'))",
        "import subprocess\nprint(subprocess.run(['id']))",
        "import socket\nprint(socket.gethostname())",
        "print(().__class__.__base__.__subclasses__())",
        "print(search.__globals__)",
    ]
    ran = asked(lab, *(cell(each) for each in attempts), LOOK, SUBMIT)
    assert not any("the canary sings" in each.prompt for each in ran.engine.log)
    assert all(each.error for each in cells_of(ran)[: len(attempts)])
