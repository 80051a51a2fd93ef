"""What a page says of a run: its scores, its coverage, its stack, its receipt."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evals.log import SampleRecord
from evals.metrics import Ratio
from evals.numerals import NONE, number, plural, share
from evals.report.text import cut, shown
from evals.score import SampleScore

Pairs = tuple[tuple[str, str], ...]
_STEPS = 40
_DEEPEST = 8
_TONES = {"completed": "good", "failed": "bad"}


@dataclass(frozen=True, slots=True)
class StepItem:
    """A step of the stack; `depth` is that of its frame."""

    depth: int
    name: str
    text: str
    status: str
    tone: str


def scores(score: SampleScore | None) -> Pairs:
    """Every metric that is a ratio, as `2 of 3 (0.67)`."""
    if score is None:
        return (("scores", NONE),)
    found = ((name, getattr(score, name)) for name in SampleScore.model_fields)
    return tuple((name.replace("_", " "), _ratio(v)) for name, v in found if isinstance(v, Ratio))


def _ratio(ratio: Ratio) -> str:
    if ratio.value is None:
        return "undefined"
    return f"{share(ratio.value)} ({number(ratio.num) if ratio.num else 0} of {number(ratio.den)})"


def coverage(answer: Mapping[str, Any]) -> Pairs:
    """What was examined, what was not, and what was searched."""
    if not answer:
        return ()
    told = answer["coverage"]
    found = [
        ("partitions", f"{len(told['completed']):,} of {len(told['required']):,} that were needed")
    ]
    for name in ("failed", "unread", "unparsed"):
        if told[name]:
            found.append((name, cut(f"{len(told[name]):,}: {', '.join(told[name][:8])}", 240)))
    characters = told.get("characters")
    if characters:
        parts = (f"{characters[name]:,} {name}" for name in ("read", "shown", "cited"))
        found.append(("characters", f"of {characters['total']:,}: {', '.join(parts)}"))
    for each in told["searches"][:6]:
        how = "every line" if each["exhaustive"] else "the best"
        found.append((each["method"], cut(f"{each['query']} ({how}): {each['total']:,}", 240)))
    found.extend(("cut", cut(each, 240)) for each in told["truncations"][:6])
    return tuple(found)


def steps(answer: Mapping[str, Any]) -> tuple[tuple[StepItem, ...], str]:
    """The steps of the run, and what of them is left out."""
    all_steps = answer.get("steps", ())
    found = tuple(
        StepItem(
            depth=min(_DEEPEST, each["frame_id"].count(".")),
            name=shown(f"{each['frame_id']}/{each['id']}"),
            text=cut(each["description"], 240),
            status=shown(each["status"]),
            tone=_TONES.get(each["status"], "warn"),
        )
        for each in all_steps[:_STEPS]
    )
    rest = len(all_steps) - _STEPS
    return found, plural(rest, "more step") if rest > 0 else ""


def receipt(record: SampleRecord) -> Pairs:
    """What a sample used: of its run, or of the attempts that failed."""
    used = record.answer["receipt"] if record.answer else None
    found = [("seconds", number(record.seconds) + (" (from a cache)" if record.cached else ""))]
    if used:
        cost = "not known" if used["cost_usd"] is None else f"${used['cost_usd']:.4g}"
        found += [
            ("model", shown(used["model"])),
            ("leaf model", shown(used["leaf_model"])),
            (
                "calls",
                f"{used['calls']:,} ({used['cached_calls']:,} cached, {used['failed_calls']:,} failed)",
            ),
            ("tokens", f"{used['input_tokens']:,} in, {used['output_tokens']:,} out"),
            ("cost", cost),
            ("greatest depth", f"{used['max_depth']:,}"),
            ("retried calls", f"{used['retries']:,}"),
        ]
    elif record.spent:
        spent = record.spent
        cost = "not known" if spent.cost_usd is None else f"${spent.cost_usd:.4g}"
        found += [
            ("calls", f"{spent.calls:,}"),
            ("tokens", f"{spent.input_tokens:,} in, {spent.output_tokens:,} out"),
            ("cost", cost),
        ]
    for each in record.retries:
        found.append((f"attempt {each.attempt}", cut(f"{each.error_class}: {each.error}", 300)))
    if record.answer:
        found += [
            ("run", shown(record.answer["run_id"])),
            ("corpus", shown(record.answer["corpus_version"])),
        ]
    return tuple(found)
