"""The scripted engine: replies, rules, faults, and a log that survives the process."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import dspy
import pytest

from runtime.errors import ModelError
from runtime.models.request import PromptRequest
from runtime.models.scripted import (
    Reply,
    Rule,
    ScriptedEngine,
    ScriptExhausted,
    load_script,
    read_log,
)


def ask(engine: ScriptedEngine, question: str = "why?", adapter: Any = None) -> str:
    with dspy.context(lm=engine.lm(), adapter=adapter or dspy.JSONAdapter(), trace=None):
        return dspy.Predict("question -> answer")(question=question).answer


def test_replies_come_in_order() -> None:
    engine = ScriptedEngine(replies=[{"answer": "a"}, '{"answer": "b"}', Reply({"answer": "c"})])
    assert [ask(engine) for _ in range(3)] == ["a", "b", "c"]


def test_a_dict_takes_the_format_that_is_asked() -> None:
    engine = ScriptedEngine(replies=[{"answer": "a"}])
    assert ask(engine, adapter=dspy.ChatAdapter()) == "a"
    assert engine.log[0].reply.startswith("[[ ## answer ## ]]")


def test_the_first_rule_that_matches_and_is_not_used_up_wins() -> None:
    engine = ScriptedEngine(
        rules=[
            Rule(contains="red", reply={"answer": "once"}, times=1),
            Rule(contains=["red", "blue"], reply={"answer": "both"}),
            Rule(signature="Plan", reply={"answer": "not asked"}),
            Rule(reply={"answer": "any"}),
        ]
    )
    asked = ["red and blue", "red and blue", "red", "green"]
    assert [ask(engine, question) for question in asked] == ["once", "both", "any", "any"]


def test_rules_come_before_the_function_and_the_function_before_the_replies() -> None:
    def respond(request: PromptRequest) -> dict[str, Any]:
        return {"answer": request.inputs["question"].upper()}

    engine = ScriptedEngine(rules=[Rule(reply={"answer": "rule"}, times=1)], respond=respond)
    assert [ask(engine, "what"), ask(engine, "what")] == ["rule", "WHAT"]


def test_running_out_names_the_request() -> None:
    engine = ScriptedEngine(replies=[])
    with pytest.raises(dspy.LMUnexpectedError) as raised:
        ask(engine, "the question")
    assert isinstance(raised.value.__cause__, ScriptExhausted)
    assert "the question" in str(raised.value.__cause__)
    assert [call.state for call in engine.log] == ["failed"]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("timeout", dspy.LMTimeoutError),
        ("rate_limit", dspy.LMRateLimitError),
        ("server", dspy.LMServerError),
        ("transport", dspy.LMTransportError),
        ("auth", dspy.LMAuthError),
        ("billing", dspy.LMBillingError),
        ("context", dspy.ContextWindowExceededError),
        ("invalid", dspy.LMInvalidRequestError),
        ("unknown_model", dspy.LMUnsupportedModelError),
    ],
)
def test_faults_arrive_as_the_errors_of_dspy(fault: Any, error: type[Exception]) -> None:
    engine = ScriptedEngine(replies=[Reply(error=fault, retry_after=2)])
    with pytest.raises(error):
        ask(engine)
    assert (engine.log[0].state, engine.log[0].error) == ("failed", fault)


def test_tokens_are_counted_from_the_characters_unless_they_are_given() -> None:
    engine = ScriptedEngine(
        replies=[{"answer": "x"}, Reply({"answer": "y"}, input_tokens=1000, output_tokens=3)]
    )
    ask(engine)
    ask(engine)
    counted, given = engine.log
    assert counted.input_tokens == pytest.approx(len(counted.prompt) / 4, abs=1)
    assert counted.output_tokens == len('{"answer": "x"}') // 4 + 1
    assert (given.input_tokens, given.output_tokens) == (1000, 3)


def test_the_log_file_survives_a_killed_process(tmp_path: Path) -> None:
    program = """
import os, signal, sys
from pathlib import Path
import dspy
from runtime.models.scripted import ScriptedEngine

def respond(request):
    if request.inputs["question"] == "third":
        os.kill(os.getpid(), signal.SIGKILL)
    return {"answer": "x"}

engine = ScriptedEngine(respond=respond, log_file=Path(sys.argv[1]))
with dspy.context(lm=engine.lm(), adapter=dspy.JSONAdapter()):
    for question in ("first", "second", "third"):
        dspy.Predict("question -> answer")(question=question)
"""
    log = tmp_path / "calls.jsonl"
    killed = subprocess.run(
        [sys.executable, "-c", program, str(log)], cwd=Path(__file__).parents[2], check=False
    )
    assert killed.returncode == -9
    assert [call.state for call in read_log(log)] == ["replied", "replied", "started"]
    ask(ScriptedEngine(replies=[{"answer": "x"}], log_file=log))
    assert [call.state for call in read_log(log)] == ["replied", "replied", "started", "replied"]


def test_a_log_file_is_read_while_a_line_of_it_is_being_written(tmp_path: Path) -> None:
    """Lines are long (a prompt each): a reader beside the process may meet any part of one."""
    log = tmp_path / "calls.jsonl"
    ask(ScriptedEngine(replies=[{"answer": "é"}], log_file=log), "é" * 5000)
    written = log.read_bytes()
    ends = written.index(b"\n") + 1
    for length in (0, 10, written.index("é".encode()) + 1, ends - 1, ends, len(written) - 1):
        log.write_bytes(written[:length])
        assert [call.state for call in read_log(log)] == ["started"] * (length >= ends)


def test_a_log_file_holds_line_separators_of_prompts(tmp_path: Path) -> None:
    log, question = tmp_path / "calls.jsonl", "a\u2028b\x85c\u2029d"
    ask(ScriptedEngine(replies=[{"answer": "x"}], log_file=log), question)
    (call,) = read_log(log)
    assert question in call.prompt


def test_a_script_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    script = {
        "rules": [{"contains": "hello", "reply": {"answer": "hi"}}],
        "replies": [{"reply": "x", "error": "auth"}],
    }
    path.write_text(json.dumps(script), encoding="utf-8")
    engine = load_script(path)
    assert ask(engine, "hello") == "hi"
    with pytest.raises(dspy.LMAuthError):
        ask(engine, "bye")


def test_a_list_is_a_script_too(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text('[{"answer": "one"}, "{\\"answer\\": \\"two\\"}"]', encoding="utf-8")
    engine = load_script(path)
    assert [ask(engine), ask(engine)] == ["one", "two"]


@pytest.mark.parametrize(
    "content",
    ["not json", '"a string"', '{"answers": []}', '{"rules": [{"wrong": 1}]}', "3", "[[1]]"],
)
def test_what_is_not_a_script_is_a_mistake_of_the_user(tmp_path: Path, content: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=r"script\.json"):
        load_script(path)


def test_a_missing_script_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot read the script"):
        load_script(tmp_path / "absent.json")
