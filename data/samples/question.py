"""Gold questions: a question, its typed answer, and the spans of text that prove it."""

from pydantic import BaseModel, ConfigDict

from signatures import QuestionKind


class Gold(BaseModel):
    """Base of what questions.jsonl holds: frozen, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class GoldSpan(Gold):
    """A stretch of a source: half-open code points of the decoded text; `quote` is the slice."""

    source: str
    start: int
    end: int
    quote: str


class SampleQuestion(Gold):
    """A question about one of the sample corpora (`corpus` is its folder).

    `answer` is None exactly when the text does not answer the question. `facts` are what a
    complete answer must support; a fact is a tuple of alternatives, an alternative a tuple of
    spans that are all needed. The one fact of a count has every counted line as an alternative.
    """

    id: str
    corpus: str
    question: str
    kind: QuestionKind
    answer: int | str | tuple[str, ...] | None
    answerable: bool
    facts: tuple[tuple[tuple[GoldSpan, ...], ...], ...]
