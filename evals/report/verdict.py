"""Verdict: what became of a sample in one word, by which samples are filtered."""

from evals.log import SampleRecord

RIGHT = "right, verified"
UNVERIFIED = "right, not verified"
WRONG = "wrong"
SILENT = "no answer"
UNREADABLE = "not readable"
FAILED = "error"
UNSCORED = "not scored"

TONES = {
    RIGHT: "good",
    UNVERIFIED: "warn",
    WRONG: "bad",
    SILENT: "bad",
    UNREADABLE: "warn",
    FAILED: "bad",
    UNSCORED: "",
}
"""Every verdict with its tone, in the order in which they are offered."""

_BY_CORRECTNESS = {
    "correct": UNVERIFIED,
    "incorrect": WRONG,
    "abstained": SILENT,
    "no_answer": SILENT,
    "unparsed": UNREADABLE,
    "error": FAILED,
}


def verdict_of(record: SampleRecord) -> str:
    """What became of a sample: a key of TONES."""
    if record.state == "error":
        return FAILED
    if record.score is None:
        return UNSCORED
    if record.score.verified_correct.value == 1:
        return RIGHT
    return _BY_CORRECTNESS[record.score.correctness]


def outcome_of(record: SampleRecord) -> str:
    """The outcome of the answer; `error` where there is none."""
    return record.answer["outcome"].replace("_", " ") if record.answer else "error"
