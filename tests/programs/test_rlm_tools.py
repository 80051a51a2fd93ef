"""RLM in the action space of tools: one typed call a turn, every access journaled, and no claim without evidence.

The rows of the field reports that concern it stand in the docstrings.
"""

from pathlib import Path
from typing import Any

import pytest

from programs.driving import arguments
from programs.rlm import RLM
from runtime.errors import LimitsError
from runtime.events import Accessed, Acted
from runtime.journal import Journal
from runtime.limits import Limits
from runtime.models.scripted import Reply
from signatures import ToolCall
from tests.programs.acting import call, output, submit, turns
from tests.programs.driven import ASKED, FILES, asked, found


def test_it_looks_turn_by_turn_and_submits_with_a_citation(lab: Any) -> None:
    ran = asked(lab, call("search", pattern="gate 7"), found)
    assert ran.answer.outcome == "answered"
    (claim,) = ran.answer.claims
    assert (claim.status, claim.text) == ("direct", "Mara left gate 7 open.")
    (cited,) = claim.citations
    assert (cited.source, cited.line_start) == ("gate.log", 41)
    assert [each.signature for each in ran.engine.log] == ["Act", "Act"]
    assert ran.answer.program == "rlm"


def test_no_prompt_holds_the_text_whole(lab: Any) -> None:
    """What a model is shown is what its tools put out, and nothing else of the corpus."""
    ran = asked(lab, call("search", pattern="gate 7"), found)
    assert not any("heartbeat 20" in each.prompt for each in ran.engine.log)


def test_every_access_is_in_the_journal_with_what_it_showed(lab: Any) -> None:
    ran = asked(lab, call("search", pattern="gate 7"), found)
    acts = [each for each in ran.events if isinstance(each, Acted)]
    assert [(each.turn, each.tool) for each in acts] == [(1, "search"), (2, "submit")]
    assert acts[0].think == "Let us see."
    assert acts[0].arguments == {"pattern": "gate 7"}
    (access,) = [each for each in ran.events if isinstance(each, Accessed)]
    assert access.read_characters == sum(map(len, FILES.values()))
    shown = [ran.corpus.slice(each.source, each.start, each.end) for each in access.shown]
    assert access.shown_characters == sum(map(len, shown))
    assert "gate 7 was left open" in shown[0]


def test_a_count_is_made_by_code_and_is_the_value_of_the_answer(lab: Any) -> None:
    def counted(request: Any) -> dict[str, Any]:
        seen = output(request)
        return submit(f"{seen['total']} lines.", ("40 lines.", seen["claim_id"], ""))

    ran = asked(lab, call("count", pattern="heartbeat"), counted, question="How many heartbeats?")
    assert (ran.answer.outcome, ran.answer.value) == ("answered", 40)
    assert ran.answer.claims[0].citations[0].line_start == 1
    assert ran.answer.coverage.ratio == 1.0


def test_a_fluent_answer_that_cites_nothing_is_insufficient(lab: Any) -> None:
    """pydantic-ai-rlm#2, fojin#532: however sure it sounds, without evidence it is not an answer."""
    sure = submit("It was Mara, beyond any doubt.", ("It was Mara, beyond any doubt.", "", ""))
    ran = asked(lab, call("rank", query="gate", k=2), sure)
    assert {claim.status for claim in ran.answer.claims} == {"insufficient"}
    assert ran.answer.outcome in ("not_found_in_covered", "partial")
    assert "Mara" not in ran.answer.text


def test_an_answer_without_a_look_is_no_answer(lab: Any) -> None:
    """dspy#9643 in its plainest form: nothing was read, so nothing can be known."""
    ran = asked(lab, submit("Mara.", ("Mara left it open.", "", "")))
    assert ran.answer.outcome == "failed"
    assert "Mara" not in ran.answer.text


def test_evidence_that_does_not_hold_is_given_back_once(lab: Any) -> None:
    """mistral cookbook#376, fojin#901: a quote that is not there is never shown; one chance to mend it."""

    def wrong(request: Any) -> dict[str, Any]:
        span = output(request, 0)["hits"][0]["span_id"]
        return submit("Mara.", ("Mara left it open.", span, "Mara opened gate seven"))

    def mended(request: Any) -> dict[str, Any]:
        assert "not_in_text" in output(request)["error"]
        span = output(request, 0)["hits"][0]["span_id"]
        return submit("Mara.", ("Mara left gate 7 open.", span, "gate 7 was left open by Mara"))

    search = call("search", pattern="gate 7")
    ran = asked(lab, search, wrong, mended)
    assert ran.answer.outcome == "answered"
    assert [each.status for each in ran.state.frames["root"].steps] == [
        "completed",
        "failed",
        "completed",
    ]
    stubborn = asked(lab, search, wrong)
    assert len(stubborn.engine.log) == 3
    assert {claim.status for claim in stubborn.answer.claims} == {"insufficient"}
    assert "Mara" not in stubborn.answer.text


@pytest.mark.parametrize("forged", ["000000000000", "span-1", "notes.md", "t1", "root/t1.count"])
def test_a_forged_id_is_no_evidence(lab: Any, forged: str) -> None:
    ran = asked(
        lab,
        call("search", pattern="gate 7"),
        submit("Mara.", ("Mara left it open.", forged, "gate 7 was left open by Mara")),
    )
    assert all(not claim.citations for claim in ran.answer.claims)


def test_a_span_that_was_not_shown_is_no_evidence(lab: Any) -> None:
    """What a model never saw it cannot quote, even if it guesses right."""
    corpus = lab.corpus(FILES)
    hidden = corpus.partitions().span_at("notes.md", 0).id
    guess = submit("At night.", ("It is closed at night.", hidden, "closed at night"))
    model = lab.model(Act=turns(call("search", pattern="gate 7"), guess))
    ran = lab.ask(model, corpus, ASKED, of=RLM)
    assert all(not claim.citations for claim in ran.answer.claims)


def test_what_is_not_there_is_told_after_an_exhaustive_search(lab: Any) -> None:
    ran = asked(
        lab,
        call("search", pattern='"dragon"'),
        submit(),
        question='Is there any line with "dragon"?',
    )
    assert ran.answer.outcome == "not_found"
    assert ran.answer.coverage.ratio == 1.0


def test_a_give_up_without_a_search_is_not_absence(lab: Any) -> None:
    """Codewhale#100: an empty result is a typed state, not an answer."""
    ran = asked(lab, call("budget"), submit(), question='Is there any line with "dragon"?')
    assert ran.answer.outcome == "not_found_in_covered"


def test_the_last_turn_must_submit_and_a_run_that_does_not_is_partial(lab: Any) -> None:
    """rlm#37, dspy V7, dspy-go#159: why it stopped is told, and what was verified is kept."""
    files = {"a.txt": "FACT one\n", "b.txt": "FACT two\n"}
    ran = asked(
        lab,
        call("subcall", query="What are the facts?"),
        call("list_sources"),
        call("budget"),
        files=files,
        max_turns=3,
    )
    assert ran.answer.outcome == "partial"
    assert ran.answer.degraded
    assert "did not submit" in " ".join(ran.answer.warnings)
    assert [claim.text for claim in ran.answer.claims] == ["It says: FACT one", "It says: FACT two"]
    assert len(ran.asked("Act")) == 3
    assert ran.asked("Act")[-1].prompt.count("[[ ## turns_left ## ]]\n0") == 1


def test_the_same_call_over_and_over_is_stopped(lab: Any) -> None:
    """langgraph#148, mobilerun#84: no progress is recognized by what is done, not by a count of turns alone."""
    ran = asked(lab, call("search", pattern="gate 7"), max_turns=20)
    assert ran.answer.outcome == "partial"
    assert len(ran.engine.log) == 3
    assert "over and over" in " ".join(ran.answer.warnings)


def test_a_mistake_in_a_call_is_an_observation(lab: Any) -> None:
    """auto-mobile PR#1440, dspy#8377: one typed form for what went wrong, and the run goes on."""
    ran = asked(
        lab,
        call("search", pattern="/(/"),
        call("read_span", ids=["nowhere"]),
        call("search", source="no.log", pattern="x"),
        call("search", pattern="gate 7"),
        found,
    )
    assert ran.answer.outcome == "answered"
    classes = [each.observation.error_class for each in ran.state.frames["root"].steps[:3]]
    assert classes == ["parse_failure", "not_found", "not_found"]


def test_a_reply_that_cannot_be_read_is_asked_for_once_more_and_then_ends_partial(lab: Any) -> None:
    """dspy#9573, amplihack#2954: bounded, and never an answer made of prose."""
    prose = "FINAL(Mara) I would call submit() now."
    ran = asked(lab, call("search", pattern="gate 7"), prose)
    assert ran.answer.outcome == "partial"
    assert len(ran.asked("Act")) + sum(each.signature is None for each in ran.engine.log) == 3
    assert "did not say what to do next" in " ".join(ran.answer.warnings)


def test_a_submission_that_was_cut_is_refused(lab: Any) -> None:
    """A cut list parses as a valid shorter one: the count beside it tells."""

    def cut(request: Any) -> dict[str, Any]:
        return {**found(request), "claim_count": 2}

    ran = asked(lab, call("search", pattern="gate 7"), cut)
    assert ran.answer.outcome == "partial"
    assert ran.calls[1].error_class == "parse_failure"


def test_a_truncated_reply_is_no_reply(lab: Any) -> None:
    def cut(request: Any) -> Reply:
        return Reply(found(request), finish_reason="length")

    ran = asked(lab, call("search", pattern="gate 7"), cut)
    assert ran.answer.outcome == "partial"


def test_old_outputs_fade_and_new_ones_stay(lab: Any) -> None:
    """nano-rlm#117: the prompt stays bounded however long the run is."""
    many = {"a.log": "".join(f"line {n} with words {n * 7}\n" for n in range(3_000))}
    reads = [call("read_span", source="a.log", first_line=n, last_line=n + 90) for n in range(1, 9)]
    limits = Limits(tool_output_chars=4_000)
    ran = asked(lab, *reads, submit(), files=many, limits=limits)
    sizes = [len(each.prompt) for each in ran.asked("Act")]
    assert max(sizes) < sizes[0] + 4 * 4_000 + 8 * 600
    assert "call again" in ran.asked("Act")[-1].prompt


class Broken(Exception):
    """A process that dies, as far as a test can tell."""


def test_it_resumes_at_the_turn_without_a_repeated_call(lab: Any) -> None:
    """langgraph#8834, uzi#1197: what was answered is not asked again, what was read is not read again."""
    corpus = lab.corpus({f"{n}.txt": f"FACT {n}\n" for n in range(4)})
    subcall, search = call("subcall", query="What are the facts?"), call("search", pattern="FACT")

    def rest(request: Any) -> dict[str, Any]:
        claims = output(request, 0)["claims"]
        return submit("", *((each["text"], each["claim_id"], "") for each in claims))

    whole = lab.model(Act=turns(subcall, search, rest))
    expected = lab.ask(whole, corpus, "List all facts.", of=RLM)
    for stop in range(len(whole.log)):
        made = 0

        def dying(request: Any, stop: int = stop) -> Any:
            nonlocal made
            made += 1
            if made == stop + 1:
                raise Broken
            answers = turns(subcall, search, rest)
            return answers(request) if request.signature == "Act" else lab.facts(request)

        model = lab.model(Act=dying, AnalyzeLeaf=dying)
        with pytest.raises(Broken):
            lab.program(model, of=RLM)(question="List all facts.", corpus=corpus)
        with Journal.open(lab.journal) as journal:
            run_id = journal.run("last").record.run_id
        going_on = lab.model(Act=turns(subcall, search, rest))
        prediction = lab.program(going_on, of=RLM).resume(run_id, corpus)
        ran = lab.ran(prediction, going_on, corpus)
        assert ran.answer.text == expected.answer.text
        assert ran.answer.outcome == expected.answer.outcome
        answered = [each.key.rpartition("#")[0] for each in ran.calls if each.status == "done"]
        assert len(answered) == len(set(answered)) == len(whole.log)
        assert sum(isinstance(each, Acted) for each in ran.events) == 3


def test_a_finished_run_returns_its_answer_and_another_program_is_refused(lab: Any) -> None:
    corpus = lab.corpus(FILES)
    model = lab.model(Act=turns(call("search", pattern="gate 7"), found))
    ran = lab.ask(model, corpus, ASKED, of=RLM)
    again = lab.program(model, of=RLM).resume(ran.answer.run_id, corpus)
    assert again.answer == ran.answer
    assert len(model.log) == 2
    with Journal.open(lab.journal) as journal:
        assert journal.run(ran.answer.run_id).record.config["action_space"] == "tools"


def test_predictors_are_few_and_known_to_optimizers(tmp_path: Path) -> None:
    tools, repl = RLM(), RLM(action_space="repl")
    assert [name for name, _ in tools.named_predictors()] == ["analyze_leaf", "act"]
    assert [name for name, _ in repl.named_predictors()] == ["analyze_leaf", "explore", "sub_query"]
    for program in (tools, repl):
        path = tmp_path / f"{program.action_space}.json"
        program.save(path)
        other = RLM(action_space=program.action_space)
        other.load(path)
        assert other.dump_state() == program.dump_state()


@pytest.mark.parametrize("wrong", [{"action_space": "shell"}, {"max_turns": 1}])
def test_a_setting_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(LimitsError) as refused:
        RLM(**wrong)
    assert refused.value.hint


def test_each_tool_gets_the_arguments_that_it_uses() -> None:
    given = {**call("budget")["call"], "pattern": "p", "source": "s", "query": "q", "k": 3,
             "ids": ["i"], "first_line": 2, "last_line": 4, "cursor": 5, "by": "source"}  # fmt: skip
    used = {
        tool: arguments(ToolCall.model_validate({**given, "tool": tool}))
        for tool in ("list_sources", "search", "count", "rank", "read_span", "subcall", "budget")
    }
    assert used == {
        "list_sources": {"source": "s", "cursor": 5},
        "search": {"pattern": "p", "source": "s", "cursor": 5},
        "count": {"pattern": "p", "by": "source", "source": "s"},
        "rank": {"query": "q", "k": 3},
        "read_span": {"span_id": "i", "cursor": 5},
        "subcall": {"question": "q", "span_ids": ["i"], "cursor": 5},
        "budget": {},
    }
