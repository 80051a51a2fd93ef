"""A desk with tools over a few lines of text, and three ways in which the extractive model drives them.

The outputs have the form of those of the suite. `Act` is asked turn by turn; `dspy.ReActV2` and `dspy.RLM` are real.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import dspy
from dspy_monty_interpreter import MontyInterpreter

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
    """The embedded model."""
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
    """Asked turn by turn."""
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


def by_react(desk: Desk, question: str, adapter: str = "json", lm: dspy.LM | None = None) -> Told:
    """A conversation of `dspy.ReActV2`."""
    inputs = asked_of(desk, question)
    with dspy.context(lm=lm or model(), adapter=prepared(ADAPTERS[adapter])):
        found = dspy.ReActV2(Explore, tools=desk.functions(), max_iters=8)(**inputs)
    assert found.termination_reason == "submit"
    return _told(found)


def by_code(
    desk: Desk,
    question: str,
    adapter: str = "json",
    shown: int = 10_000,
    most: int = 12,
    lm: dspy.LM | None = None,
) -> Told:
    """Cells of `dspy.RLM` in Monty, none of which fails."""
    inputs = asked_of(desk, question)
    with dspy.context(lm=lm or model(), adapter=prepared(ADAPTERS[adapter])):
        rlm = dspy.RLM(
            Explore,
            tools=desk.functions(),
            max_iters=most,
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
