"""The gate: non-inferiority by the paired interval; errors and silence cannot make a pass."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from evals.contenders import contenders
from evals.gate import Gate, gate
from evals.log import JudgeName, read_log
from evals.measures import measure
from tests.evals.duel import ERROR, Told, duel, numbered, rescored


def gated(
    folder: Path,
    before: Sequence[Told],
    after: Sequence[Told],
    margin: float,
    metric: str = "verified_correct",
) -> Gate:
    log = duel(folder / "log", {"before": numbered(*before), "after": numbered(*after)})
    first, second = contenders([log])
    return gate(first, second, measure(metric), margin)


def test_the_same_answers_pass_however_few_they_are(tmp_path: Path) -> None:
    found = gated(tmp_path, [1, 0, 1], [1, 0, 1], 0.0)
    assert found.verdict == "pass"
    assert found.reasons == ("every answer is the same as in the baseline",)


def test_a_whole_interval_above_the_margin_passes(tmp_path: Path) -> None:
    found = gated(tmp_path, [0] * 20 + [1] * 80, [1] * 99 + [0], 0.02)
    assert found.verdict == "pass"
    assert found.gain is not None
    assert found.gain.low > 0


def test_a_whole_interval_below_the_margin_fails(tmp_path: Path) -> None:
    found = gated(tmp_path, [1] * 100, [0] * 30 + [1] * 70, 0.05)
    assert found.verdict == "fail"
    assert len(found.difference.lost) == 30


def test_an_interval_across_the_margin_is_inconclusive(tmp_path: Path) -> None:
    found = gated(tmp_path, [1, 0] * 20, [1, 1, 0, 0] * 10, 0.05)
    assert found.verdict == "inconclusive"
    assert "both sides" in found.reasons[0]
    assert "40 pairs" in found.reasons[1]


def test_no_flip_in_few_pairs_is_inconclusive_at_a_small_margin(tmp_path: Path) -> None:
    """The answers differ in wording, and ten of them do not show that one in fifty does not get worse."""
    before: Sequence[Told] = [1] * 10
    log = duel(tmp_path / "log", {"before": numbered(*before)})
    other = duel(tmp_path / "other", {"after": numbered(*before)})
    path = other.folder / "samples.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"text": "1"', '"text": "one"'))
    first, second = contenders([log, read_log(other.folder)])
    assert gate(first, second, measure("verified_correct"), 0.02).verdict == "inconclusive"
    assert gate(first, second, measure("verified_correct"), 0.4).verdict == "pass"


def test_samples_that_became_errors_cannot_make_a_pass(tmp_path: Path) -> None:
    """A program that crashes on what it would get wrong is not as good."""
    after: Sequence[Told] = [ERROR] * 20 + [1] * 80
    found = gated(tmp_path, [1] * 100, after, 0.05)
    assert found.verdict == "inconclusive"
    assert "20 by errors" in found.reasons[-1]


def test_one_error_in_many_is_told_and_may_pass(tmp_path: Path) -> None:
    found = gated(tmp_path, [0] * 10 + [1] * 190, [1] * 199 + [ERROR], 0.05)
    assert found.verdict == "pass"
    assert "as bad as can be, it would pass" in found.reasons[-1]


def test_errors_of_the_baseline_are_no_gain(tmp_path: Path) -> None:
    before: Sequence[Told] = [ERROR] * 50 + [1] * 50
    found = gated(tmp_path, before, [1] * 50 + [0] * 50, 0.1)
    assert found.verdict == "fail"
    assert found.difference.pairs == 50


def test_one_document_gives_no_interval_and_no_verdict(tmp_path: Path) -> None:
    told = {"a": numbered(*[1] * 50), "b": numbered(*[0] * 50)}
    log = duel(tmp_path / "log", told, document=lambda question: "d")
    first, second = contenders([log])
    found = gate(first, second, measure("verified_correct"), 0.1)
    assert found.verdict == "inconclusive"
    assert "no interval" in found.reasons[0]


def test_epochs_that_became_errors_cannot_make_a_pass(tmp_path: Path) -> None:
    """Half of all samples crash, one epoch of each question: what is left of each question is right."""
    told: dict[str, dict[str, Told | list[Told]]] = {
        "before": {f"q{at:03}": [1, 1] for at in range(100)},
        "after": {f"q{at:03}": [1, ERROR] for at in range(100)},
    }
    first, second = contenders([duel(tmp_path / "log", told)])
    found = gate(first, second, measure("verified_correct"), 0.05)
    assert found.verdict == "inconclusive"
    assert "100 samples of 100 questions" in found.reasons[-1]
    assert "100 by errors" in found.reasons[-1]
    assert gate(first, second, measure("verified_correct"), 0.6).verdict == "pass"
    assert gate(first, second, measure("calls"), 5).verdict == "inconclusive"
    assert gate(first, first, measure("verified_correct"), 0).verdict == "pass"


def test_silence_that_the_baseline_has_as_well_is_no_loss(tmp_path: Path) -> None:
    both: list[list[Told]] = [[1, None]] * 99
    one = {f"q{at:03}": each for at, each in enumerate([*both, [1, 0]])}
    two = {f"q{at:03}": each for at, each in enumerate([*both, [1, 1]])}
    more = {f"q{at:03}": [None, 1 - at % 2] for at in range(100)}
    less: dict[str, list[Told]] = {f"q{at:03}": [None, None] for at in range(100)}
    told = {"one": one, "two": two, "more": more, "less": less}
    first, second, _, silent = contenders([duel(tmp_path / "log", told)])
    assert gate(first, second, measure("verified_correct"), 0.05).verdict == "pass"
    found = gate(first, silent, measure("verified_correct"), 0.05)
    assert found.verdict == "inconclusive"


@pytest.mark.parametrize(("gains", "pairs"), [(1, 3), (1, 8), (2, 50), (3, 100)])
def test_a_few_lucky_flips_are_no_pass_at_margin_zero(
    tmp_path: Path, gains: int, pairs: int
) -> None:
    before: Sequence[Told] = [0] * gains + [1] * (pairs - gains)
    found = gated(tmp_path, before, [1] * pairs, 0.0)
    assert found.verdict == "inconclusive"


def test_one_more_loss_never_makes_the_gain_look_safer(tmp_path: Path) -> None:
    lows = []
    for losses in range(8):
        after: Sequence[Told] = [0] * losses + [1] * (100 - losses)
        gain = gated(tmp_path / str(losses), [1] * 100, after, 0.0).gain
        assert gain is not None
        lows.append(gain.low)
    assert lows == sorted(lows, reverse=True)


def test_few_documents_give_no_verdict_however_many_questions(tmp_path: Path) -> None:
    told = {"a": numbered(*[1] * 70), "b": numbered(*[0] * 70)}
    verdicts = []
    for documents in (7, 8):
        log = duel(
            tmp_path / str(documents), told, document=lambda q, n=documents: f"d{int(q[1:]) % n}"
        )
        before, after = contenders([log])
        found = gate(before, after, measure("verified_correct"), 0.1)
        verdicts.append(found.verdict)
        assert ("too few documents" in "".join(found.reasons)) == (documents == 7)
    assert verdicts == ["inconclusive", "fail"]


def test_less_is_better_for_what_it_costs(tmp_path: Path) -> None:
    cheap = duel(tmp_path / "cheap", {"a": numbered(*[1] * 30)}, calls=3)
    dear = duel(tmp_path / "dear", {"b": numbered(*[1] * 29, 0)}, calls=9)
    low, high = contenders([cheap, dear])
    assert gate(low, high, measure("calls"), 1).verdict == "inconclusive"
    assert gate(low, low, measure("calls"), 0).verdict == "pass"


def test_equal_answers_do_not_pass_a_gate_on_what_they_cost(tmp_path: Path) -> None:
    cheap = duel(tmp_path / "cheap", {"a": numbered(*[1] * 30)}, calls=3)
    dear = duel(tmp_path / "dear", {"a": numbered(*[1] * 30)}, calls=900)
    low, high = contenders([cheap, dear])
    assert gate(low, high, measure("calls"), 1).verdict == "inconclusive"
    assert gate(low, high, measure("verified_correct"), 0).verdict == "pass"


def test_two_unfinished_logs_do_not_pass_as_the_same(tmp_path: Path) -> None:
    logs = [duel(tmp_path / name, {"a": numbered(*[1] * 50)}) for name in ("one", "two")]
    for each in logs:
        path = each.folder / "samples.jsonl"
        path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    first, second = contenders([read_log(each.folder) for each in logs])
    assert gate(first, second, measure("verified_correct"), 0.0).verdict == "inconclusive"


def test_costs_that_vary_fail_beyond_the_margin(tmp_path: Path) -> None:
    log = duel(tmp_path / "log", {"a": numbered(*[1] * 30), "b": numbered(*[1] * 29, 0)})
    path = log.folder / "samples.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    more = [line.replace('"calls": 3', f'"calls": {9 + at % 3}') for at, line in enumerate(lines)]
    path.write_text("\n".join([*lines[:30], *more[30:], ""]), encoding="utf-8")
    first, second = contenders([read_log(log.folder)])
    assert gate(first, second, measure("calls"), 2).verdict == "fail"
    assert gate(first, second, measure("calls"), 8).verdict == "pass"
    assert gate(second, first, measure("calls"), 0).verdict == "pass"


@pytest.mark.parametrize("metric", ["evidence_recall", "citation_precision", "unsupported"])
def test_any_metric_can_be_gated(tmp_path: Path, metric: str) -> None:
    assert gated(tmp_path, [1, 0] * 10, [0, 1] * 10, 0.05, metric).difference.measure == metric


def test_other_judges_give_no_verdict_and_are_named(tmp_path: Path) -> None:
    """Also the same model by another likelihood: what it calls unsupported is another thing."""
    told: dict[str, Sequence[Told]] = {"before": [1] * 10, "after": [1] * 9 + [0]}
    by = [JudgeName(model="local/x", version="0", threshold=each) for each in (0.5, 0.6)]
    first, second = (
        contenders([rescored(duel(tmp_path / name, {name: numbered(*said)}), judge=judge)])[0]
        for (name, said), judge in zip(told.items(), by, strict=True)
    )
    found = gate(first, second, measure("unsupported"), 0.02)
    assert found.verdict == "inconclusive"
    assert (
        "by a likelihood of 0.5 and local/x, version 0, by a likelihood of 0.6" in found.reasons[0]
    )
