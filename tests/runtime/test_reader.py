"""The leaf reader: what it quotes, when it abstains, and what it never does."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.models.extractive.reader import Reading, read_leaf
from signatures import EvidenceSpan, TermStatistic

HARBOR = (
    "The harbor of Lindvik was dredged in 1951. It freezes in most winters. "
    "The lighthouse at the northern mole was built by Agnes Tveit in 1887. She never saw it lit. "
    "Two ferries cross the bay every hour."
)
KINDS = ("lookup", "existence", "list", "cause", "summary", "timeline", "conflict", "count", "")


def span(
    text: str, name: str = "s1", *, line: int = 1, before: str = "", after: str = ""
) -> EvidenceSpan:
    return EvidenceSpan(
        span_id=name,
        source="notes.txt",
        first_line=line,
        margin_before=before,
        text=text,
        margin_after=after,
    )


def read(question: str, *texts: str, kind: str = "lookup", patterns: Sequence[str] = ()) -> Reading:
    spans = [span(text, f"s{n}", line=100 * n) for n, text in enumerate(texts, 1)]
    return read_leaf(question, kind, list(patterns), spans, [])


def quotes(reading: Reading) -> list[str]:
    return [each.quote for each in reading.evidence]


def test_a_question_is_answered_by_the_sentence_that_says_it() -> None:
    reading = read("Who built the lighthouse?", HARBOR)
    assert quotes(reading) == [
        "The lighthouse at the northern mole was built by Agnes Tveit in 1887."
    ]
    assert reading.claims[0].text == quotes(reading)[0]
    assert reading.claims[0].status == "direct"


def test_an_inflected_word_is_found() -> None:
    assert (
        "dredged in 1951" in quotes(read("In what year did dredging the harbor happen?", HARBOR))[0]
    )


def test_words_of_one_family_are_found() -> None:
    text = "The clinic opened in May. Complications in pregnancy are treated on the second floor. Lunch is at noon."
    assert quotes(read("Where are pregnant women treated?", text)) == [
        "Complications in pregnancy are treated on the second floor."
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_it_abstains_when_nothing_is_about_the_question(kind: str) -> None:
    reading = read("Which glacier feeds the Orinoco?", HARBOR, kind=kind)
    assert reading == Reading([], [], [], [])


@pytest.mark.parametrize("kind", KINDS)
def test_it_abstains_without_text(kind: str) -> None:
    assert read("Who built the lighthouse?", "", " \r\n\t", kind=kind).claims == []
    assert read("Who built the lighthouse?", kind=kind).claims == []


def test_one_shared_word_is_not_enough_for_existence() -> None:
    statistics = [
        TermStatistic(term="submarine", spans=0, of=400),
        TermStatistic(term="harbor", spans=90, of=400),
    ]
    question = "Is there a submarine in the harbor?"
    assert read_leaf(question, "existence", [], [span(HARBOR)], statistics).claims == []


def test_neighboring_sentences_become_one_claim_with_one_quote() -> None:
    text = (
        "Rain fell. The bridge over the Skarra collapsed because a pier of the bridge was hollow. "
        "The pier of the bridge over the Skarra had been patched twice. Nobody was hurt. A ferry runs."
    )
    reading = read("Why did the bridge over the Skarra collapse? Which pier of the bridge?", text)
    assert len(reading.claims) == len(reading.evidence) == 1
    assert quotes(reading)[0].count("Skarra") == 2
    assert quotes(reading)[0] in text


def test_log_lines_stand_for_themselves() -> None:
    log = (
        "2026-05-04 10:00:01 INFO boiler started\n"
        "2026-05-04 10:00:02 INFO boiler pressure 3 bar\n"
        "2026-05-04 10:00:03 INFO boiler pressure 4 bar\n"
        "2026-05-04 10:00:04 INFO door closed\n"
    )
    reading = read("What was the boiler pressure?", log)
    assert quotes(reading) == log.splitlines()[1:3]
    assert [claim.time for claim in reading.claims] == [
        "2026-05-04 10:00:02",
        "2026-05-04 10:00:03",
    ]


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        ("between 09:30 and 10:00", [1, 2]),
        ("after 10:00", [2, 3, 4]),
        ("before 09:30", [0]),
        ("09:30到10:00之间", [1, 2]),
        ("from 23:00 to 09:00", [0, 4]),
        ("at all", [0, 1, 2, 3, 4]),
    ],
)
def test_only_lines_of_the_hours_that_the_question_names_count(
    hours: str, expected: list[int]
) -> None:
    clocks = ("08:59:59", "09:30:00", "10:00:00", "10:00:01", "23:10:00")
    lines = [
        f"2026-03-10 {clock} ERROR pool {name}"
        for clock, name in zip(clocks, ("alpha", "beta", "gamma", "delta", "omega"), strict=True)
    ]
    question = f"Which pool errors occurred {hours}?"
    within = [lines[at] for at in expected]
    assert quotes(read(question, "\n".join(lines), kind="timeline")) == within
    assert set(quotes(read(question, "\n".join(lines)))) <= set(within)


def test_a_record_of_a_table_or_of_jsonl_is_a_unit() -> None:
    table = "id,city,visitors\n1,Oslo,44\n2,Bergen,31\n3,Molde,12\n"
    assert quotes(read("How many visitors had Bergen?", table))[-1] == "2,Bergen,31"
    jsonl = '{"city": "Oslo", "visitors": 44}\n{"city": "Bergen", "visitors": 31}\n'
    assert quotes(read("How many visitors had Bergen?", jsonl)) == [
        '{"city": "Bergen", "visitors": 31}'
    ]


def test_a_heading_helps_what_is_below_it_and_is_not_an_answer() -> None:
    text = (
        "# Manual\n\n## Cooling water\n\nIt is changed every ninety days.\n\n"
        "## Heating oil\n\nIt is changed every year.\n"
    )
    assert quotes(read("When is the cooling water changed?", text)) == [
        "It is changed every ninety days."
    ]


def test_a_list_has_whole_items() -> None:
    text = (
        "# Berths of the harbor\n\n- **North berth**: ferries. Open all year.\n"
        "- **South berth**: freight. Closed in ice.\n\nLunch is at noon.\n"
    )
    assert (
        quotes(read("List all berths of the harbor.", text, kind="list")) == text.splitlines()[2:4]
    )


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ('"Accepted key"', [0]),
        ("accepted KEY", [0, 2]),
        ("10.0.0.1", [0, 3]),
        (r"/from 10\.0\.0\.\d\d/", [1, 2]),
        ("/ACCEPTED/i", [0, 2]),
        (r"/(unclosed/", []),
        ('"accepted password"', []),
    ],
)
def test_only_lines_with_the_pattern_count(pattern: str, expected: list[int]) -> None:
    lines = [
        "May  4 10:00:01 gate: Accepted key for ines from 10.0.0.1",
        "May  4 10:00:02 gate: rejected ines from 10.0.0.12",
        "May  4 10:00:03 gate: accepted key for ole from 10.0.0.17",
        "May  4 10:00:04 gate: rejected ines from 10.0.0.1 again",
    ]
    reading = read(
        "Which keys of ines did the gate accept?", "\n".join(lines), kind="list", patterns=[pattern]
    )
    assert quotes(reading) == [lines[i] for i in expected]


def test_all_patterns_must_occur() -> None:
    log = "10:00:01 a failed\n10:00:02 b failed\n10:00:03 b started\n"
    assert quotes(read("When did b fail?", log, patterns=['"b"', '"failed"'])) == [
        "10:00:02 b failed"
    ]
    assert quotes(read("When did c fail?", log, patterns=['"c"', '"failed"'])) == []


def test_in_prose_two_neighbors_may_share_the_patterns() -> None:
    text = "The ledger lists MX-77. Its owner is Ragna Holt. MX-12 is scrap."
    reading = read(
        'Is "Ragna Holt" the owner of MX-77?', text, patterns=['"MX-77"', '"Ragna Holt"']
    )
    assert quotes(reading) == ["The ledger lists MX-77. Its owner is Ragna Holt."]


def test_a_cause_may_stand_beside_the_string() -> None:
    text = "Job K-9 failed at noon. The disk of the worker was full, so job output was lost. Bread is cheap."
    reading = read("Why did job K-9 fail?", text, kind="cause", patterns=["K-9"])
    assert "K-9" in quotes(reading)[0]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("仓库的温度上限是多少？", "仓库的温度上限为 28 度，超过就要报警。"),
        ("谁负责夜班巡逻？", "夜班巡逻由何晓负责。"),
    ],
)
def test_chinese_is_read_by_bigrams(question: str, expected: str) -> None:
    text = "本页说明仓库的日常管理。仓库的温度上限为 28 度，超过就要报警。夜班巡逻由何晓负责。叉车每周一检修！"
    assert quotes(read(question, text)) == [expected]


def test_offsets_survive_crlf_and_emoji() -> None:
    text = "\r\n  First line 😀.\r\n\r\n  The 🦊 fox den has three exits.  \r\n\r\n  Last line.\r\n"
    reading = read("How many exits has the fox den?", text)
    assert quotes(reading) == ["The 🦊 fox den has three exits."]
    assert quotes(reading)[0] in text


def test_a_wrapped_sentence_is_quoted_with_its_line_end() -> None:
    text = (
        "Every crate that leaves the northern store is weighed twice, once on the\r\n"
        "old scale and once on the new one. Rain does not matter to anybody here.\r\n"
    )
    reading = read("How often is a crate of the northern store weighed?", text)
    assert "on the\r\nold scale" in quotes(reading)[0]
    assert "on the old scale" in reading.claims[0].text


def test_margins_are_context_and_are_never_quoted() -> None:
    shown = span(
        "It was closed for good in 1990. The mill is a museum now. Swans nest there.",
        before="The Hagen quarry was opened in 1812. ",
        after=" The quarry of Hagen is deep.",
    )
    reading = read_leaf("When was the Hagen quarry closed?", "lookup", [], [shown], [])
    assert quotes(reading) == ["It was closed for good in 1990."]


def test_rare_words_of_the_corpus_weigh_more() -> None:
    text = "The committee met on Monday. The zeppelin landed elsewhere. The committee met in June."
    statistics = [
        TermStatistic(term="committee", spans=380, of=400),
        TermStatistic(term="zeppelin", spans=1, of=400),
    ]
    reading = read_leaf(
        "Did the committee see the zeppelin?", "lookup", [], [span(text)], statistics
    )
    assert quotes(reading) == ["The zeppelin landed elsewhere."]


def test_the_order_of_the_spans_does_not_matter() -> None:
    sentences = HARBOR.split(". ")
    spans = [span(f"{text}.", f"s{n}", line=10 * n) for n, text in enumerate(sentences, 1)]
    question = "When were the lighthouse and the harbor of Lindvik built or dredged?"
    readings = [read_leaf(question, "lookup", [], each, []) for each in (spans, spans[::-1], spans)]
    assert readings[0] == readings[1] == readings[2]
    assert readings[0].claims


def test_values_of_a_json_record_are_quoted_one_by_one() -> None:
    record = (
        'training."}, {"query": "Who rebuilt the lighthouse?", "answer": "The lighthouse was rebuilt by Agnes Tveit.'
        ' She never saw it lit."}, {"speaker": "Ann", "content": "The lighthouse is dark, I think."}, {"speak'
    )
    shown = span(record).model_copy(update={"source": "qa.jsonl"})
    reading = read_leaf("Who rebuilt the lighthouse?", "lookup", [], [shown], [])
    assert quotes(reading)[0] == (
        "The lighthouse was rebuilt by Agnes Tveit. She never saw it lit."
    )
    assert not any('"' in quote for quote in quotes(reading))


def test_the_strings_of_another_part_of_the_question_are_not_demanded() -> None:
    lines = "10:00:01 Failed for root\n10:00:02 Accepted for fztu\n"
    reading = read('Who was "Accepted"?', lines, patterns=['"Failed"', '"Accepted"'], kind="count")
    assert quotes(reading) == ["10:00:02 Accepted for fztu"]


WORDS = st.sampled_from(
    [
        "harbor",
        "ferry",
        "1951",
        "10:00:01",
        "ERROR",
        "不同意",
        "决议：",
        "90 days",
        "。",
        ".",
        "\r\n",
        "\n\n",
        "- ",
        "# ",
        "|",
        "{",
        "}",
        ",",
        "😀",
        "e\u0301",
        "\u2028",
        "\x0c",
        "\t",
        "no",
        "was decided",
        "周二",
        "三十天",
        "failed",
        '"q"',
    ]
)
TEXTS = st.lists(st.one_of(WORDS, st.text(max_size=8)), max_size=60).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(
    TEXTS,
    st.lists(TEXTS, max_size=4),
    st.sampled_from(KINDS),
    st.lists(st.text(max_size=6), max_size=2),
)
def test_every_quote_is_a_slice_of_its_span(
    question: str, texts: list[str], kind: str, patterns: list[str]
) -> None:
    spans = {f"s{n}": span(text, f"s{n}", line=n) for n, text in enumerate(texts)}
    reading = read_leaf(question, kind, patterns, list(spans.values()), [])
    claimed = {claim.claim_id for claim in reading.claims}
    assert claimed == {each.claim_id for each in reading.evidence}
    assert claimed >= {each.claim_id for each in reading.fields}
    for each in reading.evidence:
        assert each.quote in spans[each.span_id].text
        assert each.quote == each.quote.strip() != ""
    assert reading == read_leaf(question, kind, patterns, list(spans.values()), [])


@pytest.mark.parametrize(
    "question",
    [
        "Did any user other than root fail to log in?",
        "Is there any failed login besides the root?",
        "除了root以外，是否有 user failed login？",
    ],
)
def test_what_a_question_excepts_is_no_answer(question: str) -> None:
    lines = "user root failed login\nuser guest failed login\nuser root-2 failed login\n"
    found = quotes(read(question, lines, kind="existence"))
    assert "user guest failed login" in "\n".join(found)
    assert not any("user root failed" in each for each in found)


def test_words_that_only_ask_are_not_looked_for() -> None:
    """The fewest words of a meeting are "list", "everything" and "said"."""
    text = "Big buttons, positive. The case is yellow. Buttons not too small."
    asked = "List everything that was said about the buttons."
    found = "\n".join(quotes(read(asked, text, kind="list")))
    assert "Big buttons" in found
    assert "not too small" in found
    assert "yellow" not in found


def test_half_of_what_is_asked_for_does_not_exist() -> None:
    """Plastic is mentioned, recycling is not."""
    text = "Hard plastic. So probably plastic or something. The case is yellow."
    assert quotes(read("Is there any talk about recycling plastic?", text, kind="existence")) == []


def test_a_list_of_what_mentions_a_phrase_has_nothing_beside_it() -> None:
    text = "It won't take a lot of batteries. No battery use. Good."
    found = quotes(
        read("列出所有提到“batteries”的行。", text, kind="list", patterns=['"batteries"'])
    )
    assert found == ["It won't take a lot of batteries."]
