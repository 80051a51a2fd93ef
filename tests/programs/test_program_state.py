"""The state of a program goes to JSON and back as it was: instructions, typed demos, nothing else."""

import copy
import json
from typing import Any

import dspy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs import ChainOfThought, Program, Recursive, Retrieve
from programs.catalog import PROGRAMS
from programs.program_state import apply_state, predictors_of, state_hash, state_of
from programs.rlm import RLM
from programs.route import Auto
from runtime.errors import BundleError
from runtime.models.make import make_lm
from signatures import EvidenceRef, EvidenceSpan, LeafClaim, TermStatistic

TEXT = st.text(st.characters(), max_size=60)
SURROGATES = st.text(st.characters() | st.characters(categories=("Cs",)), max_size=30)
SPANS = st.builds(
    EvidenceSpan,
    span_id=TEXT,
    source=TEXT,
    first_line=st.integers(1, 10**9),
    margin_before=TEXT,
    text=SURROGATES,
    margin_after=TEXT,
)
CLAIMS = st.builds(
    LeafClaim,
    claim_id=TEXT,
    text=TEXT,
    status=st.sampled_from(["direct", "inferred", "conflicting", "insufficient"]),
    time=TEXT,
)
DEMOS = st.fixed_dictionaries(
    {"question": SURROGATES, "spans": st.lists(SPANS, max_size=3)},
    optional={
        "kind": TEXT,
        "patterns": st.lists(TEXT, max_size=2),
        "term_statistics": st.lists(
            st.builds(TermStatistic, term=TEXT, spans=st.integers(0, 9), of=st.integers(0, 9)),
            max_size=2,
        ),
        "claims": st.lists(CLAIMS, max_size=2),
        "evidence": st.lists(
            st.builds(EvidenceRef, claim_id=TEXT, span_id=TEXT, quote=SURROGATES), max_size=2
        ),
        "unknowns": st.none() | st.lists(TEXT, max_size=2),
        "claim_count": st.integers(0, 9),
        "augmented": st.booleans(),
    },
)


def span(text: str = "It rained.") -> EvidenceSpan:
    return EvidenceSpan(
        span_id="a" * 12,
        source="a.txt",
        first_line=1,
        margin_before="",
        text=text,
        margin_after="",
    )


def taught(program: Program) -> Program:
    """The program with other instructions and a demo in its reader."""
    reader = predictors_of(program)["analyze_leaf"]
    reader.signature = reader.signature.with_instructions("Quote.\nBe brief.")  # type: ignore[attr-defined]
    reader.demos = [
        dspy.Example(augmented=True, question="Rain?", spans=[span()], claims=[], claim_count=0)
    ]
    return program


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_gives_the_state_that_it_takes(name: str) -> None:
    program = PROGRAMS[name].build({})
    state = state_of(program)
    assert list(state) == [name for name, _ in program.named_predictors()]
    assert all(each["instructions"] and each["demos"] == [] for each in state.values())
    fresh = PROGRAMS[name].build({})
    before = {name: each.signature for name, each in predictors_of(fresh).items()}
    apply_state(fresh, json.loads(json.dumps(state)))
    assert state_of(fresh) == state
    assert {name: each.signature for name, each in predictors_of(fresh).items()} == before


@given(st.lists(DEMOS, max_size=3), st.text(max_size=80))
@settings(max_examples=60)
def test_a_state_survives_json(demos: list[dict[str, Any]], instructions: str) -> None:
    """Whatever the texts are (lone surrogates in demos, odd space in instructions); and values come back typed."""
    program = Retrieve()
    reader: Any = predictors_of(program)["analyze_leaf"]
    reader.signature = reader.signature.with_instructions(instructions or " ")
    reader.demos = [dspy.Example(each) for each in demos]
    state = state_of(program)
    read = json.loads(json.dumps(state))
    fresh = Retrieve()
    apply_state(fresh, read)
    assert state_of(fresh) == state
    assert state_hash(state_of(fresh)) == state_hash(state) == state_hash(read)
    loaded: Any = predictors_of(fresh)["analyze_leaf"]
    for demo in loaded.demos:
        assert all(isinstance(each, EvidenceSpan) for each in demo.spans)
        assert all(isinstance(each, LeafClaim) for each in demo.get("claims", []))


def test_a_loaded_demo_is_shown_to_a_model_as_it_was() -> None:
    """Demos that come back as dicts or as text would be shown in another form than they were learned in."""
    program, fresh = taught(Recursive()), Recursive()
    apply_state(fresh, json.loads(json.dumps(state_of(program))))
    adapter = dspy.ChatAdapter()
    readers: list[Any] = [predictors_of(each)["analyze_leaf"] for each in (program, fresh)]
    shown = [adapter.format(each.signature, each.demos, {"question": "Q"}) for each in readers]
    assert shown[0] == shown[1]
    assert "Be brief." in shown[1][0]["content"]


def test_a_loaded_program_asks_with_what_was_learned() -> None:
    """dspy#1644, dspy#1045: a loaded program had the instructions from before the optimization."""
    fresh = Recursive()
    apply_state(fresh, state_of(taught(Recursive())))
    reader: Any = dict(fresh.named_predictors())["analyze_leaf"]
    assert reader.signature.instructions == "Quote.\nBe brief."


def test_one_program_is_changed_and_no_other() -> None:
    first, second = Recursive(), Recursive()
    before = state_of(second)
    apply_state(first, state_of(taught(Recursive())))
    assert state_of(second) == before
    assert state_of(first) != before


def test_what_dspy_counts_as_compiled_is_in_the_state() -> None:
    """`_compiled` hides the predictors of a module from named_predictors: the state must not lose them."""
    thinking, auto = ChainOfThought(), Auto()
    thinking.analyze_leaf._compiled = True  # type: ignore[attr-defined]
    auto.recursive._compiled = True  # type: ignore[attr-defined]
    assert set(state_of(thinking)) == {"analyze_leaf.predict", "conclude"}
    assert state_of(auto).keys() >= {"recursive.plan", "recursive.analyze_leaf"}


def test_a_predictor_that_programs_share_is_learned_once() -> None:
    auto = Auto()
    state = copy.deepcopy(state_of(auto))
    state["recursive.analyze_leaf"]["instructions"] = "Quote."
    apply_state(auto, state)
    assert auto.retrieve.analyze_leaf.signature.instructions == "Quote."  # type: ignore[attr-defined]


def test_models_and_their_keys_are_not_in_a_state() -> None:
    program = Recursive(lm=make_lm("openai/gpt-4.1-mini", api_key="sk-secret"))
    program.set_lm(make_lm("openai/gpt-4.1-mini", api_key="sk-secret"))
    assert "sk-secret" not in json.dumps(state_of(program))
    assert "gpt" not in json.dumps(state_of(program))


def test_tools_and_foreign_fields_are_left_out_of_demos() -> None:
    """Tools are functions, and those of the program itself; `dspy_uuid` and kin reach no prompt."""
    program: Any = PROGRAMS["react"].build({})
    calls = dspy.ToolCalls.from_dict_list([{"name": "search", "args": {"pattern": "x"}}])
    program.react.demos = [
        dspy.Example(
            question="Q",
            history=dspy.History(messages=[{"question": "Q"}]),
            tools=[dspy.Tool(lambda pattern: pattern, name="search")],
            next_thought=dspy.Reasoning(content="Look."),
            tool_calls=calls,
            dspy_uuid="1",
            question_id="q7",
        )
    ]
    state = state_of(program)
    (demo,) = state["react"]["demos"]
    assert set(demo) == {"question", "history", "next_thought", "tool_calls"}
    apply_state(program, json.loads(json.dumps(state)))
    assert program.react.demos[0].tool_calls == calls
    assert state_of(program) == state


def test_a_history_of_cells_is_kept_by_its_entries() -> None:
    """A REPLHistory writes itself as a text that it cannot be read from."""
    from dspy.primitives.repl_types import REPLHistory

    program = RLM(action_space="repl")
    history = REPLHistory().append(reasoning="r", code="print(1)", output="1")
    program.explore.demos = [dspy.Example(repl_history=history, code="print(2)")]
    state = state_of(program)
    fresh = RLM(action_space="repl")
    apply_state(fresh, json.loads(json.dumps(state)))
    assert fresh.explore.demos[0].repl_history == history


def test_a_state_of_another_program_is_refused_and_changes_nothing() -> None:
    """`load` into a program with one predictor more or less goes wrong in DSPy by a KeyError, or in silence."""
    program = Retrieve()
    before = state_of(program)
    more = {**before, "plan": before["conclude"]}
    less = {"conclude": before["conclude"]}
    for state, reason in ((more, "program has no predictor plan"), (less, "no predictor analyze")):
        with pytest.raises(BundleError, match=reason):
            apply_state(program, state)
    assert state_of(program) == before


@pytest.mark.parametrize(
    ("demo", "reason"),
    [
        ({"question": "Q", "answer": "A"}, "field 'answer'"),
        ({"question": "Q", "spans": [{"span_id": "x"}]}, r"spans\.0\.source"),
        ({"question": "Q", "claim_count": "many"}, "claim_count"),
        ({"question": "Q", "spans": [{**span().model_dump(), "more": 1}]}, "more"),
    ],
)
def test_a_demo_that_does_not_fit_is_refused_and_changes_nothing(
    demo: dict[str, Any], reason: str
) -> None:
    program = Retrieve()
    before = state_of(program)
    state = copy.deepcopy(before)
    state["conclude"]["instructions"] = "Another one."
    state["analyze_leaf"]["demos"] = [demo]
    with pytest.raises(BundleError, match=f"demo 1 of analyze_leaf.*{reason}"):
        apply_state(program, state)
    assert state_of(program) == before


def test_instructions_that_no_prompt_can_hold_are_refused() -> None:
    state = copy.deepcopy(state_of(Retrieve()))
    state["conclude"]["instructions"] = "a\ud800"
    with pytest.raises(BundleError, match="lone surrogate"):
        apply_state(Retrieve(), state)


def test_a_demo_that_json_cannot_hold_is_refused() -> None:
    program = Retrieve()
    program.conclude.demos = [dspy.Example(question=float("nan"), statements=[])]
    with pytest.raises(BundleError, match="demo 1 of conclude is not JSON"):
        state_of(program)
    program.conclude.demos = [dspy.Example(question=object(), statements=[])]
    with pytest.raises(BundleError, match="demo 1 of conclude is not JSON"):
        state_of(program)


def test_the_hash_tells_states_apart() -> None:
    before = state_of(Recursive())
    assert state_hash(before) == state_hash(state_of(Recursive()))
    assert len(state_hash(before)) == 12
    assert state_hash(state_of(taught(Recursive()))) != state_hash(before)
