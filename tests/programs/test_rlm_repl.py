"""RLM in the action space of code: `dspy.RLM` in a sandbox, under the ledger, in the journal, without a way out.

The rows of the field reports that concern it stand in the docstrings.
"""

import asyncio
import os
from pathlib import Path
from typing import Any

import dspy
import pytest

from programs.rlm import RLM
from runtime.errors import RunError, SandboxError
from runtime.events import Accessed, Acted
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.models.scripted import Reply
from runtime.observations import CellRan
from tests.programs.acting import cell, cells, printed

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


def test_a_failing_sub_query_loses_only_itself(lab: Any) -> None:
    """rlm dae8490, dspy V17: one failure in a batch of ten cost the nine paid results."""

    def reply(request: Any) -> Any:
        number = request.inputs["prompt"].split()[-1]
        return Reply(error="invalid") if number == "3" else Reply({"reply": f"reply {number}"})

    seen: list[str] = []

    def then(request: Any) -> Any:
        seen.append(printed(request))
        return LOOK

    batch = cell('for r in llm_query_batched([f"number {n}" for n in range(10)]):\n    print(r)')
    model = lab.model(ReplAction=cells(batch, then, SUBMIT), SubQuery=reply)
    ran = asked(lab, engine=model)
    lines = seen[0].splitlines()
    assert [each for n, each in enumerate(lines) if n != 3] == [
        f"reply {n}" for n in range(10) if n != 3
    ]
    assert "ERROR" in lines[3]
    assert ran.answer.receipt.calls == len(ran.engine.log) == 13


def test_one_ledger_over_root_and_sub_queries(lab: Any) -> None:
    """rlm#123, dspy#9289: what sub-queries spend is counted, and they cannot overspend."""
    batch = cell('rs = llm_query_batched([f"number {n}" for n in range(30)])\nprint(rs)')
    ran = asked(lab, batch, LOOK, SUBMIT, limits=Limits(calls=8))
    assert ran.answer.receipt.calls == len(ran.engine.log) <= 8
    assert ran.answer.outcome == "partial"


def test_a_sub_query_that_is_too_large_is_refused_before_it_is_sent(lab: Any) -> None:
    """rlm#38, dspy#9446: a prompt of a megabyte is told its size and the limit, and costs nothing."""
    seen: list[str] = []

    def then(request: Any) -> Any:
        seen.append(printed(request))
        return LOOK

    big = cell('print(llm_query("x" * 1_000_000))')
    batch = cell('print(llm_query_batched(["y" * 1_000_000, "small"]))')
    ran = asked(lab, big, then, batch, LOOK, SUBMIT)
    assert "1,000,000" in seen[0]
    assert "200,000" in seen[0]
    assert len(ran.asked("SubQuery")) == 1
    assert ran.answer.outcome == "answered"


def test_depth_cannot_be_forged_from_the_sandbox(lab: Any) -> None:
    """nano-rlm#130: the model set RLM_MAX_DEPTH in its environment and started anew as root."""
    forge = cell(
        'import os\nfor name in ("RLM_MAX_DEPTH", "SPANTREE_DEPTH"):\n'
        "    try:\n        os.environ[name] = '99'\n    except Exception as e:\n        print(type(e).__name__)\n"
        "print('done')"
    )
    nested = cell('import dspy\nprint(dspy.RLM("a -> b"))')
    whole = cell('found = subcall("What are the facts?", [])\nprint(len(found["claims"]))')
    files = {f"{n:02d}.txt": f"FACT {n}\n" for n in range(30)}
    ran = asked(
        lab,
        forge,
        nested,
        whole,
        files=files,
        max_turns=3,
        limits=Limits(depth=2, steps_per_frame=40),
    )
    assert ran.answer.receipt.max_depth == 2
    assert "RLM_MAX_DEPTH" not in os.environ
    assert "ModuleNotFoundError" in ran.asked("ReplAction")[2].prompt


def test_a_child_is_worked_by_the_call_that_opens_it(lab: Any) -> None:
    """dspy V: a nested run is under the same ledger, journal and depth as its parent."""
    files = {f"{n:02d}.txt": f"FACT {n}\n" for n in range(30)}
    hand_on = cell('found = subcall("What are the facts?", [])\nprint(len(found["claims"]))')
    all_of_them = cell(
        'SUBMIT(answer="", claims=[{"text": c["text"], "evidence": [{"span_id": c["claim_id"], "quote": ""}]} '
        'for c in found["claims"]])'
    )
    ran = asked(
        lab, hand_on, all_of_them, files=files, question="List all facts.", limits=Limits(depth=2)
    )
    assert ran.answer.outcome == "answered"
    assert len(ran.answer.claims) == 30
    assert len(ran.asked("ReplAction")) == 4
    assert sorted(each.depth for each in ran.state.frames.values()) == [1, 2]


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


def test_the_models_of_the_run_serve_its_sub_queries(lab: Any) -> None:
    """dspy PR#10007: batched sub-queries lost the model of their context."""
    corpus = lab.corpus(FILES)
    root = lab.model(ReplAction=cells(cell('print(llm_query_batched(["a", "b"]))'), LOOK, SUBMIT))
    leaf = lab.model(SubQuery=Reply({"reply": "from the leaf model"}))
    rlm = RLM(action_space="repl", lm=root.lm(), leaf_lm=leaf.lm(), journal=lab.journal)
    rlm(question=ASKED, corpus=corpus)
    assert [each.signature for each in leaf.log] == ["SubQuery", "SubQuery"]
    assert "from the leaf model" in root.log[1].prompt


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


class Broken(Exception):
    """A process that dies, as far as a test can tell."""


FACTS = {f"{n}.txt": f"FACT {n}\n" for n in range(3)}
READ = cell(
    'import random\nimport time\nfound = subcall("What are the facts?", [])\n'
    "print([c['text'] for c in found['claims']], random.random(), time.time())"
)
ASK = cell("print(llm_query_batched(['one', 'two', 'one']))")
ALL = cell(
    'SUBMIT(answer="", claims=[{"text": c["text"], "evidence": [{"span_id": c["claim_id"], "quote": ""}]} '
    'for c in found["claims"]])'
)


def test_a_replay_calls_no_model_again_whatever_call_it_died_in(lab: Any) -> None:
    """langgraph#8039: a run of 8 calls is broken off at each; nothing that was answered is asked again."""
    corpus = lab.corpus(FACTS)
    script = cells(READ, ASK, ALL)
    whole = lab.model(ReplAction=script, SubQuery=Reply({"reply": "well"}))
    expected = asked_with(lab, whole, corpus)
    assert len(whole.log) == 9
    for stop in range(len(whole.log)):
        made = 0

        def dying(request: Any, stop: int = stop) -> Any:
            nonlocal made
            made += 1
            if made == stop + 1:
                raise Broken
            if request.signature == "ReplAction":
                return script(request)
            return (
                Reply({"reply": "well"}) if request.signature == "SubQuery" else lab.facts(request)
            )

        model = lab.model(ReplAction=dying, SubQuery=dying, AnalyzeLeaf=dying)
        with pytest.raises(Broken):
            program(lab, model)(question="List all facts.", corpus=corpus)
        with Journal.open(lab.journal) as journal:
            run_id = journal.run("last").record.run_id
        going_on = lab.model(ReplAction=script, SubQuery=Reply({"reply": "well"}))
        prediction = program(lab, going_on).resume(run_id, corpus)
        ran = lab.ran(prediction, going_on, corpus)
        assert ran.answer.text == expected.answer.text
        answered = [each.key.rpartition("#")[0] for each in ran.calls if each.status == "done"]
        assert len(answered) == len(set(answered)) == len(whole.log)
        acts = [(each.frame_id, each.step.id) for each in ran.events if isinstance(each, Acted)]
        assert len(acts) == len(set(acts))


def asked_with(lab: Any, model: Any, corpus: Any) -> Any:
    return lab.ask(model, corpus, "List all facts.", of=RLM, action_space="repl")


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


def broken_at(lab: Any, script: Any, number: int, corpus: Any, question: str, **models: Any) -> str:
    """The id of a run whose process died when it asked for this cell."""

    def dying(request: Any) -> Any:
        if int(request.inputs["iteration"].split("/")[0]) == number:
            raise Broken
        return script(request)

    with pytest.raises(Broken):
        program(lab, lab.model(ReplAction=dying, **models))(question=question, corpus=corpus)
    with Journal.open(lab.journal) as journal:
        return journal.run("last").record.run_id


def test_a_sub_query_that_failed_is_not_asked_again_by_a_replay(lab: Any) -> None:
    """What code has seen it sees again: another reply could lead it another way."""
    corpus = lab.corpus(FILES)
    batch = cell(
        "rs = llm_query_batched(['one', 'two'])\nif any('ERROR' in r for r in rs):\n    print(budget())"
    )
    script = cells(batch, LOOK, SUBMIT)

    def one_of_them(request: Any) -> Reply:
        failing = "two" in request.inputs["prompt"]
        return Reply(error="invalid") if failing else Reply({"reply": "fine"})

    run_id = broken_at(lab, script, 2, corpus, ASKED, SubQuery=one_of_them)
    going_on = lab.model(ReplAction=script, SubQuery=Reply({"reply": "well"}))
    prediction = program(lab, going_on).resume(run_id, corpus)
    assert prediction.answer.outcome == "answered"
    assert [each.signature for each in going_on.log] == ["ReplAction", "ReplAction"]


def test_an_answer_that_was_given_back_is_given_back_by_a_replay(lab: Any) -> None:
    """A replay knows what was shown later; it must not accept what was refused before that."""
    corpus = lab.corpus({"a.txt": "alpha one\n", "b.txt": "beta two\n"})
    span = corpus.partitions().span_at("b.txt", 0).id

    def saying(text: str) -> dict[str, Any]:
        return cell(
            f'SUBMIT(answer="", claims=[{{"text": "{text}", '
            f'"evidence": [{{"span_id": "{span}", "quote": "beta two"}}]}}])'
        )

    look, later = cell('print(search("beta"))'), cell('print(search("nothing"))')
    early, late = saying("beta is two"), saying("beta two it is")
    script = cells(cell('print(search("alpha"))'), early, look, later, late)
    run_id = broken_at(lab, script, 4, corpus, "What is beta?")
    prediction = program(lab, lab.model(ReplAction=script)).resume(run_id, corpus)
    assert [claim.text for claim in prediction.answer.claims] == ["beta two it is"]


def test_a_limit_that_a_sub_query_meets_is_told(lab: Any) -> None:
    """A limit never looks like success, whoever meets it."""
    ask = cell(
        "try:\n    print(llm_query('x ' * 60000)[:9])\nexcept Exception as e:\n    print('no')"
    )
    ran = asked(lab, ask, LOOK, SUBMIT, limits=Limits(tokens=40_000))
    assert ran.answer.outcome == "partial"
    assert any(each.startswith("limit reached: tokens") for each in ran.answer.warnings)


@pytest.mark.parametrize("calls", [2, 3, 4])
def test_the_last_call_is_for_the_answer(lab: Any, calls: int) -> None:
    """As many calls as are allowed are made; the last one is told that it is."""

    def look_or_submit(request: Any) -> Any:
        last = "SUBMIT now" in request.inputs["iteration"]
        number = request.inputs["iteration"].split("/")[0]
        return SUBMIT if last else cell(f'hits = search("gate 7")["hits"]\nprint({number}, hits)')

    ran = asked(lab, look_or_submit, limits=Limits(calls=calls))
    assert ran.answer.receipt.calls == calls
    assert ran.answer.outcome == "partial"
    assert [claim.text for claim in ran.answer.claims] == ["Mara left gate 7 open."]


def test_a_run_is_resumed_as_it_was_begun_or_not_at_all(lab: Any) -> None:
    corpus = lab.corpus(FILES)
    run_id = broken_at(lab, cells(LOOK, SUBMIT), 2, corpus, ASKED)
    other = lab.model()
    with pytest.raises(RunError) as refused:
        RLM(lm=other.lm(), journal=lab.journal).resume(run_id, corpus)
    assert "repl" in str(refused.value)
    assert refused.value.hint
    assert other.log == []
