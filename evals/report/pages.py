"""Pages: everything that the report shows, from logs, their question set and its corpora."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from data.corpus import Corpus
from data.questions import Question, QuestionSet
from evals.calibration import caveat
from evals.contenders import Contender, clusters_of, contenders
from evals.intervals import FEWEST_CLUSTERS, RARE
from evals.log import EvalLog, SampleRecord, Scoring
from evals.measures import MEASURES
from evals.numerals import number, plural, share
from evals.report.drawings import Drawing, cost_drawings, coverage_drawings, kind_drawings
from evals.report.findings import Finding, findings
from evals.report.run_facts import Pairs
from evals.report.sample_page import Link, SamplePage, sample_page
from evals.report.tables import Field, Table, by_kind, headline, reach, spending
from evals.report.text import cut, shown
from evals.report.verdict import TONES, outcome_of, verdict_of
from evals.rivals import MARGIN
from evals.score import TAU
from evals.scoring import scoring_of
from evals.texts import CorpusTexts
from runtime.errors import RunError

Corpora = Callable[[str], Corpus]
"""Opens a corpus of the set by its name."""
KINDS = ("lookup", "local", "aggregate", "conflict", "unanswerable", "adversarial")
_CONTENTS = (
    ("programs", "Programs"),
    ("kinds", "Kinds of question"),
    ("cost", "Cost and time"),
    ("coverage", "Coverage"),
    ("baselines", "Is more machinery worth it?"),
    ("samples", "Samples"),
    ("method", "Method"),
)


@dataclass(frozen=True, slots=True)
class SampleLine:
    """A sample in the list."""

    id: str
    name: str
    question: str
    program: str
    kind: str
    outcome: str
    verdict: str
    tone: str
    recall: str
    precision: str
    calls: str


@dataclass(frozen=True, slots=True)
class Filter:
    """A field by which the list is filtered, with what can be chosen."""

    name: str
    label: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ManifestItem:
    """What one log says of how it was made."""

    name: str
    pairs: Pairs


@dataclass(frozen=True, slots=True)
class Report:
    """The first page: all tables, charts, findings, and the list of samples."""

    title: str
    subtitle: str
    cautions: tuple[str, ...]
    contents: tuple[tuple[str, str], ...]
    intervals: str
    kinds_note: str
    headline: Table
    spending: Table
    kinds: Table
    coverage: Table
    kind_charts: tuple[Drawing, ...]
    cost_charts: tuple[Drawing, ...]
    coverage_charts: tuple[Drawing, ...]
    findings: tuple[Finding, ...]
    paired: Table
    filters: tuple[Filter, ...]
    samples: tuple[SampleLine, ...]
    method: tuple[str, ...]
    manifests: tuple[ManifestItem, ...]


@dataclass(frozen=True, slots=True)
class _Sample:
    """A sample with everything that its page needs."""

    contender: Contender
    record: SampleRecord
    question: Question


def report_of(
    logs: Sequence[EvalLog],
    made: QuestionSet,
    corpora: Corpora,
    *,
    only: Sequence[str] = (),
    seed: int = 0,
) -> tuple[Report, list[SamplePage]]:
    """The report of some logs and a page for each sample. Raises RunError where log and set do not fit."""
    _check_set(logs, made)
    questions = {each.id: each for each in made.questions}
    entered = tuple(contenders(logs, only))
    samples = _samples(entered, made)
    if not samples:
        raise RunError("there is no sample to report on", hint="evaluate first: spantree eval")
    asked = {each.record.question_id for each in samples}
    kinds = {
        kind: tuple(q.id for q in made.questions if q.id in asked and q.kind == kind)
        for kind in KINDS
    }
    kinds = {kind: each for kind, each in kinds.items() if each}
    field = Field(entered, clusters_of(entered), kinds, seed)
    found, paired = findings(field)
    lines = tuple(_line(f"s{at}", each) for at, each in enumerate(samples, 1))
    report = Report(
        title=shown(
            f"{made.name}: {plural(len(entered), 'program')} on {plural(len(asked), 'question')}"
        ),
        subtitle=_subtitle(logs, made, samples),
        cautions=_cautions(logs, entered),
        contents=_CONTENTS,
        intervals=(
            "Means over questions with 95 % intervals, documents resampled; where fewer than"
            f" {RARE} are right, or wrong, that of Wilson if it is wider. What is undefined or an error is left out and"
            " n says so; “verified, of all” counts it as no success."
            " The best of a column is bold, which does not say that the difference is more than chance."
        ),
        kinds_note="Verified correct: right, the evidence cited, every citation exact. A cell leads to its samples.",
        headline=headline(field),
        spending=spending(field),
        kinds=by_kind(field),
        coverage=reach(field),
        kind_charts=tuple(kind_drawings(field)),
        cost_charts=tuple(cost_drawings(field)),
        coverage_charts=tuple(coverage_drawings(field)),
        findings=tuple(found),
        paired=paired,
        filters=_filters(lines),
        samples=lines,
        method=_method(seed, scoring_of(logs)),
        manifests=tuple(_manifest(log) for log in logs),
    )
    return report, _pages(samples, lines, questions, corpora)


def _check_set(logs: Sequence[EvalLog], made: QuestionSet) -> None:
    for log in logs:
        identity = log.manifest.question_set
        versions = {each.set_version for each in log.scorings} or {identity.version}
        if versions != {made.version}:
            raise RunError(
                f"{log.folder} was scored with version {', '.join(sorted(versions))} of {identity.name};"
                f" this set is {made.name} {made.version}",
                hint="name the folder of the set that it was scored with: --set",
            )


def _samples(entered: Sequence[Contender], made: QuestionSet) -> list[_Sample]:
    """All samples, question by question and within one program by program."""
    found = []
    for question in made.questions:
        by_program = [each.by_question.get(question.id, ()) for each in entered]
        for epoch in zip_longest(*by_program):
            found.extend(
                _Sample(contender, record, question)
                for contender, record in zip(entered, epoch, strict=True)
                if record is not None
            )
    return found


def _pages(
    samples: Sequence[_Sample],
    lines: Sequence[SampleLine],
    questions: Mapping[str, Question],
    corpora: Corpora,
) -> list[SamplePage]:
    opened: dict[str, CorpusTexts] = {}
    by_sample: dict[tuple[str, int], list[Link]] = {}
    pages = []
    for line, sample in zip(lines, samples, strict=True):
        question = questions[sample.record.question_id]
        if question.corpus not in opened:
            opened[question.corpus] = CorpusTexts(corpora(question.corpus))
        texts = opened[question.corpus]
        pages.append(sample_page(line.id, sample.contender.label, question, sample.record, texts))
        by_sample.setdefault(_same(sample), []).append(Link(line.id, line.program))
    return [
        replace(page, others=tuple(each for each in by_sample[_same(sample)] if each.id != page.id))
        for page, sample in zip(pages, samples, strict=True)
    ]


def _same(sample: _Sample) -> tuple[str, int]:
    return sample.record.question_id, sample.record.epoch


def _line(id: str, sample: _Sample) -> SampleLine:
    record, question = sample.record, sample.question
    verdict = verdict_of(record)
    epochs = sample.contender.log.manifest.epochs
    recall, precision = (
        share(MEASURES[name].value(record)) for name in ("evidence_recall", "citation_precision")
    )
    return SampleLine(
        id=id,
        name=shown(question.id + (f" · {record.epoch}" if epochs > 1 else "")),
        question=cut(question.question, 300),
        program=shown(sample.contender.label),
        kind=question.kind,
        outcome=outcome_of(record),
        verdict=verdict,
        tone=TONES[verdict],
        recall=recall,
        precision=precision,
        calls=number(MEASURES["calls"].value(record)),
    )


def _filters(lines: Sequence[SampleLine]) -> tuple[Filter, ...]:
    def options(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(getattr(each, name) for each in lines))

    verdicts = tuple(each for each in TONES if each in options("verdict"))
    return (
        Filter("program", "program", options("program")),
        Filter("kind", "kind of question", options("kind")),
        Filter("outcome", "outcome", tuple(sorted(options("outcome")))),
        Filter("verdict", "right or wrong", verdicts),
    )


def _subtitle(logs: Sequence[EvalLog], made: QuestionSet, samples: Sequence[_Sample]) -> str:
    created = sorted(filter(None, (log.manifest.notes.created for log in logs)))
    told = [
        f"set {made.name} {made.version}",
        plural(len(samples), "sample"),
        plural(len(logs), "log"),
    ]
    if created:
        told.append(f"evaluated {created[0]}")
    return shown(", ".join(told))


def _cautions(logs: Sequence[EvalLog], entered: Sequence[Contender]) -> tuple[str, ...]:
    found = []
    for log in logs:
        if log.missing:
            done = f"{len(log.records):,} of {log.manifest.total:,}"
            found.append(f"{log.folder.name} is not finished: it has {done} samples.")
        if log.rescored:
            found.append(f"{log.folder.name} was scored again after it was made.")
        if log.judge:
            found.append(f"{log.folder.name}: unsupported statements are {caveat(log.judge)}.")
    for each in entered:
        errors = sum(record.state == "error" for record in each.records)
        if errors:
            found.append(
                f"{each.label}: {plural(errors, 'sample')} ended in an error. An error is no zero: it is left out of"
                " the means and of the paired differences."
            )
    return tuple(map(shown, found))


def _method(seed: int, scoring: Scoring | None) -> tuple[str, ...]:
    tau = scoring.tau if scoring else TAU
    return (
        f"A stretch of gold counts as cited where at least {tau:.0%} of it is. Gold precision counts citations of what"
        " is gold or allowed; where gold is not complete, it is too low. Citations that do not resolve stay in it.",
        "Pairs are questions; epochs of one question are averaged first. Documents are the clusters that are"
        " resampled: questions that share one, directly or through others, stay together. With fewer than two there"
        f" is no interval, and with fewer than {FEWEST_CLUSTERS} no program is called better, worse or as good.",
        "Right and wrong are compared by exact McNemar, scores by sign flips; p-values of the three primary metrics"
        " (verified correct, evidence recall, citation precision) are adjusted by Holm. “As good” means that the paired"
        f" interval does not reach below -{MARGIN:.2f}. P-values take questions as independent, also those that share"
        " a document, which the intervals do not.",
        f"Where fewer than {RARE} questions were lost, the paired interval allows for losses not seen (rule of three),"
        " and likewise for wins. This and Wilson’s interval count questions and not documents.",
        f"Seed of all resampling: {seed}.",
    )


def _manifest(log: EvalLog) -> ManifestItem:
    manifest, notes = log.manifest, log.manifest.notes
    commit = notes.commit or "not known"
    pairs = [
        ("identity", manifest.identity),
        ("set", f"{manifest.question_set.name} {manifest.question_set.version}"),
        *((f"corpus {name}", each) for name, each in manifest.question_set.corpora.items()),
        ("questions", f"{len(manifest.questions):,}, {plural(manifest.epochs, 'epoch')}"),
        ("seed", str(manifest.seed)),
        ("code", f"{manifest.code}, commit {commit}{', files differ' if notes.dirty else ''}"),
        ("versions", ", ".join(f"{name} {each}" for name, each in manifest.versions.items())),
        *(
            (name, f"{each.type} version {each.version}, {each.configuration}, state {each.state}")
            for name, each in manifest.programs.items()
        ),
    ]
    if notes.command:
        pairs.append(("command", notes.command))
    return ManifestItem(shown(log.folder.name), tuple((shown(k), cut(v, 1500)) for k, v in pairs))
