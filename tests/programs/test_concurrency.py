"""Many calls at once: what they used, what became of each, and in which order, whatever the model does (bar 5)."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data.corpus import Corpus
from programs import Answer, Recursive
from runtime.calls import Caller
from runtime.frames import fold
from runtime.journal import Journal
from runtime.ledger import Usage
from runtime.limits import Limits
from runtime.models.request import PromptRequest
from runtime.models.scripted import EngineCall, Reply, ScriptedEngine
from runtime.observations import Analyzed

ASKED = "What are the facts?"
PARTS = 60
NAMES = [f"{number:02}.log" for number in range(PARTS)]
TRANSIENT = ("rate_limit", "timeout", "server", "transport")
PARSED = ("malformed", "miscounted")
FAULTS = (*TRANSIENT, *PARSED, "length")
IN_FLIGHT = pytest.mark.parametrize("in_flight", [8, 32])

Schedule = Mapping[int, Sequence[str]]
"""What goes wrong with the first, second ... try at a partition, by its number."""

schedules = st.dictionaries(
    st.integers(0, PARTS - 1),
    st.lists(st.sampled_from(FAULTS), min_size=1, max_size=4),
    max_size=PARTS,
)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The back-off of a call takes no time."""

    async def sleep(_: float) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr("programs.base.Caller", partial(Caller, sleep=sleep))


@pytest.fixture
def corpus(lab: Any) -> Corpus:
    return lab.corpus({name: f"FACT of {name}\n" for name in NAMES})


def faithful(_: int) -> float:
    return 0.0


@dataclass
class Model:
    """The scripted model of the laboratory, whose readers fail as a schedule says and take their time."""

    lab: Any
    schedule: Schedule = field(default_factory=dict)
    latency: Callable[[int], float] = faithful
    at_call: Callable[[int], None] = lambda _: None
    steps: Sequence[dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        self.tries: Counter[int] = Counter()
        self._lock = threading.Lock()
        self.engine: ScriptedEngine = self.lab.model(steps=self.steps, AnalyzeLeaf=self._read)

    def _read(self, request: PromptRequest) -> Reply:
        (span,) = request.value("spans")
        part = NAMES.index(span["source"])
        with self._lock:
            faults = self.schedule.get(part, ())
            fault = faults[self.tries[part]] if self.tries[part] < len(faults) else ""
            self.tries[part] += 1
        self.at_call(len(self.engine.log))
        found = self.lab.facts(request)
        latency = self.latency(part)
        if fault in TRANSIENT:
            return Reply(error=fault, retry_after=0.0, latency=latency)  # type: ignore[arg-type]
        if fault == "malformed":
            return Reply("I would rather not say.", latency=latency)
        if fault == "miscounted":
            return Reply({**found, "claim_count": 7}, latency=latency)
        if fault == "length":
            return Reply(request.reply(found)[:-40], finish_reason="length", latency=latency)
        return Reply(found, latency=latency)


def survives(faults: Sequence[str], retries: int = 2) -> bool:
    """Whether a partition is read in the end: by the policy of each class of error."""
    told = False
    for fault in faults[: retries + 1]:
        if fault == "length" or (fault in PARSED and told):
            return False
        told = told or fault in PARSED
    return len(faults) <= retries


@dataclass(frozen=True)
class Ran:
    answer: Answer
    usage: Usage
    analyzed: tuple[Analyzed, ...]
    names: dict[str, str]

    def sources(self, partitions: Sequence[str]) -> list[str]:
        return [self.names[each] for each in partitions]


def ran(answer: Answer, journal: Journal, corpus: Corpus) -> Ran:
    state = fold(journal.events(answer.run_id))
    payloads = [step.observation.payload for step in state.frames["root"].steps if step.observation]
    return Ran(
        answer=answer,
        usage=journal.usage(answer.run_id),
        analyzed=tuple(each for each in payloads if isinstance(each, Analyzed)),
        names={each.id: each.source for each in corpus.partitions().partitions},
    )


def ask(model: Model, corpus: Corpus, **limits: Any) -> Ran:
    with Journal.open(None) as journal:
        program = Recursive(lm=model.engine.lm(), journal=journal, limits=Limits(**limits))
        done = ran(program(question=ASKED, corpus=corpus).answer, journal, corpus)
    check_totals(done.answer, done.usage, model.engine.log)
    return done


def check_totals(answer: Answer, usage: Usage, log: Sequence[EngineCall]) -> None:
    """The receipt, the journal and the engine's own log say the same."""
    receipt = answer.receipt
    assert receipt.calls == usage.calls == len(log)
    assert receipt.failed_calls == usage.failed_calls == sum(c.state != "replied" for c in log)
    assert receipt.input_tokens == usage.input_tokens == sum(c.input_tokens for c in log)
    assert receipt.output_tokens == usage.output_tokens == sum(c.output_tokens for c in log)
    assert receipt.retries == usage.retries
    assert receipt.cost_usd == 0


def check_parts(done: Ran, schedule: Schedule) -> None:
    """Each partition is what its schedule makes of it, in the order of the text; none is lost to another's failure."""
    read = [name for part, name in enumerate(NAMES) if survives(schedule.get(part, ()))]
    assert done.sources(done.answer.coverage.completed) == read
    failed = [name for name in NAMES if name not in read]
    assert done.sources(done.answer.coverage.failed) == failed
    assert done.answer.coverage.unread == ()
    assert [c.citations[0].source for c in done.answer.claims] == read
    assert done.answer.outcome == ("partial" if failed else "answered")


@IN_FLIGHT
def test_whatever_goes_wrong_is_counted_once_and_costs_its_own_partition_alone(
    lab: Any, corpus: Corpus, in_flight: int
) -> None:
    @settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
    @given(schedule=schedules, late=st.sets(st.integers(0, PARTS - 1)))
    def check(schedule: Schedule, late: set[int]) -> None:
        model = Model(lab, schedule, latency=lambda part: 0.002 if part in late else 0.0)
        done = ask(model, corpus, in_flight=in_flight)
        if any(survives(schedule.get(part, ())) for part in range(PARTS)):
            check_parts(done, schedule)
            again = sum(min(count - 1, 2) for count in model.tries.values())
            assert done.answer.receipt.retries == again

    check()


@IN_FLIGHT
def test_a_limit_that_is_hit_in_the_middle_is_never_exceeded(
    lab: Any, corpus: Corpus, in_flight: int
) -> None:
    @settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
    @given(schedule=schedules, calls=st.integers(4, PARTS + 2))
    def check(schedule: Schedule, calls: int) -> None:
        model = Model(lab, schedule)
        done = ask(model, corpus, in_flight=in_flight, calls=calls)
        assert len(model.engine.log) <= calls
        reach = done.answer.coverage
        assert done.answer.outcome == "partial"
        parts = done.sources((*reach.completed, *reach.failed, *reach.unread))
        assert sorted(parts) == NAMES
        assert reach.unread
        read = {c.citations[0].source for c in done.answer.claims if c.citations}
        assert read == set(done.sources(reach.completed))
        # The last call is kept for it. Nothing that was read needs no words.
        assert model.engine.log[-1].signature == ("Conclude" if read else "AnalyzeLeaf")

    check()


@pytest.mark.parametrize("fault", [*FAULTS, "context", "invalid"])
def test_a_call_that_always_fails_costs_no_sibling_its_result(
    lab: Any, corpus: Corpus, fault: str
) -> None:
    """Field report rlm dae8490; checklist S8."""
    schedule = {7: [fault] * 9}
    if fault in FAULTS:
        model = Model(lab, schedule)
    else:
        model = Model(lab)
        model.engine.respond = refusing(model.engine, "07.log", fault)
    done = ask(model, corpus, in_flight=32)
    check_parts(done, {7: ["length"]})
    (failure,) = done.analyzed[0].failed
    assert failure.error_class == CLASSES[fault]


CLASSES = {
    "rate_limit": "rate_limit",
    "timeout": "timeout",
    "server": "unavailable",
    "transport": "unavailable",
    "malformed": "parse_failure",
    "miscounted": "parse_failure",
    "length": "truncated",
    "context": "context_overflow",
    "invalid": "unavailable",
}


def refusing(engine: ScriptedEngine, name: str, fault: str) -> Callable[[PromptRequest], Any]:
    inner = engine.respond
    assert inner is not None

    def respond(request: PromptRequest) -> Any:
        mine = request.signature == "AnalyzeLeaf" and name in request.inputs["spans"]
        return Reply(error=fault) if mine else inner(request)  # type: ignore[arg-type]

    return respond


def test_steps_that_run_at_once_share_the_calls_in_flight(
    lab: Any, corpus: Corpus, say: Any
) -> None:
    """The limit is that of the run: two fan-outs side by side do not have it twice."""
    steps = [say.step(f"s{at}", "analyze", query=f"Facts {at}?") for at in range(3)]
    open_calls: list[int] = []
    model = Model(
        lab,
        latency=lambda _: 0.001,
        at_call=lambda _: open_calls.append(sum(c.state == "started" for c in model.engine.log)),
        steps=[*steps, say.step("s9", "conclude")],
    )
    done = ask(model, corpus, in_flight=4)
    assert len(done.analyzed) == 3
    assert max(open_calls) == 4


@IN_FLIGHT
def test_results_are_in_the_order_of_the_text_whichever_comes_first(
    lab: Any, corpus: Corpus, in_flight: int
) -> None:
    plain = ask(Model(lab), corpus, in_flight=1).answer
    ended: list[int] = []
    backwards = Model(lab, latency=lambda part: 0.001 * (PARTS - part), at_call=ended.append)
    answer = ask(backwards, corpus, in_flight=in_flight).answer
    assert answer.claims == plain.claims
    assert answer.coverage == plain.coverage
    assert answer.text == plain.text


@IN_FLIGHT
def test_a_run_that_is_cancelled_has_counted_every_call_that_reached_the_model(
    lab: Any, corpus: Corpus, in_flight: int
) -> None:
    async def cancelled(model: Model, journal: Journal, number: int) -> None:
        begun = asyncio.Event()
        model.at_call = lambda call: begun.set() if call == number else None
        program = Recursive(
            lm=model.engine.lm(), journal=journal, limits=Limits(in_flight=in_flight)
        )
        task = asyncio.create_task(program.aforward(ASKED, corpus))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    @settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
    @given(schedule=schedules, number=st.integers(3, 40))
    def check(schedule: Schedule, number: int) -> None:
        model = Model(lab, schedule, latency=lambda _: 0.001)
        with Journal.open(None) as journal:
            asyncio.run(cancelled(model, journal, number))
            run_id = journal.run("last").record.run_id
            assert journal.usage(run_id).calls == len(model.engine.log)
            model.at_call = lambda _: None
            program = Recursive(lm=model.engine.lm(), journal=journal)
            answer = program.resume(run_id, corpus).answer
            check_totals(answer, journal.usage(run_id), model.engine.log)

    check()


SCHEDULES: tuple[Schedule, ...] = (
    {},
    {part: ["rate_limit", "timeout"] for part in range(0, PARTS, 2)},
    {part: ["malformed"] * 3 for part in range(0, PARTS, 3)},
    {part: ["length"] for part in range(1, PARTS, 4)},
)


@pytest.mark.parametrize("durable", [True, False])
def test_runs_in_threads_share_a_journal_and_a_corpus(
    lab: Any, corpus: Corpus, durable: bool
) -> None:
    models = [Model(lab, schedule) for schedule in SCHEDULES]
    with Journal.open(lab.journal if durable else None) as journal:
        programs = [Recursive(lm=model.engine.lm(), journal=journal) for model in models]
        with ThreadPoolExecutor(len(models)) as threads:
            answers = list(threads.map(lambda each: each(question=ASKED, corpus=corpus), programs))
        check_runs([each.answer for each in answers], models, journal, corpus)


def test_runs_in_one_event_loop_share_a_journal_and_a_corpus(lab: Any, corpus: Corpus) -> None:
    models = [Model(lab, schedule, latency=lambda _: 0.001) for schedule in SCHEDULES]

    async def all_of_them(journal: Journal) -> list[Any]:
        programs = [Recursive(lm=model.engine.lm(), journal=journal) for model in models]
        return await asyncio.gather(*(each.aforward(ASKED, corpus) for each in programs))

    with Journal.open(lab.journal) as journal:
        answers = asyncio.run(all_of_them(journal))
        check_runs([each.answer for each in answers], models, journal, corpus)


def check_runs(
    answers: Sequence[Answer], models: Sequence[Model], journal: Journal, corpus: Corpus
) -> None:
    assert len({answer.run_id for answer in answers}) == len(models)
    for answer, model in zip(answers, models, strict=True):
        done = ran(answer, journal, corpus)
        check_totals(answer, done.usage, model.engine.log)
        check_parts(done, model.schedule)
        assert journal.run(answer.run_id).status == "finished"


def test_one_program_serves_several_runs_at_once(lab: Any, corpus: Corpus) -> None:
    """A module holds predictors and configuration only: nothing of a run leaks into another."""
    model = Model(lab)
    with Journal.open(None) as journal:
        program = Recursive(lm=model.engine.lm(), journal=journal)
        with ThreadPoolExecutor(3) as threads:
            done = list(
                threads.map(lambda _: program(question=ASKED, corpus=corpus).answer, range(3))
            )
        receipts = [journal.usage(answer.run_id) for answer in done]
    assert sum(each.calls for each in receipts) == len(model.engine.log)
    assert len({receipt.calls for receipt in receipts}) == 1
    assert done[0].claims == done[1].claims == done[2].claims
