"""The extractive model drives: through `Act`, through `dspy.ReActV2` and through `dspy.RLM` in its sandbox.

The tools are functions over a few lines of text, with the outputs that the tools of the suite have.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import dspy
import pytest
from dspy_monty_interpreter import MontyInterpreter
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.models.adapters import prepared
from runtime.models.extractive.engine import AsyncExtractiveEngine, ExtractiveEngine
from runtime.models.extractive.match import all_match
from runtime.models.extractive.reader import read_leaf
from runtime.questions.classifier import classify
from signatures import Act, EvidenceSpan, Explore, TurnShown

ADAPTERS = {
    "json": dspy.JSONAdapter(),
    "chat": dspy.ChatAdapter(use_json_adapter_fallback=False),
}
LOG = """\
2024-05-01 09:00:01 INFO gateway started
2024-05-01 09:12:44 ERROR payment req-7f3a timed out after 30 s `503`
2024-05-01 09:13:02 ERROR payment req-88bc refused: "quota" \\ 超额 😀
2024-05-01 10:40:00 WARN gateway restarted by operator maria
2024-05-01 11:05:10 ERROR payment req-91d0 timed out after 30 s
"""
JANUARY = """\
# Minutes of January

Decision: audit logs are kept for 90 days. Maria brought coffee.
"""
MARCH = """\
# Minutes of March

The nightly backup runs at 02:00 because the load is lowest then.
Decision: audit logs are kept for 30 days.
"""
CORPUS = {"app.log": LOG, "january.md": JANUARY, "march.md": MARCH}
OVERVIEW = """\
corpus: 3 sources | 3 partitions
source app.log | log | 5 lines | 330 characters | 1 partition | 2024-05-01 09:00:01 .. 2024-05-01 11:05:10
source january.md | markdown | 3 lines | 90 characters | 1 partition
source march.md | markdown | 4 lines | 140 characters | 1 partition
"""


@dataclass
class Desk:
    """The tools over a corpus, a line a span, and what they were asked."""

    corpus: dict[str, str] = field(default_factory=lambda: dict(CORPUS))
    page: int = 50
    broken: frozenset[str] = frozenset()
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    question: str = ""
    kind: str = "lookup"
    patterns: tuple[str, ...] = ()

    def spans(self) -> Iterator[EvidenceSpan]:
        for source, text in self.corpus.items():
            for number, line in enumerate(text.splitlines(), 1):
                yield EvidenceSpan(
                    span_id=f"{source[:3]}{number:03}",
                    source=source,
                    first_line=number,
                    margin_before="",
                    text=line,
                    margin_after="",
                )

    def hits(self, pattern: str, source: str) -> list[EvidenceSpan]:
        spans = [span for span in self.spans() if source in ("", span.source)]
        found = all_match(pattern.split("\n"), [span.text for span in spans])
        return [span for span, held in zip(spans, found, strict=True) if held]

    def call(self, tool: str, given: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((tool, given))
        if tool in self.broken:
            return {"error": "ToolTimeout: it took too long"}
        return getattr(self, f"_{tool}")(**given)

    def _list_sources(self) -> dict[str, Any]:
        sources = [{"source": name, "partitions": 1} for name in self.corpus]
        return {"sources": sources, "not_readable": [], "next_cursor": None, "cut": ""}

    def _search(
        self, pattern: str, ignore_case: bool = False, source: str = "", cursor: int = 0
    ) -> dict[str, Any]:
        hits = self.hits(pattern, source)
        shown = hits[cursor : cursor + self.page]
        sources = dict.fromkeys(hit.source for hit in hits)
        end = cursor + self.page
        return {
            "pattern": pattern,
            "total": len(hits),
            "by_source": [
                {"source": name, "count": sum(hit.source == name for hit in hits)}
                for name in sources
            ],
            "hits": [self._shown(hit, "line") for hit in shown],
            "next_cursor": end if end < len(hits) else None,
            "cut": "",
        }

    def _shown(self, span: EvidenceSpan, line: str) -> dict[str, Any]:
        self.known.add(span.span_id)
        return {
            "span_id": span.span_id,
            "source": span.source,
            line: span.first_line,
            "text": span.text,
        }

    def _count(
        self, pattern: str, by: str = "", ignore_case: bool = False, source: str = ""
    ) -> dict[str, Any]:
        hits = self.hits(pattern, source)
        label: Callable[[EvidenceSpan], str] = (
            (lambda hit: hit.source) if by == "source" else (lambda hit: hit.text[:13])
        )
        if by == "time" and any(not hit.text.startswith("2024") for hit in hits):
            return {"error": "MissingInput: the lines found have no times to count by"}
        labels = dict.fromkeys(map(label, hits)) if by else {}
        groups = [{"label": each, "count": sum(label(h) == each for h in hits)} for each in labels]
        self.known.add("t1.count")
        return {
            "pattern": pattern,
            "total": len(hits),
            "by": groups,
            "claim_id": "t1.count",
            "cut": "",
        }

    def _rank(self, query: str, k: int = 8) -> dict[str, Any]:
        wanted = set(re.findall(r"\w{4,}", query.lower()))
        spans = sorted(
            self.spans(), key=lambda span: -len(wanted & set(re.findall(r"\w+", span.text.lower())))
        )
        passages = [self._shown(span, "first_line") for span in spans[: min(k, 4)]]
        return {"query": query, "passages": passages, "exhaustive": False, "cut": ""}

    def _read_span(
        self, span_id: str = "", source: str = "", first_line: int = 0, last_line: int = 0
    ) -> dict[str, Any]:
        spans = [
            self._shown(s, "first_line")
            for s in self.spans()
            if s.span_id == span_id
            or (s.source == source and first_line <= s.first_line <= last_line)
        ]
        return {"spans": spans, "next_line": None, "cut": ""}

    def _subcall(
        self, question: str, span_ids: list[str] | None = None, cursor: int = 0
    ) -> dict[str, Any]:
        ids = span_ids or []
        spans = [s for s in self.spans() if not ids or s.span_id in ids or s.source in ids]
        kind, patterns = self.kind, list(self.patterns)
        if question != self.question:
            own = classify(question, OVERVIEW)
            kind, patterns = own.kind, own.patterns
        reading = read_leaf(question, kind, patterns, spans, [])
        prefix = "t1"
        claims = []
        for number, claim in enumerate(reading.claims, 1):
            refs = [each for each in reading.evidence if each.claim_id == claim.claim_id]
            by_id = {span.span_id: span for span in spans}
            quotes = [
                {
                    "source": by_id[ref.span_id].source,
                    "line": by_id[ref.span_id].first_line,
                    "quote": ref.quote,
                }
                for ref in refs
            ]
            claim_id = f"{prefix}.{number}"
            self.known.add(claim_id)
            data = claim.model_dump() | {"claim_id": claim_id, "quotes": quotes}
            claims.append(data)
        end = cursor + self.page
        return {
            "claims": claims[cursor:end],
            "partitions": {"read": 1, "failed": 0, "unread": 0},
            "unknowns": [],
            "next_cursor": end if end < len(claims) else None,
            "cut": "",
        }

    def functions(self) -> list[Callable[..., dict[str, Any]]]:
        def list_sources() -> dict[str, Any]:
            """What there is."""
            return self.call("list_sources", {})

        def search(
            pattern: str, ignore_case: bool = False, source: str = "", cursor: int = 0
        ) -> dict[str, Any]:
            """Every line that contains a pattern."""
            given = {"pattern": pattern, "source": source, "cursor": cursor}
            return self.call("search", given)

        def count(
            pattern: str, by: str = "", ignore_case: bool = False, source: str = ""
        ) -> dict[str, Any]:
            """How many lines contain a pattern."""
            return self.call("count", {"pattern": pattern, "by": by, "source": source})

        def rank(query: str, k: int = 8) -> dict[str, Any]:
            """The most relevant passages."""
            return self.call("rank", {"query": query, "k": k})

        def read_span(
            span_id: str = "", source: str = "", first_line: int = 0, last_line: int = 0
        ) -> dict[str, Any]:
            """The text of a span or of some lines."""
            lines = {"source": source, "first_line": first_line, "last_line": last_line}
            return self.call("read_span", {"span_id": span_id} if span_id else lines)

        def subcall(question: str, span_ids: list[str], cursor: int = 0) -> dict[str, Any]:
            """Let readers answer."""
            more = {"cursor": cursor} if cursor else {}
            return self.call("subcall", {"question": question, "span_ids": span_ids, **more})

        return [list_sources, search, count, rank, read_span, subcall]

    @property
    def tools(self) -> list[str]:
        return [tool for tool, _ in self.asked]


@dataclass(frozen=True)
class Told:
    """What was submitted, in one form for all programs."""

    answer: str
    claims: list[tuple[str, str, tuple[tuple[str, str], ...]]]

    @property
    def evidence(self) -> list[tuple[str, str]]:
        return [each for _, _, evidence in self.claims for each in evidence]


def model() -> dspy.LM:
    return dspy.LM(
        "spantree/extractive",
        engine=ExtractiveEngine(),
        async_engine=AsyncExtractiveEngine(),
        cache=False,
    )


def asked_of(desk: Desk, question: str) -> dict[str, Any]:
    found = classify(question, OVERVIEW)
    desk.question, desk.kind, desk.patterns = question, found.kind, tuple(found.patterns)
    return {
        "question": question,
        "kind": found.kind,
        "patterns": found.patterns,
        "overview": OVERVIEW,
    }


def by_act(desk: Desk, question: str, adapter: str = "json", turns: int = 12) -> Told:
    inputs = asked_of(desk, question)
    shown: list[TurnShown] = []
    with dspy.context(lm=model(), adapter=prepared(ADAPTERS[adapter])):
        for number in range(1, turns + 1):
            reply = dspy.Predict(Act)(
                **inputs,
                goal_chain=[],
                turns=shown,
                budget="no limit",
                turns_left=turns - number,
            )
            assert reply.claim_count == len(reply.claims)
            call = reply.call
            if call.tool == "submit":
                return _told_by_act(reply)
            assert (reply.answer, reply.claims, reply.evidence) == ("", [], [])
            output = desk.call(call.tool, _arguments(call))
            shown.append(
                TurnShown(
                    turn=number,
                    call=f"{call.tool}(...)",
                    output=json.dumps(output, ensure_ascii=False),
                )
            )
    raise AssertionError("nothing was submitted")


def _told_by_act(reply: dspy.Prediction) -> Told:
    return Told(
        reply.answer,
        [
            (
                claim.text,
                claim.status,
                tuple(
                    (ref.span_id, ref.quote)
                    for ref in reply.evidence
                    if ref.claim_id == claim.claim_id
                ),
            )
            for claim in reply.claims
        ],
    )


def _arguments(call: Any) -> dict[str, Any]:
    if call.tool == "subcall":
        more = {"cursor": call.cursor} if call.cursor else {}
        return {"question": call.query, "span_ids": call.ids, **more}
    if call.tool == "read_span":
        lines = ("source", "first_line", "last_line")
        return {"span_id": call.ids[0]} if call.ids else {n: getattr(call, n) for n in lines}
    used = {
        "search": ("pattern", "source", "cursor"),
        "count": ("pattern", "by", "source"),
        "rank": ("query", "k"),
    }
    return {name: getattr(call, name) for name in used[call.tool]}


def by_react(desk: Desk, question: str, adapter: str = "json") -> Told:
    inputs = asked_of(desk, question)
    with dspy.context(lm=model(), adapter=prepared(ADAPTERS[adapter])):
        found = dspy.ReActV2(Explore, tools=desk.functions(), max_iters=8)(**inputs)
    assert found.termination_reason == "submit"
    return _told(found)


def by_code(desk: Desk, question: str, adapter: str = "json", shown: int = 10_000) -> Told:
    inputs = asked_of(desk, question)
    with dspy.context(lm=model(), adapter=prepared(ADAPTERS[adapter])):
        rlm = dspy.RLM(
            Explore,
            tools=desk.functions(),
            max_iters=12,
            max_output_chars=shown,
            interpreter_factory=MontyInterpreter,
        )
        found = rlm(**inputs)
    cells = [cell["code"] for cell in found.trajectory]
    assert all(("SUBMIT(" in cell) != ("print(" in cell) for cell in cells)
    assert not any(cell["output"].startswith("[") and "Error]" in cell["output"][:12]
                   for cell in found.trajectory)  # fmt: skip
    return _told(found)


def _told(found: dspy.Prediction) -> Told:
    return Told(
        found.answer,
        [
            (each.text, each.status, tuple((ref.span_id, ref.quote) for ref in each.evidence))
            for each in found.claims
        ],
    )


WAYS = {"act": by_act, "react": by_react, "code": by_code}
everyone = pytest.mark.parametrize("drive", WAYS.values(), ids=WAYS)


@everyone
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_string_is_searched_read_and_proved(drive: Any, adapter: str) -> None:
    desk = Desk()

    told = drive(desk, "What happened to req-88bc?", adapter)

    assert desk.tools == ["search", "subcall"]
    assert told.answer == told.claims[0][0]
    assert 'refused: "quota" \\ 超额 😀' in told.answer
    assert all(id in desk.known and not quote for id, quote in told.evidence)


@everyone
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_count_is_submitted_by_its_id(drive: Any, adapter: str) -> None:
    desk = Desk()

    told = drive(desk, 'How many lines contain "timed out"?', adapter)

    assert desk.tools == ["count"]
    assert told.answer == '2 lines match "timed out".'
    assert told.claims == [(told.answer, "direct", (("t1.count", ""),))]


@everyone
def test_counts_are_grouped_as_the_question_asks(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, 'How many lines contain "ERROR" per hour?')

    assert desk.asked[0][1]["by"] == "time"
    assert told.answer.endswith("by time: 2024-05-01 09: 2; 2024-05-01 11: 1.")


@everyone
def test_lines_that_have_no_times_are_counted_without(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, 'How many lines contain "audit" per day?')

    assert [given["by"] for _, given in desk.asked] == ["time", ""]
    assert told.answer == '2 lines match "audit".'


@everyone
def test_what_no_line_holds_is_not_answered(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, "What happened to req-0000?")

    assert desk.tools == ["search"]
    assert told == Told("", [])


@everyone
def test_a_question_without_strings_is_answered_from_what_ranks_best(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, "Why does the nightly backup run at night?")

    assert desk.tools == ["rank", "subcall"]
    assert desk.asked[0][1]["k"] == 12
    assert told.answer == "The nightly backup runs at 02:00 because the load is lowest then."


@everyone
def test_absence_needs_everything_to_be_read(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, "Is there anything about a nightly backup?")

    assert desk.asked == [("subcall", {"question": desk.question, "span_ids": []})]
    assert "nightly backup runs" in told.answer


@everyone
def test_contradictions_show_both_sides(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, "Are there contradictory decisions about audit logs?")

    (text, status, evidence), *more = told.claims
    assert not more
    assert status == "conflicting"
    assert "90 days" in text
    assert "30 days" in text
    assert len(evidence) == 2


@everyone
def test_what_was_replaced_contradicts_nothing(drive: Any) -> None:
    march = MARCH.replace("30 days.", "30 days. This replaces the decision of January.")
    desk = Desk(corpus={**CORPUS, "march.md": march})

    told = drive(desk, "Are there contradictory decisions about audit logs?")

    assert told == Told("", [])
    assert desk.tools == ["subcall", "read_span", "read_span"]


@everyone
def test_a_course_of_events_is_told_in_order(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, "Give me the timeline of the payment errors from the start to the end")

    times = re.findall(r"^\d\d:\d\d", told.answer, re.MULTILINE)
    assert [given["span_ids"] for tool, given in desk.asked if tool == "subcall"] == [
        [source] for source in CORPUS
    ]
    assert len(times) > 2
    assert times == sorted(times)


@everyone
@pytest.mark.parametrize("page", [50, 1])
@pytest.mark.parametrize(("which", "line"), [("first", "req-7f3a"), ("last", "req-91d0")])
def test_the_first_and_the_last_line_are_quoted(
    drive: Any, which: str, line: str, page: int
) -> None:
    desk = Desk(page=page)

    told = drive(desk, f'What was the {which} line that contains "timed out"?')

    [(text, status, [(span_id, quote)])] = told.claims
    assert status == "direct"
    assert line in text
    assert quote in LOG.splitlines()
    assert span_id in desk.known


@everyone
def test_two_questions_are_answered_one_after_the_other(drive: Any) -> None:
    desk = Desk()

    told = drive(desk, 'What happened to "req-88bc"? And how many lines contain "timed out"?')

    assert desk.tools == ["search", "subcall", "count"]
    assert "quota" in told.answer
    assert told.answer.endswith('2 lines match "timed out".')


@everyone
def test_after_an_error_another_way_is_taken(drive: Any) -> None:
    desk = Desk(broken=frozenset({"search"}))

    told = drive(desk, "What happened to req-88bc?")

    assert desk.tools == ["search", "rank", "subcall"]
    assert "quota" in told.answer


@everyone
def test_errors_alone_end_in_nothing_and_soon(drive: Any) -> None:
    desk = Desk(broken=frozenset({"search", "rank", "subcall", "count"}))

    told = drive(desk, "What happened to req-88bc?")

    assert told == Told("", [])
    assert len(desk.asked) <= 5


def test_at_the_last_turn_what_a_tool_has_shown_is_submitted() -> None:
    told = by_act(Desk(), "What happened to req-88bc?", turns=2)

    [(text, _, [(span_id, quote)])] = told.claims
    assert "quota" in text
    assert span_id == "app003"
    assert quote in LOG


def test_with_one_turn_there_is_nothing_to_submit() -> None:
    assert by_act(Desk(), "What happened to req-88bc?", turns=1) == Told("", [])


def test_many_hits_are_paged_and_a_list_stays_complete() -> None:
    lines = [f"2024-05-01 09:00:{n:02} login user{n:02}\n" for n in range(60)]
    desk = Desk(corpus={"app.log": "".join(lines)}, page=25)

    told = by_act(desk, 'List all lines that contain "login"')

    assert desk.tools == ["search", "search", "subcall", "subcall", "subcall"]
    assert desk.asked[2][1]["span_ids"] == ["app.log"]
    assert len(told.claims) == 60


@pytest.mark.parametrize("shown", [400, 2_000, 100])
def test_an_output_that_is_cut_is_printed_on_or_taken_from_the_variables(shown: int) -> None:
    told = by_code(Desk(), 'List all lines that contain "ERROR"', shown=shown)

    assert len(told.claims) == 3
    assert "超额 😀" in told.answer


@settings(max_examples=25, deadline=None)
@given(
    st.text(
        st.characters(codec="utf-8", exclude_characters="\n\r\f\v\x1c\x1d\x1e\x85\u2028\u2029"),
        max_size=60,
    )
)
def test_any_text_of_a_corpus_survives_the_code(text: str) -> None:
    line = f"2024-05-01 09:00:00 job-4711 says {text} ``` ' \" \\ \U0001f600 end"
    desk = Desk(corpus={"app.log": line + "\n"})

    told = by_code(desk, "What happened to job-4711?")

    assert told.answer == " ".join(line.split())


def test_a_cell_that_fails_is_tried_once_more() -> None:
    desk = Desk()
    calls = desk.call

    def failing(tool: str, given: dict[str, Any]) -> dict[str, Any]:
        found = calls(tool, given)
        if len(desk.asked) == 1:
            raise ValueError("the sandbox was reset and all variables were lost")
        return found

    desk.call = failing  # type: ignore[method-assign]
    inputs = asked_of(desk, "What happened to req-88bc?")
    with dspy.context(lm=model(), adapter=dspy.JSONAdapter()):
        rlm = dspy.RLM(Explore, tools=desk.functions(), interpreter_factory=MontyInterpreter)
        found = rlm(**inputs)

    assert "quota" in found.answer
    assert len(found.trajectory) == 3


def test_a_cell_that_fails_for_good_submits_nothing() -> None:
    def subcall(question: str, span_ids: list[str]) -> dict[str, Any]:
        """Fails."""
        raise ValueError("no")

    inputs = asked_of(Desk(), "Is there anything about a nightly backup?")
    with dspy.context(lm=model(), adapter=dspy.JSONAdapter()):
        rlm = dspy.RLM(Explore, tools=[subcall], interpreter_factory=MontyInterpreter)
        found = rlm(**inputs)

    assert (found.answer, found.claims) == ("", [])
    assert len(found.trajectory) == 3
